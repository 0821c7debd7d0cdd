"""The demo's table: its game, rules and players, its camera and clock, and the reader enrolled on it.

The players choose turns by short hints. Their work is counted instead of timed, so that a seed gives the same game on
every machine; one of them searches deeper than the other. A person answers questions.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from types import MappingProxyType
from typing import Any

from app.settings.settings import DemoSection
from app.settings.table_layout import with_rules
from app.wiring.plan import Inputs
from common.phrases import Phrase
from engine.api import Game
from engine.search.budget import CountingClock
from engine.values import OptionValue, Strength
from frontends.languages import Say
from frontends.mqtt.options import MqttOptions
from frontends.page.settings import PageOptions
from frontends.table_port import MaintenanceBuilder, SnapshotHub
from referee.clocks import TimeControl
from referee.commands.values import Command, Correct, EnterTurn, Reply, Respond
from referee.hints.hint_settings import HintSettings
from referee.hints.opponent import ImmediateHints, Opponent, OpponentSettings
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.fold import Intention
from simulator.microcontroller.wire import WireFaults
from simulator.play.game import GameOptions, TruthLog
from simulator.play.players import HANDLERS, Choose, Habits
from simulator.scene.paper import is_of_paper, on_paper
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame
from vision.layout.pieces import Ink
from vision.layout.table import default_layout
from vision.locating.location import locate
from vision.motion.changes import Attention
from vision.readers.protocols import EnrolmentPicture, LearnedLook
from vision.readers.registry import is_readable, reader_kind, table_reader
from vision.readers.table_reader import TableReader

_WORK_S = 0.05
_STEP_S = 0.0001
"""A hint reads its clock at most ``_WORK_S / _STEP_S`` times: tenths of a second on a small computer."""


def thinking_players(game: Game[Any, Any], seed: int) -> Choose:
    """Return the function that chooses turns; the seed decides which player is stronger, so that games end."""
    rng = Random(seed)
    better = game.players[seed % 2]

    earlier: list[Any] = []

    def choose(state: Any) -> Any:
        strength = Strength.STRONG if state.to_move == better else Strength.GENTLE
        hint = game.advice.hint(state, _WORK_S, rng, clock=CountingClock(_STEP_S), strength=strength, earlier=earlier)
        earlier.append(state)
        return hint.turn

    return choose


def deterministic_opponent(game: Game[Any, Any], settings: OpponentSettings) -> Opponent:
    """Return the program as an opponent that searches as deep as the demo's players; raises ConfigError."""
    return Opponent(
        game, OpponentSettings(settings.player, settings.strength, _WORK_S), ImmediateHints(CountingClock(_STEP_S))
    )


def follow_intentions(game: Game[Any, Any], choose: Choose | None, meant: Callable[[], Intention | None]) -> Choose:
    """Make the players play the turn that the program announces, else ``choose``; ``None`` for random turns."""

    def choose_or_obey(state: Any) -> Any:
        intention = meant()
        if intention is not None and intention.player == state.to_move:
            return game.notation.parse_turn(state, intention.turn, intention.player)
        return None if choose is None else choose(state)

    return choose_or_obey


_NAME = "onlooker"


@dataclass
class AnsweringPerson:
    """Answers questions that the sensors leave open, as a person does with ``table correct`` and ``turn``.

    ``truth`` is what really happened. ``say`` is called when an answer is refused. ``tells_set_up``: the referee only
    senses occupied squares, so it has to be told how the pieces lie.
    """

    submit: Callable[[Command, Respond], object]
    truth: TruthLog
    say: Callable[[str], object]
    tells_set_up: bool = True
    _turns_reported: int = 0

    def answer(self, verdicts: Sequence[Verdict]) -> None:
        """Answer the questions in these verdicts."""
        for verdict in verdicts:
            if verdict.kind is VerdictKind.SET_UP and self.tells_set_up:
                self._ask(Correct(by=_NAME, position=self.truth.start, why="this is how they lie"))
            elif verdict.kind is VerdictKind.ACCEPTED:
                # a player who passes changes no place
                self._turns_reported += len(verdict.turns) if verdict.places else 0
            elif verdict.kind is VerdictKind.AMBIGUOUS and len(self.truth.played) > self._turns_reported:
                played = self.truth.played[self._turns_reported]
                self._ask(EnterTurn(played.turn, _NAME, played.player))

    def _ask(self, command: Command) -> None:
        def on_reply(reply: Reply | None) -> None:
            if reply is None:
                return
            if reply.refused:
                self.say(Phrase("The onlooker's answer was refused: {words}", reply.words))
            else:
                # the service itself reports what a person entered
                self._turns_reported += isinstance(command, EnterTurn)

        self.submit(command, on_reply)


FRAMES_PER_SECOND = 15.0
GAMES = tuple(game for game in HANDLERS if is_readable(default_layout(game)))
"""Games that can be played on the virtual table and read by a camera."""
_WRITERS = 2
"""Number of sheets in the demo of a game that is written."""
_SHORT: Mapping[str, Mapping[str, OptionValue]] = MappingProxyType({"deblockle": {"blocks_gold": 2, "blocks_teal": 2}})
"""Options with which thinking players reach the end within the usual number of turns."""


_DEMO = DemoSection()


@dataclass(frozen=True)
class DemoOptions:
    """What is played and how it is shown.

    ``turns`` is the most turns played. With ``random``, the players choose any legal turn instead of what a hint would
    give. ``fast`` runs faster than real time. Without ``journal`` it is in a new temporary folder. ``lights`` is
    ``terminal``, ``none`` (verdicts only) or ``pico`` (a virtual microcontroller's, on a real pseudo-terminal).
    ``inputs`` are the ``camera``, ``sensors`` under the squares, or ``both``. ``link_faults`` apply to the wire to the
    microcontroller. ``keys`` are lines typed by a person, of which ``h`` asks for a hint; ``None`` without a person.
    ``clock`` is the players' time control; the program plays the side of ``opponent``. With a ``page`` the demo keeps
    showing the end of the game until it is stopped. ``mqtt`` is the broker to tell. ``say`` translates what is shown.
    ``rules`` are those of a game that was begun on the page.
    """

    game: str = "deblockle"
    seed: int = _DEMO.seed
    turns: int = _DEMO.turns
    random: bool = False
    fast: bool = _DEMO.fast
    journal: Path | None = None
    lights: str = "terminal"
    inputs: Inputs = Inputs.CAMERA
    link_faults: WireFaults | None = None
    hints: HintSettings = field(default_factory=HintSettings)
    clock: TimeControl | None = None
    opponent: OpponentSettings | None = None
    keys: Iterable[str] | None = None
    page: PageOptions | None = None
    mqtt: MqttOptions | None = None
    maintenance: MaintenanceBuilder | None = None
    say: Say = str
    rules: Mapping[str, OptionValue] | None = None

    @property
    def needs_board(self) -> bool:
        """Whether there is a microcontroller on the table."""
        return self.lights == "pico" or self.inputs != Inputs.CAMERA


def demo_rules(options: DemoOptions, game: Game[Any, Any]) -> dict[str, OptionValue]:
    """Return the game's options in the demo, unless a person chose them.

    They are the defaults for random turns, and those of a short game if it should reach its end.
    """
    if options.rules is not None:
        return dict(options.rules)
    if game.has_sheets:
        return {"players": _WRITERS}
    return {} if options.random else dict(_SHORT.get(game.name, {}))


def demo_table(options: DemoOptions, game: Game[Any, Any], truth: TruthLog, snapshots: SnapshotHub) -> VirtualTable:
    """Return the virtual table with its players; they play the program's turn when ``snapshots`` announce one."""

    def meant() -> Intention | None:
        return None if snapshots.newest is None else snapshots.newest.snapshot.intention

    rules = demo_rules(options, game)
    choose = None if options.random else thinking_players(game, options.seed)
    if options.opponent is not None:
        choose = follow_intentions(game, choose, meant)
    # the usual table with an uncompressed picture, since none is sent over a cable
    setting = standard_setting(layout=with_rules(default_layout(game.name), game, rules))
    if is_of_paper(options.seed, game.name):
        setting = on_paper(setting, options.seed)
    # without a camera, the players only make violations that switches can sense
    habits = Habits(by_occupancy=options.inputs == Inputs.SENSORS)
    return VirtualTable(
        options.seed,
        GameOptions(game.name, rules, turns=options.turns, habits=habits, choose=choose),
        setting=replace(setting, sensor=replace(setting.sensor, jpeg_quality=None)),
        fps=FRAMES_PER_SECOND,
        truth=truth,
    )


_VIRTUAL_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)


@dataclass
class VirtualClock:
    """A clock that shows the time of the newest frame."""

    time_s: float = 0.0
    _before_s: float = 0.0

    def begin_again(self) -> None:
        """Begin to count again, for another table on the same day."""
        self._before_s, self.time_s = self._before_s + self.time_s, 0.0

    def read(self) -> float:
        """Return that time in seconds."""
        return self.time_s

    def wall_clock(self) -> datetime:
        """Return a date and time on a fixed day."""
        return _VIRTUAL_DAY + timedelta(seconds=round(self._before_s + self.time_s, 3))


class Pace:
    """Keeps virtual time from running ahead of real time."""

    def __init__(self) -> None:
        self._began_s: float | None = None

    def keep(self, time_s: float) -> None:
        """Wait until real time has reached this virtual time."""
        if self._began_s is None:
            self._began_s = time.monotonic() - time_s
        time.sleep(max(0.0, self._began_s + time_s - time.monotonic()))


@dataclass
class ClockedCamera:
    """The virtual camera, which sets the clock by its frames; ``taken`` is called after each."""

    table: VirtualTable
    now: VirtualClock
    taken: Callable[[], None]

    def read(self, timeout_s: float) -> Frame:
        """Take the next frame; raises EndOfFramesError when there is none."""
        frame = self.table.read(timeout_s)
        self.now.time_s = frame.time_s
        self.taken()
        return frame


def enrolled_reader(table: VirtualTable, attention: Attention) -> TableReader:
    """Make a reader as an owner would: calibrated camera, measured layout, looks from pictures of known pieces."""
    return table_reader(table.calibration(), table.setting.layout, enrolled_appearance(table), attention=attention)


def enrolled_appearance(table: VirtualTable) -> LearnedLook:
    """Learn the pieces' appearance from pictures of known positions; ink needs none."""
    camera, layout = table.calibration(), table.setting.layout
    if isinstance(layout.board.pieces, Ink):
        plain: LearnedLook = reader_kind(layout).plain(layout.board)
        return plain
    pictures = [
        EnrolmentPicture(
            picture.image,
            camera,
            locate(picture.image, camera, layout).pose,
            picture.position,
            picture.name,
            layout.markers,
        )
        for picture in table.enrolment_pictures()
    ]
    appearance: LearnedLook = reader_kind(layout).enrol(pictures, layout.board)
    return appearance
