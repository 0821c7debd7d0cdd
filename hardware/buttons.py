"""Buttons on the Pi's pins: gpiozero reports each edge, and integration turns the edges of a contact into presses.

gpiozero calls from its own threads, which only time-stamp the edge and queue it; ``poll`` returns the presses in order.
A button that can't be opened does not affect the others, and is tried again.

The time the contact is closed is added, the time it is open is subtracted, between 0 and ``settle_s``. Reaching
``settle_s`` is a press; returning to 0 is a release. Chatter shorter than ``settle_s`` never makes a second press, and
a press held for ``settle_s`` is never missed. J. G. Ganssle, *A Guide to Debouncing* (2004), measured 1.6 ms of bounce
on average and 6.2 ms at most over eighteen kinds of switch, except for outliers.
"""

from __future__ import annotations

import enum
import queue
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from gpiozero import DigitalInputDevice
from gpiozero.pins import Factory

from common.moments import earliest, to_microseconds
from hardware.errors import Fault, FaultRecord, HardwareError
from hardware.pin_map import ButtonRole
from hardware.pins import hardware_error, open_pin_factory, pin_errors

DEFAULT_BUTTON_SETTLE_S = 0.02
DEFAULT_LONG_PRESS_S = 1.0


class PressKind(enum.Enum):
    """What a button did."""

    PRESSED = "pressed"
    HELD = "held"
    RELEASED = "released"


@dataclass(frozen=True)
class Press:
    """A button event, in monotonic seconds.

    ``time_s`` is when it is confirmed; ``touched_s`` since when the contact has been closed more than open, which is
    the first contact or a bounce later. One ``HELD`` follows a ``PRESSED`` when the button stays down for a long press.
    """

    kind: PressKind
    time_s: float
    touched_s: float


class Debouncer:
    """Converts time-stamped edges to presses.

    A contact that is closed at the start does not count as a press until it has been released. Edges must be in order
    of time; one with an earlier time stamp is moved to the latest time.

    Args:
        settle_s: how much longer closed than open the contact must have been for a press, and the reverse.
        long_press_s: time from the first contact after which a press is held.
        closed: whether the contact is closed at the start.
        time_s: the start, in monotonic seconds.
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
        """Process an edge at ``time_s``; repeating the present level is harmless."""
        presses = self.advance(time_s)
        if closed and not self._closed and not self._is_down and self._charge_us == 0:
            self._touched_us = self._now_us
        self._closed = closed
        return presses

    def advance(self, time_s: float) -> tuple[Press, ...]:
        """Advance to ``time_s``, and return the events confirmed meanwhile, in order."""
        until_us = max(self._now_us, to_microseconds(time_s))
        elapsed_us = until_us - self._now_us
        presses = self._while_closed(elapsed_us) if self._closed else self._while_open(elapsed_us)
        self._now_us = until_us
        return tuple(presses)

    @property
    def next_change_s(self) -> float | None:
        """When an event will be confirmed if no further edge arrives; ``None`` if none will."""
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


@dataclass(frozen=True)
class ButtonEvent:
    """A press, a long press or a release of the button for ``role``.

    ``time_s`` is when the contact closed for it (for a release: when it was confirmed) and ``held_s`` how long the
    button had been down when the event was confirmed; monotonic seconds.
    """

    role: ButtonRole
    kind: PressKind
    time_s: float
    held_s: float


@dataclass(frozen=True)
class _Edge:
    role: ButtonRole
    time_s: float
    closed: bool


@dataclass
class _Slot:
    role: ButtonRole
    pin: int
    record: FaultRecord
    device: Any = None
    debouncer: Debouncer | None = None


class Buttons:
    """The buttons of a table.

    Args:
        pins: Broadcom pin number by role.
        clock: monotonic seconds; also called from gpiozero's threads.
        on_fault: called with a sentence when a button fails for the first time.
        pin_factory: gpiozero's; its default one when ``None``.
        pull_up: true for a button from the pin to ground, false for one to 3.3 V.
        settle_s, long_press_s: see ``Debouncer``.
    """

    def __init__(
        self,
        pins: Mapping[ButtonRole, int],
        clock: Callable[[], float],
        on_fault: Callable[[str], None],
        *,
        pin_factory: Factory | None,
        pull_up: bool = True,
        settle_s: float = DEFAULT_BUTTON_SETTLE_S,
        long_press_s: float = DEFAULT_LONG_PRESS_S,
    ) -> None:
        # made once here so that an invalid setting is an error at once, whether or not a pin can be opened
        Debouncer(settle_s=settle_s, long_press_s=long_press_s)
        self._slots = [
            _Slot(role, pin, FaultRecord(f"button {role.value!r} (GPIO{pin})")) for role, pin in pins.items()
        ]
        self._clock = clock
        self._on_fault = on_fault
        self._factory = pin_factory
        self._pull_up = pull_up
        self._settle_s = settle_s
        self._long_press_s = long_press_s
        self._edges: queue.SimpleQueue[_Edge] = queue.SimpleQueue()
        self._said: set[str] = set()
        self.poll()

    @property
    def faults(self) -> tuple[Fault, ...]:
        """The buttons that do not work at present, with the reasons."""
        return tuple(slot.record.fault for slot in self._slots if slot.record.fault is not None)

    def poll(self, time_s: float | None = None) -> tuple[ButtonEvent, ...]:
        """Return the events up to now (or ``time_s``), oldest first; tries failed buttons again when due."""
        now_s = self._clock() if time_s is None else time_s
        events: list[ButtonEvent] = []
        debouncers = {slot.role: slot.debouncer for slot in self._slots}
        while not self._edges.empty():
            edge = self._edges.get_nowait()
            debouncer = debouncers[edge.role]
            if debouncer is not None:
                events += _button_events(edge.role, debouncer.edge(edge.time_s, closed=edge.closed))
        for slot in self._slots:
            self._open_if_due(slot, now_s)
            if slot.debouncer is not None and (closed := self._level(slot, now_s)) is not None:
                events += _button_events(slot.role, slot.debouncer.edge(now_s, closed=closed))
                events += _button_events(slot.role, slot.debouncer.advance(now_s))
        return tuple(sorted(events, key=lambda event: event.time_s + event.held_s))

    def presses(self, time_s: float | None = None) -> tuple[ButtonRole, ...]:
        """Return the roles of the buttons pressed since the last ``poll`` or ``presses``, oldest first."""
        return tuple(event.role for event in self.poll(time_s) if event.kind is PressKind.PRESSED)

    def next_change_s(self) -> float | None:
        """Return when ``poll`` is due if no edge arrives before (for an event to be confirmed, or a retry)."""
        return earliest(
            slot.record.backoff.retry_at_s if slot.debouncer is None else slot.debouncer.next_change_s
            for slot in self._slots
        )

    def close(self) -> None:
        """Release every pin."""
        for slot in self._slots:
            device, slot.device, slot.debouncer = slot.device, None, None
            if device is not None:
                device.close()

    def _open_if_due(self, slot: _Slot, now_s: float) -> None:
        if slot.device is not None or not slot.record.backoff.is_due(now_s):
            return
        try:
            factory = self._factory or open_pin_factory()
            # gpiozero's Button would add a thread for holding; the debouncer detects long presses by itself
            device = DigitalInputDevice(slot.pin, pull_up=self._pull_up, bounce_time=None, pin_factory=factory)
        except HardwareError as error:
            self._failed(slot, now_s, error)
            return
        except pin_errors() as error:
            self._failed(slot, now_s, hardware_error(slot.record.device, error))
            return
        slot.debouncer = Debouncer(
            settle_s=self._settle_s, long_press_s=self._long_press_s, closed=bool(device.is_active), time_s=now_s
        )
        device.when_activated = self._stamp(slot.role, closed=True)
        device.when_deactivated = self._stamp(slot.role, closed=False)
        slot.device = device
        slot.record.worked(now_s)

    def _level(self, slot: _Slot, now_s: float) -> bool | None:
        """Read the contact's level, so that a lost edge does not leave a button stuck; ``None`` on a fault."""
        try:
            return bool(slot.device.is_active)
        except pin_errors() as error:
            slot.device.close()
            slot.device = slot.debouncer = None
            self._failed(slot, now_s, hardware_error(slot.record.device, error))
            return None

    def _stamp(self, role: ButtonRole, *, closed: bool) -> Callable[[], None]:
        def stamp() -> None:
            self._edges.put(_Edge(role, self._clock(), closed))

        return stamp

    def _failed(self, slot: _Slot, now_s: float, error: HardwareError) -> None:
        message = str(error)
        slot.record.failed(message, now_s)
        if message not in self._said:
            self._said.add(message)
            name = slot.record.device
            self._on_fault(
                f"{name} does not work: {message}. The game goes on without it, and the referee keeps trying."
            )


def _button_events(role: ButtonRole, presses: tuple[Press, ...]) -> list[ButtonEvent]:
    events = []
    for press in presses:
        started_s = press.time_s if press.kind is PressKind.RELEASED else press.touched_s
        held_s = 0.0 if press.kind is PressKind.RELEASED else press.time_s - press.touched_s
        events.append(ButtonEvent(role, press.kind, started_s, held_s))
    return events
