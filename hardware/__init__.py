"""The Raspberry Pi's own pins, and the signals a table needs.

- ``lights``: signals as plain values, and the drivers that show them.
- ``buttons``, ``switches``: what is pressed, and what stands under the squares.
- ``pin_map``: which pin does what. ``pins``: how they are opened, and whether they work.
- ``factory``: drivers and buttons from settings. ``grid``: how a board's places lie.
"""
