"""Penalties for turns without progress, in points of a game's evaluation.

Two players who both follow the hints could repeat positions for ever. A turn that repeats a position is therefore
penalised, and so is every idle turn after a while, more the longer the game makes no progress.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class StallingPenalties:
    """The penalties of a game, in points of its evaluation; tuned in games of hints against hints."""

    second_time: int
    """For the second occurrence of a position."""
    third_time: int
    """For the third occurrence, and again for each further one; alternatives that cost less are "nearly as good"."""
    idle_turns: int
    """Number of consecutive turns without progress, by both players, that are free."""
    per_turn: int
    """For a turn without progress, per idle turn beyond those."""
    most: int
    """Maximum penalty for idle turns, so that scores stay within the range of evaluations."""

    def for_repetition(self, times: int) -> int:
        """Return the penalty of a turn whose position occurred ``times`` times before."""
        return 0 if times == 0 else self.second_time if times == 1 else self.third_time * (times - 1)

    def for_idling(self, idle: int) -> int:
        """Return the penalty of a turn without progress after ``idle`` idle ones."""
        return min(self.most, self.per_turn * max(0, idle - self.idle_turns))
