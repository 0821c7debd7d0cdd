"""Buttons on the Pi's pins: gpiozero reports each edge, and integration turns the edges of a contact into presses.

gpiozero calls from its own threads, which only time-stamp the edge and queue it; ``presses`` returns the presses in
order. A button that can't be opened does not affect the others, and is tried again.

The time the contact is closed is added, the time it is open is subtracted, between 0 and ``settle_s``. Reaching
``settle_s`` is a press; the next one can only follow after a return to 0. Chatter shorter than ``settle_s`` never makes
a second press, and a press held for ``settle_s`` is never missed. J. G. Ganssle, *A Guide to Debouncing* (2004),
measured 1.6 ms of bounce on average and 6.2 ms at most over eighteen kinds of switch, except for outliers.
"""

import queue
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from gpiozero import DigitalInputDevice
from gpiozero.pins import Factory

from common.backoff import Backoff
from common.moments import to_microseconds
from common.phrases import Phrase, capitalized
from hardware.errors import HardwareError, part_and_reason
from hardware.pin_map import ButtonRole
from hardware.pins import hardware_error, open_pin_factory, pin_errors

DEFAULT_SETTLE_S = 0.02  # set by hand; benchmarks/debounce.py shows the effect


class Debouncer:
    """Converts time-stamped edges to presses.

    The contact must have been closed for ``settle_s`` longer than open for a press, and the reverse. One that is
    ``closed`` at the start (``time_s``) does not count as a press until it has been released. Edges must be in order of
    time; one with an earlier time stamp is moved to the latest time.
    """

    def __init__(self, *, settle_s: float = DEFAULT_SETTLE_S, closed: bool = False, time_s: float = 0.0) -> None:
        if not settle_s > 0:
            raise ValueError(f"a settle time of {settle_s} s; expected more than 0, usually 0.01 to 0.03")
        self._settle_us = to_microseconds(settle_s)
        self._now_us = to_microseconds(time_s)
        self._closed = closed
        self._charge_us = self._settle_us if closed else 0
        self._is_down = closed

    def edge(self, time_s: float, *, closed: bool) -> float | None:
        """Process an edge at ``time_s``, and return as ``advance`` does; repeating the present level is harmless."""
        pressed_s = self.advance(time_s)
        self._closed = closed
        return pressed_s

    def advance(self, time_s: float) -> float | None:
        """Advance to ``time_s``, and return when a press was confirmed meanwhile; ``None`` if none was."""
        start_us, self._now_us = self._now_us, max(self._now_us, to_microseconds(time_s))
        elapsed_us = self._now_us - start_us
        if not self._closed:
            self._charge_us = max(0, self._charge_us - elapsed_us)
            self._is_down = self._is_down and self._charge_us > 0
            return None
        missing_us = self._settle_us - self._charge_us
        self._charge_us = min(self._settle_us, self._charge_us + elapsed_us)
        if self._is_down or elapsed_us < missing_us:
            return None
        self._is_down = True
        return (start_us + missing_us) / 1e6


@dataclass(frozen=True)
class _Edge:
    role: ButtonRole
    time_s: float
    closed: bool


@dataclass
class _Slot:
    role: ButtonRole
    pin: int
    name: str
    backoff: Backoff = field(default_factory=Backoff)
    device: Any = None
    debouncer: Debouncer | None = None


class Buttons:
    """The buttons of a table, on ``pins`` by role.

    ``clock`` is also called from gpiozero's threads, ``on_fault`` with a sentence when a button fails for the first
    time. ``pull_up`` is false for a button from the pin to 3.3 V. ``pin_factory`` is gpiozero's, by default its own.
    """

    def __init__(
        self,
        pins: Mapping[ButtonRole, int],
        clock: Callable[[], float],
        on_fault: Callable[[str], None],
        *,
        pin_factory: Factory | None = None,
        pull_up: bool = True,
        settle_s: float = DEFAULT_SETTLE_S,
    ) -> None:
        self._slots = [_Slot(role, pin, f"button {role.value!r} (GPIO{pin})") for role, pin in pins.items()]
        self._clock = clock
        self._on_fault = on_fault
        self._factory = pin_factory
        self._pull_up = pull_up
        self._settle_s = settle_s
        self._edges: queue.SimpleQueue[_Edge] = queue.SimpleQueue()
        self._said: set[str] = set()
        self.presses()

    def presses(self) -> tuple[ButtonRole, ...]:
        """Return the roles of the buttons pressed since the last call, oldest first; tries failed ones again if due."""
        now_s = self._clock()
        pressed: list[tuple[float | None, ButtonRole]] = []
        debouncers = {slot.role: slot.debouncer for slot in self._slots}
        while not self._edges.empty():
            edge = self._edges.get_nowait()
            debouncer = debouncers[edge.role]
            if debouncer is not None:
                pressed.append((debouncer.edge(edge.time_s, closed=edge.closed), edge.role))
        for slot in self._slots:
            self._open_if_due(slot, now_s)
            if slot.debouncer is not None and (closed := self._level(slot, now_s)) is not None:
                pressed.append((slot.debouncer.edge(now_s, closed=closed), slot.role))
        return tuple(role for _, role in sorted((time_s, role) for time_s, role in pressed if time_s is not None))

    def close(self) -> None:
        """Release every pin."""
        for slot in self._slots:
            _release(slot)

    def _open_if_due(self, slot: _Slot, now_s: float) -> None:
        if slot.device is not None or not slot.backoff.is_due(now_s):
            return
        try:
            factory = self._factory or open_pin_factory()
            slot.device = DigitalInputDevice(slot.pin, pull_up=self._pull_up, bounce_time=None, pin_factory=factory)
            is_closed = bool(slot.device.is_active)
            slot.debouncer = Debouncer(settle_s=self._settle_s, closed=is_closed, time_s=now_s)
            slot.device.when_activated = self._stamp(slot.role, closed=True)
            slot.device.when_deactivated = self._stamp(slot.role, closed=False)
        except HardwareError as error:
            self._failed(slot, now_s, error)
            return
        except pin_errors() as error:
            self._failed(slot, now_s, hardware_error(slot.name, error))
            return
        slot.backoff = slot.backoff.worked(now_s)

    def _level(self, slot: _Slot, now_s: float) -> bool | None:
        """Read the contact's level, so that a lost edge does not leave a button stuck; ``None`` on a fault."""
        try:
            return bool(slot.device.is_active)
        except pin_errors() as error:
            self._failed(slot, now_s, hardware_error(slot.name, error))
            return None

    def _stamp(self, role: ButtonRole, *, closed: bool) -> Callable[[], None]:
        def stamp() -> None:
            self._edges.put(_Edge(role, self._clock(), closed))

        return stamp

    def _failed(self, slot: _Slot, now_s: float, error: HardwareError) -> None:
        _release(slot)
        fault = str(error)
        slot.backoff = slot.backoff.failed(now_s)
        if fault not in self._said:
            self._said.add(fault)
            name, message = part_and_reason(slot.name, fault)
            self._on_fault(
                Phrase(
                    "{name} does not work: {message}. The game goes on without it, and the referee keeps trying.",
                    capitalized(name),
                    message,
                )
            )


def _release(slot: _Slot) -> None:
    """Close the pin if it is open; a pin that has failed may fail again."""
    device, slot.device, slot.debouncer = slot.device, None, None
    if device is not None:
        with suppress(*pin_errors()):
            device.close()
