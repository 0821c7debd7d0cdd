"""From a frame to a Reading of the whole table, for any surfaces and pieces.

The surfaces that share one pose are one part: in each frame it is located, its unchanged places are kept, and changed
ones are read. On one surface in one picture there are sightings of pieces, occlusions, and empty places. What looks
like a hand but lies still is an object, such as a cup on a sheet's margin: no hand stays still for ``still_s``.
"""

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from common.phrases import Phrase, joined
from common.places import EMPTY
from vision.clarity import REMEDIES, Clarity, trouble_on
from vision.errors import FrameError, NotLocatedError
from vision.frame import BoolImage, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.images import check_frame
from vision.layout.pieces import DiscPieces, GridSurface, Ink, Surface, named_places, top_mm
from vision.layout.table import TableLayout
from vision.locating.lines_and_markers import refine_by_lines
from vision.locating.location import TableLocation, seen_text
from vision.locating.markers import MarkerDetector, SharedPicture
from vision.locating.tracking import LineTracker, TableTracker, TrackedTable
from vision.motion.changes import Attention, ChangeDetector, ChangeGate, marker_region, surface_region
from vision.motion.hands import HandMonitor, HandSettings
from vision.opencv import as_colour
from vision.readers.probabilities import at_most_empty, empty_place, most_log_odds, occupied_place
from vision.readers.protocols import AnyPieceReader, PieceSighting, RollReader, SurfaceView
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, RollReading, uniform_reading
from vision.sampling import PlaneWindow, plane_map, sample
from vision.surface.occlusion import HiddenPlaces, Occlusion, OcclusionDetector, SurfaceEvidence, UsualLook, emptiness
from vision.surface.paper import PaperShape, lacks_grid, paper_shape
from vision.surface.plan import SurfacePlan
from vision.surface.sheet_occlusion import SheetOcclusionDetector, SheetPlan
from vision.surface.view import RectifiedView


@dataclass(frozen=True)
class StillnessSettings:
    """When something that looks like a hand is an object. Both were set by hand."""

    still_s: float = 30.0
    """How long it must not have moved, in seconds. Longer: the referee waits longer for a cup to go. Shorter: a hand
    that is held still counts as an object; what it hides stays hidden.
    """
    least_overlap: float = 0.9
    """Minimum share of its pixels, then and now, that are the same. Higher: noise moves it."""


_STILLNESS_SETTINGS = StillnessSettings()


class StillThings:
    """Follows the hands over one surface, reading by reading."""

    def __init__(self, edge_px: int) -> None:
        """Prepare; an object hides ``edge_px`` more pixels around it than a hand does."""
        self._edge = np.ones((2 * edge_px + 1, 2 * edge_px + 1), dtype=np.uint8)
        self._hands: list[tuple[BoolImage, float]] = []
        self._judged_s = -math.inf

    @property
    def due_s(self) -> float:
        """When the next hand becomes an object if it stays where it is; infinite if none will."""
        due = (since_s + _STILLNESS_SETTINGS.still_s for _, since_s in self._hands)
        return min((one for one in due if one > self._judged_s), default=math.inf)

    def judged(self, occlusions: Sequence[Occlusion], time_s: float) -> tuple[Occlusion, ...]:
        """Return the occlusions, with hands that have not moved for long as objects."""
        before, self._hands, self._judged_s = self._hands, [], time_s
        return tuple(self._judged(one, before, time_s) if one.kind is HindranceKind.HAND else one for one in occlusions)

    def _judged(self, hand: Occlusion, before: Sequence[tuple[BoolImage, float]], time_s: float) -> Occlusion:
        known = next((one for one in before if self._is_same(one[0], hand.pixels)), (hand.pixels, time_s))
        self._hands.append(known)
        if time_s < known[1] + _STILLNESS_SETTINGS.still_s:
            return hand
        hidden = cv2.dilate(hand.pixels.astype(np.uint8), self._edge) > 0
        return replace(hand, kind=HindranceKind.OBJECT, pixels=np.asarray(hidden))

    def _is_same(self, before: BoolImage, now: BoolImage) -> bool:
        both = int(np.count_nonzero(before & now))
        return both > _STILLNESS_SETTINGS.least_overlap * int(np.count_nonzero(before | now))


_THINGS = frozenset({HindranceKind.HAND, HindranceKind.OBJECT})
EMPTY_IS_CERTAIN_LOG_ODDS = 5.5
"""Log-odds above which an empty place in a clear picture is evidence against a doubtful disc. Higher: more questions
about empty places. Set by hand on the virtual table's stress pictures.
"""
UNSEEN = 2.0
"""Standard deviations from the noise by which ink, or a piece, must at least stand out on a place that is in sight.
Higher: more places in bad light are hidden.
"""
SHAPE_AGAIN_S = 1.0
"""Time, in seconds, after which the shape of a sheet is measured again if something covered it. Longer: less work while
a hand moves over it, but a wrong shape is corrected later.
"""


@dataclass(frozen=True, eq=False)
class Stages:
    """The results of each stage for one surface in one picture.

    The next picture's unchanged places are taken from them.
    """

    view: SurfaceView
    sightings: Mapping[str, Any]
    rectified: RectifiedView
    evidence: SurfaceEvidence

    @property
    def occlusions(self) -> Sequence[Occlusion]:
        """Everything that covers the surface besides its pieces, largest first."""
        return self.evidence.occlusions


@dataclass(frozen=True, eq=False)
class _SheetShape:
    """A sheet's shape (``None``: flat) as measured at a pose, and the time of that frame."""

    pose: Pose
    shape: PaperShape | None
    time_s: float


class SurfaceReader:
    """Reads the places of one surface with one piece reader, in pictures from one camera."""

    def __init__(self, camera: CameraModel, surface: GridSurface, pieces: AnyPieceReader) -> None:
        self.surface = surface
        self.pieces = pieces
        self._looks = (EMPTY, *pieces.looks)
        self._is_flat = isinstance(surface.pieces, DiscPieces)
        self._plan = SheetPlan.of(surface) if isinstance(surface.pieces, Ink) else SurfacePlan.of(surface)
        self._still = StillThings(self._plan.edge_px if isinstance(self._plan, SheetPlan) else 0)
        self._kept: dict[str, tuple[PieceSighting, float, PlaceReading]] = {}
        self._bent: _SheetShape | None = None
        self._is_shape_doubtful = False
        self._shape_due_s = math.inf
        self._usual_look: UsualLook | None = None
        # a bound method would keep the reader alive until the garbage collector runs
        self._detector = functools.lru_cache(maxsize=1)(functools.partial(_detector_at, camera, surface, self._plan))

    @property
    def margin_mm(self) -> float:
        """The width of the margin in which hands and other things are looked for too."""
        return self._plan.margin_mm

    def stages(self, view: SurfaceView, places: Collection[str], previous: Stages | None) -> Stages:
        """Examine some places; the others are copied from ``previous``, which has the same pose.

        If a sheet has another shape than in ``previous``, all are examined.
        """
        before = {} if previous is None else previous.sightings
        measured = self._bent
        view = self._with_shape(view)
        if previous is not None and previous.view.shape is not view.shape:
            places, before = self.surface.places, {}
        sightings = self.pieces.read(view, places, before)
        detector, _ = self._detector(view.pose, view.shape)
        if isinstance(detector, SheetOcclusionDetector):
            rectified = detector.sampler.view(view.image, [])
            evidence = detector.detect(rectified)
            if not evidence.are_lines_seen and lacks_grid(view.image, view.camera, view.pose, self.surface):
                # paper, or the hand that was found, lies over all of it
                whole = np.ones(rectified.window.shape, dtype=np.bool_)
                is_hand = any(occlusion.kind is HindranceKind.HAND for occlusion in evidence.occlusions)
                kind = HindranceKind.HAND if is_hand else HindranceKind.OBJECT
                evidence = SurfaceEvidence((Occlusion(kind, whole, float(whole.sum())),), {})
            self._schedule_shape(evidence.occlusions, is_new=self._bent is not measured)
        else:
            pieces = {one.solid: one.log_odds for one in sightings.values() if one.solid is not None}
            rectified, evidence = detector.examine(view.image, pieces, self._usual_look)
            self._usual_look = evidence.usual_look or self._usual_look
        return Stages(view, sightings, rectified, evidence)

    @property
    def due_s(self) -> float:
        """The time from which the same picture gives another result: what looks like a hand has then lain still for
        long, or a sheet's shape is measured again. Infinite if neither.
        """
        return min(self._still.due_s, self._shape_due_s)

    def is_shape_due(self, time_s: float) -> bool:
        """Return whether a sheet's shape should be measured again, by calling ``stages``, though nothing changed."""
        return self._shape_due_s <= time_s

    def places(
        self, stages: Stages, time_s: float, blamed: HindranceKind | None = None
    ) -> tuple[dict[str, PlaceReading], tuple[Hindrance, ...]]:
        """Turn the results of the stages into probabilities and hindrances; ``time_s`` is the newest frame's.

        In a picture that shows little, ``blamed`` is the reason, and also of what looks like a thing but hides no line.
        """
        _, needed = self._detector(stages.view.pose, stages.view.shape)
        occlusions = self._still.judged(stages.occlusions, time_s)
        if blamed is not None:
            occlusions = tuple(
                one if one.hides_lines or one.kind not in _THINGS else replace(one, kind=blamed) for one in occlusions
            )
        clear = {place: piece.is_clear for place, piece in stages.sightings.items()}
        there = {at: one.solid for at, one in stages.sightings.items() if one.log_odds > 0 and one.solid is not None}
        hidden = needed.hidden(occlusions, clear, there, stages.rectified.hidden_by_pieces)
        if isinstance(self._plan, SheetPlan):
            clearness = self._clearness(stages)
            hidden = self._unseen(stages, clearness) | hidden
            places = {
                place: at_most_empty(ink.reading, most_log_odds(clearness.get(place, math.inf)))
                for place, ink in stages.sightings.items()
            }
            places |= {place: uniform_reading(self._looks, why) for place, why in hidden.items()}
            return places, self._hindrances(occlusions, hidden)
        kept, self._kept = self._kept, {}
        bare = emptiness(stages.rectified, self.surface, stages.evidence)
        proves_from = math.inf
        is_doubted = self._is_flat and any(piece.log_odds <= 0 for piece in stages.sightings.values())
        if is_doubted and (stages.view.clarity is None or stages.view.clarity.trouble is None):
            # in other pictures, noise, haze or blur make everything even
            proves_from = EMPTY_IS_CERTAIN_LOG_ODDS
        places = {}
        for place in self.surface.places:
            piece = stages.sightings.get(place)
            if place in hidden:
                places[place] = uniform_reading(self._looks, hidden[place])
            elif piece is None:
                places[place] = PlaceReading(empty_place(self._looks, bare[place]))
            else:
                known = kept.get(place)
                if known is None or known[0] is not piece or known[1] != bare[place]:
                    reading = occupied_place(piece, bare[place], self.surface.centre_mm(place), proves_from)
                    known = (piece, bare[place], reading)
                places[place] = known[2]
                self._kept[place] = known
        return places, self._hindrances(occlusions, hidden)

    def _clearness(self, stages: Stages) -> dict[str, float]:
        """Return by how many standard deviations ink would stand out from the noise on each place of a sheet."""
        found = stages.evidence.places.get("clearness")
        if found is None:
            return {}
        pieces, clarity = self.surface.pieces, stages.view.clarity or Clarity(stages.view.image)
        if isinstance(pieces, Ink) and pieces.colours and clarity.is_colourless:
            # pale pens look like paper
            found = np.minimum(found, UNSEEN)
        return dict(zip(self.surface.places, found.tolist(), strict=True))

    def _unseen(self, stages: Stages, clearness: Mapping[str, float]) -> dict[str, HindranceKind]:
        """Return the places without anything certain on which nothing would be seen, and why."""
        unseen = {
            place
            for place, deviations in clearness.items()
            if deviations < UNSEEN and not (place in stages.sightings and stages.sightings[place].is_certain)
        }
        if not unseen:
            return {}
        glare = dict(zip(self.surface.places, stages.evidence.places["glare"].tolist(), strict=True))
        usual = (stages.view.clarity or Clarity(stages.view.image)).trouble or (
            HindranceKind.GLARE if any(glare.values()) else HindranceKind.OBJECT
        )
        return {place: HindranceKind.GLARE if glare[place] else usual for place in unseen}

    def _with_shape(self, view: SurfaceView) -> SurfaceView:
        """Return the view of a sheet with its bent shape.

        It is measured again when the sheet moved, and from time to time if something covered it.
        """
        if isinstance(self._plan, SurfacePlan):
            return view
        known = self._bent
        again_s = known.time_s + SHAPE_AGAIN_S if known is not None and self._is_shape_doubtful else math.inf
        if known is None or known.pose is not view.pose or view.time_s >= again_s:
            shape = paper_shape(view.image, view.camera, view.pose, self.surface)
            known = self._bent = _SheetShape(view.pose, shape, view.time_s)
        return replace(view, shape=known.shape)

    def _schedule_shape(self, occlusions: Sequence[Occlusion], *, is_new: bool) -> None:
        """Decide when to measure the sheet's shape again, given what covers it in a picture; ``is_new``: this picture
        gave its shape.
        """
        if is_new:
            self._is_shape_doubtful, self._shape_due_s = bool(occlusions), math.inf
        elif self._is_shape_doubtful and self._bent is not None:
            self._shape_due_s = self._bent.time_s + SHAPE_AGAIN_S

    def shape_at(self, pose: Pose) -> PaperShape | None:
        """Return the shape of a bent sheet as it was measured at a pose; ``None`` for everything flat."""
        return self._bent.shape if self._bent is not None and self._bent.pose is pose else None

    def hidden(self, why: HindranceKind) -> dict[str, PlaceReading]:
        """Return readings of its places while none of them can be seen."""
        return {place: uniform_reading(self._looks, why) for place in self.surface.places}

    def draw(self, picture: Image, stages: Stages) -> Image:
        """Return a copy of the picture with the pieces drawn on it."""
        return self.pieces.draw(picture, stages.view, stages.sightings)

    def crops(self, stages: Stages) -> dict[str, Image]:
        """Return the pixels of each place in the view of the surface, (rows, columns, 3)."""
        view, half = stages.rectified, round(self.surface.cell_mm * stages.rectified.window.px_per_mm / 2)
        columns, rows = view.window.to_pixels(*self.surface.centres_mm.T)
        at = zip(self.surface.places, np.round(rows).astype(int), np.round(columns).astype(int), strict=True)
        return {place: view.colours[y - half : y + half, x - half : x + half] for place, y, x in at}

    def _hindrances(
        self, occlusions: Sequence[Occlusion], hidden: Mapping[str, HindranceKind]
    ) -> tuple[Hindrance, ...]:
        hindrances = []
        for kind in dict.fromkeys([*(occlusion.kind for occlusion in occlusions), *hidden.values()]):
            places = tuple(place for place, by in hidden.items() if by == kind)
            where = named_places(self.surface, places) if places else Phrase("part of the {name}", self.surface.name)
            words = {
                HindranceKind.HAND: Phrase("a hand or arm is over {where}", where),
                HindranceKind.OBJECT: Phrase("a foreign object is over {where}", where),
                HindranceKind.GLARE: Phrase("the light is too bright for the camera on {where}", where),
                HindranceKind.DARK: Phrase("it is too dark to see {where}", where),
                HindranceKind.HAZE: Phrase("haze hides {where}", where),
                HindranceKind.BLUR: Phrase("the picture is too blurred to show {where}", where),
                HindranceKind.COARSE: Phrase("the picture is too coarse to show {where}", where),
                HindranceKind.UNCLEAR: Phrase("it is unclear what is on {where}", where),
                HindranceKind.OUTSIDE_PICTURE: Phrase("the camera's picture does not show {where}", where),
            }
            hindrances.append(Hindrance(kind, words[kind], places))
        return tuple(hindrances)


def _detector_at(
    camera: CameraModel, surface: GridSurface, plan: SurfacePlan | SheetPlan, pose: Pose, shape: PaperShape | None
) -> tuple[OcclusionDetector | SheetOcclusionDetector, HiddenPlaces]:
    """Return what finds occlusions of a surface at a pose, and the places that they hide."""
    detector = (
        SheetOcclusionDetector(camera, pose, plan, shape)
        if isinstance(plan, SheetPlan)
        else OcclusionDetector(camera, pose, plan)
    )
    return detector, HiddenPlaces(surface, detector.sampler)


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
        self._measured: tuple[Clarity, float] | None = None
        self._frames_untracked = 0
        self._afresh: frozenset[str] = frozenset()
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
            changed = None
        reading = self._read_surfaces(frame, table.notices, changed, shared)
        return self._hands.with_hand(frame, pose, reading, shared.small)

    def invalidate_cache(self) -> None:
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
        why = self._blamed(frame, stages, places)
        if why is not None:
            places, hindrances = self._places(stages, frame.time_s, why)
            if not (hindrances and why is HindranceKind.UNCLEAR):
                hindrances.append(Hindrance(why, joined(REMEDIES[why], ": ")))
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

    def _blamed(
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
        if sum(wrong.values()) <= most:
            return None
        crops = {place: crop for name, one in stages.items() for place, crop in self._surfaces[name].crops(one).items()}
        doubtful = {place for place, share in wrong.items() if 1 - share < _SETTINGS.doubtful}
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


FEW_MARKERS = 2
"""Number of one part's markers that must be plainly visible before another part without any counts as absent."""


class TableReader:
    """Reads one table in one camera's frames, given in order.

    ``pieces`` and ``rolls`` are the readers by surface name; ``vision.readers.registry.table_reader`` chooses them by
    the layout. Parts with a pose of their own are located separately. ``previous`` is a known pose; on a table without
    markers it determines which side of the board is the first player's. With ``attention``, some frames are not read,
    or all their places are; otherwise, the places that look changed are read in each frame.
    """

    def __init__(
        self,
        camera: CameraModel,
        layout: TableLayout,
        pieces: Mapping[str, AnyPieceReader],
        rolls: Mapping[str, RollReader] | None = None,
        previous: Pose | None = None,
        attention: Attention | None = None,
    ) -> None:
        self.camera = camera
        self.layout = layout
        self._attention = attention
        self._gate = ChangeGate(reads_movement=attention is Attention.MOVING)
        self.use(pieces, rolls or {}, previous)

    def __str__(self) -> str:
        """Return what a frame passes, for an engineer; parts that are read side by side are separated by ``|``."""
        gate = () if self._attention is None else (f"{self._attention.name} frames",)
        return " → ".join((*gate, " | ".join(map(str, self._parts))))

    def use(
        self, pieces: Mapping[str, AnyPieceReader], rolls: Mapping[str, RollReader], previous: Pose | None = None
    ) -> None:
        """Go on with other readers, and perhaps another known pose, as if no frame had been read before."""
        parts = self.layout.parts()
        self._parts = [PartReader(self.camera, part, pieces, rolls, previous, len(parts)) for part in parts]

    def read(self, frame: Frame, shared: SharedPicture | None = None) -> Reading:
        """Read one frame; ``shared`` is what was made of it already. An unusable frame gives a Reading without places,
        with the reason.
        """
        try:
            check_frame(frame.image, self.camera.size, source=frame.source or Phrase("the camera"))
        except FrameError as error:
            return self._gate.left_out(frame, str(error))
        frame = replace(frame, image=as_colour(frame.image))
        shared = shared or SharedPicture(frame.image)
        if self._attention in {Attention.STILL, Attention.MOVING}:
            return self._gate.reading(frame, shared, self._read_now, self.invalidate_cache)
        if self._attention is Attention.ALL:
            self.invalidate_cache()
        return self._read_now(frame, shared)

    def _read_now(self, frame: Frame, shared: SharedPicture) -> Reading:
        """Read a frame that was checked."""
        absent = self._absent_parts(shared)
        readings = [
            part.unlocated(frame, absent[part]) if part in absent else part.read(frame, shared) for part in self._parts
        ]
        return readings[0] if len(readings) == 1 else self._merge(frame, readings)

    def invalidate_cache(self) -> None:
        """Read every place in the next frame, also those that look as before; on a sheet, ink always shows."""
        for part in self._parts:
            part.invalidate_cache()

    def _absent_parts(self, picture: SharedPicture) -> Mapping[PartReader, Hindrance]:
        """Return the parts that need no thorough search: none of their markers is visible, but another part's are."""
        lost = [part for part in self._parts if not part.is_located]
        if len(self._parts) < 2 or not lost:
            return {}
        finders = {name: MarkerDetector(name) for name in {part.layout.markers.dictionary for part in self._parts}}
        missing = [part for part in lost if part.layout.markers.centres_mm]
        for method in (MarkerDetector.quick, MarkerDetector.plain):
            seen = {
                name: {marker.marker_id for marker in picture.find(finder, method)} for name, finder in finders.items()
            }
            shown = {
                part: seen[part.layout.markers.dictionary] & part.layout.markers.centres_mm.keys()
                for part in self._parts
            }
            missing = [part for part in missing if not shown[part]]
            if not missing:
                return {}
        if not any(len(ids) >= FEW_MARKERS for ids in shown.values()):
            return {}
        return {
            part: Hindrance(
                HindranceKind.NOT_LOCATED, Phrase("table not located: {seen_text}", seen_text((), part.layout))
            )
            for part in missing
        }

    def _merge(self, frame: Frame, readings: list[Reading]) -> Reading:
        """Merge the Readings of several parts.

        While one part is visible, the places of an absent one are hidden, and so are those of one under a hand. An
        absent one without places, such as a tray, hinders nothing; a notice says why it is not read.
        """
        places: dict[str, PlaceReading] = {}
        hindrances: list[Hindrance] = []
        notices = [notice for reading in readings for notice in reading.notices]
        located = any(reading.places for reading in readings)
        for part, reading in zip(self._parts, readings, strict=True):
            is_under_hand = reading.hindered_by(HindranceKind.HAND) is not None
            places |= part.hidden(HindranceKind.HAND) if is_under_hand else reading.places
            for hindrance in reading.hindrances:
                if located and not part.is_located:
                    hidden = part.hidden(hindrance.kind)
                    places |= hidden
                    said = joined((Phrase("the {name}", part.layout.surfaces[0].name), hindrance.message), ": ")
                    if hidden:
                        hindrances.append(replace(hindrance, message=said, places=tuple(hidden)))
                    else:
                        notices.append(said)
                else:
                    hindrances.append(hindrance)
        return Reading(
            frame.sequence,
            frame.time_s,
            places,
            tuple(hindrances),
            tuple(dict.fromkeys(notices)),
            rolls=tuple(roll for reading in readings for roll in reading.rolls),
        )

    def stages(self, image: Image, pose: Pose) -> dict[str, Stages]:
        """Run all stages after locating on one picture, for the surfaces that have the table's pose, by name."""
        return self._parts[0].stages(image, pose)

    def reading(self, frame: Frame, stages: Mapping[str, Stages]) -> Reading:
        """Turn the results of the stages into probabilities and hindrances."""
        return self._parts[0].reading(frame, stages)

    def draw(self, picture: Image, stages: Mapping[str, Stages]) -> Image:
        """Return a copy of the picture with the pieces drawn on it."""
        return self._parts[0].draw(picture, stages)

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place as seen from above at the height of a piece's top, 72 x 72 pixels.

        The picture covers 48 x 48 mm, or on a sheet a cell and half of its neighbours. Raises NotLocatedError when its
        surface was not located in the newest frame.
        """
        own = next((part for part in self._parts if place in part.layout.places), self._parts[0])
        return own.crop(frame, place)
