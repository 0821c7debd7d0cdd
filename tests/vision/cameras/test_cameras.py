"""All kinds of cameras: their frames, their end, and disconnection."""

import threading
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import pytest

from tests.guard import GUARD_S
from vision.cameras import GrowingFolder, ImageFiles, LiveCamera, VideoFile, is_live, open_camera, source_path
from vision.cameras.files import name_order
from vision.cameras.live import Shot, usb_camera
from vision.errors import CameraError, EndOfFramesError, FrameError, FrameTimeoutError, NothingNewError


class FakeTime:
    """A clock that only waiting advances; the actions in ``at`` run when their time comes."""

    def __init__(self):
        self.now_s, self.at = 100.0, []

    def clock(self):
        return self.now_s

    def wait(self, seconds):
        self.now_s += seconds
        due = [action for when, action in self.at if when <= self.now_s]
        self.at = [(when, action) for when, action in self.at if when > self.now_s]
        for action in due:
            action()


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


def picture(value):
    image = np.full((48, 64, 3), value, np.uint8)
    image[:24] = 255 - value
    return image


def jpeg(value):
    return bytes(cv2.imencode(".jpg", picture(value))[1])


def shade(frame):
    return round(float(frame.image[40:].mean()), -1)


# Image files


@pytest.mark.parametrize("form", ["images:{}", "folder:{}", "{}/1.png"])
def test_mirrored_pictures_are_turned_round(form, tmp_path, time):
    image = picture(20)
    image[:, :20] = 255
    cv2.imwrite(str(tmp_path / "1.png"), image)
    for mirrored, expected in ((False, image), (True, image[:, ::-1])):
        spec = form.format(tmp_path)
        with open_camera(spec, clock=time.clock, wait=time.wait, mirrored=mirrored) as camera:
            assert np.array_equal(camera.read(1.0).image, expected)


def test_image_files_come_in_name_order_then_end(tmp_path, time):
    for name, value in (("frame10.jpg", 30), ("frame2.jpg", 20), ("frame1.png", 10)):
        cv2.imwrite(str(tmp_path / name), picture(value))
    (tmp_path / "notes.txt").write_text("no image", encoding="utf-8")
    with open_camera(f"images:{tmp_path}", clock=time.clock, wait=time.wait) as camera:
        frames = [camera.read(1.0) for _ in range(3)]
        with pytest.raises(EndOfFramesError, match="has given all its 3 pictures"):
            camera.read(1.0)
    assert [shade(frame) for frame in frames] == [10, 20, 30]
    assert [frame.sequence for frame in frames] == [0, 1, 2]
    assert frames[0].source.endswith("frame1.png")
    with pytest.raises(CameraError, match="is closed"):
        camera.read(1.0)


def test_a_truncated_image_is_named_and_reading_goes_on(tmp_path, time):
    (tmp_path / "a.jpg").write_bytes(jpeg(10)[:-200])
    (tmp_path / "b.jpg").write_bytes(jpeg(20))
    camera = ImageFiles([tmp_path / "a.jpg", tmp_path / "b.jpg"], clock=time.clock)
    with pytest.raises(FrameError, match=r"a\.jpg is cut off after \d+ bytes"):
        camera.read(1.0)
    assert shade(camera.read(1.0)) == 20


def test_a_folder_without_images_has_no_frames(tmp_path):
    with pytest.raises(EndOfFramesError, match="no image; expected at least one"):
        open_camera(str(tmp_path))


def test_names_with_numbers_sort_in_numeric_order():
    from pathlib import Path

    names = ["b1.jpg", "a10.jpg", "a9.jpg", "10.jpg", "9.jpg"]
    assert sorted(names, key=lambda name: name_order(Path(name))) == ["9.jpg", "10.jpg", "a9.jpg", "a10.jpg", "b1.jpg"]


# A folder that grows


def test_a_growing_folder_gives_each_new_image_once(tmp_path, time):
    (tmp_path / "1.jpg").write_bytes(jpeg(10))
    camera = open_camera(f"folder:{tmp_path}", clock=time.clock, wait=time.wait)
    assert shade(camera.read(1.0)) == 10
    time.at.append((100.5, lambda: (tmp_path / "2.jpg").write_bytes(jpeg(20))))
    frame = camera.read(2.0)
    assert (shade(frame), frame.sequence) == (20, 1)
    assert 100.5 <= frame.time_s < 101
    with pytest.raises(NothingNewError, match="no new image after 2 s"):
        camera.read(2.0)


def test_a_file_still_being_written_is_read_once_complete(tmp_path, time):
    data = jpeg(30)
    (tmp_path / "1.jpg").write_bytes(data[:100])
    time.at = [
        (100.3, lambda: (tmp_path / "1.jpg").write_bytes(data[:300])),
        (100.6, lambda: (tmp_path / "1.jpg").write_bytes(data)),
    ]
    camera = GrowingFolder(tmp_path, clock=time.clock, wait=time.wait)
    assert shade(camera.read(GUARD_S)) == 30
    assert time.now_s < 101


@pytest.mark.parametrize("suffix", [".bmp", ".webp", ".tiff"])
def test_a_file_without_an_end_mark_is_read_once_it_no_longer_grows(tmp_path, time, suffix):
    path, data = tmp_path / f"1{suffix}", bytes(cv2.imencode(suffix, picture(30))[1])
    path.write_bytes(data[: len(data) // 2])
    time.at = [(100.05, lambda: path.write_bytes(data[:-20])), (100.15, lambda: path.write_bytes(data))]
    camera = GrowingFolder(tmp_path, clock=time.clock, wait=time.wait)
    assert shade(camera.read(GUARD_S)) == 30


def test_a_file_that_stays_incomplete_is_named_once_and_skipped(tmp_path, time):
    (tmp_path / "1.jpg").write_bytes(jpeg(30)[:150])
    (tmp_path / "2.jpg").write_bytes(jpeg(40))
    camera = GrowingFolder(tmp_path, clock=time.clock, wait=time.wait)
    with pytest.raises(FrameTimeoutError, match=r"1\.jpg is still incomplete"):
        camera.read(0.5)
    with pytest.raises(FrameError, match=r"1\.jpg is still cut off after 3\.\d s \(150 bytes\); it is skipped"):
        camera.read(GUARD_S)
    assert shade(camera.read(1.0)) == 40


@pytest.mark.parametrize(
    ("start", "size_bytes", "says"),
    [
        (b"", 2 * 1024**3, r"1\.jpg is not a readable image"),
        (b"\xff\xd8\xff\xe0", 2 * 1024**3, r"1\.jpg has 2048 MiB; 128"),
    ],
)
def test_a_huge_file_in_a_growing_folder_is_named_and_skipped_without_being_read(
    tmp_path, time, start, size_bytes, says
):
    with (tmp_path / "1.jpg").open("wb") as file:
        file.write(start)
        file.truncate(size_bytes)
    (tmp_path / "2.jpg").write_bytes(jpeg(40))
    camera = GrowingFolder(tmp_path, clock=time.clock, wait=time.wait)
    tracemalloc.start()
    with pytest.raises(FrameError, match=says):
        camera.read(GUARD_S)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 10_000_000
    assert shade(camera.read(1.0)) == 40


def test_a_growing_folder_skips_the_given_files(tmp_path, time):
    for name in ("a.jpg", "b.jpg"):
        (tmp_path / name).write_bytes(jpeg(40))
    camera = GrowingFolder(tmp_path, clock=time.clock, wait=time.wait, skip={"a.jpg"})
    assert camera.read(1.0).source == str(tmp_path / "b.jpg")


def test_links_to_nothing_and_folders_named_like_images_are_ignored(tmp_path, time):
    (tmp_path / "a.jpg").symlink_to(tmp_path / "gone.jpg")
    (tmp_path / "b.jpg").mkdir()
    (tmp_path / "c.jpg").write_bytes(jpeg(40))
    camera = GrowingFolder(tmp_path, clock=time.clock, wait=time.wait)
    assert camera.read(1.0).source == str(tmp_path / "c.jpg")


def test_a_growing_folder_that_is_missing_or_deleted_is_an_error(tmp_path, time):
    with pytest.raises(CameraError, match="no folder"):
        GrowingFolder(tmp_path / "none", clock=time.clock, wait=time.wait)
    folder = tmp_path / "frames"
    folder.mkdir()
    camera = GrowingFolder(folder, clock=time.clock, wait=time.wait)
    folder.rmdir()
    with pytest.raises(CameraError, match="cannot list the folder"):
        camera.read(1.0)


# Videos


@pytest.fixture(scope="module")
def video(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("video") / "game.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10.0, (64, 48))
    for number in range(12):
        writer.write(picture(10 * number))
    writer.release()
    return path


def test_a_video_gives_every_frame_with_its_time_and_ends(video, time):
    with open_camera(str(video), clock=time.clock, wait=time.wait) as camera:
        frames = [camera.read(1.0) for _ in range(12)]
        with pytest.raises(EndOfFramesError, match="has 12 frames"):
            camera.read(1.0)
    assert [shade(frame) for frame in frames] == [10 * number for number in range(12)]
    assert [frame.sequence for frame in frames] == list(range(12))
    steps = np.diff([frame.time_s for frame in frames])
    assert np.allclose(steps, 0.1, atol=0.01)
    assert time.now_s == 100.0


def test_in_real_time_a_slow_reader_gets_the_newest_frame(video, time):
    camera = open_camera(f"realtime:{video}", clock=time.clock, wait=time.wait)
    first = camera.read(1.0)
    assert first.sequence == 0
    time.now_s += 0.55
    late = camera.read(1.0)
    assert late.sequence == 5
    following = camera.read(1.0)
    assert following.sequence == 6
    assert time.now_s == pytest.approx(100.6, abs=0.02)
    with pytest.raises(FrameTimeoutError, match="the next frame is due in"):
        camera.read(0.01)
    assert camera.read(1.0).sequence == 7
    time.now_s += 60
    assert camera.read(1.0).sequence == 11
    with pytest.raises(EndOfFramesError):
        camera.read(1.0)


def test_a_file_that_is_no_video_is_named(tmp_path, time):
    path = tmp_path / "broken.avi"
    path.write_bytes(b"not a video at all")
    with pytest.raises(CameraError, match="cannot be opened as a video"):
        VideoFile(path, clock=time.clock, wait=time.wait)
    with pytest.raises(CameraError, match="no video file"):
        open_camera("video:none.mp4")


# Live cameras


class FakeDevice:
    """A device whose pictures a test pushes; ``None`` unplugs it."""

    def __init__(self, taken_all):
        self._pictures, self._there = [], threading.Condition()
        self._taken_all, self.released = taken_all, threading.Event()
        self.age_s, self.locks = 0.0, []

    def push(self, *pictures):
        with self._there:
            self._pictures += pictures
            self._taken_all.clear()
            self._there.notify_all()

    def read(self):
        with self._there:
            if not self._pictures:
                self._taken_all.set()
            if not self._there.wait_for(lambda: self._pictures, timeout=GUARD_S):
                return None
            pushed = self._pictures.pop(0)
            return None if pushed is None else Shot(pushed, self.age_s)

    def lock(self, locked):
        self.locks.append(locked)

    def release(self):
        self.released.set()


@pytest.fixture
def live() -> Iterator[Callable[..., LiveCamera]]:
    """``live(*openings)``: a live camera; each opening is a FakeDevice or an error. Yields (camera, idle event)."""
    cameras = []

    def make(*openings, idle):
        queue = list(openings)

        def open_capture():
            opening = queue.pop(0) if len(queue) > 1 else queue[0]
            if isinstance(opening, Exception):
                raise opening
            return opening

        camera = LiveCamera(open_capture, name="desk", clock=iter(range(10**6)).__next__, retry_s=0.01)
        cameras.append((camera, openings))
        return camera

    yield make
    for camera, openings in cameras:
        for opening in openings:
            if isinstance(opening, FakeDevice):
                threading.Timer(0.01, opening.push, [None]).start()
        camera.close()


def test_the_newest_frame_is_read_and_skipped_frames_show_in_the_sequence(live):
    idle = threading.Event()
    device = FakeDevice(idle)
    camera = live(device, idle=idle)
    device.push(picture(10))
    assert shade(camera.read(GUARD_S)) == 10
    assert idle.wait(GUARD_S)
    device.push(picture(20), picture(30), picture(40))
    frames = [camera.read(GUARD_S)]
    while frames[-1].sequence < 3:
        frames.append(camera.read(GUARD_S))
    assert shade(frames[-1]) == 40
    assert idle.wait(GUARD_S)
    device.push(picture(50), picture(60), picture(70))
    assert idle.wait(GUARD_S)
    newest = camera.read(GUARD_S)
    assert (shade(newest), newest.sequence) == (70, 6)
    assert newest.time_s > frames[-1].time_s


def test_a_camera_without_frames_times_out(live):
    camera = live(FakeDevice(threading.Event()), idle=None)
    with pytest.raises(FrameTimeoutError, match=r"camera desk gave no frame within 0\.01 s; check its cable"):
        camera.read(0.01)


def test_an_unplugged_camera_is_reported_and_opened_again_once_it_is_back(live):
    idle = threading.Event()
    first, second = FakeDevice(idle), FakeDevice(idle)
    away = CameraError("not there")
    camera = live(first, away, away, second, idle=idle)
    first.push(picture(10))
    assert shade(camera.read(GUARD_S)) == 10
    first.push(None)
    with pytest.raises(CameraError, match=r"camera desk went away; plug it in again; the referee tries every 0\.01 s"):
        camera.read(GUARD_S)
    assert first.released.wait(GUARD_S)
    second.push(picture(20))
    frame = camera.read(GUARD_S)
    assert (shade(frame), frame.sequence) == (20, 1)


def test_every_read_reports_a_missing_camera(live):
    device = FakeDevice(threading.Event())
    camera = live(device, CameraError("not there"), idle=None)
    device.push(None)
    for _ in range(2):
        with pytest.raises(CameraError, match="went away"):
            camera.read(0.05)


def test_a_camera_that_hangs_is_opened_again_but_not_again_and_again(live):
    idle = threading.Event()
    first, second = FakeDevice(idle), FakeDevice(idle)
    camera = live(first, second, idle=idle)
    first.push(picture(10))
    assert shade(camera.read(GUARD_S)) == 10
    for _ in range(3):
        camera.reopen()
    first.push(picture(10))
    assert first.released.wait(GUARD_S)
    second.push(picture(20))
    while shade(camera.read(GUARD_S)) != 20:
        pass
    camera.reopen()
    second.push(picture(30))
    assert shade(camera.read(GUARD_S)) == 30
    assert not second.released.is_set()


def test_closing_wakes_a_reader_and_releases_the_device(live):
    device = FakeDevice(threading.Event())
    camera = live(device, idle=None)
    threading.Timer(0.05, camera.close).start()
    threading.Timer(0.1, device.push, [None]).start()
    with pytest.raises(CameraError, match="is closed"):
        camera.read(GUARD_S)
    assert device.released.wait(GUARD_S)


def test_a_frame_s_time_is_when_it_was_taken(live):
    idle = threading.Event()
    device = FakeDevice(idle)
    device.age_s = 0.25
    camera = live(device, idle=idle)
    device.push(picture(10))
    assert camera.read(GUARD_S).time_s == -0.25


def test_exposure_is_locked_before_the_next_frame_and_unlocked_after_reopening(live):
    idle = threading.Event()
    first, second = FakeDevice(idle), FakeDevice(idle)
    camera = live(first, second, idle=idle)
    first.push(picture(10))
    camera.read(GUARD_S)
    assert first.locks == []
    camera.lock(True)
    first.push(picture(20), picture(30))
    while shade(camera.read(GUARD_S)) != 30:
        pass
    assert first.locks == [True]
    assert camera.is_locked
    first.push(None)
    with pytest.raises(CameraError):
        camera.read(GUARD_S)
    second.push(picture(40))
    camera.read(GUARD_S)
    assert not camera.is_locked
    assert second.locks == []


def test_a_device_that_cannot_be_opened_is_reported_at_once(time):
    with pytest.raises(CameraError, match="cannot be opened; is it plugged in, used by another program"):
        usb_camera("/dev/video-none", clock=time.clock)


# Sources as a person writes them


@pytest.mark.parametrize("spec", ["", "webcam", "usb:", "images:", "game.txt"])
def test_an_unknown_source_is_refused_with_the_possible_ones(spec):
    with pytest.raises(CameraError, match="USB camera"):
        open_camera(spec)


def test_the_path_of_a_device_may_contain_colons():
    path = "/dev/v4l/by-path/pci-0000:00:14.0-usb-0:1:1.0-video-index0"
    with pytest.raises(CameraError, match=f"camera {path} cannot be opened"):
        open_camera(path)


def test_a_folder_may_have_the_name_of_a_kind_of_source(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    cv2.imwrite("folder/1.png", picture(10))
    with open_camera("folder") as camera:
        assert isinstance(camera, ImageFiles)
    with pytest.raises(CameraError, match="no camera 'usb'; expected"):
        open_camera("usb")


def test_a_path_that_leads_to_no_pictures_is_named(tmp_path):
    (tmp_path / "notes.txt").touch()
    for name, message in (("absent", "there is no file or folder .*absent"), ("notes.txt", "is no folder, picture")):
        for kind in ("", "images:"):
            with pytest.raises(CameraError, match=message):
                open_camera(f"{kind}{tmp_path / name}")


@pytest.mark.parametrize(
    "spec", ["0", "12", "usb:0", "v4l2:/dev/video0", "/dev/video0", "/dev/v4l/by-id/x", "usb:046d:0825", "pi", " pi:1 "]
)
def test_a_device_is_live_and_has_no_path(spec):
    assert is_live(spec)
    assert source_path(spec) is None


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ("folder:in", "in"),
        ("images:a:b", "a:b"),
        ("video:2026-game.mp4", "2026-game.mp4"),
        ("realtime:2026-game.mp4", "2026-game.mp4"),
        ("2026-game.mp4", "2026-game.mp4"),
        ("pieces.mp4", "pieces.mp4"),
        ("pictures/a.jpg", "pictures/a.jpg"),
        ("/dev/shm/pictures", "/dev/shm/pictures"),
    ],
)
def test_files_are_not_live_and_have_a_path(spec, path):
    assert not is_live(spec)
    assert source_path(spec) == Path(path)


def test_a_missing_image_is_named():
    with pytest.raises(CameraError, match=r"no image file none\.png"):
        open_camera("none.png")
