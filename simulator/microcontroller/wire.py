"""One direction of a faulty serial wire: bytes go in, and come out later with faults applied. Pure."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Mapping
from random import Random

from simulator.microcontroller.faults import WireFaults

_MOST_FLIPPED_BITS = 8
_MOST_PIECES = 3
_FRAME = re.compile(rb"\0*[^\0]+\0?|\0+")


class FaultyWire:
    """Carries bytes one way, with those faults of ``WireFaults`` that affect single frames.

    The resulting bytes depend only on the seed, the bytes and how they were written; their arrival also depends on the
    times passed in, which are seconds on any clock that never goes back.
    """

    def __init__(self, faults: WireFaults, seed: int | str) -> None:
        self._faults = faults
        # two streams, so that one kind of fault does not influence which frames another one hits
        self._hit_rng = Random(f"{seed} strikes")
        self._detail_rng = Random(f"{seed} details")
        self._in_transit: list[tuple[float, int, bytes]] = []
        self._written = 0
        self._busy_until_s = 0.0
        self._last_arrival_s = 0.0
        self._held = b""
        self._held_until_s = 0.0
        self._silent_until_s = 0.0
        self._hits: Counter[str] = Counter()

    @property
    def fault_counts(self) -> Mapping[str, int]:
        """Number of frames written (``"frames"``), and of those hit by each kind of fault."""
        return self._hits

    def write(self, data: bytes, now_s: float) -> None:
        """Write bytes."""
        if now_s < self._silent_until_s:
            lost = len(frames_of(data))
            self._hits["frames"] += lost
            self._hits["silence"] += lost
            return
        self._release(now_s)
        for frame in frames_of(data):
            self._carry(frame, now_s)

    def read(self, now_s: float) -> list[bytes]:
        """Take the bytes that have arrived by now, in pieces as they arrived."""
        self._release(now_s)
        arrived = []
        while self._in_transit and self._in_transit[0][0] <= now_s:
            arrived.append(heapq.heappop(self._in_transit)[2])
        return arrived

    @property
    def next_due_s(self) -> float | None:
        """When the next bytes arrive if nothing more is written; ``None`` if nothing is in transit."""
        due_s = self._in_transit[0][0] if self._in_transit else None
        if self._held and (due_s is None or self._held_until_s < due_s):
            return self._held_until_s
        return due_s

    @property
    def free_at_s(self) -> float:
        """When a slow wire has carried everything written; 0 for one without a limit."""
        return 0.0 if self._faults.bytes_per_s is None else self._busy_until_s

    def be_silent(self, until_s: float) -> None:
        """Discard everything written until then."""
        self._silent_until_s = max(self._silent_until_s, until_s)

    def mend(self) -> None:
        """Remove all faults from now on; the speed stays."""
        self._silent_until_s = 0.0
        self._faults = WireFaults(bytes_per_s=self._faults.bytes_per_s, latency_s=self._faults.latency_s)

    def drop(self) -> None:
        """Lose everything in transit."""
        self._in_transit.clear()
        self._held = b""
        self._busy_until_s = self._last_arrival_s = 0.0

    def cut(self) -> None:
        """Lose everything in transit, and start again with another cable."""
        self.drop()
        self._silent_until_s = 0.0

    def garbage(self, count: int, now_s: float) -> None:
        """Deliver that many random bytes, without further faults."""
        if count:
            data, self._held = self._held + self._detail_rng.randbytes(count), b""
            self._deliver(data, self._arrival_s(count, now_s))

    def _release(self, now_s: float) -> None:
        """Release a frame that waited in vain for another one to be joined with."""
        if self._held and self._held_until_s <= now_s:
            self._deliver(self._held, self._held_until_s)
            self._held = b""

    def _carry(self, frame: bytes, now_s: float) -> None:
        faults, random = self._faults, self._hit_rng.random
        lose, flip, repeat = random() < faults.lose, random() < faults.flip, random() < faults.repeat
        delay, split, join = random() < faults.delay, random() < faults.split, random() < faults.join
        hits = self._hits
        hits["frames"] += 1
        if lose:
            hits["lose"] += 1
            return None
        if flip:
            hits["flip"] += 1
            frame = self._flip_bits(frame)
        if self._held:
            frame, self._held = self._held + frame, b""
        if repeat:
            hits["repeat"] += 1
        if join:
            hits["join"] += 1
            self._held = frame * (1 + repeat)
            self._held_until_s = self._arrival_s(len(self._held), now_s) + faults.join_s
            return None
        if delay:
            hits["delay"] += 1
            late_s = self._detail_rng.random() * faults.delay_s
            if faults.overtakes:
                self._deliver(frame, self._arrival_s(len(frame), now_s) + late_s)
                return self._repeat(frame, now_s) if repeat else None
            self._busy_until_s = max(now_s, self._busy_until_s) + late_s
        if split:
            hits["split"] += 1
            self._deliver_split(frame, self._arrival_s(len(frame), now_s))
        else:
            self._deliver(frame, self._arrival_s(len(frame), now_s))
        if repeat:
            self._repeat(frame, now_s)
        return None

    def _repeat(self, frame: bytes, now_s: float) -> None:
        arrival_s = self._arrival_s(len(frame), now_s)
        self._deliver(frame, arrival_s + self._detail_rng.random() * self._faults.delay_s * self._faults.overtakes)

    def _arrival_s(self, count: int, now_s: float) -> float:
        """Return when the last of ``count`` bytes arrives, after everything before it."""
        per_s = self._faults.bytes_per_s
        starts_s = max(now_s, self._busy_until_s)
        self._busy_until_s = starts_s if per_s is None else starts_s + count / per_s
        return self._busy_until_s + self._faults.latency_s

    def _deliver(self, data: bytes, arrival_s: float) -> None:
        if not self._faults.overtakes:
            self._last_arrival_s = arrival_s = max(arrival_s, self._last_arrival_s)
        # the number keeps data that arrives at the same time in the order in which it was written
        self._written += 1
        heapq.heappush(self._in_transit, (arrival_s, self._written, data))

    def _deliver_split(self, frame: bytes, arrival_s: float) -> None:
        rng = self._detail_rng
        count = 2 + int(rng.random() * (_MOST_PIECES - 1))
        cuts = sorted(int(rng.random() * (len(frame) + 1)) for _ in range(count - 1))
        for start, end in zip([0, *cuts], [*cuts, len(frame)], strict=True):
            if start < end:
                self._deliver(frame[start:end], arrival_s)
                arrival_s += rng.random() * self._faults.split_s
        self._busy_until_s = max(self._busy_until_s, arrival_s - self._faults.latency_s)

    def _flip_bits(self, frame: bytes) -> bytes:
        rng = self._detail_rng
        flipped = bytearray(frame)
        for _ in range(1 + int(rng.random() * _MOST_FLIPPED_BITS)):
            bit = int(rng.random() * len(frame) * 8)
            flipped[bit >> 3] ^= 1 << (bit & 7)
        return bytes(flipped)


def frames_of(data: bytes) -> list[bytes]:
    """Split bytes after each zero that ends a frame; joined, the pieces are ``data`` again.

    Leading zeros belong to the frame that follows; bytes after the last zero are a piece of their own.
    """
    return _FRAME.findall(data)
