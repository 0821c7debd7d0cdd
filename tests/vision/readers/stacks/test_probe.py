"""Picture evidence of a pyramid, compared with a point-by-point reference."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
import pytest

from tests.vision.readers.stacks.drawn import BOARD, CAMERA, PIECES, Drawn, camera_from, picture_of, seen_from
from vision.frame import FloatArray, FloatImage
from vision.layout.pieces import TIP_SHARE
from vision.readers.stacks.picture import USUAL_LEVEL, StackCamera, sample_levels
from vision.readers.stacks.probe import Hypotheses, Probe, tip_widths_mm
from vision.readers.stacks.search import TopSearch, possible_tops

SIDES = range(4)
ACROSS, ALONG_FOOT = (-0.7, 0.0, 0.7), (-0.75, -0.25, 0.25, 0.75)
CAMERA_OF_STACKS: StackCamera = camera_from(seen_from(-70.0, 35.0))
"""A camera so low that far sides are invisible."""


def patches() -> FloatImage:
    """Patches of any colour, some with much contrast and some with little."""
    random = np.random.default_rng(4)
    small = random.integers(0, 256, (120, 160, 3)) * random.uniform(0.1, 1.0, (120, 160, 1))
    large = cv2.resize(small.astype(np.uint8), CAMERA.size, interpolation=cv2.INTER_CUBIC)
    return CAMERA_OF_STACKS.picture(np.asarray(large, dtype=np.uint8))


PICTURE = patches()
PLACES_MM = [(0.0, 0.0, 40.0, 0.0), (60.0, -30.0, 55.0, 0.2), (-55.0, 70.0, 30.0, -0.3), (20.0, 45.0, 62.0, 0.7)]


def hypotheses(places: Sequence[tuple[float, float, float, float]]) -> Hypotheses:
    at = np.array(places)
    return Hypotheses(np.zeros(len(places), dtype=np.int64), at[:, :3], at[:, 3])


class ByPoints:
    """One pyramid: levels of points given by side, distance out from the tip, sideways and up."""

    def __init__(self, size: str, place: tuple[float, float, float, float]) -> None:
        self.place = place
        self.half = PIECES.sizes[size].base_mm / 2
        self.height = PIECES.sizes[size].height_mm
        self.tip = self.half * TIP_SHARE
        self.slope = self.height / (self.half - self.tip)

    def way_out(self, side: int) -> tuple[float, float]:
        angle = self.place[3] + side * math.pi / 2
        return math.sin(angle), -math.cos(angle)

    def levels(self, side: int, points: Sequence[tuple[float, float, float]]) -> FloatArray:
        """Levels (n, 3) of points (out, sideways, up), in mm from the middle of the tip."""
        x, y, high, _ = self.place
        right, away = self.way_out(side)
        at = [(x + out * right - by * away, y + out * away + by * right, high + up) for out, by, up in points]
        return sample_levels(PICTURE, CAMERA_OF_STACKS.pixels(np.array(at)))[:, :3].astype(np.float64)

    def facing(self, side: int) -> float:
        x, y, high, _ = self.place
        right, away = self.way_out(side)
        to_x, to_y, above = CAMERA_OF_STACKS.position_mm - (x, y, high)
        return float((right * to_x + away * to_y) * self.slope / above + 1)

    def tip_row(self, side: int, out: float) -> FloatArray:
        return self.levels(side, [(out, share * out, 0.0) for share in ACROSS])

    def beside(self, side: int, off_mm: float) -> FloatArray:
        """A row on the face beside the tip, or behind it at the tip's height if the face is invisible."""
        down = off_mm * self.slope if self.facing(side) > 0 else 0.0
        return self.levels(side, [(self.tip + off_mm, share * 0.8 * self.tip, -down) for share in ACROSS])

    def face(self, side: int) -> FloatArray:
        outs = [self.tip + (self.half - self.tip) * share for share in (0.3, 0.55, 0.8)]
        return self.levels(
            side, [(out, share * 0.8 * out, -(out - self.tip) * self.slope) for out in outs for share in ACROSS]
        )

    def foot(self, side: int, off_mm: float) -> FloatArray:
        up = -self.height - off_mm * self.slope
        return self.levels(side, [(self.half + off_mm, share * self.half, up) for share in ALONG_FOOT])

    def next_to_tip(self, side: int) -> FloatArray:
        return np.concatenate([self.beside(side, off_mm) for off_mm in (0.6, 1.1, 1.7)])

    def stands_out(self) -> float:
        """Contrast of the tip to the faces and, at its edge, to its surroundings; less if the tip is uneven."""
        rims = [self.tip_row(side, self.tip - 0.6) for side in SIDES]
        tip = np.concatenate([*rims, *(self.tip_row(side, 0.3 * self.tip) for side in SIDES)])
        sides = [self.next_to_tip(side) for side in SIDES]
        apart = [min(50.0, distance(tip, one)) for one in sides]
        edges = [min(50.0, distance(rims[side], self.beside(side, 0.6))) for side in SIDES]
        uneven = spread(tip) + 0.3 * sum(map(spread, sides)) / 4
        return 0.5 * sum(apart) / 4 + 0.5 * min(apart) + 0.7 * sum(edges) / 4 - uneven


def distance(one: FloatArray, other: FloatArray) -> float:
    return float(np.linalg.norm(one.mean(axis=0) - other.mean(axis=0)))


def spread(*levels: FloatArray) -> float:
    return math.sqrt(sum(float(one.var(axis=0).sum()) for one in levels))


@pytest.mark.parametrize("size", ["S", "M", "L"])
def test_all_pyramid_evidence_equals_a_point_by_point_reference(size: str) -> None:
    found = Probe([PIECES.sizes[size]]).evaluate(CAMERA_OF_STACKS, PICTURE, hypotheses(PLACES_MM))
    unseen = 0
    for number, place in enumerate(PLACES_MM):
        one = ByPoints(size, place)
        assert found.tip[number] == pytest.approx(one.stands_out(), abs=0.1)
        seen = [side for side in SIDES if one.facing(side) > 0.3]
        unseen += sum(one.facing(side) <= 0 for side in SIDES)
        uneven, foot, levels = [], [], []
        for side in seen:
            over, under = one.foot(side, -0.9), one.foot(side, 0.9)
            uneven.append(spread(one.face(side)))
            foot.append(min(40.0, distance(over, under)) - 0.5 * spread(over, under))
            levels.append(one.next_to_tip(side).mean(axis=0) + USUAL_LEVEL)
        assert found.unevenness[number] == pytest.approx(sum(uneven) / len(seen), abs=0.1)
        assert found.foot[number] == pytest.approx(sum(foot) / len(seen), abs=0.1)
        assert found.levels[number] == pytest.approx(sum(levels) / len(seen), abs=0.1)
    assert unseen > 2


@pytest.mark.parametrize("size", ["S", "L"])
def test_the_tip_contrast_of_a_batch_of_positions_equals_that_of_each(size: str) -> None:
    """The batch uses a linear projection and the sides visible from the middle."""
    probe, (x, y, high, turned) = Probe([PIECES.sizes[size]]), PLACES_MM[1]
    tried = np.array([[(x, y), (x + 0.02, y - 0.02)]] * 300)
    found = probe.near(CAMERA_OF_STACKS, hypotheses([PLACES_MM[1]] * 300)).contrast(PICTURE, tried)
    assert found.shape == (300, 2)
    assert found[:, 0] == pytest.approx(np.full(300, ByPoints(size, PLACES_MM[1]).stands_out()), abs=0.2)
    moved = (x + 0.02, y - 0.02, high, turned)
    assert found[:, 1] == pytest.approx(np.full(300, ByPoints(size, moved).stands_out()), abs=0.2)


def test_several_sizes_at_once_give_the_same_as_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are evaluated in parts, one of which has two sizes."""
    monkeypatch.setattr("vision.readers.stacks.probe._POINTS_AT_ONCE", 20_000)
    numbers = np.repeat([0, 2], [150, 250])
    places = np.array(PLACES_MM)[np.arange(400) % len(PLACES_MM)]
    tried = places[:, None, :2] + np.array([[0.0, 0.0], [0.5, -0.5]])
    probe, mixed = Probe(list(PIECES.sizes.values())), Hypotheses(numbers, places[:, :3], places[:, 3])
    found = probe.evaluate(CAMERA_OF_STACKS, PICTURE, mixed)
    tips = probe.near(CAMERA_OF_STACKS, mixed).contrast(PICTURE, tried)
    for number in (0, 2):
        chosen = numbers == number
        alone = Probe([list(PIECES.sizes.values())[number]])
        own = Hypotheses(np.zeros(chosen.sum(), dtype=np.int64), places[chosen, :3], places[chosen, 3])
        expected = alone.evaluate(CAMERA_OF_STACKS, PICTURE, own)
        for name in ("tip", "unevenness", "foot", "levels"):
            assert getattr(found, name)[chosen] == pytest.approx(getattr(expected, name), abs=0.01), name
        near = alone.near(CAMERA_OF_STACKS, own)
        assert tips[chosen] == pytest.approx(near.contrast(PICTURE, tried[chosen]), abs=0.01)


def test_widths_of_tips_equal_a_line_by_line_reference() -> None:
    """The share of the tip's colour, accumulated outwards in both directions."""
    found = tip_widths_mm(CAMERA_OF_STACKS, PICTURE, hypotheses(PLACES_MM))
    radii = [0.3 * step for step in range(12)]
    for number, place in enumerate(PLACES_MM):
        one = ByPoints("M", place)
        lines = [
            np.array([one.levels(side, [(out, by, 0.0) for by in (-0.6, 0.0, 0.6)]).mean(axis=0) for out in radii])
            for side in SIDES
        ]
        inside = np.mean([line[:2] for line in lines], axis=(0, 1))
        reach, clear = [], []
        for line in lines:
            beyond = line[10:].mean(axis=0)
            way = inside - beyond
            clear.append(float(way @ way))
            shares = ((line[:10] - beyond) @ way / clear[-1]).clip(-0.3, 1.3)
            reach.append(0.3 * float(shares.sum()) - 0.15)
        weights = [math.sqrt(min(clear[side], clear[side + 2])) for side in (0, 1)]
        widths = [reach[side] + reach[side + 2] for side in (0, 1)]
        expected = sum(width * weight for width, weight in zip(widths, weights, strict=True)) / sum(weights)
        assert found[number] == pytest.approx(expected, abs=0.02)


STACKS = (
    Drawn("b2", [("L", "red")], (1.0, 0.5)),
    Drawn("d4", [("L", "red"), ("M", "blue"), ("S", "yellow")], (0.0, 2.0), -0.1),
)


def test_the_likelihood_of_a_top_combines_its_evidence_place_and_width() -> None:
    """Grey levels of contrast count a fifth; a top far off its stack, on many pieces or of an odd width is unlikely."""
    camera = CAMERA_OF_STACKS
    picture, search = camera.picture(picture_of(STACKS, seen_from(-70.0, 35.0))), TopSearch(BOARD)
    feet = search.feet(camera, picture, [one.place for one in STACKS])
    compared = set()
    for foot, tops in zip(feet, search.tops(camera, picture, feet, [possible_tops(())] * 2), strict=True):
        for top in tops:
            on_board = (top.size, top.pieces) == ("L", 0)
            if on_board and (top.x_mm, top.y_mm, top.angle_rad) == tuple(foot):
                continue
            compared.add((top.size, top.pieces))
            here = hypotheses([(top.x_mm, top.y_mm, top.tip_mm, top.angle_rad)])
            support = Probe([PIECES.sizes[top.size]]).evaluate(camera, picture, here)
            spread_mm = 1.2 * (1 + 0.15 * top.pieces)
            off = np.array([top.x_mm, top.y_mm, top.angle_rad]) - foot
            unlikely = ((off / (spread_mm, spread_mm, 0.12)) ** 2).sum() / 2
            contrast = support.tip[0] - 0.5 * support.unevenness[0] - (7.0 if on_board else 3.0) * unlikely
            contrast += 0.6 * (24.0 if on_board else support.foot[0])
            assert top.contrast == pytest.approx(contrast, abs=0.05)
            assert top.levels == pytest.approx(support.levels[0], abs=0.05)
            width = tip_widths_mm(camera, picture, here)[0]
            assert top.width_mm == pytest.approx(width, abs=0.01)
            tip_mm = PIECES.sizes[top.size].base_mm * TIP_SHARE
            surely = 0.46 - 0.057 * tip_mm
            strange = ((width - 1.5 - 0.62 * tip_mm) / surely) ** 2 / 2
            likely = contrast / 5 - 0.3 * top.pieces - min(5.0, 0.8 * strange) - math.log(surely)
            assert top.log_likelihood == pytest.approx(likely, abs=0.2)
    assert len(compared) > 6
