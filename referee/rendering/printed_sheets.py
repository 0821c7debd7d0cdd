"""Sheets to print, true to scale: the table's markers and the board to calibrate a camera with.

A sheet is first planned as plain values in millimetres, then drawn as a PDF of vectors, so that no printer has to
scale a bitmap.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from types import MappingProxyType

import cv2
import numpy as np

from common.durable import write_durably
from common.phrases import Phrase, joined
from referee.errors import PrintError
from vision.calibration import CharucoBoardSpec, format_board
from vision.layout.markers import MarkerLayout
from vision.opencv import aruco_dictionary

PAPERS_MM: Mapping[str, tuple[float, float]] = MappingProxyType({"a4": (210.0, 297.0), "letter": (215.9, 279.4)})
"""Papers by name: width and height in millimetres, upright."""

RULER_MM = 100
MARGIN_MM = 10.0
RULER_HEIGHT_MM = 30.0
_HEADING_HEIGHT_MM = 26.0
_LABEL_HEIGHT_MM = 6.0
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
    """One page: black shapes (each a set of rectangles filled at once), cut lines, a ruler, texts.

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
        raise PrintError("{dictionary} has no marker {marker_id}; it has 0 to {part}", dictionary, marker_id, known - 1)
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
            "a marker of {side_mm} mm with its border needs {card} mm; {paper} has {part} x {part_2} "
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


def _points(length_mm: float) -> float:
    return length_mm / MM_PER_POINT
