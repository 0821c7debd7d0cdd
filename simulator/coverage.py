"""Which squares a hand hides from the camera, by geometry."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from simulator.background import polygon_mask
from simulator.hands import cover_mask
from simulator.scene import Hand, Setting
from vision.geometry import project

_SHRINK = 4
_HIDDEN_SHARE = 0.25


class Coverage:
    """Knows where each square and each block's top is seen in one setting."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        layout = setting.layout
        ground = layout.board_top_mm
        self._squares = {place: self._region(place, layout.cell_mm / 2, ground) for place in layout.places}
        top = ground + layout.block_side_mm
        self._tops = {place: self._region(place, layout.block_side_mm / 2, top) for place in layout.places}

    def _region(self, place: str, half_mm: float, height_mm: float) -> npt.NDArray[np.intp]:
        x, y = self._setting.layout.centre_mm(place)
        corners = np.array(
            [
                [x - half_mm, y + half_mm, height_mm],
                [x + half_mm, y + half_mm, height_mm],
                [x + half_mm, y - half_mm, height_mm],
                [x - half_mm, y - half_mm, height_mm],
            ]
        )
        width, height = self._setting.camera.size
        pixels = project(self._setting.camera, self._setting.pose, corners) / _SHRINK
        return np.flatnonzero(polygon_mask((height // _SHRINK + 1, width // _SHRINK + 1), pixels))

    def covered(self, hands: tuple[Hand, ...], occupied: Collection[str]) -> tuple[str, ...]:
        """The places of which hands hide at least a quarter, of the square or of the block's top on it."""
        if not hands:
            return ()
        hidden = cover_mask(self._setting, hands, _SHRINK).reshape(-1) > 127
        found: list[str] = []
        for place, square in self._squares.items():
            regions = [square, self._tops[place]] if place in occupied else [square]
            if any(len(region) and float(hidden[region].mean()) >= _HIDDEN_SHARE for region in regions):
                found.append(place)
        return tuple(found)
