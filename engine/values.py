"""The values that all games share: places and looks, rules and breaches, rolls and outcomes.

Some are plain strings, so that packages which may not import each other can exchange them:

*place*
    where something can stand: ``"c3"``.
*look*
    what can be seen at a place: ``"teal block, x up"``, or ``EMPTY``.
*facing*
    what the sides of a piece show, by compass direction as seen from above, with north away from the first player:
    ``{"north": "slider", "east": "x", "south": "hoops", "west": "cross"}``. Games whose pieces have no side
    faces have no facings.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import common.places

Place = str
LookName = str
Player = str
Facing = Mapping[str, str]
Appearance = Mapping[Place, LookName]
OptionValue = str | int | bool

EMPTY: LookName = common.places.EMPTY
"""The look of an empty place."""


class Certainty(enum.Enum):
    """Whether a turn is legal in all, none, or some of the positions that are still possible."""

    CERTAIN = "certain"
    IMPOSSIBLE = "impossible"
    NOT_KNOWN_YET = "not known yet"


@dataclass(frozen=True)
class Option:
    """A rule option: its name, default, allowed values, a sentence of help, and words for the values, in their order.

    A value without words is a word itself.
    """

    name: str
    default: OptionValue
    help: str
    choices: tuple[OptionValue, ...] = ()
    words: tuple[str, ...] = ()

    def words_for(self, choice: OptionValue) -> str:
        """Return what a person reads for a value."""
        return dict(zip(self.choices, self.words, strict=False)).get(choice, str(choice))


@dataclass(frozen=True)
class Rule:
    """An entry of a game's rule catalogue; ``id`` is stable, ``sentence`` states the rule in simple words."""

    id: str
    sentence: str


@dataclass(frozen=True)
class Breach:
    """A rule that a change breaks: which one, what happened, how to put it right, and the places involved.

    ``adds`` says that there is more on the table than before: a piece or a ball that came from nowhere. Where the
    picture leaves a doubt, the judge then takes it for an object such as a coin, and judges the rest. In games whose
    turns add pieces (``Game.adds_pieces``) it makes no difference. ``instead`` is what to play, without what has to be
    put back first: all that somebody needs who only typed the turn.
    """

    rule: str
    sentence: str
    remedy: str
    places: tuple[Place, ...] = ()
    adds: bool = False
    instead: str = ""


class OutcomeKind(enum.Enum):
    """What an outcome means for the players."""

    RESULT = "result"
    """Somebody has won, several share the win, or nobody has won."""
    SCORE = "score"
    """Somebody played alone and has a score, so that nobody was beaten."""
    GIVEN_UP = "given up"
    """The only player resigned or lost on time: nobody won, and it is no draw either."""
    STOPPED = "stopped"
    """Somebody stopped the game before its end."""


@dataclass(frozen=True)
class Outcome:
    """How a game ended: the winner, or ``None`` for a draw, and the reason in a few words.

    ``shared_by`` names those who share a victory of several players (then ``winner`` is ``None``); ``points_each`` are
    the points of each of them, if the reason ends in these: ``all tiles are down; 3 points each``.
    """

    winner: Player | None
    reason: str
    shared_by: tuple[Player, ...] = ()
    kind: OutcomeKind = field(default=OutcomeKind.RESULT, repr=False)
    points_each: int | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Roll:
    """An observed roll of dice, never drawn by the engine: the faces, in the game's order."""

    faces: tuple[str, ...]


@dataclass(frozen=True)
class PossibleRoll:
    """A roll that can come up next, with faces in the game's canonical order, and its exact probability."""

    roll: Roll
    probability: Fraction


@dataclass(frozen=True)
class Announcement:
    """Something said, not played: ``kind`` such as ``"resign"``, by ``player`` (``None``: by all, in agreement)."""

    kind: str
    player: Player | None = None


class Strength(enum.Enum):
    """Strength of a hint: ``GENTLE`` looks at the turn alone, ``FAIR`` a little ahead, ``STRONG`` as far as it can."""

    GENTLE = "gentle"
    FAIR = "fair"
    STRONG = "strong"


@dataclass(frozen=True)
class Unfinished:
    """A position within a turn that a camera may see: the looks it changes, and what remains to be done."""

    change: Appearance
    instruction: str

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that it changes."""
        return tuple(self.change)
