"""The board as the referee believes it, drawn as a picture for films."""

import math
import textwrap
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from common.grid import PlaceGrid
from engine.support.looks import Look
from engine.values import Place
from hardware.lights.signals import MOOD_STYLES, ROLE_STYLES, Light, Signal, most_urgent_lights
from referee.rendering.board_text import COLOURS, GREY, DrawnBoard, sheets_of, square_of, written
from vision.frame import Image

_FONT = cv2.FONT_HERSHEY_SIMPLEX
_GOAL = (40, 130, 190)
_HEADING_PX = 30
_WORDS_PX = 136
_WORDS_SCALE = 0.46
_LINES = 5
_RIM = (24, 24, 24)
_BALL = (46, 118, 242)
_DARK = 32
_LIGHT_SQUARE, _DARK_SQUARE = (196, 214, 226), (176, 196, 210)
_PAPER, _GRID_LINE, _RED = (244, 248, 250), (190, 190, 190), (40, 40, 200)
"""The picture's measures in pixels, lines of words, and colours (blue, green, red), chosen by eye."""
_NUMBER_PX, _NAMES_PX = 26, 30
"""Room for the number of a row, and below the squares for the names of columns and sheet."""
_LEAST_PANEL_PX = 380
"""The least width of the words beside the camera's picture."""
_BASE_SHARES = {"large": 0.84, "medium": 0.65, "small": 0.47}
"""The side of a pyramid's base as a share of the square, by size."""
_FACE_LIGHTS = (0.25, -0.1, -0.35, 0.05)
"""How much white, or black below 0, is mixed into a pyramid's faces: far, right, near, left."""


def board_picture(board: DrawnBoard, *, square_px: int) -> Image:
    """Draw the board, or the sheets side by side, with a margin for the names of rows, columns and sheets.

    A square is ``square_px`` wide. Goals are marked with a star.
    """
    lit = most_urgent_lights(board.lights)
    sheets = sheets_of(board.appearance)
    drawn = [_grid_picture(board, lit, sheet, grid, square_px) for sheet, grid in sheets.items()]
    height = max(one.shape[0] for one in drawn)
    padded = [np.pad(one, ((0, height - one.shape[0]), (0, 0), (0, 0)), constant_values=_DARK) for one in drawn]
    return np.ascontiguousarray(np.hstack(padded))


def _grid_picture(board: DrawnBoard, lit: Mapping[Place, Light], sheet: str, grid: PlaceGrid, square_px: int) -> Image:
    """Draw the board (``sheet`` is empty) or one sheet."""
    margin = square_px // 2
    left_margin = max(margin, _NUMBER_PX)
    height = square_px * len(grid.rows) + max(margin, _NAMES_PX)
    width = square_px * max(len(row) for row in grid.rows) + left_margin
    picture: Image = np.full((height, width, 3), _DARK, dtype=np.uint8)
    for row_number, row in enumerate(grid.rows):
        for column_number, place in enumerate(row):
            left, top = left_margin + column_number * square_px, row_number * square_px
            corner = (left + square_px - 1, top + square_px - 1)
            if sheet:
                cv2.rectangle(picture, (left, top), corner, _PAPER, -1)
                cv2.rectangle(picture, (left, top), corner, _GRID_LINE, 1)
            else:
                is_light = (row_number + column_number) % 2
                cv2.rectangle(picture, (left, top), corner, _LIGHT_SQUARE if is_light else _DARK_SQUARE, -1)
            piece = Look.parse(board.appearance[place])
            if place in board.goals:
                centre = (left + square_px // 2, top + square_px // 2)
                _fill(picture, symbol_corners("star") or [], centre, square_px * 0.32, _GOAL)
            if piece is not None:
                _draw_piece(picture, piece, left, top, square_px)
            if place in lit:
                _draw_light(picture, lit[place], left, top, square_px)
            if row_number == len(grid.rows) - 1:
                _label(picture, square_of(place)[:1], left + square_px // 2 - 5, top + square_px + 12)
        _label(picture, square_of(row[0])[1:], left_margin // 4, row_number * square_px + square_px // 2 + 5)
    if sheet:
        _label(picture, sheet, left_margin, height - 4)
        if board.red_line is not None:
            line = (len(grid.rows) - board.red_line) * square_px
            cv2.line(picture, (left_margin, line), (width, line), _RED, 2)
    return picture


def beside_camera(camera: Image, board: DrawnBoard, signal: Signal, *, height_px: int = 540) -> Image:
    """Combine the camera's picture with the referee's belief: board, mood and sentence."""
    width = round(camera.shape[1] * height_px / camera.shape[0])
    left: Image = np.asarray(cv2.resize(camera, (width, height_px), interpolation=cv2.INTER_AREA), dtype=np.uint8)
    rows = max(len(grid.rows) for grid in sheets_of(board.appearance).values())
    square = (height_px - _HEADING_PX - _WORDS_PX) * 2 // (2 * rows + 1)
    drawn = board_picture(board, square_px=square)
    panel: Image = np.full((height_px, max(_LEAST_PANEL_PX, drawn.shape[1] + square // 2), 3), _DARK, dtype=np.uint8)
    panel[_HEADING_PX : _HEADING_PX + drawn.shape[0], : drawn.shape[1]] = drawn
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
    said = written(piece)
    if said:
        at = (left + square_px // 4, top + square_px - square_px // 4)
        cv2.putText(picture, said[:1], at, _FONT, square_px / 44, _RIM, 1, cv2.LINE_AA)
        if said.endswith("o"):
            middle = (left + square_px // 2, top + square_px // 2)
            cv2.circle(picture, middle, square_px // 2 - 2, (24, 24, 160), 1, cv2.LINE_AA)
        return
    centre = (left + square_px // 2, top + square_px // 2)
    if piece.shape in _BASE_SHARES:
        _draw_pyramid(picture, piece, centre, square_px)
    elif piece.shape.startswith("piece"):
        _draw_disc(picture, piece, centre, square_px)
    else:
        _draw_block(picture, piece, centre, square_px)


def _draw_pyramid(picture: Image, piece: Look, centre: tuple[int, int], square_px: int) -> None:
    """Draw the pyramid on top of a stack, within the outline of the large one below."""
    colour = (225, 225, 225) if piece.colour == "clear" else COLOURS.get(piece.colour, GREY)
    square = [(-1.0, 1.0), (1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)]
    for shape in {"large", piece.shape}:
        half = round(0.5 * square_px * _BASE_SHARES[shape])
        cv2.rectangle(
            picture, (centre[0] - half, centre[1] - half), (centre[0] + half, centre[1] + half), _RIM, 1, cv2.LINE_AA
        )
    half_px = 0.5 * square_px * _BASE_SHARES[piece.shape]
    for start, end, light in zip(square, (*square[1:], square[0]), _FACE_LIGHTS, strict=True):
        goal = 255 if light > 0 else 0
        red, green, blue = (round(part + (goal - part) * abs(light)) for part in colour)
        _fill(picture, [start, end, (0.0, 0.0)], centre, half_px, (blue, green, red))


def _draw_disc(picture: Image, piece: Look, centre: tuple[int, int], square_px: int) -> None:
    """Draw a round piece, and the ball on it."""
    cv2.circle(picture, centre, round(0.4 * square_px), _bgr(COLOURS.get(piece.colour, GREY)), -1, cv2.LINE_AA)
    cv2.circle(picture, centre, round(0.4 * square_px), _RIM, 1, cv2.LINE_AA)
    if piece.shape.endswith("with ball"):
        cv2.circle(picture, centre, round(0.2 * square_px), _BALL, -1, cv2.LINE_AA)
        cv2.circle(picture, centre, round(0.2 * square_px), (255, 255, 255), max(1, square_px // 24), cv2.LINE_AA)


def _draw_block(picture: Image, piece: Look, centre: tuple[int, int], square_px: int) -> None:
    """Draw a square piece, and the symbol on it."""
    half = square_px // 2 - max(3, square_px // 8)
    corners = (centre[0] - half, centre[1] - half), (centre[0] + half, centre[1] + half)
    cv2.rectangle(picture, *corners, _bgr(COLOURS.get(piece.colour, GREY)), -1)
    cv2.rectangle(picture, *corners, _RIM, 1)
    size = square_px * 0.26
    ink = (255, 255, 255)
    if piece.mark == "hoops":
        for step in range(3):
            angle = 2 * math.pi * step / 3
            x, y = size * 0.6 * math.sin(angle), size * 0.6 * math.cos(angle)
            hoop = (round(centre[0] + x), round(centre[1] - y))
            cv2.circle(picture, hoop, round(size * 0.45), ink, max(1, square_px // 28), cv2.LINE_AA)
    elif (symbol := symbol_corners(piece.mark)) is not None:
        _fill(picture, symbol, centre, size, ink)
    else:
        cv2.putText(picture, piece.mark[:2], (centre[0] - 8, centre[1] + 5), _FONT, 0.4, ink, 1, cv2.LINE_AA)


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
