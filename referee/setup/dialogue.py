"""A dialogue with a person who isn't at the terminal: messages, questions and answers."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Iterator
from typing import TextIO, cast

from rich.console import Console

from common.shown_text import shown
from referee.setup.step_view import Dialogue

_MOST_LINES = 200
_WIDTH = 200


class PageDialogue:
    """A dialogue in which one thread writes and asks while others read and answer. It writes to ``console``."""

    def __init__(self) -> None:
        self.console = Console(file=cast("TextIO", self), width=_WIDTH, color_system=None, force_terminal=False)
        self._lock = threading.Lock()
        self._lines: deque[str] = deque(maxlen=_MOST_LINES)
        self._question = ""
        self._number = 0
        self._takes_lines = False
        self._answers: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def write(self, text: str) -> int:
        """Write text, as to a file."""
        with self._lock:
            self._lines.extend(line for line in shown(text).splitlines() if line.strip())
        return len(text)

    def flush(self) -> None:
        """Do nothing, since writing isn't buffered."""

    def ask(self, question: str) -> str:
        """Ask and wait for the answer; raises EOFError once the dialogue is closed."""
        with self._lock:
            self._question = question
            self._number += 1
        try:
            answer = self._answers.get()
        finally:
            with self._lock:
                self._question = ""
        if answer is None:
            raise EOFError
        return answer

    def lines(self) -> Iterator[str]:
        """Return the answers that no question asked for, until the dialogue is closed."""
        self._takes_lines = True
        return iter(self._answers.get, None)

    def answer(self, text: str, number: str) -> None:
        """Answer the question of this number, or send a line if lines are taken; any other answer is dropped."""
        with self._lock:
            if number == str(self._number) and (self._question or self._takes_lines):
                # A second answer to the same question must not answer the next one.
                self._number += 1
                self._question = ""
                self._answers.put(text)

    def close(self) -> None:
        """Close the dialogue: nobody answers any more."""
        self._answers.put(None)

    def shown(self) -> Dialogue:
        """Return the latest messages, newest last, and the open question with its number."""
        with self._lock:
            return Dialogue(tuple(self._lines), self._question, str(self._number))
