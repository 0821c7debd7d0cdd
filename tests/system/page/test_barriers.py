"""Accessibility: axe-core finds nothing on any view, and no view is wider than a small phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.values import EMPTY
from referee.commands.values import EnterTurn

AXE = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
HISTORY_VIEWS = ("/history", "/history/3", "/games", "/results")
VIEWS = (
    "/",
    *HISTORY_VIEWS,
    "/correct",
    "/enter",
    "/new",
    "/owner",
    "/doctor",
    "/bug-report",
    "/ending",
    "/ending?resign=black",
    "/offline",
    "/pair",
    "/nowhere",
)


DARK_VIEWS = ("/", "/history/3", "/correct")
"""Views with colours that other views lack."""


@pytest.mark.parametrize(("scheme", "views"), [("light", VIEWS), ("dark", DARK_VIEWS)])
def test_axe_finds_no_barrier_on_any_view(scheme: str, views: tuple[str, ...], diaballik: Any, visit: Any) -> None:
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: npm ci --ignore-scripts --prefix tests/system/page")
    running, address = diaballik
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    running.reader.looks |= {"a1": EMPTY, "a4": "black piece"}
    running.end_turn()
    page = visit(address, color_scheme=scheme, locale="de-DE" if scheme == "dark" else "en-GB", bypass_csp=True)
    for view in views:
        page.goto(address + view, wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        told = [
            f"{fault['id']}: {fault['help']}: {', '.join(str(node['target']) for node in fault['nodes'][:3])}"
            for fault in found["violations"]
        ]
        assert told == [], f"{view} in {scheme}"


@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_no_view_is_wider_than_a_small_phone(locale: str, diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    page = visit(address, locale=locale, viewport={"width": 360, "height": 640})
    for view in VIEWS:
        page.goto(address + view, wait_until="load")
        page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, view
