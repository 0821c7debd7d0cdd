"""A real browser at a real page. Skipped without Playwright or the system's Chromium."""

import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.system.page.served import ANSWER_S, Session, page_of, session

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
HANGS_S = 480
"""After how long, in seconds, a test is taken to wait for a browser that hangs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command that tests the screens keep their pictures."""
    parser.addoption("--pictures", metavar="FOLDER", help="Keep a picture of every screen in this folder.")


def _programs_of(process: int) -> Iterator[int]:
    """All processes below a process."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        below = ""
        with suppress(FileNotFoundError, ProcessLookupError):
            below = children.read_text()
        for child in map(int, below.split()):
            yield from _programs_of(child)
            yield child


def end_browsers() -> None:
    """End every Chromium of this process, so that whoever waits for one gets an error."""
    for process in list(_programs_of(os.getpid())):
        with suppress(FileNotFoundError, ProcessLookupError):
            if b"chrom" in Path(f"/proc/{process}/cmdline").read_bytes():
                os.kill(process, signal.SIGKILL)


@contextmanager
def hanging_browsers_ended() -> Iterator[None]:
    """Playwright waits for some answers without a limit. Who hangs so inside the context gets an error."""
    watchdog = threading.Timer(HANGS_S, end_browsers)
    watchdog.start()
    try:
        yield
    finally:
        watchdog.cancel()
        watchdog.join()


@pytest.fixture(autouse=True)
def no_test_hangs(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that hangs fails, and shows for what it waited."""
    with nullcontext() if request.node.get_closest_marker("long") else hanging_browsers_ended():
        yield


@pytest.fixture(scope="module")
def browsers() -> Iterator[Callable[[], Any]]:
    """Chromium, for one module: while Playwright is open, no other test of the process can start an event loop."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    sync_api.expect.set_options(timeout=ANSWER_S * 1000)
    # Root has no sandbox to be put in.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        launched: list[Any] = []

        def running() -> Any:
            if not launched or not launched[-1].is_connected():
                launched.append(playwright.chromium.launch(executable_path=CHROMIUM, args=arguments))
            return launched[-1]

        yield running
        with hanging_browsers_ended():
            for one in launched:
                one.close()


@pytest.fixture
def browser(browsers: Callable[[], Any]) -> Any:
    """The module's browser, or another one if that was ended."""
    return browsers()


@pytest.fixture
def visit(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in a new browser context; an error in its scripts fails the test."""
    with ExitStack() as stack:
        complaints: list[str] = []

        def opened(address: str, *, is_paired: bool = True, **device: Any) -> Any:
            context = stack.enter_context(browser.new_context(**{"locale": "en-GB", **device}))
            context.set_default_timeout(ANSWER_S * 1000)
            page = context.new_page()
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.on("console", lambda said: complaints.append(said.text) if "Content Security" in said.text else None)
            page.goto(address, wait_until="load")
            if is_paired and device.get("java_script_enabled", True):
                page.wait_for_selector("html[data-live]", state="attached")
            return page

        yield opened
        assert complaints == []


@pytest.fixture
def diaballik(tmp_path: Path) -> Iterator[tuple[Session, str]]:
    with session("diaballik", tmp_path) as running, page_of(running) as address:
        yield running, address
