"""A whole board with its markers to print: larger than a sheet of paper, so it is split into pages that are glued."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from frontends.printing.pages import (
    MARGIN_MM,
    MM_PER_POINT,
    STRIP_MM,
    DrawnLine,
    Figure,
    Label,
    Page,
    Rectangle,
    corners_of,
    marker_shape,
    paper_mm,
    rectangle_of,
    ruler,
    strip_labels,
)
from vision.geometry import Rectangle as Area
from vision.layout.pieces import GridSurface, Tray
from vision.layout.table import TableLayout

_RIM_MM = 12.0
"""White margin around everything drawn: a marker needs a border of one module."""
_GRID_LINE_MM = 0.6
_LETTER_WIDTH = 0.6
"""About the width of a letter or digit of Helvetica, as a share of its size."""
_STAR_WIDTH = 0.82
"""The same of a star of ZapfDingbats."""
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
    tints: list[tuple[Rectangle, tuple[float, float, float]]] = field(default_factory=list)

    def line(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.lines.append(DrawnLine(start, end, _GRID_LINE_MM))
        self.points += (start, end)


GLUE_MM = 10.0
"""Width of the strip of one page that goes below the next one."""
WHITE = (1.0, 1.0, 1.0)


def plan_board(
    layout: TableLayout, title: str, paper: str, ground: Iterable[tuple[Area, tuple[float, float, float]]] = ()
) -> tuple[Page, ...]:
    """Plan the pages of a board with its markers, left to right, the far row first; ``ground`` is coloured below it.

    A page has a strip to glue wherever another joins it at its right or near side. The seams follow the board's lines
    if the pages are large enough. The paper is used upright or sideways, whichever needs fewer pages. Raises PrintError
    for an unknown paper.
    """
    drawing = _draw_layout(layout)
    drawing.tints += [(rectangle_of(area), colour) for area, colour in ground]
    xs, ys = ([point[axis] for point in drawing.points] for axis in (0, 1))
    left, right, near, far = min(xs) - _RIM_MM, max(xs) + _RIM_MM, min(ys) - _RIM_MM, max(ys) + _RIM_MM
    along = sorted({line.start_mm[0] for line in drawing.lines if line.start_mm[0] == line.end_mm[0]})
    # downwards, as the pages follow each other
    down = sorted({-line.start_mm[1] for line in drawing.lines if line.start_mm[1] == line.end_mm[1]})

    def seams(size: tuple[float, float]) -> tuple[list[float], list[float]]:
        room_mm, depth_mm = size[0] - 2 * MARGIN_MM, size[1] - 2 * MARGIN_MM - STRIP_MM
        return _seams(left, right, room_mm, along), _seams(-far, -near, depth_mm, down)

    size = min((paper_mm(paper), paper_mm(paper)[::-1]), key=lambda each: math.prod(map(len, seams(each))))
    across, downwards = seams(size)
    columns, rows = len(across) - 1, len(downwards) - 1
    pages = []
    for row, (top, bottom) in enumerate(pairwise(downwards)):
        for column, (start, end) in enumerate(pairwise(across)):
            number = row * columns + column + 1
            window = Rectangle(start, -bottom, end - start, bottom - top)
            beside = number + 1 if column + 1 < columns else None
            below = number + columns if row + 1 < rows else None
            words = (
                f"{title}, part {number} of {rows * columns}: {_WHERE[row > 0, row + 1 == rows]}, "
                f"{_SIDE[column > 0, column + 1 == columns]}",
                "Cut along the outer line. Print at 100 %.",
                "Glue the other parts onto the grey strips." if beside or below else "",
            )
            pages.append(_page(drawing, window, size, words, right=beside, below=below))
    return tuple(pages)


_WHERE = {(False, False): "far", (True, False): "middle", (True, True): "near", (False, True): "whole"}
_SIDE = {(False, False): "left", (True, False): "middle", (True, True): "right", (False, True): "whole"}
"""Names of a page's row and column, by whether there is one before, and whether it is the last."""


def _seams(start: float, end: float, room_mm: float, lines: Sequence[float]) -> list[float]:
    """Return where pages begin and end: as few as fit in the room, equal ones, or along lines near to that."""
    count = max(1, math.ceil((end - start - GLUE_MM) / (room_mm - GLUE_MM)))
    seams = [start]
    for number in range(1, count):
        equal = start + number * (end - start) / count
        left_over = (count - number) * (room_mm - GLUE_MM) + GLUE_MM
        fitting = [
            line
            for line in lines
            if line - seams[-1] <= room_mm - GLUE_MM and seams[-1] < line and end - line <= left_over
        ]
        seams.append(min(fitting, key=lambda line: abs(line - equal), default=equal))
    return [*seams, end]


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


def _page(
    drawing: _Drawing,
    window: Rectangle,
    size: tuple[float, float],
    words: tuple[str, ...],
    *,
    right: int | None,
    below: int | None,
) -> Page:
    """Return the page with the part of the drawing in ``window``, and strips on which other parts are glued."""
    foot_mm = MARGIN_MM + STRIP_MM + bool(below) * GLUE_MM
    by_x, by_y = MARGIN_MM - window.x_mm, foot_mm - window.y_mm
    cut = Rectangle(
        MARGIN_MM,
        foot_mm - bool(below) * GLUE_MM,
        window.width_mm + bool(right) * GLUE_MM,
        window.height_mm + bool(below) * GLUE_MM,
    )
    shapes = tuple(
        tuple(replace(part, x_mm=part.x_mm + by_x, y_mm=part.y_mm + by_y) for part in parts)
        for shape in drawing.shapes
        if (parts := [part for rectangle in shape if (part := _within(rectangle, window))])
    )
    figures = [
        Figure((corners_of(replace(part, x_mm=part.x_mm + by_x, y_mm=part.y_mm + by_y)),), colour)
        for area, colour in drawing.tints
        if colour != WHITE and (part := _within(area, window))
    ]
    edge_mm, glued = MARGIN_MM + window.width_mm, []
    if right:
        strip = Rectangle(edge_mm, cut.y_mm, GLUE_MM, cut.height_mm)
        figures.append(Figure((corners_of(strip),), (_STRIP_GREY,) * 3))
        words_at = (edge_mm + GLUE_MM / 2, foot_mm + window.height_mm / 2)
        glued += [
            Label(*words_at, "part", 7, centred=True),
            Label(words_at[0], words_at[1] - 5, str(right), 12, centred=True),
        ]
    if below:
        strip = Rectangle(MARGIN_MM, cut.y_mm, cut.width_mm, GLUE_MM)
        figures.append(Figure((corners_of(strip),), (_STRIP_GREY,) * 3))
        glued.append(Label(edge_mm / 2, cut.y_mm + 3, f"part {below} goes here", 9, centred=True))
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
    return Page(
        *size, shapes, (cut,), ruler(), (*labels, *glued, *strip_labels(words)), tuple(lines), figures=tuple(figures)
    )


_STRIP_GREY = 0.85


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
