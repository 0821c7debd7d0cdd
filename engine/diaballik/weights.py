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


# fmt: off
JUST_MOVED = Weights(
    pieces=(
        -173, -201, -167, -297,
        33, -68, -67, -190,
        79, 12, -84, -261,
        -106, -94, -118, -176,
        -168, -84, -8, -272,
        430, 338, 359, 106,
        484, 342, 198, 17,
    ),
    carrier=(
        1, -43, -123, -356,
        -94, -54, -299, -418,
        33, -238, -228, -68,
        -27, -44, 136, 8,
        162, 213, 87, 344,
        368, 216, 398, -8,
        0, 0, 0, 0,
    ),
    receivers=(
        -7, -6, 1, -20,
        -22, -63, -15, -1,
        -54, -58, -9, 48,
        75, 58, 189, 109,
        321, 181, 34, 354,
        -71, 99, 82, 365,
        128, 171, 152, 145,
    ),
    open_goals=(0, 26, 145, 230),
    threats=(0, 695, 1704, 814),
)
TO_MOVE = Weights(
    pieces=(
        -267, -311, -261, -387,
        -115, -193, -153, -250,
        -66, -92, -125, -245,
        -163, -173, -141, -180,
        36, 73, 10, -159,
        492, 477, 467, 286,
        834, 555, 417, 150,
    ),
    carrier=(
        -49, -65, -96, -228,
        -88, 23, -10, -146,
        -6, -80, 116, 115,
        326, 106, 290, -33,
        -75, -62, -62, 62,
        169, -52, 100, -222,
        0, 0, 0, 0,
    ),
    receivers=(
        -35, 5, -18, -6,
        21, -44, 6, 10,
        32, -61, -37, -33,
        135, 97, 245, 133,
        151, 108, 174, 367,
        -13, 249, 501, 281,
        0, 0, 0, 0,
    ),
    open_goals=(0, 214, 154, 293),
    threats=(0, 0, 0, 0),
)
# fmt: on
