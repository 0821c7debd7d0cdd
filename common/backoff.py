"""When to retry what failed: soon at first, then ever more rarely.

Pure: time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


def doubled_wait_s(first_s: float, longest_s: float, failures: int) -> float:
    """Give how long to wait after so many failures in a row: twice as long after each, up to ``longest_s``.

    >>> [doubled_wait_s(1.0, 5.0, failures) for failures in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    """
    # The exponent is bounded so that years of failures do not overflow.
    return min(longest_s, first_s * 2.0 ** min(failures - 1, 32))


@dataclass(frozen=True)
class Backoff:
    """The history of something that may fail and come back; all times are monotonic seconds.

    Each failure doubles the wait, from ``first_s`` to ``longest_s``. Only having worked for ``longest_s`` makes a
    failure count as the first again, so that a loose contact is neither hammered nor announced at every jolt.
    """

    first_s: float = 1.0
    longest_s: float = 60.0
    failures: int = 0
    retry_at_s: float | None = None
    working_since_s: float | None = None

    def failed(self, time_s: float) -> Backoff:
        """Give the history after a failure at ``time_s``."""
        failures = 1 if self._is_trusted(time_s) else self.failures + 1
        wait_s = doubled_wait_s(self.first_s, self.longest_s, failures)
        return replace(self, failures=failures, retry_at_s=time_s + wait_s, working_since_s=None)

    def worked(self, time_s: float) -> Backoff:
        """Give the history after it was seen to work at ``time_s``."""
        if self.working_since_s is not None:
            return self
        return replace(self, retry_at_s=None, working_since_s=time_s)

    def is_due(self, time_s: float) -> bool:
        """Say whether it may be tried at ``time_s``."""
        return self.retry_at_s is None or time_s >= self.retry_at_s

    def is_news(self, time_s: float) -> bool:
        """Say whether a failure at ``time_s`` is the first of its outage."""
        return self.failures == 0 or self._is_trusted(time_s)

    def _is_trusted(self, time_s: float) -> bool:
        return self.working_since_s is not None and time_s - self.working_since_s >= self.longest_s
