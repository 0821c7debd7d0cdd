"""States as text: written strictly, read leniently.

A state is one line: who is to move (or ``over``), what the game waits for, each player's sheet, and the rest of the
position::

    p2 roll p1=2....../4441...|loop:a1+b1+c1 p2=4....../4242... slots=I4,I3,O4,T5,X5 first=p2

A sheet is its lines from the top, separated by ``/`` and without empty lines at the top (``-`` if the sheet is empty),
then its loops and circled letters (``|letters:AB``). ``roll=`` is the roll on the table; ``to=`` are the players who
still write; ``then=`` those who may still draw a loop; ``slot=`` the tile whose penalty drops; ``crossed_off=`` the
letters crossed off; ``notches=`` those of the solo tiles. Options that differ from their defaults come last.

A single sheet without anything else is read as the first player's, who is to roll.
"""

from __future__ import annotations

import re
from dataclasses import replace

from common.phrases import Phrase, either, joined
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.number_drop import turns as playing
from engine.games.number_drop.explanation import fault_of
from engine.games.number_drop.sheet import (
    BOXES,
    COLUMNS,
    EMPTY_CELL,
    EMPTY_CELLS,
    GRID,
    LETTERS,
    LINES,
    Sheet,
    box_of_marks,
)
from engine.games.number_drop.state import (
    OPTIONS,
    PLAYERS,
    SLIDES_TO_GO,
    NumberDropOptions,
    NumberDropState,
    Phase,
    options_from,
)
from engine.games.number_drop.turns import read_dice_roll, read_tile_draw, tile_draws
from engine.options import differing_options
from engine.support.grid import members
from engine.support.notation import StateText, Word, unreadable, words

_NOTHING = "-"
_NAMES = (
    "slots",
    "first",
    "roll",
    "to",
    "then",
    "slot",
    "crossed_off",
    "notches",
    "last_turn",
    "star_slid",
    "gone",
    "announced",
)
_LINE = re.compile(r"[0-9x.]{7}")
_BARE = re.compile(r"/?[0-9x.]{7}(/[0-9x.]{7})*/?|/")
_SQUARE_NAMES = re.compile(r"[a-g](1[0-4]|[1-9])(\+[a-g](1[0-4]|[1-9]))*")


def format_sheet(sheet: Sheet) -> str:
    """Write a sheet in its strict form."""
    lines = [sheet.line(line) for line in range(max(sheet.heights))]
    parts = ["/".join(reversed(lines)) or _NOTHING]
    parts += [f"loop:{'+'.join(GRID.names_of(loop))}" for loop in sheet.loops if loop]
    if sheet.letters:
        parts.append("letters:" + _letters(sheet.letters))
    return "|".join(parts)


def _letters(letters: int) -> str:
    return "".join(LETTERS[index] for index in members(letters))


def _players(players: int) -> str:
    return ",".join(PLAYERS[player] for player in members(players))


def format_state(state: NumberDropState) -> str:
    """Write a state in its strict form."""
    parts = [] if state.phase is Phase.OVER else [str(state.to_move)]
    parts.append(state.phase.value)
    parts += [f"{player}={format_sheet(sheet)}" for player, sheet in zip(PLAYERS, state.sheets, strict=False)]
    named = {
        "slots": ",".join(state.tiles),
        "first": PLAYERS[state.first] if state.first else "",
        "roll": ",".join(state.roll),
        "to": _players(state.playing),
        "then": _players(state.combining),
        "slot": "" if state.slot is None else LETTERS[state.slot],
        "crossed_off": _letters(state.crossed_off),
        "notches": ",".join(map(str, state.notches)),
        "star_slid": "yes" if state.star_slid else "",
        "last_turn": "yes" if state.last_turn else "",
        "gone": _players(state.gone),
        "announced": "all:draw" if state.drawn else "",
    }
    parts += [f"{name}={value}" for name, value in named.items() if value]
    return " ".join([*parts, *differing_options(OPTIONS, state.options)])


def parse_state(text: str) -> NumberDropState:
    """Read a state leniently (any case, spaces and order of words), or a single sheet.

    Raises UnreadableError that names the faulty part and its column, or the invariant that makes the position
    impossible.
    """
    return _Reading(text).state()


class _Reading:
    """Reads one state's text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.phase: Word | None = None
        self.bare: list[Word] = []
        self._said = StateText(
            text, PLAYERS, "who is to move, what is awaited, a sheet such as p1=1......, or name=value"
        )
        for word in words(text):
            if word.text in [phase.value for phase in Phase] and self.phase is None:
                self.phase = word
            elif _BARE.fullmatch(word.text):
                self.bare.append(word)
            else:
                self._said.read(word)
        self.to_move = self._said.to_move
        self.named = self._said.named

    def state(self) -> NumberDropState:
        options = self._said.options(options_from, *PLAYERS, *_NAMES)
        if self.bare:
            return self._from_bare_sheet(options)
        phase = self._phase()
        sheets = tuple(self._sheet(player) for player in options.names)
        for player in PLAYERS[options.players :]:
            if player in self.named:
                raise self._fault(
                    player, Phrase("sheets of {players} players; write players= for more", options.players)
                )
        state = NumberDropState(
            options,
            phase,
            sheets,
            tiles=self._tiles(options, phase),
            first=self._first(options),
            roll=self._roll(options, phase),
            playing=self._set_of_players("to", options),
            combining=self._set_of_players("then", options),
            crossed_off=self._crossed_off(),
            notches=self._notches(options),
            slot=self._slot(phase),
            star_slid=self._yes("star_slid"),
            last_turn=self._yes("last_turn"),
            gone=self._set_of_players("gone", options),
            drawn=self._drawn(options, phase),
        )
        self._check(state)
        return state

    def _fault(self, name: str, expected: str) -> UnreadableError:
        word = self.named.get(name)
        if word is None:
            return UnreadableError(
                Phrase("the state {text!r} lacks {name}=; expected {expected}", self.text, name, expected),
                len(self.text) + 1,
            )
        return unreadable(self.text, word.text, word.column, expected)

    def _impossible(self, fault: str, word: Word | None) -> UnreadableError:
        return UnreadableError(
            Phrase("the state {text!r} can't be: {fault}", self.text, fault), word.column if word else 1
        )

    def _from_bare_sheet(self, options: NumberDropOptions) -> NumberDropState:
        spare = (
            self.to_move
            or self.phase
            or next((self.named[name] for name in (*PLAYERS, *_NAMES) if name in self.named), None)
        )
        if spare is not None:
            raise unreadable(self.text, *spare, Phrase("nothing but options beside a bare sheet"))
        joined = "/".join(part for word in self.bare for part in word.text.split("/") if part)
        sheet = self._read_sheet(Word(joined, self.bare[0].column), "the sheet")
        start = playing.new_state(options)
        state = replace(
            start, phase=Phase.ROLL, tiles=tile_draws(options)[0].roll.faces, sheets=(sheet, *start.sheets[1:])
        )
        return replace(state, phase=Phase.OVER) if playing.reached_the_line(state) else state

    def _phase(self) -> Phase:
        if self.phase is None:
            listed = ", ".join(phase.value for phase in Phase)
            raise UnreadableError(
                Phrase("the state {text!r} doesn't say what is awaited; expected one of {listed}", self.text, listed),
                len(self.text) + 1,
            )
        return Phase(self.phase.text)

    def _sheet(self, player: str) -> Sheet:
        if player not in self.named:
            raise self._fault(player, Phrase("the sheet of {player}, {nothing} when it is empty", player, _NOTHING))
        return self._read_sheet(self.named[player], Phrase("the sheet of {player}", player))

    def _read_sheet(self, word: Word, whose: str) -> Sheet:
        grid, *marks = word.text.replace(";", "|").split("|")
        sheet = Sheet(self._read_cells(Word(grid, word.column)))
        column = word.column + len(grid) + 1
        for mark in marks:
            sheet = self._read_mark(sheet, Word(mark, column))
            column += len(mark) + 1
        fault = sheet.faults()
        if fault:
            raise self._impossible(joined((whose, fault)), word)
        return sheet

    def _read_cells(self, word: Word) -> str:
        if word.text == _NOTHING:
            return EMPTY_CELLS
        lines = word.text.split("/")
        column = word.column
        for line in lines:
            if not _LINE.fullmatch(line):
                raise unreadable(self.text, line, column, Phrase("a line of {columns} digits, X and dots", COLUMNS))
            column += len(line) + 1
        if len(lines) > LINES:
            raise unreadable(self.text, word.text, word.column, Phrase("at most {lines} lines", LINES))
        return "".join(reversed(lines)).upper().ljust(len(EMPTY_CELLS), EMPTY_CELL)

    def _read_mark(self, sheet: Sheet, word: Word) -> Sheet:
        kind, _, value = word.text.partition(":")
        if kind == "letters" and value and set(value) <= set(LETTERS.lower()):
            return replace(sheet, letters=self._read_letters(value))
        if kind != "loop" or not _SQUARE_NAMES.fullmatch(value):
            raise unreadable(self.text, *word, Phrase("loop:a1+b1+c1 or letters:AB"))
        names = value.split("+")
        squares = GRID.squares_named(names)
        box = box_of_marks("".join(sheet.cells[GRID.index[name]] for name in names))
        if box is None or squares.bit_count() != len(names):
            raise self._impossible(
                Phrase("the loop {value} isn't round 3 to 8 equal or consecutive digits", value), word
            )
        if sheet.loops[box]:
            name, size = BOXES[box]
            raise self._impossible(
                Phrase("the box {letter}{size} is filled twice; each combination is scored once", name, size), word
            )
        return sheet.with_loop(box, squares, letter=False)

    @staticmethod
    def _read_letters(value: str) -> int:
        return sum(1 << LETTERS.index(letter) for letter in set(value.upper()))

    def _crossed_off(self) -> int:
        word = self.named.get("crossed_off")
        if word is None:
            return 0
        if not set(word.text) <= set(LETTERS.lower()):
            raise self._fault("crossed_off", Phrase("letters out of {letters}", LETTERS))
        return self._read_letters(word.text)

    def _set_of_players(self, name: str, options: NumberDropOptions) -> int:
        word = self.named.get(name)
        if word is None:
            return 0
        listed = word.text.split(",")
        if not set(listed) <= set(options.names):
            raise self._fault(name, Phrase("players out of {names}", ", ".join(options.names)))
        return sum(1 << PLAYERS.index(player) for player in set(listed))

    def _first(self, options: NumberDropOptions) -> int:
        word = self.named.get("first")
        if word is None:
            return 0
        if word.text not in options.names:
            raise self._fault("first", Phrase("one of {names}", ", ".join(options.names)))
        return PLAYERS.index(word.text)

    def _tiles(self, options: NumberDropOptions, phase: Phase) -> tuple[str, ...]:
        word = self.named.get("slots")
        if word is None:
            if phase in (Phase.TILES, Phase.OVER):
                return ()
            raise self._fault("slots", Phrase("the faces of the five tiles, slot A first, such as I4,L4,O4,T4,S4"))
        try:
            return read_tile_draw(options, word.text.upper().split(","))
        except IllegalTurnError as error:
            raise self._impossible(str(error), word) from None

    def _roll(self, options: NumberDropOptions, phase: Phase) -> tuple[str, ...]:
        word = self.named.get("roll")
        needed = phase in (Phase.SLIDE, Phase.STAR_SLIDE, Phase.DROP) or (phase is Phase.PENALTY and options.solo)
        if word is None:
            if needed:
                raise self._fault("roll", Phrase("the dice, such as 1,3,4,5,T"))
            return ()
        if not needed:
            raise self._impossible(Phrase("no roll lies on the table then"), word)
        try:
            return read_dice_roll(options.components, word.text.upper().split(","))
        except IllegalTurnError as error:
            raise self._impossible(str(error), word) from None

    def _slot(self, phase: Phase) -> int | None:
        word = self.named.get("slot")
        if (word is None) != (phase is not Phase.PENALTY):
            raise self._fault("slot", Phrase("the slot whose penalty drops, A to E, in a penalty and only then"))
        if word is None:
            return None
        if len(word.text) != 1 or word.text.upper() not in LETTERS:
            raise self._fault("slot", Phrase("one of {letters}", LETTERS))
        return LETTERS.index(word.text.upper())

    def _notches(self, options: NumberDropOptions) -> tuple[int, ...]:
        word = self.named.get("notches")
        if word is None and not options.solo:
            return ()
        listed = word.text.split(",") if word else []
        notches = [notch for notch in listed if notch in ("0", "1", "2", "3", "4")]
        if len(notches) != len(LETTERS) or len(listed) != len(LETTERS) or not options.solo:
            raise self._fault(
                "notches", Phrase("{count} numbers from 0 to {most}, with players=1 only", len(LETTERS), SLIDES_TO_GO)
            )
        return tuple(map(int, notches))

    def _yes(self, name: str) -> bool:
        word = self.named.get(name)
        if word is not None and word.text != "yes":
            raise self._fault(name, "yes")
        return word is not None

    def _drawn(self, options: NumberDropOptions, phase: Phase) -> bool:
        word = self.named.get("announced")
        if word is None:
            return False
        if word.text != "all:draw" or options.players != 2 or phase is not Phase.OVER:
            raise self._fault("announced", Phrase("all:draw, in a two-player game that is over"))
        return True

    def _check(self, state: NumberDropState) -> None:
        """Raise UnreadableError for an impossible position."""
        fault = fault_of(state)
        if fault:
            raise self._impossible(fault, self.phase)
        if self.to_move is not None and self.to_move.text != state.to_move:
            expected = either(
                state.to_move, "{player}, who is next", "nobody, as the game is over", player=state.to_move
            )
            raise unreadable(self.text, *self.to_move, expected)
