"""Reading the blocks of a table: rough sights of faces, close fits, and a decision that looks at them together.

Tops are looked for in the plane they lie in. A far block's side face can fill a nearer square in that plane and look
like a top there; so squares are judged from near to far, each with what its own sides show and what nearer blocks hide.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision.blocks import colour_distances, fit_face
from vision.faces import FaceFinder, FaceFit, Sighting, rough_sights
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout import TableLayout
from vision.looks import PieceLooks
from vision.sampling import FloatImage, PixelMap, PlaneWindow, linear_light, plane_map, sample
from vision.sides import SideReader, neighbours_in_net, side_probabilities, side_views, support
from vision.solids import BlockSolid, outline_px

ROUGH_PX_PER_MM = 1.0
CLOSE_PX_PER_MM = 2.0
MARGIN_MM = 38.0
REACH_MM = 10.0
NEAR_MM = 40.0
ROUGH_FIT = 0.5
CLOSE_FIT = 0.6
SHARP_FIT = 0.9
BLURS_PX = (1.0, 2.6)
ROUGH_BLUR_PX = 0.7
COLOUR_SPREAD = 0.2
FAR_FROM_ANY_COLOUR = 4.5
CLEARLY_A_FACE = 0.8
LEAST_LOG_ODDS = -6.0
OVERLAP_SHARE = 0.72
FEW_PLACES = 14

STAR = "star"
SURE_SUPPORT, SURE_EDGES, PRINTED_STAR_COST = 2.0, 2.2, 7.0
FIT_SLOPE, FIT_MIDDLE = 26.0, 0.7
COLOUR_EASY, COLOUR_COST, COLOUR_COST_LIMIT = 1.5, 0.8, 8.0
OFFSET_EASY_MM, OFFSET_COST_PER_MM = 7.0, 0.8


@dataclass(frozen=True, eq=False)
class BlockSight:
    """A block as seen at a place: its face, its solid, how far each colour is off, log-odds that it is there, and the
    probabilities of the symbols on each side the camera sees.
    """

    place: str
    fit: FaceFit
    solid: BlockSolid
    colour_distance: Mapping[str, float]
    log_odds: float
    sides: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def colour(self) -> str | None:
        """The colour it is nearest to, or ``None`` when no colour is known yet."""
        return min(self.colour_distance, key=lambda name: self.colour_distance[name], default=None)


@dataclass(frozen=True, eq=False)
class _Maps:
    """What depends on where the camera is only."""

    camera: CameraModel
    pose: Pose
    rough: PixelMap
    close: PixelMap


class BlockReader:
    """Reads the blocks of one piece set on one layout; keeps what can be made ready once."""

    def __init__(self, layout: TableLayout, looks: PieceLooks) -> None:
        self.layout = layout
        self.looks = looks
        self._rough = FaceFinder(looks, layout.block_side_mm, ROUGH_PX_PER_MM)
        self._close = FaceFinder(looks, layout.block_side_mm, CLOSE_PX_PER_MM)
        self._sides = SideReader(looks)
        self._maps: _Maps | None = None

    def window(self, px_per_mm: float) -> PlaneWindow:
        """The window of the plane the blocks' tops lie in: the board and a margin."""
        width = self.layout.columns * self.layout.cell_mm + 2 * MARGIN_MM
        depth = self.layout.rows * self.layout.cell_mm + 2 * MARGIN_MM
        height = self.layout.board_top_mm + self.layout.block_side_mm
        return PlaneWindow(-width / 2, depth / 2, width, depth, height, px_per_mm)

    def read(
        self,
        image: Image,
        camera: CameraModel,
        pose: Pose,
        *,
        only: Collection[str] | None = None,
        before: Mapping[str, BlockSight] | None = None,
    ) -> dict[str, BlockSight]:
        """Give every block that may be there, by place, with log-odds above those of a mere chance likeness.

        With ``only``, other places are taken from ``before``, a reading of an earlier frame from the same pose.
        """
        maps = self._maps_for(camera, pose)
        order = self._near_to_far(pose)
        looked_at = [place for place in order if only is None or place in only]
        sights = self._rough_sights(image, maps, looked_at)
        found: dict[str, BlockSight] = {}
        outlines: list[npt.NDArray[np.float32]] = []
        for place in order:
            block: BlockSight | None
            if place in sights:
                fit = self._fit(image, maps, sights[place])
                block = None if fit is None else self._judge(place, fit, image, camera, pose, outlines)
            else:
                block = None if before is None or place in looked_at else before.get(place)
            if block is None or block.log_odds < LEAST_LOG_ODDS:
                continue
            rival = next((other for other in found.values() if self._overlap(other.solid, block.solid)), None)
            if rival is not None:
                if rival.log_odds >= block.log_odds:
                    continue
                del found[rival.place]
            found[place] = block
            if block.log_odds > 0:
                outlines.append(outline_px(block.solid, camera, pose))
        return found

    def _maps_for(self, camera: CameraModel, pose: Pose) -> _Maps:
        if self._maps is None or self._maps.camera is not camera or self._maps.pose is not pose:
            self._maps = _Maps(
                camera,
                pose,
                plane_map(camera, pose, self.window(ROUGH_PX_PER_MM)),
                plane_map(camera, pose, self.window(CLOSE_PX_PER_MM)),
            )
        return self._maps

    def _rough_sights(self, image: Image, maps: _Maps, places: list[str]) -> dict[str, Sighting]:
        """Places where something like a face of a known colour is to be seen, with its middle in millimetres."""
        window = self.window(ROUGH_PX_PER_MM)
        light = linear_light(sample(image, maps.rough))
        middles = {place: window.to_pixels(*self.layout.centre_mm(place)) for place in places}
        reach = REACH_MM * ROUGH_PX_PER_MM
        if len(places) > FEW_PLACES:
            found = rough_sights(self._rough, light, list(middles.values()), reach, ROUGH_BLUR_PX)
        else:
            found = []
            half = round((NEAR_MM - MARGIN_MM + self.layout.cell_mm / 2) * ROUGH_PX_PER_MM) + round(reach)
            for column, row in middles.values():
                left, top = max(0, round(column) - half), max(0, round(row) - half)
                part = np.ascontiguousarray(light[top : round(row) + half + 1, left : round(column) + half + 1])
                (near,) = rough_sights(self._rough, part, [(column - left, row - top)], reach, ROUGH_BLUR_PX)
                found.append(Sighting(near.x_px + left, near.y_px + top, near.fit, near.face, near.ink))
        return {
            place: Sighting(
                window.left_mm + (sight.x_px + 0.5) / ROUGH_PX_PER_MM,
                window.far_mm - (sight.y_px + 0.5) / ROUGH_PX_PER_MM,
                sight.fit,
                sight.face,
                sight.ink,
            )
            for place, sight in zip(places, found, strict=True)
            if sight.fit > ROUGH_FIT and (sight.fit > CLEARLY_A_FACE or self._nearest(sight)[1] < FAR_FROM_ANY_COLOUR)
        }

    def _nearest(self, sight: Sighting) -> tuple[str | None, float]:
        distances = colour_distances(sight.face, sight.ink, self.looks.colours, COLOUR_SPREAD)
        colour = min(distances, key=lambda name: distances[name], default=None)
        return colour, 0.0 if colour is None else distances[colour]

    def _fit(self, image: Image, maps: _Maps, sight: Sighting) -> FaceFit | None:
        """Fit closely around a rough sight given in millimetres, sharp first, then as if out of focus."""
        window = self.window(CLOSE_PX_PER_MM)
        column, row = window.to_pixels(sight.x_px, sight.y_px)
        half = round(NEAR_MM * CLOSE_PX_PER_MM)
        left, top = max(0, round(column) - half), max(0, round(row) - half)
        near_map = maps.close[top : round(row) + half, left : round(column) + half]
        light: FloatImage = linear_light(sample(image, np.ascontiguousarray(near_map)))
        part = PlaneWindow(
            window.left_mm + left / CLOSE_PX_PER_MM,
            window.far_mm - top / CLOSE_PX_PER_MM,
            light.shape[1] / CLOSE_PX_PER_MM,
            light.shape[0] / CLOSE_PX_PER_MM,
            window.height_mm,
            CLOSE_PX_PER_MM,
        )
        colour, _ = self._nearest(sight)
        best: FaceFit | None = None
        for blur_px in BLURS_PX:
            fit = fit_face(self._close, light, part, (sight.x_px, sight.y_px), blur_px, colour)
            if fit is not None and (best is None or fit.fit > best.fit):
                best = fit
            if best is not None and best.fit > SHARP_FIT:
                break
        return best if best is not None and best.fit > CLOSE_FIT else None

    def _near_to_far(self, pose: Pose) -> list[str]:
        x, y, _ = pose.camera_position_mm

        def distance(place: str) -> float:
            column, row = self.layout.centre_mm(place)
            return float(np.hypot(column - x, row - y))

        return sorted(self.layout.places, key=distance)

    def _overlap(self, first: BlockSolid, second: BlockSolid) -> bool:
        apart = float(np.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm))
        return apart < OVERLAP_SHARE * self.layout.block_side_mm

    def _judge(
        self,
        place: str,
        fit: FaceFit,
        image: Image,
        camera: CameraModel,
        pose: Pose,
        nearer: list[npt.NDArray[np.float32]],
    ) -> BlockSight:
        layout = self.layout
        solid = BlockSolid(fit.x_mm, fit.y_mm, layout.board_top_mm, layout.block_side_mm, fit.turned_deg)
        distances = colour_distances(fit.face, fit.ink, self.looks.colours, COLOUR_SPREAD)
        log_odds = FIT_SLOPE * (fit.fit - FIT_MIDDLE)
        colour = min(distances, key=lambda name: distances[name], default=None)
        if colour is not None:
            beyond = max(0.0, distances[colour] - COLOUR_EASY)
            log_odds -= min(COLOUR_COST_LIMIT, COLOUR_COST * beyond**2)
        x, y = layout.centre_mm(place)
        off = float(np.hypot(fit.x_mm - x, fit.y_mm - y))
        log_odds -= OFFSET_COST_PER_MM * max(0.0, off - OFFSET_EASY_MM)
        views = [
            (view, side_fit)
            for view in side_views(image, solid, camera, pose, nearer)
            if (side_fit := self._sides.fit(view, colour)) is not None
        ]
        below = support(views) or 0.0
        log_odds += below
        if place in layout.star_places and fit.symbol == STAR and below < SURE_SUPPORT and fit.edges < SURE_EDGES:
            log_odds -= PRINTED_STAR_COST
        possible = neighbours_in_net(layout.net, fit.symbol) if layout.net else self.looks.symbols
        sides = {}
        for view, side_fit in views:
            probabilities = side_probabilities(view, side_fit.fits, possible)
            if probabilities is not None:
                sides[view.side] = probabilities
        return BlockSight(place, fit, solid, distances, log_odds, sides)
