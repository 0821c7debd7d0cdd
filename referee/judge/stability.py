"""Decides when a table is at rest: several clear readings in a row agree.

Time comes from the readings alone.
"""

from collections import Counter, deque
from collections.abc import Mapping
from dataclasses import dataclass

from common.phrases import Phrase
from common.places import EMPTY
from vision.reading import Hindrance, HindranceKind, Reading

BLOCKING_KINDS = frozenset(
    {
        HindranceKind.HAND,
        HindranceKind.NOT_LOCATED,
        HindranceKind.MOVED_CAMERA,
        HindranceKind.BAD_FRAME,
        HindranceKind.FROZEN,
    }
)
"""Hindrances that keep a whole frame from being judged, whichever places they hide; but see ``blocking_hindrance``."""

_EVEN = 0.5
_OCCUPIED = "occupied"
_DICE = "dice: "
"""Prefix of the keys, other than places, under which the faces of dice are kept."""


@dataclass(frozen=True)
class StabilitySettings:
    """How long and how often a table must look the same. Set by hand, on virtual games under faults.

    ``readings``
        how many clear readings must agree. Higher: later verdicts, fewer about a piece on its way.
    ``quiet_s``
        the time, in seconds, over which they must agree. Longer: later verdicts, fewer about a piece on its way.
    ``most_readings``
        how many of the latest readings are kept. Higher: the median over them is steadier.
    ``sure_probability``
        looks and sensor values less probable than this may change without disturbing the rest. Higher: more may.
    ``gap_s``
        for how long, in seconds, frames may be unusable without disturbing the rest. Longer: copes with more of them,
        and a hand that came and went meanwhile is missed.
    """

    readings: int = 4
    quiet_s: float = 0.3
    most_readings: int = 9
    sure_probability: float = 0.8
    gap_s: float = 0.5


STILLS = StabilitySettings(readings=1, quiet_s=0.0, most_readings=1)
"""Every frame is a table at rest."""


@dataclass(frozen=True)
class StableView:
    """A table at rest: the readings that agree, since when it has shown the same, and what it certainly shows."""

    readings: tuple[Reading, ...]
    since_s: float
    shown: Mapping[str, str]

    @property
    def rested_s(self) -> float:
        """How long the table has shown the same without a hand."""
        return self.readings[-1].time_s - self.since_s

    @property
    def newest_in_sight(self) -> frozenset[str]:
        """The places that the newest reading sees."""
        return _in_sight(self.readings[-1])

    @property
    def in_sight(self) -> frozenset[str]:
        """The places that most of the readings see."""
        counts = Counter(place for reading in self.readings for place in _in_sight(reading))
        return frozenset(place for place, count in counts.items() if 2 * count > len(self.readings))

    @property
    def is_empty(self) -> bool:
        """Whether all places that are certain are empty, and there are some."""
        return bool(self.shown) and all(look == EMPTY for look in self.shown.values())

    def looks_like(self, shown: Mapping[str, str]) -> bool:
        """Return whether no place certainly differs from what ``shown`` has."""
        return all(shown.get(place, look) == look for place, look in self.shown.items())


def _in_sight(reading: Reading) -> frozenset[str]:
    return frozenset(place for place, seen in reading.places.items() if seen.hidden_by is None)


def _sensed(place: str) -> str:
    """Return the key under which a table's looks keep what a sensor says of a place."""
    return f"{place}, sensed"


def is_sensed_otherwise(shown: Mapping[str, str], place: str, look: str) -> bool:
    """Return whether only a sensor reports this place of ``StableView.shown``, and contradicts the look."""
    expected = EMPTY if look == EMPTY else _OCCUPIED
    return place not in shown and shown.get(_sensed(place), expected) != expected


def blocking_hindrance(reading: Reading) -> Hindrance | None:
    """Return what prevents this reading from being judged, ``None`` when it is clear.

    A surface that is not located hides only its own places while any other place is in sight.
    """
    in_sight = any(seen.hidden_by is None for seen in reading.places.values())
    for hindrance in reading.hindrances:
        is_of_part = hindrance.kind is HindranceKind.NOT_LOCATED and bool(hindrance.places) and in_sight
        if (hindrance.kind in BLOCKING_KINDS and not is_of_part) or (not hindrance.places and not reading.places):
            return hindrance
    if not reading.places:
        return Hindrance(HindranceKind.NOT_LOCATED, Phrase("The table was not found in the picture."))
    return None


class StabilityFilter:
    """Collects readings until they show a table at rest. Add every reading in order; a hand starts it over."""

    def __init__(self, settings: StabilitySettings | None = None) -> None:
        self._settings = settings or StabilitySettings()
        self._window: deque[Reading] = deque(maxlen=self._settings.most_readings)
        self._shown: dict[str, str] = {}
        self._since_s = 0.0
        self._outlier: Reading | None = None

    def add(self, reading: Reading) -> StableView | None:
        """Take the next reading; return the stable view, or ``None`` while it is not at rest.

        One reading that disagrees with the earlier ones is held back: it is dropped if the next one agrees with them
        again, and starts a new table otherwise.
        """
        blocked = blocking_hindrance(reading)
        if blocked is not None:
            if blocked.kind is not HindranceKind.BAD_FRAME or self._is_gap(reading):
                self.clear()
            return None
        sure = self._certain_looks(reading)
        if any(self._shown.get(place, look) != look for place, look in sure.items()):
            if self._outlier is None and len(self._window) > 1:
                self._outlier = reading
                return None
            begun = self._outlier
            self.clear()
            if begun is not None:
                self._append(begun, self._certain_looks(begun))
                return self.add(reading)
        self._outlier = None
        self._append(reading, sure)
        enough = len(self._window) >= self._settings.readings
        if enough and reading.time_s - self._since_s >= self._settings.quiet_s:
            return self._stable_view()
        return None

    def _is_gap(self, reading: Reading) -> bool:
        """Whether nothing has been seen for long when this reading was made."""
        return not self._window or reading.time_s - self._window[-1].time_s > self._settings.gap_s

    def clear(self) -> None:
        """Forget what was collected."""
        self._window.clear()
        self._shown.clear()
        self._outlier = None

    def pending(self) -> StableView | None:
        """Return the readings collected so far, however few, to judge when no more frames will come."""
        return self._stable_view() if self._window else None

    def _stable_view(self) -> StableView:
        shown = {place: look for place, look in self._shown.items() if not place.startswith(_DICE)}
        return StableView(tuple(self._window), self._since_s, shown)

    def _append(self, reading: Reading, sure: dict[str, str]) -> None:
        if not self._window:
            self._since_s = reading.time_s
        self._window.append(reading)
        self._shown.update(sure)

    def _certain_looks(self, reading: Reading) -> dict[str, str]:
        sure = {}
        for place, seen in reading.places.items():
            if seen.hidden_by is None and seen.probabilities:
                look, probability = seen.best
                if probability >= self._settings.sure_probability:
                    sure[place] = look
            # A sensor may notice a change where the camera is unsure or sees nothing.
            if seen.sensed is not None and max(seen.sensed, 1 - seen.sensed) >= self._settings.sure_probability:
                sure[_sensed(place)] = _OCCUPIED if seen.sensed > _EVEN else EMPTY
        return sure | self._certain_dice(reading)

    def _certain_dice(self, reading: Reading) -> dict[str, str]:
        """Return what dice certainly show, so that a new roll counts as a new table."""
        sure = {}
        for roll in reading.rolls:
            sure[f"{_DICE}{roll.surface}"] = str(len(roll.dice))
            for number, die in enumerate(roll.dice):
                face, probability = max(die.faces.items(), key=lambda item: item[1])
                if not die.is_settled or probability >= self._settings.sure_probability:
                    sure[f"{_DICE}{roll.surface}, {number}"] = face if die.is_settled else Phrase("no roll")
        return sure
