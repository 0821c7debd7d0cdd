"""The evaluation behind hints: how far each colour is from five towers, and each player's chance of winning.

The *steps left* of a colour are the fewest steps that bring its mediums and then its smalls onto its larges if only the
opponent's blockades are in the way. They are the cost of two assignments, and a lower bound.

The *chance* models the game as a race: in every turn each colour advances by its die, and the first player to complete
a colour wins. Towers that lack only their small count as partial walls.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache

from engine.games.blockade.board import (
    BLUE,
    GREEN,
    GRID,
    OWNED,
    RED,
    SMALL,
    UNREACHABLE,
    YELLOW,
    Stacks,
    colour_of,
    distances,
    is_blockade,
    other,
    size_of,
    walls_against,
)
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, Layout, Terrain, movable_from
from engine.games.blockade.moves import allocations

_MOST_TURNS = 40
_BACK_AGAIN = 2
_READY_COUNTS = 0.3
"""The weight, as a wall, of a tower that lacks only its small."""

_HOPELESS = UNREACHABLE

GATES = {
    colour: GRID.squares_named(names)
    for colour, names in (
        (RED, ("a4", "b4", "c4")),
        (YELLOW, ("e2", "d2", "c2")),
        (GREEN, ("b1", "b2", "b3")),
        (BLUE, ("d5", "d4", "d3")),
    )
}
"""For each colour, the squares where its towers fence in a corner with the opponent's mediums.

For five mediums in that corner, one tower alone costs nothing, the first two cost five steps, and all three eleven.
"""


@dataclass(frozen=True, slots=True)
class ColourProgress:
    """One colour's progress: the squares of its larges without a tower, and of its movable mediums and smalls.

    ``ready`` is the set of squares that lack only a small.
    """

    larges: tuple[int, ...]
    mediums: tuple[int, ...]
    smalls: tuple[int, ...]
    ready: int

    def steps(self, walls: int) -> int:
        """Return the fewest steps to five towers with these walls in the way, at most ``UNREACHABLE``."""
        return self._steps_onto(self.larges, walls)

    def steps_to_gate(self, walls: int, gate: int) -> int:
        """Return the fewest steps to towers on all squares of ``gate`` without one, at most ``UNREACHABLE``."""
        return self._steps_onto(tuple(square for square in self.larges if gate >> square & 1), walls)

    def next_tower(self, walls: int) -> int:
        """Return the fewest steps to one more tower with these walls in the way, at most ``UNREACHABLE``."""
        return min((self._steps_onto((large,), walls) for large in self.larges), default=0)

    def steps_with_coming_walls(self, walls: int, coming: int) -> int:
        """Return the fewest steps to five towers if walls are also likely to come on the squares ``coming``."""
        now = self.steps(walls)
        then = self.steps(walls | coming) if coming else now
        return round(now + _READY_COUNTS * (then - now)) if now < _HOPELESS else now

    def _steps_onto(self, larges: tuple[int, ...], walls: int) -> int:
        if min(len(self.mediums), len(self.smalls)) < len(larges):
            return _HOPELESS
        mediums = _assignment_cost(walls, self.mediums, larges, 0)
        return min(_HOPELESS, mediums + _assignment_cost(walls, self.smalls, larges, _BACK_AGAIN))


def progress_of(stacks: Stacks, colour: int) -> ColourProgress:
    """Return the progress of a colour in these stacks."""
    larges: list[int] = []
    mediums: list[int] = []
    smalls: list[int] = []
    ready = 0
    for square, stack in enumerate(stacks):
        if colour_of(stack[0]) == colour and not is_blockade(stack):
            larges.append(square)
            if len(stack) == 2 and size_of(stack[1]) != SMALL:
                ready |= 1 << square
        for piece in stack[movable_from(stack) :]:
            if colour_of(piece) == colour:
                (smalls if size_of(piece) == SMALL else mediums).append(square)
    return ColourProgress(tuple(larges), tuple(mediums), tuple(smalls), ready)


def progress_after(terrain: Terrain, layout: Layout) -> tuple[ColourProgress, int]:
    """Return the progress of a colour in a layout, and the set of squares with its new blockades."""
    larges: list[int] = []
    mediums: list[int] = []
    smalls: list[int] = []
    ready = built = 0
    for square, pile in enumerate(layout):
        capped = any(mark in BLACK_MARKS for mark in pile)
        if capped:
            built |= 1 << square
            pile = pile.lstrip("MS")[1:]
        elif square in terrain.builds:
            larges.append(square)
            if pile == "M":
                ready |= 1 << square
        mediums += [square] * pile.count("M")
        smalls += [square] * pile.count("S")
    return ColourProgress(tuple(larges), tuple(mediums), tuple(smalls), ready), built


@lru_cache(maxsize=1 << 14)
def _assignment_cost(walls: int, sources: tuple[int, ...], targets: tuple[int, ...], staying: int) -> int:
    """Return the least cost of assigning each target its own source; one already there costs ``staying``."""
    distance = distances(walls)
    least = {0: 0}
    for source in sources:
        following = dict(least) if len(sources) > len(targets) else {}
        for given, cost in least.items():
            for number, target in enumerate(targets):
                if not given >> number & 1:
                    taken = given | 1 << number
                    more = cost + (staying if source == target else distance[source][target])
                    if more < following.get(taken, _HOPELESS * 10):
                        following[taken] = more
        least = following
    return least.get((1 << len(targets)) - 1, _HOPELESS)


@cache
def _reached_by_turn(steps: int) -> tuple[float, ...]:
    """Return the probability, by number of ordinary dice, that they add up to at least ``steps``."""
    if steps >= _HOPELESS:
        return (0.0,) * (_MOST_TURNS + 1)
    chances = {0: 1.0}
    found = [1.0 if steps <= 0 else 0.0]
    for _ in range(_MOST_TURNS):
        following: dict[int, float] = {}
        for total, chance in chances.items():
            for die in range(1, 7):
                following[min(steps, total + die)] = following.get(min(steps, total + die), 0.0) + chance / 6
        chances = following
        found.append(chances.get(steps, 0.0) if steps > 0 else 1.0)
    return tuple(found)


@cache
def _win_next_turn(first: int, second: int) -> float:
    """Return the probability that one roll, shared out in the best way, completes a colour with these steps left."""
    enough = sum(
        any(points >= first or others >= second for points, others in allocations((one, two)))
        for one in range(1, 7)
        for two in range(1, 7)
    )
    return enough / 36


@lru_cache(maxsize=1 << 14)
def _win_by_turn(first: int, second: int) -> tuple[float, ...]:
    """Return the probability, by number of turns, of winning within them with these steps left."""
    one, two = _reached_by_turn(min(first, _HOPELESS)), _reached_by_turn(min(second, _HOPELESS))
    done = [1 - (1 - a) * (1 - b) for a, b in zip(one, two, strict=True)]
    done[1] = _win_next_turn(first, second)
    for turns in range(1, len(done)):
        done[turns] = max(done[turns], done[turns - 1])
    return tuple(done)


@lru_cache(maxsize=1 << 16)
def chance_of_race(mine: tuple[int, int], theirs: tuple[int, int]) -> float:
    """Return the probability that the player with ``mine`` steps left wins if the opponent (``theirs``) rolls next."""
    ours, others = _win_by_turn(*sorted(mine)), _win_by_turn(*sorted(theirs))
    chance = sum((ours[turn] - ours[turn - 1]) * (1 - others[turn]) for turn in range(1, len(ours)))
    undecided = (1 - ours[-1]) * (1 - others[-1])
    return min(1.0, max(0.0, chance + undecided / 2))


@dataclass(frozen=True)
class Opponent:
    """The opponent's colours and all walls, against which every end of a turn is evaluated."""

    standings: tuple[ColourProgress, ColourProgress]
    walls_against_them: int
    walls_against_us: int

    @property
    def ready(self) -> int:
        """The set of squares where the opponent's towers lack only their small."""
        return self.standings[0].ready | self.standings[1].ready

    def steps(self, standing: ColourProgress) -> int:
        """Return the steps left of one of our colours, with the opponent's coming walls partly counted."""
        return standing.steps_with_coming_walls(self.walls_against_us, self.ready)

    def their_steps(self, built: int, ready: int) -> tuple[int, int]:
        """Return the opponent's steps left after we build on ``built`` and lack only the small on ``ready``."""
        walls = self.walls_against_them | built
        first, second = (standing.steps_with_coming_walls(walls, ready) for standing in self.standings)
        return first, second


def opponent_of(stacks: Stacks, player: str) -> Opponent:
    """Return the opponent's side of a position in which ``player`` is to move."""
    theirs = other(player)
    first, second = OWNED[theirs]
    return Opponent(
        (progress_of(stacks, first), progress_of(stacks, second)),
        walls_against(stacks, theirs),
        walls_against(stacks, player),
    )
