"""Sheets of paper as they are printed: markers and a grid."""

from __future__ import annotations

import cv2
import numpy as np

from engine.registry import load
from simulator.rendering.textures import marker_texture
from simulator.scene.pieces import Colour
from simulator.scene.sheets import LyingSheet
from vision.frame import Image

_PRINT_PX_PER_MM = 12.0
_PAPER = 0.92
_LINE_GREY = 0.45
_RED: Colour = (0.25, 0.25, 0.85)
_LINE_MM = 0.35


def sheet_texture(sheet: LyingSheet, game: str, px_per_mm: float) -> Image:
    """A sheet as it is printed, far edge up, at ``px_per_mm``."""
    half_x, half_y = (float(half) for half in sheet.half_mm)
    scale = _PRINT_PX_PER_MM
    size = (round(2 * half_x * scale), round(2 * half_y * scale))
    paper = np.full((size[1], size[0], 3), round(255 * _PAPER), np.uint8)

    def at(x: float, y: float) -> tuple[int, int]:
        return round((x + half_x) * scale), round((half_y - y) * scale)

    bounds, cell = sheet.surface.bounds_mm, sheet.surface.cell_mm
    thickness = max(round(_LINE_MM * scale), 1)
    grey = (round(255 * _LINE_GREY),) * 3
    for column in range(sheet.surface.columns + 1):
        x = bounds.left_mm + column * cell
        cv2.line(paper, at(x, bounds.near_mm), at(x, bounds.far_mm), grey, thickness)
    for row in range(sheet.surface.rows + 1):
        y = bounds.near_mm + row * cell
        cv2.line(paper, at(bounds.left_mm, y), at(bounds.right_mm, y), grey, thickness)
    printed = load(game).printed_sheet
    red_line = None if printed is None else printed(None).red_line
    if red_line is not None:
        y = bounds.near_mm + red_line * cell
        red = tuple(255 * channel for channel in _RED)
        cv2.line(paper, at(bounds.left_mm, y), at(bounds.right_mm, y), red, 2 * thickness)
    for marker_id, (x, y) in sheet.markers.centres_mm.items():
        texture, side_mm = marker_texture(sheet.markers, marker_id, 0.0, "whole")
        side = round(side_mm * scale)
        left, top = at(x - side_mm / 2, y + side_mm / 2)
        printed_marker = cv2.resize(texture, (side, side), interpolation=cv2.INTER_AREA)
        paper[top : top + side, left : left + side] = printed_marker[..., None]
    target = (max(round(2 * half_x * px_per_mm), 1), max(round(2 * half_y * px_per_mm), 1))
    return np.asarray(cv2.resize(paper, target, interpolation=cv2.INTER_AREA), dtype=np.uint8)
