"""What the soak makes of one game: every turn and every violation with its outcome."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Outcome(enum.Enum):
    """What became of one turn or violation."""

    AT_ONCE = "right at once"
    AFTER_ASKING = "right after asking"
    NEEDLESSLY = "asked needlessly"
    UNSEEN = "could not be seen"
    WRONG = "wrong"
    LOST = "lost"


@dataclass(frozen=True)
class Item:
    """One turn or violation: what it was, which faults were about, what became of it, and how long the light took."""

    seed: int
    number: int
    time_s: float
    what: str
    kinds: tuple[str, ...]
    outcome: Outcome
    detail: str = ""
    latency_frames: int | None = None
    rules: tuple[str, ...] = ()
    expected_rules: tuple[str, ...] = ()

    @property
    def failed(self) -> bool:
        """Whether it may not be."""
        return self.outcome in {Outcome.WRONG, Outcome.LOST}


@dataclass(frozen=True)
class GameScore:
    """One game's items, how long computing took (seconds a frame; with a loud verdict apart), and its fingerprint."""

    seed: int
    turns: int
    frames: int
    items: tuple[Item, ...]
    computing_s: tuple[float, ...]
    verdict_computing_s: tuple[float, ...]
    digest: str
    narrowed_wrongly: tuple[str, ...] = ()
    turn_end: str = "button"
    questions: int = 0
