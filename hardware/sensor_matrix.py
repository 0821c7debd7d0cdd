"""What a matrix of switches says for certain: rows driven one by one, columns read, ghosts told from contacts. Pure.

Without a diode at each switch, current also finds ways round corners: three closed switches at the corners of a
rectangle make the fourth read closed too, a ghost. What is read is then no proof, and it is said to be doubtful.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence

Reading = Sequence[Sequence[bool]]
"""One scan: for each driven row, whether each column was connected to it."""


class SwitchState(enum.Enum):
    """What is known of a switch."""

    OPEN = "open"
    CLOSED = "closed"
    DOUBTFUL = "doubtful"


def switch_states(reading: Reading, *, diodes: bool) -> tuple[SwitchState, ...]:
    """Say of each switch, row by row, whether it is open, closed, or can't be told from this one scan.

    With ``diodes`` every contact that is read is a contact. Without, a switch is certain exactly where every set of
    closed switches that would be read like this agrees on it: an open one always, a closed one where it is the only
    way from its row to its column. A scan in which that does not hold together, since a switch moved during it, is
    doubtful where it does not. Raises ValueError for rows of unequal length.
    """
    if len({len(row) for row in reading}) > 1:
        raise ValueError(f"rows of {sorted({len(row) for row in reading})} switches; expected equal ones")
    states = []
    for number, row in enumerate(reading):
        for column, is_connected in enumerate(row):
            has_way_round = not diodes and _has_way_round(reading, number, column)
            if has_way_round:
                states.append(SwitchState.DOUBTFUL)
            else:
                states.append(SwitchState.CLOSED if is_connected else SwitchState.OPEN)
    return tuple(states)


def _has_way_round(reading: Reading, row: int, column: int) -> bool:
    """Whether three other switches that read closed lead from the row to the column: along, across, and back.

    Readings are complete (what is connected by any way reads connected), so a longer way shows as a short one too.
    """
    return any(
        other_row != row and reading[other_row][column] and reading[other_row][other_column]
        for other_column, is_connected in enumerate(reading[row])
        if is_connected and other_column != column
        for other_row in range(len(reading))
    )
