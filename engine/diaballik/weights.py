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
        -208, -192, -172, -323,
        23, -91, -75, -199,
        -49, -16, -96, -259,
        -34, -33, -38, -135,
        -86, -58, 49, -96,
        254, 289, 282, 134,
        442, 426, 279, 160,
    ),
    carrier=(
        -23, -71, -221, -288,
        -139, -82, -301, -349,
        88, -171, -262, -89,
        -140, -62, 39, 30,
        126, 247, 113, 384,
        378, 255, 400, 126,
        0, 0, 0, 0,
    ),
    receivers=(
        21, -7, -37, 14,
        -78, -19, -40, 5,
        25, -1, 24, 78,
        10, 68, 71, 148,
        287, 219, 32, 289,
        55, 147, 95, 280,
        214, 252, 153, 116,
    ),
    open_goals=(0, -43, 115, 95),
    threats=(0, 618, 1506, 822),
)
TO_MOVE = Weights(
    pieces=(
        -280, -285, -248, -389,
        -110, -198, -155, -252,
        -155, -117, -127, -262,
        -74, -101, -63, -145,
        11, 16, 80, -14,
        324, 435, 380, 281,
        727, 615, 456, 297,
    ),
    carrier=(
        -58, -51, -164, -182,
        -115, -33, -58, -111,
        80, -12, 3, 79,
        125, 55, 132, 14,
        -19, 40, 41, 119,
        148, -42, 145, -126,
        0, 0, 0, 0,
    ),
    receivers=(
        -3, 3, -52, 6,
        -38, 7, -20, 24,
        85, 6, 20, 30,
        47, 113, 131, 185,
        254, 220, 176, 327,
        244, 306, 552, 227,
        0, 0, 0, 0,
    ),
    open_goals=(0, 178, 190, 146),
    threats=(0, 0, 0, 0),
)
# fmt: on
