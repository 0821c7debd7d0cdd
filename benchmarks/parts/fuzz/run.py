"""Fuzzes a parser: finds inputs that raise an undocumented error or take too long."""

import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from types import FrameType

from benchmarks.parts.fuzz.mutations import Mutator

LONGEST_S = 1.0
"""Most processor time of an input."""
MOST_GROWTH_BYTES = 768 * 1024 * 1024
"""Most growth of peak memory over all inputs; the largest accepted photo needs 520 MiB."""
_MOST_FAULTS = 20
_OUTCOME_FRAMES = 4


@dataclass(frozen=True)
class Parser:
    """A parser of external input.

    ``seeds`` gives valid inputs; ``parse`` reads an input, and may raise only ``refusals``.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    parse: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()


@dataclass(frozen=True)
class Fault:
    """An input that failed, its error, and the innermost lines of the traceback."""

    data: bytes
    error: str
    location: str


@dataclass
class Fuzzed:
    """The results of a parser: accepted and refused inputs, distinct outcomes, faults, growth of peak memory."""

    parser: str
    inputs: int = 0
    accepted: int = 0
    outcomes: set[tuple[str, ...]] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    grown_bytes: int = 0

    @property
    def met(self) -> bool:
        """Whether there are no faults, and memory stayed within its limit."""
        return not self.faults and self.grown_bytes <= MOST_GROWTH_BYTES


class TookTooLongError(BaseException):
    """An input took too long. A BaseException, so that no parser catches it."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TookTooLongError


@contextmanager
def timed() -> Iterator[None]:
    """Raise TookTooLongError when the virtual timer expires; only in the main thread."""
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def fuzz(
    parser: Parser, inputs: int, seed: int, on_progress: Callable[[int], object] = id, longest_s: float = LONGEST_S
) -> Fuzzed:
    """Run a parser on ``inputs`` mutated inputs; ``on_progress`` gets the count. Stops early after many faults."""
    mutator = Mutator(parser.seeds(), Random(f"{seed} {parser.name}"))
    for valid in parser.seeds():
        parser.parse(valid)
    # forgets the peak of earlier parsers, see proc(5)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before_bytes = _peak_memory_bytes()
    done = Fuzzed(parser.name)
    with timed():
        for number in range(inputs):
            data = mutator.draw()
            outcome = _parse(parser, data, done, longest_s)
            done.inputs += 1
            done.outcomes.add(outcome)
            mutator.add(outcome, data)
            if number % 1000 == 0:
                on_progress(done.inputs)
            if len(done.faults) >= _MOST_FAULTS:
                break
    done.grown_bytes = _peak_memory_bytes() - before_bytes
    return done


def parse_once(parser: Parser, data: bytes, longest_s: float = LONGEST_S) -> Fuzzed:
    """Run a parser on one input."""
    done = Fuzzed(parser.name, inputs=1)
    with timed():
        _parse(parser, data, done, longest_s)
    return done


def _parse(parser: Parser, data: bytes, done: Fuzzed, longest_s: float) -> tuple[str, ...]:
    """Run a parser on an input, add the result to ``done``, and give the outcome."""
    signal.setitimer(signal.ITIMER_VIRTUAL, longest_s)
    try:
        # The timer may still expire while another error is on its way, until it is stopped here.
        try:
            parser.parse(data)
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except parser.refusals as error:
        done.refused[type(error).__name__] += 1
        return _outcome(error)
    except (Exception, TookTooLongError) as error:  # noqa: BLE001 # any other error is what this looks for
        outcome = _outcome(error)
        location = " < ".join(reversed(outcome[1:]))
        if all(fault.location != location for fault in done.faults):
            said = "" if isinstance(error, TookTooLongError) else f": {str(error)[:200]}"
            done.faults.append(Fault(data, type(error).__name__ + said, location))
        return outcome
    done.accepted += 1
    return ("accepted",)


def _outcome(error: BaseException) -> tuple[str, ...]:
    """The type of an error and the innermost lines of its traceback."""
    frames = list(traceback.walk_tb(error.__traceback__))[-_OUTCOME_FRAMES:]
    lines = (f"{frame.f_code.co_filename.rpartition('/')[2]}:{line}" for frame, line in frames)
    return (type(error).__name__, *lines)


def _peak_memory_bytes() -> int:
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
