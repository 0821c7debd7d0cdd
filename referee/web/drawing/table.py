"""Draws a game's table as the referee believes it to be: a wooden board with lights, or the players' sheets."""

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from common.grid import PlaceGrid, column_and_row
from common.phrases import Phrase, capitalized, joined
from engine.api import Game
from engine.printing import CIRCLED, CROSSED, Box, MarkedSheet
from engine.support.looks import Look
from engine.values import EMPTY, Place
from hardware.lights.signals import Light, LightRole, most_urgent_lights
from referee.naming import as_name
from referee.rendering.board_picture import symbol_corners
from referee.rendering.board_text import DrawnBoard, letter_of, sheets_of
from referee.session.feed import TableSnapshot, players_to_move
from referee.web.drawing.pieces import (
    LIGHT_INK,
    SQUARE,
    Element,
    Point,
    add,
    colour_of,
    draw_dice,
    draw_piece,
    ink_on,
    number,
    picture,
    points,
    shade,
    stack_in,
    words,
    write_ink,
    written,
)

_LEFT, _TOP, _RIGHT, _BELOW = 60.0, 120.0, 40.0, 70.0
"""A sheet's margins around its squares, in drawing units. They hold the names of columns and rows."""
_LINE_BOX = 90.0
_BOX, _BOX_GAP, _GROUP_GAP, _TITLE = 66.0, 10.0, 34.0, 44.0
"""Sides of the boxes around a sheet, the room between them, between groups, and for a title, in drawing units."""
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
    title = heading.name if heading.score is None else joined((heading.name, heading.score), ": ")
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


FRAME = 44.0
"""The width of the frame around the squares, in drawing units."""
_LIGHT_WOOD, _DARK_WOOD = "#efdcb6", "#d3b180"
_FRAME_WOOD, _FRAME_EDGE = "#5a3a20", "#3a2412"
_NAME_INK = "#f6e9cf"
_GRAIN_EVERY = 17.0
_ARROW = "#12307a"


@dataclass(frozen=True)
class RingStyle:
    """How to draw a light's ring: lengths of dashes and gaps, line width, and the sign on its badge."""

    dashes: str
    width: float
    sign: str


RINGS: Mapping[LightRole, RingStyle] = MappingProxyType(
    {
        LightRole.FAULT: RingStyle("15 7", 13, "!"),
        LightRole.PUT_RIGHT: RingStyle("34 16", 10, "↩"),
        LightRole.QUESTION: RingStyle("1 16", 12, "?"),
        LightRole.TURN: RingStyle("none", 9, "✓"),
        LightRole.UNFINISHED: RingStyle("30 11 4 11", 9, "…"),
        LightRole.OPPONENT: RingStyle("22 5 5 5", 10, "▶"),
        LightRole.HINT: RingStyle("6 6", 7, "i"),
    }
)
"""Each role has its own dashes and sign, so that a person who can't tell the colours apart misses nothing."""


def middles(grid: PlaceGrid) -> dict[Place, Point]:
    """Return the centre of every square. The top left corner of the first row is at (0, 0)."""
    return {
        place: ((column + 0.5) * SQUARE, (row + 0.5) * SQUARE)
        for row, names in enumerate(grid.rows)
        for column, place in enumerate(names)
    }


def draw_wood(into: Element, grid: PlaceGrid, goals: Mapping[Place, str]) -> None:
    """Draw a board's frame, squares, names and stars. Each square's id is ``place-`` followed by its name."""
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    edges = {"x": -FRAME, "y": -FRAME, "width": wide + 2 * FRAME, "height": high + 2 * FRAME}
    add(into, "rect", **edges, rx=16, fill=_FRAME_WOOD, stroke=_FRAME_EDGE, stroke_width=4)
    names = add(into, "g", font_size=27, font_weight=600, fill=_NAME_INK)
    squares = add(into, "g", class_="places")
    for row, places in enumerate(grid.rows):
        words(names, -FRAME / 2, (row + 0.5) * SQUARE + 9, column_and_row(places[0])[1])
        for column, place in enumerate(places):
            wood = _LIGHT_WOOD if (row + column) % 2 else _DARK_WOOD
            at = {"x": column * SQUARE, "y": row * SQUARE, "width": SQUARE, "height": SQUARE}
            add(squares, "rect", id=f"place-{place}", **at, fill=wood)
    for column, place in enumerate(grid.rows[-1]):
        words(names, (column + 0.5) * SQUARE, high + FRAME / 2 + 9, column_and_row(place)[0])
    add(
        into, "path", d=_grain(wide, high), class_="quiet", fill="none", stroke="#7a5426", stroke_width=1.5, opacity=0.2
    )
    for place, (x, y) in middles(grid).items():
        if place in goals:
            corners = ((x + 34 * right, y - 34 * up) for right, up in symbol_corners("star") or ())
            add(into, "polygon", class_="quiet", points=points(corners), fill="#8f2f2a", opacity=0.85)


def _grain(wide: float, high: float) -> str:
    """Return the path of the wood grain: long, slightly wavy lines."""
    lines = []
    for line in range(1, int(high / _GRAIN_EVERY)):
        y = line * _GRAIN_EVERY + 5 * math.sin(line * 2.4)
        bend = 7 * math.sin(line * 1.7)
        lines.append(
            f"M0 {number(y)}C{number(wide / 3)} {number(y + bend)} {number(wide * 2 / 3)} {number(y - bend)} "
            f"{number(wide)} {number(y + bend / 2)}"
        )
    return "".join(lines)


def draw_lights(into: Element, lights: Sequence[Light], where: Mapping[Place, Point]) -> None:
    """Draw a ring around every lit square, in the light's colour and with its role's dashes and sign."""
    for place, light in most_urgent_lights(lights).items():
        if place not in where:
            continue
        style, colour = RINGS[light.role], shade(light.colour.value)
        x, y = where[place]
        lit = add(
            into,
            "g",
            class_=f"light {light.pattern.value.replace(',', '').replace(' ', '-')}",
            transform=f"translate({number(x)} {number(y)})",
        )
        ring: dict[str, str | float] = {
            "x": -45.0,
            "y": -45.0,
            "width": 90.0,
            "height": 90.0,
            "rx": 10.0,
            "fill": "none",
        }
        add(lit, "rect", **ring, stroke="#17120c", stroke_width=style.width + 5)
        caps = "round" if style.dashes.startswith("1 ") else "butt"
        add(
            lit, "rect", **ring, stroke=colour, stroke_width=style.width, stroke_dasharray=style.dashes,
            stroke_linecap=caps,
        )  # fmt: skip
        add(lit, "circle", cx=-34, cy=-34, r=16, fill="#17120c", stroke=colour, stroke_width=4)
        words(lit, -34, -26, style.sign, font_size=24, font_weight=700, fill=LIGHT_INK)


def draw_arrow(into: Element, route: Sequence[Place], where: Mapping[Place, Point]) -> None:
    """Draw a piece's route as an arrow through the centres of these squares."""
    stops = [where[place] for place in route if place in where]
    if len(stops) < 2:
        return
    (x0, y0), (x1, y1) = stops[-2:]
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    right, down = (x1 - x0) / length, (y1 - y0) / length
    # Stop short of the centre so that the arrow doesn't cover the piece.
    tip = (x1 - 36 * right, y1 - 36 * down)
    neck = (tip[0] - 24 * right, tip[1] - 24 * down)
    wings = [(neck[0] - side * 17 * down, neck[1] + side * 17 * right) for side in (1, -1)]
    line = points([*stops[:-1], neck])
    arrow = add(into, "g", class_="arrow", opacity=0.8)
    for colour, width in ((LIGHT_INK, 16), (_ARROW, 9)):
        round_ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
        add(arrow, "polyline", points=line, fill="none", stroke=colour, stroke_width=width, **round_ends)
    add(arrow, "circle", cx=stops[0][0], cy=stops[0][1], r=11, fill=_ARROW, stroke=LIGHT_INK, stroke_width=3)
    head = points((wings[0], tip, wings[1]))
    add(arrow, "polygon", points=head, fill=_ARROW, stroke=LIGHT_INK, stroke_width=3, stroke_linejoin="round")


def description_of(appearance: Mapping[Place, str]) -> str:
    """Describe what stands where, for people who can't see the drawing."""
    standing = [joined((place, look)) for place, look in appearance.items() if look != EMPTY]
    return joined((joined(standing, "; "), "."), "") if standing else Phrase("Nothing stands on it.")


_ROUTE = re.compile(r"[a-z]\d+")
_OTHER_WAY = re.compile(r"\|[a-z]\d+")


def draw_table(game: Game[Any, Any], snapshot: TableSnapshot, say: Callable[[str], str] = str) -> str:
    """Draw a game's table as SVG: a picture of the board or of each sheet, and one of the dice if a roll is shown.

    Each square's id is ``place-`` followed by its name. Arrows show the last turn. The squares are empty before set-up.
    ``say`` translates an English text into the reader's language. Players' names are not translated.
    """
    lights = snapshot.signal.lights
    state = snapshot.states[0] if snapshot.states else None
    board = DrawnBoard.seen(game, {}, lights) if state is None else DrawnBoard.of(game, state, lights)
    sheets = sheets_of(dict.fromkeys((*board.appearance, *board.squares)))
    pictures: list[Element] = []
    if len(sheets) == 1:
        title = joined((game.title, _standing(snapshot)), ": ")
        routes = () if snapshot.last_turn is None else routes_of(snapshot.last_turn.text)
        pictures.append(_board(board, next(iter(sheets.values())), title, _sides(game, snapshot), routes))
    else:
        marked = {} if game.marked_sheets is None or state is None else game.marked_sheets(state)
        to_move = players_to_move(game, snapshot)
        for name, grid in sheets.items():
            called = as_name(snapshot.names[name]) if snapshot.names.get(name) else capitalized(name)
            heading = Heading(called, snapshot.scores.get(name), is_to_move=name in to_move)
            pictures.append(draw_sheet(board, grid, heading, marked.get(name)))
    roll = None if game.dice is None or state is None else game.dice.roll_of(state)
    if roll is not None and roll.faces:
        names = () if game.dice_names is None else game.dice_names(state)
        pictures.append(draw_dice(roll.faces, names))
    for drawn in pictures:
        for element in drawn.iter():
            if element.text:
                element.text = say(element.text)
    return "".join(written(drawn) for drawn in pictures)


def routes_of(turn: str) -> tuple[tuple[Place, ...], ...]:
    """Parse a turn's notation into each piece's route: the squares it passed, one tuple per move.

    >>> routes_of("gold c1-b1=x-c2")
    (('c1', 'b1', 'c2'),)
    >>> routes_of("black a1-a2 d1*c2")
    (('a1', 'a2'), ('d1', 'c2'))
    """
    moves = (tuple(_ROUTE.findall(_OTHER_WAY.sub("", word))) for word in turn.split())
    return tuple(move for move in moves if len(move) > 1)


def _standing(snapshot: TableSnapshot) -> str:
    if snapshot.outcome is not None:
        return Phrase("the game is over")
    return (
        Phrase("nobody plays yet")
        if snapshot.to_move is None
        else Phrase("{to_move} to play", capitalized(snapshot.to_move))
    )


def _sides(game: Game[Any, Any], snapshot: TableSnapshot) -> dict[Place, dict[str, str]]:
    """Return the side symbols of each block on which all possible states agree."""
    if game.side_faces is None:
        return {}
    possible: dict[Place, list[Mapping[str, str]]] = {}
    for state in snapshot.states:
        for place, facings in game.side_faces.facings(state).items():
            possible.setdefault(place, []).extend(facings)
    return {
        place: {side: symbol for side, symbol in facings[0].items() if all(each[side] == symbol for each in facings)}
        for place, facings in possible.items()
    }


def _board(
    board: DrawnBoard,
    grid: PlaceGrid,
    title: str,
    sides: Mapping[Place, Mapping[str, str]],
    routes: Sequence[Sequence[Place]],
) -> Element:
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    # Half of the frame's stroke lies outside its edge.
    edge = FRAME + 2
    drawn = picture("board", title, description_of(board.appearance), -edge, -edge, wide + 2 * edge, high + 2 * edge)
    draw_wood(drawn, grid, board.goals)
    where = middles(grid)
    over = add(drawn, "g", class_="quiet")
    for place, (x, y) in where.items():
        look = Look.parse(board.appearance.get(place, EMPTY))
        if look is not None:
            piece = add(over, "g", transform=f"translate({number(x)} {number(y)})")
            below = stack_in(board.squares.get(place, ""), board.looks)
            draw_piece(piece, look, sides.get(place, {}), below)
    draw_lights(over, board.lights, where)
    for route in routes:
        draw_arrow(over, route, where)
    return drawn
