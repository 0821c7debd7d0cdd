"""The turns that could show what is seen of the sheets: only ways to lay a shape over the squares that have changed."""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.blokus_dice.play.options import COLOURS
from engine.games.blokus_dice.state import BlokusState, BlokusTurn, appearance_of, colour_in_hand, place_of
from engine.games.blokus_dice.turns import choices, turn_of
from engine.showing import CouldBe, Seen
from engine.support.grid import members, set_of


def turns_showing(state: BlokusState, could_be: CouldBe) -> Iterator[BlokusTurn]:
    """Every legal turn after which the sheets could look so, small shapes first; see ``engine.showing``."""
    if state.seat is None or not state.dice:
        return
    seat, sheet = state.seat, state.settings.sheet
    seen = Seen(appearance_of(state), could_be)
    places = {place_of(seat, sheet.grid.names[square]): square for square in members(sheet.open_squares)}
    if not seen.changed <= places.keys():
        return
    changed = set_of(*(places[place] for place in seen.changed))
    colour = COLOURS[colour_in_hand(state, seat)]
    could_fill = set_of(*(square for place, square in places.items() if seen.could_show(place, colour)))
    found = [
        (laid.bit_count(), choice, laid)
        for choice in choices(state, changed=changed, within=could_fill)
        for laid in choice.laid
    ]
    for _, choice, laid in sorted(found, key=lambda way: way[0]):
        yield turn_of(state, choice, laid)
