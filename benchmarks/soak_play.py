"""One game with faults through the real service: real pictures, real reader, real loop, real journal."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any

import numpy as np

from benchmarks.soak_eyes import PerfectEyes
from engine.api import Game, OptionValue
from engine.registry import load
from hardware.panel import DriverSource, Panel
from hardware.signals import Signal
from referee.correcting import Correction
from referee.demo import enrolled_reader
from referee.events import Event
from referee.journal import BufferedJournal, Journal
from referee.service import Reader, Service
from referee.service_attention import AttentiveReader
from referee.service_loop import Surroundings, run
from referee.service_settings import ServiceSettings
from referee.verdict import Verdict
from simulator.faults import Disturbance
from simulator.faults_game import Episode, Word
from simulator.faults_table import FaultyTable, faulty_setting
from simulator.game import TurnEnd
from simulator.player import Habits
from simulator.table import VirtualTable, standard_setting
from simulator.truth import TruthLog
from simulator.viewpoint import lens
from vision.frame import Frame
from vision.looks import PieceLooks
from vision.reader import TableReader

FRAMES_PER_SECOND = 15.0
REST_S = 1.5
_DAY = datetime(2025, 1, 1, 12, tzinfo=UTC)
_HASHED_EVERY_PX = 16


@dataclass(frozen=True)
class GamePlan:
    """What one game is made of; the same plan gives the same game byte for byte."""

    seed: int
    turns: int = 40
    size: tuple[int, int] = (1280, 720)
    turn_end: TurnEnd = "button"
    side_by_side: bool = True
    kinds: tuple[str, ...] = ()
    perfect_eyes: bool = False

    @property
    def options(self) -> dict[str, OptionValue]:
        """The rule options it is played by."""
        return {"side_by_side": self.side_by_side}


def plan_of(
    seed: int, turns: int, size: tuple[int, int], kinds: tuple[str, ...] = (), *, perfect_eyes: bool = False
) -> GamePlan:
    """Draw how a game is played: two in three end turns by the button, one in five is the variant."""
    rng = np.random.default_rng([seed, 44])
    turn_end: TurnEnd = "button" if rng.random() < 2 / 3 else "rest"
    return GamePlan(seed, turns, size, turn_end, bool(rng.random() >= 0.2), kinds, perfect_eyes)


@dataclass(frozen=True)
class Said:
    """One verdict with the frame it came after."""

    sequence: int
    time_s: float
    verdict: Verdict


@dataclass
class PlayedGame:
    """Everything that is needed to score a game: what happened, and what the referee made of it."""

    plan: GamePlan
    truth: TruthLog
    said: list[Said] = field(default_factory=list)
    moods: list[tuple[float, str, str]] = field(default_factory=list)
    frames: list[tuple[int, float, float]] = field(default_factory=list)
    """Sequence, table's time and seconds of computing of every frame that reached the service."""
    words: list[Word] = field(default_factory=list)
    remarks: list[tuple[float, str]] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)
    disturbances: list[Disturbance] = field(default_factory=list)
    episodes: list[Episode] = field(default_factory=list)
    digest: str = ""


Watch = Callable[[Frame | None, list[Verdict]], None]


def _no_watch(frame: Frame | None, verdicts: list[Verdict]) -> None:
    del frame, verdicts


@dataclass
class _Ears:
    """Lets the virtual players see the lights."""

    table: FaultyTable
    moods: list[tuple[float, str, str]]
    name: str = "players"

    def show(self, signal: Signal, time_s: float) -> None:  # noqa: ARG002 - the table has its own clock
        self.table.hear(signal.mood.value, signal.words)
        self.moods.append((self.table.time_s, signal.mood.value, signal.words))

    def close(self) -> None:
        """Nothing to let go of."""


@dataclass
class _Camera:
    """The virtual camera, whose frames set the clock and are hashed."""

    table: FaultyTable
    digest: Any

    def read(self, timeout_s: float) -> Frame:
        frame = self.table.read(timeout_s)
        self.digest.update(np.ascontiguousarray(frame.image[::_HASHED_EVERY_PX, ::_HASHED_EVERY_PX]).tobytes())
        return frame


@cache
def looks_of_pieces(size: tuple[int, int]) -> PieceLooks:
    """Enrol the piece set once, on an ordinary table: as an owner does, not for each game anew."""
    return enrolled_reader(VirtualTable(1, setting=standard_setting(lens(size)))).looks


def play(plan: GamePlan, watch: Watch = _no_watch) -> PlayedGame:
    """Play and referee one game. ``watch`` sees every frame with the verdicts it led to."""
    game: Game[Any, Any] = load("deblockle")
    truth = TruthLog()
    table = FaultyTable(
        plan.seed,
        game.name,
        options=plan.options,
        turns=plan.turns,
        setting=faulty_setting(plan.seed, plan.size),
        fps=FRAMES_PER_SECOND,
        habits=Habits(pace=0.7, patience_s=4.0 if plan.turn_end == "button" else 6.0),
        turn_end=plan.turn_end,
        truth=truth,
        kinds=plan.kinds,
        pictures=not plan.perfect_eyes,
    )
    played = PlayedGame(plan, truth)
    digest = hashlib.sha256()
    reader: Reader = PerfectEyes(table, game.looks)
    if not plan.perfect_eyes:
        looks = looks_of_pieces(plan.size)
        reader = AttentiveReader(TableReader(table.calibration(), table.setting.layout, looks))

    def wall_clock() -> datetime:
        return _DAY + timedelta(seconds=round(table.time_s, 3))

    def remark(sentence: str) -> None:
        played.remarks.append((table.time_s, sentence))

    with Journal.in_memory(wall_clock=wall_clock) as opened:
        journal = BufferedJournal(opened, remark)
        panel = Panel([DriverSource("players", lambda: _Ears(table, played.moods))], lambda: table.time_s, remark)
        settings = ServiceSettings(options=plan.options, turn_end=plan.turn_end, rest_s=REST_S)
        service: Service[Any, Any] = Service(game, reader, journal, panel, settings, remark)
        began = [0.0]

        def presses() -> list[str]:
            return [press.button for press in table.take_presses()]

        def hear(frame: Frame | None, verdicts: list[Verdict]) -> None:
            computed_s = time.process_time() - began[0]
            for word in table.take_words():
                played.words.append(word)
                service.correct(Correction("player", position=word.state, why=word.why))
            if frame is not None:
                played.frames.append((frame.sequence, frame.time_s, computed_s))
            sequence = frame.sequence if frame is not None else -1
            played.said += [Said(sequence, table.time_s, verdict) for verdict in verdicts]
            watch(frame, verdicts)

        camera = _Timed(_Camera(table, digest), began)
        service.start(resume=False, seed=plan.seed)
        run(service, camera, Surroundings(table.wait, presses=presses, on_verdicts=hear))
        played.events = journal.events(service.game_number)
    for _, event in played.events:
        digest.update(json.dumps([event.kind, dict(event.data), event.frame_time_s], sort_keys=True).encode())
    played.disturbances = list(table.disturbances)
    played.episodes = list(table.episodes)
    played.digest = digest.hexdigest()
    return played


@dataclass
class _Timed:
    """Starts the watch when a frame is handed over, so that making the picture is not counted."""

    camera: _Camera
    began: list[float]

    def read(self, timeout_s: float) -> Frame:
        frame = self.camera.read(timeout_s)
        self.began[0] = time.process_time()
        return frame
