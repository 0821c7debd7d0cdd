"""What the journal holds: events, each accepted once and for ever.

The state of a game is a fold over them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal


class EventKind(StrEnum):
    """What an event is; the values are what the journal's file holds."""

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
    NOTE = "note"
    END = "end"


PlayedKind = Literal[EventKind.TURN, EventKind.ROLLED, EventKind.ANNOUNCED]
"""What carries a game on by its rules, and what a take-back undoes."""

JsonValue = str | int | float | bool | None | list["JsonValue"] | dict[str, "JsonValue"]


@dataclass(frozen=True)
class Event:
    """One accepted event.

    ``kind`` decides what ``data`` holds (see docs/internals/journal.md):

    - ``new game``: ``game``, ``options``, ``seed`` (virtual table only)
    - ``set up``: ``state`` (strict text of the state the table showed; a list when it is open who starts)
    - ``turn``: ``turn`` (strict text), ``player``, ``state`` (strict text after it), ``legal_turns`` (count before it)
    - ``rolled``: ``roll`` (strict text), ``state`` (strict text after it)
    - ``announced``: ``announcement`` (strict text), ``state`` (strict text after it)
    - ``hint given``: ``by`` (who asked), ``player`` (whose turn it is for), ``turn`` (strict text), ``strength``,
      ``stage`` (``piece`` or ``whole``), ``sentence``, ``places``; it leaves the state as it is
    - ``illegal``, ``put right``, ``question``, ``note``: what was said; they leave the state as it is
    - ``correction``: ``by`` (a person's name), ``state`` (strict text that holds from here), ``why``
    - ``take back``: ``by``; the last turn, roll or announcement no longer counts
    - ``end``: ``winner`` (or null), ``reason``, and ``shared_by`` where several share the victory

    ``frame_time_s`` is the monotonic time of the frame it was judged from, ``wall_time`` ISO 8601 UTC.
    """

    kind: EventKind
    data: Mapping[str, JsonValue] = field(default_factory=dict)
    frame_time_s: float | None = None
    wall_time: str = ""


@dataclass(frozen=True)
class Evidence:
    """A small picture an event turns on: ``name`` such as ``before-c3``, PNG or JPEG bytes."""

    name: str
    media_type: str
    content: bytes
