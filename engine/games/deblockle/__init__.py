"""Deblockle: wooden cubes that roll, then hop by the symbol that came up.

``board`` knows squares, ``cube`` orientations, ``settings`` the options, ``state`` what stands where, ``turns``
what may be played, ``announcing`` what may be said, ``setting_up`` how a game starts, ``explain`` what went wrong,
``text`` the written forms, ``drawing`` and ``summary`` what a person reads, and ``game`` puts them behind the engine's
one interface. ``fast`` has the rules once more in whole numbers, for ``playouts`` and for ``hinting``.
"""
