"""The values of sensors, and which of them to trust: they are compared with accepted tables, and bad ones are left out.

Each sensor is tested for two faults: it always says *occupied*, or always *empty*. At first each fault has the odds
``prior_odds``; every table that was accepted, or that a person vouched for, multiplies the odds by how much better the
fault explains the sensor's value than its normal error rates do (Bayes' rule).
"""

import enum
import json
import math
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from common.durable import write_durably
from common.json_files import read_json_object
from common.phrases import Phrase, listed, shortened
from engine.api import Game, StateT, TurnT
from engine.values import EMPTY, Place
from referee.errors import ConfigError, CorrectionError
from vision.reading import PlaceChange


@dataclass(frozen=True)
class SensorSnapshot:
    """The values of all sensors at one moment.

    ``time_s`` is the latest moment at which they are known to hold, on the frames' clock (``time.monotonic`` in the
    service). ``occupied`` maps every place with a sensor to whether a piece stands there. ``doubtful`` are places that
    can't be read now. ``changes`` are those since the last snapshot, oldest first, each reported once. A change may be
    missing; ``occupied`` is right even then.
    """

    time_s: float
    occupied: Mapping[Place, bool]
    doubtful: frozenset[Place] = frozenset()
    changes: tuple[PlaceChange, ...] = field(default=())


class SensorSource(Protocol):
    """A source of sensor values; it never blocks."""

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Return the newest snapshot, ``None`` before the first; ``now_s`` is on the frames' clock."""


@dataclass(frozen=True)
class SensorSettings:
    """How far sensors are trusted, and how long they must have been quiet. Set by hand.

    ``false_closed``, ``false_open``
        the probabilities that a sensor says *occupied* on an empty place, and *empty* under a piece. The owner's
        settings allow 0.001 to 0.2: below, a single sensor could decide a turn; above, no sensor could. Higher: sensors
        count less.
    ``after_put_down_s``, ``after_lift_s``
        how long ago, in seconds, the latest change must be for the table to be at rest. It is longer after a piece was
        lifted, because it is probably still in the air. Longer: later verdicts, fewer about pieces on their way.
    ``fading_s``, ``stale_s``
        values older than the first, in seconds, count unless the camera contradicts them; values older than the second
        don't count, because a lost connection reports no changes. A board reports every half second. Longer: copes with
        slower connections, notices lost ones later.
    ``camera_patience_s``
        how long, in seconds, the camera may lose sight of the table before the sensors are used alone. Longer: fewer
        questions that the camera would have answered, later verdicts.
    """

    false_closed: float = 0.01
    false_open: float = 0.03
    after_put_down_s: float = 0.4
    after_lift_s: float = 1.5
    fading_s: float = 0.75
    stale_s: float = 1.5
    camera_patience_s: float = 3.0

    def probability_occupied(self, closed: bool) -> float:
        """Return the probability that a place is occupied, given its sensor's value; ``closed`` means *occupied*."""
        if closed:
            return (1 - self.false_open) / (1 - self.false_open + self.false_closed)
        return self.false_open / (self.false_open + 1 - self.false_closed)


_MOST_TURNS = 2000
"""How many turns are compared. More: slower to start, and the share of a game with more turns is more exact."""
_MOST_ROLLS = 4
"""How many rolls are tried until one allows a turn."""


@dataclass(frozen=True)
class OccupancyCoverage:
    """How many of the examined turns sensors can identify.

    ``alone`` turns leave a unique set of occupied squares, ``alike`` turns share it with others, and ``unsensed`` turns
    change nothing that a sensor notices.
    """

    turns: int
    alone: int
    alike: int
    unsensed: int

    @property
    def any(self) -> bool:
        """Whether sensors notice anything of this game."""
        return self.alone + self.alike > 0


def occupancy_coverage(game: Game[StateT, TurnT], state: StateT) -> OccupancyCoverage:
    """Count the legal turns that sensors can identify in ``state``. If it awaits a roll, some roll is chosen.

    Turns that leave the same appearance count as one. Only the first 2000 turns in the game's order are examined.
    """
    start = state
    for attempt in range(_MOST_ROLLS):
        if game.dice is None or not game.dice.awaits_roll(start):
            break
        # The highest rolls come last and nearly always allow a turn. After a tie, another roll is chosen.
        rolled = [game.dice.rolled(start, one.roll) for one in reversed(game.dice.possible_rolls(start))]
        start = next((one for one in rolled if not game.awaits_roll(one)), rolled[min(attempt, len(rolled) - 1)])
    before = game.table.appearance(start)
    results: dict[tuple[tuple[Place, str], ...], frozenset[Place]] = {}
    for turn in game.rules.legal_turns(start)[:_MOST_TURNS]:
        after = game.table.appearance(game.rules.apply(start, turn))
        results[tuple(after.items())] = frozenset(place for place, look in after.items() if look != EMPTY)
    same = frozenset(place for place, look in before.items() if look != EMPTY)
    counted = Counter(results.values())
    unsensed = counted.pop(same, 0)
    alone = sum(count == 1 for count in counted.values())
    return OccupancyCoverage(len(results), alone, sum(counted.values()) - alone, unsensed)


class SensorFault(enum.StrEnum):
    """Why a sensor is switched off; the values are those in the saved file."""

    STUCK_CLOSED = "stuck closed"
    STUCK_OPEN = "stuck open"
    CHATTERING = "chattering"
    DOUBTFUL = "doubtful"


_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_SHOWS = Phrase("`./run hardware sensors` shows them.")
_MOST_SILENCE_S = 15.0
"""Time without any report, in seconds, after which it is not known what could be read meanwhile."""


@dataclass(frozen=True)
class HealthSettings:
    """When a sensor is switched off, and when it is used again. Set by hand, on virtual games with broken sensors.

    ``prior_odds``
        the prior odds of a fault: one sensor in 500. Higher: sensors are switched off sooner.
    ``odds``
        a sensor is switched off once it is this much likelier broken than not: 1000 to 1. Higher: later.
    ``standing``
        the weight of a table that left the sensor's own place unchanged, compared with one that changed it; a piece
        that stands off centre makes a good sensor err many times in a row. Higher: sensors are switched off sooner.
    ``at_once``
        when this many sensors err at the same table they probably share a broken wire, and each counts fully. Higher:
        broken wires are found later.
    ``chatter_changes``, ``chatter_s``
        a sensor that changes this often within this many seconds chatters. More changes, or a shorter time: fewer do.
    ``doubtful_s``
        a sensor that can't be read for this long, in seconds, is switched off, and used again once it has been readable
        for as long. Longer: later.
    ``agreements``
        the changes in a row that a switched-off sensor must get right to be used again. Higher: later.
    """

    prior_odds: float = 0.002
    odds: float = 1000.0
    standing: float = 1 / 3
    at_once: int = 4
    chatter_changes: int = 12
    chatter_s: float = 5.0
    doubtful_s: float = 60.0
    agreements: int = 3


@dataclass(frozen=True)
class Suspicion:
    """How likely a sensor is stuck: the natural logarithm of the odds, and the evidence for it.

    ``turns`` changed its place without its noticing; ``tables`` are all tables at which it was wrong.
    """

    log_odds: float
    turns: int = 0
    tables: int = 0


@dataclass(frozen=True)
class SensorRecord:
    """The record of one sensor: suspicions, and why it is switched off, if it is.

    ``agreed`` counts the changes in a row that it has noticed since it was switched off.
    """

    place: Place
    stuck_closed: Suspicion
    stuck_open: Suspicion
    agreed: int = 0
    out: SensorFault | None = None
    why: str = ""


_RECORD = TypeAdapter(SensorRecord)


@dataclass
class SensorHealth:
    """Follows every sensor. Messages to the owner are returned once, when something happens."""

    settings: SensorSettings = field(default_factory=SensorSettings)
    health: HealthSettings = field(default_factory=HealthSettings)
    _records: dict[Place, SensorRecord] = field(default_factory=dict, init=False)
    _truth: Mapping[Place, bool] = field(default_factory=dict, init=False)
    _latest: dict[Place, deque[float]] = field(default_factory=dict, init=False)
    _doubtful_since_s: dict[Place, float] = field(default_factory=dict, init=False)
    _readable_since_s: dict[Place, float] = field(default_factory=dict, init=False)
    _listened_s: float = field(default=0.0, init=False)

    @property
    def out(self) -> frozenset[Place]:
        """The places whose sensors are switched off."""
        return frozenset(place for place, record in self._records.items() if record.out is not None)

    def report(self) -> tuple[SensorRecord, ...]:
        """Return the record of every sensor, by place."""
        return tuple(self._records[place] for place in sorted(self._records))

    def compare(
        self, said: Mapping[Place, bool], truth: Mapping[Place, bool], moving: Iterable[Place] = ()
    ) -> tuple[str, ...]:
        """Compare the sensors with an accepted table; returns messages for the owner.

        ``truth`` maps places to whether something stands there; ``moving`` are places that changed so recently that
        they may belong to the next turn. The same table counts once.
        """
        before, self._truth = self._truth, {**self._truth, **truth}
        if before == self._truth:
            return ()
        passed_over = frozenset(moving)
        changed = {place for place in said if place in before and place in truth and truth[place] != before[place]}
        standing = {place for place in said if place in truth} - changed - passed_over
        erring = sum(said[place] != truth[place] for place in changed | standing)
        standing_weight = 1.0 if erring >= self.health.at_once else self.health.standing
        words: list[str] = []
        for place in sorted(changed | standing):
            weight = 1.0 if place in changed else standing_weight
            words += self._update_record(place, said[place], truth[place], weight, change=place in changed)
        return tuple(words)

    def listen(self, changes: Iterable[PlaceChange], doubtful: Iterable[Place], now_s: float) -> tuple[str, ...]:
        """Process the changes that sensors noticed and the unreadable sensors; returns messages for the owner."""
        words: list[str] = []
        for change in changes:
            latest = self._latest.setdefault(change.place, deque(maxlen=self.health.chatter_changes))
            latest.append(change.time_s)
            full = len(latest) == self.health.chatter_changes
            if full and latest[-1] - latest[0] <= self.health.chatter_s:
                words += self._disable(
                    change.place,
                    SensorFault.CHATTERING,
                    Phrase(
                        "has changed {chatter_changes} times within {chatter_s} seconds",
                        self.health.chatter_changes,
                        f"{self.health.chatter_s:.0f}",
                    ),
                )
                latest.clear()
        words += self._note_doubts(frozenset(doubtful), now_s)
        return tuple(words)

    def _note_doubts(self, doubtful: frozenset[Place], now_s: float) -> list[str]:
        """Switch off the sensors that have been doubtful for long, and use those again that are readable for long."""
        if now_s - self._listened_s > _MOST_SILENCE_S:
            self._doubtful_since_s, self._readable_since_s = {}, {}
        self._listened_s = now_s
        readable = {place for place, record in self._records.items() if record.out is SensorFault.DOUBTFUL} - doubtful
        self._doubtful_since_s = {place: self._doubtful_since_s.get(place, now_s) for place in doubtful}
        self._readable_since_s = {place: self._readable_since_s.get(place, now_s) for place in readable}
        words: list[str] = []
        lost = sorted(self._lasting(self._doubtful_since_s, now_s) - self.out)
        for place in lost:
            words = self._disable(
                place,
                SensorFault.DOUBTFUL,
                Phrase("could not be read for {doubtful_s} seconds", f"{self.health.doubtful_s:.0f}"),
            )
        if len(lost) > 1:
            places = shortened(lost)
            words = [
                Phrase(
                    "The sensors under {places} could not be read for {doubtful_s} seconds; I go on without "
                    "them. {shows}",
                    places,
                    f"{self.health.doubtful_s:.0f}",
                    _SHOWS,
                )
            ]
        back = sorted(self._lasting(self._readable_since_s, now_s))
        self._records |= {place: self._new_record(place) for place in back}
        places = shortened(back)
        if len(back) == 1:
            words.append(
                Phrase(
                    "The sensor under {places} has been readable for {doubtful_s} seconds; it is used again.",
                    places,
                    f"{self.health.doubtful_s:.0f}",
                )
            )
        elif back:
            words.append(
                Phrase(
                    "The sensors under {places} have been readable for {doubtful_s} seconds; they are used again.",
                    places,
                    f"{self.health.doubtful_s:.0f}",
                )
            )
        return words

    def _lasting(self, since_s: Mapping[Place, float], now_s: float) -> frozenset[Place]:
        return frozenset(place for place, time_s in since_s.items() if now_s - time_s >= self.health.doubtful_s)

    def put_back(self, place: Place) -> str:
        """Use a sensor again at a person's request; returns the reply. Raises CorrectionError if it wasn't off."""
        if not self.out:
            raise CorrectionError("no sensor is switched off, so there is none to switch on under {place}", place)
        if place not in self.out:
            raise CorrectionError(
                "the sensor under {place} is not switched off; these are: {sorted}", place, listed(sorted(self.out))
            )
        self._records[place] = self._new_record(place)
        return Phrase("The sensor under {place} is used again.", place)

    def forget(self, places: Iterable[Place]) -> tuple[Place, ...]:
        """Forget the records of these sensors; returns those that were switched off."""
        out = self.out
        forgotten = [place for place in places if self._records.pop(place, None) is not None]
        return tuple(sorted(out.intersection(forgotten)))

    def as_data(self) -> dict[str, Any]:
        """Return everything to save, as JSON values."""
        return {
            record.place: {name: kept for name, kept in asdict(record).items() if name != "place"}
            for record in self.report()
        }

    def take_data(self, data: Mapping[str, Any]) -> None:
        """Restore saved data; raises ValueError for anything that ``as_data`` can't return."""
        records: dict[Place, SensorRecord] = {}
        for place, kept in data.items():
            try:
                records[place] = _RECORD.validate_python({**kept, "place": place} if isinstance(kept, dict) else kept)
            except ValidationError as error:
                wrong = "; ".join(": ".join((*map(str, each["loc"]), each["msg"])) for each in error.errors())
                raise ValueError(f"what was kept of the sensor under {place} can't be read: {wrong}") from error
        self._records = records

    def _new_record(self, place: Place) -> SensorRecord:
        none = Suspicion(math.log(self.health.prior_odds))
        return SensorRecord(place, none, none)

    def _update_record(self, place: Place, said: bool, truth: bool, weight: float, *, change: bool) -> list[str]:
        record = self._records.get(place) or self._new_record(place)
        self._records[place] = record = replace(
            record,
            stuck_closed=self._update_suspicion(record.stuck_closed, said, truth, weight, stuck=True, change=change),
            stuck_open=self._update_suspicion(record.stuck_open, said, truth, weight, stuck=False, change=change),
            agreed=(record.agreed + change) if said == truth else 0,
        )
        if record.out is not None:
            return self._reenable_if_reliable(record)
        if record.stuck_closed.log_odds >= math.log(self.health.odds):
            return self._disable(
                place,
                SensorFault.STUCK_CLOSED,
                _reason(record.stuck_closed, "occupied", "nothing", Phrase("emptied it")),
            )
        if record.stuck_open.log_odds >= math.log(self.health.odds):
            why = _reason(record.stuck_open, "empty", "something", Phrase("put something there"))
            return self._disable(place, SensorFault.STUCK_OPEN, why)
        return []

    def _update_suspicion(
        self, known: Suspicion, said: bool, truth: bool, weight: float, *, stuck: bool, change: bool
    ) -> Suspicion:
        rate_closed = 1 - self.settings.false_open if truth else self.settings.false_closed
        rate = rate_closed if said else 1 - rate_closed
        # A stuck sensor may still flip as rarely as any other, so one right answer counts as much as one wrong one.
        error = self.settings.false_open if stuck else self.settings.false_closed
        broken = 1 - error if said == stuck else error
        gain = math.log(broken / rate)
        if said == truth or said != stuck:
            least = math.log(self.health.prior_odds)
            odds = max(least, known.log_odds + min(gain, 0.0))
            return replace(known, log_odds=odds) if odds > least else Suspicion(least)
        return Suspicion(known.log_odds + gain * weight, known.turns + change, known.tables + 1)

    def _disable(self, place: Place, fault: SensorFault, why: str) -> list[str]:
        record = self._records.get(place) or self._new_record(place)
        if record.out is not None:
            return []
        self._records[place] = replace(record, out=fault, why=why, agreed=0)
        return [Phrase("The sensor under {place} {why}; I go on without it. {shows}", place, why, _SHOWS)]

    def _reenable_if_reliable(self, record: SensorRecord) -> list[str]:
        if record.agreed < self.health.agreements:
            return []
        self._records[record.place] = self._new_record(record.place)
        times = _number(self.health.agreements)
        return [
            Phrase("The sensor under {place} was right through {times} changes; it is used again.", record.place, times)
        ]


def _reason(known: Suspicion, says: str, stands: str, done: str) -> str:
    if known.turns > 1:
        others = known.tables - known.turns
        return (
            (
                Phrase(
                    'has said "{says}" through {number} turns that {done}, and in {number_2} more position',
                    says,
                    _number(known.turns),
                    done,
                    _number(others),
                )
                if others
                else Phrase('has said "{says}" through {number} turns that {done}', says, _number(known.turns), done)
            )
            if others == 1
            else Phrase(
                'has said "{says}" through {number} turns that {done}, and in {number_2} more positions',
                says,
                _number(known.turns),
                done,
                _number(others),
            )
            if others
            else Phrase('has said "{says}" through {number} turns that {done}', says, _number(known.turns), done)
        )
    return Phrase(
        'has said "{says}" in {number} positions with {stands} on its square', says, _number(known.tables), stands
    )


def _number(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else str(count)


def health_file(journal: Path) -> Path:
    """Return the path of the file beside a journal."""
    return journal.with_name(f"{journal.name}.sensors.json")


def load_health(path: Path | None, settings: SensorSettings | None = None) -> SensorHealth:
    """Load the saved records, none if there is no file; raises ConfigError if the file can't be read."""
    health = SensorHealth(settings or SensorSettings())
    if path is None or not path.is_file():
        return health

    def fault(said: str) -> ConfigError:
        return ConfigError("{said}; remove the file, and every sensor is used again", said)

    data = read_json_object(path, Phrase("the record of sensors"), fault)
    try:
        health.take_data(data)
    except ValueError as error:
        raise fault(Phrase("the record of sensors {path} is damaged ({error})", path, error)) from error
    return health


def sensors_out(health: SensorHealth) -> Mapping[Place, str]:
    """Return the switched-off sensors with the reason, worded to follow the sensor's name."""
    return {record.place: record.why for record in health.report() if record.out is not None}


def put_back(journal: Path, place: Place) -> str:
    """Use a sensor again at a person's request while no referee is running; returns the reply.

    Raises CorrectionError if the sensor wasn't off, ConfigError if the record can't be read, and OSError if it can't be
    written.
    """
    path = health_file(journal)
    health = load_health(path)
    said = health.put_back(place)
    HealthFile.write(health, path)
    return said


def forget_sensors(journal: Path, places: Iterable[Place]) -> tuple[Place, ...]:
    """Forget the records of sensors that were mapped anew; returns those that were switched off.

    Raises ConfigError if the record can't be read, and OSError if it can't be written.
    """
    path = health_file(journal)
    health = load_health(path)
    before = health.as_data()
    out = health.forget(places)
    if health.as_data() != before:
        HealthFile.write(health, path)
    return out


class HealthFile:
    """Saves the sensors' records whenever they change; a failing disk is reported once."""

    def __init__(self, health: SensorHealth, path: Path | None, say: Callable[[str], None]) -> None:
        self.health = health
        self._path = path
        self._say = say
        self._kept = health.as_data()
        self._failed = False

    def put_back(self, place: Place) -> str:
        """Use a sensor again at a person's request, save that, and return the reply; raises CorrectionError."""
        said = self.health.put_back(place)
        self.save()
        return said

    def save(self) -> None:
        """Save the records if they have changed."""
        data = self.health.as_data()
        if self._path is None or data == self._kept:
            return
        try:
            self.write(self.health, self._path)
        except OSError as error:
            if not self._failed:
                self._say(
                    Phrase(
                        "What is known of the sensors could not be kept in {path} ({strerror}).",
                        self._path,
                        error.strerror,
                    )
                )
            self._failed = True
            return
        self._kept, self._failed = data, False

    @staticmethod
    def write(health: SensorHealth, path: Path) -> None:
        """Save the records atomically; raises OSError."""
        write_durably(path, json.dumps(health.as_data(), indent=1) + "\n", private=True)
