"""A dialogue with a person who isn't at the terminal: messages, questions and answers."""

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


class PageDialogue:
    """A dialogue in which one thread writes and asks while others read and answer. It writes to ``console``."""

    def __init__(self) -> None:
        self.console = Console(file=cast("TextIO", self), width=_WIDTH, color_system=None, force_terminal=False)
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._question = ""
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def write(self, text: str) -> int:
        """Write text, as to a file."""
        with self._lock:
            self._lines.extend(line for line in text.splitlines() if line.strip())
        return len(text)

    def flush(self) -> None:
        """Do nothing, since writing isn't buffered."""

    def ask(self, question: str) -> str:
        """Ask and wait for the answer; raises EOFError once the dialogue is closed."""
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
        """Yield answers that no question asked for, until the dialogue is closed."""
        while (answer := self._answers.get()) is not None:
            yield answer

    def answer(self, text: str) -> None:
        """Answer the open question, or send a line without one."""
        self._answers.put(text)

    def close(self) -> None:
        """Close the dialogue: nobody answers any more."""
        self._answers.put(None)

    def shown(self) -> Dialogue:
        """Return the latest messages, newest last, and the open question."""
        with self._lock:
            return Dialogue(tuple(self._lines), self._question)
