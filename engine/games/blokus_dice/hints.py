"""Hints: a good turn and the reason for it; strong hints race the most promising turns over the same future dice.

Evaluates one player's sheet: by quick playouts to the end, or by an exact endgame search. Only the dice connect the
players' sheets, so one sheet is played on alone. In each later round the player may choose from the dice that are left
then, and the players before are assumed to take theirs at random.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from common.phrases import Phrase, either
from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.games.blokus_dice.sheet import FACES, Sheet
from engine.games.blokus_dice.state import (
    COLOURS,
    BlokusState,
    BlokusTurn,
    FilledSheet,
    PlayerStatus,
    colour_in_hand,
    places_passed_from,
)
from engine.games.blokus_dice.turns import Choice, PlacementFinder, choices, finder_of, open_and_anchors, turn_of
from engine.search.budget import Deadline, DeadlineExceededError, PeriodicTimeCheck, TimeCheck
from engine.search.sampling import Estimate, race
from engine.support.grid import Grid, union
from engine.support.lazy import OnDemand
from engine.values import Strength

_TIES_LOOKED_AT = 3  # of the largest shapes that fit, when a sheet is played on
# Weights in squares, tuned by playing hundreds of sheets to their end.
_ANCHORS_ENOUGH = 4
_ANCHOR_WORTH = 0.2
_NO_ANCHOR_COST = 5.0
_SHAPE_WORTH = 0.2
_ROW_WORTH = 0.5
_STRIKE_WORTH = 4.0


@dataclass(frozen=True)
class RoundsAhead:
    """One player's later rounds: the colour in hand and the number of dice to choose from in each.

    ``alone`` says whether nobody else is still in the game.
    """

    rounds: tuple[tuple[int, int], ...]
    alone: bool


def rounds_ahead_of(state: BlokusState, seat: int) -> RoundsAhead:
    """Return the rounds after this one for the player at ``seat``, assuming that no other player goes out."""
    count = state.options.players
    active = state.active()
    markers, starter = list(state.markers), state.starter
    rounds = []
    for _ in range(len(state.options.sheet.shapes) - state.sheets[seat].shapes_drawn):
        markers = [markers[place] for place in places_passed_from(state.options, starter)]
        starter = next(following for step in range(1, count + 1) if (following := (starter + step) % count) in active)
        order = sorted(active, key=lambda each: (each - starter) % count)
        rounds.append((markers[seat], len(order) - order.index(seat)))
    return RoundsAhead(tuple(rounds), active == [seat])


@dataclass(frozen=True)
class Prospect:
    """The parts of one player's sheet that affect the rest of the game."""

    colours: tuple[int, ...]
    filled: int
    unused: int
    strikes_left: int

    def after(self, grid: Grid, colour: int, placement: int, *, strike: bool) -> Prospect:
        """Return the sheet after drawing a placement as in ``Sheet.covering``."""
        squares = placement & grid.every
        colours = (*self.colours[:colour], self.colours[colour] | squares, *self.colours[colour + 1 :])
        return Prospect(
            colours, self.filled | squares, self.unused & ~(placement >> grid.squares), self.strikes_left - strike
        )


def prospect_of(sheet: Sheet, filled: FilledSheet) -> Prospect:
    """Return the prospect of a sheet."""
    unused = (1 << len(sheet.shapes)) - 1 & ~filled.used
    return Prospect(filled.colours, filled.filled, unused, sheet.strikes - filled.strikes)


Rolls = tuple[tuple[int, ...], ...]
"""The faces that a player can choose from in each later round."""


def draw_rolls(course: RoundsAhead, rng: Random) -> Rolls:
    """Draw the dice of the later rounds at random."""
    random = rng.random
    return tuple(tuple(int(random() * FACES) + 1 for _ in range(dice)) for _, dice in course.rounds)


def quick_value(sheet: Sheet, prospect: Prospect) -> float:
    """Return a quick evaluation of a sheet by its filled squares, the strikes left, and each colour's anchors."""
    worth = prospect.filled.bit_count() + _STRIKE_WORTH * prospect.strikes_left
    for own in prospect.colours:
        anchors = open_and_anchors(sheet, own, prospect.filled)[1].bit_count()
        worth += _ANCHOR_WORTH * min(anchors, _ANCHORS_ENOUGH) if anchors else -_NO_ANCHOR_COST
    return worth


def shape_variety(finder: PlacementFinder, prospect: Prospect) -> float:
    """Return an evaluation of the shapes that each colour can still draw, and of the number of rows they are in."""
    worth = 0.0
    for own in prospect.colours:
        shapes = union(finder.placements(own, prospect.filled, prospect.unused)) >> finder.squares
        worth += _SHAPE_WORTH * shapes.bit_count()
        worth += _ROW_WORTH * sum(1 for row in finder.sheet.row_sets if row & shapes)
    return worth


def play_on(finder: PlacementFinder, prospect: Prospect, course: RoundsAhead, rolls: Rolls, rng: Random) -> int:
    """Return the number of squares filled at the end if the player follows a quick policy with these dice.

    The policy picks a few of the largest placements at random and draws the best of them by ``quick_value``. It uses a
    strike only if nothing else can be drawn.
    """
    sheet = finder.sheet
    every, rows = sheet.grid.every, sheet.row_sets
    for (colour, _), dice in zip(course.rounds, rolls, strict=True):
        reach = union(rows[die] for die in dice)
        own, filled = prospect.colours[colour], prospect.filled
        ways = finder.placements(own, filled, prospect.unused & reach)
        strike = not ways and prospect.strikes_left > 0
        if strike:
            ways = finder.placements(own, filled, prospect.unused)
        if not ways:
            break
        sizes = [(placement & every).bit_count() for placement in ways]
        most = max(sizes)
        largest = [placement for placement, size in zip(ways, sizes, strict=True) if size == most]
        best, best_worth = prospect, -1e9
        for _ in range(min(_TIES_LOOKED_AT, len(largest))):
            after = prospect.after(sheet.grid, colour, largest[int(rng.random() * len(largest))], strike=strike)
            worth = quick_value(sheet, after)
            if worth > best_worth:
                best, best_worth = after, worth
        prospect = best
    return prospect.filled.bit_count()


MOST_NODES = 20_000  # before the exact search of an end gives up


class SearchLimitError(Exception):
    """The exact search would need more sheets than allowed, as the end is too far off."""


class Endgame:
    """Computes the exact value of sheets, and caches it."""

    def __init__(
        self, finder: PlacementFinder, course: RoundsAhead, check_time: TimeCheck, most_nodes: int = MOST_NODES
    ) -> None:
        self._finder = finder
        self._rounds = course.rounds
        self._check_time = check_time
        self._nodes_left = most_nodes
        self._values: OnDemand[tuple[Prospect, int], float] = OnDemand(lambda key: self._exact_value(*key))

    def value(self, prospect: Prospect, done: int = 0) -> float:
        """Return the expected number of squares filled at the end, after the first ``done`` rounds of the course.

        Raises SearchLimitError, and DeadlineExceededError from the time check.
        """
        return self._values[prospect, done]

    def _exact_value(self, prospect: Prospect, done: int) -> float:
        filled = prospect.filled.bit_count()
        if done >= len(self._rounds):
            return filled
        sheet, (colour, dice) = self._finder.sheet, self._rounds[done]
        ways = self._finder.placements(prospect.colours[colour], prospect.filled, prospect.unused)
        if not ways:
            return filled
        self._nodes_left -= 1
        if self._nodes_left < 0:
            raise SearchLimitError
        self._check_time()
        by_face = [float(filled)] * FACES
        by_strike = float(filled)
        for placement in ways:
            face = sheet.face_of[(placement >> self._finder.squares).bit_length() - 1]
            after = prospect.after(sheet.grid, colour, placement, strike=False)
            by_face[face - 1] = max(by_face[face - 1], self.value(after, done + 1))
            if prospect.strikes_left:
                after = prospect.after(sheet.grid, colour, placement, strike=True)
                by_strike = max(by_strike, self.value(after, done + 1))
        return mean_of_best([max(value, by_strike) for value in by_face], dice)


def mean_of_best(by_face: list[float], dice: int) -> float:
    """Return the expected maximum over several dice, given the value of each face."""
    faces = len(by_face)
    return sum(
        value * ((rank / faces) ** dice - ((rank - 1) / faces) ** dice) for rank, value in enumerate(sorted(by_face), 1)
    )


_RACED = 12  # candidates
_MOST_WEIGHED = 64  # candidates
_TIME_CHECKED_EVERY = 16  # candidates
_PROMISE_SHARE = 0.2  # of the time left
_VARIETY_SHARE = 0.3  # of the time left
_SURE_AT_A_GLANCE = 0.3  # confidence, 0 to 1
_MOST_SURE = 0.95  # confidence, 0 to 1
_MOST_WAYS_AT_THE_END = 110  # placements up to which the end is searched exactly
_ENDGAME_SHARE = 0.3  # of the time left
_ESTIMATES = 8  # playouts
_ESTIMATE_SHARE = 0.15  # of the time left


@dataclass(frozen=True)
class _Candidate:
    """A candidate turn: the choice, its squares, the sheet after it, and a quick evaluation of that sheet."""

    choice: Choice
    placement: int
    after: Prospect
    worth: float


def hint(
    state: BlokusState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[BlokusState],  # noqa: ARG001 - positions of this game never repeat
) -> Hint[BlokusTurn]:
    """Find a good turn for the player to move by the deadline; raises IllegalTurnError if no turn can be played.

    Gentle hints evaluate every turn quickly. Fair hints also consider which shapes each colour can still draw
    afterwards. Strong hints play on from the best turns to the end, with the same dice for all.
    """
    if state.seat is None:
        raise IllegalTurnError(Phrase("the game is over, so there is no turn to hint at"))
    if not state.dice:
        raise IllegalTurnError(Phrase("{player} has to roll first; then there is a turn to hint at", state.to_move))
    return _HintSearch(state, state.seat, rng, Deadline.after(deadline_s, clock)).run(strength)


class _HintSearch:
    """The search for one hint."""

    def __init__(self, state: BlokusState, seat: int, rng: Random, deadline: Deadline) -> None:
        self._state = state
        self._seat = seat
        self._rng = rng
        self._deadline = deadline
        self._sheet = state.options.sheet
        self._finder = finder_of(self._sheet)
        self._colour = colour_in_hand(state, seat)
        self._now = prospect_of(self._sheet, state.sheets[seat])
        self._turns_of_only_shape = 0
        self._wins = False

    def run(self, strength: Strength) -> Hint[BlokusTurn]:
        """Find the hint."""
        listed = choices(self._state)
        every = self._candidates(listed)
        winning = [each for each in every if self._is_won_by(each.after)]
        candidates = winning or every
        self._turns_of_only_shape = len(listed) if len(every) == 1 else 0
        self._wins = bool(winning)
        course = rounds_ahead_of(self._state, self._seat)
        if len(every) == 1:
            return self._hint(candidates[0], _MOST_SURE, self._estimate(candidates[0], course))
        ranked = self._rank(
            candidates, lambda each: quick_value(self._sheet, each.after), self._deadline.share(_PROMISE_SHARE)
        )
        if strength is Strength.GENTLE:
            return self._hint(ranked[0], _SURE_AT_A_GLANCE, self._estimate(ranked[0], course))
        weighed = self._rank(
            ranked[:_MOST_WEIGHED],
            lambda each: each.worth + shape_variety(self._finder, each.after),
            self._deadline.share(_VARIETY_SHARE),
        )
        fair = self._hint(weighed[0], _SURE_AT_A_GLANCE, self._estimate(weighed[0], course))
        if strength is Strength.FAIR:
            return fair
        return self._best_by_endgame(candidates, course) or self._best_by_race(weighed[:_RACED], course) or fair

    def _best_by_endgame(self, candidates: Sequence[_Candidate], course: RoundsAhead) -> Hint[BlokusTurn] | None:
        """Return the best turn by exact endgame search; ``None`` if the end is too far off."""
        ways = sum(len(self._finder.placements(own, self._now.filled, self._now.unused)) for own in self._now.colours)
        if ways > _MOST_WAYS_AT_THE_END:
            return None
        check_time = PeriodicTimeCheck(self._deadline.share(_ENDGAME_SHARE), _TIME_CHECKED_EVERY)
        endgame = Endgame(self._finder, course, check_time)
        try:
            values = [endgame.value(candidate.after) for candidate in candidates]
        except (SearchLimitError, DeadlineExceededError):
            return None
        best = max(range(len(candidates)), key=values.__getitem__)
        # While others are in the game, the dice they leave are only an assumption.
        return self._hint(candidates[best], 1.0 if course.alone else _MOST_SURE, values[best])

    def _candidate(self, choice: Choice, placement: int) -> _Candidate:
        shape = 1 << (self._finder.squares + choice.shape)
        after = self._now.after(self._sheet.grid, self._colour, placement | shape, strike=choice.strike)
        return _Candidate(choice, placement, after, 0.0)

    def _candidates(self, listed: Sequence[Choice]) -> list[_Candidate]:
        """Return every different placement, large shapes first.

        With a strike, the choice of die makes no difference to the player's own sheet, so one die is enough. A strike
        would be wasted if a die gives the same shape.
        """
        found: dict[int, _Candidate] = {}
        for choice in sorted(listed, key=lambda each: (each.strike, -self._sheet.sizes[each.shape])):
            for placement in choice.placements:
                if placement not in found:
                    found[placement] = self._candidate(choice, placement)
        return list(found.values())

    def _is_won_by(self, after: Prospect) -> bool:
        """Return whether nobody can catch up: all other players have resigned, or are out and behind."""
        others = [filled for seat, filled in enumerate(self._state.sheets) if seat != self._seat]
        rank, most = (after.filled.bit_count(), after.strikes_left), self._sheet.strikes
        return all(
            filled.status != PlayerStatus.PLAYING
            and (filled.status == PlayerStatus.RESIGNED or rank > (filled.filled.bit_count(), most - filled.strikes))
            for filled in others
        )

    def _rank(
        self, candidates: Sequence[_Candidate], worth: Callable[[_Candidate], float], until: Deadline
    ) -> list[_Candidate]:
        """Return the candidates, best first; those that time didn't allow to evaluate follow in their old order."""
        looked_at: list[_Candidate] = []
        for number, candidate in enumerate(candidates):
            if number % _TIME_CHECKED_EVERY == 0 and number and until.passed():
                break
            looked_at.append(replace(candidate, worth=worth(candidate)))
        rest = candidates[len(looked_at) :]
        return [*sorted(looked_at, key=lambda each: -each.worth), *rest]

    def _estimate(self, candidate: _Candidate, course: RoundsAhead) -> float:
        """Return the mean number of squares filled at the end of a few playouts, as many as time allows."""
        until = self._deadline.share(_ESTIMATE_SHARE)
        ends: list[int] = []
        while len(ends) < _ESTIMATES and not (ends and until.passed()):
            rolls = draw_rolls(course, self._rng)
            ends.append(play_on(self._finder, candidate.after, course, rolls, self._rng))
        return sum(ends) / len(ends)

    def _best_by_race(self, candidates: Sequence[_Candidate], course: RoundsAhead) -> Hint[BlokusTurn] | None:
        """Return the best candidate over many playouts; ``None`` if there was no time for any."""

        def draw(rng: Random) -> tuple[Rolls, int]:
            return draw_rolls(course, rng), rng.getrandbits(32)

        def value(candidate: _Candidate, sample: tuple[Rolls, int], check_time: TimeCheck) -> float:
            rolls, seed = sample
            check_time()
            # The quick evaluation separates candidates for which there are too few playouts.
            return play_on(self._finder, candidate.after, course, rolls, Random(seed)) + candidate.worth

        raced = race(candidates, draw, value, self._deadline, self._rng)
        if not raced.best.samples:
            return None
        return self._hint(raced.best.candidate, min(_MOST_SURE, raced.sure), self._expected(raced.best))

    def _expected(self, estimate: Estimate[_Candidate]) -> float:
        return estimate.mean - estimate.candidate.worth

    def _hint(self, candidate: _Candidate, sure: float, expected: float) -> Hint[BlokusTurn]:
        turn = turn_of(self._state, candidate.choice, candidate.placement)
        only, wins = self._turns_of_only_shape, self._wins
        reason = reason_for(self._finder, self._now, candidate.after, self._colour, turns_of_only_shape=only, wins=wins)
        return Hint(turn, reason, expected, "squares", sure, self._state.dice.index(turn.die))


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def reason_for(
    finder: PlacementFinder, before: Prospect, after: Prospect, colour: int, *, turns_of_only_shape: int, wins: bool
) -> str:
    """Return the reason for drawing a shape, phrased to follow *That*: ``fills five squares``.

    ``before`` and ``after`` are the sheet before and after it is drawn in ``colour``. ``turns_of_only_shape`` is the
    number of turns that draw it if nothing else can be drawn, else 0.
    """
    filled = after.filled.bit_count() - before.filled.bit_count()
    said = Phrase("fills {squares}", _many(filled, "square"))
    if wins:
        return Phrase("wins: it {said}, and nobody can catch up", said)
    if after.strikes_left < before.strikes_left:
        said = Phrase("{said} at the cost of a strike ({strikes} left)", said, _many(after.strikes_left, "strike"))
    if turns_of_only_shape:
        return either(
            turns_of_only_shape == 1,
            "is the only turn there is: it {said}",
            "is the only shape you can draw: it {said}",
            said,
        )
    open_now = [_open_corners(finder, own, after) for own in after.colours]
    corners = _corners(open_now[colour], COLOURS[colour])
    if all(open_now):
        return Phrase("{said}, keeps {corners} open, and every colour can go on", said, corners)
    if open_now[colour]:
        return Phrase("{said} and keeps {corners} open", said, corners)
    return Phrase("{said}, though {colour} can't go on from there", said, COLOURS[colour])


def _open_corners(finder: PlacementFinder, own: int, prospect: Prospect) -> int:
    """Return the number of anchors of the colour that fills ``own`` which some unused shape can cover."""
    _, anchors = open_and_anchors(finder.sheet, own, prospect.filled)
    return (anchors & union(finder.placements(own, prospect.filled, prospect.unused))).bit_count()


def _many(number: int, thing: str) -> Phrase:
    """Count strikes or squares."""
    if number == 1:
        return either(thing == "strike", "one strike", "one square")
    return either(thing == "strike", "{number} strikes", "{number} squares", _written(number))


def _corners(number: int, colour: str) -> Phrase:
    return either(
        number == 1, "one {colour} corner", "{number} {colour} corners", number=_written(number), colour=colour
    )


def _written(number: int) -> str:
    return _NUMBERS[number] if number < len(_NUMBERS) else str(number)
