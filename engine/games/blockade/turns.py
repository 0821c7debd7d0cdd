"""Lists the legal turns as products of the end positions that each of a player's two colours can reach alone.

A player's two colours interact only on clear squares, through the shared black supply, and when a win ends the turn.
So nearly every pair of one end for each colour is a legal turn: all moves of one colour, then all moves of the other.
The exceptions are pairs in which one colour comes to rest where the other one started (``_in_order``). If neither order
gives a pair that points and clear squares would allow, ``enumeration`` searches for it move by move. Such
pairs are rare.

A *group* holds the ends of one colour that use the same points, clear squares and caps and agree on winning. The
conditions are checked once for each pair of groups. A list of turns is therefore a list of blocks, each the product of
two groups: its length is known without iterating, and any item is cheap to access.

Finds the turns that agree with an observed board without listing the hundreds of thousands that don't. For each of the
player's colours, it selects the reachable ends that agree with the board, and then searches for moves to each pair of
ends. Everything is computed on demand and cached while the same roll lies on the table, since the table is checked
often.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate

from engine.api import PossibleLooks
from engine.games.blockade.enumeration import (
    Candidate,
    Candidates,
    ColourEnds,
    Detours,
    Group,
    Marks,
    PointBudget,
    WaysToEnds,
    WayToOneEnd,
    alternating_ends,
)
from engine.games.blockade.reach import (
    BLACK_MARKS,
    SIZE_OF_MARK,
    Layout,
    LayoutMove,
    Reached,
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
from engine.support.lazy import LazySequence, OnDemand
from engine.values import Appearance, LookName, Player

_Pair = tuple[Layout, Layout]


@dataclass(frozen=True)
class Block:
    """Turns that pair every end of one colour with every end of the other.

    ``steps`` counts the steps of both colours, ``first`` is the index of the colour that plays first, and ``variants``
    holds each colour's variant. With ``around``, the first colour waits while the other one plays, and then continues.
    """

    ends: tuple[tuple[Layout, ...], tuple[Layout, ...]]
    steps: int
    first: int
    variants: tuple[int, int]
    around: Detours | None = None

    @property
    def size(self) -> int:
        """The number of turns in the block."""
        return len(self.ends[0]) * len(self.ends[1])


@dataclass(frozen=True)
class _SearchRequest:
    """Pairs of ends for which the search for alternating moves still has to run.

    ``is_helped`` says whether a colour can't reach its end without the other one's help.
    """

    first: Sequence[Layout]
    second: Sequence[Layout]
    is_helped: bool


class TurnList(LazySequence[BlockadeTurn]):
    """Every legal turn with the current roll, one for each end position; the turn without moves comes first."""

    def __init__(self, state: BlockadeState, dice: Dice) -> None:
        assert state.to_move is not None
        self.state = state
        self.player: Player = state.to_move
        self.budget = PointBudget(allocations(dice))
        self.strict = state.options.strict
        one, two = OWNED[self.player]
        self.colours = (ColourEnds(state, one, self.budget.most[0]), ColourEnds(state, two, self.budget.most[1]))
        self._terrains = (self.colours[0].terrain[0], self.colours[1].terrain[0])
        self._explore()
        self._groups = (self._group_ends(0), self._group_ends(1))
        self.blocks, gaps = self._pair_groups(self._groups)
        searched = self._search_alternating([wanted for pair in gaps for wanted in self._add_detours(pair)])
        listed = [tuple(map(frozenset, block.ends)) for block in self.blocks] if searched else []
        self.mixed = {
            (first, second): moves
            for (first, second), moves in searched.items()
            if not any(first in ones and second in twos for ones, twos in listed)
        }
        self._mixed_pairs = tuple(self.mixed)
        self._starts = tuple(accumulate((block.size for block in self.blocks), initial=0))

    def _explore(self) -> None:
        """Explore each colour in every variant that may be needed."""
        for ours, theirs in (self.colours, self.colours[::-1]):
            ours.variant(theirs.starts_on if self.strict else 0, 0)
        for first, second in (self.colours, self.colours[::-1]):
            ends = first.reaches[first.variant(second.starts_on if self.strict else 0, 0)].ends
            for clears, built in {(end.clears if self.strict else 0, end.built) for end in ends}:
                second.variant(clears, built)

    def _group_ends(self, which: int) -> dict[Group, list[Layout]]:
        ours = self.colours[which]
        points: dict[Layout, list[int | None]] = {}
        least: dict[Layout, int] = {}
        ends: dict[Layout, Reached] = {}
        for number, reach in enumerate(ours.reaches):
            for end in reach.ends:
                ends.setdefault(end.layout, end)
                points.setdefault(end.layout, [None] * len(ours.reaches))[number] = end.points
                least[end.layout] = min(end.points, least.get(end.layout, end.points))
        for reach in ours.with_help(self.budget.with_help(which, self._terrains)):
            for end in reach.ends:
                ends.setdefault(end.layout, end)
                points.setdefault(end.layout, [None] * len(ours.reaches))
                least[end.layout] = min(end.points, least.get(end.layout, end.points))
        grouped: dict[Group, list[Layout]] = {}
        for layout, end in ends.items():
            caps = tuple(sorted((int(mark) for pile in layout for mark in pile if mark in BLACK_MARKS), reverse=True))
            group = Group(end.clears, end.wins, caps, tuple(points[layout]), least[layout])
            grouped.setdefault(group, []).append(layout)
        return grouped

    def _pair_groups(
        self, groups: tuple[dict[Group, list[Layout]], dict[Group, list[Layout]]]
    ) -> tuple[list[Block], list[tuple[Group, Group]]]:
        blocks: list[Block] = []
        gaps: list[tuple[Group, Group]] = []
        for one, ends in groups[0].items():
            for two, other_ends in groups[1].items():
                if one.clears & two.clears:
                    continue
                orders = [order for first in (0, 1) if (order := self._in_order((one, two), first)) is not None]
                if orders:
                    blocks.append(Block((tuple(ends), tuple(other_ends)), *min(orders)))
                elif self._may_alternate(one, two):
                    gaps.append((one, two))
        return blocks, gaps

    def _in_order(self, pair: tuple[Group, Group], first: int) -> tuple[int, int, tuple[int, int]] | None:
        """Return points, order and variants if one colour plays before the other; ``None`` if that is impossible."""
        second = 1 - first
        began_on = self.colours[second].starts_on
        ahead = self.colours[first].variant(began_on if self.strict else 0, 0)
        clears = pair[first].clears if self.strict else 0
        if pair[first].points[ahead] is None:
            return None
        behind = self.colours[second].variant(clears, len(pair[first].caps))
        points = [pair[first].points[ahead], pair[second].points[behind]]
        if points[0] is None or points[1] is None or (not self.strict and pair[first].clears & began_on):
            return None
        if pair[first].wins and points[1]:
            return None
        used = points if first == 0 else points[::-1]
        if not self.budget.covers(used[0] or 0, used[1] or 0):
            return None
        return points[0] + points[1], first, (ahead, behind) if first == 0 else (behind, ahead)

    def _may_alternate(self, one: Group, two: Group) -> bool:
        """Return whether ends of the two groups might be reached together if the colours' moves alternate."""
        caps = tuple(sorted(one.caps + two.caps, reverse=True))
        return (
            not (one.wins and two.wins)
            and self.budget.covers_with_help(self._alone((one, two)), (one.least, two.least))
            and caps == self.state.supply[: len(caps)]
        )

    def _alone(self, pair: tuple[Group, Group]) -> tuple[int, int]:
        """Return the fewest points of each group without help, where the other one has used no more than its caps."""
        first, second = (
            min(
                (
                    points
                    for number in self.colours[which].variants_after(len(pair[1 - which].caps))
                    if (points := pair[which].points[number]) is not None
                ),
                default=UNREACHABLE,
            )
            for which in (0, 1)
        )
        return first, second

    def _add_detours(self, pair: tuple[Group, Group]) -> list[_SearchRequest]:
        """Add blocks for pairs in which one colour waits while the other plays; return the pairs left to search."""
        rest = [self._groups[which][pair[which]] for which in (0, 1)]
        alone = self._alone(pair)
        if self.strict or not self.budget.covers(*alone) or not self._is_simple(pair):
            one_helped = ((pair[0].least, alone[1]), (alone[0], pair[1].least))
            is_helped = not all(self.budget.covers(*points) for points in one_helped)
            return [_SearchRequest(rest[0], rest[1], is_helped)]
        wanted: list[_SearchRequest] = []
        for first, second in ((0, 1), (1, 0)):
            if pair[second].wins:
                continue
            ours, theirs, other = self.colours[first], self.colours[second], pair[second]
            shared = (other.clears & ours.starts_on) | (pair[first].clears & theirs.starts_on)
            near = ours.detours(other.clears | theirs.starts_on, theirs.colour)
            far = ours.detours(shared, None)
            good = [end for end in rest[first] if self._reaches(near, end, first, other.alone)]
            if good:
                ends = (tuple(good), tuple(rest[1])) if first == 0 else (tuple(rest[0]), tuple(good))
                variants = [each.points.index(each.alone) for each in pair]
                steps = pair[0].alone + pair[1].alone
                self.blocks.append(Block(ends, steps, first, (variants[0], variants[1]), near))
                rest[first] = [end for end in rest[first] if end not in set(good)]
            doubtful = [end for end in rest[first] if self._reaches(far, end, first, other.alone)]
            if doubtful:
                sides = (doubtful, rest[1]) if first == 0 else (rest[0], doubtful)
                wanted.append(_SearchRequest(sides[0], sides[1], is_helped=False))
        return [each for each in wanted if each.first and each.second]

    def _reaches(self, detours: Detours, end: Layout, which: int, others: int) -> bool:
        points = detours.points.get(end)
        if points is None:
            return False
        return self.budget.covers(points, others) if which == 0 else self.budget.covers(others, points)

    def _is_simple(self, pair: tuple[Group, Group]) -> bool:
        """Return whether at most one clear square changes hands each way, and new towers can come in any order."""
        ways = [pair[1 - which].clears & self.colours[which].starts_on for which in (0, 1)]
        # Either the caps that the other colour has used make no difference, or only one colour builds.
        alike = all(len(each.reaches) == 1 for each in self.colours)
        one_builds = not (pair[0].caps and pair[1].caps) and all(each.points[0] == each.alone for each in pair)
        return (alike or one_builds) and all(way.bit_count() <= 1 for way in ways)

    def _search_alternating(self, wanted: list[_SearchRequest]) -> dict[_Pair, tuple[LayoutMove, ...]]:
        """Return the wanted pairs of ends that the colours can reach with alternating moves, and those moves."""
        together: dict[bool, list[_SearchRequest]] = {}
        for each in wanted:
            together.setdefault(each.is_helped, []).append(each)
        found: dict[_Pair, tuple[LayoutMove, ...]] = {}
        for is_helped, several in together.items():
            pairs = [(frozenset(each.first), frozenset(each.second)) for each in several]
            first, second = (
                WaysToEnds(
                    self._terrains[which],
                    self.colours[which].helped_edges if is_helped else self.colours[which].own_edges,
                    {layout for pair in pairs for layout in pair[which]},
                )
                for which in (0, 1)
            )
            for end in alternating_ends((first, second), self.budget.allowed, self.state.supply):
                if any(end.layouts[0] in ones and end.layouts[1] in twos for ones, twos in pairs):
                    found.setdefault(end.layouts, end.moves)
        return found

    def __len__(self) -> int:
        return self._starts[-1] + len(self.mixed)

    def _item(self, at: int) -> BlockadeTurn:
        if at >= self._starts[-1]:
            return turn_of(self.state, self.mixed[self._mixed_pairs[at - self._starts[-1]]])
        number = bisect_right(self._starts, at) - 1
        block = self.blocks[number]
        first, second = divmod(at - self._starts[number], len(block.ends[1]))
        return turn_of(self.state, self._moves(block, (block.ends[0][first], block.ends[1][second])))

    def _moves(self, block: Block, layouts: tuple[Layout, Layout]) -> tuple[tuple[int, int], ...]:
        if block.around is not None:
            second = 1 - block.first
            before, after = block.around.around(layouts[block.first])
            between: tuple[LayoutMove, ...] = (
                self.colours[second].reaches[block.variants[second]].moves_to(layouts[second])
            )
            return before + between + after
        moves = [
            ours.reaches[variant].moves_to(layout)
            for ours, variant, layout in zip(self.colours, block.variants, layouts, strict=True)
        ]
        return moves[block.first] + moves[1 - block.first]


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


# The turns of one roll may take 20 MB, and callers alternate between two positions at most.
@lru_cache(maxsize=2)
def turns_of(state: BlockadeState) -> TurnList:
    """Return the legal turns with the current roll; raises ValueError if a roll is awaited or the game is over."""
    if state.roll is None or state.to_move is None:
        raise ValueError("no roll lies on the table; expected a state with a roll")
    return TurnList(state, state.roll)


_CandidatePair = tuple[Candidate, Candidate]
_Moves = tuple[LayoutMove, ...]
_CLEAR_MARKS = ("", "S", "M")
_OWN_MARKS = ("", "S", "M", "1", "2", "3")


def turns_showing(state: BlockadeState, could_be: PossibleLooks) -> Iterator[BlockadeTurn]:
    """Yield a legal turn to every matching board that one leads to, fewest steps first; see ``engine.showing``.

    It takes as few points as the one in ``legal_turns``, perhaps by other moves.
    """
    if state.to_move is None or state.roll is None:
        return
    for moves in _ends_of(state, state.roll).showing(TableConstraint(appearance_of(state.stacks), could_be)):
        yield turn_of(state, moves)


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
                for found in alternating_ends((first, second), sorted(allowed), self._supply):
                    return found.moves
        return None


def _look_of(colour: int, mark: str) -> LookName:
    return name_of(piece_of(BLACK, int(mark)) if mark in BLACK_MARKS else piece_of(colour, SIZE_OF_MARK[mark]))
