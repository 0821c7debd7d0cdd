"""One direction of a faulty serial wire: bytes go in, and come out later with faults applied. Pure.

Also the settings of the faults, and the schedule of outages.
"""

from __future__ import annotations

import enum
import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from random import Random

FRAME_FAULTS = ("lose", "flip", "repeat", "delay", "split", "join")
"""Faults of single frames; their settings are shares."""

_LONGEST_S = 3600.0  # longest time that a setting may have
_MOST_GARBAGE = 65536  # bytes


@dataclass(frozen=True)
class WireFaults:
    """Faults of the wire, the same in both directions. Without arguments the wire has none.

    Shares, 0 to 1, of the frames written (a frame here: all bytes up to the zero that ends it):

    - ``lose``: it never arrives.
    - ``flip``: one to eight of its bits are inverted.
    - ``repeat``: it arrives twice in a row.
    - ``delay``: it arrives up to ``delay_s`` late, and what follows waits.
    - ``split``: it arrives in two or three pieces with up to ``split_s`` between them; what follows waits.
    - ``join``: it waits up to ``join_s`` for the next one and arrives in one piece with it.

    Outages, at random times ``..._every_s`` seconds apart on average (``None``: never), and at the fixed times
    ``..._at_s``, both counted from the start:

    - silence: what is written within ``silence_s`` is lost, in both directions; what is on its way arrives.
    - reset: the microcontroller resets by itself.
    - unplug: it is unplugged for ``unplugged_s``, and comes back under another name.

    A serial wire keeps the order of its bytes. With ``overtakes`` it doesn't: later frames overtake a delayed one, and
    a repeat arrives up to ``delay_s`` later.

    ``garbage_bytes`` random bytes precede the device's first message after plugging in and after each reset.
    ``bytes_per_s`` is the capacity of the wire in each direction (``None``: unlimited), ``latency_s`` its latency.

    Raises ValueError, naming the setting, when one is out of range.
    """

    lose: float = 0.0
    flip: float = 0.0
    repeat: float = 0.0
    delay: float = 0.0
    split: float = 0.0
    join: float = 0.0
    delay_s: float = 0.05
    split_s: float = 0.005
    join_s: float = 0.02
    overtakes: bool = False
    garbage_bytes: int = 0
    silence_every_s: float | None = None
    silences_at_s: tuple[float, ...] = ()
    silence_s: float = 1.0
    reset_every_s: float | None = None
    resets_at_s: tuple[float, ...] = ()
    unplug_every_s: float | None = None
    unplugs_at_s: tuple[float, ...] = ()
    unplugged_s: float = 0.5
    bytes_per_s: float | None = None
    latency_s: float = 0.0

    def __post_init__(self) -> None:
        for name in FRAME_FAULTS:
            share = getattr(self, name)
            if not 0.0 <= share <= 1.0:
                raise ValueError(f"{name} is {share}; expected a share of the frames, 0 to 1")
        for name in ("delay_s", "split_s", "join_s", "silence_s", "unplugged_s", "latency_s"):
            length_s = getattr(self, name)
            if not 0.0 <= length_s <= _LONGEST_S:
                raise ValueError(f"{name} is {length_s}; expected seconds, 0 to {_LONGEST_S:g}")
        for name in ("silence_every_s", "reset_every_s", "unplug_every_s"):
            every_s = getattr(self, name)
            if every_s is not None and not 0.0 < every_s < math.inf:
                raise ValueError(f"{name} is {every_s}; expected seconds, more than 0 (leave it out for never)")
        for name in ("silences_at_s", "resets_at_s", "unplugs_at_s"):
            for at_s in getattr(self, name):
                if not 0.0 <= at_s < math.inf:
                    raise ValueError(f"{name} holds {at_s}; expected seconds from the start, 0 or more")
        if self.bytes_per_s is not None and not 1.0 <= self.bytes_per_s < math.inf:
            raise ValueError(f"bytes_per_s is {self.bytes_per_s}; expected 1 or more (leave it out for no limit)")
        if not (isinstance(self.garbage_bytes, int) and 0 <= self.garbage_bytes <= _MOST_GARBAGE):
            raise ValueError(f"garbage_bytes is {self.garbage_bytes}; expected a whole number, 0 to {_MOST_GARBAGE}")

    @classmethod
    def every_kind(cls, share: float) -> WireFaults:
        """Return each fault of single frames at that share, and no others."""
        return cls(lose=share, flip=share, repeat=share, delay=share, split=share, join=share)


class Outage(enum.Enum):
    """An outage of the whole cable or board."""

    SILENCE = "silence"
    RESET = "reset"
    UNPLUG = "unplug"


class FaultSchedule:
    """The times of outages: fixed ones, and random ones that only depend on the seed.

    ``start_s`` is when the times of ``faults`` begin; all times are of the same clock.
    """

    def __init__(self, faults: WireFaults, seed: int, start_s: float = 0.0) -> None:
        streams = [
            ((start_s + time_s, outage) for time_s, outage in stream)
            for outage, every_s, at_s in (
                (Outage.SILENCE, faults.silence_every_s, faults.silences_at_s),
                (Outage.RESET, faults.reset_every_s, faults.resets_at_s),
                (Outage.UNPLUG, faults.unplug_every_s, faults.unplugs_at_s),
            )
            for stream in (_at(outage, at_s), _every(outage, every_s, Random(f"{seed} {outage.value}")))
        ]
        self._outages = heapq.merge(*streams, key=itemgetter(0))
        self._next = next(self._outages, None)

    @property
    def next_s(self) -> float | None:
        """Time of the next one; ``None`` if there are no more."""
        return None if self._next is None else self._next[0]

    def due(self, now_s: float) -> list[Outage]:
        """Take those up to ``now_s`` that were not taken before, in order of time."""
        due: list[Outage] = []
        while self._next is not None and self._next[0] <= now_s:
            due.append(self._next[1])
            self._next = next(self._outages, None)
        return due


def _at(outage: Outage, at_s: tuple[float, ...]) -> Iterator[tuple[float, Outage]]:
    for time_s in sorted(at_s):
        yield time_s, outage


def _every(outage: Outage, every_s: float | None, rng: Random) -> Iterator[tuple[float, Outage]]:
    time_s = 0.0
    while every_s is not None:
        time_s += rng.expovariate(1.0 / every_s)
        yield time_s, outage


_MOST_FLIPPED_BITS = 8  # of a frame
_MOST_PIECES = 3  # into which a frame is split
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
