"""Drawing blocks and occlusions onto the picture, for a person to check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, Side, project
from vision.readers.blocks.reader import BlockSighting
from vision.surface.occlusion import Occlusion
from vision.surface.view import RectifiedView

_SURE, _UNSURE, _SIDE, _COVERED = (80, 220, 80), (60, 60, 255), (255, 200, 60), (200, 60, 200)


def draw_blocks(image: Image, blocks: Mapping[str, BlockSighting], camera: CameraModel, pose: Pose) -> Image:
    """Give a copy of the picture with every block's outline, top symbol and readable sides written on it.

    Green is sure, red is not (log-odds at or below 0, which are written beside it).
    """
    picture = np.array(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR) if image.ndim == 2 else image, dtype=np.uint8)
    for place, block in blocks.items():
        colour = _SURE if block.log_odds > 0 else _UNSURE
        corners = np.round(project(camera, pose, block.solid.corners_mm())).astype(np.int32)
        below, above = corners[:4], corners[4:]
        cv2.polylines(picture, [above.reshape(-1, 1, 2), below.reshape(-1, 1, 2)], True, colour, 1, cv2.LINE_AA)
        for low, high in zip(below, above, strict=True):
            cv2.line(picture, tuple(map(int, low)), tuple(map(int, high)), colour, 1, cv2.LINE_AA)
        doubt = "" if block.log_odds > 0 else f" {block.log_odds:.0f}"
        _write(
            picture,
            f"{place} {block.colour or '?'} {block.fit.symbol}{doubt}",
            above.min(axis=0).astype(np.float64),
            colour,
        )
        for side in Side:
            probabilities = block.sides.get(side)
            if probabilities:
                symbol = max(probabilities, key=lambda name: probabilities[name])
                middle = project(camera, pose, block.solid.side_corners_mm(side).mean(axis=0))[0]
                _write(picture, f"{side[0]}:{symbol}", middle, _SIDE)
    return picture


def draw_occlusions(image: Image, board: RectifiedView, coverings: Sequence[Occlusion]) -> Image:
    """Give a copy of the picture with everything that covers the board tinted, and what it was taken for."""
    picture = np.array(cv2.cvtColor(image, cv2.COLOR_GRAY2BGR) if image.ndim == 2 else image, dtype=np.uint8)
    height, width = picture.shape[0], picture.shape[1]
    for covering in coverings:
        at = np.round(board.pixel_map[covering.pixels]).astype(np.int32)
        mask = np.zeros((height, width), dtype=np.uint8)
        inside = (at[:, 0] >= 0) & (at[:, 1] >= 0) & (at[:, 0] < width) & (at[:, 1] < height)
        mask[at[inside, 1], at[inside, 0]] = 1
        mask = np.asarray(cv2.dilate(mask, np.ones((3, 3), dtype=np.uint8)))
        tinted = picture[mask > 0].astype(np.float64) * 0.5 + np.asarray(_COVERED) * 0.5
        picture[mask > 0] = tinted.astype(np.uint8)
        if inside.any():
            _write(
                picture,
                f"{covering.kind} {covering.area_mm2 / 100:.0f} cm2",
                at[inside].mean(axis=0).astype(np.float64),
                _COVERED,
            )
    return picture


def _write(picture: Image, text: str, at: FloatArray, colour: tuple[int, int, int]) -> None:
    where = (int(at[0]) + 2, int(at[1]) - 4)
    for shade, width in (((0, 0, 0), 3), (colour, 1)):
        cv2.putText(picture, text, where, cv2.FONT_HERSHEY_SIMPLEX, 0.42, shade, width, cv2.LINE_AA)
