"""A live camera that is waited for together with commands."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from referee.commands.queue import CommandQueue
from referee.commands.values import Reply, TakeBack
from referee.runtime.awaited import AwaitedCamera
from referee.session.loop import LoopPorts, run, serve
from tests.guard import GUARD_S
from vision.errors import CameraError, EndOfFramesError
from vision.frame import Frame


class StuckCamera:
    """Gives no frame until it is told to; counts how often it was read."""

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

    with AwaitedCamera(camera, commands, lambda: serve(on.service, commands), lambda wait: wait()) as awaited:
        submitting = threading.Thread(target=lambda: commands.submit(TakeBack("Ann"), respond))
        submitting.start()
        # The camera goes on only once the command was answered.
        assert awaited.read(GUARD_S).sequence == 1
        submitting.join(GUARD_S)
        assert replies == [Reply("there is no turn to take back", refused=True)]
        assert awaited.read(GUARD_S).sequence == 2
    assert camera.reads == 2


def test_what_the_camera_raises_comes_out(commands: CommandQueue) -> None:
    class Gone:
        def read(self, timeout_s: float) -> Frame:
            raise CameraError("gone")

    with (
        AwaitedCamera(Gone(), commands, lambda: None, lambda wait: wait()) as awaited,
        pytest.raises(CameraError, match="gone"),
    ):
        awaited.read(1.0)


def test_a_person_can_stop_while_a_frame_is_waited_for(commands: CommandQueue) -> None:
    camera = StuckCamera()

    def stopped(wait: Any) -> None:
        raise KeyboardInterrupt

    with (
        AwaitedCamera(camera, commands, lambda: None, stopped) as awaited,
        pytest.raises(KeyboardInterrupt),
    ):
        awaited.read(GUARD_S)
    camera.go_on.set()


def test_while_the_camera_is_away_commands_end_the_wait_for_it(table: Any, commands: CommandQueue) -> None:
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
