"""The MQTT client of a table: where the broker is, how a connection is made, and why one failed, in words."""

from __future__ import annotations

import logging
import ssl

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from common.phrases import capitalized, plain_reason
from referee.errors import BrokerError
from referee.mqtt.inbox import MOST_BYTES
from referee.mqtt.options import MqttOptions

_KEEP_ALIVE_S = 30
"""After one and a half times this without a message, the broker sends the last will."""
_TIMEOUT_S = 5.0
_MOST_INCOMING = 100
_REFUSALS = frozenset({"Bad user name or password", "Not authorized", "Banned"})
_BROKEN = frozenset({"Unspecified error", "Disconnected during message iteration"})
_TAKEN_OVER = "Session taken over"

SILENT_LOGGER = logging.Logger("mqtt")
SILENT_LOGGER.addHandler(logging.NullHandler())
"""Replaces the library's log, which reports every lost connection; the callers report it once, in plain words."""


def explain_failure(error: Exception, options: MqttOptions) -> str:
    """Say why a broker can't be used, and what to check."""
    if isinstance(error, BrokerError):
        return f"{capitalized(str(error))}."
    refusal = error.__cause__ if isinstance(error.__cause__, aiomqtt.MqttCodeError) else error
    code = refusal.rc if isinstance(refusal, aiomqtt.MqttCodeError) else None
    reason = str(code) if isinstance(code, ReasonCode) else plain_reason(error)
    if reason in _BROKEN:
        reason = "the connection broke"
    if reason == _TAKEN_OVER:
        return (
            f"Another table with the id {options.table} is on the broker at {options.broker}; "
            "give each table an id of its own under [mqtt]."
        )
    if reason in _REFUSALS:
        return (
            f"The broker at {options.broker} does not let this table in ({reason}); "
            "look at user and password_file under [mqtt], and at the broker's own rules."
        )
    return f"The broker at {options.broker} does not answer ({reason})."


async def resolve_broker(options: MqttOptions) -> MqttOptions:
    """Return the options with the broker's address; searches for the hall if necessary. Raises BrokerError."""
    if options.hall is None:
        return options
    # Multicast DNS is only loaded if a hall is searched for.
    from referee.mqtt.hall_search import find_hall_broker

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
