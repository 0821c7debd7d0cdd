"""The protocol between the referee (the host) and a microcontroller (the device), the host's side; all of it pure.

docs/protocol.md says what goes over the wire, precisely enough to write a peer.

- ``framing``: where a packet begins and ends among the bytes (COBS).
- ``packets``: header, payload and checksum.
- ``messages``: what a payload means.
- ``link``: the state machine of the host: handshake, delivery, silence. It is made of ``greeting``, ``sender`` with
  ``timer``, ``receiver``, ``outbox``, ``heartbeat`` and ``presses``; ``states`` and ``statistics`` tell of it.
"""
