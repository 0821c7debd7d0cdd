"""The set-up on the page: access, answers, photos, questions and going back, with several phones."""

import errno
import io
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import cast
from urllib.parse import parse_qs, urlsplit

import cv2
import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from app.cli.start import page_key
from app.settings.configuration import load as load_settings
from app.settings.settings import Settings
from app.setup.page import PageDialogue, SetUpEnvironment, SetUpPage
from app.setup.picture_checks import SharedCamera
from app.setup.routes import create_set_up
from app.setup.screens import Screen, StepView
from app.setup.steps import Progress
from app.setup.table_setup import (
    ADDRESS_FILE,
    Dialogue,
    Field,
    FieldKind,
    FoundCamera,
    Inspection,
    MakeMap,
    StepState,
    TableSetup,
)
from common.findings import Finding, Severity
from common.phrases import Phrase
from engine.registry import games, load
from frontends.languages import sentences
from frontends.page.access import Access, Role, load_or_make_key
from frontends.page.devices import PairedDevices, devices_path
from frontends.page.guard import MOST_PHOTO_BYTES, Guarded
from frontends.page.server import OpenPage, key_path
from frontends.page.views import qr_to_pair
from frontends.table_port import PhonePort
from hardware.lights.light_map import LightMap, write_light_map
from tests.frontends.page.page_table import CAMERA_CODE, CODES, HOST, HOUSE, access_of, paired, port_of
from tests.frontends.page.page_table import client_of as page_client_of
from tests.vision.cameras.answering import AnsweringCamera, jpeg
from vision.cameras.phone import PhoneCamera
from vision.errors import CameraError
from vision.frame import Frame, Image

WAIT_S = 20.0


def png(image: Image) -> bytes:
    return cv2.imencode(".png", image)[1].tobytes()


def grey(size: tuple[int, int] = (640, 360)) -> Image:
    return np.full((size[1], size[0], 3), 120, np.uint8)


@pytest.fixture
def camera(tmp_path: Path) -> str:
    folder = tmp_path / "seen"
    folder.mkdir()
    cv2.imwrite(str(folder / "1.png"), grey())
    return f"folder:{folder}"


def no_maps(_: PageDialogue) -> tuple[MakeMap, MakeMap]:
    raise AssertionError("nothing is mapped here")


def page_in(
    folder: Path, kept: Progress | None = None, camera: str | None = None, *, is_new: bool = False, **more: object
) -> SetUpPage:
    said: list[str] = []
    environment = SetUpEnvironment(folder, SharedCamera(patience_s=0.1), date(2026, 5, 1), "a4", no_maps, said.append)
    # A dialogue waits for answers, anything else is awaited.
    environment.patience_s = 0.0 if "makers" in more else WAIT_S
    for name, value in more.items():
        setattr(environment, name, value)
    return SetUpPage(environment, kept, camera, is_new=is_new)


def done_until(step: str, folder: Path, camera: str, **values: object) -> Progress:
    """The progress after every step before this one; the camera is chosen before anything is printed."""
    names = [
        "kit",
        "camera",
        "print",
        "table",
        "grid",
        "lights",
        "light-map",
        "switches",
        "switch-map",
        "pieces",
    ]
    seen = {"camera.source": camera, "camera.width_px": 640, "camera.height_px": 360}
    return Progress(folder, "deblockle", names[: names.index(step)], {**seen, **values})


def before_camera(folder: Path, source: str = "") -> Progress:
    """The progress after every step before that of the camera."""
    return Progress(folder, "deblockle", ["kit", "print"], {"camera.source": source} if source else {})


def test_a_game_can_be_chosen_changed_and_is_kept(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, camera=camera)
    view = page.view()
    assert (page.title, view.name) == ("", "game")
    assert [form.answer for _, form in view.screen.options] == list(games())
    page.answer("game", ["chess"])
    assert page.view().name == "game"
    choose(page, "number-drop")
    assert (page.title, page.view().name) == ("Number Drop", "kit")
    page.back("kit")
    choose(page, "deblockle")
    page.answer("kit", ["1"])
    page.answer("print", ["0", "0"])
    assert [form.camera for _, form in page.view().screen.options] == ["", "", camera]
    assert page.answer("camera", [camera]) == [camera]
    assert page.view("camera", [camera]).shows_picture
    page.answer("camera", [camera, "0"])
    assert page.view().name == "table"
    again = page_in(tmp_path, Progress.load(tmp_path, None))
    assert (again.title, again.view().name) == ("Deblockle", "table")
    assert [state for *_, state in again.view().steps][2:5] == [StepState.DONE, StepState.NOW, StepState.AHEAD]
    again.go("table", "print")
    assert (again.file("board.pdf") or b"").startswith(b"%PDF")
    assert again.file("referee.toml") is None
    assert again.file("../seen/1.png") is None


def choose(page: SetUpPage, game: str) -> None:
    """Choose a game on the first screen."""
    page.answer("game", [str(list(games()).index(game))])


def test_a_camera_is_chosen_by_its_picture(tmp_path: Path, camera: str) -> None:
    plugged_in: list[FoundCamera] = []
    page = page_in(tmp_path, before_camera(tmp_path), cameras=lambda: tuple(plugged_in))
    assert [form.is_rare for _, form in page.view().screen.options] == [True, True]
    before = page.state()
    plugged_in += [FoundCamera(camera, "HD Webcam"), FoundCamera("images:/not/here", "Broken")]
    assert page.state() != before, "the page shows it by itself"
    assert page.snapshot(camera) is not None
    assert page.snapshot("images:/not/here") is None
    assert page.snapshot("/etc/passwd") is None
    page.answer("camera", ["images:/not/here"])
    assert page.inspect(again=True).picture is None
    page.answer("camera", [camera])
    assert page.inspect(again=True).picture is not None
    assert page.answer("camera", ["0", "bla"]) == ()
    assert "There is no camera 'bla'." in page.view().findings[0].message
    assert page.inspect(again=True).picture is not None, "the camera stays"
    page.answer("camera", ["0", "3"])
    assert "Camera 3" in [form.button for _, form in page.view().screen.options]


@pytest.fixture
def filming() -> Iterator[AnsweringCamera]:
    """A camera in the network."""
    tick = threading.Event()

    def film(connection: socket.socket, _: bytes) -> None:
        connection.sendall(b"HTTP/1.0 200 OK\r\n\r\n")
        while not tick.wait(0.02):
            connection.sendall(jpeg(120))

    opened = AnsweringCamera(film)
    yield opened
    tick.set()
    opened.close()


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        (["0", "http://me:s3cret@HOST/shot.jpg"], "http://me:s3cret@HOST/shot.jpg"),
        (["0", "http://HOST/shot.jpg?user=me&pwd=s3cret"], "http://HOST/shot.jpg?user=me&pwd=s3cret"),
        (["1", "http://HOST/shot.jpg", "me", "s3cret"], "http://me:s3cret@HOST/shot.jpg"),
        (["1", "http://you:s3cret-2@HOST/shot.jpg", "me", "s3cret/@ #"], "http://me:s3cret%2F%40%20%23@HOST/shot.jpg"),
    ],
)
def test_a_camera_s_password_is_in_a_file_of_its_own_and_in_no_page(
    tmp_path: Path, filming: AnsweringCamera, typed: list[str], kept: str
) -> None:
    host = f"127.0.0.1:{filming.port}"
    page = page_in(tmp_path, before_camera(tmp_path))
    client = TestClient(create_set_up(page, access_of()), base_url="http://127.0.0.1:8000", follow_redirects=False)
    csrf = csrf_in(client)
    given = [each.replace("HOST", host) for each in typed]
    reply = client.post("/do", data={"csrf": csrf, "do": "answer", "step": "camera", "a": given})
    leads_to = reply.headers["location"]
    shown = [client.get(leads_to).text, client.get("/").text, client.get("/?step=camera&a=0").text]
    assert "Is the whole table in the picture?" in shown[0]
    assert client.get("/picture.jpg").headers["content-type"] == "image/jpeg"
    chosen = parse_qs(urlsplit(leads_to).query)["a"]
    client.post("/do", data={"csrf": csrf, "do": "answer", "step": "camera", "a": [*chosen, "0"]})
    assert page.view().name == "table"
    page.close()
    file = tmp_path / ADDRESS_FILE
    assert file.read_text() == kept.replace("HOST", host) + "\n"
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [each for each in (leads_to, *shown) if "s3cret" in each]
    others = [each.read_bytes() for each in tmp_path.iterdir() if each != file and each.is_file()]
    assert others
    assert not [each for each in others if b"s3cret" in each]


def test_a_password_that_the_settings_have_is_shown_nowhere_either(tmp_path: Path) -> None:
    page = page_in(tmp_path, before_camera(tmp_path, "http://me:s3cret@127.0.0.1:9/"))
    client = TestClient(create_set_up(page, access_of()), base_url="http://127.0.0.1:8000", follow_redirects=False)
    assert "s3cret" not in client.get("/").text + client.get("/?step=camera&a=0").text
    page.skip("camera")
    assert "s3cret" not in (tmp_path / "referee.toml").read_text()
    assert "s3cret" in (tmp_path / ADDRESS_FILE).read_text()


def test_what_is_no_address_is_refused_and_its_password_forgotten(tmp_path: Path) -> None:
    page = page_in(tmp_path, before_camera(tmp_path))
    for address in ("", "192.168.1.7", "file:///etc/passwd"):
        assert page.answer("camera", ["1", address, "me", "s3cret"]) == ()
        assert "This is not an address." in page.view().findings[0].message
    assert list(tmp_path.iterdir()) == []


def test_another_address_in_the_same_file_is_another_camera(tmp_path: Path, filming: AnsweringCamera) -> None:
    (tmp_path / ADDRESS_FILE).write_text("http://127.0.0.1:9/x")
    spec, camera = f"address:{tmp_path / ADDRESS_FILE}", SharedCamera(patience_s=WAIT_S)
    with closing(camera), pytest.raises(CameraError, match="cannot be reached"):
        camera.look(spec)
    with closing(camera):
        for name in ("one", "two"):
            (tmp_path / ADDRESS_FILE).write_text(f"http://127.0.0.1:{filming.port}/{name}")
            camera.look(spec)
    assert any(b"GET /one " in asked for asked in filming.asked)
    assert filming.asked[-1].startswith(b"GET /two ")


@pytest.mark.parametrize(
    ("plugged_in", "chosen", "may_film"),
    [((), None, True), (("0",), None, False), (("0",), "phone", True), ((), "pi", False)],
)
def test_the_phone_is_led_to_the_encrypted_page_if_it_may_become_the_camera(
    tmp_path: Path, plugged_in: Sequence[str], chosen: str | None, may_film: bool
) -> None:
    found = [FoundCamera(each, "HD Webcam") for each in (*plugged_in, "phone")]
    port = PhonePort(PhoneCamera(time.monotonic))
    kept = None if chosen is None else Progress(tmp_path, "deblockle", [], {"camera.source": chosen})
    assert page_in(tmp_path, kept, phone=port, cameras=lambda: found).may_film is may_film
    assert not page_in(tmp_path, kept, cameras=lambda: found).may_film
    page = OpenPage("http://tablepi:8000/", {Role.OWN: "12345678"}, "https://tablepi:8443/")
    led_to = "https://tablepi:8443/" if may_film else "http://tablepi:8000/"
    drawn = io.StringIO()
    qr_to_pair(led_to, "12345678").terminal(drawn, compact=True)
    assert page.qr(films=may_film) == drawn.getvalue()


def test_each_screen_asks_one_thing_and_what_was_measured_is_filled_in(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("print", tmp_path, camera))
    assert page.view().files
    assert [form.answer for _, form in page.view("print", ["0"]).screen.options] == ["100", ""]
    asked = page.view("print", ["0", "1"]).screen
    assert (asked.field is not None, asked.given) == (True, ("0", "1"))
    assert page.answer("print", ["0", "1", "10"]) == ["0", "1", "10"]
    asked = page.view("print", ["0", "1", "10"]).screen
    assert (asked.trouble, asked.value) == ("10? That looks like centimetres: 100 mm.", "100")
    page.answer("print", ["0", "1", "97"])
    asked, found = page.view("print", ["0", "1", "97"]).screen, page.view().findings
    assert (asked.value, "103.1 %" in found[0].remedy) == ("97", True)
    assert page.view("print", ["0", "1", "97"]).files, "they are printed again"
    page.answer("print", ["0", "1", "-5"])
    assert page.view("print", ["0", "1", "-5"]).findings == (), "what was wrong with an earlier answer"
    assert page.view("table", ["0", "1", "97"]).screen.given == (), "another step's answers lead nowhere"
    page.answer("print", ["0", "0"])
    assert page.view().name == "table"


def test_a_step_done_on_another_phone_is_not_done_twice(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("print", tmp_path, camera))
    before = page.state()
    page.skip("print")
    assert page.state() != before
    for deed in (page.skip, page.back, lambda step: page.answer(step, ["0", "0"])):
        deed("print")
    assert page.view().name == "table"
    page.back("table")
    assert page.view().name == "camera"


def test_a_missing_camera_is_reported_in_place_of_its_picture(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, before_camera(tmp_path), "images:/not/here")
    inspection = page.inspect(again=True)
    assert inspection.picture is None
    assert (inspection.findings[0].subject, inspection.findings[0].severity) == ("The camera", Severity.FAULT)
    page.answer("camera", ["1", camera])
    assert page.view().name == "camera"
    inspection = page.inspect(again=True)
    assert inspection.picture is not None
    assert {str(each.subject) for each in inspection.findings} == {"picture", "markers"}
    assert page.inspect(again=False).picture is inspection.picture


def test_a_photo_is_taken_for_the_set_up_whatever_its_size(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("pieces", tmp_path, camera))
    page.take_photo("pieces", b"no photo")
    assert "expected JPEG or PNG" in page.view().findings[-1].message
    assert not (tmp_path / "photo.png").exists()
    page.take_photo("pieces", png(grey((320, 240))))
    assert "none of markers 0 to 3 was seen" in page.view().findings[0].message


def test_lights_are_mapped_by_questions_on_the_phone(tmp_path: Path, camera: str) -> None:
    asked = threading.Event()

    def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def lights(settings: Settings, path: Path) -> bool:
            dialogue.console.print("Light 0: I am not sure.")
            asked.set()
            answer = dialogue.ask("Which square is light 0 under?")
            dialogue.console.print(f"a1 or {answer}")
            places = load("deblockle").places
            write_light_map(LightMap({place: (number,) for number, place in enumerate(places)}, lights=49), path)
            return answer == "a1"

        def switches(settings: Settings, path: Path) -> bool:
            raise AssertionError

        return lights, switches

    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    assert page.view().name == "light-map"
    before = page.state()
    page.answer("light-map", ["0"])
    assert asked.wait(WAIT_S)
    wait_for(lambda: bool((shown := page.view().dialogue) and shown.question))
    dialogue = page.view().dialogue
    assert dialogue is not None
    assert dialogue.lines == ("Light 0: I am not sure.",)
    assert dialogue.question == "Which square is light 0 under?"
    assert page.state() != before
    page.skip("light-map")
    page.back("light-map")
    assert page.view().name == "light-map"
    page.say("light-map", "a2", "0")
    page.say("light-map", "a1", dialogue.number)
    wait_for(lambda: page.view().name != "light-map")
    assert (page.view().name, page.view().dialogue) == ("switches", None)
    assert (tmp_path / "lights.toml").is_file()


def test_an_unanswered_dialogue_ends_when_the_page_closes(tmp_path: Path, camera: str) -> None:
    ended: list[str] = []

    def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def maps(settings: Settings, path: Path) -> bool:
            try:
                dialogue.ask("Which?")
            except EOFError:
                ended.append("ended")
            return False

        return maps, maps

    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    page.answer("light-map", ["0"])
    page.close()
    assert ended == ["ended"]
    assert page.view().findings[0].message == "nothing was found"


def test_the_end_names_what_is_missing_and_leads_there(tmp_path: Path, camera: str) -> None:
    kept = done_until("pieces", tmp_path, camera)
    page = page_in(tmp_path, kept)
    page.skip("pieces")
    assert page.is_over
    view = page.view()
    assert (view.name, view.may_start, view.missing) == (
        "",
        True,
        (("pieces", "The set-up"), ("turn", "A test turn")),
    )
    page.go("pieces", "table")
    page.back("nowhere")
    assert page.view().name == "", "another phone has moved on"
    page.go("", "pieces")
    assert page.view().name == "pieces"
    assert page_in(tmp_path, Progress.load(tmp_path, None)).view().name == "pieces"
    page.skip("pieces")
    page.back("")
    # A turn is tested only after a set-up that was seen in the same run.
    assert page.view().name == "pieces"


def test_a_step_done_again_has_those_done_again_that_use_it(tmp_path: Path, camera: str) -> None:
    page = page_in(tmp_path, done_until("pieces", tmp_path, camera))
    page.go("pieces", "table")
    assert [name for name, _, state in page.view().steps if state is StepState.DONE] == [
        "kit",
        "print",
        "camera",
        "lights",
        "switches",
    ]


def test_the_referee_starts_once_all_is_done(tmp_path: Path, camera: str) -> None:
    started: list[bool] = []
    kept = done_until("pieces", tmp_path, camera)
    kept.done += ["pieces", "turn"]
    kept.keep(kept.values)
    variables = {"REFEREE_CAMERA_SOURCE": "1"}
    page = page_in(tmp_path, kept, variables=variables, start=lambda: started.append(True))
    view = page.view()
    assert (view.title, view.missing, view.may_start) == ("The table is ready", (), True)
    assert "$REFEREE_CAMERA_SOURCE" in view.instructions[1]
    assert not page.start("camera"), "another phone went back"
    assert page.start("")
    assert page.start(""), "pressed twice"
    assert (started, page.is_starting) == ([True], True)
    page.say_not_started("the camera is gone")
    assert (page.is_starting, page.view().findings[0].message) == (False, "the camera is gone")


def test_what_takes_long_is_shown_at_work_and_can_be_stopped(
    tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told, go_on = threading.Event(), threading.Event()

    def picture(_: TableSetup) -> Frame:
        told.set()
        assert go_on.wait(WAIT_S)
        return Frame(grey(), 0.0, 0)

    page = page_in(tmp_path, done_until("pieces", tmp_path, camera), patience_s=0.0)
    before = page.state()
    monkeypatch.setattr(TableSetup, "picture", picture)
    assert page.answer("pieces", ["0"]) == ["0"]
    assert told.wait(WAIT_S)
    assert page.view().dialogue is not None
    assert page.state() != before
    page.skip("pieces")
    page.answer("pieces", ["0"])
    page.stop("pieces")
    go_on.set()
    page.close()
    view = page.view()
    assert (view.name, view.dialogue, view.findings) == ("pieces", None, ())
    assert "table.looks" not in (Progress.load(tmp_path, None) or Progress(tmp_path, "")).values


def test_settings_of_another_game_are_replaced_only_if_confirmed(tmp_path: Path, camera: str) -> None:
    Progress(tmp_path, "deblockle", ["kit"]).keep({"game.name": "deblockle", "lights.brightness": 0.5})
    before = (tmp_path / "referee.toml").read_text()
    page = page_in(tmp_path)
    choose(page, "blockade")
    view = page.view()
    assert (page.title, view.name) == ("", "game")
    assert view.screen.asks == "Replace what is set up here?"
    page.answer("game", ["0"])
    assert (page.title, page.view().name) == ("Blockade", "kit")
    assert (tmp_path / "referee.toml").read_text() == before
    page.back("kit")
    choose(page, "deblockle")
    assert (page.title, page.view().name) == ("Deblockle", "print")


def test_a_new_set_up_of_the_same_game_begins_with_the_first_step(tmp_path: Path, camera: str) -> None:
    Progress(tmp_path, "deblockle", ["kit"]).keep({"game.name": "deblockle", "camera.source": camera})
    page = page_in(tmp_path, is_new=True)
    choose(page, "deblockle")
    assert page.view().name == "game"
    page.answer("game", ["0"])
    assert page.view().name == "kit"


def test_a_second_answer_to_a_question_does_not_answer_the_next_one(tmp_path: Path, camera: str) -> None:
    answers: list[str] = []

    def makers(dialogue: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def maps(settings: Settings, path: Path) -> bool:
            answers.extend(dialogue.ask(f"Light {number}?") for number in range(2))
            return False

        return maps, maps

    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    page.answer("light-map", ["0"])
    first = number_of_question(page, "Light 0?")
    for _ in range(2):
        page.say("light-map", "c3", first)
    page.say("light-map", "d4", number_of_question(page, "Light 1?"))
    wait_for(lambda: page.view().dialogue is None)
    assert answers == ["c3", "d4"]


def number_of_question(page: SetUpPage, question: str) -> str:
    """Wait for a question, and return its number."""

    def shown(view: StepView) -> bool:
        return view.dialogue is not None and view.dialogue.question == question

    wait_for(lambda: shown(page.view()))
    dialogue = page.view().dialogue
    assert dialogue is not None
    return dialogue.number


def test_a_step_that_cannot_be_saved_is_not_done(tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_in(tmp_path, done_until("print", tmp_path, camera))
    page.view()

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(Progress, "keep", fail)
    for deed in (lambda: page.answer("print", ["0", "0"]), lambda: page.skip("print"), lambda: page.back("print")):
        deed()
        view = page.view()
        assert (view.name, view.findings[-1].subject, "no room" in view.findings[-1].message) == (
            "print",
            "Printing",
            True,
        )
    monkeypatch.undo()
    page.answer("print", ["0", "0"])
    assert page.view().name == "table"


def test_a_step_that_is_not_needed_waits_until_it_can_be_left_out(
    tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera))

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    monkeypatch.setattr(Progress, "keep", fail)
    assert (page.view().name, "no room" in page.view().findings[0].message) == ("light-map", True)
    monkeypatch.undo()
    assert page.view().name == "switches"


@pytest.mark.parametrize("is_in_saving", [True, False])
def test_a_dialogue_ends_whatever_goes_wrong(
    is_in_saving: bool, tmp_path: Path, camera: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def makers(_: PageDialogue) -> tuple[MakeMap, MakeMap]:
        def maps(settings: Settings, path: Path) -> bool:
            if not is_in_saving:
                raise RuntimeError("unexpected")
            lights = {place: (number,) for number, place in enumerate(load("deblockle").places)}
            write_light_map(LightMap(lights, lights=49), path)
            return True

        return maps, maps

    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no room")

    unexpected: list[object] = []
    monkeypatch.setattr(threading, "excepthook", unexpected.append)
    strip = {"lights.drivers": ["wled-network"], "lights.wled_host": "wled.local", "lights.strip_lights": 49}
    page = page_in(tmp_path, done_until("light-map", tmp_path, camera, **strip), makers=makers)
    page.view()
    monkeypatch.setattr(Progress, "keep", fail)
    page.answer("light-map", ["0"])
    wait_for(lambda: page.view().dialogue is None)
    view = page.view()
    assert view.name == "light-map"
    assert ["no room" in each.message for each in view.findings] == ([True] if is_in_saving else [])
    page.close()
    assert len(unexpected) == (not is_in_saving)


def wait_for(holds: Callable[[], bool]) -> None:
    """Wait until a condition that another thread brings about holds."""
    paused = threading.Event()
    for _ in range(int(WAIT_S / 0.01)):
        if holds():
            return
        paused.wait(0.01)
    raise AssertionError("it did not happen")


FORM = "application/x-www-form-urlencoded"
ACTIONS = ("answer", "say", "stop", "skip", "back", "go", "start")


@dataclass
class RecordingSetUp:
    """A set-up that records its calls."""

    title: str = "Deblockle"
    is_starting: bool = False
    phone: PhonePort | None = None
    asked: Field | None = None
    dialogue: Dialogue | None = None
    actions: list[tuple[object, ...]] = field(default_factory=list)

    def view(self, step: str = "", given: Sequence[str] = ()) -> StepView:
        asks = Phrase("How wide is a square?")
        if self.asked is not None:
            screen = Screen(tuple(given), asks, field=self.asked, value="<0>", button=Phrase("Next"))
        else:
            corners = ((Phrase("far left corner"), (10.5, 20.0)),)
            screen = Screen(tuple(given), asks, corners=corners, button=Phrase("Next"))
        steps = (("table", Phrase("The table"), StepState.NOW),)
        return StepView(
            "table",
            Phrase("The table"),
            ("Told.",),
            screen,
            steps=steps,
            shows_picture=self.dialogue is None,
            takes_photos=True,
            dialogue=self.dialogue,
        )

    def state(self) -> str:
        return "table ü"

    def inspect(self, *, again: bool) -> Inspection:
        picture = np.full((9, 16, 3), 90, np.uint8) if again else None
        missing = Finding.fault(Phrase("marker {number}", number=2), Phrase("missing"))
        return Inspection((missing,), picture)

    def file(self, name: str) -> bytes | None:
        return b"%PDF" if name == "board.pdf" else None

    def answer(self, step: str, given: Sequence[str], corners: Sequence[str] = ()) -> Sequence[str]:
        self.actions.append(("answer", step, *given, *corners))
        return given

    def stop(self, step: str) -> None:
        self.actions.append(("stop", step))

    def go(self, step: str, to: str) -> None:
        self.actions.append(("go", step, to))

    def start(self, step: str) -> bool:
        self.actions.append(("start", step))
        self.is_starting = True
        return True

    def take_photo(self, step: str, content: bytes) -> None:
        self.actions.append(("photo", step, str(len(content))))

    def say(self, step: str, words: str, number: str) -> None:
        self.actions.append(("say", step, words, number))

    def skip(self, step: str) -> None:
        self.actions.append(("skip", step))

    def back(self, step: str) -> None:
        self.actions.append(("back", step))


def app_of(port: RecordingSetUp, access: Access) -> Starlette:
    return create_set_up(cast("SetUpPage", port), access)


def client_of(port: RecordingSetUp, access: Access | None = None) -> TestClient:
    chosen = access or access_of()
    address = HOST if chosen.policy.is_open else "http://127.0.0.1:8000"
    return TestClient(app_of(port, chosen), base_url=address, follow_redirects=False)


def csrf_in(client: TestClient) -> str:
    return client.get("/").text.partition('name="csrf" content="')[2].partition('"')[0]


def test_each_action_is_passed_on_with_its_step_and_leads_back_to_the_page() -> None:
    port = RecordingSetUp()
    client = client_of(port)
    csrf = csrf_in(client)
    more = {"a": ["<0>", "1"], "x": ["10.5"], "y": ["20"], "text": ["b"], "number": ["3"], "to": "camera"}
    for action in ACTIONS:
        reply = client.post("/do", data={"csrf": csrf, "do": action, "step": "table", **more})
        following = {"answer": "/?step=table&a=%3C0%3E&a=1", "start": None}.get(action, "/")
        assert reply.headers.get("location") == following
    assert 'id="starting"' in reply.text, "there is no page to lead to while the referee takes the place of this one"
    assert port.actions == [
        ("answer", "table", "<0>", "1", "10.5,20"),
        ("say", "table", "b", "3"),
        ("stop", "table"),
        ("skip", "table"),
        ("back", "table"),
        ("go", "table", "camera"),
        ("start", "table"),
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_step_is_shown_in_either_language_with_its_corners_as_fields(language: str) -> None:
    client = client_of(RecordingSetUp())
    shown = client.get("/?step=table&a=%3C0%3E", headers={"accept-language": language}).text
    tell = sentences(language)
    assert tell(Phrase("far left corner")) in shown
    assert 'name="x" step="any" min="0" required value="10.5"' in shown
    assert 'name="a" value="&lt;0&gt;"' in shown, "the answers so far go on"
    seen = client.get("/seen", headers={"accept-language": language})
    assert f"<b>{tell(Phrase('marker {number}', number=2))}</b>: {tell(Phrase('missing'))}" in seen.text
    assert f'data-state="{seen.headers["x-state"]}"' in shown


def test_a_field_shows_its_hint_and_its_value() -> None:
    asked = Field(Phrase("How wide is a square?"), FieldKind.LENGTH, hint=Phrase("In millimetres."))
    shown = client_of(RecordingSetUp(asked=asked)).get("/").text
    assert 'value="&lt;0&gt;"' in shown
    assert 'inputmode="decimal"' in shown
    assert "In millimetres." in shown


def test_the_page_shows_a_long_work_with_what_was_said() -> None:
    client = client_of(RecordingSetUp(dialogue=Dialogue(("Light 3 is a1.",), "", "1")))
    for shown in (client.get("/").text, client.get("/seen").text):
        assert "<progress aria-label=" in shown
        assert "Light 3 is a1." in shown
    assert 'value="stop"' in client.get("/").text


def test_the_page_waits_for_the_referee_that_takes_its_place() -> None:
    client = client_of(RecordingSetUp(is_starting=True))
    assert 'id="starting"' in client.get("/").text
    assert client.get("/seen").status_code == 503


def test_only_the_steps_pictures_and_files_are_served() -> None:
    client = client_of(RecordingSetUp())
    assert client.get("/picture.jpg").content.startswith(b"\xff\xd8")
    assert client.get("/files/board.pdf").headers["content-type"] == "application/pdf"
    assert client.get("/files/referee.toml").status_code == 404


def routes_of(app: Starlette) -> list[tuple[Guarded, str]]:
    """Every route but the static files, with each of its methods."""
    return [
        (route, method)
        for route in app.routes
        if isinstance(route, Guarded)
        for method in sorted((route.methods or set()) - {"HEAD"})
    ]


def test_every_route_is_the_owners_alone_but_for_the_phone_that_films() -> None:
    app = app_of(RecordingSetUp(phone=PhonePort(PhoneCamera(time.monotonic))), access_of(HOUSE))
    assert {"/files/{name}", "/photo", "/camera", "/frame"} <= {route.path for route, _ in routes_of(app)}
    stranger = TestClient(app, base_url=HOST, follow_redirects=False)
    film = TestClient(app, base_url=HOST, follow_redirects=False)
    csrf = film.post("/api/pair", json={"code": CAMERA_CODE, "name": "Ann's phone"}).json()["csrf"]
    open_to_film = set()
    for route, method in routes_of(app):
        if route.path in {"/pair", "/api/pair"}:
            continue
        path = route.path.replace("{name}", "board.pdf")
        assert stranger.request(method, path).status_code == 401, path
        if film.request(method, path, headers={"X-CSRF-Token": csrf}).status_code != 403:
            open_to_film.add(path)
    assert open_to_film == {"/camera", "/frame"}


@pytest.mark.parametrize("path", ["/pair", "/nowhere"])
def test_pairing_and_refusals_have_no_links_and_script_of_a_running_table(path: str) -> None:
    page = client_of(RecordingSetUp()).get(path, headers={"accept": "text/html"}).text
    assert "<nav" not in page
    assert re.findall(r'<script type="module" src="/static/\w+/([^"]*)">', page)[0] == "set_up.js"


def test_an_incomplete_form_is_refused_with_the_reason() -> None:
    port = RecordingSetUp()
    client = client_of(port)
    csrf = csrf_in(client)
    for data, words in (
        ({"do": "answer", "a": "x" * 3000}, "That is too long"),
        ({"do": "conquer"}, "lacks what to do"),
    ):
        reply = client.post("/do", data={"csrf": csrf, "step": "table", **data})
        assert (reply.status_code, words in reply.text) == (422, True)
    assert client.post("/photo", data={"csrf": csrf, "step": "table"}, files={}).status_code == 422
    assert port.actions == []


def test_photos_are_limited_in_size_and_need_the_token() -> None:
    port = RecordingSetUp()
    client = client_of(port)
    csrf = csrf_in(client)

    def sent(content: bytes, token: str) -> int:
        files = {"photo": ("a.jpg", content, "image/jpeg")}
        return client.post("/photo", data={"csrf": token, "step": "table"}, files=files).status_code

    assert sent(b"x" * 200_000, csrf) == 303
    assert sent(b"x" * 200_000, "forged") == 403
    assert sent(b"x" * (MOST_PHOTO_BYTES + 1), csrf) == 413
    assert client.post("/do", content=b"x" * 200_000, headers={"content-type": FORM}).status_code == 413
    assert port.actions == [("photo", "table", "200000")]


@pytest.mark.parametrize("role", [Role.NOBODY, Role.LOOK, Role.PLAY])
def test_only_the_owner_has_access(role: Role) -> None:
    port = RecordingSetUp()
    access = access_of(HOUSE)
    client = client_of(port, access)
    csrf = paired(client, role) if role else ""
    wanted = 403 if role else 401
    for route in app_of(port, access).routes:
        path = str(getattr(route, "path", "")).replace("{name}", "board.pdf")
        if path in {"/pair", "/api/pair", "/static"}:
            continue
        methods = getattr(route, "methods", None) or set()
        for method in methods - {"HEAD"}:
            reply = client.request(method, path, headers={"x-csrf-token": csrf})
            assert reply.status_code == wanted, (method, path)
    large = client.post("/photo", content=b"x" * 200_000, headers={"content-type": "multipart/form-data; boundary=b"})
    assert large.status_code == 413
    assert port.actions == []


def test_another_site_and_a_forged_token_are_refused() -> None:
    port = RecordingSetUp()
    client = client_of(port)
    csrf = csrf_in(client)
    data = {"do": "skip", "step": "table"}
    assert client.post("/do", data={**data, "csrf": "forged"}).status_code == 403
    assert client.post("/do", data=data).status_code == 403
    elsewhere = {"origin": "http://elsewhere.example"}
    assert client.post("/do", data={**data, "csrf": csrf}, headers=elsewhere).status_code == 403
    assert client.get("/", headers={"host": "elsewhere.example"}).status_code == 421
    assert port.actions == []


def test_a_phone_paired_as_owner_continues_the_set_up() -> None:
    client = client_of(RecordingSetUp(), access_of(HOUSE))
    away = client.get("/", headers={"accept": "text/html"})
    assert away.headers["location"] == "/pair"
    assert 'name="code"' in client.get("/pair").text
    assert client.post("/api/pair", data={"code": "3000 0000", "role": "own"}).headers["location"] == "/"
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("settings", ["", '[journal]\npath = "games/ours.sqlite"\n', "no settings at all"])
def test_a_phone_that_was_paired_to_set_up_stays_paired_with_the_table(tmp_path: Path, settings: str) -> None:
    environment = {"XDG_DATA_HOME": str(tmp_path / "data"), "HOME": str(tmp_path)}
    (tmp_path / "referee.toml").write_text(settings)
    key = page_key(environment, tmp_path)
    port = RecordingSetUp()
    phone = client_of(port, house_with(key))
    assert phone.post("/api/pair", data={"code": CODES[Role.OWN], "name": "Ann", "role": "own"}).status_code == 303
    if settings.startswith("no"):
        # The finished table has settings of its own, which name no journal.
        (tmp_path / "referee.toml").write_text("")
    journal = load_settings(None, environment=environment, folder=tmp_path).settings.journal.path
    table = page_client_of(port_of(), house_with(key_path(journal)))
    table.cookies.update(dict(phone.cookies))
    assert table.get("/api/session").json()["role"] == "own"


def house_with(key: Path) -> Access:
    """Access for the local network with this key and its devices."""
    return Access(HOUSE, load_or_make_key(key), lambda: 0.0, lambda: 0.0, PairedDevices(devices_path(key), lambda: 0.0))
