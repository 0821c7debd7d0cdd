"""How well the firmware debounces contacts, with recorded and random bounces.

Run: python benchmarks/debounce.py [--seed 1] [--operations 2000] [--pause-ms 27] [--quick]

A button is pressed, and a piece is put on a switch, thousands of times. The firmware's debouncers scan the contact at
irregular intervals, with pauses of 27 ms while lights are sent. A tap lasts at least 60 ms, a piece stays 150 ms.
With the default of 20 ms, ordinary contacts must give each event exactly once. The worn button, which opens for up to
87 ms while pressed, shows when a longer time is needed. Exit code 1 when a target is missed.

The recorded figures are from the sample records of the project *bouncy-button*
(https://github.com/adamfk/bouncy-button), made with an Arduino Uno that samples its pin every few microseconds: a
rocker switch (Banggood 1276758), and a worn push button that its first sample record does not name. Rounded to
microseconds; blips shorter than two samples are left out unless nothing else happened.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from statistics import median

import click
from rich.progress import track

from benchmarks.parts.command_line import PROGRESS, console_for, figures
from firmware_bridge.firmware.core.debounce import ButtonDebouncer, SwitchDebouncer
from firmware_bridge.firmware.core.device import DEFAULT_DEBOUNCE_MS

MOST_CHATTER_MS = 6.2
"""The longest bounce of ordinary switches; J. G. Ganssle, *A Guide to Debouncing* (2004)."""

LIGHTS_MS = 27.0
"""Pause of the scans while a frame of lights is computed and sent: over twice what an emulated Pico takes."""

_SETTLED_AFTER_MS = 700.0
_PAUSE_SHARE = 0.02


@dataclass
class ContactOutcome:
    """The events reported for a contact's operations.

    Attributes:
        operations: presses and releases, or pieces put down and lifted.
        doubled: surplus events.
        missed: operations without an event.
        latencies_ms: from the first level change to the event; ``latencies_scans``: the scans in between.
    """

    operations: int = 0
    doubled: int = 0
    missed: int = 0
    latencies_ms: list[float] = field(default_factory=list)
    latencies_scans: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Operation:
    """A contact is closed or opened at ``time_ms``; ``edges_ms`` are the times of its level changes."""

    time_ms: float
    closes: bool
    edges_ms: tuple[float, ...]


def random_chatter(rng: Random) -> tuple[float, ...]:
    """Times in ms of up to forty random level changes after the first."""
    lasts_ms = MOST_CHATTER_MS * rng.random() ** 2
    changes = sorted(rng.uniform(0, lasts_ms) for _ in range(2 * rng.randrange(21)))
    return (0.0, *changes)


def recorded_chatter(trace: Trace) -> tuple[float, ...]:
    """Times in ms of a record's level changes, from the first."""
    return tuple((edge - trace.edges_us[0]) / 1000 for edge in trace.edges_us)


def operations(
    rng: Random, closing: Sequence[tuple[float, ...]], opening: Sequence[tuple[float, ...]], count: int, rest_ms: float
) -> list[Operation]:
    """Close and open a contact ``count`` times, with a rest of at least ``rest_ms`` after each operation."""
    done = []
    now_ms = 100.0
    for number in range(2 * count):
        chatter = rng.choice(opening if number % 2 else closing)
        now_ms += rng.random()
        done.append(Operation(now_ms, number % 2 == 0, tuple(now_ms + edge for edge in chatter)))
        now_ms += chatter[-1] + rng.uniform(rest_ms, rest_ms + 300)
    return done


def scans(rng: Random, until_ms: float, *, pause_ms: float) -> Iterator[float]:
    """Times of the scans: every 0.5 to 2.5 ms, with occasional pauses for a frame of lights."""
    now_ms = 0.0
    while now_ms < until_ms:
        yield now_ms
        now_ms += pause_ms if rng.random() < _PAUSE_SHARE else rng.uniform(0.5, 2.5)


class _Contact:
    def __init__(self, done: Sequence[Operation]) -> None:
        self._edges = [edge for operation in done for edge in operation.edges_ms]

    def is_closed(self, now_ms: float) -> bool:
        """Every operation changes the level an odd number of times."""
        return bisect_right(self._edges, now_ms) % 2 == 1


def play_button(done: Sequence[Operation], rng: Random, settle_ms: int, pause_ms: float = LIGHTS_MS) -> ContactOutcome:
    """Scan the operations with a button's debouncer."""
    debouncer = ButtonDebouncer()

    def update(closed: bool, now: int) -> int:
        was_down = debouncer.is_down
        debouncer.update(closed, now, settle_ms)
        return debouncer.is_down - was_down

    return _play(done, rng, update, pause_ms)


def play_switch(done: Sequence[Operation], rng: Random, settle_ms: int, pause_ms: float = LIGHTS_MS) -> ContactOutcome:
    """Scan the operations with a switch's debouncer."""
    debouncer = SwitchDebouncer(1)

    def update(closed: bool, now: int) -> int:
        before = debouncer.level
        debouncer.update(int(closed), now, settle_ms)
        return debouncer.level - before

    return _play(done, rng, update, pause_ms)


def _play(
    done: Sequence[Operation], rng: Random, update: Callable[[bool, int], int], pause_ms: float
) -> ContactOutcome:
    contact = _Contact(done)
    ends_ms = done[-1].edges_ms[-1] + _SETTLED_AFTER_MS
    events: list[tuple[float, int, int]] = []
    times: list[float] = []
    last = -1
    for time_ms in scans(rng, ends_ms, pause_ms=pause_ms):
        if int(time_ms) == last:
            continue
        last = int(time_ms)
        times.append(time_ms)
        change = update(contact.is_closed(time_ms), last)
        if change:
            events.append((time_ms, len(times), change))
    return _compare(done, events, times)


def _compare(done: Sequence[Operation], events: list[tuple[float, int, int]], times: list[float]) -> ContactOutcome:
    """Compare events with operations: each should give one before the next begins."""
    outcome = ContactOutcome()
    for number, operation in enumerate(done):
        until_ms = done[number + 1].time_ms if number + 1 < len(done) else float("inf")
        mine = [event for event in events if operation.time_ms <= event[0] < until_ms]
        right = [event for event in mine if event[2] == (1 if operation.closes else -1)]
        outcome.operations += 1
        outcome.doubled += len(mine) - min(1, len(right))
        outcome.missed += not right
        if right:
            outcome.latencies_ms.append(right[0][0] - operation.time_ms)
            outcome.latencies_scans.append(right[0][1] - bisect_right(times, operation.time_ms))
    return outcome


@dataclass(frozen=True)
class Trace:
    """One recorded operation, which closes or opens the contact, with its level changes in microseconds.

    The first change is to the new level, as is the last.
    """

    switch: str
    closes: bool
    edges_us: tuple[int, ...]


ROCKER = "rocker switch"
WORN = "worn push button"
_RECORDS = {
    ROCKER: """
1: 1 5 13 18 227 235 243 251 256 262 269 275 292 302 309 314 322 353 356 363 366 368 371 391 404 413 415 422 429
  449 452 478 481
2: 1
3: 1 6 14 20 187 193 206 209 212 231 234 247 250 258 308 315 320 329 335 344 346 355 358 367 371 378 386 391 394
  407 412 639 642 802 831 902 905 912 915
4: 1 3 4
31: 1 5 12 18 206 213 220 227 232 241 244 253 263 269 315 322 327 336 340 349 354 362 370 377 382 392 394
33: 1 6 12 18 24 30 35 44 46 52 209 215 221 230 235 238 241 243 246 257 260 270 316 325 327 336 341 351 353 363
  366 375 382 390 392
35: 1 6 13 19 195 201 207 214 217 228 230 239 241 251 311 318 324 332 338 346 352 358 366 373 379 388 390 424
  427 926 942
37: 1 6 14 20 188 194 199 201 204 209 214 222 225 242 250 257 311 317 324 331 335 345 348 356 358
""",
    WORN: """
3: 1 45545 45548 45623 45625 45673 45681 45740 45767 45803 45814 45973 45988 46031 46034 46194 46197 46252 46258
  46360 46370 46433 46443 46491 46493 46674 46707 46765 46792 46838 46846 46910 109746
4: 1 2 48 53 412 473 607 614 737
5: 1 126 231 491 495
6: 1 9005 12684 13643 13645
7: 1 26 28 79 84
8: 1
11: 1 47114 47116 47253 90562
12: 1 2 2151
13: 1 17784 17887 18132 105560
14: 1 2 70
15: 1 76798 125018
16: 1 2 42
""",
}
"""By contact: the number of each operation (odd ones close), and its level changes in microseconds."""


def _traces() -> Iterator[Trace]:
    for switch, record in _RECORDS.items():
        for operation in re.split(r"\n(?=\d)", record.strip()):
            number, _, edges = operation.partition(":")
            yield Trace(switch, int(number) % 2 == 1, tuple(map(int, edges.split())))


TRACES = tuple(_traces())


_PLAIN_WIDTH = 130
_QUICK_OPERATIONS = 60
_RANDOM_CHATTERS = 500
_PIECE_STAYS_MS = 150.0


@dataclass(frozen=True)
class Row:
    """A row of the table: a kind of contact, its debounce time, and whether it must be faultless."""

    contact: str
    settle_ms: int
    must_be_faultless: bool
    rest_ms: float = 60.0


ROWS = (
    Row("random chatter", 5, False),
    Row("random chatter", DEFAULT_DEBOUNCE_MS, True),
    Row(ROCKER, 5, False),
    Row(ROCKER, DEFAULT_DEBOUNCE_MS, True),
    Row(WORN, DEFAULT_DEBOUNCE_MS, False, 300.0),
    Row(WORN, 50, False, 300.0),
    Row(WORN, 100, True, 300.0),
)


def measure(row: Row, seed: int, count: int, pause_ms: float = LIGHTS_MS) -> dict[str, ContactOutcome]:
    """Play a row's contact as a button and as a switch."""
    rng = Random(f"{seed} {row.contact}")
    if row.contact == "random chatter":
        closing = opening = [random_chatter(rng) for _ in range(_RANDOM_CHATTERS)]
    else:
        traces = [trace for trace in TRACES if trace.switch == row.contact]
        closing = [recorded_chatter(trace) for trace in traces if trace.closes]
        opening = [recorded_chatter(trace) for trace in traces if not trace.closes]
    taps = operations(rng, closing, opening, count, row.rest_ms)
    stays = operations(rng, closing, opening, count, max(row.rest_ms, _PIECE_STAYS_MS))
    return {
        "button": play_button(taps, Random(seed), row.settle_ms, pause_ms),
        "switch": play_switch(stays, Random(seed), row.settle_ms, pause_ms),
    }


@click.command(help=__doc__)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Seed of bounces and scans.")
@click.option(
    "--operations", "count", default=2000, show_default=True, type=click.IntRange(1), help="Operations of each contact."
)
@click.option(
    "--pause-ms",
    default=LIGHTS_MS,
    show_default=True,
    type=click.FloatRange(0, 1000),
    help="Pause of the scans while lights are sent.",
)
@click.option("--quick", is_flag=True, help="Few operations, only to check that it runs.")
def main(seed: int, count: int, pause_ms: float, quick: bool) -> None:
    """Measure and report."""
    console = console_for(_PLAIN_WIDTH)
    headings = ("contact", "as", "debounce", "operations", "twice", "missed", "latency ms", "in scans", "target")
    table = figures(f"debounced by the firmware, seed {seed}", *headings)
    met = True
    for row in track(ROWS, "debouncing", console=PROGRESS, disable=not sys.stderr.isatty()):
        for used_as, outcome in measure(row, seed, _QUICK_OPERATIONS if quick else count, pause_ms).items():
            faultless = outcome.doubled == outcome.missed == 0
            met &= faultless or not row.must_be_faultless
            table.add_row(row.contact, used_as, f"{row.settle_ms} ms", *cells(outcome), verdict(row, faultless))
    console.print(table)
    console.print("latency: from the first level change to the event, median and longest")
    sys.exit(0 if met else 1)


def cells(outcome: ContactOutcome) -> list[str]:
    """The figures of a row."""
    latencies = [
        f"{median(values):.0f} / {max(values):.0f}" if values else "-"
        for values in (outcome.latencies_ms, outcome.latencies_scans)
    ]
    return [str(outcome.operations), str(outcome.doubled), str(outcome.missed), *latencies]


def verdict(row: Row, faultless: bool) -> str:
    """Whether the row's target is met."""
    if not row.must_be_faultless:
        return "-"
    return "met" if faultless else "NOT MET"


if __name__ == "__main__":
    main()
