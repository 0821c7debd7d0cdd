"""Settings of a session: when turns end, how patient it is, and those of judge and hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from engine.values import OptionValue
from referee.clocks.control import TimeControl
from referee.hints.advice import HintSettings
from referee.judge import STILLS, JudgeSettings, StabilitySettings, Trigger


class TurnEnd(StrEnum):
    """What ends a turn; a press does in any case."""

    BUTTON = "button"
    TOUCH = "touch"
    REST = "rest"


@dataclass(frozen=True)
class ServiceSettings:
    """How the service referees.

    ``turn_end``
        ``button``: a press ends a turn; ``touch``: touching the next player's pieces does, or the next
        roll; ``rest``: the table showing the same thing for ``rest_s`` does. A press counts in every mode.
    ``stills``
        every frame is a table at rest at the end of a turn.
    ``patience_s``
        how long, in seconds, something may be in the way or moving before that is said.
    ``stall_s``
        how long a square of an otherwise clear board may be unreadable before it is named.
    ``hints``
        how good hints are, or that there are none.
    ``clock``
        the time the players have in a new game, ``None`` without a clock.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    anywhere: bool = False
    turn_end: TurnEnd = TurnEnd.REST
    rest_s: float = 3.0
    stills: bool = False
    patience_s: float = 5.0
    stall_s: float = 20.0
    settle: StabilitySettings = field(default_factory=StabilitySettings)
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    hints: HintSettings = field(default_factory=HintSettings)
    clock: TimeControl | None = None

    def __post_init__(self) -> None:
        """Refuse settings the service can't keep."""
        if self.turn_end not in frozenset(TurnEnd):
            raise ValueError(f"turn_end is {self.turn_end!r}; expected one of {', '.join(TurnEnd)}")
        if min(self.rest_s, self.patience_s, self.stall_s) < 0:
            raise ValueError(
                f"rest_s is {self.rest_s}, patience_s {self.patience_s} and stall_s {self.stall_s}; "
                "expected 0 or more seconds"
            )

    @property
    def settling(self) -> StabilitySettings:
        """How a table comes to rest: at once for stills."""
        return STILLS if self.stills else self.settle

    def trigger_after(self, rested_s: float, *, set_up: bool) -> Trigger:
        """Give the trigger of a table that has rested this long, when nobody pressed a button."""
        rested = rested_s >= self.rest_s
        if not set_up or self.turn_end == TurnEnd.REST:
            return Trigger.RESTED if rested else Trigger.GLANCE
        if self.turn_end == TurnEnd.TOUCH:
            return Trigger.TOUCH_RESTED if rested else Trigger.TOUCH
        return Trigger.GLANCE
