"""Without JavaScript every page works by links and forms."""

from __future__ import annotations

from typing import Any

import pytest

from engine.values import EMPTY
from tests.system.page.served import take_back

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect


def test_a_turn_a_correction_and_a_take_back_go_by_forms(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, java_script_enabled=False)
    expect(page.locator("#board svg")).to_have_count(1)
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
    expect(page.get_by_role("heading", level=1)).to_have_text("History")
    page.get_by_role("link", name="the set-up is accepted").click()
    page.get_by_role("link", name="Back").click()
    expect(page.locator("#steps")).to_have_attribute("data-number", "1")
