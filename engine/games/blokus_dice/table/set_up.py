"""How a game starts, and how a person corrects a position."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.api import Appearance, Breach, LookName, OptionValue, Place, Player
from engine.errors import UnreadableError
from engine.games.blokus_dice.invariants import check_position, crossed_off
from engine.games.blokus_dice.play.options import PLAYERS, BlokusOptions, options_from
from engine.games.blokus_dice.state import BlokusState, FilledSheet, PlayerStatus, read_looks
from engine.games.blokus_dice.turns import settled
from engine.support.breaches import no_start
from engine.support.players import check_player, mover_after_correction


def new_state(settings: BlokusOptions) -> BlokusState:
    """The start: empty sheets, p1 with red to roll, the colours around the ring from there."""
    return BlokusState(settings, (FilledSheet(),) * settings.players)


def set_up_state(
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,  # noqa: ARG001 - there is only one start
) -> BlokusState:
    """The start that a table shows; raises IllegalTurnError with breaches when a sheet isn't empty."""
    settings = options_from(options)
    looks = read_looks(settings, appearance)
    drawn = tuple(place for place, colour in zip(appearance, looks.values(), strict=True) if colour is not None)
    if drawn:
        sentence = f"There is something drawn on {', '.join(drawn)}."
        breach = Breach("sheet-not-clean", sentence, "Wipe every sheet clean before the game.", drawn)
        raise no_start([breach])
    return new_state(settings)


def amended(state: BlokusState, looks: Mapping[Place, LookName], to_move: Player | None = None) -> BlokusState:
    """The state with these looks on these places and ``to_move`` to roll or play; all else stays.

    Shapes are crossed off as the squares show. A player who is said to play next is in the game again. Raises
    UnreadableError for what can't be a position.
    """
    settings = state.settings
    check_player(settings.names, to_move)
    mover_after_correction(settings.names, to_move, state.to_move)
    changed: dict[int, list[int]] = {}
    for (seat, square), colour in read_looks(settings, looks).items():
        if colour is not None and settings.sheet.closed >> square & 1:
            raise UnreadableError(f"{settings.sheet.grid.names[square]} can't be filled: it is closed on this sheet")
        colours = changed.setdefault(seat, list(state.sheets[seat].colours))
        for each in range(len(colours)):
            colours[each] = colours[each] & ~(1 << square) | (colour == each) << square
    for seat, (red, blue, yellow, green) in changed.items():
        used = crossed_off(settings.sheet, PLAYERS[seat], (red, blue, yellow, green))
        filled = state.sheets[seat]
        strikes = min(filled.strikes, used.bit_count())
        state = state.with_sheet(seat, replace(filled, colours=(red, blue, yellow, green), used=used, strikes=strikes))
    if to_move is not None:
        seat = PLAYERS.index(to_move)
        state = state.with_sheet(seat, state.sheets[seat].with_status(PlayerStatus.PLAYING))
        state = replace(state, seat=seat, starter=state.starter if state.dice else seat)
    check_position(state)
    return settled(state)
