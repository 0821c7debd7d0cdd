"""Pages to print: plain values in millimetres, drawn as a PDF of vectors, so that no printer has to scale a bitmap."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cv2
import numpy as np

from common.durable import write_durably
from common.phrases import joined
from referee.errors import PrintError
from vision.geometry import Rectangle as Area
from vision.opencv import aruco_dictionary

PAPERS_MM: Mapping[str, tuple[float, float]] = MappingProxyType({"a4": (210.0, 297.0), "letter": (215.9, 279.4)})
"""Papers by name: width and height in millimetres, upright."""
RULER_MM = 100
MARGIN_MM = 10.0
RULER_HEIGHT_MM = 30.0
"""Measures of every page: its ruler, its white margin (most printers need 5 mm), and room for the ruler and words."""
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
    modules = marker_modules(dictionary, marker_id)
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


def marker_modules(dictionary: str, marker_id: int) -> np.ndarray[tuple[int, int], np.dtype[np.int8]]:
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


def paper_mm(name: str) -> tuple[float, float]:
    """Return the width and height of a paper; raises PrintError for one that is not in PAPERS_MM."""
    if name not in PAPERS_MM:
        raise PrintError("no paper {name!r}; expected one of {names}", name, joined(PAPERS_MM, ", "))
    return PAPERS_MM[name]


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


STRIP_MM = 16.0
"""Height of the strip at the foot of a page with its ruler and, to the right of it, a few lines of words."""


def rectangle_of(area: Area) -> Rectangle:
    """Return an area of the table as a rectangle on a page."""
    return Rectangle(area.left_mm, area.near_mm, area.width_mm, area.depth_mm)


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
