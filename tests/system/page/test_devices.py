"""The owner's page in a browser: a phone is unpaired, and is told so at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.web.access import Role
from tests.system.page.served import pair, paired_page_of, session

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect
expect.set_options(timeout=20_000)


def test_an_unpaired_phone_is_sent_to_the_pairing_page(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        phones = {}
        for role, name in ((Role.OWN, "Ann"), (Role.PLAY, "Ben")):
            phone = visit(page.address, java_script_enabled=role is Role.PLAY, is_paired=False)
            pair(phone, page, role, name)
            expect(phone.locator("#next")).to_have_text("Black to play.")
            phones[role] = phone
        owner, guest = phones[Role.OWN], phones[Role.PLAY]
        expect(guest.get_by_role("link", name="Owner")).to_have_count(0)
        owner.get_by_role("link", name="Owner").click()
        owner.get_by_label("What Ben may do").select_option("look")
        owner.get_by_role("button", name="Change Ben").click()
        guest.reload()
        expect(guest.get_by_role("button", name="My turn has ended")).to_have_count(0)
        owner.get_by_role("button", name="Unpair Ben").click()
        expect(owner.locator("tbody tr")).to_have_count(1)
        expect(guest.get_by_role("heading", level=1)).to_have_text("Pair this device")


def test_a_wrong_code_is_said_until_it_is_put_right(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        phone = visit(page.address, is_paired=False)
        phone.get_by_label("Code", exact=True).fill("1234")
        phone.get_by_label("Your name").fill("Ben")
        phone.get_by_label("Allow it to").select_option("play")
        asked: list[str] = []
        phone.on("request", lambda request: asked.append(request.url))
        phone.get_by_role("button", name="Pair").click()
        refused = phone.get_by_role("alert")
        expect(refused).to_contain_text("That is not the code.")
        phone.wait_for_load_state("networkidle")
        # Nothing follows the table's changes, which would lead to the empty pairing page.
        assert [address for address in asked if "/api/events" in address] == []
        expect(refused).to_be_visible()
        expect(phone.get_by_label("Your name")).to_have_value("Ben")
        expect(phone.get_by_label("Allow it to")).to_have_value("play")
        phone.get_by_label("Code", exact=True).fill(page.codes[Role.OWN])
        phone.get_by_role("button", name="Pair").click()
        expect(phone.locator("#next")).to_have_text("Black to play.")
