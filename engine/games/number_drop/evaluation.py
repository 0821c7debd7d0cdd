"""Candidate turns, and the evaluation of the sheets that they leave, many at once as arrays.

A sheet is 14 by 7 bytes, the lowest line first: a free digit as itself, ``LOOPED`` for a digit inside a loop,
``CROSSED`` for a cross, ``OPEN`` for an empty cell. The value is the current points plus an estimate of further ones:
the best assignment of patches of equal digits and of runs to open boxes, lines that can still be filled, and room below
the Game Over line.

Candidate turns: the sheets that they leave, evaluated together, and their immediate worth for gentle hints. Also the
tile to slide in a game alone.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from common.phrases import Phrase
from engine.games.number_drop import turns as playing
from engine.games.number_drop.sheet import (
    BONUS_SIZE,
    BOXES,
    COLUMNS,
    CONSECUTIVE,
    CROSS,
    EMPTY_CELL,
    FULL_COLUMN_POINTS,
    FULL_LINE_POINTS,
    GAME_OVER_POINTS,
    GRID,
    IDENTICAL,
    LETTERS,
    LINES,
    LINES_BELOW_GAME_OVER,
    RUN_BOXES,
    SAME_BOXES,
    SMALLEST,
    SQUARES,
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

LOOPED, CROSSED, OPEN = 20, 21, -10  # far enough from the digits that no step of one leads to them
Boards = NDArray[np.int8]
Values = NDArray[np.float32]

_SWEEPS_OF_PATCHES, _SWEEPS_OF_RUNS = 5, 7  # over the board; patches and runs that wind more are seen in part
_PATCHES = 4
"""The number of patches, and the number of runs, assigned to boxes."""
_GROWING = range(2, BONUS_SIZE + 1)
_BURIED = range(SMALLEST, BONUS_SIZE + 1)
_LEVELS = 1 + len(_GROWING) + len(_BURIED)


@dataclass(frozen=True)
class Weights:
    """The weights of the evaluation's terms; tuned by playing solo games with many settings."""

    hope: float = 0.7
    """The exponent of the probabilities of filling a box; below 1 is more optimistic than the measured ones."""
    early: float = 0.97
    """The share of its points that a combination is worth before it is drawn."""
    column: float = 1.5
    """The extra points of each filled box, on the way to a full column."""
    line: float = 1.2
    """The worth of an almost full line with nothing above its gaps."""
    hole: float = 1.5
    """The cost of an empty cell below a filled one."""
    bump: float = 0.5
    """The cost of each line of difference between neighbouring columns."""
    turn: float = 3.0
    """The cost of a turn for which there is no room left."""
    letter: float = 3.0
    """The worth of a circled letter, which averts a penalty."""


WEIGHTS = Weights()


def board_of(sheet: Sheet) -> Boards:
    """Return one sheet as an array of 14 by 7."""
    circled = sheet.circled
    flat = [
        OPEN if mark == EMPTY_CELL else CROSSED if mark == CROSS else LOOPED if circled >> square & 1 else int(mark)
        for square, mark in enumerate(sheet.cells)
    ]
    return np.array(flat, dtype=np.int8).reshape(LINES, COLUMNS)


@cache
def _sorted_levels() -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Return the row of each code of unsorted levels, and the levels of each row, the highest first."""
    rows = np.array(list(combinations_with_replacement(reversed(range(_LEVELS)), _PATCHES)), dtype=np.int16)
    codes = np.zeros(_LEVELS**_PATCHES, dtype=np.int16)
    codes[_code(rows)] = np.arange(len(rows), dtype=np.int16)
    return codes, rows


def _code(levels: NDArray[Any]) -> NDArray[np.int64]:
    code = np.zeros(levels.shape[:-1], dtype=np.int64)
    for place in range(_PATCHES):
        code = code * _LEVELS + levels[..., place]
    return code


def _size_of(level: int) -> tuple[int, bool]:
    """Return the size of a patch by its level, and whether it can grow."""
    if level == 0:
        return 0, False
    if level <= len(_GROWING):
        return _GROWING[level - 1], True
    return _BURIED[level - 1 - len(_GROWING)], False


_RANKS = sorted(range(_LEVELS), key=_size_of)
"""Levels, the least promising first."""
_RANK_OF_LEVEL = {level: rank for rank, level in enumerate(_RANKS)}
_RANK_GROWING = np.array(
    [0, 0, *(_RANK_OF_LEVEL[1 + size - 2] for size in _GROWING)] + [_RANK_OF_LEVEL[len(_GROWING)]] * 100, dtype=np.int8
)
_RANK_BURIED = np.array(
    [0, 0, 0, *(_RANK_OF_LEVEL[1 + len(_GROWING) + size - SMALLEST] for size in _BURIED)]
    + [_RANK_OF_LEVEL[_LEVELS - 1]] * 100,
    dtype=np.int8,
)
"""The rank of a patch by its size: of one that can still grow above, of one that can't here."""

_BY_SIZE = {IDENTICAL: (0.8, -1.04, -1.22, -1.55, -1.49, -2.5), CONSECUTIVE: (0.68, -0.4, -0.63, -0.58, 0.28, -0.5)}


def chance_of(kind: str, size: int, missing: int, turns_left: float) -> float:
    """Return the probability that a box is filled in the end if its best patch or run lacks this many digits.

    A logistic regression on 24,534 open boxes of solo games that were played by these values.
    """
    time = math.log1p(turns_left)
    odds = _BY_SIZE[kind][size - SMALLEST] - 0.93 * missing - 0.29 * min(missing, 1)
    odds += 1.15 * time + 0.26 * missing * time - 0.7 * (size - 5) * time
    return 1 / (1 + math.exp(-odds))


@cache
def _promises(kind: str, open_sizes: int, turns_left: int) -> NDArray[np.float32]:
    """Return, for each row of sorted ranks, the most that such patches can be worth with these boxes open.

    ``open_sizes`` has a bit for each size from 3 to 8.
    """
    _, rows = _sorted_levels()
    worth = np.zeros((BONUS_SIZE + 1, _LEVELS), dtype=np.float32)
    for size in range(SMALLEST, BONUS_SIZE + 1):
        points = size + (0 if size == BONUS_SIZE else WEIGHTS.column)
        for rank, level in enumerate(_RANKS):
            have, grows = _size_of(level)
            missing = max(0, size - (have if grows or have >= size else 1))
            chance = WEIGHTS.early if not missing else chance_of(kind, size, missing, turns_left) ** WEIGHTS.hope
            worth[size, rank] = points * chance
    # A box has some worth even without a patch; patches count for what they add.
    usual = sum(
        float(worth[size, 0]) for size in range(SMALLEST, BONUS_SIZE + 1) if open_sizes >> (size - SMALLEST) & 1
    )
    worth -= worth[:, :1]
    most = min(_PATCHES, turns_left)
    best = np.full((1 << _PATCHES, len(rows)), -np.inf, dtype=np.float32)
    best[0] = 0
    for size in range(SMALLEST, BONUS_SIZE + 1):
        if not open_sizes >> (size - SMALLEST) & 1:
            continue
        gain = worth[size][rows]
        for used in reversed(range(1 << _PATCHES)):
            if used.bit_count() > most:
                continue
            for place in range(_PATCHES):
                if used >> place & 1:
                    np.maximum(best[used], best[used ^ 1 << place] + gain[:, place], out=best[used])
    return np.asarray(best.max(axis=0) + (usual if turns_left else 0.0), dtype=np.float32)


def values(
    boards: Boards,
    same_open: NDArray[np.int64],
    runs_open: NDArray[np.int64],
    turns_left: float,
    *,
    solo: bool,
    x_counts: bool,
) -> Values:
    """Return each sheet's value apart from its filled boxes, with its full lines and lost points.

    ``boards`` has the shape (sheets, 14, 7); ``same_open`` and ``runs_open`` a bit for each open size from 3 to 8.
    """
    # With the sheets as the last axis, the operations below run over contiguous memory.
    cells = np.ascontiguousarray(boards.transpose(1, 2, 0))
    filled = cells >= 0
    counts = filled.sum(axis=1, dtype=np.int8)
    covered = filled.copy()
    for line in reversed(range(LINES - 1)):
        covered[line] |= covered[line + 1]
    holes = (covered ^ filled)[:LINES_BELOW_GAME_OVER]
    heights = covered.sum(axis=0, dtype=np.int8)
    below = counts[:LINES_BELOW_GAME_OVER]
    full = below == COLUMNS
    reachable = ~holes.any(axis=1) & ~full
    total = FULL_LINE_POINTS * full.sum(axis=0) + WEIGHTS.line * ((below / COLUMNS) ** 2 * reachable).sum(axis=0)
    counted = filled if x_counts else filled & (cells != CROSSED)
    above = counted[LINES_BELOW_GAME_OVER:].any(axis=1).sum(axis=0)
    room = np.clip(LINES_BELOW_GAME_OVER - heights, 0, None).sum(axis=0)
    if solo:
        total -= WEIGHTS.turn * np.clip(turns_left * 4.5 - room, 0, None) / 4
    else:
        total += WEIGHTS.turn * room / 5
    total -= WEIGHTS.hole * holes.sum(axis=(0, 1))
    total -= WEIGHTS.bump * np.abs(np.diff(heights, axis=0)).sum(axis=0)
    whole_turns = int(turns_left + 0.5)
    access = _accessible(cells, covered)
    equal = _promised(IDENTICAL, _patches(cells, access), same_open, whole_turns)
    runs = _promised(CONSECUTIVE, _runs(cells, access), runs_open, whole_turns)
    total += np.where(above == 0, equal + runs, -WEIGHTS.turn * turns_left)
    total += GAME_OVER_POINTS * above
    return np.asarray(total, dtype=np.float32)


Mask = NDArray[np.uint8]
"""All bits set where something holds, none elsewhere."""


def _mask(condition: NDArray[np.bool_]) -> Mask:
    return np.negative(condition.view(np.uint8))


def _accessible(cells: Boards, covered: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the free digits beside an empty cell below the Game Over line that a shape can still reach."""
    reach = ~covered
    reach[LINES_BELOW_GAME_OVER:] = False
    beside = np.zeros_like(reach)
    beside[:, 1:] |= reach[:, :-1]
    beside[:, :-1] |= reach[:, 1:]
    beside[1:] |= reach[:-1]
    beside[:-1] |= reach[1:]
    return beside & _free(cells)


def _free(cells: Boards) -> NDArray[np.bool_]:
    return cells.view(np.uint8) < 10


def _promised(kind: str, ranks: NDArray[np.int8], open_sizes: NDArray[np.int64], turns_left: int) -> Values:
    """Return the worth of each sheet's patches by their ranks, in any order; rank 0 stands for none."""
    top = np.sort(ranks, axis=1)[:, : -_PATCHES - 1 : -1]
    codes, _ = _sorted_levels()
    rows = codes[_code(top)]
    first = int(open_sizes[0])
    if (open_sizes == first).all():
        return np.asarray(_promises(kind, first, turns_left)[rows], dtype=np.float32)
    promised = np.zeros(len(ranks), dtype=np.float32)
    for sizes in np.unique(open_sizes):
        chosen = open_sizes == sizes
        promised[chosen] = _promises(kind, int(sizes), turns_left)[rows[chosen]]
    return promised


def _patches(cells: Boards, access: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the ranks of each sheet's patches of equal digits, each at the patch's highest square."""
    sheets = cells.shape[2]
    free = _free(cells)
    across = _mask((cells[:, 1:] == cells[:, :-1]) & free[:, 1:])
    upward = _mask((cells[1:] == cells[:-1]) & free[1:])
    label = np.arange(1, SQUARES + 1, dtype=np.uint8).reshape(LINES, COLUMNS, 1) & _mask(free)
    for _ in range(_SWEEPS_OF_PATCHES):
        np.maximum(label[:, 1:], label[:, :-1] & across, out=label[:, 1:])
        np.maximum(label[1:], label[:-1] & upward, out=label[1:])
        np.maximum(label[:, :-1], label[:, 1:] & across, out=label[:, :-1])
        np.maximum(label[:-1], label[1:] & upward, out=label[:-1])
    flat = label.reshape(SQUARES, sheets)
    keys = flat.astype(np.int32) + np.arange(sheets, dtype=np.int32) * (SQUARES + 1)
    sizes = np.bincount(keys.ravel(), minlength=sheets * (SQUARES + 1)).astype(np.int8)
    growing = np.zeros(sheets * (SQUARES + 1), dtype=bool)
    growing[keys[access.reshape(SQUARES, sheets)]] = True
    ranks = np.where(growing, _RANK_GROWING[sizes], _RANK_BURIED[sizes])
    return ranks.reshape(sheets, SQUARES + 1)[:, 1:]


def _runs(cells: Boards, access: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return the ranks of each sheet's longest runs, each at its start; only one of several runs with a common end."""
    free = _free(cells)
    across = cells[:, 1:] - cells[:, :-1]
    both_across = free[:, 1:] & free[:, :-1]
    upward = cells[1:] - cells[:-1]
    both_upward = free[1:] & free[:-1]
    rising = _masks_of_steps((across == 1) & both_across, (across == -1) & both_across)
    rising += _masks_of_steps((upward == 1) & both_upward, (upward == -1) & both_upward)
    falling = (rising[1], rising[0], rising[3], rising[2])
    squares = np.arange(SQUARES, dtype=np.uint16).reshape(LINES, COLUMNS, 1)
    at_end, at_start = access & (cells < 9), access & (cells > 0)
    ends = _reaches(free, at_end, squares, rising)
    starts = _reaches(free, at_start, squares, falling)
    sheets = cells.shape[2]
    ends, starts = ends.reshape(SQUARES, sheets), starts.reshape(SQUARES, sheets)
    # A run goes from a square to the end of its longest way up, if the longest way down from there leads back.
    back = np.take_along_axis(starts, (ends & _SQUARE).astype(np.int64), axis=0)
    begins = ((back & _SQUARE) == squares.reshape(SQUARES, 1)) & free.reshape(SQUARES, sheets)
    lengths = ends >> _LENGTH_SHIFT
    growing = ((ends | back) & _GROWS).astype(bool)
    ranks = np.where(growing, _RANK_GROWING[lengths], _RANK_BURIED[lengths]) * begins
    return np.ascontiguousarray(ranks.T)


_SQUARE, _GROWS, _LENGTH_SHIFT = np.uint16(127), np.uint16(128), np.uint16(8)


def _masks_of_steps(forward: NDArray[np.bool_], backward: NDArray[np.bool_]) -> tuple[NDArray[np.uint16], ...]:
    return tuple(np.negative(step.astype(np.uint16)) for step in (forward, backward))


def _reaches(
    free: NDArray[np.bool_],
    grows: NDArray[np.bool_],
    squares: NDArray[np.uint16],
    steps: tuple[NDArray[np.uint16], ...],
) -> NDArray[np.uint16]:
    """Return each square's longest path along these steps: its length, whether it can be extended, and its end.

    ``steps`` are masks of the squares from which a step leads east, west, up and down.
    """
    reach = (free.astype(np.uint16) << _LENGTH_SHIFT | grows.astype(np.uint16) * _GROWS | squares) & np.negative(
        free.astype(np.uint16)
    )
    one_more = np.uint16(1) << _LENGTH_SHIFT
    for _ in range(_SWEEPS_OF_RUNS):
        longer = reach + one_more
        np.maximum(reach[:, :-1], longer[:, 1:] & steps[0], out=reach[:, :-1])
        np.maximum(reach[:, 1:], longer[:, :-1] & steps[1], out=reach[:, 1:])
        np.maximum(reach[:-1], longer[1:] & steps[2], out=reach[:-1])
        np.maximum(reach[1:], longer[:-1] & steps[3], out=reach[1:])
    return reach


def best_slide(state: NumberDropState, turns: Sequence[NumberDropTurn]) -> tuple[NumberDropTurn, str]:
    """Return a slide by rule of thumb and its reason: a tile without a penalty, or else the lowest one."""
    slides = [turn for turn in turns if isinstance(turn, Slide)]

    def promise(slide: Slide) -> tuple[int, int]:
        slot = LETTERS.index(slide.letter)
        return state.sheets[0].letters >> slot & 1, state.notches[slot]

    best = max(slides, key=promise)
    return best, _reason(state, best, len(slides))


def _reason(state: NumberDropState, slide: Slide, choices: int) -> str:
    slot = LETTERS.index(slide.letter)
    if choices == 1:
        return Phrase("is the only tile that may slide")
    if state.sheets[0].letters >> slot & 1:
        return Phrase("slides a tile that drops nothing, since its letter is circled")
    if state.notches[slot] + 1 == SLIDES_TO_GO:
        return Phrase("brings one tile to the bottom, where later stars can't move it, though its penalty drops")
    if state.notches[slot]:
        return Phrase("moves one tile ahead of the others, so that it reaches the bottom before later stars move it")
    return Phrase("all tiles have equally far to go")


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
