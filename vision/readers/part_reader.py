"""From a frame to a Reading of one part of the table: surfaces that share one pose.

In each frame the part is located, its unchanged places are kept, and changed ones are read.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from common.phrases import Phrase, joined
from vision.clarity import REMEDIES, Clarity, trouble_on
from vision.errors import NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, Rectangle, project
from vision.layout.pieces import GridSurface, Ink, Surface, top_mm
from vision.layout.table import TableLayout
from vision.locating.lines_and_markers import refine_by_lines
from vision.locating.location import TableLocation, seen_text
from vision.locating.markers import MarkerDetector, SharedPicture
from vision.locating.tracking import LineTracker, TableTracker, TrackedTable
from vision.motion.changes import ChangeDetector, marker_region, surface_region
from vision.motion.hands import HandMonitor, HandSettings
from vision.readers.protocols import AnyPieceReader, RollReader, SurfaceView
from vision.readers.sizes import are_pieces_too_small
from vision.readers.surface_reader import Stages, SurfaceReader
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, RollReading, Sight
from vision.sampling import PlaneWindow, plane_map, sample

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
    doubtful: float = 0.9
    """Probability of the best look below which a place is doubtful."""
    most_wrong: float = 0.06
    """Share of the places that are hidden, or by their probabilities read wrongly, above which it is said what is wrong
    with the whole picture. Undisturbed ray-traced pictures have 0.045 at most, those of which a tenth is read wrongly
    nearly always more than this. Lower: said of good pictures too.
    """
    clarity_s: float = 1.0
    """Time, in seconds, for which that counts as measured. Longer: faster, and a change of light is named later."""


_SETTINGS = PartSettings()


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
        self._tracker = self._new_tracker(previous)
        # a hand covers as many pixels over one of several sheets as over a whole board, so each sheet is searched at a
        # smaller scale; together they take as long as one board
        usual = HandSettings()
        settings = replace(usual, board_side_px=usual.board_side_px / math.sqrt(parts))
        self._hands = HandMonitor(camera, layout.surfaces[0], settings)
        self._pose: Pose | None = None
        self._is_coarse = False
        self._watcher: ChangeDetector | None = None
        self._last: _LastFrame | None = None
        self._refined_pose: tuple[Pose, Pose | None, float] | None = None
        self._tracked: TrackedTable | None = None
        self._sheet: tuple[Image, Pose, GridSurface, Image] | None = None
        self._measured: tuple[Clarity, float] | None = None
        self._frames_untracked = 0
        self._new_location: TableLocation | None = None
        self._to_read_again: frozenset[str] = frozenset()
        self._places_of_pieces = frozenset(
            place
            for reader in self._surfaces.values()
            if not isinstance(reader.surface.pieces, Ink)
            for place in reader.surface.places
        )

    def __str__(self) -> str:
        readers: dict[str, object] = {name: reader.pieces for name, reader in self._surfaces.items()}
        readers |= {surface.name: reader for surface, reader in self._rolls}
        read = ", ".join(f"{name} by {type(reader).__name__}" for name, reader in readers.items())
        return f"{type(self._tracker).__name__} → {read}"

    def _new_tracker(self, previous: Pose | None) -> TableTracker | LineTracker:
        if self.layout.markers.centres_mm:
            return TableTracker(self._camera, self.layout)
        return LineTracker(self._camera, self.layout, previous=previous)

    @property
    def pose(self) -> Pose | None:
        """Where the part was in the last frame; ``None`` if it was not located."""
        return self._pose

    @property
    def new_location(self) -> TableLocation | None:
        """Where the last frame shows the part, if that is new or was averaged for the first time."""
        return self._new_location

    def forget_pose(self) -> None:
        """Look for it anew in the next frame, which may have been taken from elsewhere."""
        self._tracker = self._new_tracker(self._pose)
        self._pose = self._watcher = self._last = self._tracked = None

    def read(self, frame: Frame, shared: SharedPicture | None = None) -> Reading:
        """Read one frame of the camera's size; a frame without the surfaces gives no places.

        ``shared`` is what is made of the frame for all parts.
        """
        shared = shared or SharedPicture(frame.image)
        self._new_location, was_steady = None, self._tracked is not None
        changed = None if self._watcher is None else self._watcher.changed(shared.small)
        if any(reader.is_shape_due(frame.time_s) for reader in self._surfaces.values()):
            # what covered the sheet may have covered markers too
            self._tracked = None
            if isinstance(self._tracker, TableTracker):
                self._tracker.look_again()
        try:
            table = self._track_table(frame, changed, shared)
        except NotLocatedError as error:
            reading = self.unlocated(frame, Hindrance(HindranceKind.NOT_LOCATED, str(error)))
            return replace(reading, hindrances=(*self._trouble(frame), *reading.hindrances))
        if table.moving:
            moving = Phrase("the camera or the table is moving; waiting until it rests")
            return self.unlocated(frame, Hindrance(HindranceKind.MOVED_CAMERA, moving), table.notices)
        pose = self._refine(frame, table.located)
        if pose is None:
            doubt = Phrase(
                "table not located for certain: {seen_text}, and the board's lines are not where that "
                "would put them; uncover another marker",
                seen_text(table.located.ids_seen, self.layout),
            )
            return self.unlocated(frame, Hindrance(HindranceKind.NOT_LOCATED, doubt), table.notices)
        if self._set_pose(pose):
            changed, self._new_location = None, table.located
        elif self._tracked is not None and not was_steady:
            self._new_location = table.located
        reading = self._read_surfaces(frame, table.notices, changed, shared)
        return self._hands.with_hand(frame, pose, reading, shared.small)

    def where_seen(self, picture: SharedPicture, hidden: Sequence[str]) -> Sight:
        """Return where it was seen in the last frame, which is ``picture``, with these places if they are its own."""
        height, width = picture.image.shape[:2]
        pose, surface = self._pose, self.layout.surfaces[0]
        if pose is None:
            ids = self.layout.markers.centres_mm
            found = picture.find(MarkerDetector(self.layout.markers.dictionary), MarkerDetector.quick) if ids else ()
            return Sight((width, height), markers=tuple(one.corners_px for one in found if one.marker_id in ids))
        outline = project(self._camera, pose, surface.bounds_mm.corners_mm(top_mm(surface)))
        known = () if self._tracked is None else self._tracked.located.markers
        covered = []
        for name in hidden:
            own = self._surfaces.get(self.layout.surface_of(name).name) if name in self.layout.places else None
            if own is not None:
                (x, y), half = own.surface.centre_mm(name), own.surface.cell_mm / 2
                around = Rectangle(x - half, x + half, y - half, y + half).corners_mm(top_mm(own.surface))
                covered.append(project(self._camera, pose, around))
        return Sight((width, height), (outline,), tuple(one.corners_px for one in known), tuple(covered))

    def invalidate_cache(self) -> None:
        """Read all places of pieces in the next frame, even those that look unchanged.

        A pyramid put on one of its own colour, or a ball moved to another disc, hardly shows.
        """
        self._to_read_again = self._places_of_pieces

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
            tracker.update(frame, shared, unchanged)
            if isinstance(tracker, TableTracker)
            else tracker.update(frame, shared)
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
        changed = (changed & self._watched) | self._to_read_again
        self._to_read_again = frozenset()
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
        self._is_coarse = any(
            are_pieces_too_small(self._camera, pose, reader.surface) for reader in self._surfaces.values()
        )
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
        clarity, markers = self._clarity(image, time_s), self.layout.markers
        clear = clarity.without_haze(image)
        return SurfaceView(clear, self._camera, self._pose, surface, time_s, markers, clarity=clarity)

    def reading(
        self,
        frame: Frame,
        stages: Mapping[str, Stages],
        notices: tuple[str, ...] = (),
        rolls: tuple[RollReading, ...] = (),
    ) -> Reading:
        """Turn the results of the stages into probabilities and hindrances."""
        places, hindrances = self._places(stages, frame.time_s)
        why = self._why_unclear(frame, stages, places)
        if why is not None:
            places, hindrances = self._places(stages, frame.time_s, why)
            if not (hindrances and why is HindranceKind.UNCLEAR):
                hindrances.append(Hindrance(why, joined(REMEDIES[why], ": ")))
        elif self._is_coarse and any(map(_is_doubtful, places.values())):
            hindrances.append(_COARSE)
        return Reading(frame.sequence, frame.time_s, places, tuple(hindrances), notices, rolls=rolls)

    def _places(
        self, stages: Mapping[str, Stages], time_s: float, blamed: HindranceKind | None = None
    ) -> tuple[dict[str, PlaceReading], list[Hindrance]]:
        places: dict[str, PlaceReading] = {}
        hindrances: list[Hindrance] = []
        for name, one in stages.items():
            seen, in_the_way = self._surfaces[name].places(one, time_s, blamed)
            places |= seen
            hindrances += in_the_way
        return places, hindrances

    def _why_unclear(
        self, frame: Frame, stages: Mapping[str, Stages], places: Mapping[str, PlaceReading]
    ) -> HindranceKind | None:
        """Return why many places don't show clearly, unless most of these are hidden by things."""
        wrong = {place: 1 - seen.best[1] for place, seen in places.items() if seen.hidden_by is None}
        most = _SETTINGS.most_wrong * len(places)
        if len(places) - len(wrong) + sum(wrong.values()) <= most:
            return None
        clarity = self._clarity(frame.image, frame.time_s)
        if clarity.trouble is not None:
            return clarity.trouble
        causes = [seen.hidden_by for seen in places.values() if seen.hidden_by in REMEDIES]
        if causes:
            return max(causes, key=causes.count)
        if self._is_coarse:
            return HindranceKind.COARSE
        if sum(wrong.values()) <= most:
            return None
        crops = {place: crop for name, one in stages.items() for place, crop in self._surfaces[name].crops(one).items()}
        doubtful = {place for place in wrong if _is_doubtful(places[place])}
        return trouble_on([crops[at] for at in doubtful], [crops[at] for at in wrong.keys() - doubtful])

    def _clarity(self, image: Image, time_s: float) -> Clarity:
        """Return how clear the picture is, or was up to ``clarity_s`` seconds ago."""
        if self._measured is None or not 0 <= time_s - self._measured[1] < _SETTINGS.clarity_s:
            self._measured = Clarity(image), time_s
        return self._measured[0]

    def _trouble(self, frame: Frame) -> tuple[Hindrance, ...]:
        """Return what is wrong with the whole picture."""
        kind = self._clarity(frame.image, frame.time_s).trouble
        return () if kind is None else (Hindrance(kind, joined(REMEDIES[kind], ": ")),)

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


_COARSE = Hindrance(HindranceKind.COARSE, joined(REMEDIES[HindranceKind.COARSE], ": "))


def _is_doubtful(seen: PlaceReading) -> bool:
    """Return whether a place is read doubtfully, or a thing seems to lie on it."""
    return seen.hidden_by is HindranceKind.OBJECT or (seen.hidden_by is None and seen.best[1] < _SETTINGS.doubtful)
