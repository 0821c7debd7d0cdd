"""Deadlines by a given clock, and the time checks that end a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.api import Clock

TimeCheck = Callable[[], None]
"""Called regularly from long-running work; raises DeadlineExceededError once the deadline has passed."""

_MOST_MARGIN_S = 0.02
_MARGIN_SHARE = 0.1  # of the time given, to finish in


class DeadlineExceededError(Exception):
    """The deadline has passed: raised by a time check, and caught by the search that passed the check on."""


@dataclass(frozen=True)
class Deadline:
    """A moment of ``clock`` by which an answer is due.

    The search stops at ``at_s - margin_s``, which leaves time to finish.
    """

    clock: Clock
    at_s: float
    margin_s: float = 0.0

    @classmethod
    def after(cls, seconds: float, clock: Clock) -> Deadline:
        """Return the deadline ``seconds`` from now, with a margin of a tenth of that time, at most 20 ms.

        Raises ValueError for a negative time.
        """
        if seconds < 0:
            raise ValueError(f"got {seconds} s; expected a time of at least 0 s")
        return cls(clock, clock() + seconds, min(_MOST_MARGIN_S, seconds * _MARGIN_SHARE))

    def left_s(self) -> float:
        """Return the seconds left until the search must stop; negative if it is late."""
        return self.at_s - self.margin_s - self.clock()

    def passed(self) -> bool:
        """Return whether the search must stop."""
        return self.clock() >= self.at_s - self.margin_s

    def check(self) -> None:
        """Raise DeadlineExceededError when the search must stop."""
        if self.passed():
            raise DeadlineExceededError

    def share(self, part: float) -> Deadline:
        """Return an earlier deadline, after ``part`` (0 to 1) of the remaining time."""
        now_s = self.clock()
        return Deadline(self.clock, now_s + max(0.0, self.at_s - self.margin_s - now_s) * part)


@dataclass
class PeriodicTimeCheck:
    """A time check that reads the clock only at every ``calls``-th call, for work with cheap steps."""

    deadline: Deadline
    calls: int
    count: int = 0

    def __call__(self) -> None:
        """Count the call; at every ``calls``-th one raise DeadlineExceededError if the deadline has passed."""
        self.count += 1
        if self.count % self.calls == 0:
            self.deadline.check()


@dataclass
class CountingClock:
    """A clock that advances by ``step_s`` at each reading, which makes searches reproducible."""

    step_s: float
    now_s: float = 0.0

    def __call__(self) -> float:
        """Advance by one step and return the time."""
        self.now_s += self.step_s
        return self.now_s
