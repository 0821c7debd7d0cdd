"""Commands as frozen values, independent of the channel that delivered them."""

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
    """A button press. It is judged with the next frame, which shows the table at the time of the press."""

    role: ButtonRole
    by: str = "button"


@dataclass(frozen=True)
class Correct:
    """A person's correction: ``looks`` by place, or a whole ``position`` in the game's notation; who plays next; why.

    An empty ``to_move`` leaves the player to move unchanged.
    """

    by: str
    looks: Mapping[Place, str] = field(default_factory=dict)
    position: str = ""
    to_move: str = ""
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse a correction with neither looks nor a position, or with both."""
        if self.looks and self.position:
            raise CorrectionError("squares and a whole position were given; give one of them")
        if not (self.looks or self.position or self.to_move):
            raise CorrectionError("nothing was corrected; say what stands where, such as c3=empty")


@dataclass(frozen=True)
class TakeBack:
    """Takes back the last turn, roll, announcement or draw offer."""

    by: str


@dataclass(frozen=True)
class Entry:
    """What a person types instead of doing it at the table, in the game's notation.

    ``player`` does it; it is needed unless only one player may.
    """

    kind: ClassVar[PlayedKind]
    text: str
    by: str
    player: Player | None = None


@dataclass(frozen=True)
class EnterTurn(Entry):
    """A typed turn."""

    kind: ClassVar[PlayedKind] = EventKind.TURN


@dataclass(frozen=True)
class EnterRoll(Entry):
    """What the dice show."""

    kind: ClassVar[PlayedKind] = EventKind.ROLLED


@dataclass(frozen=True)
class Announce(Entry):
    """An announcement. A draw that isn't agreed (``is_agreed``) by both players is only offered."""

    kind: ClassVar[PlayedKind] = EventKind.ANNOUNCED
    is_agreed: bool = False


@dataclass(frozen=True)
class OfferDraw:
    """A draw offer by ``player``, or by the player to move."""

    by: str
    player: Player | None = None


@dataclass(frozen=True)
class AnswerDraw:
    """Accepts or refuses the open draw offer."""

    by: str
    accepts: bool


@dataclass(frozen=True)
class AskHint:
    """A request for a hint."""

    by: str


@dataclass(frozen=True)
class Overrule:
    """States that places are as believed; they are ignored until they look that way again."""

    places: tuple[Place, ...]
    by: str


@dataclass(frozen=True)
class RestoreSensor:
    """Switches the sensor under a place on again."""

    place: Place
    by: str


@dataclass(frozen=True)
class PauseClock:
    """Stops the clock, or starts it again after a stop (``resume``)."""

    by: str
    resume: bool = False


@dataclass(frozen=True)
class NewGame:
    """Begins a game with these rule ``options``.

    ``players`` maps sides to players' names. ``without_hints`` rules hints out for the whole game, whatever the
    settings say later. ``seed`` is the virtual table's seed. ``clock`` is the time control; ``None`` means the one in
    the settings, or no clock if the game is ``without_clock``.
    """

    game: str
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    players: Mapping[Player, str] = field(default_factory=dict)
    without_hints: bool = False
    seed: int | None = None
    clock: TimeControl | None = None
    without_clock: bool = False


Command = (
    Press
    | Correct
    | TakeBack
    | EnterTurn
    | EnterRoll
    | Announce
    | OfferDraw
    | AnswerDraw
    | AskHint
    | Overrule
    | RestoreSensor
    | PauseClock
    | NewGame
)


@dataclass(frozen=True)
class Reply:
    """The reply to a command, sent after its event is in the journal; otherwise ``words`` say that it isn't.

    With ``waits`` the command is carried out or dropped once the table is at rest; there is no event yet.
    """

    words: str
    refused: bool = False
    waits: bool = False


Respond = Callable[[Reply | None], object]
"""Receives the reply to a command, once; ``None`` if the command will never be carried out."""


def ignore_reply(reply: Reply | None) -> None:
    """Ignore the reply to a command."""
    del reply
