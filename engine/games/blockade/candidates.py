"""The ends that one colour might reach, listed by how many pieces leave and reach each square.

On squares where the colour's pieces may rest, the counts of mediums and smalls determine how they lie. So the ends can
be listed by net moves, whatever happens in between: this takes milliseconds, while a search for everything that can be
reached takes seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from engine.games.blockade.reach import BLACK_MARKS, SIZE_OF_MARK, Layout, Terrain, clears_of, least_steps
from engine.games.blockade.state import BASES, CLEAR, SQUARES
from engine.support.lazy import OnDemand

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
