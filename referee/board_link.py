"""Connecting the board that a plan asks for, and waiting for it where a command can do nothing without."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from serial.tools import list_ports

from firmware_bridge.connection import BoardConnection
from firmware_bridge.errors import SilentDeviceError
from firmware_bridge.protocol.messages import Welcome
from referee.board import Board
from referee.board_plan import WirePlan

ANSWER_TIMEOUT_S = 20.0
"""How long a board may take to answer: long enough for one that is reset by opening its port, and asked twice."""


@dataclass(frozen=True)
class LinkedBoard:
    """A board and the connection to it."""

    board: Board
    connection: BoardConnection

    def welcome(self, timeout_s: float = ANSWER_TIMEOUT_S) -> Welcome:
        """Wait for the board; raises what keeps it away (BridgeError), the first thing that does."""
        connection = self.connection
        connection.wait_for(lambda: connection.welcome is not None or connection.trouble is not None, timeout_s)
        welcome, trouble = connection.welcome, connection.trouble
        if welcome is not None:
            return welcome
        if trouble is not None:
            raise trouble.error
        raise SilentDeviceError(f"no board answered within {timeout_s:g} s")

    def wait(self, timeout_s: float) -> None:
        """Wait until the board has told something, at most that long."""
        self.connection.wait_for(lambda: self.connection.has_events, timeout_s)


ListPorts = Callable[[], Iterable[Any]]
"""Gives pyserial's records of the ports there are."""


@contextmanager
def linked_board(
    plan: WirePlan, say: Callable[[str], None], list_ports: ListPorts = list_ports.comports
) -> Iterator[LinkedBoard]:
    """Look for the board of the plan for as long as this is entered; a board that is away is no error here.

    ``say`` gets a sentence when it is away and when it is back, from the connection's thread.
    """

    def tell(words: str) -> None:
        say(as_sentence(words))

    connection = BoardConnection(plan.wanted, time.monotonic, tell, list_ports=list_ports)
    connection.configure(plan.configure)
    with connection:
        yield LinkedBoard(Board(connection, plan, say), connection)


@contextmanager
def answering_board(
    plan: WirePlan, say: Callable[[str], None], list_ports: ListPorts = list_ports.comports
) -> Iterator[LinkedBoard]:
    """Connect the board of the plan for a command that can do nothing without it, and wait until it answers.

    Raises what keeps it away (BridgeError), which is not said as well; what happens later is.
    """
    has_answered = threading.Event()

    def tell(sentence: str) -> None:
        if has_answered.is_set():
            say(sentence)

    with linked_board(plan, tell, list_ports) as linked:
        linked.welcome()
        has_answered.set()
        yield linked


def as_sentence(words: str) -> str:
    """Make a sentence of what the connection says of the board."""
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith(('.', '?', '!')) else '.'}"
