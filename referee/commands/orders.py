"""Commands as they arrive by JSON: each is checked, and made into the value that the session carries out."""

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
    """What whoever gives orders may do; each may do what those before it may."""

    NOBODY = 0
    LOOK = 1
    PLAY = 2
    OWN = 3


class Order(BaseModel):
    """A command; ``by`` is who gives it, for the journal: the name of the device that sends it where it is left out.

    An order that is sent again with the ``request_id`` of an earlier one is not carried out again; it gets the same
    reply. With ``seen``, the event number that its giver saw, it is refused once the journal has gone on.
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
    """A turn as text."""

    command: Literal["turn"]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return EnterTurn(self.text, by, self.player or None)


class RollOrder(_Played):
    """What the dice show, as text."""

    command: Literal["roll"]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return EnterRoll(self.text, by, self.player or None)


class AnnounceOrder(_Played):
    """What is announced, as text."""

    command: Literal["announce"]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return Announce(self.text, by, self.player or None)


class OfferDrawOrder(Order):
    """A player offers the other a draw: ``player``, or whoever is to move."""

    command: Literal["offer draw"]
    player: _Name | None = None

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return OfferDraw(by, self.player or None)


class AnswerDrawOrder(Order):
    """The draw that is on offer is accepted or refused."""

    command: Literal["answer draw"]
    accepts: bool

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return AnswerDraw(by, self.accepts)


class CorrectOrder(Order):
    """What holds: ``looks`` by place, or a whole ``position`` in the game's text; who plays next; why."""

    command: Literal["correct"]
    looks: Annotated[dict[_Place, _Name], Field(max_length=1000)] = {}
    position: _Text = ""
    to_move: _Name = ""
    why: Annotated[str, Field(max_length=400)] = ""

    def value(self, by: str) -> Command:
        """Give it as the session takes it; raises CorrectionError when it says nothing, or two things at once."""
        return Correct(by, self.looks, self.position, self.to_move, self.why)


class TakeBackOrder(Order):
    """The last turn, roll or announcement no longer counts."""

    command: Literal["take back"]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return TakeBack(by)


class HintOrder(Order):
    """A wish for a hint."""

    command: Literal["hint"]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return AskHint(by)


class PressOrder(Order):
    """A press of a button; it is judged by the next frame."""

    command: Literal["press"]
    role: ButtonRole

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return Press(self.role, by)


class OverruleOrder(Order):
    """These places are as believed, whatever is seen there."""

    command: Literal["overrule"]
    places: Annotated[tuple[_Place, ...], Field(min_length=1, max_length=1000)]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return Overrule(self.places, by)


class RestoreSensorOrder(Order):
    """The sensor under this place, which was taken out, is to be gone by again."""

    needs: ClassVar[Role] = Role.OWN
    command: Literal["restore sensor"]
    place: _Place

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return RestoreSensor(self.place, by)


class PauseClockOrder(Order):
    """The clock is to stand still, or to run again (``goes_on``)."""

    needs: ClassVar[Role] = Role.PLAY
    command: Literal["pause clock"]
    goes_on: bool = False

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
        return PauseClock(by, goes_on=self.goes_on)


class NewGameOrder(Order):
    """A game begins, by its rules' ``options``; ``players`` maps a side to who plays it.

    ``clock`` is such as ``fischer 5+3`` or ``none``; empty for the house's.
    """

    needs: ClassVar[Role] = Role.OWN
    command: Literal["new game"]
    game: _Name
    options: Annotated[dict[_Name, str | int | bool], Field(max_length=100)] = {}
    players: Annotated[dict[_Name, _Name], Field(max_length=20)] = {}
    without_hints: bool = False
    clock: _Name = ""

    def value(self, by: str) -> Command:
        """Give it as the session takes it; raises CorrectionError for a clock that can't be read."""
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
    """The journal's latest game goes on."""

    needs: ClassVar[Role] = Role.OWN
    command: Literal["resume"]

    def value(self, by: str) -> Command:
        """Give it as the session takes it."""
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
"""Reads an order; raises pydantic's ValidationError."""


class ReplyDocument(BaseModel):
    """What became of a command, and the newest event by then."""

    words: str
    refused: bool
    event_number: int
