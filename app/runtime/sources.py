"""Waiting for frames: commands are carried out meanwhile, and Ctrl-C ends it."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any, Self, TypeVar

from referee.commands.values import CommandQueue

Given = TypeVar("Given")
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """While this is entered, ``SIGINT`` and ``SIGTERM`` raise KeyboardInterrupt inside ``waiting`` and nowhere else.

    A signal in between is raised by the next ``waiting``, a second one immediately. Outside the main thread, where
    Python receives no signals, nothing changes.
    """

    def __init__(self) -> None:
        self._asked = 0
        self._waits = False
        self._before: dict[signal.Signals, Any] = {}

    def waiting(self, action: Callable[[], Given]) -> Given:
        """Call an interruptible function; raises KeyboardInterrupt when it is interrupted, or already was."""
        try:
            self._waits = True
            if self._asked:
                raise KeyboardInterrupt
            return action()
        finally:
            self._waits = False

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._on_signal) for number in SIGNALS}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._asked += 1
        if self._waits or self._asked > 1:
            raise KeyboardInterrupt

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal came."""
        self.waiting(lambda: None)


class ServingWait:
    """Waits for a camera and carries out commands meanwhile, with ``serve``; a person may stop the program.

    ``clock`` returns monotonic seconds.
    """

    def __init__(
        self,
        commands: CommandQueue,
        interrupts: Interrupts,
        serve: Callable[[], object],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._commands, self._interrupts, self._serve, self._clock = commands, interrupts, serve, clock

    def until(self, ready: Callable[[], bool], timeout_s: float) -> None:
        """Wait until ``ready`` is true, for ``timeout_s`` at most."""
        deadline_s = self._clock() + timeout_s
        while not ready() and (left_s := deadline_s - self._clock()) > 0:
            self.once(left_s)

    def once(self, timeout_s: float) -> None:
        """Wait for a command or a ``wake``, for ``timeout_s`` at most."""
        self._interrupts.waiting(lambda: self._commands.wait(timeout_s))
        self._serve()

    def seconds(self, timeout_s: float) -> None:
        """Wait for that long."""
        self.until(lambda: False, timeout_s)

    def work_on(self) -> None:
        """Carry out commands between two steps of long work, such as a search in a picture."""
        self._serve()

    def wake(self) -> None:
        """Have ``ready`` asked again; any thread may call this."""
        self._commands.wake()
