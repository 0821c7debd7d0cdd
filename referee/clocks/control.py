"""How much time the players have, as they agree on it before a game and as a chess clock would be set."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from common.phrases import did_you_mean, listed
from referee.errors import ClockError


class ClockMode(StrEnum):
    """What becomes of the time after each turn."""

    GAME = "game"
    """So much time for the whole game."""
    FISCHER = "fischer"
    """After each turn its player gets the bonus."""
    BRONSTEIN = "bronstein"
    """After each turn its player gets back what it took, the bonus at most."""
    DELAY = "delay"
    """In each turn the time begins to run only after the bonus."""
    HOURGLASS = "hourglass"
    """What one of two players uses the other one gains."""


class FlagRule(StrEnum):
    """What a fallen flag means: a house rule."""

    LOSES = "loses"
    SAID = "said"


_WITH_BONUS = frozenset({ClockMode.FISCHER, ClockMode.BRONSTEIN, ClockMode.DELAY})
NO_CLOCK = "none"
_TEXT = re.compile(r"\s*([a-z]+)\s+([0-9]+(?:\.[0-9]+)?)\s*(?:\+\s*([0-9]+(?:\.[0-9]+)?)\s*)?", re.IGNORECASE)
_EXPECTED = '"none", "fischer 5+3" (minutes and seconds), "bronstein 5+3", "delay 5+3", "hourglass 2" or "game 10"'
_MOST_MINUTES = 24 * 60


@dataclass(frozen=True)
class TimeControl:
    """A clock's setting: ``base_s`` for each player at the start, ``bonus_s`` a turn where the mode has a bonus.

    ``flag`` says what a fallen flag means. ``waits``: the clock stands still while the referee can't see the table or
    asks a question. Raises ClockError for a setting that makes no clock.
    """

    mode: ClockMode
    base_s: float
    bonus_s: float = 0.0
    flag: FlagRule = FlagRule.SAID
    waits: bool = True

    def __post_init__(self) -> None:
        """Refuse a clock that nobody can play by."""
        if not 0 < self.base_s <= _MOST_MINUTES * 60:
            raise ClockError(f"a clock of {self.base_s / 60:g} minutes; expected more than 0 and at most a day")
        if self.mode in _WITH_BONUS and not 0 < self.bonus_s <= self.base_s:
            raise ClockError(
                f"the clock's bonus is {self.bonus_s:g} s; {self.mode} expects more than 0, and no more than the "
                f"{self.base_s:g} s at the start"
            )
        if self.mode not in _WITH_BONUS and self.bonus_s:
            raise ClockError(f"{self.mode} has no bonus a turn; leave +{self.bonus_s:g} out")

    @property
    def text(self) -> str:
        """The setting as ``read_control`` reads it: ``fischer 5+3``."""
        bonus = f"+{self.bonus_s:g}" if self.mode in _WITH_BONUS else ""
        return f"{self.mode} {self.base_s / 60:g}{bonus}"

    def as_data(self) -> dict[str, str | float | bool]:
        """Give what the journal keeps of it."""
        return {
            "mode": self.mode.value,
            "base_s": self.base_s,
            "bonus_s": self.bonus_s,
            "flag": self.flag.value,
            "waits": self.waits,
        }


def read_control(text: str, *, flag: FlagRule = FlagRule.SAID, waits: bool = True) -> TimeControl | None:
    """Read ``fischer 5+3``: mode, minutes at the start, seconds a turn; ``None`` for ``none``. Raises ClockError."""
    if text.strip().lower() == NO_CLOCK:
        return None
    found = _TEXT.fullmatch(text)
    mode = "" if found is None else found[1].lower()
    if found is None or mode not in frozenset(ClockMode):
        near = did_you_mean(mode, tuple(ClockMode)) if mode else ""
        raise ClockError(f"cannot read the clock {text!r}{near}; expected {_EXPECTED}")
    return TimeControl(ClockMode(mode), 60 * float(found[2]), float(found[3] or 0), flag, waits)


def control_in(data: Mapping[str, Any]) -> TimeControl | None:
    """Read the clock of a ``new game`` event; ``None`` where it has none. Raises ClockError for a damaged one."""
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
        raise ClockError(f"the journal's clock is {kept!r}; expected one of {known} with its times") from error
