"""Photographs of dice with known truth, and which of them are kept aside: chosen by a hash of their names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

HELD_OUT = 60
"""How many photographs are never trained on."""

BOX_PER_SIDE = 1.45
"""How large the boxes of the truth are beside a die's edge: they hold all of a die, however it is turned."""


@dataclass(frozen=True)
class PhotographedDie:
    """A die in a photograph: its value as text, and its box (left, top, right, bottom) in pixels."""

    value: str
    box: tuple[float, float, float, float]


def load_truth(folder: Path) -> dict[str, list[PhotographedDie]]:
    """Read ``truth.json`` of a folder: the dice by file name."""
    given: Mapping[str, list[Mapping[str, object]]] = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    return {
        name: [PhotographedDie(str(die["value"]), tuple(die["box"])) for die in dice]  # type: ignore[arg-type]
        for name, dice in given.items()
    }


def held_out(names: Iterable[str]) -> frozenset[str]:
    """The names that are kept aside: the first HELD_OUT by the SHA-256 of the name."""
    return frozenset(sorted(names, key=lambda name: hashlib.sha256(name.encode()).hexdigest())[:HELD_OUT])
