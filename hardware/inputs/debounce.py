"""Turns the edges of a bouncing contact into presses, by integration. Pure.

The time the contact is closed is added, the time it is open is subtracted, between 0 and ``settle_s``. Reaching
``settle_s`` is a press; returning to 0 is a release. Chatter shorter than ``settle_s`` never makes a second press,
and a press held for ``settle_s`` is never missed. J. G. Ganssle, *A Guide to Debouncing* (2004), measured 1.6 ms of
bounce on average and 6.2 ms at most over eighteen kinds of switch, outliers apart.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from common.moments import to_microseconds

DEFAULT_BUTTON_SETTLE_S = 0.02
DEFAULT_LONG_PRESS_S = 1.0


class PressKind(enum.Enum):
    """What a button did."""

    PRESSED = "pressed"
    HELD = "held"
    RELEASED = "released"


@dataclass(frozen=True)
class Press:
    """Something a button did, in monotonic seconds.

    ``time_s`` is when it is certain; ``touched_s`` since when the contact has been closed more than open for it,
    which is the first touch or a chatter later. One ``HELD`` follows a ``PRESSED`` when the button stays down for a
    long press.
    """

    kind: PressKind
    time_s: float
    touched_s: float


class Debouncer:
    """Edges with time stamps in, presses out.

    A contact that is closed at the start counts as no press until it has been released. Edges must come in order of
    time; one that is stamped earlier than what came before is taken to happen just then.

    Args:
        settle_s: how much longer closed than open the contact must have been for a press, and the reverse.
        long_press_s: after how long, counted from the touch, a press is held.
        closed: whether the contact is closed at the start.
        time_s: when the start is, in monotonic seconds.
    """

    def __init__(
        self,
        *,
        settle_s: float = DEFAULT_BUTTON_SETTLE_S,
        long_press_s: float = DEFAULT_LONG_PRESS_S,
        closed: bool = False,
        time_s: float = 0.0,
    ) -> None:
        if not settle_s > 0:
            raise ValueError(f"a settle time of {settle_s} s; expected more than 0, usually 0.01 to 0.03")
        if not long_press_s > settle_s:
            raise ValueError(f"a long press of {long_press_s} s; expected more than the settle time of {settle_s} s")
        self._settle_us = to_microseconds(settle_s)
        self._long_press_us = to_microseconds(long_press_s)
        self._now_us = to_microseconds(time_s)
        self._closed = closed
        self._charge_us = self._settle_us if closed else 0
        self._is_down = closed
        self._touched_us = self._now_us
        self._held_reported = closed
        self._released_since_start = not closed

    def edge(self, time_s: float, *, closed: bool) -> tuple[Press, ...]:
        """Take in that the contact closed or opened at ``time_s``; a repeat of the level it has is harmless."""
        presses = self.advance(time_s)
        if closed and not self._closed and not self._is_down and self._charge_us == 0:
            self._touched_us = self._now_us
        self._closed = closed
        return presses

    def advance(self, time_s: float) -> tuple[Press, ...]:
        """Let time pass up to ``time_s``, and give what became certain meanwhile, in order."""
        until_us = max(self._now_us, to_microseconds(time_s))
        elapsed_us = until_us - self._now_us
        presses = self._while_closed(elapsed_us) if self._closed else self._while_open(elapsed_us)
        self._now_us = until_us
        return tuple(presses)

    @property
    def next_change_s(self) -> float | None:
        """When, if no further edge comes, something becomes certain; ``None`` while nothing will."""
        if self._closed and not self._is_down:
            return (self._now_us + self._settle_us - self._charge_us) / 1e6
        if self._is_down and not self._closed:
            return (self._now_us + self._charge_us) / 1e6
        if self._is_down and not self._held_reported:
            return max(self._now_us, self._touched_us + self._long_press_us) / 1e6
        return None

    def _while_closed(self, elapsed_us: int) -> list[Press]:
        presses: list[Press] = []
        until_us = self._now_us + elapsed_us
        certain_us = self._now_us
        if not self._is_down and self._charge_us + elapsed_us >= self._settle_us:
            self._is_down, self._held_reported = True, False
            certain_us += self._settle_us - self._charge_us
            presses.append(self._press(PressKind.PRESSED, certain_us))
        held_us = max(certain_us, self._touched_us + self._long_press_us)
        if self._is_down and not self._held_reported and until_us >= held_us:
            self._held_reported = True
            presses.append(self._press(PressKind.HELD, held_us))
        self._charge_us = min(self._settle_us, self._charge_us + elapsed_us)
        return presses

    def _while_open(self, elapsed_us: int) -> list[Press]:
        presses: list[Press] = []
        if self._is_down and elapsed_us >= self._charge_us:
            self._is_down = False
            if self._released_since_start:
                presses.append(self._press(PressKind.RELEASED, self._now_us + self._charge_us))
            self._released_since_start = True
        self._charge_us = max(0, self._charge_us - elapsed_us)
        return presses

    def _press(self, kind: PressKind, at_us: int) -> Press:
        return Press(kind, at_us / 1e6, self._touched_us / 1e6)
