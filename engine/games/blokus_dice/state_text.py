"""States as text: written strictly, read leniently.

A state is one line: who rolls or plays (``over`` when the game is), who starts the round, the markers around the ring,
the dice on the table (``-`` while a roll is awaited), every player's sheet, and the options that differ from their
defaults::

    p2 starter=p1 markers=red,blue,yellow,green dice=2,5,5 p1=10/10/10/10/10/10/10/10/r9/rr8:1 p2=-:0 p3=-:0 p4=-:0

A sheet is its rows, the farthest first, with ``r``, ``b``, ``y``, ``g`` for the colours and numbers for empty squares
in a row (``-`` when nothing is drawn), a colon and the number of strikes used; ``:out`` or ``:resigned`` follows if the
player is no longer in the game. A closed square counts as empty.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import groupby

from common.phrases import Phrase
from engine.errors import UnreadableError
from engine.games.blokus_dice.sheet import HOUSE, Sheet
from engine.games.blokus_dice.state import (
    COLOURS,
    FIXED_RING,
    PLAYERS,
    BlokusOptions,
    BlokusState,
    FilledSheet,
    PlayerStatus,
    check_position,
    options_from,
    read_shapes_drawn,
)
from engine.games.blokus_dice.turns import is_over, settle
from engine.support.notation import OVER, StateText, Word, words

_NOTHING = "-"
_PARTS = (*PLAYERS, "starter", "markers", "dice")
_LETTERS = "".join(colour[0] for colour in COLOURS)
_SHEET = Phrase("a sheet such as p1=-:0 or p1=10/…/r9/rr8:1, with :out or :resigned at the end for who no longer plays")


def format_state(state: BlokusState) -> str:
    """Write a state in its strict form."""
    parts = [
        state.to_move or OVER,
        f"starter={PLAYERS[state.starter]}",
        f"markers={','.join(COLOURS[colour] for colour in state.markers)}",
        f"dice={','.join(map(str, state.dice)) or _NOTHING}",
    ]
    options = state.options
    parts += [
        f"{player}={_format_sheet(options.sheet, filled)}"
        for player, filled in zip(options.names, state.sheets, strict=True)
    ]
    if (sheet := str(options.sheet)) != HOUSE:
        parts.append(f"sheet={sheet}")
    if options.standby != FIXED_RING:
        parts.append(f"standby={options.standby}")
    return " ".join(parts)


def _format_sheet(sheet: Sheet, filled: FilledSheet) -> str:
    standing = "" if filled.status == PlayerStatus.PLAYING else f":{filled.status}"
    return f"{format_squares(sheet, filled)}:{filled.strikes}{standing}"


def format_squares(sheet: Sheet, filled: FilledSheet) -> str:
    """Return the squares of a sheet in strict text."""
    if not filled.filled:
        return _NOTHING
    letters = []
    for square in range(sheet.grid.squares):
        colour = next(
            (letter for letter, drawn in zip(_LETTERS, filled.colours, strict=True) if drawn >> square & 1), "."
        )
        letters.append(colour)
    rows = ["".join(letters[start : start + sheet.columns]) for start in range(0, len(letters), sheet.columns)]
    return "/".join(
        "".join(
            str(len(run)) if mark == "." else run for mark, run in ((key, "".join(same)) for key, same in groupby(row))
        )
        for row in reversed(rows)
    )


def parse_state(text: str) -> BlokusState:
    """Read a state leniently: any case, spaces and order; parts left out have their starting values.

    Raises UnreadableError that names the faulty part and its column, or the broken invariant.
    """
    said = StateText(text, PLAYERS, "NAME=VALUE, such as dice=1,2,3,4")
    for word in words(text):
        said.read(word)
    return _Reader(said).state()


class _Reader:
    """Builds a state from the parts of a text."""

    def __init__(self, said: StateText) -> None:
        self._text = said.text
        self._said = said
        self._named = said.named
        self._options = self._read_options()

    def state(self) -> BlokusState:
        sheets = tuple(self._filled(player) for player in self._options.names)
        to_move, over = self._said.to_move, self._said.is_over
        mover = None if to_move is None or over else self._seat(to_move)
        starter = self._seat(self._named["starter"]) if "starter" in self._named else mover or 0
        state = BlokusState(self._options, sheets, self._markers(), starter, None, self._dice())
        if not over:
            state = replace(state, seat=starter if mover is None else mover)
        elif not is_over(state):
            raise UnreadableError(
                Phrase(
                    "the state {text!r} says 'over', but {players} can still play; write who is to move, or :out "
                    "behind the sheets of those who can't place anything",
                    self._text,
                    ", ".join(PLAYERS[seat] for seat in state.active()),
                )
            )
        try:
            check_position(state)
        except UnreadableError as error:
            raise UnreadableError(Phrase("the state {text!r} is impossible: {error}", self._text, error)) from error
        return settle(state)

    def _read_options(self) -> BlokusOptions:
        given = [player for player in PLAYERS if player in self._named]
        if not given:
            return self._said.options(options_from, *_PARTS)
        if given != list(PLAYERS[: len(given)]) or len(given) < 2:
            word = self._named[given[-1]]
            raise self._said.bad(
                word, Phrase("the sheets of two, three or four players, p1 first, not of {given}", ", ".join(given))
            )
        if "players" in self._named and self._named["players"].text != str(len(given)):
            raise self._said.bad(
                self._named["players"], Phrase("{sheets}, which is how many sheets there are", len(given))
            )
        return self._said.options(lambda named: options_from({"players": len(given), **named}), *_PARTS)

    def _seat(self, word: Word) -> int:
        if word.text not in self._options.names:
            raise self._said.bad(word, Phrase("one of {names}", ", ".join(self._options.names)))
        return PLAYERS.index(word.text)

    def _markers(self) -> tuple[int, ...]:
        word = self._named.get("markers")
        if word is None:
            return (0, 1, 2, 3)
        names = word.text.split(",")
        found = [_LETTERS.find(name[:1]) for name in names if name and COLOURS[_LETTERS.find(name[0])].startswith(name)]
        if len(names) != len(found) or sorted(found) != [0, 1, 2, 3]:
            raise self._said.bad(word, Phrase("each of {colours} once, separated by commas", ", ".join(COLOURS)))
        return tuple(found)

    def _dice(self) -> tuple[int, ...]:
        word = self._named.get("dice")
        if word is None or word.text == _NOTHING:
            return ()
        if not re.fullmatch("[1-6](,?[1-6]){0,3}", word.text):
            raise self._said.bad(
                word, Phrase("one to four dice such as 1,2,3,4, or {nothing} while a roll is awaited", _NOTHING)
            )
        return tuple(sorted(int(face) for face in word.text.replace(",", "")))

    def _filled(self, player: str) -> FilledSheet:
        word = self._named.get(player)
        if word is None:
            return FilledSheet()
        match = re.fullmatch(
            rf"([^:]+)(?::([0-9]{{1,2}})(?::({PlayerStatus.OUT}|{PlayerStatus.RESIGNED}))?)?", word.text
        )
        if match is None:
            raise self._said.bad(word, _SHEET)
        colours = self._squares(Word(match[1], word.column))
        try:
            used = read_shapes_drawn(self._options.sheet, player, colours)
        except UnreadableError as error:
            raise UnreadableError(
                Phrase("the state {text!r} is impossible: {error}", self._text, error), word.column
            ) from error
        return FilledSheet(colours, used, int(match[2] or 0), PlayerStatus(match[3] or PlayerStatus.PLAYING))

    def _squares(self, word: Word) -> tuple[int, ...]:
        sheet = self._options.sheet
        colours = [0, 0, 0, 0]
        rows = [] if word.text == _NOTHING else word.text.split("/")
        if rows and len(rows) != sheet.rows:
            raise self._said.bad(
                word,
                Phrase(
                    "{expected} rows separated by '/', not {got}; or {nothing} for an empty sheet",
                    sheet.rows,
                    len(rows),
                    _NOTHING,
                ),
            )
        column = word.column
        for row, written in zip(reversed(range(sheet.rows)), rows, strict=False):
            marks = re.sub("[0-9]{1,2}", lambda run: "." * int(run[0]), written)
            if len(marks) != sheet.columns or marks.strip("." + _LETTERS):
                raise self._said.bad(
                    Word(written, column),
                    Phrase("{columns} squares of row {row} as {letters} and numbers", sheet.columns, row + 1, _LETTERS),
                )
            for square, mark in enumerate(marks, row * sheet.columns):
                if mark != ".":
                    if sheet.closed >> square & 1:
                        raise self._said.bad(
                            Word(written, column), Phrase("{name} empty: it is closed", sheet.grid.names[square])
                        )
                    colours[_LETTERS.index(mark)] |= 1 << square
            column += len(written) + 1
        return tuple(colours)
