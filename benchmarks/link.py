"""Whether presses and lights survive a disturbed link, whether parsers accept corrupted packets, and how fast it is.

Run: python benchmarks/link.py [--minutes N] [--bytes N] [--seed S] [--jobs N] [--quick]
     python benchmarks/link.py --again SEED --minutes N [--restarts] [--damaged]      repeats one exchange exactly

1. The whole firmware and the host's end, in virtual time. The wire falls silent, the host is replaced, frames are
   damaged, and the board restarts or is unplugged. Each press is reported once, and the lights are right within half a
   second of each disturbance. And lights change faster than slow lines can carry: the newest state arrives.
2. The parsers of both sides get N corrupted bytes.
3. Round trips over a pseudo-terminal, alternating between the connection with the virtual board, and bare pyserial with
   an echo.

Exit code 1 when a target is missed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import os
import platform
from concurrent.futures import Executor, Future
from importlib.metadata import version

import click
from rich.console import Console

from benchmarks.parts.command_line import console_for, counting_bar, gathered, processes
from benchmarks.parts.link.exchange import Exchange, Exchanged, wire_faults
from benchmarks.parts.link.overhead import compare
from benchmarks.parts.link.parser_fuzz import PARSERS, Fuzzed, fuzz
from benchmarks.parts.link.report import (
    Criterion,
    print_exchanges,
    print_fuzz,
    print_serial,
    print_slow_lines,
)
from benchmarks.parts.link.whole_firmware import BAUDS, LIGHTS, show_lights

_PLAIN_WIDTH = 132
_SHARD_MINUTES = 10
_SHARD_BYTES = 1_000_000
_SHARE = 0.05
"""Share of frames with each fault, in every other exchange."""
_SLOW_S, _QUICK_SLOW_S = 60.0, 6.0


def exchange(seed: int, minutes: int, *, restarts: bool, damaged: bool) -> Exchanged:
    """Run an exchange, with or without restarts of the board and damaged frames."""
    faults = wire_faults(_SHARE if damaged else 0.0)
    result = Exchange(faults, seed, with_restarts=restarts).run(60.0 * minutes)
    result.again = f"--again {seed} --minutes {minutes}{' --restarts' * restarts}{' --damaged' * damaged}"
    return result


@click.command(help=__doc__)
@click.option("--minutes", default=400, show_default=True, type=click.IntRange(1), help="Virtual minutes.")
@click.option(
    "--bytes",
    "byte_count",
    default=10_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Bytes for each parser.",
)
@click.option("--seed", default=1, show_default=True, type=click.IntRange(0), help="Exchanges are seed, seed + 1, ...")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Processes.")
@click.option("--quick", is_flag=True, help="A hundredth of everything, only to check that it runs.")
@click.option("--again", type=click.IntRange(0), help="Only the exchange with this seed.")
@click.option("--restarts", is_flag=True, help="With --again: the board restarts and is unplugged.")
@click.option("--damaged", is_flag=True, help="With --again: frames are damaged.")
def main(
    minutes: int,
    byte_count: int,
    seed: int,
    jobs: int,
    quick: bool,
    again: int | None,
    restarts: bool,
    damaged: bool,
) -> None:
    """Measure and report."""
    if quick:
        minutes, byte_count = max(1, minutes // 100), byte_count // 100
    console = console_for(_PLAIN_WIDTH)
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"pyserial {version('pyserial')}; seed {seed}, {jobs} at a time"
    )
    if again is not None:
        one = exchange(again, minutes, restarts=restarts, damaged=damaged)
        sys.exit(_print_criteria(print_exchanges([one], console), console))
    # Before other processes compete for the cores.
    lines = print_serial(compare(300, 0.2, 2) if quick else compare(3000, 1.0, 6), console)
    with processes(jobs) as pool, counting_bar(console) as progress:
        exchanges = gathered(_exchange_all(pool, minutes, seed), "exchanges", progress)
        lines += print_exchanges(exchanges, console)
        slow_s = _QUICK_SLOW_S if quick else _SLOW_S
        slow_lines = [pool.submit(show_lights, baud, lights, slow_s) for baud in BAUDS for lights in LIGHTS]
        slow = gathered(slow_lines, "slow lines", progress)
        lines += print_slow_lines(slow, console)
        fuzzed = gathered(_fuzz_all(pool, byte_count, seed), "fuzz", progress)
        lines += print_fuzz([_sum_of(parser, fuzzed) for parser in PARSERS], console)
    sys.exit(_print_criteria(lines, console))


def _exchange_all(pool: Executor, minutes: int, seed: int) -> list[Future[Exchanged]]:
    kinds = [(restarts, damaged) for restarts in (False, True) for damaged in (False, True)]
    each = max(1, minutes // len(kinds))
    futures: list[Future[Exchanged]] = []
    for restarts, damaged in kinds:
        for start in range(0, each, _SHARD_MINUTES):
            length = min(_SHARD_MINUTES, each - start)
            futures.append(pool.submit(exchange, seed + len(futures), length, restarts=restarts, damaged=damaged))
    return futures


def _fuzz_all(pool: Executor, byte_count: int, seed: int) -> list[Future[Fuzzed]]:
    futures = []
    for parser in PARSERS:
        starts = range(0, byte_count, _SHARD_BYTES)
        futures += [
            pool.submit(fuzz, parser, min(_SHARD_BYTES, byte_count - start), seed + number)
            for number, start in enumerate(starts)
        ]
    return futures


def _sum_of(parser: str, results: list[Fuzzed]) -> Fuzzed:
    total = Fuzzed(parser)
    for one in results:
        if one.parser == parser:
            total.add(one)
    return total


def _print_criteria(lines: list[Criterion], console: Console) -> int:
    for line in lines:
        console.print(f"{'met   ' if line.holds else 'NOT MET'} {line.words}", markup=False, highlight=False)
    return 0 if all(line.holds for line in lines) else 1


if __name__ == "__main__":
    main()
