"""What ``benchmarks/engine.py`` measured, as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from rich.console import Console
from rich.table import Table

from benchmarks.engine_measure import OF_TWO, Counted, Rate

FIRST_TURN_SHARE = 1 / 40
"""Diaballik's first turn is to take at most this part of the time of python-chess's perft 3."""


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number == 0 or not column else "right")
    return table


def print_random_games(rates: Sequence[Rate], chess: Rate, console: Console) -> bool:
    """Print plies a second beside python-chess's; say whether every game of two is ahead."""
    table = _table(
        "Random games",
        "game",
        "plies a second",
        "times python-chess",
        "least",
        "without the fast core",
        "plies a game",
        "line",
        "",
    )
    table.add_row("python-chess", f"{chess.median:,.0f}", "1", "", "", "", "", "")
    met = True
    for rate in rates:
        ratio = rate.ratio(chess)
        least = min(mine / theirs for mine, theirs in zip(rate.plies_a_second, chess.plies_a_second, strict=True))
        held = rate.name in OF_TWO
        ahead = ratio > 1
        met = met and (ahead or not held)
        table.add_row(
            rate.name,
            f"{rate.median:,.0f}",
            f"{ratio:.2f}",
            f"{least:.2f}",
            f"{rate.plain_plies_a_second:,.0f}",
            f"{rate.plies_a_game:,.0f}",
            "over 1" if held else "",
            ("met" if ahead else "NOT MET") if held else "",
        )
    console.print(table)
    return met


def print_first_turn(
    first_s: Sequence[float], chess_s: Sequence[float], middles: Mapping[int, float], console: Console
) -> bool:
    """Print Diaballik's turns beside python-chess's perft 3; say whether the first one is quick enough.

    ``middles`` maps the number of results of positions from the middle of games to their mean time.
    """
    share = median(mine / theirs for mine, theirs in zip(first_s, chess_s, strict=True))
    met = share <= FIRST_TURN_SHARE
    table = _table("Every distinct result of a Diaballik turn", "what", "results", "time", "of perft 3", "line", "")
    table.add_row("python-chess, perft 3 from the start", "8,902", f"{1e3 * median(chess_s):.2f} ms", "1", "", "")
    table.add_row(
        "the first turn",
        "290",
        f"{1e6 * median(first_s):.0f} µs",
        f"1/{1 / share:.0f}",
        f"1/{1 / FIRST_TURN_SHARE:.0f}",
        "met" if met else "NOT MET",
    )
    for results, mean_s in sorted(middles.items()):
        table.add_row(
            "from the middle of a game", str(results), f"{1e6 * mean_s:.0f} µs", f"1/{median(chess_s) / mean_s:.0f}"
        )
    console.print(table)
    return met


def print_counts(counts: Mapping[str, Sequence[Counted]], console: Console) -> None:
    """Print every game's counts by depth, with the time and how it grew."""
    table = _table("Counts to a depth", "game", "depth", "turns", "time", "turns a second", "turns ×", "time ×")
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
