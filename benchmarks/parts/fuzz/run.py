"""Gives a parser inputs that nobody meant, and finds which of them it does not refuse as it says it would."""

from __future__ import annotations

import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from types import FrameType

from benchmarks.parts.fuzz.mutations import Mutator

LONGEST_S = 1.0
"""Processor time that an input may take; other programs on the machine don't count."""
MOST_GROWTH_BYTES = 768 * 1024 * 1024
"""How much more memory than before all inputs together may take; the largest photo that is taken needs 520 MiB."""
_MOST_FAULTS = 20
_DEEPEST = 4


@dataclass(frozen=True)
class Parser:
    """Something that takes bytes from outside.

    ``seeds`` makes sound inputs; ``parse`` reads one, and raises no other errors than ``refusals``.
    """

    name: str
    seeds: Callable[[], Sequence[bytes]]
    parse: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()


@dataclass(frozen=True)
class Fault:
    """An input that a parser failed at, and how: an error that it does not tell of, or one that took too long."""

    data: bytes
    what: str
    where: str


@dataclass
class Fuzzed:
    """What became of all inputs: how many were taken and refused, at how many different places, and the faults."""

    parser: str
    inputs: int = 0
    taken: int = 0
    places: set[tuple[str, ...]] = field(default_factory=set)
    refused: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    grown_bytes: int = 0

    @property
    def met(self) -> bool:
        """Whether every input was taken or refused, in time and with little memory."""
        return not self.faults and self.grown_bytes <= MOST_GROWTH_BYTES


class TookTooLongError(BaseException):
    """An input took longer than it may; not an Exception, so that no parser takes it for its own."""


def _interrupt(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise TookTooLongError


@contextmanager
def timed() -> Iterator[None]:
    """Let what takes too long raise TookTooLongError; in the main thread alone."""
    before = signal.signal(signal.SIGVTALRM, _interrupt)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def fuzz(
    parser: Parser, inputs: int, seed: int, tell: Callable[[int], object] = id, longest_s: float = LONGEST_S
) -> Fuzzed:
    """Give a parser so many inputs; ``tell`` hears how many are done. Ends early after many different faults."""
    mutator = Mutator(parser.seeds(), Random(f"{seed} {parser.name}"))
    for sound in parser.seeds():
        parser.parse(sound)
    before_bytes = _most_memory_bytes()
    done = Fuzzed(parser.name)
    with timed():
        for number in range(inputs):
            data = mutator.draw()
            place = _tried(parser, data, done, longest_s)
            done.inputs += 1
            done.places.add(place)
            mutator.found(place, data)
            if number % 1000 == 0:
                tell(done.inputs)
            if len(done.faults) >= _MOST_FAULTS:
                break
    done.grown_bytes = _most_memory_bytes() - before_bytes
    return done


def tried(parser: Parser, data: bytes, longest_s: float = LONGEST_S) -> Fuzzed:
    """Give a parser one input."""
    done = Fuzzed(parser.name, inputs=1)
    with timed():
        _tried(parser, data, done, longest_s)
    return done


def _tried(parser: Parser, data: bytes, done: Fuzzed, longest_s: float) -> tuple[str, ...]:
    """Give the place where an input was refused; ``done`` counts it."""
    signal.setitimer(signal.ITIMER_VIRTUAL, longest_s)
    try:
        parser.parse(data)
    except parser.refusals as error:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        done.refused[type(error).__name__] += 1
        return _place(error)
    except (Exception, TookTooLongError) as error:  # noqa: BLE001 # any other error is what this looks for
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        place = _place(error)
        where = " < ".join(reversed(place[1:]))
        if all(fault.where != where for fault in done.faults):
            said = "" if isinstance(error, TookTooLongError) else f": {str(error)[:200]}"
            done.faults.append(Fault(data, type(error).__name__ + said, where))
        return place
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    done.taken += 1
    return ("taken",)


def _place(error: BaseException) -> tuple[str, ...]:
    """The kind of an error and the innermost lines that it came through."""
    frames = list(traceback.walk_tb(error.__traceback__))[-_DEEPEST:]
    lines = (f"{frame.f_code.co_filename.rpartition('/')[2]}:{line}" for frame, line in frames)
    return (type(error).__name__, *lines)


def _most_memory_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
