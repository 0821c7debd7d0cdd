"""What cameras in the network send by HTTP: a real server on loopback, which writes every byte itself."""

import hashlib
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frontends.page.certificate import load_or_make_certificate
from tests.effort import cases
from tests.guard import GUARD_S
from tests.vision.cameras.answering import Answer, AnsweringCamera, jpeg
from vision.cameras import open_camera
from vision.cameras.http_film import MOST_PICTURE_BYTES, JpegStream
from vision.errors import CameraError
from vision.frame import Image

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=part\r\n\r\n"
PART = b"Content-Type: image/jpeg\r\n\r\n"
ONE = jpeg(100)
NOISE = cv2.imencode(".jpg", np.random.default_rng(1).integers(0, 255, (48, 64, 3), np.uint8))[1].tobytes()


@pytest.fixture
def camera(request: pytest.FixtureRequest) -> Iterator[Callable[..., AnsweringCamera]]:
    opened: list[AnsweringCamera] = []

    def make(answer: Answer, context: ssl.SSLContext | None = None) -> AnsweringCamera:
        opened.append(AnsweringCamera(answer, context))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vision.cameras.network.READ_S", 2.0)
    monkeypatch.setattr("vision.cameras.network._RETRY_S", 0.1)


def sends(*parts: bytes, again: bytes = b"") -> Answer:
    """Send the parts; then ``again`` and again, until the referee has enough."""

    def answer(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"".join(parts))
        while again:
            connection.sendall(again)

    return answer


def address_of(camera: AnsweringCamera, scheme: str = "http", path: str = "/video", user: str = "") -> str:
    return f"{scheme}://{user}127.0.0.1:{camera.port}{path}"


def pictures_of(address: str, count: int = 2) -> list[Image]:
    with open_camera(address) as opened:
        return [opened.read(GUARD_S).image for _ in range(count)]


def refusal_of(address: str) -> str:
    with pytest.raises(CameraError) as told:
        open_camera(address)
    return str(told.value)


def with_thumbnail(picture: bytes) -> bytes:
    """Put a whole small picture into a segment before the pixels, as phones do."""
    inside = b"Exif\0\0" + jpeg(0, (16, 8))
    return picture[:2] + b"\xff\xe1" + (len(inside) + 2).to_bytes(2) + inside + picture[2:]


def without_huffman_tables(picture: bytes) -> bytes:
    """Leave out what cameras leave out of a film's pictures: the usual tables."""
    kept, at = bytearray(picture[:2]), 2
    while picture[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(picture[at + 2 : at + 4])
        if picture[at + 1] != 0xC4:
            kept += picture[at:end]
        at = end
    return bytes(kept + picture[at:])


def chunked(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts)


FILMS = {
    "usual": sends(HEAD, again=b"--part\r\n" + PART + ONE + b"\r\n"),
    "no first boundary": sends(HEAD, again=PART + ONE + b"\r\n--part\r\n"),
    "image/jpg": sends(HEAD, again=b"--part\r\nContent-Type: image/jpg\r\n\r\n" + ONE + b"\r\n"),
    "a length that is too small": sends(HEAD, again=b"--part\r\nContent-Length: 9\r\n\r\n" + ONE + b"\r\n"),
    "a length that is too large": sends(HEAD, again=b"--part\r\nContent-Length: 99999\r\n\r\n" + ONE + b"\r\n"),
    "line feeds alone": sends(HEAD, again=b"--part\nContent-Type: image/jpeg\n\n" + ONE + b"\n"),
    "bare pictures": sends(b"HTTP/1.0 200 OK\r\n\r\n", again=ONE),
    "no head": sends(again=b"--part\r\n" + PART + ONE + b"\r\n"),
    "in chunks": sends(
        HEAD.replace(b"\r\n\r\n", b"\r\nTransfer-Encoding: chunked\r\n\r\n"),
        again=chunked(b"--part\r\n" + PART + ONE[:9], ONE[9:] + b"\r\n"),
    ),
    "a picture inside": sends(HEAD, again=b"--part\r\n" + PART + with_thumbnail(ONE) + b"\r\n"),
    "no Huffman tables": sends(HEAD, again=b"--part\r\n" + PART + without_huffman_tables(ONE) + b"\r\n"),
    "broken ones between": sends(HEAD, again=b"--part\r\n" + PART + NOISE[:-200] + b"\r\n--part\r\n" + PART + ONE),
    "words in vain between": sends(HEAD, again=b"\xff" * 5000 + ONE),
}


@pytest.mark.parametrize("kind", FILMS)
def test_the_films_that_cameras_send_are_seen(camera: Callable[..., AnsweringCamera], kind: str) -> None:
    for picture in pictures_of(address_of(camera(FILMS[kind]))):
        assert picture.shape == (48, 64, 3)
        assert picture.mean() == pytest.approx(100, abs=3)


@settings(max_examples=cases(100))
@given(
    st.lists(st.tuples(st.binary(max_size=60), st.sampled_from([ONE, NOISE, with_thumbnail(ONE)])), max_size=5),
    st.lists(st.integers(1, 4000), min_size=1, max_size=20),
)
def test_pictures_are_found_however_they_arrive(parts: list[tuple[bytes, bytes]], sizes: list[int]) -> None:
    sent = b"".join(junk.replace(b"\xff", b"") + picture for junk, picture in parts)
    stream, found, at = JpegStream(), list[bytes](), 0
    for size in cycle(sizes):
        if at >= len(sent):
            break
        stream.add(sent[at : at + size])
        at += size
        while (picture := stream.take()) is not None:
            found.append(picture)
    assert found == [picture for _, picture in parts]
    assert stream.waiting_bytes <= 1


@settings(max_examples=cases(100))
@given(st.lists(st.one_of(st.binary(max_size=40), st.sampled_from([b"\xff", b"\xff\xd8", b"\xff\xd9", b"\xff\xe1"]))))
def test_whatever_else_arrives_gives_no_picture_without_both_its_ends(pieces: list[bytes]) -> None:
    stream = JpegStream()
    for piece in pieces:
        stream.add(piece)
        while (picture := stream.take()) is not None:
            assert (picture[:2], picture[-2:]) == (b"\xff\xd8", b"\xff\xd9")
    assert stream.waiting_bytes <= sum(map(len, pieces))


def test_pictures_keep_their_shape_where_it_changes(camera: Callable[..., AnsweringCamera]) -> None:
    film = sends(HEAD, again=b"--part\r\n" + PART + ONE + b"--part\r\n" + PART + jpeg(100, (48, 64)))
    shapes = {picture.shape[:2] for picture in pictures_of(address_of(camera(film)), 40)}
    assert shapes == {(48, 64), (64, 48)}


@pytest.mark.parametrize("length", [b"", b"Content-Length: %d\r\n" % len(ONE)])
def test_the_address_of_a_single_picture_is_asked_again_and_again(
    camera: Callable[..., AnsweringCamera], length: bytes
) -> None:
    there = camera(sends(b"HTTP/1.1 200 OK\r\nContent-Type: image/jpeg\r\n" + length + b"\r\n" + ONE))
    assert len(pictures_of(address_of(there, path="/shot.jpg"), 3)) == 3
    assert len(there.asked) >= 3


def test_a_proxy_of_the_environment_is_not_asked(
    camera: Callable[..., AnsweringCamera], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert pictures_of(address_of(camera(FILMS["usual"])))


def answer_of(status: str, *headers: str) -> bytes:
    return "\r\n".join([f"HTTP/1.1 {status}", *headers, "Content-Length: 0", "", ""]).encode()


def wants(challenge: str, is_right: Callable[[bytes], bool]) -> Answer:
    def answer(connection: socket.socket, asked: bytes) -> None:
        if is_right(asked):
            FILMS["usual"](connection, asked)
        else:
            connection.sendall(answer_of("401 Unauthorized", f"WWW-Authenticate: {challenge}"))

    return answer


def knows_digest(asked: bytes, algorithm: str = "md5", password: str = "s e@c/ret") -> bool:
    """Whether a request answers the nonce with the password (RFC 2617, RFC 7616)."""

    def digest_of(text: str) -> str:
        return hashlib.new(algorithm, text.encode()).hexdigest()

    fields = dict(
        part.strip().split("=", 1)
        for line in asked.decode().split("\r\n")
        if line.startswith("Authorization: Digest")
        for part in line.partition("Digest")[2].split(",")
    )
    if not fields:
        return False
    user, path = digest_of(f"me:hall:{password}"), digest_of("GET:/video?x=1")
    given = {name: value.strip('"') for name, value in fields.items()}
    return given["response"] == digest_of(":".join([user, "n0nce", given["nc"], given["cnonce"], "auth", path]))


def test_user_and_password_are_told_as_the_camera_wants_them(camera: Callable[..., AnsweringCamera]) -> None:
    user = "me:s%20e%40c%2Fret@"
    basic = camera(wants('Basic realm="hall"', lambda asked: b"Authorization: Basic bWU6cyBlQGMvcmV0\r\n" in asked))
    digest = camera(wants('Digest realm="hall", nonce="n0nce", qop="auth", algorithm=MD5', knows_digest))
    assert pictures_of(address_of(basic, user=user))
    assert pictures_of(address_of(digest, path="/video?x=1", user=user))
    # nothing is told unasked
    assert b"Authorization" not in basic.asked[0]


SHA_256 = 'Digest realm="hall", nonce="n0nce", qop="auth", algorithm=SHA-256'
UNKNOWN_DIGEST = SHA_256.replace("SHA-256", "SHA-512-256")


@pytest.mark.parametrize(
    ("challenge", "algorithm"),
    [
        (SHA_256, "sha256"),
        (f"{SHA_256}\r\nWWW-Authenticate: {UNKNOWN_DIGEST}", "sha256"),
        (SHA_256.replace("SHA-256", "md5"), "md5"),
    ],
)
def test_any_digest_that_is_known_is_answered(
    camera: Callable[..., AnsweringCamera], challenge: str, algorithm: str
) -> None:
    asking = camera(wants(challenge, lambda asked: knows_digest(asked, algorithm, "gehört")))
    assert pictures_of(address_of(asking, path="/video?x=1", user="me:geh%C3%B6rt@"))


@pytest.mark.parametrize(
    ("user", "says"),
    [
        ("", "(401: it wants a user and a password)"),
        ("me:pw@", "(401: it asks for the password in a way that the referee does not know)"),
    ],
)
@pytest.mark.parametrize("challenge", [UNKNOWN_DIGEST, 'Digest realm="hall"', "Bearer"])
def test_an_unknown_question_for_the_password_is_told(
    camera: Callable[..., AnsweringCamera], challenge: str, user: str, says: str
) -> None:
    asking = camera(sends(answer_of("401 Unauthorized", f"WWW-Authenticate: {challenge}")))
    with pytest.raises(CameraError) as caught:
        pictures_of(address_of(asking, user=user))
    assert says in str(caught.value)


def endless(connection: socket.socket, _: bytes) -> None:
    connection.sendall(HEAD + b"--part\r\nContent-Length: 10737418240\r\n\r\n" + ONE[:-2].replace(b"\xff\xd9", b""))
    while True:
        connection.sendall(bytes(1 << 16))


def slow(connection: socket.socket, _: bytes) -> None:
    tick = threading.Event()
    for byte in HEAD:
        connection.sendall(bytes((byte,)))
        tick.wait(0.1)


def claims(width: int, height: int) -> bytes:
    at = ONE.index(b"\xff\xc0")
    return ONE[: at + 5] + height.to_bytes(2) + width.to_bytes(2) + ONE[at + 9 :]


def only_waits(connection: socket.socket, _: bytes) -> None:
    connection.recv(1)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (sends(answer_of("404 Not Found")), "sends no film (404: it knows no such path)"),
        (
            sends(answer_of("401 Unauthorized", 'WWW-Authenticate: Basic realm="\x1b]0;x"')),
            "(401: it wants another user or password)",
        ),
        (sends(answer_of("418 Teapot")), "sends no film (418)"),
        (
            sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<html>"),
            "no whole picture (JPEG); it sends text/html.",
        ),
        (
            sends(b"HTTP/1.1 200 OK\r\nContent-Type: text/\x1b[2Jhtml\r\n\r\n<html>"),
            "no whole picture (JPEG); it sends text/ [2jhtml.",
        ),
        (sends(HEAD, again=b"--part\r\n" + PART + claims(65500, 65500)), "65500 x 65500 pixels; 25 million are the"),
        (sends(b"HTTP/1.1 200 OK\r\n\r\n" + claims(65500, 65500)), "65500 x 65500 pixels; 25 million are the most"),
        (endless, "sends a picture without an end: more than 16 MiB"),
        (slow, "does not answer within 0.5 s"),
        (only_waits, "does not answer within 0.5 s"),
        (sends(b"HTTP/1.1 200 OK\r\n", again=b"X: " + bytes(1 << 16)), "sends an answer that can't be read"),
        (sends(answer_of("302 Found", "Location: http://127.0.0.2/")), "leads to another machine"),
        (sends(answer_of("302 Found", "Location: file:///etc/passwd")), "leads to another machine"),
        (sends(answer_of("302 Found", "Location: /again")), "sends no film (302)"),
    ],
)
def test_the_cause_that_is_told_is_the_true_one(
    camera: Callable[..., AnsweringCamera], answer: Answer, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("vision.cameras.network.OPEN_S", 20.0 if answer is endless else 0.5)
    said = refusal_of(address_of(camera(answer), user="me:s3cret@", path="/video?pwd=s3cret"))
    assert says in said
    assert "s3cret" not in said


def test_a_redirect_within_the_same_host_is_followed(camera: Callable[..., AnsweringCamera]) -> None:
    film = camera(FILMS["usual"])
    leads = camera(sends(answer_of("302 Found", f"Location: http://127.0.0.1:{film.port}/elsewhere")))
    assert pictures_of(address_of(leads))
    assert film.asked[0].startswith(b"GET /elsewhere HTTP/1.1\r\n")


def test_a_picture_without_an_end_takes_little_memory(camera: Callable[..., AnsweringCamera]) -> None:
    sent = [0]

    def counts(connection: socket.socket, _: bytes) -> None:
        connection.sendall(HEAD + ONE + ONE[:-2])
        while True:
            sent[0] += connection.send(bytes(1 << 16))

    with open_camera(address_of(camera(counts))) as opened:
        opened.read(GUARD_S)
        with pytest.raises(CameraError, match="without an end") as told:
            opened.read(GUARD_S)
    assert "the referee tries every 0.1 s" in str(told.value)
    # what lies in the buffers of both sockets comes on top
    assert sent[0] < 3 * MOST_PICTURE_BYTES


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[ssl.SSLContext, str]:
    """A certificate that nobody vouches for, and its SHA-256."""
    made = load_or_make_certificate(tmp_path / "certificate", (), "127.0.0.1", datetime.now(UTC))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "certificate")
    return context, made.fingerprint


def test_a_password_is_not_sent_to_a_certificate_that_nobody_vouches_for(
    camera: Callable[..., AnsweringCamera], certificate: tuple[ssl.SSLContext, str]
) -> None:
    context, fingerprint = certificate
    there = camera(FILMS["usual"], context)
    for secret in (
        address_of(there, "https", user="me:s3cret@"),
        address_of(there, "https", path="/video?user=me&pwd=s3cret"),
    ):
        said = refusal_of(secret)
        assert f"#sha256={fingerprint.replace(':', '').lower()} at the end of its address" in said
        assert there.asked == []
    # without a password there is nothing to lose
    assert pictures_of(address_of(there, "https"))


def test_a_certificate_that_the_address_names_is_believed_and_no_other(
    camera: Callable[..., AnsweringCamera], certificate: tuple[ssl.SSLContext, str]
) -> None:
    context, fingerprint = certificate
    there = camera(FILMS["usual"], context)
    assert pictures_of(f"{address_of(there, 'https', user='me:s3cret@')}#sha256={fingerprint}")
    asked = len(there.asked)
    other = f"{address_of(there, 'https', user='me:s3cret@')}#sha256={'0' * 64}"
    assert "another certificate than the one in its address" in refusal_of(other)
    assert len(there.asked) == asked
