"""Sheets to print, true to scale: markers, the board to calibrate a camera with, a game's board, and players' sheets.

A sheet is first planned as plain values in millimetres, then drawn as a PDF of vectors, so that no printer has to
scale a bitmap. A board is larger than a sheet of paper, so it is split into pages that are glued together along thin
lines. Of a player's sheet, the layout defines the markers and the grid, the game everything else. Its boxes are placed
beside and below the grid, clear of the markers.
"""

import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cv2
import numpy as np

from common.durable import write_durably
from common.phrases import Phrase, joined
from engine.printing import Box, BoxGroup, PrintedSheet
from referee.errors import PrintError
from vision.calibration import CharucoBoardSpec, format_board
from vision.geometry import Rectangle as Area
from vision.layout.pieces import GridSurface, MarkerLayout, Tray
from vision.layout.table import TableLayout
from vision.opencv import aruco_dictionary

PAPERS_MM: Mapping[str, tuple[float, float]] = MappingProxyType({"a4": (210.0, 297.0), "letter": (215.9, 279.4)})
"""Papers by name: width and height in millimetres, upright."""

RULER_MM = 100
MARGIN_MM = 10.0
RULER_HEIGHT_MM = 30.0
_HEADING_HEIGHT_MM = 26.0
_LABEL_HEIGHT_MM = 6.0
"""Measures of every page: its ruler, its white margin (most printers need 5 mm), and room for its words."""
_MAP_MM = (42.0, 20.0)
"""The room for the drawing of where the markers lie: its width and height."""
_MAP_INSIDE = 0.72
"""The size of the surface in that drawing, as a share of the distance between the markers."""
_LABEL_WIDTH_MM = 50.0
_GAP_MM = 4.0
MM_PER_POINT = 25.4 / 72
_SHADE = 0.75
"""Lightness of shaded areas, from 0 to 1: light enough to be crossed off with any pen."""

INSTRUCTIONS = (
    "Print at 100 % (no fit to page), on matt paper. Measure the ruler: it must be exactly 100 mm long.",
    "If it is not, set the printer's scale and print again.",
)


@dataclass(frozen=True)
class Rectangle:
    """A rectangle on a page: its lower left corner and size, in millimetres from the page's lower left corner."""

    x_mm: float
    y_mm: float
    width_mm: float
    height_mm: float


@dataclass(frozen=True)
class DrawnLine:
    """A line on a page, from one point to another, in millimetres; its colour is red, green, blue from 0 to 1."""

    start_mm: tuple[float, float]
    end_mm: tuple[float, float]
    width_mm: float = 0.1
    colour: tuple[float, float, float] = (0.0, 0.0, 0.0)


Point = tuple[float, float]
"""A point in millimetres, x to the right and y up."""
Contour = tuple[Point, ...]
"""The corners of a polygon."""


@dataclass(frozen=True)
class Figure:
    """Polygons on a page, in millimetres, filled at once: where an even number of them lie, nothing is filled.

    ``fill`` and ``stroke`` are red, green, blue from 0 to 1, or ``None``. ``dash_mm`` is the length of dashes and of
    the gaps between them, 0 for whole lines.
    """

    contours: tuple[Contour, ...]
    fill: tuple[float, float, float] | None = None
    stroke: tuple[float, float, float] | None = None
    width_mm: float = 0.2
    dash_mm: float = 0.0


@dataclass(frozen=True)
class Label:
    """A text on a page, from its baseline's left end (its middle if ``centred``) in mm; its size is in points.

    ``font`` is one of the fonts that every reader of PDF files has; ``grey`` is the lightness, 0 for black.
    """

    x_mm: float
    y_mm: float
    text: str
    size_pt: float = 9.0
    centred: bool = False
    font: str = "Helvetica"
    grey: float = 0.0


@dataclass(frozen=True)
class Page:
    """One page: figures, over them black shapes (each a set of rectangles filled at once), cut lines, a ruler, texts.

    ``lines`` are printed to be written on, over the grey of ``shaded``.
    """

    width_mm: float
    height_mm: float
    shapes: tuple[tuple[Rectangle, ...], ...] = ()
    cuts: tuple[Rectangle, ...] = ()
    ruler: tuple[DrawnLine, ...] = ()
    labels: tuple[Label, ...] = ()
    lines: tuple[DrawnLine, ...] = ()
    shaded: tuple[Rectangle, ...] = ()
    figures: tuple[Figure, ...] = ()


def marker_shape(dictionary: str, marker_id: int, x_mm: float, y_mm: float, side_mm: float) -> tuple[Rectangle, ...]:
    """Return a marker's black modules, joined along rows; (x, y) is the lower left corner of its black square.

    Raises PrintError for an unknown dictionary or id.
    """
    modules = _marker_modules(dictionary, marker_id)
    count = len(modules)
    module_mm = side_mm / count
    rectangles = []
    for row, cells in enumerate(modules):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], cells, [0]])))
        for start, end in zip(edges[::2], edges[1::2], strict=True):
            rectangles.append(
                Rectangle(
                    x_mm + float(start) * module_mm,
                    y_mm + (count - 1 - row) * module_mm,
                    float(end - start) * module_mm,
                    module_mm,
                )
            )
    return tuple(rectangles)


def _marker_modules(dictionary: str, marker_id: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
    """Return a marker's modules with its black border, 1 for black, top row first."""
    try:
        family = aruco_dictionary(dictionary)
    except ValueError as error:
        raise PrintError(str(error)) from error
    known = len(family.bytesList)
    if not 0 <= marker_id < known:
        raise PrintError("{dictionary} has no marker {marker_id}; it has 0 to {last}", dictionary, marker_id, known - 1)
    count = family.markerSize + 2
    image = cv2.aruco.generateImageMarker(family, marker_id, count)
    return np.asarray(np.asarray(image).reshape(count, count) < 128, dtype=np.int8)


def check_has_markers(markers: MarkerLayout) -> None:
    """Raise PrintError for a layout without markers."""
    if not markers.centres_mm:
        raise PrintError(
            'the layout has no markers to print; name some in it instead of "markers": "none", or use the layout that '
            "comes with the game"
        )


def plan_markers(markers: MarkerLayout, paper: str, surface: str = "board") -> tuple[Page, ...]:
    """Plan the pages with a surface's markers, each with a white border of one module, a cut line and its number.

    Raises PrintError when there is no marker, or one does not fit on the paper.
    """
    check_has_markers(markers)
    width, height = paper_mm(paper)
    border = markers.side_mm / len(_marker_modules(markers.dictionary, min(markers.centres_mm)))
    card = markers.side_mm + 2 * border
    pitch = max(card, _LABEL_WIDTH_MM) + _GAP_MM
    across = max(int((width - 2 * MARGIN_MM + _GAP_MM) // pitch), int(card <= width - 2 * MARGIN_MM))
    room_below_heading = height - 2 * MARGIN_MM - _HEADING_HEIGHT_MM - RULER_HEIGHT_MM
    down = int((room_below_heading + _GAP_MM) // (card + _LABEL_HEIGHT_MM + _GAP_MM))
    if across < 1 or down < 1:
        raise PrintError(
            "a marker of {side_mm} mm with its border needs {card} mm; {paper} has {width_mm} x {height_mm} "
            "mm for it. Make markers.side smaller",
            f"{markers.side_mm:g}",
            f"{card:.1f}",
            paper,
            f"{width - 2 * MARGIN_MM:.1f}",
            f"{room_below_heading - _LABEL_HEIGHT_MM:.1f}",
        )
    origin = (
        Phrase("the board's centre")
        if surface == "board"
        else Phrase("the point of the {surface} where x and y are 0", surface)
    )
    ids = sorted(markers.centres_mm)
    per_page = across * down
    pages = []
    for first in range(0, len(ids), per_page):
        shapes, cuts, labels = [], [], []
        for position, marker_id in enumerate(ids[first : first + per_page]):
            left = MARGIN_MM + (position % across) * pitch
            top = height - MARGIN_MM - _HEADING_HEIGHT_MM - (position // across) * (card + _LABEL_HEIGHT_MM + _GAP_MM)
            bottom = top - card
            shapes.append(marker_shape(markers.dictionary, marker_id, left + border, bottom + border, markers.side_mm))
            cuts.append(Rectangle(left, bottom, card, card))
            x, y = markers.centres_mm[marker_id]
            labels.append(Label(left, bottom - 4, f"marker {marker_id}: centre at x {x:g}, y {y:g} mm", 7))
        heading = (
            f"Table markers for the {surface}, {markers.dictionary}, black square {markers.side_mm:g} mm",
            *INSTRUCTIONS,
            "Cut along the thin lines (keep the white border). Each marker's upper edge here points away from the "
            "first player.",
            f"Glue them flat, centres where the layout says, measured from {origin}.",
        )
        lines, numbers = _places_of(markers, width, surface)
        pages.append(
            Page(
                width,
                height,
                tuple(shapes),
                tuple(cuts),
                ruler(),
                (*_heading(heading, height), *labels, *ruler_labels(), *numbers),
                lines,
            )
        )
    return tuple(pages)


def _places_of(
    markers: MarkerLayout, page_width_mm: float, surface: str
) -> tuple[tuple[DrawnLine, ...], tuple[Label, ...]]:
    """Return a small drawing beside the ruler: which marker lies where, as the first player sees it."""
    room = Rectangle(page_width_mm - MARGIN_MM - _MAP_MM[0], MARGIN_MM + 7, *_MAP_MM)
    far_x, far_y = (max(1.0, *(abs(centre[axis]) for centre in markers.centres_mm.values())) for axis in (0, 1))
    scale = min(room.width_mm / 2 / far_x, room.height_mm / 2 / far_y)
    x_mm, y_mm = room.x_mm + room.width_mm / 2, room.y_mm + room.height_mm / 2
    left, right = (x_mm + side * _MAP_INSIDE * far_x * scale for side in (-1, 1))
    low, high = (y_mm + side * _MAP_INSIDE * far_y * scale for side in (-1, 1))
    corners = ((left, low), (right, low), (right, high), (left, high))
    lines = tuple(DrawnLine(start, end, 0.3) for start, end in zip(corners, (*corners[1:], corners[0]), strict=True))
    labels = [
        Label(x_mm + x * scale, y_mm + y * scale - 1, str(number), 9, centred=True)
        for number, (x, y) in sorted(markers.centres_mm.items())
    ]
    named = (
        Label(x_mm, y_mm - 1, surface, 8, centred=True),
        Label(x_mm, MARGIN_MM + 2, "first player", 8, centred=True),
    )
    return lines, (*labels, *named)


def plan_charuco(board: CharucoBoardSpec, paper: str) -> Page:
    """Plan the page with a calibration board, on the paper upright or sideways, whichever fits.

    Squares and markers are arranged as in ``cv2.aruco.CharucoBoard``: the first square black, markers numbered along
    the rows. Raises PrintError when the board does not fit.
    """
    board_width, board_height = board.columns * board.square_mm, board.rows * board.square_mm
    for width, height in (paper_mm(paper), paper_mm(paper)[::-1]):
        room = (width - 2 * MARGIN_MM, height - 2 * MARGIN_MM - RULER_HEIGHT_MM)
        if board_width <= room[0] and board_height <= room[1]:
            break
    else:
        raise PrintError(
            "the board {format_board} is {board_width} x {board_height} mm, which does not fit on "
            "{paper} with its ruler; use fewer or smaller squares",
            format_board(board),
            f"{board_width:g}",
            f"{board_height:g}",
            paper,
        )
    left, top = (width - board_width) / 2, height - MARGIN_MM
    inset = (board.square_mm - board.marker_mm) / 2
    shapes: list[tuple[Rectangle, ...]] = []
    marker_id = 0
    for row in range(board.rows):
        for column in range(board.columns):
            x, y = left + column * board.square_mm, top - (row + 1) * board.square_mm
            if (row + column) % 2 == 0:
                shapes.append((Rectangle(x, y, board.square_mm, board.square_mm),))
            else:
                shapes.append(marker_shape(board.dictionary, marker_id, x + inset, y + inset, board.marker_mm))
                marker_id += 1
    heading = (f"Calibration board {format_board(board)}. {INSTRUCTIONS[0]}", "Glue it to something flat and stiff.")
    return Page(width, height, tuple(shapes), (), ruler(), ruler_labels(heading))


def paper_mm(name: str) -> tuple[float, float]:
    """Return the width and height of a paper; raises PrintError for one that is not in PAPERS_MM."""
    if name not in PAPERS_MM:
        raise PrintError("no paper {name!r}; expected one of {names}", name, joined(PAPERS_MM, ", "))
    return PAPERS_MM[name]


def _heading(lines: Sequence[str], height_mm: float) -> tuple[Label, ...]:
    return tuple(
        Label(MARGIN_MM, height_mm - MARGIN_MM - 4 - 4.5 * row, text, 11 if row == 0 else 8)
        for row, text in enumerate(lines)
    )


def ruler() -> tuple[DrawnLine, ...]:
    """Return the ruler at the lower left of a page: ``RULER_MM`` long, with a stroke at each millimetre."""
    base = MARGIN_MM + 6
    lines = [DrawnLine((MARGIN_MM, base), (MARGIN_MM + RULER_MM, base))]
    for millimetre in range(RULER_MM + 1):
        length = 5.0 if millimetre % 10 == 0 else 3.5 if millimetre % 5 == 0 else 2.0
        x = MARGIN_MM + millimetre
        lines.append(DrawnLine((x, base), (x, base + length)))
    return tuple(lines)


def ruler_labels(words: Sequence[str] = ()) -> tuple[Label, ...]:
    """Return lines of words above the ruler, and the label below it."""
    above = (Label(MARGIN_MM, MARGIN_MM + 19 - 4 * row, text, 8) for row, text in enumerate(words))
    below = f"This ruler is {RULER_MM} mm long, with a stroke every millimetre."
    return (*above, Label(MARGIN_MM, MARGIN_MM + 2, below, 8))


def write_pdf(pages: Sequence[Page], path: Path, *, title: str) -> None:
    """Draw pages as a PDF; the same pages give the same bytes. Raises OSError when the file cannot be written."""
    from reportlab.pdfgen.canvas import Canvas

    canvas = Canvas(io.BytesIO(), invariant=1, pageCompression=0)
    canvas.setTitle(title)
    canvas.setCreator("Tabletop Referee")
    for page in pages:
        canvas.setPageSize((_points(page.width_mm), _points(page.height_mm)))
        canvas.setFillGray(_SHADE)
        for rectangle in page.shaded:
            canvas.rect(*map(_points, astuple(rectangle)), stroke=0, fill=1)
        for figure in page.figures:
            _draw_figure(canvas, figure)
        canvas.setDash()
        canvas.setFillGray(0)
        for shape in page.shapes:
            # one path per shape: rectangles filled one by one show hairlines where they meet
            outline = canvas.beginPath()
            for rectangle in shape:
                outline.rect(*map(_points, astuple(rectangle)))
            canvas.drawPath(outline, stroke=0, fill=1)
        canvas.setLineWidth(0.3)
        canvas.setStrokeGray(0.6)
        for rectangle in page.cuts:
            canvas.rect(*map(_points, astuple(rectangle)), stroke=1, fill=0)
        for line in page.ruler + page.lines:
            canvas.setLineWidth(_points(line.width_mm))
            canvas.setStrokeColorRGB(*line.colour)
            canvas.line(*map(_points, (*line.start_mm, *line.end_mm)))
        for label in page.labels:
            canvas.setFont(label.font, label.size_pt)
            canvas.setFillGray(label.grey)
            draw = canvas.drawCentredString if label.centred else canvas.drawString
            draw(_points(label.x_mm), _points(label.y_mm), label.text)
        canvas.showPage()
    write_durably(path, canvas.getpdfdata())


def _draw_figure(canvas: Any, figure: Figure) -> None:
    canvas.setLineWidth(_points(figure.width_mm))
    canvas.setLineJoin(1)
    canvas.setDash(*([[_points(figure.dash_mm)] * 2] if figure.dash_mm else []))
    if figure.fill is not None:
        canvas.setFillColorRGB(*figure.fill)
    if figure.stroke is not None:
        canvas.setStrokeColorRGB(*figure.stroke)
    outline = canvas.beginPath()
    for first, *others in figure.contours:
        outline.moveTo(*map(_points, first))
        for corner in others:
            outline.lineTo(*map(_points, corner))
        if len(others) > 1:
            outline.close()
    # fill mode 0 is the even-odd rule
    canvas.drawPath(outline, stroke=figure.stroke is not None, fill=figure.fill is not None, fillMode=0)


def _points(length_mm: float) -> float:
    return length_mm / MM_PER_POINT


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


STRIP_MM = 16.0
"""Height of the strip at the foot of a page with its ruler and, to the right of it, a few lines of words."""
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


def rectangle_of(area: Area) -> Rectangle:
    """Return an area of the table as a rectangle on a page."""
    return Rectangle(area.left_mm, area.near_mm, area.width_mm, area.depth_mm)


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


def corners_of(rectangle: Rectangle) -> Contour:
    """Return a rectangle's corners, anticlockwise from the lower left one."""
    left, low = rectangle.x_mm, rectangle.y_mm
    right, high = left + rectangle.width_mm, low + rectangle.height_mm
    return ((left, low), (right, low), (right, high), (left, high))


def strip_labels(words: Sequence[str]) -> tuple[Label, ...]:
    """Return the ruler's label, and up to three lines of words to the right of the ruler."""
    beside = (
        Label(MARGIN_MM + RULER_MM + 6, MARGIN_MM + 9.5 - 4 * row, text, 8) for row, text in enumerate(words) if text
    )
    return (*ruler_labels(), *beside)


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


_MODULES = 6
"""Modules per side of a marker with four bits a side, including its border."""
_EDGE_MODULES = 2
"""White margin between a marker and the cut line, in modules: with less, a dark table would hide the marker."""
_APART_MM = 2.0
_EDGE_MM = 1.0
"""Distance of the boxes on the left from the cut line."""
_NUMBERS_MM = 4.0
"""Room for the lines' numbers, between those boxes and the grid."""
_NAME_PT = 5.0
"""Size of the columns' letters and the lines' numbers."""
_NUMBER_MM = 2.8
"""Distance of the numbers' middle from the grid: two digits stay 1.8 mm clear of it, beyond a cell's own picture."""
_LETTERS_MM = 2.0
"""Distance of the letters' baseline from the half cell around the grid, in which the reader looks for ink."""
_BOX_MM = 7.5
_SHAPE_BOX_MM = 12.0
_SHAPE_SQUARE_MM = 2.2
_BETWEEN_MM = 1.0
_TITLE_MM = 4.0
_LINE_BOX_MM = 9.0
_CELL_LINE_MM = 0.3
_GREY = (0.45, 0.45, 0.45)
_NAME_GREY = 0.5
_RED = (0.85, 0.1, 0.1)
"""Sides of the boxes, room between and above them, and lines: to be written in with any pen."""
_TEXT_DROP = 0.12
"""Distance of a text's baseline below a box's centre, in millimetres per point of its size."""


@dataclass(frozen=True)
class _Strip:
    """An area beside the grid: left, top, width and height."""

    left_mm: float
    top_mm: float
    width_mm: float
    height_mm: float


class _SheetDrawing:
    """What is drawn on one page, relative to the centre of the sheet's grid."""

    def __init__(self, x_mm: float, y_mm: float) -> None:
        self._x_mm, self._y_mm = x_mm, y_mm
        self.lines: list[DrawnLine] = []
        self.labels: list[Label] = []
        self.shaded: list[Rectangle] = []

    def line(
        self, start: tuple[float, float], end: tuple[float, float], width_mm: float, colour: tuple[float, float, float]
    ) -> None:
        self.lines.append(DrawnLine(self.at(*start), self.at(*end), width_mm, colour))

    def box(self, left: float, bottom: float, width: float, height: float, *, shaded: bool = False) -> None:
        if shaded:
            self.shaded.append(Rectangle(*self.at(left, bottom), width, height))
        corners = ((left, bottom), (left + width, bottom), (left + width, bottom + height), (left, bottom + height))
        for start, end in zip(corners, (*corners[1:], corners[0]), strict=True):
            self.line(start, end, _CELL_LINE_MM, _GREY)

    def words(self, x: float, y: float, text: str, size_pt: float, *, centred: bool = False, grey: float = 0.0) -> None:
        self.labels.append(Label(*self.at(x, y), text, size_pt, centred, grey=grey))

    def at(self, x: float, y: float) -> tuple[float, float]:
        return self._x_mm + x, self._y_mm + y


def plan_sheets(title: str, printed: PrintedSheet, layout: TableLayout, paper: str) -> tuple[Page, ...]:
    """Plan a page for each player's sheet of a table.

    Raises PrintError for sheets without markers, where one does not fit on the paper, or its boxes not on the sheet.
    """
    parts = layout.parts()
    sheets = [part.surfaces[0] for part in parts]
    return tuple(
        _sheet_page(f"{title}, {sheet.name}", printed, sheet, part, paper)
        for sheet, part in zip(sheets, parts, strict=True)
        if isinstance(sheet, GridSurface)
    )


def _sheet_page(title: str, printed: PrintedSheet, grid: GridSurface, part: TableLayout, paper: str) -> Page:
    markers = part.markers
    check_has_markers(markers)
    border = math.ceil(_EDGE_MODULES * markers.side_mm / _MODULES)
    far_x, far_y = (max(abs(centre[axis]) for centre in markers.centres_mm.values()) for axis in (0, 1))
    half_width, half_height = (far + markers.side_mm / 2 + border for far in (far_x, far_y))
    width, height = paper_mm(paper)
    margin = min(MARGIN_MM, (width - 2 * half_width) / 2)
    if margin < 0 or height - margin - 2 * half_height < MARGIN_MM + RULER_HEIGHT_MM:
        raise PrintError(
            "the sheet is {part} x {part_2} mm, which does not fit on {paper} with its ruler ({width} "
            "x {height} mm); move the layout's markers nearer to the grid",
            f"{2 * half_width:g}",
            f"{2 * half_height:g}",
            paper,
            f"{width:g}",
            f"{height:g}",
        )
    middle = (width / 2, height - margin - half_height)
    drawing = _SheetDrawing(*middle)
    _draw_cells(drawing, printed, grid)
    bounds = grid.bounds_mm
    clear = markers.side_mm / 2 + markers.side_mm / _MODULES
    beside = 2 * (far_y - clear)
    right = bounds.right_mm + _APART_MM + (_LINE_BOX_MM + _BETWEEN_MM if printed.line_boxes else 0.0)
    below = bounds.near_mm - grid.cell_mm / 2 - _LETTERS_MM
    strips = (
        _Strip(_EDGE_MM - half_width, beside / 2, bounds.left_mm + half_width - _EDGE_MM - _NUMBERS_MM, beside),
        _Strip(right, beside / 2, half_width - _APART_MM - right, beside),
        _Strip(clear - far_x, below, 2 * (far_x - clear), below + half_height),
    )
    _draw_boxes(drawing, printed.groups, strips)
    top = far_y
    drawing.words(clear - far_x, top + 1.5, title, 9)
    drawing.words(clear - far_x, top - 5.0, "Name", 9)
    drawing.line((clear - far_x + 11.0, top - 5.5), (far_x - clear, top - 5.5), _CELL_LINE_MM, _GREY)
    shapes = tuple(
        marker_shape(
            markers.dictionary,
            marker_id,
            *drawing.at(x - markers.side_mm / 2, y - markers.side_mm / 2),
            markers.side_mm,
        )
        for marker_id, (x, y) in sorted(markers.centres_mm.items())
    )
    cut = Rectangle(*drawing.at(-half_width, -half_height), 2 * half_width, 2 * half_height)
    labels = (*drawing.labels, *ruler_labels((INSTRUCTIONS[0], _CUT)))
    return Page(width, height, shapes, (cut,), ruler(), labels, tuple(drawing.lines), tuple(drawing.shaded))


_CUT = "Cut along the outer line: the white around the markers belongs to the sheet."


def _draw_cells(drawing: _SheetDrawing, printed: PrintedSheet, grid: GridSurface) -> None:
    bounds, cell = grid.bounds_mm, grid.cell_mm
    for place in printed.closed:
        x, y = grid.centre_mm(grid.prefix + place)
        drawing.box(x - cell / 2, y - cell / 2, cell, cell, shaded=True)
    for column in range(grid.columns + 1):
        x = bounds.left_mm + column * cell
        drawing.line((x, bounds.near_mm), (x, bounds.far_mm), _CELL_LINE_MM, _GREY)
    for row in range(grid.rows + 1):
        y = bounds.near_mm + row * cell
        drawing.line((bounds.left_mm, y), (bounds.right_mm, y), _CELL_LINE_MM, _GREY)
    for column in range(grid.columns):
        x, y = bounds.left_mm + (column + 0.5) * cell, bounds.near_mm - cell / 2 - _LETTERS_MM
        drawing.words(x, y, chr(ord("a") + column), _NAME_PT, centred=True, grey=_NAME_GREY)
    for row in range(grid.rows):
        x, y = bounds.left_mm - _NUMBER_MM, bounds.near_mm + (row + 0.5) * cell - _TEXT_DROP * _NAME_PT
        drawing.words(x, y, str(row + 1), _NAME_PT, centred=True, grey=_NAME_GREY)
    if printed.red_line is not None:
        y = bounds.near_mm + printed.red_line * cell
        drawing.line((bounds.left_mm, y), (bounds.right_mm, y), 2 * _CELL_LINE_MM, _RED)
    side = min(_LINE_BOX_MM, cell - 2 * _BETWEEN_MM)
    for row, words in enumerate(printed.line_boxes):
        bottom = bounds.near_mm + (row + 0.5) * cell - side / 2
        _draw_box(drawing, Box(words), bounds.right_mm + _APART_MM, bottom, side)


def _draw_boxes(drawing: _SheetDrawing, groups: tuple[BoxGroup, ...], strips: tuple[_Strip, ...]) -> None:
    """Draw the groups from the top, each in the first strip with room for it."""
    used = [0.0] * len(strips)
    for group in groups:
        for number, strip in enumerate(strips):
            height = _height_of(group, strip)
            if used[number] + height <= strip.height_mm:
                _draw_group(drawing, group, strip, strip.top_mm - used[number])
                used[number] += height + _BETWEEN_MM
                break
        else:
            raise PrintError(
                "there is no room around the grid for the {boxes} boxes of {title!r}; move the layout's "
                "markers away from the grid, or have fewer boxes",
                len(group.boxes),
                group.title,
            )


def _side_of(group: BoxGroup) -> float:
    return _SHAPE_BOX_MM if any(box.shape for box in group.boxes) else _BOX_MM


def _across(group: BoxGroup, strip: _Strip) -> int:
    return int((strip.width_mm + _BETWEEN_MM) // (_side_of(group) + _BETWEEN_MM))


def _height_of(group: BoxGroup, strip: _Strip) -> float:
    across = _across(group, strip)
    if across < 1:
        return math.inf
    return _TITLE_MM + math.ceil(len(group.boxes) / across) * (_side_of(group) + _BETWEEN_MM)


def _draw_group(drawing: _SheetDrawing, group: BoxGroup, strip: _Strip, top: float) -> None:
    side, across = _side_of(group), _across(group, strip)
    drawing.words(strip.left_mm, top - 3.0, group.title, 7)
    for number, box in enumerate(group.boxes):
        down, right = divmod(number, across)
        left = strip.left_mm + right * (side + _BETWEEN_MM)
        _draw_box(drawing, box, left, top - _TITLE_MM - side - down * (side + _BETWEEN_MM), side)


def _draw_box(drawing: _SheetDrawing, box: Box, left: float, bottom: float, side: float) -> None:
    drawing.box(left, bottom, side, side)
    if not box.shape:
        size_pt = 9.0
        drawing.words(left + side / 2, bottom + side / 2 - _TEXT_DROP * size_pt, box.words, size_pt, centred=True)
        return
    lines = box.shape.split("/")
    for column, row in _squares(lines):
        x = left + side / 2 + (column - len(lines[0]) / 2) * _SHAPE_SQUARE_MM
        y = bottom + side / 2 + (len(lines) / 2 - 1 - row) * _SHAPE_SQUARE_MM
        drawing.box(x, y, _SHAPE_SQUARE_MM, _SHAPE_SQUARE_MM, shaded=True)


def _squares(lines: list[str]) -> Iterator[tuple[int, int]]:
    return ((column, row) for row, line in enumerate(lines) for column, mark in enumerate(line) if mark == "X")
