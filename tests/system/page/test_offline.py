"""Without a network the page opens in its last state, says since when, and catches up; it can be installed."""

from __future__ import annotations

import json
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from referee.commands.values import EnterTurn
from tests.system.page.served import page_of, session

expect = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed").expect
expect.set_options(timeout=20_000)
LEAST_ICON_PX = 192
"""Chromium requires an icon of 144 pixels; devices get 192 and 512."""


def kept_by_its_worker(page: Any) -> None:
    """Wait until the service worker controls the page, and reload so that it caches the state."""
    page.evaluate(
        """() => new Promise((standsIn) => {
            if (navigator.serviceWorker.controller) standsIn();
            else navigator.serviceWorker.addEventListener("controllerchange", standsIn);
        })"""
    )
    page.reload()
    page.wait_for_selector("html[data-live]", state="attached")


def test_the_table_opens_without_a_network_and_catches_up(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running:
        with page_of(running) as address:
            page = visit(address)
            kept_by_its_worker(page)
            assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
            expect(page.locator("#next")).to_have_text("White to play.")
            board = page.locator("#board").inner_html()
        expect(page.locator("#connection")).to_be_visible()

        # Opened again, for example from the home screen.
        page.context.set_offline(True)
        page.goto(address, wait_until="load")
        connection = page.locator("#connection")
        expect(connection).to_contain_text(re.compile(r"can't be reached; it was last heard at \d?\d:\d\d"))
        expect(page.locator("#next")).to_have_text("White to play.")
        assert page.locator("#board").inner_html() == board
        page.goto(f"{address}/history", wait_until="load")
        expect(page.get_by_role("heading", level=1)).to_have_text("The referee can't be reached")
        page.goto(address, wait_until="load")
        expect(connection).to_be_visible()

        for player, text in (("white", "a7-a6"), ("black", "c1-c2")):
            assert not running.tell(EnterTurn(text, "Ann", player)).refused
        with page_of(running, int(address.rpartition(":")[2])):
            page.context.set_offline(False)
            expect(connection).to_be_hidden()
            newest = running.snapshots.newest
            assert newest is not None
            expect(page.locator("html")).to_have_attribute("data-live", str(newest.snapshot.event_number))
            expect(page.locator("#last")).to_contain_text("black c1-c2")


def test_a_silently_lost_network_is_noticed_by_the_silence(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, service_workers="block")
    page.clock.install()
    page.reload()
    page.wait_for_selector("html[data-live]", state="attached")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    connection = page.locator("#connection")
    expect(connection).to_be_hidden()
    page.clock.fast_forward(45_000)
    expect(connection).to_be_visible()
    page.clock.fast_forward(1_500)
    expect(connection).to_be_hidden()
    expect(page.locator("html[data-live]")).to_have_count(1)


def test_the_page_can_be_installed(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    kept_by_its_worker(page)
    devtools = page.context.new_cdp_session(page)
    told = devtools.send("Page.getAppManifest")
    assert told["errors"] == []
    # The private context of every test is the only obstacle to installing.
    hindrances = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {each["errorId"] for each in hindrances} <= {"in-incognito"}
    manifest = json.loads(told["data"])
    assert manifest["display"] == "standalone"
    assert urljoin(told["url"], manifest["start_url"]) == f"{address}/"
    sides = set()
    for icon in manifest["icons"]:
        answer = page.request.get(urljoin(told["url"], icon["src"]))
        assert answer.headers["content-type"] == icon["type"]
        if icon["type"] == "image/png":
            width, height = struct.unpack(">II", answer.body()[16:24])
            assert icon["sizes"] == f"{width}x{height}"
            sides.add(width)
    assert min(sides) >= LEAST_ICON_PX
    assert {"any", "maskable"} <= {icon.get("purpose", "any") for icon in manifest["icons"]}
