"""The connection to a real MicroPython prompt instead of the referee's firmware."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import ConnectionState
from firmware_bridge.errors import NoFirmwareError
from firmware_bridge.ports.selection import WantedBoard
from tests.guard import GUARD_S


@pytest.mark.long
def test_a_real_prompt_is_named_and_the_firmware_is_greeted_once_it_runs(
    new_board: Callable[..., Any], all_files: dict[str, bytes]
) -> None:
    board = new_board()
    said: list[str] = []
    with BoardConnection(WantedBoard(board.port), time.monotonic, said.append, list_ports=list) as connection:
        assert connection.wait_for(lambda: connection.outage is not None, GUARD_S)
        assert connection.outage is not None
        assert isinstance(connection.outage.error, NoFirmwareError), connection.outage
        assert said == [
            f"{board.port} is MicroPython at its prompt, without the referee's firmware running; "
            "`./run hardware firmware install` puts it there"
        ]
        board.put(all_files)
        board.order("reset")
        assert connection.wait_for(lambda: connection.state is ConnectionState.LINKED, GUARD_S), connection.outage
        assert said[1:] == [f"the board answers now, on {board.port}"]
