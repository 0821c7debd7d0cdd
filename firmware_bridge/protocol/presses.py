"""Button events that come again with a new session are handed on once only. Pure."""

from __future__ import annotations

_EVENTS = 1 << 16


class PressFilter:
    """Remembers the last button event of the device's present start.

    The device tells events again that were never acknowledged when a session begins; the host may have had them.
    """

    def __init__(self) -> None:
        self._boot_id: int | None = None
        self._last_event = 0

    def is_new(self, boot_id: int, event: int) -> bool:
        """Say whether this event wasn't handed on yet, and remember it."""
        if boot_id == self._boot_id:
            ahead = (event - self._last_event) % _EVENTS
            if not 0 < ahead < _EVENTS // 2:
                return False
        self._boot_id = boot_id
        self._last_event = event
        return True
