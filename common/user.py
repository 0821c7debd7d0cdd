"""Who sits at this computer."""

from __future__ import annotations

import getpass


def user_name() -> str:
    """Give the name a person is logged in by, ``somebody`` when the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
