"""A talk with somebody who isn't at the terminal: what is said, what is asked, and what they answer."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterator
from typing import TextIO, cast

from rich.console import Console

from referee.web.setting_up.port import Dialogue

_MOST_LINES = 200
_WIDTH = 200


class Talk:
    """One thread says and asks, others look on and answer. ``console`` is what it writes to."""

    def __init__(self) -> None:
        self.console = Console(file=cast("TextIO", self), width=_WIDTH, color_system=None, force_terminal=False)
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._question = ""
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def write(self, text: str) -> int:
        """Say something, as to a file."""
        with self._lock:
            self._lines.extend(line for line in text.splitlines() if line.strip())
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def ask(self, question: str) -> str:
        """Ask and wait for the answer; raises EOFError once nobody answers any more."""
        with self._lock:
            self._question = question
        try:
            answer = self._answers.get()
        finally:
            with self._lock:
                self._question = ""
        if answer is None:
            raise EOFError
        return answer

    def lines(self) -> Iterator[str]:
        """Give what is answered without being asked, until nobody answers any more."""
        while (answer := self._answers.get()) is not None:
            yield answer

    def answer(self, text: str) -> None:
        """Answer the question, or say something."""
        self._answers.put(text)

    def close(self) -> None:
        """Nobody answers any more."""
        self._answers.put(None)

    def shown(self) -> Dialogue:
        """Give what was said lately, the newest last, and the question that is open."""
        with self._lock:
            return Dialogue(tuple(self._lines), self._question)
