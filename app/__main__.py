"""``python -m app`` is the command ``referee``."""

import signal

from app.cli import main


def run() -> None:
    """Run the command in a process of its own. Once it has ended, a Ctrl-C ends Python without a traceback."""
    try:
        main()
    finally:
        signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    run()
