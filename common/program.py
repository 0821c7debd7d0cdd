"""What an owner types to call this program, as every sentence writes it."""

from __future__ import annotations

PROGRAM = "./run"
"""What to type before a command's name. The command line puts in how it was called itself (``referee.cli.context``)."""

VARIABLE = "REFEREE_PROGRAM"
"""The variable in which ``run`` tells how it was called; ``./run tools link`` makes it ``referee``."""
