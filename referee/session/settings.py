"""A session's settings: when turns end, how long to wait before asking, and the settings of judge and hints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from common.phrases import joined
from engine.api import Game
from engine.values import OptionValue
from referee.clocks.control import FlagRule, TimeControl, read_control
from referee.commands.entries import PLAYERS, with_named_players
from referee.commands.values import NewGame
from referee.errors import ClockError, CorrectionError, FieldError
from referee.hints.advice import HintSettings
from referee.judge.settings import JudgeSettings, Trigger
from referee.judge.stability import STILLS, StabilitySettings
from referee.judge.starts import usual_appearance


class TurnEnd(StrEnum):
    """What ends a turn. A button press always does."""

    BUTTON = "button"
    TOUCH = "touch"
    REST = "rest"


@dataclass(frozen=True)
class ServiceSettings:
    """How the service referees.

    ``turn_end``
        ``button``: only a press ends a turn. ``touch``: touching the next player's pieces or the next roll ends it.
        ``rest``: a table unchanged for ``rest_s`` seconds ends it. A press counts in every mode.
    ``stills``
        every frame is a table at rest at the end of a turn.
    ``patience_s``
        how many seconds something may move or block the view before the referee says so. Longer: fewer messages.
    ``stall_s``
        how many seconds a square of an otherwise clear board may be unreadable before the referee asks about it.
        Longer: fewer questions, a stalled game is noticed later.
    ``hints``
        how strong hints are, or that hints are off.
    ``clock``
        the time control of a new game, ``None`` without a clock.
    ``flag``, ``clock_waits``
        the house rules for a clock that a command gives; see ``TimeControl``.
    """

    options: Mapping[str, OptionValue] = field(default_factory=dict)
    anywhere: bool = False
    turn_end: TurnEnd = TurnEnd.REST
    rest_s: float = 3.0
    stills: bool = False
    patience_s: float = 5.0
    stall_s: float = 20.0
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    hints: HintSettings = field(default_factory=HintSettings)
    clock: TimeControl | None = None
    flag: FlagRule = FlagRule.SAID
    clock_waits: bool = True

    @property
    def stability(self) -> StabilitySettings:
        """The settings of the stability filter; stills are at rest at once."""
        return STILLS if self.stills else StabilitySettings()

    def complete(self, game: Game[Any, Any], command: NewGame) -> tuple[NewGame, TimeControl | None]:
        """Return the command with the options and the ban on hints of these settings, and the game's clock.

        A clock of the command's own outranks that of the settings; the house rules hold for both. As many play as are
        named. Raises FieldError for a clock that can't be read, CorrectionError for a side that is named twice, and
        what ``with_named_players`` raises.
        """
        try:
            clock = read_control(command.clock, flag=self.flag, waits=self.clock_waits) if command.clock else self.clock
        except ClockError as error:
            raise FieldError("clock", str(error)) from error
        players = {side.lower(): name for side, name in command.players.items() if name}
        if len(players) < sum(bool(name) for name in command.players.values()):
            raise CorrectionError("a side is named twice: {names}", joined(command.players, ", "))
        options = {**self.options, **command.options}
        complete = replace(
            command,
            options=with_named_players(game, players, options, is_fixed=PLAYERS in command.options),
            players=players,
            without_hints=command.without_hints or self.hints.strength == "none",
        )
        return complete, clock

    def check_new_game(self, game: Game[Any, Any], command: NewGame) -> None:
        """Refuse a game that could never be set up on this table.

        Raises OptionError for bad options, and CorrectionError for other sheets than those that the camera looks for,
        which these settings' own options determine.
        """
        options = command.options
        missing = usual_appearance(game, options).keys() - usual_appearance(game, self.options).keys()
        printed = game.printed_sheet
        if printed is not None and (missing or printed(options) != printed(self.options)):
            raise CorrectionError(
                "the camera looks for other sheets, or fewer; change the options under [game.options] in referee.toml, "
                "and start the referee again"
            )

    def trigger_after(self, rested_s: float, *, set_up: bool) -> Trigger:
        """Return the trigger for a table that has been at rest this long, if nobody pressed a button."""
        rested = rested_s >= self.rest_s
        if not set_up or self.turn_end == TurnEnd.REST:
            return Trigger.RESTED if rested else Trigger.GLANCE
        if self.turn_end == TurnEnd.TOUCH:
            return Trigger.TOUCH_RESTED if rested else Trigger.TOUCH
        return Trigger.GLANCE
