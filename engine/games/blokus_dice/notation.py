"""States and turns as text: written strictly, read leniently.

A state is one line: who rolls or plays (``over`` when the game is), who starts the round, the markers around the ring,
the dice on the table (``-`` while a roll is awaited), every player's sheet, and the options that differ from their
defaults::

    p2 starter=p1 markers=red,blue,yellow,green dice=2,5,5 p1=10/10/10/10/10/10/10/10/r9/rr8:1 p2=-:0 p3=-:0 p4=-:0

A sheet is its rows, the farthest first, with ``r``, ``b``, ``y``, ``g`` for the colours and numbers for empty squares
in a row (``-`` when nothing is drawn), a colon and the number of strikes used; ``:out`` or ``:resigned`` follows if the
player is no longer in the game. A closed square counts as empty.

Turns as text, drawings of the sheets, and a summary of the rules, for players at a terminal.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby

from common.phrases import Phrase, capitalized, counted, either, in_turn, joined, listed
from engine.errors import AmbiguousError, UnreadableError
from engine.games.blokus_dice.explanation import breaches_of_turn
from engine.games.blokus_dice.sheet import CLOSED, HOUSE, NAMES, Sheet
from engine.games.blokus_dice.state import (
    COLOURS,
    FIXED_RING,
    PLAYERS,
    BlokusOptions,
    BlokusState,
    BlokusTurn,
    FilledSheet,
    PlayerStatus,
    check_position,
    colour_in_hand,
    name_on,
    options_from,
    read_shapes_drawn,
)
from engine.games.blokus_dice.turns import is_over, settle
from engine.support.breaches import illegal_turn
from engine.support.grid import members
from engine.support.notation import OVER, StateText, Word, tokens, unreadable, words
from engine.support.players import check_player
from engine.values import OptionValue

STRIKE = "strike"
_FACES = ("1", "2", "3", "4", "5", "6")
_EXPECTED = Phrase("a turn such as 1:V3:a1,a2,b1 or 4:I3:a1,a2,a3:strike")
_WORD = re.compile(r"(?:(p[1-4])\.)?([a-z][0-9]{1,2}(?=[a-z][0-9])|[a-z0-9]+|!)|[\s:,;./=@+-]+")


def format_turn(turn: BlokusTurn) -> str:
    """Write a turn in its strict form."""
    strike = f":{STRIKE}" if turn.strike else ""
    return f"{turn.die}:{turn.shape}:{','.join(turn.squares)}{strike}"


def describe(turn: BlokusTurn) -> str:
    """Describe the turn in a short sentence."""
    return either(
        turn.strike,
        "{player} takes the {die}, crosses out a strike and draws {shape} in {colour} on {squares}.",
        "{player} takes the {die} and draws {shape} in {colour} on {squares}.",
        turn.player,
        turn.die,
        turn.shape,
        turn.colour,
        listed(turn.squares),
    )


@dataclass
class _Written:
    """The parts of a turn's text."""

    squares: int = 0
    die: int | None = None
    shape: str | None = None
    strike: bool = False

    def take_word(self, word: str, *, is_square: bool) -> bool:
        """Return whether the word is a strike, or the die or shape before any square; record it if so."""
        if word in (STRIKE, "!") and not self.strike:
            self.strike = True
        elif self.shape is not None or self.squares:
            return False
        elif word in _FACES and self.die is None:
            self.die = int(word)
        elif not is_square and word.upper() in NAMES:
            self.shape = word.upper()
        else:
            return False
        return True


def parse_turn(state: BlokusState, text: str, player: str | None = None) -> BlokusTurn:
    """Read a turn leniently; raises UnreadableError, IllegalTurnError (with breaches) or AmbiguousError."""
    check_player(state.options.names, player)
    who = player or state.to_move or PLAYERS[0]
    written = _read(state, text, who)
    found = [turn for turn in _possible_turns(state, written, who) if not breaches_of_turn(state, turn)]
    if len(found) == 1:
        return found[0]
    if found:
        candidates = tuple(map(format_turn, found))
        which = ", ".join(candidates)
        raise AmbiguousError(
            Phrase("{text!r} fits {found} turns: {which}; write one of them in full", text, len(found), which),
            candidates,
        )
    breaches = breaches_of_turn(state, _possible_turns(state, written, who)[0])
    raise illegal_turn(repr(text), breaches)


def _possible_turns(state: BlokusState, written: _Written, who: str) -> list[BlokusTurn]:
    """Return the turns that a text may mean: with the die it names, or else with every die that fits."""
    sheet = state.options.sheet
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
    grid = state.options.sheet.grid
    for match in tokens(_WORD, text, _EXPECTED):
        owner, word = match.groups()
        column, shape = match.start() + 1, written.shape
        if word is None or (word == who and written == _Written()):
            continue
        if owner not in (None, who):
            raise unreadable(text, match.group(), column, Phrase("a square of {who}'s own sheet", who))
        if not written.take_word(word, is_square=owner is not None):
            if word not in grid.index:
                raise unreadable(
                    text,
                    word,
                    column,
                    Phrase("{expected}, with squares from {first} to {last}", _EXPECTED, grid.names[0], grid.names[-1]),
                )
            if written.squares >> grid.index[word] & 1:
                raise unreadable(text, word, column, Phrase("each square once"))
            written.squares |= 1 << grid.index[word]
        elif written.shape != shape:
            either, as_shape = (word if word in grid.index else ""), text.startswith(":", match.end())
    if either and not (written.squares and (as_shape or name_on(grid, written.squares) == written.shape)):
        # A name such as F5 is also that of a square: here it began the list of squares.
        written.shape = None
        written.squares |= 1 << grid.index[either]
    if not written.squares:
        raise UnreadableError(Phrase("{text!r} names no square; expected {expected}", text, _EXPECTED), 1)
    return written


def squares(state: BlokusState) -> dict[str, str]:
    """Return the closed squares of every sheet."""
    sheet = state.options.sheet
    closed = [sheet.grid.names[square] for square in members(sheet.closed)]
    return {f"{PLAYERS[seat]}.{name}": CLOSED for seat in range(state.options.players) for name in closed}


def standing(state: BlokusState) -> tuple[str, ...]:
    """Return the next player and action, the standby markers, and what is left on each sheet."""
    options = state.options
    if state.seat is None:
        awaited = Phrase("The game is over.")
    elif state.dice:
        awaited = Phrase(
            "Dice on the table: {names}. {player} takes one and draws in {colour}.",
            " ".join(map(str, state.dice)),
            state.to_move,
            COLOURS[colour_in_hand(state, state.seat)],
        )
    else:
        awaited = either(
            len(state.active()) == 1,
            "{player}: roll the die.",
            "{player}: roll the {active} dice.",
            player=state.to_move,
            active=len(state.active()),
        )
    # The marker that has waited longest is taken next.
    waiting = [COLOURS[colour] for colour in reversed(state.markers[options.players :])]
    standing_by = (Phrase("Standing by: {colours}.", in_turn(waiting)),) if waiting else ()
    sheets = (_left_on_sheet(state, seat, shows_shapes=seat == state.seat) for seat in range(options.players))
    return (awaited, *standing_by, *sheets)


def passed_over(state: BlokusState) -> str:
    """Say who went out in this round, or in the one just ended; empty if nobody did or the game is over."""
    if state.seat is None:
        return ""
    # Everyone draws one shape a round, so these players missed just this one.
    drawn = state.sheets[state.seat].shapes_drawn - (not state.dice)
    out = [
        player
        for player, sheet in zip(state.options.names, state.sheets, strict=True)
        if sheet.status == PlayerStatus.OUT and sheet.shapes_drawn == drawn
    ]
    return (
        either(
            len(out) == 1,
            "{out} can draw nothing and is out.",
            "{out} can draw nothing and are out.",
            capitalized(listed(out)),
        )
        if out
        else ""
    )


def _left_on_sheet(state: BlokusState, seat: int, *, shows_shapes: bool) -> str:
    """Say what is left on a sheet. Whoever plays sees the unused shapes, too; all of them would fill the screen."""
    sheet, filled = state.options.sheet, state.sheets[seat]
    strikes = sheet.strikes - filled.strikes
    rows = []
    for face, row in enumerate(sheet.shapes_of_row, 1):
        unused = [name for name in row if not filled.used >> sheet.number_of[name] & 1]
        rows.append(Phrase("row {face}: {shapes}", face, ", ".join(unused) or "-"))
    colour = COLOURS[colour_in_hand(state, seat)]
    holds = (
        Phrase("{player} holds {colour}", PLAYERS[seat], colour)
        if filled.status == PlayerStatus.PLAYING
        else Phrase("{player} holds {colour}, {status}", PLAYERS[seat], colour, filled.status)
    )
    left = Phrase(
        "{holds}; {number} filled, {strikes} left.", holds, filled.filled.bit_count(), counted(strikes, "strike")
    )
    return joined((left, Phrase("Shapes left: {rows}.", joined(rows, "; ")))) if shows_shapes else left


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Summarise the rules under these options."""
    in_force = options_from(options)
    sheet = in_force.sheet
    often = "Once" if sheet.strikes == 1 else f"Up to {sheet.strikes} times"
    strike = f"{often} a game you may cross out a strike to draw a shape of another row than your die's."
    paragraphs = [
        f"There are {in_force.players} players. Everyone fills a sheet of {sheet.columns} by {sheet.rows} squares "
        f"({sheet.open_squares.bit_count()} of them open) with shapes. The fewest unfilled squares win; "
        "a tie goes to fewer strikes used, and is shared if that is level too.",
        "A round: whoever starts it rolls one die for each player still in the game. In turn, clockwise, each takes a "
        "die and draws one unused shape from the row of that number, turned or flipped at will, with the marker in "
        "hand. Every shape is used once.",
        "The first shape of a colour covers a corner square of the sheet. Each further one touches its own colour "
        "at a corner, and never at a side. Other colours don't matter.",
        *((strike,) if sheet.strikes else ()),
        "After the round every marker goes one place to the left, and the next player in the game rolls. A player who "
        f"can't place anything in the colour in hand, with any die{' or a strike' if sheet.strikes else ''}, is out. "
        "They still pass markers, and "
        "from the next roll on there is one die fewer. The game ends when nobody is left.",
    ]
    if in_force.players < len(PLAYERS):
        where = (
            "at fixed places between the last player and the first"
            if in_force.standby == FIXED_RING
            else "to the right of whoever starts the round"
        )
        paragraphs.append(f"The markers that nobody holds stand by {where}, and go round with the others.")
    rows = "; ".join(f"{face}: {' '.join(row)}" for face, row in enumerate(sheet.shapes_of_row, 1))
    paragraphs.append(f"Rows of the sheet: {rows}.")
    return "\n\n".join(paragraphs)


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
