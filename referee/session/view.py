"""What the table shows, frame by frame, and what it is to be looked at for now."""

from __future__ import annotations

from referee.judge import StabilityFilter, StableView, Trigger
from referee.judge.verdict import Verdict
from referee.session.news import OpenQuestion, StallWatch, UnclearWatch
from referee.session.settings import ServiceSettings
from vision.frame import Frame
from vision.reading import Reading


class TableView:
    """Follows the readings of one game until the table is at rest, and says once what each rest is judged for."""

    def __init__(self, settings: ServiceSettings) -> None:
        self._settings = settings
        self._filter = StabilityFilter(settings.settling)
        self._unclear = UnclearWatch(0.0 if settings.stills else settings.patience_s)
        self._stall = StallWatch(settings.stall_s, settings.settling.sure_probability)
        self._judged: tuple[float, Trigger] | None = None
        self._pressed = False
        self.question = OpenQuestion(settings.settling.sure_probability)
        """The question that was put to the table last."""
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
        """Say what is in the way, once it has been there for a while: at once for stills."""
        return None if self.reading is None else self._unclear.add(self.reading)

    def stalled(self) -> tuple[str, ...]:
        """Give the places that could not be read for long, once."""
        return () if self.reading is None else self._stall.add(self.reading)

    def press(self) -> None:
        """Take it that a person declared the turn ended: judged now if the table is at rest, else when it is."""
        self._pressed = True

    def trigger(self, *, set_up: bool) -> Trigger | None:
        """Say what the table at rest is to be judged for, ``None`` when it was before or is not at rest."""
        if self.stable is None:
            return None
        if self._settings.stills or self._pressed:
            return Trigger.DECLARED
        trigger = self._settings.trigger_after(self.stable.rested_s, set_up=set_up)
        return None if self._judged == (self.stable.since_s, trigger) else trigger

    def judged(self, view: StableView, trigger: Trigger) -> None:
        """Take it that a table at rest is being judged."""
        self._pressed = False
        self._judged = (view.since_s, trigger)

    def look_anew(self) -> None:
        """Have the table judged again, though it shows what it showed."""
        self._judged = None

    def last(self) -> StableView | None:
        """Give what the last frames showed, when no more will come and nobody looked at them yet."""
        pending = self._filter.pending()
        enough = pending is not None and len(pending.readings) >= min(2, self._settings.settling.readings)
        return pending if enough and not self._settings.stills else None
