"""A strip of WS2812 lights at the end of its data line: from edges to what the lights show, by the data sheet alone."""

from collections.abc import Sequence
from itertools import pairwise

from tests.system.rp2040.edges import Edge

# Worldsemi, WS2812B data sheet, "Data transfer time": each 150 ns more or less.
_ZERO_HIGH_NS = (250, 550)
_ONE_HIGH_NS = (650, 950)
_LOW_NS = (300, 1000)
# 50 us and more; the WS2812B-V5 wants 280.
_PAUSE_NS = 280_000


class PulseError(AssertionError):
    """A pulse that a light could take for another, or for none."""


def frames(edges: Sequence[Edge]) -> list[bytes]:
    """Decode what was sent, frame by frame, in the order of the wire; the last one ends where the edges do."""
    found: list[bytes] = []
    bits: list[int] = []
    ups = edges[0 if edges and edges[0].is_high else 1 :]
    for up, down in zip(ups[::2], ups[1::2], strict=False):
        bits.append(_bit(down.at_ns - up.at_ns))
    gaps = [after.at_ns - before.at_ns for before, after in pairwise(ups[1:])][::2]
    row: list[int] = []
    for bit, gap in zip(bits, [*gaps, float("inf")][: len(bits)], strict=True):
        row.append(bit)
        if gap >= _PAUSE_NS:
            found.append(_octets(row))
            row = []
        elif not _LOW_NS[0] <= gap <= _LOW_NS[1]:
            raise PulseError(f"the line is low for {gap:.0f} ns after bit {len(row)}")
    return [*found, *([_octets(row)] if row else [])]


def _bit(high_ns: float) -> int:
    for bit, (least, most) in enumerate((_ZERO_HIGH_NS, _ONE_HIGH_NS)):
        if least <= high_ns <= most:
            return bit
    raise PulseError(f"a pulse of {high_ns:.0f} ns")


def _octets(bits: Sequence[int]) -> bytes:
    if len(bits) % 24:
        raise PulseError(f"{len(bits)} bits are no whole lights")
    return bytes(int("".join(map(str, bits[at : at + 8])), 2) for at in range(0, len(bits), 8))
