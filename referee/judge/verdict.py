"""A verdict: what the judge decided about the table, with its reasons."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from engine.api import Appearance, Breach


class VerdictKind(enum.Enum):
    """What became of what was seen."""

    SET_UP = "set up"
    ACCEPTED = "accepted"
    UNCHANGED = "unchanged"
    NOT_FINISHED = "not finished"
    ILLEGAL = "illegal"
    PUT_RIGHT = "put right"
    AMBIGUOUS = "ambiguous"
    CANNOT_SEE = "cannot see"


@dataclass(frozen=True)
class Verdict:
    """The judge's decision.

    ``turns`` holds the accepted turns in strict text, in order (two when two quick turns were seen at once);
    ``candidates`` the turns' texts that an ambiguous verdict can't tell apart; ``breaches`` what an illegal one
    breaks; ``places`` those it turns on; ``expected`` and ``seen`` the looks of those places before and now;
    ``margin`` the log-odds by which the decision leads the next best explanation.
    """

    kind: VerdictKind
    sentence: str
    time_s: float
    sequence: int
    turns: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    breaches: tuple[Breach, ...] = ()
    places: tuple[str, ...] = ()
    expected: Appearance = field(default_factory=dict)
    seen: Appearance = field(default_factory=dict)
    margin: float = 0.0
