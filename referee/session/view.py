"""What the table shows, frame by frame, when it should be judged, and which verdicts are worth saying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.api import Game
from engine.values import EMPTY, Appearance, OptionValue, Place
from referee.judge import StabilityFilter, StableView, Trigger, blocking_hindrance
from referee.judge.explorer import usual_appearance
from referee.judge.sentences import stalled
from referee.judge.verdict import Verdict, VerdictKind
from referee.session.settings import ServiceSettings
from vision.frame import Frame
from vision.reading import Reading


class TableView:
    """Follows the readings of one game until the table is at rest, and triggers each judgement once."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._filter = StabilityFilter(settings.settling)
        self._unclear = UnclearWatch(0.0 if settings.stills else settings.patience_s)
        self._stall = StallWatch(settings.stall_s, settings.settling.sure_probability)
        self._judged: tuple[float, Trigger] | None = None
        self._judged_in_sight: frozenset[Place] = frozenset()
        self._pressed = False
        self.question = OpenQuestion(settings.settling.sure_probability)
        """The last question to the players."""
        self.frame: Frame | None = None
        """The newest frame, ``None`` for one that could not be used."""
        self.reading: Reading | None = None
        """What the newest frame said."""
        self.stable: StableView | None = None
        """The table at rest, ``None`` while it is not."""

    def add(self, reading: Reading) -> StableView | None:
        """Take the next reading; give the table if it is at rest."""
        self.reading = reading
        if self._settings.stills:
            self._filter.clear()
        self.stable = self._filter.add(reading)
        if self.stable is not None:
            self._unclear.clear()
        return self.stable

    def unclear(self) -> Verdict | None:
        """Say what is in the way once it has been there for a while, immediately for stills."""
        return None if self.reading is None else self._unclear.add(self.reading)

    def stalled(self) -> tuple[str, ...]:
        """Give the places that could not be read for long, once."""
        return () if self.reading is None else self._stall.add(self.reading)

    def press(self) -> None:
        """Note that a person declared the turn ended: judge it now if the table is at rest, else as soon as it is."""
        self._pressed = True

    def trigger(self, *, set_up: bool) -> Trigger | None:
        """Give the trigger for judging the table, ``None`` when it was judged already or is not at rest."""
        if self.stable is None:
            return None
        if self._settings.stills or self._pressed:
            return Trigger.DECLARED
        trigger = self._settings.trigger_after(self.stable.rested_s, set_up=set_up)
        was_judged = self._judged == (self.stable.since_s, trigger)
        return None if was_judged and not self._came_into_sight(self.stable) else trigger

    def judged(self, view: StableView, trigger: Trigger) -> None:
        """Note that the table at rest is being judged."""
        self._pressed = False
        self._judged = (view.since_s, trigger)
        self._judged_in_sight = view.in_sight

    def _came_into_sight(self, view: StableView) -> bool:
        """Whether places that were hidden when the table was judged can be seen now, as when glare has passed."""
        # The newest reading alone is compared first, since this is asked at every frame.
        return not view.newest_in_sight <= self._judged_in_sight and not view.in_sight <= self._judged_in_sight

    def look_anew(self) -> None:
        """Have the table judged again although nothing has changed."""
        self._judged = None

    def last(self) -> StableView | None:
        """Give what the last frames showed, when no more will come and they were not judged yet."""
        pending = self._filter.pending()
        enough = pending is not None and len(pending.readings) >= min(2, self._settings.settling.readings)
        return pending if enough and not self._settings.stills else None


def is_before_set_up(game: Game[Any, Any], options: Mapping[str, OptionValue], settled: StableView) -> bool:
    """Whether the table is certainly empty although the game starts with pieces, which is no reason for an alarm."""
    return settled.is_empty and any(look != EMPTY for look in usual_appearance(game, options).values())


class UnclearWatch:
    """Tracks how long the table could not be judged; says what is in the way after ``patience_s`` seconds."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._since_s: float | None = None

    def clear(self) -> None:
        """Note that the table could be judged."""
        self._since_s = None

    def add(self, reading: Reading) -> Verdict | None:
        """Take a reading that can't be judged; give the verdict to show, ``None`` while it is too early."""
        if self._since_s is None:
            self._since_s = reading.time_s
        if reading.time_s - self._since_s < self._patience_s:
            return None
        hindrance = blocking_hindrance(reading)
        sentence = hindrance.message if hindrance else "The picture does not come to rest; is something moving?"
        places = hindrance.places if hindrance else ()
        return Verdict(VerdictKind.CANNOT_SEE, sentence, reading.time_s, reading.sequence, places=places)


class OpenQuestion:
    """A question to the players, open until the table shows something else.

    A question about unreadable squares is answered once they can be read. Neither a hand over the table nor a pulled
    cable answers anything.
    """

    def __init__(self, sure_probability: float) -> None:
        self._sure_probability = sure_probability
        self._shown: Mapping[str, str] | None = None
        self._unread: frozenset[str] = frozenset()

    def take(self, verdict: Verdict, settled: StableView | None) -> None:
        """Take the verdict now on show: one that asks opens a question, any other closes it."""
        self.close()
        if settled is not None and verdict.kind is VerdictKind.AMBIGUOUS:
            self._shown = settled.shown
            self._unread = self._unreadable(settled) & set(verdict.places)

    def close(self) -> None:
        """Note that a person answered."""
        self._shown, self._unread = None, frozenset()

    def is_open(self, settled: StableView | None) -> bool:
        """Whether it is still open at this table, ``None`` for one that is not at rest."""
        if self._shown is None or settled is None:
            return self._shown is not None
        is_unread = not self._unread or bool(self._unread & self._unreadable(settled))
        return is_unread and settled.looks_like(self._shown)

    def _unreadable(self, settled: StableView) -> frozenset[str]:
        return frozenset(unreadable_places(settled.readings[-1], self._sure_probability))


def unreadable_places(reading: Reading, sure_probability: float) -> tuple[Place, ...]:
    """Give the places that are hidden or doubtful and have no sensor that tells whether anything stands there."""
    return tuple(
        place
        for place, seen in reading.places.items()
        if seen.sensed is None
        and (seen.hidden_by is not None or not seen.probabilities or seen.best[1] < sure_probability)
    )


class StallWatch:
    """Tracks how long each place could not be read; add the readings of tables at rest in order.

    A place is unreadable while something hides it or its best look has less than ``sure_probability``, unless a sensor
    tells whether anything stands there. It is named once it has been so for ``after_s`` seconds, and again only after
    it was readable in between.
    """

    def __init__(self, after_s: float, sure_probability: float) -> None:
        self._after_s = after_s
        self._sure_probability = sure_probability
        self._since_s: dict[str, float] = {}
        self._named: set[str] = set()

    def add(self, reading: Reading) -> tuple[str, ...]:
        """Take a reading; give the places to name now: all that have long been unreadable, if any of them is new."""
        unreadable = unreadable_places(reading, self._sure_probability)
        self._since_s = {place: self._since_s.get(place, reading.time_s) for place in unreadable}
        self._named &= set(unreadable)
        stalled = {place for place, since_s in self._since_s.items() if reading.time_s - since_s >= self._after_s}
        if stalled <= self._named:
            return ()
        self._named |= stalled
        return tuple(place for place in unreadable if place in stalled)


def stall_verdict(believed: Appearance, places: Sequence[Place], reading: Reading, after_s: float) -> Verdict:
    """Ask about places that could not be read for ``after_s`` seconds."""
    return Verdict(
        VerdictKind.AMBIGUOUS,
        stalled(places, after_s),
        reading.time_s,
        reading.sequence,
        places=tuple(places),
        expected={place: believed[place] for place in places},
    )


_LASTING = frozenset({VerdictKind.SET_UP, VerdictKind.ACCEPTED, VerdictKind.PUT_RIGHT, VerdictKind.UNCHANGED})
"""What may stay on show while nothing changes."""

_QUIET = frozenset({VerdictKind.NOT_FINISHED, VerdictKind.CANNOT_SEE, VerdictKind.UNCHANGED})


def is_news(verdict: Verdict, shown: Verdict | None, *, unsettled: bool) -> bool:
    """Whether a verdict tells more than the one on show; ``unsettled`` means that a fault or a question is open.

    A question stays on show until the table shows something else, or somebody answers.
    """
    if verdict.turns or verdict.roll or verdict.kind is VerdictKind.SET_UP:
        return True
    if shown is None:
        return verdict.kind is not VerdictKind.UNCHANGED
    # A fault or a question stays lit while hands correct it.
    if verdict.kind in _QUIET and unsettled and shown.kind not in _LASTING:
        return False
    if verdict.kind is VerdictKind.UNCHANGED and shown.kind in _LASTING:
        return False
    if verdict.kind is VerdictKind.CANNOT_SEE:
        # an object on the table that changes nothing visible puts out no light
        same_as_ever = bool(verdict.seen) and verdict.seen == verdict.expected and shown.kind in _LASTING
        return not same_as_ever and shown.kind is not VerdictKind.CANNOT_SEE
    return key_of(verdict) != key_of(shown)


def key_of(verdict: Verdict) -> tuple[object, ...]:
    """What makes two verdicts the same to a person."""
    return (verdict.kind, verdict.turns, verdict.places, tuple(sorted(verdict.seen.items())), verdict.sentence)
