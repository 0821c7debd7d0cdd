"""How dice are handled: thrown in the tray, touched by mistake."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from simulator.play.actions import Arrangement, Carries, Carry, Handler, pick
from simulator.rendering.dice import dice_tray, die_side_mm
from simulator.scene.pieces import DiePose, PiecePose, changed
from vision.layout.pieces import DicePieces

_FROM_THE_RIM = 0.75
"""How far from the tray's rim a die's middle stays, in edges."""
_TOUCHED_MM = 1.5
"""How far a die that is touched is pushed, standard deviation."""
_APART = 1.6
"""How far from each other the middles of dice stay, in edges, so that none leans on another."""
_PIPS = "123456"
"""The faces of a die with pips."""
_MOST_TRIES = 1000
"""Throws after which a tray is taken to have no room: where half of it is free, one in two finds some."""


def _values(dice: Sequence[DiePose], faces: Sequence[str]) -> tuple[int, ...]:
    """Return which side of each die is up when they show these faces, in order if possible; none if impossible."""
    sides = [tuple(die.printed or _PIPS) for die in dice]
    for order in permutations(faces) if len(dice) == len(faces) else ():
        if all(face in has for face, has in zip(order, sides, strict=True)):
            return tuple(has.index(face) + 1 for face, has in zip(order, sides, strict=True))
    return ()


class DiceThrower(Handler):
    """Handles pieces of a game with ordinary dice. Dice lie on places that are called what they are called."""

    def dice_lying_about(self, dice: Mapping[str, str]) -> dict[str, PiecePose]:
        """Return dice in the tray, given their names and colours; none where the table has no tray."""
        lying: dict[str, PiecePose] = {}
        tray = dice_tray(self.layout)
        if tray is None:
            return lying
        printed = DicePieces.on(tray).printed
        for number, (name, colour) in enumerate(dice.items()):
            thrown = self._throw(colour, int(self._rng.integers(1, 7)), lying.values())
            lying[name] = replace(thrown, printed=printed[number]) if printed else thrown
        return lying

    def in_tray(self, die: DiePose) -> bool:
        """Whether a die lies in the tray."""
        tray = dice_tray(self.layout)
        return tray is not None and tray.bounds_mm.contains(die.x_mm, die.y_mm)

    def _throw(self, colour: str, value: int, lying: Iterable[PiecePose]) -> DiePose:
        """Return a die as it comes to lie in the tray, clear of those that lie there."""
        tray, side = dice_tray(self.layout), die_side_mm(self.layout)
        if tray is None:
            raise ValueError("this table has no tray to throw dice in")
        room = tray.bounds_mm.grown(-_FROM_THE_RIM * side)
        others = tuple(lying)
        for _ in range(_MOST_TRIES if min(room.width_mm, room.depth_mm) >= 0 else 0):
            x = float(self._rng.uniform(room.left_mm, room.right_mm))
            y = float(self._rng.uniform(room.near_mm, room.far_mm))
            if all(math.hypot(x - one.x_mm, y - one.y_mm) > _APART * side for one in others):
                turned_deg = float(self._rng.uniform(-45.0, 45.0))
                return DiePose(x, y, colour, value, turned_deg=turned_deg, base_mm=tray.height_mm)
        whole = tray.bounds_mm
        raise ValueError(
            f"the tray of this table is {whole.width_mm:g} by {whole.depth_mm:g} mm, too small to throw a die of "
            f"{side:g} mm beside {len(others)} others; give the layout a larger tray"
        )

    def throw_dice(self, standing: Arrangement, faces: Mapping[str, str]) -> Carries:
        """Carry one die after the other to where it is thrown, with these faces up, each on a die that has it.

        No carries where there are no such dice.
        """
        dice = {name: die for name in faces if isinstance(die := standing.get(name), DiePose)}
        carries: list[Carry] = []
        for (name, die), value in zip(dice.items(), _values(tuple(dice.values()), tuple(faces.values())), strict=False):
            lying = (piece for other, piece in standing.items() if isinstance(piece, DiePose) and other != name)
            thrown = self._throw(die.colour, value, lying)
            carries.append(Carry(name, name, replace(thrown, printed=die.printed)))
            standing = standing.after(carries[-1])
        return tuple(carries)

    def touch_dice(self, standing: Arrangement, player: str) -> Carries:
        """Turn one of a player's dice over, near to where it lies."""
        own = [name for name, piece in standing.items() if isinstance(piece, DiePose) and self.owner(piece) == player]
        name = pick(self._rng, own)
        die = None if name is None else standing[name]
        if name is None or not isinstance(die, DiePose):
            return ()
        value = die.value % 6 + 1
        x, y = (middle + self._within(_TOUCHED_MM, 3 * _TOUCHED_MM) for middle in (die.x_mm, die.y_mm))
        return (Carry(name, name, changed(die, x_mm=x, y_mm=y, value=value)),)
