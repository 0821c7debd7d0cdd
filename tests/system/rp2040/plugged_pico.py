"""An emulated Pico behind a pseudo-terminal, in a thread of its own, for programs that open a serial port."""

from __future__ import annotations

import os
import queue
import select
import termios
import time
import tty
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

from tests.system.rp2040.edges import MS
from tests.system.rp2040.emulated_pico import EmulatedPico

Result = TypeVar("Result")

_SLICE_MS = 1.0
_SETTLE_MS = 50.0
_GUARD_S = 1200.0
"""Only against hanging: an emulated second takes some twenty of a computer that has nothing else to do."""


class PluggedPico:
    """The thread and the terminal. Its time never runs faster than the computer's, since real programs wait for it."""

    def __init__(self, pico: EmulatedPico) -> None:
        self._pico = pico
        self._master, self._slave = os.openpty()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.port = os.ttyname(self._slave)
        self._orders: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._unsent = b""
        self._is_plugged = True
        self._threads = ThreadPoolExecutor(max_workers=1, thread_name_prefix=f"Pico on {self.port}")
        self._running = self._threads.submit(self._run)

    def now_s(self) -> float:
        """The chip's time, for whoever is to wait by it."""
        return self._pico.now_ns / 1e9

    def ask(self, question: Callable[[EmulatedPico], Result]) -> Result:
        """Ask, or order, between two moments of the chip's life. A question that fails ends the thread."""
        answer: Future[Result] = Future()
        self._orders.put(lambda: answer.set_result(question(self._pico)))
        ends: tuple[Future[Any], ...] = (answer, self._running)
        if self._running in wait(ends, _GUARD_S, FIRST_COMPLETED).done:
            self._running.result()
        return answer.result(0)

    def settle(self) -> None:
        """Let the chip take in what it was sent, and drop what it answers, as happens while no program has the port."""

        def run(pico: EmulatedPico) -> None:
            self._carry()
            pico.run_for(_SETTLE_MS)
            pico.read()
            self._unsent = b""
            termios.tcflush(self._slave, termios.TCIFLUSH)

        self.ask(run)

    def unplug(self) -> None:
        """End the thread and close the terminal; harmless the second time."""
        if self._is_plugged:
            self._orders.put(self._stop)
            self._threads.shutdown()
            self._stop()
            for file in (self._master, self._slave):
                os.close(file)

    def __enter__(self) -> PluggedPico:
        return self

    def __exit__(self, *_: Any) -> None:
        self.unplug()

    def _stop(self) -> None:
        self._is_plugged = False

    def _run(self) -> None:
        while self._is_plugged:
            began_s, began_ns = time.monotonic(), self._pico.now_ns
            self._carry()
            self._pico.run_for(_SLICE_MS)
            while not self._orders.empty():
                self._orders.get()()
            ahead_s = (self._pico.now_ns - began_ns) / (1000 * MS) - (time.monotonic() - began_s)
            if ahead_s > 0:
                select.select([self._master], [], [], ahead_s)

    def _carry(self) -> None:
        if select.select([self._master], [], [], 0)[0]:
            self._pico.write(os.read(self._master, 4096))
        self._unsent += self._pico.read()
        if self._unsent and select.select([], [self._master], [], 0)[1]:
            self._unsent = self._unsent[os.write(self._master, self._unsent) :]
