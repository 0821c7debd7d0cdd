"""What people tell the referee, as frozen values that say nothing of the way they came."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from engine.values import OptionValue, Place, Player
from hardware.pin_map import ButtonRole
from referee.clocks.control import TimeControl
from referee.errors import CorrectionError
from referee.journal.events import EventKind, PlayedKind


@dataclass(frozen=True)
class Press:
    """A button was pressed. It is judged by the next frame, which shows the table that it is about."""

    role: ButtonRole
    by: str = "button"


@dataclass(frozen=True)
class Correct:
    """What a person says holds: ``looks`` by place, or a whole ``position`` in the game's text; who plays next; why.

    ``to_move`` is empty when it stays as it was.
    """

    by: str
    looks: Mapping[Place, str] = field(default_factory=dict)
    position: str = ""
    to_move: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse a correction that says nothing, or two things at once."""
        if self.looks and self.position:
            raise CorrectionError("squares and a whole position were given; give one of them")
        if not (self.looks or self.position or self.to_move):
            raise CorrectionError("nothing was corrected; say what stands where, such as c3=empty")


@dataclass(frozen=True)
class TakeBack:
    """The last turn, roll or announcement no longer counts."""

    by: str


@dataclass(frozen=True)
class EnterTurn:
    """A turn as text; ``player`` says whose it is where that isn't plain."""

    kind: ClassVar[PlayedKind] = EventKind.TURN
    text: str
    by: str
    player: Player | None = None


@dataclass(frozen=True)
class EnterRoll:
    """What the dice show, as text."""

    kind: ClassVar[PlayedKind] = EventKind.ROLLED
    text: str
    by: str
    player: Player | None = None


@dataclass(frozen=True)
class Announce:
    """What is announced, as text; ``player`` says who does where that isn't plain.

    A draw ends the game at once only where both players have said so (``is_agreed``); else it is an offer.
    """

    kind: ClassVar[PlayedKind] = EventKind.ANNOUNCED
    text: str
    by: str
    player: Player | None = None
    is_agreed: bool = False


@dataclass(frozen=True)
class OfferDraw:
    """A player offers the other a draw: ``player``, or whoever is to move."""

    by: str
    player: Player | None = None


@dataclass(frozen=True)
class AnswerDraw:
    """The player who was offered a draw accepts it, or refuses."""

    by: str
    accepts: bool


Entry = EnterTurn | EnterRoll | Announce
"""What a person types instead of playing, rolling or saying it at the table."""


@dataclass(frozen=True)
class AskHint:
    """A person wants a hint."""

    by: str


@dataclass(frozen=True)
class Overrule:
    """These places are as believed, whatever is seen there; they are left out until they look so again."""

    places: tuple[Place, ...]
    by: str


@dataclass(frozen=True)
class RestoreSensor:
    """The sensor under this place, which was taken out, is to be gone by again."""

    place: Place
    by: str


@dataclass(frozen=True)
class PauseClock:
    """The clock is to stand still, or to run again where somebody stopped it (``goes_on``)."""

    by: str
    goes_on: bool = False


@dataclass(frozen=True)
class NewGame:
    """A game begins, by its rules' ``options``.

    ``players`` maps a side to who plays it. ``without_hints``: hints are ruled out, whatever settings say later.
    ``seed`` is the virtual table's. ``clock`` is the time the players have; where it is ``None``, that of the settings,
    unless the game is ``without_clock``.
    """

    game: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    players: Mapping[Player, str] = field(default_factory=dict)
    without_hints: bool = False
    seed: int | None = None
    clock: TimeControl | None = None
    without_clock: bool = False


@dataclass(frozen=True)
class Resume:
    """The journal's latest game goes on if it isn't over; otherwise a new one begins."""


Command = (
    Press
    | Correct
    | TakeBack
    | Entry
    | OfferDraw
    | AnswerDraw
    | AskHint
    | Overrule
    | RestoreSensor
    | PauseClock
    | NewGame
    | Resume
)


@dataclass(frozen=True)
class Reply:
    """What became of a command, in a sentence; the journal has it before anybody is told."""

    words: str
    refused: bool = False


Respond = Callable[[Reply | None], object]
"""Takes the reply to a command, once; ``None`` where nobody will carry it out any more."""


def unheard(reply: Reply | None) -> None:
    """Take the reply to a command that nobody waits for."""
    del reply
