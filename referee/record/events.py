"""The journal's events, which never change once accepted, and their encoding as database rows."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, cast

from common.json_files import parse_json
from common.phrases import Phrase, read_phrase
from referee.errors import EventError, JournalUnreadableError


class EventKind(StrEnum):
    """The kind of an event; the values are stored in the journal's file."""

    NEW_GAME = "new game"
    SET_UP = "set up"
    TURN = "turn"
    ROLLED = "rolled"
    ANNOUNCED = "announced"
    ILLEGAL = "illegal"
    PUT_RIGHT = "put right"
    QUESTION = "question"
    CORRECTION = "correction"
    TAKE_BACK = "take back"
    HINT_GIVEN = "hint given"
    INTENTION = "intention"
    CLOCK = "clock"
    OFFER = "draw offer"
    NOTE = "note"
    END = "end"


CLOCK = "the clock"
"""The author of the announcements by which players lose on time."""

STATE_CHANGING = frozenset(
    {
        EventKind.NEW_GAME,
        EventKind.SET_UP,
        EventKind.TURN,
        EventKind.ROLLED,
        EventKind.ANNOUNCED,
        EventKind.CORRECTION,
        EventKind.TAKE_BACK,
    }
)
"""The events from which the state is folded. A game resumed under a new number keeps these."""

STOPPED = "stopped before its end"
"""The reason recorded when somebody stops an unfinished game, which may be resumed later."""

PHRASES = "phrases"
"""The key for the texts' templates and parts (``Phrase.to_json``), so that they can be translated after a restart."""

MISREAD = Phrase("a side face had been misread")
"""Why the referee itself corrects what it believed; nothing changes on the table."""

OFFER_MADE = "made"
"""The change by which something is offered or asked; any other closes the offer."""

OFFERS_DRAW, ASKS_TAKE_BACK = "draw", "take back"
"""What an offer is about; one that names neither offers a draw."""

PRIVATE = "private"
"""The key of a hint that only its player is to see."""

SEEN = "camera"
"""The source of a roll that the camera read."""

REQUEST = "request"
"""The key for the request id of the MQTT command that caused an event."""

PlayedKind = Literal[EventKind.TURN, EventKind.ROLLED, EventKind.ANNOUNCED]
"""The events that apply the game's rules; a take-back undoes the last of them."""

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True)
class Event:
    """One accepted event.

    ``kind`` decides what ``data`` holds; docs/internals/journal.md lists it.
    ``frame_time_s`` is the monotonic time of the frame it was judged from, ``wall_time`` ISO 8601 UTC.
    """

    kind: EventKind
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    frame_time_s: float | None = None
    wall_time: str = ""

    @property
    def names(self) -> dict[str, str]:
        """The players' names by side, as a ``new game`` event gives them; empty without any."""
        given = self.data.get("players")
        return {side: str(name) for side, name in given.items()} if isinstance(given, dict) else {}

    @property
    def is_change(self) -> bool:
        """Whether a command is refused if its sender has not seen this event: any but the clock's and remarks."""
        is_remark = self.kind == EventKind.NOTE and self.data.keys() <= {"sentence", REQUEST}
        return self.kind != EventKind.CLOCK and not is_remark

    def text(self, key: str) -> str | None:
        """Return a text of the event's data, ``None`` if there is none of that name."""
        value = self.data.get(key)
        return value if isinstance(value, str) else None

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts in the event's data, empty if there is none of that name."""
        value = self.data.get(key)
        return tuple(str(text) for text in value) if isinstance(value, list) else ()


PICTURE_SUFFIXES: Mapping[str, str] = MappingProxyType({"image/png": ".png", "image/jpeg": ".jpg"})
"""The endings of picture files, by media type."""


@dataclass(frozen=True)
class Evidence:
    """A small picture that documents an event: a ``name`` such as ``before-c3``, and PNG or JPEG bytes."""

    name: str
    media_type: str
    content: bytes


@dataclass(frozen=True)
class KeptEvidence:
    """A picture of an event. If it was dropped, ``left_out`` says why: ``too large`` or ``made room``.

    A dropped picture has an empty ``evidence.content``.
    """

    evidence: Evidence
    left_out: str = ""


@dataclass(frozen=True)
class EvidenceLimits:
    """The size limits of one picture and of all pictures, in bytes. The oldest pictures are dropped for new ones."""

    picture_bytes: int = 64 * 1024
    total_bytes: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        for name in ("picture_bytes", "total_bytes"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} is {getattr(self, name)}; expected 0 (keep no pictures) or more")


REQUIRED: Mapping[EventKind, tuple[str, ...]] = MappingProxyType(
    {
        EventKind.NEW_GAME: ("game",),
        EventKind.SET_UP: ("state",),
        EventKind.TURN: ("turn", "state"),
        EventKind.ROLLED: ("roll", "state"),
        EventKind.ANNOUNCED: ("announcement", "state"),
        EventKind.HINT_GIVEN: ("player", "turn", "strength", "stage"),
        EventKind.INTENTION: ("player", "turn"),
        EventKind.CLOCK: ("change",),
        EventKind.OFFER: ("player", "change"),
        EventKind.CORRECTION: ("by", "state"),
        EventKind.TAKE_BACK: ("by",),
        EventKind.END: ("winner", "reason"),
    }
)
"""The keys that ``data`` must have for the fold, by kind."""


def encode(event: Event) -> str:
    """Encode an event's data as canonical JSON (sorted keys, no spaces, no NaN), so that equal events are equal bytes.

    Raises EventError for an unknown kind, missing data, or a value that JSON can't represent.
    """
    if event.kind not in frozenset(EventKind):
        raise EventError(
            "there is no event of kind {kind!r}; expected one of {kinds}", event.kind, ", ".join(EventKind)
        )
    missing = _missing(event.kind, event.data)
    if missing:
        raise EventError(
            "a '{kind}' event needs {missing}; got only {got}", event.kind, ", ".join(missing), sorted(event.data)
        )
    phrases = {key: text.to_json() for key, text in event.data.items() if isinstance(text, Phrase) and text.parts}
    data = {**event.data, PHRASES: phrases} if phrases else dict(event.data)
    try:
        text = json.dumps(data, sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise EventError("the data of a '{kind}' event is not JSON: {error}", event.kind, error) from error
    return text


def decode(number: int, kind: str, data: str, frame_time_s: float | None, wall_time: str) -> Event:
    """Decode a row to an event; raises JournalUnreadableError with the event's number."""
    try:
        known = EventKind(kind)
    except ValueError as error:
        raise JournalUnreadableError(
            "event {number} is of the unknown kind {kind!r}; the journal is damaged", number, kind
        ) from error
    try:
        value = parse_json(data)
    except ValueError as error:
        raise JournalUnreadableError(
            "event {number} cannot be read ({error}); the journal is damaged", number, error
        ) from error
    if not isinstance(value, dict):
        raise JournalUnreadableError("event {number} holds no object; the journal is damaged", number)
    missing = _missing(known, value)
    if missing:
        raise JournalUnreadableError(
            "event {number} ({known}) has no {missing}; the journal is damaged", number, known, ", ".join(missing)
        )
    phrases = value.pop(PHRASES, None)
    for key, phrase in phrases.items() if isinstance(phrases, dict) else ():
        if isinstance(value.get(key), str):
            value[key] = read_phrase(value[key], phrase)
    return Event(known, cast("dict[str, JsonValue]", value), frame_time_s, wall_time)


def _missing(kind: EventKind, data: Mapping[str, JsonValue]) -> list[str]:
    """The required keys that ``data`` lacks."""
    return [key for key in REQUIRED.get(kind, ()) if key not in data]
