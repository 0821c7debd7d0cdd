"""A real browser at a real page. Skipped without Playwright or the system's Chromium."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.system.page.served import ANSWER_S, Session, page_of, session

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Let the command that tests the screens keep their pictures."""
    parser.addoption("--pictures", metavar="FOLDER", help="Keep a picture of every screen in this folder.")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, for one module: while Playwright is open, no other test of the process can start an event loop."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    sync_api.expect.set_options(timeout=ANSWER_S * 1000)
    # Root has no sandbox to be put in.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield launched
        launched.close()


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
