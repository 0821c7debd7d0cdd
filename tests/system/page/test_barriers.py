"""Nothing in the way: axe-core finds nothing, no view is too wide, and without JavaScript every page works."""

from pathlib import Path
from typing import Any

import pytest

from engine.values import EMPTY
from referee.commands.values import EnterTurn
from tests.system.page.seen import expect
from tests.system.page.served import take_back

AXE = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
HISTORY_VIEWS = ("/history", "/history/3", "/games", "/games/1", "/results")
VIEWS = (
    "/",
    *HISTORY_VIEWS,
    "/correct",
    "/enter",
    "/new",
    "/owner",
    "/camera",
    "/doctor",
    "/bug-report",
    "/ending",
    "/ending?resign=black",
    "/offline",
    "/pair",
    "/nowhere",
)


DARK_VIEWS = ("/", "/history/3", "/correct")
"""Views with colours that other views lack."""


@pytest.mark.parametrize(("scheme", "views"), [("light", VIEWS), ("dark", DARK_VIEWS)])
def test_axe_finds_no_barrier_on_any_view(scheme: str, views: tuple[str, ...], diaballik: Any, visit: Any) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci --ignore-scripts --prefix tests/system/page")
    running, address = diaballik
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    running.reader.looks |= {"a1": EMPTY, "a4": "black piece"}
    running.end_turn()
    page = visit(address, color_scheme=scheme, locale="de-DE" if scheme == "dark" else "en-GB", bypass_csp=True)
    for view in views:
        page.goto(address + view, wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            f"{fault['id']}: {fault['help']}: {', '.join(str(node['target']) for node in fault['nodes'][:3])}"
            for fault in found["violations"]
        ]
        assert told == [], f"{view} in {scheme}"


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_no_view_is_wider_than_a_small_phone(locale: str, diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    page = visit(address, locale=locale, viewport={"width": 360, "height": 640})
    for view in VIEWS:
        page.goto(address + view, wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view


def test_a_turn_a_correction_and_a_take_back_go_by_forms(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, java_script_enabled=False)
    expect(page.locator("#board svg")).to_have_count(1)
    page.locator("summary", has_text="More").click()
    page.get_by_role("link", name="Type").click()
    page.get_by_label("Turn", exact=True).fill("a1-a2")
    page.get_by_role("button", name="Play it").click()
    expect(page.locator("#said")).to_contain_text("a1")
    page.get_by_role("link", name="Correct").click()
    expect(page.locator("#said")).to_be_hidden()
    page.get_by_label("Square").first.select_option("c1")
    page.get_by_role("radio", name="nothing").check()
    page.get_by_label("Square").last.select_option("c4")
    page.locator("[name=look_2]").select_option("black piece")
    page.get_by_role("button", name="Put right").click()
    expect(page.locator("#said")).not_to_be_empty()
    assert running.snapshots.newest is not None
    assert running.snapshots.newest.snapshot.appearance["c1"] == EMPTY
    page.get_by_role("link", name="Table").click()
    take_back(page)
    expect(page.locator("#next")).to_have_text("Black to play.")


def test_a_language_is_chosen_and_kept(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, java_script_enabled=False, locale="de-DE")
    expect(page.locator("#next")).to_have_text("Schwarz ist am Zug.")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    page.locator("summary", has_text="Sprache").click()
    page.get_by_role("link", name="English").click()
    expect(page.locator("#next")).to_have_text("Black to play.")
    page.get_by_role("link", name="History").click()
    expect(page.get_by_role("link", name="Watch the game")).to_be_visible()
    page.locator("summary", has_text="the set-up is accepted").click()
    page.get_by_role("link", name="The table then").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("the set-up is accepted; black starts")
