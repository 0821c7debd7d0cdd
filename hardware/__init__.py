"""The Raspberry Pi's own pins, and the signals a table needs.

- ``lights``: signals as plain values, and the drivers that show them.
- ``inputs``: buttons, and switches under the squares.
- ``pins``: which pin does what, and how pins are opened.
- ``factory``: drivers and buttons from settings. ``grid``: how a board's places lie.
- ``faults``: what is wrong with a device that may come back.
"""
