"""Locating a board by the straight edges of a picture: its visibility, fitted pose and ambiguity."""

from collections.abc import Callable
from copy import deepcopy
from itertools import product

import cv2
import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from tests.effort import some
from tests.vision.locating.lines import Segment, edges_at, edges_of, grid_of
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.pieces import GridSurface
from vision.layout.table import TableLayout
from vision.locating import lattice
from vision.locating.location import locate
from vision.locating.tracking import LineTracker, TrackedTable

CAMERA = lens((960, 720))
POSE = looking_at(520.0, 25.0, -70.0)
BOARD = GridSurface("board", columns=7, rows=7, cell_mm=40.0, height_mm=18.0)
LONG = GridSurface("board", columns=5, rows=8, cell_mm=32.0)
LINES = grid_of(BOARD)
ALL_SHOWN = (2 * 8 * 7 + 2 * 2 * 7) / (2 * 8 * 7)
"""The visibility of a whole board: each square's share of a line once, and those of the rim twice."""
SQUARE_SHOWN = 1 / (2 * 8 * 7)


def seen(segments: list[Segment], pose: Pose = POSE, surface: GridSurface = BOARD) -> lattice.Edges:
    return edges_of(CAMERA, pose, segments, surface.height_mm)


def moved(pose: Pose, x_mm: float, y_mm: float, turn_deg: float = 0.0) -> Pose:
    """The pose of a table that was pushed and turned."""
    turn = Pose.from_vectors((0.0, 0.0, np.radians(turn_deg)), np.zeros(3)).rotation
    return Pose(pose.rotation @ turn, pose.translation + pose.rotation @ np.array([x_mm, y_mm, 0.0]))


def off_mm(found: Pose, true: Pose = POSE, surface: GridSurface = BOARD) -> float:
    """Largest distance in the table plane between the board's corners in two poses."""
    corners = surface.bounds_mm.corners_mm(surface.height_mm)
    seen_at = back_project(CAMERA, found, project(CAMERA, true, corners), surface.height_mm)
    return float(np.linalg.norm(seen_at - corners, axis=1).max())


def visibility(segments: list[Segment]) -> float:
    found = lattice.fit_to_lines(seen(segments), CAMERA, POSE, BOARD)
    assert found is not None
    return found.visibility


def line(x1: float, y1: float, x2: float, y2: float) -> Segment:
    """A line from one crossing of the board's lines to another, counted in squares from its near left corner."""
    left, near = BOARD.bounds_mm.left_mm, BOARD.bounds_mm.near_mm
    return (left + 40.0 * x1, near + 40.0 * y1), (left + 40.0 * x2, near + 40.0 * y2)


def test_every_square_of_a_line_counts_once_and_those_of_the_rim_twice() -> None:
    assert visibility(LINES) == pytest.approx(ALL_SHOWN, abs=1e-3)
    inner, rim = LINES.index(line(2, 3, 3, 3)), LINES.index(line(2, 0, 3, 0))
    assert visibility(LINES[:inner] + LINES[inner + 1 :]) == pytest.approx(ALL_SHOWN - SQUARE_SHOWN, abs=1e-3)
    assert visibility(LINES[:rim] + LINES[rim + 1 :]) == pytest.approx(ALL_SHOWN - 2 * SQUARE_SHOWN, abs=1e-3)
    assert visibility(LINES + LINES) == pytest.approx(ALL_SHOWN, abs=1e-3), "a line that is seen twice counts once"
    half = [*LINES[:inner], line(2.0, 3, 2.5, 3), *LINES[inner + 1 :]]
    assert visibility(half) == pytest.approx(ALL_SHOWN - 0.5 * SQUARE_SHOWN, abs=1e-3)
    whole_lines = [line(0, at, 7, at) for at in range(8)] + [line(at, 0, at, 7) for at in range(8)]
    assert visibility(whole_lines) == pytest.approx(ALL_SHOWN, abs=1e-3)


@pytest.mark.parametrize(
    ("stray", "lost_squares"),
    [
        (line(2, 3.5, 3, 3.5), 0.5),
        (line(3.4, 1, 3.4, 2), 0.5),
        (line(2, 3.3, 3, 3.3), 0.5),
        (line(2, 3.2, 3, 3.2), 0.0),
        (line(2, -0.5, 3, -0.5), 0.0),
        (line(2, -1, 3, -1), 0.7),
        (line(2, 8, 3, 8), 0.7),
        (line(7, 5, 8, 5), 0.7),
        (line(-1, 5, 0, 5), 0.7),
        (line(-1, 2, -1, 3), 0.7),
        (line(8, 2, 8, 3), 0.7),
        (line(3, 7, 3, 8), 0.7),
        (line(2, -2, 3, -2), 0.0),
        (line(2, 9, 3, 9), 0.0),
        (line(9, 5, 10, 5), 0.0),
    ],
)
def test_lines_beyond_the_rim_and_between_the_lines_count_against_a_board(stray: Segment, lost_squares: float) -> None:
    assert visibility([*LINES, stray]) == pytest.approx(ALL_SHOWN - lost_squares * SQUARE_SHOWN, abs=1e-3)


@pytest.mark.parametrize("off_line", [0.05, 0.1])
def test_an_edge_lies_on_a_line_within_a_fourteenth_of_a_square(off_line: float) -> None:
    rest = [one for one in LINES if one != line(2, 3, 3, 3)]
    counted = SQUARE_SHOWN if off_line < 0.07 else 0.0
    assert visibility([*rest, line(2, 3 + off_line, 3, 3 + off_line)]) == pytest.approx(
        ALL_SHOWN - SQUARE_SHOWN + counted, abs=2e-3
    )


@pytest.mark.parametrize(("turn_deg", "counts"), [(1.7, True), (2.6, False)])
def test_an_edge_runs_along_a_side_within_two_degrees(turn_deg: float, counts: bool) -> None:
    rest = [one for one in LINES if one != line(2, 3, 3, 3)]
    middle = project(CAMERA, POSE, [[*np.mean(line(2, 3, 3, 3), axis=0), BOARD.height_mm]])[0]
    ends = project(CAMERA, POSE, [[*end, BOARD.height_mm] for end in line(2.45, 3, 2.55, 3)]) - middle
    turn = np.radians(turn_deg)
    turned = middle + ends @ np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    edges = edges_at(CAMERA, [*seen(rest).ends_px, turned])
    found = lattice.fit_to_lines(edges, CAMERA, POSE, BOARD)
    assert found is not None
    shown = found.visibility - (ALL_SHOWN - SQUARE_SHOWN)
    assert shown == pytest.approx(0.1 * SQUARE_SHOWN if counts else 0.0, abs=2e-4)


@pytest.mark.parametrize("surface", [BOARD, LONG])
def test_a_pose_is_fitted_to_the_lines_from_nearby(surface: GridSurface) -> None:
    found = lattice.fit_to_lines(seen(grid_of(surface), surface=surface), CAMERA, moved(POSE, 2.0, -3.0, 0.4), surface)
    assert found is not None
    assert off_mm(found.pose, surface=surface) < 0.02
    assert found.error_px < 0.01
    assert found.is_clear
    assert not lattice.BoardSighting(POSE, 0.44, 0.0).is_clear


def test_edges_off_their_lines_hardly_bend_the_pose_and_known_points_do_by_their_weight() -> None:
    bent = [line(1, 3.06, 2, 3.06), line(4, 5.06, 5, 5.06)]
    rest = [one for one in LINES if one not in (line(1, 3, 2, 3), line(4, 5, 5, 5))]
    found = lattice.fit_to_lines(seen([*rest, *bent]), CAMERA, POSE, BOARD)
    assert found is not None
    assert 0.002 < off_mm(found.pose) < 0.08
    assert found.error_px > 0.2
    corners = BOARD.bounds_mm.corners_mm(BOARD.height_mm)
    pixels = project(CAMERA, moved(POSE, 3.0, 0.0), corners)
    offs = []
    for weight in (3.0, 30.0, 3000.0):
        known = lattice.KnownPoints(corners, pixels, np.full(len(corners), weight))
        pulled = lattice.fit_to_lines(seen(LINES), CAMERA, POSE, BOARD, known)
        assert pulled is not None
        offs.append(off_mm(pulled.pose))
    assert offs[0] < 0.3 < offs[1] < offs[2]
    assert offs[2] == pytest.approx(3.0, abs=0.1)


def test_the_error_is_that_of_the_fitted_pose() -> None:
    """Edges well off their lines pull on the first fits, and are left out of the last one."""
    bent = [line(at, row + 0.09, at + 1, row + 0.09) for row in (2, 4) for at in range(7)]
    straight = [line(at, row, at + 1, row) for row in (2, 4) for at in range(7)]
    rest = [one for one in LINES if one not in straight]
    found = lattice.fit_to_lines(seen([*rest, *bent]), CAMERA, POSE, BOARD)
    assert found is not None
    assert off_mm(found.pose) < 0.02
    assert found.error_px < 0.01


def test_sixteen_ends_of_edges_are_the_fewest_for_a_pose() -> None:
    few = [line(0, 0, 7, 0), line(0, 7, 7, 7), line(0, 3, 7, 3), line(0, 5, 7, 5)]
    across = [line(0, 0, 0, 7), line(7, 0, 7, 7), line(2, 0, 2, 7), line(5, 0, 5, 7)]
    found = lattice.fit_to_lines(seen(few + across), CAMERA, moved(POSE, 1.0, 1.0), BOARD)
    assert found is not None
    assert off_mm(found.pose) < 0.05
    assert lattice.fit_to_lines(seen(few + across[1:]), CAMERA, POSE, BOARD) is None
    assert lattice.fit_to_lines(seen([]), CAMERA, POSE, BOARD) is None


@pytest.mark.parametrize("step", some([(1, 0), (-1, 0), (0, 1), (0, -1)]))
def test_a_board_squares_away_is_chosen_if_clearly_more_of_it_is_visible(step: tuple[int, int]) -> None:
    for squares in (1, 2):
        off = moved(POSE, squares * 40.0 * step[0], squares * 40.0 * step[1])
        found = lattice.board_near(seen(LINES), CAMERA, off, BOARD)
        assert found is not None
        assert off_mm(found.pose) < 0.05
        assert found.visibility == pytest.approx(ALL_SHOWN, abs=1e-3)
    here = lattice.board_near(seen(LINES), CAMERA, POSE, BOARD)
    assert here is not None
    assert off_mm(here.pose) < 0.05
    assert lattice.board_near(seen([]), CAMERA, POSE, BOARD) is None


@pytest.mark.parametrize(("hidden", "moves"), [(4, False), (5, True)])
def test_a_board_moves_by_a_square_only_for_a_clear_gain_in_visibility(hidden: int, moves: bool) -> None:
    """One more row of squares fits the board here or a square farther; here part of its near rim is hidden."""
    row = [line(at, 7, at, 8) for at in range(8)] + [line(at, 8, at + 1, 8) for at in range(7)]
    gone = [line(at, 0, at + 1, 0) for at in range(hidden)]
    found = lattice.board_near(seen([one for one in [*LINES, *row] if one not in gone]), CAMERA, POSE, BOARD)
    assert found is not None
    assert (off_mm(found.pose) > 30) == moves
    assert (off_mm(found.pose) < 1) != moves


@pytest.mark.parametrize(
    ("surface", "pose"),
    some(product([LONG, BOARD], [looking_at(450.0, 4.0), POSE, looking_at(700.0, 45.0, 20.0, roll_deg=10.0)])),
)
def test_a_board_is_found_among_all_edges(surface: GridSurface, pose: Pose) -> None:
    strays = np.random.default_rng(4).uniform(50, 650, (25, 1, 2)) + np.random.default_rng(5).uniform(
        -40, 40, (25, 2, 2)
    )
    edges = edges_at(CAMERA, [*seen(grid_of(surface), pose, surface).ends_px, *strays])
    best, *others = lattice.run_to_end(lattice.candidate_boards(edges, CAMERA, surface))
    assert best.is_clear
    assert min(off_mm(one, pose, surface) for one in lattice.symmetric_poses(best.pose, surface)) < 0.1
    assert len(lattice.symmetric_poses(best.pose, surface)) == (4 if surface is BOARD else 2)
    assert all(one.visibility <= best.visibility for one in others)


def marker_beside(
    surface: GridSurface, pose: Pose, *, side_mm: float = 36.0, turn_deg: float = 0.0
) -> lattice.MarkerSighting:
    """A marker left of the board's far left corner, or how one is seen that is larger or turned."""
    centre_mm = np.array([surface.bounds_mm.left_mm - 30.0, surface.bounds_mm.far_mm - 18.0, 0.0])
    turn = np.radians(turn_deg) + np.pi * np.array([3, 1, -1, -3]) / 4
    corners_mm = centre_mm + side_mm / np.sqrt(2) * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(4)])
    return lattice.MarkerSighting(project(CAMERA, pose, corners_mm), 36.0, centre_mm)


@pytest.mark.parametrize(
    ("surface", "true"),
    some(
        [
            *((BOARD, POSE), (LONG, POSE), (LONG, moved(POSE, 12.0, -8.0, 100.0))),
            *(
                (BOARD, moved(POSE, 12.0, -8.0, 100.0)),
                (BOARD, looking_at(700.0, 45.0, 20.0)),
                (LONG, looking_at(700.0, 45.0, 20.0)),
            ),
        ],
        3,
    ),
)
def test_a_board_that_agrees_with_a_marker_is_found_among_others(surface: GridSurface, true: Pose) -> None:
    edges = seen(grid_of(surface), true, surface)
    marker = marker_beside(surface, true)
    best = lattice.run_to_end(lattice.candidate_boards(edges, CAMERA, surface))[0]
    assert (
        off_mm(
            lattice.run_to_end(lattice.candidate_boards(edges, CAMERA, surface, [marker]))[0].pose, best.pose, surface
        )
        < 0.1
    )
    farther = moved(true, 2.7 * surface.cell_mm, 0.0)
    lying = [marker_beside(surface, farther), marker]
    assert (
        off_mm(lattice.run_to_end(lattice.candidate_boards(edges, CAMERA, surface, lying))[0].pose, best.pose, surface)
        < 0.1
    )


@pytest.mark.parametrize(
    "marker",
    [
        marker_beside(BOARD, moved(POSE, 2.7 * BOARD.cell_mm, 0.0)),
        marker_beside(BOARD, POSE, side_mm=50.0),
        marker_beside(BOARD, POSE, side_mm=26.0),
        marker_beside(BOARD, POSE, turn_deg=25.0),
    ],
    ids=["elsewhere", "nearer", "farther", "turned"],
)
def test_a_board_that_contradicts_the_only_marker_is_not_found(marker: lattice.MarkerSighting) -> None:
    found = lattice.run_to_end(lattice.candidate_boards(seen(LINES), CAMERA, BOARD, [marker]))
    assert not [one for one in found if min(off_mm(each) for each in lattice.symmetric_poses(one.pose, BOARD)) < 30]


@pytest.mark.parametrize("turn_deg", [0.0, 4.0, -8.0])
def test_a_blurred_or_carelessly_laid_marker_may_be_a_little_off(turn_deg: float) -> None:
    marker = marker_beside(BOARD, POSE, turn_deg=turn_deg)
    off_px = np.random.default_rng(3).normal(0, 0.7, (4, 2))
    blurred = lattice.MarkerSighting(marker.corners_px + off_px, marker.side_mm, marker.centre_mm)
    best = lattice.run_to_end(lattice.candidate_boards(seen(LINES), CAMERA, BOARD, [blurred]))[0]
    assert min(off_mm(each) for each in lattice.symmetric_poses(best.pose, BOARD)) < 0.1


def test_a_board_as_deep_as_a_fifth_of_the_picture_is_found() -> None:
    far = looking_at(1500.0, 10.0, -70.0)
    best = lattice.run_to_end(lattice.candidate_boards(seen(LINES, far), CAMERA, BOARD))[0]
    assert best.is_clear
    assert min(off_mm(one, far) for one in lattice.symmetric_poses(best.pose, BOARD)) < 0.5


def test_two_boards_nearly_as_clear_in_two_places_are_ambiguous() -> None:
    board = lattice.BoardSighting(POSE, 1.0, 0.0)
    aside, near = moved(POSE, 30.0, 0.0), moved(POSE, 15.0, 0.0)
    assert lattice.is_ambiguous(board, [lattice.BoardSighting(aside, 0.96, 0.0)], BOARD)
    assert not lattice.is_ambiguous(board, [lattice.BoardSighting(aside, 0.94, 0.0)], BOARD)
    assert not lattice.is_ambiguous(board, [lattice.BoardSighting(near, 0.99, 0.0)], BOARD)
    assert not lattice.is_ambiguous(board, [], BOARD)


@pytest.mark.parametrize(("reduction", "within_px"), [(1, 0.3), (2, 0.55)])
def test_edges_are_located_and_sorted_by_length(reduction: int, within_px: float) -> None:
    image = np.full((720, 960), 60, dtype=np.uint8)
    image[150:600, 496:504] = 230
    image[96:104, 100:300] = 230
    edges = lattice.Edges.detect(image, CAMERA, reduction)
    lengths = np.linalg.norm(edges.ends_px[:, 1] - edges.ends_px[:, 0], axis=1)
    assert (np.diff(lengths) <= 0).all()
    upright = edges.ends_px[lengths > 400]
    assert sorted(upright[:, :, 0].mean(axis=1)) == pytest.approx([495.5, 503.5], abs=within_px)
    assert np.sort(upright[0, :, 1]) == pytest.approx([149.5, 599.5], abs=6)
    level = edges.ends_px[(lengths > 150) & (lengths < 250)]
    assert sorted(level[:, :, 1].mean(axis=1)) == pytest.approx([95.5, 103.5], abs=within_px)
    again = edges_at(CAMERA, edges.ends_px)
    for name in ("rays", "planes", "middles", "lengths"):
        assert getattr(edges, name) == pytest.approx(getattr(again, name), abs=1e-9)
    assert len(edges.chosen(slice(3)).lengths) == len(edges.chosen(np.array([3, 0, 2])).planes) == 3
    assert len(lattice.Edges.detect(np.full((720, 960), 60, np.uint8), CAMERA).lengths) == 0


def test_edges_shorter_than_eight_pixels_are_left_out() -> None:
    image = np.full((720, 960), 60, dtype=np.uint8)
    for number, long_px in enumerate((6, 7, 10, 14)):
        image[100:106, 100 + 60 * number : 100 + 60 * number + long_px] = 230
    lengths = np.linalg.norm(np.diff(lattice.Edges.detect(image, CAMERA).ends_px, axis=1)[:, 0], axis=1)
    assert lengths.min() >= 8.0


def test_the_misalignment_of_an_edge_is_its_angle_to_a_direction_at_its_middle() -> None:
    for turn_deg in (0.0, 0.8, 3.0, 30.0):
        turn = np.radians(turn_deg)
        way = np.array([np.cos(turn), np.sin(turn)])
        middle = np.array([35.0, -20.0])
        edges = seen([(tuple(middle - 10 * way), tuple(middle + 10 * way))])
        ends = project(CAMERA, POSE, [[*(middle - way), 18.0], [*(middle + way), 18.0]])
        along = project(CAMERA, POSE, [[34.0, -20.0, 18.0], [36.0, -20.0, 18.0]])
        (seen_way, x_way) = (np.diff(pair, axis=0)[0] / np.linalg.norm(np.diff(pair, axis=0)) for pair in (ends, along))
        sine = abs(seen_way[0] * x_way[1] - seen_way[1] * x_way[0])
        assert edges.misalignment(POSE.rotation[:, 0][None])[0, 0] == pytest.approx(sine, abs=0.03)
        votes = edges.votes(POSE.rotation[:, :1].T)[0]
        expected = max(0.0, 1 - edges.misalignment(POSE.rotation[:, 0][None])[0, 0] / np.sin(np.radians(1.5)))
        assert votes == pytest.approx(expected * edges.lengths[0])
        assert (votes > 0) == (turn_deg < 1.0)


@pytest.mark.parametrize(("tilt_deg", "found"), [(0.0, True), (40.0, True), (70.0, True), (75.0, False)])
def test_the_sides_of_a_board_give_its_rotation_unless_it_is_seen_too_flat(tilt_deg: float, found: bool) -> None:
    pose = looking_at(550.0 if tilt_deg == 0 else 900.0, tilt_deg, -60.0)
    rotations = lattice.candidate_rotations(seen(LINES, pose))

    def off_deg(rotation: np.ndarray) -> float:
        alike = np.abs(rotation[:, :2].T @ pose.rotation[:, :2]).max(axis=0).min()
        return float(np.degrees(np.arccos(np.clip(min(alike, -rotation[2, 2] / -pose.rotation[2, 2]), -1, 1))))

    assert (bool(rotations) and off_deg(rotations[0]) < 0.1) == found
    for number, rotation in enumerate(rotations):
        assert np.linalg.det(rotation) == pytest.approx(1.0)
        assert rotation[2, 2] < -np.cos(np.radians(72.0))
        for other in rotations[:number]:
            alike = np.abs(rotation.T @ other).max(axis=0).min()
            assert np.degrees(np.arccos(min(1.0, alike))) > 0.69


# A board without markers is located and tracked by its lines.

ALL = (0, 1, 2, 3)
WITHIN_MM = 2.0


@pytest.fixture(scope="module")
def unmarked(layout: TableLayout) -> TableLayout:
    return layout.without_markers()


@pytest.fixture(scope="module")
def picture(render_table: Callable[..., Image], pose: Pose) -> Image:
    return render_table(pose, hidden=ALL)


def board_error_mm(camera, surface, found, true):
    corners = surface.bounds_mm.corners_mm(surface.height_mm)
    seen = back_project(camera, found, project(camera, true, corners), surface.height_mm)
    return np.linalg.norm(seen - corners, axis=1).max()


def test_a_board_is_found_by_its_lines_the_first_player_at_the_lower_edge(picture, camera, unmarked, pose):
    located = locate(picture, camera, unmarked)
    assert board_error_mm(camera, unmarked.board, located.pose, pose) < WITHIN_MM
    assert located.ids_used == located.ids_seen == ()
    assert located.error_px < 2.0
    assert not located.uncertain
    assert len(located.symmetric_poses) == 3


def test_the_earlier_pose_decides_the_orientation(picture, camera, unmarked, pose):
    for before in lattice.symmetric_poses(pose, unmarked.board):
        found = locate(picture, camera, unmarked, previous=before).pose
        assert board_error_mm(camera, unmarked.board, found, before) < WITHIN_MM


def test_a_pose_off_by_a_square_is_corrected(picture, camera, unmarked, pose):
    off = Pose(pose.rotation, pose.translation + pose.rotation @ (unmarked.board.cell_mm, 0.0, 0.0))
    assert (
        board_error_mm(camera, unmarked.board, locate(picture, camera, unmarked, previous=off).pose, pose) < WITHIN_MM
    )


@pytest.mark.parametrize("tilt_deg", [5, 45])
def test_tilted_views(tilt_deg, render_table, camera, unmarked, pose_looking_from):
    angle = np.radians(tilt_deg)
    pose = pose_looking_from((700 * np.sin(angle), 0.0, 700 * np.cos(angle)))
    located = locate(render_table(pose, hidden=ALL, noise=4.0), camera, unmarked)
    errors = [board_error_mm(camera, unmarked.board, each, pose) for each in (located.pose, *located.symmetric_poses)]
    assert min(errors) < WITHIN_MM


def test_a_board_that_is_longer_than_wide_can_be_turned_by_half_only(camera, pose_looking_from):
    surface = GridSurface("board", columns=5, rows=8, cell_mm=35.0)
    pose = pose_looking_from((250.0, -250.0, 650.0))
    grey = np.full(camera.size[::-1], 60, dtype=np.uint8)
    bounds = surface.bounds_mm
    cv2.fillConvexPoly(grey, np.round(project(camera, pose, bounds.corners_mm(0.0))).astype(np.int32), 150, cv2.LINE_AA)
    for count, axis in ((surface.columns, 0), (surface.rows, 1)):
        for line in range(count + 1):
            ends = np.array([[bounds.left_mm, bounds.near_mm, 0.0], [bounds.right_mm, bounds.far_mm, 0.0]])
            ends[:, axis] = ends[0, axis] + line * surface.cell_mm
            first, second = np.round(project(camera, pose, ends)).astype(int).tolist()
            cv2.line(grey, first, second, 90, 1, cv2.LINE_AA)
    found = lattice.run_to_end(lattice.candidate_boards(lattice.Edges.detect(grey, camera), camera, surface))[0]
    assert found.is_clear
    poses = lattice.symmetric_poses(found.pose, surface)
    assert len(poses) == 2
    assert min(board_error_mm(camera, surface, each, pose) for each in poses) < 2 * WITHIN_MM


def test_no_board_is_found_in_a_picture_without_one(camera, unmarked):
    noise = np.random.default_rng(3).integers(0, 255, (*camera.size[::-1], 3)).astype(np.uint8)
    for picture in (np.full_like(noise, 90), np.asarray(cv2.GaussianBlur(noise, (0, 0), 3), dtype=np.uint8)):
        with pytest.raises(NotLocatedError, match="no grid of 7 x 7 squares was found; check that the whole board"):
            locate(picture, camera, unmarked)


def under_a_sheet(picture, camera, pose, near_mm):
    """The picture with paper over the board from the far side to ``near_mm`` in front of its middle."""
    covered = picture.copy()
    sheet = np.array([[-300, near_mm, 10], [300, near_mm, 10], [300, 300, 10], [-300, 300, 10]], dtype=np.float64)
    cv2.fillConvexPoly(covered, np.round(project(camera, pose, sheet)).astype(np.int32), (200, 200, 200))
    return covered


def test_a_board_is_followed_by_its_lines(picture, camera, unmarked, pose, render_table, pose_looking_from):
    tracker = LineTracker(camera, unmarked, hold_s=5.0)
    frames = iter(range(1000))

    def feed(shown, at_s=None):
        number = next(frames)
        return tracker.update(Frame(shown, number / 10 if at_s is None else at_s, number))

    assert not feed(picture).uncertain
    still = feed(picture)
    assert still.frames_averaged == 2
    assert board_error_mm(camera, unmarked.board, still.pose, pose) < WITHIN_MM

    assert board_error_mm(camera, unmarked.board, feed(under_a_sheet(picture, camera, pose, 60)).pose, pose) < WITHIN_MM
    assert feed(under_a_sheet(picture, camera, pose, -200)).held_s > 0
    assert not feed(picture).uncertain

    # Moved by a square, so that lines coincide with lines.
    nudged = pose_looking_from((100.0, -330.0, 700.0), (40.0, 0.0, 0.0))
    moved = render_table(nudged, hidden=ALL)
    assert feed(moved).moving
    rested = feed(moved)
    assert not rested.uncertain
    assert "moved" in rested.notices[0]
    assert board_error_mm(camera, unmarked.board, rested.pose, nudged) < WITHIN_MM

    with pytest.raises(NotLocatedError, match="its lines have not been in sight for"):
        feed(np.zeros_like(picture), at_s=60.0)
    assert board_error_mm(camera, unmarked.board, feed(picture).pose, pose) < WITHIN_MM


@pytest.fixture(scope="module")
def begun(picture: Image, camera: CameraModel, unmarked: TableLayout) -> LineTracker:
    """A tracker that has located the board at 0 seconds, which takes long."""
    tracker = LineTracker(camera, unmarked, hold_s=5.0)
    tracker.update(Frame(picture, 0.0, 0))
    return tracker


@pytest.fixture
def followed(begun: LineTracker) -> Callable[[Image, float], TrackedTable]:
    """``followed(picture, at_s)`` gives one frame after another to a tracker that has seen the board at 0 seconds."""
    tracker, count = deepcopy(begun), iter(range(1, 1000))
    return lambda shown, at_s: tracker.update(Frame(shown, at_s, next(count)))


@pytest.mark.parametrize(("at_s", "is_held"), [(5.0, True), (5.2, False)])
def test_a_board_without_visible_lines_is_held_for_the_configured_time(picture, followed, at_s, is_held):
    nothing = np.full_like(picture, 90)
    if is_held:
        held = followed(nothing, at_s)
        assert held.held_s == pytest.approx(at_s)
        assert held.uncertain
        assert not held.moving
        assert held.frames_averaged == 1
        assert not followed(picture, at_s + 0.1).uncertain
    else:
        with pytest.raises(NotLocatedError, match="have not been in sight for 5 s"):
            followed(nothing, at_s)


def test_a_board_held_at_the_same_time_is_uncertain(picture, followed):
    assert followed(np.full_like(picture, 90), 0.0).held_s > 0


def test_whole_pictures_are_searched_once_the_picture_rests_and_then_ever_more_rarely(
    picture, followed, camera, unmarked, pose, monkeypatch
):
    searched = []

    def none(edges, camera, surface):
        searched.append(len(edges.lengths))
        yield
        return []

    monkeypatch.setattr("vision.locating.tracking.candidate_boards", none)
    nothing = np.full_like(picture, 90)
    lit = nothing.copy()
    lit[:40, :40] = 200
    counts = []
    for at_s, shown in (*((0.1, nothing), (0.2, nothing), (0.6, nothing), (2.1, lit), (2.3, lit), (4.9, lit)),):
        followed(shown, at_s)
        counts.append(len(searched))
    assert counts == [0, 1, 1, 1, 2, 2]


def test_a_board_not_found_is_searched_for_again_only_when_due(picture, camera, unmarked, monkeypatch):
    searched: list[int] = []

    def none(*_arguments):
        searched.append(len(searched))
        raise NotLocatedError(f"search {len(searched)}")

    monkeypatch.setattr("vision.locating.tracking.board_by_lines", none)
    tracker = LineTracker(camera, unmarked)
    changed = 255 - picture
    for at_s, shown, reason in (
        *((0.0, picture, 1), (0.1, picture, 1), (0.9, changed, 1), (1.0, changed, 2), (2.9, picture, 2)),
        *((3.0, picture, 3), (8.0, picture, 3)),
    ):
        with pytest.raises(NotLocatedError, match=f"search {reason}"):
            tracker.update(Frame(shown, at_s, 0))


@pytest.mark.parametrize(("nudge_mm", "moves"), [(0.8, False), (4.0, True)])
def test_a_board_moved_by_more_than_a_pixel_and_a_half_is_said_once(
    picture, followed, camera, unmarked, pose, render_table, nudge_mm, moves
):
    nudged = Pose(pose.rotation, pose.translation + pose.rotation @ (nudge_mm, 0.0, 0.0))
    shown = render_table(nudged, hidden=ALL)
    first = followed(shown, 0.1)
    second = followed(shown, 0.2)
    assert first.moving == moves
    assert not second.moving
    assert len(second.notices) == int(moves)
    assert followed(shown, 0.3).notices == ()
    assert board_error_mm(camera, unmarked.board, second.pose, nudged) < (WITHIN_MM if moves else 2.5)


def test_a_single_picture_of_a_board_that_was_moved_is_used(
    followed, camera, unmarked, render_table, pose_looking_from
):
    moved = pose_looking_from((100.0, -330.0, 700.0), (100.0, 15.0, 0.0))
    found = followed(render_table(moved, hidden=ALL), 60.0)
    assert not found.uncertain
    assert ["was located again" in notice for notice in found.notices] == [True]
    assert board_error_mm(camera, unmarked.board, found.pose, moved) < 2 * WITHIN_MM


def test_a_pose_is_the_mean_of_the_last_twenty_frames(picture, followed):
    assert [followed(picture, 0.1 * (number + 1)).frames_averaged for number in range(21)] == [*range(2, 21), 20, 20]
