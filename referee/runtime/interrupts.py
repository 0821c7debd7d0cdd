"""Stopping where it does no harm: Ctrl-C and a polite kill end the referee between two steps, never inside one.

Python raises KeyboardInterrupt at whatever line is being run, and a lock that is just being let go of may then stay
held for ever. Here the signal only leaves a mark, unless the referee is waiting, which is the one place to leave from.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, TypeVar

from vision.frame import Frame

Given = TypeVar("Given")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class _Source(Protocol):
    def read(self, timeout_s: float) -> Frame: ...


class Interrupts:
    """While this is entered, ``SIGINT`` and ``SIGTERM`` raise KeyboardInterrupt inside ``waiting`` and nowhere else.

    One that comes in between is raised by the next ``waiting``; a second one at once, for whoever has no patience.
    Outside the main thread, where Python takes no signals, everything stays as it was.
    """

    def __init__(self) -> None:
        self._asked = 0
        self._waits = False
        self._before: dict[signal.Signals, Any] = {}

    def waiting(self, action: Callable[[], Given]) -> Given:
        """Do something that may be interrupted; raises KeyboardInterrupt when it is, or already was."""
        try:
            self._waits = True
            if self._asked:
                raise KeyboardInterrupt
            return action()
        finally:
            self._waits = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._heard) for number in SIGNALS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._asked += 1
        if self._waits or self._asked > 1:
            raise KeyboardInterrupt


class InterruptibleSource:
    """A camera whose ``read`` is where one may leave from."""

    def __init__(self, camera: _Source, interrupts: Interrupts) -> None:
        self._camera = camera
        self._interrupts = interrupts

    def read(self, timeout_s: float) -> Frame:
        """Read as the camera does; raises KeyboardInterrupt when the referee is to stop."""
        return self._interrupts.waiting(lambda: self._camera.read(timeout_s))
