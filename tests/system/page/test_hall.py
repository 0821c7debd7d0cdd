"""The hall's pages in a real browser: both languages, a small phone, nothing in the way, and rulings by keys alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from common.phrases import Phrase
from frontends.documents import ClockDocument, VerdictDocument
from frontends.mqtt.topics import Topics
from frontends.page.access import Role
from hall.hall import Incoming
from tests.frontends.page.page_table import CODES, HOUSE, access_of
from tests.hall.halls import OPENED, PREFIX, event, state
from tests.hall.web.visits import Visit, serving
from tests.system.page.seen import expect
from tests.system.page.test_barriers import AXE

SENTENCE = Phrase("It is {to_move}'s turn, not {player}'s.", "black", "white")
IN_GERMAN = "Schwarz ist am Zug, nicht Weiß."
VIEWS = (
    "/",
    "/tables/table-1",
    "/tables/table-2",
    "/tables/table-9",
    "/results",
    "/wall",
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
    clock = ClockDocument(
        control="5+3",
        mode="fischer",
        remaining_s={side.id: 100.0 for side in told.players},
    )
    verdict = VerdictDocument(
        kind="illegal",
        sentence=SENTENCE,
        remedy="Put everything back.",
        places=("b7",),
        candidates=("c1-c2",),
        candidate_players=(told.players[0].id,),
    )
    told = told.model_copy(
        update={"verdict": verdict, "clock": clock, "wall_time": "2027-01-01T00:01:40Z", "needs_person": True}
    )
    visit.hall.take([Incoming(Topics(PREFIX, disputed.table).state, told.model_dump_json().encode())])
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
        ("en-GB", "Needs an arbiter", "Take the turn back", "Waiting", "Done"),
        ("de-DE", "Braucht Schiedsrichter", "Den Zug zurücknehmen", "Wartet", "Erledigt"),
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
    assert [ruling.command["command"] for ruling in hall.visit.hall.rulings.waiting()] == ["take back"]
    hall.answer()
    expect(status).to_have_text(done)


def press_on(page: Any, name: str) -> None:
    """Reach a link or button with the tab key, and press it."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"the tabulator never came to {name!r}")


def test_squares_are_put_right_by_taps_while_the_table_goes_on(hall: Served, visit: Any) -> None:
    page = visit(f"{hall.address}/tables/table-1", viewport={"width": 360, "height": 740}, has_touch=True)
    page.get_by_text("Put the board right").click()
    page.locator("#place-c3").tap()
    page.locator(".looks label", has_text="nothing").click()
    page.get_by_label("Why").nth(0).fill("nudged")
    feed = hall.visit.feeds[0]
    feed.advance()
    hall.visit.hall.take([event(feed.events[-1]), state(feed)])
    expect(page.locator('#correcting [name="seen"]')).to_have_value(str(len(feed.events)))
    expect(page.get_by_label("Why").nth(0)).to_have_value("nudged")
    page.locator("#place-c4").tap()
    page.locator(".looks label").nth(1).click()
    expect(page.locator("#changes li")).to_have_count(2)
    page.get_by_role("button", name="Put right").click()
    expect(page.locator(".findings b")).to_have_text("Waiting")
    (ruling,) = hall.visit.hall.rulings.waiting()
    assert (ruling.command["looks"]["c3"], sorted(ruling.command["looks"]), ruling.command["why"]) == (
        "empty", ["c3", "c4"], "nudged"
    )  # fmt: skip


def test_a_screen_on_the_wall_follows_the_tables_without_scrolling(hall: Served, visit: Any) -> None:
    wall = visit(f"{hall.address}/wall", viewport={"width": 1920, "height": 1080})
    first = wall.locator(".wall-list li").first
    expect(first).to_contain_text("Table 1")
    hall.visit.hall.take([Incoming(Topics(PREFIX, "table-1").availability, b"offline")])
    expect(first).to_have_attribute("data-urgency", "away")
    assert wall.evaluate("[scrollY, document.documentElement.scrollHeight <= innerHeight]") == [0, True]


def test_sentences_of_the_tables_are_shown_in_german(hall: Served, visit: Any) -> None:
    page = visit(hall.address, locale="de-DE")
    expect(page.locator("#table-table-2 .newest")).to_have_text(IN_GERMAN)
    hall.visit.hall.take([Incoming(Topics(PREFIX, "table-1").availability, b"offline")])
    expect(page.locator("#table-table-1 h2 small")).to_have_text("Nicht da")
    page.get_by_role("link", name="English").click()
    expect(page.locator("#table-table-2 .newest")).to_have_text(SENTENCE)
    expect(page.get_by_role("link", name=re.compile("^Results$"))).to_be_visible()


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
