"""The command line: thin commands on top of the packages that do the work."""

import sys


def main() -> None:
    """Run the program with this process's arguments and exit with its code."""
    try:
        from app.cli.root import run

        run()
    except KeyboardInterrupt:
        # Ctrl-C while Python or the libraries are still being loaded.
        sys.stderr.write("referee: stopped\n")
        sys.exit(130)
