"""The fitted values of Diaballik's guess; see ``evaluate`` for what they mean and where they come from."""

from __future__ import annotations

from typing import NamedTuple


class Weights(NamedTuple):
    """One side's values: by row from home and column from the middle (four a row), and by number of far-row squares."""

    pieces: tuple[int, ...]
    carrier: tuple[int, ...]
    receivers: tuple[int, ...]
    open_goals: tuple[int, ...]
    threats: tuple[int, ...]


_P = tuple(v for row in range(7) for v in ((0, 20, 60, 100, 130, 140, 100)[row] + 10,) * 4)
_C = tuple(v for row in range(7) for v in (80 * row,) * 4)
_R = tuple(v for row in range(7) for v in (40 * row,) * 4)
JUST_MOVED = Weights(_P, _C, _R, (0, 80, 120, 150), (0, 150, 400, 600))
TO_MOVE = Weights(_P, _C, _R, (0, 80, 120, 150), (0, 0, 0, 0))
