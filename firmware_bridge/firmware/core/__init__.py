"""The firmware without its pins: protocol, debouncing, lights, sounds. Pure; runs in CPython and MicroPython.

These modules only import each other and what both interpreters have, and use preallocated buffers. ``device.Device`` is
the whole firmware; ``board.Board`` is the interface to a microcontroller.
"""
