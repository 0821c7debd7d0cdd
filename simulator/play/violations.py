"""Ways to break the rules of Deblockle on purpose, as carries; whether one really is illegal is asked of the engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from simulator.actions import Carry, Standing
from simulator.cube import COMPASS, rolled, turned
from simulator.handling import STEPS, Handler, neighbour

_T = TypeVar("_T")
Misdeed = Callable[["Table", str, np.random.Generator], "tuple[Carry, ...] | None"]


class Table:
    """What a player who cheats needs to know: what stands where and how blocks are handled."""

    def __init__(self, standing: Standing, handler: Handler) -> None:
        self.standing = standing
        self.handler = handler

    def own(self, player: str) -> list[str]:
        """The player's places on the board."""
        places = self.handler.layout.places
        return [place for place in places if place in self.standing and self.standing[place].colour == player]

    def foes(self, player: str) -> list[str]:
        """The opponent's places on the board."""
        places = self.handler.layout.places
        return [place for place in places if place in self.standing and self.standing[place].colour != player]

    def open_places(self) -> list[str]:
        """Empty squares that are no star."""
        layout = self.handler.layout
        return [place for place in layout.places if place not in self.standing and place not in layout.star_places]

    def rolls(self, starts: Sequence[str], *, onto_star: bool = False) -> list[Carry]:
        """Rolls of those blocks to open squares, or to star squares only."""
        layout = self.handler.layout
        found: list[Carry] = []
        for start in starts:
            for side in COMPASS:
                end = neighbour(layout, start, *STEPS[side])
                if end is not None and end not in self.standing and (end in layout.star_places) == onto_star:
                    found.append(self.handler.roll(self.standing, start, side))
        return found

    def then(self, carry: Carry) -> Table:
        """The table after a carry."""
        return Table(self.standing.after(carry), self.handler)


def _pick(rng: np.random.Generator, among: Sequence[_T]) -> _T | None:
    return among[int(rng.integers(len(among)))] if among else None


def _honest_roll(table: Table, player: str, rng: np.random.Generator) -> Carry | None:
    return _pick(rng, [roll for roll in table.rolls(table.own(player)) if roll.pose.up != "star"])


def _wrong_hop(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    roll = _honest_roll(table, player, rng)
    if roll is None:
        return None
    rolled_table = table.then(roll)
    target = _pick(rng, rolled_table.open_places())
    if target is None:
        return None
    return (roll, table.handler.lift(rolled_table.standing, roll.end, target))


def _hop_missing(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    roll = _pick(rng, [roll for roll in table.rolls(table.own(player)) if roll.pose.up not in {"star", "stop"}])
    return None if roll is None else (roll,)


def _rolled_diagonally(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    start = _pick(rng, table.own(player))
    if start is None:
        return None
    columns, rows = (int(step) for step in rng.choice([-1, 1], 2))
    end = neighbour(table.handler.layout, start, columns, rows)
    if end is None or end not in table.open_places():
        return None
    side = "east" if columns > 0 else "west"
    faces = rolled(table.handler.faces(table.standing[start]), side)
    return (table.handler.lay(table.standing, start, end, faces["up"], faces["north"]),)


def _rolled_too_far(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    first = _honest_roll(table, player, rng)
    if first is None or first.tips_towards is None:
        return None
    after = table.then(first)
    further = [roll for roll in after.rolls([first.end]) if roll.tips_towards == first.tips_towards]
    return (first, further[0]) if further else None


def _opponents_block(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    roll = _pick(rng, table.rolls(table.foes(player)))
    return None if roll is None else (roll,)


def _rolled_onto_star(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    rolls = [roll for roll in table.rolls(table.own(player), onto_star=True) if roll.pose.up != "star"]
    roll = _pick(rng, rolls)
    return None if roll is None else (roll,)


def _star_rolled_up(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    roll = _pick(rng, [roll for roll in table.rolls(table.own(player)) if roll.pose.up == "star"])
    return None if roll is None else (roll,)


def _moved_without_rolling(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    start, end = _pick(rng, table.own(player)), _pick(rng, table.open_places())
    return None if start is None or end is None else (table.handler.lift(table.standing, start, end),)


def _two_blocks_moved(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    first = _honest_roll(table, player, rng)
    if first is None:
        return None
    after = table.then(first)
    others = [roll for roll in after.rolls(after.own(player)) if roll.start != first.end]
    second = _pick(rng, others)
    return None if second is None else (first, second)


def _turned_over_in_place(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    start = _pick(rng, table.own(player))
    if start is None:
        return None
    faces = rolled(table.handler.faces(table.standing[start]), COMPASS[int(rng.integers(4))])
    return (table.handler.lay(table.standing, start, start, faces["up"], faces["north"]),)


def _turned_in_place(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    start = _pick(rng, table.own(player))
    if start is None:
        return None
    faces = turned(table.handler.faces(table.standing[start]), int(rng.integers(1, 4)))
    return (table.handler.lay(table.standing, start, start, faces["up"], faces["north"]),)


def _taken_off(table: Table, player: str, rng: np.random.Generator) -> tuple[Carry, ...] | None:
    start = _pick(rng, table.own(player))
    return None if start is None else (table.handler.take_off(table.standing, start),)


MISDEEDS: Mapping[str, Misdeed] = {
    "wrong hop": _wrong_hop,
    "hop missing": _hop_missing,
    "rolled diagonally": _rolled_diagonally,
    "rolled too far": _rolled_too_far,
    "opponent's block moved": _opponents_block,
    "rolled onto star": _rolled_onto_star,
    "star rolled up": _star_rolled_up,
    "moved without rolling": _moved_without_rolling,
    "two blocks moved": _two_blocks_moved,
    "turned over in place": _turned_over_in_place,
    "taken off": _taken_off,
    "turned in place": _turned_in_place,
}
"""Every kind by name; each gives carries, or ``None`` when the position has no room for it."""

SEEN_FROM_ABOVE = tuple(kind for kind in MISDEEDS if kind != "turned in place")
"""The kinds that show in what lies on top; turning a block on its square only shows in its side faces."""
