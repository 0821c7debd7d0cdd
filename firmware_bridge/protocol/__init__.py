r"""The host's side of the protocol between the referee (host) and a microcontroller (board). All of it is pure.

docs/internals/protocol.md defines the wire format, precisely enough to implement a peer.

- ``packets``: framing (COBS) and checksum.
- ``messages``: the packets as values, and their encoding.
- ``link``: the host's end: what to send when, and what of a board's packets is news.

A greeting, as it goes over the wire and comes out again after noise:

>>> from firmware_bridge.protocol.messages import HostState, decode_packet, encode_packet
>>> from firmware_bridge.protocol.packets import PacketReader, encode_frame
>>> frame = encode_frame(encode_packet(HostState(boot_id=0, number=1)))
>>> frame.hex(" ")
'00 04 48 02 01 01 01 01 01 01 01 05 3a 07 bb 8c 00'
>>> (packet,) = PacketReader().feed(b"noise" + frame)
>>> decode_packet(packet)
HostState(boot_id=0, number=1, taken=(), leaves=False, wanted=None)
"""
