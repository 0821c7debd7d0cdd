"""What ``benchmarks/hints.py`` measured, as tables and a plot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.figure import Figure
from rich.console import Console
from rich.table import Table

from benchmarks.hints_score import FIRST_LINE_S, LATE_LINE_S, PairingScore, TimingScore


def print_scores(scores: Sequence[PairingScore], console: Console) -> None:
    """Print a line a pairing."""
    table = Table("game", "against", "s a turn", "games", "result", "95 % interval", "line", "turns", "")
    for score in scores:
        pairing = score.pairing
        options = " ".join(f"{name}={value}" for name, value in pairing.options)
        table.add_row(
            f"{pairing.game} {options}".strip(),
            f"hint at {pairing.opponent_seconds:g} s" if pairing.opponent == "hint" else pairing.opponent,
            f"{pairing.seconds:g}",
            str(score.games),
            _value(score) + (f", {score.cut_off} cut off" if score.cut_off else ""),
            _interval(score),
            _line(score),
            f"{score.turns:.0f}",
            "" if score.line is None else "met" if score.met else "NOT MET",
        )
    console.print(table)


def _value(score: PairingScore) -> str:
    if score.pairing.points:
        return f"{score.value:+.2f} points"
    return f"{100 * score.value:.1f} % ({score.wins} won, {score.draws} drawn)"


def _interval(score: PairingScore) -> str:
    low, high = score.interval
    return f"{low:+.2f} to {high:+.2f}" if score.pairing.points else f"{100 * low:.1f} to {100 * high:.1f} %"


def _line(score: PairingScore) -> str:
    if score.line is None:
        return ""
    return "interval above 0" if score.pairing.points else f"{100 * score.line:.0f} %"


def print_timings(timings: Sequence[TimingScore], console: Console) -> None:
    """Print how punctual each game's hints were, in milliseconds."""
    table = Table(
        "game",
        "hints",
        f"first idle (line {1000 * FIRST_LINE_S:.0f} ms)",
        "first busy",
        "late idle",
        f"late busy (line {1000 * LATE_LINE_S:.0f} ms)",
        "",
    )
    for timing in timings:
        times = (timing.idle.first_s, timing.busy.first_s, timing.idle.late_s, timing.busy.late_s)
        table.add_row(
            timing.pairing.game,
            str(timing.idle.hints + timing.busy.hints),
            *(f"{1000 * time_s:.1f}" for time_s in times),
            "met" if timing.met else "NOT MET",
        )
    console.print(table)


def plot_strength(scores: Mapping[str, Sequence[PairingScore]], path: Path) -> None:
    """Plot for each game how strength grows with time, with intervals: shares on the left, points on the right."""
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    shares, points = figure.subplots(1, 2)
    for game, line in scores.items():
        axes = points if line[0].pairing.points else shares
        factor = 1 if line[0].pairing.points else 100
        ordered = sorted(line, key=lambda score: score.pairing.seconds)
        values = [factor * score.value for score in ordered]
        low = [factor * (score.value - score.interval[0]) for score in ordered]
        high = [factor * (score.interval[1] - score.value) for score in ordered]
        axes.errorbar(
            [score.pairing.seconds for score in ordered], values, (low, high), marker="o", capsize=3, label=game
        )
    base = max(score.pairing.opponent_seconds for line in scores.values() for score in line)
    for axes, title, label in (
        (shares, f"Against the same hint at {base:g} s", "points won, %"),
        (points, "Against a greedy player, same dice", "points ahead"),
    ):
        axes.set(title=title, xlabel="seconds a turn", ylabel=label, xscale="log")
        times = sorted({score.pairing.seconds for line in scores.values() for score in line})
        axes.set_xticks(times, [f"{time_s:g}" for time_s in times])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        if axes.has_data():
            axes.legend()
    shares.set_ylim(0, 100)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
