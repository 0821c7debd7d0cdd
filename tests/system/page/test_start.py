"""``./run start``: from the choice of a game to the first verdict, with a phone whose camera shows a film."""

import os
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import pytest

from engine.registry import load
from tests.system.page.conftest import CHROMIUM
from tests.system.page.filmed import HONEST, TableFilm, film_of
from tests.system.page.playing import PHONE
from tests.system.page.served import ANSWER_S, START_MS, Camera, by_command, free_port
from tests.system.page.short_games import short_game

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = sync_api.expect
AXE = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
GAME = "diaballik"
SHOWN_S = 40
"""How long the film shows the set-up: as long as the steps take in which it is seen."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> TableFilm:
    options = replace(short_game(GAME, HONEST), turns=1)
    return film_of(options, tmp_path_factory.mktemp("film"), is_of_paper=True, looks_s=SHOWN_S)


@pytest.fixture
def phone(film: TableFilm) -> Iterator[Any]:
    """A phone's browser whose camera shows the film from its beginning whenever it is switched on."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    expect.set_options(timeout=ANSWER_S * 1000)
    arguments = ["--use-fake-device-for-media-stream", f"--use-file-for-fake-video-capture={film.file}"]
    arguments += ["--no-sandbox"] * (os.geteuid() == 0)
    complaints: list[str] = []
    with sync_api.sync_playwright() as playwright, ExitStack() as stack:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        stack.callback(launched.close)
        context = launched.new_context(locale="en-GB", viewport=PHONE, bypass_csp=True)
        context.set_default_timeout(ANSWER_S * 1000)
        page = context.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        yield page
    assert complaints == []


class Person:
    """Somebody with a phone, whose taps are counted, and who finds no barrier on any screen."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.shown = page
        self.taps = 0

    def tap(self, *names: str) -> None:
        """Tap buttons, or links, each on another screen."""
        for name in names:
            told = re.compile(rf"^\s*{re.escape(name)}")
            self.shown.get_by_role("button", name=told).or_(self.shown.get_by_role("link", name=told)).first.click()
            self.taps += 1

    def asked(self, words: str) -> None:
        """See a screen that asks this, and examine it."""
        expect(self.shown.locator("h1")).to_have_text(words)
        if self.shown is self.page:
            self.examine()

    def examine(self) -> None:
        """Check that the screen fits the phone, and that axe-core finds nothing there."""
        page = self.page
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], page.url
        if AXE.is_file():
            page.add_script_tag(path=AXE)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            assert [(each["id"], each["nodes"][0]["target"]) for each in found["violations"]] == [], page.url
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = false))")


def code_in(folder: Path) -> str:
    """Return the code that the terminal would show."""
    kept = folder / ".local" / "share" / "tabletop-referee" / "tables" / "setup.page-codes"
    (code,) = re.findall(r"\d{4} \d{4}", kept.read_text(encoding="utf-8"))
    return str(code).replace(" ", "")


ARGUMENTS = ("start", "--page-address", "127.0.0.1")


def choose_and_print(person: Person, address: str, folder: Path) -> None:
    """Pair the phone, choose the game, and print it."""
    person.page.goto(f"{address}/pair#code={code_in(folder)}")
    person.taps += 1
    person.tap("Pair")
    person.asked("Which game do you set up?")
    person.tap(load(GAME).title)
    person.asked("Do you have the game?")
    person.tap("Print it")
    person.asked("Print these sheets")
    pdf = person.page.request.get(person.page.locator("a[href^='/files/']").evaluate("each => each.href")).body()
    assert pdf.startswith(b"%PDF")
    person.tap("They are printed", "Yes, exactly 100 mm")
    person.asked("Which camera looks at the table?")


def test_a_phone_and_paper_lead_to_the_first_verdict(phone: Any, tmp_path: Path) -> None:
    port, person = free_port(), Person(phone)
    with by_command(tmp_path, *ARGUMENTS, port=port) as (address, _):
        choose_and_print(person, address, tmp_path)
    # It was killed.
    with by_command(tmp_path, *ARGUMENTS, port=port):
        phone.reload()
        person.asked("Which camera looks at the table?")
        person.tap("A phone")
        person.asked("Is the whole table in the picture?")
        expect(phone.locator("#seen .fault")).to_contain_text("no phone sends its picture")
        expect(phone.locator("#answer")).to_be_hidden()
        person.tap("Film with this phone")
        phone.locator("#details-button").click()
        phone.locator("#proceed-link").click()
        person.taps += 2
        phone.wait_for_url("https://**/camera")
        person.examine()
        phone.context.grant_permissions(["camera"])
        person.taps += 1
        person.tap("Be the camera")
        person.shown = phone.frame_locator("#beside")
        person.asked("Is the whole table in the picture?")
        expect(phone.locator("#sees")).to_have_text("The referee sees the table.")
        expect(phone.locator("#scene .part polygon")).to_have_count(1)
        person.examine()
        person.tap("Yes, use this camera")
        person.asked("Lay everything under the camera")
        person.tap("It lies there")
        person.asked("The table is ready")
        person.tap("Start refereeing")
        expect(person.shown.locator("#verdict")).to_contain_text("Accepted", timeout=START_MS)
        expect(phone.get_by_text("The referee watches")).to_be_visible()
        person.examine()
    print(f"{person.taps} taps")
    assert person.taps == 15
    with by_command(tmp_path, *ARGUMENTS, port=port):
        # It was killed again, and the game goes on by itself.
        expect(phone.locator("#sees")).to_have_text("The referee sees the table.")
        expect(phone.locator("#trouble")).to_be_hidden()
        expect(person.shown.locator("#players")).to_be_visible()


def test_without_a_certificate_photos_lead_to_the_first_verdict(film: TableFilm, phone: Any, tmp_path: Path) -> None:
    person = Person(phone)

    def take(position: int, shutter: str) -> None:
        """Take a photo: a tap on the button, the shutter, and a tap to use it."""
        content = cv2.imencode(".jpg", film.positions[position])[1].tobytes()
        photo = {"name": "photo.jpg", "mimeType": "image/jpeg", "buffer": content}
        phone.locator(f"{shutter} input[type=file]").set_input_files(photo)
        person.taps += 3

    with by_command(tmp_path, *ARGUMENTS) as (address, _):
        choose_and_print(person, address, tmp_path)
        person.tap("A phone")
        person.asked("Is the whole table in the picture?")
        with phone.expect_navigation():
            take(0, ".phone")
        expect(phone.locator("#seen")).to_contain_text("960 x 540")
        person.asked("Is the whole table in the picture?")
        person.tap("Yes, use this camera")
        person.asked("Lay everything under the camera")
        person.tap("It lies there")
        person.asked("The table is ready")
        person.tap("Start refereeing")
        phone.wait_for_url("**/camera")
        person.examine()
        judged = phone.locator("#judged")
        take(0, "#photos")
        expect(judged).to_contain_text("The board is set up.")
        take(1, "#photos")
        expect(judged).to_contain_text(re.compile("Black|White"))
    print(f"{person.taps} taps")
    assert person.taps == 19


def test_a_webcam_needs_no_phone(film: TableFilm, phone: Any, tmp_path: Path) -> None:
    """A folder stands for the webcam; what is plugged in is in no test's hands."""
    webcam, person = Camera(tmp_path / "seen"), Person(phone)
    webcam.show(film.positions[0])
    with by_command(tmp_path, *ARGUMENTS) as (address, _):
        choose_and_print(person, address, tmp_path)
        phone.locator("summary", has_text="Another camera").click()
        phone.get_by_label("The camera, or a folder of pictures").fill(f"folder:{webcam.folder}")
        person.tap("Use it")
        person.asked("Is the whole table in the picture?")
        person.tap("Yes, use this camera")
        person.asked("Lay everything under the camera")
        person.tap("Back")
        person.asked("Which camera looks at the table?")
        expect(phone.locator("button img")).to_have_js_property("naturalWidth", 960)
        person.tap("the camera in use", "Yes, use this camera", "It lies there")
        person.asked("The table is ready")
        person.tap("Start refereeing")
        expect(phone.locator("#next")).to_contain_text("Set the pieces up", timeout=START_MS)
        for position, part, words in ((0, "#next", "Black to play"), (1, "#verdict", "Accepted")):
            shown = phone.locator(part).filter(has_text=words)
            deadline_s = time.monotonic() + ANSWER_S
            while not shown.count() and time.monotonic() < deadline_s:
                webcam.show(film.positions[position])
                phone.wait_for_timeout(500)
            expect(shown).to_be_visible()


def test_settings_of_ones_own_are_refereed_at_once(phone: Any, tmp_path: Path) -> None:
    own = tmp_path / "referee.toml"
    own.write_text('[game]\nname = "deblockle"\n[camera]\nsource = "phone"\n[page]\naddress = "127.0.0.1"\n')
    before = own.read_text()
    with by_command(tmp_path, "start", "--page-address", "127.0.0.1") as (address, _):
        phone.goto(address)
        expect(phone).to_have_url(f"{address}/pair")
        assert phone.request.get(f"{address}/manifest.webmanifest").ok, "the table's page"
    assert own.read_text() == before
