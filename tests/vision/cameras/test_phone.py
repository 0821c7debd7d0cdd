"""A phone as the camera: the newest picture of its film, its photos, and what is said when nothing comes."""

import threading

import cv2
import numpy as np
import pytest

from tests.guard import GUARD_S
from tests.vision.photos import telling
from vision.cameras import PhoneCamera, is_live, open_camera
from vision.cameras.phone import MOST_FRAME_BYTES, OLDEST_S, SILENT_S
from vision.errors import CameraError, FrameError, FrameTimeoutError, NothingNewError
from vision.frame import Image


def jpeg(grey: int = 100, size: tuple[int, int] = (64, 48)) -> bytes:
    picture: Image = np.full((size[1], size[0], 3), grey, np.uint8)
    return cv2.imencode(".jpg", picture)[1].tobytes()


class Table:
    """A phone's camera with a clock that the test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0
        self.camera = PhoneCamera(lambda: self.now_s)


@pytest.fixture
def table() -> Table:
    return Table()


def test_of_a_film_the_newest_picture_is_read(table: Table) -> None:
    for grey in (10, 20, 30):
        table.camera.put(jpeg(grey))
    frame = table.camera.read(0.0)
    assert (frame.image.mean(), frame.time_s, frame.is_still) == (pytest.approx(30, abs=2), 100.0, False)
    with pytest.raises(NothingNewError):
        table.camera.read(0.0)
    table.camera.put(jpeg(40), age_s=0.5)
    later = table.camera.read(0.0)
    assert (later.time_s, later.sequence) == (99.5, frame.sequence + 1)


def test_a_reader_that_waits_gets_the_picture_that_comes(table: Table) -> None:
    threading.Timer(0.05, table.camera.put, [jpeg(50)]).start()
    assert table.camera.read(GUARD_S).image.mean() == pytest.approx(50, abs=2)


def test_an_old_picture_is_thrown_away(table: Table) -> None:
    table.camera.put(jpeg())
    table.now_s += OLDEST_S + 0.1
    with pytest.raises(NothingNewError):
        table.camera.read(0.0)
    table.camera.put(jpeg(), age_s=OLDEST_S + 0.1)
    with pytest.raises(NothingNewError):
        table.camera.read(0.0)


def test_silence_is_told_once_it_is_long(table: Table) -> None:
    with pytest.raises(FrameTimeoutError, match="no picture comes from a phone; open /camera on it"):
        table.camera.read(0.0)
    table.camera.put(jpeg())
    table.camera.read(0.0)
    table.now_s += SILENT_S - 0.1
    with pytest.raises(NothingNewError):
        table.camera.read(0.0)
    table.now_s += 0.2
    with pytest.raises(FrameTimeoutError, match="no picture comes from a phone") as told:
        table.camera.read(0.0)
    assert not isinstance(told.value, NothingNewError)


def test_a_phone_that_stops_is_missed_at_once(table: Table) -> None:
    table.camera.put(jpeg())
    table.camera.stop()
    with pytest.raises(FrameTimeoutError, match="no picture comes from a phone"):
        table.camera.read(0.0)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "is not a whole JPEG"),
        (b"\xff\xd8\xff\xd9", "is not a whole JPEG"),
        (jpeg()[:-20], "is not a whole JPEG"),
        (cv2.imencode(".png", np.zeros((8, 8, 3), np.uint8))[1].tobytes(), "is not a whole JPEG"),
        (jpeg(size=(2000, 40)), "is too large; 1920 pixels"),
        (jpeg() + b"x" * MOST_FRAME_BYTES, "is too large"),
    ],
)
def test_what_is_no_frame_is_refused_before_it_is_decoded(table: Table, data: bytes, why: str) -> None:
    with pytest.raises(FrameError, match=why):
        table.camera.put(data)
    with pytest.raises(FrameTimeoutError):
        table.camera.read(0.0)


def test_a_photo_is_judged_as_a_still_of_its_own_size(table: Table) -> None:
    judged = table.camera.photograph(jpeg(90, size=(3000, 4000)))
    frame = table.camera.read(0.0)
    assert (frame.image.shape, frame.is_still) == ((1920, 1440, 3), True)
    with pytest.raises(CameraError, match="still being looked at"):
        table.camera.photograph(jpeg())
    table.camera.tell(None, "nothing")
    assert not judged.done()
    table.camera.tell(frame, "Accepted.")
    assert judged.result(0) == "Accepted."
    table.camera.tell(frame, "once more")
    # between photos nothing is missed
    table.now_s += 10 * SILENT_S
    with pytest.raises(NothingNewError):
        table.camera.read(0.0)
    assert table.camera.photograph(jpeg(size=(80, 60))) is not judged
    assert table.camera.read(0.0).image.shape == (60, 80, 3)


def test_a_photo_tells_its_focal_length_also_where_the_page_reduced_it(table: Table) -> None:
    for data, original, told in (
        (jpeg(), b"", None),
        (telling(jpeg(), 26), b"", 26 / 43.27),
        (jpeg(), telling(jpeg(), 14)[:200], 14 / 43.27),
    ):
        judged = table.camera.photograph(data, original)
        frame = table.camera.read(0.0)
        assert frame.focal_share == told
        table.camera.tell(frame, "Accepted.")
        assert judged.done()


def test_what_is_judged_late_is_not_told_of_another_photo(table: Table) -> None:
    given_up = table.camera.photograph(jpeg(10))
    first = table.camera.read(0.0)
    given_up.cancel()
    judged = table.camera.photograph(jpeg(20))
    table.camera.tell(first, "Blurred.")
    assert not judged.done()
    table.camera.tell(table.camera.read(0.0), "Accepted.")
    assert judged.result(0) == "Accepted."


def test_a_photo_that_cannot_be_read_costs_nothing(table: Table) -> None:
    for data, why in ((b"GIF89a", "not a readable image"), (jpeg()[:-20], "cut off")):
        with pytest.raises(FrameError, match=f"the photo is {why}"):
            table.camera.photograph(data)
    table.camera.photograph(jpeg())
    assert table.camera.read(0.0).is_still


def test_a_photo_that_is_taken_during_a_film_is_read_first(table: Table) -> None:
    table.camera.put(jpeg(10))
    table.camera.photograph(jpeg(20))
    table.camera.put(jpeg(30))
    assert [round(table.camera.read(0.0).image.mean(), -1) for _ in range(1)] == [20]


def test_a_phone_is_opened_by_its_name_if_there_is_a_page(table: Table) -> None:
    assert is_live("phone")
    with pytest.raises(CameraError, match="with --page"):
        open_camera("phone")
    with open_camera(" phone ", phone=table.camera) as camera:
        assert camera is table.camera
    with pytest.raises(CameraError, match="is closed"):
        camera.read(GUARD_S)
    table.camera.put(jpeg())
    with open_camera("phone", phone=table.camera, mirrored=True) as camera:
        assert camera.read(0.0).image.shape == (48, 64, 3)
