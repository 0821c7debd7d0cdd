"""The process that finds hints: a question a line on standard input, an answer a line on standard output.

Run as ``python -m referee.hints.worker``. It ends when its input does, so it outlives no referee.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from dataclasses import asdict
from typing import TextIO

from engine.api import Clock
from referee.hints.advice import Question, answer_question

NICENESS = 5
"""Frames come first: a hint takes what computing they leave."""


def serve(questions: TextIO, answers: TextIO, clock: Clock) -> None:
    """Answer questions until there are no more."""
    for line in questions:
        answer = answer_question(Question(**json.loads(line)), clock)
        print(json.dumps(asdict(answer), ensure_ascii=False), file=answers, flush=True)


def main() -> None:
    """Serve the standard streams; Ctrl-C is for the referee, which then closes them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin, sys.stdout, time.monotonic)


if __name__ == "__main__":
    main()
