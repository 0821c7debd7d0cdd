"""Time controls, and a chess clock as a frozen value: whose time runs and how much is left. Pure.

Times are in seconds of a monotonic clock that the caller chooses.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from common.phrases import Phrase, capitalized, chained, did_you_mean, either, joined, listed
from engine.values import Player
from referee.errors import ClockError


class ClockMode(StrEnum):
    """How the remaining time changes with each turn."""

    GAME = "game"
    """A fixed time for the whole game."""
    FISCHER = "fischer"
    """The player gets the bonus after each turn."""
    DELAY = "delay"
    """In each turn, the time begins to run after the bonus."""


class FlagRule(StrEnum):
    """What a fallen flag means: a house rule."""

    LOSES = "loses"
    """Its player has lost."""
    SAID = "said"
    """The referee says so, and the game goes on."""


_WITH_BONUS = frozenset({ClockMode.FISCHER, ClockMode.DELAY})
NO_CLOCK = "none"
_TEXT = re.compile(r"\s*([a-z]+)\s+([0-9]+(?:\.[0-9]+)?)\s*(?:\+\s*([0-9]+(?:\.[0-9]+)?)\s*)?", re.IGNORECASE)
_EXPECTED = Phrase('"none", "fischer 5+3" (minutes and seconds), "delay 5+3" or "game 10"')
_MOST_MINUTES = 24 * 60


@dataclass(frozen=True)
class TimeControl:
    """A clock's setting: ``base_s`` for each player at the start, and ``bonus_s`` a turn if the mode has a bonus.

    ``flag`` says what a fallen flag means. If it ``waits``, the clock is paused while the referee can't see the table
    or asks a question. The journal stores the fields by name. Raises ClockError for impossible times.
    """

    mode: ClockMode
    base_s: float
    bonus_s: float = 0.0
    flag: FlagRule = FlagRule.SAID
    waits: bool = True

    def __post_init__(self) -> None:
        """Refuse impossible times."""
        if not 0 < self.base_s <= _MOST_MINUTES * 60:
            raise ClockError(
                "a clock of {minutes} minutes; expected more than 0 and at most a day", f"{self.base_s / 60:g}"
            )
        if self.mode in _WITH_BONUS and not 0 < self.bonus_s <= self.base_s:
            raise ClockError(
                "the clock's bonus is {bonus_s} s; {mode} expects more than 0, and no more than the "
                "{base_s} s at the start",
                f"{self.bonus_s:g}",
                self.mode,
                f"{self.base_s:g}",
            )
        if self.mode not in _WITH_BONUS and self.bonus_s:
            raise ClockError("{mode} has no bonus a turn; leave +{bonus_s} out", self.mode, f"{self.bonus_s:g}")

    @property
    def text(self) -> str:
        """The setting in the form that ``read_control`` parses: ``fischer 5+3``."""
        bonus = f"+{self.bonus_s:g}" if self.mode in _WITH_BONUS else ""
        return f"{self.mode} {self.base_s / 60:g}{bonus}"


def read_control(
    text: str, *, flag: FlagRule = TimeControl.flag, waits: bool = TimeControl.waits
) -> TimeControl | None:
    """Parse ``fischer 5+3``: mode, minutes at the start, seconds a turn; ``None`` for ``none``. Raises ClockError."""
    if text.strip().lower() == NO_CLOCK:
        return None
    found = _TEXT.fullmatch(text)
    mode = "" if found is None else found[1].lower()
    if found is None or mode not in frozenset(ClockMode):
        near = did_you_mean(mode, tuple(ClockMode)) if mode else ""
        raise ClockError("cannot read the clock {text!r}{near}; expected {expected}", text, near, _EXPECTED)
    return TimeControl(ClockMode(mode), 60 * float(found[2]), float(found[3] or 0), flag, waits)


def recorded_control(data: Mapping[str, Any]) -> TimeControl | None:
    """Return the time control of a ``new game`` event, ``None`` if it has none. Raises ClockError if it is damaged."""
    kept = data.get("clock")
    if kept is None:
        return None
    try:
        return TimeControl(
            ClockMode(kept["mode"]),
            float(kept["base_s"]),
            float(kept["bonus_s"]),
            FlagRule(kept["flag"]),
            bool(kept["waits"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        known = listed(tuple(ClockMode), "or")
        raise ClockError(
            "the journal's clock is {kept!r}; expected one of {known} with its times", kept, known
        ) from error


class PauseReason(StrEnum):
    """Why a clock is paused; it runs again once no reason is left. The values are stored in the journal's file."""

    PERSON = "a person"
    QUESTION = "a question"
    UNSEEN = "the table can't be seen"

    @property
    def words(self) -> str:
        """The reason in words."""
        return _REASONS[self]


_REASONS = {
    PauseReason.PERSON: Phrase("somebody paused it"),
    PauseReason.QUESTION: Phrase("a question is open"),
    PauseReason.UNSEEN: Phrase("the table can't be seen"),
}


@dataclass(frozen=True)
class ClockFace:
    """What a clock shows at ``time_s``, in the time of the frames.

    ``remaining_s`` is the time left to each player who plays. For the ``running`` players it runs down after their
    ``delay_s``. ``paused`` says why the clock is paused, and is empty if it isn't. ``fallen`` are the players whose
    flag has fallen.
    """

    mode: ClockMode
    control: str
    time_s: float
    remaining_s: Mapping[Player, float]
    delay_s: Mapping[Player, float] = field(default_factory=dict)
    running: tuple[Player, ...] = ()
    paused: str = ""
    fallen: tuple[Player, ...] = ()

    def after(self, seconds: float) -> ClockFace:
        """Return the face that many seconds later, if nothing happens until then."""
        elapsed_s = 0.0 if self.paused else max(0.0, seconds)
        left, delay = run_down(self.remaining_s, self.delay_s, self.running, elapsed_s)
        return replace(self, time_s=self.time_s + max(0.0, seconds), remaining_s=left, delay_s=delay)


@dataclass(frozen=True)
class Clock:
    """A clock's state at ``since_s``.

    ``remaining_s`` is the time each player had left then, ``used_s`` the time used so far in the current turn.
    ``fallen`` are the players whose fallen flag was announced; they get no more bonus. ``retired`` are those who no
    longer play: their time stays as it is.
    """

    control: TimeControl
    remaining_s: Mapping[Player, float]
    since_s: float
    used_s: Mapping[Player, float] = field(default_factory=dict)
    running: tuple[Player, ...] = ()
    pauses: frozenset[PauseReason] = frozenset()
    fallen: tuple[Player, ...] = ()
    retired: tuple[Player, ...] = ()

    @classmethod
    def full(cls, control: TimeControl, players: Sequence[Player], since_s: float) -> Clock:
        """Return the clock before a game; no time runs yet."""
        return cls(control, dict.fromkeys(players, control.base_s), since_s)

    def at(self, time_s: float) -> Clock:
        """Return the clock at a time; unchanged if that time is before ``since_s``."""
        if time_s <= self.since_s:
            return self
        if self.pauses or not self.running:
            return replace(self, since_s=time_s)
        elapsed_s = time_s - self.since_s
        left, _ = run_down(self._playing_s(), self._delay_s(), self.running, elapsed_s)
        used = {**self.used_s, **{player: self.used_s.get(player, 0.0) + elapsed_s for player in self.running}}
        return replace(self, remaining_s={**self.remaining_s, **left}, used_s=used, since_s=time_s)

    def switch(self, time_s: float, to: Sequence[Player], finished: Player | None = None) -> Clock:
        """Return the clock after ``finished`` ended a turn, with the time of the players in ``to`` running."""
        stopped = self.at(time_s)
        left = dict(stopped.remaining_s)
        used = {player: stopped.used_s.get(player, 0.0) for player in to if player in stopped.running}
        if finished in left:
            if left[finished] > 0 and finished not in stopped.fallen:
                left[finished] += self.control.bonus_s if self.control.mode is ClockMode.FISCHER else 0.0
            used.pop(finished, None)
        running = tuple(player for player in to if player in left)
        return replace(stopped, remaining_s=left, used_s=used, running=running)

    def out_of_time(self, time_s: float) -> tuple[Player, ...]:
        """Return the players whose time is up at ``time_s`` and whose fallen flag wasn't announced yet."""
        left = self.at(time_s).remaining_s
        return tuple(player for player in left if left[player] <= 0 and player not in self.fallen)

    def flag_falls_at_s(self, player: Player) -> float:
        """Return when a player's time will be up if nothing happens; infinity while it isn't running."""
        if self.pauses or player not in self.running:
            return math.inf
        return self.since_s + self.remaining_s[player] + self._delay_s().get(player, 0.0)

    def face(self, time_s: float) -> ClockFace:
        """Return what the clock shows at a time."""
        now = self.at(time_s)
        return ClockFace(
            self.control.mode,
            self.control.text,
            now.since_s,
            now._playing_s(),
            now._delay_s(),
            now.running,
            chained(sorted(why.words for why in now.pauses)) if now.pauses else "",
            now.fallen,
        )

    def _playing_s(self) -> dict[Player, float]:
        """Return the time left to each player who plays."""
        return {player: left_s for player, left_s in self.remaining_s.items() if player not in self.retired}

    def _delay_s(self) -> dict[Player, float]:
        """Return the seconds of delay left to each running player."""
        if self.control.mode is not ClockMode.DELAY:
            return {}
        return {player: max(0.0, self.control.bonus_s - self.used_s.get(player, 0.0)) for player in self.running}


def run_down(
    remaining_s: Mapping[Player, float],
    delay_s: Mapping[Player, float],
    running: Sequence[Player],
    elapsed_s: float,
) -> tuple[dict[Player, float], dict[Player, float]]:
    """Return each player's remaining time and delay after ``elapsed_s``; neither falls below 0."""
    left, delay = dict(remaining_s), dict(delay_s)
    for player in running:
        free_s = delay.get(player, 0.0)
        if player in delay:
            delay[player] = max(0.0, free_s - elapsed_s)
        left[player] -= min(left[player], max(0.0, elapsed_s - free_s))
    return left, delay


def clock_text(seconds: float) -> str:
    """Format seconds, rounded up: ``4:32``, ``1:00:00``."""
    whole = math.ceil(max(0.0, seconds) - 1e-6)
    hours, minutes = whole // 3600, whole // 60 % 60
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"


def clock_words(face: ClockFace, names: Mapping[Player, str]) -> Iterator[str]:
    """Yield a line for each player: the time left, whether it runs, and whether the flag has fallen."""
    for player, left_s in face.remaining_s.items():
        called = [capitalized(player), *([f"({names[player]})"] if player in names else [])]
        says = [either(face.paused, "is paused", "runs")] if player in face.running else []
        says += [Phrase("the flag has fallen")] if player in face.fallen else []
        yield joined((joined((*called, clock_text(left_s))), *says), ", ")
    if face.paused:
        yield Phrase("The clock is paused: {paused}.", face.paused)
