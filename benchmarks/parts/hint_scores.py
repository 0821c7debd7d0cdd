"""What games between hints and plain players show, and the lines they have to meet."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.hints_play import Pairing, Played, Timing

SHARE_LINES = {"random": 0.98, "greedy": 0.80}
FIRST_LINE_S = 0.020
LATE_LINE_S = 0.050
_Z_95 = 1.959963984540054


def wilson(share: float, count: int, z: float = _Z_95) -> tuple[float, float]:
    """Give the 95 % interval of a share (Wilson 1927, "Probable inference").

    Draws count half, which makes it a little wider than it need be. Raises ValueError for no games.
    """
    if count < 1:
        raise ValueError("there is no interval for a share of no games")
    middle = share + z * z / (2 * count)
    half = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    scale = 1 + z * z / count
    return max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale)


def mean_interval(values: Sequence[float], z: float = _Z_95) -> tuple[float, float]:
    """Give the 95 % interval of a mean (normal approximation); all numbers for fewer than two values."""
    if len(values) < 2:
        return -math.inf, math.inf
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
    return mean - z * spread, mean + z * spread


@dataclass(frozen=True)
class PairingScore:
    """How a pairing went: the share of points won or the mean points ahead, its interval, and whether that is enough.

    ``line`` is what has to be reached, ``None`` where nothing has to be.
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
    line: float | None

    @property
    def met(self) -> bool:
        """Whether the line is met: points ahead with the interval clear of zero, or the share itself."""
        if self.line is None:
            return True
        return self.interval[0] > self.line if self.pairing.points else self.value >= self.line


def score_of(pairing: Pairing, played: Sequence[Played]) -> PairingScore:
    """Add up the games of a pairing; raises ValueError for none."""
    results = [game.result for game in played]
    if not results:
        raise ValueError("a pairing of no games has no score")
    value = math.fsum(results) / len(results)
    timing = Timing()
    for game in played:
        timing.add(game.timing)
    line = 0.0 if pairing.points else SHARE_LINES.get(pairing.opponent)
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
        line=None if pairing.opponent == "hint" else line,
    )


@dataclass(frozen=True)
class TimingScore:
    """How punctual a game's hints were on an idle and on a busy machine."""

    pairing: Pairing
    idle: Timing
    busy: Timing

    @property
    def met(self) -> bool:
        """Whether the first hint came in time where nothing else ran, and none too late even where much did."""
        return self.idle.first_s <= FIRST_LINE_S and max(self.idle.late_s, self.busy.late_s) <= LATE_LINE_S
