"""The distinct results of a turn, as bare integers, straight from tables.

A position is four integers: the mover's set of pieces, the square of their ball, the opponent's set of pieces, and the
set of squares of the row the ball wins on. A result is packed as ``pieces | ball << 49``.

Under the usual options the opponent's pieces alone say where the ball may go, so passes don't depend on the moves. A
turn moves pieces by a *change*, a set of squares to be flipped: nothing, a step, a piece gone to a square two steps off
(through an empty square, or through an own piece's that steps on while the other takes its place), or two pieces'
steps. What is left to say is which changes go with which receiver: the carrier moves only after its pass, a receiver
only before it, and a square that has to be reached first is reached before it. Once the ball is on the far row nothing
moves.

Anti-play that ends the game by itself, and passes that own pieces stop, are not dealt with here: see ``turns``.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations, starmap
from operator import xor
from typing import NamedTuple

from engine.games.diaballik.state import EVERY, GRID, NEAR, RAYS
from engine.support.grid import members, set_of

BALL_SHIFT = 49
PIECES_MASK = (1 << BALL_SHIFT) - 1

_Changes = tuple[int, ...]


class Tables(NamedTuple):
    """What can be looked up by a square and what is around it.

    ``steps[square][near]`` the changes by which a piece steps to one of ``near``; ``far[square][near]`` all squares two
    steps off through ``near``; ``leaps[square][squares]`` the changes by which a piece gets to those of ``far``;
    ``lines[square]`` for each line through it a mask and the squares seen by the opponent's pieces on that line;
    ``pairs[squares]`` the sets of two out of up to four squares around one.
    """

    steps: tuple[dict[int, _Changes], ...]
    far: tuple[dict[int, int], ...]
    leaps: tuple[dict[int, _Changes], ...]
    lines: tuple[tuple[tuple[int, dict[int, int]], ...], ...]
    pairs: dict[int, _Changes]


def _subsets(squares: int) -> list[int]:
    found = [0]
    for square in members(squares):
        found += [chosen | 1 << square for chosen in found]
    return found


def _changes(here: int, squares: int) -> dict[int, _Changes]:
    """For each subset of squares the changes by which a piece gets from ``here`` to its squares."""
    found: dict[int, _Changes] = {0: ()}
    for square in members(squares):
        found |= {chosen | 1 << square: (*made, here | 1 << square) for chosen, made in found.items()}
    return found


def _seen_along(ray: tuple[int, ...]) -> dict[int, int]:
    """For each set of blockers on a ray the squares before the first of them."""
    found = {}
    whole = set_of(*ray)
    for blockers in _subsets(whole):
        free = 0
        for passed in ray:
            if blockers >> passed & 1:
                break
            free |= 1 << passed
        found[blockers] = free
    return found


def _lines(square: int) -> tuple[tuple[int, dict[int, int]], ...]:
    lines = []
    rays = RAYS[square]
    for there, back in zip(rays[:4], rays[4:], strict=True):
        ahead, behind = _seen_along(there), _seen_along(back)
        seen = {one | two: free | more for one, free in ahead.items() for two, more in behind.items()}
        lines.append((set_of(*there, *back), seen))
    return tuple(lines)


@cache
def tables() -> Tables:
    """Make the tables, once."""
    steps, far, leaps, pairs = [], [], [], {}
    for square in range(49):
        here = 1 << square
        reach = 0
        for middle in members(NEAR[square]):
            reach |= NEAR[middle] & ~here
        steps.append(_changes(here, NEAR[square]))
        through = {}
        for near in _subsets(NEAR[square]):
            through[near] = 0
            for middle in members(near):
                through[near] |= NEAR[middle] & ~here
            pairs[near] = tuple(1 << one | 1 << two for one, two in combinations(members(near), 2))
        far.append(through)
        leaps.append(_changes(here, reach))
    return Tables(tuple(steps), tuple(far), tuple(leaps), tuple(_lines(square) for square in range(49)), pairs)


def visible(ball: int, foes: int) -> int:
    """The squares in line with the ball, before the first of the opponent's pieces."""
    (a, from_a), (b, from_b), (c, from_c), (d, from_d) = tables().lines[ball]
    return from_a[foes & a] | from_b[foes & b] | from_c[foes & c] | from_d[foes & d]


class Changes(NamedTuple):
    """How a turn may change where the pieces stand, whoever has the ball.

    ``singles`` are steps; ``all`` those, pieces going two steps through an empty square, and pairs of pieces;
    ``trains`` pieces going two steps only through own pieces, with the set of those; ``reach`` the squares come to.
    """

    singles: list[int]
    all: list[int]
    trains: list[tuple[int, int]]
    reach: int


def changes_of(own: int, empty: int) -> Changes:
    """Every change of at most two moves, none twice, but for nothing at all."""
    steps, far, leaps, _, pairs = tables()
    singles: list[int] = []
    doubles: list[int] = []
    trains: list[tuple[int, int]] = []
    false_pairs: list[int] = []
    beside_own = reach = 0
    rest = own
    while rest:
        here = rest & -rest
        rest ^= here
        square = here.bit_length() - 1
        around = NEAR[square]
        free = around & empty
        mates = around & own
        ends = 0
        if free:
            beside_own |= free
            singles += steps[square][free]
            false_pairs += pairs[free]
            ends = far[square][free] & empty
            reach |= ends
            doubles += leaps[square][ends]
        if mates:
            behind = far[square][mates] & empty & ~ends
            reach |= behind
            while behind:
                end = behind & -behind
                behind ^= end
                trains.append((here | end, mates & NEAR[end.bit_length() - 1]))
    rest = beside_own
    while rest:
        here = rest & -rest
        rest ^= here
        false_pairs += pairs[NEAR[here.bit_length() - 1] & own]
    # One piece can't step to two squares, nor two pieces to one.
    both = set(starmap(xor, combinations(singles, 2)))
    both.difference_update(false_pairs)
    return Changes(singles, [*singles, *doubles, *both], trains, reach | beside_own)


def changes_onto(own: int, square: int, empty: int, carrier: int, singles: list[int]) -> set[int]:
    """The changes by which the ball is passed off ``carrier``'s square to an empty square short of the far row."""
    steps, far, leaps, _, _ = tables()
    around = NEAR[square]
    movers = around & own & ~carrier
    found: set[int] = set()
    if movers:
        for base in steps[square][movers]:
            found.add(base)
            found.update([base ^ change for change in singles if not change & base])
    # By two steps of one piece before the pass, or stepping after a piece that received the ball.
    comers = far[square][around & empty] & own & ~carrier | far[square][movers] & own
    if comers:
        found.update(leaps[square][comers])
    return found


def _with_carrier_kept(changes: list[int], trains: list[tuple[int, int]], carrier: int) -> list[int]:
    """The changes in which the carrier stays: those without a pass, and those before a pass that wins."""
    kept = [change for change in changes if not change & carrier]
    return kept + [change for change, through in trains if not change & carrier and through & ~carrier]


def distinct_results(own: int, ball: int, foes: int, goal: int, *, null_turn: bool = True) -> list[int]:
    """Every distinct result of one whole turn, packed, none twice, in no promised order."""
    empty = EVERY & ~(own | foes)
    carrier = 1 << ball
    singles, changes, trains, reach = changes_of(own, empty)

    kept = _with_carrier_kept(changes, trains, carrier)
    key = own | ball << BALL_SHIFT
    results = [key ^ change for change in kept]
    if null_turn and any(not change & carrier for change in singles):
        results.append(key)

    seen = visible(ball, foes)
    receivers = seen & own
    while receivers:
        here = receivers & -receivers
        receivers ^= here
        key = own | here.bit_length() - 1 << BALL_SHIFT
        results.append(key)
        if here & goal:
            results += [key ^ change for change in kept if not change & here]
            continue
        results += [key ^ change for change in changes if not change & here]
        for change, through in trains:
            # A receiver makes way for the piece behind it before the pass only, so that piece isn't the carrier.
            if not change & here and (through & ~here or not change & carrier):
                results.append(key ^ change)
    ahead = seen & reach
    while ahead:
        here = ahead & -ahead
        ahead ^= here
        square = here.bit_length() - 1
        key = own | square << BALL_SHIFT
        if here & goal:
            results += [key ^ change for change in kept if change & here]
            continue
        results += [key ^ change for change in changes_onto(own, square, empty, carrier, singles)]
    return results


def reach_before_pass(own: int, ball: int, foes: int) -> int:
    """The squares on which an own piece other than the carrier can stand after at most two moves."""
    empty = EVERY & ~(own | foes)
    others = own & ~(1 << ball)
    once = GRID.beside(others) & empty
    return others | once | GRID.beside(once) & empty


def can_win(own: int, ball: int, foes: int, goal: int) -> bool:
    """Whether one turn brings the ball onto the far row."""
    targets = visible(ball, foes) & goal
    return bool(targets and targets & reach_before_pass(own, ball, foes))
