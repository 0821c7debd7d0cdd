"""Reading all blocks of a table: rough sights of faces, close fits, and a decision that looks at them together.

Tops are looked for in the plane they lie in. A far block's side face can fill a nearer square in that plane and look
like a top there; so squares are judged from near to far, each with what its own sides show and what nearer blocks hide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from vision.blocks import colour_distances, fit_face
from vision.faces import FaceFinder, FaceFit, rough_sights
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout import TableLayout
from vision.looks import PieceLooks
from vision.sampling import PlaneWindow, linear_light, plane_map, sample
from vision.sides import neighbours_in_net, side_probabilities, side_views, support, symbol_fits
from vision.solids import BlockSolid, outline_px

ROUGH_PX_PER_MM = 1.0
CLOSE_PX_PER_MM = 2.0
MARGIN_MM = 30.0
REACH_MM = 10.0
ROUGH_FIT = 0.5
CLOSE_FIT = 0.6
SHARP_FIT = 0.9
BLURS_PX = (1.0, 2.6)
ROUGH_BLUR_PX = 0.7
COLOUR_SPREAD = 0.2
OVERLAP_SHARE = 0.72

FIT_SLOPE, FIT_MIDDLE = 26.0, 0.74
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


class BlockReader:
    """Reads the blocks of one piece set on one layout; keeps what can be made ready once."""

    def __init__(self, layout: TableLayout, looks: PieceLooks) -> None:
        self.layout = layout
        self.looks = looks
        self._rough = FaceFinder(looks, layout.block_side_mm, ROUGH_PX_PER_MM)
        self._close = FaceFinder(looks, layout.block_side_mm, CLOSE_PX_PER_MM)

    def window(self, px_per_mm: float) -> PlaneWindow:
        """The window of the plane the blocks' tops lie in: the board and a margin."""
        width = self.layout.columns * self.layout.cell_mm + 2 * MARGIN_MM
        depth = self.layout.rows * self.layout.cell_mm + 2 * MARGIN_MM
        height = self.layout.board_top_mm + self.layout.block_side_mm
        return PlaneWindow(-width / 2, depth / 2, width, depth, height, px_per_mm)

    def read(self, image: Image, camera: CameraModel, pose: Pose) -> dict[str, BlockSight]:
        """Give every block that may be there, by place, with log-odds above those of a mere chance likeness."""
        rough, close = self.window(ROUGH_PX_PER_MM), self.window(CLOSE_PX_PER_MM)
        close_map = plane_map(camera, pose, close)
        close_light = linear_light(sample(image, close_map))
        rough_light = linear_light(sample(image, plane_map(camera, pose, rough)))
        places = self._near_to_far(pose)
        middles = np.array([rough.to_pixels(*self.layout.centre_mm(place)) for place in places])
        sights = rough_sights(self._rough, rough_light, middles, REACH_MM * ROUGH_PX_PER_MM, ROUGH_BLUR_PX)

        found: dict[str, BlockSight] = {}
        outlines: list[npt.NDArray[np.float32]] = []
        for place, sight in zip(places, sights, strict=True):
            if sight.fit < ROUGH_FIT:
                continue
            middle = (
                rough.left_mm + (sight.x_px + 0.5) / ROUGH_PX_PER_MM,
                rough.far_mm - (sight.y_px + 0.5) / ROUGH_PX_PER_MM,
            )
            fit: FaceFit | None = None
            for blur_px in BLURS_PX:
                again = fit_face(self._close, close_light, close, middle, blur_px)
                if again is not None and (fit is None or again.fit > fit.fit):
                    fit = again
                if fit is not None and fit.fit > SHARP_FIT:
                    break
            if fit is None or fit.fit < CLOSE_FIT:
                continue
            block = self._judge(place, fit, image, camera, pose, outlines)
            if block.log_odds < -6:
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
        distances = colour_distances(fit, self.looks.colours, COLOUR_SPREAD)
        log_odds = FIT_SLOPE * (fit.fit - FIT_MIDDLE)
        colour = min(distances, key=lambda name: distances[name], default=None)
        if colour is not None:
            beyond = max(0.0, distances[colour] - COLOUR_EASY)
            log_odds -= min(COLOUR_COST_LIMIT, COLOUR_COST * beyond**2)
        x, y = layout.centre_mm(place)
        off = float(np.hypot(fit.x_mm - x, fit.y_mm - y))
        log_odds -= OFFSET_COST_PER_MM * max(0.0, off - OFFSET_EASY_MM)
        views = []
        for view in side_views(image, solid, camera, pose, nearer):
            fits = symbol_fits(view, self.looks, colour)
            if fits is not None:
                views.append((view, fits))
        log_odds += support(views) or 0.0
        possible = neighbours_in_net(layout.net, fit.symbol) if layout.net else self.looks.symbols
        sides = {}
        for view, fits in views:
            probabilities = side_probabilities(view, fits, possible)
            if probabilities is not None:
                sides[view.side] = probabilities
        return BlockSight(place, fit, solid, distances, log_odds, sides)
