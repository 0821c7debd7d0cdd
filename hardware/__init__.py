"""The Raspberry Pi's own pins, and the signals that a table shows.

- ``lights``: signals as plain values, and the drivers that show them.
- ``buttons``, ``switches``: button presses, and the switches under the squares.
- ``pin_map``: the function of each pin. ``pins``: opening and checking pins.
- ``factory``: drivers from settings.
"""
