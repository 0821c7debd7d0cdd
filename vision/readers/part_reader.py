"""Reading the surfaces that share one pose, frame by frame: locate them, keep unchanged places, read changed ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface, Surface, top_mm
from vision.layout.table import TableLayout
from vision.locating.line_tracking import LineTracker
from vision.locating.lines_and_markers import refine_by_lines
from vision.locating.location import TableLocation
from vision.locating.markers import PictureMarkers
from vision.locating.notices import seen_text
from vision.locating.tracking import TableTracker, TrackedTable
from vision.motion.changes import ChangeDetector, marker_region, surface_region
from vision.motion.hands import HandSettings
from vision.motion.monitor import HandMonitor
from vision.readers.protocols import AnyPieceReader, RollReader, SurfaceView
from vision.readers.surface_reader import Stages, SurfaceReader
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, RollReading
from vision.sampling import PlaneWindow, plane_map, sample, shrink

CROP_SIDE_PX = 72
"""Side, in pixels, of the picture cut out around a place."""
CROP_SIDE_MM = 48.0
"""Its side on the table, in mm."""
CELLS_IN_CROP = 2.0
"""Side, in cells, of the picture cut out around a written cell."""


@dataclass(frozen=True)
class PartSettings:
    """When a pose is kept, and how often the markers are checked. Set by hand on virtual and ray-traced pictures."""

    few_markers: int = 2
    """Maximum number of markers for which the board's lines refine the pose."""
    same_pose_px: float = 0.6
    """Movement of the board's corners, in pixels, below which a pose is kept. Larger: fewer readings start again."""
    most_changed: float = 0.5
    """If more than this share of the places change at once, a board without markers is located again."""
    steady_frames: int = 8
    """Number of averaged frames after which markers are tracked only when one changes, or after ``track_every``."""
    track_every: int = 15
    """Number of frames after which the markers are tracked again even though none changed."""
    doubted_s: float = 1.0
    """Time, in seconds, after which a pose that the lines contradicted is compared with them again. Longer: faster
    while a hand hides the lines, and the board is located later when it is gone.
    """
    unrefined_s: float = 5.0
    """The same for a pose that too few lines could refine. Longer: faster while something covers them, and the pose
    stays rough for longer.
    """


_SETTINGS = PartSettings()


@dataclass(frozen=True, eq=False)
class SharedPicture:
    """What is made of one picture at most once, for all parts of a table."""

    image: Image

    @cached_property
    def small(self) -> Image:
        """The picture in which changes are looked for."""
        return shrink(self.image)

    @cached_property
    def markers(self) -> PictureMarkers:
        """Its markers."""
        return PictureMarkers(self.image)


@dataclass(frozen=True, eq=False)
class _LastFrame:
    """Results of the last frame that was read."""

    stages: Mapping[str, Stages]
    reading: Reading


class PartReader:
    """Reads the surfaces of a layout that share one pose.

    ``pieces`` and ``rolls`` are the readers by surface name; a surface without one is not read. Without markers,
    ``previous``, a known pose, determines which side of the board is the first player's. ``parts`` is how many parts
    share the picture.
    """

    def __init__(
        self,
        camera: CameraModel,
        layout: TableLayout,
        pieces: Mapping[str, AnyPieceReader],
        rolls: Mapping[str, RollReader],
        previous: Pose | None = None,
        parts: int = 1,
    ) -> None:
        self.layout = layout
        self._camera = camera
        self._surfaces = {
            surface.name: SurfaceReader(camera, surface, pieces[surface.name])
            for surface in layout.surfaces
            if isinstance(surface, GridSurface) and surface.name in pieces
        }
        # hands and other things are also seen beside the places
        self._watched = {*layout.places, *map(surface_region, self._surfaces)}
        self._rolls = [(surface, rolls[surface.name]) for surface in layout.surfaces if surface.name in rolls]
        self._tracker: TableTracker | LineTracker = (
            TableTracker(camera, layout)
            if layout.markers.centres_mm
            else LineTracker(camera, layout, previous=previous)
        )
        # a hand covers as many pixels over one of several sheets as over a whole board, so each sheet is searched at a
        # smaller scale; together they take as long as one board
        usual = HandSettings()
        settings = replace(usual, board_side_px=usual.board_side_px / math.sqrt(parts))
        self._hands = HandMonitor(camera, layout.surfaces[0], settings)
        self._pose: Pose | None = None
        self._watcher: ChangeDetector | None = None
        self._last: _LastFrame | None = None
        self._refined_pose: tuple[Pose, Pose | None, float] | None = None
        self._tracked: TrackedTable | None = None
        self._sheet: tuple[Image, Pose, GridSurface, Image] | None = None
        self._frames_untracked = 0
        self._afresh: frozenset[str] = frozenset()
        self._places_of_pieces = frozenset(
            place
            for reader in self._surfaces.values()
            if not isinstance(reader.surface.pieces, Ink)
            for place in reader.surface.places
        )

    @property
    def is_located(self) -> bool:
        """Whether the part was located in the last frame."""
        return self._pose is not None

    def read(self, frame: Frame, shared: SharedPicture | None = None) -> Reading:
        """Read one frame of the camera's size; a frame without the surfaces gives no places.

        ``shared`` is what is made of the frame for all parts.
        """
        shared = shared or SharedPicture(frame.image)
        changed = None if self._watcher is None else self._watcher.changed(shared.small)
        if any(reader.is_shape_due(frame.time_s) for reader in self._surfaces.values()):
            # what covered the sheet may have covered markers too
            self._tracked = None
            if isinstance(self._tracker, TableTracker):
                self._tracker.look_again()
        try:
            table = self._track_table(frame, changed, shared)
        except NotLocatedError as error:
            return self.unlocated(frame, Hindrance(HindranceKind.NOT_LOCATED, str(error)))
        if table.moving:
            moving = "the camera or the table is moving; waiting until it rests"
            return self.unlocated(frame, Hindrance(HindranceKind.MOVED_CAMERA, moving), table.notices)
        pose = self._refine(frame, table.located)
        if pose is None:
            doubt = (
                f"table not located for certain: {seen_text(table.located.ids_seen, self.layout)}, and the board's "
                "lines are not where that would put them; uncover another marker"
            )
            return self.unlocated(frame, Hindrance(HindranceKind.NOT_LOCATED, doubt), table.notices)
        if self._set_pose(pose):
            changed = None
        reading = self._read_surfaces(frame, table.notices, changed, shared)
        return self._hands.with_hand(frame, pose, reading, shared.small)

    def look_afresh(self) -> None:
        """Read all places of pieces in the next frame, even those that look unchanged.

        A pyramid put on one of its own colour, or a ball moved to another disc, hardly shows.
        """
        self._afresh = self._places_of_pieces

    def hidden(self, why: HindranceKind) -> dict[str, PlaceReading]:
        """Return readings of its places while none of them can be seen."""
        return {place: one for surface in self._surfaces.values() for place, one in surface.hidden(why).items()}

    def unlocated(self, frame: Frame, why: Hindrance, notices: tuple[str, ...] = ()) -> Reading:
        """Return the reading of a frame in which it was not located."""
        self._pose = self._watcher = self._last = self._tracked = None
        return Reading(frame.sequence, frame.time_s, {}, (why,), notices)

    def _track_table(self, frame: Frame, changed: set[str] | None, shared: SharedPicture) -> TrackedTable:
        """Track the table; a steady table is only tracked when a marker looks different.

        A board without markers is tracked when many places change at once, as they do when it moves.
        """
        steady, ids = self._tracked, self.layout.markers.centres_mm.keys()
        unchanged: set[int] = set()
        if steady is not None and changed is not None and self._frames_untracked < _SETTINGS.track_every:
            unchanged = {marker_id for marker_id in ids if marker_region(marker_id) not in changed}
            if unchanged == ids and (ids or not self._have_many_changed(changed)):
                self._frames_untracked += 1
                return replace(steady, notices=())
        self._frames_untracked = 0
        tracker = self._tracker
        table = (
            tracker.update(frame, shared.markers, unchanged)
            if isinstance(tracker, TableTracker)
            else tracker.update(frame)
        )
        self._tracked = table if table.frames_averaged >= _SETTINGS.steady_frames and not table.uncertain else None
        return table

    def _have_many_changed(self, changed: set[str]) -> bool:
        return len(changed & set(self.layout.places)) > _SETTINGS.most_changed * len(self.layout.places)

    def _read_surfaces(
        self, frame: Frame, notices: tuple[str, ...], changed: set[str] | None, shared: SharedPicture
    ) -> Reading:
        """Read the regions that changed since the last frame (``None``: all); keep the last results of the others."""
        last = self._last
        if changed is None and self._watcher is not None:
            self._watcher.changed(shared.small)
        rolls = self._read_rolls(frame, changed)
        if last is None or changed is None:
            changed = set(self.layout.places)
        changed = (changed & self._watched) | self._afresh
        self._afresh = frozenset()
        is_due = any(reader.due_s <= frame.time_s for reader in self._surfaces.values())
        if last is not None and not changed and not is_due:
            stages = last.stages
            reading = replace(last.reading, sequence=frame.sequence, time_s=frame.time_s, notices=notices, rolls=rolls)
        else:
            stages = self._stages(frame.image, frame.time_s, changed)
            reading = self.reading(frame, stages, notices, rolls)
        self._last = _LastFrame(stages, reading)
        return reading

    def _read_rolls(self, frame: Frame, changed: set[str] | None) -> tuple[RollReading, ...]:
        """Read the dice of each surface that changed, or on which a die was not at rest."""
        before = {} if self._last is None else {roll.surface: roll for roll in self._last.reading.rolls}
        rolls = []
        for surface, reader in self._rolls:
            known = before.get(surface.name)
            still = known is not None and changed is not None and surface_region(surface.name) not in changed
            if known is not None and still and all(die.at_rest for die in known.dice):
                rolls.append(known)
            else:
                rolls.append(reader.read(self._view(frame.image, frame.time_s, surface), known))
        return tuple(rolls)

    def _set_pose(self, pose: Pose) -> bool:
        """Switch to a new pose and return whether it was; a difference of a fraction of a pixel is ignored."""
        if self._pose is not None and self._shift_px(pose, self._pose) < _SETTINGS.same_pose_px:
            return False
        self._pose = pose
        beside_mm = {name: reader.margin_mm for name, reader in self._surfaces.items()}
        self._watcher = ChangeDetector(self.layout, self._camera, pose, beside_mm)
        self._last = None
        return True

    def _refine(self, frame: Frame, located: TableLocation) -> Pose | None:
        """Return the located pose, refined by the board's grid lines if few markers are visible.

        ``None`` when only one marker gave the pose and the lines contradict it.
        """
        if not self.layout.markers.centres_mm:
            return located.pose
        if len(located.ids_used) > _SETTINGS.few_markers or not isinstance(self.layout.surfaces[0], GridSurface):
            return located.pose
        known = self._refined_pose
        if known is None or self._shift_px(located.pose, known[0]) > _SETTINGS.same_pose_px or frame.time_s >= known[2]:
            better = refine_by_lines(frame.image, self._camera, located.pose, self.layout, located.markers)
            again_s = _SETTINGS.doubted_s if better is None else math.inf
            if better is located.pose:
                again_s = _SETTINGS.unrefined_s
            known = self._refined_pose = (located.pose, better, frame.time_s + again_s)
        return known[1]

    def _shift_px(self, first: Pose, second: Pose) -> float:
        surface = self.layout.surfaces[0]
        corners = surface.bounds_mm.corners_mm(top_mm(surface))
        return float(np.abs(project(self._camera, first, corners) - project(self._camera, second, corners)).max())

    def stages(self, image: Image, pose: Pose) -> dict[str, Stages]:
        """Run all stages after locating on one picture, and return their results by surface name."""
        self._set_pose(pose)
        return self._stages(image, 0.0, set(self.layout.places))

    def _stages(self, image: Image, time_s: float, changed: set[str]) -> dict[str, Stages]:
        last = {} if self._last is None else self._last.stages
        stages = {}
        for name, reader in self._surfaces.items():
            places = changed & set(reader.surface.places)
            known = last.get(name)
            is_same = not places and surface_region(name) not in changed
            if known is not None and is_same and not reader.is_shape_due(time_s):
                stages[name] = known
            else:
                stages[name] = reader.stages(self._view(image, time_s, reader.surface), places, known)
        return stages

    def _view(self, image: Image, time_s: float, surface: Surface) -> SurfaceView:
        if self._pose is None:
            raise NotLocatedError("the table has not been located yet; nothing can be read")
        return SurfaceView(image, self._camera, self._pose, surface, time_s, self.layout.markers)

    def reading(
        self,
        frame: Frame,
        stages: Mapping[str, Stages],
        notices: tuple[str, ...] = (),
        rolls: tuple[RollReading, ...] = (),
    ) -> Reading:
        """Turn the results of the stages into probabilities and hindrances."""
        places: dict[str, PlaceReading] = {}
        hindrances: list[Hindrance] = []
        for name, one in stages.items():
            seen, in_the_way = self._surfaces[name].places(one, frame.time_s)
            places |= seen
            hindrances += in_the_way
        return Reading(frame.sequence, frame.time_s, places, tuple(hindrances), notices, rolls=rolls)

    def draw(self, picture: Image, stages: Mapping[str, Stages]) -> Image:
        """Return a copy of the picture with the pieces of all surfaces drawn on it."""
        for name, one in stages.items():
            picture = self._surfaces[name].draw(picture, one)
        return picture

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; see ``TableReader.crop``."""
        pose = self._pose
        if pose is None:
            raise NotLocatedError("the table has not been located yet; no picture of a place can be cut out")
        surface = self.layout.surface_of(place)
        if isinstance(surface, GridSurface) and isinstance(surface.pieces, Ink):
            return self._cell_crop(frame.image, pose, surface, place)
        x, y = surface.centre_mm(place)
        half = CROP_SIDE_MM / 2
        window = PlaneWindow(
            x - half, y + half, CROP_SIDE_MM, CROP_SIDE_MM, top_mm(surface), CROP_SIDE_PX / CROP_SIDE_MM
        )
        return np.asarray(sample(frame.image, plane_map(self._camera, pose, window)), dtype=np.uint8)

    def _cell_crop(self, image: Image, pose: Pose, surface: GridSurface, place: str) -> Image:
        """Cut a cell of a sheet out of the whole sheet, which is sampled once a picture."""
        around_mm = CELLS_IN_CROP * surface.cell_mm / 2
        bounds = surface.bounds_mm.grown(around_mm - surface.cell_mm / 2)
        window = PlaneWindow.over(bounds, top_mm(surface), CROP_SIDE_PX / (2 * around_mm))
        known = self._sheet
        if known is None or known[0] is not image or known[1] is not pose or known[2] is not surface:
            shape = self._surfaces[surface.name].shape_at(pose) if surface.name in self._surfaces else None
            pixel_map = plane_map(self._camera, pose, window, None if shape is None else shape.seen_at_mm)
            known = self._sheet = (image, pose, surface, np.asarray(sample(image, pixel_map), dtype=np.uint8))
        x, y = surface.centre_mm(place)
        left, top = (round(at + 0.5) for at in window.to_pixels(x - around_mm, y + around_mm))
        return known[3][top : top + CROP_SIDE_PX, left : left + CROP_SIDE_PX].copy()
