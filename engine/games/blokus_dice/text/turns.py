"""Turns as text: strict to write, lenient to read, and as a sentence for a person.

A turn is ``DIE:SHAPE:SQUARES``, such as ``1:V3:a1,a2,b1``, with ``:strike`` at the end where a strike was crossed out
to take a shape of another row. Read leniently, case and spaces don't matter, the shape may be left out (its squares
show it), and so may the die where it doesn't matter which one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from common.phrases import listed
from engine.errors import AmbiguousError, UnreadableError
from engine.games.blokus_dice.invariants import name_on
from engine.games.blokus_dice.play.options import COLOURS, PLAYERS
from engine.games.blokus_dice.play.shapes import NAMES
from engine.games.blokus_dice.state import BlokusState, BlokusTurn, colour_in_hand
from engine.games.blokus_dice.violations import breaches_of_turn
from engine.support.breaches import not_legal
from engine.support.notation import unreadable

STRIKE = "strike"
_FACES = ("1", "2", "3", "4", "5", "6")
_EXPECTED = "a turn such as 1:V3:a1,a2,b1 or 4:I3:a1,a2,a3:strike"
_WORD = re.compile(r"(?:(p[1-4])\.)?([a-z0-9]+|!)|[\s:,;./=@+-]+")


def format_turn(turn: BlokusTurn) -> str:
    """Write a turn in its strict form."""
    strike = f":{STRIKE}" if turn.strike else ""
    return f"{turn.die}:{turn.shape}:{','.join(turn.squares)}{strike}"


def describe_turn(turn: BlokusTurn) -> str:
    """Say the turn in a short sentence."""
    strike = " and crosses out a strike" if turn.strike else ""
    drawn = f"{turn.shape} in {turn.colour} on {listed(turn.squares)}"
    return f"{turn.player} takes the {turn.die}{strike} and draws {drawn}."


@dataclass
class _Written:
    """What a text says of a turn."""

    squares: int = 0
    die: int | None = None
    shape: str | None = None
    strike: bool = False


def parse_turn(state: BlokusState, text: str, player: str | None = None) -> BlokusTurn:
    """Read a turn leniently; raises UnreadableError, IllegalTurnError (with breaches) or AmbiguousError."""
    who = player if player is not None else state.to_move or PLAYERS[0]
    if who not in state.settings.names:
        raise UnreadableError(f"there is no player {who!r}; expected one of {', '.join(state.settings.names)}")
    written = _read(state, text, who)
    found = [turn for turn in _meant(state, written, who) if not breaches_of_turn(state, turn)]
    if len(found) == 1:
        return found[0]
    if found:
        listed = ", ".join(format_turn(turn) for turn in found)
        raise AmbiguousError(f"{text!r} fits {len(found)} turns: {listed}; write one of them in full")
    breaches = breaches_of_turn(state, _meant(state, written, who)[0])
    raise not_legal(repr(text), breaches)


def _meant(state: BlokusState, written: _Written, who: str) -> list[BlokusTurn]:
    """The turns that a text may mean: with the die it names, else with each one on the table that it can be."""
    sheet = state.settings.sheet
    name = written.shape or name_on(sheet.grid, written.squares) or "?"
    row = sheet.face_of[sheet.number_of[name]] if name in sheet.number_of else 0
    if written.die is not None:
        dice = [written.die]
    elif written.strike:
        dice = sorted(set(state.dice) - {row}) or [row]
    else:
        dice = [row]
    squares = sheet.grid.names_of(written.squares)
    colour = COLOURS[colour_in_hand(state, PLAYERS.index(who))]
    return [BlokusTurn(who, die, name, squares, colour, written.strike) for die in dice]


def _read(state: BlokusState, text: str, who: str) -> _Written:
    written, either, as_shape = _Written(), "", False
    grid = state.settings.sheet.grid
    lowered, position = text.lower(), 0
    while position < len(lowered):
        match = _WORD.match(lowered, position)
        if match is None:
            raise unreadable(text, text[position], position + 1, _EXPECTED)
        owner, word = match.groups()
        column, position = position + 1, match.end()
        if word is None or (word == who and written == _Written()):
            continue
        if owner not in (None, who):
            raise unreadable(text, match.group(), column, f"a square of {who}'s own sheet")
        if word in (STRIKE, "!") and not written.strike:
            written.strike = True
        elif word in _FACES and written.die is None and written.shape is None and not written.squares:
            written.die = int(word)
        elif owner is None and word.upper() in NAMES and written.shape is None and not written.squares:
            written.shape = word.upper()
            either, as_shape = (word if word in grid.index else ""), lowered.startswith(":", position)
        elif word in grid.index:
            if written.squares >> grid.index[word] & 1:
                raise unreadable(text, word, column, "each square once")
            written.squares |= 1 << grid.index[word]
        else:
            raise unreadable(text, word, column, f"{_EXPECTED}, with squares from {grid.names[0]} to {grid.names[-1]}")
    if either and not (written.squares and (as_shape or name_on(grid, written.squares) == written.shape)):
        # A name such as F5 is also that of a square: here it began the list of squares.
        written.shape = None
        written.squares |= 1 << grid.index[either]
    if not written.squares:
        raise UnreadableError(f"{text!r} names no square; expected {_EXPECTED}", 1)
    return written
