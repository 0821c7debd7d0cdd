"""What was acknowledged of one journal, by whichever way, and the comparison of that with what the journal holds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.parts.power.kills import KillError
from referee.journal.events import Event, EventKind

_ORDERED = frozenset({EventKind.TURN, EventKind.TAKE_BACK})


@dataclass(frozen=True)
class Answer:
    """What became of an order, as its giver was told."""

    words: str
    refused: bool

    @property
    def is_in_memory(self) -> bool:
        """Whether it says that the journal does not have it yet."""
        return "only in memory" in self.words


@dataclass(frozen=True)
class Told:
    """An event that the broker was told: all that must be the same each time; ``journal`` tells journals apart."""

    journal: str
    kind: str
    wall_time: str
    data: dict[str, Any]


@dataclass
class Ledger:
    """The events that a journal held at the last look, and what became of each order, by its name.

    ``shown`` is the newest event that a screen showed while nothing was said to hinder the referee.
    """

    kept: list[tuple[int, Event]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)
    in_memory: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    told: dict[int, Told] = field(default_factory=dict)
    shown: int = 0

    def note_answer(self, name: str, answer: Answer) -> None:
        """Take the answer to an order; answers come in the order in which the events are written."""
        if answer.refused:
            self.refused.add(name)
        elif answer.is_in_memory:
            self.in_memory.add(name)
        else:
            self.acknowledged |= {name, *self.in_memory}
            self.in_memory.clear()

    def note_broker(self, events: Mapping[int, Sequence[Told]]) -> None:
        """Take what the broker was told; raises KillError where an event was told in two ways."""
        for number, tellings in events.items():
            for told in tellings:
                if self.told.setdefault(number, told) != told:
                    raise KillError(f"the broker was told of event {number} as {self.told[number]} and as {told}")

    def look(self, events: Sequence[tuple[int, Event]]) -> int:
        """Compare with all that the journal holds after a kill; raises KillError.

        Gives how many orders are lost of which it had been said that they were only in memory.
        """
        if list(events[: len(self.kept)]) != self.kept:
            raise KillError(f"the journal's first {len(self.kept)} events are no longer what they were")
        if [number for number, _ in events] != list(range(1, len(events) + 1)):
            raise KillError("the journal's events are not numbered from 1 on without gaps")
        ordered = Counter(
            event.text("by") or f"event {number} by nobody" for number, event in events if event.kind in _ORDERED
        )
        for what, names in (
            ("acknowledged and lost", self.acknowledged - set(ordered)),
            ("refused and carried out all the same", self.refused & set(ordered)),
            ("carried out and never given", set(ordered) - self.given),
            ("given once and carried out twice", {name for name, times in ordered.items() if times > 1}),
        ):
            if names:
                raise KillError(f"orders were {what}: {', '.join(sorted(names))}")
        if self.shown > len(events):
            raise KillError(f"event {self.shown} was on a screen, the journal ends with {len(events)}")
        self._compare_told(dict(events))
        self.kept = list(events)
        lost = len(self.in_memory - set(ordered))
        self.in_memory.clear()
        return lost

    def _compare_told(self, events: Mapping[int, Event]) -> None:
        for number, told in self.told.items():
            event = events.get(number)
            if event is None:
                raise KillError(f"the broker was told of event {number} ({told.kind}), which is lost")
            # As JSON, since a tuple comes back as a list.
            same = Told(events[1].wall_time, str(event.kind), event.wall_time, json.loads(json.dumps(dict(event.data))))
            if told != same:
                raise KillError(f"the broker was told of event {number} as {told}; the journal has {same}")
