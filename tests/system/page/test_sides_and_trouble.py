"""Whose pieces are whose, a camera that sees nothing, and turns to choose from, at every size of screen."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.system.page.screens import blind, table_of, two_turns
from tests.system.page.seen import expect, texts_of
from tests.system.page.served import served

SIZES = {360: 740, 390: 844, 768: 1024, 1366: 768}
LEAST_DIGIT_PX = 24
"""Height of a cell whose digit can be told from another at arm's length."""


def of_size(visit: Callable[..., Any], address: str, width: int, **device: Any) -> Any:
    """A page on a screen so wide."""
    return visit(address, viewport={"width": width, "height": SIZES[width]}, **device)


@pytest.mark.parametrize("width", SIZES)
def test_every_screen_shows_whose_pieces_are_whose_and_the_towers(width: int, tmp_path: Path, visit: Any) -> None:
    with table_of(tmp_path, "blockade") as address:
        page = of_size(visit, address, width)
        said = page.locator("#players small")
        assert texts_of(said) == [
            "warm", "Towers, of five: red 0, yellow 0", "cool", "Towers, of five: green 0, blue 0"
        ]  # fmt: skip
        # A screen reader is told them as items of the list, too.
        told = page.locator("#players").aria_snapshot()
        assert [word for word in ("warm", "cool", "red 0", "blue 0") if word not in told] == []
        if width < 1000:
            assert page.locator("#players").bounding_box()["height"] < 0.16 * SIZES[width]


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("locale", ["en-GB", "de-DE"])
def test_a_blind_camera_and_its_remedy_are_the_headline(width: int, locale: str, tmp_path: Path, visit: Any) -> None:
    with table_of(tmp_path, "diaballik", then=blind) as address:
        page = of_size(visit, address, width, locale=locale)
        trouble = page.locator("#trouble")
        expect(trouble.get_by_role("alert")).to_contain_text("12 s")
        film = trouble.locator("a.strong")
        size = "each => parseFloat(getComputedStyle(each).fontSize)"
        what, headline = trouble.get_by_role("alert"), page.locator("#next")
        assert what.evaluate(size) > headline.evaluate(size)
        assert what.bounding_box()["y"] < headline.bounding_box()["y"]
        expect(film).to_be_in_viewport(ratio=1)
        # Whatever is tapped there is the button itself.
        film.click(trial=True)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_camera_that_sees_again_leaves_the_headline_to_the_game(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    blind(running)
    page = of_size(visit, address, 360)
    expect(page.locator("#trouble")).to_be_visible()
    running.snapshots(replace(running.snapshots.newest.snapshot, trouble=""))
    expect(page.locator("#trouble")).to_be_hidden()
    expect(page.locator("#next")).to_have_text("Black to play.")


@pytest.mark.parametrize("width", SIZES)
@pytest.mark.parametrize("name", ["number-drop", "blokus-dice"])
def test_turns_on_sheets_are_told_apart_by_large_cells(width: int, name: str, tmp_path: Path, visit: Any) -> None:
    with table_of(tmp_path, name, then=two_turns) as address:
        page = of_size(visit, address, width)
        drawings = page.locator("#verdict .choice svg")
        expect(drawings).to_have_count(2)
        boxes = {each.get_attribute("viewBox") for each in drawings.all()}
        assert len(boxes) == 1, "both show the same part of the sheet"
        wide, high = map(float, boxes.pop().split()[2:])
        for each in drawings.all():
            shown = each.bounding_box()
            scale = min(shown["width"] / wide, shown["height"] / high)
            assert 100 * scale >= LEAST_DIGIT_PX
        # What differs is in that part, and stands elsewhere or is another sign.
        inked = [set(re.findall(r"<use [^>]*>", each.inner_html())) for each in drawings.all()]
        assert inked[0] != inked[1]
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_blind_camera_is_said_to_those_who_may_not_film(tmp_path: Path, visit: Any) -> None:
    with served("diaballik", tmp_path) as (running, address):
        blind(running)
        page = of_size(visit, address, 390, java_script_enabled=False)
        expect(page.locator("#trouble")).to_contain_text("No new picture from the camera for 12 s.")
