"""How messages refer to this program: the command that an owner types, and its version."""

PROGRAM = "./run"
"""What to type before a command's name. ``app.cli.context`` replaces it with the command actually typed."""

VARIABLE = "REFEREE_PROGRAM"
"""The variable in which ``run`` passes on the command typed; through a link, that is the link's name."""


def program_version() -> str:
    """Return this program's version, or that it is not installed."""
    # Imported here, because it takes a while.
    from importlib import metadata

    try:
        return metadata.version("tabletop-referee")
    except metadata.PackageNotFoundError:
        return "not installed, run from its folder"
