"""Small drawings: a turn to choose, one piece, a square as it may look, and stacks from the side."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import groupby
from types import MappingProxyType
from typing import Any

from common.grid import PlaceGrid
from common.phrases import Phrase, capitalized, joined
from engine.api import Game
from engine.errors import EngineError
from engine.support.looks import Look
from engine.values import LookName, Place, Player
from frontends.board_text import DrawnBoard, colour_letters, sheets_of, square_of
from frontends.documents import VerdictDocument
from frontends.languages import Say
from frontends.page.drawing.pieces import (
    SQUARE,
    Element,
    Pieces,
    Stamps,
    add,
    colour_of,
    draw_dice,
    number,
    picture,
    points,
    shade,
    words,
)
from frontends.page.drawing.scenes import BALL, Scene, Stack, ends_of, moves_of, standing_on, written_on
from frontends.page.drawing.table import (
    FRAME,
    LIGHT_WOOD,
    PAPER,
    Heading,
    Words,
    draw_board,
    draw_sheet,
    drawn_table,
    middles,
    side_symbols,
    translated,
)
from hardware.lights.signals import Mood, Signal
from referee.judge.sentences import MOST_SPELT_OUT
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import EventKind
from referee.record.fold import FoldedStep
from referee.session.feed import TableSnapshot, signal_for

_SIDES = {"large": (36.0, 62.0), "medium": (27.0, 48.0), "small": (18.0, 34.0)}
"""Half the width and the height of a pyramid seen from the side, by size, in drawing units."""
_STEP, _TALLEST = 13.0, 116.0
"""How much of a pyramid shows below the next one, and the room for a stack, in drawing units."""
_STOREY = 150.0
_CROPPED_REM = 1.75
"""The side of a square in a part of a sheet: 28 px at least, so that digits can be told apart at arm's length."""
_OF_THE_TABLE = ("place-", "piece-")
_UNSAID = frozenset({"title", "desc", "role", "aria-label", "aria-hidden"})
_NOTHING: Mapping[str, str] = MappingProxyType({})


def draw_choices(
    game: Game[Any, Any], states: Sequence[Any], candidates: Iterable[tuple[str, Player]], say: Say = str
) -> list[str]:
    """Draw the table after each of these turns, small and with the turn's way drawn in; dice for a roll.

    A candidate is a turn's notation and its player, or a roll's and no player. Its drawing is empty if it can be
    played in none of the ``states``. The drawings have no ids of squares, so a page can show them beside the table.
    """
    candidates = list(candidates)
    played = [_played(game, states, text, player) for text, player in candidates]
    turns = [each for each in played if each is not None and each[0] is not None]
    drawings = []
    for order, (text, player) in enumerate(candidates):
        found = played[order]
        if found is None:
            drawings.append(_roll(game, states, text, say) if not player else "")
        else:
            alike = [after for turn, after in turns if turn.player == found[0].player]
            drawings.append(_drawn_turn(game, *found, _telling_apart(game, states[0], alike), say, f"choice-{order}"))
    return drawings


def _played(game: Game[Any, Any], states: Sequence[Any], text: str, player: Player) -> tuple[Any, Any] | None:
    """Return a candidate's turn and the state after it; ``None`` for a roll, or if it fits no state."""
    for state in states if player else ():
        with suppress(EngineError):
            turn = game.notation.parse_turn(state, text, player)
            return turn, game.rules.apply(state, turn)
    return None


def _roll(game: Game[Any, Any], states: Sequence[Any], text: str, say: Say) -> str:
    dice = game.dice
    if dice is None:
        return ""
    for state in states:
        with suppress(EngineError):
            names = () if game.dice_names is None else game.dice_names(state)
            return translated(draw_dice(dice.parse_roll(state, text).faces, names), say)
    return ""


def _telling_apart(game: Game[Any, Any], before: Any, after: Sequence[Any]) -> frozenset[Place]:
    """Return the places by which these states can be told apart; of a single one, what is new in it."""
    looks = [game.table.appearance(state) for state in (after if len(after) > 1 else [before, *after])]
    return frozenset(place for place in looks[0] if len({each[place] for each in looks}) > 1)


def _drawn_turn(game: Game[Any, Any], turn: Any, after: Any, differing: Collection[Place], say: Say, name: str) -> str:
    """Draw a turn; of a sheet only what is around the ``differing`` squares, since a whole one is too small to read."""
    board, tell, title = DrawnBoard.of(game, after), Words.of(game, say), game.notation.describe(turn)
    text = game.notation.format_turn(turn)
    if game.has_sheets:
        grid = sheets_of(board.appearance)[turn.player]
        scene = Scene(touched=written_on(text, turn.player))
        marked = {} if game.marked_sheets is None else game.marked_sheets(after)
        heading = Heading(capitalized(turn.player), None, is_to_move=False)
        drawn = draw_sheet(board, grid, heading, marked.get(turn.player), scene, tell, name)
        drawn[0].text = title
        _crop(drawn, grid, differing)
    else:
        moves = moves_of(text)
        scene = Scene(moves=moves, touched=ends_of(moves))
        grid = sheets_of(board.appearance)[""]
        drawn = draw_board(board, grid, title, side_symbols(game, [after]), scene, tell, name)
    return _small(drawn, say)


def _crop(drawn: Element, grid: PlaceGrid, places: Collection[Place]) -> None:
    """Show only the squares around some places, each ``_CROPPED_REM`` wide. The whole stays if none is on this grid."""
    at = [middle for place, middle in middles(grid).items() if place in places]
    if not at:
        return
    across, down = zip(*at, strict=True)
    left, top = (max(min(each) - 1.5 * SQUARE, 0.0) for each in (across, down))
    right = min(max(across) + 1.5 * SQUARE, len(grid.rows[0]) * SQUARE)
    below = min(max(down) + 1.5 * SQUARE, len(grid.rows) * SQUARE)
    drawn.set("viewBox", " ".join(map(number, (left, top, right - left, below - top))))
    for side, length in (("width", right - left), ("height", below - top)):
        drawn.set(side, f"{number(length / SQUARE * _CROPPED_REM)}rem")
    drawn.set("class", f"{drawn.get('class', '')} cropped")


def draw_places(game: Game[Any, Any], state: Any, places: Sequence[Place], say: Say = str) -> str:
    """Draw what is believed to stand on some places: each square, or the part of the table around many of them."""
    appearance = game.table.appearance(state)
    if len(places) <= MOST_SPELT_OUT:
        return "".join(draw_look(game, appearance[place], say, place=place) for place in places)
    board, tell, scene = DrawnBoard.of(game, state), Words.of(game, say), Scene(touched=places)
    marked = {} if game.marked_sheets is None else game.marked_sheets(state)
    drawings = []
    for player, grid in sheets_of(board.appearance).items():
        if not set(places) & set(grid.places):
            continue
        name = f"believed-{player or 'board'}"
        if game.has_sheets:
            heading = Heading(capitalized(player), None, is_to_move=False)
            drawn = draw_sheet(board, grid, heading, marked.get(player), scene, tell, name)
        else:
            drawn = draw_board(board, grid, game.title, side_symbols(game, [state]), scene, tell, name)
        _crop(drawn, grid, places)
        drawings.append(_small(drawn, say))
    return "".join(drawings)


def draw_look(game: Game[Any, Any], look: LookName, say: Say = str, *, place: Place = "") -> str:
    """Draw a piece alone, such as for a palette, or on the square ``place``; a dashed square for an empty place."""
    drawn = picture("look", look, "", -50, -50, SQUARE, SQUARE)
    if place:
        drawn[0].text = joined((square_of(place), look), ": ")
        ground = PAPER if game.has_sheets else LIGHT_WOOD
        add(drawn, "rect", x=-49, y=-49, width=98, height=98, rx=6, fill=ground, stroke="#8b8778", stroke_width=2)
    piece = Look.parse(look)
    if piece is not None:
        name = f"look-{place}-{game.looks.index(look)}"
        pieces = Pieces(Stamps(drawn, name), colour_letters(game.looks, say))
        pieces.piece(drawn, piece, (0, 0))
        if BALL in piece.shape:
            pieces.ball(drawn, piece, (0, 0))
    elif not place:
        edge = {"x": -40.0, "y": -40.0, "width": 80.0, "height": 80.0, "rx": 8.0}
        add(drawn, "rect", **edge, fill="none", stroke="#8b8778", stroke_width=4, stroke_dasharray="10 8")
    return translated(drawn, say)


def draw_stack_sides(game: Game[Any, Any], state: Any, say: Say = str) -> str:
    """Draw every stack of a board seen from the side, each on its square; empty for a game without stacks."""
    board = DrawnBoard.of(game, state)
    if game.heights is None:
        return ""
    letters = colour_letters(game.looks, say)
    grid = next(iter(sheets_of(board.appearance).values()))
    wide, high = len(grid.rows[0]) * SQUARE, len(grid.rows) * _STOREY
    title = Phrase("The stacks from the side")
    drawn = picture("board sides", title, "", -FRAME, -4, wide + FRAME + 4, high + FRAME)
    stamps = Stamps(drawn, "sides")
    for row, places in enumerate(grid.rows):
        y = (row + 1) * _STOREY
        add(drawn, "path", d=f"M0 {number(y - 28)}H{number(wide)}", stroke="#8b8778", stroke_width=3)
        words(drawn, -FRAME / 2, y - 40, places[0][1:], font_size=26, fill="currentColor")
        for column, place in enumerate(places):
            x = (column + 0.5) * SQUARE
            if row == len(grid.rows) - 1:
                words(drawn, x, high + 28, place[:1], font_size=26, fill="currentColor")
            _draw_side(drawn, stamps, standing_on(board, place), (x, y - 29), letters)
    return translated(drawn, say)


def _draw_side(into: Element, stamps: Stamps, stack: Stack, at: tuple[float, float], letters: dict[str, str]) -> None:
    if not stack:
        return
    # Each pyramid hides the one below but for a strip.
    tips = [_SIDES[stack[0].shape][1]]
    step = min(_STEP, (_TALLEST - tips[0]) / max(len(stack) - 1, 1))
    for piece in stack[1:]:
        tips.append(max(tips[-1] + step, _SIDES[piece.shape][1]))
    for piece, tip in zip(stack, tips, strict=True):
        foot = tip - _SIDES[piece.shape][1]
        stamps.put(into, piece.name, partial(_draw_pyramid_side, piece=piece), (at[0], at[1] - foot))
    runs = ((letters[colour], len(list(run))) for colour, run in groupby(stack, key=lambda piece: piece.colour))
    said = " ".join(f"{letter}{count}" for letter, count in runs)
    words(into, at[0], at[1] + 22, said, font_size=min(19.0, 150 / len(said)), font_weight=600, fill="currentColor")


def _draw_pyramid_side(into: Element, piece: Look) -> None:
    half, tall = _SIDES[piece.shape]
    if piece.colour == "clear":
        add(into, "polygon", points=points(((-half, 0), (0, -tall), (half, 0))), fill="#fff", fill_opacity=0.6)
        line = points(((-half, 0), (0, -tall), (half, 0), (-half, 0), (0, -tall)))
        add(into, "polyline", points=line, fill="none", stroke="#5b6770", stroke_width=2.5)
        return
    colour = colour_of(piece)
    edge = "#8a8a8a" if max(colour) < 60 else shade(colour, -0.5)
    for side, lighter in ((-1, 0.18), (1, -0.2)):
        face = points(((side * half, 0), (0, -tall), (half * 0.15, 0)))
        add(into, "polygon", points=face, fill=shade(colour, lighter))
    outline = points(((-half, 0), (0, -tall), (half, 0)))
    add(into, "polygon", points=outline, fill="none", stroke=edge, stroke_width=2, stroke_linejoin="round")


def draw_start(game: Game[Any, Any]) -> str:
    """Draw how a game starts, its board or the first sheet, for an image, which says no words."""
    state = game.rules.new()
    snapshot = TableSnapshot(0, 0, Signal(Mood.WAITING), 0.0, (state,), game.table.appearance(state))
    drawn = drawn_table(game, snapshot)[0]
    for each in list(drawn.iter()):
        for part in [part for part in each if part.tag in _UNSAID]:
            each.remove(part)
        for name in _UNSAID.intersection(each.keys()):
            del each.attrib[name]
    return _small(drawn, str)


def _small(drawn: Element, say: Say) -> str:
    """Serialize a drawing without the ids of squares and pieces, which belong to the table."""
    for each in drawn.iter():
        if each.get("id", "").startswith(_OF_THE_TABLE):
            del each.attrib["id"]
    drawn.set("class", f"{drawn.get('class', '')} small")
    return translated(drawn, say)


def draw_position(
    game: Game[Any, Any],
    position: str,
    say: Say = str,
    *,
    names: Mapping[Player, str] = _NOTHING,
    last_turn: tuple[Player, str] = ("", ""),
    verdict: VerdictDocument | None = None,
    is_image: bool = False,
) -> str:
    """Draw the table of a position in strict text as ``draw_table`` does.

    ``last_turn`` is its player and notation. As an image, all sheets are in one picture, side by side. Raises
    UnreadableError for another text than a position's, and ValueError for a verdict of an unknown kind.
    """
    state = game.notation.parse_state(position)
    player, text = last_turn
    told = verdict or VerdictDocument(kind=VerdictKind.UNCHANGED.value, sentence="")
    shown = Verdict(VerdictKind(told.kind), "", 0.0, 0, places=told.places, expected=told.expected, seen=told.seen)
    snapshot = TableSnapshot(
        0,
        0,
        signal_for(shown, game, state),
        0.0,
        states=(state,),
        to_move=state.to_move,
        scores={} if game.scores is None else game.scores(state),
        outcome=game.rules.outcome(state),
        verdict=shown,
        names=names,
        last_turn=FoldedStep(EventKind.TURN, text, (state,), player=player or None) if text else None,
    )
    pictures = drawn_table(game, snapshot, say)
    if is_image:
        pictures = [_side_by_side(pictures)]
    return "".join(translated(drawn, say) for drawn in pictures)


def _side_by_side(pictures: Sequence[Element]) -> Element:
    """Return one picture of several, all as high as the first."""
    high, right = float(pictures[0].attrib["height"]), 0.0
    for drawn in pictures:
        wide = float(drawn.attrib["width"]) * high / float(drawn.attrib["height"])
        drawn.attrib.update(x=number(right), y="0", width=number(wide), height=number(high))
        right += wide + SQUARE / 4
    whole = picture("table", "", "", 0.0, 0.0, right - SQUARE / 4, high)
    whole.extend(pictures)
    return whole
