"""What the judge returns: verdicts with their reasons, and the ruling that holds them."""

from __future__ import annotations

import enum
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from engine.values import Appearance, Breach, Place, Player, Roll


class VerdictKind(enum.Enum):
    """What the judge decided."""

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
    ``candidates`` the texts of the turns that an ambiguous verdict can't tell apart, and ``candidate_players`` who
    would have played each (empty if they are rolls); ``breaches`` the rules that an illegal one breaks; ``places`` the
    places it depends on, with their looks before (``expected``) and now (``seen``); ``margin`` the log-odds by which
    the decision leads the next best explanation; ``roll`` the strict text of an accepted roll; ``likely`` what a single
    place may well show, likeliest first.
    """

    kind: VerdictKind
    sentence: str
    time_s: float
    sequence: int
    turns: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    candidate_players: tuple[Player, ...] = ()
    breaches: tuple[Breach, ...] = ()
    places: tuple[str, ...] = ()
    expected: Appearance = field(default_factory=dict)
    seen: Appearance = field(default_factory=dict)
    margin: float = 0.0
    roll: str = ""
    likely: tuple[str, ...] = ()


@dataclass(frozen=True)
class AcceptedTurn:
    """One accepted turn, and the possible states after it: one, except while it is open who starts."""

    turn: Any
    states: tuple[Any, ...]


@dataclass(frozen=True)
class AcceptedRoll:
    """One accepted roll, and every possible state after it."""

    roll: Roll
    states: tuple[Any, ...]


AcceptedStep = AcceptedTurn | AcceptedRoll
"""What moves the game on."""


@dataclass(frozen=True)
class Ruling:
    """What came of one look at the table: the verdicts in order, the accepted turns and rolls, and remarks.

    The last verdict stays on show; earlier ones are turns accepted before it. When side faces turned out to be misread,
    ``withdrawn`` holds the states believed without them, which hold before the steps. ``rolls`` holds one accepted roll
    for each verdict with a ``roll``, in the same order.
    """

    verdicts: tuple[Verdict, ...]
    steps: tuple[AcceptedTurn, ...] = ()
    notes: tuple[str, ...] = ()
    withdrawn: tuple[Any, ...] = ()
    rolls: tuple[AcceptedRoll, ...] = ()

    def then(self, after: Ruling) -> Ruling:
        """Join a ruling that came of the same look after this one."""
        return replace(
            self,
            verdicts=self.verdicts + after.verdicts,
            steps=self.steps + after.steps,
            notes=self.notes + after.notes,
            rolls=self.rolls + after.rolls,
        )

    @property
    def verdict(self) -> Verdict:
        """The first verdict."""
        return self.verdicts[0]


class _Placed(Protocol):
    @property
    def places(self) -> tuple[Place, ...]: ...


def places_named(things: Iterable[_Placed]) -> tuple[Place, ...]:
    """Return the places of turns or breaches, in order, each once."""
    return tuple(dict.fromkeys(place for thing in things for place in thing.places))
