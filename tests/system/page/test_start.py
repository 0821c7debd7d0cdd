"""``./run start``: from the choice of a game to the first verdict, with a phone whose camera shows a film."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.registry import load
from tests.system.page.conftest import CHROMIUM
from tests.system.page.filmed import TableFilm, film_of
from tests.system.page.playing import PHONE
from tests.system.page.served import ANSWER_S, START_MS, by_command, free_port

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
expect = sync_api.expect
AXE = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
GAME = "diaballik"
SHOWN_S = 40
"""How long the film shows the set-up: as long as the steps take in which it is seen."""


@pytest.fixture(scope="module")
def film(tmp_path_factory: pytest.TempPathFactory) -> TableFilm:
    return film_of(GAME, tmp_path_factory.mktemp("film"), turns=1, is_of_paper=True, looks_s=SHOWN_S)


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


def test_a_phone_and_paper_lead_to_the_first_verdict(film: TableFilm, phone: Any, tmp_path: Path) -> None:
    port, person = free_port(), Person(phone)
    arguments = ("start", "--page-address", "127.0.0.1")
    with by_command(tmp_path, *arguments, port=port) as (address, _):
        phone.goto(f"{address}/pair#code={code_in(tmp_path)}")
        person.taps += 1
        person.tap("Pair")
        person.asked("Which game do you set up?")
        person.tap(load(GAME).title)
        person.asked("Do you have the game?")
        person.tap("Print it")
        person.asked("Print these sheets")
        pdf = phone.request.get(phone.locator("a[href^='/files/']").evaluate("each => each.href")).body()
        assert pdf.startswith(b"%PDF")
        person.tap("They are printed", "Yes, exactly 100 mm")
        person.asked("Which camera looks at the table?")
    # It was killed.
    with by_command(tmp_path, *arguments, port=port):
        phone.reload()
        person.asked("Which camera looks at the table?")
        person.tap("A phone")
        person.asked("Is the whole table in the picture?")
        expect(phone.locator("#seen .fault")).to_contain_text("no phone sends its picture")
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
        person.tap("Yes, use this camera")
        person.asked("Lay everything under the camera")
        person.tap("It lies there")
        person.asked("The table is ready")
        person.tap("Start refereeing")
        expect(person.shown.locator("#verdict")).to_contain_text("Accepted", timeout=START_MS)
        expect(phone.get_by_text("The referee watches")).to_be_visible()
        print(f"{person.taps} taps")
        assert person.taps == 15
