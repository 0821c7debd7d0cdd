"""What goes wrong on the wire between host and virtual microcontroller: the knobs, and when moments of trouble come."""

from __future__ import annotations

import enum
import math
from collections.abc import Iterator
from dataclasses import dataclass, fields
from random import Random
from typing import Any

FRAME_FAULTS = ("lose", "flip", "repeat", "delay", "split", "join")
"""Faults that strike single frames: the knobs that are shares."""

_LONGEST_S = 3600.0
_MOST_GARBAGE = 65536


@dataclass(frozen=True)
class WireFaults:
    """What goes wrong, in both directions alike. Without arguments the wire is a good one.

    Shares, 0 to 1, of the frames that are written (a frame here: all up to the zero that ends it):

    - ``lose``: it never arrives.
    - ``flip``: one to eight of its bits arrive turned over.
    - ``repeat``: it arrives twice, one right after the other.
    - ``delay``: it arrives up to ``delay_s`` later than it should, and what follows waits.
    - ``split``: it arrives in two or three pieces with up to ``split_s`` between them; what follows waits.
    - ``join``: it waits up to ``join_s`` for the next one and arrives in one piece with it.

    Moments, drawn at random ``..._every_s`` seconds apart on average (``None``: never), and at the fixed times
    ``..._at_s``, both counted from the start:

    - silence: for ``silence_s`` nothing gets through in either direction.
    - reset: the microcontroller resets by itself.
    - unplug: it is unplugged for ``unplugged_s``, and comes back under another name.

    A serial wire keeps the order of what it carries. With ``overtakes`` it doesn't: what is delayed is overtaken by
    what follows, and a repeat comes up to ``delay_s`` later.

    ``garbage_bytes`` random bytes come before whatever the device says first, after plugging in and after each reset.
    ``bytes_per_s`` is how many bytes a second the wire carries in each direction (``None``: any number), and
    ``latency_s`` how long each takes.

    Raises ValueError, naming the knob, when one is out of its range.
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
        """Each fault that strikes single frames at that share, and nothing else."""
        return cls(lose=share, flip=share, repeat=share, delay=share, split=share, join=share)

    @classmethod
    def from_text(cls, text: str) -> WireFaults:
        """Read knobs as a person types them, such as ``"lose=0.05, reset_every_s=20"``; ``all=0.05`` sets every share.

        Several times in one knob are joined by ``+``: ``resets_at_s=5+12``. Raises ValueError, naming the part that
        is wrong and what may stand there.
        """
        knobs: dict[str, Any] = {}
        names = [field.name for field in fields(cls)]
        for part in filter(None, (one.strip() for one in text.split(","))):
            name, equals, value = (word.strip() for word in part.partition("="))
            if not equals or (name != "all" and name not in names):
                expected = f"NAME=NUMBER, with one of all, {', '.join(names)}"
                raise ValueError(f"{part!r} is no fault of the wire; expected {expected}")
            try:
                numbers = tuple(float(word) for word in value.split("+"))
            except ValueError:
                raise ValueError(f"{part!r} has no number after the =; expected something like {name}=0.05") from None
            if name.endswith("_at_s"):
                knobs[name] = numbers
            elif len(numbers) > 1:
                raise ValueError(f"{part!r} has {len(numbers)} numbers; expected one, like {name}=0.05")
            elif name == "overtakes":
                knobs[name] = bool(numbers[0])
            elif name == "all":
                knobs |= dict.fromkeys(FRAME_FAULTS, numbers[0])
            else:
                knobs[name] = int(numbers[0]) if name == "garbage_bytes" and numbers[0].is_integer() else numbers[0]
        return cls(**knobs)


class Trouble(enum.Enum):
    """What happens to the whole cable or board at a moment."""

    SILENCE = "silence"
    RESET = "reset"
    UNPLUG = "unplug"


class FaultSchedule:
    """When which trouble comes: at the fixed times, and at random ones that depend on nothing but the seed.

    ``start_s`` is when the times of ``faults`` begin; what is passed in and given here are times of the same clock.
    """

    def __init__(self, faults: WireFaults, seed: int, start_s: float = 0.0) -> None:
        self._streams = [
            ((start_s + time_s, trouble) for time_s, trouble in stream)
            for trouble, every_s, at_s in (
                (Trouble.SILENCE, faults.silence_every_s, faults.silences_at_s),
                (Trouble.RESET, faults.reset_every_s, faults.resets_at_s),
                (Trouble.UNPLUG, faults.unplug_every_s, faults.unplugs_at_s),
            )
            for stream in (_at(trouble, at_s), _every(trouble, every_s, Random(f"{seed} {trouble.value}")))
        ]
        self._heads = [next(stream, None) for stream in self._streams]

    @property
    def next_s(self) -> float | None:
        """When the next one comes; ``None``: none comes any more."""
        return min((head[0] for head in self._heads if head is not None), default=None)

    def due(self, now_s: float) -> list[Trouble]:
        """Those that came up to ``now_s`` and were not given before, in order of time."""
        came: list[tuple[float, Trouble]] = []
        for number, stream in enumerate(self._streams):
            head = self._heads[number]
            while head is not None and head[0] <= now_s:
                came.append(head)
                head = next(stream, None)
            self._heads[number] = head
        return [trouble for _, trouble in sorted(came, key=lambda one: one[0])]


def _at(trouble: Trouble, at_s: tuple[float, ...]) -> Iterator[tuple[float, Trouble]]:
    for time_s in sorted(at_s):
        yield time_s, trouble


def _every(trouble: Trouble, every_s: float | None, rng: Random) -> Iterator[tuple[float, Trouble]]:
    time_s = 0.0
    while every_s is not None:
        time_s += rng.expovariate(1.0 / every_s)
        yield time_s, trouble
