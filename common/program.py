"""What an owner types to call this program."""

from __future__ import annotations

import os
import shlex

VARIABLE = "REFEREE_PROGRAM"
"""The variable in which ``run`` tells how it was called, such as ``./run``; ``./run link`` makes it ``referee``."""

PROGRAM = shlex.quote(os.environ.get(VARIABLE) or "referee")
"""What to type before a command's name. Every text that names a command takes it from here."""

WRITTEN = "./run"
"""What stands for ``PROGRAM`` in the docstrings that are a command's help, and in the documents."""


def as_called(text: str) -> str:
    """Give a text written with ``./run`` with the name by which this program was called."""
    return text.replace(f"{WRITTEN} ", f"{PROGRAM} ")
