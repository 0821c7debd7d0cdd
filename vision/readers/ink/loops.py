"""Loops around several cells: which cells they enclose, given the network's output for each cell and its sides.

A loop's line runs between enclosed cells and others, and between cells of two loops. The probabilities follow from all
cells together, by belief propagation on the grid (Pearl, Probabilistic Reasoning in Intelligent Systems, 1988, ch. 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.frame import FloatArray

LOOP, NO_LOOP = "loop", "open"
"""The possible contents of a cell's side."""
_OUTSIDE = -50.0
"""Log-odds that a loop encloses what is beyond the grid."""
_MOST_LINE = 30.0
"""Maximum log-odds of a line by itself, so that its exponential is a number."""


@dataclass(frozen=True)
class LoopSettings:
    """How much the network's outputs count, and how often lines lie where. ``scripts/training/loops.py`` fits all but
    ``gap`` and ``rounds``.
    """

    cell: float = 0.41
    """Log-odds that a cell is enclosed, per unit of the network's log-odds."""
    enclosed: float = 0.88
    """Log-odds added to those of each cell: the network sees fewer enclosed cells than there are."""
    line: float = 0.44
    """Log-odds of a line, per unit of the network's log-odds."""
    stray: float = 0.52
    """Share of the sides between cells outside of loops where a line seems to lie."""
    gap: float = 0.008
    """Share of the sides between an enclosed cell and one outside where no line seems to lie. Set by hand: drawn loops
    hardly have gaps. Higher: gaps cost less, and lines count for less.
    """
    touching: float = 0.24
    """Share of the sides between enclosed cells where a line seems to lie, mostly that of another loop."""
    rounds: int = 10
    """Rounds of message passing between neighbours; more of them find the same cells."""


def lines_between(lines: FloatArray) -> FloatArray:
    """Return log-odds of a line along each cell's sides (..., rows, columns, 4), in the order of Side, combining both
    cells' views.
    """
    both = lines.copy()
    across = (lines[..., :, :-1, 1] + lines[..., :, 1:, 3]) / 2
    down = (lines[..., :-1, :, 2] + lines[..., 1:, :, 0]) / 2
    both[..., :, :-1, 1] = both[..., :, 1:, 3] = across
    both[..., :-1, :, 2] = both[..., 1:, :, 0] = down
    return both


def decode_loops(
    looped: FloatArray, lines: FloatArray, settings: LoopSettings = LoopSettings()
) -> tuple[FloatArray, FloatArray]:
    """Return log-odds that a loop encloses each cell (..., rows, columns), and that its line runs along each side
    (..., rows, columns, 4), given all cells.

    ``looped`` and ``lines`` are the network's log-odds, of each cell by itself and from ``lines_between``.
    """
    shown = settings.line * np.clip(lines, -_MOST_LINE, _MOST_LINE)
    # the log-likelihood of what is seen along a side, by whether the cells on both sides are enclosed
    neither, one, both = (
        np.logaddexp(np.log1p(-share), np.log(share) + shown)
        for share in (settings.stray, 1 - settings.gap, settings.touching)
    )
    own = settings.cell * looped + settings.enclosed
    # from the neighbour on each side of each cell
    messages = np.zeros_like(lines)
    for _ in range(settings.rounds):
        other = _of_neighbours(_without_each(own, messages))
        sent = np.logaddexp(other + both, one) - np.logaddexp(other + one, neither)
        messages = (messages + sent) / 2
    mine = _without_each(own, messages)
    return own + messages.sum(axis=-1), shown + _line_prior(mine, _of_neighbours(mine), settings)


def _without_each(own: FloatArray, messages: FloatArray) -> FloatArray:
    """Return each cell's log-odds without the message from each side, (..., rows, columns, 4)."""
    return np.asarray((own + messages.sum(axis=-1))[..., None] - messages)


def _of_neighbours(odds: FloatArray) -> FloatArray:
    """Return for each side of each cell the value of the neighbour there for that side, (..., rows, columns, 4)."""
    found = np.full_like(odds, _OUTSIDE)
    north, east, south, west = range(4)
    found[..., 1:, :, north] = odds[..., :-1, :, south]
    found[..., :, :-1, east] = odds[..., :, 1:, west]
    found[..., :-1, :, south] = odds[..., 1:, :, north]
    found[..., :, 1:, west] = odds[..., :, :-1, east]
    return found


def _line_prior(mine: FloatArray, other: FloatArray, settings: LoopSettings) -> FloatArray:
    """Return log-odds of a line, given those of the cells on both sides of being enclosed, before it is looked at."""
    one, both = np.logaddexp(mine, other), mine + other
    there, missing = (
        np.logaddexp(np.logaddexp(np.log(neither), np.log(either) + one), np.log(in_both) + both)
        for neither, either, in_both in (
            (settings.stray, 1 - settings.gap, settings.touching),
            (1 - settings.stray, settings.gap, 1 - settings.touching),
        )
    )
    return np.asarray(there - missing)
