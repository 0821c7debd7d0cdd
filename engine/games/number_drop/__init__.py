"""Number Drop: one to six players drop the same dice into sheets of 7 columns and 14 lines and draw loops round digits.

``sheet`` is one player's sheet and its points, ``components`` the dice and tiles, ``dropping`` how shapes fall,
``combining`` which loops may be drawn, ``settings`` the options, ``state`` the whole table, ``flow`` what comes after
what, ``judging`` and ``explain`` what went wrong, ``text`` and ``turn_text`` the written forms, and ``game`` puts them
behind the engine's one interface.
"""
