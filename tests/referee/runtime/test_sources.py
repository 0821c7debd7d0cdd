"""Between camera and loop: commands and Ctrl-C during the wait for a frame, and sensors without a camera."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from referee.commands.queue import CommandQueue
from referee.commands.values import Reply, TakeBack
from referee.demo.table import enrolled_reader
from referee.runtime.readers import AttentiveReader
from referee.runtime.sources import TICK_S, CameraThread, Interrupts, ReconnectingSource
from referee.sensing.readers import NO_CAMERA, FusedReader
from referee.sensing.values import SensorSnapshot
from referee.session.loop import LoopPorts, carry_out_commands, run
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.guard import GUARD_S
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame


class StuckCamera:
    """Gives no frame until it is allowed to; counts the reads."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.reads = 0

    def read(self, timeout_s: float) -> Frame:
        self.reads += 1
        assert self.go_on.wait(GUARD_S)
        return Frame(np.zeros((1, 1, 3), np.uint8), float(self.reads), self.reads)


@pytest.fixture
def commands() -> Iterator[CommandQueue]:
    with CommandQueue(lambda: 0.0) as queue:
        yield queue


def test_a_command_does_not_wait_for_the_frame(table: Any, commands: CommandQueue) -> None:
    on = table()
    on.service.start()
    camera = StuckCamera()
    replies: list[Reply | None] = []

    def respond(reply: Reply | None) -> None:
        replies.append(reply)
        camera.go_on.set()

    with CameraThread(
        camera, commands, lambda: carry_out_commands(on.service, commands), lambda wait: wait()
    ) as awaited:
        submitting = threading.Thread(target=lambda: commands.submit(TakeBack("Ann"), respond))
        submitting.start()
        # The camera continues only once the command was answered.
        assert awaited.read(GUARD_S).sequence == 1
        submitting.join(GUARD_S)
        assert replies == [Reply("there is no turn to take back", refused=True)]
        assert awaited.read(GUARD_S).sequence == 2
    assert camera.reads == 2


def test_an_error_of_the_camera_is_raised(commands: CommandQueue) -> None:
    class Gone:
        def read(self, timeout_s: float) -> Frame:
            raise CameraError("gone")

    with (
        CameraThread(Gone(), commands, lambda: None, lambda wait: wait()) as awaited,
        pytest.raises(CameraError, match="gone"),
    ):
        awaited.read(1.0)


def test_a_person_can_stop_the_referee_while_it_waits_for_a_frame(commands: CommandQueue) -> None:
    camera = StuckCamera()

    def stopped(wait: Any) -> None:
        raise KeyboardInterrupt

    with (
        CameraThread(camera, commands, lambda: None, stopped) as awaited,
        pytest.raises(KeyboardInterrupt),
    ):
        awaited.read(GUARD_S)
    camera.go_on.set()


def test_commands_end_the_wait_for_a_disconnected_camera(table: Any, commands: CommandQueue) -> None:
    on = table()
    on.service.start()
    script: list[Exception] = [CameraError("gone"), EndOfFramesError("over")]

    class Script:
        def read(self, timeout_s: float) -> Frame:
            raise script.pop(0)

    replies: list[Reply | None] = []

    def wait(seconds: float) -> None:
        commands.submit(TakeBack("Ann"), replies.append)
        commands.wait(GUARD_S)

    run(on.service, Script(), LoopPorts(wait, commands))
    assert replies == [Reply("there is no turn to take back", refused=True)]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_a_step_takes_effect_after_the_step(number: signal.Signals) -> None:
    steps: list[str] = []
    with Interrupts() as interrupts:
        os.kill(os.getpid(), number)
        steps.append("the step went on")
        with pytest.raises(KeyboardInterrupt):
            interrupts.waiting(lambda: steps.append("never"))
    assert steps == ["the step went on"]


def test_a_signal_while_waiting_ends_the_wait() -> None:
    with Interrupts() as interrupts, pytest.raises(KeyboardInterrupt):
        interrupts.waiting(lambda: os.kill(os.getpid(), signal.SIGINT))


def test_a_second_signal_takes_effect_at_once() -> None:
    with Interrupts():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_the_signal_handlers_are_restored_afterwards() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupts() as interrupts:
        assert signal.getsignal(signal.SIGINT) is not before
        assert interrupts.waiting(lambda: 3) == 3
    assert signal.getsignal(signal.SIGINT) is before


def test_outside_the_main_thread_signal_handlers_are_not_changed() -> None:
    before = signal.getsignal(signal.SIGINT)
    seen: list[object] = []

    def elsewhere() -> None:
        with Interrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(GUARD_S)
    assert seen == [before]


@dataclass
class ScriptedCamera:
    """Gives scripted frames and errors, and advances the clock."""

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

    def steady(self, said: list[str]) -> ReconnectingSource:
        return ReconnectingSource(self, (64, 36), lambda: self.now_s, self.waited_s.append, said.append)


def frame(number: int) -> Frame:
    return Frame(np.full((36, 64, 3), 99, np.uint8), 0.0, number, "camera")


def test_black_frames_replace_a_disconnected_camera_until_it_is_back() -> None:
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
    assert said == ["camera 0 went away. Until the camera is back, I use only the sensors.", "The camera is back."]
    assert camera.waited_s == [TICK_S]
    assert camera.timeouts_s == [2.0, 2.0, TICK_S, TICK_S, 2.0]


@pytest.mark.parametrize("error", [EndOfFramesError("the end"), FrameError("cut off"), NothingNewError("none")])
def test_errors_other_than_disconnection_are_raised(error: Exception) -> None:
    said: list[str] = []
    with pytest.raises(type(error)):
        ScriptedCamera(iter([error])).steady(said).read(2.0)
    assert said == []


def test_sensors_continue_alone_while_the_camera_is_disconnected() -> None:
    table = VirtualTable(7, GameOptions(turns=1), setting=standard_setting(lens((640, 360))))
    first = table.read()
    occupied = {place: place[1] in "1357" and place[0] in "ce" for place in table.setting.layout.places}

    class OccupiedPlaces:
        def latest(self, now_s: float) -> SensorSnapshot | None:
            return SensorSnapshot(now_s, occupied)

    script: list[Frame | Exception] = [*[first] * 6, *[CameraError("camera 0 went away")] * 40]
    camera = ScriptedCamera(iter(script))
    source = ReconnectingSource(camera, (640, 360), lambda: camera.now_s, camera.waited_s.append, print)
    reader = FusedReader(
        AttentiveReader(enrolled_reader(table)),
        OccupiedPlaces(),
        table.setting.layout.places,
        ("empty", "gold", "teal"),
    )
    readings = [reader.read(source.read(2.0)) for _ in range(46)]
    assert readings[5].places["c1"].hidden_by is None
    assert readings[-1].places["c1"].sensed is not None
    assert readings[-1].hindrances == ()
    assert any("the sensors alone" in notice for notice in readings[-1].notices)
