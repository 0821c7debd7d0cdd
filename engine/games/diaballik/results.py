"""The results of whole turns, looked up in tables, and the list of legal turns.

The judge needs the results of dozens of positions for a verdict, hints those of thousands. The list of legal turns
holds results, and finds a turn's actions only when that turn is accessed.

A position is four integers: the mover's set of pieces, the square of their ball, the opponent's set of pieces, and the
set of squares in the row where the ball wins.

Under the usual options only the opponent's pieces can block a pass, so passes don't depend on the moves. A turn moves
pieces by a *change*, a set of squares to flip. There are four kinds: nothing, one step, one piece moved by two steps,
and two pieces moved by one step each. A piece moves by two steps through an empty square, or through the square of an
own piece that steps on while the first takes its place. Each receiver allows certain changes: the carrier moves only
after the pass, the receiver only before it, and a receiving square that is empty must be reached before it. Once the
ball is on the far row nothing moves.

Options under which anti-play ends the game automatically or own pieces block passes are played action by action.
"""

from collections.abc import Sequence
from functools import cache, cached_property
from itertools import combinations, starmap
from operator import xor
from typing import NamedTuple

from engine.games.diaballik.state import CONTACTS_TO_CLAIM, EVERY, GOAL, GRID, NEAR, DiaballikTurn, is_wall, touching
from engine.games.diaballik.turns import (
    BALL_SHIFT,
    PIECES_MASK,
    TurnInProgress,
    results_by_playing,
    subsets,
    turn_with_result,
    unpack,
    visible,
)
from engine.support.grid import members, union
from engine.support.lazy import LazySequence

_Changes = tuple[int, ...]


class Tables(NamedTuple):
    """Lookup tables, indexed by a square and a set of squares around it.

    - ``steps[square][near]``: the changes that move a piece from ``square`` to one of its neighbours ``near``.
    - ``far[square][near]``: the set of squares two steps away, by way of one of ``near``.
    - ``leaps[square][squares]``: the changes that move a piece from ``square`` to one of ``squares``, two steps away.
    - ``pairs[squares]``: every set of two of these squares, which are neighbours of one square.
    """

    steps: tuple[dict[int, _Changes], ...]
    far: tuple[dict[int, int], ...]
    leaps: tuple[dict[int, _Changes], ...]
    pairs: dict[int, _Changes]


def _changes(here: int, squares: int) -> dict[int, _Changes]:
    """Return, for each subset of ``squares``, the changes that move a piece from ``here`` to one of its squares."""
    found: dict[int, _Changes] = {0: ()}
    for square in members(squares):
        found |= {chosen | 1 << square: (*made, here | 1 << square) for chosen, made in found.items()}
    return found


@cache
def tables() -> Tables:
    """Build the tables; the result is cached."""
    steps, far, leaps, pairs = [], [], [], {}
    for square in range(GRID.squares):
        here = 1 << square
        reach = union(NEAR[middle] for middle in members(NEAR[square])) & ~here
        steps.append(_changes(here, NEAR[square]))
        through = {}
        for near in subsets(NEAR[square]):
            through[near] = union(NEAR[middle] for middle in members(near)) & ~here
            pairs[near] = tuple(1 << one | 1 << two for one, two in combinations(members(near), 2))
        far.append(through)
        leaps.append(_changes(here, reach))
    return Tables(tuple(steps), tuple(far), tuple(leaps), pairs)


class Changes(NamedTuple):
    """Every way in which a turn may move the pieces, regardless of the ball.

    ``singles`` are steps of one piece. ``all`` adds two steps of one piece through an empty square, and one step each
    of two pieces. ``trains`` are two steps of a piece that are possible only through own pieces, each with the set of
    those pieces. ``reach`` is the set of empty squares that a piece can reach.
    """

    singles: list[int]
    all: list[int]
    trains: list[tuple[int, int]]
    reach: int


def changes_of(own: int, empty: int) -> Changes:
    """Return every change of one or two moves, without repeats."""
    steps, far, leaps, pairs = tables()
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
    # One piece can't step to two squares, and two pieces can't step to the same square.
    both = set(starmap(xor, combinations(singles, 2)))
    both.difference_update(false_pairs)
    return Changes(singles, [*singles, *doubles, *both], trains, reach | beside_own)


def changes_onto(own: int, square: int, empty: int, carrier: int, singles: list[int]) -> set[int]:
    """Return the changes that let ``carrier`` pass to ``square``, which is empty at first and not on the far row."""
    steps, far, leaps, _ = tables()
    around = NEAR[square]
    movers = around & own & ~carrier
    found: set[int] = set()
    if movers:
        for base in steps[square][movers]:
            found.add(base)
            found.update([base ^ change for change in singles if not change & base])
    # A piece takes two steps before the pass, or follows onto the square that the receiver left.
    comers = far[square][around & empty] & own & ~carrier | far[square][movers] & own
    if comers:
        found.update(leaps[square][comers])
    return found


def _with_carrier_kept(changes: list[int], trains: list[tuple[int, int]], carrier: int) -> list[int]:
    """Return the changes in which the carrier stays, for turns without a pass or that end with a winning pass."""
    kept = [change for change in changes if not change & carrier]
    return kept + [change for change, through in trains if not change & carrier and through & ~carrier]


def distinct_results(own: int, ball: int, foes: int, goal: int, *, null_turn: bool = True) -> list[int]:
    """Return every distinct result of one whole turn, packed, in no particular order."""
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
            # The receiver can make way for the piece behind it only before the pass, so that isn't the carrier.
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
    """Return the squares on which an own piece other than the carrier can stand after at most two moves."""
    empty = EVERY & ~(own | foes)
    others = own & ~(1 << ball)
    once = GRID.adjacent_to(others) & empty
    return others | once | GRID.adjacent_to(once) & empty


def can_win(own: int, ball: int, foes: int, goal: int) -> bool:
    """Return whether one turn brings the ball onto the far row."""
    targets = visible(ball, foes) & goal
    return bool(targets and targets & reach_before_pass(own, ball, foes))


def results_of(turn: TurnInProgress) -> list[int]:
    """Return every distinct result of a whole turn, packed, by tables if the options allow."""
    options = turn.options
    goal = GOAL[turn.player]
    if turn.ended:
        return []
    if options.pass_over_own and not (options.automatic and is_wall(turn.foes)):
        return distinct_results(turn.pieces, turn.ball, turn.foes, goal, null_turn=options.null_turn)
    return results_by_playing(turn)


def claimed_results(turn: TurnInProgress, results: Sequence[int]) -> list[int]:
    """Return the results after which the mover may at once announce anti-play; empty if anti-play is automatic."""
    options = turn.options
    if options.automatic or not is_wall(turn.foes):
        return []
    touch = touching(turn.foes, turn.player, front_only=options.front_only)
    goal = GOAL[turn.player]
    return [
        result
        for result in results
        if (result & touch & PIECES_MASK).bit_count() >= CONTACTS_TO_CLAIM and not goal >> (result >> BALL_SHIFT) & 1
    ]


class LegalTurns(LazySequence[DiaballikTurn]):
    """The turns of the player to move, sorted by result (ball, then pieces); those that announce anti-play come last.

    Its length and single items are cheap.
    """

    def __init__(self, turn: TurnInProgress, *, claims: bool) -> None:
        self._turn = turn
        self._results = results_of(turn)
        self._claimed = claimed_results(turn, self._results) if claims else []

    def __len__(self) -> int:
        return len(self._results) + len(self._claimed)

    @cached_property
    def results(self) -> tuple[int, ...]:
        """The packed result of each turn, in order."""
        return (*sorted(self._results), *sorted(self._claimed))

    def _item(self, index: int) -> DiaballikTurn:
        return turn_with_result(self._turn, unpack(self.results[index]), claims=index >= len(self._results))
