"""Reading stacks of pyramids in ray-traced pictures: tops, heights, kept readings, drawing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from engine.games.blockade.state import COLOURS, SIZES
from tests.vision.readers.stacks import pictures
from vision.frame import FloatArray, Image
from vision.geometry import PyramidSolid
from vision.readers.probabilities import occupied_place
from vision.readers.stacks.network import NO_TIP, Found, StackFinder, StackNetwork, kind_of
from vision.readers.stacks.reader import AROUND, FIRST_SPOTS, StackReader, StackSighting


@pytest.fixture(scope="module")
def reader() -> StackReader:
    return StackReader(pictures.LAYOUT.board, pictures.looks())


@pytest.fixture(scope="module")
def seen(reader: StackReader) -> dict[str, StackSighting]:
    return reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})


def test_nearly_all_tops_are_read(seen: dict[str, StackSighting]) -> None:
    expected = pictures.expected("010.jpg")
    read = {place: max(stack.looks, key=lambda look: stack.looks[look]) for place, stack in seen.items()}
    wrong = {place: look for place, look in read.items() if look != expected[place]}
    assert set(read) == set(expected)
    assert len(wrong) <= 2, wrong
    assert all(not seen[place].is_clear for place in wrong), "what is read wrongly is not read surely"


def test_spots_beside_a_certain_tip_are_skipped(reader: StackReader, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []
    log_probabilities = StackNetwork.log_probabilities

    def counting(network: StackNetwork, sides: Image, views: FloatArray, turned: FloatArray) -> FloatArray:
        looked_at.append(len(sides))
        return log_probabilities(network, sides, views, turned)

    monkeypatch.setattr(StackNetwork, "log_probabilities", counting)
    reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})
    few = sum(looked_at)
    assert looked_at[0] <= FIRST_SPOTS * len(pictures.LAYOUT.places)
    looked_at.clear()
    monkeypatch.setattr("vision.readers.stacks.reader.SURE_TIP", np.inf)
    reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})
    assert few < 0.8 * sum(looked_at)


def test_a_tip_that_is_not_the_first_spot_is_found(
    reader: StackReader, seen: dict[str, StackSighting], monkeypatch: pytest.MonkeyPatch
) -> None:
    find, surest = StackFinder.find, max(seen, key=lambda place: seen[place].log_odds)
    number = list(pictures.LAYOUT.places).index(surest)

    def wrong_first(finder: StackFinder, *given: Any) -> Found:
        found = find(finder, *given)
        tips_px = found.tips_px.copy()
        tips_px[number] = np.vstack([tips_px[number, 0] + (0.0, 20.0), tips_px[number, :-1]])
        return replace(found, tips_px=tips_px)

    monkeypatch.setattr(StackFinder, "find", wrong_first)
    again = reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})
    assert again[surest].log_odds > 0
    assert again[surest].looks == pytest.approx(seen[surest].looks, abs=0.1)


def test_skipping_spots_does_not_change_the_reading(reader: StackReader, monkeypatch: pytest.MonkeyPatch) -> None:
    def large_on_three(_: StackNetwork, sides: Image, _views: FloatArray, _turned: FloatArray) -> FloatArray:
        shares = np.full((len(sides), NO_TIP + 1), 1e-4)
        shares[:, kind_of("L", 3)] = 1 - 1e-4 * NO_TIP
        return np.asarray(np.log(shares))

    monkeypatch.setattr(StackNetwork, "log_probabilities", large_on_three)
    few = reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})
    monkeypatch.setattr("vision.readers.stacks.reader.SURE_TIP", np.inf)
    every = reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})
    for place, stack in few.items():
        assert stack.looks == pytest.approx(every[place].looks, abs=1e-6), place
        assert stack.top.size == every[place].top.size


@pytest.mark.parametrize(("share", "spots"), [(0.95, FIRST_SPOTS), (0.8, FIRST_SPOTS + AROUND)])
def test_a_size_in_doubt_is_averaged_over_points_around_the_tip(
    share: float, spots: int, reader: StackReader, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked_at: list[int] = []

    def doubtful_here_only(_: StackNetwork, sides: Image, _views: FloatArray, _turned: FloatArray) -> FloatArray:
        first = not looked_at
        looked_at.append(len(sides))
        shares = np.full((len(sides), NO_TIP + 1), 1e-4)
        shares[:, kind_of("S", 1)], shares[:, kind_of("M", 1)] = (share, 1 - share) if first else (0.01, 0.99)
        return np.asarray(np.log(shares))

    monkeypatch.setattr(StackNetwork, "log_probabilities", doubtful_here_only)
    monkeypatch.setattr("vision.readers.stacks.network.MIRRORED_BELOW", 1e-9)
    found = reader.read(pictures.view("010.jpg"), pictures.LAYOUT.places, {})
    assert sum(looked_at) == spots * len(pictures.LAYOUT.places)
    assert {one.top.size for one in found.values()} == {"S" if spots == FIRST_SPOTS else "M"}


def test_probabilities_sum_to_one_and_stacks_are_probable(seen: dict[str, StackSighting]) -> None:
    for stack in seen.values():
        assert sum(stack.look_probabilities().values()) == pytest.approx(1.0)
        assert stack.log_odds > 0


def test_a_size_is_never_as_certain_as_a_colour(seen: dict[str, StackSighting]) -> None:
    leads = []
    for stack in seen.values():
        surest, share = max(stack.looks.items(), key=lambda one: one[1])
        sizes = [
            other for look, other in stack.looks.items() if look != surest and look.split()[0] == surest.split()[0]
        ]
        assert all(np.log(share / other) < 6.5 for other in sizes)
        leads.append(np.log(share / min(stack.looks.values())))
    assert max(leads) > 8


def test_the_number_of_pieces_is_reported_but_never_certain(seen: dict[str, StackSighting]) -> None:
    said = pictures.EXPECTED["010.jpg"]["stacks"]
    shares = []
    for place, look in pictures.expected("010.jpg").items():
        heights = seen[place].heights
        if max(seen[place].looks, key=lambda one: seen[place].looks[one]) != look:
            continue
        if look.endswith("large"):
            assert not heights
            assert not seen[place].tops_mm
            continue
        off = np.subtract(seen[place].tops_mm[len(said[place])], pictures.LAYOUT.board.centre_mm(place))
        assert np.linalg.norm(off) < 8
        assert seen[place].tops_mm.keys() == heights.keys()
        assert sum(heights.values()) == pytest.approx(1.0)
        assert 1 not in heights
        assert max(heights.values()) < 0.96
        assert min(heights.values()) >= 0.05 / 8
        shares.append(heights[len(said[place])])
    assert np.mean(shares) > 0.4
    assert occupied_place(seen["e5"], 0.0, (0.0, 0.0)).heights == seen["e5"].heights
    doubtful = occupied_place(replace(seen["e5"], log_odds=-1.0), 0.0, (0.0, 0.0))
    assert not doubtful.heights
    assert not doubtful.tops_mm
    x, y = seen["e5"].tops_mm[3]
    assert occupied_place(seen["e5"], 0.0, (5.0, 7.0)).tops_mm[3] == pytest.approx((x - 5, y - 7))


def test_the_solid_of_a_stack_is_as_high_as_its_tip(seen: dict[str, StackSighting]) -> None:
    low, high = seen["b1"].solid, seen["e5"].solid
    assert isinstance(low, PyramidSolid)
    assert low.height_mm == pytest.approx(44.5)
    assert high.height_mm > low.height_mm + 15
    assert abs(low.x_mm - pictures.LAYOUT.centre_mm("b1")[0]) < 4


def test_only_requested_places_are_read(reader: StackReader, seen: dict[str, StackSighting]) -> None:
    again = reader.read(pictures.view("010.jpg"), ["b2"], seen)
    assert list(again) == list(seen)
    assert all(again[place] is seen[place] for place in seen if place != "b2")
    assert again["b2"].looks == pytest.approx(seen["b2"].looks, abs=0.02)
    assert again["b2"].top.levels == pytest.approx(seen["b2"].top.levels), "all places' light counts"
    assert reader.read(pictures.view("010.jpg"), [], seen) == seen


def test_looks_are_named_as_the_engine_names_them(reader: StackReader) -> None:
    named = {f"{colour} {size}" for colour in COLOURS for size in SIZES if size}
    assert set(reader.looks) <= named
    assert "clear large" in reader.looks


def test_stacks_are_drawn_on_a_copy(reader: StackReader, seen: dict[str, StackSighting]) -> None:
    picture = pictures.picture("010.jpg")
    drawn = reader.draw(picture, pictures.view("010.jpg"), seen)
    assert drawn.shape == picture.shape
    assert np.abs(drawn.astype(int) - picture).max() > 100
    grey = reader.draw(np.ascontiguousarray(picture[..., 0]), pictures.view("010.jpg"), seen)
    assert grey.ndim == 3
