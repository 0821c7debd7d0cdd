"""The protocol between the referee (the host) and a microcontroller (the device): the host's side. All of it is pure.

docs/internals/protocol.md defines what goes over the wire, precisely enough to write a peer.

- ``packets``: framing (COBS), header, payload and checksum.
- ``messages``, ``codec``: what a payload means, and how it is written and read.
- ``link``: the host's state machine. It uses ``session``, ``delivery`` and ``outbox``.
- ``status``: the state of a link, and what it counts.
"""
