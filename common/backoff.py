"""Exponential backoff: when to retry after failures.

Pure: time is passed in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


def doubled_wait_s(first_s: float, longest_s: float, failures: int) -> float:
    """Return the wait after a number of consecutive failures: it doubles with each failure, up to ``longest_s``.

    >>> [doubled_wait_s(1.0, 5.0, failures) for failures in (1, 2, 3, 4)]
    [1.0, 2.0, 4.0, 5.0]
    """
    # The exponent is bounded so that years of failures do not overflow.
    return min(longest_s, first_s * 2.0 ** min(failures - 1, 32))


@dataclass(frozen=True)
class Backoff:
    """The history of something that may fail and recover; all times are monotonic seconds.

    Each failure doubles the wait, from ``first_s`` to ``longest_s``. The wait is reset only after ``longest_s`` without
    a failure, so a loose contact causes neither rapid retries nor repeated messages.
    """

    first_s: float = 1.0
    longest_s: float = 60.0
    failures: int = 0
    retry_at_s: float | None = None
    working_since_s: float | None = None

    def failed(self, time_s: float) -> Backoff:
        """Return the history after a failure at ``time_s``."""
        failures = 1 if self._is_trusted(time_s) else self.failures + 1
        wait_s = doubled_wait_s(self.first_s, self.longest_s, failures)
        return replace(self, failures=failures, retry_at_s=time_s + wait_s, working_since_s=None)

    def worked(self, time_s: float) -> Backoff:
        """Return the history after a success at ``time_s``."""
        if self.working_since_s is not None:
            return self
        return replace(self, retry_at_s=None, working_since_s=time_s)

    def is_due(self, time_s: float) -> bool:
        """Whether to retry at ``time_s``."""
        return self.retry_at_s is None or time_s >= self.retry_at_s

    def is_news(self, time_s: float) -> bool:
        """Whether a failure at ``time_s`` is the first of an outage."""
        return self.failures == 0 or self._is_trusted(time_s)

    def _is_trusted(self, time_s: float) -> bool:
        return self.working_since_s is not None and time_s - self.working_since_s >= self.longest_s
