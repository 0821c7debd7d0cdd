"""Turns as text: strict to write, lenient to read, and as a sentence for a person.

A turn is its moves in order, each from a square to a square: ``a2-b3 e5-c3``, and ``stay`` when nothing moves. Read
leniently, case doesn't matter, ``->``, ``to`` and ``x`` stand for the dash, commas and semicolons for the space, and
squares on the way may be named: ``a2-a3-b4``.
"""

from __future__ import annotations

import re

from engine.api import Player
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.blockade.board import GRID, PLACES, name_of
from engine.games.blockade.moves import Path, play
from engine.games.blockade.state import BlockadeState, BlockadeTurn, Move, breach_of_timing
from engine.games.blockade.turns import turns_of
from engine.support.notation import unreadable

STAY = "stay"
_STAYING = (STAY, "pass", "-", "")
_TOKEN = re.compile(
    r"(?P<square>[a-e][1-5])|(?P<link>\s*(?:->|→|–|-|\bto\b|(?<=[1-5])to(?=[a-e])|x|:)\s*)|(?P<gap>[\s,;.+]+|\bthen\b|\band\b)"
)
_EXPECTED = "moves such as a2-b3 e5-c3, or stay"


def format_turn(turn: BlockadeTurn) -> str:
    """Write a turn in its strict form."""
    return " ".join(f"{move.start}-{move.end}" for move in turn.moves) or STAY


def describe_turn(turn: BlockadeTurn) -> str:
    """Say the turn in a short sentence."""
    if not turn.moves:
        return f"{turn.player.capitalize()} moves nothing."
    moves = [f"the {name_of(move.piece)} from {move.start} to {move.end}" for move in turn.moves]
    return f"{turn.player.capitalize()} moves {', then '.join(moves)}."


def paths_of(turn: BlockadeTurn) -> tuple[Path, ...]:
    """A turn's moves as squares; raises UnreadableError for a place that isn't one."""
    paths = []
    for move in turn.moves:
        for place in (move.start, move.end):
            if place not in GRID.index:
                raise UnreadableError(f"there is no square {place!r}; squares run from a1 to e5")
        paths.append((GRID.index[move.start], GRID.index[move.end]))
    return tuple(paths)


def parse_turn(state: BlockadeState, text: str, player: Player | None = None) -> BlockadeTurn:
    """Read a turn leniently and give the one of its end position; raises UnreadableError or IllegalTurnError."""
    paths = _read(text)
    who = player or state.to_move or ""
    wrong = breach_of_timing(state, who)
    if wrong is not None or state.roll is None:
        raise IllegalTurnError(
            f"{text!r} can't be played: {wrong.sentence}" if wrong else text, (wrong,) if wrong else ()
        )
    played = play(state, who, state.roll, paths)
    if played.breaches:
        raise IllegalTurnError(f"{text!r} is not legal here: {played.breaches[0].sentence}", played.breaches)
    listed = turns_of(state)
    return listed.ending_in(played.stacks) or listed.turn(paths)


def turn_as_written(state: BlockadeState, text: str, player: Player | None = None) -> BlockadeTurn:
    """Read a turn as it is written, whether or not it is the one that stands for its end position.

    Raises UnreadableError, or IllegalTurnError where nothing stands on a square that a move starts from.
    """
    tops = {square: list(stack) for square, stack in enumerate(state.stacks)}
    moves = []
    for start, *_, end in _read(text):
        if not tops[start]:
            raise IllegalTurnError(f"{text!r} moves a piece from {PLACES[start]}, but nothing stands there")
        piece = tops[start].pop()
        tops[end].append(piece)
        moves.append(Move(piece, PLACES[start], PLACES[end]))
    return BlockadeTurn(player or state.to_move or "", tuple(moves))


def _read(text: str) -> tuple[Path, ...]:
    if text.strip().lower() in _STAYING:
        return ()
    paths: list[list[int]] = []
    joined = False
    position = 0
    column = 1
    for match in _TOKEN.finditer(text.lower()):
        if match.start() != position:
            break
        position = match.end()
        if match["square"]:
            square = PLACES.index(match["square"])
            if joined:
                paths[-1].append(square)
            else:
                _check_whole(text, paths, column)
                paths.append([square])
                column = match.start() + 1
            joined = False
        elif match["link"]:
            if joined or not paths:
                raise unreadable(text, match.group().strip(), match.start() + 1, f"a square; {_EXPECTED}")
            joined = True
        elif joined:
            break
    if position != len(text) or joined:
        column = min(position, len(text) - 1) + 1
        raise unreadable(text, text[position : position + 1], column, _EXPECTED)
    _check_whole(text, paths, column)
    return tuple(tuple(path) for path in paths)


def _check_whole(text: str, paths: list[list[int]], column: int) -> None:
    if paths and len(paths[-1]) < 2:
        raise unreadable(text, PLACES[paths[-1][0]], column, f"a square to go to after it; {_EXPECTED}")
