"""The command line: thin commands on top of the packages that do the work."""

from __future__ import annotations


def main() -> None:
    """Run the program with this process's arguments and exit with its code."""
    import sys

    try:
        _run()
    except KeyboardInterrupt:
        # Ctrl-C while Python or the libraries are still being loaded.
        sys.stderr.write("referee: stopped\n")
        sys.exit(130)


def _run() -> None:
    import os
    import shlex
    import signal
    import sys
    from functools import partial

    from common.program import VARIABLE
    from common.shown_text import guard_output
    from referee.cli.context import CommandContext
    from referee.cli.group import report_fault
    from referee.cli.machine.link import COMPLETE_VARIABLE
    from referee.cli.root import root

    # The matrices are small, so the threads of OpenBLAS would wait for each other longer than they work.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # We report cameras and pictures that can't be opened ourselves, and say what to do.
    os.environ.setdefault("OPENCV_LOG_LEVEL", "FATAL")
    if COMPLETE_VARIABLE not in os.environ:
        # The shell gets its completions, which are names of ours, as bytes.
        guard_output()
    context = CommandContext(program=shlex.quote(os.environ.get(VARIABLE) or "referee"))
    sys.excepthook = partial(report_fault, context)
    # `run` starts Python with Ctrl-C blocked; unblock it now.
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    root.main(prog_name=context.program, complete_var=COMPLETE_VARIABLE, obj=context)
