"""The protocol between the referee (the host) and a microcontroller (the device), the host's side; all of it pure.

docs/protocol.md says what goes over the wire, precisely enough to write a peer.

- ``framing``: where a packet begins and ends among the bytes (COBS).
- ``packets``: header, payload and checksum.
- ``messages``: what a payload means.
- ``link``: the state machine of the host: handshake, delivery, silence.
"""
