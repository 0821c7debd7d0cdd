"""States as text: written strictly, read leniently.

A state is one line: who is to move (``black``, ``white`` or ``over``), each side's pieces in order of their squares
with a star after the one that has the ball, the options that differ from their defaults, how often positions occurred
if repetition counts, and the announcement that ended the game::

    black black:a1,b1,c1,d1*,e1,f1,g1 white:a7,b7,c7,d7*,e7,f7,g7 antiplay=automatic

A diagram is read, too: seven rows, the seventh first, separated by ``/`` or line breaks, with ``b`` and ``w`` for
pieces, ``B`` and ``W`` for those with a ball, and dots for empty squares. Rows may begin with their numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from common.phrases import Phrase, counted
from engine.errors import UnreadableError
from engine.games.diaballik.state import (
    GOAL,
    OPTIONS,
    PIECES_A_SIDE,
    PLACES,
    PLAYERS,
    SIZE,
    SQUARE_OF,
    DiaballikState,
    Side,
    options_from,
    other,
)
from engine.games.diaballik.turns import ANTI_PLAY, KINDS, may_claim, settle
from engine.options import differing_options
from engine.support import repetition
from engine.support.grid import members, set_of
from engine.support.notation import ANNOUNCED, OVER, StateText, Word, unreadable
from engine.support.players import DRAW, REPETITION, format_announcement
from engine.values import Announcement

_WORD = re.compile(r"/|\n|[^\s/]+")
_SQUARES = re.compile(r"([a-g][1-7])(\*?)")
_CELLS = re.compile(r"[bBwW.]+")
_DRAWN = {"b": "black", "B": "black", "w": "white", "W": "white"}
_EXPECTED = Phrase("black, white, over, pieces such as black:a1,b1,c1*, a drawing's row such as ww.W.ww, or an option")


def format_state(state: DiaballikState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    for player in PLAYERS:
        side = state.side(player)
        squares = ",".join(PLACES[each] + "*" * (each == side.ball) for each in members(side.pieces))
        parts.append(f"{player}:{squares}")
    parts += differing_options(OPTIONS, state.options)
    parts += repetition.format_counts(state.counts)
    if state.announced is not None:
        parts.append(f"announced={format_announcement(state.announced)}")
    return " ".join(parts)


@dataclass
class _Read:
    """The pieces read so far: their owners by square, and the squares of the balls by player."""

    owners: dict[int, str] = field(default_factory=dict)
    balls: dict[str, list[int]] = field(default_factory=lambda: {player: [] for player in PLAYERS})


def parse_state(text: str) -> DiaballikState:
    """Read a state leniently: any case (except in a diagram), spaces and order; black is to move by default.

    Raises UnreadableError that names the faulty part and its column, or the broken invariant.
    """
    read, said = _Read(), StateText(text, PLAYERS, _EXPECTED)
    rows: list[list[tuple[str, int]]] = [[]]
    for match in _WORD.finditer(text):
        word = Word(match.group(), match.start() + 1)
        if word.text in "/\n":
            rows.append([])
        elif _CELLS.fullmatch(word.text):
            rows[-1] += [(cell, word.column + offset) for offset, cell in enumerate(word.text)]
        elif not (len(word.text) == 1 and word.text in "1234567"):
            _read_word(Word(word.text.lower(), word.column), read, said)
    drawn = [row for row in rows if row]
    if drawn:
        _read_drawing(text, drawn, read)
    sides = {player: _side(text, player, read) for player in PLAYERS}
    if all(GOAL[player] >> sides[player].ball & 1 for player in PLAYERS):
        raise UnreadableError(
            Phrase("the state {text!r} has both balls on the row where they win; expected one at most", text)
        )
    options, counts = said.options(options_from), said.counts()
    if counts and not options.repetition_draw:
        raise UnreadableError(
            Phrase("the state {text!r} says how often positions were seen; expected repetition_draw=true", text)
        )
    mover = PLAYERS[0] if said.to_move is None or said.is_over else said.to_move.text
    return _whole(said, DiaballikState(options, sides["black"], sides["white"], mover, counts))


def _whole(said: StateText, state: DiaballikState) -> DiaballikState:
    """Return the state with a stuck player skipped; raises UnreadableError if the text contradicts who is to move."""
    announced = said.announced()
    if announced is not None:
        if not said.is_over:
            raise said.bad(said.whole(ANNOUNCED), Phrase("the state to say 'over' when something ended the game"))
        _check_announced(said, announced, state)
        return replace(state, to_move=None, announced=announced)
    state = settle(state, counted=repetition.SEEN not in said.named)
    if said.is_over and (state.to_move is not None or state.announced is not None):
        raise UnreadableError(
            Phrase(
                "the state {text!r} says 'over', but no ball is on the far row; write who is to move, or "
                "what was announced, such as announced=white:resign",
                said.text,
            )
        )
    return state


def _check_announced(said: StateText, announced: Announcement, state: DiaballikState) -> None:
    word = said.whole(ANNOUNCED)
    by_ball = settle(state, counted=False)
    if by_ball.to_move is None and by_ball.announced is None:
        raise said.bad(word, Phrase("nothing announced, as a ball is on the far row"))
    if announced.kind not in KINDS or (announced.player is None) != (announced.kind == DRAW):
        raise said.bad(word, Phrase("PLAYER:KIND, the kind one of {kinds}, or all:draw", ", ".join(KINDS)))
    if announced.kind == REPETITION and not state.options.repetition_draw:
        raise said.bad(word, Phrase("repetition_draw=true beside a draw by repetition"))
    if announced.kind == ANTI_PLAY:
        player = str(announced.player)
        if not may_claim(state.options, state.side(player).pieces, state.side(other(player)).pieces, player):
            raise said.bad(
                word, Phrase("a wall of {foe}'s that three of {player}'s pieces touch", other(player), player)
            )


def _read_word(word: Word, read: _Read, said: StateText) -> None:
    player, colon, squares = word.text.partition(":")
    if colon and player in PLAYERS and "=" not in word.text:
        _read_squares(said.text, Word(squares, word.column + len(player) + 1), player, read)
    else:
        said.read(word)


def _read_squares(text: str, squares: Word, player: str, read: _Read) -> None:
    column = squares.column
    for part in squares.text.split(","):
        match = _SQUARES.fullmatch(part)
        if match is None:
            raise unreadable(
                text, part, column, Phrase("squares such as a1,b1,d1* separated by commas, * for the ball")
            )
        _put(text, Word(part, column), SQUARE_OF[match[1]], player, ball=bool(match[2]), read=read)
        column += len(part) + 1


def _put(text: str, word: Word, square: int, player: str, *, ball: bool, read: _Read) -> None:
    if square in read.owners:
        raise unreadable(
            text, word.text, word.column, Phrase("one piece a square at most, and {place} has one", PLACES[square])
        )
    read.owners[square] = player
    if ball:
        read.balls[player].append(square)


def _read_drawing(text: str, rows: list[list[tuple[str, int]]], read: _Read) -> None:
    for number, row in enumerate(rows):
        if number == SIZE or len(row) > SIZE:
            cell, column = row[0] if number == SIZE else row[SIZE]
            raise unreadable(text, cell, column, Phrase("seven rows of seven squares, separated by / or line breaks"))
        if len(row) < SIZE:
            cell, column = row[-1]
            raise unreadable(
                text,
                cell,
                column,
                Phrase("{missing} in row {row}", counted(SIZE - len(row), "more square"), SIZE - number),
            )
        for file, (cell, column) in enumerate(row):
            if cell in _DRAWN:
                square = (SIZE - 1 - number) * SIZE + file
                _put(text, Word(cell, column), square, _DRAWN[cell], ball=cell.isupper(), read=read)
    if len(rows) < SIZE:
        cell, column = rows[-1][-1]
        raise unreadable(text, cell, column, counted(SIZE - len(rows), "more row"))


def _side(text: str, player: str, read: _Read) -> Side:
    squares = [square for square, owner in read.owners.items() if owner == player]
    if len(squares) != PIECES_A_SIDE:
        raise UnreadableError(
            Phrase(
                "the state {text!r} has {found} {player} pieces; expected {right}",
                text,
                len(squares),
                player,
                PIECES_A_SIDE,
            )
        )
    balls = read.balls[player]
    if len(balls) != 1:
        raise UnreadableError(
            Phrase("the state {text!r} has {balls} balls on {player} pieces; expected 1", text, len(balls), player)
        )
    return Side(set_of(squares), balls[0])
