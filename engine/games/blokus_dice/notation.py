"""Turns as text, drawings of the sheets, and a summary of the rules, for players at a terminal."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from common.phrases import Phrase, capitalized, counted, either, in_turn, joined, listed
from engine.errors import AmbiguousError, UnreadableError
from engine.games.blokus_dice import state_text
from engine.games.blokus_dice.explanation import breaches_of_turn
from engine.games.blokus_dice.sheet import CLOSED, NAMES
from engine.games.blokus_dice.state import (
    COLOURS,
    FIXED_RING,
    PLAYERS,
    BlokusState,
    BlokusTurn,
    PlayerStatus,
    colour_in_hand,
    name_on,
    options_from,
)
from engine.support.breaches import illegal_turn
from engine.support.grid import members
from engine.support.notation import tokens, unreadable
from engine.support.players import check_player
from engine.values import OptionValue

format_state, parse_state = state_text.format_state, state_text.parse_state

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
                    Phrase(
                        "{expected}, with squares from {name} to {name_2}", _EXPECTED, grid.names[0], grid.names[-1]
                    ),
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
            "{player} rolls 1 die.",
            "{player} rolls {active} dice.",
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
