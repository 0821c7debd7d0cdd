"""Hints: a good turn and the reason for it; strong hints race the most promising turns over the same future dice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from engine.api import Clock, Hint, HintListener
from engine.errors import IllegalTurnError
from engine.games.blokus_dice.advice.evaluation import (
    Endgame,
    Prospect,
    Rolls,
    RoundsAhead,
    SearchLimitError,
    draw_rolls,
    play_on,
    prospect_of,
    quick_value,
    rounds_ahead_of,
    shape_variety,
)
from engine.games.blokus_dice.state import COLOURS, BlokusState, BlokusTurn, PlayerStatus, colour_in_hand
from engine.games.blokus_dice.turns import Choice, PlacementFinder, choices, finder_of, open_and_anchors, turn_of
from engine.search.budget import Deadline, DeadlineExceededError, PeriodicTimeCheck, TimeCheck
from engine.search.sampling import Estimate, race
from engine.support.grid import union
from engine.values import Strength

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
    better: HintListener[BlokusTurn] | None = None,
) -> Hint[BlokusTurn]:
    """Find a good turn for the player to move by the deadline; raises IllegalTurnError if no turn can be played.

    Gentle hints evaluate every turn quickly. Fair hints also consider which shapes each colour can still draw
    afterwards. Strong hints play on from the best turns to the end, with the same dice for all.
    """
    if state.seat is None:
        raise IllegalTurnError("the game is over, so there is no turn to hint at")
    if not state.dice:
        raise IllegalTurnError(f"{state.to_move} has to roll first; then there is a turn to hint at")
    return _HintSearch(state, state.seat, rng, Deadline.after(deadline_s, clock), better).run(strength)


class _HintSearch:
    """The search for one hint."""

    def __init__(
        self, state: BlokusState, seat: int, rng: Random, deadline: Deadline, better: HintListener[BlokusTurn] | None
    ) -> None:
        self._state = state
        self._seat = seat
        self._rng = rng
        self._deadline = deadline
        self._better = better
        self._sheet = state.options.sheet
        self._finder = finder_of(self._sheet)
        self._colour = colour_in_hand(state, seat)
        self._now = prospect_of(self._sheet, state.sheets[seat])
        self._turns_of_only_shape = 0
        self._wins = False

    def run(self, strength: Strength) -> Hint[BlokusTurn]:
        """Find the hint."""
        listed = choices(self._state)
        quick = max(listed, key=lambda each: (self._sheet.sizes[each.shape], not each.strike))
        self._report(self._candidate(quick, quick.placements[0]), 0.0)
        every = self._candidates(listed)
        winning = [each for each in every if self._is_won_by(each.after)]
        candidates = winning or every
        self._turns_of_only_shape = len(listed) if len(every) == 1 else 0
        self._wins = bool(winning)
        course = rounds_ahead_of(self._state, self._seat)
        if len(every) == 1:
            return self._report(candidates[0], _MOST_SURE, self._estimate(candidates[0], course))
        ranked = self._rank(
            candidates, lambda each: quick_value(self._sheet, each.after), self._deadline.share(_PROMISE_SHARE)
        )
        if strength is Strength.GENTLE:
            return self._report(ranked[0], _SURE_AT_A_GLANCE, self._estimate(ranked[0], course))
        weighed = self._rank(
            ranked[:_MOST_WEIGHED],
            lambda each: each.worth + shape_variety(self._finder, each.after),
            self._deadline.share(_VARIETY_SHARE),
        )
        fair = self._report(weighed[0], _SURE_AT_A_GLANCE, self._estimate(weighed[0], course))
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
        return self._report(candidates[best], 1.0 if course.alone else _MOST_SURE, values[best])

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

        def tell(estimate: Estimate[_Candidate]) -> None:
            if estimate.samples:
                self._report(estimate.candidate, _SURE_AT_A_GLANCE, self._expected(estimate))

        raced = race(candidates, draw, value, self._deadline, self._rng, better=tell)
        if not raced.best.samples:
            return None
        return self._report(raced.best.candidate, min(_MOST_SURE, raced.sure), self._expected(raced.best))

    def _expected(self, estimate: Estimate[_Candidate]) -> float:
        return estimate.mean - estimate.candidate.worth

    def _report(self, candidate: _Candidate, sure: float, expected: float | None = None) -> Hint[BlokusTurn]:
        """Make a hint and report it; without ``expected``, use the squares filled so far."""
        turn = turn_of(self._state, candidate.choice, candidate.placement)
        only, wins = self._turns_of_only_shape, self._wins
        reason = reason_for(self._finder, self._now, candidate.after, self._colour, turns_of_only_shape=only, wins=wins)
        filled = candidate.after.filled.bit_count()
        hint = Hint(
            turn,
            reason,
            filled if expected is None else expected,
            "squares",
            sure,
            self._state.dice.index(turn.die),
        )
        if self._better is not None:
            self._better(hint)
        return hint


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def reason_for(
    finder: PlacementFinder, before: Prospect, after: Prospect, colour: int, *, turns_of_only_shape: int, wins: bool
) -> str:
    """Return the reason for drawing a shape, phrased to follow *That*: ``fills five squares``.

    ``before`` and ``after`` are the sheet before and after it is drawn in ``colour``. ``turns_of_only_shape`` is the
    number of turns that draw it if nothing else can be drawn, else 0.
    """
    filled = after.filled.bit_count() - before.filled.bit_count()
    said = f"fills {_many(filled, 'square')}"
    if wins:
        return f"wins: it {said}, and nobody can catch up"
    if after.strikes_left < before.strikes_left:
        said += f" at the cost of a strike ({_many(after.strikes_left, 'strike')} left)"
    if turns_of_only_shape:
        what = "turn there is" if turns_of_only_shape == 1 else "shape you can draw"
        return f"is the only {what}: it {said}"
    open_now = [_open_corners(finder, own, after) for own in after.colours]
    corners = f"keeps {_many(open_now[colour], f'{COLOURS[colour]} corner')} open"
    if all(open_now):
        return f"{said}, {corners}, and every colour can go on"
    if open_now[colour]:
        return f"{said} and {corners}"
    return f"{said}, though {COLOURS[colour]} can't go on from there"


def _open_corners(finder: PlacementFinder, own: int, prospect: Prospect) -> int:
    """Return the number of anchors of the colour that fills ``own`` which some unused shape can cover."""
    _, anchors = open_and_anchors(finder.sheet, own, prospect.filled)
    return (anchors & union(finder.placements(own, prospect.filled, prospect.unused))).bit_count()


def _many(number: int, thing: str) -> str:
    written = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{written} {thing}{'' if number == 1 else 's'}"
