"""Exact ends of the game: the most points that a turn after which nothing follows can leave on a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.games.number_drop import flow
from engine.games.number_drop.advice.candidates import Candidate, best_box, combined, points_by_box
from engine.games.number_drop.drops import Cells, assignments, landings, turned_shapes
from engine.games.number_drop.sheet import CROSS, GRID, Sheet, combination_for, unused_digits
from engine.games.number_drop.state import PLAYERS, Combination, Drop, NumberDropState, PenaltyDrop, Phase
from engine.games.number_drop.turns import marks_by_square, penalty_shapes
from engine.search.budget import DeadlineExceededError, TimeCheck
from engine.support.grid import members, set_of


class Ending(NamedTuple):
    """A turn after which a player's points are final: they are the candidate's value.

    ``proven`` means that no other turn of the same search leaves more.
    """

    candidate: Candidate
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
    boxes = points_by_box(sheet) if is_drop else ()
    free = unused_digits(sheet)
    written = assignments(state.roll[:-1]) if is_drop else (CROSS * len(places[0]),)
    every_digit = set("".join(written))
    ranked = []
    for cells in places:
        points = _written(sheet, cells, written[0][0]).score(x_counts)
        could_be = [each | (set_of(cells) if str(digit) in every_digit else 0) for digit, each in enumerate(free)]
        ranked.append(_Landing(cells, points, points + best_box(could_be, boxes)[0]))
    ranked.sort(key=lambda each: -each.most)
    best: tuple[Cells, str, int | None] = (ranked[0].cells, written[0], None)
    most, proven = ranked[0].points, True
    try:
        for landing, digits in ((landing, digits) for landing in ranked for digits in written):
            if landing.most <= most:
                break
            added, box = best_box(_with_digits(free, landing.cells, digits), boxes)
            if landing.points + added > most:
                most, best = landing.points + added, (landing.cells, digits, box)
            check()
    except DeadlineExceededError:
        proven = False
    return _ending(state, player, *best, proven=proven)


def best_last_combination(state: NumberDropState, player: int) -> Ending:
    """Return the combination that adds the most points in the last turn."""
    sheet = state.sheets[player]
    box = best_box(unused_digits(sheet), points_by_box(sheet))[1]
    follow, after = Combination(PLAYERS[player]), sheet
    if box is not None:
        follow, after = combined(state, player, sheet, box, combination_for(sheet, box))
    return Ending(Candidate(follow, after, follow, float(after.score(state.options.x_counts_above_line))), True)


def _written(sheet: Sheet, cells: Cells, mark: str) -> Sheet:
    return sheet.with_marks(dict.fromkeys(cells, mark))


def _with_digits(free: Sequence[int], cells: Cells, digits: str) -> list[int]:
    after = list(free)
    for square, digit in zip(cells, digits, strict=True):
        if digit != CROSS:
            after[int(digit)] |= 1 << square
    return after


def _ending(state: NumberDropState, player: int, cells: Cells, digits: str, box: int | None, *, proven: bool) -> Ending:
    name, squares = PLAYERS[player], tuple(GRID.names[square] for square in cells)
    turn = Drop(name, squares, digits) if state.phase is Phase.DROP else PenaltyDrop(name, squares)
    follow, sheet = None, state.sheets[player].with_marks(marks_by_square(turn))
    if box is not None:
        follow, sheet = combined(state, player, sheet, box, combination_for(sheet, box))
    return Ending(Candidate(turn, sheet, follow, float(sheet.score(state.options.x_counts_above_line))), proven)
