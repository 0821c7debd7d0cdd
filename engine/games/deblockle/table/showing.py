"""The turns that could show what is seen of the table."""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.deblockle.state import DeblockleState, DeblockleTurn, appearance_of, change_by
from engine.games.deblockle.turns import legal_turns
from engine.showing import CouldBe, Seen


def turns_showing(state: DeblockleState, could_be: CouldBe) -> Iterator[DeblockleTurn]:
    """Every turn that is certain or not known yet, after which the table could look so; see ``engine.showing``."""
    seen = Seen(appearance_of(state), could_be)
    return seen.nearest_first((turn, change_by(turn)) for turn in legal_turns(state))
