"""Reading one surface in one picture: sightings of pieces, occlusions, and empty places."""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from common.places import EMPTY
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import DiscPieces, Ink
from vision.layout.surfaces import GridSurface, named_places
from vision.motion.stillness import StillThings
from vision.readers.probabilities import empty_place, occupied_place
from vision.readers.protocols import AnyPieceReader, PieceSighting, SurfaceView
from vision.reading import Hindrance, HindranceKind, PlaceReading, uniform_reading
from vision.surface.bent_paper import PaperShape, lacks_grid, paper_shape
from vision.surface.colours import Hue
from vision.surface.emptiness import emptiness
from vision.surface.hidden import HiddenPlaces
from vision.surface.occlusion import Occlusion, OcclusionDetector, SurfaceEvidence
from vision.surface.plan import SurfacePlan
from vision.surface.sheet_occlusion import SheetOcclusionDetector, SheetPlan
from vision.surface.view import RectifiedView

FLAT_LOG_ODDS = 1.5
"""Log-odds subtracted from an empty place on a board of discs, since a disc of the board's colour hardly shows. Higher:
fewer empty places are certain. Set by hand on the virtual table's stress pictures, like the next.
"""
BARE_PROVES_FROM = 4.0
"""Log-odds, after that loss, above which an empty place is evidence against a doubtful disc. Higher: more questions
about empty places.
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
        self._pieces = pieces
        self._looks = (EMPTY, *pieces.looks)
        self._is_flat = isinstance(surface.pieces, DiscPieces)
        self._plan = SheetPlan.of(surface) if isinstance(surface.pieces, Ink) else SurfacePlan.of(surface)
        self._still = StillThings(self._plan.edge_px if isinstance(self._plan, SheetPlan) else 0)
        self._kept: dict[str, tuple[PieceSighting, float, PlaceReading]] = {}
        self._bent: _SheetShape | None = None
        self._is_shape_doubtful = False
        self._shape_due_s = math.inf
        self._usual_hue: Hue | None = None
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
        sightings = self._pieces.read(view, places, before)
        detector, _ = self._detector(view.pose, view.shape)
        solids = [piece.solid for piece in sightings.values() if piece.log_odds > 0 and piece.solid is not None]
        rectified = detector.sampler.view(view.image, solids)
        if isinstance(detector, SheetOcclusionDetector):
            evidence = detector.detect(rectified)
            if not evidence.are_lines_seen and lacks_grid(view.image, view.camera, view.pose, self.surface):
                # paper, or the hand that was found, lies over all of it
                whole = np.ones(rectified.window.shape, dtype=np.bool_)
                is_hand = any(occlusion.kind is HindranceKind.HAND for occlusion in evidence.occlusions)
                kind = HindranceKind.HAND if is_hand else HindranceKind.OBJECT
                evidence = SurfaceEvidence((Occlusion(kind, whole, float(whole.sum())),), {})
            self._schedule_shape(evidence.occlusions, is_new=self._bent is not measured)
        else:
            evidence = detector.detect(rectified, self._usual_hue)
            self._usual_hue = evidence.usual_hue or self._usual_hue
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

    def places(self, stages: Stages, time_s: float) -> tuple[dict[str, PlaceReading], tuple[Hindrance, ...]]:
        """Turn the results of the stages into probabilities and hindrances; ``time_s`` is the newest frame's."""
        _, needed = self._detector(stages.view.pose, stages.view.shape)
        occlusions = self._still.judged(stages.occlusions, time_s)
        clear = {place: piece.is_clear for place, piece in stages.sightings.items()}
        hidden = needed.hidden(occlusions, clear)
        if isinstance(self._plan, SheetPlan):
            places = {place: ink.reading for place, ink in stages.sightings.items()}
            places |= {place: uniform_reading(self._looks, why) for place, why in hidden.items()}
            return places, self._hindrances(occlusions, hidden)
        kept, self._kept = self._kept, {}
        bare = self._empty_log_odds(stages)
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
                    proves_from = BARE_PROVES_FROM if self._is_flat else math.inf
                    reading = occupied_place(piece, bare[place], self.surface.centre_mm(place), proves_from)
                    known = (piece, bare[place], reading)
                places[place] = known[2]
                self._kept[place] = known
        return places, self._hindrances(occlusions, hidden)

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

    def _empty_log_odds(self, stages: Stages) -> Mapping[str, float]:
        """Return log-odds that each place is empty."""
        bare = emptiness(stages.rectified, self.surface, stages.evidence)
        return {place: log_odds - FLAT_LOG_ODDS for place, log_odds in bare.items()} if self._is_flat else bare

    def hidden(self, why: HindranceKind) -> dict[str, PlaceReading]:
        """Return readings of its places while none of them can be seen."""
        return {place: uniform_reading(self._looks, why) for place in self.surface.places}

    def draw(self, picture: Image, stages: Stages) -> Image:
        """Return a copy of the picture with the pieces drawn on it."""
        return self._pieces.draw(picture, stages.view, stages.sightings)

    def _hindrances(
        self, occlusions: Sequence[Occlusion], hidden: Mapping[str, HindranceKind]
    ) -> tuple[Hindrance, ...]:
        hindrances = []
        for kind in dict.fromkeys([*(occlusion.kind for occlusion in occlusions), *hidden.values()]):
            places = tuple(place for place, by in hidden.items() if by == kind)
            where = named_places(self.surface, places) if places else f"part of the {self.surface.name}"
            words = {
                HindranceKind.HAND: f"a hand or arm is over {where}",
                HindranceKind.OBJECT: f"a foreign object is over {where}",
                HindranceKind.GLARE: f"the light is too bright for the camera on {where}",
                HindranceKind.OUTSIDE_PICTURE: f"the camera's picture does not show {where}",
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
