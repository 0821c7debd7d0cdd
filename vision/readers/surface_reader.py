"""From a view of one surface to the readings of its places, and what keeps them from being read.

On one surface in one picture there are sightings of pieces, occlusions, and empty places. What looks like a hand but
lies still is an object, such as a cup on a sheet's margin: no hand stays still for ``still_s``.
"""

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cv2
import numpy as np

from common.phrases import Phrase
from common.places import EMPTY
from vision.clarity import Clarity
from vision.frame import BoolImage, Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import DiscPieces, GridSurface, Ink, PyramidPieces, named_places
from vision.readers.probabilities import at_most_empty, empty_place, most_log_odds, occupied_place
from vision.readers.protocols import AnyPieceReader, PieceSighting, SurfaceView
from vision.reading import Hindrance, HindranceKind, PlaceReading, uniform_reading
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
_MOST_LINES_GONE = 0.5
"""Share of the lines around a place without a stack above which something lies there. Set by hand: in 100 rendered
pictures, at least 0.62 were gone around 7 places under small napkins, at most 0.33 around 172 bare places. Higher:
napkins are taken for bare places.
"""
_BESIDE = 1.5
"""Distance of two places along a row or column, in squares, below which they lie beside each other."""
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
        self._is_crowded = isinstance(surface.pieces, PyramidPieces)
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
        if self._is_crowded:
            hidden = self._with_beside(self._lineless(stages, there) | hidden, there)
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

    def _lineless(self, stages: Stages, pieces: Collection[str]) -> dict[str, HindranceKind]:
        """Return the places without a piece around which a clear picture does not show the board's lines."""
        found = stages.evidence.places.get("lines not seen")
        if found is None or (stages.view.clarity is not None and stages.view.clarity.trouble is not None):
            return {}
        gone = {place for place, share in zip(self.surface.places, found, strict=True) if share > _MOST_LINES_GONE}
        return dict.fromkeys(gone - set(pieces), HindranceKind.OBJECT)

    def _with_beside(self, hidden: Mapping[str, HindranceKind], pieces: Collection[str]) -> dict[str, HindranceKind]:
        """Return the hidden places and those without a piece beside places under a thing, or beside another such place.

        What lies over a board of its own colour, such as a sleeve, shows only where it hides lines or pieces. On a
        board that is full of stacks, few places are empty.
        """
        at_mm = dict(zip(self.surface.places, self.surface.centres_mm, strict=True))
        bare = set(at_mm) - set(hidden) - set(pieces)
        reached = [place for place, why in hidden.items() if why is HindranceKind.OBJECT]
        found: set[str] = set()
        while reached:
            at = at_mm[reached.pop()]
            near = {one for one in bare if np.abs(at_mm[one] - at).max() < _BESIDE * self.surface.cell_mm}
            bare -= near
            found |= near
            reached += near
        why = {**hidden, **dict.fromkeys(found, HindranceKind.OBJECT)}
        return {place: why[place] for place in self.surface.places if place in why}

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
