"""The first page of a kit: a drawing of what goes where, and ten short instructions."""

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

from common.phrases import listed
from engine.api import Game
from engine.options import differing_options, read_options
from engine.support.looks import Look
from engine.values import OptionValue
from frontends.printing.kit.instead import instead_of_paper
from frontends.printing.pages import (
    MARGIN_MM,
    Contour,
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
from referee.judge.starts import usual_appearance
from vision.layout.kit import BLACK, RGB, WHITE, Kit
from vision.layout.pieces import BlockPieces, DiscPieces, GridSurface, Ink, PyramidPieces, Surface, Tray
from vision.layout.symbols import circle, star
from vision.layout.table import TableLayout

_TITLE_PT, _WORDS_PT, _SMALL_PT = 20.0, 10.0, 7.5
_PLAN_MM = 118.0
"""Height of the drawing of the table."""
_BESIDE_MM = 52.0
"""Width of the drawing of the camera, to the right of the instructions."""
_LINE_MM = 4.8
_NOTE_PT, _NOTE_LINE_MM = 8.5, 3.8
_PAPER_GREY: RGB = (0.96, 0.96, 0.94)
_GREY: RGB = (0.45, 0.45, 0.45)
_RIM_MM = 14.0
"""White paper around everything on the table, in its own millimetres."""
_SHEETS_APART_MM, _ABREAST = 20.0, 2
"""Sheets in a row of the drawing, and the room between them."""


def first_page(
    game: Game[Any, Any],
    kit: Kit,
    options: Mapping[str, OptionValue],
    paper: str,
    pages: int,
) -> Page:
    """Return the page that shows a kit's table and says how to make it; ``pages`` is the number of all pages."""
    from reportlab.lib.utils import simpleSplit

    width, height = paper_mm(paper)
    top = height - MARGIN_MM
    plan = _Plan(game, kit, options)
    figures, labels = plan.drawn(Rectangle(MARGIN_MM, top - 14 - _PLAN_MM, width - 2 * MARGIN_MM, _PLAN_MM))
    labels.append(Label(MARGIN_MM, top - 7, f"{game.title}: a kit of paper", _TITLE_PT, font="Helvetica-Bold"))
    foot = plan.bottom_mm
    y = foot - 9
    words_mm = width - 2 * MARGIN_MM - _BESIDE_MM - 8
    for number, line in enumerate(_instructions(game, kit, options, pages), 1):
        labels.append(Label(MARGIN_MM, y, f"{number}.", _WORDS_PT, font="Helvetica-Bold"))
        for part in simpleSplit(line, "Helvetica", _WORDS_PT, words_mm * 72 / 25.4):
            labels.append(Label(MARGIN_MM + 8, y, part, _WORDS_PT))
            y -= _LINE_MM
        y -= 1.2
    changed = differing_options(game.options, SimpleNamespace(**read_options(game.options, options)))
    # ``start`` asks for the number of players, and for no other option.
    begun = _WATCH if any(not one.startswith("players=") for one in changed) else _START
    command = begun.format(game=game.name) + "".join(f" --option {one}" for one in changed if begun is _WATCH)
    labels.append(Label(MARGIN_MM + 8, y, command, _WORDS_PT, font="Courier-Bold"))
    y = min(y - _LINE_MM, foot - 76) - 4
    labels.append(Label(MARGIN_MM, y, "Instead of paper pieces", _WORDS_PT, font="Helvetica-Bold"))
    for line in instead_of_paper(kit):
        for part in simpleSplit(line, "Helvetica", _NOTE_PT, (width - 2 * MARGIN_MM) * 72 / 25.4):
            y -= _NOTE_LINE_MM
            labels.append(Label(MARGIN_MM, y, part, _NOTE_PT))
        y -= 0.8
    beside = _camera(width - MARGIN_MM - _BESIDE_MM, foot - 62, kit.tilts_deg)
    words = (f"{game.title}, page 1 of {pages}", "Print at 100 %, not fitted to the page.")
    return Page(
        width,
        height,
        ruler=ruler(),
        labels=(*labels, *beside[1], *strip_labels(words)),
        figures=(*figures, *beside[0]),
    )


_START, _WATCH = "./run start {game}", "./run watch --game {game} --layout kit"
_COMMON = (
    "Print all {pages} pages at 100 %. The ruler at the foot of each must be 100 mm long.",
    "Matt paper is best, 120 to 200 g. {printer}",
)
_ANY_PRINTER = "Plain paper and a black-and-white printer will do."
_BOARD = (
    "Cut out the parts of the board. Glue each part onto the grey strip of the one before.",
    "Lay the board flat and tape its corners down. {first} sits at the side with the letters.",
)
_OF_PIECES: Mapping[type, tuple[str, ...]] = {
    BlockPieces: (
        "Cut out the nets along the whole lines.",
        "Score the dashed lines with an empty pen along a ruler. Fold them away from you.",
        "Glue the tabs inside: first those beside the strip, the last one at its end.",
    ),
    DiscPieces: (
        "Cut out the discs. Glued onto card or coins, they are easier to move.",
        "Crumple the two orange squares into tight balls, 14 mm wide.",
        "A piece with the ball carries it on top. Press the ball a little flat below, so that it stays.",
    ),
    PyramidPieces: (
        "Cut out the nets and score the dashed lines with an empty pen. Fold them away from you.",
        "Glue the one tab inside and fold the tip flat. The dice are nets with seven tabs.",
        "Push a crumpled bit of tissue, as large as a pea, into each medium and small one: stacks then rise.",
    ),
    Ink: (
        "Cut each sheet along its outer line. The white around the markers belongs to it.",
        "Cut out the dice, score and fold the dashed lines away from you, and glue the tabs inside.",
        "Lay the sheets flat, all the same way up. Throw the dice to the right of the first.",
    ),
}
_TILES = "Cut out the tiles, fold each in the middle and glue it back to back."
_CAMERA = (
    "Put the camera {where}. All markers must be in its picture.",
    "Light comes from the side or from several lamps. Sunlight, or a lamp beside the camera, causes glare.",
)


def _instructions(game: Game[Any, Any], kit: Kit, options: Mapping[str, OptionValue], pages: int) -> list[str]:
    pieces = kit.layout.board.pieces
    printer = "Print in colour. Cutting takes an evening." if isinstance(pieces, PyramidPieces) else _ANY_PRINTER
    lines = [line.format(pages=pages, printer=printer) for line in _COMMON]
    of_pieces = next(words for kind, words in _OF_PIECES.items() if isinstance(pieces, kind))
    if game.printed_sheet is not None:
        lines += [*of_pieces[:2], *([_TILES] if game.printed_sheet(options).tiles else ()), *of_pieces[2:]]
    else:
        first = game.players[0].capitalize()
        lines += [_BOARD[0], *of_pieces, _BOARD[1].format(first=first)]
    where = "60 to 90 cm above the table"
    where += ", at a slant, so that it sees a side of each piece" if kit.tilts_deg else ", looking down"
    lines += [line.format(where=where) for line in _CAMERA]
    set_up = "Set the pieces up as drawn."
    if isinstance(pieces, PyramidPieces):
        set_up += " Each corner has five medium ones on a clear one. Black ones wait at the left."
    if isinstance(pieces, Ink):
        set_up = f"Take {listed(pieces.colours)} felt pens." if pieces.colours else "Each writes with a dark pen."
    return [*lines, f"{set_up} Then go on with the page that gave you this kit, or type:"]


class _Plan:
    """The table seen from above."""

    def __init__(self, game: Game[Any, Any], kit: Kit, options: Mapping[str, OptionValue]) -> None:
        self._game, self._kit, self._layout = game, kit, kit.layout
        self.bottom_mm = 0.0
        self._start = usual_appearance(game, options)
        self._figures: list[Figure] = []
        self._labels: list[Label] = []
        self._scale, self._x, self._y = 1.0, 0.0, 0.0

    def drawn(self, room: Rectangle) -> tuple[list[Figure], list[Label]]:
        """Draw the table into a part of a page."""
        parts = self._layout.parts()
        rows = [parts[first : first + _ABREAST] for first in range(0, len(parts), _ABREAST)]
        extents = [_around_all([_extent(part) for part in row], 0.0) for row in rows]
        lefts = [[0.0, *accumulate(_extent(part).width_mm + _SHEETS_APART_MM for part in row)] for row in rows]
        width = max(each[-1] for each in lefts) - _SHEETS_APART_MM
        depth = sum(one.height_mm + _SHEETS_APART_MM for one in extents) - _SHEETS_APART_MM
        self._scale = min(room.width_mm / width, (room.height_mm - 5) / depth)
        corner_mm = room.x_mm + (room.width_mm - width * self._scale) / 2
        top_mm = room.y_mm + room.height_mm
        for row, extent, left in zip(rows, extents, lefts, strict=True):
            for part, beside_mm in zip(row, left, strict=False):
                self._x = corner_mm + (beside_mm - _extent(part).x_mm) * self._scale
                self._y = top_mm - (extent.y_mm + extent.height_mm) * self._scale
                self._part(part)
            top_mm -= (extent.height_mm + _SHEETS_APART_MM) * self._scale
        self.bottom_mm = top_mm + _SHEETS_APART_MM * self._scale - 5
        if not self._game.has_sheets:
            middle, first = room.x_mm + room.width_mm / 2, self._game.players[0]
            self._labels.append(Label(middle, self.bottom_mm, f"{first} sits here", _SMALL_PT, centred=True))
        return self._figures, self._labels

    def _figure(
        self, contours: Sequence[Contour], fill: RGB | None, stroke: RGB | None = None, width: float = 0.2
    ) -> None:
        placed = tuple(
            tuple((self._x + self._scale * x, self._y + self._scale * y) for x, y in one) for one in contours
        )
        self._figures.append(Figure(placed, fill, stroke, width))

    def _part(self, part: TableLayout) -> None:
        self._figure((corners_of(_paper(part)),), _PAPER_GREY, _GREY)
        for surface in part.surfaces:
            if isinstance(surface, Tray):
                self._figure((corners_of(_bounds(surface)),), None, _GREY)
                x, y = _bounds(surface).x_mm, _bounds(surface).y_mm + _bounds(surface).height_mm / 2
                middle = self._x + self._scale * (x + _bounds(surface).width_mm / 2)
                self._labels.append(Label(middle, self._y + self._scale * y, "dice", _SMALL_PT, centred=True))
            else:
                self._grid(surface)
        markers = part.markers
        for number, (x, y) in markers.centres_mm.items():
            half = markers.side_mm / 2
            shape = marker_shape(markers.dictionary, number, x - half, y - half, markers.side_mm)
            for row in shape:
                self._figure((corners_of(row),), BLACK)

    def _grid(self, board: GridSurface) -> None:
        for area, colour in self._kit.ground if not isinstance(board.pieces, Ink) else ():
            self._figure((corners_of(rectangle_of(area)),), colour)
        for place in board.places:
            self._figure((tuple(map(tuple, board.outline_mm(place).tolist())),), None, _GREY, 0.15)
        for place in board.printed:
            x, y = board.centre_mm(place)
            self._figure((tuple((x + board.cell_mm * u, y + board.cell_mm * v) for u, v in star()),), _GREY)
        for place in board.places:
            x, y = board.centre_mm(place)
            look = Look.parse(self._start.get(place, "empty"))
            if look is not None:
                self._piece(board, look, x, y)
        if isinstance(board.pieces, Ink):
            x, y = self._x, self._y + self._scale * (board.bounds_mm.far_mm + 3)
            self._labels.append(Label(x, y, board.name, _SMALL_PT, centred=True))

    def _piece(self, board: GridSurface, look: Look, x: float, y: float) -> None:
        pieces, colour = board.pieces, self._kit.colours[look.colour]
        if isinstance(pieces, DiscPieces):
            self._figure((_ring(x, y, pieces.diameter_mm),), colour, _GREY)
            if look.shape.endswith("with ball"):
                self._figure((_ring(x, y, pieces.ball_mm),), self._kit.colours["ball"], WHITE)
        elif isinstance(pieces, BlockPieces):
            self._figure((_around(x, y, pieces.side_mm),), colour, BLACK)
        elif isinstance(pieces, PyramidPieces):
            # at the start a small stands on a large of its colour, and mediums on a clear one
            below = colour if look.shape == "small" else WHITE
            for size, fill in (("L", below), (look.shape[0].upper(), colour)):
                base = _around(x, y, pieces.sizes[size].base_mm)
                self._figure((base,), fill, BLACK)
                self._figure((base[::2],), None, BLACK, 0.1)
                self._figure((base[1::2],), None, BLACK, 0.1)


def _around(x: float, y: float, side: float) -> Contour:
    return corners_of(Rectangle(x - side / 2, y - side / 2, side, side))


def _ring(x: float, y: float, diameter: float) -> Contour:
    return tuple((x + diameter * u, y + diameter * v) for u, v in circle(0.5))


def _bounds(surface: Surface) -> Rectangle:
    return rectangle_of(surface.bounds_mm)


def _around_all(areas: Sequence[Rectangle], rim: float) -> Rectangle:
    left, low = min(one.x_mm for one in areas), min(one.y_mm for one in areas)
    right, high = max(one.x_mm + one.width_mm for one in areas), max(one.y_mm + one.height_mm for one in areas)
    return Rectangle(left - rim, low - rim, right - left + 2 * rim, high - low + 2 * rim)


def _paper(part: TableLayout) -> Rectangle:
    """Return the paper of a board or sheet: a sheet's own size, or what its markers and surfaces need."""
    size = part.surfaces[0].pieces.size_mm if isinstance(part.surfaces[0].pieces, Ink) else None
    if size is not None:
        return Rectangle(-size[0] / 2, -size[1] / 2, *size)
    side = part.markers.side_mm
    markers = [Rectangle(x - side / 2, y - side / 2, side, side) for x, y in part.markers.centres_mm.values()]
    return _around_all([*markers, *map(_bounds, part.surfaces)], _RIM_MM)


def _extent(part: TableLayout) -> Rectangle:
    return _around_all([_paper(part), *map(_bounds, part.surfaces)], 0.0)


def _camera(x: float, y: float, tilts_deg: tuple[int, int] | None) -> tuple[list[Figure], list[Label]]:
    """Return a drawing of the camera above the table, seen from the side, 50 mm wide and high."""
    eye = (x + (10 if tilts_deg else 25), y + 46)
    board = ((x + 9, y + 8), (x + 41, y + 8))
    angle = math.atan2(y + 8 - eye[1], x + 25 - eye[0])
    along, out = (math.sin(angle), -math.cos(angle)), (math.cos(angle), math.sin(angle))
    phone = tuple(
        (eye[0] + 8 * a * along[0] - 2 * b * out[0], eye[1] + 8 * a * along[1] - 2 * b * out[1])
        for a, b in ((-1, 0), (1, 0), (1, 1), (-1, 1))
    )
    figures = [
        Figure((((x, y + 6), (x + 50, y + 6)),), None, BLACK, 0.6),
        Figure((((x + 4, y + 6), (x + 4, y - 4)),), None, BLACK, 0.6),
        Figure((((x + 46, y + 6), (x + 46, y - 4)),), None, BLACK, 0.6),
        Figure((board,), None, BLACK, 1.2),
        *(Figure(((eye, end),), None, _GREY, 0.2, 1.0) for end in board),
        Figure((phone,), BLACK),
    ]
    said = ("camera, 60 to 90 cm", "{}° to {}° from straight down".format(*tilts_deg) if tilts_deg else "straight down")
    left = x + (20 if tilts_deg else 5)
    labels = [
        Label(left if tilts_deg else x + 25, y + 54 - 4 * row, text, _SMALL_PT, centred=not tilts_deg)
        for row, text in enumerate(said)
    ]
    return figures, labels
