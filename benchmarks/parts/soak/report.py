"""The soak's report: outcomes by kind of fault, latencies, computing time, and targets."""

import enum
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rich.console import Console
from rich.table import Table

from app.wiring.plan import Inputs
from benchmarks.faults.answers import faulty_players
from benchmarks.faults.game import FAULT_KINDS, NO_FAULT, impossible_kinds
from benchmarks.parts.soak.game import FRAMES_PER_SECOND
from engine.registry import load
from simulator.play.players import HANDLERS

MOST_NEEDLESS_SHARE = 0.01
MOST_COMPUTING_FRAMES = 2.0
WHOLE_TURNS = 1900
"""Number of turns from which every kind of fault must have occurred: below 50 games of 40, since some end early."""

UNTHROWN = "roll that nobody threw"
"""What an item of an accepted roll is called where the dice lay untouched, or were only moved."""

_RULES_WIDTH = 100
_SLOWEST = 8
_SLOW_FRAMES = 15
_NOT_COUNTED = frozenset({NO_FAULT, "illegal turn"})
"""Kinds that stand for no fault, or for faults that are counted by their own names."""


class Outcome(enum.Enum):
    """The outcome of a turn or violation."""

    AT_ONCE = "right at once"
    AFTER_ASKING = "right after asking"
    NEEDLESSLY = "asked needlessly"
    UNSEEN = "could not be seen"
    WRONG = "wrong"
    LOST = "lost"


@dataclass(frozen=True)
class Item:
    """A turn or violation: what it was, the faults around it, its outcome, and the latency of the light."""

    seed: int
    time_s: float
    what: str
    kinds: tuple[str, ...]
    outcome: Outcome
    detail: str = ""
    latency_frames: int | None = None
    rules: tuple[str, ...] = ()
    expected_rules: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the outcome is a failure."""
        return self.outcome in {Outcome.WRONG, Outcome.LOST}


@dataclass(frozen=True)
class GameScore:
    """A game's items, its computing times in seconds (of each frame; of those with a loud verdict), and its digest."""

    seed: int
    turns: int
    items: tuple[Item, ...]
    computing_s: tuple[float, ...]
    verdict_computing_s: tuple[float, ...]
    digest: str
    narrowed_wrongly: tuple[str, ...] = ()
    turn_end: str = "button"
    questions: int = 0
    is_over: bool = False
    """Whether it was played to its end."""


@dataclass(frozen=True)
class SoakReport:
    """All games' scores; ``again`` are the options to repeat a game. ``kinds`` are the only faults asked for, none for
    all.
    """

    scores: Sequence[GameScore]
    again: str
    inputs: Inputs = Inputs.CAMERA
    game: str = "deblockle"
    kinds: tuple[str, ...] = ()

    @property
    def items(self) -> list[Item]:
        """Every turn and violation of every game."""
        return [item for score in self.scores for item in score.items]

    @property
    def turns(self) -> int:
        """Number of legal turns played."""
        return sum(score.turns for score in self.scores)

    def count(self, outcome: Outcome) -> int:
        """Number of items with an outcome."""
        return sum(item.outcome is outcome for item in self.items)

    def latencies(self, turn_end: str) -> list[int]:
        """Frames from the end of the turn, with the hand gone, to the light, of all items right at once."""
        items = [item for score in self.scores if score.turn_end == turn_end for item in score.items]
        return [item.latency_frames for item in items if item.latency_frames is not None]

    @property
    def computing_frames(self) -> float:
        """The 99th percentile of the delay of a verdict by computing, in frames."""
        spent = [one for score in self.scores for one in score.verdict_computing_s]
        return FRAMES_PER_SECOND * _percentile(spent, 99) if spent else 0.0

    @property
    def missing(self) -> list[str]:
        """Kinds of fault that can occur in this game, and never did."""
        seen = {kind for item in self.items for kind in item.kinds}
        asked = [kind for kind in FAULT_KINDS if kind not in {*_NOT_COUNTED, *impossible_kinds(load(self.game))}]
        players = faulty_players(load(self.game))
        violations = {
            *HANDLERS[self.game].violations,
            *players.unusual_kinds,
            *players.extra_kinds,
            *players.only_side_faces,
        }
        set_ups = (f"set-up: {kind}" for kind in players.wrong_set_ups)
        asked += [f"illegal: {kind}" for kind in (*sorted(violations), *set_ups)]
        return [kind for kind in asked if kind not in seen]

    @property
    def lines(self) -> list[tuple[bool, str]]:
        """The targets in words, and whether each is met."""
        wrong, lost, needless = (self.count(one) for one in (Outcome.WRONG, Outcome.LOST, Outcome.NEEDLESSLY))
        most = MOST_NEEDLESS_SHARE * self.turns
        everything = self.turns >= WHOLE_TURNS and self.inputs is not Inputs.SENSORS and not self.kinds
        unthrown = sum(item.what == UNTHROWN for item in self.items)
        rolls = (
            []
            if load(self.game).dice is None
            else [(unthrown == 0, f"rolls that nobody threw: {unthrown}, none allowed")]
        )
        every = [(not self.missing, f"faults that never occurred: {self._absent}")] if everything else []
        return [
            (wrong == 0, f"wrong: {wrong}, none allowed"),
            (lost == 0, f"lost: {lost}, none allowed"),
            *rolls,
            (needless < most, f"asked needlessly: {needless} in {self.turns} turns, fewer than 1 in 100 allowed"),
            (
                self.computing_frames < MOST_COMPUTING_FRAMES,
                f"computing of a verdict: {self.computing_frames:.2f} frames (99th percentile), under 2 allowed",
            ),
            *every,
        ]

    @property
    def _absent(self) -> str:
        return ", ".join(self.missing) or "none"

    @property
    def met(self) -> bool:
        """Whether every target is met."""
        return all(holds for holds, _ in self.lines)

    def print_to(self, console: Console) -> None:
        """Print the whole report."""
        console.print(self._table())
        console.print(self._rules())
        for turn_end, ending in (("button", "pressed"), ("rest", "rested"), ("touch", "touched")):
            frames = self.latencies(turn_end)
            if frames:
                console.print(
                    f"hand gone and {ending}, to the light: median {_percentile(frames, 50):.0f} frames, "
                    f"99th percentile {_percentile(frames, 99):.0f} ({len(frames)} verdicts)"
                )
        for item in sorted(self.items, key=lambda one: -(one.latency_frames or 0))[:_SLOWEST]:
            if (item.latency_frames or 0) > _SLOW_FRAMES:
                text = f"slow: game {item.seed} at {item.time_s:.1f} s: {item.latency_frames} frames: {item.what}"
                console.print(f"{text} ({', '.join(item.kinds)})", markup=False, highlight=False)
        spent = [one for score in self.scores for one in score.computing_s] or [0.0]
        console.print(
            f"computing a frame: mean {sum(spent) / len(spent) * 1e3:.1f} ms, 99th percentile "
            f"{_percentile(spent, 99) * 1e3:.0f} ms, most {max(spent) * 1e3:.0f} ms, of {len(spent)} frames"
        )
        narrowed = sum(len(score.narrowed_wrongly) for score in self.scores)
        console.print(f"faults that did not occur: {self._absent}")
        console.print(f"faults that can't occur in this game: {', '.join(sorted(impossible_kinds(load(self.game))))}")
        console.print(f"side faces misread and believed: {narrowed}")
        asked = sum(score.questions for score in self.scores)
        console.print(f"questions: {asked}, {100 * asked / max(1, self.turns):.1f} in 100 turns")
        over = sum(score.is_over for score in self.scores)
        other = sum(item.what == "final score" for item in self.items)
        console.print(f"played to the end: {over} games; with a wrong final score: {other}")
        for item in self.items:
            if item.outcome in {Outcome.WRONG, Outcome.LOST, Outcome.NEEDLESSLY}:
                console.print(
                    f"game {item.seed} at {item.time_s:.1f} s: {item.outcome.value}: {item.what} "
                    f"({', '.join(item.kinds)}): {item.detail}",
                    markup=False,
                    highlight=False,
                )
        failing = sorted({item.seed for item in self.items if item.failed})
        for seed in failing:
            console.print(f"again: python benchmarks/soak.py --game {seed} {self.again} --save DIR", markup=False)
        for holds, line in self.lines:
            console.print(f"{'met   ' if holds else 'NOT MET'} {line}", markup=False, highlight=False)

    def _table(self) -> Table:
        table = Table(title=f"{len(self.scores)} games, {self.turns} turns", title_justify="left")
        table.add_column("fault", no_wrap=True)
        columns = list(Outcome)
        for outcome in columns:
            table.add_column(outcome.value, justify="right")
        rows: dict[str, Counter[Outcome]] = defaultdict(Counter)
        for item in self.items:
            for kind in item.kinds:
                rows[kind][item.outcome] += 1
        for kind in sorted(rows):
            table.add_row(kind, *(str(rows[kind][outcome] or "") for outcome in columns))
        totals = Counter(item.outcome for item in self.items)
        table.add_section()
        table.add_row("all, each once", *(str(totals[outcome]) for outcome in columns))
        return table

    def _rules(self) -> Table:
        """How often each rule was named, and how often it agrees with full knowledge of all faces."""
        named: Counter[str] = Counter()
        agreed: Counter[str] = Counter()
        for item in self.items:
            for rule in item.rules[:1]:
                named[rule] += 1
                agreed[rule] += rule in item.expected_rules
        rules = load(self.game).rules.catalogue
        never = ", ".join(rule for rule in rules if rule not in named)
        title = f"{len(named)} of {len(rules)} rules named; never {never}"
        table = Table(title=title, title_justify="left", width=_RULES_WIDTH)
        table.add_column("rule")
        table.add_column("named", justify="right")
        table.add_column("agrees with all faces known", justify="right")
        for rule, count in sorted(named.items()):
            table.add_row(rule, str(count), str(agreed[rule]))
        return table


def _percentile(values: Sequence[float], percent: float) -> float:
    return float(np.percentile(np.asarray(values, dtype=np.float64), percent))
