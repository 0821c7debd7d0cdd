"""Somebody who sees only the tops of the blocks: what they would take for a legal turn, and what they can't.

A misdeed that even such an onlooker sees through must be named by every referee; one that only side faces give away
need not be, from straight above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.api import Appearance, Game, OptionValue
from engine.errors import AmbiguousError

_MOST_CHANGED = 4
"""Two turns change two squares each at most."""


class Onlooker:
    """Follows a game by the looks of the table alone."""

    def __init__(
        self,
        game: Game[Any, Any],
        start: Appearance,
        options: Mapping[str, OptionValue] | None,
        *,
        anywhere: bool = False,
    ) -> None:
        self._game = game
        self._states: tuple[Any, ...] = (game.set_up(start, options, anywhere=anywhere),)
        self._before = self._states

    def follow(self, after: Appearance) -> None:
        """Take a legal turn that left this; raises ValueError when no turn does."""
        reached: list[Any] = []
        for state in self._states:
            legal = self._game.legal_turns(state)
            turns = [turn for turn in legal if self._seen(self._game.apply(state, turn)) == after]
            reached += [self._game.apply(state, turn) for turn in self._combined(turns)]
        if not reached:
            raise ValueError("no legal turn leaves the table like that; only legal turns can be followed")
        self._before, self._states = self._states, tuple(dict.fromkeys(reached))

    def go_back(self) -> None:
        """Take it that the turn followed last was taken back."""
        self._states = self._before

    def is_possible(self, after: Appearance) -> bool:
        """Whether nothing, a legal turn, or two in a row could leave this, for all that the tops tell."""
        return any(self._leaves(state, after) for state in self._states)

    def _leaves(self, state: Any, after: Appearance) -> bool:
        before = self._seen(state)
        if before == after:
            return True
        changed = {place for place, look in after.items() if before[place] != look}
        if len(changed) > _MOST_CHANGED:
            return False
        for turn in self._game.legal_turns(state):
            reached = self._game.apply(state, turn)
            seen = self._seen(reached)
            if seen == after:
                return True
            own = {place for place, look in seen.items() if before[place] != look}
            # A first turn leaves traces, save where the same player goes on with the same block.
            covered = len(own - changed)
            if covered > 1 or (covered and reached.to_move != state.to_move):
                continue
            if self._game.outcome(reached) is None and self._next_leaves(reached, after):
                return True
        return False

    def _next_leaves(self, state: Any, after: Appearance) -> bool:
        return any(self._seen(self._game.apply(state, turn)) == after for turn in self._game.legal_turns(state))

    def _combined(self, turns: Sequence[Any]) -> Iterator[Any]:
        if not turns:
            return
        try:
            yield self._game.combine(turns)
        except AmbiguousError:
            yield from turns

    def _seen(self, state: Any) -> dict[str, str]:
        return dict(self._game.appearance(state))
