"""The turns that could show what is seen of the board, without a search for the hundred thousands that could not."""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.blockade.enumeration.aim import others_could_stay
from engine.games.blockade.state import BlockadeState, BlockadeTurn, appearance_of
from engine.games.blockade.turns import TurnList
from engine.showing import CouldBe, Seen


def turns_showing(state: BlockadeState, could_be: CouldBe) -> Iterator[BlockadeTurn]:
    """Every legal turn after which the board could look so, the fewest steps first; see ``engine.showing``."""
    if state.to_move is None or state.roll is None:
        return
    seen = Seen(appearance_of(state.stacks), could_be)
    if others_could_stay(state.stacks, state.to_move, seen):
        yield from TurnList(state, state.roll, seen).nearest_first()
