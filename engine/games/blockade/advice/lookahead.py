"""Plays on from a position with sampled dice, roughly but very quickly, so that strong hints can compare turns.

Both players repeatedly build the cheapest tower that they have points for, and use the remaining points to bring pieces
nearer, only to squares where they may rest. So players lose points as in a real game, and walls appear where they are
likely. Distances are those of ``evaluation``; pieces that must make room for others are only approximated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import count
from typing import NamedTuple

from engine.games.blockade.advice.evaluation import GATES, ColourProgress, chance_of_race, progress_of
from engine.games.blockade.board import (
    BLACK,
    LARGE,
    OWNED,
    PIECES_OF_A_SIZE,
    PLACES,
    SHARED_AT_MOST,
    SQUARES,
    UNREACHABLE,
    Stacks,
    colour_of,
    distances,
    is_blockade,
    piece_of,
)
from engine.games.blockade.state import Dice
from engine.support.grid import members

_CENTRE = PLACES.index("c3")
_OFF_AND_ON = 2
"""The steps of a small that makes room for a medium and comes back."""

_WORTH_OF_A_GATE = 1
_ALL_GATES = sum(GATES.values())

_WORTH_OF_LANDING = 0.5
_COST_OF_A_STEP = 0.01


class Force(NamedTuple):
    """One colour: its larges without a tower, its movable pieces, and the set of its towers under a large black."""

    larges: tuple[int, ...]
    mediums: tuple[int, ...]
    smalls: tuple[int, ...]
    platforms: int


class Front(NamedTuple):
    """One player: both colours, and the set of squares with walls in their way."""

    forces: tuple[Force, Force]
    walls: int


class Step(NamedTuple):
    """One way to bring a piece nearer: its rating, the kind of piece, the squares, and the points it takes."""

    worth: float
    small: bool
    start: int
    end: int
    points: int


def force_of(standing: ColourProgress, platforms: int) -> Force:
    """Return the force of a colour with this progress."""
    return Force(standing.larges, tuple(sorted(standing.mediums)), tuple(sorted(standing.smalls)), platforms)


def forces_of(stacks: Stacks, player: str) -> tuple[Force, Force]:
    """Return the forces of a player's two colours."""
    first, second = (force_of(progress_of(stacks, colour), platforms_of(stacks, colour)) for colour in OWNED[player])
    return first, second


def platforms_of(stacks: Stacks, colour: int) -> int:
    """Return the set of squares where a medium of this colour may rest on a large black."""
    large = piece_of(BLACK, LARGE)
    return sum(1 << square for square, stack in enumerate(stacks) if colour_of(stack[0]) == colour and large in stack)


def platforms_among(built: int, towers: int) -> int:
    """Return the squares in ``built`` whose new towers get a large black if ``towers`` stood before."""
    return sum(1 << square for square, used in zip(members(built), count(towers), strict=False) if _large_left(used))


def count_towers(stacks: Stacks) -> int:
    """Return the number of towers, which is also the number of black pieces used."""
    return sum(map(is_blockade, stacks))


def play_on(mine: Front, theirs: Front, towers: int, rolls: Sequence[Dice]) -> float:
    """Play on with these rolls, the opponent first: 1 for a win, 0 for a loss, else the chance in the race."""
    sides = [list(theirs.forces), list(mine.forces)]
    walls = [theirs.walls, mine.walls]
    for turn, dice in enumerate(rolls):
        who = turn & 1
        side = sides[who]
        for which, points in enumerate(_shared_out(dice, side, walls[who])):
            if points:
                force = side[which]
                others = (side[1 - which], *sides[1 - who])
                side[which], built = advance(walls[who], force, _rests(force, others), points)
                if not side[which].larges:
                    return float(who)
                for square in built:
                    walls[1 - who] |= 1 << square
                    if _large_left(towers):
                        side[which] = side[which]._replace(platforms=side[which].platforms | 1 << square)
                    towers += 1
    left = [tuple(_steps(walls[who], force) for force in sides[who]) for who in (0, 1)]
    (they_one, they_two), (we_one, we_two) = left
    if len(rolls) & 1:
        return 1 - chance_of_race((they_one, they_two), (we_one, we_two))
    return chance_of_race((we_one, we_two), (they_one, they_two))


def _large_left(towers: int) -> bool:
    return towers < PIECES_OF_A_SIZE


def _shared_out(dice: Dice, side: Sequence[Force], walls: int) -> Dice:
    if max(dice) > SHARED_AT_MOST:
        return dice
    return (sum(dice), 0) if _steps(walls, side[0]) <= _steps(walls, side[1]) else (0, sum(dice))


def _steps(walls: int, force: Force) -> int:
    return max(1, ColourProgress(force.larges, force.mediums, force.smalls, 0).steps(walls))


def _rests(force: Force, others: Sequence[Force]) -> int:
    """Return where a medium may rest: own larges without a small, platforms, and the centre unless taken."""
    rests = force.platforms
    for square in force.larges:
        if square not in force.smalls:
            rests |= 1 << square
    if not any(_CENTRE in other.mediums or _CENTRE in other.smalls for other in others):
        rests |= 1 << _CENTRE
    return rests


@lru_cache(maxsize=1 << 11)
def advance(walls: int, force: Force, rests: int, points: int) -> tuple[Force, tuple[int, ...]]:
    """Use a colour's points, and return the force afterwards and the squares built on.

    ``rests`` is the set of squares where its mediums may rest. The caller adds new platforms, as they depend on how
    many black pieces are used.
    """
    built: tuple[int, ...] = ()
    while force.larges and force.mediums and force.smalls:
        tower = _best_tower(walls, force, points)
        if tower is None:
            break
        _, cost, large, medium, small = tower
        points -= cost
        built += (large,)
        force = Force(
            tuple(square for square in force.larges if square != large),
            _without(force.mediums, medium),
            _without(force.smalls, small),
            force.platforms,
        )
    while points > 0 and force.larges and force.smalls:
        step = max(_steps_nearer(walls, force, rests, points), default=None)
        if step is None:
            break
        points -= step.points
        force = _move_piece(walls, force, step)
    return force, built


def _best_tower(walls: int, force: Force, points: int) -> tuple[int, int, int, int, int] | None:
    """Return the next tower for these points: rank, cost, square, and where its medium and small come from."""
    way = distances(walls)
    found = []
    for large in force.larges:
        row = way[large]
        medium = min(force.mediums, key=row.__getitem__)
        small = large if large in force.smalls else min(force.smalls, key=row.__getitem__)
        cost = row[medium] + (_OFF_AND_ON if small == large else row[small])
        if cost <= points:
            found.append((cost - _WORTH_OF_A_GATE * (_ALL_GATES >> large & 1), cost, large, medium, small))
    return min(found, default=None)


def _steps_nearer(walls: int, force: Force, rests: int, points: int) -> list[Step]:
    way = distances(walls)
    found = []
    for large in force.larges:
        row = way[large]
        taken = large in force.smalls
        if large in force.mediums:
            small = min(force.smalls, key=row.__getitem__)
            if not taken and row[small] < UNREACHABLE:
                found += [
                    Step(row[small] - row[end] - _COST_OF_A_STEP * way[small][end], True, small, end, way[small][end])
                    for end in force.larges
                    if end != large and way[small][end] <= points and row[end] < row[small]
                ]
            continue
        loose = [square for square in force.mediums if square not in force.larges]
        medium = min(loose, key=row.__getitem__, default=large)
        if medium == large or row[medium] >= UNREACHABLE:
            continue
        here = way[medium]
        if here[large] + taken <= points:
            worth = here[large] + taken + _WORTH_OF_LANDING * (1 + (_ALL_GATES >> large & 1))
            found.append(Step(worth, False, medium, large, here[large] + taken))
        for end in members(rests):
            if here[end] <= points and row[end] < row[medium]:
                worth = row[medium] - row[end] - _COST_OF_A_STEP * here[end]
                found.append(Step(worth, False, medium, end, here[end]))
    return found


def _move_piece(walls: int, force: Force, step: Step) -> Force:
    if step.small:
        return force._replace(smalls=_with_square(_without(force.smalls, step.start), step.end))
    mediums = _with_square(_without(force.mediums, step.start), step.end)
    if step.end not in force.smalls or step.end not in force.larges:
        return force._replace(mediums=mediums)
    row = distances(walls)[step.end]
    aside = next((square for square in force.larges if row[square] == 1 and square not in force.mediums), None)
    if aside is None:
        aside = next((square for square in range(SQUARES) if row[square] == 1), step.end)
    return Force(force.larges, mediums, _with_square(_without(force.smalls, step.end), aside), force.platforms)


def _without(squares: tuple[int, ...], square: int) -> tuple[int, ...]:
    place = squares.index(square)
    return squares[:place] + squares[place + 1 :]


def _with_square(squares: tuple[int, ...], square: int) -> tuple[int, ...]:
    return tuple(sorted((*squares, square)))
