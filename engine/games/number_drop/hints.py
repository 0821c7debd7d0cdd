"""Hints: a first legal turn at once, then the best drops by evaluation, then the best few over sampled rolls.

Combinations are evaluated one by one; the last turn of a game is calculated exactly.

Exact ends of the game: the most points that a turn after which nothing follows can leave on a sheet.

Compares candidates over the same sampled rolls, by the best of a few random drops after each.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, cached_property
from random import Random
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from common.phrases import Phrase, either, listed
from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.games.number_drop import turns as playing
from engine.games.number_drop.candidates import (
    Candidate,
    ImmediateWorth,
    Valuation,
    best_box,
    boards_after,
    combined,
    immediate_worth,
    points_by_box,
    sheet_after,
    valuation_of,
    with_best_combinations,
)
from engine.games.number_drop.evaluation import OPEN, Boards, Values, board_of
from engine.games.number_drop.sheet import (
    BOXES,
    COLUMNS,
    CROSS,
    GRID,
    IDENTICAL,
    LETTERS,
    LINES,
    Cells,
    Components,
    Sheet,
    any_digits,
    assignments,
    combination_for,
    falling,
    kind_of_digits,
    landings,
    turned_shapes,
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
    Phase,
    SetUpDigit,
    Slide,
)
from engine.games.number_drop.turns import (
    combinations_of,
    digits_at,
    marks_by_square,
    penalty_shapes,
    play_turn,
    turns_in,
    turns_of,
)
from engine.search.budget import Deadline, DeadlineExceededError, PeriodicTimeCheck, TimeCheck
from engine.search.sampling import paired_difference, probability_ahead
from engine.support.grid import Shape, members, set_of
from engine.values import Player, Strength


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
    scores = playing.scores_of(state)
    return max(scores[PLAYERS[each]] for each in members(playing.everyone(state)) if each != player)


def landing_places(state: NumberDropState, player: int) -> tuple[list[Cells], list[Cells]]:
    """Return where the player's shape or penalty can come to rest: first where this ends the game, then the others."""
    sheet = state.sheets[player]
    if state.phase is Phase.DROP:
        shapes, mark = turned_shapes(state.options.components, state.roll[-1]), "1"
    else:
        shapes, mark = penalty_shapes(state), CROSS
    places = landings(sheet.heights, shapes)
    if playing.is_last_turn(state):
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


ROLLS_A_ROUND, DROPS_A_ROLL = 10, 12  # sampled
ENOUGH_ROLLS = 100
"""The least number of rolls over which the last two are compared, if time allows."""
MOST_ROLLS = 400  # after which the comparison ends
_FEWEST_TO_DROP = 30  # rolls before a candidate is dropped
_CLEARLY = 3.0  # standard errors behind the leader, at which it is
_SPARE_LINES = 4
"""Spare lines above the sheet, for shapes that turn out not to fit."""
_NONE_FITS = -20.0
"""The value of a drop that doesn't fit."""


@cache
def _held(shapes: tuple[Shape, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return, for each way to hold a shape, its cells' columns, their rows, and the lowest row in each one's column."""
    columns, rows, lows = [], [], []
    for held in falling(shapes):
        columns.append([held.column + across for across, _ in held.cells])
        rows.append([up for _, up in held.cells])
        lows.append([held.lows[across] for across, _ in held.cells])
    return np.array(columns), np.array(rows), np.array(lows)


def _sample_drops(components: Components, rng: Random) -> tuple[NDArray[np.int64], ...]:
    """Draw rolls and random drops of each: columns, rows, lows and digits, each of shape (rolls * drops, 4)."""
    parts: list[list[NDArray[np.int64]]] = [[], [], []]
    digits = []
    for _ in range(ROLLS_A_ROUND):
        roll = tuple(die[int(rng.random() * len(die))] for die in components.dice)
        tables = _held(turned_shapes(components, roll[-1]))
        chosen = [int(rng.random() * len(tables[0])) for _ in range(DROPS_A_ROLL)]
        for part, table in zip(parts, tables, strict=True):
            part.append(table[chosen])
        digits += [[int(digit) for digit in any_digits(roll, rng)] for _ in range(DROPS_A_ROLL)]
    return (*(np.concatenate(part) for part in parts), np.array(digits))


def _drop_all(board: Boards, columns: NDArray[np.int64], rows: NDArray[np.int64], lows: NDArray[np.int64],
             digits: NDArray[np.int64]) -> tuple[Boards, NDArray[np.bool_]]:  # fmt: skip
    """Return the board after each of these drops, and whether the drop fits on the sheet."""
    heights = LINES - np.argmax(np.flip(board, 0) >= 0, axis=0)
    heights[~(board >= 0).any(axis=0)] = 0
    rest = np.maximum((heights[columns] - lows).max(axis=1), 0)
    squares = (rest[:, None] + rows) * COLUMNS + columns
    boards = np.full((len(columns), (LINES + _SPARE_LINES) * COLUMNS), OPEN, dtype=np.int8)
    boards[:, : LINES * COLUMNS] = board.ravel()
    np.put_along_axis(boards, squares, digits.astype(np.int8), axis=1)
    fits = (rest[:, None] + rows < LINES).all(axis=1)
    return boards[:, : LINES * COLUMNS].reshape(-1, LINES, COLUMNS), fits


def compare_over_rolls(
    candidates: Sequence[Candidate],
    valuation: Valuation,
    components: Components,
    deadline: Deadline,
    rng: Random,
) -> tuple[Candidate, float]:
    """Return the candidate with the best results over sampled rolls, and the confidence in it (0 to 1).

    Candidates clearly behind (by three standard errors over the common rolls) are dropped early.
    """
    left = list(range(len(candidates)))
    boards = [board_of(candidate.sheet) for candidate in candidates]
    gained: list[list[float]] = [[] for _ in candidates]
    leader, slowest_s = 0, 0.0
    while len(left) > 1 and len(gained[left[0]]) < MOST_ROLLS and deadline.left_s() > slowest_s:
        sample = _sample_drops(components, rng)
        row: dict[int, list[float]] = {}
        for index in left:
            began_s = deadline.clock()
            row[index] = _best_drops(boards[index], candidates[index], valuation, sample)
            slowest_s = max(slowest_s, deadline.clock() - began_s)
            if deadline.left_s() < slowest_s:
                break
        if len(row) < len(left):
            # An incomplete round is discarded.
            break
        for index, values in row.items():
            gained[index] += values
        left.sort(key=lambda index: (-sum(gained[index]), index))
        leader = left[0]
        left = _still_racing(left, gained)
    return (candidates[leader], _confidence_in(gained, leader)) if gained[leader] else (candidates[0], 0.5)


def _still_racing(left: list[int], gained: Sequence[Sequence[float]]) -> list[int]:
    """Return the candidates that are not clearly behind the first of ``left``."""
    leader = gained[left[0]]
    if len(leader) < _FEWEST_TO_DROP:
        return left
    near = [index for index in left if index == left[0] or not _is_behind(gained[index], leader)]
    # The last two are compared over enough rolls, however clear the lead.
    return near if len(near) > 1 or len(leader) >= ENOUGH_ROLLS else left[:2]


def _confidence_in(gained: Sequence[Sequence[float]], leader: int) -> float:
    rivals = [each for index, each in enumerate(gained) if index != leader and each]
    # A rival that was dropped early has fewer values.
    leads = [paired_difference(gained[leader][: len(each)], each) for each in rivals]
    return min((probability_ahead(mean, error) for mean, error in leads), default=1.0)


def _best_drops(
    board: Boards, candidate: Candidate, valuation: Valuation, sample: tuple[NDArray[np.int64], ...]
) -> list[float]:
    """Return the value of the best drop for each roll of the sample."""
    boards, fits = _drop_all(board, *sample)
    worth: Values = np.where(fits, valuation.with_boxes_of(boards, candidate.sheet, turns_less=1), _NONE_FITS)
    return [float(best) for best in worth.reshape(ROLLS_A_ROUND, DROPS_A_ROLL).max(axis=1)]


def _is_behind(other: Sequence[float], leader: Sequence[float]) -> bool:
    mean, error = paired_difference(leader, other)
    return mean > _CLEARLY * error


ItemT = TypeVar("ItemT")

_FIRST_TURNS = 24  # turns
_CHUNK = 200  # turns
_MOST_SWEPT = 6000  # turns
_MOST_COMBINED = 1200  # combinations
_SWEEP_SHARE = 0.4  # of the time left
_SHORTLIST = 24  # turns
_SHORTLIST_SHARE = 0.5  # of the time left
_FINISHED_TOGETHER = 8  # turns
_SCORED_TOGETHER = 50  # turns
_RACING = 6  # candidates
_DROPS_PER_CHECK = 50  # drops, about 2 ms
_MOST_SURE = 0.99  # confidence, 0 to 1
_POINTS = "points"
_POINTS_A_TURN_ALONE, _POINTS_A_TURN = 2.9, 3.4
"""The average points of a turn, measured in games played by these hints: solo, and with two players."""


def alone(state: NumberDropState, player: Player) -> NumberDropState:
    """Return the state in which only this player still has something to write."""
    own = 1 << PLAYERS.index(player)
    return replace(state, playing=state.playing & own, combining=state.combining & own)


def hint(
    state: NumberDropState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[NumberDropState],  # noqa: ARG001 - no position of this game comes twice
) -> Hint[NumberDropTurn]:
    """Return a good turn of the player to move; raises IllegalTurnError if there is none."""
    busy = state.busy()
    if not busy:
        raise IllegalTurnError(
            either(
                state.to_move is None,
                "there is no turn to hint at: the game is over",
                "there is no turn to hint at: a roll is awaited",
            )
        )
    return _HintSearch(state, busy[0], Deadline.after(deadline_s, clock), rng, strength).run()


class _HintSearch:
    """The search for one hint."""

    def __init__(
        self,
        state: NumberDropState,
        player: int,
        deadline: Deadline,
        rng: Random,
        strength: Strength,
    ) -> None:
        self._state = state
        self._player = player
        self._sheet = state.sheets[player]
        self._deadline = deadline
        self._rng = rng
        self._strength = strength

    @cached_property
    def _valuation(self) -> Valuation:
        return valuation_of(self._state, self._player)

    def run(self) -> Hint[NumberDropTurn]:
        """Find the hint, as far as the deadline and the strength allow."""
        turns = (
            combinations_of(self._state, self._player, _MOST_COMBINED)
            if self._state.combining >> self._player & 1
            else turns_of(self._state, self._player)
        )
        if isinstance(turns[0], Slide):
            return Hint(*_best_slide(self._state, turns), self._expected(self._sheet), _POINTS, _MOST_SURE)
        if len(turns) == 1:
            return self._hint_at_only(turns[0])
        ending, turns = self._decide_game_end(turns)
        if ending is not None:
            return ending
        if len(turns) == 1:
            return self._hint(self._finish((turns[0], 0.0)), 0.5)
        some = turns[:] if len(turns) <= _FIRST_TURNS else [turns[at] for at in self._pick(len(turns), _FIRST_TURNS)]
        ranked = self._rank(some)
        if self._strength is Strength.GENTLE:
            return self._hint(self._finish(self._rank_by_immediate_worth(turns)[0]), 0.5)
        if len(turns) > len(some):
            ranked = self._sweep(turns, ranked)
        shortlist = self._shortlist(ranked[:_SHORTLIST])
        best = self._hint(shortlist[0], 0.5)
        if self._strength is Strength.FAIR or len(shortlist) == 1:
            return best
        chosen, sure = compare_over_rolls(
            shortlist[:_RACING],
            self._valuation,
            self._state.options.components,
            self._deadline,
            self._rng,
        )
        return self._hint(chosen, min(_MOST_SURE, sure))

    def _hint_at_only(self, turn: NumberDropTurn) -> Hint[NumberDropTurn]:
        """Return the hint at the only turn there is."""
        expected, x_counts = self._expected(self._sheet), self._state.options.x_counts_above_line
        if isinstance(turn, Combination):
            after = play_turn(self._state, turn).sheets[self._player]
            scored = after.score(x_counts) - self._sheet.score(x_counts)
            return Hint(turn, Phrase("scores {scored} at once", scored), expected, _POINTS, _MOST_SURE)
        ends = _crosses_the_line(self._sheet, sheet_after(self._state, self._player, turn), x_counts=x_counts)
        return Hint(turn, _ENDS_THE_GAME if ends else Phrase("stays low"), expected, _POINTS, _MOST_SURE)

    def _pick(self, size: int, count: int) -> list[int]:
        return sorted(self._rng.sample(range(size), min(size, count)))

    def _hint(self, candidate: Candidate, sure: float) -> Hint[NumberDropTurn]:
        reason = reason_of(self._sheet, candidate, x_counts=self._state.options.x_counts_above_line)
        return Hint(candidate.turn, reason, self._expected(candidate.sheet), _POINTS, sure)

    def _expected(self, sheet: Sheet) -> float:
        """Return the expected final score: the current points, and the measured average for each turn left."""
        options = self._state.options
        a_turn = _POINTS_A_TURN_ALONE if options.solo else _POINTS_A_TURN
        return sheet.score(options.x_counts_above_line) + a_turn * self._valuation.turns_left

    def _rank(self, turns: Sequence[NumberDropTurn]) -> list[tuple[NumberDropTurn, float]]:
        """Return these turns with their values, the best first; the combinations after drops are not counted."""
        if isinstance(turns[0], Combination):
            sheets = [play_turn(self._state, turn).sheets[self._player] for turn in turns]
            worth = self._valuation.of(boards_after(self._sheet, turns), sheets)
        else:
            # After a drop, its own combination is still to come, which counts like one more turn.
            later = -1 if self._state.phase is Phase.DROP else 0
            worth = self._valuation.with_boxes_of(boards_after(self._sheet, turns), self._sheet, turns_less=later)
        valued = [(turn, float(value)) for turn, value in zip(turns, worth, strict=True)]
        return sorted(valued, key=lambda each: -each[1])

    def _sweep_order(self, turns: Sequence[NumberDropTurn]) -> list[int]:
        """Return the indices of the turns in random order, or of a sample if there are very many."""
        order = list(range(len(turns))) if len(turns) <= _MOST_SWEPT else self._pick(len(turns), _MOST_SWEPT)
        self._rng.shuffle(order)
        return order

    def _chunks_in_time(self, items: Sequence[ItemT], size: int, until: Deadline) -> Iterator[Sequence[ItemT]]:
        """Yield the items in chunks: the first one always, each other one if there is time for the slowest so far."""
        slowest_s = 0.0
        for start in range(0, len(items), size):
            if start and until.left_s() <= slowest_s:
                return
            began_s = self._deadline.clock()
            yield items[start : start + size]
            slowest_s = max(slowest_s, self._deadline.clock() - began_s)

    def _sweep(
        self, turns: Sequence[NumberDropTurn], ranked: list[tuple[NumberDropTurn, float]]
    ) -> list[tuple[NumberDropTurn, float]]:
        """Return the best of all turns, or of as many as time allows, in order."""
        until = self._deadline.share(_SWEEP_SHARE)
        if until.passed():
            return ranked
        best = dict(ranked)
        for chunk in self._chunks_in_time(self._sweep_order(turns), _CHUNK, until):
            best.update(self._rank([turns[at] for at in chunk])[:_SHORTLIST])
        return sorted(best.items(), key=lambda each: -each[1])

    def _rank_by_immediate_worth(self, turns: Sequence[NumberDropTurn]) -> list[tuple[NumberDropTurn, float]]:
        """Return the best of all turns, or of as many as time allows, by their immediate worth."""
        best: list[tuple[ImmediateWorth, NumberDropTurn]] = []
        for chunk in self._chunks_in_time(self._sweep_order(turns), _SCORED_TOGETHER, self._deadline):
            best += [(immediate_worth(self._state, self._player, turns[at]), turns[at]) for at in chunk]
            best = sorted(best, key=lambda each: each[0], reverse=True)[:_SHORTLIST]
        return [(turn, float(rank.points)) for rank, turn in best]

    def _finish(self, ranked: tuple[NumberDropTurn, float]) -> Candidate:
        """Return a turn with the sheet it leaves after its combination."""
        return self._finish_all([ranked])[0]

    def _finish_all(self, ranked: Sequence[tuple[NumberDropTurn, float]]) -> list[Candidate]:
        """Return these turns with the sheets they leave after their combinations."""
        state, player = self._state, self._player
        if isinstance(ranked[0][0], Drop):
            return with_best_combinations(state, [turn for turn, _ in ranked], self._valuation, player)
        if isinstance(ranked[0][0], Combination):
            return [Candidate(turn, play_turn(state, turn).sheets[player], None, value) for turn, value in ranked]
        return [Candidate(turn, sheet_after(state, player, turn), None, value) for turn, value in ranked]

    def _shortlist(self, ranked: Sequence[tuple[NumberDropTurn, float]]) -> list[Candidate]:
        """Return these turns with their combinations, as many as time allows, the best first."""
        until = self._deadline.share(_SHORTLIST_SHARE)
        chunks = self._chunks_in_time(ranked, _FINISHED_TOGETHER, until)
        found = [candidate for chunk in chunks for candidate in self._finish_all(chunk)]
        return sorted(found, key=lambda candidate: -candidate.value)

    def _decide_game_end(
        self, turns: Sequence[NumberDropTurn]
    ) -> tuple[Hint[NumberDropTurn] | None, Sequence[NumberDropTurn]]:
        """Return the best turn if it ends the game, or ``None``; also the turns that don't end it, if there are any.

        Before the last turn, ending the game pays only with a win, which is known when nobody else has yet to play.
        """
        state, player = self._state, self._player
        if state.combining >> player & 1:
            return (
                self._last_hint(best_last_combination(state, player)) if playing.is_last_turn(state) else None
            ), turns
        if state.phase is Phase.SETUP or (state.options.solo and state.phase is Phase.PENALTY):
            return None, turns
        ends, goes_on = landing_places(state, player)
        if not ends or (goes_on and (state.options.solo or not is_alone(state, player))):
            return None, turns
        ending = best_ending(state, player, ends, PeriodicTimeCheck(self._deadline, _DROPS_PER_CHECK))
        if not goes_on or ending.candidate.value > most_of_others(state, player):
            return self._last_hint(ending), turns
        return None, turns_in(state, player, goes_on)

    def _last_hint(self, ending: Ending) -> Hint[NumberDropTurn]:
        """Return the hint for a turn after which the player's points are final."""
        state, player = self._state, self._player
        candidate = ending.candidate
        reason = reason_of(self._sheet, candidate, x_counts=state.options.x_counts_above_line, is_last=True)
        if not state.options.solo and is_alone(state, player) and candidate.value > most_of_others(state, player):
            reason = Phrase("wins")
        return Hint(candidate.turn, reason, candidate.value, _POINTS, 1.0 if ending.proven else 0.5)


_ENDS_THE_GAME = Phrase("ends the game, since it crosses the Game Over line")
_NUMBER = {3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight"}


def reason_of(before: Sheet, candidate: Candidate, *, x_counts: bool, is_last: bool = False) -> str:
    """Return the reason for a turn that writes on a sheet or draws a loop; ``x_counts`` is the rule option.

    In the last turn of a game (``is_last``), nothing is kept for later.
    """
    turn = candidate.turn
    if isinstance(turn, SetUpDigit):
        at_edge = GRID.column_of(GRID.index[turn.square]) in (0, GRID.columns - 1)
        return Phrase("leaves all the room on one side") if at_edge else Phrase("leaves room on both sides")
    follow = turn if isinstance(turn, Combination) else candidate.follow
    reasons = []
    if follow is not None and follow.squares:
        reasons.append(_reason_for_combination(before, candidate.sheet, follow))
        if follow.letter:
            reasons.append(Phrase("circles the letter {letter}", follow.letter))
    gained = [line + 1 for line in candidate.sheet.full_lines() if line not in before.full_lines()]
    reasons += [Phrase("fills line {line} for +2", line) for line in gained]
    if _crosses_the_line(before, candidate.sheet, x_counts=x_counts):
        return listed([*reasons, _ENDS_THE_GAME])
    if not reasons and not is_last and not isinstance(turn, PenaltyDrop):
        reasons += _reasons_for_patch(before, candidate)
    if not reasons and isinstance(turn, Combination):
        return Phrase("keeps the digits for a larger combination")
    return listed(reasons) if reasons else _reason_for_lying_low(before, candidate)


def _crosses_the_line(before: Sheet, after: Sheet, *, x_counts: bool) -> bool:
    """Return whether a line above the Game Over line counts only after the turn."""
    return len(after.game_over_lines(x_counts)) > len(before.game_over_lines(x_counts))


def _reason_for_combination(before: Sheet, sheet: Sheet, follow: Combination) -> str:
    columns = [each.points(x_counts=True).full_columns for each in (before, sheet)]
    digits = digits_at(sheet.cells, GRID.squares_named(follow.squares))
    if kind_of_digits(digits) == IDENTICAL:
        return either(
            columns[1] > columns[0],
            "takes {number} {digit}s for {digits} points and {bonus} for the full column",
            "takes {number} {digit}s for {digits} points",
            number=_NUMBER[len(digits)],
            digit=digits[0],
            digits=len(digits),
            bonus=columns[1] - columns[0],
        )
    ordered = sorted(digits)
    return either(
        columns[1] > columns[0],
        "takes the run from {ordered} to {ordered_2} for {digits} points and {bonus} for the full column",
        "takes the run from {ordered} to {ordered_2} for {digits} points",
        ordered=ordered[0],
        ordered_2=ordered[-1],
        digits=len(digits),
        bonus=columns[1] - columns[0],
    )


def _reasons_for_patch(before: Sheet, candidate: Candidate) -> list[str]:
    """Return the reason that a drop enlarges a patch of equal digits, if it does."""
    fresh = sum(1 << square for square, mark in enumerate(candidate.sheet.cells) if mark != before.cells[square])
    best = (1, "")
    for digit, squares in enumerate(unused_digits(candidate.sheet)):
        for patch in GRID.patches(squares):
            if (patch & fresh or not fresh) and patch.bit_count() > best[0]:
                best = (patch.bit_count(), str(digit))
    size, digit_text = best
    larger = [
        wanted
        for (kind, wanted), loop in zip(BOXES, candidate.sheet.loops, strict=True)
        if kind == IDENTICAL and not loop and wanted >= size
    ]
    if size < 2 or not larger:
        return []
    aim = larger[0] if larger[0] > size or len(larger) == 1 else larger[1]
    return [Phrase("keeps the {digit_text}s together for a combination of {number}", digit_text, _NUMBER[aim])]


def _reason_for_lying_low(before: Sheet, candidate: Candidate) -> str:
    highest = max(candidate.sheet.heights)
    if candidate.sheet.holes <= before.holes and highest <= max(before.heights):
        return Phrase("stays low and leaves no hole")
    return Phrase("stays low") if highest <= max(before.heights) + 1 else Phrase("leaves the most room for later turns")


def _best_slide(state: NumberDropState, turns: Sequence[NumberDropTurn]) -> tuple[NumberDropTurn, str]:
    """Return a slide by rule of thumb and its reason: a tile without a penalty, or else the lowest one."""
    slides = [turn for turn in turns if isinstance(turn, Slide)]

    def promise(slide: Slide) -> tuple[int, int]:
        slot = LETTERS.index(slide.letter)
        return state.sheets[0].letters >> slot & 1, state.notches[slot]

    best = max(slides, key=promise)
    return best, _reason_to_slide(state, best, len(slides))


def _reason_to_slide(state: NumberDropState, slide: Slide, choices: int) -> str:
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
