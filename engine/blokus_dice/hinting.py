"""A good turn and why."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from engine.api import Clock, Hint, Strength
from engine.blokus_dice.state import BlokusState, BlokusTurn


def find_hint(
    state: BlokusState,
    deadline_s: float,
    rng: Random,
    clock: Clock,
    strength: Strength,
    better: Callable[[Hint[BlokusTurn]], None] | None,
) -> Hint[BlokusTurn]:
    raise NotImplementedError
