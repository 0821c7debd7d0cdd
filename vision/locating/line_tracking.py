"""Tracking a board without markers: its lines are searched for where they were in the frame before.

The pose is averaged over frames while the lines stay in place. A hand over the board hides some of them and does not
change the pose. If most of them disappear, the whole picture is searched, and another position only counts if it shows
clearly more of them. The orientation is kept from before.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from common.phrases import Phrase
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.table import TableLayout
from vision.locating.edges import Edges
from vision.locating.lattice import BoardSighting, board_near, candidate_boards, fit_to_lines, run_to_end
from vision.locating.location import TableLocation, board_by_lines, check_size, location_from_lines
from vision.locating.tracking import Pauses, ThoroughSearches, TrackedTable
from vision.opencv import as_grey


@dataclass(frozen=True)
class LineTrackingSettings:
    """When a board without markers counts as moved. Set by hand on virtual games."""

    moved_px: float = 1.5
    """Movement of the board's corners, in pixels, that counts as moved. Higher: a nudge is noticed later, and poses are
    more stable when hands leave few lines.
    """
    averaged_frames: int = 20
    """Frames over which the pose is averaged. More: steadier, slower to follow."""
    enough_visibility: float = 0.6
    """Share of the usual visibility at which the board counts as still in place."""
    as_usual: float = 0.9
    """The same, above which positions one square away are not tried, unless the visibility grew as much. Higher: a
    board located a square off is noticed sooner, and more frames take several times as long.
    """


_SETTINGS = LineTrackingSettings()


class LineTracker:
    """Tracks one board by its lines through one camera's frames, given in order.

    ``previous`` is a pose that determines which side of the board is the first player's. While too few lines are
    visible, a pose is kept for ``hold_s`` seconds and flagged uncertain.
    """

    def __init__(
        self, camera: CameraModel, layout: TableLayout, *, previous: Pose | None = None, hold_s: float = 10.0
    ) -> None:
        self._camera, self._layout, self._hold_s = camera, layout, hold_s
        self._previous = previous
        self._located: TableLocation | None = None
        self._usual_visibility = 0.0
        self._poses: deque[Pose] = deque(maxlen=_SETTINGS.averaged_frames)
        self._moved_from: Pose | None = None
        self._seen_at_s = 0.0
        self._searches = ThoroughSearches()
        self._pauses = Pauses()
        self._is_after_pause = False

    def update(self, frame: Frame) -> TrackedTable:
        """Return the board's location after this frame.

        Raises NotLocatedError when the board was never found, or too few of its lines were visible for longer than
        ``hold_s``. Raises FrameError or CalibrationError for a frame that does not match the camera.
        """
        check_size(frame.image, self._camera)
        self._is_after_pause = self._pauses.is_after_pause(frame)
        grey, held = as_grey(frame.image), self._located
        if held is None:
            return self._restart_at(self._find_first(grey, frame), frame)
        edges = Edges.detect(grey, self._camera)
        seen = self._find_nearby(edges, held.pose)
        if seen is None or seen.visibility < _SETTINGS.enough_visibility * self._usual_visibility:
            seen = self._search(grey, edges, frame, seen)
        if seen is None:
            return self._keep_pose(frame, held)
        found = location_from_lines(seen, self._layout, held.pose)
        if self._shift_px(held.pose, found.pose) < _SETTINGS.moved_px:
            # a board first seen under hands shows more of its lines later
            self._usual_visibility = max(self._usual_visibility, seen.visibility)
            return self._average_in(found, frame)
        if self._moved_from is None:
            self._moved_from = held.pose
        return self._restart_at(seen, frame)

    def _find_nearby(self, edges: Edges, held: Pose) -> BoardSighting | None:
        """Return the board where it was, or squares away if more or less of it is visible than usual."""
        board, usual, as_usual = self._layout.board, self._usual_visibility, _SETTINGS.as_usual
        here = fit_to_lines(edges, self._camera, held, board)
        if here is not None and as_usual * usual < here.visibility < usual / as_usual:
            return here
        return board_near(edges, self._camera, held, board, here)

    def _find_first(self, grey: Image, frame: Frame) -> BoardSighting:
        """Return the board anywhere in the picture; raises NotLocatedError, also when no search is due."""
        if not self._searches.are_due(grey, frame.time_s, at_once=True):
            raise NotLocatedError(self._searches.failure)
        try:
            return board_by_lines(grey, self._camera, self._layout, self._previous)
        except NotLocatedError as error:
            self._searches.failure = str(error)
            raise

    def _search(self, grey: Image, edges: Edges, frame: Frame, nearby: BoardSighting | None) -> BoardSighting | None:
        """Return the board anywhere in the picture, if a search is due; away from ``nearby`` only if clearly better."""
        if not self._searches.are_due(grey, frame.time_s, at_once=self._is_after_pause):
            return None
        boards = run_to_end(candidate_boards(edges, self._camera, self._layout.board))
        if not boards or not boards[0].is_clear:
            return None
        found = boards[0]
        # the lines that a hand leaves in sight also fit a few squares away
        is_better = found.shows_clearly_more_than(nearby)
        return found if nearby is None or is_better or not found.is_elsewhere(nearby, self._layout.board) else None

    def _restart_at(self, seen: BoardSighting, frame: Frame) -> TrackedTable:
        located = location_from_lines(seen, self._layout, self._previous)
        self._located, self._previous = located, located.pose
        self._searches.end()
        self._poses.clear()
        self._poses.append(located.pose)
        self._usual_visibility = seen.visibility
        self._seen_at_s = frame.time_s
        notices = self._rest_notices(located.pose) if self._is_after_pause else ()
        return TrackedTable(located, (), 1, moving=self._moved_from is not None, notices=notices)

    def _average_in(self, found: TableLocation, frame: Frame) -> TrackedTable:
        self._seen_at_s = frame.time_s
        self._searches.end()
        self._poses.append(found.pose)
        self._previous = _mean_pose(self._poses)
        self._located = replace(found, pose=self._previous)
        return TrackedTable(self._located, (), len(self._poses), notices=self._rest_notices(self._previous))

    def _rest_notices(self, pose: Pose) -> tuple[str, ...]:
        if self._moved_from is None:
            return ()
        apart_px = self._shift_px(self._moved_from, pose)
        self._moved_from = None
        if apart_px < _SETTINGS.moved_px:
            return ()
        return (
            Phrase(
                "the camera or the board moved ({apart_px} pixels in the picture) and was located again",
                f"{apart_px:.0f}",
            ),
        )

    def _keep_pose(self, frame: Frame, held: TableLocation) -> TrackedTable:
        held_s = frame.time_s - self._seen_at_s
        if held_s > self._hold_s:
            self._located, self._moved_from = None, None
            self._searches.end()
            raise NotLocatedError(
                "board not located: its lines have not been in sight for {held_s} s; uncover it", f"{held_s:.0f}"
            )
        return TrackedTable(held, (), len(self._poses), moving=self._moved_from is not None, held_s=max(held_s, 1e-3))

    def _shift_px(self, first: Pose, second: Pose) -> float:
        """Return the largest distance, in the picture, between the board's corners at two poses."""
        board = self._layout.board
        corners = board.bounds_mm.corners_mm(board.height_mm)
        difference = project(self._camera, first, corners) - project(self._camera, second, corners)
        return float(np.linalg.norm(difference, axis=1).max())


def _mean_pose(poses: Collection[Pose]) -> Pose:
    """Return the mean of nearby poses; its rotation is the one closest to the mean of the rotation matrices."""
    left, _, right = np.linalg.svd(np.mean([pose.rotation for pose in poses], axis=0))
    return Pose(left @ right, np.mean([pose.translation for pose in poses], axis=0))
