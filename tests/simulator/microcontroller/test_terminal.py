from __future__ import annotations

import select
from collections.abc import Iterator

import pytest
import serial

from simulator.microcontroller.microcontroller import PseudoTerminal
from tests.guard import GUARD_S


@pytest.fixture
def terminal() -> Iterator[PseudoTerminal]:
    with PseudoTerminal() as one:
        yield one


def arrived(terminal: PseudoTerminal, count: int) -> bytes:
    data = b""
    while len(data) < count:
        assert select.select([terminal], [], [], GUARD_S)[0]
        data += terminal.read()
    return data


def test_every_byte_goes_through_unchanged_both_ways(terminal: PseudoTerminal) -> None:
    every_byte = bytes(range(256))
    with serial.Serial(terminal.name, timeout=GUARD_S, exclusive=True) as port:
        port.write(every_byte)
        assert arrived(terminal, 256) == every_byte
        terminal.write(every_byte)
        assert port.read(256) == every_byte
    assert terminal.read() == b""


def test_it_can_be_opened_again_and_again(terminal: PseudoTerminal) -> None:
    for text in (b"once", b"twice"):
        with serial.Serial(terminal.name, timeout=GUARD_S, exclusive=True) as port:
            port.write(text)
            assert arrived(terminal, len(text)) == text


def test_unread_data_is_buffered_and_then_lost(terminal: PseudoTerminal) -> None:
    with serial.Serial(terminal.name, timeout=GUARD_S) as port:
        pieces = [bytes([number]) * 1000 for number in range(100)]
        for piece in pieces:
            terminal.write(piece)
        received = b""
        while terminal.is_waiting:
            received += port.read(max(1, port.in_waiting))
            terminal.flush()
        terminal.write(b"end")
        received += port.read_until(b"end")
        kept = b"".join(pieces)[: len(received) - 3]
        assert received == kept + b"end"
        assert 50_000 < len(kept) < 100_000


def test_a_host_that_has_it_open_finds_it_gone() -> None:
    terminal = PseudoTerminal()
    with serial.Serial(terminal.name, timeout=GUARD_S) as port:
        terminal.close()
        with pytest.raises((serial.SerialException, OSError)):
            port.read(1)
    terminal.close()
    with pytest.raises(serial.SerialException):
        serial.Serial(terminal.name)
