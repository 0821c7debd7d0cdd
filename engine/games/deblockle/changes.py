"""What happened to each block between two appearances, legal or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from engine.games.deblockle.board import GRID, PLAYERS
from engine.games.deblockle.state import DeblockleState
from engine.support.breaches import pair_squares

Seen = tuple[str, str]
"""Owner and top symbol of a block as an onlooker sees it."""


@dataclass(frozen=True)
class Moved:
    """A block that moved, or shows a different top on the same square; ``landed_on`` is the block it replaced."""

    owner: str
    start: int
    end: int
    top_before: str
    top_after: str
    landed_on: Seen | None = None


@dataclass(frozen=True)
class Removed:
    """A block that is no longer there."""

    owner: str
    square: int


@dataclass(frozen=True)
class Added:
    """A block that wasn't on the board before."""

    owner: str
    square: int


@dataclass(frozen=True)
class Recoloured:
    """A block of one player where a block of the other stood."""

    square: int
    before: Seen
    after: Seen


Change = Moved | Removed | Added | Recoloured


def changes_between(
    before: DeblockleState, after: Mapping[int, Seen | None], legal: Iterable[tuple[int, int, str]]
) -> list[Change]:
    """List what happened to each block. ``after`` holds the squares that were seen; the others count as unchanged.

    ``legal`` holds (start, end, top) of turns that either player might have played. Blocks that look alike are paired
    by such a turn if one fits, otherwise with the nearest.
    """
    cube = before.options.cube
    old: dict[int, Seen] = {block.square: (block.owner, cube.top(block.mask)) for block in before.blocks}
    new: dict[int, Seen] = {**old}
    for square, seen in after.items():
        if seen is None:
            new.pop(square, None)
        else:
            new[square] = seen
    playable = set(legal)
    moved: list[Moved] = []
    gone: dict[int, Seen] = {}
    came: dict[int, Seen] = {}
    for owner in PLAYERS:
        moves, left, arrived = _moves_of(owner, old, new, playable)
        moved += moves
        gone |= left
        came |= arrived
    # A block that moved to a vacated square landed on nothing.
    vacated = {change.start for change in moved}
    moved = [replace(change, landed_on=None) if change.end in vacated else change for change in moved]
    landed_on = {change.end for change in moved if change.landed_on}
    recoloured = [Recoloured(square, gone[square], came[square]) for square in sorted(gone.keys() & came.keys())]
    removed = [
        Removed(owner, square) for square, (owner, _) in sorted(gone.items()) if square not in landed_on | came.keys()
    ]
    added = [Added(owner, square) for square, (owner, _) in sorted(came.items()) if square not in gone]
    return [*moved, *recoloured, *removed, *added]


def _moves_of(
    owner: str, old: Mapping[int, Seen], new: Mapping[int, Seen], playable: set[tuple[int, int, str]]
) -> tuple[list[Moved], dict[int, Seen], dict[int, Seen]]:
    """Return one owner's blocks that moved or turned, those that vanished, and those that appeared."""
    was = {square: seen for square, seen in old.items() if seen[0] == owner}
    now = {square: seen for square, seen in new.items() if seen[0] == owner}
    left = {square: seen for square, seen in was.items() if square not in now}
    arrived = {square: seen for square, seen in now.items() if square not in was}
    turned = {square: now[square] for square, seen in was.items() if now.get(square, seen) != seen}
    moved: list[Moved] = []
    for targets in (arrived, turned):
        # A block that may have left over its goal landed on no other.
        starts = left if targets is arrived else [start for start in left if (start, -1, "star") not in playable]
        for start, end in pair_squares(starts, targets, _unlikeliness(targets, playable)):
            moved.append(Moved(owner, start, end, left.pop(start)[1], targets.pop(end)[1], old.get(end)))
    moved += [Moved(owner, square, square, old[square][1], seen[1]) for square, seen in turned.items()]
    return moved, left, arrived


def _unlikeliness(
    arrived: Mapping[int, Seen], legal: set[tuple[int, int, str]]
) -> Callable[[int, int], tuple[bool, int]]:
    """Sort key for how unlikely a block's move is: whether no legal turn explains it, then the distance."""
    tops = {end: top for end, (_, top) in arrived.items()}
    return lambda start, end: ((start, end, tops[end]) not in legal, sum(GRID.apart(start, end)))
