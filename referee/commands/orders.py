"""Orders are commands sent as JSON. They are validated and converted to the session's commands."""

from __future__ import annotations

import enum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from hardware.pin_map import ButtonRole
from referee.clocks.control import read_control
from referee.commands.values import (
    Announce,
    AnswerDraw,
    AskHint,
    Command,
    Correct,
    EnterRoll,
    EnterTurn,
    NewGame,
    OfferDraw,
    Overrule,
    PauseClock,
    Press,
    RestoreSensor,
    Resume,
    TakeBack,
)
from referee.errors import ClockError, CorrectionError

_Text = Annotated[str, Field(max_length=4000)]
_Name = Annotated[str, Field(max_length=80, pattern=r"^[^\x00-\x1f\x7f]*$")]
_Place = Annotated[str, Field(max_length=20)]


class Role(enum.IntEnum):
    """The permission of a device or person. Each role includes the previous ones."""

    NOBODY = 0
    LOOK = 1
    PLAY = 2
    OWN = 3


class Order(BaseModel):
    """A command sent as JSON. ``by`` is the person's name for the journal; by default, the sending device's name.

    An order that repeats an earlier ``request_id`` isn't carried out again; it gets the same reply. ``seen`` is the
    newest event number that the sender saw; the order is refused if the journal has newer events.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    needs: ClassVar[Role] = Role.PLAY

    by: _Name = ""
    request_id: Annotated[str, Field(max_length=64)] = ""
    seen: Annotated[int, Field(ge=0)] | None = None


class _Played(Order):
    text: _Text
    player: _Name | None = None


class TurnOrder(_Played):
    """A turn, in the game's notation."""

    command: Literal["turn"]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return EnterTurn(self.text, by, self.player or None)


class RollOrder(_Played):
    """What the dice show, in the game's notation."""

    command: Literal["roll"]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return EnterRoll(self.text, by, self.player or None)


class AnnounceOrder(_Played):
    """An announcement, such as a resignation."""

    command: Literal["announce"]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return Announce(self.text, by, self.player or None)


class OfferDrawOrder(Order):
    """A draw offer by ``player``, or by the player to move."""

    command: Literal["offer draw"]
    player: _Name | None = None

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return OfferDraw(by, self.player or None)


class AnswerDrawOrder(Order):
    """Accepts or refuses the open draw offer."""

    command: Literal["answer draw"]
    accepts: bool

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return AnswerDraw(by, self.accepts)


class CorrectOrder(Order):
    """A correction: ``looks`` by place, or a whole ``position`` in the game's notation; who plays next; why."""

    command: Literal["correct"]
    looks: Annotated[dict[_Place, _Name], Field(max_length=1000)] = {}
    position: _Text = ""
    to_move: _Name = ""
    why: Annotated[str, Field(max_length=400)] = ""

    def value(self, by: str) -> Command:
        """Return the session's command; raises CorrectionError if it has neither looks nor position, or both."""
        return Correct(by, self.looks, self.position, self.to_move, self.why)


class TakeBackOrder(Order):
    """Takes back the last turn, roll or announcement."""

    command: Literal["take back"]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return TakeBack(by)


class HintOrder(Order):
    """A request for a hint."""

    command: Literal["hint"]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return AskHint(by)


class PressOrder(Order):
    """A button press; it is judged with the next frame."""

    command: Literal["press"]
    role: ButtonRole

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return Press(self.role, by)


class OverruleOrder(Order):
    """States that places are as believed, whatever the camera sees there."""

    command: Literal["overrule"]
    places: Annotated[tuple[_Place, ...], Field(min_length=1, max_length=1000)]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return Overrule(self.places, by)


class RestoreSensorOrder(Order):
    """Switches the sensor under a place on again."""

    needs: ClassVar[Role] = Role.OWN
    command: Literal["restore sensor"]
    place: _Place

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return RestoreSensor(self.place, by)


class PauseClockOrder(Order):
    """Stops the clock, or starts it again (``goes_on``)."""

    needs: ClassVar[Role] = Role.PLAY
    command: Literal["pause clock"]
    goes_on: bool = False

    def value(self, by: str) -> Command:
        """Return the session's command."""
        return PauseClock(by, goes_on=self.goes_on)


class NewGameOrder(Order):
    """Begins a game with these rule ``options``; ``players`` maps sides to players' names.

    ``clock`` is a time control such as ``fischer 5+3``, or ``none``; empty means the one in the settings.
    """

    needs: ClassVar[Role] = Role.OWN
    command: Literal["new game"]
    game: _Name
    options: Annotated[dict[_Name, str | int | bool], Field(max_length=100)] = {}
    players: Annotated[dict[_Name, _Name], Field(max_length=20)] = {}
    without_hints: bool = False
    clock: _Name = ""

    def value(self, by: str) -> Command:
        """Return the session's command; raises CorrectionError for a clock that can't be read."""
        del by
        try:
            clock = read_control(self.clock) if self.clock else None
        except ClockError as error:
            raise CorrectionError(str(error)) from error
        return NewGame(
            self.game,
            self.options,
            self.players,
            without_hints=self.without_hints,
            clock=clock,
            without_clock=bool(self.clock) and clock is None,
        )


class ResumeOrder(Order):
    """Resumes the journal's latest game."""

    needs: ClassVar[Role] = Role.OWN
    command: Literal["resume"]

    def value(self, by: str) -> Command:
        """Return the session's command."""
        del by
        return Resume()


AnyOrder = Annotated[
    TurnOrder
    | RollOrder
    | AnnounceOrder
    | OfferDrawOrder
    | AnswerDrawOrder
    | CorrectOrder
    | TakeBackOrder
    | HintOrder
    | PressOrder
    | OverruleOrder
    | RestoreSensorOrder
    | PauseClockOrder
    | NewGameOrder
    | ResumeOrder,
    Field(discriminator="command"),
]

ORDERS: TypeAdapter[AnyOrder] = TypeAdapter(AnyOrder)
"""Validates an order; raises pydantic's ValidationError."""


class ReplyDocument(BaseModel):
    """The reply to a command, and the number of the newest event at that time."""

    words: str
    refused: bool
    event_number: int
