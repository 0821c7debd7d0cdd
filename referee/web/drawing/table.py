"""Draws a game's table as the referee believes it to be: a board or the players' sheets, and the dice."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from common.grid import PlaceGrid
from common.phrases import Phrase, capitalized
from engine.api import Game
from engine.support.looks import Look
from engine.values import EMPTY, Place
from referee.rendering.board_text import DrawnBoard, sheets_of
from referee.session.feed import TableSnapshot, players_to_move
from referee.web.drawing.boards import FRAME, description_of, draw_arrow, draw_lights, draw_wood, middles
from referee.web.drawing.dice import draw_dice
from referee.web.drawing.pieces import SQUARE, draw_piece, stack_in
from referee.web.drawing.sheets import Heading, draw_sheet
from referee.web.drawing.svg import Element, add, number, picture, written

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
        title = f"{game.title}: {_standing(snapshot)}"
        routes = () if snapshot.last_turn is None else routes_of(snapshot.last_turn.text)
        pictures.append(_board(board, next(iter(sheets.values())), title, _sides(game, snapshot), routes))
    else:
        marked = {} if game.marked_sheets is None or state is None else game.marked_sheets(state)
        to_move = players_to_move(game, snapshot)
        for name, grid in sheets.items():
            called = snapshot.names.get(name) or capitalized(say(name))
            heading = Heading(called, snapshot.scores.get(name), is_to_move=name in to_move)
            pictures.append(draw_sheet(board, grid, heading, marked.get(name)))
    roll = None if game.dice is None or state is None else game.dice.roll_of(state)
    if roll is not None and roll.faces:
        names = () if game.dice_names is None else game.dice_names(state)
        pictures.append(draw_dice(roll.faces, names))
    for drawn in pictures:
        _say_in(drawn, say, tuple(snapshot.names.values()))
    return "".join(written(drawn) for drawn in pictures)


def _say_in(drawn: Element, say: Callable[[str], str], names: Sequence[str]) -> None:
    named = [re.compile(rf"(?<!\w){re.escape(name)}(?!\w)") for name in names if name.strip()]
    for element in drawn.iter():
        if element.text and not any(each.search(element.text) for each in named):
            # Translate square by square: most squares are unchanged since the last drawing, so they are cached.
            element.text = "; ".join(map(say, element.text.split("; ")))


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
