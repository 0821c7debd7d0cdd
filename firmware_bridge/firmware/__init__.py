"""The firmware of the microcontroller, for MicroPython 1.22 and newer.

``core`` is pure and runs in CPython and MicroPython; ``board`` drives pins and ports. On the microcontroller this
folder is ``/firmware``, and its ``main.py`` is ``/main.py``.
"""
