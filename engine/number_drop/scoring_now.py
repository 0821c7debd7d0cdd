"""The turn taken by itself: what it scores at once, and how low it lies. The yardstick of gentle hints."""

from __future__ import annotations

from typing import NamedTuple

from engine.number_drop.candidates import sheet_after
from engine.number_drop.combining import combinations
from engine.number_drop.sheet import EMPTY_CELL, SQUARES, Sheet
from engine.number_drop.state import Combination, Drop, NumberDropState, NumberDropTurn
from engine.number_drop.turns import played

_MOST_FOUND = 300


class Now(NamedTuple):
    """How good a turn is by itself: its points come first, then few holes, then low columns; more is better."""

    points: int
    holes: int
    heights: int


def now(state: NumberDropState, player: int, turn: NumberDropTurn) -> Now:
    """How a turn stands by itself, the best combination after a drop counted."""
    x_counts = state.settings.x_counts_above_line
    if isinstance(turn, Combination):
        sheet, more = played(state, turn).sheets[player], 0
    else:
        sheet = sheet_after(state, player, turn)
        more = _best_combination(sheet, x_counts) if isinstance(turn, Drop) else 0
    height = sum(sheet.heights)
    holes = height - (SQUARES - sheet.cells.count(EMPTY_CELL))
    return Now(sheet.score(x_counts) + more, -holes, -sum(each * each for each in sheet.heights))


def _best_combination(sheet: Sheet, x_counts: bool) -> int:
    """What the best combination adds, a column that it fills included."""
    boxes = dict(combinations(sheet, _MOST_FOUND))
    before = sheet.score(x_counts)
    return max((sheet.looped(box, boxes[box], letter=False).score(x_counts) - before for box in boxes), default=0)
