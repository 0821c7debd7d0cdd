"""How dice are thrown in the tray."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import permutations

from simulator.play.actions import Arrangement, Carries, Carry, Handler
from simulator.scene.pieces import DiePose, PiecePose
from simulator.scene.sheets import dice_tray, die_side_mm
from vision.layout.pieces import DicePieces

_FROM_THE_RIM = 0.75
"""Minimum distance of a die's centre from the tray's rim, in edges."""
_APART = 1.6
"""Minimum distance between the centres of dice, in edges, so that none leans on another."""
_PIPS = "123456"
"""The faces of a die with pips."""
_MOST_TRIES = 1000
"""Random positions tried before the tray counts as full."""


def _values(dice: Sequence[DiePose], faces: Sequence[str]) -> tuple[int, ...]:
    """Return the number of each die's upper face when they show these faces, in any order; empty if they can't."""
    sides = [tuple(die.printed or _PIPS) for die in dice]
    for order in permutations(faces) if len(dice) == len(faces) else ():
        if all(face in has for face, has in zip(order, sides, strict=True)):
            return tuple(has.index(face) + 1 for face, has in zip(order, sides, strict=True))
    return ()


class DiceThrower(Handler):
    """Handles the dice of a game. In an arrangement, a die's place is the die's name."""

    def scattered_dice(self, dice: Mapping[str, str]) -> dict[str, PiecePose]:
        """Return dice in the tray, given their colours by name; empty if the table has no tray."""
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

    def has_room(self, point_mm: tuple[float, float], others: Iterable[PiecePose]) -> bool:
        """Whether a die can lie at a point of the table without leaning on other dice."""
        x, y = point_mm
        least_mm = _APART * die_side_mm(self.layout)
        return all(math.hypot(x - one.x_mm, y - one.y_mm) > least_mm for one in others)

    def _throw(self, colour: str, value: int, lying: Iterable[PiecePose]) -> DiePose:
        """Return a die thrown into the tray, clear of those that lie there."""
        tray, side = dice_tray(self.layout), die_side_mm(self.layout)
        if tray is None:
            raise ValueError("this table has no tray to throw dice in")
        room = tray.bounds_mm.grown(-_FROM_THE_RIM * side)
        others = tuple(lying)
        for _ in range(_MOST_TRIES if min(room.width_mm, room.depth_mm) >= 0 else 0):
            x = float(self._rng.uniform(room.left_mm, room.right_mm))
            y = float(self._rng.uniform(room.near_mm, room.far_mm))
            if self.has_room((x, y), others):
                turned_deg = float(self._rng.uniform(-45.0, 45.0))
                return DiePose(x, y, colour, value, turned_deg=turned_deg, base_mm=tray.height_mm)
        whole = tray.bounds_mm
        raise ValueError(
            f"the tray of this table is {whole.width_mm:g} by {whole.depth_mm:g} mm, too small to throw a die of "
            f"{side:g} mm beside {len(others)} others; give the layout a larger tray"
        )

    def throw_dice(self, standing: Arrangement, faces: Mapping[str, str]) -> Carries:
        """Return the carries that throw dice, by name, so that together they show these faces; none without dice."""
        dice = {name: die for name in faces if isinstance(die := standing.get(name), DiePose)}
        carries: list[Carry] = []
        for (name, die), value in zip(dice.items(), _values(tuple(dice.values()), tuple(faces.values())), strict=False):
            lying = (piece for other, piece in standing.items() if isinstance(piece, DiePose) and other != name)
            thrown = self._throw(die.colour, value, lying)
            carries.append(Carry(name, name, replace(thrown, printed=die.printed)))
            standing = standing.after(carries[-1])
        return tuple(carries)
