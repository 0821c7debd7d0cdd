"""Fault settings of the wire between host and virtual microcontroller, and the schedule of outages."""

from __future__ import annotations

import enum
import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from operator import itemgetter
from random import Random
from typing import Any

FRAME_FAULTS = ("lose", "flip", "repeat", "delay", "split", "join")
"""Faults of single frames; their settings are shares."""

_LONGEST_S = 3600.0
_MOST_GARBAGE = 65536


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

    @classmethod
    def from_text(cls, text: str) -> WireFaults:
        """Parse settings such as ``"lose=0.05, reset_every_s=20"``; ``all=0.05`` sets every share.

        Several times in one setting are joined by ``+``: ``resets_at_s=5+12``. Raises ValueError, naming the wrong part
        and what is allowed there.
        """
        settings: dict[str, Any] = {}
        names = [field.name for field in fields(cls)]
        for part in filter(None, (one.strip() for one in text.split(","))):
            name, equals, value = (word.strip() for word in part.partition("="))
            if not equals or (name != "all" and name not in names):
                expected = f"NAME=NUMBER, with one of all, {', '.join(names)}"
                raise ValueError(f"{part!r} is not a fault of the wire; expected {expected}")
            try:
                numbers = tuple(float(word) for word in value.split("+"))
            except ValueError:
                raise ValueError(f"{part!r} has no number after the =; expected something like {name}=0.05") from None
            if name.endswith("_at_s"):
                settings[name] = numbers
            elif len(numbers) > 1:
                raise ValueError(f"{part!r} has {len(numbers)} numbers; expected one, like {name}=0.05")
            elif name == "overtakes":
                settings[name] = bool(numbers[0])
            elif name == "all":
                settings |= dict.fromkeys(FRAME_FAULTS, numbers[0])
            else:
                settings[name] = int(numbers[0]) if name == "garbage_bytes" and numbers[0].is_integer() else numbers[0]
        return cls(**settings)


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
