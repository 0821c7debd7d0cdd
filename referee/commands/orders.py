"""Orders are commands sent as JSON. They are validated and converted to the session's commands."""

from __future__ import annotations

import enum
import reprlib
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

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
_Player = Annotated[_Name | None, AfterValidator(lambda name: name or None)]


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
    makes: ClassVar[Callable[..., Command]]

    by: _Name = ""
    request_id: Annotated[str, Field(max_length=64)] = ""
    seen: Annotated[int, Field(ge=0)] | None = None

    def value(self, by: str) -> Command:
        """Return the session's command; raises CorrectionError for values that contradict each other."""
        return self.makes(by=by, **self.model_dump(exclude={"command", *Order.model_fields}))


class _Played(Order):
    text: _Text
    player: _Player = None


class TurnOrder(_Played):
    """A turn, in the game's notation."""

    makes = EnterTurn
    command: Literal["turn"]


class RollOrder(_Played):
    """What the dice show, in the game's notation."""

    makes = EnterRoll
    command: Literal["roll"]


class AnnounceOrder(_Played):
    """An announcement, such as a resignation."""

    makes = Announce
    command: Literal["announce"]


class OfferDrawOrder(Order):
    """A draw offer by ``player``, or by the player to move."""

    makes = OfferDraw
    command: Literal["offer draw"]
    player: _Player = None


class AnswerDrawOrder(Order):
    """Accepts or refuses the open draw offer."""

    makes = AnswerDraw
    command: Literal["answer draw"]
    accepts: bool


class CorrectOrder(Order):
    """A correction: ``looks`` by place, or a whole ``position`` in the game's notation; who plays next; why."""

    makes = Correct
    command: Literal["correct"]
    looks: Annotated[dict[_Place, _Name], Field(max_length=1000)] = {}
    position: _Text = ""
    to_move: _Name = ""
    why: Annotated[str, Field(max_length=400)] = ""


class TakeBackOrder(Order):
    """Takes back the last turn, roll or announcement."""

    makes = TakeBack
    command: Literal["take back"]


class HintOrder(Order):
    """A request for a hint."""

    makes = AskHint
    command: Literal["hint"]


class PressOrder(Order):
    """A button press; it is judged with the next frame."""

    makes = Press
    command: Literal["press"]
    role: ButtonRole


class OverruleOrder(Order):
    """States that places are as believed, whatever the camera sees there."""

    makes = Overrule
    command: Literal["overrule"]
    places: Annotated[tuple[_Place, ...], Field(min_length=1, max_length=1000)]


class RestoreSensorOrder(Order):
    """Switches the sensor under a place on again."""

    needs = Role.OWN
    makes = RestoreSensor
    command: Literal["restore sensor"]
    place: _Place


class PauseClockOrder(Order):
    """Stops the clock, or starts it again (``goes_on``)."""

    makes = PauseClock
    command: Literal["pause clock"]
    goes_on: bool = False


class NewGameOrder(Order):
    """Begins a game with these rule ``options``; ``players`` maps sides to players' names.

    ``clock`` is a time control such as ``fischer 5+3``, or ``none``; empty means the one in the settings.
    """

    needs = Role.OWN
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

    needs = Role.OWN
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


_MOST_FAULTS = 3


def describe_errors(error: ValidationError, whole: str = "the command") -> str:
    """Say what is wrong with an order, field by field: what was got and what was expected. It is called ``whole``."""
    faults = []
    for fault in error.errors(include_url=False)[:_MOST_FAULTS]:
        # The first part is the command's name.
        where = ".".join(str(part) for part in fault["loc"][1:])
        got = "" if not where or fault["type"] == "missing" else f" is {reprlib.repr(fault['input'])}"
        faults.append(f"{where or whole}{got}: {fault['msg'][:1].lower()}{fault['msg'][1:]}")
    return "; ".join(faults)


class ReplyDocument(BaseModel):
    """The reply to a command, and the number of the newest event at that time."""

    words: str
    refused: bool
    event_number: int
