"""How messages refer to this program: the command that an owner types."""

from __future__ import annotations

PROGRAM = "./run"
"""What to type before a command's name. ``referee.cli.context`` replaces it with the command actually typed."""

VARIABLE = "REFEREE_PROGRAM"
"""The variable in which ``run`` passes on the command typed; after ``./run tools link`` it is ``referee``."""
