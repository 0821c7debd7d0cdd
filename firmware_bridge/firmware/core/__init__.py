"""The firmware without its pins: protocol, debouncing, lights, sounds. Pure; runs alike in CPython and MicroPython.

So these modules import nothing but each other and what both interpreters have, and keep to preallocated buffers.
``device.Device`` is the whole; ``board.Board`` says what it needs of a microcontroller.
"""
