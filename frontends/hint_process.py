"""Works out hints in a separate process, so that they don't delay frames."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

import referee
from common.phrases import Phrase
from common.shown_text import error_descriptor
from engine.api import Clock
from referee.hints.advice import Advice, Answer, Question, answer_question

_WORKER = (sys.executable, "-P", "-m", "frontends.hint_process")
_END_S = 5.0
NICENESS = 5
"""The process's niceness; frames have priority over hints."""
_LEAST_NICE = 19
"""The niceness that gives way to every other process."""
_GONE = Phrase("the hint could not be worked out: the process for it ended")


class HintProcess:
    """Answers questions without blocking the caller.

    The process starts with the first question and is restarted if it ends; a question it left unanswered is refused.
    ``command`` is the command line to run. ``on_answer`` is called in a separate thread when an answer can be polled.
    """

    def __init__(self, command: Sequence[str] = _WORKER, on_answer: Callable[[], object] = lambda: None) -> None:
        self._command = tuple(command)
        self._on_answer = on_answer
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        self._asked: list[int] = []
        self._reader: threading.Thread | None = None

    def ask(self, question: Question) -> None:
        """Send a question to the process."""
        self._asked.append(question.number)
        try:
            process = self._running()
            if process.stdin is not None:
                process.stdin.write(json.dumps(asdict(question), ensure_ascii=False) + "\n")
                process.stdin.flush()
        except OSError as error:
            self._answers.put(Answer(question.number, refused=f"{_GONE} ({error.strerror})"))

    def poll(self) -> list[Answer]:
        """Return the answers since the last call."""
        answers = []
        while not self._answers.empty():
            answer = self._answers.get()
            if answer.number in self._asked:
                self._asked.remove(answer.number)
                answers.append(answer)
        if self._asked and not answers and self._has_ended():
            answers = [Answer(number, refused=_GONE) for number in self._asked]
            self._asked.clear()
        return answers

    def close(self) -> None:
        """End the process; open questions stay unanswered."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(OSError):
            # Closing flushes the buffer, which fails if the process has ended.
            if process.stdin is not None:
                process.stdin.close()
        process.terminate()
        process.wait(_END_S)
        if self._reader is not None:
            self._reader.join(_END_S)
        if process.stdout is not None:
            process.stdout.close()

    def _has_ended(self) -> bool:
        reader = self._reader
        return reader is None or (not reader.is_alive() and self._answers.empty())

    def _running(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=error_descriptor(),
            text=True,
            encoding="utf-8",
            env=_environment(),
        )
        # A daemon thread, because its wait for a line only ends with the process.
        self._reader = threading.Thread(target=self._listen, args=(self._process,), name="hints", daemon=True)
        self._reader.start()
        return self._process

    def _listen(self, process: subprocess.Popen[str]) -> None:
        if process.stdout is None:
            return
        for line in process.stdout:
            answer = json.loads(line)
            advice = answer["advice"]
            self._answers.put(Answer(answer["number"], None if advice is None else Advice(**advice), answer["refused"]))
            self._on_answer()


def background_process(on_answer: Callable[[], object]) -> HintProcess:
    """Return a process that leaves the machine to everything else, for questions that nobody waits for."""
    return HintProcess(("nice", "-n", str(_LEAST_NICE - NICENESS), *_WORKER), on_answer)


def _environment() -> dict[str, str]:
    """Return an environment in which the process finds the same packages from any working directory."""
    ours = str(Path(referee.__file__).resolve().parent.parent)
    others = os.environ.get("PYTHONPATH")
    return {**os.environ, "PYTHONPATH": ours if not others else os.pathsep.join((ours, others))}


def serve(questions: TextIO, answers: TextIO, clock: Clock) -> None:
    """Answer questions until the input ends."""
    for line in questions:
        answer = answer_question(Question(**json.loads(line)), clock)
        print(json.dumps(asdict(answer), ensure_ascii=False), file=answers, flush=True)


def main() -> None:
    """Serve on the standard streams. Ctrl-C is ignored, because the referee handles it and closes the streams."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin, sys.stdout, time.monotonic)


if __name__ == "__main__":
    main()
