"""Adding to a table's Reading the hand that only a sequence of frames shows.

A single picture tells a hand by its hue and by the lines it hides (``vision.coverings``). In a film there is more to go
by: what was there before. ``ReachWatcher`` keeps a ``ReachFinder`` for the table's place in the picture and never lets
it begin with a frame in which a hand was already found.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from vision.frame import FloatArray, Frame
from vision.geometry import CameraModel, Pose, project
from vision.layout import TableLayout
from vision.reaching import ReachFinder
from vision.reading import Hindrance, PlaceReading, Reading
from vision.solids import BlockSolid, outline_px

LONGEST_GAP_S = 0.4
SAME_PLACE_PX = 3.0
HIDDEN_SHARE = 0.35


class ReachWatcher:
    """Watches one table for hands, frame by frame; pictures far apart in time are left as they are."""

    def __init__(self, camera: CameraModel, layout: TableLayout) -> None:
        self._camera = camera
        self._layout = layout
        self._finder: ReachFinder | None = None
        self._corners_px: FloatArray = np.zeros((4, 2))
        self._time_s: float | None = None

    def completed(self, frame: Frame, pose: Pose, reading: Reading) -> Reading:
        """Give the reading, with a hand added where the frames before show that there is one."""
        before_s, self._time_s = self._time_s, frame.time_s
        corners = self._board_corners_px(pose)
        moved = float(np.abs(corners - self._corners_px).max()) > SAME_PLACE_PX
        if before_s is None or not 0 < frame.time_s - before_s <= LONGEST_GAP_S or moved:
            self._finder = None
        seen = reading.hindered_by("hand") is not None
        if self._finder is None:
            if seen:
                return reading
            self._finder = ReachFinder(corners, self._camera.size)
            self._corners_px = corners
        reach = self._finder.update(frame.image, frame.time_s)
        if reach.kind != "hand" or not reach.connected or seen:
            return reading
        places: dict[str, PlaceReading] = dict(reading.places)
        hidden = []
        for place, one in reading.places.items():
            x, y = self._layout.centre_mm(place)
            solid = BlockSolid(x, y, self._layout.board_top_mm, self._layout.block_side_mm)
            if self._finder.share(reach, outline_px(solid, self._camera, pose)) > HIDDEN_SHARE:
                hidden.append(place)
                places[place] = PlaceReading(_even(one.probabilities), hidden_by="hand")
        over = f"over {', '.join(hidden)}" if hidden else "at the board's edge"
        hand = Hindrance("hand", f"a hand or arm is {over}", tuple(hidden))
        return replace(reading, places=places, hindrances=(*reading.hindrances, hand))

    def _board_corners_px(self, pose: Pose) -> FloatArray:
        x, y = self._layout.columns * self._layout.cell_mm / 2, self._layout.rows * self._layout.cell_mm / 2
        top = self._layout.board_top_mm
        return project(self._camera, pose, [[-x, -y, top], [x, -y, top], [x, y, top], [-x, y, top]])


def _even(probabilities: Mapping[str, float]) -> dict[str, float]:
    return dict.fromkeys(probabilities, 1 / max(1, len(probabilities)))
