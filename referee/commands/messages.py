"""Commands and replies as the JSON objects that cross a wire, and back.

A referee of another version may be at the other end, so the keys stay as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from common.phrases import listed
from referee.commands.values import (
    Announce,
    AskHint,
    Correct,
    EnterRoll,
    EnterTurn,
    Entry,
    Reply,
    RestoreSensor,
    TakeBack,
)
from referee.errors import CorrectionError

SentCommand = Correct | TakeBack | Entry | AskHint | RestoreSensor
"""What may be asked of a referee from outside its process."""

_VERBS: Mapping[type[Any], str] = MappingProxyType(
    {
        Correct: "correct",
        TakeBack: "take back",
        EnterTurn: "enter",
        EnterRoll: "enter",
        Announce: "enter",
        AskHint: "hint",
        RestoreSensor: "put back",
    }
)
_ENTRIES: Mapping[str, type[Entry]] = MappingProxyType({each.kind: each for each in (EnterTurn, EnterRoll, Announce)})


def command_message(command: SentCommand) -> dict[str, Any]:
    """Write a command as a JSON object."""
    message: dict[str, Any] = {"do": _VERBS[type(command)], "by": command.by}
    match command:
        case Correct():
            message |= {
                "looks": dict(command.looks),
                "position": command.position,
                "to_move": command.to_move,
                "why": command.why,
            }
        case EnterTurn() | EnterRoll() | Announce():
            message |= {"kind": command.kind.value, "text": command.text, "player": command.player or ""}
        case RestoreSensor():
            message |= {"place": command.place}
    return message


def command_of(message: Mapping[str, Any]) -> SentCommand:
    """Read a command; raises CorrectionError that says what was expected."""
    match message.get("do"):
        case "correct":
            return _correction(message)
        case "take back":
            return TakeBack(_text(message, "by"))
        case "enter":
            return _entry(message)
        case "hint":
            return AskHint(_text(message, "by"))
        case "put back":
            return RestoreSensor(_text(message, "place"), _text(message, "by"))
        case other:
            can = listed(tuple(dict.fromkeys(_VERBS.values())), "and")
            raise CorrectionError(f"this referee can't do {other!r}; it can {can}")


def reply_message(reply: Reply) -> dict[str, str]:
    """Write a reply as a JSON object."""
    return {"refused" if reply.refused else "done": reply.words}


def reply_of(message: Mapping[str, Any]) -> Reply:
    """Read a reply; one that says neither ``done`` nor ``refused`` is a refusal that quotes it."""
    if "done" in message:
        return Reply(str(message["done"]))
    return Reply(str(message.get("refused", f"the referee answered {dict(message)!r}")), refused=True)


def _entry(message: Mapping[str, Any]) -> Entry:
    kind = message.get("kind")
    entry = _ENTRIES.get(kind) if isinstance(kind, str) else None
    if entry is None:
        raise CorrectionError(f"the kind is {kind!r}; expected {listed(tuple(_ENTRIES), 'or')}")
    return entry(_text(message, "text"), _text(message, "by"), _text(message, "player") or None)


def _correction(message: Mapping[str, Any]) -> Correct:
    looks = message.get("looks", {})
    if not isinstance(looks, dict) or not all(isinstance(look, str) for look in looks.values()):
        raise CorrectionError(f"the looks are {looks!r}; expected a look by place")
    return Correct(
        by=_text(message, "by"),
        looks=looks,
        position=_text(message, "position"),
        to_move=_text(message, "to_move"),
        why=_text(message, "why"),
    )


def _text(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name, "")
    if not isinstance(value, str):
        raise CorrectionError(f"{name} is {value!r}; expected a text")
    return value
