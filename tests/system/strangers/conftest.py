"""Devices behind real pseudo-terminals, as the tests of the connection have them."""

from tests.firmware_bridge.connection.conftest import make_board, make_terminal, stack

__all__ = ["make_board", "make_terminal", "stack"]
