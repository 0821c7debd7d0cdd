"""Compares a journal with everything that was acknowledged by page, broker and terminal."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.parts.power.kills import KillError
from referee.record.events import Event, EventKind

_ORDERED = frozenset({EventKind.TURN, EventKind.TAKE_BACK})


@dataclass(frozen=True)
class Answer:
    """The answer to an order."""

    words: str
    refused: bool

    @property
    def is_in_memory(self) -> bool:
        """Whether it says that the journal has not written the order yet."""
        return "only in memory" in self.words


@dataclass(frozen=True)
class PublishedEvent:
    """An event as published to the broker, which must be the recorded each time; ``journal`` identifies the journal."""

    journal: str
    kind: str
    wall_time: str
    data: dict[str, Any]


@dataclass
class Ledger:
    """The events of a journal at the last check, and the state of each order, by name.

    ``shown`` is the newest event that a screen showed without trouble.
    """

    kept: list[tuple[int, Event]] = field(default_factory=list)
    given: set[str] = field(default_factory=set)
    acknowledged: set[str] = field(default_factory=set)
    in_memory: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    published: dict[int, PublishedEvent] = field(default_factory=dict)
    shown: int = 0

    def note_answer(self, name: str, answer: Answer) -> None:
        """Note the answer to an order; answers come in the order of the written events."""
        if answer.refused:
            self.refused.add(name)
        elif answer.is_in_memory:
            self.in_memory.add(name)
        else:
            self.acknowledged |= {name, *self.in_memory}
            self.in_memory.clear()

    def note_broker(self, events: Mapping[int, Sequence[PublishedEvent]]) -> None:
        """Note published events; raises KillError if an event was published in two versions."""
        for number, versions in events.items():
            for event in versions:
                if self.published.setdefault(number, event) != event:
                    raise KillError(f"event {number} was published as {self.published[number]} and as {event}")

    def check(self, events: Sequence[tuple[int, Event]]) -> int:
        """Compare with the journal's events after a kill; raises KillError.

        Gives the number of lost orders that were acknowledged as only in memory.
        """
        if list(events[: len(self.kept)]) != self.kept:
            raise KillError(f"the journal's first {len(self.kept)} events have changed")
        if [number for number, _ in events] != list(range(1, len(events) + 1)):
            raise KillError("the journal's events are not numbered consecutively from 1")
        ordered = Counter(
            event.text("by") or f"event {number} by nobody" for number, event in events if event.kind in _ORDERED
        )
        for state, names in (
            ("acknowledged but lost", self.acknowledged - set(ordered)),
            ("refused but carried out", self.refused & set(ordered)),
            ("carried out but never given", set(ordered) - self.given),
            ("given once and carried out twice", {name for name, times in ordered.items() if times > 1}),
        ):
            if names:
                raise KillError(f"orders were {state}: {', '.join(sorted(names))}")
        if self.shown > len(events):
            raise KillError(f"event {self.shown} was on a screen, the journal ends with {len(events)}")
        self._compare_published(dict(events))
        self.kept = list(events)
        lost = len(self.in_memory - set(ordered))
        self.in_memory.clear()
        return lost

    def _compare_published(self, events: Mapping[int, Event]) -> None:
        for number, published in self.published.items():
            event = events.get(number)
            if event is None:
                raise KillError(f"event {number} ({published.kind}) was published, and is lost")
            # Through JSON, which turns tuples into lists.
            recorded = PublishedEvent(
                events[1].wall_time, str(event.kind), event.wall_time, json.loads(json.dumps(dict(event.data)))
            )
            if published != recorded:
                raise KillError(f"event {number} was published as {published}; the journal has {recorded}")
