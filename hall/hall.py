"""The hall itself: processes the tables' messages and returns requests to them. It knows nothing of the network."""

import asyncio
import json
import re
import secrets
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from pydantic import ValidationError

from frontends.mqtt.topics import LARGEST_NUMBER, OFFLINE, ONLINE, Answer, ReplayRequest, TableEvent, TableState, Topics
from hall.copies import MOST_TABLE_BYTES, Arrival, Copies, Copy
from hall.database import Database
from hall.floor import MOST_SEATS, Floor, Seat, clock_time
from hall.rulings import ArbiterRuling, Rulings
from journal.journal import utc_text
from referee.errors import HallStoreError

_DAY = timedelta(days=1)
_LOOK_EVERY_S = 60.0
"""How often, in seconds, to look at the clock, and to try again after a fault of the database."""
_MIB = 1024 * 1024
_RECORD_BYTES = 1024
"""The bytes that a picture takes beside its content and its name, rounded up."""


class Pictures:
    """The newest pictures, at most ``most_bytes`` of all tables and ``most_table_bytes`` of each.

    A table's oldest pictures make room for its new one, and then the oldest of all.
    """

    def __init__(self, most_bytes: int = 64 * _MIB, most_table_bytes: int = 8 * _MIB) -> None:
        self._most_bytes = most_bytes
        self._most_table_bytes = most_table_bytes
        self._kept: OrderedDict[tuple[str, int, str], bytes] = OrderedDict()
        self._table_bytes: dict[str, int] = {}

    @property
    def bytes_kept(self) -> int:
        """The bytes that all pictures take."""
        return sum(self._table_bytes.values())

    def get(self, seat: str, number: int, name: str) -> bytes | None:
        """Return a picture of a table's event, ``None`` if it isn't kept."""
        return self._kept.get((seat, number, name))

    def keep(self, seat: str, number: int, name: str, content: bytes) -> None:
        """Store a picture, replacing an older one of the same name."""
        key = (seat, number, name)
        if key in self._kept:
            self._drop(key)
        self._kept[key] = content
        self._table_bytes[seat] = self._table_bytes.get(seat, 0) + _size(key, content)
        while self._table_bytes.get(seat, 0) > self._most_table_bytes:
            self._drop(next(each for each in self._kept if each[0] == seat))
        while self.bytes_kept > self._most_bytes:
            self._drop(next(iter(self._kept)))

    def drop(self, seat: str, first: int = 0) -> None:
        """Forget a table's pictures of the events from ``first`` on."""
        for key in [each for each in self._kept if each[0] == seat and each[1] >= first]:
            self._drop(key)

    def _drop(self, key: tuple[str, int, str]) -> None:
        seat = key[0]
        self._table_bytes[seat] -= _size(key, self._kept.pop(key))
        if not self._table_bytes[seat]:
            del self._table_bytes[seat]


def _size(key: tuple[str, int, str], content: bytes) -> int:
    _, _, name = key
    return _RECORD_BYTES + len(name.encode("utf-8", "replace")) + len(content)


ASK_AGAIN_S = 5.0
"""How long, in seconds, an answer may take before the request is sent again."""
REPLAY_MOST = 1000  # events asked for at once; set by hand
MOST_BYTES = 256 * 1024
"""The longest event or state; longer messages are ignored."""
MOST_PICTURE_BYTES = 4 * 1024 * 1024  # of one picture: a large frame as PNG
_MOST_WANTED_PICTURES = 200  # asked for and not there yet
_MOST_COMPLAINTS = 1000  # topics whose bad messages were reported
_NEVER_S = -1e9  # before any clock began
TABLE_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""A table's id in topics."""
_UNSTORABLE = re.compile(r"[\x00\ud800-\udfff]")
"""Characters that PostgreSQL doesn't accept in a text."""


@dataclass(frozen=True)
class Incoming:
    """A message from the broker; ``is_retained`` if the broker had kept it, so that it may be of any age."""

    topic: str
    payload: bytes
    is_retained: bool = False


@dataclass(frozen=True)
class Outgoing:
    """A message to a table; ``response`` is the topic for the answer."""

    topic: str
    payload: bytes
    response: str = ""


@dataclass(frozen=True)
class _Replay:
    """A replay in progress: when the table was asked or last sent an event, and the last event asked for."""

    journal: str
    at_s: float
    last: int


@dataclass
class _Batch:
    """The contents of a batch of messages, by kind."""

    arrivals: list[Arrival] = field(default_factory=list)
    changes: dict[str, dict[str, object]] = field(default_factory=dict)
    answers: list[Answer] = field(default_factory=list)

    def add_event(self, arrival: Arrival) -> None:
        self.arrivals.append(arrival)
        self.change(arrival.event.table)

    def change(self, seat: str, **fields: object) -> None:
        self.changes.setdefault(seat, {}).update(fields)


class Hall:
    """Stores the messages of many tables.

    ``name`` distinguishes halls at one broker. ``clock`` returns monotonic seconds; ``say`` reports unusable messages.
    It is thread-safe.
    """

    def __init__(
        self,
        database: Database,
        rulings: Rulings,
        prefix: str,
        name: str,
        clock: Callable[[], float],
        say: Callable[[str], object],
        listed: Sequence[str] = (),
        most_table_bytes: int = MOST_TABLE_BYTES,
    ) -> None:
        self.database = database
        self.rulings = rulings
        self.prefix = prefix
        self._responses = f"{prefix}/answers/{name}"
        self._clock = clock
        self._say = say
        self._replays: dict[str, _Replay] = {}
        self._doubts: dict[Copy, int] = {}
        self._behind: dict[str, float] = {}
        self._sent: dict[str, float] = {}
        self._pictures = Pictures()
        self._wanted_pictures: set[tuple[str, int]] = set()
        self._complained: set[str] = set()
        self.lock = threading.RLock()
        self.copies = Copies(database, most_table_bytes)
        self.floor = Floor(secrets.token_hex(4))
        self.floor.change({seat: {} for seat in listed})
        self.floor.change(self._kept_states())

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics to subscribe to."""
        seats = [f"{self.prefix}/+/{kind}" for kind in ("events", "replayed", "answers", "evidence/#")]
        return (*self.retained_topics, *seats, f"{self._responses}/#")

    @property
    def retained_topics(self) -> tuple[str, ...]:
        """The topics whose newest message the broker keeps for new subscribers."""
        return (f"{self.prefix}/+/availability", f"{self.prefix}/+/state")

    def seat_of(self, topic: str) -> str:
        """Return the id of the table that sends on a topic."""
        if topic.startswith(f"{self._responses}/"):
            return topic.rpartition("/")[2]
        return topic.removeprefix(f"{self.prefix}/").partition("/")[0]

    def take(self, messages: Sequence[Incoming]) -> list[Outgoing]:
        """Store the contents of messages, durably on return. Returns requests for events that are missing.

        Raises HallStoreError; once the tables' states arrive again, ``due_messages`` asks for the lost events.
        """
        with self.lock:
            batch = _Batch()
            for message in messages:
                try:
                    self._sort(batch, message)
                except (ValueError, RecursionError) as error:
                    self._complain(message.topic, error)
            gaps = self._keep_events(batch.arrivals) if batch.arrivals else {}
            self._keep_states(batch.changes)
            for answer in batch.answers:
                if self.rulings.record_answer(answer):
                    batch.change(answer.table)
            self._show(batch)
            now_s = self._clock()
            self._note_replayed(batch.arrivals, now_s)
            for copy, after in gaps.items():
                if after < self.copies.held(*copy):
                    self._doubts[copy] = min(after, self._doubts.get(copy, after))
            due = self._due_doubts(now_s)
            missing = [self._replay(copy, after) for copy, after in gaps.items() if self._may_ask(copy, now_s)]
            return due + missing

    def due_messages(self) -> list[Outgoing]:
        """Return rulings, requests for pictures, and requests that weren't answered in time. Call it every second."""
        with self.lock:
            now_s = self._clock()
            asked = self._due_doubts(now_s)
            for seat in self.floor.seats():
                state = seat.state
                if state is None or self._is_whole(seat) or not seat.is_online or not state.journal:
                    self._behind.pop(seat.id, None)
                    continue
                copy = (seat.id, state.journal)
                # A state's events normally arrive right after it.
                since_s = self._behind.setdefault(seat.id, now_s)
                if now_s - since_s >= 1.0 and self._may_ask(copy, now_s):
                    asked.append(self._replay(copy, seat.held))
            for ruling in self.rulings.waiting():
                there = self.floor.seat(ruling.seat)
                if (
                    there is not None
                    and there.is_online
                    and now_s - self._sent.get(ruling.request_id, _NEVER_S) >= ASK_AGAIN_S
                ):
                    asked.append(self._command(ruling))
            for seat_id, number in self._wanted_pictures:
                wish = json.dumps({"command": "evidence", "event": number}).encode()
                asked.append(Outgoing(Topics(self.prefix, seat_id).own, wish, self._response(seat_id)))
            self._wanted_pictures.clear()
            return asked

    def rule(self, seat: str, command: Mapping[str, Any], by: str) -> ArbiterRuling:
        """Store a ruling; ``due_messages`` sends it at once, and again until the table has answered."""
        with self.lock:
            ruling = self.rulings.give(seat, command, by)
            self.floor.change({seat: {"rulings": self._waiting_at(seat)}})
            return ruling

    def withdraw(self, request_id: str) -> bool:
        """Stop sending a ruling; returns whether it was still unanswered."""
        with self.lock:
            withdrawn = self.rulings.withdraw(request_id)
            if withdrawn is not None:
                self.floor.change({withdrawn.seat: {"rulings": self._waiting_at(withdrawn.seat)}})
            return withdrawn is not None

    def picture(self, seat: str, number: int, name: str) -> bytes | None:
        """Return an event's picture, ``None`` until the table has sent it."""
        return self._pictures.get(seat, number, name)

    def request_pictures(self, seat: str, number: int) -> None:
        """Have ``due_messages`` ask a table for an event's pictures."""
        with self.lock:
            if (seat, number) not in self._wanted_pictures and len(self._wanted_pictures) >= _MOST_WANTED_PICTURES:
                self._wanted_pictures.clear()
            self._wanted_pictures.add((seat, number))

    def note_disconnected(self) -> None:
        """Note that the broker is lost, so that it is unknown which tables are online."""
        with self.lock:
            self.floor.change({seat.id: {"is_online": None} for seat in self.floor.seats()})
            self._replays.clear()
            self._sent.clear()

    def _sort(self, batch: _Batch, message: Incoming) -> None:
        seat = self.seat_of(message.topic)
        self._admit(batch, seat)
        is_response = message.topic.startswith(f"{self._responses}/")
        kind = message.topic.removeprefix(f"{self.prefix}/{seat}/")
        if kind.startswith("evidence/") and not is_response:
            self._keep_picture(batch, seat, kind, message.payload)
            return
        if len(message.payload) > MOST_BYTES:
            raise ValueError(f"it has {len(message.payload)} bytes, more than {MOST_BYTES}")
        if is_response:
            given = json.loads(message.payload)
            kind = "answers" if isinstance(given, dict) and "refused" in given else "replayed"
        if kind == "availability":
            said = message.payload.decode("utf-8", "replace")
            if said in (ONLINE, OFFLINE):
                batch.change(seat, is_online=said == ONLINE)
        elif kind == "state" and message.payload:
            state = TableState.model_validate_json(message.payload)
            _check(seat, state.table, state.event_number, state.journal)
            self._add_state(batch, state, is_retained=message.is_retained)
        elif kind == "events":
            batch.add_event(Arrival(_event(seat, message.payload)))
        elif kind == "replayed":
            batch.add_event(Arrival(_event(seat, message.payload), asked_for=True))
        elif kind == "answers":
            batch.answers.append(_answer(seat, message.payload))

    def _add_state(self, batch: _Batch, state: TableState, *, is_retained: bool) -> None:
        there = self.floor.seat(state.table)
        before = batch.changes.get(state.table, {}).get("state", there.state if there else None)
        if isinstance(before, TableState) and before.journal != state.journal:
            # The numbers of its events begin anew.
            self._pictures.drop(state.table)
        batch.change(state.table, state=state)
        shown_at = clock_time(state)
        # A table's time of day may be wrong, so its clock counts from when the state arrives. For a state that the
        # broker kept, only the table's time tells its age: less the lag of earlier states, or else as if it were right.
        if shown_at is not None and not is_retained:
            batch.change(state.table, lag=self.rulings.now() - shown_at)

    def _admit(self, batch: _Batch, seat: str) -> None:
        """Raise ValueError for an invalid table id, and for a table beyond MOST_SEATS."""
        if not TABLE_ID.fullmatch(seat):
            raise ValueError("no table has such an id")
        if self.floor.seat(seat) is None and seat not in batch.changes:
            newcomers = sum(self.floor.seat(each) is None for each in batch.changes)
            if not self.floor.has_room_for(newcomers + 1):
                raise ValueError(f"the hall has {MOST_SEATS} tables already, and takes no more")

    def _keep_events(self, arrivals: Sequence[Arrival]) -> dict[Copy, int]:
        """Store events. Returns the copies with gaps, each with the event after which its gap begins."""
        gaps = self.copies.take(arrivals)
        for (seat, _), first in self.copies.dropped.items():
            self._pictures.drop(seat, first)
        for seat in self.copies.full:
            self._complain(
                Topics(self.prefix, seat).events,
                ValueError("a hall keeps no more of one table's events or journals; its own journal has them"),
            )
        return {copy: after for copy, after in gaps.items() if copy[0] not in self.copies.full}

    def _keep_picture(self, batch: _Batch, seat: str, kind: str, content: bytes) -> None:
        number, _, name = kind.removeprefix("evidence/").partition("/")
        if not number.isdecimal() or not name or len(content) > MOST_PICTURE_BYTES:
            raise ValueError("it is no picture of an event")
        self._pictures.keep(seat, int(number), name, content)
        there = self.floor.seat(seat)
        so_far = batch.changes.get(seat, {}).get("pictures", there.pictures if there else 0)
        batch.change(seat, pictures=int(str(so_far)) + 1)

    def _show(self, batch: _Batch) -> None:
        """Update the floor with the changes and the state of each copy."""
        waiting = Counter(ruling.seat for ruling in self.rulings.waiting())
        for seat_id, fields in batch.changes.items():
            before = self.floor.seat(seat_id)
            state = fields.get("state", before.state if before else None)
            if isinstance(state, TableState):
                fields["held"] = self.copies.held(seat_id, state.journal)
            fields |= {"rulings": waiting[seat_id], "is_full": seat_id in self.copies.full}
        self.floor.change(batch.changes)

    def _note_replayed(self, arrivals: Sequence[Arrival], now_s: float) -> None:
        """Note how far the replays in progress have come, so that they aren't requested again."""
        for arrival in arrivals:
            event = arrival.event
            asked = self._replays.get(event.table)
            if arrival.asked_for and asked is not None and asked.journal == event.journal:
                if event.number >= asked.last:
                    del self._replays[event.table]
                else:
                    self._replays[event.table] = replace(asked, at_s=now_s)

    def _due_doubts(self, now_s: float) -> list[Outgoing]:
        """Return requests for events that differ from those that are kept; a table that is still answering waits."""
        due = {copy: after for copy, after in self._doubts.items() if self._may_ask(copy, now_s)}
        for copy in due:
            del self._doubts[copy]
        return [self._replay(copy, after) for copy, after in due.items()]

    def _may_ask(self, copy: Copy, now_s: float) -> bool:
        seat, journal = copy
        asked = self._replays.get(seat)
        return asked is None or asked.journal != journal or now_s - asked.at_s >= ASK_AGAIN_S

    def _replay(self, copy: Copy, after: int) -> Outgoing:
        seat, journal = copy
        self._replays[seat] = _Replay(journal, self._clock(), after + REPLAY_MOST)
        request = ReplayRequest(after=after, most=REPLAY_MOST)
        return Outgoing(Topics(self.prefix, seat).replay, request.model_dump_json().encode(), self._response(seat))

    def _is_whole(self, seat: Seat) -> bool:
        """Whether the hall has all of a table's events, or will get no more of them."""
        return not seat.is_behind or seat.id in self.copies.full

    def _command(self, ruling: ArbiterRuling) -> Outgoing:
        self._sent[ruling.request_id] = self._clock()
        topic = Topics(self.prefix, ruling.seat).own
        return Outgoing(topic, json.dumps(dict(ruling.command)).encode(), self._response(ruling.seat))

    def _response(self, seat: str) -> str:
        return f"{self._responses}/{seat}"

    def _waiting_at(self, seat: str) -> int:
        return sum(ruling.seat == seat for ruling in self.rulings.waiting())

    def _keep_states(self, changes: Mapping[str, Mapping[str, object]]) -> None:
        rows = [
            (seat, json.dumps(state.model_dump(mode="json")))
            for seat, fields in changes.items()
            if isinstance(state := fields.get("state"), TableState)
        ]
        if rows:
            insert = "INSERT INTO seat (id, state) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET state = excluded.state"
            with self.database.transaction() as work:
                work.run_all(insert, rows)

    def _kept_states(self) -> dict[str, dict[str, object]]:
        with self.database.transaction() as work:
            rows = work.rows("SELECT id, state FROM seat")
        kept: dict[str, dict[str, object]] = {}
        for seat, content in rows:
            try:
                state = TableState.model_validate_json(content)
            except ValidationError:
                # Another version wrote it; the table will send it again.
                continue
            held = self.copies.held(seat, state.journal)
            kept[seat] = {"state": state, "held": held, "rulings": self._waiting_at(seat)}
        return kept

    def _complain(self, topic: str, error: Exception) -> None:
        """Say what is wrong with a topic's messages, once for each topic."""
        if topic in self._complained or len(self._complained) >= _MOST_COMPLAINTS:
            return
        self._complained.add(topic)
        what = error.errors(include_url=False)[0]["msg"] if isinstance(error, ValidationError) else str(error)
        self._say(f"A message on {topic!r} can't be used ({what}); it is left out.")


def _event(seat: str, payload: bytes) -> TableEvent:
    event = TableEvent.model_validate_json(payload)
    reason = event.data.get("reason")
    texts = (event.journal, event.event_type, event.wall_time, event.game, reason if isinstance(reason, str) else "")
    _check(seat, event.table, event.number, *texts)
    if not event.journal or event.number < 1 or not 0 <= event.game_number <= LARGEST_NUMBER:
        raise ValueError("it has no number in a journal")
    return event


def _answer(seat: str, payload: bytes) -> Answer:
    answer = Answer.model_validate_json(payload)
    _check(seat, answer.table, answer.event_number, answer.words, answer.request_id)
    return answer


def _check(seat: str, table: str, number: int, *texts: str) -> None:
    """Raise ValueError for a message in another table's name, or with values that can't be stored."""
    if table != seat:
        raise ValueError(f"it claims to come from table {table[:80]!r}")
    if not 0 <= number <= LARGEST_NUMBER:
        raise ValueError(f"{number} is no event's number")
    if any(_UNSTORABLE.search(text) for text in texts):
        raise ValueError("it has characters that can't be stored")


class Sweeper:
    """Sweeps at start and once a day: games whose last event is older than ``keep`` go.

    Results and rulings stay, and so does the last game of a table's present journal. ``now`` returns the time
    in UTC.
    """

    def __init__(self, hall: Hall, keep: timedelta, now: Callable[[], datetime], say: Callable[[str], object]) -> None:
        self._hall = hall
        self._keep = keep
        self._now = now
        self._say = say
        self._began: datetime | None = None
        self._left: list[Copy] = []

    async def run(self) -> None:
        """Sweep until this task is cancelled."""
        while True:
            try:
                while await asyncio.to_thread(self.step):
                    continue
            except HallStoreError as error:
                self._hall.database.tell_outage(error, self._say)
            await asyncio.sleep(_LOOK_EVERY_S)

    def step(self) -> bool:
        """Look at one journal and remove a few events; returns whether there is more to do now.

        Messages are stored between two steps. Raises HallStoreError; the next call tries the same step again.
        """
        now, hall = self._now(), self._hall
        with hall.lock:
            if not self._left:
                # A clock that is set back must not put off the next sweep.
                if self._began is not None and abs(now - self._began) < _DAY:
                    return False
                self._began, self._left = now, hall.copies.journals()
                return bool(self._left)
            seat, journal = copy = self._left[-1]
            there = hall.floor.seat(seat)
            in_use = there is not None and there.state is not None and there.state.journal == journal
            if not hall.copies.sweep(copy, utc_text(now - self._keep), in_use=in_use):
                self._left.pop()
            is_full = seat in hall.copies.full
            if there is not None and there.is_full != is_full:
                hall.floor.change({seat: {"is_full": is_full}})
        return True
