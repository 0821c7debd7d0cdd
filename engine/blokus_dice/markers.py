"""How the markers go round: one step to the left after every round, those that stand by included."""

from __future__ import annotations

from functools import cache

from engine.blokus_dice.settings import COLOURS, FOLLOWS_START_PLAYER, Settings
from engine.blokus_dice.state import BlokusState

Markers = tuple[int, int, int, int]


def passed(state: BlokusState) -> Markers:
    """The markers around the ring after everyone has passed theirs to the left, players who are out too.

    At fixed places the last player's marker goes to the first stand-by place and the last stand-by one to the first
    player. Otherwise that happens between the right neighbour of whoever started the round and that starter.
    """
    red, blue, yellow, green = (state.markers[place] for place in places_passed_from(state.settings, state.starter))
    return red, blue, yellow, green


@cache
def _places_passed_from(players: int, first: int) -> tuple[int, ...]:
    ring = [(first + step) % players for step in range(players)] + list(range(players, len(COLOURS)))
    return tuple(ring[ring.index(place) - 1] for place in range(len(COLOURS)))


def places_passed_from(settings: Settings, starter: int) -> tuple[int, ...]:
    """For each place of the ring the place whose marker comes there when ``starter`` has started the round."""
    follows = settings.standby == FOLLOWS_START_PLAYER
    return _places_passed_from(settings.players, starter if follows else 0)


def colour_in_hand(state: BlokusState, seat: int) -> int:
    """The colour that a player holds."""
    return state.markers[seat]
