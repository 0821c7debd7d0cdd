"""Scores of all results of a position together, each taking into account whether the opponent wins next.

A score adds up, for the side that has just moved and for the side to move, values of squares for the pieces, for the
carrier, and for possible receivers, and values for the open squares of the far row. Rows count from
each side's home row, and the board is symmetric. The values were fitted by logistic regression to the winners of
thousands of games that such an evaluation played against itself, one turn ahead and with noise; they are the mean of
two such fits, which played better than either of them, in thousandths of a logit.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.games.diaballik.state import (
    CONTACTS_TO_CLAIM,
    EVERY,
    FIRST_ROW,
    GOAL,
    GRID,
    NEAR,
    PLAYERS,
    RAYS,
    SIZE,
    between_squares,
    touching,
)
from engine.games.diaballik.turns import (
    BALL_SHIFT,
    MOST_MOVES,
    PIECES_MASK,
    visible,
)
from engine.support.grid import members, union

Integers = NDArray[np.int64]

WIN = 1_000_000
"""The score of a won position; each turn until the win costs a point."""
LOST_NEXT = -(WIN - 2)
"""The score of a result after which the opponent wins at once."""
SEEMS_LOST = -(WIN // 2)
"""The score of a result after which the opponent may win at once; not proven."""

_GOAL_FIRST = (GRID.squares - SIZE, 0)
_CHUNK = 2 * SIZE
_CHUNKS = tuple(range(0, GRID.squares, _CHUNK))
_CHUNK_MASK = (1 << _CHUNK) - 1
_NOT_FIRST, _NOT_LAST = GRID.outside_first_column, GRID.outside_last_column


class Position(NamedTuple):
    """The board as seen by the player to move: own pieces and ball, the opponent's, and who plays (0: black)."""

    own: int
    ball: int
    foes: int
    foe_ball: int
    player: int

    def after(self, result: int) -> Position:
        """Return the opponent's position after one of the results."""
        return Position(self.foes, self.foe_ball, result & PIECES_MASK, result >> BALL_SHIFT, 1 - self.player)


class _Values(NamedTuple):
    """One side's weights as tables: sums over sets of squares by chunks, values by square, and by number of squares."""

    pieces: tuple[Integers, ...]
    carrier: Integers
    receivers: Integers
    open_goals: Integers


def _of_squares(values: tuple[int, ...], player: int) -> Integers:
    """Return values by square from values by row from home and column from the middle."""
    found = np.zeros(GRID.squares, dtype=np.int64)
    for square in range(GRID.squares):
        row, column = GRID.row_of(square), GRID.column_of(square)
        row = row if player == 0 else SIZE - 1 - row
        found[square] = values[row * 4 + abs(column - SIZE // 2)]
    return found


def _sums(values: Integers) -> tuple[Integers, ...]:
    """Return, for each chunk of squares, the sums over all its subsets."""
    tables = []
    for first in _CHUNKS:
        sums = np.zeros(1, dtype=np.int64)
        for value in values[first : first + _CHUNK]:
            sums = np.concatenate((sums, sums + value))
        tables.append(sums)
    return tuple(tables)


def _by_count(values: tuple[int, ...]) -> Integers:
    """Return the value of each set of far-row squares by its size; bit 0 is the row's first square."""
    return np.array([values[min(subset.bit_count(), len(values) - 1)] for subset in range(1 << SIZE)], dtype=np.int64)


def _tables_of(weights: Weights, player: int) -> _Values:
    """Return one side's weights as tables."""
    return _Values(
        _sums(_of_squares(weights.pieces, player)),
        _of_squares(weights.carrier, player),
        _of_squares(weights.receivers, player),
        _by_count(weights.open_goals),
    )


@cache
def _just_moved(player: int) -> tuple[_Values, tuple[Integers, ...], Integers]:
    """Return the tables of the side that has just moved, its receivers as sums by chunks, and its threats by set."""
    values = _tables_of(JUST_MOVED, player)
    return values, _sums(values.receivers), _by_count(THREATS)


@cache
def _to_move(player: int) -> _Values:
    return _tables_of(TO_MOVE, player)


def _total(tables: tuple[Integers, ...], squares: Integers) -> Integers:
    total: Integers = tables[0][squares & _CHUNK_MASK]
    for number, first in enumerate(_CHUNKS[1:], 1):
        total = total + tables[number][squares >> first & _CHUNK_MASK]
    return total


@cache
def goal_lines(player: int, square: int) -> tuple[tuple[int, int, int], ...]:
    """Return the far-row squares in line with a square: each as a bit, its place, and the squares between."""
    first = GRID.squares - SIZE if player == 0 else 0
    return tuple(
        (1 << end, end - first, between_squares(square, end))
        for ray in RAYS[square]
        for end in ray
        if GOAL[PLAYERS[player]] >> end & 1
    )


def _reach(others: Integers | int, empty: Integers) -> Integers:
    """Return the squares on which pieces can stand after at most two moves."""
    once = ((others & _NOT_LAST) << 1 | (others & _NOT_FIRST) >> 1 | (others << SIZE & EVERY) | others >> SIZE) & empty
    reached: Integers = (
        others
        | once
        | (((once & _NOT_LAST) << 1 | (once & _NOT_FIRST) >> 1 | (once << SIZE & EVERY) | once >> SIZE) & empty)
    )
    return reached


class Evaluation(NamedTuple):
    """The evaluation of each result: its score for the mover, and the far-row squares threatened next."""

    scores: Integers
    threats: Integers


def evaluate_results(position: Position, results: Integers, *, front_only: bool = False) -> Evaluation:
    """Score every result of the mover's turn; one after which the opponent wins at once scores LOST_NEXT.

    A win by the ball scores WIN. If, by a rule of thumb, the opponent could touch a wall in time to announce
    anti-play, the score is SEEMS_LOST.
    """
    player = position.player
    foe = 1 - player
    (mine, receivers, by_threats), theirs = _just_moved(player), _to_move(foe)
    own, ball = results & PIECES_MASK, results >> BALL_SHIFT
    foes, foe_ball = position.foes, position.foe_ball
    goal_first, foe_goal_first = _GOAL_FIRST[player], _GOAL_FIRST[foe]

    seen_by_square = np.zeros(GRID.squares, dtype=np.int64)
    for square in np.flatnonzero(np.bincount(ball)).tolist():
        seen_by_square[square] = visible(square, foes)
    open_by_square = seen_by_square >> goal_first & FIRST_ROW
    by_square = mine.carrier + mine.open_goals[open_by_square]
    others = own ^ np.left_shift(1, ball)
    scores = _total(mine.pieces, own) + by_square[ball] + _total(receivers, others & seen_by_square[ball])
    scores -= int(_total(theirs.pieces, np.array([foes]))[0] + theirs.carrier[foe_ball])
    empty = (own ^ EVERY) & ~foes
    threats = open_by_square[ball] & (_reach(others, empty) >> goal_first)
    scores += by_threats[threats]

    foe_others = foes ^ (1 << foe_ball)
    for square in members(visible(foe_ball, 0) & foe_others):
        scores -= int(theirs.receivers[square]) * ((own & between_squares(foe_ball, square)) == 0)
    foe_open = np.zeros(results.size, dtype=np.int64)
    for bit, place, between in goal_lines(foe, foe_ball):
        foe_open |= ((own & (between | bit)) == 0).astype(np.int64) << place
    if foe_open.any():
        scores -= theirs.open_goals[foe_open]
        reached = _reach(foe_others, empty) >> foe_goal_first
        scores[(foe_open & reached) != 0] = LOST_NEXT
    for each in walls_among(own):
        scores[each] = min(int(scores[each]), _most_of_wall(position, int(own[each]), front_only=front_only))
    won = np.right_shift(GOAL[PLAYERS[player]], ball) & 1
    scores[won != 0] = WIN
    return Evaluation(scores, threats)


def walls_among(own: Integers) -> list[int]:
    """Return the indices of the sets of pieces that form a wall."""
    columns = own | own >> 7
    columns |= columns >> 14
    columns |= columns >> 28
    linked = own & _NOT_LAST
    links = own >> 1 | own >> (SIZE + 1) | own << (SIZE - 1)
    return np.flatnonzero(((columns & FIRST_ROW) == FIRST_ROW) & (linked & ~links == 0)).tolist()


def _most_of_wall(position: Position, wall: int, *, front_only: bool) -> int:
    """Return the most that a wall may score, given whether the opponent can touch it with three pieces next turn."""
    touch = touching(wall, PLAYERS[1 - position.player], front_only=front_only)
    foes = position.foes
    missing = CONTACTS_TO_CLAIM - (foes & touch).bit_count()
    if missing <= 0:
        return LOST_NEXT
    if missing > MOST_MOVES:
        return WIN
    empty = EVERY & ~(foes | wall)
    near = union(NEAR[square] for square in members(foes & ~touch)) & empty
    if missing == MOST_MOVES:
        return SEEMS_LOST if (near & touch).bit_count() >= missing else WIN
    far = near | union(NEAR[square] for square in members(near)) & empty
    return SEEMS_LOST if far & touch else WIN


class Weights(NamedTuple):
    """One side's values.

    They are given by row from home and column from the middle (four values per row), and by number of far-row squares.
    """

    pieces: tuple[int, ...]
    carrier: tuple[int, ...]
    receivers: tuple[int, ...]
    open_goals: tuple[int, ...]


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
)
THREATS = (0, 618, 1506, 822)
"""The values of the side that has just moved by number of far-row squares to which it threatens to pass."""
# fmt: on
