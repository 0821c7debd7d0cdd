"""Keeping a game on its way: what turns lose, in points of a game's guesses, that bring nothing new.

Two players who both play what looks best may go round for ever. So a turn that brings a position up again scores less,
and the longer nothing has got nearer to an end, the less all turns score that don't get anything nearer either.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Patience:
    """How much is taken off, in points of the game's guesses; each number was tried in games of hints alone."""

    second_time: int
    """Off a turn that brings a position up for the second time."""
    third_time: int
    """Off one that does so for the third time, and as much again for each further time: "nearly as good" is less."""
    idle_turns: int
    """So many turns in a row, both players', may bring no progress before it costs anything."""
    per_turn: int
    """Off a turn without progress, for each idle turn beyond those."""
    most: int
    """No more than that is taken off for want of progress, so that it stays a guess."""

    def repeating(self, times: int) -> int:
        """What a turn loses that brings up a position which came up so many times before."""
        return 0 if times == 0 else self.second_time if times == 1 else self.third_time * (times - 1)

    def idling(self, idle: int) -> int:
        """What a turn loses for bringing no progress, after so many idle ones."""
        return min(self.most, self.per_turn * max(0, idle - self.idle_turns))
