"""What is left of a game in a real browser: its turns, its film, its end, and a picture to send."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from referee.commands.values import Announce, EnterTurn, NewGame
from tests.system.page.seen import expect
from tests.system.page.served import Session, page_of, session
from tests.system.page.test_barriers import AXE

PNG = b"\x89PNG"


@pytest.fixture
def ended(tmp_path: Path) -> Iterator[tuple[Session, str]]:
    """A game that was resigned after two turns: events 1 to 6, of which 2 to 6 are its film."""
    with session("diaballik", tmp_path) as running, page_of(running) as address:
        for player, text in (("black", "a1-a2"), ("white", "a7-a6")):
            assert not running.tell(EnterTurn(text, "Ann", player)).refused
        assert not running.tell(Announce("white:resign", "Ann")).refused
        yield running, address


def test_turns_open_where_they_are_tapped_and_lead_to_the_table_then(ended: Any, visit: Any) -> None:
    _, address = ended
    page = visit(f"{address}/history", viewport={"width": 360, "height": 740})
    turn = page.locator(".turns > li").filter(has_text="Black moves a1 to a2.")
    link = turn.get_by_role("link", name="The table then")
    expect(link).to_be_hidden()
    turn.locator("summary").click()
    link.click()
    page.wait_for_url("**/history/3")
    expect(page.locator("#then h1")).to_have_text("Black moves a1 to a2.")


def test_a_film_is_stepped_through_by_keys_and_is_one_place_in_the_browsers_history(ended: Any, visit: Any) -> None:
    _, address = ended
    page = visit(f"{address}/history")
    page.goto(f"{address}/history/2")
    steps, heading, piece = page.locator("#steps"), page.locator("#then h1"), page.locator("[rel=next]")
    for number, words in (("3", "Black moves a1 to a2."), ("4", "White moves a7 to a6.")):
        page.keyboard.press("ArrowRight")
        page.wait_for_url(f"**/history/{number}")
        expect(heading).to_have_text(words)
    expect(page.locator("#board .arrow")).to_have_count(1)
    page.keyboard.press("ArrowLeft")
    expect(heading).to_have_text("Black moves a1 to a2.")
    # The button that was pressed keeps the focus.
    piece.focus()
    page.keyboard.press("Enter")
    expect(heading).to_have_text("White moves a7 to a6.")
    expect(piece).to_be_focused()
    steps.get_by_role("slider").fill("0")
    expect(heading).to_have_text("the set-up is accepted; black starts")
    page.go_back()
    page.wait_for_url("**/history")


def test_a_film_plays_to_its_end_and_begins_again(ended: Any, visit: Any) -> None:
    _, address = ended
    page = visit(f"{address}/games/1")
    page.get_by_role("link", name="Watch the game").click()
    button, slider = page.locator("[data-play]"), page.get_by_role("slider")
    expect(button).to_have_text("Pause")
    page.get_by_label("Speed").select_option("fast")
    expect(page.locator("#then h1")).to_contain_text("Black wins")
    expect(button).to_have_text("Play")
    last = slider.get_attribute("max")
    expect(slider).to_have_value(last)
    button.click()
    expect(slider).to_have_value("0")
    button.click()
    expect(button).to_have_text("Play")


def test_without_scripts_a_film_is_walked_through_by_links(ended: Any, visit: Any) -> None:
    _, address = ended
    page = visit(f"{address}/games/1", java_script_enabled=False)
    page.get_by_role("link", name="Watch the game").click()
    page.get_by_role("link", name="On", exact=True).click()
    expect(page.locator("#then h1")).to_have_text("Black moves a1 to a2.")
    page.get_by_role("link", name="Back", exact=True).click()
    expect(page.locator("#then h1")).to_have_text("the set-up is accepted; black starts")


def test_a_picture_of_the_end_is_saved_as_a_png(ended: Any, visit: Any, tmp_path: Path) -> None:
    _, address = ended
    page = visit(f"{address}/games/1")
    with page.expect_download() as download:
        page.get_by_role("link", name="Picture to send").click()
    assert download.value.suggested_filename == "diaballik-1.png"
    download.value.save_as(tmp_path / "end.png")
    assert (tmp_path / "end.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chances_come_by_themselves_without_a_barrier(scheme: str, ended: Any, visit: Any) -> None:
    _, address = ended
    page = visit(f"{address}/games/1", color_scheme=scheme, bypass_csp=True)
    page.get_by_role("link", name="Find them").click()
    expect(page.get_by_role("img", name="The chances of winning, turn by turn")).to_be_visible()
    expect(page.locator(".swings a", has_text="White moves a7 to a6.")).to_be_visible()
    if AXE.is_file():
        page.add_script_tag(path=AXE)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        assert [f"{fault['id']}: {fault['help']}" for fault in found["violations"]] == []


def test_the_end_offers_the_same_again_with_the_sides_changed(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, page_of(running) as address:
        assert not running.tell(NewGame("diaballik", players={"black": "Ann", "white": "Ben"})).refused
        running.end_turn()
        assert not running.tell(Announce("white:resign", "Ben")).refused
        page = visit(address, viewport={"width": 360, "height": 740})
        over = page.locator("#over")
        expect(over.get_by_role("heading")).to_have_text("Ann wins!")
        expect(page.locator("#next")).to_contain_text("Ann wins")
        over.get_by_role("button", name="Same again, sides changed").click()
        expect(over).to_be_hidden()
        assert running.snapshots.newest is not None
        assert running.snapshots.newest.snapshot.names == {"black": "Ben", "white": "Ann"}
