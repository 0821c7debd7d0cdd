"""The fastest loops that the interpreter can run: those in machine code, or else those in plain Python.

MicroPython generates no machine code under Node, and before 1.24 none for the RISC-V cores of an RP2350.
"""

__all__ = ["CAN_READ_PINS_AT_ONCE", "low_pins", "make_levels", "pack_words", "read_waiting", "write_while_room"]

try:
    from .native_loops import low_pins, make_levels, pack_words, read_waiting, write_while_room

    CAN_READ_PINS_AT_ONCE = True
except SyntaxError:
    from .loops import make_levels, pack_words, read_waiting, write_while_room

    CAN_READ_PINS_AT_ONCE = False
