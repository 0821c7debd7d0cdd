"""Consistent overhead byte stuffing: packets without zeros in them (Cheshire and Baker, IEEE/ACM ToN 7(2), 1999).

Whole runs are copied at once, for a loop over bytes takes long on a microcontroller.
"""

_LONGEST_RUN = 254


def encoded_most(length: int) -> int:
    """Give the most bytes that a packet of ``length`` bytes becomes."""
    return length + length // _LONGEST_RUN + 1


def encode_into(packet: bytes, target: bytearray, start: int) -> int:
    """Write the encoded packet into ``target`` from ``start`` on and give where it ends."""
    at, done, length = start, 0, len(packet)
    while True:
        zero = packet.find(b"\0", done)
        end = length if zero < 0 else zero
        while end - done >= _LONGEST_RUN:
            target[at] = _LONGEST_RUN + 1
            target[at + 1 : at + 1 + _LONGEST_RUN] = packet[done : done + _LONGEST_RUN]
            at += 1 + _LONGEST_RUN
            done += _LONGEST_RUN
            if done == length:
                return at
        run = end - done
        target[at] = run + 1
        target[at + 1 : at + 1 + run] = packet[done:end]
        at += 1 + run
        if zero < 0:
            return at
        done = zero + 1


def decode_in_place(frame: memoryview, length: int) -> int:
    """Decode the first ``length`` bytes, none of which is zero, in their own place.

    Returns:
        The length of the packet, or -1 when the last run ends beyond the frame.
    """
    read = written = 0
    while read < length:
        code = frame[read]
        end = read + code
        if end > length:
            return -1
        frame[written : written + code - 1] = frame[read + 1 : end]
        written += code - 1
        read = end
        if code <= _LONGEST_RUN and read < length:
            frame[written] = 0
            written += 1
    return written
