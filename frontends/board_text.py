"""The board drawn as text, with the same notation in every command.

A piece is the first letter of its colour and a character for what it shows; a stack is written from the lowest piece
up; what is written on a sheet is shown as it is. Characters around a square show why it is lit. Colour only repeats
what the characters show.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from common.grid import PlaceGrid, column_and_row
from common.phrases import Phrase
from engine.api import Game
from engine.support.looks import Look
from engine.values import EMPTY, Appearance, LookName, Place
from hardware.lights.signals import ROLE_STYLES, Light, LightRole, most_urgent_lights

RGB = tuple[int, int, int]
COLOURS: Mapping[str, RGB] = {
    "gold": (218, 165, 32),
    "teal": (0, 128, 128),
    "red": (200, 40, 40),
    "orange": (225, 120, 20),
    "yellow": (225, 200, 40),
    "green": (40, 140, 60),
    "blue": (40, 90, 200),
    "purple": (130, 60, 160),
    "brown": (120, 80, 50),
    "white": (245, 245, 245),
    "black": (40, 40, 40),
}
"""Red, green and blue of the pieces' colours; any other is drawn grey."""
GREY: RGB = (128, 128, 128)
_SIGNS = {"star": "★", "stop": "●", "cross": "+", "x": "x", "slider": "◆", "hoops": "◎"}
_ASCII_SIGNS = {"star": "*", "stop": "o", "cross": "+", "x": "x", "slider": "^", "hoops": "@"}
_GOAL, _ASCII_GOAL = "☆", "*"
_SIZES = {"small": "S", "medium": "M", "large": "L"}
_BALL = "with ball"
_OPEN, _ASCII_OPEN = "·", "."
_LIGHT_SQUARE, _DARK_SQUARE, _SHEET = (226, 211, 184), (202, 182, 148), (240, 238, 230)
_INK, _FAINT, _GOAL_INK = "rgb(20,20,20)", "rgb(120,104,80)", "rgb(150,30,30)"
_PRINTED_INK = {"digit", "cross"}
"""Looks that are written, drawn in the colour of ink."""


@dataclass(frozen=True)
class DrawnBoard:
    """What is drawn: each place's look, further facts, lit squares, and squares with a star.

    ``looks`` are all looks of the game; ``red_line`` is the number of rows of a sheet below the line that must not be
    crossed.
    """

    appearance: Appearance
    looks: Sequence[LookName] = ()
    squares: Mapping[Place, str] = field(default_factory=dict)
    lights: Sequence[Light] = ()
    goals: Mapping[Place, str] = field(default_factory=dict)
    red_line: int | None = None

    @classmethod
    def of(cls, game: Game[Any, Any], state: Any, lights: Sequence[Light] = ()) -> DrawnBoard:
        """Make it from a game's state."""
        return cls(game.table.appearance(state), game.looks, game.squares(state), lights, game.goals, _red_line(game))

    @classmethod
    def seen(cls, game: Game[Any, Any], looks: Appearance, lights: Sequence[Light] = ()) -> DrawnBoard:
        """Make it from the looks in a picture; places of the game that are missing are drawn empty."""
        places = dict.fromkeys(looks or game.table.appearance(game.rules.new()), EMPTY)
        return cls({**places, **looks}, game.looks, {}, lights, game.goals, _red_line(game))


def _red_line(game: Game[Any, Any]) -> int | None:
    return None if game.printed_sheet is None else game.printed_sheet(None).red_line


def board_text(
    board: DrawnBoard,
    *,
    width: int,
    ascii_only: bool,
    roomy: bool = False,
    first: str = "",
    tell: Callable[[str], str] = str,
) -> Text:
    """Draw a board, or every sheet of a table: ``first`` and as many others as fit in ``width`` columns at full size.

    The rest are drawn small, below if they don't fit beside it. A sheet with a light comes before ``first``. ``roomy``
    draws a single board with three lines per row. ``tell`` puts the players' names into the headings.
    """
    drawing = _Drawing(board, ascii_only)
    sheets = sheets_of((*board.appearance, *(place for place in board.squares if place not in board.appearance)))
    if len(sheets) == 1:
        return _join_lines(drawing.large(next(iter(sheets.values())), roomy=roomy))
    lit = next((light.place.rpartition(".")[0] for light in board.lights), "")
    own = next(name for name in (lit, first, next(iter(sheets))) if name in sheets)
    blocks = [[Text(tell(own), style="bold"), *drawing.large(sheets[own])]]
    blocks += [[Text(tell(name)), *drawing.small(grid)] for name, grid in sheets.items() if name != own]
    return _join_lines(_put_side_by_side(blocks, width))


def draws_ascii(console: Console) -> bool:
    """Whether a console can only show ASCII."""
    return not (console.encoding or "").lower().startswith("utf")


def state_text(
    game: Game[Any, Any], state: Any, *, width: int, ascii_only: bool, tell: Callable[[str], str] = str
) -> Text:
    """Draw a state, with facts that a board doesn't show below it; ``tell`` puts the players' names into the words."""
    first = state.to_move or ""
    drawn = board_text(DrawnBoard.of(game, state), width=width, ascii_only=ascii_only, first=first, tell=tell)
    return Text("\n").join([drawn, Text(), *(Text(tell(line)) for line in game.notation.standing(state))])


def legend(board: DrawnBoard, *, width: int, ascii_only: bool, say: Callable[[str], str] = str) -> Text:
    """Explain the characters: those around lit squares first, then all pieces and goals, on separate lines.

    ``say`` translates the words.
    """
    said: list[Text] = []
    roles = {light.role for light in most_urgent_lights(board.lights).values()}
    for role in (role for role in LightRole if role in roles):
        style = ROLE_STYLES[role]
        said.append(Text.assemble((style.mark, light_style(role)), f" {say(style.meaning)}"))
    drawing = _Drawing(board, ascii_only)
    pieces = [piece for look in board.looks if (piece := Look.parse(look)) and piece.colour not in _PRINTED_INK]
    said += [Text(f"{letter_of(piece)} {say(piece.colour)}") for piece in pieces]
    for piece in pieces:
        if piece.mark:
            said.append(Text(f"{drawing.signs.get(piece.mark, piece.mark[:1])} {say(piece.mark)}"))
        elif _BALL in piece.shape:
            said.append(Text(f"{drawing.signs['stop']} {say(Phrase('ball'))}"))
        elif piece.shape in _SIZES:
            said.append(Text(f"{_SIZES[piece.shape]} {say(piece.shape)}"))
    said += [Text(f"{drawing.goal} {place} {say(what)}") for place, what in board.goals.items()]
    unique = {text.plain: text for text in said}
    lines: list[Text] = []
    for text in unique.values():
        if lines and cell_len(lines[-1].plain) + 3 + cell_len(text.plain) <= width:
            lines[-1] = Text("   ").join((lines[-1], text))
        else:
            lines.append(text)
    return Text("\n").join(lines)


def light_style(role: LightRole) -> Style:
    """Return the style of a light's role: black or white on its colour, whichever is more readable."""
    return _text_colour_on(ROLE_STYLES[role].colour.value)


def written(piece: Look, *, ascii_only: bool = True) -> str:
    """Return the text of a written digit or cross: ``4``, ``4°`` (``4o``) in a loop, ``X``; empty for a piece."""
    if piece.colour == "digit":
        return piece.shape.replace(" circled", "o" if ascii_only else "°")
    return "X" if piece.name == "cross" else ""


def letter_of(piece: Look) -> str:
    """Return the letter for a piece's colour."""
    # as in the notation of Blockade, where black and blue are on one board
    is_blockade_black = piece.colour == "black" and piece.shape in _SIZES
    return "K" if is_blockade_black else piece.colour[:1].upper() or "?"


def colour_letters(looks: Iterable[LookName], say: Callable[[str], str] = str) -> dict[str, str]:
    """Return a short name for the colour of each piece, in the reader's language and different for each colour.

    English ones are ``letter_of``; in other languages it is the first letter, with another one where two share it.

    >>> colour_letters(["yellow", "green"], {"yellow": "gelb", "green": "grün"}.__getitem__)
    {'yellow': 'Ge', 'green': 'Gr'}
    """
    pieces = [piece for look in looks if (piece := Look.parse(look)) and piece.colour not in _PRINTED_INK]
    called = {piece.colour: say(piece.colour) for piece in pieces}
    if all(colour == said for colour, said in called.items()):
        return {piece.colour: letter_of(piece) for piece in pieces}
    letters: dict[str, str] = {}
    for colour, said in called.items():
        others = {other for other in called.values() if other != said and other[:1] == said[:1]}
        unlike = (sign for at, sign in enumerate(said) if at and all(other[at : at + 1] != sign for other in others))
        letters[colour] = said[:1].upper() + (next(unlike, "") if others else "")
    return letters


class _Drawing:
    """Draws the squares of one board."""

    def __init__(self, board: DrawnBoard, ascii_only: bool) -> None:
        self._board = board
        self._ascii_only = ascii_only
        self._lit = most_urgent_lights(board.lights)
        self.signs = _ASCII_SIGNS if ascii_only else _SIGNS
        self.goal = _ASCII_GOAL if ascii_only else _GOAL
        self.open = _ASCII_OPEN if ascii_only else _OPEN

    def large(self, grid: PlaceGrid, *, roomy: bool = False) -> list[Text]:
        """Draw one line per row, or three if ``roomy``, with the names of rows and columns."""
        least = 1 if "." in grid.places[0] else 2
        body = max(least, *(cell_len(self._body(place)) for place in grid.places)) + (3 if roomy else 0)
        edge = Text("   ")
        lines: list[Text] = []
        for number, row in enumerate(grid.rows):
            shades = [self._shade(place, number + column) for column, place in enumerate(row)]
            blank = edge.copy()
            for shade in shades:
                blank.append(" " * (body + 2), Style(bgcolor=shade))
            line = Text(f"{column_and_row(square_of(row[0]))[1]:>2} ")
            for place, shade in zip(row, shades, strict=True):
                line.append_text(self._cell(place, shade, body))
            if len(grid.rows) - number == self._board.red_line:
                lines.append(Text(" " * 3 + "=" * cell_len(line.plain[3:]), style="red"))
            lines += [blank, line, blank] if roomy else [line]
        names = "".join(column_and_row(square_of(place))[0].center(body + 2) for place in grid.rows[-1])
        return [*lines, Text(f"   {names}")]

    def small(self, grid: PlaceGrid) -> list[Text]:
        """Draw one line per row without names: the pieces, and an exclamation mark on an empty lit square."""
        body = max(cell_len(self._body(place)) for place in grid.places)
        lines: list[Text] = []
        for number, row in enumerate(grid.rows):
            if len(grid.rows) - number == self._board.red_line:
                lines.append(Text("=" * body * len(row), style="red"))
            line = Text()
            for place in row:
                light = self._lit.get(place)
                said = self._body(place)
                if light is not None and said == self.open:
                    said = ROLE_STYLES[light.role].mark[:1]
                style = self._style(place, _rich(_SHEET)) if light is None else light_style(light.role)
                line.append(said.ljust(body), style)
            lines.append(line)
        return lines

    def _cell(self, place: Place, shade: str, body: int) -> Text:
        light = self._lit.get(place)
        mark = "  " if light is None else ROLE_STYLES[light.role].mark
        around = Style(bgcolor=shade) if light is None else light_style(light.role) + Style(bold=True)
        said = self._body(place)
        room = body - cell_len(said)
        left = room // 2
        style = self._style(place, shade)
        return Text.assemble((mark[:1], around), (" " * left + said + " " * (room - left), style), (mark[1:], around))

    def _body(self, place: Place) -> str:
        known = self._board.squares.get(place)
        if known is not None:
            return known
        piece = Look.parse(self._board.appearance.get(place, EMPTY))
        if piece is None:
            return self.goal if place in self._board.goals else self.open
        said = written(piece, ascii_only=self._ascii_only)
        if said:
            return said
        if _BALL in piece.shape:
            return f"{letter_of(piece)}{self.signs['stop']}"
        return letter_of(piece) + (self.signs.get(piece.mark, piece.mark[:1]) or _SIZES.get(piece.shape, ""))

    def _shade(self, place: Place, number: int) -> str:
        if "." in place:
            return _rich(_SHEET)
        return _rich(_LIGHT_SQUARE if number % 2 else _DARK_SQUARE)

    def _style(self, place: Place, shade: str) -> Style:
        piece = Look.parse(self._board.appearance.get(place, EMPTY))
        if piece is None:
            is_goal = place in self._board.goals
            return Style(color=_GOAL_INK if is_goal else _FAINT, bgcolor=shade, bold=is_goal)
        if piece.colour in _PRINTED_INK:
            return Style(color=_INK, bgcolor=shade, bold=True)
        return _text_colour_on(COLOURS.get(piece.colour, GREY)) + Style(bold=True)


def sheets_of(places: Iterable[Place]) -> dict[str, PlaceGrid]:
    """Return the squares of each sheet by its name, or of the one board; the highest row first."""
    rows: dict[str, dict[str, list[Place]]] = {}
    for place in places:
        sheet, _, square = place.rpartition(".")
        rows.setdefault(sheet, {}).setdefault(column_and_row(square)[1], []).append(place)
    return {
        sheet: PlaceGrid(
            tuple(tuple(sorted(of_sheet[row], key=_column)) for row in sorted(of_sheet, key=_rank, reverse=True))
        )
        for sheet, of_sheet in rows.items()
    }


def _column(place: Place) -> tuple[int, str]:
    column = column_and_row(square_of(place))[0]
    return len(column), column


def _rank(row: str) -> int:
    return int(row) if row.isdecimal() else 0


def square_of(place: Place) -> str:
    """Return a place's name without the sheet's prefix."""
    return place.rpartition(".")[2]


def _put_side_by_side(blocks: Sequence[Sequence[Text]], width: int) -> Iterator[Text]:
    """Put blocks of lines beside each other as far as they fit, and the rest below."""
    left = list(blocks)
    while left:
        row = [left.pop(0)]
        used = _width(row[0])
        while left and used + 3 + _width(left[0]) <= width:
            used += 3 + _width(left[0])
            row.append(left.pop(0))
        for number in range(max(len(block) for block in row)):
            line = Text()
            for block in row:
                part = block[number].copy() if number < len(block) else Text()
                part.append(" " * (_width(block) - cell_len(part.plain) + 3))
                line.append_text(part)
            line.rstrip()
            yield line


def _width(block: Sequence[Text]) -> int:
    return max(cell_len(line.plain) for line in block)


def _join_lines(lines: Iterable[Text]) -> Text:
    return Text("\n", no_wrap=True).join(lines)


def _text_colour_on(colour: RGB) -> Style:
    """Return a text colour that is readable on a colour."""
    red, green, blue = colour
    ink = "rgb(0,0,0)" if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else "rgb(255,255,255)"
    return Style(color=ink, bgcolor=_rich(colour))


def _rich(colour: RGB) -> str:
    return f"rgb({colour[0]},{colour[1]},{colour[2]})"
