"""The MQTT client of a table: where the broker is, how a connection is made, and why one failed, in words.

Messages from the broker are parsed here; invalid ones raise only ValueError.
"""

import logging
import ssl
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

import aiomqtt
from aiomqtt import Message
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from common.phrases import Phrase, as_sentence, plain_reason
from frontends.mqtt.options import MqttOptions
from frontends.mqtt.topics import LARGEST_NUMBER, RequestId, Topics
from referee.commands.values import Role, describe_errors
from referee.errors import BrokerError

MOST_BYTES = 64 * 1024
"""The largest message that the broker may send to the table."""


@dataclass(frozen=True)
class Sender:
    """Anybody who may write to a topic, since MQTT doesn't tell who it was. All share one space of request ids."""

    role: Role
    id: str = "mqtt"
    name: str = "MQTT"
    player: None = None


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
        raise ValueError(Phrase("That is not valid JSON: {error}.", error)) from error
    if not isinstance(value, dict):
        raise ValueError(Phrase("That is not a command; expected a JSON object."))
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
        raise ValueError(Phrase("That is not a command: {describe_errors}.", describe_errors(error))) from error


def role_of(topic: str, topics: Topics, allowed: Role) -> Role:
    """Return the role of commands on a topic, which is never more than the owner's setting allows."""
    by_topic = {topics.play: Role.PLAY, topics.own: Role.OWN}.get(topic, Role.NOBODY)
    return min(by_topic, allowed)


_KEEP_ALIVE_S = 30
"""After one and a half times this without a message, the broker sends the last will."""
_TIMEOUT_S = 5.0  # for the broker to answer
_MOST_INCOMING = 100  # messages that wait for the table
_REFUSALS = frozenset({"Bad user name or password", "Not authorized", "Banned"})
_BROKEN = frozenset({"Unspecified error", "Disconnected during message iteration"})
_TAKEN_OVER = "Session taken over"

SILENT_LOGGER = logging.Logger("mqtt")
SILENT_LOGGER.addHandler(logging.NullHandler())
"""Replaces the library's log, which reports every lost connection; the callers report it once, in plain words."""


def explain_failure(error: Exception, options: MqttOptions) -> str:
    """Say why a broker can't be used, and what to check."""
    if isinstance(error, BrokerError):
        return as_sentence(str(error))
    refusal = error.__cause__ if isinstance(error.__cause__, aiomqtt.MqttCodeError) else error
    code = refusal.rc if isinstance(refusal, aiomqtt.MqttCodeError) else None
    reason = str(code) if isinstance(code, ReasonCode) else plain_reason(error)
    if reason in _BROKEN:
        reason = Phrase("the connection broke")
    if reason == _TAKEN_OVER:
        return Phrase(
            "Another table with the id {table} is on the broker at {broker}; give each table an id of its own under "
            "[mqtt].",
            *(options.table, options.broker),
        )
    if reason in _REFUSALS:
        return Phrase(
            "The broker at {broker} does not let this table in ({reason}); look at user and password_file under "
            "[mqtt], and at the broker's own rules.",
            *(options.broker, reason),
        )
    return Phrase("The broker at {broker} does not answer ({reason}).", options.broker, reason)


async def resolve_broker(options: MqttOptions) -> MqttOptions:
    """Return the options with the broker's address; searches for the hall if necessary. Raises BrokerError."""
    if options.hall is None:
        return options
    # Multicast DNS is only loaded if a hall is searched for.
    from frontends.mqtt.hall_search import find_hall_broker

    return await find_hall_broker(options)


def broker_client(
    options: MqttOptions, context: ssl.SSLContext | None, will: aiomqtt.Will | None = None, suffix: str = ""
) -> aiomqtt.Client:
    """Return a client for one connection; ``suffix`` ends its id, by which the broker identifies clients."""
    return aiomqtt.Client(
        options.address,
        options.port,
        username=options.user,
        password=options.password,
        identifier=f"{options.prefix}-{options.table}{suffix}",
        protocol=aiomqtt.ProtocolVersion.V5,
        will=will,
        # Commands sent while the table was away may be hours old, so they are dropped.
        clean_start=True,
        timeout=_TIMEOUT_S,
        keepalive=_KEEP_ALIVE_S,
        logger=SILENT_LOGGER,
        max_queued_incoming_messages=_MOST_INCOMING,
        properties=properties(PacketTypes.CONNECT, MaximumPacketSize=MOST_BYTES),
        tls_context=context,
    )


def properties(packet_type: int, **values: object) -> Properties:
    """Return MQTT 5 properties, by the library's names."""
    properties = Properties(packet_type)  # type: ignore[no-untyped-call]
    for name, value in values.items():
        setattr(properties, name, value)
    return properties
