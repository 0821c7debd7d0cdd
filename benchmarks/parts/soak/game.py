"""One game with faults through the real service: real pictures, real reader, real loop, real journal."""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from app.demo.table import enrolled_appearance
from app.runtime.builder import attention, compose_reader, open_session
from app.wiring.plan import Inputs
from benchmarks.faults.answers import FaultyOptions, Override
from benchmarks.faults.disturbances import TILTS_DEG, Disturbance
from benchmarks.faults.game import Episode
from benchmarks.faults.players import Start
from benchmarks.faults.table import FaultyTable, faulty_setting
from benchmarks.parts.soak.inputs import NoCamera, PerfectReader, switches_under
from engine.api import Game
from engine.registry import load
from engine.values import OptionValue
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.signals import Signal
from journal.journal import BufferedJournal, Journal
from referee.commands.values import CommandQueue, Correct, EnterRoll, Reply
from referee.judge.starts import usual_appearance
from referee.judge.verdict import Verdict
from referee.record.events import Event
from referee.session.feed import Subscriber, signal_subscriber
from referee.session.loop import FrameSource, LoopPorts, run
from referee.session.ports import Reader, ServiceSettings, TurnEnd
from simulator.play.game import GameOptions, TruthLog
from simulator.play.game import TurnEnd as PlannedTurnEnd
from simulator.play.players import Habits
from simulator.scene.paper import is_of_paper, on_paper
from simulator.scene.scene import Setting, lens
from simulator.table import VirtualTable, standard_setting
from vision.frame import Frame
from vision.geometry import Pose
from vision.layout.kit import has_kit, kit_of
from vision.learned_cameras import LearnedCameras
from vision.readers.learning_reader import LearningReader
from vision.readers.protocols import LearnedLook
from vision.readers.registry import printed_appearance, table_reader

FRAMES_PER_SECOND = 15.0
REST_S = 1.5
_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)
_HASHED_EVERY_PX = 16
_TURN_ENDS: tuple[PlannedTurnEnd, ...] = ("button", "rest", "button", "touch")


@dataclass(frozen=True)
class GamePlan:
    """The plan of a game; the same plan gives the same game byte for byte."""

    seed: int
    turns: int = 40
    size: tuple[int, int] = (1280, 720)
    turn_end: PlannedTurnEnd = "button"
    side_by_side: bool = True
    kinds: tuple[str, ...] = ()
    perfect_reader: bool = False
    blocks: tuple[int, int] = (4, 4)
    start: Start = "usual"
    inputs: Inputs = Inputs.CAMERA
    game: str = "deblockle"
    always_paper: bool = False
    untaught: bool = False
    """Whether camera and colours are learned from what the table shows, instead of calibrated and enrolled.

    The camera is then tilted as the first page of a kit asks.
    """

    @property
    def print_seed(self) -> int | None:
        """The seed of the paper kit that is played with; ``None`` for ordinary pieces."""
        of_paper = has_kit(self.game) if self.always_paper else is_of_paper(self.seed, self.game)
        return self.seed if of_paper else None

    @property
    def setting(self) -> Setting:
        """The table at the start."""
        sheets = self.sheets if load(self.game).has_sheets else None
        return _setting(self.seed, self.size, self.game, sheets, self.print_seed, as_told=self.untaught)

    @property
    def sheets(self) -> int:
        """Number of sheets, one for each player: 2 to 4."""
        return 2 + self.seed % 3

    @property
    def options(self) -> dict[str, OptionValue]:
        """The rule options."""
        if self.game != "deblockle":
            return {"players": self.sheets} if load(self.game).has_sheets else {}
        options: dict[str, OptionValue] = {"side_by_side": self.side_by_side}
        if self.start == "usual":
            options |= {"blocks_gold": self.blocks[0], "blocks_teal": self.blocks[1]}
        return options


def plan_of(
    seed: int,
    turns: int,
    size: tuple[int, int],
    kinds: tuple[str, ...] = (),
    *,
    perfect_reader: bool = False,
    inputs: Inputs = Inputs.CAMERA,
    game: str = "deblockle",
    always_paper: bool = False,
    untaught: bool = False,
) -> GamePlan:
    """Plan the game of a seed; consecutive seeds cover all kinds of games.

    Half of the games end turns by the button, a quarter each by rest and by touch. One in five is a variant, one in
    four gives a player fewer blocks, and one in five starts from agreed squares. Sensors alone can't tell whose block
    stands where, so they get neither agreed squares nor turns that end by touch.
    """
    # All players write at once, so no touch ends a turn.
    by_touch = inputs is not Inputs.SENSORS and not load(game).has_sheets
    turn_ends = _TURN_ENDS if by_touch else ("button", "rest", "button", "rest")
    plan = GamePlan(
        seed,
        turns,
        size,
        turn_ends[seed % 4],
        kinds=kinds,
        perfect_reader=perfect_reader,
        inputs=inputs,
        game=game,
        always_paper=always_paper,
        untaught=untaught,
    )
    if game != "deblockle":
        return plan
    start: Start = "cornered" if seed % 10 == 3 else "agreed" if seed % 10 == 7 else "usual"
    if inputs is Inputs.SENSORS:
        start = "usual"
    blocks = (2 + seed // 16 % 3, 3) if seed // 4 % 4 == 1 else (4, 4)
    # If one player must pass, the other's turn can't end by that player's touch.
    turn_end = "rest" if start == "cornered" else plan.turn_end
    return replace(plan, turn_end=turn_end, side_by_side=seed % 5 != 0, blocks=blocks, start=start)


@dataclass(frozen=True)
class TimedVerdict:
    """A verdict with the frame it followed."""

    sequence: int
    time_s: float
    verdict: Verdict


@dataclass
class GameRecord:
    """Everything needed to score a game: what happened, and what the referee said."""

    plan: GamePlan
    truth: TruthLog
    said: list[TimedVerdict] = field(default_factory=list)
    pending: list[tuple[float, tuple[str, ...]]] = field(default_factory=list)
    """Times, and the turns that the referee knew then and that waited for the next player's touch."""
    moods: list[tuple[float, str, str]] = field(default_factory=list)
    frames: list[tuple[int, float, float]] = field(default_factory=list)
    """Sequence, virtual time and processor time in seconds of every frame that reached the service."""
    overrides: list[tuple[Override, Reply]] = field(default_factory=list)
    """A person's corrections, and the replies."""
    remarks: list[tuple[float, str]] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    disturbances: list[Disturbance] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    sensor_errors: list[tuple[float, frozenset[str]]] = field(default_factory=list)
    """Times, and the places whose switches were wrong then."""
    digest: str = ""

    def pose_at(self, time_s: float) -> Pose:
        """The camera's pose at a time."""
        moved = [one.pose for one in self.disturbances if one.pose is not None and one.began_s <= time_s]
        return moved[-1] if moved else self.plan.setting.pose


Watch = Callable[[Frame | None, list[Verdict]], None]


@dataclass
class _SignalTap:
    """A light driver that shows signals to the virtual players."""

    table: FaultyTable
    moods: list[tuple[float, str, str]]
    name: str = "players"

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the table has its own clock
        self.table.show_mood(signal.mood.value, signal.words)
        self.moods.append((self.table.time_s, signal.mood.value, signal.words))

    def close(self) -> None:
        """Nothing to close."""


@dataclass
class _Camera:
    """The virtual camera, whose frames are hashed.

    It starts timing after each frame, or after a failure to give one, so that rendering isn't counted.
    """

    source: FrameSource
    digest: Any
    began_s: float = 0.0

    def read(self, timeout_s: float) -> Frame:
        try:
            frame = self.source.read(timeout_s)
            self.digest.update(np.ascontiguousarray(frame.image[::_HASHED_EVERY_PX, ::_HASHED_EVERY_PX]).tobytes())
            return frame
        finally:
            self.began_s = time.process_time()


@lru_cache(maxsize=4)
def _setting(
    seed: int, size: tuple[int, int], game: str, sheets: int | None, print_seed: int | None, *, as_told: bool
) -> Setting:
    told = kit_of(game).tilts_deg if as_told and has_kit(game) else None
    setting = faulty_setting(seed, size, game, sheets, told or TILTS_DEG)
    return setting if print_seed is None else on_paper(setting, print_seed)


@cache
def looks_of_pieces(size: tuple[int, int], game: str = "deblockle", print_seed: int | None = None) -> LearnedLook:
    """Enrol the piece set once, on an ordinary table, as an owner does; with a seed, that of its paper kit."""
    setting = standard_setting(lens(size), game=game)
    if print_seed is not None:
        setting = on_paper(setting, print_seed)
    return enrolled_appearance(VirtualTable(1, GameOptions(game), setting=setting))


Attend = Callable[[Game[Any, Any], CommandQueue], AbstractContextManager[Sequence[Subscriber]]]
"""Opens further subscribers during a game, given the game and its command queue."""


def play(
    plan: GamePlan,
    watch: Watch = lambda *_: None,
    attend: Attend = lambda *_: nullcontext(()),
    journal_file: Path | None = None,
) -> GameRecord:
    """Play and referee one game.

    ``watch`` gets every frame with its verdicts; ``attend`` opens further subscribers. The journal is in memory unless
    a file is given, to which the game is added.
    """
    game: Game[Any, Any] = load(plan.game)
    truth = TruthLog()
    options = FaultyOptions(
        game.name,
        plan.options,
        plan.turns,
        Habits(
            by_occupancy=plan.inputs is Inputs.SENSORS,
            patience_s=4.0 if plan.turn_end == "button" else 6.0,
            pace=0.7,
        ),
        plan.turn_end,
        plan.kinds,
        plan.start,
    )
    table = FaultyTable(
        plan.seed,
        options,
        setting=plan.setting,
        fps=FRAMES_PER_SECOND,
        truth=truth,
        pictures=not plan.perfect_reader and plan.inputs is not Inputs.SENSORS,
    )
    played = GameRecord(plan, truth)
    digest = hashlib.sha256()
    switches = switches_under(table, plan.turns)
    played.sensor_errors = switches.sensor_errors
    seen = _seen(plan, table, game)
    reader = compose_reader(game, seen, None if plan.inputs is Inputs.CAMERA else switches)

    def wall_clock() -> datetime:
        return _DAY + timedelta(seconds=round(table.time_s, 3))

    def remark(sentence: str) -> None:
        played.remarks.append((table.time_s, sentence))

    kept = Journal.in_memory if journal_file is None else partial(Journal.open, journal_file)
    with kept(wall_clock=wall_clock) as opened:
        journal = BufferedJournal(opened, remark)
        panel = Panel([DriverSource("players", lambda: _SignalTap(table, played.moods))], lambda: table.time_s, remark)
        settings = ServiceSettings(
            options=plan.options, turn_end=TurnEnd(plan.turn_end), rest_s=REST_S, anywhere=plan.start != "usual"
        )
        commands = CommandQueue(lambda: table.time_s)

        def buttons() -> list[str]:
            return [press.button for press in table.take_presses()]

        def answered(word: Override, reply: Reply | None) -> None:
            if reply is not None:
                played.overrides.append((word, reply))

        def on_verdicts(frame: Frame | None, verdicts: list[Verdict]) -> None:
            computed_s = time.process_time() - camera.began_s
            for word in table.take_overrides():
                said = Correct("player", dict(word.looks), word.state, word.to_move, word.why)
                commands.submit(said, partial(answered, word))
            for roll in table.take_rolls():
                commands.submit(EnterRoll(",".join(roll.faces), "player"))
            if frame is not None:
                played.frames.append((frame.sequence, frame.time_s, computed_s))
            sequence = frame.sequence if frame is not None else -1
            played.said += [TimedVerdict(sequence, table.time_s, verdict) for verdict in verdicts]
            if isinstance(seen, LearningReader) and verdicts and not service.belief:
                seen.forget()
            if service.pending:
                played.pending.append((table.time_s, service.pending))
            watch(frame, verdicts)

        source = NoCamera(table) if plan.inputs is Inputs.SENSORS else table
        camera = _Camera(source, digest)
        with (
            attend(game, commands) as others,
            open_session(
                game,
                reader,
                journal,
                settings,
                subscribers=(signal_subscriber(panel), *others),
                say=remark,
                resume=False,
                seed=plan.seed,
            ) as service,
        ):
            run(service, camera, LoopPorts(table.wait, commands, buttons, on_verdicts))
            played.events = journal.events(service.game_number)
    for _, event in played.events:
        digest.update(json.dumps([event.kind, dict(event.data), event.frame_time_s], sort_keys=True).encode())
    played.disturbances = list(table.disturbances)
    played.episodes = list(table.episodes)
    played.digest = digest.hexdigest()
    return played


def _seen(plan: GamePlan, table: FaultyTable, game: Game[Any, Any]) -> Reader | None:
    """Return the reader of pictures, ``None`` without a camera."""
    if plan.inputs is Inputs.SENSORS:
        return None
    if plan.perfect_reader:
        return PerfectReader(table, game.looks)
    layout, attended = table.setting.layout, attention(game)
    if not plan.untaught or plan.start != "usual":
        looks: LearnedLook | None = looks_of_pieces(plan.size, plan.game, plan.print_seed)
        if plan.untaught and plan.print_seed is not None:
            looks = printed_appearance(kit_of(plan.game))
        camera = LearnedCameras(layout) if plan.untaught else table.calibration()
        return table_reader(camera, layout, looks, attention=attended)
    if game.has_sheets:
        return table_reader(LearnedCameras(layout), layout, None, attention=attended)
    start = usual_appearance(game, plan.options)
    return LearningReader(LearnedCameras(layout), layout, start, attention=attended)
