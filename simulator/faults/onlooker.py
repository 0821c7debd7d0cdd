"""Whether a change looks like a legal turn when only tops, or only occupied squares, are visible.

If a violation is visible to such an onlooker, every referee with the same view must report it. A violation visible only
on side faces need not be reported by a camera straight above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from engine.api import Game
from engine.errors import AmbiguousError
from engine.values import Appearance, OptionValue
from simulator.play.players import could_be_played


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
        """Whether no turn, one legal turn or two in a row could leave this."""
        return any(could_be_played(self._game, state, after, by_occupancy=self._by_occupancy) for state in self._states)

    def _combined(self, turns: Sequence[Any]) -> Iterator[Any]:
        if not turns:
            return
        try:
            yield self._game.rules.combine(turns)
        except AmbiguousError:
            yield from turns

    def _seen(self, state: Any) -> dict[str, str]:
        return dict(self._game.table.appearance(state))
