"""``./run start``: from the choice of a game to the first verdict, with a phone whose camera shows a film.

``--pictures FOLDER`` keeps ``start.webp``: a page of the kit, the phone that films, and the first verdict.
"""

import itertools
import os
import re
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from engine.registry import load
from tests.system.page.conftest import CHROMIUM
from tests.system.page.filmed import HONEST, TableFilm, film_of
from tests.system.page.playing import PHONE
from tests.system.page.seen import expect
from tests.system.page.served import ANSWER_S, ROOT, START_MS, Camera, by_command, free_port
from tests.system.page.short_games import short_game
from vision.frame import Image

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
AXE = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
GAME = "diaballik"
GREY = (200, 200, 200)
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
    sync_api.expect.set_options(timeout=ANSWER_S * 1000)
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
        self.kit = b""
        self.seen: list[Image] = []

    def tap(self, *names: str) -> None:
        """Tap buttons, or links, each on another screen."""
        for name in names:
            told = re.compile(rf"^\s*{re.escape(name)}")
            self.shown.get_by_role("button", name=told).or_(self.shown.get_by_role("link", name=told)).first.click()
            self.taps += 1

    def keep(self) -> None:
        """Keep a picture of what the phone shows."""
        shot = np.frombuffer(self.page.screenshot(), np.uint8)
        self.seen.append(np.asarray(cv2.imdecode(shot, cv2.IMREAD_COLOR), np.uint8))

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
    code = person.page.get_by_label("Code", exact=True)
    person.page.goto(f"{address}/pair")
    expect(code).to_have_value("")
    # scanned again in the same tab
    person.page.goto(f"{address}/pair#code={code_in(folder)}")
    expect(code).to_have_value(code_in(folder))
    person.taps += 1
    person.tap("Pair")
    person.asked("Which game do you want to play?")
    person.tap(load(GAME).title)
    person.asked("Do you have the game?")
    person.tap("Print it")
    person.asked("Print these sheets")
    file = person.page.locator("a[href^='/files/']").first.evaluate("each => each.href")
    person.kit = person.page.request.get(file).body()
    assert person.kit.startswith(b"%PDF")
    person.tap("They are printed", "Yes, exactly 100 mm")
    person.asked("Which camera looks at the table?")


def film_until_the_first_verdict(person: Person) -> None:
    """Make the phone the camera, and go from step to step until the referee has judged a turn."""
    phone = person.page
    person.tap("A phone")
    person.asked("Is the whole table in the picture?")
    expect(phone.locator("#seen .fault")).to_contain_text("no picture comes from a phone")
    expect(phone.locator("#answer")).to_be_hidden()
    expect(phone.locator(".phone")).to_contain_text("The phone warns once")
    expect(phone.locator(".phone")).to_contain_text("Tap Advanced, then Proceed (Android)")
    person.tap("Film with this phone")
    phone.locator("#details-button").click()
    phone.locator("#proceed-link").click()
    person.taps += 2
    phone.wait_for_url("https://**/camera")
    person.examine()
    phone.context.grant_permissions(["camera"])
    person.taps += 1
    person.tap("Start filming")
    person.shown = phone.frame_locator("#beside")
    person.asked("Is the whole table in the picture?")
    expect(phone.locator("#sees")).to_have_text("The referee sees the table.")
    expect(phone.locator("#scene .part polygon")).to_have_count(1)
    person.examine()
    person.tap("Yes, use this camera")
    person.asked("Lay everything under the camera")
    expect(person.shown.locator("#seen .ok").first).to_be_visible()
    person.keep()
    person.tap("It's in place")
    person.asked("The table is ready")
    person.tap("Start refereeing")
    expect(person.shown.locator("#verdict")).to_contain_text("Accepted", timeout=START_MS)
    expect(phone.get_by_text("The referee watches")).to_be_visible()
    person.keep()


def keep_pictures(person: Person, folder: Path) -> None:
    """Put the kit's first page beside what the phone showed."""
    page = folder / "page.png"
    told = ["pdftoppm", "-png", "-r", "70", "-singlefile", "-", str(page.with_suffix(""))]
    subprocess.run(told, input=person.kit, check=True)
    height = person.seen[0].shape[0]
    drawn = cv2.imread(str(page))
    page.unlink()
    assert drawn is not None
    kit = cv2.resize(drawn, (round(drawn.shape[1] * height / drawn.shape[0]), height), interpolation=cv2.INTER_AREA)
    framed = [cv2.copyMakeBorder(each, 8, 8, 8, 8, cv2.BORDER_CONSTANT, value=GREY) for each in (kit, *person.seen)]
    assert cv2.imwrite(str(folder / "start.webp"), np.hstack(framed), [cv2.IMWRITE_WEBP_QUALITY, 80])


def test_a_phone_and_paper_lead_to_the_first_verdict(phone: Any, tmp_path: Path, pytestconfig: pytest.Config) -> None:
    port, person = free_port(), Person(phone)
    with by_command(tmp_path, *ARGUMENTS, port=port) as (address, _):
        choose_and_print(person, address, tmp_path)
    # It was killed.
    with by_command(tmp_path, *ARGUMENTS, port=port):
        phone.reload()
        person.asked("Which camera looks at the table?")
        film_until_the_first_verdict(person)
        person.examine()
    assert person.taps == 15
    if folder := pytestconfig.getoption("--pictures", default=None):
        keep_pictures(person, Path(folder))
    with by_command(tmp_path, *ARGUMENTS, port=port):
        # It was killed again, and the game goes on by itself.
        expect(phone.locator("#sees")).to_have_text("The referee sees the table.")
        expect(phone.locator("#trouble")).to_be_hidden()
        expect(person.shown.locator("#players")).to_be_visible()


@pytest.mark.long
def test_from_a_fresh_clone_to_the_first_verdict(
    phone: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    clone, home, person, times_s = tmp_path / "project", tmp_path / "home", Person(phone), [time.monotonic()]
    home.mkdir()
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    times_s.append(time.monotonic())
    with by_command(home, *ARGUMENTS, clone=clone) as (address, _):
        times_s.append(time.monotonic())
        choose_and_print(person, address, home)
        film_until_the_first_verdict(person)
        times_s.append(time.monotonic())
    left = subprocess.run(["git", "status", "--porcelain"], cwd=clone, check=True, capture_output=True, text=True)
    assert left.stdout == ""
    cloned, opened, judged = (round(later - earlier) for earlier, later in itertools.pairwise(times_s))
    with capsys.disabled():
        print(f"\ncloned in {cloned} s, page open {opened} s later, first verdict {judged} s later; {person.taps} taps")


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
        person.tap("It's in place")
        person.asked("The table is ready")
        person.tap("Start refereeing")
        phone.wait_for_url("**/camera")
        person.examine()
        judged = phone.locator("#judged")
        take(0, "#photos")
        expect(judged).to_contain_text("The board is set up.")
        take(1, "#photos")
        expect(judged).to_contain_text(re.compile("Black|White"))
    assert person.taps == 19


def test_a_webcam_needs_no_phone(film: TableFilm, phone: Any, tmp_path: Path) -> None:
    """A folder stands for the webcam; what is plugged in is in no test's hands."""
    webcam, person = Camera(tmp_path / "seen"), Person(phone)
    webcam.show(film.positions[0])
    with by_command(tmp_path, *ARGUMENTS) as (address, _):
        choose_and_print(person, address, tmp_path)
        phone.locator("summary", has_text="Another camera").click()
        phone.get_by_label("The camera, such as 0 or pi, or pictures, such as folder:pictures").fill(
            f"folder:{webcam.folder}"
        )
        person.tap("Use it")
        person.asked("Is the whole table in the picture?")
        person.tap("Yes, use this camera")
        person.asked("Lay everything under the camera")
        person.tap("Back")
        person.asked("Which camera looks at the table?")
        expect(phone.locator("button img")).to_have_js_property("naturalWidth", 960)
        person.tap("the camera in use", "Yes, use this camera", "It's in place")
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
