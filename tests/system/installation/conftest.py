"""Boards with the real MicroPython interpreter, as the tests of the installer's parts have them."""

from tests.firmware_bridge.conftest import node
from tests.firmware_bridge.install.conftest import all_files, firmware, new_board, pins

__all__ = ["all_files", "firmware", "new_board", "node", "pins"]
