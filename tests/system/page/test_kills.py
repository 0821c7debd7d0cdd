"""A browser agrees with the journal after each kill of the server.

A file of its own: the benchmark opens its own Playwright, and a process has only one at a time.
"""

import pytest

from tests.effort import cases
from tests.system.page.conftest import CHROMIUM


def test_a_browser_agrees_with_the_journal_after_every_kill(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    from benchmarks.parts.page.kills import run_kills

    count = cases(20, least=4)
    assert run_kills(count, seed=15), capsys.readouterr().out
    assert f"{count} kills" in capsys.readouterr().out
