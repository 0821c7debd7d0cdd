"""The block reader: rough fits of faces, close fits, and a decision that looks at them together.

Tops are looked for in the plane they lie in. A far block's side face can fill a nearer square in that plane and look
like a top there. So squares are judged from near to far, each with what its own sides show and what nearer blocks hide.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np

from vision.frame import Image
from vision.geometry import CameraModel, CubeSolid, Pose, corners_px, hull_px, outline_px
from vision.layout.pieces import BlockPieces
from vision.layout.surfaces import Surface, top_mm
from vision.readers.blocks.appearance import BlockAppearance, look_name
from vision.readers.blocks.drawing import draw_blocks
from vision.readers.blocks.face_search import CloseFitter, RoughFinder, patches_around
from vision.readers.blocks.faces import ColourMetric, FaceFit
from vision.readers.blocks.sides import SideReader, SideView, neighbours_in_net, side_probabilities, side_views, support
from vision.readers.probabilities import tempered
from vision.readers.protocols import SurfaceView
from vision.sampling import PlaneGrid, PlaneWindow

MARGIN_MM = 38.0
REACH_MM = 10.0
ROUGH_FIT = 0.6
CLOSE_FIT = 0.6
COLOUR_SPREAD = 0.2
FAR_FROM_ANY_COLOUR = 4.5
CLEARLY_A_FACE = 0.8
LEAST_LOG_ODDS = -6.0
OVERLAP_SHARE = 0.72

STAR = "star"
SURE_SUPPORT, WELL_SUPPORTED = 2.0, 6.0
SURE_EDGES, PRINTED_STAR_COST = 2.2, 7.0
NO_EDGES, BLOCKS_OWN_COLOUR, ANOTHER_COLOUR = 1.6, 0.7, 1.5
FIT_SLOPE, FIT_MIDDLE = 26.0, 0.7
COLOUR_EASY, COLOUR_COST, COLOUR_COST_LIMIT = 1.5, 0.8, 8.0
OFFSET_EASY_MM, OFFSET_COST_PER_MM = 7.0, 0.8
FLAT_THING_COST = 12.0
FAINT_EDGES, FAINTEST_EDGES = 1.7, 1.4
ODD_COLOUR, ODDEST_COLOUR = 1.7, 2.2
CLEAR_FIT = 0.88
SYMBOL_TEMPERATURE, ODD_ONE_OUT = 0.016, 0.002
MOST_COLOUR_COST = 60.0


@dataclass(frozen=True, eq=False)
class BlockSighting:
    """A block as seen on a place: its face, its solid, how far each colour is off, log-odds that it is there, and the
    probabilities of the symbols on each side the camera sees.
    """

    place: str
    face: FaceFit
    solid: CubeSolid
    colour_distance: Mapping[str, float]
    log_odds: float
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def colour(self) -> str | None:
        """The colour it is nearest to, or ``None`` when no colour is known yet."""
        return min(self.colour_distance, key=lambda name: self.colour_distance[name], default=None)

    @property
    def is_clear(self) -> bool:
        """Whether it is there for certain and its face is seen well."""
        return self.log_odds > 0 and self.face.correlation > CLEAR_FIT

    def look_probabilities(self) -> dict[str, float]:
        """The probability of each colour with each symbol, from the fits of symbols and colours."""
        if not self.colour_distance:
            return {}
        symbols = tempered(self.face.scores, SYMBOL_TEMPERATURE, ODD_ONE_OUT)
        nearest = min(self.colour_distance.values())
        squares = {
            name: -0.5 * min(MOST_COLOUR_COST, distance**2 - nearest**2)
            for name, distance in self.colour_distance.items()
        }
        colours = tempered(squares, 1.0, ODD_ONE_OUT)
        return {
            look_name(colour, symbol): colours[colour] * symbols[symbol] for colour in colours for symbol in symbols
        }

    def with_log_odds(self, log_odds: float) -> BlockSighting:
        """The same block, more or less sure."""
        return replace(self, log_odds=log_odds)


def top_window(surface: Surface, px_per_mm: float) -> PlaneWindow:
    """The window of the plane the blocks' tops lie in: the surface and a margin."""
    return PlaneWindow.over(surface.bounds_mm.grown(MARGIN_MM), top_mm(surface), px_per_mm)


class BlockReader:
    """Reads the blocks of one set on one surface; keeps what can be made ready once."""

    def __init__(self, surface: Surface, appearance: BlockAppearance) -> None:
        self._surface = surface
        self._pieces = BlockPieces.on(surface)
        self._appearance = appearance
        self._rough = RoughFinder(appearance, self._pieces.side_mm)
        self._close = CloseFitter(appearance, self._pieces.side_mm)
        self._sides = SideReader(appearance)
        self._judge = ColourMetric(appearance.colours, COLOUR_SPREAD)
        self._grid: tuple[CameraModel, Pose, PlaneGrid] | None = None

    @property
    def looks(self) -> tuple[str, ...]:
        """Every colour with every symbol up."""
        return self._appearance.looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, BlockSighting]) -> Image:
        """Give a copy of the picture with every block's outline, top symbol and readable sides written on it."""
        return draw_blocks(picture, sightings, view.camera, view.pose)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, BlockSighting]
    ) -> dict[str, BlockSighting]:
        """Give every block that may be there, by place, with log-odds above those of a mere chance likeness.

        Only ``places`` are looked at; the others are as in ``previous``, what an earlier frame from the same pose gave.
        """
        image, camera, pose = view.image, view.camera, view.pose
        order = self._near_to_far(pose)
        looked_at = [place for place in order if place in places]
        fits = self._fits(image, camera, pose, looked_at)
        solids = {place: self._solid(fit) for place, fit in fits.items()}
        corners = corners_px(list(solids.values()), camera, pose)
        outlines = {place: hull_px(corner) for place, corner in zip(solids, corners, strict=True)}
        side_faces = dict(zip(solids, side_views(image, corners), strict=True))
        found: dict[str, BlockSighting] = {}
        nearer = np.zeros(image.shape[:2], dtype=np.uint8)
        for place in order:
            block: BlockSighting | None
            if place in fits:
                seen = [face.behind(nearer) for face in side_faces[place]] if found else side_faces[place]
                block = self._judged(place, fits[place], solids[place], seen)
            else:
                block = None if place in looked_at else previous.get(place)
            if block is None or block.log_odds < LEAST_LOG_ODDS:
                continue
            rival = next((other for other in found.values() if self._overlap(other.solid, block.solid)), None)
            if rival is not None:
                if rival.log_odds >= block.log_odds:
                    continue
                del found[rival.place]
            found[place] = block
            if block.log_odds > 0:
                outline = outlines[place] if place in outlines else outline_px(block.solid, camera, pose)
                outline = np.clip(outline, -1e4, 1e4)
                cv2.fillConvexPoly(nearer, np.round(outline).astype(np.int32), 1)
        return found

    def _fits(self, image: Image, camera: CameraModel, pose: Pose, places: Sequence[str]) -> dict[str, FaceFit]:
        """Close fits of whatever looks like a face of a known colour near some places."""
        grid = self._grid_for(camera, pose)
        patches = patches_around(image, grid, self._surface, places)
        sights, colours = [], []
        for sight in self._rough.find(patches, ROUGH_FIT):
            distances = self._judge.distances(sight.face, sight.ink)
            colour = min(distances, key=lambda name: distances[name], default=None)
            if colour is None or sight.fit > CLEARLY_A_FACE or distances[colour] < FAR_FROM_ANY_COLOUR:
                sights.append(sight)
                colours.append(colour)
        fits = self._close.fit(image, grid, patches, sights, colours)
        return {
            sight.place: fit
            for sight, fit in zip(sights, fits, strict=True)
            if fit is not None and fit.correlation > CLOSE_FIT
        }

    def _grid_for(self, camera: CameraModel, pose: Pose) -> PlaneGrid:
        if self._grid is None or self._grid[0] is not camera or self._grid[1] is not pose:
            bounds = self._surface.bounds_mm.grown(MARGIN_MM)
            self._grid = (camera, pose, PlaneGrid.of(camera, pose, bounds, top_mm(self._surface)))
        return self._grid[2]

    def _solid(self, fit: FaceFit) -> CubeSolid:
        return CubeSolid(fit.x_mm, fit.y_mm, self._surface.height_mm, self._pieces.side_mm, fit.turned_deg)

    def _near_to_far(self, pose: Pose) -> list[str]:
        x, y, _ = pose.camera_position_mm
        places = self._surface.places
        away = [math.hypot(column - x, row - y) for column, row in map(self._surface.centre_mm, places)]
        return [place for _, place in sorted(zip(away, places, strict=True))]

    def _overlap(self, first: CubeSolid, second: CubeSolid) -> bool:
        apart = math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm)
        return apart < OVERLAP_SHARE * self._pieces.side_mm

    def _judged(self, place: str, fit: FaceFit, solid: CubeSolid, seen: Sequence[SideView]) -> BlockSighting:
        distances = self._judge.distances(fit.face, fit.ink)
        log_odds = FIT_SLOPE * (fit.correlation - FIT_MIDDLE)
        colour = min(distances, key=lambda name: distances[name], default=None)
        if colour is not None:
            beyond = max(0.0, distances[colour] - COLOUR_EASY)
            log_odds -= min(COLOUR_COST_LIMIT, COLOUR_COST * beyond**2)
        x, y = self._surface.centre_mm(place)
        off = float(np.hypot(fit.x_mm - x, fit.y_mm - y))
        log_odds -= OFFSET_COST_PER_MM * max(0.0, off - OFFSET_EASY_MM)
        views = [(view, side_fit) for view in seen if (side_fit := self._sides.fit(view, colour)) is not None]
        below = support(views) or 0.0
        log_odds += below
        unsupported = float(np.clip((WELL_SUPPORTED - below) / (WELL_SUPPORTED - SURE_SUPPORT), 0.0, 1.0))
        if place in self._surface.printed and fit.symbol == STAR and fit.edges < SURE_EDGES:
            log_odds -= unsupported * _printed_star_cost(fit.edges, None if colour is None else distances[colour])
        if colour is not None:
            log_odds -= unsupported * _flat_thing_cost(fit.edges, distances[colour])
        net = self._pieces.net
        possible = neighbours_in_net(net, fit.symbol) if net else self._appearance.symbols
        sides: dict[str, Mapping[str, float]] = {}
        for view, side_fit in views:
            probabilities = side_probabilities(view, side_fit.fits, possible)
            if probabilities is not None:
                sides[view.side] = probabilities
        return BlockSighting(place, fit, solid, distances, log_odds, sides)


def _printed_star_cost(edges: float, colour_distance: float | None) -> float:
    """What it costs, in log-odds, to look like the star that is printed on the board.

    There are no edges around that, and the board is seldom of a block's colour.
    """
    faint = np.clip((SURE_EDGES - edges) / (SURE_EDGES - NO_EDGES), 0.0, 1.0)
    odd = 1.0
    if colour_distance is not None:
        odd = np.clip((colour_distance - BLOCKS_OWN_COLOUR) / (ANOTHER_COLOUR - BLOCKS_OWN_COLOUR), 0.0, 1.0)
    return float(PRINTED_STAR_COST * max(faint, odd))


def _flat_thing_cost(edges: float, colour_distance: float) -> float:
    """What it costs, in log-odds, to look like a thing on the bare board.

    A light coin looks like the stop on a pale block, but there are no edges of a square around it, and the board is not
    quite of the block's colour.
    """
    faint = np.clip((FAINT_EDGES - edges) / (FAINT_EDGES - FAINTEST_EDGES), 0.0, 1.0)
    odd = np.clip((colour_distance - ODD_COLOUR) / (ODDEST_COLOUR - ODD_COLOUR), 0.0, 1.0)
    return float(FLAT_THING_COST * faint * odd)
