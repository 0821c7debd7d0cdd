"""Servers, tabs and connections break at any moment: every screen agrees with the journal."""

from __future__ import annotations

import http.client
import json
import random
from pathlib import Path
from typing import Any

import pytest

from referee.commands.values import EnterTurn, TakeBack
from tests.effort import cases
from tests.system.page.conftest import CHROMIUM
from tests.system.page.served import Session, page_of, session

_TOLD = ("turns", "players", "next", "scores", "outcome")
"""Fields that a screen and the folded journal share; lights are momentary."""


def looked(address: str, breaks_after: int | None = None) -> Any:
    """Connect as a screen and give the first document; hang up in the middle after this many bytes."""
    viewer = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    viewer.request("GET", "/api/events")
    stream = viewer.getresponse()
    if breaks_after is not None:
        stream.read(breaks_after)
        viewer.close()
        return None
    for line in stream:
        if line.startswith(b"data: "):
            viewer.close()
            return json.loads(line[6:])
    raise AssertionError("the stream ended before it began")


def written(address: str, number: int) -> Any:
    """Give the table folded from the journal up to an event."""
    viewer = http.client.HTTPConnection(address.removeprefix("http://"), timeout=60)
    viewer.request("GET", f"/api/history/{number}")
    told = json.loads(viewer.getresponse().read())
    viewer.close()
    return told["table"]


def play_on(running: Session, rng: random.Random) -> None:
    """Play a legal turn, or take the last one back."""
    newest = running.snapshots.newest
    assert newest is not None
    state = newest.snapshot.states[0]
    turns = running.game.rules.legal_turns(state)
    if not turns or rng.random() < 0.2:
        running.tell(TakeBack("Ann"))
    else:
        running.tell(EnterTurn(running.game.notation.format_turn(rng.choice(turns)), "Ann"))


def test_every_screen_agrees_with_the_journal_whatever_breaks(tmp_path: Path) -> None:
    rng = random.Random(15)
    checked = 0
    with session("deblockle", tmp_path) as running:
        for _ in range(cases(5, least=3)):
            with page_of(running) as address:
                for _ in range(10):
                    play_on(running, rng)
                    looked(address, breaks_after=rng.randrange(1, 400))
                    told = looked(address)
                    expected = written(address, told["event_number"])
                    assert {name: told[name] for name in _TOLD} == {name: expected[name] for name in _TOLD}
                    checked += 1
    assert checked >= 30


def test_a_browser_agrees_with_the_journal_after_every_kill(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: apt install chromium")
    from benchmarks.parts.page.kills import run_kills

    count = cases(20, least=4)
    assert run_kills(count, seed=15), capsys.readouterr().out
    assert f"{count} kills" in capsys.readouterr().out
