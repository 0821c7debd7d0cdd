"""Plays on from a position with sampled dice, roughly but very quickly, so that strong hints can compare turns.

Both players repeatedly build the cheapest tower that they have points for, and use the remaining points to bring pieces
nearer, only to squares where they may rest. So players lose points as in a real game, and walls appear where they are
likely. Distances are those of ``evaluation``; pieces that must make room for others are only approximated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
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
from engine.support.grid import members, set_of

_CENTRE = PLACES.index("c3")
_OFF_AND_ON = 2
"""The steps of a small that makes room for a medium and comes back."""

_WORTH_OF_A_GATE = 1
_ALL_GATES = sum(GATES.values())

_WORTH_OF_LANDING = 0.5
_COST_OF_A_STEP = 0.01


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
