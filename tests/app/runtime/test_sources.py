"""Between camera and loop: waiting for a frame, sensors without a camera, the exposure, and the builder of sessions."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from app.demo.table import enrolled_reader
from app.runtime.builder import attention, compose_reader, open_session
from app.runtime.exposure import ExposureHold
from app.runtime.inputs import OpenedInputs
from app.runtime.sources import Interrupts, ServingWait
from app.runtime.watch import kept_clock_remark
from app.sensing.health import SensorSnapshot
from app.sensing.readers import NO_CAMERA, FusedReader, SensorReader, TickSource
from benchmarks.slow_pictures import TEXTURES
from engine.registry import load
from engine.search.budget import CountingClock
from journal.journal import Journal
from referee.clocks import read_control
from referee.commands.values import CommandQueue, NewGame, Reply, RestoreSensor, TakeBack
from referee.hints.advice import Question
from referee.hints.opponent import ImmediateHints
from referee.session.feed import TableSnapshot
from referee.session.loop import TICK_S, BlackFrames, LoopPorts, carry_out_commands, run
from referee.session.ports import ServiceSettings
from referee.session.recording import new_game_event
from simulator.play.game import GameOptions
from simulator.scene.scene import lens
from simulator.table import VirtualTable, standard_setting
from tests.guard import GUARD_S
from tests.referee.sensed_table import ScriptedSensors
from tests.referee.service_table import ScriptedReader
from vision.cameras.live import LiveCamera, Shot
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Frame, Image
from vision.layout.table import default_layout
from vision.learned_cameras import LearnedCameras
from vision.motion.changes import Attention
from vision.readers.registry import table_reader
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading


class StuckDevice:
    """Delivers one picture each time it is allowed to."""

    def __init__(self) -> None:
        self.go_on = threading.Semaphore(0)
        self.is_gone = False

    def read(self) -> Shot | None:
        assert self.go_on.acquire(timeout=GUARD_S)
        return None if self.is_gone else Shot(np.zeros((1, 1, 3), np.uint8))

    def lock(self, locked: bool) -> None:
        """Do nothing."""

    def release(self) -> None:
        """Do nothing."""


@pytest.fixture
def commands() -> Iterator[CommandQueue]:
    with CommandQueue(lambda: 0.0) as queue:
        yield queue


@pytest.fixture
def device() -> StuckDevice:
    return StuckDevice()


@pytest.fixture
def open_live(device: StuckDevice, commands: CommandQueue) -> Iterator[Callable[..., LiveCamera]]:
    with ExitStack() as stack:

        def make(serve: Callable[[], object], interrupts: Interrupts | None = None) -> LiveCamera:
            waiting = ServingWait(commands, interrupts or Interrupts(), serve)
            return stack.enter_context(
                LiveCamera(lambda: device, name="desk", clock=lambda: 0.0, retry_s=0.01, waiting=waiting)
            )

        yield make
        # the camera's thread ends once it has read
        device.is_gone = True
        device.go_on.release()


def test_a_command_does_not_wait_for_the_frame(
    table: Any, commands: CommandQueue, device: StuckDevice, open_live: Callable[..., LiveCamera]
) -> None:
    on = table()
    on.service.start()
    replies: list[Reply | None] = []

    def respond(reply: Reply | None) -> None:
        replies.append(reply)
        device.go_on.release()

    camera = open_live(lambda: carry_out_commands(on.service, commands))
    submitting = threading.Thread(target=lambda: commands.submit(TakeBack("Ann"), respond))
    submitting.start()
    # The camera continues only once the command was answered.
    assert camera.read(GUARD_S).sequence == 0
    submitting.join(GUARD_S)
    assert replies == [Reply("there is no turn to take back", refused=True)]
    device.go_on.release()
    assert camera.read(GUARD_S).sequence == 1


def test_the_loss_of_the_camera_ends_the_wait(device: StuckDevice, open_live: Callable[..., LiveCamera]) -> None:
    camera = open_live(lambda: None)
    device.is_gone = True
    device.go_on.release()
    with pytest.raises(CameraError, match="went away"):
        camera.read(GUARD_S)


def test_a_person_can_stop_the_referee_while_it_waits_for_a_frame(open_live: Callable[..., LiveCamera]) -> None:
    with Interrupts() as interrupts:
        camera = open_live(lambda: None, interrupts)
        stopping = threading.Timer(0.01, lambda: os.kill(os.getpid(), signal.SIGINT))
        stopping.start()
        with pytest.raises(KeyboardInterrupt):
            camera.read(GUARD_S)
        stopping.join(GUARD_S)


def test_a_wait_takes_its_time_and_carries_out_commands_meanwhile(commands: CommandQueue) -> None:
    now_s = iter([0.0, 0.0, 0.3, 1.0])
    served: list[int] = []
    commands.wake()

    def serve() -> None:
        served.append(len(served))
        commands.wake()

    ServingWait(commands, Interrupts(), serve, lambda: next(now_s)).seconds(1.0)
    assert served == [0, 1]


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


def test_commands_and_the_watchdog_do_not_wait_for_a_long_search_in_a_picture(
    deblockle: Any, new_journal: Callable[[], Journal], commands: CommandQueue
) -> None:
    layout = default_layout("deblockle")
    seen = table_reader(LearnedCameras(layout), layout, None, attention=Attention.STILL)
    reports: list[str] = []
    done: list[object] = []
    with open_session(
        deblockle, seen, new_journal(), ServiceSettings(), say=lambda _: None, hints=ImmediateHints(CountingClock(0.01))
    ) as service:

        def serve() -> None:
            reports.append("WATCHDOG=1")
            carry_out_commands(service, commands)

        waiting = ServingWait(commands, Interrupts(), serve)

        def next_step() -> None:
            # what comes during each step is answered before the next one
            commands.submit(TakeBack("Ann"), done.append)
            waiting.work_on()

        seen.pause = next_step
        foliage = TEXTURES["foliage"](np.random.default_rng(1), 640, 360)
        film = [Frame(foliage, 0.0, 0, "phone", is_still=True)]

        class Script:
            def read(self, timeout_s: float) -> Frame:
                if film:
                    return film.pop()
                done.append("read")
                raise EndOfFramesError("over")

        run(service, Script(), LoopPorts(lambda _: None, commands))
    refused = Reply("there is no turn to take back", refused=True)
    searches = done.index("read")
    assert searches >= 4, "a photo without a marker is searched in several steps"
    assert done == [*[refused] * searches, "read"]
    assert len(reports) == searches


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
    """Gives scripted frames and errors, and advances the clock; black frames replace it while it is away."""

    script: Iterator[Frame | Exception]
    size: tuple[int, int] = (64, 36)
    now_s: float = 0.0
    said: list[str] = field(default_factory=list)
    waited_s: list[float] = field(default_factory=list)
    timeouts_s: list[float] = field(default_factory=list)

    def read(self, timeout_s: float) -> Frame:
        self.timeouts_s.append(timeout_s)
        self.now_s += TICK_S
        coming = next(self.script, EndOfFramesError("over"))
        if isinstance(coming, Exception):
            raise coming
        return Frame(coming.image, self.now_s, coming.sequence, coming.source)

    def ports(self, commands: CommandQueue, on_verdicts: Any = lambda *_: None) -> LoopPorts:
        black = Frame(np.zeros((self.size[1], self.size[0], 3), np.uint8), 0.0, 0, NO_CAMERA)
        frames = BlackFrames(lambda: replace(black, time_s=self.now_s), self.said.append)
        return LoopPorts(self.waited_s.append, commands, on_verdicts=on_verdicts, black=frames)


class WatchingReader:
    """Sees nothing; keeps the frames."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []

    def read(self, frame: Frame) -> Reading:
        self.frames.append(frame)
        return Reading(frame.sequence, frame.time_s, {})

    def crop(self, frame: Frame, place: str) -> Image:
        return frame.image


def frame(number: int) -> Frame:
    return Frame(np.full((36, 64, 3), 99, np.uint8), 0.0, number, "camera")


def refereed(game: Any, camera: ScriptedCamera, journal: Journal) -> list[Frame]:
    """Referee until the camera's script is over; returns the frames that were read."""
    reader = WatchingReader()
    with open_session(game, reader, journal, ServiceSettings()) as service, CommandQueue(lambda: 0.0) as queue:
        assert run(service, camera, camera.ports(queue)) == "over"
    return reader.frames


def test_black_frames_replace_a_disconnected_camera_until_it_is_back(
    deblockle: Any, new_journal: Callable[[], Journal]
) -> None:
    camera = ScriptedCamera(
        iter([frame(7), CameraError("camera 0 went away"), FrameTimeoutError("none came"), frame(0), frame(1)])
    )
    frames = refereed(deblockle, camera, new_journal())
    assert [(one.source, int(one.image[0, 0, 0])) for one in frames] == [
        ("camera", 99), (NO_CAMERA, 0), (NO_CAMERA, 0), ("camera", 99), ("camera", 99),
    ]  # fmt: skip
    assert [one.sequence for one in frames] == [7, 8, 9, 10, 11]
    assert all(one.image.shape == (36, 64, 3) for one in frames)
    assert camera.said == [
        "camera 0 went away. Until the camera is back, I use only the sensors.",
        "The camera is back.",
    ]
    assert camera.waited_s == [TICK_S]
    assert camera.timeouts_s == [2.0, 2.0, TICK_S, TICK_S, 2.0, 2.0]


@pytest.mark.parametrize("error", [FrameError("cut off"), NothingNewError("none")])
def test_no_black_frame_replaces_one_that_is_unusable_or_not_there_yet(
    error: Exception, deblockle: Any, new_journal: Callable[[], Journal]
) -> None:
    camera = ScriptedCamera(iter([error]))
    assert refereed(deblockle, camera, new_journal()) == []
    assert camera.said == []


def test_sensors_continue_alone_while_the_camera_is_disconnected(new_journal: Callable[[], Journal]) -> None:
    table = VirtualTable(7, GameOptions(turns=1), setting=standard_setting(lens((640, 360))))
    first = table.read()
    occupied = {place: place[1] in "1357" and place[0] in "ce" for place in table.setting.layout.places}

    class OccupiedPlaces:
        def latest(self, now_s: float) -> SensorSnapshot | None:
            return SensorSnapshot(now_s, occupied)

    script: list[Frame | Exception] = [*[first] * 6, *[CameraError("camera 0 went away")] * 40]
    camera = ScriptedCamera(iter(script), (640, 360))
    reader = FusedReader(
        enrolled_reader(table, Attention.STILL),
        OccupiedPlaces(),
        table.setting.layout.places,
        ("empty", "gold", "teal"),
    )
    readings: list[Any] = []
    game = load(table.setting.layout.game)
    with (
        open_session(game, reader, new_journal(), ServiceSettings()) as service,
        CommandQueue(lambda: 0.0) as queue,
    ):
        run(service, camera, camera.ports(queue, lambda *_: readings.append(service.reading)))
    assert readings[5].places["c1"].hidden_by is None
    assert readings[45].places["c1"].sensed is not None
    assert readings[45].hindrances == ()
    assert any("the sensors alone" in notice for one in readings for notice in one.notices)


class ClosedHints(ImmediateHints):
    """Remembers whether it was closed."""

    closed = False

    def ask(self, question: Question) -> None:
        raise AssertionError("no question is expected")

    def close(self) -> None:
        self.closed = True


def test_a_session_is_started_and_closed(deblockle: Any, new_journal: Callable[[], Journal]) -> None:
    journal, hints = new_journal(), ClosedHints(CountingClock(0.01))
    first: list[TableSnapshot] = []
    second: list[TableSnapshot] = []
    for resume, games in ((True, 1), (True, 1), (False, 2)):
        with open_session(
            deblockle,
            ScriptedReader(),
            journal,
            ServiceSettings(),
            subscribers=(first.append, second.append),
            hints=hints,
            resume=resume,
            seed=7,
        ) as service:
            assert service.game_number == games
        assert hints.closed
    assert first == second
    assert [snapshot.game_number for snapshot in first] == [1, 1, 2]
    assert [event.data["seed"] for _, event in journal.events()] == [7, 7]


def test_a_sensor_put_back_into_use_is_recorded_in_the_journal(
    deblockle: Any, new_journal: Callable[[], Journal]
) -> None:
    journal, said = new_journal(), list[str]()
    with open_session(
        deblockle,
        ScriptedReader(),
        journal,
        ServiceSettings(),
        say=said.append,
        restore=lambda place: f"{place} is used again.",
    ) as service:
        replies: list[Any] = []
        service.carry_out(RestoreSensor("c3", "Ann"), replies.append)
    assert [reply.words for reply in replies] == ["c3 is used again."]
    assert said == ["c3 is used again. Ann asked for it."]
    assert journal.events()[-1][1].data["sentence"] == said[0]


def test_a_session_is_closed_after_an_error(deblockle: Any, new_journal: Callable[[], Journal]) -> None:
    hints = ClosedHints(CountingClock(0.01))

    def fail() -> None:
        with open_session(deblockle, ScriptedReader(), new_journal(), ServiceSettings(), hints=hints):
            raise KeyError("a mistake of ours")

    with pytest.raises(KeyError, match="a mistake of ours"):
        fail()
    assert hints.closed


def test_the_reader_uses_the_available_camera_and_sensors(deblockle: Any) -> None:
    seen, sensors = ScriptedReader(), ScriptedSensors({})
    assert isinstance(compose_reader(deblockle, None, sensors), SensorReader)
    assert compose_reader(deblockle, seen, None) is seen
    assert isinstance(compose_reader(deblockle, seen, sensors), FusedReader)
    with pytest.raises(ValueError, match="got neither"):
        compose_reader(deblockle, None, None)


@pytest.mark.parametrize(("name", "while_moving"), [("deblockle", Attention.STILL), ("number-drop", Attention.MOVING)])
def test_a_hand_that_writes_does_not_keep_the_others_sheets_from_being_read(name: str, while_moving: Attention) -> None:
    assert attention(load(name)) is while_moving
    assert attention(load(name), stills=True) is Attention.ALL


STEP_S = 0.1


class Camera:
    def __init__(self) -> None:
        self.is_locked = False
        self.asked: list[bool] = []

    def lock(self, locked: bool) -> None:
        self.is_locked = locked
        self.asked.append(locked)


class Watched:
    """An exposure lock that gets frames of one brightness for a while."""

    def __init__(self) -> None:
        self.camera = Camera()
        self.said: list[str] = []
        self._hold = ExposureHold(self.camera, self.said.append)
        self._times: Iterator[int] = count()

    def show(self, brightness: int, seconds: float, *, is_located: bool = True) -> None:
        for _ in range(round(seconds / STEP_S)):
            image = np.full((48, 64, 3), brightness, dtype=np.uint8)
            self._hold.update(Frame(image, next(self._times) * STEP_S, 0), is_located=is_located)


@pytest.fixture
def watched() -> Watched:
    return Watched()


def test_the_exposure_is_locked_once_the_table_was_visible_for_a_while(watched: Watched) -> None:
    watched.show(100, 10, is_located=False)
    watched.show(100, 2)
    watched.show(100, 1, is_located=False)
    watched.show(100, 2)
    assert watched.camera.asked == []
    watched.show(100, 2)
    assert watched.camera.asked == [True]
    assert watched.said == []


def test_an_arm_over_the_board_does_not_change_the_lock(watched: Watched) -> None:
    watched.show(100, 5)
    watched.show(65, 30)
    watched.show(40, 3)
    watched.show(100, 30)
    assert watched.camera.asked == [True]


@pytest.mark.parametrize("brightness", [30, 220])
def test_a_change_of_light_is_reported_and_adapted_to(watched: Watched, brightness: int) -> None:
    watched.show(100, 6)
    watched.show(brightness, 5)
    assert watched.camera.asked == [True, False]
    assert watched.said == ["The light has changed. The camera adapts to it."]
    watched.show(120, 5)
    assert watched.camera.asked == [True, False, True]


def test_a_camera_whose_brightness_jumps_on_locking_stays_automatic(watched: Watched) -> None:
    watched.show(100, 3.2)
    assert watched.camera.is_locked
    watched.show(20, 0.5)
    assert watched.camera.asked == [True, False]
    watched.show(100, 60)
    assert watched.camera.asked == [True, False]
    assert watched.said == ["This camera can't lock its exposure, so it stays automatic."]


def test_a_camera_that_was_disconnected_is_locked_again(watched: Watched) -> None:
    watched.show(100, 5)
    watched.camera.is_locked = False
    watched.show(30, 2)
    assert watched.camera.asked == [True]
    watched.show(30, 3)
    assert watched.camera.asked == [True, True]
    assert watched.said == []


@pytest.mark.parametrize(("hidden_by", "asked"), [(HindranceKind.NO_CAMERA, []), (None, [True])])
def test_the_exposure_is_not_locked_while_only_sensors_know_the_table(
    hidden_by: HindranceKind | None, asked: list[bool]
) -> None:
    camera = Camera()
    inputs = OpenedInputs(
        TickSource(lambda: 0.0, print, STEP_S), ScriptedReader(), exposure=ExposureHold(camera, print)
    )
    reading = Reading(0, 0.0, {"a1": PlaceReading({"empty": 1.0}, sensed=0.0, hidden_by=hidden_by)})
    for number in range(100):
        frame = Frame(np.full((16, 16, 3), 90, np.uint8), number * STEP_S, number)
        inputs.adapt(frame, reading, is_set_up=True, has_verdicts=False)
    assert camera.asked == asked


@pytest.mark.parametrize(("kind", "reopened"), [(HindranceKind.FROZEN, 1), (HindranceKind.BAD_FRAME, 0)])
def test_a_camera_that_hangs_is_opened_again(kind: HindranceKind, reopened: int) -> None:
    class Hanging(LiveCamera):
        def __init__(self) -> None:
            self.reopened = 0

        def reopen(self) -> None:
            self.reopened += 1

    camera = Hanging()
    hangs = Reading(0, 0.0, {}, (Hindrance(kind, "the same again"),))
    frame = Frame(np.full((16, 16, 3), 90, np.uint8), 0.0, 0)
    OpenedInputs(camera, ScriptedReader()).adapt(frame, hangs, is_set_up=True, has_verdicts=False)
    assert camera.reopened == reopened


def test_the_exposure_is_not_locked_on_what_replaces_an_unplugged_camera() -> None:
    camera, now_s = Camera(), [0.0]

    def wait(seconds: float) -> None:
        now_s[0] += seconds

    frames = TickSource(lambda: now_s[0], wait, STEP_S)
    inputs = OpenedInputs(frames, ScriptedReader(), exposure=ExposureHold(camera, print))
    sensed = Reading(0, 0.0, {"a1": PlaceReading({"empty": 1.0}, sensed=0.0)})
    for _ in range(100):
        inputs.adapt(frames.read(1.0), sensed, is_set_up=True, has_verdicts=False)
    assert camera.asked == []


@pytest.mark.parametrize(
    ("begun", "chosen", "kept"),
    [
        ("none", "fischer 5+3", "none"),
        ("game 10", "fischer 5+3", "game 10"),
        ("fischer 5+3", "fischer 5+3", None),
        ("game 10", "none", None),
    ],
)
def test_a_game_that_goes_on_with_another_clock_than_was_chosen_is_mentioned(
    new_journal: Callable[[], Journal], begun: str, chosen: str, kept: str | None
) -> None:
    journal = new_journal()
    assert kept_clock_remark(read_control(chosen), journal) == ""
    journal.append(new_game_event(NewGame("deblockle"), read_control(begun)))
    expected = f"This game goes on with the clock it began with ({kept}); `./run watch --new` begins another."
    assert kept_clock_remark(read_control(chosen), journal) == (expected if kept else "")
