"""Evaluates one player's sheet: by quick playouts to the end, or by an exact endgame search.

Only the dice connect the players' sheets, so one sheet is played on alone. In each later round the player may choose
from the dice that are left then, and the players before are assumed to take theirs at random.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from engine.games.blokus_dice.sheet import FACES, Sheet
from engine.games.blokus_dice.state import BlokusState, FilledSheet, places_passed_from
from engine.games.blokus_dice.turns import PlacementFinder, open_and_anchors
from engine.search.budget import TimeCheck
from engine.support.grid import Grid, union
from engine.support.lazy import OnDemand

_TIES_LOOKED_AT = 3
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


MOST_NODES = 20_000


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
