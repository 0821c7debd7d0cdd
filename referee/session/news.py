"""A table that can't be judged, one that nobody has set up yet, and a question that is open about one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.api import EMPTY, Game, OptionValue
from referee.judge import Settled, blocking_hindrance
from referee.judge.belief import usual_start
from referee.service_stall import unreadable_places
from referee.verdict import Verdict, VerdictKind
from vision.reading import Reading


def is_before_set_up(game: Game[Any, Any], options: Mapping[str, OptionValue], settled: Settled) -> bool:
    """Whether nobody has begun to set up, which is no fault to sound an alarm about.

    The table surely shows nothing, and the game starts with something on it.
    """
    return settled.is_bare and any(look != EMPTY for look in usual_start(game, options).values())


class UnclearWatch:
    """Follows since when the table could not be judged; what is in the way is said after ``patience_s`` seconds."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._since_s: float | None = None

    def clear(self) -> None:
        """Take in that the table could be judged."""
        self._since_s = None

    def add(self, reading: Reading) -> Verdict | None:
        """Take a reading that can't be judged; give what to say of it, ``None`` while it is too early for that."""
        if self._since_s is None:
            self._since_s = reading.time_s
        if reading.time_s - self._since_s < self._patience_s:
            return None
        hindrance = blocking_hindrance(reading)
        sentence = hindrance.message if hindrance else "The picture does not come to rest; is something moving?"
        places = hindrance.places if hindrance else ()
        return Verdict(VerdictKind.CANNOT_SEE, sentence, reading.time_s, reading.sequence, places=places)


class OpenQuestion:
    """What the table showed when a question was put: it is open until the table shows something else.

    Squares that are asked about because they can't be read answer by being read. Neither a hand over the table nor a
    cable that was pulled answers anything.
    """

    def __init__(self, sure_probability: float) -> None:
        self._sure_probability = sure_probability
        self._shown: Mapping[str, str] | None = None
        self._unread: frozenset[str] = frozenset()

    def take(self, verdict: Verdict, settled: Settled | None) -> None:
        """Take the verdict that is shown now: one that asks opens a question, and every other one closes it."""
        self.close()
        if settled is not None and verdict.kind is VerdictKind.AMBIGUOUS:
            self._shown = settled.shown
            self._unread = self._unreadable(settled) & set(verdict.places)

    def close(self) -> None:
        """Take in that a person answered."""
        self._shown, self._unread = None, frozenset()

    def is_open(self, settled: Settled | None) -> bool:
        """Whether it is still open at this table, ``None`` for one that is not at rest."""
        if self._shown is None or settled is None:
            return self._shown is not None
        is_unread = not self._unread or bool(self._unread & self._unreadable(settled))
        return is_unread and settled.looks_like(self._shown)

    def _unreadable(self, settled: Settled) -> frozenset[str]:
        return frozenset(unreadable_places(settled.readings[-1], self._sure_probability))
