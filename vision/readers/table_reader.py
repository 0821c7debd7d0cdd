"""From a frame to a Reading: locate the table, read its pieces, find what covers them, say how sure each is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from common.places import EMPTY
from vision.errors import FrameError, NotLocatedError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.images import check_frame
from vision.layout.table import TableLayout
from vision.locating.location import TableLocation, seen_text
from vision.locating.refinement import grid_agrees, refine_by_grid
from vision.locating.tracking import TableTracker, TrackedTable
from vision.motion.changes import ChangeDetector, marker_region
from vision.motion.hands import HandMonitor
from vision.readers.blocks.appearance import BlockAppearance, look_name
from vision.readers.blocks.reader import BlockReader, BlockSighting
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading
from vision.sampling import PlaneWindow, plane_map, sample
from vision.surface.emptiness import emptiness
from vision.surface.occlusion import HiddenPlaces, Occlusion, OcclusionDetector, SurfaceEvidence
from vision.surface.plan import SurfacePlan
from vision.surface.view import RectifiedView

SYMBOL_TEMPERATURE = 0.016
ODD_ONE_OUT = 0.002
HINDRANCE_PHRASES = {
    HindranceKind.HAND: "a hand or arm is over",
    HindranceKind.OBJECT: "something that is no block is over",
    HindranceKind.GLARE: "the light is too bright for the camera on",
}
LEAST_PROBABILITY = 1e-5
SEEN_FIT = 0.88
STANDS_ON_IT_SHARE = 0.4
BOARD_HIDDEN_LOG_ODDS = 5.0
FEW_MARKERS = 2
SAME_POSE_PX = 0.6
STEADY_FRAMES = 8
TRACK_EVERY = 15
CROP_SIDE_PX = 72
CROP_SIDE_MM = 48.0


@dataclass(frozen=True, eq=False)
class Stages:
    """What each stage made of one frame, for debug pictures and tests."""

    pose: Pose
    blocks: Mapping[str, BlockSighting]
    board: RectifiedView
    surface: SurfaceEvidence

    @property
    def coverings(self) -> Sequence[Occlusion]:
        """What covers the board besides the blocks, largest first."""
        return self.surface.coverings


class TableReader:
    """Reads frames of one table by one camera, in order.

    ``looks`` may be without colours: then blocks are found by their symbols alone and ``learn_colours`` must be called
    (or ``read`` raises nothing but can't name colours). The tracker keeps the table's place from frame to frame.
    """

    def __init__(self, camera: CameraModel, layout: TableLayout, looks: BlockAppearance) -> None:
        self.camera = camera
        self.layout = layout
        self._tracker = TableTracker(camera, layout)
        self._reach = HandMonitor(camera, layout)
        self._blocks = BlockReader(layout, looks)
        self._plan = SurfacePlan.of(layout)
        self._pose: Pose | None = None
        self._watcher: ChangeDetector | None = None
        self._coverings: tuple[Pose, OcclusionDetector, HiddenPlaces] | None = None
        self._last: tuple[Stages, Reading] | None = None
        self._refined_from: tuple[Pose, Pose | None] | None = None
        self._tracked: TrackedTable | None = None
        self._frames_untracked = 0

    @property
    def looks(self) -> BlockAppearance:
        """The looks it reads by."""
        return self._blocks.looks

    def use_looks(self, looks: BlockAppearance) -> None:
        """Read by other looks from the next frame on."""
        self._last = None
        self._blocks = BlockReader(self.layout, looks)

    def read(self, frame: Frame) -> Reading:
        """Read one frame. A frame that can't be used gives a Reading without places that says why."""
        try:
            check_frame(frame.image, self.camera.size, source=frame.source or "the camera")
        except FrameError as error:
            return Reading(frame.sequence, frame.time_s, {}, (Hindrance(HindranceKind.BAD_FRAME, str(error)),))
        changed = None if self._watcher is None else self._watcher.changed(frame.image)
        try:
            table = self._table(frame, changed)
        except NotLocatedError as error:
            self._forget_place()
            return Reading(frame.sequence, frame.time_s, {}, (Hindrance(HindranceKind.NOT_LOCATED, str(error)),))
        if table.moving:
            self._forget_place()
            moving = Hindrance(HindranceKind.MOVED_CAMERA, "the camera or the table is moving; waiting until it rests")
            return Reading(frame.sequence, frame.time_s, {}, (moving,), table.notices)
        pose = self._refined(frame.image, table.located)
        if pose is None:
            self._forget_place()
            doubt = Hindrance(
                HindranceKind.NOT_LOCATED,
                f"table not located for certain: only {seen_text(table.located.ids_seen, self.layout)}, and the "
                "board's lines are not where that would put them; uncover another marker",
            )
            return Reading(frame.sequence, frame.time_s, {}, (doubt,), table.notices)
        if self._stand_at(pose):
            changed = None
        reading = self._read_places(frame, table.notices, changed)
        return self._reach.completed(frame, pose, reading)

    def _table(self, frame: Frame, changed: set[str] | None) -> TrackedTable:
        """Track the table; one that was steady stands where it stood as long as no marker looks any different."""
        steady = self._tracked
        if (
            steady is not None
            and changed is not None
            and not any(marker_region(marker_id) in changed for marker_id in self.layout.markers.centres_mm)
            and self._frames_untracked < TRACK_EVERY
        ):
            self._frames_untracked += 1
            return replace(steady, notices=())
        self._frames_untracked = 0
        table = self._tracker.update(frame)
        self._tracked = table if table.frames_averaged >= STEADY_FRAMES and not table.uncertain else None
        return table

    def _forget_place(self) -> None:
        """The table is not where it was, or nowhere to be seen."""
        self._pose = self._watcher = self._last = self._tracked = None

    def _read_places(self, frame: Frame, notices: tuple[str, ...], changed: set[str] | None) -> Reading:
        """Read the places that changed since the last frame, all with ``None``; the others say what they said."""
        last = self._last
        if changed is None and self._watcher is not None:
            self._watcher.changed(frame.image)
        if last is None or changed is None:
            changed = set(self.layout.places)
        changed &= set(self.layout.places)
        if last is not None and not changed:
            return replace(last[1], sequence=frame.sequence, time_s=frame.time_s, notices=notices)
        stages = self._run(frame.image, changed, None if last is None else last[0].blocks)
        reading = self.reading(frame, stages, notices)
        self._last = (stages, reading)
        return reading

    def _stand_at(self, pose: Pose) -> bool:
        """Take over a pose and say so; one that differs by a fraction of a pixel is not worth starting anew for."""
        if self._pose is not None and self._apart_px(pose, self._pose) < SAME_POSE_PX:
            return False
        self._pose = pose
        self._watcher = ChangeDetector(self.layout, self.camera, pose)
        self._last = None
        return True

    def _refined(self, image: Image, located: TableLocation) -> Pose | None:
        """The located pose, or with few markers in sight the pose that the board's grid lines ask for.

        ``None`` when one marker alone gave the pose and the lines don't bear it out.
        """
        if len(located.ids_used) > FEW_MARKERS:
            return located.pose
        if self._refined_from is None or self._apart_px(located.pose, self._refined_from[0]) > SAME_POSE_PX:
            better = refine_by_grid(image, self.camera, located.pose, self.layout, located.markers)
            borne_out = len(located.ids_used) > 1 or grid_agrees(image, self.camera, better, self.layout)
            self._refined_from = (located.pose, better if borne_out else None)
        return self._refined_from[1]

    def _apart_px(self, first: Pose, second: Pose) -> float:
        width, depth = self.layout.columns * self.layout.cell_mm / 2, self.layout.rows * self.layout.cell_mm / 2
        top = self.layout.board_top_mm + self.layout.block_side_mm
        corners = [[x, y, top] for x in (-width, width) for y in (-depth, depth)]
        return float(np.abs(project(self.camera, first, corners) - project(self.camera, second, corners)).max())

    def stages(self, image: Image, pose: Pose) -> Stages:
        """Run all stages after locating on one picture, and keep what each made of it."""
        self._stand_at(pose)
        return self._run(image, set(self.layout.places), None)

    def _run(self, image: Image, changed: set[str], before: Mapping[str, BlockSighting] | None) -> Stages:
        pose = self._pose
        if pose is None:
            raise NotLocatedError("the table has not been located yet; nothing can be read")
        blocks = self._blocks.read(image, self.camera, pose, only=changed, before=before)
        finder, places = self._covering_finder(pose)
        board, surface = _cover(finder, image, blocks)
        doubted = {
            place: block
            for place, block in blocks.items()
            if block.log_odds <= 0 and places.share(block.solid, surface.coverings) > STANDS_ON_IT_SHARE
        }
        if doubted:
            blocks = {
                place: replace(block, log_odds=block.log_odds + BOARD_HIDDEN_LOG_ODDS) if place in doubted else block
                for place, block in blocks.items()
            }
            board, surface = _cover(finder, image, blocks)
        return Stages(pose, blocks, board, surface)

    def _covering_finder(self, pose: Pose) -> tuple[OcclusionDetector, HiddenPlaces]:
        if self._coverings is None or self._coverings[0] is not pose:
            finder = OcclusionDetector(self.camera, pose, self._plan)
            self._coverings = (pose, finder, HiddenPlaces(self.layout, finder.sampler))
        return self._coverings[1:]

    def reading(self, frame: Frame, stages: Stages, notices: tuple[str, ...] = ()) -> Reading:
        """Turn what the stages found into probabilities and hindrances."""
        looks = (EMPTY, *self._blocks.looks.names)
        hidden = self._hidden_places(stages)
        bare = emptiness(stages.board, self.layout, stages.surface)
        places = {}
        for place in self.layout.places:
            block = stages.blocks.get(place)
            if place in hidden:
                even = dict.fromkeys(looks, 1 / len(looks))
                places[place] = PlaceReading(even, hidden_by=hidden[place])
            elif block is None:
                places[place] = PlaceReading(_empty_probabilities(looks, bare[place]))
            else:
                x, y = self.layout.centre_mm(place)
                places[place] = PlaceReading(
                    _block_probabilities(block, self._blocks.looks, bare[place]),
                    sides=block.sides if block.log_odds > 0 else {},
                    offset_mm=(block.fit.x_mm - x, block.fit.y_mm - y),
                    turned_deg=block.fit.turned_deg,
                )
        return Reading(frame.sequence, frame.time_s, places, _hindrances(stages.coverings, hidden), notices)

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place as seen from above at the height of a block's top, 72 x 72 pixels of 48 x 48 mm.

        Raises NotLocatedError when the table is not located in the newest frame that was read.
        """
        if self._pose is None:
            raise NotLocatedError("the table has not been located yet; no picture of a place can be cut out")
        x, y = self.layout.centre_mm(place)
        height = self.layout.board_top_mm + self.layout.block_side_mm
        half = CROP_SIDE_MM / 2
        window = PlaneWindow(x - half, y + half, CROP_SIDE_MM, CROP_SIDE_MM, height, CROP_SIDE_PX / CROP_SIDE_MM)
        return np.asarray(sample(frame.image, plane_map(self.camera, self._pose, window)), dtype=np.uint8)

    def _hidden_places(self, stages: Stages) -> dict[str, HindranceKind]:
        """Places of which a covering hides so much that they can't be read, and what hides them."""
        _, places = self._covering_finder(stages.pose)
        clear = {place: block.log_odds > 0 and block.fit.fit > SEEN_FIT for place, block in stages.blocks.items()}
        return places.hidden(stages.coverings, clear)


def _cover(
    finder: OcclusionDetector, image: Image, blocks: Mapping[str, BlockSighting]
) -> tuple[RectifiedView, SurfaceEvidence]:
    board = finder.view(image, [block.solid for block in blocks.values() if block.log_odds > 0])
    return board, finder.look(board)


def _hindrances(coverings: Sequence[Occlusion], hidden: Mapping[str, HindranceKind]) -> tuple[Hindrance, ...]:
    hindrances = []
    for kind in dict.fromkeys(covering.kind for covering in coverings):
        places = tuple(place for place, by in hidden.items() if by == kind)
        where = ", ".join(places) if places else "the board"
        hindrances.append(Hindrance(kind, f"{HINDRANCE_PHRASES[kind]} {where}", places))
    return tuple(hindrances)


def _mixed(probabilities: Mapping[str, float]) -> dict[str, float]:
    """Keep every look possible, however small its share, and make the sum 1."""
    lifted = {look: max(share, LEAST_PROBABILITY) for look, share in probabilities.items()}
    total = sum(lifted.values())
    return {look: share / total for look, share in lifted.items()}


def _empty_probabilities(looks: Sequence[str], log_odds: float) -> dict[str, float]:
    rest = 1 / (1 + math.exp(log_odds))
    others = max(1, len(looks) - 1)
    # what _mixed would make of it, for very many places a second
    least = max(rest / others, LEAST_PROBABILITY)
    total = 1 - rest + least * (len(looks) - 1)
    probabilities = dict.fromkeys(looks, least / total)
    probabilities[EMPTY] = (1 - rest) / total
    return probabilities


def _block_probabilities(block: BlockSighting, looks: BlockAppearance, bare_log_odds: float) -> dict[str, float]:
    """Probabilities of empty and of each colour with each symbol, from the fits of face, symbol and colour.

    A block that hardly looks like one leaves the place no barer than its surface looks.
    """
    there = float(1 / (1 + np.exp(-np.clip(max(block.log_odds, -bare_log_odds), -12, 12))))
    best = max(block.fit.scores.values())
    symbols = {name: float(np.exp((score - best) / SYMBOL_TEMPERATURE)) for name, score in block.fit.scores.items()}
    symbol_total = sum(symbols.values())
    # now and then a face is not what it seems, whatever its fit
    symbols = {
        name: (1 - ODD_ONE_OUT) * share / symbol_total + ODD_ONE_OUT / len(symbols) for name, share in symbols.items()
    }
    nearest = min(block.colour_distance.values(), default=0.0)
    colours = {
        name: float(np.exp(-0.5 * min(60.0, distance**2 - nearest**2)))
        for name, distance in block.colour_distance.items()
    }
    colour_total = sum(colours.values()) or 1.0
    colours = {
        name: (1 - ODD_ONE_OUT) * share / colour_total + ODD_ONE_OUT / len(colours) for name, share in colours.items()
    }
    probabilities = {EMPTY: 1 - there}
    for colour in looks.colours:
        for symbol in looks.masks:
            share = colours[colour] * symbols.get(symbol, 0.0)
            probabilities[look_name(colour, symbol)] = there * share
    return _mixed(probabilities)
