"""Scores of the hint's games, their targets, tables and a plot."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist, fmean, stdev

from rich.console import Console
from rich.table import Table

from benchmarks.parts.hint_games import MOST_TURNS_OF_HINTS, Pairing, Played, Timing

SHARE_TARGETS = {"random": 0.98, "greedy": 0.80}
MOST_LATE_S = 0.050
_Z_95 = NormalDist().inv_cdf(0.975)


def wilson(share: float, count: int) -> tuple[float, float]:
    """Give the 95 % confidence interval of a share (Wilson 1927, "Probable inference").

    Draws count half, which makes it slightly too wide. Raises ValueError for no games.
    """
    if count < 1:
        raise ValueError("there is no interval for a share of no games")
    middle = share + _Z_95**2 / (2 * count)
    half = _Z_95 * math.sqrt(share * (1 - share) / count + (_Z_95 / (2 * count)) ** 2)
    scale = 1 + _Z_95**2 / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """Give the 95 % confidence interval of a mean (normal approximation); infinite for fewer than two values."""
    if len(values) < 2:
        return -math.inf, math.inf
    mean, half = fmean(values), _Z_95 * stdev(values) / math.sqrt(len(values))
    return mean - half, mean + half


@dataclass(frozen=True)
class PairingScore:
    """The result of a pairing: ``value`` is the share of points won, or the mean points ahead, with its interval.

    ``target`` is ``None`` where none is set.
    """

    pairing: Pairing
    games: int
    value: float
    interval: tuple[float, float]
    wins: int
    draws: int
    cut_off: int
    turns: float
    timing: Timing
    target: float | None

    @property
    def met(self) -> bool:
        """Whether the target is met: by the lower end of the interval for points ahead, else by the share."""
        if self.pairing.opponent == "itself":
            return self.cut_off == 0
        if self.target is None:
            return True
        return self.interval[0] > self.target if self.pairing.points else self.value >= self.target


def score_of(pairing: Pairing, played: Sequence[Played]) -> PairingScore:
    """Score the games of a pairing; raises ValueError for none."""
    results = [game.result for game in played]
    if not results:
        raise ValueError("a pairing of no games has no score")
    value = fmean(results)
    timing = Timing()
    for game in played:
        timing.add(game.timing)
    target = 0.0 if pairing.points else SHARE_TARGETS.get(pairing.opponent)
    return PairingScore(
        pairing=pairing,
        games=len(results),
        value=value,
        interval=mean_interval(results) if pairing.points else wilson(value, len(results)),
        wins=sum(result > (0 if pairing.points else 0.5) for result in results),
        draws=sum(result == (0 if pairing.points else 0.5) for result in results),
        cut_off=sum(game.cut_off for game in played),
        turns=sum(game.turns for game in played) / len(played),
        timing=timing,
        target=None if pairing.opponent in {"hint", "itself"} else target,
    )


@dataclass(frozen=True)
class TimingScore:
    """The timing of a game's hints on an idle and on a busy machine."""

    pairing: Pairing
    idle: Timing
    busy: Timing

    @property
    def met(self) -> bool:
        """Whether no hint is too late, idle or busy."""
        return max(self.idle.late_s, self.busy.late_s) <= MOST_LATE_S


def print_scores(scores: Sequence[PairingScore], console: Console) -> None:
    """Print a row for each pairing."""
    table = Table("game", "against", "s a turn", "games", "result", "95 % interval", "target", "turns", "")
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
            _target(score),
            f"{score.turns:.0f}",
            "" if score.target is None and pairing.opponent != "itself" else "met" if score.met else "NOT MET",
        )
    console.print(table)


def _value(score: PairingScore) -> str:
    if score.pairing.points:
        return f"{score.value:+.2f} points"
    return f"{100 * score.value:.1f} % ({score.wins} won, {score.draws} drawn)"


def _interval(score: PairingScore) -> str:
    low, high = score.interval
    return f"{low:+.2f} to {high:+.2f}" if score.pairing.points else f"{100 * low:.1f} to {100 * high:.1f} %"


def _target(score: PairingScore) -> str:
    if score.pairing.opponent == "itself":
        return f"all end within {MOST_TURNS_OF_HINTS} turns"
    if score.target is None:
        return ""
    return "interval above 0" if score.pairing.points else f"{100 * score.target:.0f} %"


def print_timings(timings: Sequence[TimingScore], console: Console) -> None:
    """Print the timing of each game's hints, in milliseconds."""
    table = Table("game", "hints", "late idle", f"late busy (at most {1000 * MOST_LATE_S:.0f} ms)", "")
    for timing in timings:
        times = (timing.idle.late_s, timing.busy.late_s)
        table.add_row(
            timing.pairing.game,
            str(timing.idle.hints + timing.busy.hints),
            *(f"{1000 * time_s:.1f}" for time_s in times),
            "met" if timing.met else "NOT MET",
        )
    console.print(table)


def plot_strength(scores: Mapping[str, Sequence[PairingScore]], path: Path) -> None:
    """Plot for each game how strength grows with time, with intervals: shares on the left, points on the right."""
    # Takes longer to import than all the rest.
    from matplotlib.figure import Figure

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
