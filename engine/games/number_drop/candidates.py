"""Candidate turns: the sheets that they leave, evaluated together, and what each is worth at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.games.number_drop import turns as playing
from engine.games.number_drop.evaluation import CROSSED, LOOPED, WEIGHTS, Boards, Values, board_of, values
from engine.games.number_drop.sheet import (
    BONUS_SIZE,
    BOXES,
    FULL_COLUMN_POINTS,
    GRID,
    IDENTICAL,
    LETTERS,
    LINES_BELOW_GAME_OVER,
    RUN_BOXES,
    SAME_BOXES,
    SMALLEST,
    Sheet,
    combinations,
    open_sizes,
    unused_digits,
)
from engine.games.number_drop.state import (
    PLAYERS,
    SLIDES_TO_GO,
    Combination,
    Drop,
    NumberDropState,
    NumberDropTurn,
    PenaltyDrop,
    SetUpDigit,
    Slide,
)
from engine.games.number_drop.turns import marks_by_square, play_turn
from engine.support.grid import members, set_of

_NOTCHES_A_TURN = 1.26
"""How far tiles slide in a turn alone: a notch, and the star's share of another; a mean over all positions of tiles."""
_CELLS_A_TURN = 5.0
"""The approximate height in cells that a turn takes, to estimate how many turns are left."""
_MOST_FOUND = 1000  # combinations listed after a drop
_MOST_COMBINATIONS = 60
"""If there are more combinations after a drop, only a sample of them is evaluated."""


@dataclass(frozen=True)
class Valuation:
    """How to evaluate sheets in a state: the number of turns left after this one, and the rules that matter."""

    turns_left: float
    solo: bool
    x_counts: bool

    def of(self, boards: Boards, sheets: Sequence[Sheet]) -> Values:
        """Return the value of each board, with the boxes and letters of its sheet."""
        opens = np.array([open_bits(sheet) for sheet in sheets], dtype=np.int64)
        secured = np.array([secured_points(sheet) for sheet in sheets], dtype=np.float32)
        return self._values(boards, opens[:, 0], opens[:, 1], self.turns_left) + secured

    def with_boxes_of(self, boards: Boards, sheet: Sheet, *, turns_less: int) -> Values:
        """Return the value of boards with the boxes and letters of one sheet, this many turns later."""
        same, runs = open_bits(sheet)
        left = max(0.0, self.turns_left - turns_less)
        return (
            self._values(boards, np.full(len(boards), same), np.full(len(boards), runs), left)
            + np.float32(secured_points(sheet))
        )  # fmt: skip

    def _values(self, boards: Boards, same: NDArray[np.int64], runs: NDArray[np.int64], turns_left: float) -> Values:
        return values(boards, same, runs, turns_left, solo=self.solo, x_counts=self.x_counts)


def valuation_of(state: NumberDropState, player: int) -> Valuation:
    """Return how to evaluate a player's sheet after the current turn."""
    options = state.options
    if state.last_turn or playing.reached_the_line(state):
        left = 0.0
    elif options.solo:
        left = (len(LETTERS) * SLIDES_TO_GO - sum(state.notches)) / _NOTCHES_A_TURN
    else:
        highest = max(sum(state.sheets[each].heights) for each in members(playing.everyone(state)))
        room = GRID.columns * LINES_BELOW_GAME_OVER - max(highest, sum(state.sheets[player].heights))
        left = max(1.0, room / _CELLS_A_TURN - 1)
    return Valuation(left, options.solo, options.x_counts_above_line)


def open_bits(sheet: Sheet) -> tuple[int, int]:
    """Return the open sizes of equal digits and of runs, each as a set with a bit per size from 3 to 8."""
    same, runs = (set_of(size - SMALLEST for size in sizes) for sizes in open_sizes(sheet.loops))
    return same, runs


def secured_points(sheet: Sheet) -> float:
    """Return the worth of filled boxes and circled letters; incomplete columns count in part."""
    points = float(sum(size for (_, size), loop in zip(BOXES, sheet.loops, strict=True) if loop))
    for boxes in (SAME_BOXES, RUN_BOXES):
        column = [sheet.loops[box] for box in boxes]
        points += FULL_COLUMN_POINTS if all(column) else WEIGHTS.column * sum(map(bool, column))
    return points + WEIGHTS.letter * sheet.letters.bit_count()


def boards_after(sheet: Sheet, turns: Sequence[NumberDropTurn]) -> Boards:
    """Return the boards after each of these turns, with shape (turns, 14, 7)."""
    boards = np.tile(board_of(sheet).ravel(), (len(turns), 1))
    for number, turn in enumerate(turns):
        row = boards[number]
        if isinstance(turn, SetUpDigit | Drop):
            for square, digit in marks_by_square(turn).items():
                row[square] = int(digit)
        elif isinstance(turn, PenaltyDrop | Combination):
            for name in turn.squares:
                row[GRID.index[name]] = LOOPED if isinstance(turn, Combination) else CROSSED
    return boards.reshape(len(turns), GRID.rows, GRID.columns)


@dataclass(frozen=True)
class Candidate:
    """A turn, the sheet after it (and after the combination that follows a drop), and its value."""

    turn: NumberDropTurn
    sheet: Sheet
    follow: Combination | None
    value: float


def with_best_combinations(
    state: NumberDropState, turns: Sequence[NumberDropTurn], valuation: Valuation, player: int
) -> list[Candidate]:
    """Return each drop with the best combination after it; all are evaluated together."""
    options: list[tuple[int, Combination, Sheet]] = []
    for number, turn in enumerate(turns):
        options += [(number, *option) for option in _options_after(state, player, turn)]
    sheets = [sheet for _, _, sheet in options]
    worth = valuation.of(np.stack([board_of(sheet) for sheet in sheets]), sheets)
    best: dict[int, Candidate] = {}
    for (number, follow, sheet), value in zip(options, worth, strict=True):
        if number not in best or value > best[number].value:
            best[number] = Candidate(turns[number], sheet, follow, float(value))
    return list(best.values())


def _options_after(state: NumberDropState, player: int, turn: NumberDropTurn) -> list[tuple[Combination, Sheet]]:
    """Return the possible combinations after a drop, none first, each with the sheet after it."""
    written = sheet_after(state, player, turn)
    options = [(Combination(turn.player), written)]
    found = combinations(written, _MOST_FOUND)
    for box, squares in found[:: max(1, len(found) // _MOST_COMBINATIONS)]:
        options.append(combined(state, player, written, box, squares))
    return options


def combined(state: NumberDropState, player: int, sheet: Sheet, box: int, squares: int) -> tuple[Combination, Sheet]:
    """Return the combination of these squares for an open box, and the sheet after it."""
    # A letter never does harm: it averts the penalty.
    letter = playing.letter_for(state, player, box)
    follow = Combination(PLAYERS[player], GRID.names_of(squares), letter)
    return follow, sheet.with_loop(box, squares, letter=letter is not None)


def sheet_after(state: NumberDropState, player: int, turn: NumberDropTurn) -> Sheet:
    """Return the sheet after a first digit, drop or penalty; unchanged for other turns."""
    sheet = state.sheets[player]
    return sheet if isinstance(turn, Combination | Slide) else sheet.with_marks(marks_by_square(turn))


class ImmediateWorth(NamedTuple):
    """The immediate worth of a turn, compared in this order: points, few holes, low columns; more is better."""

    points: int
    holes: int
    heights: int


def immediate_worth(state: NumberDropState, player: int, turn: NumberDropTurn) -> ImmediateWorth:
    """Return the immediate worth of a turn, including the best combination after a drop."""
    x_counts = state.options.x_counts_above_line
    if isinstance(turn, Combination):
        sheet, more = play_turn(state, turn).sheets[player], 0
    else:
        sheet = sheet_after(state, player, turn)
        more = best_box(unused_digits(sheet), points_by_box(sheet))[0] if isinstance(turn, Drop) else 0
    return ImmediateWorth(sheet.score(x_counts) + more, -sheet.holes, -sum(each * each for each in sheet.heights))


def points_by_box(sheet: Sheet) -> tuple[tuple[int, int], ...]:
    """Return the points that each open box would add, with a column that it completes, and the box; most first."""
    found = []
    for box, (_, size) in enumerate(BOXES):
        if sheet.loops[box]:
            continue
        column = next((boxes for boxes in (SAME_BOXES, RUN_BOXES) if box in boxes), ())
        completes = bool(column) and all(sheet.loops[other] for other in column if other != box)
        found.append((size + FULL_COLUMN_POINTS * completes, box))
    return tuple(sorted(found, reverse=True))


def best_box(digits: Sequence[int], boxes: Sequence[tuple[int, int]]) -> tuple[int, int | None]:
    """Return the most points that these squares of each digit can add, and the box to fill for them, if any."""
    if not boxes:
        return 0, None
    # Part of a patch or run is one too, so the longest ones tell which boxes can be filled.
    same, runs = _largest_patch(digits), _longest_run(digits)
    for points, box in boxes:
        kind, size = BOXES[box]
        length = max(same, runs) if size == BONUS_SIZE else same if kind == IDENTICAL else runs
        if length >= size:
            return points, box
    return 0, None


def _largest_patch(digits: Sequence[int]) -> int:
    largest = SMALLEST - 1
    for squares in digits:
        if squares.bit_count() > largest:
            largest = max(largest, *(patch.bit_count() for patch in GRID.patches(squares)))
    return largest


def _longest_run(digits: Sequence[int]) -> int:
    longest = 0
    for first in range(len(digits)):
        length, reach = 0, digits[first]
        while reach:
            length += 1
            last = first + length
            reach = GRID.adjacent_to(reach) & digits[last] if last < len(digits) else 0
        longest = max(longest, length)
    return longest
