"""A camera that goes away while there are sensors: blank frames, and the game goes on by what is felt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from referee.demo.run import enrolled_reader
from referee.runtime.inputs import TICK_S, SteadySource
from referee.runtime.readers import AttentiveReader
from referee.sensing.readers import NO_CAMERA, FusedReader
from referee.sensing.values import SensorSnapshot
from simulator.play.game import GameOptions
from simulator.scene.viewpoint import lens
from simulator.table import VirtualTable, standard_setting
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError
from vision.frame import Frame


@dataclass
class ScriptedCamera:
    """Gives or raises what it was told, and moves the clock on."""

    script: Iterator[Frame | Exception]
    now_s: float = 0.0
    waited_s: list[float] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)

    def read(self, timeout_s: float) -> Frame:
        self.timeouts_s.append(timeout_s)
        self.now_s += TICK_S
        coming = next(self.script)
        if isinstance(coming, Exception):
            raise coming
        return Frame(coming.image, self.now_s, coming.sequence, coming.source)

    def steady(self, said: list[str]) -> SteadySource:
        return SteadySource(self, (64, 36), lambda: self.now_s, self.waited_s.append, said.append)


def frame(number: int) -> Frame:
    return Frame(np.full((36, 64, 3), 99, np.uint8), 0.0, number, "camera")


def test_black_frames_take_a_camera_s_place_until_it_is_back() -> None:
    camera = ScriptedCamera(
        iter([frame(7), CameraError("camera 0 went away"), FrameTimeoutError("none came"), frame(0), frame(1)])
    )
    said: list[str] = []
    source = camera.steady(said)
    frames = [source.read(2.0) for _ in range(5)]
    assert [(one.source, int(one.image[0, 0, 0])) for one in frames] == [
        ("camera", 99), (NO_CAMERA, 0), (NO_CAMERA, 0), ("camera", 99), ("camera", 99),
    ]  # fmt: skip
    assert [one.sequence for one in frames] == [7, 8, 9, 10, 11]
    assert all(one.image.shape == (36, 64, 3) for one in frames)
    assert said == ["camera 0 went away. I go by the sensors alone until the camera is back.", "The camera is back."]
    assert camera.waited_s == [TICK_S]
    assert camera.timeouts_s == [2.0, 2.0, TICK_S, TICK_S, 2.0]


@pytest.mark.parametrize("error", [EndOfFramesError("the end"), FrameError("cut off")])
def test_what_is_no_fault_of_the_camera_is_raised(error: Exception) -> None:
    said: list[str] = []
    with pytest.raises(type(error)):
        ScriptedCamera(iter([error])).steady(said).read(2.0)
    assert said == []


def test_sensors_go_on_alone_while_the_camera_is_away() -> None:
    table = VirtualTable(7, GameOptions(turns=1), setting=standard_setting(lens((640, 360))))
    first = table.read()
    occupied = {place: place[1] in "1357" and place[0] in "ce" for place in table.setting.layout.places}

    class Felt:
        def latest(self, now_s: float) -> SensorSnapshot | None:
            return SensorSnapshot(now_s, occupied)

    script = iter([*[first] * 6, *[CameraError("camera 0 went away")] * 40])
    camera = ScriptedCamera(script)
    source = SteadySource(camera, (640, 360), lambda: camera.now_s, camera.waited_s.append, print)
    reader = FusedReader(
        AttentiveReader(enrolled_reader(table)), Felt(), table.setting.layout.places, ("empty", "gold", "teal")
    )
    readings = [reader.read(source.read(2.0)) for _ in range(46)]
    assert readings[5].places["c1"].hidden_by is None
    assert readings[-1].places["c1"].sensed is not None
    assert readings[-1].hindrances == ()
    assert any("by the sensors alone" in notice for notice in readings[-1].notices)
