"""Legal turns, the order of play in a round, scores, and the outcome."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from common.phrases import Phrase, counted
from engine.games.blokus_dice.sheet import Sheet
from engine.games.blokus_dice.state import (
    COLOURS,
    PLAYERS,
    BlokusState,
    BlokusTurn,
    FilledSheet,
    PlayerStatus,
    colour_in_hand,
    pass_markers,
)
from engine.support.grid import ORTHOGONAL, union
from engine.support.lazy import FromIterator
from engine.values import Outcome


class Choice(NamedTuple):
    """A die to take, a shape's number, whether that uses a strike, and every placement of the shape."""

    die: int
    shape: int
    strike: bool
    placements: tuple[int, ...]


def open_and_anchors(sheet: Sheet, own: int, filled: int) -> tuple[int, int]:
    """Return the squares that a colour may fill, and the anchors, of which it must fill one; ``own`` is its set."""
    may_fill = sheet.open_squares & ~(filled | sheet.grid.adjacent_to(own))
    return may_fill, may_fill & (sheet.grid.diagonal_to(own) if own else sheet.corners)


class PlacementFinder:
    """Finds legal placements on a sheet; caches, for each square, those that fit the open squares at its sides."""

    def __init__(self, sheet: Sheet) -> None:
        self.sheet = sheet
        self.squares = sheet.grid.squares
        self._rows = tuple(row << self.squares for row in sheet.row_sets[1:])
        self._at_sides = sheet.grid.neighbours(ORTHOGONAL)
        self._fitting: list[dict[int, tuple[tuple[int, ...], ...]]] = [{} for _ in range(self.squares)]

    def placements(self, own: int, filled: int, shapes: int) -> list[int]:
        """Return every legal placement of these shapes in the colour that fills ``own``, as in ``Sheet.covering``."""
        may_fill, anchors = open_and_anchors(self.sheet, own, filled)
        wanted = shapes << self.squares
        rows = [number for number, row in enumerate(self._rows) if row & wanted]
        closed = ~(may_fill | wanted)
        found: list[int] = []
        while anchors:
            lowest = anchors & -anchors
            anchors ^= lowest
            anchor = lowest.bit_length() - 1
            open_sides = self._at_sides[anchor] & may_fill
            fitting = self._fitting[anchor].get(open_sides) or self._find_fitting(anchor, open_sides)
            for row in rows:
                found += [placement for placement in fitting[row] if not placement & closed]
            # A placement that covers several anchors is listed for the first one only.
            closed |= lowest
        return found

    def _find_fitting(self, square: int, open_sides: int) -> tuple[tuple[int, ...], ...]:
        """Return the placements that cover a square and only open squares at its sides, by the row of the shape."""
        closed = self._at_sides[square] & ~open_sides
        every = [placement for placement in self.sheet.covering[square] if not placement & closed]
        fitting = tuple(tuple(placement for placement in every if placement & row) for row in self._rows)
        self._fitting[square][open_sides] = fitting
        return fitting


@lru_cache(maxsize=8)
def finder_of(sheet: Sheet) -> PlacementFinder:
    """Return the placement finder of a sheet; its cache holds at most 16 lists for each square."""
    return PlacementFinder(sheet)


def placements_by_shape(
    sheet: Sheet, filled: FilledSheet, colour: int, shapes: int, changed: int = 0, within: int = -1
) -> dict[int, tuple[int, ...]]:
    """Return the legal placements of each of these shapes in a colour, sorted; shapes without one are left out.

    Only placements that cover all squares of ``changed`` and stay inside ``within`` are listed.
    """
    found: dict[int, list[int]] = {}
    for placement in sorted(finder_of(sheet).placements(filled.colours[colour], filled.filled, shapes)):
        squares = placement & sheet.grid.every
        if not (changed & ~squares or squares & ~within):
            found.setdefault((placement >> sheet.grid.squares).bit_length() - 1, []).append(squares)
    return {shape: tuple(ways) for shape, ways in found.items()}


def shapes_within_reach(sheet: Sheet, filled: FilledSheet, dice: Sequence[int]) -> int:
    """Return the set of unused shapes that some die gives, or of all unused shapes if there is a strike left."""
    unused = (1 << len(sheet.shapes)) - 1 & ~filled.used
    if filled.strikes < sheet.strikes:
        return unused
    return unused & union(sheet.row_sets[die] for die in dice)


def choices(state: BlokusState, *, strikes: bool = True, changed: int = 0, within: int = -1) -> list[Choice]:
    """List the choices of the player to move: by die, those without a strike first, then by shape.

    Dice that show the same number count once. The list is empty while a roll is awaited. ``changed`` and ``within``
    limit the squares as in `placements_by_shape`.
    """
    if state.seat is None or not state.dice:
        return []
    sheet, filled = state.options.sheet, state.sheets[state.seat]
    dice = sorted(set(state.dice))
    with_strikes = strikes and filled.strikes < sheet.strikes
    shapes = shapes_within_reach(sheet, filled, dice)
    if not with_strikes:
        shapes &= union(sheet.row_sets[die] for die in dice)
    ways = placements_by_shape(sheet, filled, colour_in_hand(state, state.seat), shapes, changed, within)
    return [
        Choice(die, shape, strike, placements)
        for die in dice
        for strike in ((False, True) if with_strikes else (False,))
        for shape, placements in ways.items()
        if (sheet.face_of[shape] == die) is not strike
    ]


def turns_of(state: BlokusState, listed: Sequence[Choice]) -> Sequence[BlokusTurn]:
    """Return the turns that these choices allow the player to move, each created on access."""
    ways = ((choice, placement) for choice in listed for placement in choice.placements)
    return FromIterator(ways, lambda way: turn_of(state, *way))


def turn_of(state: BlokusState, choice: Choice, placement: int) -> BlokusTurn:
    """Return the turn of the player to move that makes a choice with this placement."""
    seat = state.seat or 0
    sheet = state.options.sheet
    return BlokusTurn(
        PLAYERS[seat],
        choice.die,
        sheet.shapes[choice.shape],
        sheet.grid.names_of(placement),
        COLOURS[colour_in_hand(state, seat)],
        choice.strike,
    )


def play_turn(state: BlokusState, turn: BlokusTurn) -> BlokusState:
    """Return the state after a legal turn; players who can draw nothing are skipped."""
    seat, sheet = PLAYERS.index(turn.player), state.options.sheet
    squares = sheet.grid.squares_named(turn.squares)
    filled = state.sheets[seat].drawn(
        COLOURS.index(turn.colour), squares, sheet.number_of[turn.shape], strike=turn.strike
    )
    dice = list(state.dice)
    dice.remove(turn.die)
    return settle(next_in_round(replace(state.with_sheet(seat, filled), dice=tuple(dice))))


def next_in_round(state: BlokusState) -> BlokusState:
    """Return the state after the player at ``state.seat`` finishes: the next player's turn, or a new round."""
    waiting = [seat for seat in state.still_to_play() if seat != state.seat]
    if waiting:
        return replace(state, seat=waiting[0])
    following = [seat for seat in state.active() if seat != state.starter] or state.active()
    starter = following[0] if following else state.starter
    return replace(state, markers=pass_markers(state), starter=starter, seat=starter, dice=())


def is_over(state: BlokusState) -> bool:
    """Return whether no player is left in the game, or all but one have resigned."""
    resigned = sum(sheet.status == PlayerStatus.RESIGNED for sheet in state.sheets)
    return not state.active() or resigned >= len(state.sheets) - 1


def settle(state: BlokusState) -> BlokusState:
    """Return the state at the next player who can draw, the next roll or the end; who can draw nothing is out."""
    while not is_over(state) and state.seat is not None:
        filled = state.sheets[state.seat]
        if not state.dice:
            starter = state.active()[0]
            return replace(state, starter=starter, seat=starter)
        if filled.status == PlayerStatus.PLAYING:
            sheet = state.options.sheet
            within = shapes_within_reach(sheet, filled, state.dice)
            own = filled.colours[colour_in_hand(state, state.seat)]
            if finder_of(sheet).placements(own, filled.filled, within):
                return state
            state = state.with_sheet(state.seat, filled.with_status(PlayerStatus.OUT))
            continue
        state = next_in_round(state)
    return replace(state, seat=None, dice=())


def scores_of(state: BlokusState) -> dict[str, int]:
    """Return the number of squares that each player has filled."""
    return {player: filled.filled.bit_count() for player, filled in zip(state.options.names, state.sheets, strict=True)}


def outcome_of(state: BlokusState) -> Outcome | None:
    """Return the outcome, or ``None`` while the game continues.

    The player with the fewest unfilled squares wins; ties go to the one with fewer strikes used, or else are shared.
    Players who have resigned can't win.
    """
    if state.seat is not None:
        return None
    ranked: dict[str, tuple[int, int]] = {
        PLAYERS[seat]: (filled.filled.bit_count(), -filled.strikes)
        for seat, filled in enumerate(state.sheets)
        if filled.status != PlayerStatus.RESIGNED
    }
    best = max(ranked.values())
    winners = tuple(player for player, rank in ranked.items() if rank == best)
    unfilled = state.options.sheet.open_squares.bit_count() - best[0]
    left = counted(unfilled, "unfilled square")
    if len(winners) > 1:
        strikes = counted(-best[1], "strike")
        return Outcome(None, Phrase("{squares} and {strikes} used each", left, strikes), winners)
    (winner,) = winners
    if len(ranked) == 1:
        gone = [player for player in state.options.names if player != winner]
        return Outcome(
            winner, Phrase("{gone} resigned", gone[0]) if len(gone) == 1 else Phrase("all the others resigned")
        )
    if any(rank[0] == best[0] for player, rank in ranked.items() if player != winner):
        return Outcome(winner, Phrase("{squares}, a tie broken by fewer strikes used: {number}", left, -best[1]))
    return Outcome(winner, Phrase("fewest unfilled squares: {unfilled}", unfilled))
