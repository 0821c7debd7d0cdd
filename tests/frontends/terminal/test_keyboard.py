"""Lines that a person types, at a terminal without echo."""

import os
import pty
import termios
import time
from collections.abc import Iterator

import pytest

from frontends.terminal.keyboard import PolledLines, edited_lines, listen_to_lines, unechoed_lines
from tests.guard import GUARD_S


def test_keys_make_a_line_that_is_shown_while_typed() -> None:
    keys = iter([b"dr", b"aw\x7f\x7f", b"aw\r", b"\x1b[A\x1b[Dx\x15", "h\u00e9".encode()[:2], "\u00e9\n".encode(), b""])
    seen: list[str] = []
    assert list(edited_lines(lambda: next(keys), seen.append)) == ["draw", "h\ufffd\u00e9"]
    assert seen[:2] == ["dr", "dr"]
    assert "draw" not in seen, "an entered line is no longer shown"


def test_the_terminals_echo_is_off_while_typing_and_restored_afterwards() -> None:
    person, own = pty.openpty()
    with os.fdopen(own, "r") as keyboard:
        before = termios.tcgetattr(own)
        seen: list[str] = []
        with unechoed_lines(keyboard, seen.append) as lines:
            assert not termios.tcgetattr(own)[3] & termios.ECHO
            assert termios.tcgetattr(own)[3] & termios.ISIG, "Ctrl-C interrupts"
            os.write(person, b"h\n")
            assert next(lines) == "h"
        assert termios.tcgetattr(own) == before
    os.close(person)
    assert seen == [""]


def test_arrow_keys_recall_earlier_lines() -> None:
    up, down = "\x1b[A", "\x1bOB"
    typed = [
        f"{down}turn c1-c2\rh\r\r",
        f"{up}{up}{up}{up}\x7f3\r",
        f"half{up}{up}{down}{down} a line\r",
        f"unsent{up}\r{up}{up}\r",
        "",
    ]
    read = iter([keys.encode() for keys in typed])
    seen: list[str] = []
    assert list(edited_lines(lambda: next(read), seen.append)) == [
        *("turn c1-c2", "h", "", "turn c1-c3", "half a line", "half a line", "turn c1-c3"),
    ]


def test_typed_lines_are_read_in_a_separate_thread() -> None:
    def endless() -> Iterator[str]:
        yield "\n"

    taken: list[str] = []
    listen_to_lines(endless(), taken.append).join(GUARD_S)
    assert taken == ["\n"]


def test_polled_lines_raise_the_end_of_the_input_after_the_last_line() -> None:
    polled, taken = PolledLines(["a\n", "b\n"]), []

    def take_for_long() -> None:
        until_s = time.monotonic() + GUARD_S
        while time.monotonic() < until_s:
            taken.extend(polled.poll())

    with pytest.raises(EOFError):
        take_for_long()
    assert taken == ["a", "b"]
