"""The command line: one module a command, each a thin layer over the rooms that do the work."""

from __future__ import annotations


def main() -> None:
    """Run the command ``referee`` with this process's arguments and exit with its code."""
    from referee.cli.root import root

    root.main(prog_name="referee")
