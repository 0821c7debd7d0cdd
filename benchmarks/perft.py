"""How fast Deblockle's rules are: ``python benchmarks/perft.py`` prints counts, turns a second and times of calls.

One line a start: turns counted per second by perft to depth 3. Then the middle of a game, faces known and faces hidden:
the mean time of ``legal_turns``, ``apply``, ``unfinished`` and ``explain`` in microseconds.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import random
import time
from collections.abc import Callable
from functools import partial

from engine.api import EMPTY
from engine.perft import perft
from engine.registry import load

STARTS: tuple[dict[str, bool | int], ...] = (
    {},
    {"side_by_side": False},
    {"blocks_gold": 2, "blocks_teal": 2},
)
CALLS = 300


def mean_us(call: Callable[[], object]) -> float:
    """The mean time of a call in microseconds."""
    begin_s = time.perf_counter()
    for _ in range(CALLS):
        call()
    return (time.perf_counter() - begin_s) / CALLS * 1e6


def main() -> None:
    """Measure and print."""
    game = load("deblockle")
    for options in STARTS:
        begin_s = time.perf_counter()
        count = perft(game, game.rules.new(options), 3)
        taken_s = time.perf_counter() - begin_s
        print(f"perft 3 of {options or 'the default start'}: {count} turns, {count / taken_s:,.0f} a second")
    rng = random.Random(7)
    known = game.rules.new()
    for _ in range(12):
        known = game.rules.apply(known, rng.choice(game.rules.legal_turns(known)))
    hidden = game.table.set_up(game.table.appearance(known), anywhere=True)
    for name, state in (("known", known), ("hidden", hidden)):
        turns = game.rules.legal_turns(state)
        swept = {**game.table.appearance(state), turns[0].start: EMPTY}
        calls: dict[str, Callable[[], object]] = {
            "legal_turns": partial(game.rules.legal_turns, state),
            "apply": partial(game.rules.apply, state, turns[0]),
            "unfinished": partial(game.table.unfinished, state),
            "explain": partial(game.table.explain, state, swept),
        }
        times = ", ".join(f"{called} {mean_us(call):.0f} µs" for called, call in calls.items())
        print(f"{name} faces, {len(turns)} legal turns: {times}")


if __name__ == "__main__":
    main()
