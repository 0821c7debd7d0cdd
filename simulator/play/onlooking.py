"""Whether a change of the table looks legal when seen from above."""

from __future__ import annotations

from typing import Any

from engine.api import Game
from engine.showing import CouldBe, turns_showing
from engine.values import EMPTY, Appearance


def could_be_played(game: Game[Any, Any], state: Any, after: Appearance, *, by_occupancy: bool = False) -> bool:
    """Whether no turn, one legal turn or two in a row leave this (``by_occupancy``: these squares occupied)."""
    exact = _could_be(game, after, by_occupancy=by_occupancy)
    before = game.table.appearance(state)
    if all(before[place] in looks for place, looks in exact.items()):
        return True
    if next(iter(turns_showing(game, state, exact)), None) is not None:
        return True
    if game.dice is not None:
        # dice are rolled between two turns, which are therefore never merged
        return False
    for first in turns_showing(game, state, _after_the_first(game, state, exact)):
        reached = game.rules.apply(state, first)
        if game.rules.outcome(reached) is None and next(iter(turns_showing(game, reached, exact)), None) is not None:
            return True
    return False


def _could_be(game: Game[Any, Any], after: Appearance, *, by_occupancy: bool) -> CouldBe:
    if not by_occupancy:
        return {place: (look,) for place, look in after.items()}
    taken = tuple(look for look in game.looks if look != EMPTY)
    return {place: (EMPTY,) if look == EMPTY else taken for place, look in after.items()}


def _after_the_first(game: Game[Any, Any], state: Any, exact: CouldBe) -> CouldBe:
    """What each place could show after the first of two turns.

    In games where only the owner moves a piece, the second player leaves the first one's pieces unchanged.
    """
    if game.name not in _OWNERS_MOVE_ALONE:
        return {}
    own = {look for look in game.looks if look.startswith(f"{state.to_move} ")}
    others = tuple(look for look in game.looks if look not in own)
    return {place: looks if own >= set(looks) else (*looks, *others) for place, looks in exact.items()}


_OWNERS_MOVE_ALONE = frozenset({"diaballik"})
"""Games in which no turn moves, takes or covers a piece of the other player, and nobody plays twice in a row."""
