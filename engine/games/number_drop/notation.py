"""Turns as text: strict to write, lenient to read.

====================  =================================================
``d1=1``              a first digit
``a1=3,b1=1,c1=4``    a dropped shape, each square with its digit
``a1=X,b1=X``         a dropped penalty
``loop:a1+b1+a2``     a combination
``loop:a1+b1+a2/A``   the same, and the letter A is circled
``none``              no combination
``slide:C``           the tile in slot C slides by one notch
====================  =================================================
"""

from __future__ import annotations

import re

from engine.api import Player
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.number_drop.sheet import CROSS
from engine.games.number_drop.state import (
    PLAYERS,
    Combination,
    Drop,
    NumberDropState,
    NumberDropTurn,
    PenaltyDrop,
    Phase,
    SetUpDigit,
    Slide,
)
from engine.games.number_drop.turns import in_order, is_legal, turn_of_marks
from engine.games.number_drop.violations import breaches_of
from engine.support.breaches import told
from engine.support.notation import unreadable

NONE, SLIDE, LOOP = "none", "slide", "loop"
_SQUARE = r"[a-g](?:1[0-4]|[1-9])(?![0-9])"
_NAME = re.compile(_SQUARE)
_WRITTEN = re.compile(rf"({_SQUARE})\s*[=:]?\s*([0-9x])(?![0-9])")
_GAP = " \t\r\n,;+/"
_LOOP_WORD = re.compile(r"(same|identical|equal|run|consecutive|loop)\b[\s:=]*")
_SLIDE_WORD = re.compile(r"slide\b[\s:=]*([a-e])\b\s*")
_NONE_WORD = re.compile(r"(none|no|pass|-)\s*")
_LETTER = re.compile(r"(?:circle\s*|letter\s*)?([a-e])(?![0-9a-z])")


def format_turn(turn: NumberDropTurn) -> str:
    """Write a turn in its strict form."""
    if isinstance(turn, SetUpDigit):
        return f"{turn.square}={turn.digit}"
    if isinstance(turn, Drop):
        return ",".join(f"{square}={digit}" for square, digit in zip(turn.squares, turn.digits, strict=True))
    if isinstance(turn, PenaltyDrop):
        return ",".join(f"{square}={CROSS}" for square in turn.squares)
    if isinstance(turn, Slide):
        return f"{SLIDE}:{turn.letter}"
    if not turn.squares:
        return NONE
    return f"{LOOP}:{'+'.join(turn.squares)}" + (f"/{turn.letter}" if turn.letter else "")


def parse_turn(state: NumberDropState, text: str, player: Player | None = None) -> NumberDropTurn:
    """Read a turn's text leniently, as ``player``'s or the next one's; raises UnreadableError or IllegalTurnError.

    Where nobody is named, the player that the text begins with (``p2: d1=2``) plays.
    """
    in_play = PLAYERS[: state.settings.players]
    named = next((each for each in in_play if text.strip().lower().startswith((f"{each}.", f"{each}:"))), None)
    turn = read_turn(state, text, player or named or state.to_move or PLAYERS[state.first])
    if not is_legal(state, turn):
        breaches = breaches_of(state, turn)
        raise IllegalTurnError(told(breaches), breaches)
    return turn


def read_turn(state: NumberDropState, text: str, player: str) -> NumberDropTurn:
    """Read a turn as ``player``'s, legal or not; raises UnreadableError with the column of the fault."""
    # Only ASCII is put in lower case: other letters may grow longer, and columns would no longer be true.
    lowered = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    start = len(lowered) - len(lowered.lstrip())
    prefix = re.compile(rf"{player}\s*[.:]\s*").match(lowered, start)
    start = prefix.end() if prefix else start
    if match := _NONE_WORD.fullmatch(lowered, start):
        return Combination(player)
    if match := _SLIDE_WORD.fullmatch(lowered, start):
        return Slide(player, match[1].upper())
    if match := _LOOP_WORD.match(lowered, start):
        return _read_loop(text, lowered, match.end(), player)
    return _read_written(state, text, lowered, start, player)


def _read_loop(text: str, lowered: str, position: int, player: str) -> Combination:
    squares: list[str] = []
    letter = None
    while position < len(lowered):
        if (match := _NAME.match(lowered, position)) and letter is None:
            if match[0] in squares:
                raise unreadable(text, match[0], position + 1, "every square once")
            squares.append(match[0])
        elif (match := _LETTER.match(lowered, position)) and letter is None and squares:
            letter = match[1].upper()
        else:
            raise unreadable(text, text[position:], position + 1, "squares such as a1+b1+b2 and perhaps a letter")
        position = _after_gap(lowered, match.end())
    if not squares:
        raise unreadable(text, text, len(text) + 1, "squares such as a1+b1+b2 after the word")
    return Combination(player, in_order(squares), letter)


def _read_written(state: NumberDropState, text: str, lowered: str, position: int, player: str) -> NumberDropTurn:
    marks: dict[str, str] = {}
    while position < len(lowered):
        match = _WRITTEN.match(lowered, position)
        if match is None:
            raise unreadable(
                text,
                text[position:],
                position + 1,
                "a square and what is written there, such as d1=1, or none, slide:A",
            )
        if match[1] in marks:
            raise unreadable(text, match[1], position + 1, "every square once")
        marks[match[1]] = match[2].upper()
        position = _after_gap(lowered, match.end())
    if not marks:
        raise UnreadableError(f"the turn {text!r} is empty; expected such as {_example(state)}", 1)
    return turn_of_marks(state, player, marks)


def _after_gap(text: str, position: int) -> int:
    """Where the next thing begins."""
    while position < len(text) and text[position] in _GAP:
        position += 1
    return position


def _example(state: NumberDropState) -> str:
    if state.combining:
        return "loop:a1+b1+c1 or none"
    if state.phase in (Phase.SLIDE, Phase.STAR_SLIDE):
        return "slide:A"
    return {Phase.SETUP: "d1=1", Phase.PENALTY: "a1=X,b1=X,c1=X"}.get(state.phase, "a1=1,b1=3,c1=4,d1=5")


def describe_turn(turn: NumberDropTurn) -> str:
    """Say the turn in a short sentence for a person."""
    who = turn.player
    if isinstance(turn, SetUpDigit):
        return f"{who} writes a {turn.digit} on {turn.square}."
    if isinstance(turn, Drop):
        told = ", ".join(f"{digit} on {square}" for square, digit in zip(turn.squares, turn.digits, strict=True))
        return f"{who} drops {told}."
    if isinstance(turn, PenaltyDrop):
        return f"{who} drops the penalty: X on {', '.join(turn.squares)}."
    if isinstance(turn, Slide):
        return f"{who} slides the tile in column {turn.letter} by one notch."
    if not turn.squares:
        return f"{who} draws no loop."
    letter = f" and circles the letter {turn.letter}" if turn.letter else ""
    return f"{who} draws a loop round {', '.join(turn.squares)}{letter}."
