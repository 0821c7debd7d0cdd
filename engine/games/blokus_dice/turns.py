"""Legal turns, the order of play in a round, scores, and the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from common.phrases import counted
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
from engine.support.grid import members, union
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


def placements_by_shape(
    sheet: Sheet, filled: FilledSheet, colour: int, shapes: int, changed: int = 0, within: int = -1
) -> dict[int, tuple[int, ...]]:
    """Return the legal placements of each of these shapes in a colour, sorted; shapes without one are left out.

    Only placements that cover all squares of ``changed`` and stay inside ``within`` are listed.
    """
    found: dict[int, list[int]] = {}
    for placement in sorted(_find_placements(sheet, filled, colour, shapes, changed, within)):
        found.setdefault((placement >> sheet.grid.squares).bit_length() - 1, []).append(placement & sheet.grid.every)
    return {shape: tuple(ways) for shape, ways in found.items()}


def _find_placements(
    sheet: Sheet, filled: FilledSheet, colour: int, shapes: int, changed: int = 0, within: int = -1
) -> Iterator[int]:
    """Yield every legal placement once, in the form of ``Sheet.covering``; limits as in `placements_by_shape`."""
    may_fill, anchors = open_and_anchors(sheet, filled.colours[colour], filled.filled)
    closed = ~(may_fill & within | shapes << sheet.grid.squares)
    if changed:
        through = sheet.covering[next(members(changed))]
        for placement in through:
            if not placement & closed and not changed & ~placement and placement & anchors:
                yield placement
        return
    for anchor in members(anchors):
        yield from [placement for placement in sheet.covering[anchor] if not placement & closed]
        # A placement that covers several anchors is listed for the first one only.
        closed |= 1 << anchor


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
            if any(True for _ in _find_placements(sheet, filled, colour_in_hand(state, state.seat), within)):
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
        return Outcome(None, f"{left} and {counted(-best[1], 'strike')} used each", winners)
    (winner,) = winners
    if len(ranked) == 1:
        gone = [player for player in state.options.names if player != winner]
        return Outcome(winner, f"{gone[0]} resigned" if len(gone) == 1 else "all the others resigned")
    if any(rank[0] == best[0] for player, rank in ranked.items() if player != winner):
        return Outcome(winner, f"{left}, a tie broken by fewer strikes used: {-best[1]}")
    return Outcome(winner, f"fewest unfilled squares: {unfilled}")
