"""A virtual table with faults of the camera, the light, the board and the players.

Like ``simulator.table.VirtualTable`` it provides a camera and buttons. It also provides a person's corrections
(``take_overrides``). The camera may lose or corrupt frames, give none for a while, or be disconnected.
"""

from dataclasses import replace

import cv2
import numpy as np

from benchmarks.faults.answers import FaultyOptions, Override
from benchmarks.faults.disturbances import TILTS_DEG, Delivery, Disturbance, Disturbances, draw_pose
from benchmarks.faults.game import Episode, FaultyGame
from benchmarks.scene import processing
from simulator.play.choreography import Moment
from simulator.play.game import TruthLog
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import PiecePose
from simulator.scene.scene import Lamp, Lighting, Scene, Sensor, Setting, TableLook, lens
from simulator.table import PlayedTable
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError
from vision.frame import Frame, Image
from vision.geometry import Pose
from vision.layout.table import default_layout
from vision.sampling import linear_light

DROPPED_SHARE = 0.6
"""Share of frames lost while frames are dropped."""
_FLASHES_HZ = 100.3
"""Flashes of a lamp on mains by the camera's clock, which is a little slow."""


def faulty_setting(
    seed: int,
    size: tuple[int, int] = (1280, 720),
    game: str = "deblockle",
    sheets: int | None = None,
    tilts_deg: tuple[float, float] = TILTS_DEG,
) -> Setting:
    """Return an ordinary table with a random surface, lamp and camera pose."""
    layout = default_layout(game) if sheets is None else default_layout(game).with_sheets(sheets)
    rng = np.random.default_rng([seed, 45])
    camera = lens(size)
    angle = float(rng.uniform(-np.pi, np.pi))
    lamp = Lamp(
        (550 * float(np.cos(angle)), 550 * float(np.sin(angle)), float(rng.uniform(900.0, 1300.0))),
        strength=float(rng.uniform(0.5, 0.75)),
    )
    surfaces = ("wood", "plain", "wood", "cloth")
    surface = surfaces[int(rng.integers(len(surfaces)))]
    colour = (0.28, 0.48, 0.22) if surface == "cloth" else (0.36, 0.47, 0.6)
    return Setting(
        camera,
        draw_pose(camera, layout, rng, tilts_deg),
        layout,
        table=TableLook(surface=surface, colour=colour, seed=seed),  # type: ignore[arg-type]
        lighting=Lighting((lamp,), ambient=float(rng.uniform(0.3, 0.42))),
        sensor=Sensor(noise=float(rng.uniform(1.5, 2.5)), jpeg_quality=92),
    )


class FaultyTable(PlayedTable):
    """One game with faults on a virtual table, from one seed.

    Without ``pictures`` the frames are a single grey pixel, for a reader that gets the true looks.
    """

    def __init__(
        self,
        seed: int,
        options: FaultyOptions,
        *,
        setting: Setting,
        fps: float = 15.0,
        truth: TruthLog | None = None,
        pictures: bool = True,
    ) -> None:
        self._game = FaultyGame(seed, setting, options, truth)
        super().__init__(seed, self._game, setting, fps)
        self._renderer = Renderer(seed) if pictures else None
        self.scene = Scene(self._setting)
        """The scene of the newest frame; hidden from the referee."""
        self.pieces: tuple[PiecePose, ...] = ()
        """Positions of all pieces now, with or without a camera: for switches under the board."""
        self.deliveries: frozenset[Delivery] = frozenset()
        """How the newest frame arrived."""
        self._settings: dict[tuple[int, int], Setting] = {}
        self._last: Frame | None = None
        self._decoded: Image | None = None
        self._overrides_taken = 0

    @property
    def disturbances(self) -> Disturbances:
        """The disturbances so far; hidden from the referee."""
        return self._game.disturbances

    @property
    def episodes(self) -> tuple[Episode, ...]:
        """The events drawn so far, turn by turn; hidden from the referee."""
        return tuple(self._game.episodes)

    @property
    def is_shaken(self) -> bool:
        """Whether the camera was shaking in the newest frame."""
        taken_s = self.time_s - 1 / self.fps
        return any(taken_s < one.shaking_until_s for one in self.disturbances.at(taken_s))

    def take_overrides(self) -> tuple[Override, ...]:
        """Take the corrections made since the last call."""
        due = [one for one in self._game.overrides if one.time_s <= self.time_s]
        new = due[self._overrides_taken :]
        self._overrides_taken = len(due)
        return tuple(new)

    def wait(self, seconds: float) -> None:
        """Advance the table's time without taking a frame."""
        for _ in range(max(1, round(seconds * self.fps))):
            moment = self._game.moment(self.time_s)
            self.pieces = self.pieces if moment is None else moment.pieces
            self._sequence += 1

    def read(self, timeout_s: float = 2.0) -> Frame:
        """Take the next frame.

        Raises FrameTimeoutError when none arrives in time, FrameError for a corrupted one, CameraError while the camera
        is unplugged, EndOfFramesError when the game is over.
        """
        waited_s = 0.0
        while True:
            moment = self._game.moment(self.time_s)
            if moment is None:
                raise EndOfFramesError(f"{self.name} has given all its {self._sequence} frames")
            self.pieces = moment.pieces
            self.deliveries = deliveries = frozenset(
                one.delivery for one in self.disturbances.at(self.time_s) if one.delivery is not None
            )
            if "unplugged" in deliveries:
                raise CameraError(f"{self.name}: the camera does not answer; check its cable")
            luck = np.random.default_rng([self.seed, 46, self._sequence]).random()
            if "stopped" not in deliveries and not ("dropped" in deliveries and luck < DROPPED_SHARE):
                break
            if waited_s >= timeout_s:
                raise FrameTimeoutError(f"{self.name}: no frame came in {timeout_s:g} s")
            self._sequence += 1
            waited_s += 1 / self.fps
        if "frozen" in deliveries and self._last is not None:
            frame = replace(self._last, time_s=self.time_s, sequence=self._sequence)
        else:
            frame = self._last = self._take_frame(moment)
        self._sequence += 1
        if "bad" in deliveries and luck < 0.5:
            return _corrupt_frame(frame, luck, np.random.default_rng([self.seed, 51, frame.sequence]))
        return frame

    def _take_frame(self, moment: Moment) -> Frame:
        time_s = self.time_s
        active = self.disturbances.at(time_s)
        setting = self._setting_now(active)
        things = tuple(thing for one in active for thing in one.things)
        self.scene = Scene(setting, moment.pieces, moment.hands, things)
        if self._renderer is None:
            return Frame(np.full((1, 1, 3), 128, np.uint8), time_s, self._sequence, self.name)
        image = self._renderer.render(self.scene, self._sequence)
        if any(time_s < one.shaking_until_s for one in active):
            image = _shake(image, np.random.default_rng([self.seed, 49, self._sequence]))
        for one in active:
            image = self._as_delivered(image, one, time_s)
        if "low rate" not in self.deliveries:
            self._decoded = None
        return Frame(image, time_s, self._sequence, self.name)

    def _as_delivered(self, image: Image, fault: Disturbance, time_s: float) -> Image:
        """Return the picture as a fault of the camera's light or stream shows it."""
        rng = np.random.default_rng([self.seed, 50, round(fault.began_s * 1000)])
        match fault.delivery:
            case "bands":
                depth, read_out_s, begins = rng.uniform((0.04, 0.015, 0.0), (0.3, 0.033, 6.3))
                phase = begins + 2 * np.pi * _FLASHES_HZ * time_s
                light = processing.banded(linear_light(image), depth, phase, _FLASHES_HZ * read_out_s)
            case "swing":
                stops, every_s, begins = rng.uniform((0.3, 0.8, 0.0), (1.2, 4.0, 6.3))
                swing = stops * np.sin(begins + 2 * np.pi * time_s / every_s)
                light = linear_light(image) * (2.0 ** (swing * np.array([1.2, 1.0, 0.8]))).astype(np.float32)
            case "mirrored":
                return np.ascontiguousarray(image[:, ::-1])
            case "low rate":
                self._decoded = processing.low_rate_video(image, float(rng.uniform(12.0, 50.0)), self._decoded)
                return self._decoded
            case _:
                return image
        return processing.developed(light)

    def _setting_now(self, active: list[Disturbance]) -> Setting:
        disturbances = list(self.disturbances)
        moved = [number for number, one in enumerate(disturbances) if one.pose is not None and one in active]
        relit = [number for number, one in enumerate(disturbances) if one.lighting is not None and one in active]
        key = (moved[-1] if moved else -1, relit[-1] if relit else -1)
        if key not in self._settings:
            pose: Pose = disturbances[key[0]].pose or self._setting.pose if moved else self._setting.pose
            lighting = disturbances[key[1]].lighting or self._setting.lighting if relit else self._setting.lighting
            # kept permanently: the renderer identifies a setting by object identity
            self._settings[key] = replace(self._setting, pose=pose, lighting=lighting)
        return self._settings[key]


def _shake(image: Image, rng: np.random.Generator) -> Image:
    """Return the picture of a shaking camera: displaced, slightly rotated, blurred."""
    height, width = image.shape[:2]
    turn = cv2.getRotationMatrix2D((width / 2, height / 2), float(rng.uniform(-1.5, 1.5)), 1.0)
    matrix = np.asarray(turn, dtype=np.float64)
    matrix[:, 2] = matrix[:, 2] + rng.uniform(-14, 14, 2)
    moved = cv2.warpAffine(image, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    length = int(rng.integers(3, 15))
    kernel = np.zeros((length, length), dtype=np.float32)
    kernel[length // 2, :] = 1.0 / length
    return np.asarray(cv2.filter2D(moved, -1, kernel), dtype=np.uint8)


def _corrupt_frame(frame: Frame, luck: float, rng: np.random.Generator) -> Frame:
    """Return a corrupted frame: black, with bytes lost on the way, or impossible to decode."""
    if luck < 0.15:
        raise FrameError(f"{frame.source}: frame {frame.sequence} is cut off and can't be decoded; it is left out")
    image = frame.image.copy()
    if image.size <= 3:
        image = image[:0]
    elif luck < 0.3:
        image[:] = 0
    else:
        image = processing.garbled(image, rng)
    return replace(frame, image=image)
