"""The system's Chromium: its time to first paint of the page when throttled to a phone's speed, and what it loads."""

import os
import shutil
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click
from playwright.sync_api import Browser, CDPSession, Page, ViewportSize, sync_playwright

from engine.registry import games, load
from frontends.page.server import open_page
from frontends.page.settings import PageOptions
from frontends.table_port import SnapshotHub, TablePort
from hardware.lights.signals import Mood, Signal
from referee.commands.values import CommandQueue
from referee.session.feed import TableSnapshot

PHONE: ViewportSize = {"width": 360, "height": 740}
_CPU_THROTTLING = 4
"""Factor by which the browser's CPU is throttled."""
_VIEWS = ("/correct", "/enter", "/new", "/")
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


@dataclass
class Traffic:
    """What a page loads over the network, event streams included. ``begin`` begins a new count."""

    devtools: CDPSession
    requests: int = 0
    loaded: dict[str, float] = field(default_factory=dict)
    _from_memory: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.devtools.on("Network.requestServedFromCache", lambda served: self._from_memory.add(served["requestId"]))
        self.devtools.on("Network.responseReceived", self._on_answer)
        self.devtools.on("Network.eventSourceMessageReceived", self._on_event)
        self.devtools.on("Network.loadingFinished", self._on_end)
        self.devtools.send("Network.enable")

    @property
    def kilobytes(self) -> float:
        """The bytes received, heads included, in kB."""
        return sum(self.loaded.values()) / 1000

    def begin(self) -> None:
        """Count from nothing."""
        self.requests = 0
        self.loaded.clear()

    def _on_answer(self, answer: dict[str, Any]) -> None:
        response = answer["response"]
        is_cached = response["fromDiskCache"] or answer["requestId"] in self._from_memory
        if not is_cached and response["url"].startswith("http"):
            self.requests += 1
            self.loaded[answer["requestId"]] = response["encodedDataLength"]

    def _on_event(self, event: dict[str, Any]) -> None:
        self.loaded[event["requestId"]] = self.loaded.get(event["requestId"], 0) + len(event["data"].encode())

    def _on_end(self, end: dict[str, Any]) -> None:
        if end["requestId"] in self.loaded:
            self.loaded[end["requestId"]] = end["encodedDataLength"]


@dataclass(frozen=True)
class Painted:
    """A page's first visit: times to first paint and to live data, and bytes received."""

    seen_ms: float
    live_ms: float
    weight_kb: float


def painted(browser: Browser, address: str) -> Painted:
    """Open a page as a phone on its first visit."""
    page, traffic = _phone(browser)
    traffic.devtools.send("Emulation.setCPUThrottlingRate", {"rate": _CPU_THROTTLING})
    began_s = time.monotonic()
    _go_to(page, address)
    live_ms = 1000 * (time.monotonic() - began_s)
    seen_ms = float(page.evaluate(_FIRST_PAINT))
    page.context.close()
    return Painted(seen_ms, live_ms, traffic.kilobytes)


def _phone(browser: Browser) -> tuple[Page, Traffic]:
    """Open an empty page on a phone that visits for the first time and, as over a LAN's HTTP, has no service worker."""
    context = browser.new_context(
        viewport=PHONE, device_scale_factor=3, is_mobile=True, has_touch=True, service_workers="block"
    )
    page = context.new_page()
    return page, Traffic(context.new_cdp_session(page))


def _go_to(page: Page, address: str) -> None:
    """Load a page and wait until it follows the table."""
    page.goto(address, wait_until="load")
    page.wait_for_selector("html[data-live]", state="attached")


def print_first_paint(times: int) -> None:
    """Open each game's page so many times and print the figures."""
    size = f"{PHONE['width']} x {PHONE['height']}"
    click.echo(f"A window of {size}, CPU throttled {_CPU_THROTTLING} times; {times} first visits to each game.")
    click.echo(f"{'':14}{'first paint, ms':>24}{'live, ms':>12}{'weight, kB':>12}")
    click.echo(f"{'':14}{'median':>12}{'most':>12}{'median':>12}")
    with chromium() as browser:
        for name in games():
            with _page_of(name) as address:
                all_of = [painted(browser, address) for _ in range(times)]
            seen = [each.seen_ms for each in all_of]
            live = statistics.median(each.live_ms for each in all_of)
            weight = max(each.weight_kb for each in all_of)
            click.echo(f"{name:14}{statistics.median(seen):>12.0f}{max(seen):>12.0f}{live:>12.0f}{weight:>12.1f}")


def print_bytes() -> None:
    """Print what a phone loads for each game: at the first visit, then at each change of page."""
    click.echo(f"{'requests, kB':14}{'first visit':>16}" + "".join(f"{view:>16}" for view in _VIEWS))
    with chromium() as browser:
        for name in games():
            with _page_of(name) as address:
                page, traffic = _phone(browser)
                cells = []
                for view in ("/", *_VIEWS):
                    traffic.begin()
                    _go_to(page, address + view[1:])
                    cells.append(f"{traffic.requests:>7},{traffic.kilobytes:>8.1f}")
                page.context.close()
            click.echo(f"{name:14}" + "".join(cells))


@contextmanager
def _page_of(name: str) -> Iterator[str]:
    """Serve a game that has just begun, and give its address."""
    game, hub = load(name), SnapshotHub()
    state = game.rules.new()
    looks = game.table.appearance(state)
    hub(TableSnapshot(1, 1, Signal(Mood.WAITING), 0.0, states=(state,), appearance=looks, to_move=state.to_move))
    with open_page(TablePort(game, hub, CommandQueue(time.monotonic)), PageOptions(), print) as opened:
        yield opened.address
