"""The set-up's routes: access, forms and refusals."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from common.findings import Finding
from common.phrases import Phrase
from referee.cli.setup import page_key
from referee.languages import sentences
from referee.settings.configuration import load as load_settings
from referee.setup.page import MOST_PHOTO_BYTES, SetUpPage, create_set_up
from referee.setup.table_setup import AnswerForm, Field, Inspection, StepState, StepView
from referee.web.access import Access, Role, load_or_make_key
from referee.web.devices import PairedDevices, devices_path
from referee.web.server import key_path
from tests.referee.web.page_table import CODES, HOST, HOUSE, access_of, paired, port_of
from tests.referee.web.page_table import client_of as page_client_of

FORM = "application/x-www-form-urlencoded"
ACTIONS = ("answer", "look", "take", "start over", "say", "skip", "back")


@dataclass
class RecordingSetUp:
    """A set-up that records its calls."""

    title: str = "Deblockle"
    actions: list[tuple[str, ...]] = field(default_factory=list)

    def view(self) -> StepView:
        corners = ((Phrase("far left corner"), (10.5, 20.0)),)
        forms = (AnswerForm(Phrase("Measure it by its corners"), (Field(Phrase("Camera"), value="<0>"),), corners),)
        steps = ((Phrase("The table"), StepState.NOW),)
        return StepView(
            "table", Phrase("The table"), ("Told.",), forms, steps=steps, shows_picture=True, takes_photos=True
        )

    def state(self) -> str:
        return "table ü"

    def inspect(self, *, again: bool) -> Inspection:
        picture = np.full((9, 16, 3), 90, np.uint8) if again else None
        missing = Finding.fault(Phrase("marker {number}", number=2), Phrase("missing"))
        return Inspection((missing,), picture)

    def file(self, name: str) -> bytes | None:
        return b"%PDF" if name == "board.pdf" else None

    def answer(self, step: str, text: str) -> None:
        self.actions.append(("answer", step, text))

    def look_at(self, step: str, source: str) -> None:
        self.actions.append(("look", step, source))

    def take(self, step: str, *, by_itself: bool) -> None:
        self.actions.append(("take", step, str(by_itself)))

    def take_photo(self, step: str, content: bytes) -> None:
        self.actions.append(("photo", step, str(len(content))))

    def start_over(self, step: str) -> None:
        self.actions.append(("start over", step))

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
    more = {"part": ["<0>"], "optional": [" ", "a=1"], "x": ["10.5"], "y": ["20"], "text": ["b"], "number": ["3"]}
    for action in ACTIONS:
        reply = client.post("/do", data={"csrf": csrf, "do": action, "step": "table", **more})
        assert (reply.status_code, reply.headers["location"]) == (303, "/")
    answer = "<0> a=1 10.5,20"
    assert port.actions == [
        ("answer", "table", answer),
        ("look", "table", answer),
        ("take", "table", "False"),
        ("start over", "table"),
        ("say", "table", "b", "3"),
        ("skip", "table"),
        ("back", "table"),
    ]


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_step_is_shown_in_either_language_with_its_corners_as_fields(language: str) -> None:
    client = client_of(RecordingSetUp())
    shown = client.get("/", headers={"accept-language": language}).text
    tell = sentences(language)
    assert tell(Phrase("far left corner")) in shown
    assert 'name="x" step="any" min="0" required value="10.5"' in shown
    assert 'value="&lt;0&gt;"' in shown
    seen = client.get("/seen", headers={"accept-language": language})
    assert f"<b>{tell(Phrase('marker {number}', number=2))}</b>: {tell(Phrase('missing'))}" in seen.text
    assert f'data-state="{seen.headers["x-state"]}"' in shown


def test_only_the_steps_pictures_and_files_are_served() -> None:
    client = client_of(RecordingSetUp())
    assert client.get("/picture.jpg").content.startswith(b"\xff\xd8")
    assert client.get("/files/board.pdf").headers["content-type"] == "application/pdf"
    assert client.get("/files/referee.toml").status_code == 404


@pytest.mark.parametrize("path", ["/pair", "/nowhere"])
def test_pairing_and_refusals_have_no_links_and_script_of_a_running_table(path: str) -> None:
    page = client_of(RecordingSetUp()).get(path, headers={"accept": "text/html"}).text
    assert "<nav" not in page
    assert '<script type="module" src="/static/set_up.js">' in page


def test_an_incomplete_form_is_refused_with_the_reason() -> None:
    port = RecordingSetUp()
    client = client_of(port)
    csrf = csrf_in(client)
    for data, words in (
        ({"do": "answer", "part": ""}, "A field is empty"),
        ({"do": "answer", "part": "x" * 3000}, "That is too long"),
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
