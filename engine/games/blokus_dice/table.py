"""Reads sheets as a start, as a correction or in the middle of a turn, and explains which rules a change breaks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.errors import UnreadableError
from engine.games.blokus_dice.invariants import check_position, name_on, read_shapes_drawn
from engine.games.blokus_dice.state import (
    COLOURS,
    PLAYERS,
    BlokusOptions,
    BlokusState,
    FilledSheet,
    PlayerStatus,
    appearance_of,
    colour_in_hand,
    options_from,
    read_looks,
)
from engine.games.blokus_dice.turns import choices, settle, shapes_within_reach
from engine.games.blokus_dice.violations import (
    breach_of_playing,
    breaches_of_drawing,
    drawn_over,
    named,
    no_strike_left,
    not_joined,
    places_on,
    wiped,
    wrong_colour,
)
from engine.support.breaches import illegal_start
from engine.support.grid import union
from engine.support.players import check_player, mover_after_correction
from engine.values import Appearance, Breach, LookName, OptionValue, Place, Player, Unfinished

appearance = appearance_of


def new_state(options: BlokusOptions) -> BlokusState:
    """Return the start: empty sheets, p1 with red to roll, the colours around the ring from there."""
    return BlokusState(options, (FilledSheet(),) * options.players)


def set_up(
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,  # noqa: ARG001 - there is only one start
) -> BlokusState:
    """Return the starting state; raises IllegalTurnError with breaches if a sheet isn't empty."""
    in_force = options_from(options)
    looks = read_looks(in_force, appearance)
    drawn = [place for place, colour in zip(appearance, looks.values(), strict=True) if colour is not None]
    sheets = [tuple(place for place in drawn if place.startswith(f"{player}.")) for player in in_force.names]
    breaches = [
        Breach(
            "sheet-not-clean",
            f"There is something drawn on {named(places)}.",
            "Wipe every sheet clean before the game.",
            places,
        )
        for places in sheets
        if places
    ]
    if breaches:
        raise illegal_start(breaches)
    return new_state(in_force)


def amend(state: BlokusState, looks: Mapping[Place, LookName], to_move: Player | None = None) -> BlokusState:
    """Return the state with these looks on these places and ``to_move`` to roll or play; everything else stays.

    The squares determine which shapes are crossed off. If ``to_move`` was out of the game, that player is back in it.
    Raises UnreadableError for an impossible position.
    """
    options = state.options
    check_player(options.names, to_move)
    # Raises an error if the game was over and nobody is named.
    mover_after_correction(options.names, to_move, state.to_move)
    changed: dict[int, list[int]] = {}
    for (seat, square), colour in read_looks(options, looks).items():
        if colour is not None and options.sheet.closed >> square & 1:
            raise UnreadableError(f"{options.sheet.grid.names[square]} can't be filled: it is closed on this sheet")
        colours = changed.setdefault(seat, list(state.sheets[seat].colours))
        for each in range(len(colours)):
            colours[each] = colours[each] & ~(1 << square) | (colour == each) << square
    for seat, colours in changed.items():
        used = read_shapes_drawn(options.sheet, PLAYERS[seat], colours)
        filled = state.sheets[seat]
        strikes = min(filled.strikes, used.bit_count())
        state = state.with_sheet(seat, replace(filled, colours=tuple(colours), used=used, strikes=strikes))
    if to_move is not None:
        seat = PLAYERS.index(to_move)
        state = state.with_sheet(seat, state.sheets[seat].with_status(PlayerStatus.PLAYING))
        state = replace(state, seat=seat, starter=state.starter if state.dice else seat)
    check_position(state)
    return settle(state)


def points_of_sheet(looks: Mapping[Place, LookName]) -> dict[str, int]:
    """Return the number of filled squares on one sheet."""
    return {"squares filled": sum(look in COLOURS for look in looks.values())}


def explain(before: BlokusState, after: Appearance) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first.

    Empty if nothing changed or a legal turn explains it. Places missing in ``after`` count as unchanged. Raises
    UnreadableError for an unknown place or look.
    """
    changed: dict[int, dict[int | None, int]] = {}
    for (seat, square), colour in read_looks(before.options, after).items():
        if colour != _colour_on(before, seat, square):
            by_colour = changed.setdefault(seat, {})
            by_colour[colour] = by_colour.get(colour, 0) | 1 << square
    own = [seat for seat in changed if seat == before.seat]
    others = sorted(seat for seat in changed if seat != before.seat)
    return tuple(breach for seat in own + others for breach in _breaches_on_sheet(before, seat, changed[seat]))


def _colour_on(state: BlokusState, seat: int, square: int) -> int | None:
    squares = enumerate(state.sheets[seat].colours)
    return next((colour for colour, drawn in squares if drawn >> square & 1), None)


def _breaches_on_sheet(before: BlokusState, seat: int, changed: dict[int | None, int]) -> list[Breach]:
    filled, emptied = before.sheets[seat].filled, changed.get(None, 0)
    drawn = {colour: squares for colour, squares in changed.items() if colour is not None}
    every = union(changed.values())
    spoilt, fresh = every & filled, every & ~filled
    at_all = breach_of_playing(before, seat, places_on(before, seat, fresh))
    if at_all is not None:
        # What is drawn stays drawn, no matter whose turn it is.
        gone = [wiped(before, seat, spoilt)] if spoilt else []
        return [*gone, at_all] if fresh else gone
    found = []
    hand = colour_in_hand(before, seat)
    if emptied:
        found.append(wiped(before, seat, emptied))
    if over := spoilt & ~emptied:
        in_hand = drawn.get(hand, 0)
        found.append(drawn_over(before, seat, over, in_hand & ~filled if in_hand & filled else 0))
    for colour in sorted(set(drawn) - {hand}):
        if rest := drawn[colour] & ~filled:
            found.append(wrong_colour(PLAYERS[seat], COLOURS[colour], COLOURS[hand], places_on(before, seat, rest)))
    # A shape drawn over filled squares is already reported, and its other squares are only a part of it.
    if hand in drawn and not drawn[hand] & filled:
        found += _breaches_of_shape(before, seat, drawn[hand])
    return found


def _breaches_of_shape(before: BlokusState, seat: int, squares: int) -> list[Breach]:
    """Return the breaches of drawing these squares; if one shape among them is legal, only the rest is wrong."""
    found = breaches_of_drawing(before, seat, squares) or _out_of_reach_breaches(before, seat, squares)
    if found and found[0].rule == "not-one-shape":
        grid = before.options.sheet.grid
        legal = [patch for patch in grid.patches(squares) if not _breaches_of_shape(before, seat, patch)]
        rest = squares & ~union(legal)
        # A gap of one square is more likely a square that was forgotten.
        if len(legal) == 1 and not grid.adjacent_to(legal[0]) & grid.adjacent_to(rest):
            return [not_joined(before, seat, squares, rest)]
    return found


def _out_of_reach_breaches(before: BlokusState, seat: int, squares: int) -> list[Breach]:
    sheet, filled = before.options.sheet, before.sheets[seat]
    name = name_on(sheet.grid, squares)
    assert name is not None
    number = sheet.number_of[name]
    if shapes_within_reach(sheet, filled, before.dice) >> number & 1:
        return []
    return [
        no_strike_left(PLAYERS[seat], name, sheet.face_of[number], filled.strikes, places_on(before, seat, squares))
    ]


def unfinished(state: BlokusState) -> Sequence[Unfinished]:
    """Return one begun turn for each square of a larger shape that may be drawn, a1 first."""
    if state.seat is None:
        return []
    seat = state.seat
    begun = union(way for choice in choices(state) for way in choice.placements if way.bit_count() > 1)
    colour = COLOURS[colour_in_hand(state, seat)]
    return [
        Unfinished({place: colour}, f"Fill the other squares of the shape on {place}.")
        for place in places_on(state, seat, begun)
    ]
