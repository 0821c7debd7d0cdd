"""Wrong rolls and wrong hops, one rule each: what a tidy player would not think of and a hurried one does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from simulator.actions import Carry
from simulator.cube import COMPASS, rolled
from simulator.handling import STEPS, neighbour
from simulator.misdeeds import Misdeed, Table

_T = TypeVar("_T")
_Carries = tuple[Carry, ...]
_HOPS = ("stop", "cross", "x", "slider", "hoops")


def _pick(rng: np.random.Generator, among: Sequence[_T]) -> _T | None:
    return among[int(rng.integers(len(among)))] if among else None


def _wrong_hop(table: Table, player: str, rng: np.random.Generator, *, symbol: str) -> _Carries | None:
    """A good roll that brings the symbol up, and a hop to any open square."""
    roll = _pick(rng, [one for one in table.rolls(table.own(player)) if one.pose.up == symbol])
    if roll is None:
        return None
    after = table.then(roll)
    target = _pick(rng, after.open_places())
    return None if target is None else (roll, table.handler.lift(after.standing, roll.end, target))


def _rolled_against_something(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    """Rolled towards a block or the edge, where it can't lie, and put down on another square instead."""
    handler, standing = table.handler, table.standing
    ways = []
    for start in table.own(player):
        for side in COMPASS:
            end = neighbour(handler.layout, start, *STEPS[side])
            if end is None or end in standing:
                ways.append((start, side))
    way, target = _pick(rng, ways), _pick(rng, table.open_places())
    if way is None or target is None:
        return None
    start, side = way
    faces = rolled(handler.faces(standing[start]), side)
    return (handler.lay(standing, start, target, faces["up"], faces["north"]),)


def _rolled_over_twice(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    """Rolled to the next square and over once more on it, so that what was below comes up."""
    roll = _pick(rng, table.rolls(table.own(player)))
    if roll is None or roll.tips_towards is None:
        return None
    faces = rolled(table.handler.faces(roll.pose), roll.tips_towards)
    return (roll, table.handler.lay(table.then(roll).standing, roll.end, roll.end, faces["up"], faces["north"]))


def _replaced_by_the_others(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    """Taken off the board, with a block of the opponent's from beside it put there instead."""
    start = _pick(rng, table.own(player))
    trays = [place for place in table.standing if " tray " in place and not place.startswith(player)]
    tray = _pick(rng, trays)
    if start is None or tray is None:
        return None
    off = table.handler.take_off(table.standing, start)
    block = table.standing[tray]
    return (off, table.handler.lay(table.standing.after(off), tray, start, block.up, block.north))


ROLLS_AND_HOPS: Mapping[str, Misdeed] = {
    **{f"hopped wrongly with {symbol} up": partial(_wrong_hop, symbol=symbol) for symbol in _HOPS},
    "rolled against something": _rolled_against_something,
    "rolled over twice": _rolled_over_twice,
    "replaced by the other's block": _replaced_by_the_others,
}
"""Every kind by name; each gives carries, or ``None`` when the position has no room for it."""
