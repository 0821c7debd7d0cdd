"""The cheapest way for one colour to one end, found without searching for all the other ends."""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.blockade.enumeration.guide import Guide
from engine.games.blockade.enumeration.reach import (
    BY_COST,
    DEAR,
    CameFrom,
    Move,
    Node,
    Search,
    Way,
    moves_to_node,
)
from engine.games.blockade.enumeration.terrain import BLACK_MARKS, Layout, Terrain, caps_in


def way_to(terrain: Terrain, end: Layout, points: int, caps: tuple[int, ...], *, covered: bool = False) -> Way | None:
    """Find the same way to one layout as ``reach.explore``; ``None`` if it takes more points."""
    if any(terrain.needs[square][pile] for square, pile in enumerate(end)):
        return None
    guide = Guide(terrain, end)
    least = guide.steps_from(terrain.start)
    straight = _straight_way(terrain, end, least, caps) if least <= points else None
    if straight is not None:
        return straight
    for most in range(least, points + 1):
        found = Search(terrain, most, caps, covered=covered, edges=False, guide=guide).way_to(end)
        if found is not None:
            return found
    return None


def _straight_way(terrain: Terrain, end: Layout, points: int, caps: tuple[int, ...]) -> Way | None:
    """Return the way to a layout on which every piece moves directly to its place, if it takes exactly these points."""
    marks = "".join(str(size) for size in caps)
    start: Node = (terrain.start, ())
    cost: dict[Node, int] = {start: 0}
    came_from: CameFrom = {start: None}
    buckets: list[list[Node]] = [[] for _ in range((points + 1) * BY_COST)]
    buckets[0].append(start)
    for bucket, nodes in enumerate(buckets):
        for node in nodes:
            layout = node[0]
            if layout == end:
                return Way(points, moves_to_node(node, came_from)) if bucket // BY_COST == points else None
            if cost[node] < bucket or terrain.wins(layout):
                continue
            for move in _homeward(terrain, layout, end, marks):
                piles = list(layout)
                piles[move.start], piles[move.end] = move.rest, move.placed
                reached: Node = (tuple(piles), ())
                spent = bucket + move.steps * BY_COST + 1
                if spent < min(cost.get(reached, DEAR), len(buckets)):
                    cost[reached] = spent
                    came_from[reached] = (node, move.start, move.end)
                    buckets[spent].append(reached)
    return None


def _homeward(terrain: Terrain, layout: Layout, end: Layout, caps: str) -> Iterator[Move]:
    """Yield the moves that put a piece that must be lifted directly where it belongs at the end."""
    lacking = {
        square: wanted[len(pile)]
        for square, (pile, wanted) in enumerate(zip(layout, end, strict=True))
        if pile != wanted and wanted.startswith(pile)
    }
    for start, pile in enumerate(layout):
        if end[start].startswith(pile) or pile[-1] in BLACK_MARKS:
            continue
        mark, rest = pile[-1], pile[:-1]
        for _, steps, to in terrain.targets[mark][start]:
            if lacking.get(to) == mark:
                placed = layout[to] + mark
                tower = mark == "S" and terrain.tower(to, placed)
                if tower:
                    built = caps_in(layout)
                    placed += caps[built : built + 1]
                if end[to].startswith(placed):
                    yield Move(start, to, rest, placed, steps, tower)
