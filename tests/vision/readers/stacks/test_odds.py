"""The stack reader on drawn stacks: looks, heights, and the effect of the set-up."""

import math
from collections.abc import Sequence

import numpy as np
import pytest

from tests.effort import cases
from tests.vision.readers.stacks.drawn import (
    BOARD,
    CAMERA,
    FOUR_STACKS,
    LEVELS,
    PIECES,
    Drawn,
    L,
    M,
    S,
    picture_of,
    seen_from,
)
from vision.frame import FloatArray
from vision.geometry import Pose
from vision.readers.protocols import SurfaceView
from vision.readers.stacks import reader as stack_reader
from vision.readers.stacks.appearance import MOST_PIECES, PyramidAppearance, Stack, hues_of, look_name, possible_tops
from vision.readers.stacks.network import NO_TIP, StackNetwork, kind_of
from vision.readers.stacks.reader import StackReader, StackSighting, tint_of

HUES = {name: hues_of(np.array(LEVELS[name], dtype=np.float64)) for name in ("red", "blue", "yellow")}
STACKS = (
    *FOUR_STACKS,
    Drawn("e5", [L, M, S, M]),
    Drawn("c3", [("L", "clear")]),
    Drawn("a5", [L, M, S, ("L", "black")]),
)
BARE = "e1"
POSE = seen_from()


def read(
    stacks: Sequence[Drawn] = STACKS, pose: Pose = POSE, lamp: float = 1.0, set_up: dict[str, Stack] | None = None
) -> dict[str, StackSighting]:
    view = SurfaceView(picture_of(stacks, pose, lamp), CAMERA, pose, BOARD)
    places = [*(one.place for one in stacks), BARE]
    return StackReader(BOARD, PyramidAppearance(HUES, set_up or {})).read(view, places, {})


def hue_cost(hue: FloatArray, known: FloatArray) -> float:
    """The cost of a hue being a known one, as log-likelihood."""
    return 10 * math.log1p(float(((hue - known) ** 2).sum()) / (2 * 0.35**2) / 10)


def hue_as_learned(one: StackSighting, known: Sequence[FloatArray]) -> FloatArray:
    """The hue of a top that was seen alone; only tops that are there show the tint."""
    hues = hues_of(one.top.levels[None])
    tint = tint_of(hues if one.log_odds > 0 else hues[:0], np.array([*known, np.zeros(2), np.zeros(2)]))
    return np.asarray(tint.without(hues)[0])


def likeliest(one: StackSighting) -> str:
    return max(one.looks, key=lambda look: one.looks[look])


@pytest.fixture(scope="module")
def seen() -> dict[str, StackSighting]:
    return read()


def test_every_top_and_the_bare_place_are_read(seen: dict[str, StackSighting]) -> None:
    for one in STACKS:
        size, colour = one.stack[-1]
        assert likeliest(seen[one.place]) == look_name(colour, size), one.place
        assert seen[one.place].is_clear
        assert seen[one.place].log_odds > 3
        assert sum(seen[one.place].looks.values()) == pytest.approx(1.0)
    assert seen[BARE].log_odds < -2
    assert not seen[BARE].is_clear


@pytest.mark.parametrize(("azimuth_deg", "lamp"), [(110.0, 1.0), (-70.0, 0.5)])
def test_tops_are_read_from_elsewhere_and_in_dim_light(azimuth_deg: float, lamp: float) -> None:
    found = read(STACKS[:5], seen_from(azimuth_deg), lamp)
    for one in STACKS[:5]:
        size, colour = one.stack[-1]
        assert likeliest(found[one.place]) == look_name(colour, size), one.place
    assert found[BARE].log_odds < 0


def test_heights_are_about_right(seen: dict[str, StackSighting]) -> None:
    for one in STACKS:
        heights = seen[one.place].heights
        if one.stack[-1][0] == "L":
            assert heights == {}
            continue
        assert list(heights) == list(range(2, 10))
        assert sum(heights.values()) == pytest.approx(1.0)
        assert heights[len(one.stack)] > 0.2
        assert min(heights.values()) >= 0.05 / 8, "any height may be misread"
        assert heights[len(one.stack)] > 3 * heights[9]


def test_solids_extend_from_the_feet_to_the_tips(seen: dict[str, StackSighting]) -> None:
    for one in STACKS[:6]:
        solid = seen[one.place].solid
        assert (solid.x_mm, solid.y_mm) == pytest.approx(one.foot_mm, abs=1.8)
        assert solid.base_mm == BOARD.height_mm
        assert solid.height_mm == pytest.approx(one.tip_mm[2] - BOARD.height_mm, abs=PIECES.rise_mm + 1)
        assert solid.turned_deg == pytest.approx(np.degrees(one.turned), abs=6)
        assert solid.foot_side_mm == 25.4
        assert 0 < solid.top_side_mm < 5


def test_no_look_has_zero_probability(seen: dict[str, StackSighting]) -> None:
    for one in seen.values():
        assert min(one.looks.values()) > 1e-5
        colour = likeliest(one).split()[0]
        if colour in HUES:
            others = [share for look, share in one.looks.items() if look != likeliest(one)]
            same = [share for look, share in one.looks.items() if look.startswith(colour) and look != likeliest(one)]
            assert max(same) > 5 * np.median(others), "a wrong size is likelier than a wrong colour"


def test_a_top_of_another_colour_than_the_lowest_piece_needs_more_evidence() -> None:
    hue = hues_of(np.array(LEVELS["between"], dtype=np.float64))
    colours = {"one": hue + np.array([0.5, 0.0]), "other": hue - np.array([0.5, 0.0])}
    picture = picture_of([Drawn("c3", [L, ("M", "between")])], POSE)
    view = SurfaceView(picture, CAMERA, POSE, BOARD)
    shares = {}
    for lowest in (None, "one", "other"):
        set_up: dict[str, Stack] = {} if lowest is None else {"c3": (("L", lowest), ("S", lowest))}
        found = StackReader(BOARD, PyramidAppearance(colours, set_up)).read(view, ["c3"], {})["c3"]
        shares[lowest] = sum(share for look, share in found.looks.items() if look.startswith("one"))
    assert shares["one"] > shares[None] + 0.1
    assert shares[None] > 5 * shares["other"]


@pytest.mark.parametrize("other", [(0.5, 0.0), (-0.6, 0.4), (0.0, -1.0), (4.0, 4.0)])
def test_the_probability_of_a_colour_falls_with_hue_distance(
    other: tuple[float, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stack_reader, "_clearness", lambda pictures: np.ones(len(pictures)))
    hue = hues_of(np.array(LEVELS["between"], dtype=np.float64))
    colours = {"one": hue, "other": hue + np.array(other)}
    view = SurfaceView(picture_of([Drawn("c3", [L, ("M", "between")])], POSE), CAMERA, POSE, BOARD)
    found = StackReader(BOARD, PyramidAppearance(colours, {})).read(view, ["c3"], {})["c3"]
    # Two in a thousand are uniform over the looks.
    one, another = (
        sum(share - 0.002 / len(found.looks) for look, share in found.looks.items() if look.startswith(f"{name} "))
        for name in colours
    )
    seen = hue_as_learned(found, list(colours.values()))
    near, far = (hue_cost(seen, own) for own in colours.values())
    assert np.log(one / another) == pytest.approx(far - near, abs=0.01)


def test_a_look_is_less_certain_in_a_veil_of_light() -> None:
    reader = StackReader(BOARD, PyramidAppearance(HUES, {}))
    picture = picture_of([Drawn("c3", [L, M])], POSE)
    clear, veiled = (
        max(reader.read(SurfaceView(image, CAMERA, POSE, BOARD), ["c3"], {})["c3"].looks.values())
        for image in (picture, np.asarray(picture // 8 + 180, dtype=np.uint8))
    )
    assert veiled < clear - 0.1


def black_share(one: StackSighting) -> float:
    return sum(share for look, share in one.looks.items() if "black" in look)


def test_black_is_read_where_the_rules_forbid_it_but_with_less_certainty(seen: dict[str, StackSighting]) -> None:
    on_clear = read(set_up={"a5": (("L", "clear"), ("M", "red"))})
    assert black_share(seen["a5"]) > 0.9
    assert 0.7 < black_share(on_clear["a5"]) < black_share(seen["a5"])
    assert black_share(seen["d2"]) < 0.01


def test_a_dark_top_is_likelier_black_and_a_bright_one_is_not() -> None:
    # hues that can't be told from black's
    colours = {name: np.zeros(2) for name in ("one", "other")}
    shares = []
    for name in ("black", "red"):
        picture = picture_of([Drawn("c3", [L, M, S, ("S", name)])], POSE)
        view = SurfaceView(picture, CAMERA, POSE, BOARD)
        shares.append(black_share(StackReader(BOARD, PyramidAppearance(colours, {})).read(view, ["c3"], {})["c3"]))
    assert shares[0] > 0.5
    assert shares[1] < 0.01


def test_a_small_black_one_is_seen_where_the_rules_forbid_it() -> None:
    stacks = [Drawn("c3", [("L", "clear"), ("M", "red"), ("S", "black")])]
    one = read(stacks, set_up={"c3": (("L", "clear"), ("M", "red"))})["c3"]
    assert max(one.looks, key=lambda look: one.looks[look]) == "black small"


def test_a_clear_piece_is_always_lowest_and_alone(seen: dict[str, StackSighting]) -> None:
    assert seen["c3"].looks["clear large"] > 0.9
    assert read(set_up={"c3": (("L", "red"),)})["c3"].looks["clear large"] < seen["c3"].looks["clear large"]
    assert all(seen[one.place].looks["clear large"] < 0.01 for one in STACKS if len(one.stack) > 1)


TOPS = [(size, pieces) for size in "SML" for pieces in range(MOST_PIECES + 1)]


def colour_score(
    top: tuple[str, int], size: str, colour: str, lowest: str | None, hue: FloatArray, levels: FloatArray
) -> float:
    """The log-likelihood of one look of a top by its hue and brightness, and by what may lie there."""
    pieces = top[1]
    if size != top[0] or pieces not in possible_tops(lowest)[size]:
        return -math.inf
    all_hues = {**HUES, "clear": np.zeros(2), "black": np.zeros(2)}
    costs = {name: hue_cost(hue, own) for name, own in all_hues.items()}
    score = min(costs.values()) - costs[colour]
    if colour == "black":
        if size == "L" and pieces == 0:
            return -math.inf
        darkness = min(5.0, max(-5.0, 6.0 * math.log(72.0 / float(levels.max()))))
        return score + darkness - (1.0 if size == "L" else 3.0) - 2.0 * (pieces < 3 or lowest == "clear")
    if (size == "L" and pieces > 0) or (colour == "clear" and (pieces > 0 or size != "L")):
        return -math.inf
    strange = lowest not in (None, colour) and (lowest != "clear" or colour == "clear" or pieces == 0)
    return score - 4.0 * strange


@pytest.mark.parametrize("lowest", [None, "red", "blue", "clear"])
@pytest.mark.parametrize("seed", range(cases(4)))
def test_looks_heights_and_odds_are_computed_from_hue_and_sides(
    lowest: str | None, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(seed)
    shares = random.dirichlet(np.ones(NO_TIP + 1))
    shares[NO_TIP] *= random.choice([1e-4, 20.0, 1e6])
    sides = np.log(shares / shares.sum())

    def same_everywhere(_: StackNetwork, seen: FloatArray, *_rest: FloatArray) -> FloatArray:
        return np.tile(sides, (len(seen), 1))

    monkeypatch.setattr(StackNetwork, "log_probabilities", same_everywhere)
    monkeypatch.setattr(stack_reader, "_clearness", lambda pictures: np.ones(len(pictures)))
    reader = StackReader(BOARD, PyramidAppearance(HUES, {"c3": (("L", lowest),)} if lowest else {}))
    view = SurfaceView(picture_of([Drawn("c3", [L, M])], POSE), CAMERA, POSE, BOARD)
    one = reader.read(view, ["c3"], {})["c3"]

    hue = hue_as_learned(one, list(HUES.values()))
    looks = {look_name(colour, size): (size, colour) for colour in (*HUES, "black") for size in "SML"}
    looks["clear large"] = ("L", "clear")
    scores = {
        look: [1.3 * sides[kind_of(*top)] + colour_score(top, *named, lowest, hue, one.top.levels) for top in TOPS]
        for look, named in looks.items()
    }
    most = max(TOPS, key=lambda top: max(each[TOPS.index(top)] for each in scores.values()))
    assert (one.top.size, one.top.pieces) == most
    weights = {look: math.exp(max(each)) for look, each in scores.items()}
    total = sum(weights.values())
    for look, (_, colour) in looks.items():
        of_colour = [weights[other] / total for other, named in looks.items() if named[1] == colour]
        expected = 0.992 * weights[look] / total + 0.006 * float(np.mean(of_colour)) + 0.002 / len(looks)
        assert one.looks[look] == pytest.approx(expected, rel=1e-4), look
    tip_log_odds = math.log((1 - math.exp(sides[NO_TIP])) / math.exp(sides[NO_TIP]))
    assert one.log_odds == pytest.approx(min(8.0, max(-8.0, tip_log_odds)))
    if one.top.size == "L":
        assert one.heights == {}
        return
    foot = np.array([one.solid.x_mm, one.solid.y_mm])
    fits = {}
    for count in range(2, 10):
        variance = 0.8**2 + (count - 1) * 0.7**2
        off = float(((np.array(one.tops_mm[count]) - foot) ** 2).sum())
        fits[count] = math.exp(0.65 * sides[kind_of(one.top.size, count - 1)] - off / (2 * variance)) / variance
    for count, fit in fits.items():
        assert one.heights[count] == pytest.approx(0.95 * fit / sum(fits.values()) + 0.05 / 8, rel=1e-4)


def test_possible_tops_depend_on_the_lowest_piece() -> None:
    assert possible_tops(None)["L"] == possible_tops("red")["L"]
    assert 0 in possible_tops("clear")["L"]
    assert max(possible_tops("clear")["L"]) == 0
    for lowest in (None, "clear", "red"):
        for size in "MS":
            counts = possible_tops(lowest)[size]
            assert counts[0] == 1
            assert list(counts) == list(range(1, len(counts) + 1))
    assert len(possible_tops("red")["S"]) < len(possible_tops(None)["S"])
