"""The protocol's errors.

BridgeError
└── ProtocolError (ValueError)
    ├── PacketError              bytes that are no packet, or a packet that can't be written
    │   ├── PacketShortError         fewer bytes than a header and a checksum
    │   ├── PacketLongError          more bytes than the largest packet
    │   └── PacketChecksumError      the checksum doesn't fit the bytes
    └── MessageError             a payload that can't be understood, or a message that can't be written
        └── UnknownKindError         a kind this version of the protocol doesn't have
"""

from __future__ import annotations

from firmware_bridge.errors import BridgeError


class ProtocolError(BridgeError, ValueError):
    """Root of the protocol's errors."""


class PacketError(ProtocolError):
    """Bytes that are no packet, or a packet that can't be written; the message says what was expected."""


class PacketShortError(PacketError):
    """Fewer bytes than a header and a checksum take."""


class PacketLongError(PacketError):
    """More bytes than the largest packet has."""


class PacketChecksumError(PacketError):
    """The checksum doesn't fit the bytes: something was changed on the way."""


class MessageError(ProtocolError):
    """A payload that can't be understood, or a message that can't be written; the message names the field."""


class UnknownKindError(MessageError):
    """A kind of packet that this version of the protocol doesn't have."""
