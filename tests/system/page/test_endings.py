"""Ending a game on the page: resigning is confirmed, a draw is offered on one phone and answered on another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.commands.values import EnterTurn
from referee.web.access import Role
from tests.system.page.served import pair, paired_page_of, session, take_back

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect
expect.set_options(timeout=20_000)


@pytest.mark.parametrize("scripts", [True, False])
def test_resigning_is_confirmed_and_may_be_taken_back(scripts: bool, diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, java_script_enabled=scripts)
    page.get_by_role("link", name="Resign or draw").click()
    page.get_by_role("link", name="White resigns").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("White resigns. Black wins. Are you sure?")
    page.get_by_role("link", name="No, play on").click()
    assert running.snapshots.newest.snapshot.outcome is None
    page.get_by_role("link", name="Resign or draw").click()
    page.get_by_role("link", name="White resigns").click()
    page.get_by_role("button", name="Yes, resign").click()
    page.wait_for_url(f"{address}/")
    expect(page.locator("#next")).to_contain_text("white resigned")
    expect(page.get_by_role("link", name="Resign or draw")).to_be_hidden()
    take_back(page)
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.get_by_role("link", name="Resign or draw")).to_be_visible()


def test_a_draw_is_offered_on_one_phone_and_answered_on_another(tmp_path: Path, visit: Any) -> None:
    phone = {"width": 360, "height": 740}
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        one, other = (visit(page.address, viewport=phone, is_paired=False) for _ in range(2))
        for each, name in ((one, "Ann"), (other, "Ben")):
            pair(each, page, Role.PLAY, name)
        for answer, ends in (("Refuse the draw", False), ("Accept the draw", True)):
            one.get_by_role("link", name="Resign or draw").click()
            one.get_by_role("button", name="Black offers a draw").click()
            one.wait_for_url(page.address)
            # Who offered it can't accept it for the other.
            one.get_by_role("button", name="Accept the draw").click()
            expect(one.locator("#said")).to_contain_text("This device offered the draw.")
            expect(other.locator("#offer")).to_contain_text("Black offers a draw.")
            other.get_by_role("button", name=answer).click()
            for each in (one, other):
                expect(each.locator("#offer")).to_be_hidden()
            assert running.snapshots.newest is not None
            assert (running.snapshots.newest.snapshot.outcome is not None) == ends
        expect(one.locator("#next")).to_contain_text("draw")


def test_the_owner_enters_a_draw_that_both_agreed_on(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/ending")
    page.get_by_role("button", name="Both agree on a draw").click()
    page.wait_for_url(f"{address}/")
    expect(page.locator("#next")).to_contain_text("draw")
    assert running.snapshots.newest.snapshot.outcome.winner is None


def test_an_offer_lapses_when_the_other_plays_on(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/ending")
    page.get_by_role("button", name="White offers a draw").click()
    page.wait_for_url(f"{address}/")
    expect(page.locator("#offer")).to_be_visible()
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    expect(page.locator("#next")).to_have_text("White to play.")
    expect(page.locator("#offer")).to_be_hidden()
