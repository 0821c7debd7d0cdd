"""How long a line takes to carry what it was given, where its rate is known. Pure."""

from __future__ import annotations


class Line:
    """One direction of a serial line: what is written waits, in the system's buffer, for what was written before.

    Args:
        bytes_per_s: how many bytes it carries a second; ``None`` where that is not known, or so fast that it means
            nothing, as on USB.
    """

    def __init__(self, bytes_per_s: float | None = None) -> None:
        if bytes_per_s is not None and not bytes_per_s > 0:
            raise ValueError(f"a line of {bytes_per_s} bytes a second; expected more than 0, or None")
        self._bytes_per_s = bytes_per_s
        self._free_s = 0.0

    @property
    def free_s(self) -> float:
        """When it has carried all that was written; 0 where the rate is not known."""
        return self._free_s

    def takes_s(self, count: int) -> float:
        """Give how long ``count`` bytes take, by themselves; 0 where the rate is not known."""
        return 0.0 if self._bytes_per_s is None else count / self._bytes_per_s

    def carried_s(self, count: int, now_s: float) -> float:
        """Give when the last of ``count`` bytes that are written now is at the other end."""
        if self._bytes_per_s is None:
            return now_s
        self._free_s = max(self._free_s, now_s) + self.takes_s(count)
        return self._free_s
