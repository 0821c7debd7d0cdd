"""What comes from the broker: orders, and wishes for events and pictures. No bytes from outside end the service."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from aiomqtt import Message
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from referee.commands.orders import Role, describe_errors
from referee.mqtt.topics import RequestId, Topics

MOST_BYTES = 64 * 1024
"""Larger messages are not even sent to the table, which says so to the broker."""


@dataclass(frozen=True)
class Sender:
    """Whoever may write to a topic; MQTT doesn't tell who it was. All of them share one space of request ids."""

    role: Role
    id: str = "mqtt"
    name: str = "MQTT"


@dataclass(frozen=True)
class Received:
    """A message, and where its answer goes: ``respond_to`` with ``correlation``, where it named a topic that it may."""

    topic: str
    payload: bytes
    respond_to: str | None = None
    correlation: bytes | None = None


class PictureOrder(BaseModel):
    """The camera's picture is wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    needs: ClassVar[Role] = Role.PLAY

    command: Literal["picture"]
    by: str = ""
    request_id: RequestId = ""


class EvidenceOrder(BaseModel):
    """The pictures that an event turns on are wanted."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    needs: ClassVar[Role] = Role.PLAY

    command: Literal["evidence"]
    event: Annotated[int, Field(ge=1, le=2**63 - 1)]
    by: str = ""
    request_id: RequestId = ""


LookOrder = Annotated[PictureOrder | EvidenceOrder, Field(discriminator="command")]
_LOOK_ORDERS: TypeAdapter[LookOrder] = TypeAdapter(LookOrder)
_LOOKS = ("picture", "evidence")


def received(message: Message, topics: Topics) -> Received:
    """Take what is needed from a message; a response topic that a table may not write to is left out."""
    payload = message.payload if isinstance(message.payload, bytes) else b""
    respond_to = getattr(message.properties, "ResponseTopic", None)
    correlation = getattr(message.properties, "CorrelationData", None)
    allowed = isinstance(respond_to, str) and is_response_topic(respond_to, topics)
    return Received(str(message.topic), payload, respond_to if allowed else None, correlation)


def is_response_topic(topic: str, topics: Topics) -> bool:
    """Whether a table may send an answer there: below ``PREFIX/answers/``, and no pattern.

    >>> [is_response_topic(topic, Topics("referee", "t1")) for topic in ("referee/answers/hall", "home/lamp/set")]
    [True, False]
    """
    rest = topic.removeprefix(topics.responses)
    return topic.startswith(topics.responses) and bool(rest) and not set(rest) & set("+#\0") and len(topic) <= 200


def parsed(payload: bytes) -> dict[str, Any]:
    """Read a JSON object; raises ValueError that says what was expected."""
    try:
        value = from_json(payload, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"That is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ValueError("That is not a command; expected a JSON object.")
    return value


def request_id_of(fields: object) -> str:
    """Return the request id of something that may be an order, for the answer; empty where there is none that fits."""
    value = fields.get("request_id") if isinstance(fields, dict) else None
    return value if isinstance(value, str) and len(value) <= 64 else ""


def look_order(fields: dict[str, Any]) -> LookOrder | None:
    """Read a wish for pictures, ``None`` for another order; raises ValueError for one that can't be read."""
    if fields.get("command") not in _LOOKS:
        return None
    try:
        return _LOOK_ORDERS.validate_python(fields)
    except ValidationError as error:
        raise ValueError(f"That is not a command: {describe_errors(error)}.") from error


def role_of(topic: str, topics: Topics, allowed: Role) -> Role:
    """Return what orders on a topic may do: never more than the owner's setting allows."""
    by_topic = {topics.play: Role.PLAY, topics.own: Role.OWN}.get(topic, Role.NOBODY)
    return min(by_topic, allowed)
