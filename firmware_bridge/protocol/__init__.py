r"""The host's side of the protocol between the referee (host) and a microcontroller (device). All of it is pure.

docs/internals/protocol.md defines the wire format, precisely enough to implement a peer.

- ``packets``: framing (COBS), header, payload and checksum.
- ``messages``, ``codec``: the meaning of payloads, and their encoding.
- ``link``: the host's state machine, its state and counters. ``session``, ``delivery``: its parts.

A light frame, as it goes over the wire and comes out again after noise:

>>> from firmware_bridge.protocol.codec import decode_message, encode_message
>>> from firmware_bridge.protocol.messages import LightFrame
>>> from firmware_bridge.protocol.packets import Packet, PacketReader, packet_frame
>>> kind, payload = encode_message(LightFrame(bytes((0, 128, 0))))
>>> frame = packet_frame(Packet(kind, session=4660, sequence=0, acknowledged=1, payload=payload))
>>> frame.hex(" ")
'00 04 10 34 12 01 02 01 02 01 01 02 80 05 97 f8 b1 6c 00'
>>> (packet,) = PacketReader().feed(b"noise" + frame)
>>> decode_message(packet.kind, packet.payload)
LightFrame(colours=b'\x00\x80\x00')
"""
