"""Draws a game's table as the referee believes it to be: a wooden board with lights, or the players' sheets."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Self

from common.grid import PlaceGrid, column_and_row
from common.phrases import Phrase, capitalized, joined
from engine.api import Game
from engine.printing import ALLOWED, CIRCLED, CROSSED, Box, MarkedSheet
from engine.support.looks import Look
from engine.values import EMPTY, Place
from frontends.board_text import DrawnBoard, colour_letters, sheets_of
from frontends.languages import Say
from frontends.page.drawing.pieces import (
    DARK_INK,
    LIGHT_INK,
    RED,
    SQUARE,
    Element,
    Pieces,
    Point,
    Stamps,
    add,
    draw_dice,
    draw_tiles,
    number,
    picture,
    points,
    shade,
    shape_path,
    square_path,
    symbol_corners,
    words,
    written,
)
from frontends.page.drawing.scenes import BALL, Move, Scene, is_pyramid, scene_of, set_up_scene, standing_on
from hardware.lights.signals import Light, LightRole, most_urgent_lights
from referee.naming import Names
from referee.session.feed import TableSnapshot, players_to_move

_LEFT, _TOP, _RIGHT, _BELOW = 60.0, 120.0, 40.0, 70.0
"""A sheet's margins around its squares, in drawing units. They hold the names of columns and rows."""
_LINE_BOX = 90.0
_BOX, _BOX_GAP, _GROUP_GAP, _TITLE = 66.0, 10.0, 34.0, 44.0
"""Sides of the boxes around a sheet, the room between them, between groups, and for a title, in drawing units."""
_UNIT = 13.0
"""The side of one square of a shape drawn in a box."""
PAPER, _LINE, _PEN, _NAME = "#fdfaf0", "#8b8778", "#1c3f94", "#5c5848"
_TALL = 1.4
"""Sheets at least this many times as high as wide are laid side by side instead of one above the other."""
_LOOP_IN = 14.0
"""The distance from a loop to the outer edge of its squares."""
_CLOSED = "#6f6a5c"


@dataclass(frozen=True)
class Heading:
    """A sheet's heading: the player's name, the points so far if the game has them, and whether they play next."""

    name: str
    score: int | None
    is_to_move: bool


def draw_sheet(
    board: DrawnBoard,
    grid: PlaceGrid,
    heading: Heading,
    marked: MarkedSheet | None,
    scene: Scene,
    tell: Words,
    name: str,
) -> Element:
    """Draw one sheet. Each square's id is ``place-`` followed by its name; ``name`` begins those of shared shapes."""
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    line_boxes = marked.printed.line_boxes if marked else ()
    right = _RIGHT + (_LINE_BOX if line_boxes else 0.0)
    groups = _groups(marked, wide + right) if marked else []
    below = _BELOW + (max(group.top for group in groups) + _TITLE + _BOX + _BOX_GAP if groups else 0.0)
    here = {place: board.appearance.get(place, EMPTY) for row in grid.rows for place in row}
    title = heading.name if heading.score is None else joined((heading.name, heading.score), ": ")
    said = description_of((place.rpartition(".")[2], look) for place, look in here.items())
    kind = " ".join(("sheet", *["tall"] * (high > _TALL * wide), *["to-move"] * heading.is_to_move))
    drawn = picture(kind, title, said, -_LEFT, -_TOP, wide + _LEFT + right, high + _TOP + below)
    pieces = Pieces(Stamps(drawn, name), tell.letters)
    edges = {"x": 4 - _LEFT, "y": 4 - _TOP, "width": wide + _LEFT + right - 8, "height": high + _TOP + below - 8}
    border = ("#b45f06", 14.0) if heading.is_to_move else ("#b9b29c", 4.0)
    add(drawn, "rect", **edges, rx=18, fill=PAPER, stroke=border[0], stroke_width=border[1])
    sign = "▶ " if heading.is_to_move else ""
    words(drawn, 0, -42, sign + heading.name, font_size=64, font_weight=700, text_anchor="start")
    if heading.score is not None:
        at = wide + right - _RIGHT
        words(drawn, at, -42, str(heading.score), font_size=64, text_anchor="end")
    where = middles(grid)
    _draw_squares(drawn, grid, here, board, tell)
    inked = add(drawn, "g", class_="quiet")
    _draw_tints(inked, scene.touched, where, _INK_TINT)
    looped = {place for loop in (marked.loops if marked else ()) for place in loop}
    for kind, stacks in (("piece", {place: standing_on(board, place) for place in here}), ("ghost", scene.ghosts)):
        ink = add(inked, "g", class_=kind, **({"opacity": _FAINT} if kind == "ghost" else {}))
        for place, stack in stacks.items():
            if stack and place in where:
                first = len(ink)
                pieces.piece(ink, stack[0], where[place], is_looped=place in looped)
                ink[first].set("id", f"{kind}-{place}")
    _draw_colour_letters(inked, here, where, tell)
    _draw_lines(inked, grid)
    red_line = marked.printed.red_line if marked else None
    if red_line is not None:
        y = high - red_line * SQUARE
        add(inked, "path", d=f"M-12 {number(y)}H{number(wide + 12)}", stroke=RED, stroke_width=9)
    for loop in marked.loops if marked else ():
        _draw_loop(inked, loop, where)
    _draw_loop(inked, scene.touched, where, _TOUCHED_IN, _TOUCHED)
    if marked is not None:
        _draw_line_boxes(inked, line_boxes, marked.lines, wide, high)
        _draw_boxes(inked, groups, high + _BELOW)
    draw_lights(inked, scene.lights, where)
    return drawn


def _draw_squares(drawn: Element, grid: PlaceGrid, here: Mapping[Place, str], board: DrawnBoard, tell: Words) -> None:
    high = len(grid.rows) * SQUARE
    names = add(drawn, "g", font_size=34, fill=_NAME)
    squares = add(drawn, "g", class_="places", fill=PAPER)
    for row, places in enumerate(grid.rows):
        words(names, -_LEFT / 2 + 4, (row + 0.5) * SQUARE + 12, column_and_row(places[0].rpartition(".")[2])[1])
        for column, place in enumerate(places):
            at = {"x": column * SQUARE, "y": row * SQUARE}
            if place in board.squares and place not in board.appearance:
                add(squares, "rect", **at, width=SQUARE, height=SQUARE, fill=_CLOSED)
                continue
            # Hundreds of squares: the page's style sheet says how large they are.
            add(squares, "rect", id=f"place-{place}", **at, role="img", aria_label=tell.standing(place, [here[place]]))
    for column, place in enumerate(grid.rows[-1]):
        words(names, (column + 0.5) * SQUARE, high + 42, column_and_row(place.rpartition(".")[2])[0])


def _draw_lines(into: Element, grid: PlaceGrid) -> None:
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    across = "".join(f"M0 {number(row * SQUARE)}H{number(wide)}" for row in range(len(grid.rows) + 1))
    down = "".join(f"M{number(column * SQUARE)} 0V{number(high)}" for column in range(len(grid.rows[0]) + 1))
    add(into, "path", d=across + down, stroke=_LINE, stroke_width=3)


def _draw_colour_letters(into: Element, here: Mapping[Place, str], where: Mapping[Place, Point], tell: Words) -> None:
    """Write the colour's letter once into each patch of a colour, for people who can't tell colours apart."""
    at = {where[place]: look for place, look in here.items() if look in tell.letters}
    while at:
        first, look = next(iter(at.items()))
        patch = [first]
        for x, y in patch:
            at.pop((x, y), None)
            near = ((x + right * SQUARE, y + down * SQUARE) for right, down in ((1, 0), (0, 1), (-1, 0), (0, -1)))
            patch.extend(each for each in near if at.get(each) == look and each not in patch)
        x, y = first
        add(into, "circle", cx=x, cy=y, r=27, fill=PAPER, opacity=0.9)
        words(into, x, y + 12, tell.letters[look], font_size=34, font_weight=700, fill=DARK_INK)


def _draw_loop(
    into: Element, loop: Collection[Place], where: Mapping[Place, Point], inset: float = _LOOP_IN, colour: str = RED
) -> None:
    """Draw a line around groups of squares, slightly inside their outer edges."""
    inside = SQUARE / 2 - inset
    at = {where[place] for place in loop if place in where}
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
                reach = SQUARE / 2 + inset if goes_on and rounds else SQUARE / 2 if goes_on else inside
                ends.append((x + right * inside + along[0] * reach, y + down * inside + along[1] * reach))
            (x0, y0), (x1, y1) = ends
            sides.append(f"M{number(x0)} {number(y0)}L{number(x1)} {number(y1)}")
    add(into, "path", d="".join(sides), stroke=colour, stroke_width=7, stroke_linecap="round", fill="none")


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


def _draw_boxes(into: Element, groups: Sequence[_PlacedGroup], down: float) -> None:
    """Draw the groups of boxes: what is printed in a few paths, and the marks of the pen."""
    edges: dict[bool, list[str]] = {False: [], True: []}
    shapes: list[str] = []
    crosses: list[str] = []
    printed = add(into, "g")
    signs = add(into, "g", font_size=36, fill=_NAME)
    for group in groups:
        top = down + group.top
        words(signs, group.left, top + 24, group.title, font_size=28, text_anchor="start")
        for place, (box, mark) in enumerate(group.boxes):
            x, y = group.left + (place + 0.5) * _BOX + place * _BOX_GAP, top + _TITLE - 8 + _BOX / 2
            edges[mark == ALLOWED].append(square_path(x - _BOX / 2, y - _BOX / 2, _BOX))
            if box.shape:
                shapes.append(shape_path(box.shape, (x, y), _UNIT))
            elif box.words:
                words(signs, x, y + 13, box.words)
            if mark == CROSSED:
                crosses.append(f"M{number(x - 25)} {number(y - 23)}q27 22 50 46m0 -48q-27 24 -51 49")
            elif mark == CIRCLED:
                add(signs, "circle", cx=x, cy=y, r=_BOX / 2 - 4, fill="none", stroke=_PEN, stroke_width=6)
            elif mark and mark != ALLOWED:
                words(signs, x, y + 13, mark, fill=_PEN, font_weight=700)
    for is_allowed, boxes in edges.items():
        line: dict[str, str | float] = {"stroke": "#b45f06" if is_allowed else _LINE, "stroke_linejoin": "round"}
        lit = {"class_": "allowed", "stroke_width": 7} if is_allowed else {"stroke_width": 3}
        if boxes:
            add(printed, "path", d="".join(boxes), fill=_INK_TINT if is_allowed else "#fff", **line, **lit)
    add(printed, "path", d="".join(shapes), fill="#b3ad9a", stroke=_NAME, stroke_width=1.5)
    add(signs, "path", d="".join(crosses), stroke=_PEN, stroke_width=6, stroke_linecap="round", fill="none")


FRAME = 44.0
"""The width of the frame around the squares, in drawing units."""
LIGHT_WOOD, _DARK_WOOD = "#efdcb6", "#d3b180"
_FRAME_WOOD, _FRAME_EDGE = "#5a3a20", "#3a2412"
_NAME_INK = "#f6e9cf"
_GRAIN_EVERY = 25.0


@dataclass(frozen=True)
class EdgeStyle:
    """How to draw a light along the edges of its square: lengths of dashes and gaps, and the sign at the corner."""

    dashes: str
    sign: str


EDGES: Mapping[LightRole, EdgeStyle] = MappingProxyType(
    {
        LightRole.FAULT: EdgeStyle("15 7", "!"),
        LightRole.PUT_RIGHT: EdgeStyle("34 16", "↩"),
        LightRole.QUESTION: EdgeStyle("1 13", "?"),
        LightRole.TURN: EdgeStyle("none", "✓"),
        LightRole.UNFINISHED: EdgeStyle("30 11 4 11", "…"),
        LightRole.OPPONENT: EdgeStyle("22 5 5 5", "▶"),
        LightRole.HINT: EdgeStyle("6 6", "i"),
    }
)
"""Each role has its own dashes and sign, so that a person who can't tell the colours apart misses nothing."""
_WOOD_TINT, _INK_TINT = "#9dc000", "#ffe27a"
_TOUCHED, _TOUCHED_IN = "#d98200", 3.0
"""The colour of the line around the squares of a sheet's last turn, and its distance from their edges."""
_FAINT = 0.4
"""How much of a piece shows that doesn't stand there."""


@dataclass(frozen=True)
class ArrowStyle:
    """How to draw a way: its colour, the width of its line, and how far from a square's middle it starts and ends."""

    colour: str
    width: float
    start: float
    end: float


_LAST_TURN = ArrowStyle("#24457f", 7.0, 6.0, 36.0)
_HINT = ArrowStyle("#6a2fc4", 12.0, 26.0, 16.0)
_BACK = ArrowStyle("#c8400a", 12.0, 30.0, 22.0)


def middles(grid: PlaceGrid) -> dict[Place, Point]:
    """Return the centre of every square. The top left corner of the first row is at (0, 0)."""
    return {
        place: ((column + 0.5) * SQUARE, (row + 0.5) * SQUARE)
        for row, names in enumerate(grid.rows)
        for column, place in enumerate(names)
    }


def draw_wood(into: Element, grid: PlaceGrid, goals: Mapping[Place, str], labels: Mapping[Place, str]) -> None:
    """Draw a board's frame, squares, names and stars. Each square's id is ``place-`` followed by its name."""
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    edges = {"x": -FRAME, "y": -FRAME, "width": wide + 2 * FRAME, "height": high + 2 * FRAME}
    add(into, "rect", **edges, rx=16, fill=_FRAME_WOOD, stroke=_FRAME_EDGE, stroke_width=4)
    names = add(into, "g", font_size=27, font_weight=600, fill=_NAME_INK)
    squares = add(into, "g", class_="places")
    for row, places in enumerate(grid.rows):
        words(names, -FRAME / 2, (row + 0.5) * SQUARE + 9, column_and_row(places[0])[1])
        for column, place in enumerate(places):
            wood = LIGHT_WOOD if (row + column) % 2 else _DARK_WOOD
            at = {"x": column * SQUARE, "y": row * SQUARE, "width": SQUARE, "height": SQUARE}
            add(squares, "rect", id=f"place-{place}", **at, fill=wood, role="img", aria_label=labels[place])
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
    """Mark every lit square along its edges, in the light's colour and with its role's dashes and sign."""
    for place, light in most_urgent_lights(lights).items():
        if place not in where:
            continue
        style, colour = EDGES[light.role], shade(light.colour.value)
        (x, y), pattern = where[place], light.pattern.value.replace(",", "").replace(" ", "-")
        lit = add(into, "g", class_=f"light {pattern}", data_place=place)
        edge = {"x": x - 46, "y": y - 46, "width": 92.0, "height": 92.0, "rx": 8.0}
        add(lit, "rect", **edge, fill="none", stroke="#17120c", stroke_width=9)
        caps = "round" if style.dashes.startswith("1 ") else "butt"
        dashed: dict[str, str | float] = {"stroke_dasharray": style.dashes, "stroke_linecap": caps}
        add(lit, "rect", **edge, fill="none", stroke=colour, stroke_width=6, **dashed)
        _draw_badge(lit, (x - 38, y - 38), style.sign, colour)


def _draw_badge(into: Element, at: Point, sign: str, colour: str) -> None:
    add(into, "circle", cx=at[0], cy=at[1], r=15, fill="#17120c", stroke=colour, stroke_width=4)
    words(into, at[0], at[1] + 8, sign, font_size=23, font_weight=700, fill=LIGHT_INK)


def _draw_tints(into: Element, places: Iterable[Place], where: Mapping[Place, Point], tint: str) -> None:
    """Tint the squares of the last turn."""
    for place in places:
        if place in where:
            x, y = where[place]
            square = {"x": x - 50, "y": y - 50, "width": SQUARE, "height": SQUARE}
            add(into, "rect", class_="light turn", data_place=place, **square, fill=tint, opacity=0.55)


def draw_arrow(into: Element, move: Move, where: Mapping[Place, Point], style: ArrowStyle, step: str = "") -> None:
    """Draw a way as an arrow through the middles of its squares, dashed for a ball, with its ``step`` at the middle."""
    stops = [where[place] for place in move.route if place in where]
    if len(stops) < 2:
        return
    start, tip = _nearer(stops[0], stops[1], style.start), _nearer(stops[-1], stops[-2], style.end)
    head = 2.6 * style.width
    neck = _nearer(tip, stops[-2], head)
    right, down = (tip[0] - neck[0]) / head, (tip[1] - neck[1]) / head
    wings = [(neck[0] - side * head * 0.7 * down, neck[1] + side * head * 0.7 * right) for side in (1, -1)]
    line = points([start, *stops[1:-1], neck])
    arrow = add(into, "g", class_="arrow", opacity=0.85)
    round_ends = {"stroke_linecap": "round", "stroke_linejoin": "round"}
    for colour, width in ((LIGHT_INK, style.width + 6), (style.colour, style.width)):
        if colour == style.colour:
            shape = points((wings[0], tip, wings[1]))
            outlined: dict[str, str | float] = {"stroke": LIGHT_INK, "stroke_width": 3, "stroke_linejoin": "round"}
            add(arrow, "polygon", points=shape, fill=style.colour, **outlined)
        dashes = {"stroke_dasharray": "10 15"} if move.is_pass and colour == style.colour else {}
        add(arrow, "polyline", points=line, fill="none", stroke=colour, stroke_width=width, **round_ends, **dashes)
    if step:
        (x0, y0), (x1, y1) = start, (stops[1:-1] or [neck])[0]
        x, y = (x0 + x1) / 2, (y0 + y1) / 2
        add(arrow, "circle", cx=x, cy=y, r=19, fill=style.colour, stroke=LIGHT_INK, stroke_width=3)
        words(arrow, x, y + 9, step, font_size=26, font_weight=700, fill=LIGHT_INK)


def _nearer(point: Point, other: Point, by: float) -> Point:
    """Return a point moved towards another one."""
    away = math.hypot(other[0] - point[0], other[1] - point[1]) or 1.0
    return point[0] + (other[0] - point[0]) * by / away, point[1] + (other[1] - point[1]) * by / away


def description_of(looks: Iterable[tuple[Place, str]]) -> str:
    """Describe what stands where, for people who can't see the drawing."""
    standing = [joined((place, look)) for place, look in looks if look != EMPTY]
    return joined((joined(standing, "; "), "."), "") if standing else Phrase("Nothing stands on it.")


@dataclass(frozen=True)
class Words:
    """The reader's words for what stands on squares, and the letters of the colours."""

    say: Say
    letters: Mapping[str, str]
    _said: dict[str, str] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, game: Game[Any, Any], say: Say) -> Self:
        """Return the words for a game's pieces."""
        return cls(say, colour_letters(game.looks, say))

    def standing(self, place: Place, looks: Sequence[str]) -> str:
        """Return a square's name and what stands on it, from below: ``c3: black piece``."""
        for look in looks or (EMPTY,):
            if look not in self._said:
                self._said[look] = self.say(look)
        return f"{place.rpartition('.')[2]}: {', '.join(self._said[look] for look in looks or (EMPTY,))}"


def draw_table(game: Game[Any, Any], snapshot: TableSnapshot, say: Say = str) -> str:
    """Draw a game's table as SVG: a picture of the board or of each sheet, and one of the dice if a roll is shown.

    Each square's id is ``place-`` followed by its name, its label says what stands there. A piece is a group of the
    class ``piece`` with its ``data-place``, and ``data-from`` if the last turn has moved it. Before the set-up, the
    start position is drawn faintly where nothing stands, and squares that are wrong are marked.
    ``say`` translates an English text into the reader's language. Players' names are not translated.
    """
    return "".join(translated(drawn, say) for drawn in drawn_table(game, snapshot, say))


def drawn_table(game: Game[Any, Any], snapshot: TableSnapshot, say: Say = str) -> list[Element]:
    """Draw a game's table as ``draw_table``; its texts are translated when it is written."""
    if snapshot.states:
        state = snapshot.states[0]
        board, scene = DrawnBoard.of(game, state), scene_of(game, snapshot)
    else:
        state = game.notation.parse_state(snapshot.start) if snapshot.start else game.rules.new()
        start = DrawnBoard.of(game, state)
        board, scene = (
            DrawnBoard(dict.fromkeys(start.appearance, EMPTY), goals=game.goals),
            set_up_scene(start, snapshot),
        )
    return pictures_of(game, snapshot, state, board, scene, Words.of(game, say)) + lying_beside(game, state)


def lying_beside(game: Game[Any, Any], state: Any) -> list[Element]:
    """Draw the dice and tiles that lie beside the board or the sheets."""
    roll = None if game.dice is None else game.dice.roll_of(state)
    names = () if game.dice_names is None else game.dice_names(state)
    dice = [draw_dice(roll.faces, names, game.shapes(state))] if roll is not None and roll.faces else []
    tiles = game.tiles(state)
    return [*dice, *([draw_tiles(tiles, game.shapes(state))] if tiles else [])]


def pictures_of(
    game: Game[Any, Any],
    snapshot: TableSnapshot,
    state: Any,
    board: DrawnBoard,
    scene: Scene,
    tell: Words,
) -> list[Element]:
    """Draw the board, or each player's sheet. The ``state`` before the set-up is the start."""
    sheets, names = sheets_of(dict.fromkeys((*board.appearance, *board.squares))), Names.on_screen(game, snapshot.names)
    if not game.has_sheets:
        title = joined((game.title, names(_standing(snapshot))), ": ")
        return [draw_board(board, next(iter(sheets.values())), title, side_symbols(game, snapshot.states), scene, tell)]
    marked = {} if game.marked_sheets is None else game.marked_sheets(state)
    to_move = players_to_move(game, snapshot)
    pictures = []
    for name, grid in sheets.items():
        heading = Heading(names(name), snapshot.scores.get(name), is_to_move=name in to_move)
        pictures.append(draw_sheet(board, grid, heading, marked.get(name), scene, tell, name))
    return pictures


def translated(drawn: Element, say: Say) -> str:
    """Serialize a drawing in the reader's language."""
    for each in drawn.iter():
        if each.text:
            each.text = say(each.text)
    return written(drawn)


def _standing(snapshot: TableSnapshot) -> str:
    if snapshot.outcome is not None:
        return Phrase("the game is over")
    return (
        Phrase("nobody plays yet")
        if snapshot.to_move is None
        else Phrase("{to_move} to play", capitalized(snapshot.to_move))
    )


def side_symbols(game: Game[Any, Any], states: Sequence[Any]) -> dict[Place, dict[str, str]]:
    """Return the side symbols of each block on which all possible states agree."""
    if game.side_faces is None:
        return {}
    possible: dict[Place, list[Mapping[str, str]]] = {}
    for state in states:
        for place, facings in game.side_faces.facings(state).items():
            possible.setdefault(place, []).extend(facings)
    return {
        place: {side: symbol for side, symbol in facings[0].items() if all(each[side] == symbol for each in facings)}
        for place, facings in possible.items()
    }


def draw_board(
    board: DrawnBoard, grid: PlaceGrid, title: str, sides: Mapping[Place, Mapping[str, str]], scene: Scene,
    tell: Words, name: str = "board",
) -> Element:  # fmt: skip
    """Draw a board with what stands on it."""
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * SQUARE
    # Half of the frame's stroke lies outside its edge.
    edge = FRAME + 2
    standing = {place: standing_on(board, place) for place in grid.places}
    shown = {**standing, **scene.ghosts, **scene.seen} if scene.pale else {**standing, **scene.seen}
    said = [(place, _remarked(stack[-1].name, place, scene)) for place, stack in shown.items() if stack]
    covered = [(place, standing[place][-1].name) for place in scene.astray if standing[place]]
    said += [(place, Phrase("{standing} (missing)", look)) for place, look in covered]
    drawn = picture("board", title, description_of(said), -edge, -edge, wide + 2 * edge, high + 2 * edge)
    pieces = Pieces(Stamps(drawn, name), tell.letters)
    labels = {
        place: tell.say(_remarked(tell.standing(place, [each.name for each in stack]), place, scene))
        for place, stack in shown.items()
    }
    draw_wood(drawn, grid, board.goals, labels)
    where = middles(grid)
    over = add(drawn, "g", class_="quiet")
    _draw_tints(over, scene.touched, where, _WOOD_TINT)
    kept = {place: stack for place, stack in standing.items() if place not in scene.seen}
    came = defaultdict[tuple[Place, bool], list[Place]](list)
    for move in scene.moves:
        came[move.route[-1], move.is_pass].append(move.route[0])
    for kind, stacks in (("piece", kept), ("ghost", scene.ghosts), ("seen", scene.seen)):
        for place, stack in stacks.items():
            if stack and place in where:
                of: dict[str, str | float] = (
                    {"opacity": _FAINT} if kind == "ghost" or (kind == "piece" and place in scene.pale) else {}
                )
                group = add(over, "g", id=f"{kind}-{place}", class_=kind, data_place=place, **of)
                moved = came if kind == "piece" else {}
                _draw_standing(pieces, group, stack, where[place], sides.get(place, {}), moved.get((place, False), ()))
                if BALL in stack[-1].shape:
                    from_there = moved.get((place, True), ())
                    of |= {"data_from": from_there[-1]} if from_there else {}
                    ball = add(over, "g", id=f"{kind}-ball-{place}", class_=f"{kind} ball", data_place=place, **of)
                    pieces.ball(ball, stack[-1], where[place])
    for move in scene.moves:
        draw_arrow(over, move, where, _LAST_TURN)
    draw_lights(over, scene.lights, where)
    for place, sign in scene.signs.items():
        if place in where:
            _draw_sign(over, place, where[place], sign)
    for step, move in enumerate(scene.hints, 1):
        draw_arrow(over, move, where, _HINT, str(step) if len(scene.hints) > 1 else "")
    for move in scene.back:
        draw_arrow(over, move, where, _BACK)
    return drawn


def _remarked(standing: str, place: Place, scene: Scene) -> str:
    """Add to what stands on a place what the drawing shows besides: it is astray or missing, or looks different."""
    if place in scene.astray:
        return Phrase("{standing} (does not belong there)", standing)
    if place in scene.pale:
        return Phrase("{standing} (missing)", standing)
    return Phrase("{standing} (looks different)", standing) if place in scene.signs else standing


def _draw_standing(
    pieces: Pieces, group: Element, stack: Sequence[Look], at: Point, sides: Mapping[str, str], came: Sequence[Place]
) -> None:
    """Draw what stands on a square. What ``came`` there last gets ``data-from``: the piece, or the top ones."""
    if not is_pyramid(stack[0]):
        if came:
            group.set("data-from", came[-1])
        pieces.piece(group, stack[0], at, sides)
        return
    # The cap of a tower comes from beside the board.
    top = max((level for level, piece in enumerate(stack) if piece.colour != "black"), default=0)
    from_there = dict(zip(range(top, 0, -1), reversed(came), strict=False))
    first = min(from_there, default=len(stack))
    pieces.stack(group, stack[:first], at, is_signed=first == len(stack))
    for level in range(first, len(stack)):
        ident = {"id": f"{group.get('id')}-{level}", "class_": "piece", "data_place": group.get("data-place", "")}
        above = add(group, "g", **ident, **({"data_from": from_there[level]} if level in from_there else {}))
        pieces.stack(above, stack[level : level + 1], at, stack[:level], is_signed=level == len(stack) - 1)


def _draw_sign(into: Element, place: Place, at: Point, sign: str) -> None:
    """Mark a square of the set-up that is not right yet."""
    colour = shade(Light.for_role(place, LightRole.FAULT).colour.value)
    marked = add(into, "g", class_="wrong", data_place=place)
    edge = {"x": at[0] - 46, "y": at[1] - 46, "width": 92.0, "height": 92.0, "rx": 8.0}
    add(marked, "rect", **edge, fill="none", stroke=colour, stroke_width=6, stroke_dasharray="12 8")
    _draw_badge(marked, (at[0] + 34, at[1] - 34), sign, colour)
