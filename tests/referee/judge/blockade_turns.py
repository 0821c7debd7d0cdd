"""Turns of Blockade that the table shows clearly, and such as look alike."""

from collections import Counter
from typing import Any

from engine.registry import load

BLOCKADE = load("blockade")


def moving_turn(state: Any) -> tuple[Any, Any]:
    """A turn of Blockade with a unique appearance that differs from the one before, and the state after it."""
    ends = [(turn, BLOCKADE.rules.apply(state, turn)) for turn in BLOCKADE.rules.legal_turns(state)]
    looks = [tuple(BLOCKADE.table.appearance(end).values()) for _, end in ends]
    alike = Counter([*looks, tuple(BLOCKADE.table.appearance(state).values())])
    return next(one for one, look in zip(ends, looks, strict=True) if alike[look] == 1)


def moved_alike(state: Any) -> Any:
    """The state after a turn of Blockade that changes the table to the appearance another turn has too."""
    ends = [BLOCKADE.rules.apply(state, turn) for turn in BLOCKADE.rules.legal_turns(state)]
    looks = [tuple(BLOCKADE.table.appearance(end).values()) for end in ends]
    alike = Counter(looks)
    alike[tuple(BLOCKADE.table.appearance(state).values())] = 0
    return next(end for end, look in zip(ends, looks, strict=True) if alike[look] > 1)
