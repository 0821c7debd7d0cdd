"""A panel that keeps its own time: a thread moves the patterns on while whoever shows signals does other work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType

from hardware.panel import Fault, Panel
from hardware.signals import Signal


class LivePanel:
    """A ``Panel`` behind a lock, with one thread that ticks it exactly when something changes.

    Reading a frame may take longer than a blink, so a service in real time shows its signals through this. In
    virtual time use ``Panel`` itself. ``clock`` must be the clock of the computer, in monotonic seconds, since the
    thread waits by it. The panel's callbacks are called from either thread, one at a time.

    Start it with ``with``; leaving puts everything out and ends the thread.
    """

    def __init__(self, panel: Panel, clock: Callable[[], float]) -> None:
        self._panel = panel
        self._clock = clock
        self._changed = threading.Condition(threading.RLock())
        self._is_open = False
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix="lights")
        self._running: Future[None] | None = None

    def show(self, signal: Signal, time_s: float | None = None) -> None:  # noqa: ARG002 - lights live in real time
        """Show a signal from now on; ``time_s`` is left alone, since a recording's frames have another time.

        Raises what ended the thread, if anything did: a mistake in a driver is not hidden.
        """
        self._raise_if_ended()
        with self._changed:
            self._panel.show(signal, self._clock())
            self._changed.notify_all()

    @property
    def signal(self) -> Signal | None:
        """The signal that holds now."""
        with self._changed:
            return self._panel.signal

    @property
    def faults(self) -> tuple[Fault, ...]:
        """What is wrong right now; empty when every driver works."""
        with self._changed:
            return self._panel.faults

    def close(self) -> None:
        """End the thread, put everything out and let go of every driver."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        self._threads.shutdown()
        self._panel.close()

    def __enter__(self) -> LivePanel:
        self._is_open = True
        self._running = self._threads.submit(self._run)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
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
