"""Cameras with an address: a real server on loopback that sends, closes, stalls and comes back."""

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import cv2
import numpy as np
import pytest

from tests.guard import GUARD_S
from vision.cameras import LiveCamera, is_live, open_camera, shown_source, source_path
from vision.errors import CameraError, FrameTimeoutError


class Film(BaseHTTPRequestHandler):
    """Sends grey pictures, one after another, while ``sends`` is set; ends its answers when ``ends`` is."""

    sends: ClassVar[threading.Event]
    ends: ClassVar[threading.Event]
    grey: ClassVar[int]

    def do_GET(self) -> None:
        if self.path.startswith("/words"):
            self.send_response(404)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", "multipart/x-mixed-replace; boundary=frame")
        self.end_headers()
        while not self.ends.is_set():
            if not self.sends.wait(0.05):
                continue
            encoded = cv2.imencode(".jpg", np.full((48, 64, 3), self.grey, np.uint8))[1].tobytes()
            try:
                self.wfile.write(b"--frame\r\nContent-Type: image/jpeg\r\n")
                self.wfile.write(b"Content-Length: %d\r\n\r\n%s\r\n" % (len(encoded), encoded))
            except OSError:
                return
            self.ends.wait(0.02)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.network.READ_S", 1.0)
    monkeypatch.setattr("vision.cameras.network._RETRY_S", 0.1)


@pytest.fixture
def film() -> Iterator[type[Film]]:
    class Own(Film):
        sends = threading.Event()
        ends = threading.Event()
        grey = 100

    Own.sends.set()
    yield Own
    Own.ends.set()


@pytest.fixture
def server(film: type[Film]) -> Iterator[ThreadingHTTPServer]:
    served = ThreadingHTTPServer(("127.0.0.1", 0), film)
    served.daemon_threads = True
    thread = threading.Thread(target=served.serve_forever, args=(0.01,))
    thread.start()
    yield served
    film.ends.set()
    served.shutdown()
    thread.join()
    served.server_close()


def address_of(server: ThreadingHTTPServer, path: str = "/video") -> str:
    return f"http://me:secret@127.0.0.1:{server.server_port}{path}"


def read_until_trouble(camera: LiveCamera) -> str:
    while True:
        try:
            camera.read(GUARD_S)
        except CameraError as error:
            return str(error)


def opened(spec: str) -> LiveCamera:
    camera = open_camera(spec)
    assert isinstance(camera, LiveCamera)
    return camera


def test_a_camera_in_the_network_gives_its_newest_picture(server: ThreadingHTTPServer) -> None:
    with opened(address_of(server)) as camera:
        assert camera.read(GUARD_S).image.shape == (48, 64, 3)
        assert camera.name == f"http://127.0.0.1:{server.server_port}"
        # its exposure is its own
        camera.lock(True)
        assert camera.read(GUARD_S).source == camera.name


def test_a_camera_that_closes_is_opened_again(server: ThreadingHTTPServer, film: type[Film]) -> None:
    with opened(address_of(server)) as camera:
        camera.read(GUARD_S)
        film.ends.set()
        said = read_until_trouble(camera)
        assert f"127.0.0.1:{server.server_port} went away; look whether it is switched on" in said
        assert "secret" not in said
        assert "plug" not in said
        film.grey = 200
        film.ends.clear()
        assert camera.read(GUARD_S).image.mean() == pytest.approx(200, abs=3)


def test_a_camera_that_stalls_is_opened_again(server: ThreadingHTTPServer, film: type[Film]) -> None:
    with opened(address_of(server)) as camera:
        camera.read(GUARD_S)
        film.sends.clear()
        assert "went away" in read_until_trouble(camera)
        film.sends.set()
        assert camera.read(GUARD_S).image.shape == (48, 64, 3)


def test_silence_says_what_to_do(server: ThreadingHTTPServer, film: type[Film]) -> None:
    with opened(address_of(server)) as camera:
        camera.read(GUARD_S)
        film.sends.clear()
        said = ""
        while not said:
            try:
                camera.read(0.05)
            except FrameTimeoutError as error:
                said = str(error)
        assert "gave no frame within 0.05 s; look whether it is switched on and in this network" in said


def test_what_cannot_be_opened_says_why_and_no_password(server: ThreadingHTTPServer) -> None:
    with pytest.raises(CameraError, match="answers, but sends no film") as told:
        open_camera(address_of(server, "/words?password=secret"))
    assert "secret" not in str(told.value)
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(CameraError, match=r"cannot be reached \(Connection refused\)") as told:
        open_camera(f"rtsp://me:secret@127.0.0.1:{port}/live")
    assert "secret" not in str(told.value)


@pytest.mark.parametrize(
    "spec",
    [
        "usb:http://me:secret@127.0.0.1/video",
        "file:///etc/secret",
        "concat://a|b",
        "ftp://me:secret@camera/film",
        "http://me:secret@:80/",
        "http://me:secret@camera:99999/",
        "rtsp://me:secret@[camera/",
    ],
)
def test_other_addresses_are_refused_without_their_passwords(spec: str) -> None:
    with pytest.raises(CameraError, match="http://") as told:
        open_camera(spec)
    assert "me:" not in str(told.value)
    assert "secret@" not in str(told.value)


@pytest.mark.parametrize("spec", ["usb:concat:a|b", "usb:camera.mp4", "v4l2:/etc/passwd", "usb:-1"])
def test_what_is_no_video_device_is_not_opened_as_one(spec: str) -> None:
    with pytest.raises(CameraError, match="names no video device; expected a number"):
        open_camera(spec)


def test_an_address_is_live_and_no_file() -> None:
    for spec in ("http://camera/video", " HTTPS://camera ", "rtsp://me:secret@camera:8554/live"):
        assert is_live(spec)
        assert source_path(spec) is None


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("rtsp://me:se@cret@camera:8554/user=me&password=secret", "rtsp://camera:8554"),
        ("http://camera?pwd=secret", "http://camera"),
        ("usb:http://me:secret@camera", "http://camera"),
        ("https://[fe80::1]:81/x", "https://[fe80::1]:81"),
        ("rtsp://admin:pa#ss@10.0.0.7/live", "rtsp://…"),
        ("http://admin:p@a/ss@10.0.0.7/live", "http://…"),
        ("rtsp:/me:secret@camera", "rtsp:/camera"),
        ("http+mjpeg://me:secret@camera/x", "http+mjpeg://camera"),
        ("video:rtsp://me:secret@camera", "rtsp://camera"),
        ("images:http://me:secret@camera/x", "http://camera"),
        ("images:/home/me/pictures", "images:/home/me/pictures"),
        ("video:/home/me/game.mp4", "video:/home/me/game.mp4"),
        ("usb:0", "usb:0"),
        ("folder:in", "folder:in"),
    ],
)
def test_only_scheme_host_and_port_are_shown(spec: str, shown: str) -> None:
    assert shown_source(spec) == shown


@pytest.mark.parametrize("scheme", ["http", "rtsp"])
def test_a_camera_that_never_answers_is_given_up(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.network.OPEN_S", 0.3)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        pytest.raises(CameraError, match="answers, but sends no film"),
    ):
        open_camera(f"{scheme}://me:secret@127.0.0.1:{silent.getsockname()[1]}/live")
