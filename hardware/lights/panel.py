"""Shows a signal on all of a table's drivers. A failing driver only affects its own light.

A fault is reported once. The driver is closed, made again after a while, and then shows the present signal. ``Panel``
takes time as an argument; ``LivePanel`` runs it in a thread, in real time.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from common.backoff import Backoff
from common.closeable import Closeable
from common.moments import earliest
from common.phrases import Phrase, capitalized
from hardware.errors import HardwareError, part_and_reason
from hardware.lights.signals import AnimatedDriver, Driver, Signal, Sound

DRIVER_FAULTS = (HardwareError, OSError)
"""Exceptions of a driver that don't end the game; any other is a bug and is not hidden."""


@dataclass(frozen=True)
class DriverSource:
    """A driver's name and how to make it, now and again after a fault; ``make`` may raise ``DRIVER_FAULTS``.

    After a fault it counts as recovered once it has worked for ``steady_s``: for outputs that detect a fault late, such
    as a network's. If it fails again soon, a loose contact is likely, and it must work longer for the next recovery.
    """

    name: str
    make: Callable[[], Driver]
    steady_s: float = 0.0


@dataclass
class _Slot:
    source: DriverSource
    backoff: Backoff = field(default_factory=Backoff)
    fault: str | None = None
    """The first message of the present outage, which lasts until the recovery is reported."""
    has_relapsed: bool = False
    driver: Driver | None = None


class Panel(Closeable):
    """Shows signals on all drivers.

    ``clock`` returns monotonic seconds where no time is passed. ``on_fault`` is called with a sentence when a driver
    fails for the first time, ``on_recovery`` when it is back. Drivers are made at the first ``show`` or ``tick``. Not
    thread-safe: all calls must come from one thread.
    """

    def __init__(
        self,
        sources: Sequence[DriverSource],
        clock: Callable[[], float],
        on_fault: Callable[[str], None],
        on_recovery: Callable[[str], None] | None = None,
    ) -> None:
        names = [source.name for source in sources]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two drivers are called {', '.join(twice)}; each needs a name of its own")
        self._slots = [_Slot(source) for source in sources]
        self._clock = clock
        self._on_fault = on_fault
        self._on_recovery = on_recovery
        self._signal: Signal | None = None
        self._said: set[str] = set()

    @property
    def working(self) -> tuple[str, ...]:
        """The names of the drivers that work at present."""
        return tuple(slot.source.name for slot in self._slots if slot.driver is not None)

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        """Show a signal on every driver, replacing the one before; never raises for a failing driver."""
        now_s = self._clock() if time_s is None else time_s
        self._signal = signal
        for slot in self._slots:
            self._update(slot, now_s, signal)

    def tick(self, time_s: float | None = None) -> None:
        """Advance patterns and sounds, and try failed drivers again when they are due."""
        now_s = self._clock() if time_s is None else time_s
        for slot in self._slots:
            self._update(slot, now_s, None)

    def next_change_s(self, time_s: float | None = None) -> float | None:
        """Return when ``tick`` is due next (a pattern, a tone, a retry); ``None`` if never."""
        now_s = self._clock() if time_s is None else time_s
        return earliest(self._next_change_of(slot, now_s) for slot in self._slots)

    def close(self) -> None:
        """Turn everything off and release every driver; failures are ignored."""
        for slot in self._slots:
            self._close_driver(slot)

    def _update(self, slot: _Slot, now_s: float, new_signal: Signal | None) -> None:
        """Bring one driver up to date: make it when due, pass it a new signal, or call its ``tick``."""
        try:
            if slot.driver is None:
                if not slot.backoff.is_due(now_s):
                    return
                slot.driver = slot.source.make()
                # a sound belongs to its moment: a driver that recovers later shows the signal silently
                shown = new_signal or (self._signal and replace(self._signal, sound=Sound.SILENCE))
                if shown is not None:
                    slot.driver.show(shown, now_s)
            elif new_signal is not None:
                slot.driver.show(new_signal, now_s)
            elif isinstance(slot.driver, AnimatedDriver):
                slot.driver.tick(now_s)
        except DRIVER_FAULTS as error:
            self._failed(slot, now_s, error)
        else:
            self._worked(slot, now_s)

    def _failed(self, slot: _Slot, now_s: float, error: Exception) -> None:
        self._close_driver(slot)
        has_relapsed = not slot.backoff.is_news(now_s)
        slot.backoff = slot.backoff.failed(now_s)
        if slot.fault is not None:
            return
        fault = str(error) or type(error).__name__
        slot.fault, slot.has_relapsed = fault, has_relapsed
        # several drivers may have the same fault (no pin library): that is reported once as well
        if fault not in self._said:
            self._said.add(fault)
            name, message = part_and_reason(slot.source.name, fault)
            self._on_fault(
                Phrase(
                    "{name} does not work: {message}. The game goes on, and the referee keeps trying.",
                    capitalized(name),
                    message,
                )
            )

    def _worked(self, slot: _Slot, now_s: float) -> None:
        slot.backoff = slot.backoff.worked(now_s)
        if slot.fault is None or now_s < _steady_at_s(slot):
            return
        fault, slot.fault = slot.fault, None
        if all(other.fault != fault for other in self._slots):
            self._said.discard(fault)
        if self._on_recovery is not None:
            self._on_recovery(Phrase("{name} works again.", capitalized(slot.source.name)))

    def _next_change_of(self, slot: _Slot, now_s: float) -> float | None:
        if slot.driver is None:
            return slot.backoff.retry_at_s
        moments = [slot.driver.next_change_s(now_s)] if isinstance(slot.driver, AnimatedDriver) else []
        if slot.fault is not None:
            moments.append(_steady_at_s(slot))
        return earliest(moments)

    @staticmethod
    def _close_driver(slot: _Slot) -> None:
        driver, slot.driver = slot.driver, None
        if driver is None:
            return
        try:
            driver.close()
        except DRIVER_FAULTS:
            # it is closed because it failed, or because everything ends: its fault is already known
            return


def _steady_at_s(slot: _Slot) -> float:
    """Return when a driver that works now counts as recovered."""
    since_s = slot.backoff.working_since_s
    steady_s = slot.backoff.longest_s if slot.has_relapsed else slot.source.steady_s
    return 0.0 if since_s is None else since_s + steady_s


class LivePanel:
    """A ``Panel`` behind a lock, with one thread that calls ``tick`` exactly when something changes.

    Reading a frame may take longer than a blink, so a service in real time uses this class. In virtual time use
    ``Panel`` itself. ``clock`` must be the computer's, in monotonic seconds, since the thread waits by it. The panel's
    callbacks are called from either thread, one at a time.

    Start it with ``with``; leaving turns everything off and ends the thread.
    """

    def __init__(self, panel: Panel, clock: Callable[[], float]) -> None:
        self._panel = panel
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._is_open = False
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lights")
        self._running: Future[None] | None = None

    def show(self, signal: Signal, time_s: float | None = None) -> None:  # noqa: ARG002 - lights live in real time
        """Show a signal from now on; ``time_s`` is ignored, since a recording's frames have another time.

        Raises the exception that ended the thread, if any: a bug in a driver is not hidden.
        """
        self._raise_if_ended()
        with self._changed:
            self._panel.show(signal, self._clock())
            self._changed.notify_all()

    def close(self) -> None:
        """End the thread, turn everything off and release every driver."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        self._threads.shutdown()
        self._panel.close()

    def __enter__(self) -> LivePanel:
        self._is_open = True
        self._running = self._threads.submit(self._run)
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        self.close()
        if kind is None:
            self._raise_if_ended()

    def _run(self) -> None:
        with self._changed:
            while self._is_open:
                now_s = self._clock()
                self._panel.tick(now_s)
                change_s = self._panel.next_change_s(now_s)
                self._changed.wait(None if change_s is None else max(0.0, change_s - self._clock()))

    def _raise_if_ended(self) -> None:
        if self._running is not None and self._running.done():
            self._running.result()
