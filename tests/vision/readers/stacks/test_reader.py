"""Reading stacks of pyramids in ray-traced pictures: tops, heights, kept readings, drawing."""

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.games.blockade.state import COLOURS, SIZES
from tests.effort import some
from tests.vision.readers.stacks import pictures
from tests.vision.readers.stacks.drawn import BOARD, CAMERA, seen_from
from vision.frame import FloatArray, Image
from vision.geometry import PyramidSolid, project
from vision.readers.probabilities import occupied_place
from vision.readers.protocols import SurfaceView
from vision.readers.stacks.appearance import plain_appearance
from vision.readers.stacks.network import NO_TIP, Found, StackFinder, StackNetwork, kind_of
from vision.readers.stacks.reader import (
    AROUND,
    FIRST_SPOTS,
    HueSettings,
    StackReader,
    StackSighting,
    Top,
    draw_stacks,
    hue_costs,
    tint_of,
)


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
            continue
        off = np.subtract(seen[place].tops_mm[len(said[place])], pictures.LAYOUT.board.centre_mm(place))
        assert np.linalg.norm(off) < 8
        assert seen[place].tops_mm.keys() == heights.keys() | {1}
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


# How a picture changes the hues of a set: strength and tint are found from all tops together.

KNOWN = np.array([*plain_appearance().colours.values(), np.zeros(2)])


def hues_of_tops(rng: np.random.Generator, count: int = 25) -> FloatArray:
    """Draw hues of tops of all colours."""
    return np.asarray(KNOWN[np.arange(count) % len(KNOWN)] + rng.normal(0, 0.1, (count, 2)))


@given(
    seed=st.integers(0, 2**32),
    strength=st.floats(0.55, 1.7),
    shift=st.tuples(st.floats(-0.4, 0.4), st.floats(-0.4, 0.4)),
)
@settings(deadline=None)
def test_strength_and_tint_of_a_picture_are_removed(seed: int, strength: float, shift: tuple[float, float]) -> None:
    learned = hues_of_tops(np.random.default_rng(seed))
    hues = strength * learned + shift
    again = tint_of(hues, KNOWN).without(hues)
    assert (hue_costs(again, KNOWN).argmin(axis=1) == np.arange(25) % len(KNOWN)).all()
    assert np.abs(again - learned).max() < 0.5


def test_hues_as_learned_are_hardly_changed() -> None:
    tint = tint_of(KNOWN, KNOWN)
    assert tint.strength == 1.0
    assert tint.shift == pytest.approx([0, 0], abs=1e-9)


def test_without_tops_nothing_is_changed() -> None:
    tint = tint_of(np.empty((0, 2)), KNOWN)
    assert (tint.strength, *tint.shift) == (1.0, 0.0, 0.0)


def test_odd_hues_do_not_set_the_tint() -> None:
    hues = hues_of_tops(np.random.default_rng(1))
    hues[:3] = (4.0, 4.0)
    tint = tint_of(hues, KNOWN)
    assert tint.strength == pytest.approx(1.0, abs=0.13)
    assert np.abs(tint.shift).max() < 0.15


def test_of_two_unlike_colours_the_nearer_one_costs_less() -> None:
    far = np.array([[9.0, -0.5]])
    costs = hue_costs(far, KNOWN)[0]
    assert costs.argmin() == 3
    assert costs.min() > HueSettings().usual_cost


def saturated(image: Image, factor: float) -> Image:
    """Multiply the distance of each pixel from grey."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)[..., None].astype(np.float32)
    return np.clip(grey + factor * (image - grey), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("factor", some([0.5, 0.7, 2.0, 1.6]))
@pytest.mark.parametrize("gains", [(1.0, 1.0, 1.0), (0.75, 1.0, 1.2)])
def test_colours_are_read_by_cameras_that_show_them_otherwise(factor: float, gains: tuple[float, ...]) -> None:
    view = pictures.view("010.jpg")
    image = np.clip(saturated(view.image, factor) * np.array(gains), 0, 255).astype(np.uint8)
    reader = StackReader(pictures.LAYOUT.board, pictures.looks())
    seen = reader.read(replace(view, image=image), pictures.LAYOUT.places, {})
    colours = {place: max(one.looks, key=lambda look: one.looks[look]).split()[0] for place, one in seen.items()}
    assert colours == {place: look.split()[0] for place, look in pictures.expected("010.jpg").items()}


# The drawing of stacks: their edges, coloured by certainty.

POSE = seen_from()
GREEN, RED = (80, 220, 80), (60, 60, 255)
BLACK: Image = np.zeros((CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8)
VIEW = SurfaceView(BLACK, CAMERA, POSE, BOARD)
TOP = Top("M", 2, 41.0, -39.0, 62.0, np.array([50.0, 60.0, 150.0]))
SOLID = PyramidSolid(40.0, -40.0, BOARD.height_mm, 56.0, 25.4, 3.2, 5.0)
SURE = StackSighting(TOP, SOLID, {"red medium": 0.95, "red small": 0.05}, 4.0)


def drawn(one: StackSighting) -> Image:
    return draw_stacks(BLACK, VIEW, {"d2": one})


def inked(image: Image, colour: tuple[int, int, int]) -> npt.NDArray[np.bool_]:
    """Mask of a line of that colour with its anti-aliased edge."""
    strength, own = np.linalg.norm(image, axis=2), np.linalg.norm(colour)
    return np.asarray((image @ np.array(colour) > 0.97 * own * strength) & (strength > 0.4 * own))


def test_foot_and_edges_are_drawn_at_their_positions() -> None:
    ink = inked(drawn(SURE), GREEN)
    to_ink = cv2.distanceTransform((~ink).astype(np.uint8), cv2.DIST_L2, 5)
    lined = np.ones(ink.shape, dtype=np.uint8)
    below = SOLID.corners_mm()[:4]
    tip = np.array([TOP.x_mm, TOP.y_mm, TOP.tip_mm])
    edges = [(below[corner], below[(corner + 1) % 4]) for corner in range(4)] + [(corner, tip) for corner in below]
    for ends in edges:
        start, end = np.round(project(CAMERA, POSE, np.array(ends))).astype(int).tolist()
        cv2.line(lined, start, end, 0, 1)
    assert np.quantile(to_ink[lined == 0], 0.8) < 2
    assert to_ink[lined == 0].max() < 12
    rows, columns = np.nonzero(ink)
    middle = project(CAMERA, POSE, tip[None])[0]
    assert np.hypot(columns - middle[0], rows - middle[1]).max() < 120


def test_lines_are_one_pixel_thin() -> None:
    image = drawn(SURE)[..., 1] / GREEN[1]
    corners = np.round(project(CAMERA, POSE, SOLID.corners_mm()[:4]))
    tip = project(CAMERA, POSE, np.array([[TOP.x_mm, TOP.y_mm, TOP.tip_mm]]))[0]
    nearest = corners[:, 1].argmax()
    for start, end in ((corners[nearest - 1], corners[nearest]), (corners[nearest], tip)):
        # ink along the lines across the middle of this one
        along = (end - start) / np.hypot(*(end - start))
        rows, columns = np.indices(image.shape)
        off = np.stack([columns, rows], axis=-1) - (start + end) / 2
        near = (np.abs(off @ along) < 5) & (np.abs(off @ (-along[1], along[0])) < 4)
        assert image[near].sum() / 10 == pytest.approx(1.0, abs=0.4)


@pytest.mark.parametrize(
    ("one", "is_sure"),
    [
        (SURE, True),
        (replace(SURE, log_odds=-0.5), False),
        (replace(SURE, log_odds=0.0), False),
        (replace(SURE, looks={"red medium": 0.85, "red small": 0.15}), False),
    ],
)
def test_certain_stacks_are_green_and_doubtful_ones_red(one: StackSighting, is_sure: bool) -> None:
    image = drawn(one)
    assert inked(image, GREEN).any() == is_sure
    assert inked(image, RED).any() != is_sure


def test_doubtful_tops_are_labelled_with_their_probability_and_each_with_its_name() -> None:
    doubted = drawn(replace(SURE, looks={"red medium": 0.85, "red small": 0.15}))
    other = drawn(replace(SURE, looks={"red medium": 0.71, "red small": 0.29}))
    assert (doubted != other).any()
    assert (drawn(replace(SURE, top=replace(TOP, pieces=3))) != drawn(SURE)).any()
    assert (drawn(replace(SURE, looks={"red small": 0.95, "red medium": 0.05})) != drawn(SURE)).any()
    assert not BLACK.any()
