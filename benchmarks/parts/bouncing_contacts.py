"""Fingers and pieces on bouncing contacts, scanned as the firmware scans them. Pure; times in milliseconds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from benchmarks.bounce_traces import Trace
from firmware_bridge.firmware.core.debounce import PRESSED, RELEASED, ButtonDebouncer, SwitchDebouncer

MOST_CHATTER_MS = 6.2
"""The longest that ordinary switches chatter; J. G. Ganssle, *A Guide to Debouncing* (2004)."""

LIGHTS_MS = 27.0
"""How long nothing is scanned while lights are worked out and sent: more than twice what an emulated Pico takes."""

_LONG_PRESS_MS = 60_000
_SETTLED_AFTER_MS = 700.0


@dataclass
class Outcome:
    """What came of operating a contact.

    Attributes:
        operations: presses and releases, or pieces put down and lifted.
        doubled: events too many.
        missed: events that did not come.
        latencies_ms: from the first touch to the event, and ``latencies_scans`` the scans in between.
    """

    operations: int = 0
    doubled: int = 0
    missed: int = 0
    latencies_ms: list[float] = field(default_factory=list)
    latencies_scans: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Operation:
    """A contact that is closed or opened at ``time_ms``: ``edges_ms`` are when its level changes."""

    time_ms: float
    closes: bool
    edges_ms: tuple[float, ...]


def random_chatter(rng: Random) -> tuple[float, ...]:
    """Chatter of a random length up to the longest, with up to forty changes at random."""
    lasts_ms = MOST_CHATTER_MS * rng.random() ** 2
    changes = sorted(rng.uniform(0, lasts_ms) for _ in range(2 * rng.randrange(21)))
    return (0.0, *changes)


def recorded_chatter(trace: Trace) -> tuple[float, ...]:
    """The chatter of a record."""
    return tuple((edge - trace.edges_us[0]) / 1000 for edge in trace.edges_us)


def operations(
    rng: Random, closing: Sequence[tuple[float, ...]], opening: Sequence[tuple[float, ...]], count: int, rest_ms: float
) -> list[Operation]:
    """``count`` times closed and opened, at rest for ``rest_ms`` at least after each."""
    done = []
    now_ms = 100.0
    for number in range(2 * count):
        chatter = rng.choice(opening if number % 2 else closing)
        now_ms += rng.random()
        done.append(Operation(now_ms, number % 2 == 0, tuple(now_ms + edge for edge in chatter)))
        now_ms += chatter[-1] + rng.uniform(rest_ms, rest_ms + 300)
    return done


def scans(
    rng: Random, until_ms: float, *, pause_ms: float = LIGHTS_MS, slowest_ms: float = 2.5, lights: float = 0.02
) -> Iterator[float]:
    """When the loop scans: every 0.5 ms to ``slowest_ms``, with now and then a pause for a frame of lights."""
    now_ms = 0.0
    while now_ms < until_ms:
        yield now_ms
        now_ms += pause_ms if rng.random() < lights else rng.uniform(0.5, slowest_ms)


class _Contact:
    def __init__(self, done: Sequence[Operation]) -> None:
        self._edges = [edge for operation in done for edge in operation.edges_ms]

    def is_closed(self, now_ms: float) -> bool:
        """Every operation changes the level an odd number of times."""
        return bisect_right(self._edges, now_ms) % 2 == 1


def play_button(done: Sequence[Operation], rng: Random, settle_ms: int, pause_ms: float = LIGHTS_MS) -> Outcome:
    """Let a button's debouncer scan all of it."""
    debouncer = ButtonDebouncer()

    def update(closed: bool, now: int) -> int:
        what = debouncer.update(closed, now, settle_ms, _LONG_PRESS_MS)
        return {PRESSED: 1, RELEASED: -1}.get(what, 0)

    return _play(done, rng, update, pause_ms)


def play_switch(done: Sequence[Operation], rng: Random, settle_ms: int, pause_ms: float = LIGHTS_MS) -> Outcome:
    """Let a switch's debouncer scan all of it."""
    debouncer = SwitchDebouncer(1)

    def update(closed: bool, now: int) -> int:
        before = debouncer.level
        debouncer.update(int(closed), now, settle_ms)
        return debouncer.level - before

    return _play(done, rng, update, pause_ms)


def _play(done: Sequence[Operation], rng: Random, update: Callable[[bool, int], int], pause_ms: float) -> Outcome:
    contact = _Contact(done)
    ends_ms = done[-1].edges_ms[-1] + _SETTLED_AFTER_MS
    told: list[tuple[float, int, int]] = []
    times: list[float] = []
    last = -1
    for time_ms in scans(rng, ends_ms, pause_ms=pause_ms):
        if int(time_ms) == last:
            continue
        last = int(time_ms)
        times.append(time_ms)
        what = update(contact.is_closed(time_ms), last)
        if what:
            told.append((time_ms, len(times), what))
    return _judge(done, told, times)


def _judge(done: Sequence[Operation], told: list[tuple[float, int, int]], times: list[float]) -> Outcome:
    """Each operation should be told once before the next one begins."""
    outcome = Outcome()
    for number, operation in enumerate(done):
        until_ms = done[number + 1].time_ms if number + 1 < len(done) else float("inf")
        mine = [event for event in told if operation.time_ms <= event[0] < until_ms]
        right = [event for event in mine if event[2] == (1 if operation.closes else -1)]
        outcome.operations += 1
        outcome.doubled += len(mine) - min(1, len(right))
        outcome.missed += not right
        if right:
            outcome.latencies_ms.append(right[0][0] - operation.time_ms)
            outcome.latencies_scans.append(right[0][1] - bisect_right(times, operation.time_ms))
    return outcome
