"""First sights of faces: where something like a known face is to be seen near each place, all places at once.

Works on patches around each place, sampled from the plane the blocks' tops lie in and then halved: that is sharp
enough to say that a face is there and where, to a millimetre, and cheap enough for every place of a new picture.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.faces import face_and_ink, view_weights
from vision.frame import FloatArray, Image
from vision.layout import TableLayout
from vision.looks import PieceLooks
from vision.sampling import FloatImage, PlaneGrid, linear_light, sample
from vision.template_bank import TemplateBank, likeness, peak_between, windows_of

PATCH_HALF_MM = 30
HALVED_PX_PER_MM = 0.5
REACH_PX = 4
BLUR_PX = 0.5


@dataclass(frozen=True, eq=False)
class Patches:
    """Square patches around places, one pixel a millimetre, +x to the right and +y up, the place in the middle.

    ``light`` is linear light, (places, 60, 60, 3).
    """

    places: tuple[str, ...]
    middles_mm: FloatArray
    light: FloatImage


@dataclass(frozen=True, eq=False)
class RoughFace:
    """A first sight of a face near a place: its middle in the world, how well it fits (-1 to 1), and the two ends of
    the best fit in linear light, blue-green-red.
    """

    place: str
    x_mm: float
    y_mm: float
    fit: float
    face: FloatArray
    ink: FloatArray


def patches_around(image: Image, grid: PlaneGrid, layout: TableLayout, places: Sequence[str]) -> Patches:
    """Sample the plane of a grid around some places of a picture."""
    side = 2 * PATCH_HALF_MM
    # patches lie on the grid's own points, so nothing is interpolated twice
    columns = [round(layout.centre_mm(place)[0] - grid.left_mm + 0.5) for place in places]
    rows = [round(grid.far_mm - layout.centre_mm(place)[1] + 0.5) for place in places]
    maps = [grid.around(row, column, PATCH_HALF_MM) for row, column in zip(rows, columns, strict=True)]
    middles = np.array(
        [(grid.left_mm + column - 0.5, grid.far_mm - row + 0.5) for row, column in zip(rows, columns, strict=True)]
    )
    seen = sample(image, np.concatenate(maps)) if maps else np.zeros((0, side, 3), dtype=np.uint8)
    light = linear_light(seen)
    return Patches(tuple(places), middles.reshape(-1, 2), light.reshape(len(places), side, side, -1))


class RoughFinder:
    """Finds first sights of one piece set's faces."""

    def __init__(self, looks: PieceLooks, face_mm: float) -> None:
        self._bank = TemplateBank.of(looks.masks, face_mm, HALVED_PX_PER_MM, (BLUR_PX,))
        self._weights = view_weights(looks)

    def find(self, patches: Patches, least_fit: float) -> list[RoughFace]:
        """Give for each place what looks most like a face within a centimetre of it, where it fits well enough."""
        count, side = patches.light.shape[:2]
        if count == 0 or len(self._bank) == 0:
            return []
        tall = patches.light.reshape(count * side, side, 3)
        halved: FloatImage = np.asarray(
            cv2.resize(tall, (side // 2, count * side // 2), interpolation=cv2.INTER_AREA), dtype=np.float32
        )
        inner = self._bank.side_px
        # the face's middle may be REACH_PX away from the patch's
        margin = (side // 2 - inner) // 2 - REACH_PX
        near = slice(margin, margin + inner + 2 * REACH_PX)
        light = halved.reshape(count, side // 2, side // 2, 3)[:, near, near]
        views = len(self._weights)
        shown = cv2.transform(halved, self._weights).reshape(count, side // 2, side // 2, views)[:, near, near]
        rows = np.ascontiguousarray(shown.transpose(0, 3, 1, 2), dtype=np.float32).reshape(-1, *shown.shape[1:3])
        scores = likeness(windows_of(rows, inner), self._bank.rows)
        scores = scores.reshape(count, views, *scores.shape[1:])
        best = scores.reshape(count, -1).argmax(axis=1)
        found = []
        first_mm = (margin + (inner - 1) / 2 + 0.5) / HALVED_PX_PER_MM - PATCH_HALF_MM
        for index in range(count):
            view, down, across, template = np.unravel_index(int(best[index]), scores.shape[1:])
            fit = float(scores[index, view, down, across, template])
            if fit < least_fit:
                continue
            window = light[index, down : down + inner, across : across + inner]
            face, ink = face_and_ink(window, self._bank.masks[template])
            off_down, off_across = peak_between(scores[index, view, :, :, template], int(down), int(across))
            x_mm = float(patches.middles_mm[index, 0] + first_mm + (across + off_across) / HALVED_PX_PER_MM)
            y_mm = float(patches.middles_mm[index, 1] - first_mm - (down + off_down) / HALVED_PX_PER_MM)
            found.append(RoughFace(patches.places[index], x_mm, y_mm, fit, face, ink))
        return found


def stacked(patches: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Patches (n, rows, columns, ...) one below the other as one picture."""
    return patches.reshape(patches.shape[0] * patches.shape[1], *patches.shape[2:])
