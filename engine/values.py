"""The words and values that every game is spoken of in: places and looks, rules and breaches, rolls and outcomes.

Words shared by the whole project, all of them plain strings so that rooms which may not import each other can
still speak of the same thing:

*place*
    where something can stand, as an onlooker would name it: ``"c3"``.
*look*
    what an onlooker sees at a place: ``"teal block, x up"``, or ``EMPTY``.
*facing*
    what the sides of a piece show, by compass side as seen from above with north away from the first player:
    ``{"north": "slider", "east": "x", "south": "hoops", "west": "cross"}``. Games whose pieces have no side
    faces have no facings.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import common.places

Place = str
LookName = str
Player = str
Facing = Mapping[str, str]
Appearance = Mapping[Place, LookName]
OptionValue = str | int | bool

EMPTY: LookName = common.places.EMPTY
"""The look of a place where nothing stands."""


class Certainty(enum.Enum):
    """Whether a turn is legal, over everything about the state that is still possible."""

    CERTAIN = "certain"
    IMPOSSIBLE = "impossible"
    NOT_KNOWN_YET = "not known yet"


@dataclass(frozen=True)
class Option:
    """One named rule option: its default, what it takes and a sentence for a person."""

    name: str
    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()


@dataclass(frozen=True)
class Rule:
    """One entry of a game's rule catalogue; ``id`` is stable, ``sentence`` states the rule to a child."""

    id: str
    sentence: str


@dataclass(frozen=True)
class Breach:
    """One rule a change breaks: which, what happened, how to put it right, and the places it turns on."""

    rule: str
    sentence: str
    remedy: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a game ended: the winner, or ``None`` for a draw, and the reason in a few words.

    ``shared_by`` names those who share a victory of several players (then ``winner`` is ``None``).
    """

    winner: Player | None
    reason: str
    shared_by: tuple[Player, ...] = ()


@dataclass(frozen=True)
class Roll:
    """A chance event that was observed on the table (never drawn by us): the faces, in the game's order."""

    faces: tuple[str, ...]


@dataclass(frozen=True)
class PossibleRoll:
    """A roll that may come up next, in the game's canonical order of faces, and its exact probability."""

    roll: Roll
    probability: Fraction


@dataclass(frozen=True)
class Announcement:
    """Something said rather than played: ``kind`` such as ``"resign"``, by ``player`` (``None``: by all, agreed)."""

    kind: str
    player: Player | None = None


@dataclass(frozen=True)
class Tally:
    """How games played at random ended: their number, the turns played in all, wins by player, draws, and cut off."""

    games: int
    plies: int
    wins: Mapping[Player, int]
    draws: int
    unfinished: int


class Strength(enum.Enum):
    """How good a hint is: ``GENTLE`` looks at the turn alone, ``FAIR`` a little ahead, ``STRONG`` as far as it can."""

    GENTLE = "gentle"
    FAIR = "fair"
    STRONG = "strong"


@dataclass(frozen=True)
class Unfinished:
    """A position inside a turn that a camera may see: the looks it changes, and what is still to be done."""

    change: Appearance
    to_do: str

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that it changes."""
        return tuple(self.change)
