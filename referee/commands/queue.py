"""The queue that brings commands from all sources to the loop that carries them out."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from common.closeable import Closeable
from referee.commands.values import Command, Press, Respond, ignore_reply


@dataclass(frozen=True)
class QueuedCommand:
    """A command, the function that receives its reply, and the request id for its events (empty: none)."""

    command: Command
    respond: Respond
    request_id: str = ""


class CommandQueue(Closeable):
    """Takes commands from any thread, in order, and wakes the one thread that carries them out.

    Presses are taken separately, because they are judged with the frame that follows them. A press is held back for
    ``press_lag_s``: sensors report a piece with a delay, and a press right after putting it down must not be judged
    with the old table. ``clock`` returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float], press_lag_s: float = 0.0) -> None:
        self._clock = clock
        self._press_lag_s = press_lag_s
        self._changed = threading.Condition()
        self._commands: deque[QueuedCommand] = deque()
        self._presses: deque[tuple[float, QueuedCommand]] = deque()
        self._woken = False
        self._is_closed = False

    def submit(self, command: Command, respond: Respond = ignore_reply, request_id: str = "") -> None:
        """Queue a command; ``respond`` is called by the thread that carries it out."""
        with self._changed:
            if not self._is_closed:
                submitted = QueuedCommand(command, respond, request_id)
                if isinstance(command, Press):
                    self._presses.append((self._clock(), submitted))
                else:
                    self._commands.append(submitted)
                self.wake()
                return
        respond(None)

    def take(self) -> list[QueuedCommand]:
        """Remove and return the waiting commands, except presses."""
        with self._changed:
            taken = list(self._commands)
            self._commands.clear()
        return taken

    def take_presses(self) -> list[QueuedCommand]:
        """Remove and return the presses that have been held back long enough."""
        taken = []
        with self._changed:
            while self._presses and self._clock() - self._presses[0][0] >= self._press_lag_s:
                taken.append(self._presses.popleft()[1])
        return taken

    def wake(self) -> None:
        """End the current ``wait``, or else the next one."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until there was a command or a ``wake`` since the last wait, but no longer than ``timeout_s``."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken, timeout_s)
            self._woken = False

    def close(self) -> None:
        """Accept no more commands. Each command that was never taken gets ``None`` as its reply."""
        with self._changed:
            self._is_closed = True
            left = [*self.take(), *(submitted for _, submitted in self._presses)]
            self._presses.clear()
        for submitted in left:
            submitted.respond(None)
