"""Lists the legal turns as products of the end positions that each of a player's two colours can reach alone.

A player's two colours interact only on clear squares, through the shared black supply, and when a win ends the turn.
So nearly every pair of one end for each colour is a legal turn: all moves of one colour, then all moves of the other.
The exceptions are pairs in which one colour comes to rest where the other one started (``_in_order``). If neither order
gives a pair that points and clear squares would allow, ``enumeration.alternating`` searches for it move by move. Such
pairs are rare.

A *group* holds the ends of one colour that use the same points, clear squares and caps and agree on winning. The
conditions are checked once for each pair of groups. A list of turns is therefore a list of blocks, each the product of
two groups: its length is known without iterating, and any item is cheap to access.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from engine.games.blockade.board import OWNED, PLACES, UNREACHABLE, Path, Stack
from engine.games.blockade.enumeration.alternating import WaysToEnds, alternating_ends
from engine.games.blockade.enumeration.budget import PointBudget
from engine.games.blockade.enumeration.ends import ColourEnds, Detours, Group
from engine.games.blockade.enumeration.reach import LayoutMove, Reached
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, Layout
from engine.games.blockade.moves import allocations
from engine.games.blockade.state import BlockadeState, BlockadeTurn, Dice, Move
from engine.support.lazy import LazySequence
from engine.values import Player

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
