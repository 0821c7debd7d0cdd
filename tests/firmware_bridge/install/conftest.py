"""Boards with the real MicroPython interpreter behind a real pseudo-terminal, for the installer."""

import base64
import json
import os
import select
import subprocess
import tty
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from firmware_bridge.install.access import InstallEnvironment
from firmware_bridge.install.manifest import MANIFEST_FILE, PIN_MAP_FILE, Firmware, our_firmware
from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.pin_maps.pin_map import PinMap, example_pin_map
from firmware_bridge.ports.selection import WantedBoard
from hardware.pin_map import BUTTON_ROLES
from tests.guard import GUARD_S

MICROPYTHON = Path(__file__).resolve().parents[2] / "micropython"
WAIT_MS = 50
"""How long these boards listen for Ctrl-C after a reset; a real one does for two seconds."""


class InterpreterBoard:
    """A board whose other end is MicroPython under Node; its orders are at the end of tests/micropython/board.mjs."""

    def __init__(self, node: str, wait_ms: int = WAIT_MS) -> None:
        master, self._slave = os.openpty()
        tty.setraw(self._slave)
        self.port = os.ttyname(self._slave)
        script = MICROPYTHON / "scripts" / "start_board.py"
        command: list[str | Path] = [node, MICROPYTHON / "board.mjs", str(master), str(wait_ms), script]
        try:
            self._node = subprocess.Popen(
                command, pass_fds=(master,), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
        finally:
            os.close(master)
        self._is_plugged = True
        self.said: list[str] = []

    @property
    def wanted(self) -> WantedBoard:
        """How to ask for this board."""
        return WantedBoard(self.port)

    @property
    def around(self) -> InstallEnvironment:
        """The edges through which it is reached."""
        return InstallEnvironment(list_ports=lambda: [], say=self.said.append)

    def order(self, order: str, **rest: object) -> Any:
        """Give an order and wait for the answer."""
        assert self._node.stdin is not None
        assert self._node.stdout is not None
        self._node.stdin.write(json.dumps({"order": order, **rest}) + "\n")
        self._node.stdin.flush()
        assert select.select([self._node.stdout], [], [], GUARD_S)[0], f"no answer to {order!r}"
        return json.loads(self._node.stdout.readline())

    def put(self, files: Mapping[str, bytes]) -> None:
        """Put files on the board by hand."""
        for path, data in files.items():
            self.order("write", path=f"/{path}", data=base64.b64encode(data).decode())

    def files(self) -> dict[str, bytes]:
        """All files on the board."""
        found: dict[str, str] = self.order("files")
        return {path.removeprefix("/"): base64.b64decode(data) for path, data in found.items()}

    def wait_until_it_runs(self) -> None:
        """Wait until the firmware runs."""
        assert self.order("runs") is True

    def unplug(self) -> None:
        """Pull the cable, and with it the power."""
        if self._is_plugged:
            self._is_plugged = False
            self._node.kill()
            self._node.communicate()
            os.close(self._slave)


@pytest.fixture
def new_board(node: str) -> Iterator[Callable[..., InterpreterBoard]]:
    """Make a board with the given files, just switched on."""
    with ExitStack() as stack:

        def make(files: Mapping[str, bytes] | None = None, wait_ms: int = WAIT_MS) -> InterpreterBoard:
            board = InterpreterBoard(node, wait_ms)
            stack.callback(board.unplug)
            board.put(files or {})
            board.order("reset")
            return board

        yield make


@pytest.fixture(scope="session")
def firmware() -> Firmware:
    """The firmware of this program."""
    return our_firmware(files("firmware_bridge") / "firmware")


@pytest.fixture(scope="session")
def pins() -> PinMap:
    """The example's pin map."""
    return parse_pin_map(example_pin_map(), button_roles=BUTTON_ROLES)


@pytest.fixture(scope="session")
def all_files(firmware: Firmware, pins: PinMap) -> dict[str, bytes]:
    """What is on a board after an installation."""
    return {
        **firmware.files,
        PIN_MAP_FILE: pins.device_json(),
        MANIFEST_FILE: firmware.manifest.to_json(),
    }
