"""The service's loop: a camera that comes and goes, requests, and the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from referee.judge import StabilitySettings
from referee.judge.verdict import VerdictKind
from referee.session.loop import LoopPorts, run
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame


def test_requests_are_attended_to_even_while_the_camera_is_away(table: Any, start: Any) -> None:
    on = table()
    on.service.start()
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    answers: list[Any] = []
    asked = [
        {"do": "correct", "by": "Ann", "looks": {"c3": "gold block, x up"}},
        {"do": "correct", "by": "Ann", "looks": {"h9": "empty"}},
        {"do": "correct", "by": 3},
        {"do": "correct", "looks": ["c3"]},
        {"do": "take back", "by": "Ann"},
        {"do": "take back", "by": "Ann"},
        {"do": "dance"},
    ]

    class Asked:
        def __init__(self, asked: Any) -> None:
            self.asked = asked

        def answer(self, said: Any) -> None:
            answers.append(said)

    waiting: Any = [[], [Asked(one) for one in asked]]
    around = LoopPorts(lambda seconds: None, requests=lambda: waiting.pop() if waiting else ())
    run(on.service, ScriptedCamera([CameraError("gone")]), around)
    assert answers[0] == {"done": "Ann says: c3 is gold block, x up."}
    assert "no square 'h9'" in answers[1]["refused"]
    assert "by is 3; expected a text" in answers[2]["refused"]
    assert "expected a look by place" in answers[3]["refused"]
    assert "taken back" in answers[4]["done"]
    assert "no turn" in answers[5]["refused"]
    assert "can't do 'dance'" in answers[6]["refused"]
    assert on.kinds()[-2:] == ["correction", "take back"]


class ScriptedCamera:
    """Gives frames and errors in a fixed order, then the end."""

    def __init__(self, script: Sequence[Exception | Frame]) -> None:
        self._script = list(script)

    def read(self, timeout_s: float) -> Frame:
        following = self._script.pop(0) if self._script else EndOfFramesError("over")
        if isinstance(following, Exception):
            raise following
        return following


def test_the_loop_survives_a_camera_that_goes_away(table: Any, start: Any, make_reading: Any) -> None:
    on = table(settle=StabilitySettings(readings=2, quiet_s=0.0, most_readings=4))
    on.service.start()
    on.reader.following = make_reading(start)
    gone = CameraError("the camera /dev/video0 is gone")
    waits: list[float] = []
    heard: list[VerdictKind] = []
    script = [
        gone,
        gone,
        FrameTimeoutError("nothing came"),
        on.frame(),
        FrameError("truncated"),
        on.frame(),
        on.frame(),
    ]
    around = LoopPorts(waits.append, on_verdicts=lambda frame, verdicts: heard.extend(one.kind for one in verdicts))
    run(on.service, ScriptedCamera(script), around)
    assert len([one for one in on.said if "/dev/video0" in one]) == 1
    assert on.said[-1] == "The camera is back."
    assert len(waits) == 2
    assert on.service.reading is not None


def test_a_folder_without_a_new_picture_is_no_trouble(table: Any, start: Any, make_reading: Any) -> None:
    on = table()
    on.service.start()
    on.reader.following = make_reading(start)
    run(on.service, ScriptedCamera([on.frame(), NothingNewError("no new image"), on.frame()]), LoopPorts(pytest.fail))
    assert on.said == []


def test_the_loop_stops_when_asked(table: Any) -> None:
    on = table()
    on.service.start()
    run(on.service, ScriptedCamera([on.frame()]), LoopPorts(lambda seconds: None, stop=lambda: True))
    assert on.service.reading is None
