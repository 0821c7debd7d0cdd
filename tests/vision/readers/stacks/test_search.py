"""The search for tops on drawn stacks with known tips, feet, sizes and widths."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.readers.stacks.drawn import (
    BOARD,
    CAMERA,
    GROUND,
    LEVELS,
    PIECES,
    Drawn,
    camera_from,
    picture_of,
    seen_from,
)
from vision.frame import FloatArray, FloatImage
from vision.geometry import Pose, project
from vision.layout.pieces import TIP_SHARE
from vision.readers.stacks.picture import USUAL_LEVEL, StackCamera, sample_levels
from vision.readers.stacks.probe import Hypotheses, Probe, Support, tip_widths_mm
from vision.readers.stacks.search import Top, TopSearch, possible_tops

L, M, S = ("L", "red"), ("M", "blue"), ("S", "yellow")
STACKS = (
    Drawn("b2", [L]),
    Drawn("d2", [L, M], (1.5, -1.0)),
    Drawn("b4", [L, S], (-2.0, 1.0), 0.12),
    Drawn("d4", [L, M, S], (0.0, 2.0), -0.1),
    Drawn("c3", [L], (2.0, 1.5), 0.15),
    Drawn("e5", [L, M, S, M]),
)
PLACES = [one.place for one in STACKS]
SIDES = [-70.0, 110.0]


class Seen:
    """Drawn stacks seen from one direction."""

    def __init__(self, azimuth_deg: float) -> None:
        self.pose: Pose = seen_from(azimuth_deg)
        self.camera: StackCamera = camera_from(self.pose)
        self.picture: FloatImage = self.camera.picture(picture_of(STACKS, self.pose))
        self.search = TopSearch(BOARD)
        self.feet: FloatArray = self.search.feet(self.camera, self.picture, PLACES)


@pytest.fixture(scope="module", params=SIDES)
def seen(request: pytest.FixtureRequest) -> Seen:
    return Seen(request.param)


@pytest.fixture(scope="module")
def front() -> Seen:
    return Seen(SIDES[0])


def hypotheses(one: Drawn, dx: float = 0.0, dy: float = 0.0, twist: float = 0.0) -> Hypotheses:
    x, y, tip = one.tip_mm
    return Hypotheses(np.array([0]), np.array([[x + dx, y + dy, tip]]), np.array([one.turned + twist]))


def look(seen: Seen, one: Drawn, dx: float = 0.0, dy: float = 0.0, twist: float = 0.0) -> Support:
    return Probe([PIECES.sizes[one.stack[-1][0]]]).evaluate(seen.camera, seen.picture, hypotheses(one, dx, dy, twist))


def test_the_camera_of_stacks_sees_points_where_the_picture_has_them(seen: Seen) -> None:
    rows, columns = np.indices((CAMERA.size[1], CAMERA.size[0]))
    ramp = np.stack([columns / 960, rows / 720, np.full(rows.shape, 0.4)], axis=-1) * 200 + 20
    cut = seen.camera.picture(ramp.astype(np.uint8))
    points = np.array([[x, y, z] for x in (-80.0, 0.0, 80.0) for y in (-80.0, 0.0, 80.0) for z in (6.0, 50.0, 70.0)])
    shown = sample_levels(cut, seen.camera.pixels(points))[:, :3] + USUAL_LEVEL
    expected = project(CAMERA, seen.pose, points) / (960, 720) * 200 + 20
    assert shown[:, :2] / shown[:, 2:] == pytest.approx(expected / 100, abs=0.04)
    assert float(cut[..., :3].mean()) == pytest.approx(0.0, abs=0.02 * USUAL_LEVEL)
    grey = seen.camera.picture(ramp[..., 0].astype(np.uint8))
    assert grey.shape == cut.shape
    dark = seen.camera.picture((ramp / 3).astype(np.uint8))
    assert np.abs(dark - cut)[..., :3].max() < 5


def test_a_picture_of_some_places_equals_the_whole_one_there(seen: Seen) -> None:
    image = np.random.default_rng(1).integers(0, 256, (CAMERA.size[1], CAMERA.size[0], 3), dtype=np.uint8)
    image = np.asarray(cv2.GaussianBlur(image, (0, 0), 2), dtype=np.uint8)
    places = ["a1", "c3"]
    whole, part = seen.camera.picture(image), seen.camera.picture(image, places)
    assert not part[..., :3].any(axis=2).all()
    high_mm = BOARD.height_mm + PIECES.height_mm
    for place in places:
        x, y = BOARD.centre_mm(place)
        around = [(x + dx, y + dy, z) for dx in (-25, 0, 25) for dy in (-25, 0, 25) for z in (BOARD.height_mm, high_mm)]
        pixels = seen.camera.pixels(np.array(around))
        assert sample_levels(part, pixels) == pytest.approx(sample_levels(whole, pixels), abs=0.01)
        assert sample_levels(part, pixels)[:, :3].any(axis=1).all()


def test_slopes_are_the_derivatives_of_projection(seen: Seen) -> None:
    points = np.array([[0.0, 0.0, 50.0], [60.0, -40.0, 10.0]])
    slopes = seen.camera.slopes(points)
    for axis in range(3):
        moved = points.copy()
        moved[:, axis] += 0.5
        assert (seen.camera.pixels(moved) - seen.camera.pixels(points)) / 0.5 == pytest.approx(
            slopes[:, :, axis], abs=0.02
        )
    across = np.linalg.norm(slopes[:, :, 0], axis=1)
    assert across == pytest.approx(2.0, rel=0.3), "about two pixels a millimetre"


def test_levels_are_interpolated_however_many_are_asked_for(front: Seen) -> None:
    ramp = np.indices((40, 50)).sum(axis=0)[..., None].repeat(3, axis=2).astype(np.float32)
    for shape in ((1,), (1025,), (3, 7, 5)):
        pixels = np.random.default_rng(1).uniform(1, 38, (*shape, 2)).astype(np.float32)
        assert np.abs(sample_levels(ramp, pixels) - pixels.sum(axis=-1)[..., None]).max() < 0.1


def test_feet_are_found_at_their_positions_and_rotations(seen: Seen) -> None:
    for one, foot in zip(STACKS, seen.feet, strict=True):
        assert foot[:2] == pytest.approx(one.foot_mm, abs=1.8), one.place
        assert foot[2] == pytest.approx(one.turned, abs=0.1), one.place


def test_feet_stay_near_the_middle_of_an_empty_place(front: Seen) -> None:
    bare = front.camera.picture(picture_of([], front.pose))
    foot = front.search.feet(front.camera, bare, ["c3"])[0]
    assert foot == pytest.approx([*BOARD.centre_mm("c3"), 0.0], abs=0.3)


@pytest.mark.parametrize("one", STACKS, ids=lambda one: one.place)
def test_a_tip_has_the_most_contrast_at_its_position(seen: Seen, one: Drawn) -> None:
    steps = np.arange(-3.0, 3.1, 0.5)
    ways = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(1, -1, 2)
    tip = one.tip_mm
    probe = Probe([PIECES.sizes[one.stack[-1][0]]])
    found = probe.near(seen.camera, hypotheses(one)).contrast(seen.picture, tip[:2] + ways)[0]
    assert np.abs(ways[0, found.argmax()]).max() <= 1.0
    assert found.max() > 25
    assert found[np.abs(ways[0]).max(axis=1) > 2.4].max() < found.max() - 12
    exact = probe.evaluate(seen.camera, seen.picture, hypotheses(one)).tip
    assert found[len(found) // 2] == pytest.approx(exact, abs=2.5), "near the middle pixels move evenly"


@pytest.mark.parametrize("one", STACKS, ids=lambda one: one.place)
def test_a_third_of_the_points_locates_a_tip_roughly(front: Seen, one: Drawn) -> None:
    steps = np.arange(-3.0, 3.1, 1.0)
    ways = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(1, -1, 2)
    tip = one.tip_mm
    tried = tip[:2] + ways
    probe = Probe([PIECES.sizes[one.stack[-1][0]]])
    near = probe.near(front.camera, hypotheses(one))
    coarse = near.contrast(front.picture, tried, coarse=True)[0]
    exact = near.contrast(front.picture, tried)[0]
    assert np.abs(ways[0, coarse.argmax()]).max() <= 1.0
    assert np.corrcoef(coarse, exact)[0, 1] > 0.9
    assert (coarse != exact).any()


def test_nothing_stands_out_on_a_bare_board(front: Seen) -> None:
    bare = front.camera.picture(picture_of([], front.pose))
    for size in PIECES.sizes.values():
        support = Probe([size]).evaluate(front.camera, bare, hypotheses(STACKS[0]))
        assert support.tip[0] < 3
        assert support.foot[0] < 4
        assert support.unevenness[0] < 4
        assert support.levels[0] / support.levels[0].mean() == pytest.approx(
            np.array(GROUND) / np.mean(GROUND), abs=0.03
        )


@pytest.mark.parametrize("one", [STACKS[0], STACKS[4]], ids=lambda one: one.place)
def test_the_edge_of_a_foot_is_clearest_at_its_position_and_rotation(seen: Seen, one: Drawn) -> None:
    here = look(seen, one)
    assert here.foot[0] > 25
    assert here.unevenness[0] < 8
    for dx, dy, twist in ((5.0, 0.0, 0.0), (0.0, -5.0, 0.0), (0.0, 0.0, 0.6)):
        away = look(seen, one, dx, dy, twist)
        assert away.foot[0] < here.foot[0] - 8
    for dx, dy in ((5.0, 0.0), (0.0, -5.0)):
        assert look(seen, one, dx, dy).unevenness[0] > here.unevenness[0] + 4


def test_levels_are_those_of_the_faces_below_the_tip(seen: Seen) -> None:
    for one in STACKS:
        blue, green, red = look(seen, one).levels[0]
        own = np.array(LEVELS[one.stack[-1][1]])
        assert np.argsort([blue, green, red])[-1] == own.argmax()
        assert np.log(np.array([blue, red]) / green) == pytest.approx(np.log(own[[0, 2]] / own[1]), abs=0.35)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_quarter_turn_is_the_same_pyramid(seen: Seen, quarters: int) -> None:
    one = STACKS[4]
    here, turned = look(seen, one), look(seen, one, twist=quarters * np.pi / 2)
    for name in ("tip", "unevenness", "foot", "levels"):
        assert getattr(turned, name) == pytest.approx(getattr(here, name), abs=0.05), name


def test_wider_tips_are_measured_wider_for_any_assumed_size(seen: Seen) -> None:
    widths: dict[str, list[float]] = {"S": [], "M": [], "L": []}
    for one in STACKS:
        found = tip_widths_mm(seen.camera, seen.picture, hypotheses(one))[0]
        widths[one.stack[-1][0]].append(float(found))
        beside = tip_widths_mm(seen.camera, seen.picture, hypotheses(one, 0.3, -0.2))[0]
        assert beside == pytest.approx(found, abs=0.5), "an error of the middle hardly changes it"
        turned = tip_widths_mm(seen.camera, seen.picture, hypotheses(one, twist=np.pi / 2))[0]
        assert turned == pytest.approx(found, abs=0.01)
    small, large = np.mean(widths["S"]), np.mean(widths["L"])
    assert small < np.mean(widths["M"]) < large
    apart = (PIECES.sizes["L"].base_mm - PIECES.sizes["S"].base_mm) * TIP_SHARE
    assert 0.4 * apart < large - small < 1.3 * apart
    assert large == pytest.approx(PIECES.sizes["L"].base_mm * TIP_SHARE, abs=1.2)


def tops_of(seen: Seen) -> list[list[Top]]:
    every = [possible_tops(())] * len(STACKS)
    return seen.search.tops(seen.camera, seen.picture, seen.feet, every)


@pytest.fixture(scope="module")
def tops(seen: Seen) -> list[list[Top]]:
    return tops_of(seen)


def test_the_true_top_is_found_at_its_position_and_ranks_high(seen: Seen, tops: list[list[Top]]) -> None:
    for one, found in zip(STACKS, tops, strict=True):
        size, pieces = one.stack[-1][0], len(one.stack) - 1
        own = [top for top in found if (top.size, top.pieces) == (size, pieces)]
        assert own, one.place
        assert min(np.hypot(top.x_mm - one.tip_mm[0], top.y_mm - one.tip_mm[1]) for top in own) < 1.1
        assert own[0].tip_mm == pytest.approx(one.tip_mm[2])
        assert own[0].log_likelihood > found[0].log_likelihood - 4, one.place
        assert own[0].angle_rad == pytest.approx(one.turned, abs=0.3)
        assert own[0].contrast > 20
    assert seen.feet.shape == (len(STACKS), 3)


def test_tops_come_best_first_and_each_is_given_twice(tops: list[list[Top]]) -> None:
    for found in tops:
        odds = [top.log_likelihood for top in found]
        assert odds == sorted(odds, reverse=True)
        kinds = {(top.size, top.pieces) for top in found}
        assert len(found) == 2 * len(kinds) + (("L", 0) in kinds)


def test_tops_are_found_where_the_camera_sees_a_point_of_their_tip(front: Seen, tops: list[list[Top]]) -> None:
    every = [possible_tops(())] * len(STACKS)
    camera_mm = front.camera.position_mm
    points_mm = np.array([camera_mm + 0.9 * (np.array(one.tip_mm) - camera_mm) for one in STACKS])
    there = front.search.tops(front.camera, front.picture, front.feet, every, points_mm)
    for one, found in zip(STACKS, there, strict=True):
        size, pieces = one.stack[-1][0], len(one.stack) - 1
        for top in found[:-1]:
            seen = front.camera.pixels(np.array([[top.x_mm, top.y_mm, top.tip_mm], one.tip_mm]))
            assert np.hypot(*(seen[0] - seen[1])) < 2.5 or (top.size, top.pieces) == ("L", 0)
        (own, *_) = [top for top in found if (top.size, top.pieces) == (size, pieces)]
        assert np.hypot(own.x_mm - one.tip_mm[0], own.y_mm - one.tip_mm[1]) < 1.1


def test_the_best_top_gives_the_size(tops: list[list[Top]]) -> None:
    right = [found[0].size == one.stack[-1][0] for one, found in zip(STACKS, tops, strict=True)]
    assert sum(right) >= len(right) - 1


def test_only_possible_tops_are_searched(front: Seen) -> None:
    may_be: list[dict[str, tuple[int, ...]]]
    may_be = [{"S": (1, 2)}, {"L": (0,)}, {"M": (1,), "S": ()}, {"L": (0, 3)}, {"L": (0,)}, {"M": (2, 3)}]
    for found, allowed in zip(front.search.tops(front.camera, front.picture, front.feet, may_be), may_be, strict=True):
        assert found
        assert all(top.pieces in allowed[top.size] for top in found)


def test_a_top_a_little_off_its_stack_is_found_there(front: Seen) -> None:
    one = Drawn("c3", [L, S], top_off_mm=(1.5, -1.0))
    picture = front.camera.picture(picture_of([one], front.pose))
    (found,) = front.search.tops(front.camera, picture, np.array([[0.0, 0.0, 0.0]]), [{"S": (1,)}])
    assert np.hypot(found[0].x_mm - 1.5, found[0].y_mm + 1.0) < 0.9


def test_dim_light_hardly_changes_the_likelihoods(front: Seen) -> None:
    dim = front.camera.picture(picture_of(STACKS, front.pose, 0.5))
    every = [possible_tops(())] * len(STACKS)
    for usual, found in zip(tops_of(front), front.search.tops(front.camera, dim, front.feet, every), strict=True):
        assert (found[0].size, found[0].pieces) == (usual[0].size, usual[0].pieces)
        assert found[0].log_likelihood == pytest.approx(usual[0].log_likelihood, abs=2)


def test_possible_tops_depend_on_the_pieces_below() -> None:
    assert possible_tops(())["L"] == possible_tops((("L", "red"), ("M", "red")))["L"]
    assert 0 in possible_tops((("L", "clear"),))["L"]
    assert max(possible_tops((("L", "clear"),))["L"]) == 0
    for stack in ((), (("L", "clear"),), (("L", "red"),)):
        for size in "MS":
            counts = possible_tops(stack)[size]
            assert counts[0] == 1
            assert list(counts) == list(range(1, len(counts) + 1))
    assert len(possible_tops((("L", "red"),))["S"]) < len(possible_tops(())["S"])
