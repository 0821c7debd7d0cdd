"""Events as rows: canonical JSON in, the same Event out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from referee.errors import EventError, JournalUnreadableError
from referee.journal.events import Event, EventKind, JsonValue

REQUIRED: Mapping[EventKind, tuple[str, ...]] = MappingProxyType(
    {
        EventKind.NEW_GAME: ("game",),
        EventKind.SET_UP: ("state",),
        EventKind.TURN: (EventKind.TURN, "state"),
        EventKind.ROLLED: ("roll", "state"),
        EventKind.ANNOUNCED: ("announcement", "state"),
        EventKind.HINT_GIVEN: ("player", EventKind.TURN, "strength", "stage"),
        EventKind.CORRECTION: ("by", "state"),
        EventKind.TAKE_BACK: ("by",),
        EventKind.END: ("winner", "reason"),
    }
)
"""What ``data`` must hold for the fold to work, by kind."""


def encode(event: Event) -> str:
    """Write an event's data as canonical JSON (sorted keys, no spaces, no NaN), so that equal events are equal bytes.

    Raises EventError for an unknown kind, missing data or a value JSON does not have.
    """
    if event.kind not in frozenset(EventKind):
        raise EventError(f"there is no event of kind {event.kind!r}; expected one of {', '.join(EventKind)}")
    missing = [key for key in REQUIRED.get(event.kind, ()) if key not in event.data]
    if missing:
        raise EventError(f"a '{event.kind}' event needs {', '.join(missing)}; got only {sorted(event.data)}")
    try:
        text = json.dumps(dict(event.data), sort_keys=True, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        text.encode("utf-8")
    except (TypeError, ValueError) as error:
        raise EventError(f"the data of a '{event.kind}' event is not JSON: {error}") from error
    return text


def decode(number: int, kind: str, data: str, frame_time_s: float | None, wall_time: str) -> Event:
    """Give the event a row holds; raises JournalUnreadableError that names the event's number."""
    try:
        known = EventKind(kind)
    except ValueError as error:
        raise JournalUnreadableError(
            f"event {number} is of the unknown kind {kind!r}; the journal is damaged"
        ) from error
    try:
        value = json.loads(data)
    except ValueError as error:
        raise JournalUnreadableError(f"event {number} cannot be read ({error}); the journal is damaged") from error
    if not isinstance(value, dict):
        raise JournalUnreadableError(f"event {number} holds no object; the journal is damaged")
    return Event(known, cast(dict[str, JsonValue], value), frame_time_s, wall_time)
