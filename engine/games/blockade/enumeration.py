"""The search behind the list of turns: what a player's two colours can reach with the points of a roll.

The ends that each of a player's two colours can reach: alone, around the other colour's moves, or with its help. A
*variant* is the situation that a colour faces after the other one has played. In a *detour*, one colour starts, waits
out of the way while the other one plays, and then continues. That lets clear squares change hands in both directions,
or lets a piece leave a clear square to the other colour and then win.

The ends that one colour might reach, listed by how many pieces leave and reach each square. On squares where the
colour's pieces may rest, the counts of mediums and smalls determine how they lie. So the ends can be listed by net
moves, whatever happens in between: this takes milliseconds, while a search for everything that can be reached takes
seconds.

Turns in which the moves of a player's two colours must alternate, found move by move. This search covers both colours
at once. It is needed in the few positions where playing one colour after the other misses some ends (see ``turns``): a
pile of one colour blocks the other, a piece between two others keeps a tower from being made, or the colours take caps
of two sizes in turn. Piles are written as in ``reach``, those of the second colour in lower case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

from engine.games.blockade.reach import (
    BLACK_MARKS,
    SIZE_OF_MARK,
    Edge,
    Guide,
    Layout,
    LayoutMove,
    Reach,
    Terrain,
    clears_of,
    explore,
    least_steps,
    terrain_of,
)
from engine.games.blockade.state import (
    BASES,
    CLEAR,
    MOST_POINTS,
    SQUARES,
    TOWERS_TO_WIN,
    UNREACHABLE,
    BlockadeState,
    clears_held,
)
from engine.support.lazy import OnDemand

_TO_COVER_AND_LEAVE = 2
"""The fewest points for stepping between two pieces of the other colour and out again."""
_TO_LEAVE = 1  # point
_TO_WAIT_FOR_ANOTHER = 3
"""The fewest points for a small that steps onto a medium and off again, and for the piece that passes meanwhile."""


@dataclass(frozen=True)
class PointBudget:
    """The ways to share out the points of a roll; each pair holds the most points for each colour."""

    allowed: tuple[tuple[int, int], ...]

    @property
    def most(self) -> tuple[int, int]:
        """The most points that each colour can get."""
        return max(first for first, _ in self.allowed), max(second for _, second in self.allowed)

    def covers(self, first: int, second: int) -> bool:
        """Return whether the two colours may use these points in one turn."""
        return any(first <= most and second <= other_most for most, other_most in self.allowed)

    def covers_with_help(self, alone: tuple[int, int], least: tuple[int, int]) -> bool:
        """Return whether the points may suffice, given what each colour takes alone, and at least takes with help."""
        helping = [max(points, _TO_COVER_AND_LEAVE) for points in (*alone, *least)]
        return (
            self.covers(*alone)
            or self.covers(helping[0], least[1])
            or self.covers(least[0], helping[1])
            or self.covers(helping[2], helping[3])
        )

    def with_help(self, which: int, terrains: tuple[Terrain, Terrain]) -> int:
        """Return the most points that one colour can have in a turn in which the other one helps it; 0 if it can't."""
        terrain = terrains[which]
        if terrain.options.strict:
            return self.most[which]
        costs = tuple(_costs_of_help(terrain, terrains[1 - which]))
        return max(
            (
                points[which]
                for points in self.allowed
                if any(points[which] >= own and points[1 - which] >= cover for own, cover in costs)
            ),
            default=0,
        )


def _costs_of_help(terrain: Terrain, theirs: Terrain) -> Iterator[tuple[int, int]]:
    """Yield, for each square where the other colour might prevent a tower, the fewest points this takes of each.

    The medium must be there, and a small must step onto it and off again so that another piece can pass. Meanwhile the
    other colour's piece must step between the two and leave again.
    """
    others = [square for square, pile in enumerate(theirs.start) if pile]
    mediums = [square for square, pile in enumerate(terrain.start) if "M" in pile]
    for square in sorted(terrain.builds):
        pile = terrain.start[square]
        if set(pile) == {"M"}:
            laid = 0
        elif "M" in pile:
            laid = 1
        else:
            laid = min((terrain.distance[medium][square] for medium in mediums), default=UNREACHABLE) + bool(pile)
        cover = min((terrain.distance[other][square] for other in others), default=UNREACHABLE)
        yield laid + _TO_WAIT_FOR_ANOTHER, cover + _TO_LEAVE


Caps = tuple[int, ...]


class ColourEnds:
    """What one of the two colours can reach, in every variant that the other one's play may create.

    A variant consists of the clear squares that the other colour holds and the caps that are left.
    """

    def __init__(self, state: BlockadeState, colour: int, points: int) -> None:
        self.colour = colour
        self.points = points
        self.terrain: OnDemand[int, Terrain] = OnDemand(
            lambda taken: terrain_of(state.stacks, state.options, colour, taken)
        )
        """``terrain[taken]``: the colour's terrain with these clear squares taken."""
        self._supply = state.supply
        self._variants: dict[tuple[int, int], int] = {}
        self._explored: list[tuple[int, Caps]] = []
        self.reaches: list[Reach] = []
        self._detours: dict[tuple[int, int | None], Detours] = {}
        self.starts_on = clears_held(state.stacks, colour)

    def variant(self, taken: int, used: int) -> int:
        """Return the number of the variant in which the other colour holds ``taken`` and has used ``used`` caps."""
        if (taken, used) not in self._variants:
            self._variants[taken, used] = self._explore(taken, self._supply[used : used + self.points])
        return self._variants[taken, used]

    def variants_after(self, most_used: int) -> set[int]:
        """Return the numbers of the variants so far in which the other colour has used no more caps than this."""
        return {number for (_, used), number in self._variants.items() if used <= most_used}

    def _explore(self, taken: int, caps: Caps) -> int:
        for number, ((known_taken, known_caps), reach) in enumerate(zip(self._explored, self.reaches, strict=True)):
            tried = reach.most_built + 1
            if known_taken == taken and known_caps[:tried] == caps[:tried]:
                return number
        self._explored.append((taken, caps))
        self.reaches.append(explore(self.terrain[taken], self.points, caps))
        return len(self.reaches) - 1

    @property
    def most_built(self) -> int:
        """The most caps that the colour uses in the variants explored so far."""
        return max(reach.most_built for reach in self.reaches)

    @cached_property
    def helped_edges(self) -> tuple[Edge, ...]:
        """All moves that the colour may make towards any end, with the other colour's help."""
        return tuple(edge for reach in self.with_help(self.points, edges=True) for edge in reach.edges)

    @cached_property
    def own_edges(self) -> tuple[Edge, ...]:
        """All moves that the colour may make towards any end on its own."""
        reaches = [explore(self.terrain[0], self.points, caps, edges=True) for caps in self._sequences]
        return tuple(edge for reach in reaches for edge in reach.edges)

    @property
    def _sequences(self) -> tuple[Caps, ...]:
        """The possible sequences of caps for the colour's towers, omitting those that make no difference."""
        return tuple(dict.fromkeys(caps[: self.most_built + 1] for _, caps in self._explored))

    def detours(self, clears: int, friend: int | None) -> Detours:
        """Return the colour's ends by moves that leave these clear squares free in between; see ``leaves_free``."""
        if (clears, friend) not in self._detours:
            terrain = self.terrain[0]
            passing = leaves_free(terrain, clears, friend=friend)
            self._detours[clears, friend] = detours(terrain.start, self.own_edges, passing)
        return self._detours[clears, friend]

    def with_help(self, points: int, *, edges: bool = False) -> list[Reach]:
        """Return a superset of what the colour can reach with ``points`` and the other colour's help."""
        if not points:
            return []
        return [explore(self.terrain[0], points, caps, covered=True, edges=edges) for caps in self._sequences]


@dataclass(frozen=True)
class Group:
    """What the ends of one group have in common: no condition on turns distinguishes between them.

    ``points`` holds the points they take in each variant, ``None`` if they can't be reached in it. ``least`` is a lower
    bound on the points with any help of the other colour. ``caps`` holds the new caps, the largest first.
    """

    clears: int
    wins: bool
    caps: Caps
    points: tuple[int | None, ...]
    least: int

    @property
    def alone(self) -> int:
        """The fewest points that the ends take without help."""
        return min((points for points in self.points if points is not None), default=UNREACHABLE)


LayoutTest = Callable[[Layout], bool]
DetourMoves = tuple[tuple[LayoutMove, ...], tuple[LayoutMove, ...]]
"""The moves before the other colour plays, and those after it."""


def leaves_free(terrain: Terrain, clears: int, *, friend: int | None) -> LayoutTest:
    """Return a test of whether a layout has not won yet and leaves these clear squares free.

    With ``friend``, the layout must also leave that colour's own squares free, so that it can't hinder its moves.
    Free clear squares are necessary for the other colour to play; free squares of its own make that sufficient.
    """
    kept = [square for square, base in enumerate(BASES) if clears >> square & 1 or base == friend]

    def passing(layout: Layout) -> bool:
        return not any(layout[square] for square in kept) and not terrain.wins(layout)

    return passing


@dataclass(frozen=True)
class Detours:
    """The ends of a colour that it can reach through a passing layout: their fewest points, and the moves."""

    points: dict[Layout, int]
    _came_from: dict[tuple[Layout, bool], tuple[Layout, bool]]

    def around(self, end: Layout) -> DetourMoves:
        """Return the moves to an end, before and after the passing layout."""
        parts: tuple[list[LayoutMove], list[LayoutMove]] = ([], [])
        stage = (end, True)
        while stage in self._came_from:
            before = self._came_from[stage]
            if before[0] != stage[0]:
                parts[before[1]].append(_move_between(before[0], stage[0]))
            stage = before
        return tuple(reversed(parts[0])), tuple(reversed(parts[1]))


def detours(start: Layout, edges: Iterable[Edge], passing: LayoutTest) -> Detours:
    """Find every end that can be reached from a start through a passing layout, within the points of a turn."""
    onward: dict[Layout, dict[Layout, int]] = {}
    for before, after, steps in edges:
        found = onward.setdefault(before, {})
        found[after] = min(steps, found.get(after, steps))
    points: dict[tuple[Layout, bool], int] = {}
    came_from: dict[tuple[Layout, bool], tuple[Layout, bool]] = {}
    buckets: list[list[tuple[tuple[Layout, bool], tuple[Layout, bool] | None]]] = [[] for _ in range(MOST_POINTS + 1)]
    buckets[0].append(((start, False), None))
    for used, bucket in enumerate(buckets):
        for stage, origin in bucket:
            if stage in points:
                continue
            points[stage] = used
            if origin is not None:
                came_from[stage] = origin
            layout, passed = stage
            if not passed and passing(layout):
                bucket.append(((layout, True), stage))
            for after, steps in onward.get(layout, {}).items():
                if used + steps <= MOST_POINTS:
                    buckets[used + steps].append(((after, passed), stage))
    return Detours({layout: used for (layout, passed), used in points.items() if passed}, came_from)


def _move_between(before: Layout, after: Layout) -> LayoutMove:
    changed = [square for square, pile in enumerate(before) if pile != after[square]]
    start = next(square for square in changed if len(after[square]) < len(before[square]))
    return start, next(square for square in changed if square != start)


Marks = frozenset[str]
"""What may be on top of a square: marks as in layouts, ``""`` for nothing that could move."""

_TopChanges = tuple[tuple[int, str], ...]
"""The squares that look otherwise than before, the lowest first, each with the mark on top."""

_WEIGHT = {"M": 16, "S": 1}
"""A pile holds at most ten pieces of a colour: four bits count the mediums, four the smalls."""
_LEAST_ROOM = {_WEIGHT[mark]: size for mark, size in SIZE_OF_MARK.items()}
_COUNT_BITS = 8  # of each square


@dataclass(frozen=True, slots=True)
class Candidate:
    """An end that a colour might reach: a lower bound on its points, its clear squares and its new caps.

    ``caps`` holds the sizes of the new caps, the largest first. ``left_open`` says whether a new tower has no cap, and
    ``wins`` whether the colour has its fifth tower.
    """

    layout: Layout
    bound: int
    clears: int
    caps: tuple[int, ...]
    left_open: bool
    wins: bool


class _NetMove(NamedTuple):
    """One piece more on one square and one fewer on another.

    ``value`` is that change, added to an integer that packs the counts of all squares.
    """

    steps: int
    start: int
    end: int
    weight: int
    value: int


class _Pile(NamedTuple):
    """A possible pile on a square, and the new top piece if it differs from the old one."""

    square: int
    marks: str
    change: tuple[int, str] | None


class Candidates:
    """Every end that one colour might reach with ``points``, with any of ``caps`` on its new towers.

    With ``may_run_out``, new towers may also stay open because no cap is left.
    """

    def __init__(self, terrain: Terrain, points: int, caps: Sequence[int], *, may_run_out: bool) -> None:
        self.points = points
        self.squares = tuple(square for square, base in enumerate(BASES) if base in (terrain.colour, CLEAR))
        """The squares where the colour can end."""
        self._terrain = terrain
        self._caps = [str(size) for size in dict.fromkeys(caps)]
        self._may_run_out = may_run_out
        self._counts = [pile.count("M") * _WEIGHT["M"] + pile.count("S") for pile in terrain.start]
        # A tower may also be made of pieces that lie there already.
        self._may_be_built = {
            square: self._counts[square] for square in terrain.builds if set(terrain.start[square]) == {"M", "S"}
        }
        self._piles: dict[tuple[int, int], list[_Pile]] = {}
        self._ends: list[tuple[int, tuple[_Pile, ...]]] = []
        self._by_change: dict[_TopChanges, list[int]] = {}
        self.candidate: OnDemand[int, Candidate] = OnDemand(lambda number: self._candidate(self._ends[number][1]))
        """Each candidate by its number; its bound may be more than ``points``."""
        for steps, moves in _net_moves(terrain, points):
            for piles in self._piles_after(moves):
                change = tuple([pile.change for pile in piles if pile.change is not None])
                self._by_change.setdefault(change, []).append(len(self._ends))
                self._ends.append((steps, piles))

    def fitting(self, marks: Mapping[int, Marks]) -> Fitting:
        """Return the candidates that have one of the given marks on top of each of ``squares``."""
        by_steps: list[list[int]] = [[] for _ in range(self.points + 1)]
        for number in self._numbers(marks):
            by_steps[self._ends[number][0]].append(number)
        return Fitting(self, by_steps)

    def _numbers(self, marks: Mapping[int, Marks]) -> Iterator[int]:
        start = self._terrain.start
        changed = [square for square in self.squares if start[square][-1:] not in marks[square]]
        if not all(marks.values()):
            return
        if all(len(allowed) == 1 for allowed in marks.values()):
            exactly = tuple((square, mark) for square in changed for mark in marks[square])
            yield from self._by_change.get(exactly, ())
            return
        for change, ends in self._by_change.items():
            fits = len(changed) <= len(change) and all(mark in marks[square] for square, mark in change)
            if fits and {square for square, _ in change}.issuperset(changed):
                yield from ends

    def _candidate(self, piles: Iterable[_Pile]) -> Candidate:
        terrain = self._terrain
        layout = list(terrain.start)
        left_open = False
        for square, marks, _ in piles:
            left_open = left_open or (marks != layout[square] and _left_open(terrain, square, marks))
            layout[square] = marks
        end = tuple(layout)
        caps = sorted((int(mark) for pile in end for mark in pile if mark in BLACK_MARKS), reverse=True)
        steps = least_steps(terrain, terrain.start, end)
        return Candidate(end, steps, clears_of(end), tuple(caps), left_open, terrain.wins(end))

    def _piles_after(self, moves: Sequence[_NetMove]) -> Iterator[tuple[_Pile, ...]]:
        """Yield every combination of piles on the squares that change, the lowest square first."""
        before, counts = self._counts, self._may_be_built.copy()
        for _, start, end, weight, _ in moves:
            counts[start] = counts.get(start, before[start]) - weight
            counts[end] = counts.get(end, before[end]) + weight
        return product(*[self._piles.get(each) or self._piles_of(*each) for each in sorted(counts.items())])

    def _piles_of(self, square: int, count: int) -> list[_Pile]:
        top = self._terrain.start[square][-1:]
        self._piles[square, count] = [
            _Pile(square, marks, None if marks[-1:] == top else (square, marks[-1:]))
            for marks in self._resting_piles(square, *divmod(count, _WEIGHT["M"]))
        ]
        return self._piles[square, count]

    def _resting_piles(self, square: int, mediums: int, smalls: int) -> Iterator[str]:
        terrain = self._terrain
        plain = "M" * mediums + "S" * smalls
        if plain == terrain.start[square] or self._may_run_out or not _left_open(terrain, square, plain):
            yield plain
        for below in range(1, mediums + 1):
            tower = "M" * below + "S"
            above = "M" * (mediums - below) + "S" * (smalls - 1)
            if smalls and terrain.tower(square, tower):
                yield from (tower + cap + above for cap in self._caps if not above or SIZE_OF_MARK[above[0]] < int(cap))


class Fitting:
    """The candidates that fit the observed board, computed on demand."""

    def __init__(self, candidates: Candidates, by_steps: list[list[int]]) -> None:
        self._candidates = candidates
        self._left = list(enumerate(by_steps))[::-1]
        self._found: list[list[Candidate]] = [[] for _ in by_steps]

    def at(self, bound: int) -> Sequence[Candidate]:
        """Return the candidates with this bound on their points."""
        if bound > self._candidates.points:
            return ()
        # A bound is at least the number of steps of the net moves.
        while self._left and self._left[-1][0] <= bound:
            for candidate in map(self._candidates.candidate.__getitem__, self._left.pop()[1]):
                if candidate.bound <= self._candidates.points:
                    self._found[candidate.bound].append(candidate)
        return self._found[bound]


def _left_open(terrain: Terrain, square: int, pile: str) -> bool:
    """Return whether a pile is a tower without a cap, or was one before more pieces were added."""
    has_cap = any(mark in BLACK_MARKS for mark in pile)
    return not has_cap and any(terrain.tower(square, pile[:height]) for height in range(2, len(pile) + 1))


def _net_moves(terrain: Terrain, points: int) -> Iterator[tuple[int, tuple[_NetMove, ...]]]:
    """List every possible change to the counts of pieces on all squares once, with the fewest steps it takes."""
    left = {
        (_WEIGHT[mark], square): pile.count(mark)
        for square, pile in enumerate(terrain.start)
        for mark in "MS"
        if mark in pile
    }
    moves = sorted(
        _NetMove(
            terrain.distance[start][end],
            start,
            end,
            weight,
            (weight << _COUNT_BITS * end) - (weight << _COUNT_BITS * start),
        )
        for weight, start in left
        for end in range(SQUARES)
        if end != start and terrain.room[end] >= _LEAST_ROOM[weight] and terrain.distance[start][end] <= points
    )
    known: dict[int, tuple[int, tuple[_NetMove, ...]]] = {0: (0, ())}
    net = dict.fromkeys(product(_LEAST_ROOM, range(SQUARES)), 0)

    def add(first: int, used: int, value: int, chosen: tuple[_NetMove, ...]) -> None:
        for number in range(first, len(moves)):
            move = moves[number]
            steps = used + move.steps
            if steps > points:
                return
            start, end = (move.weight, move.start), (move.weight, move.end)
            # A piece that reaches a square another one left is the same net change as a single longer move.
            if net[start] > 0 or net[end] < 0 or -net[start] >= left[start]:
                continue
            changed, several = value + move.value, (*chosen, move)
            if changed not in known or known[changed][0] > steps:
                known[changed] = steps, several
            net[start] -= 1
            net[end] += 1
            add(number, steps, changed, several)
            net[start] += 1
            net[end] -= 1

    add(0, 0, 0, ())
    yield from known.values()


@dataclass(frozen=True, slots=True)
class AlternatingEnd:
    """An end position as one layout for each colour, and moves that lead there."""

    layouts: tuple[Layout, Layout]
    moves: tuple[LayoutMove, ...]


MOST_NODES = 5_000
"""The search gives up after this many positions; it then misses a few unusual ends in ten thousand."""


class WaysToEnds:
    """The fewest steps from each layout of one colour to one of the wanted ends; ``edges`` are the possible moves."""

    def __init__(self, terrain: Terrain, edges: Iterable[Edge], wanted: Iterable[Layout]) -> None:
        self.terrain = terrain
        into: dict[Layout, set[tuple[Layout, int]]] = {}
        for before, after, steps in edges:
            into.setdefault(after, set()).add((before, steps))
        self.left: dict[Layout, int] = {}
        buckets: list[list[Layout]] = [sorted(wanted)]
        for steps_left, layouts in enumerate(buckets):
            for layout in layouts:
                if layout in self.left:
                    continue
                self.left[layout] = steps_left
                for before, steps in into.get(layout, ()):
                    while len(buckets) <= steps_left + steps:
                        buckets.append([])
                    buckets[steps_left + steps].append(before)

    def steps_left(self, layout: Layout) -> int:
        """Return the fewest steps from a layout to an end; 0 only at an end."""
        return self.left.get(layout, UNREACHABLE)


class WayToOneEnd:
    """A lower bound on the steps from each layout of one colour to one end, without exploring the moves."""

    def __init__(self, terrain: Terrain, end: Layout) -> None:
        self.terrain = terrain
        self._end = end
        self._guide = Guide(terrain, end)

    def steps_left(self, layout: Layout) -> int:
        """Return a lower bound on the steps from a layout to the end; 0 only at the end."""
        return 0 if layout == self._end else max(1, self._guide.steps_from(layout))


Ways = WaysToEnds | WayToOneEnd


@dataclass(frozen=True, slots=True)
class _Node:
    piles: Layout
    layouts: tuple[Layout, Layout]
    used: tuple[int, int]
    wins: bool
    came_by: tuple[_Node, LayoutMove] | None
    """The node before, and the move from there; ``None`` at the start."""


def alternating_ends(
    ways: tuple[Ways, Ways], allowed: Sequence[tuple[int, int]], caps: tuple[int, ...]
) -> list[AlternatingEnd]:
    """Return every wanted end within reach of one of the ``allowed`` pairs of points, the cheapest first."""
    return _AlternatingSearch(ways, allowed, caps).run()


class _AlternatingSearch:
    def __init__(self, ways: tuple[Ways, Ways], allowed: Sequence[tuple[int, int]], caps: tuple[int, ...]) -> None:
        self.ways = ways
        self.terrains = terrains = (ways[0].terrain, ways[1].terrain)
        self.allowed = allowed
        self.caps = "".join(str(size) for size in caps)
        self.strict = self.terrains[0].options.strict
        self.rings = self.terrains[0].rings
        self._rests: OnDemand[tuple[int, str], bool] = OnDemand(lambda at: may_rest(terrains, *at))
        """``_rests[square, pile]``: whether all pieces of the pile may rest there."""
        self.fronts: dict[Layout, list[tuple[int, int]]] = {}
        most = max(first + second for first, second in allowed)
        self.buckets: list[list[_Node]] = [[] for _ in range(most + 1)]

    def run(self) -> list[AlternatingEnd]:
        first, second = (terrain.start for terrain in self.terrains)
        start = tuple(mine or theirs.lower() for mine, theirs in zip(first, second, strict=True))
        self._push(_Node(start, (first, second), (0, 0), wins=False, came_by=None))
        found: dict[Layout, AlternatingEnd] = {}
        followed = 0
        for bucket in self.buckets:
            for node in bucket:
                followed += 1
                if followed > MOST_NODES:
                    return list(found.values())
                if node.piles not in found and self._is_end(node):
                    found[node.piles] = AlternatingEnd(node.layouts, _moves_to(node))
                if not node.wins:
                    self._expand(node)
        return list(found.values())

    def _is_end(self, node: _Node) -> bool:
        return all(ways.steps_left(layout) == 0 for ways, layout in zip(self.ways, node.layouts, strict=True)) and all(
            self._rests[square, pile] for square, pile in enumerate(node.piles) if pile
        )

    def _push(self, node: _Node) -> None:
        needed = [
            used + ways.steps_left(layout)
            for used, ways, layout in zip(node.used, self.ways, node.layouts, strict=True)
        ]
        if not any(needed[0] <= first and needed[1] <= second for first, second in self.allowed):
            return
        front = self.fronts.setdefault(node.piles, [])
        if any(first <= node.used[0] and second <= node.used[1] for first, second in front):
            return
        front.append(node.used)
        self.buckets[sum(node.used)].append(node)

    def _expand(self, node: _Node) -> None:
        for start, pile in enumerate(node.piles):
            if not pile or not pile[-1].isalpha():
                continue
            which = int(pile[-1].islower())
            left = max(allowed[which] for allowed in self.allowed) - node.used[which]
            for steps, ring in enumerate(self.rings[start][1 : left + 1], 1):
                for end in ring:
                    self._move(node, start, end, which, steps)

    def _move(self, node: _Node, start: int, end: int, which: int, steps: int) -> None:
        piles = node.piles
        mark = piles[start][-1]
        after = piles[end] + mark
        tower = self._tower(which, end, after)
        black = ""
        if tower:
            built = sum(each in BLACK_MARKS for other in piles for each in other)
            black = self.caps[built : built + 1]
        if self.strict and not self._rests[end, after + black]:
            return
        following = list(piles)
        following[start] = piles[start][:-1]
        following[end] = after + black
        layout = list(node.layouts[which])
        layout[start] = layout[start][:-1]
        ways = self.ways[which]
        covered = not tower and mark in "Ss" and ways.terrain.tower(end, layout[end] + "S")
        layout[end] += "C" if covered else mark.upper() + black
        reached = tuple(layout)
        layouts = (reached, node.layouts[1]) if which == 0 else (node.layouts[0], reached)
        used = (node.used[0] + steps, node.used[1]) if which == 0 else (node.used[0], node.used[1] + steps)
        wins = tower and self._wins(which, following)
        self._push(_Node(tuple(following), layouts, used, wins, (node, (start, end))))

    def _tower(self, which: int, square: int, pile: str) -> bool:
        own = pile if which == 0 else pile.swapcase()
        return own.isalpha() and own.isupper() and self.terrains[which].tower(square, own)

    def _wins(self, which: int, piles: Sequence[str]) -> bool:
        terrain = self.terrains[which]
        towers = terrain.standing + sum(
            any(mark in BLACK_MARKS for mark in piles[square]) or self._tower(which, square, piles[square])
            for square in terrain.builds
        )
        return towers >= TOWERS_TO_WIN


def may_rest(terrains: tuple[Terrain, Terrain], square: int, pile: str) -> bool:
    """Return whether all pieces of a pile of both colours may rest where they lie on a square."""
    rooms = [terrain.room[square] for terrain in terrains]
    for mark in pile:
        if mark in BLACK_MARKS:
            rooms = [int(mark) - 1 if square in terrain.builds else 0 for terrain in terrains]
            continue
        which = int(mark.islower())
        size = SIZE_OF_MARK[mark.upper()]
        if size > rooms[which]:
            return False
        rooms[which], rooms[1 - which] = size, 0
    return True


def _moves_to(node: _Node) -> tuple[LayoutMove, ...]:
    moves: list[LayoutMove] = []
    while node.came_by is not None:
        node, move = node.came_by
        moves.append(move)
    return tuple(reversed(moves))
