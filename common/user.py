"""The user of this computer."""

import getpass


def user_name() -> str:
    """Return the login name of the current user, ``somebody`` if the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return "somebody"
