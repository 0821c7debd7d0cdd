"""Exact probabilities of rolls."""

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import prod
from random import Random

from engine.values import PossibleRoll, Roll

ORDINARY_DIE: tuple[str, ...] = ("1", "2", "3", "4", "5", "6")
"""The faces of an ordinary die."""

Faces = tuple[str, ...]


def every_roll(
    dice: Sequence[Sequence[str]], canonical: Callable[[Faces], Faces] = lambda faces: faces
) -> tuple[PossibleRoll, ...]:
    """List every roll of these dice, sorted by faces; a die is the sequence of its equally likely faces.

    ``canonical`` maps rolls that are equivalent in the game to one order of faces; their probabilities are added up.
    """
    counted = Counter(canonical(faces) for faces in product(*dice))
    total = prod(len(die) for die in dice)
    return tuple(PossibleRoll(Roll(faces), Fraction(count, total)) for faces, count in sorted(counted.items()))


def format_roll(roll: Roll) -> str:
    """Write a roll in its strict text form, such as ``4,1``."""
    return ",".join(roll.faces)


def drawn(rolls: Sequence[PossibleRoll], rng: Random) -> Roll:
    """Draw one of the possible rolls by its probability, for search; raises ValueError if there are none."""
    if not rolls:
        raise ValueError("there is no roll to draw from; expected at least one possible roll")
    return rng.choices(rolls, [float(each.probability) for each in rolls])[0].roll
