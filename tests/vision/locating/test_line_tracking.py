"""Tracking a board by its lines while hands cover rows of it: no other position is taken for certain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from simulator.scene.scene import lens, looking_at
from tests.effort import some
from tests.vision.locating.lines import edges_of, grid_of
from vision.frame import Frame
from vision.geometry import Pose
from vision.layout.table import default_layout
from vision.locating import tracking
from vision.locating.lattice import BoardSighting, Edges, board_near
from vision.locating.tracking import LineTracker, TrackedTable

CAMERA = lens((960, 720))
LAYOUT = default_layout("deblockle").without_markers()
BOARD = LAYOUT.board
POSE = looking_at(650.0, 25.0)
PICTURE = np.full((720, 960), 120, dtype=np.uint8)
COVERED = [(0, 3), (0, 4), (1, 2), (1, 3), (2, 1), (2, 2), (3, 0), (3, 1), (4, 0)]
"""Rows covered at the near and the far rim."""

Feed = Callable[..., TrackedTable]


def edges_with_rows_covered(near: int, far: int) -> Edges:
    """The edges of the board's lines beyond the covered rows; the innermost line of a covered row is in sight."""
    low_mm = BOARD.bounds_mm.near_mm + near * BOARD.cell_mm - 1
    high_mm = BOARD.bounds_mm.far_mm - far * BOARD.cell_mm + 1
    shown = [line for line in grid_of(BOARD) if all(low_mm < y_mm < high_mm for _, y_mm in line)]
    return edges_of(CAMERA, POSE, shown, BOARD.height_mm)


def rows_away(rows: int) -> Pose:
    """The pose of a board that many rows farther from the first player."""
    return Pose(POSE.rotation, POSE.translation + POSE.rotation @ (0.0, rows * BOARD.cell_mm, 0.0))


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Callable[[Pose], Feed]:
    """``feed(previous)(near, far)`` gives one frame after another, with these rows covered, to a tracker."""

    def begin(previous: Pose) -> Feed:
        tracker, numbers = LineTracker(CAMERA, LAYOUT, previous=previous), iter(range(1000))

        def update(near: int = 0, far: int = 0) -> TrackedTable:
            number, edges = next(numbers), edges_with_rows_covered(near, far)
            monkeypatch.setattr(Edges, "detect", classmethod(lambda *_: edges))
            return tracker.update(Frame(PICTURE, 0.3 * number, number))

        return update

    return begin


def off_mm(found: TrackedTable) -> float:
    return float(np.linalg.norm(found.pose.translation - POSE.translation))


@pytest.mark.parametrize(("near", "far"), some(COVERED, 4))
def test_a_partly_covered_board_is_not_located_squares_off(feed: Callable[[Pose], Feed], near: int, far: int) -> None:
    update = feed(POSE)
    for _ in range(3):
        assert off_mm(update()) < 1
    covered = [update(near, far) for _ in range(4)]
    assert all(off_mm(one) < 1 for one in covered)
    assert not any(one.moving for one in covered)
    uncovered = [update() for _ in range(3)]
    assert all(off_mm(one) < 1 and not one.uncertain for one in uncovered)


@pytest.mark.parametrize("rows", some([-2, -1, 1, 2]))
def test_a_board_located_squares_off_under_hands_is_corrected_once_they_leave(
    feed: Callable[[Pose], Feed], rows: int
) -> None:
    update = feed(rows_away(rows))
    assert off_mm(update(2, 2)) == pytest.approx(abs(rows) * BOARD.cell_mm, abs=1)
    update()
    assert off_mm(update()) < 1
    assert not update().uncertain


@pytest.mark.parametrize("rows", some([-3, -2, 2, 3]))
def test_a_board_that_moved_by_several_squares_is_located_at_once(feed: Callable[[Pose], Feed], rows: int) -> None:
    assert off_mm(feed(rows_away(rows))()) < 1


def test_neighbouring_squares_are_only_tried_while_the_visibility_is_unusual(
    feed: Callable[[Pose], Feed], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[object, ...]] = []

    def counted(*given: Any) -> BoardSighting | None:
        tried.append(given)
        return board_near(*given)

    monkeypatch.setattr(tracking, "board_near", counted)
    update = feed(POSE)
    for rows in (2, 2, 0, 0, 0):
        update(rows)
    assert len(tried) == 1
