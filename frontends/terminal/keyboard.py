"""Lines that are typed at a terminal, read in a thread of their own."""

import codecs
import os
import queue
import re
import termios
import threading
import tty
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from io import TextIOWrapper
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


def listen_to_lines(lines: Iterable[str], take: Callable[[str], object]) -> threading.Thread:
    """Pass each typed line to ``take`` from a new thread, and return the thread."""

    def listen() -> None:
        for line in lines:
            take(line)

    # A daemon thread, because nothing can interrupt its wait for typed input.
    thread = threading.Thread(target=listen, name="keyboard", daemon=True)
    thread.start()
    return thread


class Keyboard:
    """Passes typed lines to whoever listened last, since nothing can interrupt the one thread that waits for them.

    A terminal that shows what is typed itself is restored when ``stack`` closes.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._listens = False
        self._take: Callable[[str], object] = str
        self._show: Callable[[str], object] = str

    def listen(
        self, lines: Iterable[str], take: Callable[[str], object], show: Callable[[str], object] | None = None
    ) -> None:
        """Pass each line to ``take``, and what is being typed at a terminal to ``show``, if there is a screen."""
        self._take, self._show = take, show or str
        if self._listens:
            return
        self._listens = True
        if show is not None and isinstance(lines, TextIOWrapper):
            lines = self._stack.enter_context(unechoed_lines(lines, self._show_typed))
        listen_to_lines(lines, self._take_line)

    def _show_typed(self, typed: str) -> None:
        self._show(typed)

    def _take_line(self, line: str) -> None:
        self._take(line)


class PolledLines:
    """Reads lines in its own thread, so that the caller never blocks."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._thread = listen_to_lines(lines, self._lines.put)

    def poll(self) -> list[str]:
        """Return the lines typed since the last call; raises EOFError once the input has ended and all are returned."""
        # Ask this first: the last line may come before the end.
        has_ended = not self._thread.is_alive()
        lines = []
        while not self._lines.empty():
            lines.append(self._lines.get().rstrip("\n"))
        if has_ended and not lines:
            raise EOFError
        return lines
