"""More ways to break the rules than a tidy player knows: blocks swapped, fallen off, put on, turned and so on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from simulator.actions import Carry
from simulator.cube import faces_of, turned
from simulator.faults_rolls import ROLLS_AND_HOPS
from simulator.misdeeds import MISDEEDS, Misdeed, Table
from vision.layout import TableLayout

_T = TypeVar("_T")
_Carries = tuple[Carry, ...]


def _pick(rng: np.random.Generator, among: Sequence[_T]) -> _T | None:
    return among[int(rng.integers(len(among)))] if among else None


def _swapped(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    places = [*table.own(player), *table.foes(player)]
    one, free = _pick(rng, table.own(player)), _pick(rng, table.open_places())
    other = _pick(rng, [place for place in places if place != one])
    if one is None or other is None or free is None:
        return None
    handler, standing = table.handler, table.standing
    aside = handler.lift(standing, one, free)
    standing = standing.after(aside)
    across = handler.lift(standing, other, one)
    standing = standing.after(across)
    return (aside, across, handler.lift(standing, free, other))


def _fallen_off(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    start = _pick(rng, [*table.own(player), *table.foes(player)])
    if start is None:
        return None
    carry = table.handler.take_off(table.standing, start)
    if rng.random() < 0.5:
        # Gone altogether: it rolled under the table.
        return (replace(carry, pose=replace(carry.pose, x_mm=2.5 * carry.pose.x_mm, y_mm=450.0)),)
    return (carry,)


def _put_on(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    trays = [place for place in table.standing if " tray " in place]
    trays = [place for place in trays if place.startswith(player)] or trays
    start, end = _pick(rng, trays), _pick(rng, table.open_places())
    if start is None or end is None:
        return None
    block = table.standing[start]
    return (table.handler.lay(table.standing, start, end, block.up, block.north),)


def _landed_on_block(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    own, foe = _pick(rng, table.own(player)), _pick(rng, table.foes(player))
    if own is None or foe is None:
        return None
    off = table.handler.take_off(table.standing, foe)
    return (off, table.handler.lift(table.standing.after(off), own, foe))


def _landed_on_star(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    roll = _pick(rng, [one for one in table.rolls(table.own(player)) if one.pose.up not in {"star", "stop"}])
    stars = [place for place in table.handler.layout.star_places if place not in table.standing]
    star = _pick(rng, stars)
    if roll is None or star is None:
        return None
    return (roll, table.handler.lift(table.standing.after(roll), roll.end, star))


def star_of(layout: TableLayout, player: str, *, own: bool) -> str:
    """The player's own star, which is the one nearer to them, or the one that is their goal."""
    near, far = sorted(layout.star_places, key=lambda place: int(place[1:]))
    return near if (player != "teal") == own else far


def _star_up_onto(table: Table, player: str, star: str, rng: np.random.Generator) -> Carry | None:
    rolls = table.rolls(table.own(player), onto_star=True)
    return _pick(rng, [one for one in rolls if one.pose.up == "star" and one.end == star])


def _left_standing_on_goal(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    roll = _star_up_onto(table, player, star_of(table.handler.layout, player, own=False), rng)
    return None if roll is None else (roll,)


def _left_by_own_star(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    """The right roll on the wrong star: the block stays there, or is taken off the board."""
    roll = _star_up_onto(table, player, star_of(table.handler.layout, player, own=True), rng)
    if roll is None:
        return None
    if rng.random() < 0.5:
        return (roll,)
    return (roll, table.handler.take_off(table.then(roll).standing, roll.end))


def _moved_though_stuck(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    """The opponent has no square to roll to and is passed over, and moves all the same."""
    foes = table.foes(player)
    if not foes or table.rolls(foes) or table.rolls(foes, onto_star=True):
        return None
    start, end = _pick(rng, foes), _pick(rng, table.open_places())
    return None if start is None or end is None else (table.handler.lift(table.standing, start, end),)


def _turned_while_hopping(table: Table, player: str, rng: np.random.Generator) -> _Carries | None:
    """A good roll and a step to a neighbouring square, as cross and x ask for, with the block turned on its way."""
    roll = _pick(rng, [one for one in table.rolls(table.own(player)) if one.pose.up in {"cross", "x"}])
    if roll is None:
        return None
    after = table.then(roll)
    layout = table.handler.layout
    x, y = layout.centre_mm(roll.end)
    diagonal = roll.pose.up == "x"
    ends = []
    for place in after.open_places():
        away = sorted(
            round(abs(one - other) / layout.cell_mm) for one, other in zip(layout.centre_mm(place), (x, y), strict=True)
        )
        if away == ([1, 1] if diagonal else [0, 1]):
            ends.append(place)
    end = _pick(rng, ends)
    if end is None:
        return None
    faces = turned(faces_of(layout.net, roll.pose.up, roll.pose.north), int(rng.integers(1, 4)))
    return (roll, table.handler.lay(after.standing, roll.end, end, faces["up"], faces["north"]))


STUCK = "moved though stuck"
"""The kind that only a player who has no turn can do."""

BY_SIDES = ("turned in place", "turned while hopping")
"""The kinds that change no top beyond what a legal turn would: only side faces tell of them."""

ALL_MISDEEDS: Mapping[str, Misdeed] = {
    **MISDEEDS,
    **ROLLS_AND_HOPS,
    "two blocks swapped": _swapped,
    "block fallen off": _fallen_off,
    "block put on": _put_on,
    "landed on a block": _landed_on_block,
    "hopped onto a star": _landed_on_star,
    "left standing on the goal": _left_standing_on_goal,
    "left by its own star": _left_by_own_star,
    STUCK: _moved_though_stuck,
    "turned while hopping": _turned_while_hopping,
}
"""Every kind by name, those of ``simulator.misdeeds`` and ``simulator.faults_rolls`` included."""

BY_STAR: Mapping[str, bool] = {"left standing on the goal": False, "left by its own star": True}
"""The kinds that need a block which can be rolled star up onto a star, and whether that is the player's own."""
