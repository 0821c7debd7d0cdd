"""The interfaces that a session needs from its reader, journal and display, and its settings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from common.phrases import joined
from engine.api import Game
from engine.values import Appearance, OptionValue, Place
from hardware.lights.signals import Signal
from referee.clocks import FlagRule, TimeControl, read_control
from referee.commands.entries import PLAYERS, with_named_players
from referee.commands.values import NewGame
from referee.errors import ClockError, CorrectionError, FieldError, JournalError
from referee.hints.hint_settings import HintSettings
from referee.judge.belief import Belief
from referee.judge.settings import JudgeSettings
from referee.judge.stability import STILLS, StabilitySettings
from referee.judge.starts import usual_appearance
from referee.judge.verdict import Ruling, VerdictKind
from referee.record.events import Event, Evidence
from referee.session.turn_settings import TurnSettings
from vision.errors import FrameError, NotLocatedError
from vision.frame import Frame, Image
from vision.reading import Hindrance, HindranceKind, Reading


class Reader(Protocol):
    """Turns frames into Readings, and cuts out pictures of places."""

    def read(self, frame: Frame) -> Reading:
        """Read a frame; raises FrameError or NotLocatedError for an unusable one."""

    def crop(self, frame: Frame, place: str) -> Image:
        """Return a small rectified picture of a place; raises a VisionError if the table isn't located."""


@runtime_checkable
class BeliefListener(Protocol):
    """A reader that learns from what was accepted, such as one with sensors."""

    def on_accepted(self, appearance: Appearance) -> None:
        """Learn from an appearance that the table showed and the judge accepted."""


class Recorded(Protocol):
    """What was recorded so far."""

    def events(self, game: int | None = None) -> list[tuple[int, Event]]:
        """List (number, event) pairs in order."""

    def latest_game(self) -> int | None:
        """Return the number of the latest game."""


class Recorder(Recorded, Protocol):
    """What the service needs from a journal, provided by ``Journal`` and ``BufferedJournal``."""

    @property
    def trouble(self) -> JournalError | None:
        """Why events can't be written, ``None`` if they can."""

    def retry(self) -> bool:
        """Try to write again what could not be written; returns whether that has just succeeded."""

    def append(self, event: Event, evidence: Sequence[Evidence] = ()) -> int:
        """Record one event and return its number; durable on return, unless there is ``trouble``."""

    def beginnings(self) -> list[Event]:
        """List how the newest games with names or turns began, those of a year of evenings, the newest first."""


RestoreSensorAt = Callable[[Place], str]
"""Switches a sensor on again and returns the reply; raises CorrectionError if the sensor wasn't off."""


def no_sensors(place: Place) -> str:
    """Raise CorrectionError, since there are no sensors."""
    raise CorrectionError("this referee has no sensors, so none under {place}", place)


class Display(Protocol):
    """Shows signals; ``hardware.lights.panel.Panel`` is one."""

    def show(self, signal: Signal, time_s: float | None = None) -> None:
        """Show a signal in place of the previous one."""


_AS_BELIEVED = frozenset({VerdictKind.SET_UP, VerdictKind.ACCEPTED, VerdictKind.UNCHANGED, VerdictKind.PUT_RIGHT})
"""The verdicts on a table that looks as believed."""


def notify_reader(reader: object, game: Game[Any, Any], belief: Belief[Any, Any], ruling: Ruling) -> None:
    """Tell a BeliefListener about a table that looks as believed; other readers and rulings are ignored."""
    if not (isinstance(reader, BeliefListener) and belief.states and ruling.verdicts):
        return
    if ruling.verdicts[-1].kind in _AS_BELIEVED:
        # On overridden places, the pieces may not have been moved yet.
        against = belief.override.ignored
        appearance = game.table.appearance(belief.states[0])
        reader.on_accepted({place: look for place, look in appearance.items() if place not in against})


def read_or_hindered(reader: Reader, frame: Frame) -> Reading:
    """Read a frame. An unusable frame results in a Reading without places that says why."""
    try:
        return reader.read(frame)
    except NotLocatedError as error:
        hindrance = Hindrance(HindranceKind.NOT_LOCATED, str(error))
    except FrameError as error:
        hindrance = Hindrance(HindranceKind.BAD_FRAME, str(error))
    return Reading(frame.sequence, frame.time_s, {}, (hindrance,))


class TurnEnd(StrEnum):
    """What ends a turn. A button press always does."""

    BUTTON = "button"
    TOUCH = "touch"
    REST = "rest"


_TURN = TurnSettings()
_TURN_END = TurnEnd(_TURN.end)


class GameChangedError(Exception):
    """Ends the loop: the journal's newest game is another one, for which the table has to be laid out anew."""


@dataclass(frozen=True)
class ServiceSettings:
    """How the service referees.

    ``turn_end``
        ``button``: only a press ends a turn. ``touch``: touching the next player's pieces or the next roll ends it.
        ``rest``: a table unchanged for ``rest_s`` seconds ends it. A press counts in every mode.
    ``stills``
        every frame is a table at rest at the end of a turn.
    ``patience_s``
        how many seconds something may move or block the view, or the light may hide a square, before the referee says
        so. Longer: fewer messages.
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
    turn_end: TurnEnd = _TURN_END
    rest_s: float = _TURN.rest_s
    stills: bool = False
    patience_s: float = 5.0
    stall_s: float = 20.0
    judge: JudgeSettings = field(default_factory=JudgeSettings)
    hints: HintSettings = field(default_factory=HintSettings)
    clock: TimeControl | None = None
    flag: FlagRule = TimeControl.flag
    clock_waits: bool = TimeControl.waits

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


SettingsForGame = Callable[[Game[Any, Any], Mapping[str, OptionValue]], ServiceSettings]
"""Returns the settings with which another game, with these options, would be refereed at this table; raises
CorrectionError that says what its table lacks, and OptionError."""
