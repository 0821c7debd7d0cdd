"""Whether a change looks like a legal turn when only tops, or only occupied squares, are visible.

If a violation is visible to such an onlooker, every referee with the same view must report it. A violation visible only
on side faces need not be reported by a camera straight above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from common.places import occupied
from engine.api import Game
from engine.errors import AmbiguousError
from engine.values import Appearance, OptionValue, Place

_MOST_CHANGED = 4
"""Two turns change at most two squares each."""


class Onlooker:
    """Follows a game by its looks alone; with ``by_occupancy`` only occupied and empty squares are distinguished.

    The true state is used nevertheless, because a referee that can't distinguish two turns asks.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        start: Appearance,
        options: Mapping[str, OptionValue] | None,
        *,
        anywhere: bool = False,
        by_occupancy: bool = False,
    ) -> None:
        self._game = game
        self._by_occupancy = by_occupancy
        self._near: tuple[Any, Sequence[tuple[Any, frozenset[Place], Sequence[Any]]]] | None = None
        self._states: tuple[Any, ...] = (game.table.set_up(start, options, anywhere=anywhere),)
        self._before = self._states

    def follow(self, after: Appearance) -> None:
        """Follow a legal turn that left this; raises ValueError when no turn does."""
        reached: list[Any] = []
        for state in self._states:
            legal = self._game.rules.legal_turns(state)
            turns = [turn for turn in legal if self._seen(self._game.rules.apply(state, turn)) == after]
            reached += [self._game.rules.apply(state, turn) for turn in self._combined(turns)]
        if not reached:
            raise ValueError("no legal turn leaves the table like that; only legal turns can be followed")
        self._before, self._states = self._states, tuple(dict.fromkeys(reached))

    def go_back(self) -> None:
        """Undo the last turn that was followed."""
        self._states = self._before

    def is_possible(self, after: Appearance) -> bool:
        """Whether no turn, one legal turn or two in a row could leave this, judging by the tops."""
        if self._by_occupancy:
            return self._could_be_taken(occupied(after))
        return any(self._leaves(state, after) for state in self._states)

    def _could_be_taken(self, taken: frozenset[Place]) -> bool:
        """Whether no turn, one or two could leave exactly these places occupied."""
        for state, before, turns in self._after_a_turn_at_most():
            differing = before ^ taken
            if not differing:
                return True
            if len(differing) > _MOST_CHANGED // 2:
                continue
            # a turn only changes its own places
            for turn in turns:
                if differing.issubset(turn.places) and self._taken(self._game.rules.apply(state, turn)) == taken:
                    return True
        return False

    def _after_a_turn_at_most(self) -> Sequence[tuple[Any, frozenset[Place], Sequence[Any]]]:
        """States after at most one turn, with their occupied places and turns; cached for repeated queries."""
        if self._near is None or self._near[0] is not self._states:
            rules = self._game.rules
            reached = dict.fromkeys(self._states)
            for state in self._states:
                reached.update((rules.apply(state, turn), None) for turn in rules.legal_turns(state))
            self._near = (
                self._states,
                [
                    (state, self._taken(state), rules.legal_turns(state) if rules.outcome(state) is None else ())
                    for state in reached
                ],
            )
        return self._near[1]

    def _taken(self, state: Any) -> frozenset[Place]:
        return occupied(self._seen(state))

    def _leaves(self, state: Any, after: Appearance) -> bool:
        before = self._seen(state)
        if before == after:
            return True
        changed = {place for place, look in after.items() if before[place] != look}
        if len(changed) > _MOST_CHANGED:
            return False
        for turn in self._game.rules.legal_turns(state):
            reached = self._game.rules.apply(state, turn)
            seen = self._seen(reached)
            if seen == after:
                return True
            own = {place for place, look in seen.items() if before[place] != look}
            # a first turn leaves traces, except where the same player continues with the same block
            covered = len(own - changed)
            if covered > 1 or (covered and reached.to_move != state.to_move):
                continue
            if self._game.rules.outcome(reached) is None and self._next_leaves(reached, after):
                return True
        return False

    def _next_leaves(self, state: Any, after: Appearance) -> bool:
        return any(
            self._seen(self._game.rules.apply(state, turn)) == after for turn in self._game.rules.legal_turns(state)
        )

    def _combined(self, turns: Sequence[Any]) -> Iterator[Any]:
        if not turns:
            return
        try:
            yield self._game.rules.combine(turns)
        except AmbiguousError:
            yield from turns

    def _seen(self, state: Any) -> dict[str, str]:
        return dict(self._game.table.appearance(state))
