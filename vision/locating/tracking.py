"""Tracking the table through frames: averaged while it stands still, located again when it moved.

Once the table is located, only small windows around the expected markers are searched, and their corners are averaged
over frames. A hand over some markers has no effect as long as the visible ones stay in place. Markers that moved
together mean that the camera or the table moved; a marker that moved alone is ignored and reported. Sheets of paper are
often pushed while people write, so their movement is not reported.

When no marker is where it was, the whole picture is searched by fast methods in every frame, and thoroughly when
``ThoroughSearches`` says so. The first one is also searched for mirrored markers: then no pose is kept. A single
picture, taken long after the last one, shows the table at rest. The first one without the table is searched thoroughly
at once, and so are later ones, unless one was just before. A thorough search takes as long as dozens of frames. So it
is only begun once the picture rests, or from time to time, and made in steps, one in each frame, so that the rest of
the table is read meanwhile.

The lines of a board without markers are searched for where they were in the frame before. The pose is averaged over
frames while the lines stay in place. A hand over the board hides some of them and does not change the pose. If most of
them disappear, the whole picture is searched, and another position only counts if it shows clearly more of them. The
orientation is kept from before.
"""

import math
import re
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np

from common.phrases import Phrase
from vision.errors import MirroredError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Ink
from vision.layout.table import TableLayout
from vision.locating.lattice import BoardSighting, Edges, Steps, board_near, candidate_boards, fit_to_lines, run_to_end
from vision.locating.location import (
    TableLocation,
    board_by_lines,
    check_not_mirrored,
    check_size,
    is_sharp,
    locate,
    location_from_fit,
    location_from_lines,
    search_table,
)
from vision.locating.markers import FoundBy, Marker, MarkerDetector, SharedPicture, redetect_markers
from vision.locating.patterns import MarkerPatterns
from vision.locating.pose import agreement_px, fit_from
from vision.sampling import differing, median


@dataclass(frozen=True)
class SearchSettings:
    """When a thorough search is begun. Set by hand on virtual games."""

    rest_share: float = 0.01
    """Share of the pixels that may change in a picture at rest. Higher: blurred pictures are searched too. Lower: a
    picture in which a hand moves is only searched after ``search_every_s``.
    """
    search_every_s: float = 1.0
    """Seconds until a thorough search is repeated, or made though the picture does not rest. Doubled each time."""
    search_at_last_every_s: float = 4.0
    """Longest time between two thorough searches, in seconds. Shorter: a table that is hard to find is found sooner,
    and a covered one takes more time.
    """
    apart_s: float = 2.0
    """Seconds between two frames above which another position does not mean that anything is moving now."""


_SEARCH_SETTINGS = SearchSettings()


class ThoroughSearches:
    """Decides which frames of a lost table are searched thoroughly, and goes on with such a search in the next ones.

    ``begun_s`` is the time of the picture that the last one was begun with, ``failure`` why it did not find the table.
    ``mirrored`` is set once a picture since the start was a mirror image.
    """

    def __init__(self) -> None:
        self.end()

    def end(self, failure: str = "") -> None:
        """Start afresh, since the table was found, or is given up; ``failure`` is why it was not found."""
        self._small: Image | None = None
        self._searched: Image | None = None
        self._made_at_rest = False
        self._pause_s = _SEARCH_SETTINGS.search_every_s
        self._due_s = 0.0
        self._search: Steps[TableLocation] | None = None
        self.begun_s = 0.0
        self.failure = failure
        self.mirrored: MirroredError | None = None

    @property
    def are_new(self) -> bool:
        """Whether no picture was given since the start."""
        return self._small is None

    def begin(self, search: Steps[TableLocation], time_s: float) -> None:
        """Begin a search in the picture of this time, in place of one that is not finished."""
        self._search, self.begun_s = search, time_s

    def drop(self) -> None:
        """Give up a search that is not finished."""
        self._search = self._searched = None

    def take_step(self) -> TableLocation | None:
        """Take the next step of the search; return the location if that finds the table."""
        if self._search is None:
            return None
        try:
            next(self._search)
        except StopIteration as end:
            self._search = None
            return cast("TableLocation", end.value)
        except NotLocatedError as error:
            self._search, self.failure = None, str(error)
            self.mirrored = error if isinstance(error, MirroredError) else self.mirrored
        return None

    def are_due(self, small: Image, time_s: float, *, at_once: bool) -> bool:
        """Return whether to search this frame, whose picture was shrunk; ``at_once``: even if it is the first one
        without the table.
        """
        before, self._small = self._small, small
        if before is None:
            self._made_at_rest, self._due_s = at_once, time_s + self._pause_s
            self._searched = small if at_once else None
            return at_once
        # what was searched in vain shows no more the next time
        if self._searched is not None and not differing(small, self._searched).any():
            return False
        rests = float(differing(small, before).mean()) <= _SEARCH_SETTINGS.rest_share
        is_time = time_s >= self._due_s and self._search is None
        if not is_time and (self._made_at_rest or not rests):
            return False
        self._made_at_rest |= rests
        self._searched = small
        self._pause_s = min(2 * self._pause_s, _SEARCH_SETTINGS.search_at_last_every_s)
        self._due_s = time_s + self._pause_s
        return True


class Pauses:
    """Tells single pictures from the frames of a film."""

    def __init__(self) -> None:
        self._time_s, self._sequence = math.inf, 0

    def is_after_pause(self, frame: Frame) -> bool:
        """Return whether the frames since the last call, tracked or not, were taken far apart in time."""
        passed_s, frames = frame.time_s - self._time_s, max(frame.sequence - self._sequence, 1)
        self._time_s, self._sequence = frame.time_s, frame.sequence
        return passed_s > _SEARCH_SETTINGS.apart_s * frames


@dataclass(frozen=True)
class TrackingSettings:
    """When a table counts as moved, and how frames are averaged. Set by hand on virtual and ray-traced pictures."""

    moved_px: float = 0.8
    """Movement of a marker, in pixels, that counts. Higher: a nudge is noticed later, and noise is tolerated."""
    averaged_frames: int = 20
    """Frames over which corners are averaged. More: steadier, slower to follow."""
    measured_at_once_frames: int = 8
    """Number of frames in which all markers are matched by their pattern; later one marker per frame."""
    fewest_window_px: float = 16.0
    """Minimum side, in pixels, of the window in which a marker is searched for."""
    few_markers: int = 2
    """Number of markers from which the pose of a bent sheet may be far off, so that others are searched for anew."""


_SETTINGS = TrackingSettings()
_PIXELS = re.compile(r"[\d.]+ pixels")


@dataclass(frozen=True, eq=False)
class TrackedTable:
    """The table's location, from all frames so far.

    ``located`` is the averaged location; ``ids_in_sight`` are the markers that this frame shows at their expected
    position. ``moving``: the camera or the table moved since the last frame and is not at rest yet. ``held_s`` is how
    long no marker has been visible, with the pose kept from before. ``notices`` are the sentences new with this frame.
    """

    located: TableLocation
    ids_in_sight: tuple[int, ...]
    frames_averaged: int
    moving: bool = False
    held_s: float = 0.0
    notices: tuple[str, ...] = ()

    @property
    def pose(self) -> Pose:
        """The averaged pose."""
        return self.located.pose

    @property
    def uncertain(self) -> bool:
        """Whether the pose is unreliable: ambiguous, moving, or kept while no marker is visible."""
        return self.located.uncertain or self.moving or self.held_s > 0


@dataclass(frozen=True, eq=False)
class _Found:
    """Where a search found the table, and whether in the current picture or in an earlier one, with which it began."""

    located: TableLocation
    is_current: bool = True


class TableTracker:
    """Tracks one table through one camera's frames, given in order.

    While no marker is visible, a pose is kept for ``hold_s`` seconds and flagged uncertain.
    """

    def __init__(self, camera: CameraModel, layout: TableLayout, *, hold_s: float = 10.0) -> None:
        self._camera, self._layout, self._hold_s = camera, layout, hold_s
        self._finder = MarkerDetector(layout.markers.dictionary)
        self._is_sheet = isinstance(layout.surfaces[0].pieces, Ink)
        self._located: TableLocation | None = None
        self._corners: dict[int, deque[FloatArray]] = {}
        self._pushed: set[int] = set()
        self._in_place: set[int] = set()
        self._moved_from: Pose | None = None
        self._seen_at_s = 0.0
        self._searches = ThoroughSearches()
        self._pauses = Pauses()
        self._is_after_pause = False
        self._was_never_located = True
        self._is_confirmed = False
        self._reported: set[str] = set()
        self._is_doubtful = False

    def look_again(self) -> None:
        """Search the whole picture of the next frame if few markers gave the pose."""
        self._is_doubtful = self._rests_on_few_markers

    @property
    def _rests_on_few_markers(self) -> bool:
        return len(self._corners) <= _SETTINGS.few_markers

    def update(
        self, frame: Frame, shared: SharedPicture | None = None, unchanged: Collection[int] = ()
    ) -> TrackedTable:
        """Return the table's location after this frame; other parts use what is ``shared`` of its picture, too.

        ``unchanged`` are markers around which nothing changed since the last frame; they are not searched for again.
        Raises NotLocatedError when the table was never found or no marker was visible for longer than ``hold_s``.
        Raises FrameError or CalibrationError for a frame that does not match the camera.
        """
        check_size(frame.image, self._camera)
        self._is_after_pause = self._pauses.is_after_pause(frame)
        shared = shared or SharedPicture(frame.image)
        grey = shared.grey
        if self._located is None:
            first = self._locate(shared, frame)
            if isinstance(first, NotLocatedError):
                raise first
            return self._restart_at(first, frame)
        kept = self._in_place & set(unchanged)
        still, covered, moved = self._search_in_windows(grey, self._located.pose, kept)
        if moved and kept:
            # perhaps all moved, by too little to be noticed at each
            kept = set()
            still, covered, moved = self._search_in_windows(grey, self._located.pose, kept)
        self._in_place = set(still) | kept
        # a sheet's markers are printed on it, so one that seems to have moved contradicts a pose from few others
        contradicted = self._is_sheet and self._rests_on_few_markers and not moved <= self._pushed
        is_doubtful, self._is_doubtful = self._is_doubtful or contradicted, False
        found = self._locate(shared, frame) if is_doubtful else None
        if isinstance(found, _Found) and found.is_current and len(found.located.markers) > len(self._corners):
            return self._restart_at(found, frame)
        has_corners = bool(still or self._corners)
        if has_corners and (len(self._in_place) >= 2 or ((self._in_place or covered) and not moved)):
            return self._average_in(grey, still, covered | kept, moved, frame)
        return self._search(found or self._locate(shared, frame), frame, still)

    def _locate(self, shared: SharedPicture, frame: Frame) -> _Found | NotLocatedError:
        """Locate the table anywhere in the picture, thoroughly if that is due; return why it was not found."""
        searches, grey = self._searches, shared.grey
        camera, layout, previous = self._camera, self._layout, None if self._located is None else self._located.pose
        if self._is_after_pause:
            searches.drop()
        is_single = self._is_after_pause or (self._was_never_located and searches.are_new)
        if searches.are_new and not is_single:
            try:
                check_not_mirrored(shared, self._finder, layout.markers.centres_mm)
            except MirroredError as error:
                searches.mirrored, searches.failure = error, str(error)
        if searches.are_due(shared.small, frame.time_s, at_once=is_single):
            if is_single:
                try:
                    return _Found(locate(grey, camera, layout, previous=previous, markers=shared))
                except NotLocatedError as error:
                    searches.failure = str(error)
                    searches.mirrored = error if isinstance(error, MirroredError) else None
                    return error
            searches.begin(search_table(grey, camera, layout, previous=previous, markers=shared), frame.time_s)
        try:
            return _Found(locate(grey, camera, layout, previous=previous, markers=shared, thorough=False))
        except NotLocatedError as error:
            located = searches.take_step()
            # a fast search sees less, so its reason would only confuse
            return NotLocatedError(searches.failure or str(error)) if located is None else _Found(located, False)

    def _search_in_windows(
        self, grey: Image, pose: Pose, kept: Collection[int]
    ) -> tuple[dict[int, Marker], set[int], set[int]]:
        """Search for all markers but those ``kept``; return those in place, the half covered and the moved ones."""
        seen = self._find_in_windows(grey, pose, kept)
        still = {marker_id: marker for marker_id, marker in seen.items() if self._is_in_place(marker)}
        covered = {
            marker_id for marker_id, marker in seen.items() if marker_id not in still and self._is_half_covered(marker)
        }
        return still, covered, set(seen) - set(still) - covered

    def _restart_at(self, found: _Found, frame: Frame) -> TrackedTable:
        """Track the table from where it was found."""
        located = self._located = found.located
        self._was_never_located, self._is_confirmed = False, found.is_current
        self._searches.end()
        self._corners = {
            marker.marker_id: deque([marker.corners_px], maxlen=_SETTINGS.averaged_frames) for marker in located.markers
        }
        self._pushed = set(located.ids_seen) - set(located.ids_used)
        self._in_place = set(located.ids_used)
        self._seen_at_s = frame.time_s
        notices = self._rest_notices() if self._is_after_pause else ()
        return TrackedTable(
            located,
            located.ids_used,
            1,
            moving=self._is_moving,
            notices=notices + self._new_notices(located.notices),
        )

    def _average_in(
        self, grey: Image, still: Mapping[int, Marker], covered: set[int], moved: set[int], frame: Frame
    ) -> TrackedTable:
        """Average the corners of the ``still`` markers and fit again; ``covered`` ones are in sight, too."""
        before = self._last_location()
        self._seen_at_s, self._is_confirmed = frame.time_s, True
        self._searches.end()
        notices: list[str] = []
        for marker_id in sorted(moved - self._pushed):
            notices.append(
                Phrase(
                    "marker {marker_id} was moved; it is left out until it lies where the layout says again", marker_id
                )
            )
        for marker_id in sorted(self._pushed & set(still)):
            notices.append(Phrase("marker {marker_id} is back in its place", marker_id))
        self._pushed = (self._pushed | moved) - set(still)
        for marker_id in self._pushed:
            self._corners.pop(marker_id, None)
        measured = list(still.values())
        if not is_sharp(before.error_px, len(self._corners)):
            patterns = MarkerPatterns(grey, self._camera, self._layout.markers, self._finder)
            measured = [patterns.refined(before.pose, one) for one in self._markers_to_match(still, frame.sequence)]
        for marker in measured:
            rows = self._corners.setdefault(marker.marker_id, deque(maxlen=_SETTINGS.averaged_frames))
            rows.append(marker.corners_px)
        averaged = [
            Marker(marker_id, median(np.array(rows)), FoundBy.AVERAGED)
            for marker_id, rows in sorted(self._corners.items())
        ]
        fit = fit_from(self._camera, self._layout.markers, before.pose, averaged)
        uncertain = before.uncertain and len(averaged) < 2
        ids_seen = tuple(sorted(set(still) | covered | moved))
        self._located = location_from_fit(fit, self._camera, self._layout, ids_seen, uncertain=uncertain)
        return TrackedTable(
            self._located,
            tuple(sorted(set(still) | covered)),
            self._frames_averaged,
            notices=(() if self._is_sheet else tuple(notices))
            + self._rest_notices()
            + self._new_notices(self._located.notices),
        )

    def _markers_to_match(self, still: Mapping[int, Marker], sequence: int) -> list[Marker]:
        """Return the markers to match by their pattern now: all at first, later one per frame, which is faster."""
        new = [
            marker
            for marker_id, marker in still.items()
            if len(self._corners.get(marker_id, ())) < _SETTINGS.measured_at_once_frames
        ]
        if new:
            return new
        in_turn = sorted(still)
        return [still[in_turn[sequence % len(in_turn)]]] if in_turn else []

    def _rest_notices(self) -> tuple[str, ...]:
        if self._moved_from is None:
            return ()
        apart_px = self._shift_px(self._moved_from, self._last_location().pose)
        self._moved_from = None
        if self._is_sheet or apart_px < _SETTINGS.moved_px:
            return ()
        return (
            Phrase(
                "the camera or the table moved ({apart_px} pixels in the picture) and was located again",
                f"{apart_px:.0f}",
            ),
        )

    def _search(self, found: _Found | NotLocatedError, frame: Frame, still: Mapping[int, Marker]) -> TrackedTable:
        """Follow a search of the whole picture: the visible markers are not where they were, or none is visible."""
        if isinstance(found, NotLocatedError):
            return self._keep_pose(frame, still, found)
        before, located = self._last_location(), found.located
        # two blurred markers hardly tell where those out of sight are
        shift_px = self._shift_px(before.pose, located.pose, located.ids_used)
        if shift_px < _SETTINGS.moved_px and len(located.markers) <= len(self._corners):
            self._is_confirmed = True
            self._seen_at_s = frame.time_s if found.is_current else self._searches.begun_s
            self._searches.end()
            notices = self._rest_notices()
            if not found.is_current:
                return replace(self._keep_pose(frame, still), notices=notices)
            return TrackedTable(before, located.ids_used, self._frames_averaged, notices=notices)
        if not before.uncertain and self._moved_from is None:
            self._moved_from = before.pose
        return self._restart_at(found, frame)

    def _keep_pose(
        self, frame: Frame, still: Mapping[int, Marker], lost: NotLocatedError | None = None
    ) -> TrackedTable:
        held_s = frame.time_s - self._seen_at_s
        if lost is not None and self._searches.mirrored is not None:
            raise self._searches.mirrored
        if lost is not None and held_s > self._hold_s:
            self._located, self._corners, self._moved_from = None, {}, None
            self._searches.end(self._searches.failure)
            raise NotLocatedError(
                "{lost}; no marker has been in its place for {held_s} s", lost, f"{held_s:.0f}"
            ) from lost
        return TrackedTable(
            self._last_location(),
            tuple(sorted(still)),
            self._frames_averaged,
            moving=self._is_moving,
            held_s=max(held_s, 1e-3),
        )

    @property
    def _is_moving(self) -> bool:
        """Whether the table moved and is not at rest yet, or was only found in an earlier picture."""
        return self._moved_from is not None or not self._is_confirmed

    @property
    def _frames_averaged(self) -> int:
        return max((len(rows) for rows in self._corners.values()), default=1)

    def _last_location(self) -> TableLocation:
        if self._located is None:
            raise NotLocatedError("the table has not been located yet")
        return self._located

    def _shift_px(self, first: Pose, second: Pose, ids: Sequence[int] = ()) -> float:
        """Return the largest distance, in the picture, between the centres of all or of some markers at two poses."""
        known = self._layout.markers
        centres = np.array([[*known.centres_mm[marker_id], known.z_mm] for marker_id in ids or known.centres_mm])
        difference = project(self._camera, first, centres) - project(self._camera, second, centres)
        return float(np.linalg.norm(difference, axis=1).max())

    def _new_notices(self, notices: tuple[str, ...]) -> tuple[str, ...]:
        # the pixels change from frame to frame, what they are about does not
        kinds = {_PIXELS.sub("", notice): notice for notice in notices}
        fresh = tuple(notice for kind, notice in kinds.items() if kind not in self._reported)
        self._reported = set(kinds)
        return fresh

    def _is_in_place(self, marker: Marker) -> bool:
        """Return whether a marker is where it was or, if it was not seen before, where the pose puts it."""
        known = marker.marker_id in self._corners
        within_px = _SETTINGS.moved_px if known else agreement_px(self._layout.markers, marker)
        usual_px = self._usual_corners_px(marker.marker_id).mean(axis=0)
        return bool(np.linalg.norm(marker.centre_px - usual_px) < within_px)

    def _is_half_covered(self, marker: Marker) -> bool:
        """Return whether two of its corners are in place: a hand covers the others, since a marker moves as a whole."""
        apart_px = np.linalg.norm(marker.corners_px - self._usual_corners_px(marker.marker_id), axis=1)
        return int((apart_px < _SETTINGS.moved_px).sum()) >= 2

    def _usual_corners_px(self, marker_id: int) -> FloatArray:
        """Return a marker's average corners or, if it was not seen before, where the pose puts them; shape (4, 2)."""
        rows = self._corners.get(marker_id)
        if rows is None:
            return project(self._camera, self._last_location().pose, self._layout.markers.corners_mm(marker_id))
        return np.asarray(median(np.array(rows)), dtype=np.float64)

    def _find_in_windows(self, grey: Image, pose: Pose, kept: Collection[int]) -> dict[int, Marker]:
        known = self._layout.markers
        wanted = [marker_id for marker_id in known.centres_mm if marker_id not in kept]
        corners_mm = np.array([known.corners_mm(marker_id) for marker_id in wanted])
        quads = project(self._camera, pose, corners_mm).reshape(-1, 4, 2)
        expected = dict(zip(wanted, quads, strict=True))
        seen = redetect_markers(grey, expected, self._finder)
        for marker_id, corners in expected.items():
            if marker_id not in seen:
                marker = self._find_in_window(grey, corners, marker_id)
                if marker is not None:
                    seen[marker_id] = marker
        return dict(sorted(seen.items()))

    def _find_in_window(self, grey: Image, expected: FloatArray, marker_id: int) -> Marker | None:
        low, high = expected.min(axis=0), expected.max(axis=0)
        margin = max(float((high - low).max()), _SETTINGS.fewest_window_px)
        height, width = grey.shape
        left, top = np.maximum(np.floor(low - margin), 0).astype(int)
        right, bottom = np.minimum(np.ceil(high + margin) + 1, [width, height]).astype(int)
        if right - left < _SETTINGS.fewest_window_px or bottom - top < _SETTINGS.fewest_window_px:
            return None
        window = np.ascontiguousarray(grey[top:bottom, left:right])
        for find in (self._finder.plain, self._finder.thorough):
            near = [marker for marker in find(window) if marker.marker_id == marker_id]
            if near:
                corner = np.array([left, top], dtype=np.float64)
                middle = expected.mean(axis=0) - corner
                best = min(near, key=lambda marker: float(np.linalg.norm(marker.centre_px - middle)))
                return replace(best, corners_px=best.corners_px + corner)
        return None


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


_LINE_SETTINGS = LineTrackingSettings()


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
        self._poses: deque[Pose] = deque(maxlen=_LINE_SETTINGS.averaged_frames)
        self._moved_from: Pose | None = None
        self._seen_at_s = 0.0
        self._searches = ThoroughSearches()
        self._pauses = Pauses()
        self._is_after_pause = False

    def update(self, frame: Frame, shared: SharedPicture | None = None) -> TrackedTable:
        """Return the board's location after this frame, and use what is ``shared`` of its picture.

        Raises NotLocatedError when the board was never found, or too few of its lines were visible for longer than
        ``hold_s``. Raises FrameError or CalibrationError for a frame that does not match the camera.
        """
        check_size(frame.image, self._camera)
        self._is_after_pause = self._pauses.is_after_pause(frame)
        shared, held = shared or SharedPicture(frame.image), self._located
        if held is None:
            return self._restart_at(self._find_first(shared, frame), frame)
        edges = Edges.detect(shared.grey, self._camera)
        seen = self._find_nearby(edges, held.pose)
        if seen is None or seen.visibility < _LINE_SETTINGS.enough_visibility * self._usual_visibility:
            seen = self._search(shared, edges, frame, seen)
        if seen is None:
            return self._keep_pose(frame, held)
        found = location_from_lines(seen, self._layout, held.pose)
        if self._shift_px(held.pose, found.pose) < _LINE_SETTINGS.moved_px:
            # a board first seen under hands shows more of its lines later
            self._usual_visibility = max(self._usual_visibility, seen.visibility)
            return self._average_in(found, frame)
        if self._moved_from is None:
            self._moved_from = held.pose
        return self._restart_at(seen, frame)

    def _find_nearby(self, edges: Edges, held: Pose) -> BoardSighting | None:
        """Return the board where it was, or squares away if more or less of it is visible than usual."""
        board, usual, as_usual = self._layout.board, self._usual_visibility, _LINE_SETTINGS.as_usual
        here = fit_to_lines(edges, self._camera, held, board)
        if here is not None and as_usual * usual < here.visibility < usual / as_usual:
            return here
        return board_near(edges, self._camera, held, board, here)

    def _find_first(self, shared: SharedPicture, frame: Frame) -> BoardSighting:
        """Return the board anywhere in the picture; raises NotLocatedError, also when no search is due."""
        if not self._searches.are_due(shared.small, frame.time_s, at_once=True):
            raise NotLocatedError(self._searches.failure)
        try:
            return board_by_lines(shared, self._camera, self._layout, self._previous)
        except NotLocatedError as error:
            self._searches.failure = str(error)
            raise

    def _search(
        self, shared: SharedPicture, edges: Edges, frame: Frame, nearby: BoardSighting | None
    ) -> BoardSighting | None:
        """Return the board anywhere in the picture, if a search is due; away from ``nearby`` only if clearly better."""
        if not self._searches.are_due(shared.small, frame.time_s, at_once=self._is_after_pause):
            return None
        boards = run_to_end(candidate_boards(edges, self._camera, self._layout.board), shared.pause)
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
        if apart_px < _LINE_SETTINGS.moved_px:
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
