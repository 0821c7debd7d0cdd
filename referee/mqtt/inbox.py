"""Parses messages from the broker: commands, and requests for pictures. Invalid ones raise only ValueError."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from aiomqtt import Message
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from referee.commands.values import Role, describe_errors
from referee.mqtt.topics import LARGEST_NUMBER, RequestId, Topics

MOST_BYTES = 64 * 1024
"""The largest message that the broker may send to the table."""


@dataclass(frozen=True)
class Sender:
    """Anybody who may write to a topic, since MQTT doesn't tell who it was. All share one space of request ids."""

    role: Role
    id: str = "mqtt"
    name: str = "MQTT"


@dataclass(frozen=True)
class Received:
    """A message. Its answer goes to the topic ``respond_to`` with ``correlation``, if it named one that is allowed."""

    topic: str
    payload: bytes
    respond_to: str | None = None
    correlation: bytes | None = None


class PictureRequest(BaseModel):
    """A request for the camera's picture."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    needs: ClassVar[Role] = Role.PLAY

    command: Literal["picture"]
    by: str = ""
    request_id: RequestId = ""


class EvidenceRequest(BaseModel):
    """A request for an event's pictures."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    needs: ClassVar[Role] = Role.PLAY

    command: Literal["evidence"]
    event: Annotated[int, Field(ge=1, le=LARGEST_NUMBER)]
    by: str = ""
    request_id: RequestId = ""


AnyPictureRequest = Annotated[PictureRequest | EvidenceRequest, Field(discriminator="command")]
_PICTURE_REQUESTS: TypeAdapter[AnyPictureRequest] = TypeAdapter(AnyPictureRequest)
_PICTURE_COMMANDS = ("picture", "evidence")


def read_message(message: Message, topics: Topics) -> Received:
    """Return a message's relevant parts, without a response topic that a table may not write to."""
    payload = message.payload if isinstance(message.payload, bytes) else b""
    respond_to = getattr(message.properties, "ResponseTopic", None)
    correlation = getattr(message.properties, "CorrelationData", None)
    allowed = isinstance(respond_to, str) and is_response_topic(respond_to, topics)
    return Received(str(message.topic), payload, respond_to if allowed else None, correlation)


def is_response_topic(topic: str, topics: Topics) -> bool:
    """Whether a table may send an answer to this topic: it is below ``PREFIX/answers/``, and no pattern.

    >>> [is_response_topic(topic, Topics("referee", "t1")) for topic in ("referee/answers/hall", "home/lamp/set")]
    [True, False]
    """
    rest = topic.removeprefix(topics.responses)
    return topic.startswith(topics.responses) and bool(rest) and not set(rest) & set("+#\0") and len(topic) <= 200


def parse_fields(payload: bytes) -> dict[str, Any]:
    """Parse a JSON object; raises ValueError that says what was expected."""
    try:
        value = from_json(payload, allow_inf_nan=False)
    except ValueError as error:
        raise ValueError(f"That is not valid JSON: {error}.") from error
    if not isinstance(value, dict):
        raise ValueError("That is not a command; expected a JSON object.")
    return value


def request_id_of(fields: object) -> str:
    """Return the request id of a possible command, for the answer; empty if there is no valid one."""
    value = fields.get("request_id") if isinstance(fields, dict) else None
    return value if isinstance(value, str) and len(value) <= 64 else ""


def parse_picture_request(fields: dict[str, Any]) -> AnyPictureRequest | None:
    """Parse a request for pictures, ``None`` for another command; raises ValueError for an invalid one."""
    if fields.get("command") not in _PICTURE_COMMANDS:
        return None
    try:
        return _PICTURE_REQUESTS.validate_python(fields)
    except ValidationError as error:
        raise ValueError(f"That is not a command: {describe_errors(error)}.") from error


def role_of(topic: str, topics: Topics, allowed: Role) -> Role:
    """Return the role of commands on a topic, which is never more than the owner's setting allows."""
    by_topic = {topics.play: Role.PLAY, topics.own: Role.OWN}.get(topic, Role.NOBODY)
    return min(by_topic, allowed)
