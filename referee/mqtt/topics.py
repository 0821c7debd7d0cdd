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

Texts are in English. Beside them, ``phrases`` has the template and the parts of each that has parts, by its field
(``common.phrases.Phrase.to_json``), so that a reader can show them in another language. Readers must ignore unknown
fields: a later version may add some.
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


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class _Spoken(_Frozen):
    """An object with sentences. They are phrases; in JSON, English texts and their ``phrases``."""

    @model_validator(mode="before")
    @classmethod
    def _read_phrases(cls, given: Any) -> Any:
        phrases = given.get("phrases") if isinstance(given, dict) else None
        if not isinstance(phrases, dict):
            return given
        texts = {name: given[name] for name in phrases if isinstance(given.get(name), str)}
        return {**given, **{name: read_phrase(text, phrases[name]) for name, text in texts.items()}}

    @model_serializer(mode="wrap")
    def _write_phrases(self, write: SerializerFunctionWrapHandler) -> dict[str, Any]:
        phrases = {name: text.to_json() for name, text in self if isinstance(text, Phrase) and text.parts}
        written: dict[str, Any] = write(self)
        return {**written, "phrases": phrases} if phrases else written


class Payload(_Spoken):
    """What a topic carries as JSON."""

    schema_version: Literal[1] = 1


class ShownSide(_Frozen):
    """A side: ``name`` is the player's own, or the side's; ``score`` is null in a game without points."""

    side: str
    name: str
    score: int | None
    to_move: bool


class ShownVerdict(_Spoken):
    """The verdict on show; ``kind`` is a ``referee.judge.verdict.VerdictKind``, ``rule`` the sentence of a broken rule.

    ``evidence`` is the number of the event that has its pictures; ``candidates`` are the turns, in strict text, between
    which a person is asked to choose, and ``candidate_players`` the side of each (empty if they are rolls).
    """

    kind: str
    sentence: Sentence
    rule: Sentence = ""
    remedy: Sentence = ""
    places: tuple[str, ...] = ()
    expected: dict[str, str] = {}
    seen: dict[str, str] = {}
    candidates: tuple[str, ...] = ()
    candidate_players: tuple[str, ...] = ()
    evidence: int | None = None


class ShownOutcome(_Spoken):
    """How the game ended; ``winner`` is null for a draw or a shared victory."""

    winner: str | None
    shared_by: tuple[str, ...] = ()
    reason: Sentence
    sentence: Sentence


class ShownClock(_Spoken):
    """What the clock showed at ``wall_time`` (ISO 8601 UTC); a screen counts on from there.

    ``remaining_s`` is what is left to each side that plays, ``running`` whose time runs down once their ``delay_s`` is
    over, ``paused`` why it is stopped (empty if it isn't), ``fallen`` whose flag fell. ``runs_out`` (ISO 8601 UTC) is
    when the next flag falls if nothing happens; null while nothing runs. ``words`` are such as ``Black 4:59, White
    5:00``.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    control: str
    mode: str
    wall_time: str
    remaining_s: dict[str, float]
    delay_s: dict[str, float] = {}
    running: tuple[str, ...] = ()
    paused: Sentence = ""
    fallen: tuple[str, ...] = ()
    runs_out: str | None = None
    words: Sentence


def _web_address(address: str | None) -> str | None:
    """Return an address that a link may lead to, ``None`` for one of another kind, such as a script, or with a user."""
    return address if address is not None and _WEB_ADDRESS.fullmatch(address) else None


class TableState(Payload):
    """A table as it is believed to be, after the event ``event_number`` of the journal ``journal``.

    ``journal`` is the wall time of the journal's first event, which tells journals apart; empty before there is one.
    ``whose_turn`` has the names of those who may move, ``score_words`` are such as ``Ann 12, Ben 9``. ``needs_person``
    is true while a fault or a question waits for somebody. ``next`` says what is to be done. ``position`` is the strict
    text of the position, null before the set-up; ``asked`` says what a player offers or asks. ``page`` is the
    address of the table's own page (http or https), if known. ``local`` has texts in the language of the table's
    settings, by the name of their field; none in English.
    """

    table: str
    table_name: str
    journal: str
    event_number: int
    game: str
    game_title: str
    game_number: int
    sides: tuple[ShownSide, ...]
    whose_turn: Sentence
    score_words: Sentence = ""
    next: Sentence
    words: Sentence
    verdict: ShownVerdict | None = None
    needs_person: bool = False
    outcome: ShownOutcome | None = None
    turns: int = 0
    last_turn: str = ""
    position: str | None = None
    clock: ShownClock | None = None
    hint: Sentence = ""
    trouble: Sentence = ""
    asked: Sentence = ""
    page: Annotated[str | None, AfterValidator(_web_address)] = None
    local: dict[str, str] = {}


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
    data: dict[str, Any] = {}


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
