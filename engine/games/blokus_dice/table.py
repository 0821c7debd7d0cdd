"""Which rules the change of a whole table breaks."""

from __future__ import annotations

from engine.api import Appearance, Breach
from engine.games.blokus_dice.invariants import name_on
from engine.games.blokus_dice.play.options import COLOURS, PLAYERS
from engine.games.blokus_dice.state import BlokusState, colour_in_hand, read_looks
from engine.games.blokus_dice.turns import shapes_within_reach
from engine.games.blokus_dice.violations import (
    breach_of_playing,
    breaches_of_drawing,
    no_strike_left,
    places_on,
    square_taken,
    wrong_colour,
)
from engine.support.grid import members


def explain_change(before: BlokusState, after: Appearance) -> tuple[Breach, ...]:
    """Say which rules the change breaks, the nearest violation first; empty when none or one legal turn explains it.

    Places that ``after`` leaves out count as unchanged. Raises UnreadableError for a place or look that isn't one.
    """
    changed: dict[int, dict[int | None, int]] = {}
    for (seat, square), colour in read_looks(before.settings, after).items():
        if colour != _colour_on(before, seat, square):
            by_colour = changed.setdefault(seat, {})
            by_colour[colour] = by_colour.get(colour, 0) | 1 << square
    own = [seat for seat in changed if seat == before.seat]
    others = sorted(seat for seat in changed if seat != before.seat)
    return tuple(breach for seat in own + others for breach in _on_sheet(before, seat, changed[seat]))


def _colour_on(state: BlokusState, seat: int, square: int) -> int | None:
    squares = enumerate(state.sheets[seat].colours)
    return next((colour for colour, drawn in squares if drawn >> square & 1), None)


def _on_sheet(before: BlokusState, seat: int, changed: dict[int | None, int]) -> list[Breach]:
    every = 0
    for squares in changed.values():
        every |= squares
    at_all = breach_of_playing(before, seat, places_on(before, seat, every))
    if at_all is not None:
        return [at_all]
    found = []
    hand = colour_in_hand(before, seat)
    drawn = {colour: squares for colour, squares in changed.items() if colour is not None}
    if wiped := changed.get(None):
        found.append(_wiped(before, seat, wiped))
    filled = before.sheets[seat].filled
    for colour in sorted(set(drawn) - {hand}):
        if taken := drawn[colour] & filled:
            found.append(square_taken(places_on(before, seat, taken)))
        if rest := drawn[colour] & ~filled:
            found.append(wrong_colour(PLAYERS[seat], COLOURS[colour], COLOURS[hand], places_on(before, seat, rest)))
    if hand in drawn:
        breaches = breaches_of_drawing(before, seat, drawn[hand])
        found += breaches or _out_of_reach(before, seat, drawn[hand])
    return found


def _wiped(before: BlokusState, seat: int, wiped: int) -> Breach:
    places = places_on(before, seat, wiped)
    looks = [
        f"{place} {COLOURS[_colour_on(before, seat, square) or 0]}"
        for place, square in zip(places, members(wiped), strict=True)
    ]
    return Breach(
        "wiped", f"{', '.join(places)} no longer shows what was drawn.", f"Draw {', '.join(looks)} again.", places
    )


def _out_of_reach(before: BlokusState, seat: int, squares: int) -> list[Breach]:
    sheet, filled = before.settings.sheet, before.sheets[seat]
    name = name_on(sheet.grid, squares)
    assert name is not None
    number = sheet.number_of[name]
    if shapes_within_reach(sheet, filled, before.dice) >> number & 1:
        return []
    return [
        no_strike_left(PLAYERS[seat], name, sheet.face_of[number], filled.strikes, places_on(before, seat, squares))
    ]
