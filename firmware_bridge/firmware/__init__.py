"""What is put on the microcontroller, for MicroPython 1.22 and newer.

``core`` is pure and runs alike in CPython and MicroPython; ``board`` holds the thin edges to pins and ports. On the
microcontroller this folder is ``/firmware``, and its ``main.py`` is ``/main.py``.
"""
