"""A phone as the camera: who may be it, what it may send, what it is told, and that another one asks."""

import re
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import cv2
import numpy as np
import pytest
from starlette.testclient import TestClient

from common.phrases import Phrase
from engine.values import Outcome
from frontends.page.access import FRAMES, Role
from frontends.page.camera import Desk
from frontends.page.guard import HEADERS, MOST_PHOTO_BYTES, Guarded
from frontends.page.server import create_app
from frontends.table_port import PhonePort, TablePort
from tests.frontends.page.page_table import (
    CAMERA_CODE,
    CODES,
    HOST,
    HOUSE,
    access_of,
    client_of,
    paired,
    port_of,
    snapshot_of,
)
from tests.guard import GUARD_S
from vision.cameras.phone import MOST_FRAME_BYTES
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, Reading, Sight

HTML = {"Accept": "text/html"}


def jpeg(width: int = 64, height: int = 48) -> bytes:
    return cv2.imencode(".jpg", np.full((height, width, 3), 90, np.uint8))[1].tobytes()


def phone_of(port: TablePort) -> PhonePort:
    assert port.phone is not None
    return port.phone


class Phone:
    """A phone that is paired, as the camera if nothing else is said."""

    def __init__(self, app: Any, code: str = CAMERA_CODE, name: str = "Ann's phone") -> None:
        self.client = TestClient(app, base_url=HOST, follow_redirects=False)
        self.csrf = ""
        self.pair(code, name)

    def pair(self, code: str, name: str = "") -> Any:
        reply = self.client.post("/api/pair", json={"code": code, "name": name})
        assert reply.status_code == 200, reply.text
        self.csrf = reply.json()["csrf"]
        return reply.json()

    def send(self, data: bytes, do: str = "", **headers: str) -> Any:
        headers |= {"X-CSRF-Token": self.csrf}
        return self.client.post("/frame", params={"do": do} if do else {}, content=data, headers=headers)

    def photograph(self, data: bytes, **headers: str) -> Any:
        headers |= {"X-CSRF-Token": self.csrf, "Accept": "application/json", **headers}
        return self.client.post("/photo", files={"photo": data}, headers=headers)


@pytest.fixture
def port() -> TablePort:
    return port_of()


@pytest.fixture
def access() -> Any:
    return access_of(HOUSE)


@pytest.fixture
def app(port: TablePort, access: Any) -> Any:
    return create_app(port, access)


@pytest.fixture
def phone(app: Any) -> Phone:
    return Phone(app)


def test_a_camera_may_open_its_page_and_send_pictures_and_nothing_else(phone: Phone, app: Any) -> None:
    assert phone.client.get("/camera").status_code == 200
    assert phone.send(jpeg()).status_code == 200
    for route in phone.client.app.routes:  # type: ignore[attr-defined]
        if isinstance(route, Guarded) and route.role > Role.NOBODY:
            path = re.sub(r"\{\w+(:\w+)?\}", "1", route.path)
            for method in (route.methods or set()) - {"HEAD"}:
                assert phone.client.request(method, path, headers={"X-CSRF-Token": phone.csrf}).status_code == 403
    assert phone.client.get("/api/session").status_code == 403


def test_pairing_as_the_camera_leads_to_its_page(port: TablePort, access: Any) -> None:
    client = client_of(port, access)
    reply = client.post("/api/pair", data={"code": CAMERA_CODE, "name": "Ann's phone"})
    assert (reply.status_code, reply.headers["location"]) == (303, "/camera")


@pytest.mark.parametrize("role", [Role.LOOK, Role.PLAY])
def test_no_role_but_the_owners_includes_the_camera(access: Any, role: Role, app: Any) -> None:
    player = Phone(app, CODES[role])
    assert player.client.get("/camera").status_code == 403
    assert player.send(jpeg()).status_code == 403
    assert player.send(b"x" * 100_000).status_code == 413
    # with the camera's code, the device stays what it was
    told = player.pair(CAMERA_CODE)
    assert (told["role"], told["films"]) == (role.name.lower(), True)
    assert player.client.get("/api/session").json()["role"] == role.name.lower()
    assert player.send(jpeg()).status_code == 200
    assert len(access.devices.all()) == 1


def test_an_owner_may_be_the_camera_by_the_owners_code(app: Any) -> None:
    assert Phone(app, CODES[Role.OWN]).send(jpeg()).status_code == 200


def test_without_a_code_nobody_is_the_camera(port: TablePort) -> None:
    closed = replace(HOUSE, camera_code="")
    reply = client_of(port, access_of(closed)).post("/api/pair", json={"code": "", "name": "Eve"})
    assert reply.status_code == 403


def test_only_the_cameras_page_may_use_the_camera(phone: Phone) -> None:
    usual = HEADERS["Permissions-Policy"]
    assert "camera=()" in usual
    assert phone.client.get("/camera").headers["Permissions-Policy"] == usual.replace("camera=()", "camera=(self)")
    for path in ("/pair", "/", "/photo"):
        assert phone.client.get(path).headers["Permissions-Policy"] == usual


def test_a_picture_reaches_the_referee_with_its_age(port: TablePort, phone: Phone) -> None:
    sent = phone.send(jpeg(), **{"X-Age-Ms": "250"})
    assert sent.json() | {"films": True, "sees": False, "every_ms": 167} == sent.json()
    first = phone_of(port).camera.read(0.0)
    assert first.image.shape == (48, 64, 3)
    phone.send(jpeg(), **{"X-Age-Ms": "-7"})
    assert phone_of(port).camera.read(0.0).time_s > first.time_s


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"GIF89a", 422, "is not a whole JPEG"),
        (jpeg()[:-9], 422, "is not a whole JPEG"),
        (jpeg(4000, 8), 422, "1920 pixels along a side are the most"),
        (b"\xff\xd8" + bytes(MOST_FRAME_BYTES), 413, "more than 512 kB"),
    ],
)
def test_what_is_no_picture_or_too_large_is_refused(phone: Phone, data: bytes, status: int, words: str) -> None:
    refused = phone.send(data)
    assert refused.status_code == status
    assert words in refused.json()["words"]


def test_more_pictures_than_asked_for_are_refused(phone: Phone) -> None:
    assert [phone.send(jpeg()).status_code for _ in range(int(FRAMES.burst))] == [200] * int(FRAMES.burst)
    assert phone.send(jpeg()).status_code == 429


def test_pictures_need_the_sessions_token(phone: Phone) -> None:
    assert phone.client.post("/frame", content=jpeg()).status_code == 403
    assert phone.client.post("/photo", files={"photo": jpeg()}).status_code == 403


class SightedReader:
    def where_seen(self, image: Any, reading: Reading) -> Sight:
        square = np.array([[1.2, 2.0], [9.0, 2.0], [9.0, 7.6], [1.0, 8.0]])
        return Sight((64, 48), (square,), (square + 1,), (square - 1,))


def look(port: TablePort, *hindrances: Hindrance) -> None:
    reading = Reading(1, 0.0, {}, hindrances)
    phone_of(port).look(Frame(np.zeros((48, 64, 3), np.uint8), 0.0, 1), SightedReader(), reading, [])


def test_the_phone_is_told_what_the_referee_sees_of_its_picture(port: TablePort, phone: Phone) -> None:
    assert phone.send(jpeg()).json()["words"] == "The referee looks for the table."
    look(port)
    told = phone.send(jpeg()).json()
    assert (told["sees"], told["words"], told["size"]) == (True, "The referee sees the table.", [64, 48])
    assert told["parts"] == [[[1, 2], [9, 2], [9, 8], [1, 8]]]
    assert (len(told["markers"]), len(told["hidden"])) == (1, 1)
    look(port, Hindrance(HindranceKind.DARK, Phrase("the camera sees too little light")))
    told = phone.send(jpeg()).json()
    assert (told["sees"], told["words"]) == (False, "The camera sees too little light.")


def test_after_the_end_of_a_game_fewer_pictures_are_asked_for(port: TablePort, phone: Phone) -> None:
    port.snapshots(snapshot_of(port.game))
    assert phone.send(jpeg()).json()["every_ms"] == 167
    port.snapshots(snapshot_of(port.game, 2, outcome=Outcome("black", "black reached the other side")))
    assert phone.send(jpeg()).json()["every_ms"] == 1000


def test_a_second_phone_asks_and_gets_the_camera_when_it_is_handed_over(port: TablePort, app: Any) -> None:
    first, second = Phone(app), Phone(app, name="Ben's phone")
    assert first.send(jpeg(), "begin").json()["films"]
    asked = second.send(jpeg(80, 60), "begin").json()
    assert (asked["films"], asked["words"]) == (False, "Ann's phone is the camera, and was asked to hand over.")
    assert phone_of(port).camera.read(0.0).image.shape == (48, 64, 3)
    assert first.send(jpeg()).json()["asking"] == "Ben's phone asks to be the camera."
    # the one that asks decides nothing, but may ask no longer
    second.send(b"", "hand over")
    second.send(b"", "stop")
    told = first.send(jpeg()).json()
    assert (told["films"], told["asking"]) == (True, "")
    second.send(jpeg(80, 60), "begin")
    told = first.send(b"", "hand over").json()
    assert (told["films"], told["stopped"]) == (False, True)
    assert second.send(jpeg(80, 60)).json()["films"]
    assert first.send(jpeg()).json()["stopped"]
    assert not first.send(jpeg(), "begin").json()["films"]


def test_a_phone_that_stops_leaves_the_camera_to_others(app: Any) -> None:
    first, second = Phone(app), Phone(app)
    first.send(jpeg())
    assert not second.send(jpeg()).json()["films"]
    assert first.send(b"", "stop").json()["stopped"]
    assert second.send(jpeg()).json()["films"]


def test_an_owners_phone_that_only_asks_stops_no_other(app: Any) -> None:
    ann, owner = Phone(app), Phone(app, CODES[Role.OWN], "owner")
    assert ann.send(jpeg(), "begin").json()["films"]
    assert not owner.send(jpeg(), "begin").json()["films"]
    assert owner.send(b"", "stop").json()["stopped"]
    told = ann.send(jpeg()).json()
    assert (told["films"], told["asking"]) == (True, "")


def test_an_owners_phone_hands_over_and_stops(app: Any) -> None:
    ann, owner = Phone(app), Phone(app, CODES[Role.OWN], "owner")
    assert owner.send(jpeg(), "begin").json()["films"]
    assert not ann.send(jpeg(), "begin").json()["films"]
    assert owner.send(b"", "hand over").json()["stopped"]
    owner.send(b"", "stop")
    assert ann.send(jpeg()).json()["films"]


def test_the_owner_stops_the_camera_or_gives_it_to_the_one_that_asks(app: Any) -> None:
    owner = TestClient(app, base_url=HOST, follow_redirects=False)
    csrf = paired(owner, Role.OWN)
    first, second = Phone(app), Phone(app, name="Ben's phone")
    assert "sends its picture" not in owner.get("/owner").text
    first.send(jpeg())
    second.send(jpeg())
    page = owner.get("/owner").text
    assert "Ann&#39;s phone sends its picture." in page
    assert "Ben&#39;s phone asks to be the camera instead." in page

    def decide(do: str) -> None:
        assert owner.post("/owner/camera", data={"do": do, "csrf": csrf}).headers["location"] == "/owner"

    decide("hand over")
    assert second.send(jpeg()).json()["films"]
    decide("stop")
    assert second.send(jpeg()).json()["stopped"]
    assert second.send(jpeg(), "begin").json()["films"]


def test_only_a_device_that_may_film_is_led_to_the_camera(port: TablePort, app: Any) -> None:
    menu, film, photo = 'href="/camera">\n<svg', "Film with this phone", "Take a photo"
    port.snapshots(snapshot_of(port.game, trouble="No phone sends its picture."))
    owner, player = Phone(app, CODES[Role.OWN]), Phone(app, CODES[Role.PLAY])
    shown = owner.client.get("/").text
    assert (menu in shown, film in shown, photo in shown) == (True, True, False)
    shown = player.client.get("/").text
    assert (menu in shown, film in shown) == (False, False)
    player.pair(CAMERA_CODE)
    shown = player.client.get("/").text
    assert (menu in shown, film in shown) == (True, True)
    phone_of(port).camera.photograph(jpeg())
    port.snapshots(snapshot_of(port.game))
    shown = owner.client.get("/").text
    assert (menu in shown, film in shown, photo in shown) == (True, False, True)
    owner.send(jpeg())
    port.snapshots(snapshot_of(port.game, trouble="The disk is full."))
    shown = owner.client.get("/").text
    assert (film in shown, photo in shown) == (False, False)


def test_what_keeps_the_referee_from_seeing_is_told_as_one_text(port: TablePort, app: Any) -> None:
    said = "Marker no. 3 is hidden. Is something lying on it?"
    port.snapshots(snapshot_of(port.game, trouble=said))
    assert f'<p role="alert">{said}</p>' in Phone(app, CODES[Role.OWN]).client.get("/").text


def test_without_a_phone_as_the_camera_none_is_led_there(access: Any) -> None:
    owner = Phone(create_app(port_of(phone=None), access), CODES[Role.OWN])
    assert 'href="/camera"' not in owner.client.get("/").text


def test_a_phone_that_fell_silent_is_not_asked() -> None:
    now_s = [0.0]
    desk = Desk(lambda: now_s[0])
    ann, ben = (paired_session(name) for name in ("Ann", "Ben"))
    assert desk.take(ann)
    assert not desk.take(ben)
    assert (desk.filming, desk.asking, desk.blocks(ben)) == ("Ann", "Ben", True)
    now_s[0] += 11
    assert (desk.filming, desk.asking, desk.blocks(ben)) == ("Ann", None, True)
    now_s[0] += 18.9
    assert (desk.filming, desk.blocks(ben), desk.blocks(ann)) == ("Ann", True, False), "as long for photos as for films"
    now_s[0] += 0.2
    assert (desk.filming, desk.blocks(ben)) == (None, False)
    assert desk.take(ben)
    assert (desk.filming, desk.asking) == ("Ben", None)


def paired_session(name: str) -> Any:
    access = access_of(HOUSE)
    return access.pair(CAMERA_CODE, name, Role.OWN, "")[0]


@pytest.fixture
def judged(port: TablePort) -> Iterator[list[str]]:
    """Answers every photo in a thread, as the referee does, with the first of these words."""
    words, over = ["Black moves a1 to a2."], threading.Event()

    def judge() -> None:
        camera = phone_of(port).camera
        while not over.is_set():
            try:
                frame = camera.read(0.05)
            except OSError:
                continue
            camera.tell(frame, words[0])

    thread = threading.Thread(target=judge)
    thread.start()
    yield words
    over.set()
    thread.join(GUARD_S)


def test_a_photo_is_judged_and_its_phone_is_told(phone: Phone, judged: list[str]) -> None:
    assert phone.photograph(jpeg(3000, 2000)).json() == {"words": "Black moves a1 to a2."}
    judged[0] = "No marker is in the picture."
    assert phone.photograph(jpeg()).json() == {"words": "No marker is in the picture."}
    german = phone.photograph(jpeg(), **{"Accept-Language": "de"})
    assert german.json() == {"words": "No marker is in the picture."}


def test_without_scripts_a_photo_leads_back_to_the_page_that_says_what_it_showed(
    phone: Phone, judged: list[str]
) -> None:
    for data, words in ((jpeg(), judged[0]), (b"GIF89a", "The photo is not a readable image")):
        fields = {"csrf": phone.csrf}
        sent = phone.client.post("/photo", files={"photo": data}, data=fields, headers=HTML)
        assert sent.headers["location"] == "/camera"
        assert words in phone.client.get("/camera").text


@pytest.mark.parametrize(
    ("data", "status", "words"),
    [
        (b"", 422, "The photo is not a readable image"),
        (b"not a photo", 422, "The photo is not a readable image"),
        (jpeg()[:-9], 422, "The photo is cut off"),
        (bytes(MOST_PHOTO_BYTES), 413, "more than 16384 kB"),
    ],
)
def test_a_photo_that_cannot_be_read_says_why(phone: Phone, data: bytes, status: int, words: str) -> None:
    refused = phone.photograph(data)
    assert refused.status_code == status
    assert words in refused.json()["words"]


def test_a_form_whose_text_cannot_be_read_is_refused(phone: Phone) -> None:
    headers = {"Content-Type": "multipart/form-data; boundary=x; charset=undefined", "X-CSRF-Token": phone.csrf}
    form = b'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\na\r\n--x--\r\n'
    answer = phone.client.post("/photo", content=form, headers=headers)
    assert (answer.status_code, "can't be read" in answer.text) == (400, True)


def test_no_photo_is_judged_while_another_phone_films(app: Any) -> None:
    first, second = Phone(app), Phone(app)
    first.send(jpeg())
    refused = second.photograph(jpeg())
    assert (refused.status_code, "is the camera" in refused.json()["words"]) == (409, True)


def stop_camera(owner: Phone) -> None:
    """Press the button of the owner's page."""
    device = re.findall(r'name="device" value="([^"]+)"', owner.client.get("/owner").text)
    owner.client.post("/owner/camera", data={"do": "stop", "csrf": owner.csrf, "device": device})


@pytest.mark.parametrize("before", ["photos only", "its own film, stopped", "handed over to"])
def test_whatever_the_owners_page_calls_the_camera_is_stopped_there(
    port: TablePort, app: Any, judged: list[str], before: str
) -> None:
    owner, phone, other = Phone(app, CODES[Role.OWN]), Phone(app), Phone(app, name="Ben's phone")
    if before == "its own film, stopped":
        phone.send(jpeg(), "begin")
        phone.send(b"", "stop")
    elif before == "handed over to":
        other.send(jpeg(), "begin")
        phone.send(jpeg(), "begin")
        other.send(b"", "hand over")
        phone.send(b"", "stop")
    assert phone.photograph(jpeg()).json() == {"words": judged[0]}
    assert "Ann&#39;s phone sent the last picture." in owner.client.get("/owner").text
    assert not phone_of(port).camera.is_silent
    stop_camera(owner)
    assert "sent the last picture" not in owner.client.get("/owner").text
    assert phone_of(port).camera.is_silent
    assert (phone.photograph(jpeg()).status_code, phone.send(jpeg()).json()["stopped"]) == (423, True)
    # another device is not stopped
    assert other.photograph(jpeg()).status_code == 200
    page = phone.client.get("/camera").text
    assert ("The owner has stopped this camera" in page, "Send the photo" in page) == (True, False)
    assert phone.client.post("/camera", data={"csrf": phone.csrf}).headers["location"] == "/camera"
    page = phone.client.get("/camera").text
    assert ("The owner has stopped this camera" in page, "Send the photo" in page) == (False, True)
    assert phone.photograph(jpeg()).json() == {"words": judged[0]}


def test_the_owner_stops_the_phone_that_the_page_named(port: TablePort, app: Any, judged: list[str]) -> None:
    owner, ann, ben = Phone(app, CODES[Role.OWN]), Phone(app), Phone(app, name="Ben's phone")
    ann.photograph(jpeg())
    named = re.findall(r'name="device" value="([^"]+)"', owner.client.get("/owner").text)
    ben.photograph(jpeg())
    owner.client.post("/owner/camera", data={"do": "stop", "csrf": owner.csrf, "device": named})
    assert not phone_of(port).camera.is_silent
    assert (ann.photograph(jpeg()).status_code, ben.photograph(jpeg()).status_code) == (423, 200)


def test_a_phone_that_the_owner_stopped_sends_no_photos_either(app: Any, judged: list[str]) -> None:
    phone = Phone(app)
    owner = Phone(app, CODES[Role.OWN])
    phone.send(jpeg(), "begin")
    stop_camera(owner)
    refused = phone.photograph(jpeg())
    words = "The photo was not looked at: the owner has stopped this camera."
    assert (refused.status_code, refused.json()["words"]) == (423, words)
    phone.send(jpeg(), "begin")
    assert phone.photograph(jpeg()).json() == {"words": judged[0]}
    # whoever stops the film with that phone goes on by photos
    phone.send(b"", "stop")
    assert phone.photograph(jpeg()).json() == {"words": judged[0]}


def test_a_photo_is_not_waited_for_forever(phone: Phone, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("frontends.page.camera._JUDGED_S", 0.05)
    late = phone.photograph(jpeg())
    assert (late.status_code, "has not looked at the photo yet" in late.json()["words"]) == (504, True)
    assert phone.photograph(jpeg()).status_code == 504


def test_without_a_phone_as_the_camera_there_is_no_page_for_it() -> None:
    client = client_of(port_of(phone=None))
    assert client.get("/camera").status_code == 404
    assert "To be the camera" not in client.get("/owner").text


def test_the_page_leads_to_the_encrypted_one(port: TablePort, access: Any, app: Any) -> None:
    phone = Phone(app)
    assert "this referee has none" in phone.client.get("/camera").text

    class Opened:
        address, encrypted, fingerprint = "http://10.0.0.7:8000/", "https://10.0.0.7:8443/", "d4:4c:11:22:33"

    phone.client.app.state.opened = Opened  # type: ignore[attr-defined]
    page = phone.client.get("/camera").text
    assert 'href="https://10.0.0.7:8443/camera"' in page
    assert "begins with d4:4c:11:22;" in page
    owner = client_of(port, access)
    paired(owner, Role.OWN)
    owner.app.state.opened = Opened  # type: ignore[attr-defined]
    assert "d4:4c:11:22:33" in owner.get("/owner").text
