"""The report of ``benchmarks/link.py``: tables, a plot and targets."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from matplotlib.figure import Figure
from rich.console import Console

from benchmarks.parts.command_line import figures
from benchmarks.parts.link.exchange import TO_DEVICE, TO_HOST, Exchanged
from benchmarks.parts.link.overhead import MOST_ADDED_S, Compared, percentile_99_s
from benchmarks.parts.link.parser_fuzz import KINDS, Fuzzed
from benchmarks.parts.link.whole_firmware import Pressed, SlowLine

_PERCENTS = (50, 95, 99)
_COLOURS = {50: "#0072b2", 95: "#e69f00", 99: "#d55e00"}


@dataclass(frozen=True)
class Criterion:
    """A target in words, and whether it is met."""

    holds: bool
    words: str


def print_exchanges(exchanges: Sequence[Exchanged], share: float, messages: int, console: Console) -> list[Criterion]:
    """Print the totals of all exchanges, and every violation.

    Targets: no violation, and ``messages`` delivered.
    """
    struck, losses, delivered = Counter[str](), Counter[str](), Counter[str]()
    for exchange in exchanges:
        struck += exchange.struck
        losses += exchange.losses
        delivered += exchange.delivered
    table = figures(f"{share:.0%} of each fault, in virtual time", "", "count")
    rows = [(f"messages delivered {name}", count) for name, count in sorted(delivered.items())]
    rows += [("frames written, both directions", sum(one.frames for one in exchanges))]
    rows += [("packets retransmitted", sum(one.resent for one in exchanges))]
    rows += [(f"fault: {kind}", count) for kind, count in sorted(struck.items())]
    rows += [("sessions", sum(one.sessions for one in exchanges))]
    rows += [(f"session ended by: {cause}", count) for cause, count in sorted(losses.items())]
    for name, count in rows:
        table.add_row(name, f"{count:,}")
    console.print(table)
    hours = sum(one.lasted_s for one in exchanges) / 3600
    console.print(f"{hours:.1f} virtual hours, simulated in {sum(one.took_s for one in exchanges):.0f} s of one core")
    for exchange in exchanges:
        for words in exchange.wrong:
            console.print(f"seed {exchange.seed}: {words}", markup=False, highlight=False)
        if exchange.wrong:
            console.print(f"again: python benchmarks/link.py {exchange.again}", markup=False, highlight=False)
    wrong, total = sum(exchange.wrong_count for exchange in exchanges), delivered.total()
    return [
        Criterion(wrong == 0, f"delivered wrong or out of order, or acknowledged and lost: {wrong}, none allowed"),
        Criterion(total >= messages, f"messages delivered and checked: {total:,}, {messages:,} asked for"),
    ]


def print_presses(results: Sequence[Pressed], console: Console) -> list[Criterion]:
    """Print the latencies of presses; each press and release must be reported once, in order."""
    took_s = [time_s for one in results for time_s in one.took_s]
    sessions = sum(one.sessions for one in results)
    most_ms = float(np.percentile(took_s, 99)) * 1e3
    console.print(f"{len(took_s):,} presses of buttons that bounce, {sessions} sessions; from first contact to host:")
    console.print(
        f"median {median(took_s) * 1e3:.0f} ms, 99th percentile {most_ms:.0f} ms, of which 20 ms are debouncing"
    )
    pressed, reported = sum(len(one.pressed) for one in results), sum(len(one.reported) for one in results)
    words = f"presses and releases of buttons: {pressed:,}; reported: {reported:,}, each once and in order"
    return [Criterion(all(one.met for one in results), words)]


def print_slow_lines(results: Sequence[SlowLine], console: Console) -> list[Criterion]:
    """Print how slow lines carry twenty light frames a second.

    Each must show the newest lights in the end, in one session, without retransmission.
    """
    columns = ("bits a second", "lights", "sent", "shown", "latency: median", "longest", "retransmitted")
    table = figures("light frames on slow lines, twenty a second", *columns)
    for one in results:
        took_ms = [f"{time_s * 1e3:,.0f} ms" for time_s in (median(one.took_s), max(one.took_s))]
        table.add_row(f"{one.baud:,}", str(one.lights), f"{one.sent:,}", f"{one.shown:,}", *took_ms, str(one.again))
    console.print(table)
    again, sessions = sum(one.again for one in results), sum(one.sessions for one in results)
    words = (
        f"slow lines: {len(results)}; sessions on them: {sessions}; packets retransmitted: {again}; newest lights shown"
    )
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
        f"{len(mine_s)} round trips: a question for the switches and its answer of {compared.echo_bytes} bytes; "
        "the echo carries as many"
    )
    console.print(
        f"throughput {compared.throughput_ratio:.3f} of the echo's: {frames_per_s:.0f} frames of 300 lights a second, "
        "two outstanding"
    )
    words = f"median round trip added: {compared.added_s * 1e3:.2f} ms, {MOST_ADDED_S * 1e3:.0f} ms allowed"
    return [Criterion(compared.met, words)]


def plot_latencies(latencies_s: Mapping[float, Mapping[str, Sequence[float]]], path: Path) -> None:
    """Plot the median and percentiles of latencies by the share of each fault, in both directions."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    shares = sorted(latencies_s)
    both = figure.subplots(1, 2, sharey=True)
    for axes, direction in zip(both, (TO_DEVICE, TO_HOST), strict=True):
        for percent in _PERCENTS:
            times_ms = [float(np.percentile(latencies_s[share][direction], percent)) * 1e3 for share in shares]
            label = "median" if percent == _PERCENTS[0] else f"{percent}th percentile"
            axes.plot([share * 100 for share in shares], times_ms, "o-", color=_COLOURS[percent], label=label)
        axes.set_yscale("log")
        axes.set_title("light frames, host to device" if direction == TO_DEVICE else "messages, device to host")
        axes.set_xlabel("share of frames with each of six faults, %")
        axes.grid(True, which="major", alpha=0.3)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
    both[0].set_ylabel("latency, ms")
    both[0].legend(fontsize=8, frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)


def latency_table(latencies_s: Mapping[float, Mapping[str, Sequence[float]]]) -> str:
    """The plotted figures in Markdown."""
    lines = [
        "| each fault | light frames, host to device: median, 95th, 99th percentile | messages, device to host |",
        "|---|---|---|",
    ]
    for share in sorted(latencies_s):
        cells = [
            ", ".join(f"{float(np.percentile(latencies_s[share][name], percent)) * 1e3:.0f}" for percent in _PERCENTS)
            + " ms"
            for name in (TO_DEVICE, TO_HOST)
        ]
        lines.append(f"| {share:.0%} | {' | '.join(cells)} |")
    return "\n".join(lines)
