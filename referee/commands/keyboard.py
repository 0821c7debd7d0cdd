"""Reads lines that a person types while the program does other work."""

from __future__ import annotations

import codecs
import os
import queue
import re
import termios
import threading
import tty
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

_KEYS = re.compile(r"\x1b(?:\[[0-9;]*[@-~]|O.|.)?|.", re.DOTALL)
"""One key: a character, or the escape sequence of an arrow or function key."""
_UP = ("\x1b[A", "\x1bOA")
_DOWN = ("\x1b[B", "\x1bOB")


@contextmanager
def unechoed_lines(terminal: TextIO, show: Callable[[str], object]) -> Iterator[Iterator[str]]:
    """Yield the lines typed at a terminal with echo turned off; ``show`` gets the line as it is being typed.

    The terminal's settings are restored afterwards. Ctrl-C still interrupts.
    """
    number = terminal.fileno()
    before = termios.tcgetattr(number)
    # TCSADRAIN keeps what was typed while the program started.
    tty.setcbreak(number, termios.TCSADRAIN)
    try:
        yield edited_lines(lambda: os.read(number, 1024), show)
    finally:
        termios.tcsetattr(number, termios.TCSADRAIN, before)


def edited_lines(read: Callable[[], bytes], show: Callable[[str], object]) -> Iterator[str]:
    """Assemble key presses into lines. Backspace deletes a character, Ctrl-U the line; up and down recall lines.

    ``read`` returns the typed bytes, nothing at the end.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    line = unsent = ""
    earlier: list[str] = []
    at = 0  # which of the earlier lines is shown; after them, the unsent one
    while keys := read():
        for key in _KEYS.findall(decoder.decode(keys)):
            if key in "\r\n":
                show("")
                yield line
                if line and line not in earlier[-1:]:
                    earlier.append(line)
                line, at = "", len(earlier)
            elif key in _UP and at > 0:
                unsent = line if at == len(earlier) else unsent
                at -= 1
                line = earlier[at]
            elif key in _DOWN and at < len(earlier):
                at += 1
                line = earlier[at] if at < len(earlier) else unsent
            elif key in "\x7f\b":
                line = line[:-1]
            elif key == "\x15":
                line = ""
            elif key.isprintable():
                line += key
        show(line)


class PolledLines:
    """Reads lines in its own thread, so that the caller never blocks."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._ended = False
        # A daemon thread, because nothing can interrupt its wait for typed input.
        threading.Thread(target=self._listen, args=(lines,), name="keyboard", daemon=True).start()

    def poll(self) -> list[str]:
        """Return the lines typed since the last call; raises EOFError once the input has ended and all are returned."""
        lines: list[str] = []
        while not self._lines.empty():
            line = self._lines.get()
            if line is None:
                self._ended = True
            else:
                lines.append(line)
        if self._ended and not lines:
            raise EOFError
        return lines

    def _listen(self, lines: Iterable[str]) -> None:
        try:
            for line in lines:
                self._lines.put(line.rstrip("\n"))
        finally:
            self._lines.put(None)
