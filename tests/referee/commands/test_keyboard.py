"""Lines made of keys at a terminal that shows nothing itself."""

from __future__ import annotations

import os
import pty
import termios

from referee.commands.keyboard import edited_lines, unechoed_lines


def test_a_line_is_made_of_keys_and_seen_meanwhile() -> None:
    keys = iter([b"dr", b"aw\x7f\x7f", b"aw\r", b"\x1b[A\x1b[Dx\x15", "h\u00e9".encode()[:2], "\u00e9\n".encode(), b""])
    seen: list[str] = []
    assert list(edited_lines(lambda: next(keys), seen.append)) == ["draw", "h\ufffd\u00e9"]
    assert seen[:2] == ["dr", "dr"]
    assert "draw" not in seen, "a line that was entered is gone"


def test_a_terminal_echoes_nothing_meanwhile_and_is_put_back() -> None:
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


def test_arrows_bring_earlier_lines_back() -> None:
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
