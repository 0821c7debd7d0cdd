"""Deblockle: wooden cubes that roll, then hop by the symbol that came up.

``board`` knows squares, ``cube`` orientations, ``settings`` the options, ``state`` what stands where, ``turns``
what may be played, ``setting_up`` how a game starts, ``explain`` what went wrong, ``text`` the written forms, and
``game`` puts them behind the engine's one interface.
"""
