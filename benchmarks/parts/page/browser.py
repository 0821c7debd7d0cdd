"""The system's Chromium, and its time to first paint of the page when throttled to a phone's speed."""

import os
import shutil
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from engine.registry import games, load
from hardware.lights.signals import Mood, Signal
from referee.commands.values import CommandQueue
from referee.session.feed import TableSnapshot
from referee.session.table_port import SnapshotHub, TablePort
from referee.settings.settings import PageOptions
from referee.web.server import open_page

PHONE: ViewportSize = {"width": 360, "height": 740}
_CPU_THROTTLING = 4
"""Factor by which the browser's CPU is throttled."""
_FIRST_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the system's Chromium; raises click.ClickException where there is none."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        raise click.ClickException("Chromium is not installed: apt install chromium")
    # Chromium has no sandbox for root.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@dataclass(frozen=True)
class Painted:
    """A page's first visit: times to first paint and to live data, and bytes received."""

    seen_ms: float
    live_ms: float
    weight_kb: float


def painted(browser: Browser, address: str) -> Painted:
    """Open a page as a phone on its first visit."""
    context = browser.new_context(viewport=PHONE, device_scale_factor=3, is_mobile=True, has_touch=True)
    page = context.new_page()
    devtools = context.new_cdp_session(page)
    received: list[float] = []

    def on_loaded(loaded: dict[str, Any]) -> None:
        received.append(loaded["encodedDataLength"])

    devtools.on("Network.loadingFinished", on_loaded)
    devtools.send("Network.enable")
    devtools.send("Emulation.setCPUThrottlingRate", {"rate": _CPU_THROTTLING})
    began_s = time.monotonic()
    page.goto(address, wait_until="load")
    page.wait_for_selector("html[data-live]", state="attached")
    live_ms = 1000 * (time.monotonic() - began_s)
    seen_ms = float(page.evaluate(_FIRST_PAINT))
    context.close()
    return Painted(seen_ms, live_ms, sum(received) / 1000)


def print_first_paint(times: int) -> None:
    """Open each game's page so many times and print the figures."""
    size = f"{PHONE['width']} x {PHONE['height']}"
    click.echo(f"A window of {size}, CPU throttled {_CPU_THROTTLING} times; {times} first visits to each game.")
    click.echo(f"{'':14}{'first paint, ms':>24}{'live, ms':>12}{'weight, kB':>12}")
    click.echo(f"{'':14}{'median':>12}{'most':>12}{'median':>12}")
    with chromium() as browser:
        for name in games():
            game, hub = load(name), SnapshotHub()
            state = game.rules.new()
            looks = game.table.appearance(state)
            hub(
                TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, states=(state,), appearance=looks, to_move=state.to_move)
            )
            with open_page(TablePort(game, hub, CommandQueue(time.monotonic)), PageOptions(), print) as opened:
                all_of = [painted(browser, opened.address) for _ in range(times)]
            seen = [each.seen_ms for each in all_of]
            live = statistics.median(each.live_ms for each in all_of)
            weight = max(each.weight_kb for each in all_of)
            click.echo(f"{name:14}{statistics.median(seen):>12.0f}{max(seen):>12.0f}{live:>12.0f}{weight:>12.1f}")
