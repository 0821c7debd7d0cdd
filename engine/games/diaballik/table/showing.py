"""The turns that could show what is seen of the table, picked among the results of a turn before any is written out."""

from __future__ import annotations

from collections.abc import Iterator

from engine.api import EMPTY
from engine.games.diaballik.fast_rules import BALL_SHIFT, PIECES_MASK
from engine.games.diaballik.play.board import EVERY, PLACES
from engine.games.diaballik.state import LOOK_TABLE, DiaballikState, DiaballikTurn, appearance_of
from engine.games.diaballik.turns import LegalTurns, begun
from engine.showing import CouldBe, Seen


def turns_showing(state: DiaballikState, could_be: CouldBe) -> Iterator[DiaballikTurn]:
    """Every legal turn after which the table could look so, those that claim anti-play too; see ``engine.showing``."""
    if state.to_move is None:
        return
    start = begun(state, state.to_move)
    seen = Seen(appearance_of(state), could_be)
    bare, piece, ball = (
        sum(1 << square for square, place in enumerate(PLACES) if seen.could_show(place, look))
        for look in (EMPTY, LOOK_TABLE.look_of[state.to_move, False], LOOK_TABLE.look_of[state.to_move, True])
    )
    if any(start.foes >> square & 1 and place in seen.changed for square, place in enumerate(PLACES)):
        return
    turns = LegalTurns(state, claims=True)
    found = []
    for index, result in enumerate(turns.results()):
        pieces, carrier = result & PIECES_MASK, 1 << (result >> BALL_SHIFT)
        if not (pieces & ~carrier & ~piece or carrier & ~ball or EVERY & ~(pieces | start.foes) & ~bare):
            moved = (pieces ^ start.pieces) | (carrier ^ 1 << start.ball)
            found.append((moved.bit_count(), index))
    for _, index in sorted(found):
        yield turns[index]
