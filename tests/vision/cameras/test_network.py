"""Cameras with an address: a real server on loopback that sends, closes, stalls and comes back."""

import resource
import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import cv2
import numpy as np
import pytest

from tests.guard import GUARD_S
from vision.cameras import LiveCamera, is_live, open_camera, shown_source, source_path
from vision.cameras.network import MOST_RTSP_BYTES, has_password
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
    with pytest.raises(CameraError, match=r"sends no film \(404: it knows no such path\)") as told:
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


@pytest.mark.parametrize(
    ("scheme", "says"), [("http", r"does not answer within 0\.3 s"), ("rtsp", "answers, but sends no film")]
)
def test_a_camera_that_never_answers_is_given_up(scheme: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.network.OPEN_S", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(CameraError, match=says):
        open_camera(f"{scheme}://me:secret@127.0.0.1:{silent.getsockname()[1]}/live")


def flood(listening: socket.socket, is_asked: threading.Event) -> None:
    """Answer an RTSP camera's viewer by a description without an end."""
    with suppress(OSError):
        while True:
            connection, _ = listening.accept()
            with suppress(OSError), connection:
                while asked := connection.recv(4096):
                    number = next(line for line in asked.split(b"\r\n") if line.lower().startswith(b"cseq"))
                    head = b"RTSP/1.0 200 OK\r\n" + number + b"\r\n"
                    if asked.startswith(b"OPTIONS"):
                        connection.sendall(head + b"Public: DESCRIBE, SETUP, PLAY\r\n\r\n")
                        continue
                    connection.sendall(head + b"Content-Type: application/sdp\r\nContent-Length: 2147483000\r\n\r\n")
                    is_asked.set()
                    while True:
                        connection.sendall(b"a=x\r\n" * 10_000)


@pytest.fixture
def flooding() -> Iterator[tuple[str, threading.Event]]:
    is_asked = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=flood, args=(listening, is_asked))
        thread.start()
        yield f"rtsp://me:s3cret@127.0.0.1:{listening.getsockname()[1]}/live?pwd=s3cret", is_asked
        listening.shutdown(socket.SHUT_RDWR)
        thread.join()


def test_an_rtsp_camera_that_sends_without_an_end_is_cut_off(flooding: tuple[str, threading.Event]) -> None:
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CameraError, match="sends more than any film takes") as told:
        open_camera(flooding[0])
    assert "s3cret" not in str(told.value)
    # that process has its own memory, which is taken from it
    grew_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib
    assert grew_kib < MOST_RTSP_BYTES // 4096


def test_no_list_of_processes_has_an_rtsp_camera_s_password(flooding: tuple[str, threading.Event]) -> None:
    address, is_asked = flooding

    def is_refused() -> None:
        with pytest.raises(CameraError):
            open_camera(address)

    opening = threading.Thread(target=is_refused)
    opening.start()
    assert is_asked.wait(GUARD_S)
    children = Path(f"/proc/self/task/{opening.native_id}/children").read_text(encoding="ascii").split()
    commands = [Path(f"/proc/{child}/cmdline").read_bytes() for child in children]
    opening.join()
    assert any(b"rtsp_reader" in command for command in commands)
    assert not any(b"s3cret" in command for command in commands)


_SECRET_ADDRESSES = (
    "http://me:s3cret@127.0.0.1:9/video",
    "rtsp://me@127.0.0.1:9/live",
    "http://127.0.0.1:9/video?user=me&pwd=s3cret",
    "http://127.0.0.1:9/video;loginpas=s3cret",
    "rtsp://127.0.0.1:9/user=me&password=s3cret&channel=1",
    "HTTPS://127.0.0.1:9/video?token=s3cret",
)


@pytest.mark.parametrize("address", _SECRET_ADDRESSES)
def test_an_address_with_a_password_is_known_as_such(address: str) -> None:
    assert has_password(address)


@pytest.mark.parametrize(
    "address", ["http://10.0.0.7:8080/video?size=640", "rtsp://camera/live/1", "phone", "0", "folder:me@home/pw=x"]
)
def test_any_other_address_is_none_with_a_password(address: str) -> None:
    assert not has_password(address)


@pytest.mark.parametrize("address", _SECRET_ADDRESSES)
def test_an_address_may_stand_in_a_file(address: str, tmp_path: Path) -> None:
    file = tmp_path / "the camera"
    file.write_text(f"  {address} \nnothing else counts", encoding="utf-8")
    spec = f"address:{file}"
    assert is_live(spec)
    assert source_path(spec) == file
    assert shown_source(spec) == spec
    with pytest.raises(CameraError, match=r"127\.0\.0\.1:9 cannot be reached") as told:
        open_camera(spec)
    assert "s3cret" not in str(told.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "No such file"),
        (b"", "not a camera's address"),
        (b"s3cret", "not a camera's address"),
        (b"file:///s3cret", "not a camera's address"),
        (b"\xffs3cret", "it is not text"),
        (b"http://" + b"s3cret" * 9999, "can't be read"),
    ],
)
def test_a_file_without_an_address_is_refused_and_not_quoted(content: bytes | None, says: str, tmp_path: Path) -> None:
    if content is not None:
        (tmp_path / "camera").write_bytes(content)
    with pytest.raises(CameraError, match=says) as told:
        open_camera(f"address:{tmp_path / 'camera'}")
    assert "s3cret" not in str(told.value)


def test_an_address_is_no_file_with_one() -> None:
    with pytest.raises(CameraError, match=r"no camera has the address http://127\.0\.0\.1") as told:
        open_camera("address:http://me:s3cret@127.0.0.1/video")
    assert "s3cret" not in str(told.value)
