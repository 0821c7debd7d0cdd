"""Sheets to print, true to scale: markers, the board to calibrate a camera with, and players' sheets.

Of a player's sheet, the layout defines the markers and the grid, the game everything else. Its boxes are placed beside
and below the grid, clear of the markers.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, product

from common.phrases import Phrase
from engine.printing import Box, BoxGroup, PrintedSheet
from frontends.printing.pages import (
    INSTRUCTIONS,
    MARGIN_MM,
    RULER_HEIGHT_MM,
    DrawnLine,
    Label,
    Page,
    Rectangle,
    marker_modules,
    marker_shape,
    paper_mm,
    ruler,
    ruler_labels,
)
from referee.errors import PrintError
from vision.calibration import DICTIONARY, MARKER_MM, SQUARE_MM, SQUARES
from vision.layout.pieces import GridSurface, MarkerLayout
from vision.layout.table import TableLayout

_HEADING_HEIGHT_MM = 26.0
_LABEL_HEIGHT_MM = 6.0
"""Room for the words above the markers, and below each."""
_MAP_MM = (42.0, 20.0)
"""The room for the drawing of where the markers lie: its width and height."""
_MAP_INSIDE = 0.72
"""The size of the surface in that drawing, as a share of the distance between the markers."""
_LABEL_WIDTH_MM = 50.0
_GAP_MM = 4.0


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
    border = markers.side_mm / len(marker_modules(markers.dictionary, min(markers.centres_mm)))
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


def plan_charuco(paper: str) -> Page:
    """Plan the page with the calibration board, sideways.

    Squares and markers are arranged as in ``cv2.aruco.CharucoBoard``: the first square black, markers numbered along
    the rows. Raises PrintError for an unknown paper.
    """
    height, width = paper_mm(paper)
    columns, rows = SQUARES
    left, top = (width - columns * SQUARE_MM) / 2, height - MARGIN_MM
    inset = (SQUARE_MM - MARKER_MM) / 2
    shapes: list[tuple[Rectangle, ...]] = []
    marker_ids = count()
    for row, column in product(range(rows), range(columns)):
        x, y = left + column * SQUARE_MM, top - (row + 1) * SQUARE_MM
        if (row + column) % 2 == 0:
            shapes.append((Rectangle(x, y, SQUARE_MM, SQUARE_MM),))
        else:
            shapes.append(marker_shape(DICTIONARY, next(marker_ids), x + inset, y + inset, MARKER_MM))
    heading = (f"Calibration board. {INSTRUCTIONS[0]}", "Glue it to something flat and stiff.")
    return Page(width, height, tuple(shapes), (), ruler(), ruler_labels(heading))


def _heading(lines: Sequence[str], height_mm: float) -> tuple[Label, ...]:
    return tuple(
        Label(MARGIN_MM, height_mm - MARGIN_MM - 4 - 4.5 * row, text, 11 if row == 0 else 8)
        for row, text in enumerate(lines)
    )


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
