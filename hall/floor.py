"""The hall's floor: what each table shows now. Tables that need somebody come first."""

import enum
import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from frontends.mqtt.topics import TableState

MOST_SEATS = 5000  # 25 times the largest hall measured (docs/internals/scale.md)
_PARTS = re.compile(r"(\d{1,9})")


class Urgency(enum.IntEnum):
    """Why a table needs attention, most urgent first."""

    DISPUTE = 0
    TROUBLE = 1
    AWAY = 2
    PLAYING = 3
    WAITING = 4
    OVER = 5


@dataclass(frozen=True)
class Seat:
    """A table as the hall knows it. ``version`` counts up over all tables, so that viewers get only what has changed.

    ``is_online`` is ``None`` until the broker reports it. ``held`` is the newest event of which the hall has a copy;
    a copy that ``is_full`` takes no more. ``rulings`` is the number of unanswered rulings, ``pictures`` that of the
    pictures that have come. ``lag`` is how far the table's time of day is behind the hall's.
    """

    id: str
    state: TableState | None = None
    is_online: bool | None = None
    held: int = 0
    is_full: bool = False
    rulings: int = 0
    pictures: int = 0
    lag: timedelta = timedelta(0)
    version: int = 0

    @property
    def name(self) -> str:
        """The table's name, or else its id."""
        return (self.state.table_name if self.state else "") or self.id

    @property
    def is_behind(self) -> bool:
        """Whether the table has events of which the hall has no copy yet."""
        return self.state is not None and self.state.event_number > self.held

    def clock_age_s(self, now: datetime) -> float:
        """Return for how many seconds the table's clock has shown what ``state`` says."""
        shown_at = None if self.state is None else clock_time(self.state)
        return 0.0 if shown_at is None else max(0.0, (now - shown_at - self.lag).total_seconds())

    @property
    def urgency(self) -> Urgency:
        """Why the table should be looked at."""
        state = self.state
        if state is None:
            return Urgency.AWAY if self.is_online is False else Urgency.WAITING
        if self.rulings or (state.outcome is None and (state.needs_person or (state.clock and state.clock.fallen))):
            return Urgency.DISPUTE
        if state.outcome is not None:
            return Urgency.OVER
        if self.is_online is False:
            return Urgency.AWAY
        if state.trouble:
            return Urgency.TROUBLE
        return Urgency.PLAYING if state.position is not None else Urgency.WAITING


def clock_time(state: TableState) -> datetime | None:
    """Return when a table's clock was read, by the table's time of day; ``None`` without a clock or a valid time."""
    try:
        read_at = None if state.clock is None else datetime.fromisoformat(state.wall_time)
    except ValueError:
        return None
    return read_at and read_at.replace(tzinfo=read_at.tzinfo or UTC)


def sort_seats(seats: Iterable[Seat]) -> list[Seat]:
    """Sort tables: those that need somebody first, then by name, ``table-9`` before ``table-10``."""
    return sorted(seats, key=lambda seat: (seat.urgency, natural_sort_key(seat.name), seat.id))


def natural_sort_key(name: str) -> list[tuple[int, str]]:
    """Return a sort key that orders the numbers in names by value."""
    return [(int(part), "") if part.isdecimal() else (-1, part.casefold()) for part in _PARTS.split(name)]


class Floor:
    """The tables, for any number of viewers. Any thread may change or read it.

    ``run`` tells the versions of one run of the hall from those of another.
    """

    def __init__(self, run: str = "") -> None:
        self.run = run
        self._lock = threading.Lock()
        self._seats: dict[str, Seat] = {}
        self._version = 0
        self._listeners: set[Callable[[], object]] = set()
        self.is_closed = False

    @property
    def version(self) -> int:
        """The number of the newest change."""
        with self._lock:
            return self._version

    def seats(self) -> list[Seat]:
        """Return all tables, those that need somebody first."""
        with self._lock:
            seats = list(self._seats.values())
        return sort_seats(seats)

    def seat(self, seat_id: str) -> Seat | None:
        """Return the table with that id, ``None`` if there is none."""
        with self._lock:
            return self._seats.get(seat_id)

    def has_room_for(self, newcomers: int) -> bool:
        """Whether this many more tables can be shown."""
        with self._lock:
            return len(self._seats) + newcomers <= MOST_SEATS

    def change(self, changes: Mapping[str, Mapping[str, object]]) -> None:
        """Change fields of several tables at once, and notify the listeners. Tables beyond MOST_SEATS are ignored."""
        with self._lock:
            for seat_id, fields in changes.items():
                if seat_id not in self._seats and len(self._seats) >= MOST_SEATS:
                    continue
                before = self._seats.get(seat_id, Seat(seat_id))
                after = replace(before, **fields)  # type: ignore[arg-type]
                if after != before or before.id not in self._seats:
                    self._version += 1
                    self._seats[seat_id] = replace(after, version=self._version)
        self._notify()

    def close(self) -> None:
        """Notify the listeners that no more changes will come."""
        self.is_closed = True
        self._notify()

    def _notify(self) -> None:
        with self._lock:
            listeners = list(self._listeners)
        for listener in listeners:
            listener()

    def listen(self, listener: Callable[[], object]) -> Callable[[], None]:
        """Call ``listener`` after each change, in the thread that makes it; returns a function that ends this."""
        with self._lock:
            self._listeners.add(listener)

        def end() -> None:
            with self._lock:
                self._listeners.discard(listener)

        return end
