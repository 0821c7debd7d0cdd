"""Time controls: how much time the players have, agreed on before a game."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from common.phrases import Phrase, did_you_mean, listed
from referee.errors import ClockError


class ClockMode(StrEnum):
    """How the remaining time changes with each turn."""

    GAME = "game"
    """A fixed time for the whole game."""
    FISCHER = "fischer"
    """The player gets the bonus after each turn."""
    BRONSTEIN = "bronstein"
    """The player gets back the time used for the turn, but at most the bonus."""
    DELAY = "delay"
    """In each turn, the time begins to run after the bonus."""
    HOURGLASS = "hourglass"
    """The time that one player uses is gained by the others."""


class FlagRule(StrEnum):
    """What a fallen flag means: a house rule."""

    LOSES = "loses"
    """Its player has lost."""
    SAID = "said"
    """The referee says so, and the game goes on."""


_WITH_BONUS = frozenset({ClockMode.FISCHER, ClockMode.BRONSTEIN, ClockMode.DELAY})
NO_CLOCK = "none"
_TEXT = re.compile(r"\s*([a-z]+)\s+([0-9]+(?:\.[0-9]+)?)\s*(?:\+\s*([0-9]+(?:\.[0-9]+)?)\s*)?", re.IGNORECASE)
_EXPECTED = Phrase(
    '"none", "fischer 5+3" (minutes and seconds), "bronstein 5+3", "delay 5+3", "hourglass 2" or "game 10"'
)
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
                "a clock of {part} minutes; expected more than 0 and at most a day", f"{self.base_s / 60:g}"
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


def read_control(text: str, *, flag: FlagRule = FlagRule.SAID, waits: bool = True) -> TimeControl | None:
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
