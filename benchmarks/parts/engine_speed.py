"""The measurements and tables of ``benchmarks/engine.py``; all times are processor times."""

import importlib
import time
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from statistics import median
from types import ModuleType
from typing import Any

from rich.console import Console

from benchmarks.parts.command_line import figures
from engine.api import Game
from engine.games.diaballik.turns import begin_turn, packed_results
from engine.perft import perft, start_of_count

CHESS_DEPTH = 3
CHESS_PERFT = 8902
FIRST_RESULTS = 290


@dataclass(frozen=True)
class DepthCount:
    """A perft count to a depth, and its time in seconds."""

    depth: int
    count: int
    taken_s: float


def load_chess() -> ModuleType | None:
    """Give python-chess, ``None`` where it isn't installed."""
    try:
        return importlib.import_module("chess")
    except ModuleNotFoundError:
        return None


def timed(call: Callable[[], Any]) -> tuple[Any, float]:
    """A call's result, and its processor time in seconds."""
    begin_s = time.process_time()
    result = call()
    return result, time.process_time() - begin_s


def chess_perft(chess: ModuleType) -> int:
    """Perft 3 from the start of chess, with bulk counting of the last ply."""

    def below(board: Any, depth: int) -> int:
        if depth == 1:
            return int(board.legal_moves.count())
        found = 0
        for move in board.legal_moves:
            board.push(move)
            found += below(board, depth - 1)
            board.pop()
        return found

    return below(chess.Board(), CHESS_DEPTH)


def diaballik_results(state: Any) -> list[int]:
    """Every distinct result of a Diaballik turn."""
    return packed_results(begin_turn(state, state.to_move))


def middlegame_positions(game: Game[Any, Any], count: int, rng: Random) -> list[Any]:
    """Unfinished positions of random games, 6 to 40 turns after the start."""
    found: list[Any] = []
    while len(found) < count:
        state = game.rules.new()
        for _ in range(rng.randint(6, 40)):
            turns = game.rules.legal_turns(state)
            if not turns:
                break
            state = game.rules.apply(state, turns[rng.randrange(len(turns))])
        if state.to_move is not None and game.rules.legal_turns(state):
            found.append(state)
    return found


_LEAST_S = 0.02


def time_of(call: Callable[[], object]) -> float:
    """The processor time of a call in seconds, from as many calls as take at least ``_LEAST_S``."""
    calls = 1
    while True:
        begin_s = time.process_time()
        for _ in range(calls):
            call()
        taken_s = time.process_time() - begin_s
        if taken_s >= _LEAST_S:
            return taken_s / calls
        calls *= 2


def known_of(name: str) -> dict[str, Any]:
    """Return what ``tests/games`` says of a game: its worst positions, counted turns, where to count from."""
    path = Path(__file__).resolve().parents[2] / "tests" / "games" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def counts_to_depth(game: Game[Any, Any], state: Any, most_s: float) -> Sequence[DepthCount]:
    """Count to growing depths from a state, until the next would probably take longer than ``most_s``."""
    start, thrown = start_of_count(game, state, **known_of(game.name).get("counted_from", {}))
    found: list[DepthCount] = []
    while True:
        depth = len(found) + 1
        count, taken_s = timed(partial(perft, game, start, depth, thrown))
        found.append(DepthCount(depth, count, taken_s))
        growth = found[-1].taken_s / found[-2].taken_s if len(found) > 1 else found[-1].count
        if count == 0 or taken_s * max(growth, 2.0) > most_s:
            return found


FIRST_TURN_SHARE = 1 / 40
"""Most time of Diaballik's first turn, as a share of python-chess's perft 3."""


def print_first_turn(
    first_s: Sequence[float], chess_s: Sequence[float], middlegame_s: Mapping[int, float], console: Console
) -> bool:
    """Print Diaballik's turns beside python-chess's perft 3; say whether the first turn is fast enough.

    ``middlegame_s`` maps numbers of results to the time of middlegame positions with so many, in seconds.
    """
    share = median(mine / theirs for mine, theirs in zip(first_s, chess_s, strict=True))
    met = share <= FIRST_TURN_SHARE
    table = figures("Every distinct result of a Diaballik turn", "what", "results", "time", "of perft 3", "target", "")
    table.add_row(
        "python-chess, perft 3 from the start", f"{CHESS_PERFT:,}", f"{1e3 * median(chess_s):.2f} ms", "1", "", ""
    )
    table.add_row(
        "the first turn",
        str(FIRST_RESULTS),
        f"{1e6 * median(first_s):.0f} µs",
        f"1/{1 / share:.0f}",
        f"1/{1 / FIRST_TURN_SHARE:.0f}",
        "met" if met else "NOT MET",
    )
    for results, mean_s in sorted(middlegame_s.items()):
        table.add_row(
            "from the middle of a game", str(results), f"{1e6 * mean_s:.0f} µs", f"1/{median(chess_s) / mean_s:.0f}"
        )
    console.print(table)
    return met


def print_counts(counts: Mapping[str, Sequence[DepthCount]], console: Console) -> None:
    """Print every game's counts by depth, with their times and growth."""
    table = figures("Counts to a depth", "game", "depth", "turns", "time", "turns a second", "turns ×", "time ×")
    for name, found in counts.items():
        for before, now in zip([None, *found[:-1]], found, strict=True):
            table.add_row(
                name if before is None else "",
                str(now.depth),
                f"{now.count:,}",
                f"{now.taken_s:.2f} s" if now.taken_s >= 1 else f"{1e3 * now.taken_s:.2f} ms",
                f"{now.count / now.taken_s:,.0f}",
                f"{now.count / before.count:.1f}" if before is not None and before.count else "",
                f"{now.taken_s / before.taken_s:.1f}" if before is not None else "",
            )
    console.print(table)
