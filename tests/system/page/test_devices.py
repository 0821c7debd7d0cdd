"""The owner's page in a browser: a phone is unpaired, and is told so at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from referee.web.access import Role
from referee.web.options import PageOptions
from referee.web.server import open_page
from tests.system.page.served import session

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect
expect.set_options(timeout=20_000)


def test_an_unpaired_phone_is_sent_to_the_pairing_page(tmp_path: Path, visit: Any) -> None:
    with (
        session("diaballik", tmp_path) as running,
        open_page(running.port(), PageOptions(address="127.0.0.1"), lambda said: None) as page,
    ):
        phones = {}
        for role, name in ((Role.OWN, "Ann"), (Role.PLAY, "Ben")):
            phone = visit(page.address, java_script_enabled=role is Role.PLAY, is_paired=False)
            phone.get_by_label("Code", exact=True).fill(page.codes[role])
            phone.get_by_label("Your name").fill(name)
            phone.get_by_role("button", name="Pair").click()
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
