"""The board as the referee believes it, drawn as a picture for films."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Collection, Mapping, Sequence

import cv2
import numpy as np

from engine.support.looks import Look
from engine.values import EMPTY
from hardware.grid import PlaceGrid
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Light, Signal, most_urgent_lights
from referee.rendering.board_text import COLOURS, GREY, square_of, written
from vision.frame import Image

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_GOAL = (40, 130, 190)
_HEADING_PX = 30
_WORDS_PX = 136
_WORDS_SCALE = 0.46
_LINES = 5


def board_picture(
    appearance: Mapping[str, str],
    grid: PlaceGrid,
    lights: Sequence[Light] = (),
    *,
    square_px: int,
    goals: Collection[str] = (),
) -> Image:
    """Draw the board as a picture of ``square_px`` a square, with a margin for the names of rows and columns.

    The squares of ``goals`` are marked with a star.
    """
    margin = square_px // 2
    height = square_px * len(grid.rows) + margin
    width = square_px * max(len(row) for row in grid.rows) + margin
    picture: Image = np.full((height, width, 3), 32, dtype=np.uint8)
    lit = most_urgent_lights(lights)
    for row_number, row in enumerate(grid.rows):
        for column_number, place in enumerate(row):
            left, top = margin + column_number * square_px, row_number * square_px
            shade = (196, 214, 226) if (row_number + column_number) % 2 else (176, 196, 210)
            cv2.rectangle(picture, (left, top), (left + square_px - 1, top + square_px - 1), shade, -1)
            piece = Look.parse(appearance.get(place, EMPTY))
            if place in goals:
                centre = (left + square_px // 2, top + square_px // 2)
                _fill(picture, symbol_corners("star") or [], centre, square_px * 0.32, _GOAL)
            if piece is not None:
                _draw_piece(picture, piece, left, top, square_px)
            if place in lit:
                _draw_light(picture, lit[place], left, top, square_px)
            if row_number == len(grid.rows) - 1:
                _label(picture, square_of(place)[:1], left + square_px // 2 - 5, height - margin // 3)
        _label(picture, square_of(row[0])[1:], margin // 4, row_number * square_px + square_px // 2 + 5)
    return picture


def beside_camera(
    camera: Image,
    appearance: Mapping[str, str],
    grid: PlaceGrid,
    signal: Signal,
    *,
    goals: Collection[str] = (),
    height_px: int = 540,
) -> Image:
    """Combine the camera's picture with the referee's belief: board, lights, mood and sentence."""
    width = round(camera.shape[1] * height_px / camera.shape[0])
    left: Image = np.asarray(cv2.resize(camera, (width, height_px), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    square = (height_px - _HEADING_PX - _WORDS_PX) * 2 // (2 * len(grid.rows) + 1)
    board = board_picture(appearance, grid, signal.lights, square_px=square, goals=goals)
    panel: Image = np.full((height_px, board.shape[1] + square // 2, 3), 32, dtype=np.uint8)
    panel[_HEADING_PX : _HEADING_PX + board.shape[0], : board.shape[1]] = board
    _heading(left, "what the camera sees")
    _heading(panel, "what the referee thinks")
    style = MOOD_STYLES[signal.mood]
    colour = _bgr(style.colour.value)
    top = height_px - _WORDS_PX + 18
    cv2.circle(panel, (18, top), 9, colour, -1, cv2.LINE_AA)
    cv2.putText(panel, signal.mood.value, (36, top + 6), _FONT, 0.6, colour, 1, cv2.LINE_AA)
    lines = textwrap.wrap(signal.words, _columns(panel.shape[1] - 20), break_on_hyphens=False)
    for number, line in enumerate(lines[:_LINES]):
        cv2.putText(panel, line, (10, top + 30 + 20 * number), _FONT, _WORDS_SCALE, (240, 240, 240), 1, cv2.LINE_AA)
    return np.ascontiguousarray(np.hstack([left, panel]))


def _columns(width_px: int) -> int:
    """Return the number of characters that fit; the fonts of OpenCV's versions differ in width."""
    sample = "the gold block on c3 "
    (sample_px, _), _ = cv2.getTextSize(sample, _FONT, _WORDS_SCALE, 1)
    return max(10, width_px * len(sample) // max(1, sample_px))


def _heading(picture: Image, words: str) -> None:
    """Darken a strip along the upper edge, and write on it."""
    strip = picture[:_HEADING_PX]
    strip[:] = strip // 3
    cv2.putText(picture, words, (10, _HEADING_PX - 9), _FONT, 0.5, (225, 225, 225), 1, cv2.LINE_AA)


def _draw_piece(picture: Image, piece: Look, left: int, top: int, square_px: int) -> None:
    inset = max(3, square_px // 8)
    said = written(piece)
    if said:
        at = (left + square_px // 4, top + square_px - square_px // 4)
        cv2.putText(picture, said[:1], at, _FONT, square_px / 44, (24, 24, 24), 1, cv2.LINE_AA)
        if said.endswith("o"):
            middle = (left + square_px // 2, top + square_px // 2)
            cv2.circle(picture, middle, square_px // 2 - 2, (24, 24, 160), 1, cv2.LINE_AA)
        return
    colour = _bgr(COLOURS.get(piece.colour, GREY))
    corner = (left + square_px - inset, top + square_px - inset)
    cv2.rectangle(picture, (left + inset, top + inset), corner, colour, -1)
    cv2.rectangle(picture, (left + inset, top + inset), corner, (24, 24, 24), 1)
    centre = (left + square_px // 2, top + square_px // 2)
    size = square_px * 0.26
    ink = (255, 255, 255)
    if piece.mark == "hoops":
        for step in range(3):
            angle = 2 * math.pi * step / 3
            x, y = size * 0.6 * math.sin(angle), size * 0.6 * math.cos(angle)
            hoop = (round(centre[0] + x), round(centre[1] - y))
            cv2.circle(picture, hoop, round(size * 0.45), ink, max(1, square_px // 28), cv2.LINE_AA)
        return
    corners = symbol_corners(piece.mark)
    if corners is None:
        cv2.putText(picture, piece.mark[:2], (centre[0] - 8, centre[1] + 5), _FONT, 0.4, ink, 1, cv2.LINE_AA)
        return
    _fill(picture, corners, centre, size, ink)


def _fill(
    picture: Image,
    corners: Sequence[tuple[float, float]],
    centre: tuple[int, int],
    size: float,
    colour: tuple[int, int, int],
) -> None:
    points = np.array([(centre[0] + size * x, centre[1] - size * y) for x, y in corners])
    cv2.fillPoly(picture, [np.round(points).astype(np.int32)], colour, cv2.LINE_AA)


def symbol_corners(symbol: str) -> list[tuple[float, float]] | None:
    """Return the corners of a symbol about its centre, in a circle of radius 1, x to the right and y up."""
    arm = 0.3
    plus = [(-arm, 1), (arm, 1), (arm, arm), (1, arm), (1, -arm), (arm, -arm)]
    plus += [(-x, -y) for x, y in plus]
    match symbol:
        case "star":
            radii = [1.0 if step % 2 == 0 else 0.42 for step in range(10)]
            return [
                (radius * math.sin(math.pi * step / 5), radius * math.cos(math.pi * step / 5))
                for step, radius in enumerate(radii)
            ]
        case "stop":
            return [(math.sin(math.pi * (step + 0.5) / 4), math.cos(math.pi * (step + 0.5) / 4)) for step in range(8)]
        case "slider":
            return [(0, 1), (1, 0), (0, -1), (-1, 0)]
        case "cross":
            return plus
        case "x":
            half = math.sqrt(0.5)
            return [(half * (x - y), half * (x + y)) for x, y in plus]
        case _:
            return None


def _draw_light(picture: Image, light: Light, left: int, top: int, square_px: int) -> None:
    colour = _bgr(light.colour.value)
    cv2.rectangle(picture, (left + 2, top + 2), (left + square_px - 3, top + square_px - 3), colour, 3)
    badge = max(12, square_px // 3)
    cv2.rectangle(picture, (left + 2, top + 2), (left + badge, top + badge), colour, -1)
    at = (left + badge // 4, top + badge - badge // 5)
    cv2.putText(picture, ROLE_STYLES[light.role].mark[:1], at, _FONT, badge / 40, (255, 255, 255), 1, cv2.LINE_AA)


def _label(picture: Image, name: str, x: int, y: int) -> None:
    cv2.putText(picture, name, (x, y), _FONT, 0.45, (170, 170, 170), 1, cv2.LINE_AA)


def _bgr(colour: tuple[int, int, int]) -> tuple[int, int, int]:
    red, green, blue = colour
    return blue, green, red
