"""Exact ends of the game: the most points that a turn after which nothing follows can leave on a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.games.number_drop import flow
from engine.games.number_drop.drops import Cells, assignments, landings, turned_shapes
from engine.games.number_drop.sheet import (
    BONUS_SIZE,
    BOXES,
    CROSS,
    FULL_COLUMN_POINTS,
    GRID,
    IDENTICAL,
    RUN_BOXES,
    SAME_BOXES,
    SMALLEST,
    Sheet,
    combination_for,
    unused_digits,
)
from engine.games.number_drop.state import PLAYERS, Combination, Drop, NumberDropState, PenaltyDrop, Phase
from engine.games.number_drop.turns import marks_by_square, penalty_shapes
from engine.search.budget import DeadlineExceededError, TimeCheck
from engine.support.grid import members, set_of


class Ending(NamedTuple):
    """A turn, the combination that follows a drop, and the sheet and points that both leave.

    ``proven`` means that no other turn of the same search leaves more.
    """

    turn: Drop | PenaltyDrop | Combination
    follow: Combination | None
    sheet: Sheet
    points: int
    proven: bool


class _Landing(NamedTuple):
    """Where a shape comes to rest, the points there without a combination, and an upper bound with one."""

    cells: Cells
    points: int
    most: int


def is_alone(state: NumberDropState, player: int) -> bool:
    """Return whether nobody else has yet to play in this turn."""
    return state.playing | state.combining == 1 << player


def most_of_others(state: NumberDropState, player: int) -> int:
    """Return the most points of any other player still in the game."""
    scores = flow.scores_of(state)
    return max(scores[PLAYERS[each]] for each in members(flow.everyone(state)) if each != player)


def landing_places(state: NumberDropState, player: int) -> tuple[list[Cells], list[Cells]]:
    """Return where the player's shape or penalty can come to rest: first where this ends the game, then the others."""
    sheet = state.sheets[player]
    if state.phase is Phase.DROP:
        shapes, mark = turned_shapes(state.options.components, state.roll[-1]), "1"
    else:
        shapes, mark = penalty_shapes(state), CROSS
    places = landings(sheet.heights, shapes)
    if flow.is_last_turn(state):
        return list(places), []
    x_counts = state.options.x_counts_above_line
    crossing = [bool(_written(sheet, cells, mark).game_over_lines(x_counts)) for cells in places]
    return (
        [cells for cells, crosses in zip(places, crossing, strict=True) if crosses],
        [cells for cells, crosses in zip(places, crossing, strict=True) if not crosses],
    )


def best_ending(state: NumberDropState, player: int, places: Sequence[Cells], check: TimeCheck) -> Ending:
    """Return the drop or penalty in one of these places that leaves the most points with its best combination.

    Places are tried by their upper bounds, so all turns need not be. When ``check`` raises DeadlineExceededError, the
    best turn so far is returned. Raises ValueError if there is no place.
    """
    if not places:
        raise ValueError("got no place where the shape can come to rest; expected at least one")
    sheet, is_drop = state.sheets[player], state.phase is Phase.DROP
    x_counts = state.options.x_counts_above_line
    boxes = _points_by_box(sheet) if is_drop else ()
    free = unused_digits(sheet)
    written = assignments(state.roll[:-1]) if is_drop else (CROSS * len(places[0]),)
    every_digit = set("".join(written))
    ranked = []
    for cells in places:
        points = _written(sheet, cells, written[0][0]).score(x_counts)
        could_be = [each | (set_of(cells) if str(digit) in every_digit else 0) for digit, each in enumerate(free)]
        ranked.append(_Landing(cells, points, points + _best_box(could_be, boxes)[0]))
    ranked.sort(key=lambda each: -each.most)
    best: tuple[Cells, str, int | None] = (ranked[0].cells, written[0], None)
    most, proven = ranked[0].points, True
    try:
        for landing, digits in ((landing, digits) for landing in ranked for digits in written):
            if landing.most <= most:
                break
            added, box = _best_box(_with_digits(free, landing.cells, digits), boxes)
            if landing.points + added > most:
                most, best = landing.points + added, (landing.cells, digits, box)
            check()
    except DeadlineExceededError:
        proven = False
    return _ending(state, player, *best, proven=proven)


def best_last_combination(state: NumberDropState, player: int) -> Ending:
    """Return the combination that adds the most points in the last turn."""
    sheet = state.sheets[player]
    box = _best_box(unused_digits(sheet), _points_by_box(sheet))[1]
    follow, after = _with_combination(state, player, sheet, box)
    return Ending(follow, follow, after, after.score(state.options.x_counts_above_line), True)


def _written(sheet: Sheet, cells: Cells, mark: str) -> Sheet:
    return sheet.with_marks(dict.fromkeys(cells, mark))


def _with_digits(free: Sequence[int], cells: Cells, digits: str) -> list[int]:
    after = list(free)
    for square, digit in zip(cells, digits, strict=True):
        if digit != CROSS:
            after[int(digit)] |= 1 << square
    return after


def _points_by_box(sheet: Sheet) -> tuple[tuple[int, int], ...]:
    """Return the points that each open box would add, with a column that it completes, and the box; most first."""
    found = []
    for box, (_, size) in enumerate(BOXES):
        if sheet.loops[box]:
            continue
        column = next((boxes for boxes in (SAME_BOXES, RUN_BOXES) if box in boxes), ())
        completes = bool(column) and all(sheet.loops[other] for other in column if other != box)
        found.append((size + FULL_COLUMN_POINTS * completes, box))
    return tuple(sorted(found, reverse=True))


def _best_box(digits: Sequence[int], boxes: Sequence[tuple[int, int]]) -> tuple[int, int | None]:
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


def _ending(state: NumberDropState, player: int, cells: Cells, digits: str, box: int | None, *, proven: bool) -> Ending:
    name, squares = PLAYERS[player], tuple(GRID.names[square] for square in cells)
    turn = Drop(name, squares, digits) if state.phase is Phase.DROP else PenaltyDrop(name, squares)
    sheet = state.sheets[player].with_marks(marks_by_square(turn))
    follow, after = _with_combination(state, player, sheet, box) if box is not None else (None, sheet)
    return Ending(turn, follow, after, after.score(state.options.x_counts_above_line), proven)


def _with_combination(state: NumberDropState, player: int, sheet: Sheet, box: int | None) -> tuple[Combination, Sheet]:
    if box is None:
        return Combination(PLAYERS[player]), sheet
    squares, letter = combination_for(sheet, box), flow.letter_for(state, player, box)
    after = sheet.with_loop(box, squares, letter=letter is not None)
    return Combination(PLAYERS[player], GRID.names_of(squares), letter), after
