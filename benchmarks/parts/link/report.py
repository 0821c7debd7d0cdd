"""The report of ``benchmarks/link.py``: tables and targets."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np
from rich.console import Console

from benchmarks.parts.command_line import figures
from benchmarks.parts.link.exchange import LIGHTS_RIGHT_AFTER_S, Exchanged
from benchmarks.parts.link.overhead import MOST_ADDED_S, Compared, percentile_99_s
from benchmarks.parts.link.parser_fuzz import KINDS, Fuzzed
from benchmarks.parts.link.whole_firmware import SlowLine


@dataclass(frozen=True)
class Criterion:
    """A target in words, and whether it is met."""

    holds: bool
    words: str


def print_exchanges(exchanges: Sequence[Exchanged], console: Console) -> list[Criterion]:
    """Print the totals of all exchanges, and every violation.

    Targets: no violation; and where no frame is damaged, lights that are right soon after each disturbance.
    """
    struck = Counter[str]()
    for exchange in exchanges:
        struck += exchange.struck
    pressed, reported = sum(one.pressed for one in exchanges), sum(one.reported for one in exchanges)
    excused = sum(one.excused for one in exchanges)
    rows = [("presses of buttons that bounce", pressed), ("presses reported", reported)]
    rows += [("presses that a restarting board forgot before any host heard", excused)]
    rows += [
        ("presses taken twice, as a host was killed right after the first time", sum(one.twice for one in exchanges))
    ]
    rows += [("changes of lights, and ends of disturbances", sum(len(one.lights_s) for one in exchanges))]
    rows += [("states that the hosts sent", sum(one.sent for one in exchanges))]
    rows += [("of these, said again", sum(one.said_again for one in exchanges))]
    rows += [(kind, count) for kind, count in sorted(struck.items())]
    table = figures("disturbed, in virtual time", "", "count")
    for name, count in rows:
        table.add_row(name, f"{count:,}")
    console.print(table)
    hours = sum(one.lasted_s for one in exchanges) / 3600
    console.print(f"{hours:.1f} virtual hours, simulated in {sum(one.took_s for one in exchanges):.0f} s of one core")
    slowest = {}
    for words, are_damaged in (("without damaged frames", False), ("with damaged frames", True)):
        fit = [one for one in exchanges if bool(one.struck["lose"]) == are_damaged]
        lights_s = [time_s for one in fit for time_s in one.lights_s]
        if lights_s:
            slowest[are_damaged] = max(lights_s)
            percentile_s = float(np.percentile(lights_s, 99))
            console.print(f"lights right {words}: 99th percentile {percentile_s:.2f} s, longest {max(lights_s):.2f} s")
    for exchange in exchanges:
        for words in exchange.wrong:
            console.print(f"seed {exchange.seed}: {words}", markup=False, highlight=False)
        if exchange.wrong:
            console.print(f"again: python benchmarks/link.py {exchange.again}", markup=False, highlight=False)
    wrong = sum(exchange.wrong_count for exchange in exchanges)
    lasted_s = slowest.get(False, 0.0)
    return [
        Criterion(
            wrong == 0 and pressed == reported + excused,
            f"presses lost, invented or reported twice, and lights never shown: {wrong}, none allowed",
        ),
        Criterion(
            lasted_s <= LIGHTS_RIGHT_AFTER_S,
            f"lights right after {lasted_s:.2f} s at most where no frame is damaged, {LIGHTS_RIGHT_AFTER_S} s allowed",
        ),
    ]


def print_slow_lines(results: Sequence[SlowLine], console: Console) -> list[Criterion]:
    """Print how slow lines carry twenty light frames a second.

    Each must show the newest lights in the end, and say none again.
    """
    columns = ("bits a second", "lights", "sent", "shown", "latency: median", "longest", "said again")
    table = figures("light frames on slow lines, twenty a second", *columns)
    for one in results:
        took_ms = [f"{time_s * 1e3:,.0f} ms" for time_s in (median(one.took_s), max(one.took_s))]
        table.add_row(f"{one.baud:,}", str(one.lights), f"{one.sent:,}", f"{one.shown:,}", *took_ms, str(one.again))
    console.print(table)
    again = sum(one.again for one in results)
    words = f"slow lines: {len(results)}; said again on them: {again}; newest lights shown"
    return [Criterion(all(one.met for one in results), words)]


def print_fuzz(results: Sequence[Fuzzed], console: Console) -> list[Criterion]:
    """Print the parsers' results; each must accept all intact frames and nothing else, without a crash."""
    columns = ("parser", "corrupted bytes", *KINDS, "intact frames", "compared checksums", "expected by chance")
    table = figures("corrupted bytes", *columns)
    for one in results:
        kinds = [f"{one.fed[kind] / max(1, one.fed.total()):.0%}" for kind in KINDS]
        counts = [f"{count:,}" for count in (one.whole_sent, one.compared)]
        table.add_row(one.parser, f"{one.byte_count:,}", *kinds, *counts, f"{one.expected_unsent:.1e}")
    console.print(table)
    console.print(
        "A corrupted frame passes a CRC-32 with probability 2**-32; 'expected by chance' is that, times the checksums"
    )
    console.print("compared for corrupted frames.")
    return [
        Criterion(
            one.met,
            f"{one.parser}: crash {one.crash or 'none'}; accepted but never sent: {one.accepted_unsent}; "
            f"intact but not accepted: {one.whole_missed}",
        )
        for one in results
    ]


def print_serial(compared: Compared, console: Console) -> list[Criterion]:
    """Print round trips and throughput side by side; the connection may add little to a round trip."""
    table = figures("over a pseudo-terminal, alternating", "", "connection and virtual board", "bare pyserial and echo")
    mine_s, echo_s = compared.connection_s, compared.echo_s
    table.add_row("round trip, median", f"{median(mine_s) * 1e3:.2f} ms", f"{median(echo_s) * 1e3:.2f} ms")
    most = [f"{percentile_99_s(times_s) * 1e3:.2f} ms" for times_s in (mine_s, echo_s)]
    table.add_row("round trip, 99th percentile", *most)
    rates = [median(rates) / 1e6 for rates in (compared.connection_bytes_per_s, compared.echo_bytes_per_s)]
    table.add_row("bytes a second, median", *(f"{rate:.2f} MB" for rate in rates))
    console.print(table)
    frames_per_s = median(compared.light_frames_per_s)
    console.print(
        f"{len(mine_s)} round trips: a light and the answer of {compared.echo_bytes} bytes; the echo carries as many"
    )
    console.print(
        f"throughput {compared.throughput_ratio:.3f} of the echo's: {frames_per_s:.0f} frames of 300 lights a second, "
        "one at a time"
    )
    words = f"median round trip added: {compared.added_s * 1e3:.2f} ms, {MOST_ADDED_S * 1e3:.0f} ms allowed"
    return [Criterion(compared.met, words)]
