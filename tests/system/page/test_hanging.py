"""A browser that answers no more ends one test, not all of them."""

import threading
from typing import Any

import pytest

from tests.system.page.conftest import end_browsers

sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")


@pytest.mark.parametrize("time", ["first", "again"])
def test_who_waits_for_ever_gets_an_error(time: str, diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    ends = threading.Timer(0.1, end_browsers)
    ends.start()
    with pytest.raises(sync_api.Error, match="closed"):
        page.evaluate("new Promise(() => {})")
    ends.join()
