"""The topics of a table on a broker, and the JSON that they carry. Version 1.

All lie below ``PREFIX/TABLE``, such as ``referee/table-3``; ``Topics`` has their names.

=====================  ========  ====================================================================================
topic                  retained  what it carries
=====================  ========  ====================================================================================
``availability``       yes       ``online``; ``offline`` when the table leaves, and as its last will
``state``              yes       a ``TableState`` after every change; the newest wins, and others may be left out
``events``             no        each event of the journal as a ``TableEvent``, in order of its number, at least once
``picture``            no        the camera's picture (JPEG), when a command asked for it
``evidence/N/NAME``    no        a picture on which event N's verdict is based, when a command asked for it
``replay``             no        takes a ``ReplayRequest``, which asks for the events after a number again
``replayed``           no        those events, where the command named no response topic
``command/play``       no        takes commands that a player may give (``referee.commands.values``)
``command/own``        no        takes those and the commands of an owner or an arbiter
``answers``            no        an ``Answer`` to each command that named no response topic
=====================  ========  ====================================================================================

How a hall reads a table:

1. It subscribes to ``PREFIX/+/availability``, ``PREFIX/+/state`` and ``PREFIX/+/events`` with QoS 1 and a session that
   the broker keeps (clean start false and a session expiry).
2. It keeps events by ``(table, journal, number)``. It drops an event that it already has. A gap, or a ``state`` with
   an ``event_number`` that it does not have yet, is filled by a ``ReplayRequest``. ``journal`` changes when the table
   begins another journal. The same number with another ``wall_time`` means that the table went back to a copy of its
   journal: what the hall has from that number on no longer holds.
3. An arbiter's command goes to ``command/own`` with a ``request_id`` of its own. Once an ``Answer`` with that
   ``request_id`` arrives, the command is in the journal. Without an answer it is sent again, with the same id; the
   table carries it out once, even after a restart. An announcement that waits until the table is at rest has no answer
   before that, if it has an id. Retained messages, and those sent while the table was away, are not carried out.

A command may name a response topic below ``PREFIX/answers/`` and correlation data (properties of MQTT 5): the answer
goes there and carries them. A table refuses other response topics, so that nobody makes it write to other devices.

Texts are in English. ``phrases`` has the template and the parts of each that has parts, by its field, and below that by
the fields and numbers within (``common.phrases.Phrase.to_json``), so that a reader can show them in another language.
Readers must ignore unknown fields: a later version may add some.
"""

import re
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

from common.phrases import Phrase, read_phrase
from common.shown_text import ONE_LINE
from frontends.documents import Document, TableDocument
from referee.commands.values import Sentence

ONLINE, OFFLINE = "online", "offline"
DISCOVERY_PREFIX = "homeassistant"
PREFIX = "referee"
_WEB_ADDRESS = re.compile(r"https?://(?=[!-~]{1,2000}$)[^/?#@\\]+([/?#].*)?")
"""An address without a user, which would stand before the host and look like one."""
LARGEST_NUMBER = 2**63 - 1
"""The largest number of an event: the largest integer that a database stores."""


class Topics:
    """The topics of one table, as above; ``table`` is its id, a word of letters, digits, ``-`` and ``_``.

    ``responses`` is what a response topic has to begin with.
    """

    def __init__(self, prefix: str, table: str) -> None:
        self.base = f"{prefix}/{table}"
        self.availability = f"{self.base}/availability"
        self.state = f"{self.base}/state"
        self.events = f"{self.base}/events"
        self.picture = f"{self.base}/picture"
        self.replay = f"{self.base}/replay"
        self.replayed = f"{self.base}/replayed"
        self.play = f"{self.base}/command/play"
        self.own = f"{self.base}/command/own"
        self.answers = f"{self.base}/answers"
        self.responses = f"{prefix}/answers/"

    def evidence(self, number: int, name: str) -> str:
        """Return the topic of a picture on which an event's verdict is based."""
        return f"{self.base}/evidence/{number}/{name}"


class Payload(Document):
    """What a topic carries as JSON. Its sentences are phrases; in JSON, English texts and their ``phrases``."""

    schema_version: Literal[1] = 1

    @model_validator(mode="before")
    @classmethod
    def _read_phrases(cls, given: Any) -> Any:
        return _with_phrases(given, given["phrases"]) if isinstance(given, dict) and "phrases" in given else given

    @model_serializer(mode="wrap")
    def _write_phrases(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        phrases = _phrases_in(self)
        written: dict[str, Any] = write(self)
        return {**written, "phrases": phrases} if phrases else written


def _phrases_in(value: object) -> Any:
    """Return the phrases with parts in a value, by field and number; ``None`` if there are none."""
    if isinstance(value, Phrase):
        return value.to_json() if value.parts else None
    parts = value if isinstance(value, BaseModel) else enumerate(value) if isinstance(value, tuple) else ()
    found = {str(name): phrases for name, part in parts if (phrases := _phrases_in(part)) is not None}
    return found or None


def _with_phrases(value: Any, phrases: Any) -> Any:
    """Return a value read from JSON with its texts as the phrases that ``_phrases_in`` found."""
    if isinstance(value, str):
        return read_phrase(value, phrases)
    if isinstance(phrases, dict) and isinstance(value, dict):
        return {name: _with_phrases(part, phrases[name]) if name in phrases else part for name, part in value.items()}
    if isinstance(phrases, dict) and isinstance(value, list):
        return [_with_phrases(part, phrases.get(str(number))) for number, part in enumerate(value)]
    return value


def _web_address(address: str | None) -> str | None:
    """Return an address that a link may lead to, ``None`` for one of another kind, such as a script, or with a user."""
    return address if address is not None and _WEB_ADDRESS.fullmatch(address) else None


class TableState(TableDocument, Payload):
    """A table as it is believed to be, after the event ``event_number`` of the journal ``journal``.

    ``journal`` is the wall time of the journal's first event, which tells journals apart; empty before there is one.
    ``wall_time`` (ISO 8601 UTC) is when this was so: the clock counts on from there. ``flag_falls`` is when the next
    flag falls if nothing happens; null while nothing runs. ``needs_person`` is true while a fault or a question waits
    for somebody. ``page`` is the address of the table's own page (http or https), if known. ``local`` has the texts
    that Home Assistant shows, by its names for them, in the language of the table's settings.
    """

    table: str
    table_name: str
    journal: str
    wall_time: str
    flag_falls: str | None = None
    needs_person: bool = False
    page: Annotated[str | None, AfterValidator(_web_address)] = None
    local: dict[str, str] = Field(default_factory=dict)


class TableEvent(Payload):
    """An event of a table's journal: ``event_type`` is its kind, ``data`` what the journal has of it.

    What a private hint advises is left out. ``sentence`` tells the event to people; ``player`` is the side it is of and
    ``by`` the person who said it, where there is one. ``request_id`` is the command's that it came from. ``pictures``
    names its evidence.
    """

    table: str
    journal: str
    number: int
    game: str
    game_number: int
    event_type: str
    sentence: Sentence
    wall_time: str
    player: str | None = None
    by: str | None = None
    request_id: str = ""
    pictures: tuple[str, ...] = ()
    data: dict[str, Any] = Field(default_factory=dict)


RequestId = Annotated[str, Field(max_length=64, pattern=ONE_LINE)]


class ReplayRequest(BaseModel):
    """The events after a number are wanted, at most ``most`` of them.

    They go to the response topic, else to ``replayed``; an ``Answer`` with the ``request_id`` follows on ``answers``.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    after: Annotated[int, Field(ge=0, le=LARGEST_NUMBER)] = 0
    most: Annotated[int, Field(ge=1, le=10_000)] = 1000
    request_id: RequestId = ""


class Answer(Payload):
    """What became of a command: ``words`` for a person, whether it was ``refused``, the newest event by then."""

    table: str
    request_id: str
    words: Sentence
    refused: bool
    event_number: int
