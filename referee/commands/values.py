"""Commands as frozen, validated values, also as JSON messages; and the queue that brings them to the session's loop.

The values are independent of the channel that delivered them.
"""

import dataclasses
import enum
import reprlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    SerializationInfo,
    TypeAdapter,
    ValidationError,
    WrapValidator,
)
from pydantic.dataclasses import dataclass

from common.closeable import Closeable
from common.phrases import Phrase, joined
from common.shown_text import ONE_LINE, one_line
from engine.support.players import DRAW, EVERYONE
from engine.values import Player
from hardware.pin_map import ButtonRole
from referee.errors import CorrectionError
from referee.record.events import ASKS_TAKE_BACK, OFFERS_DRAW, EventKind, PlayedKind


def _kept(words: object, validated: Callable[[object], str]) -> str:
    return words if isinstance(words, Phrase) else validated(words)


def _said(words: str, info: SerializationInfo) -> str:
    context: dict[str, Callable[[str], str]] = info.context or {}
    return context["say"](words) if context else words


Sentence = Annotated[str, WrapValidator(_kept), PlainSerializer(_said)]
"""A field whose text stays a ``Phrase`` if it is one; serialized with a context, it is translated by its ``say``."""
_Text = Annotated[str, Field(max_length=4000)]
_Name = Annotated[str, Field(max_length=80, pattern=ONE_LINE), AfterValidator(one_line)]
_Place = Annotated[str, Field(max_length=20, pattern=ONE_LINE)]
_Player = Annotated[_Name | None, AfterValidator(lambda name: name or None)]


def _require_command(schema: dict[str, Any]) -> None:
    """Say in the description of the JSON object that it must have a ``command``, which a value has by default."""
    schema["required"] = [*schema.get("required", []), "command"]


_VALIDATED = ConfigDict(extra="forbid", json_schema_extra=_require_command)


class Role(enum.IntEnum):
    """The permission of a device or person. Each role includes the previous ones."""

    NOBODY = 0
    LOOK = 1
    PLAY = 2
    OWN = 3


@dataclass(frozen=True, kw_only=True, config=_VALIDATED)
class _Sent:
    """What any command may carry. Its class ``needs`` a role; ``by``, a field of each, is the person's name.

    A command that repeats an earlier ``request_id`` isn't carried out again; it gets the same reply. ``seen`` is the
    newest event number that the sender saw; the command is refused if the journal has newer events than that, other
    than the clock's and remarks.
    """

    needs: ClassVar[Role] = Role.PLAY

    request_id: Annotated[str, Field(max_length=64, pattern=ONE_LINE)] = field(default="", repr=False, compare=False)
    seen: Annotated[int, Field(ge=0)] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, config=_VALIDATED)
class Press(_Sent):
    """A button press. It is judged with the next frame, which shows the table at the time of the press."""

    role: ButtonRole
    by: _Name = ""
    command: Literal["press"] = field(default="press", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class Correct(_Sent):
    """A correction: ``looks`` by place, or a whole ``position`` in the game's notation; who plays next; why.

    An empty ``to_move`` leaves the player to move unchanged.
    """

    by: _Name = ""
    looks: Annotated[dict[_Place, _Name], Field(max_length=1000)] = field(default_factory=dict)
    position: _Text = ""
    to_move: _Name = ""
    why: Annotated[str, Field(max_length=400, pattern=ONE_LINE)] = ""
    command: Literal["correct"] = field(default="correct", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class TakeBack(_Sent):
    """Takes back the last turn, roll, announcement or draw offer."""

    by: _Name = ""
    command: Literal["take back"] = field(default="take back", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class EnterTurn(_Sent):
    """A typed turn, in the game's notation; ``player`` plays it, which is needed unless only one player may."""

    kind: ClassVar[PlayedKind] = EventKind.TURN

    text: _Text
    by: _Name = ""
    player: _Player = None
    command: Literal["turn"] = field(default="turn", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class EnterRoll(_Sent):
    """What the dice show, in the game's notation."""

    kind: ClassVar[PlayedKind] = EventKind.ROLLED

    text: _Text
    by: _Name = ""
    player: _Player = None
    command: Literal["roll"] = field(default="roll", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class Announce(_Sent):
    """An announcement, such as a resignation. A draw is only offered."""

    kind: ClassVar[PlayedKind] = EventKind.ANNOUNCED

    text: _Text
    by: _Name = ""
    player: _Player = None
    command: Literal["announce"] = field(default="announce", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class AgreedDraw(_Sent):
    """Ends the game in a draw, without an offer: the players agreed on one, or an arbiter decides so."""

    needs: ClassVar[Role] = Role.OWN
    kind: ClassVar[PlayedKind] = EventKind.ANNOUNCED
    text: ClassVar[str] = f"{EVERYONE}:{DRAW}"
    player: ClassVar[Player | None] = None

    by: _Name = ""
    command: Literal["agreed draw"] = field(default="agreed draw", kw_only=True, repr=False)


Announced = Announce | AgreedDraw
"""What a person says."""
Entry = EnterTurn | EnterRoll | Announced
"""What a person types instead of doing it at the table."""


@dataclass(frozen=True, config=_VALIDATED)
class OfferDraw(_Sent):
    """A draw offer by ``player``, or by the player to move."""

    about: ClassVar[str] = OFFERS_DRAW

    by: _Name = ""
    player: _Player = None
    command: Literal["offer draw"] = field(default="offer draw", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class AskTakeBack(_Sent):
    """A wish of ``player`` to take the last turn, roll or announcement back, or of the player to move."""

    about: ClassVar[str] = ASKS_TAKE_BACK

    by: _Name = ""
    player: _Player = None
    command: Literal["ask take back"] = field(default="ask take back", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class Answer(_Sent):
    """Accepts or refuses the open draw offer or wish to take back; without a ``player``, somebody at the table does."""

    accepts: bool
    by: _Name = ""
    player: _Player = None
    command: Literal["answer"] = field(default="answer", kw_only=True, repr=False)


Asked = OfferDraw | AskTakeBack
"""What one player asks, and another answers."""


@dataclass(frozen=True, config=_VALIDATED)
class AskHint(_Sent):
    """A request for a hint. One for a ``player`` is private: it is lit and shown nowhere else than with that player."""

    by: _Name = ""
    player: _Player = None
    command: Literal["hint"] = field(default="hint", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class Overrule(_Sent):
    """States that places are as believed, whatever the camera sees there, until they look that way again.

    Those of them in ``looks`` show that look instead; the table is judged with it until they look different.
    """

    places: Annotated[tuple[_Place, ...], Field(min_length=1, max_length=1000)]
    by: _Name = ""
    looks: Annotated[dict[_Place, _Name], Field(max_length=1000)] = field(default_factory=dict)
    command: Literal["overrule"] = field(default="overrule", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class RestoreSensor(_Sent):
    """Switches the sensor under a place on again."""

    needs: ClassVar[Role] = Role.OWN

    place: _Place
    by: _Name = ""
    command: Literal["restore sensor"] = field(default="restore sensor", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class PauseClock(_Sent):
    """Stops the clock, or starts it again after a stop (``resume``)."""

    by: _Name = ""
    resume: bool = False
    command: Literal["pause clock"] = field(default="pause clock", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class NewGame(_Sent):
    """Begins a game with these rule ``options``; ``players`` maps sides to players' names.

    ``without_hints`` rules hints out for the whole game, whatever the settings say later. ``clock`` is a time control
    such as ``fischer 5+3``, or ``none``; empty means the one in the settings. ``rules`` is the players' name for these
    options, under which they can choose them again.
    """

    needs: ClassVar[Role] = Role.OWN

    game: _Name
    options: Annotated[dict[_Name, str | int | bool], Field(max_length=100)] = field(default_factory=dict)
    players: Annotated[dict[_Name, _Name], Field(max_length=20)] = field(default_factory=dict)
    without_hints: bool = False
    clock: _Name = ""
    by: _Name = ""
    rules: _Name = ""
    command: Literal["new game"] = field(default="new game", kw_only=True, repr=False)


@dataclass(frozen=True, config=_VALIDATED)
class SameAgain(_Sent):
    """Begins another game like the last one, once that is over: the same rules, clock and players, who change sides."""

    by: _Name = ""
    command: Literal["same again"] = field(default="same again", kw_only=True, repr=False)


Command = (
    EnterTurn
    | EnterRoll
    | Announce
    | OfferDraw
    | AskTakeBack
    | Answer
    | AgreedDraw
    | Correct
    | TakeBack
    | AskHint
    | Press
    | Overrule
    | RestoreSensor
    | PauseClock
    | NewGame
    | SameAgain
)

COMMANDS: TypeAdapter[Command] = TypeAdapter(Annotated[Command, Field(discriminator="command")])
"""Validates a JSON object as a command; raises pydantic's ValidationError."""

_MOST_FAULTS = 3
"""Faults of a command that are told."""
_WHAT_IS_WRONG = MappingProxyType(
    {
        "string_pattern_mismatch": "expected one line of printable characters",
        "unexpected_keyword_argument": "extra inputs are not permitted",
    }
)


def describe_errors(error: ValidationError) -> str:
    """Say what is wrong with a command, field by field: what was got and what was expected."""
    faults = []
    for fault in error.errors(include_url=False)[:_MOST_FAULTS]:
        # In a JSON object, the first part is the command's name.
        parts = fault["loc"][1:] if error.title.startswith("tagged-union") else fault["loc"]
        where = ".".join(str(part) for part in parts)
        why = _WHAT_IS_WRONG.get(fault["type"], fault["msg"])
        why = f"{why[:1].lower()}{why[1:]}"
        if not where:
            faults.append(Phrase("the command: {why}", why))
        elif fault["type"] == "missing":
            faults.append(Phrase("{field}: {why}", where, why))
        else:
            faults.append(Phrase("{field} is {got}: {why}", where, reprlib.repr(fault["input"]), why))
    return joined(faults, "; ")


@contextmanager
def said_plainly() -> Iterator[None]:
    """Raise CorrectionError in place of pydantic's ValidationError, for a command made inside the context."""
    try:
        yield
    except ValidationError as error:
        raise CorrectionError(describe_errors(error)) from error


# Validation would turn a Phrase into plain text.
@dataclasses.dataclass(frozen=True)
class Reply:
    """The reply to a command, sent after its event is in the journal; otherwise ``words`` say that it isn't.

    With ``waits`` the command is carried out or dropped once the table is at rest; there is no event yet. ``field`` is
    the command's field that can't be read, if it is one alone.
    """

    words: str
    refused: bool = False
    waits: bool = False
    field: str = ""


Respond = Callable[[Reply | None], object]
"""Receives the reply to a command, once; ``None`` if the command will never be carried out."""


def ignore_reply(reply: Reply | None) -> None:
    """Ignore the reply to a command."""
    del reply


@dataclasses.dataclass(frozen=True)
class QueuedCommand:
    """A command, the function that receives its reply, and the request id for its events (empty: none)."""

    command: Command
    respond: Respond
    request_id: str = ""


class CommandQueue(Closeable):
    """Takes commands from any thread, in order, and wakes the one thread that carries them out.

    Presses are taken separately, because they are judged with the frame that follows them. A press is held back for
    ``press_lag_s``: sensors report a piece with a delay, and a press right after putting it down must not be judged
    with the old table. ``clock`` returns monotonic seconds.
    """

    def __init__(self, clock: Callable[[], float], press_lag_s: float = 0.0) -> None:
        self._clock = clock
        self._press_lag_s = press_lag_s
        self._changed = threading.Condition()
        self._commands: deque[QueuedCommand] = deque()
        self._presses: deque[tuple[float, QueuedCommand]] = deque()
        self._woken = False
        self._is_closed = False

    def submit(self, command: Command, respond: Respond = ignore_reply, request_id: str = "") -> None:
        """Queue a command; ``respond`` is called by the thread that carries it out."""
        with self._changed:
            if not self._is_closed:
                submitted = QueuedCommand(command, respond, request_id)
                if isinstance(command, Press):
                    self._presses.append((self._clock(), submitted))
                else:
                    self._commands.append(submitted)
                self.wake()
                return
        respond(None)

    def take(self) -> list[QueuedCommand]:
        """Remove and return the waiting commands, except presses."""
        with self._changed:
            taken = list(self._commands)
            self._commands.clear()
        return taken

    def take_presses(self) -> list[QueuedCommand]:
        """Remove and return the presses that have been held back long enough."""
        taken = []
        with self._changed:
            while self._presses and self._clock() - self._presses[0][0] >= self._press_lag_s:
                taken.append(self._presses.popleft()[1])
        return taken

    def wake(self) -> None:
        """End the current ``wait``, or else the next one."""
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until there was a command or a ``wake`` since the last wait, but no longer than ``timeout_s``."""
        with self._changed:
            self._changed.wait_for(lambda: self._woken, timeout_s)
            self._woken = False

    def close(self) -> None:
        """Accept no more commands. Each command that was never taken gets ``None`` as its reply."""
        with self._changed:
            self._is_closed = True
            left = [*self.take(), *(submitted for _, submitted in self._presses)]
            self._presses.clear()
        for submitted in left:
            submitted.respond(None)
