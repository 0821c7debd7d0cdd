"""What a person waits for in the middle of a game: the list of turns, a hint, and the verdict on an illegal table."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from statistics import median
from typing import Any

from rich.console import Console

from benchmarks.parts.command_line import figures
from benchmarks.parts.hint_games import Pairing, positions_of
from benchmarks.parts.turns_showing import LIMIT_S, faulty_reading, timed, verdict_s
from engine.api import Game
from engine.registry import load
from engine.values import Strength

HINT_S = 2.0
"""The time that hints may take, which is what the settings give by default."""


@dataclass(frozen=True)
class Waits:
    """Processor times in positions of one game, in seconds: one of each kind for each position.

    ``turns_s`` is empty for a game whose turns are never all listed while a person waits. Strong hints take all the
    time that they may.
    """

    name: str
    turns_s: tuple[float, ...]
    gentle_s: tuple[float, ...]
    fair_s: tuple[float, ...]
    verdict_s: tuple[float, ...]

    @property
    def is_met(self) -> bool:
        """Whether turns and verdict are there within two frames."""
        return max(*self.turns_s, *self.verdict_s, 0.0) < LIMIT_S


def waits_in(name: str, count: int, seed: int) -> Waits:
    """Measure in ``count`` positions of quick hints' games."""
    game, rng = load(name), Random(seed)
    positions = positions_of(Pairing(name, "greedy", HINT_S), count, seed)
    return Waits(
        name,
        () if game.lists_turns_slowly else tuple(timed(partial(_list_turns, game, each))[1] for each in positions),
        tuple(_hint_s(game, each, Strength.GENTLE) for each in positions),
        tuple(_hint_s(game, each, Strength.FAIR) for each in positions),
        tuple(verdict_s(game, each, faulty_reading(game, game.table.appearance(each), rng)) for each in positions),
    )


def _list_turns(game: Game[Any, Any], state: Any) -> list[Any]:
    return list(game.rules.legal_turns(state))


def _hint_s(game: Game[Any, Any], state: Any, strength: Strength) -> float:
    return timed(
        lambda: game.advice.hint(state, HINT_S, Random(0), clock=time.process_time, strength=strength, earlier=())
    )[1]


def print_waits(waits: Sequence[Waits], console: Console) -> bool:
    """Print median and longest times in milliseconds; say whether turns and verdicts are within the limit."""
    title = f"What a person waits for, median and most; turns and verdict at most {1e3 * LIMIT_S:.0f} ms"
    table = figures(title, "game", "legal turns", "gentle hint", "fair hint", "verdict, illegal table", "")
    for each in waits:
        times = (_shown(taken_s) for taken_s in (each.turns_s, each.gentle_s, each.fair_s, each.verdict_s))
        table.add_row(each.name, *times, "met" if each.is_met else "NOT MET")
    console.print(table)
    return all(each.is_met for each in waits)


def _shown(taken_s: Sequence[float]) -> str:
    return f"{1e3 * median(taken_s):.1f}, {1e3 * max(taken_s):.1f} ms" if taken_s else ""
