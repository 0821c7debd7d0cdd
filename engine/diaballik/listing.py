"""The legal turns of a position as a lazy sequence: results first, their actions only when one is looked at."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.diaballik.board import CONTACTS_TO_CLAIM, GOAL, is_wall, touching
from engine.diaballik.fast import BALL_SHIFT, PIECES_MASK, distinct_results
from engine.diaballik.state import DiaballikState, DiaballikTurn, Side
from engine.diaballik.turns import Midturn, begun, canonical, results_by_playing
from engine.lazy import Lazy


def packed_results(turn: Midturn) -> list[int]:
    """Every distinct result of a whole turn, packed as in ``fast``, by tables wherever those hold."""
    settings = turn.settings
    goal = GOAL[turn.player]
    if turn.ended:
        return []
    if settings.pass_over_own and not (settings.automatic and is_wall(turn.foes)):
        return distinct_results(turn.pieces, turn.ball, turn.foes, goal, null_turn=settings.null_turn)
    return [side.pieces | side.ball << BALL_SHIFT for side in results_by_playing(turn)]


def claimed_results(turn: Midturn, results: Sequence[int]) -> list[int]:
    """Those results after which the mover may call anti-play at once, where that has to be announced."""
    settings = turn.settings
    if settings.automatic or not is_wall(turn.foes):
        return []
    touch = touching(turn.foes, turn.player, front_only=settings.front_only)
    goal = GOAL[turn.player]
    return [
        result
        for result in results
        if (result & touch & PIECES_MASK).bit_count() >= CONTACTS_TO_CLAIM and not goal >> (result >> BALL_SHIFT) & 1
    ]


class LegalTurns(Lazy[DiaballikTurn]):
    """The turns of the player to move, sorted by result (ball, then pieces); those that claim anti-play come last.

    Its length and single items cost little.
    """

    __slots__ = ("_claimed", "_results", "_sorted", "_turn")

    def __init__(self, state: DiaballikState, *, claims: bool) -> None:
        self._results: list[int] = []
        self._claimed: list[int] = []
        self._sorted = False
        self._turn: Midturn | None = None
        if state.to_move is not None:
            self._turn = begun(state, state.to_move)
            self._results = packed_results(self._turn)
            if claims:
                self._claimed = claimed_results(self._turn, self._results)

    def __len__(self) -> int:
        return len(self._results) + len(self._claimed)

    def _item(self, index: int) -> DiaballikTurn:
        if not self._sorted:
            self._results.sort()
            self._claimed.sort()
            self._sorted = True
        plain = len(self._results)
        if index < plain:
            return self._made(self._results[index], claims=False)
        return self._made(self._claimed[index - plain], claims=True)

    def __iter__(self) -> Iterator[DiaballikTurn]:
        return (self[index] for index in range(len(self)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _made(self, packed: int, *, claims: bool) -> DiaballikTurn:
        turn = self._turn
        found = None if turn is None else canonical(turn, unpacked(packed))
        if turn is None or found is None:
            raise AssertionError(f"the result {packed} is in the list, but no actions lead to it")
        return DiaballikTurn(turn.player, found, claims)


def unpacked(result: int) -> Side:
    """A packed result as pieces and ball."""
    return Side(result & PIECES_MASK, result >> BALL_SHIFT)
