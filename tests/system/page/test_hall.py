"""The hall's pages in a real browser: both languages, a small phone, nothing in the way, and rulings by keys alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from common.phrases import Phrase
from hall.hall import Incoming
from hall.tournament.values import System
from referee.mqtt.topics import ShownClock, ShownVerdict, Topics
from referee.web.access import Role
from tests.hall.halls import OPENED, PREFIX
from tests.hall.web.visits import Visit, serving
from tests.referee.web.page_table import CODES, HOUSE, access_of
from tests.system.page.test_barriers import AXE

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect
expect.set_options(timeout=20_000)
SENTENCE = Phrase("It is {to_move}'s turn, not {player}'s.", "black", "white")
IN_GERMAN = "Schwarz ist am Zug, nicht Weiß."
VIEWS = (
    "/",
    "/tables/table-1",
    "/tables/table-2",
    "/tables/table-9",
    "/results",
    "/tournaments",
    "/tournaments/1",
    "/pair",
    "/tables/none",
)
LOCALES = ("en-GB", "de-DE")


@dataclass
class Served:
    """A hall and its address."""

    visit: Visit
    address: str

    def answer(self) -> None:
        """Have the table carry out the ruling and answer the hall."""
        (ruling,) = self.visit.hall.rulings.waiting()
        feed = next(feed for feed in self.visit.feeds if feed.table == ruling.seat)
        told = feed.carry_out(dict(ruling.command)).model_dump_json().encode()
        self.visit.hall.take([Incoming(Topics(PREFIX, ruling.seat).answers, told)])


@pytest.fixture
def hall(tmp_path: Path) -> Iterator[Served]:
    visit = Visit(tmp_path)
    disputed = visit.feeds[1]
    told = disputed.state()
    clock = ShownClock(
        control="5+3",
        mode="fischer",
        wall_time="2027-01-01T00:01:40Z",
        remaining_s={side.side: 100.0 for side in told.sides},
        delay_s={},
        words="",
    )
    verdict = ShownVerdict(
        kind="illegal",
        sentence=SENTENCE,
        remedy="Put everything back.",
        places=("b7",),
        candidates=("c1-c2",),
        candidate_players=(told.sides[0].side,),
    )
    told = told.model_copy(update={"verdict": verdict, "clock": clock, "needs_person": True})
    visit.hall.take([Incoming(Topics(PREFIX, disputed.table).state, told.model_dump_json().encode())])
    visit.director.begin("Club", System.SWISS, 3, "deblockle", [("Ann", 1650), ("Ben", 0), ("Cleo", 0), ("Dan", 0)])
    visit.director.pair(1, ["table-1", "table-2"])
    with serving(visit.app) as address:
        yield Served(visit, address)
    for database in OPENED:
        database.close()
    OPENED.clear()


@pytest.mark.parametrize("locale", LOCALES)
def test_no_page_of_the_hall_has_a_barrier_or_is_wider_than_a_small_phone(
    locale: str, hall: Served, visit: Any
) -> None:
    page = visit(hall.address, locale=locale, viewport={"width": 360, "height": 640}, bypass_csp=True)
    for view in VIEWS:
        page.goto(hall.address + view, wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
        assert page.locator("html").get_attribute("lang") == locale[:2]
        if AXE.is_file():
            page.add_script_tag(path=AXE)
            found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
            told = [f"{fault['id']}: {fault['help']}: {fault['nodes'][0]['target']}" for fault in found["violations"]]
            assert told == [], view


@pytest.mark.parametrize(
    ("locale", "needs", "ruling", "waits", "done"),
    [
        ("en-GB", "Needs an arbiter", "The turn is c1-c2", "Waiting", "Done"),
        ("de-DE", "Braucht Schiedsrichter", "Der Zug ist c1-c2", "Wartet", "Erledigt"),
    ],
)
def test_an_arbiter_gives_rulings_by_keyboard_alone(
    locale: str, needs: str, ruling: str, waits: str, done: str, hall: Served, visit: Any
) -> None:
    page = visit(hall.address, locale=locale)
    expect(page.locator("#tables > li").first).to_contain_text(needs)
    press_on(page, "Table 2")
    expect(page.get_by_role("heading", level=1)).to_contain_text(needs)
    press_on(page, ruling)
    status = page.locator(".findings b")
    expect(status).to_have_text(waits)
    assert [ruling.command["text"] for ruling in hall.visit.hall.rulings.waiting()] == ["c1-c2"]
    hall.answer()
    page.reload()
    expect(status).to_have_text(done)


def press_on(page: Any, name: str) -> None:
    """Reach a link or button with the tab key, and press it."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"the tabulator never came to {name!r}")


def test_sentences_of_the_tables_are_shown_in_german(hall: Served, visit: Any) -> None:
    page = visit(hall.address, locale="de-DE")
    expect(page.locator("#table-table-2 .newest")).to_have_text(IN_GERMAN)
    hall.visit.hall.take([Incoming(Topics(PREFIX, "table-1").availability, b"offline")])
    expect(page.locator("#table-table-1 h2 small")).to_have_text("Nicht da")
    page.get_by_role("link", name="English").click()
    expect(page.locator("#table-table-2 .newest")).to_have_text(SENTENCE)
    expect(page.get_by_role("link", name=re.compile("^Tournaments$"))).to_be_visible()


def test_an_unpaired_phone_is_sent_to_the_pairing_page(
    tmp_path: Path, visit: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hall.web.tables.LOOK_AGAIN_S", 0.05)
    access = access_of(HOUSE)
    with serving(Visit(tmp_path, access).app) as address:
        page = visit(address, is_paired=False)
        page.get_by_label("Code", exact=True).fill(CODES[Role.LOOK])
        page.get_by_role("button", name="Pair").click()
        expect(page.locator("html")).to_have_attribute("data-live", "yes")
        (device,) = access.devices.all()
        access.devices.change(device.id, Role.NOBODY)
        expect(page).to_have_url(f"{address}/pair")
    OPENED.pop().close()
