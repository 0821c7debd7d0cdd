"""Commands as JSON messages. They are validated and converted to the session's commands."""

from __future__ import annotations

import enum
import reprlib
from collections.abc import Callable
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from common.shown_text import ONE_LINE, one_line
from engine.support.players import DRAW, EVERYONE
from hardware.pin_map import ButtonRole
from referee.clocks.control import read_control
from referee.commands import values as commands
from referee.errors import ClockError, CorrectionError, FieldError

_Text = Annotated[str, Field(max_length=4000)]
_Name = Annotated[str, Field(max_length=80, pattern=ONE_LINE), AfterValidator(one_line)]
_Place = Annotated[str, Field(max_length=20, pattern=ONE_LINE)]
_Player = Annotated[_Name | None, AfterValidator(lambda name: name or None)]


class Role(enum.IntEnum):
    """The permission of a device or person. Each role includes the previous ones."""

    NOBODY = 0
    LOOK = 1
    PLAY = 2
    OWN = 3


class CommandMessage(BaseModel):
    """A command sent as JSON. ``by`` is the person's name for the journal; by default, the sending device's name.

    A command that repeats an earlier ``request_id`` isn't carried out again; it gets the same reply. ``seen`` is the
    newest event number that the sender saw; the command is refused if the journal has newer events than that, other
    than the clock's and remarks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    needs: ClassVar[Role] = Role.PLAY
    makes: ClassVar[Callable[..., commands.Command]]

    by: _Name = ""
    request_id: Annotated[str, Field(max_length=64, pattern=ONE_LINE)] = ""
    seen: Annotated[int, Field(ge=0)] | None = None

    def value(self, by: str) -> commands.Command:
        """Return the session's command; raises CorrectionError for values that contradict each other."""
        return self.makes(by=by, **self.model_dump(exclude={"command", *CommandMessage.model_fields}))


class _Played(CommandMessage):
    text: _Text
    player: _Player = None


class TurnMessage(_Played):
    """A turn, in the game's notation."""

    makes = commands.EnterTurn
    command: Literal["turn"]


class RollMessage(_Played):
    """What the dice show, in the game's notation."""

    makes = commands.EnterRoll
    command: Literal["roll"]


class AnnounceMessage(_Played):
    """An announcement, such as a resignation."""

    makes = commands.Announce
    command: Literal["announce"]


class OfferDrawMessage(CommandMessage):
    """A draw offer by ``player``, or by the player to move."""

    makes = commands.OfferDraw
    command: Literal["offer draw"]
    player: _Player = None


class AnswerDrawMessage(CommandMessage):
    """Accepts or refuses the open draw offer."""

    makes = commands.AnswerDraw
    command: Literal["answer draw"]
    accepts: bool


class AgreedDrawMessage(CommandMessage):
    """Ends the game in a draw, without an offer: the players agreed on one, or an arbiter decides so."""

    needs = Role.OWN
    command: Literal["agreed draw"]

    def value(self, by: str) -> commands.Command:
        """Return the session's command."""
        return commands.Announce(f"{EVERYONE}:{DRAW}", by, is_agreed=True)


class CorrectMessage(CommandMessage):
    """A correction: ``looks`` by place, or a whole ``position`` in the game's notation; who plays next; why."""

    makes = commands.Correct
    command: Literal["correct"]
    looks: Annotated[dict[_Place, _Name], Field(max_length=1000)] = {}
    position: _Text = ""
    to_move: _Name = ""
    why: Annotated[str, Field(max_length=400, pattern=ONE_LINE)] = ""


class TakeBackMessage(CommandMessage):
    """Takes back the last turn, roll, announcement or draw offer."""

    makes = commands.TakeBack
    command: Literal["take back"]


class HintMessage(CommandMessage):
    """A request for a hint."""

    makes = commands.AskHint
    command: Literal["hint"]


class PressMessage(CommandMessage):
    """A button press; it is judged with the next frame."""

    makes = commands.Press
    command: Literal["press"]
    role: ButtonRole


class OverruleMessage(CommandMessage):
    """States that places are as believed, whatever the camera sees there."""

    makes = commands.Overrule
    command: Literal["overrule"]
    places: Annotated[tuple[_Place, ...], Field(min_length=1, max_length=1000)]


class RestoreSensorMessage(CommandMessage):
    """Switches the sensor under a place on again."""

    needs = Role.OWN
    makes = commands.RestoreSensor
    command: Literal["restore sensor"]
    place: _Place


class PauseClockMessage(CommandMessage):
    """Stops the clock, or starts it again (``resume``)."""

    makes = commands.PauseClock
    command: Literal["pause clock"]
    resume: bool = False


class NewGameMessage(CommandMessage):
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

    def value(self, by: str) -> commands.Command:
        """Return the session's command; raises FieldError for a clock that can't be read."""
        del by
        try:
            clock = read_control(self.clock) if self.clock else None
        except ClockError as error:
            raise FieldError("clock", str(error)) from error
        players = {side.lower(): name for side, name in self.players.items() if name}
        if len(players) < sum(bool(name) for name in self.players.values()):
            raise CorrectionError(f"a side is named twice: {', '.join(self.players)}")
        return commands.NewGame(
            self.game,
            self.options,
            players,
            without_hints=self.without_hints,
            clock=clock,
            without_clock=bool(self.clock) and clock is None,
        )


AnyCommandMessage = Annotated[
    TurnMessage
    | RollMessage
    | AnnounceMessage
    | OfferDrawMessage
    | AnswerDrawMessage
    | AgreedDrawMessage
    | CorrectMessage
    | TakeBackMessage
    | HintMessage
    | PressMessage
    | OverruleMessage
    | RestoreSensorMessage
    | PauseClockMessage
    | NewGameMessage,
    Field(discriminator="command"),
]

COMMAND_MESSAGES: TypeAdapter[AnyCommandMessage] = TypeAdapter(AnyCommandMessage)
"""Validates a message; raises pydantic's ValidationError."""


_MOST_FAULTS = 3
_NO_LINE = "string_pattern_mismatch"


def describe_errors(error: ValidationError) -> str:
    """Say what is wrong with a command, field by field: what was got and what was expected."""
    faults = []
    for fault in error.errors(include_url=False)[:_MOST_FAULTS]:
        # The first part is the command's name.
        where = ".".join(str(part) for part in fault["loc"][1:])
        got = "" if not where or fault["type"] == "missing" else f" is {reprlib.repr(fault['input'])}"
        why = "expected one line of printable characters" if fault["type"] == _NO_LINE else fault["msg"]
        faults.append(f"{where or 'the command'}{got}: {why[:1].lower()}{why[1:]}")
    return "; ".join(faults)


class ReplyDocument(BaseModel):
    """The reply to a command, and the number of the newest event at that time other than the clock's and remarks.

    ``field`` is the command's field that can't be read, if it is one alone.
    """

    words: str
    refused: bool
    event_number: int
    field: str = ""
