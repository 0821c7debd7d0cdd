"""Draws a player's paper sheet: the squares and what is written there, loops, and the boxes around the grid."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from common.grid import PlaceGrid, column_and_row
from engine.printing import CIRCLED, CROSSED, Box, MarkedSheet
from engine.support.looks import Look
from engine.values import EMPTY, Place
from referee.rendering.board_text import DrawnBoard, letter_of
from referee.web.drawing.boards import description_of, draw_lights, middles
from referee.web.drawing.pieces import SQUARE, colour_of, write_ink
from referee.web.drawing.svg import Element, add, ink_on, number, picture, shade, words

_LEFT, _TOP, _RIGHT, _BELOW = 60.0, 120.0, 40.0, 70.0
"""A sheet's margins around its squares, in drawing units. They hold the names of columns and rows."""
_LINE_BOX = 90.0
_BOX, _BOX_GAP, _GROUP_GAP, _TITLE = 66.0, 10.0, 34.0, 44.0
_UNIT = 13.0
"""The side of one square of a shape drawn in a box."""
_PAPER, _LINE, _PEN, _NAME = "#fdfaf0", "#8b8778", "#1c3f94", "#5c5848"
_TALL = 1.4
"""Sheets at least this many times as high as wide are laid side by side instead of one above the other."""
_LOOP_IN = 14.0
"""The distance from a loop to the outer edge of its squares."""
_CLOSED = "#6f6a5c"
_RED = "#c22222"


@dataclass(frozen=True)
class Heading:
    """A sheet's heading: the player's name, the points so far if the game has them, and whether they play next."""

    name: str
    score: int | None
    is_to_move: bool


def draw_sheet(board: DrawnBoard, grid: PlaceGrid, heading: Heading, marked: MarkedSheet | None) -> Element:
    """Draw one sheet. Each square's id is ``place-`` followed by its name."""
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    line_boxes = marked.printed.line_boxes if marked else ()
    right = _RIGHT + (_LINE_BOX if line_boxes else 0.0)
    groups = _groups(marked, wide + right) if marked else []
    below = _BELOW + (max(group.top for group in groups) + _TITLE + _BOX + _BOX_GAP if groups else 0.0)
    here = {place: board.appearance.get(place, EMPTY) for row in grid.rows for place in row}
    title = heading.name if heading.score is None else f"{heading.name}: {heading.score}"
    said = description_of({place.rpartition(".")[2]: look for place, look in here.items()})
    kind = " ".join(("sheet", *["tall"] * (high > _TALL * wide), *["to-move"] * heading.is_to_move))
    drawn = picture(kind, title, said, -_LEFT, -_TOP, wide + _LEFT + right, high + _TOP + below)
    edges = {"x": 4 - _LEFT, "y": 4 - _TOP, "width": wide + _LEFT + right - 8, "height": high + _TOP + below - 8}
    border = ("#b45f06", 14.0) if heading.is_to_move else ("#b9b29c", 4.0)
    add(drawn, "rect", **edges, rx=18, fill=_PAPER, stroke=border[0], stroke_width=border[1])
    sign = "▶ " if heading.is_to_move else ""
    words(drawn, 0, -42, sign + heading.name, font_size=64, font_weight=700, text_anchor="start")
    if heading.score is not None:
        at = wide + right - _RIGHT
        words(drawn, at, -42, str(heading.score), font_size=64, text_anchor="end")
    _draw_squares(drawn, grid, here, board)
    red_line = marked.printed.red_line if marked else None
    if red_line is not None:
        y = high - red_line * SQUARE
        add(drawn, "path", d=f"M-12 {number(y)}H{number(wide + 12)}", stroke=_RED, stroke_width=9)
    inked = add(drawn, "g", class_="quiet")
    where = middles(grid)
    looped = {place for loop in (marked.loops if marked else ()) for place in loop}
    for place, look in here.items():
        piece = Look.parse(look)
        if piece is not None:
            _draw_look(inked, piece, *where[place], is_alone_in_a_loop=place not in looped)
    for loop in marked.loops if marked else ():
        _draw_loop(inked, loop, where)
    if marked is not None:
        _draw_line_boxes(inked, line_boxes, marked.lines, wide, high)
        for group in groups:
            _draw_group(inked, group, high + _BELOW)
    draw_lights(inked, board.lights, where)
    return drawn


def _draw_squares(drawn: Element, grid: PlaceGrid, here: Mapping[Place, str], board: DrawnBoard) -> None:
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    names = add(drawn, "g", font_size=34, fill=_NAME)
    squares = add(drawn, "g", class_="places", fill=_PAPER)
    for row, places in enumerate(grid.rows):
        words(names, -_LEFT / 2 + 4, (row + 0.5) * SQUARE + 12, column_and_row(places[0].rpartition(".")[2])[1])
        for column, place in enumerate(places):
            at = {"x": column * SQUARE, "y": row * SQUARE, "width": SQUARE, "height": SQUARE}
            if place in board.squares and place not in board.appearance:
                add(squares, "rect", **at, fill=_CLOSED)
                continue
            piece = Look.parse(here[place])
            is_filled = piece is not None and piece.colour not in {"digit", "cross"}
            paint = {"fill": shade(colour_of(piece))} if piece is not None and is_filled else {}
            add(squares, "rect", id=f"place-{place}", **at, **paint)
    for column, place in enumerate(grid.rows[-1]):
        words(names, (column + 0.5) * SQUARE, high + 42, column_and_row(place.rpartition(".")[2])[0])
    across = "".join(f"M0 {number(row * SQUARE)}H{number(wide)}" for row in range(len(grid.rows) + 1))
    down = "".join(f"M{number(column * SQUARE)} 0V{number(high)}" for column in range(len(grid.rows[0]) + 1))
    add(drawn, "path", class_="quiet", d=across + down, stroke=_LINE, stroke_width=3)


def _draw_look(into: Element, piece: Look, x: float, y: float, *, is_alone_in_a_loop: bool) -> None:
    at = add(into, "g", transform=f"translate({number(x)} {number(y)})")
    if piece.colour in {"digit", "cross"}:
        write_ink(at, piece)
        if piece.shape.endswith("circled") and is_alone_in_a_loop:
            add(at, "circle", cx=0, cy=0, r=43, fill="none", stroke=_RED, stroke_width=6)
        return
    # The letter repeats the colour, for people who can't tell colours apart.
    words(at, 0, 17, letter_of(piece), font_size=48, font_weight=700, fill=ink_on(colour_of(piece)))


def _draw_loop(into: Element, loop: Collection[Place], where: Mapping[Place, tuple[float, float]]) -> None:
    """Draw a line around a group of squares, slightly inside their outer edges."""
    inside = SQUARE / 2 - _LOOP_IN
    at = {where[place] for place in loop}
    sides = []
    for x, y in at:
        for right, down in ((0, -1), (1, 0), (0, 1), (-1, 0)):
            if (x + right * SQUARE, y + down * SQUARE) in at:
                continue
            ends = []
            for turn in (-1, 1):
                # Extend the line to the corner, into the next square, or around an inner corner.
                along = (turn * -down, turn * right)
                goes_on = (x + along[0] * SQUARE, y + along[1] * SQUARE) in at
                rounds = (x + (along[0] + right) * SQUARE, y + (along[1] + down) * SQUARE) in at
                reach = SQUARE / 2 + _LOOP_IN if goes_on and rounds else SQUARE / 2 if goes_on else inside
                ends.append((x + right * inside + along[0] * reach, y + down * inside + along[1] * reach))
            (x0, y0), (x1, y1) = ends
            sides.append(f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}")
    add(into, "path", d="".join(sides), stroke=_RED, stroke_width=7, stroke_linecap="round", fill="none")


def _draw_line_boxes(into: Element, printed: Sequence[str], marks: Sequence[str], wide: float, high: float) -> None:
    for line, said in enumerate(printed):
        x, y = wide + 20 + _LINE_BOX / 2, high - (line + 0.5) * SQUARE
        words(into, x, y + 13, said, font_size=38, fill=_NAME)
        if line < len(marks) and marks[line] == CIRCLED:
            add(into, "circle", cx=x, cy=y, r=36, fill="none", stroke=_PEN, stroke_width=6)


@dataclass(frozen=True)
class _PlacedGroup:
    """A group of boxes and its position below the squares, from the left and from the first row of groups."""

    title: str
    boxes: tuple[tuple[Box, str], ...]
    left: float
    top: float


def _groups(marked: MarkedSheet, wide: float) -> list[_PlacedGroup]:
    """Arrange the groups in rows as wide as the sheet."""
    placed: list[_PlacedGroup] = []
    left = top = 0.0
    for group, marks in zip(marked.printed.groups, marked.boxes, strict=True):
        room = max(len(group.boxes) * (_BOX + _BOX_GAP), 15.0 * len(group.title))
        if left and left + room > wide:
            left, top = 0.0, top + _TITLE + _BOX + 2 * _BOX_GAP
        placed.append(_PlacedGroup(group.title, tuple(zip(group.boxes, marks, strict=True)), left, top))
        left += room + _GROUP_GAP
    return placed


def _draw_group(into: Element, group: _PlacedGroup, down: float) -> None:
    top = down + group.top
    words(into, group.left, top + 24, group.title, font_size=28, fill=_NAME, text_anchor="start")
    for place, (box, mark) in enumerate(group.boxes):
        x, y = group.left + place * (_BOX + _BOX_GAP), top + _TITLE - 8
        add(into, "rect", x=x, y=y, width=_BOX, height=_BOX, rx=6, fill="#fff", stroke=_LINE, stroke_width=3)
        middle = (x + _BOX / 2, y + _BOX / 2)
        if box.shape:
            _draw_shape(into, box.shape, *middle)
        else:
            words(into, middle[0], middle[1] + 13, box.words, font_size=36, fill=_NAME)
        if mark == CROSSED:
            reach = _BOX / 2 - 8
            ways = "".join(
                f"M{number(middle[0] - reach)} {number(middle[1] - turn * reach)}l{number(2 * reach)} "
                f"{number(2 * turn * reach)}"
                for turn in (1, -1)
            )
            add(into, "path", d=ways, stroke=_PEN, stroke_width=7, stroke_linecap="round")
        elif mark == CIRCLED:
            add(into, "circle", cx=middle[0], cy=middle[1], r=_BOX / 2 - 4, fill="none", stroke=_PEN, stroke_width=6)
        elif mark:
            words(into, middle[0], middle[1] + 13, mark, font_size=36, fill=_PEN, font_weight=700)


def _draw_shape(into: Element, shape: str, x: float, y: float) -> None:
    rows = shape.split("/")
    left, top = x - len(rows[0]) * _UNIT / 2, y - len(rows) * _UNIT / 2
    cells = "".join(
        f"M{number(left + column * _UNIT)} {number(top + row * _UNIT)}h{_UNIT:g}v{_UNIT:g}h-{_UNIT:g}z"
        for row, line in enumerate(rows)
        for column, mark in enumerate(line)
        if mark == "X"
    )
    add(into, "path", d=cells, fill="#b3ad9a", stroke=_NAME, stroke_width=1.5)
