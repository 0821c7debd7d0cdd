"""A board to print, true to scale: squares, markers in their places, and the dice tray.

A board is larger than a sheet of paper, so it is split into pages that are glued together along thin lines.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

from referee.rendering.printed_sheets import (
    INSTRUCTIONS,
    MARGIN_MM,
    MM_PER_POINT,
    RULER_HEIGHT_MM,
    DrawnLine,
    Label,
    Page,
    Rectangle,
    marker_shape,
    paper_mm,
    ruler,
    ruler_labels,
)
from vision.layout.pieces import GridSurface, Tray
from vision.layout.table import TableLayout

_RIM_MM = 12.0
"""White margin around everything drawn: a marker needs a border of one module."""
_GRID_LINE_MM = 0.6
_LETTER_WIDTH = 0.6
"""About the width of a letter or digit of Helvetica, as a share of its size."""
_STAR_WIDTH = 0.82
_STAR = "\N{BLACK STAR}"
_STAR_SIZE = 0.8
"""Size of the font for a home star, as a share of a square's side: the star is 0.6 of a side wide."""
_STAR_MIDDLE = 0.35
"""Height of the star's middle above the baseline, as a share of its font's size."""
_LETTER_MM = 7.0
"""Distance of the letters and numbers from the squares."""


@dataclass
class _Drawing:
    """What is drawn, in millimetres from the board's centre."""

    shapes: list[tuple[Rectangle, ...]] = field(default_factory=list)
    lines: list[DrawnLine] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    points: list[tuple[float, float]] = field(default_factory=list)

    def line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.lines.append(DrawnLine(start, end, _GRID_LINE_MM))
        self.points += (start, end)


def plan_board(layout: TableLayout, title: str, paper: str) -> tuple[Page, ...]:
    """Plan the pages of a board with its markers, left to right, the far row first.

    The paper is used upright or sideways, whichever needs fewer pages. Raises PrintError for an unknown paper.
    """
    drawing = _draw_layout(layout)
    left = min(x for x, _ in drawing.points) - _RIM_MM
    top = max(y for _, y in drawing.points) + _RIM_MM
    width = max(x for x, _ in drawing.points) + _RIM_MM - left
    depth = top - (min(y for _, y in drawing.points) - _RIM_MM)

    def counts(size: tuple[float, float]) -> tuple[int, int]:
        room = size[0] - 2 * MARGIN_MM, size[1] - 2 * MARGIN_MM - RULER_HEIGHT_MM
        return math.ceil(width / room[0]), math.ceil(depth / room[1])

    size = min((paper_mm(paper), paper_mm(paper)[::-1]), key=lambda each: math.prod(counts(each)))
    columns, rows = counts(size)
    window = Rectangle(left, top, width / columns, depth / rows)
    pages = []
    for row in range(rows):
        for column in range(columns):
            number = f"{title}: page {row * columns + column + 1} of {rows * columns}"
            where = f"row {row + 1} of {rows} from the far side, column {column + 1} of {columns}"
            cut = replace(window, x_mm=left + column * window.width_mm, y_mm=top - (row + 1) * window.height_mm)
            words = (f"{number}, {where}. Cut along the thin line and glue the pages edge to edge.", INSTRUCTIONS[0])
            pages.append(_page(drawing, cut, size, words))
    return tuple(pages)


def _draw_layout(layout: TableLayout) -> _Drawing:
    drawing = _Drawing()
    markers = layout.markers
    for marker_id, (x, y) in markers.centres_mm.items():
        half = markers.side_mm / 2
        drawing.shapes.append(marker_shape(markers.dictionary, marker_id, x - half, y - half, markers.side_mm))
        drawing.points += ((x - half, y - half), (x + half, y + half))
    for surface in layout.surfaces:
        if isinstance(surface, GridSurface):
            _draw_grid(drawing, surface)
        elif isinstance(surface, Tray):
            bounds = surface.bounds_mm
            _draw_lines(drawing, (bounds.left_mm, bounds.right_mm), (bounds.near_mm, bounds.far_mm))
            drawing.labels.append(Label(bounds.left_mm, bounds.far_mm + 2, surface.name))
    return drawing


def _draw_grid(drawing: _Drawing, board: GridSurface) -> None:
    bounds = board.bounds_mm
    across = tuple(bounds.left_mm + number * board.cell_mm for number in range(board.columns + 1))
    along = tuple(bounds.near_mm + number * board.cell_mm for number in range(board.rows + 1))
    _draw_lines(drawing, across, along)
    half = board.cell_mm / 2
    for number, x in enumerate(across[:-1]):
        drawing.labels.append(Label(x + half, bounds.near_mm - _LETTER_MM, chr(ord("a") + number), 11, centred=True))
    for number, y in enumerate(along[:-1]):
        drawing.labels.append(Label(bounds.left_mm - _LETTER_MM, y + half - 2, str(number + 1), 11, centred=True))
    for place in board.printed:
        x, y = board.centre_mm(place)
        size_pt = _STAR_SIZE * board.cell_mm / MM_PER_POINT
        middle = y - _STAR_MIDDLE * size_pt * MM_PER_POINT
        drawing.labels.append(Label(x, middle, _STAR, size_pt, centred=True, font="ZapfDingbats"))


def _draw_lines(drawing: _Drawing, across: tuple[float, ...], along: tuple[float, ...]) -> None:
    for x in across:
        drawing.line((x, along[0]), (x, along[-1]))
    for y in along:
        drawing.line((across[0], y), (across[-1], y))


def _page(drawing: _Drawing, window: Rectangle, size: tuple[float, float], words: tuple[str, ...]) -> Page:
    """Return the page with the part of the drawing that lies in ``window``."""
    by_x, by_y = MARGIN_MM - window.x_mm, MARGIN_MM + RULER_HEIGHT_MM - window.y_mm
    cut = replace(window, x_mm=MARGIN_MM, y_mm=MARGIN_MM + RULER_HEIGHT_MM)
    shapes = tuple(
        tuple(replace(part, x_mm=part.x_mm + by_x, y_mm=part.y_mm + by_y) for part in parts)
        for shape in drawing.shapes
        if (parts := [part for rectangle in shape if (part := _within(rectangle, window))])
    )
    lines = []
    for line in drawing.lines:
        (x, y), (to_x, to_y) = line.start_mm, line.end_mm
        part = _within(Rectangle(x, y, to_x - x, to_y - y), window)
        if part is not None:
            start = (part.x_mm + by_x, part.y_mm + by_y)
            lines.append(replace(line, start_mm=start, end_mm=(start[0] + part.width_mm, start[1] + part.height_mm)))
    # A label across a cut line is printed whole on both pages, so that its parts meet.
    labels = [
        replace(label, x_mm=label.x_mm + by_x, y_mm=label.y_mm + by_y)
        for label in drawing.labels
        if _within(_room_of(label), window)
    ]
    return Page(*size, shapes, (cut,), ruler(), (*labels, *ruler_labels(words)), tuple(lines))


def _room_of(label: Label) -> Rectangle:
    """Return about the room that a label takes."""
    height = label.size_pt * MM_PER_POINT
    width = (_STAR_WIDTH if label.text == _STAR else _LETTER_WIDTH) * height * len(label.text)
    return Rectangle(label.x_mm - width / 2 * label.centred, label.y_mm, width, height)


def _within(rectangle: Rectangle, window: Rectangle) -> Rectangle | None:
    """Return the part of a rectangle, or of a line, inside the window; ``None`` without any."""
    left, low = max(rectangle.x_mm, window.x_mm), max(rectangle.y_mm, window.y_mm)
    right = min(rectangle.x_mm + rectangle.width_mm, window.x_mm + window.width_mm)
    high = min(rectangle.y_mm + rectangle.height_mm, window.y_mm + window.height_mm)
    return Rectangle(left, low, right - left, high - low) if right >= left and high >= low else None
