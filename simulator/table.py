"""The virtual table: a camera and a button for the referee, two players behind them.

To the referee it is a camera (``read``, ``close``) with a button (``take_presses``) whose players see what the
table shows (``hear``). What really happened goes into a ``TruthLog`` that the caller passes in and keeps to itself.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Literal, Self

import numpy as np

from engine.api import OptionValue
from engine.registry import load
from simulator.actions import Action, Standing
from simulator.coverage import Coverage
from simulator.enrolment import EnrolmentImage, charuco_views, enrolment_images
from simulator.player import Habits, Players
from simulator.render import Renderer
from simulator.scene import BlockPose, Colour, Scene, Sensor, Setting, Thing
from simulator.timeline import Arm, Choreography, Moment, Stretch
from simulator.truth import FrameTruth, TruthEvent, TruthLog
from simulator.viewpoint import lens, looking_at
from vision.errors import EndOfFramesError
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose

TurnEnd = Literal["button", "rest", "touch"]

_SKINS: tuple[Colour, ...] = ((0.52, 0.63, 0.84), (0.42, 0.54, 0.76), (0.25, 0.36, 0.55), (0.6, 0.72, 0.9))
_SLEEVES: tuple[Colour | None, ...] = ((0.35, 0.2, 0.15), (0.12, 0.12, 0.5), None, (0.3, 0.32, 0.3))
_PRESS_AFTER_S = 0.25
_POLL_S = 0.1


@dataclass(frozen=True, eq=False)
class Nudge:
    """From ``time_s`` on the camera sees the table from another pose: somebody bumped into one of them."""

    time_s: float
    pose: Pose


@dataclass(frozen=True)
class Press:
    """A button that was pressed: when, and which."""

    time_s: float
    button: str = "end turn"


def standard_setting(camera: CameraModel | None = None, pose: Pose | None = None) -> Setting:
    """A wooden table under one lamp, seen from the first player's side, tilted a little."""
    return Setting(camera or lens(), pose or looking_at(), sensor=Sensor(jpeg_quality=92))


class VirtualTable:
    """One game on a virtual table, from one seed.

    Frame ``k`` is taken at ``k / fps`` seconds. The same arguments, and the same things heard between the same
    frames, give the same frames byte for byte. ``turn_end`` tells whether the players press the button. After
    ``turns`` legal turns, or when the game is over, the table lies still for a while and the frames end.
    """

    def __init__(
        self,
        seed: int,
        game_name: str = "deblockle",
        *,
        options: Mapping[str, OptionValue] | None = None,
        turns: int = 12,
        setting: Setting | None = None,
        fps: float = 15.0,
        habits: Habits | None = None,
        turn_end: TurnEnd = "button",
        things: tuple[Thing, ...] = (),
        nudges: tuple[Nudge, ...] = (),
        truth: TruthLog | None = None,
    ) -> None:
        if turns < 0:
            raise ValueError(f"{turns} turns asked for; expected 0 or more")
        if not fps > 0:
            raise ValueError(f"{fps} frames a second asked for; expected more than 0")
        self.seed = seed
        self.fps = fps
        self._setting = setting or standard_setting()
        self._habits = habits or Habits()
        self._turns = turns
        self._turn_end = turn_end
        self._things = things
        self._settings = [(0.0, self._setting)]
        for nudge in sorted(nudges, key=lambda one: one.time_s):
            self._settings.append((nudge.time_s, replace(self._setting, pose=nudge.pose)))
        self._game = load(game_name)
        self._rng = np.random.default_rng([seed, 11])
        layout = self._setting.layout
        self._players = Players(self._game, layout, self._habits, self._rng, options)
        self._choreography = Choreography(layout, self._arms(), self._habits.pace)
        self._renderer = Renderer(seed)
        self._truth = truth
        self._coverages: dict[int, Coverage] = {}
        if truth is not None:
            truth.start = self._game.format_state(self._players.state)
        self._heard: list[tuple[float, str]] = []
        self._presses: list[Press] = []
        self._taken = 0
        self._sequence = 0
        self._script = self._play()
        self._planned_s = 0.0
        self._began_s = 0.0
        self._stretch: Stretch | None = None
        self._ended = False

    def _arms(self) -> dict[str, Arm]:
        skins = self._rng.permutation(len(_SKINS))
        sleeves = self._rng.permutation(len(_SLEEVES))
        arms: dict[str, Arm] = {}
        for index, player in enumerate(self._game.players):
            sleeve_from = float(self._rng.uniform(0.1, 0.7))
            skin, sleeve = _SKINS[int(skins[index])], _SLEEVES[int(sleeves[index])]
            arms[player] = Arm(-1 if index == 0 else 1, skin, sleeve, sleeve_from)
        return arms

    @property
    def name(self) -> str:
        """What the referee may call this camera."""
        return f"virtual table {self.seed}"

    @property
    def setting(self) -> Setting:
        """The table's setting: what an owner can measure (layout) and what the camera is."""
        return self._setting

    def calibration(self) -> CameraModel:
        """The camera's exact model."""
        return self._setting.camera

    @property
    def presses(self) -> tuple[Press, ...]:
        """Every press of the button up to the newest frame."""
        now = self._sequence / self.fps
        return tuple(press for press in self._presses if press.time_s <= now)

    def take_presses(self) -> tuple[Press, ...]:
        """The presses up to the newest frame that were not taken yet."""
        everything = self.presses
        new = everything[self._taken :]
        self._taken = len(everything)
        return new

    def hear(self, mood: str, words: str = "") -> None:  # noqa: ARG002 - people read the words; these players don't
        """Let the players see what the table shows now: the status light's mood and the sentence with it."""
        now = self._sequence / self.fps
        self._heard.append((now, mood))
        if self._truth is not None:
            self._truth.answers.append((now, mood))

    def read(self, timeout_s: float = 0.0) -> Frame:  # noqa: ARG002 - the virtual table never keeps anyone waiting
        """Take the next frame; raises EndOfFramesError when the game is over and the camera was switched off."""
        time_s = self._sequence / self.fps
        moment = self._moment(time_s)
        if moment is None:
            raise EndOfFramesError(f"{self.name} has given all its {self._sequence} frames")
        setting = self._setting_at(time_s)
        scene = Scene(setting, moment.blocks, moment.hands, self._things)
        image = self._renderer.render(scene, self._sequence)
        frame = Frame(image, time_s, self._sequence, self.name)
        self._note_frame(frame, moment, setting)
        self._sequence += 1
        return frame

    def _setting_at(self, time_s: float) -> Setting:
        return [setting for since_s, setting in self._settings if since_s <= time_s][-1]

    def enrolment_images(self) -> tuple[EnrolmentImage, ...]:
        """A picture of each block colour's six tops on known squares, by this camera on this table."""
        return enrolment_images(self._setting, self.seed, self._habits.slack)

    def charuco_views(self, count: int) -> tuple[Image, ...]:
        """Pictures of a calibration board by this camera."""
        return charuco_views(self._setting.camera, count, self.seed)

    def frames(self) -> Iterator[Frame]:
        """Every frame until the end."""
        while True:
            try:
                yield self.read()
            except EndOfFramesError:
                return

    def close(self) -> None:
        """Switch the camera off; every read after it raises EndOfFramesError."""
        self._ended = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _moment(self, time_s: float) -> Moment | None:
        while not self._ended and (self._stretch is None or time_s >= self._planned_s):
            following = next(self._script, None)
            if following is None:
                self._ended = True
                break
            self._stretch = following
            self._began_s = self._planned_s
            self._planned_s += following.duration_s
        if self._ended or self._stretch is None:
            return None
        return self._choreography.moment(self._stretch, time_s - self._began_s)

    def _play(self) -> Iterator[Stretch]:
        """The game as stretches, each made only when the one before is over, so that the players can react."""
        habits, players = self._habits, self._players
        yield self._still(2 * habits.settle_s)
        for _ in range(self._turns):
            if players.is_over:
                break
            if players.happens(habits.straighten_share):
                yield from self._perform(players.straighten())
                yield self._still(habits.settle_s)
            if players.happens(habits.rest_share):
                yield from self._perform(players.rest_hand())
            if players.happens(habits.misdeed_share):
                yield from self._cheat()
            if players.happens(habits.try_out_share):
                yield from self._perform(players.try_out())
                yield self._still(habits.settle_s)
            yield from self._take_turn()
        yield self._still(3 * habits.settle_s)

    def _take_turn(self) -> Iterator[Stretch]:
        players = self._players
        state, before = players.state, players.standing
        action = players.turn()
        yield from self._perform(action)
        answer = yield from self._answer()
        if answer == "fault":
            yield from self._perform(players.undo(before, state, action.player))
            yield self._still(2 * self._habits.settle_s)

    def _cheat(self) -> Iterator[Stretch]:
        players = self._players
        before = players.standing
        action = players.misdeed()
        if action is None:
            return
        yield from self._perform(action)
        yield from self._answer()
        yield self._still(self._habits.pause_s)
        yield from self._perform(players.put_right(before, action.player))
        yield self._still(2 * self._habits.settle_s)

    def _still(self, duration_s: float) -> Stretch:
        return self._choreography.still(self._players.standing, duration_s)

    def _perform(self, action: Action) -> Iterator[Stretch]:
        players = self._players
        began_s = self._planned_s
        standing = players.standing
        rest_at = None if action.carries else players.resting_place(action.player)
        yield from self._choreography.stretches(standing, action, rest_at)
        players.perform(action)
        gone_s = self._planned_s
        ended_s = gone_s + _PRESS_AFTER_S if action.ends_turn else None
        self._note_event(action, standing, began_s, gone_s, ended_s)
        if ended_s is not None:
            if self._turn_end == "button":
                self._presses.append(Press(ended_s))
            yield self._still(_PRESS_AFTER_S)

    def _answer(self) -> Generator[Stretch, None, str | None]:
        """Wait until the table says something about the turn just ended, or patience is out; gives the mood."""
        since_s = self._planned_s
        yield self._still(self._habits.settle_s)
        while self._planned_s - since_s < self._habits.patience_s:
            answer = self._heard_since(since_s)
            if answer is not None:
                yield self._still(self._habits.pause_s)
                return answer
            yield self._still(_POLL_S)
        return self._heard_since(since_s)

    def _heard_since(self, since_s: float) -> str | None:
        for time_s, mood in reversed(self._heard):
            if time_s < since_s - 1.0 / self.fps:
                break
            if mood in {"accepted", "fault", "finished"}:
                return mood
        return None

    def _note_event(
        self, action: Action, before: Standing, began_s: float, gone_s: float, ended_s: float | None
    ) -> None:
        if self._truth is None:
            return
        places = self._game.places
        event = TruthEvent(
            kind=action.kind,
            player=action.player,
            began_s=began_s,
            gone_s=gone_s,
            before=before.appearance(places),
            after=self._players.standing.appearance(places),
            facings=self._players.facings(),
            turn=action.turn,
            misdeed=action.misdeed,
            ended_s=ended_s,
            state=self._game.format_state(self._players.state),
        )
        self._truth.events.append(event)

    def _note_frame(self, frame: Frame, moment: Moment, setting: Setting) -> None:
        if self._truth is None:
            return
        coverage = self._coverages.get(id(setting))
        if coverage is None:
            coverage = self._coverages.setdefault(id(setting), Coverage(setting))
        looks = self._looks(moment)
        occupied = {place for place, look in looks.items() if look != "empty"}
        covered = coverage.covered(moment.hands, occupied)
        self._truth.frames.append(FrameTruth(frame.sequence, frame.time_s, looks, bool(moment.hands), covered))

    def _looks(self, moment: Moment) -> dict[str, str]:
        layout = self._setting.layout
        standing: dict[str, BlockPose] = {}
        for block in moment.blocks:
            if block.base_mm is not None:
                continue
            column = round(block.x_mm / layout.cell_mm + (layout.columns - 1) / 2)
            row = round(block.y_mm / layout.cell_mm + (layout.rows - 1) / 2)
            standing[f"{chr(ord('a') + column)}{row + 1}"] = block
        return Standing(standing).appearance(self._game.places)
