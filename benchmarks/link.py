"""Whether messages survive a faulty link, whether parsers accept corrupted packets, and how fast the link is.

Run: python benchmarks/link.py [--frames N] [--bytes N] [--seed S] [--jobs N] [--plot FILE] [--quick]
     python benchmarks/link.py --again SEED --frames N [--unbroken]      repeats one exchange exactly

1. Host and device exchange N reliable frames over a link with every fault, in virtual time; silence, resets and
   unplugging end sessions. Each message must arrive in order, once, unaltered, and before its acknowledgement. Buttons
   are pressed on the virtual board over such a link: each press is reported once. And lights change faster than slow
   lines can carry: the newest state arrives, and nothing is retransmitted.
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
    latency_table,
    plot_latencies,
    print_exchanges,
    print_fuzz,
    print_presses,
    print_serial,
    print_slow_lines,
)
from benchmarks.parts.link.whole_firmware import BAUDS, LIGHTS, Pressed, press_buttons, show_lights

_PLAIN_WIDTH = 132
_SHARD_FRAMES = 20_000
_UNBROKEN_FRAMES = 200_000
_SHARD_BYTES = 1_000_000
_FRAMES_A_PRESS = 500
_SHARD_PRESSES = 500
_SHARE = 0.05
"""Share of frames with each fault."""
_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2)
_MESSAGE_EVERY_S = 0.05
_SLOW_S, _QUICK_SLOW_S = 60.0, 6.0


def exchange(seed: int, frames: int) -> Exchanged:
    """Run an exchange with all faults and interruptions."""
    result = Exchange(wire_faults(_SHARE), seed).run(frames)
    result.again = f"--again {seed} --frames {frames}"
    return result


def exchange_unbroken(seed: int, frames: int) -> Exchanged:
    """Run an exchange without restarts, so that sequence numbers wrap, and with reordered frames."""
    result = Exchange(wire_faults(_SHARE, with_outages=False, overtakes=True), seed).run(frames)
    result.again = f"--again {seed} --frames {frames} --unbroken"
    return result


def latencies(seed: int, frames: int, share: float) -> dict[str, list[float]]:
    """Latencies of messages by direction, in virtual seconds."""
    return Exchange(wire_faults(share, with_outages=False), seed, _MESSAGE_EVERY_S).run(frames).latencies_s


@click.command(help=__doc__)
@click.option(
    "--frames",
    default=1_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Frames to deliver, in both directions.",
)
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
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Plot the latencies here.")
@click.option("--quick", is_flag=True, help="A hundredth of everything, only to check that it runs.")
@click.option("--again", type=click.IntRange(0), help="Only the exchange with this seed.")
@click.option("--unbroken", is_flag=True, help="With --again: the exchange without restarts.")
def main(
    frames: int,
    byte_count: int,
    seed: int,
    jobs: int,
    plot: Path | None,
    quick: bool,
    again: int | None,
    unbroken: bool,
) -> None:
    """Measure and report."""
    if quick:
        frames, byte_count = frames // 100, byte_count // 100
    console = console_for(_PLAIN_WIDTH)
    console.print(
        f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"pyserial {version('pyserial')}; seed {seed}, {jobs} at a time"
    )
    if again is not None:
        one = (exchange_unbroken if unbroken else exchange)(again, frames)
        sys.exit(_print_criteria(print_exchanges([one], _SHARE, frames, console), console))
    # Before other processes compete for the cores.
    lines = print_serial(compare(300, 0.2, 2) if quick else compare(3000, 1.0, 6), console)
    with processes(jobs) as pool, counting_bar(console) as progress:
        exchanges = gathered(_exchange_all(pool, frames, seed), "exchanges", progress)
        lines += print_exchanges(exchanges, _SHARE, frames, console)
        lines += print_presses(gathered(_press_all(pool, frames, seed), "presses", progress), console)
        slow_s = _QUICK_SLOW_S if quick else _SLOW_S
        slow_lines = [pool.submit(show_lights, baud, lights, slow_s) for baud in BAUDS for lights in LIGHTS]
        slow = gathered(slow_lines, "slow lines", progress)
        lines += print_slow_lines(slow, console)
        fuzzed = gathered(_fuzz_all(pool, byte_count, seed), "fuzz", progress)
        lines += print_fuzz([_sum_of(parser, fuzzed) for parser in PARSERS], console)
        if plot is not None:
            each = max(200, frames // 200)
            latencies_s = gathered([pool.submit(latencies, seed, each, one) for one in _SHARES], "latencies", progress)
            by_share = dict(zip(_SHARES, latencies_s, strict=True))
            plot_latencies(by_share, plot)
            click.echo(latency_table(by_share))
    sys.exit(_print_criteria(lines, console))


def _exchange_all(pool: Executor, frames: int, seed: int) -> list[Future[Exchanged]]:
    unbroken = min(_UNBROKEN_FRAMES, frames // 4)
    futures = [pool.submit(exchange_unbroken, seed, unbroken)] if unbroken else []
    left = frames - unbroken
    while left > 0:
        futures.append(pool.submit(exchange, seed + len(futures), min(left, _SHARD_FRAMES)))
        left -= _SHARD_FRAMES
    return futures


def _press_all(pool: Executor, frames: int, seed: int) -> list[Future[Pressed]]:
    count = max(1, frames // _FRAMES_A_PRESS)
    starts = range(0, count, _SHARD_PRESSES)
    return [
        pool.submit(press_buttons, seed + number, min(_SHARD_PRESSES, count - start), _SHARE)
        for number, start in enumerate(starts)
    ]


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
