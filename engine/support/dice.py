"""What dice may show, with exact probabilities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from engine.api import PossibleRoll, Roll

ORDINARY_DIE: tuple[str, ...] = ("1", "2", "3", "4", "5", "6")
"""The faces of an ordinary die."""

Faces = tuple[str, ...]


def every_roll(
    dice: Sequence[Sequence[str]], canonical: Callable[[Faces], Faces] = lambda faces: faces
) -> tuple[PossibleRoll, ...]:
    """Every roll of these dice (each the sequence of its faces, all equally likely), sorted by faces.

    ``canonical`` gives the one order for rolls that are the same to the game; theirs are added up.
    """
    counted = Counter(canonical(faces) for faces in product(*dice))
    total = prod(len(die) for die in dice)
    return tuple(PossibleRoll(Roll(faces), Fraction(count, total)) for faces, count in sorted(counted.items()))


def format_roll(roll: Roll) -> str:
    """Write a roll in its strict text form, such as ``4,1``."""
    return ",".join(roll.faces)


def drawn(rolls: Sequence[PossibleRoll], rng: Random) -> Roll:
    """Draw one of the possible rolls by its probability, for looking ahead; raises ValueError when there are none."""
    if not rolls:
        raise ValueError("there is no roll to draw from; expected at least one possible roll")
    return rng.choices(rolls, [float(each.probability) for each in rolls])[0].roll
