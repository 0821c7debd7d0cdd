"""Which of the loops the interpreter can run: those in machine code, or the others.

MicroPython has no machine code to offer under Node, and none for the RISC-V cores of an RP2350 before 1.24.
"""

__all__ = ["CAN_READ_PINS_AT_ONCE", "low_pins", "make_levels", "pack_words", "read_waiting", "write_while_room"]

try:
    from .swift_loops import low_pins, make_levels, pack_words, read_waiting, write_while_room

    CAN_READ_PINS_AT_ONCE = True
except SyntaxError:
    from .loops import make_levels, pack_words, read_waiting, write_while_room

    CAN_READ_PINS_AT_ONCE = False
