"""The Pi's own camera: the real process, pipe and shared memory, with a stand-in for Picamera2."""

import errno
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from tests.guard import GUARD_S
from vision.cameras import LiveCamera, open_camera
from vision.cameras.live import SERVER, PiCapture
from vision.errors import CameraError, FrameTimeoutError
from vision.frame import Frame

STAND_IN = Path(__file__).with_name("pi_stand_in")
SIZE = (64, 48)


def command(modules: Path = STAND_IN) -> Sequence[str]:
    """Run the server with the stand-in's modules; Python itself leaves out what is not on its path."""
    script = (
        f"import runpy, sys; sys.path.insert(0, {str(modules)!r}); runpy.run_path({str(SERVER)!r}, run_name='__main__')"
    )
    return (sys.executable, "-c", script)


@pytest.fixture(autouse=True)
def works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CAMERA", "works")


@pytest.fixture
def capture() -> Iterator[PiCapture]:
    capture = PiCapture(0, SIZE, 15.0, 50, command=command())
    yield capture
    capture.release()


def number_in(capture: PiCapture) -> int:
    shot = capture.read()
    assert shot is not None
    assert shot.image.shape == (48, 64, 3)
    return int(shot.image[0, 0, 1])


def test_frames_come_in_order_and_are_not_overwritten(capture: PiCapture) -> None:
    first, second = capture.read(), capture.read()
    assert first is not None
    assert second is not None
    assert (first.image[..., 1] == 1).all()
    assert (second.image[..., 1] == 2).all()


def test_the_age_of_a_frame_is_counted_from_its_exposure() -> None:
    later = PiCapture(
        0, SIZE, 15.0, 50, command=command(), boot_clock=lambda: time.clock_gettime(time.CLOCK_BOOTTIME) + 10
    )
    with closing(_Released(later)):
        shot = later.read()
    assert shot is not None
    assert shot.age_s >= 10


@pytest.mark.parametrize(
    ("behaviour", "mains_hz", "period_us"), [("works", 50, 10_000), ("works", 60, 8_300), ("no focus", 50, None)]
)
def test_exposures_are_multiples_of_a_lamp_s_flicker_if_the_camera_can_do_that(
    monkeypatch: pytest.MonkeyPatch, behaviour: str, mains_hz: int, period_us: int | None
) -> None:
    monkeypatch.setenv("PI_CAMERA", behaviour)
    with closing(_Released(PiCapture(0, SIZE, 15.0, mains_hz, command=command()))) as opened:
        shot = opened.capture.read()
    assert shot is not None
    assert shot.image[0, 0, 2] == (1 if period_us is None else period_us // 100)


class _Released:
    def __init__(self, capture: PiCapture) -> None:
        self.capture, self.close = capture, capture.release


def automatic_in(capture: PiCapture) -> tuple[bool, bool]:
    """Whether exposure and focus are automatic."""
    shot = capture.read()
    assert shot is not None
    blue = int(shot.image[0, 0, 0])
    return bool(blue & 1), bool(blue & 2)


@pytest.mark.parametrize("behaviour", ["works", "no focus", "mono"])
def test_exposure_is_locked_and_unlocked_and_focus_stays_locked(
    monkeypatch: pytest.MonkeyPatch, behaviour: str
) -> None:
    monkeypatch.setenv("PI_CAMERA", behaviour)
    capture = PiCapture(0, SIZE, 15.0, 50, command=command())
    with closing(_Released(capture)):
        assert automatic_in(capture) == (True, behaviour != "no focus")
        capture.lock(True)
        assert automatic_in(capture) == (False, False)
        capture.lock(False)
        assert automatic_in(capture) == (True, False)


@pytest.mark.parametrize(
    ("behaviour", "number", "says"),
    [
        ("busy", 0, "Device or resource busy"),
        ("works", 1, "No camera number 1 found"),
        ("other size", 0, "it gives pictures of 640 x 480 instead of 64 x 48"),
    ],
)
def test_a_camera_that_cannot_be_used_is_reported(
    monkeypatch: pytest.MonkeyPatch, behaviour: str, number: int, says: str
) -> None:
    monkeypatch.setenv("PI_CAMERA", behaviour)
    with pytest.raises(CameraError, match="ribbon cable") as caught:
        PiCapture(number, SIZE, 15.0, 50, command=command())
    assert says in str(caught.value)


def test_without_picamera2_the_error_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "libcamera.py").write_text("raise ImportError('No module named libcamera')\n")
    with pytest.raises(CameraError, match="sudo apt install python3-picamera2"):
        PiCapture(0, SIZE, 15.0, 50, command=command(tmp_path))


def test_any_other_fault_is_reported_with_its_reason(tmp_path: Path) -> None:
    (tmp_path / "libcamera.py").write_text("raise ValueError('numpy.dtype size changed')\n")
    with pytest.raises(CameraError, match=r"can't be used \(numpy.dtype size changed\)"):
        PiCapture(0, SIZE, 15.0, 50, command=command(tmp_path))


def test_a_process_that_ends_at_once_is_reported() -> None:
    with pytest.raises(CameraError, match="the Pi's camera 0 did not start; check its ribbon cable, and what `rpicam"):
        PiCapture(0, SIZE, 15.0, 50, command=(sys.executable, "-c", ""))


def test_too_little_memory_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(name: str) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "memfd_create", full)
    with pytest.raises(CameraError, match=r"the Pi's camera can't be used: .*Too many open files"):
        PiCapture(0, SIZE, 15.0, 50, command=command())


def test_a_missing_python_is_reported() -> None:
    with pytest.raises(CameraError, match="can't be used"):
        PiCapture(0, SIZE, 15.0, 50, command=("/nowhere/python3",))


@pytest.fixture
def live() -> Iterator[LiveCamera]:
    def open_capture() -> PiCapture:
        return PiCapture(0, SIZE, 15.0, 50, command=command())

    with LiveCamera(open_capture, name="pi:0", clock=time.monotonic, retry_s=0.01) as camera:
        yield camera


def _read_all(camera: LiveCamera) -> None:
    while True:
        camera.read(GUARD_S)


def test_a_process_that_dies_is_started_again(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    monkeypatch.setenv("PI_CAMERA", "dies")
    camera = request.getfixturevalue("live")
    with pytest.raises(CameraError, match="went away"):
        _read_all(camera)
    monkeypatch.setenv("PI_CAMERA", "works")
    assert _read_when_back(camera).image.shape == (48, 64, 3)


def _read_when_back(camera: LiveCamera) -> Frame:
    """Read a frame; processes that were started before may still die."""
    while True:
        try:
            return camera.read(GUARD_S)
        except FrameTimeoutError:
            raise
        except CameraError:
            continue


def test_a_camera_without_new_frames_counts_as_unplugged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_CAMERA", "freezes")
    capture = PiCapture(0, SIZE, 15.0, 50, command=command(), silence_s=1.0)
    with closing(_Released(capture)):
        shots = [capture.read() for _ in range(4)]
    assert [shot is not None for shot in shots] == [True, True, True, False]


def test_a_live_pi_camera_gives_numbered_and_timed_frames(live: LiveCamera) -> None:
    first = live.read(GUARD_S)
    second = live.read(GUARD_S)
    assert second.sequence > first.sequence
    assert second.time_s > first.time_s
    assert second.source == "pi:0"


def test_the_sources_pi_and_pi_0_open_the_pis_camera() -> None:
    if Path("/usr/lib/python3/dist-packages/picamera2").exists():
        pytest.skip("there is a real Picamera2 on this machine")
    for spec in ("pi", "pi:0"):
        with pytest.raises(CameraError, match="the Pi's camera"):
            open_camera(spec)
