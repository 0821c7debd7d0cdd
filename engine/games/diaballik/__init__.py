"""Diaballik: seven pieces a side, two moves and a pass a turn, the ball to the far row.

``board`` knows squares, lines and walls, ``settings`` the options, ``state`` what stands where, ``turns`` what may be
played, ``claims`` what may be announced, ``fast`` the results of a turn as bare integers, ``listing`` legal turns made
of them, ``playouts`` and ``single_playouts`` random games, ``explain``, ``misplayed`` and ``misdeeds`` what went wrong,
``text`` and ``turn_text`` the written forms, ``search`` and ``hinting`` good turns, and ``game`` puts them behind the
engine's one interface.
"""
