"""Finds the turns that agree with an observed board; all legal turns are those that agree with a board nobody sees.

For each of the player's colours, it selects the reachable ends that agree with the board (``candidates``), and then
searches for moves to each pair of ends. The colours interact only on clear squares, through the shared black supply,
and when a win ends the turn. So nearly every pair is a legal turn: all moves of one colour, then all of the other.
If neither order gives a pair that points and clear squares would allow, ``alternating`` searches for it move by move.
Such pairs are rare.

Everything is computed on demand and cached while the same roll lies on the table, since the table is checked often.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial

from engine.api import PossibleLooks
from engine.games.blockade.alternating import PointBudget, WayToOneEnd, alternating_moves
from engine.games.blockade.candidates import Candidate, Candidates, Marks
from engine.games.blockade.reach import (
    BLACK_MARKS,
    SIZE_OF_MARK,
    Layout,
    LayoutMove,
    Terrain,
    Way,
    clears_of,
    terrain_of,
    way_to,
    without_movable,
)
from engine.games.blockade.state import (
    BASES,
    BLACK,
    CLEAR,
    CLEARS,
    OWNED,
    PLACES,
    UNREACHABLE,
    BlockadeState,
    BlockadeTurn,
    Dice,
    Move,
    Path,
    Stack,
    allocations,
    appearance_of,
    name_of,
    piece_of,
)
from engine.showing import TableConstraint
from engine.support.lazy import FromIterator, OnDemand
from engine.values import Appearance, LookName


def turn_of(state: BlockadeState, moves: Iterable[Path]) -> BlockadeTurn:
    """Return the turn that consists of these moves, each from the first square of its path to the last."""
    assert state.to_move is not None
    stacks: dict[int, Stack] = {}
    written = []
    for start, *_, end in moves:
        *left, piece = stacks.get(start, state.stacks[start])
        stacks[start] = tuple(left)
        stacks[end] = (*stacks.get(end, state.stacks[end]), piece)
        written.append(Move(piece, PLACES[start], PLACES[end]))
    return BlockadeTurn(state.to_move, tuple(written))


_CandidatePair = tuple[Candidate, Candidate]
_Moves = tuple[LayoutMove, ...]
_CLEAR_MARKS = ("", "S", "M")
_OWN_MARKS = ("", "S", "M", "1", "2", "3")


def turns_showing(state: BlockadeState, could_be: PossibleLooks) -> Iterator[BlockadeTurn]:
    """Yield a legal turn to every matching board that one leads to, fewest steps first; see ``engine.showing``."""
    return map(partial(turn_of, state), _moves_showing(state, could_be))


def legal_turns(state: BlockadeState) -> Sequence[BlockadeTurn]:
    """List one turn for each end position that the roll allows, starting with the one where nothing moves.

    Turns are found only as far as they are asked for: with a high roll, all of them take seconds.
    """
    return FromIterator(_moves_showing(state, {}), partial(turn_of, state))


def _moves_showing(state: BlockadeState, could_be: PossibleLooks) -> Iterator[_Moves]:
    if state.to_move is None or state.roll is None:
        return iter(())
    return _ends_of(state, state.roll).showing(TableConstraint(appearance_of(state.stacks), could_be))


def is_whole_turn(state: BlockadeState, appearance: Appearance) -> bool:
    """Return whether some legal turn leads to exactly this appearance."""
    return next(turns_showing(state, {place: (look,) for place, look in appearance.items()}), None) is not None


@lru_cache(maxsize=2)
def _ends_of(state: BlockadeState, dice: Dice) -> _Ends:
    return _Ends(state, dice)


class _ColourEnds:
    """The ends that one colour might reach, and the moves to them."""

    def __init__(self, state: BlockadeState, colour: int, points: int, others: int) -> None:
        self.colour = colour
        self.points = points
        self._supply = state.supply
        self._most_caps = points + others
        self._terrains: OnDemand[int, Terrain] = OnDemand(
            lambda taken: terrain_of(state.stacks, state.options, colour, taken)
        )
        self._ways: dict[tuple[Layout, int, tuple[int, ...], bool], Way | None] = {}
        self.terrain = self._terrains[0]
        self.starts_on = clears_of(self.terrain.start)

    @cached_property
    def candidates(self) -> Candidates:
        """All ends that the colour might reach."""
        caps = self._supply[: self._most_caps]
        return Candidates(self.terrain, self.points, caps, may_run_out=len(self._supply) <= self._most_caps)

    def way(self, end: Candidate, *, taken: int, used: int = 0) -> Way | None:
        """Return the moves to an end if these clear squares are taken and the other colour has used ``used`` caps."""
        return self._way(end, taken, used, self.points, covered=False)

    def alone(self, end: Candidate, others: int) -> int:
        """Return the fewest points of an end without help; the other colour may use up to ``others`` caps first."""
        return self._fewest(end, others, self.points, covered=False)

    def with_help(self, end: Candidate, others: int, points: int) -> int:
        """Return a lower bound on the points of an end if the other colour may help; at most ``points`` count."""
        alone = self.alone(end, others)
        # Even with help, no path is shorter than the bound.
        return alone if alone == end.bound else min(alone, self._fewest(end, others, points, covered=True))

    def _fewest(self, end: Candidate, others: int, points: int, *, covered: bool) -> int:
        ways = (self._way(end, 0, used, points, covered=covered) for used in range(others + 1))
        return min((way.points for way in ways if way is not None), default=UNREACHABLE)

    def _way(self, end: Candidate, taken: int, used: int, points: int, *, covered: bool) -> Way | None:
        built = len(end.caps)
        # One spare cap makes a difference: without it, a tower would stay open.
        caps = self._supply[used : used + built + 1]
        if caps[:built] != end.caps:
            return None
        key = (end.layout, taken, caps, covered)
        if key not in self._ways:
            self._ways[key] = way_to(self._terrains[taken], end.layout, points, caps, covered=covered)
        return self._ways[key]


class _Ends:
    """The ends that a player's two colours might reach with a roll."""

    def __init__(self, state: BlockadeState, dice: Dice) -> None:
        assert state.to_move is not None
        self._supply = state.supply
        self._strict = state.options.strict
        self._budget = PointBudget(allocations(dice))
        one, two = OWNED[state.to_move]
        most = self._budget.most
        self._colours = (_ColourEnds(state, one, most[0], most[1]), _ColourEnds(state, two, most[1], most[0]))
        # The looks of the squares without the player's movable pieces.
        self._bare = [name_of(without_movable(stack, state.to_move)[-1]) for stack in state.stacks]
        self._fixed = [square for square, base in enumerate(BASES) if base not in (one, two, CLEAR)]
        self._moves: dict[tuple[Layout, Layout], _Moves | None] = {}

    def showing(self, seen: TableConstraint) -> Iterator[_Moves]:
        """Yield the moves of every turn that matches the board, in rising order of the bound on their steps."""
        if not all(seen.could_show(PLACES[square], self._bare[square]) for square in self._fixed):
            return
        covered = sum(1 << square for square in CLEARS if not seen.could_show(PLACES[square], self._bare[square]))
        first, second = (
            ours.candidates.fitting({square: self._marks_at(square, which, seen) for square in ours.candidates.squares})
            for which, ours in enumerate(self._colours)
        )
        most = self._budget.most
        for steps in range(sum(most) + 1):
            for used in range(max(0, steps - most[1]), min(steps, most[0]) + 1):
                if self._budget.covers(used, steps - used):
                    for one in first.at(used):
                        for two in second.at(steps - used):
                            moves = None if covered & ~(one.clears | two.clears) else self._moves_to((one, two))
                            if moves is not None:
                                yield moves

    def _marks_at(self, square: int, which: int, seen: TableConstraint) -> Marks:
        """Return what one colour may have on top of a square; a clear square without it may hold the other colour."""
        place, colour = PLACES[square], self._colours[which].colour
        marks = []
        for mark in _CLEAR_MARKS if BASES[square] == CLEAR else _OWN_MARKS:
            if mark:
                looks = [_look_of(colour, mark)]
            elif BASES[square] == CLEAR:
                other = self._colours[1 - which].colour
                looks = [self._bare[square], *(_look_of(other, size) for size in SIZE_OF_MARK)]
            else:
                looks = [self._bare[square]]
            if any(seen.could_show(place, look) for look in looks):
                marks.append(mark)
        return frozenset(marks)

    def _moves_to(self, pair: _CandidatePair) -> _Moves | None:
        """Return the moves to a pair of ends; ``None`` if no turn ends there."""
        key = (pair[0].layout, pair[1].layout)
        if key not in self._moves:
            self._moves[key] = self._found(pair) if self._may_be(pair) else None
        return self._moves[key]

    def _may_be(self, pair: _CandidatePair) -> bool:
        """Return whether two ends are compatible."""
        caps = tuple(sorted(pair[0].caps + pair[1].caps, reverse=True))
        return (
            not pair[0].clears & pair[1].clears
            and not (pair[0].wins and pair[1].wins)
            and caps == self._supply[: len(caps)]
            and (len(caps) == len(self._supply) or not (pair[0].left_open or pair[1].left_open))
        )

    def _found(self, pair: _CandidatePair) -> _Moves | None:
        best: tuple[int, int, _Moves] | None = None
        for first in (0, 1):
            # No order of play takes fewer points than the bounds.
            if best is None or best[0] > pair[0].bound + pair[1].bound:
                best = min(filter(None, (best, self._in_order(pair, first))), default=None)
        return self._alternating_moves(pair) if best is None else best[2]

    def _in_order(self, pair: _CandidatePair, first: int) -> tuple[int, int, _Moves] | None:
        """Return points, order and moves if one colour plays before the other; ``None`` if that is impossible."""
        second = 1 - first
        ours, theirs = self._colours[first], self._colours[second]
        if (not self._strict and pair[first].clears & theirs.starts_on) or (pair[first].wins and pair[second].bound):
            return None
        ahead = ours.way(pair[first], taken=theirs.starts_on if self._strict else 0)
        if ahead is None:
            return None
        taken = pair[first].clears if self._strict else 0
        behind = theirs.way(pair[second], taken=taken, used=len(pair[first].caps))
        if behind is None:
            return None
        used = (ahead.points, behind.points) if first == 0 else (behind.points, ahead.points)
        return (sum(used), first, ahead.moves + behind.moves) if self._budget.covers(*used) else None

    def _alternating_moves(self, pair: _CandidatePair) -> _Moves | None:
        """Return the moves of a turn in which the colours' moves alternate."""
        terrains = (self._colours[0].terrain, self._colours[1].terrain)
        caps = [len(pair[1].caps), len(pair[0].caps)]
        alone = [ours.alone(end, others) for ours, end, others in zip(self._colours, pair, caps, strict=True)]
        least = [
            ours.with_help(end, others, self._budget.with_help(which, terrains))
            for which, (ours, end, others) in enumerate(zip(self._colours, pair, caps, strict=True))
        ]
        if not self._budget.covers_with_help((alone[0], alone[1]), (least[0], least[1])):
            return None
        first, second = (WayToOneEnd(terrain, end.layout) for terrain, end in zip(terrains, pair, strict=True))
        searched: set[Dice] = set()
        for more in range(max(self._budget.most) + 1):
            # Try short paths first: few of them are dead ends.
            allowed = {
                (min(one, pair[0].bound + more), min(two, pair[1].bound + more)) for one, two in self._budget.allowed
            }
            if not allowed <= searched:
                searched |= allowed
                moves = alternating_moves((first, second), sorted(allowed), self._supply)
                if moves is not None:
                    return moves
        return None


def _look_of(colour: int, mark: str) -> LookName:
    return name_of(piece_of(BLACK, int(mark)) if mark in BLACK_MARKS else piece_of(colour, SIZE_OF_MARK[mark]))
