"""The evaluation behind hints: how far each colour is from five towers, and each player's chance of winning.

The *steps left* of a colour are the fewest steps that bring its mediums and then its smalls onto its larges if only the
opponent's blockades are in the way. They are the cost of two assignments, and a lower bound.

The *chance* models the game as a race: in every turn each colour advances by its die, and the first player to complete
a colour wins. Towers that lack only their small count as partial walls.

`play_on` plays on with sampled dice, roughly but very quickly, so that strong hints can compare turns. Both
players repeatedly build the cheapest tower that they have points for, and use the remaining points to bring pieces
nearer, only to squares where they may rest. So players lose points as in a real game, and walls appear where they are
likely. Pieces that must make room for others are only approximated.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import NamedTuple

from engine.games.blockade.reach import BLACK_MARKS, Layout, Terrain, movable_from
from engine.games.blockade.state import (
    BLACK,
    BLUE,
    GREEN,
    GRID,
    LARGE,
    OWNED,
    PIECES_OF_A_SIZE,
    PLACES,
    RED,
    SHARED_AT_MOST,
    SMALL,
    SQUARES,
    UNREACHABLE,
    YELLOW,
    Dice,
    Stacks,
    allocations,
    colour_of,
    distances,
    is_blockade,
    other,
    piece_of,
    size_of,
    walls_against,
)
from engine.support.grid import members, set_of

_MOST_TURNS = 40  # counted ahead in the race
_BACK_AGAIN = 2  # steps of a small that lies on the large already, to make room for the medium
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


_CENTRE = PLACES.index("c3")
_OFF_AND_ON = 2
"""The steps of a small that makes room for a medium and comes back."""

_WORTH_OF_A_GATE = 1  # step that a tower on a gate may cost more
_ALL_GATES = sum(GATES.values())

_WORTH_OF_LANDING = 0.5  # steps, twice as many on a gate
_COST_OF_A_STEP = 0.01  # steps of progress: of equal moves the shorter one


class ColourPieces(NamedTuple):
    """One colour: its larges without a tower, its movable pieces, and the set of its towers under a large black."""

    larges: tuple[int, ...]
    mediums: tuple[int, ...]
    smalls: tuple[int, ...]
    platforms: int


class PlayerPieces(NamedTuple):
    """One player: both colours, and the set of squares with walls in their way."""

    colours: tuple[ColourPieces, ColourPieces]
    walls: int


class Step(NamedTuple):
    """One way to bring a piece nearer: its rating, the kind of piece, the squares, and the points it takes."""

    worth: float
    small: bool
    start: int
    end: int
    points: int


def colour_pieces(progress: ColourProgress, platforms: int) -> ColourPieces:
    """Return the pieces of a colour with this progress."""
    return ColourPieces(progress.larges, tuple(sorted(progress.mediums)), tuple(sorted(progress.smalls)), platforms)


def player_pieces(stacks: Stacks, player: str) -> tuple[ColourPieces, ColourPieces]:
    """Return the pieces of each of the player's colours."""
    first, second = (
        colour_pieces(progress_of(stacks, colour), platforms_of(stacks, colour)) for colour in OWNED[player]
    )
    return first, second


def platforms_of(stacks: Stacks, colour: int) -> int:
    """Return the set of squares where a medium of this colour may rest on a large black."""
    large = piece_of(BLACK, LARGE)
    return sum(1 << square for square, stack in enumerate(stacks) if colour_of(stack[0]) == colour and large in stack)


def new_platforms(built: int, towers: int) -> int:
    """Return the squares in ``built`` whose new towers get a large black if ``towers`` stood before."""
    squares = list(members(built))
    return set_of(squares[: max(0, PIECES_OF_A_SIZE - towers)])


def count_towers(stacks: Stacks) -> int:
    """Return the number of towers with a black piece, which is also the number of black pieces used."""
    return sum(map(is_blockade, stacks))


def play_on(mine: PlayerPieces, theirs: PlayerPieces, towers: int, rolls: Sequence[Dice]) -> float:
    """Play on with these rolls, the opponent first: 1 for a win, 0 for a loss, else the chance in the race."""
    sides = [list(theirs.colours), list(mine.colours)]
    walls = [theirs.walls, mine.walls]
    for turn, dice in enumerate(rolls):
        who = turn & 1
        side = sides[who]
        for which, points in enumerate(_split_points(dice, side, walls[who])):
            if points:
                pieces = side[which]
                others = (side[1 - which], *sides[1 - who])
                side[which], built = spend_points(walls[who], pieces, _resting_squares(pieces, others), points)
                if not side[which].larges:
                    return float(who)
                for square in built:
                    walls[1 - who] |= 1 << square
                    if towers < PIECES_OF_A_SIZE:
                        side[which] = side[which]._replace(platforms=side[which].platforms | 1 << square)
                    towers += 1
    left = [tuple(_steps_left(walls[who], pieces) for pieces in sides[who]) for who in (0, 1)]
    (they_one, they_two), (we_one, we_two) = left
    if len(rolls) & 1:
        return 1 - chance_of_race((they_one, they_two), (we_one, we_two))
    return chance_of_race((we_one, we_two), (they_one, they_two))


def _split_points(dice: Dice, side: Sequence[ColourPieces], walls: int) -> Dice:
    if max(dice) > SHARED_AT_MOST:
        return dice
    return (sum(dice), 0) if _steps_left(walls, side[0]) <= _steps_left(walls, side[1]) else (0, sum(dice))


def _steps_left(walls: int, pieces: ColourPieces) -> int:
    return max(1, ColourProgress(pieces.larges, pieces.mediums, pieces.smalls, 0).steps(walls))


def _resting_squares(pieces: ColourPieces, others: Sequence[ColourPieces]) -> int:
    """Return where a medium may rest: own larges without a small, platforms, and the centre unless taken."""
    rests = pieces.platforms
    for square in pieces.larges:
        if square not in pieces.smalls:
            rests |= 1 << square
    if not any(_CENTRE in other.mediums or _CENTRE in other.smalls for other in others):
        rests |= 1 << _CENTRE
    return rests


@lru_cache(maxsize=1 << 11)
def spend_points(walls: int, pieces: ColourPieces, rests: int, points: int) -> tuple[ColourPieces, tuple[int, ...]]:
    """Use a colour's points, and return the pieces afterwards and the squares built on.

    ``rests`` is the set of squares where its mediums may rest. The caller adds new platforms, as they depend on how
    many black pieces are used.
    """
    built: tuple[int, ...] = ()
    while pieces.larges and pieces.mediums and pieces.smalls:
        tower = _best_tower(walls, pieces, points)
        if tower is None:
            break
        _, cost, large, medium, small = tower
        points -= cost
        built += (large,)
        pieces = ColourPieces(
            tuple(square for square in pieces.larges if square != large),
            _remove_square(pieces.mediums, medium),
            _remove_square(pieces.smalls, small),
            pieces.platforms,
        )
    while points > 0 and pieces.larges and pieces.smalls:
        step = max(_steps_to_towers(walls, pieces, rests, points), default=None)
        if step is None:
            break
        points -= step.points
        pieces = _move_piece(walls, pieces, step)
    return pieces, built


def _best_tower(walls: int, pieces: ColourPieces, points: int) -> tuple[int, int, int, int, int] | None:
    """Return the next tower for these points: rank, cost, square, and where its medium and small come from."""
    distance = distances(walls)
    found = []
    for large in pieces.larges:
        row = distance[large]
        medium = min(pieces.mediums, key=row.__getitem__)
        small = large if large in pieces.smalls else min(pieces.smalls, key=row.__getitem__)
        cost = row[medium] + (_OFF_AND_ON if small == large else row[small])
        if cost <= points:
            found.append((cost - _WORTH_OF_A_GATE * (_ALL_GATES >> large & 1), cost, large, medium, small))
    return min(found, default=None)


def _steps_to_towers(walls: int, pieces: ColourPieces, rests: int, points: int) -> list[Step]:
    distance = distances(walls)
    found = []
    for large in pieces.larges:
        row = distance[large]
        taken = large in pieces.smalls
        if large in pieces.mediums:
            small = min(pieces.smalls, key=row.__getitem__)
            here = distance[small]
            if not taken and row[small] < UNREACHABLE:
                found += [
                    Step(row[small] - row[end] - _COST_OF_A_STEP * here[end], True, small, end, here[end])
                    for end in pieces.larges
                    if end != large and here[end] <= points and row[end] < row[small]
                ]
            continue
        loose = [square for square in pieces.mediums if square not in pieces.larges]
        medium = min(loose, key=row.__getitem__, default=large)
        if medium == large or row[medium] >= UNREACHABLE:
            continue
        here = distance[medium]
        if here[large] + taken <= points:
            worth = here[large] + taken + _WORTH_OF_LANDING * (1 + (_ALL_GATES >> large & 1))
            found.append(Step(worth, False, medium, large, here[large] + taken))
        for end in members(rests):
            if here[end] <= points and row[end] < row[medium]:
                worth = row[medium] - row[end] - _COST_OF_A_STEP * here[end]
                found.append(Step(worth, False, medium, end, here[end]))
    return found


def _move_piece(walls: int, pieces: ColourPieces, step: Step) -> ColourPieces:
    if step.small:
        return pieces._replace(smalls=_add_square(_remove_square(pieces.smalls, step.start), step.end))
    mediums = _add_square(_remove_square(pieces.mediums, step.start), step.end)
    if step.end not in pieces.smalls or step.end not in pieces.larges:
        return pieces._replace(mediums=mediums)
    row = distances(walls)[step.end]
    aside = next((square for square in pieces.larges if row[square] == 1 and square not in pieces.mediums), None)
    if aside is None:
        aside = next((square for square in range(SQUARES) if row[square] == 1), step.end)
    smalls = _add_square(_remove_square(pieces.smalls, step.end), aside)
    return pieces._replace(mediums=mediums, smalls=smalls)


def _remove_square(squares: tuple[int, ...], square: int) -> tuple[int, ...]:
    place = squares.index(square)
    return squares[:place] + squares[place + 1 :]


def _add_square(squares: tuple[int, ...], square: int) -> tuple[int, ...]:
    return tuple(sorted((*squares, square)))
