"""A turn is tapped on the live board, by finger or by keys, and played as if it were typed."""

from pathlib import Path
from typing import Any

import pytest

from engine.registry import games
from engine.values import OptionValue, Roll
from referee.commands.values import Command, EnterRoll, EnterTurn
from tests.games.known import known_of
from tests.system.page.playing import PHONE, tap
from tests.system.page.seen import expect
from tests.system.page.served import served
from tests.system.page.test_barriers import AXE


def step_of(text: str) -> Command:
    """A roll or a turn, with the player's name before it."""
    who, rest = text.split(" ", 1)
    return EnterRoll(rest, "Ann") if who == "roll" else EnterTurn(rest, "Ann", who)


@pytest.mark.parametrize("name", games())
def test_a_turn_of_every_game_is_tapped(name: str, tmp_path: Path, visit: Any) -> None:
    known = known_of(name)["tapped"]
    with served(name, tmp_path, known.get("options", {})) as (running, address):
        for step in known.get("before", ()):
            assert not running.tell(step_of(step)).refused
        page = visit(address, viewport=PHONE)
        page.get_by_role("button", name="Play by tapping").click()
        # Keys begin on a square that may be tapped.
        expect(page.locator('#board .places [aria-disabled="false"]:focus')).to_be_attached()
        tap(page, *known["taps"])
        if name == "number-drop":
            # The square shows the mark to be written.
            expect(page.locator("#board .tap-mark.tapped text")).to_have_text(["3", "2", "2", "4"])
        page.get_by_role("button", name="Play this turn").click()
        expect(page.locator("#tapping")).to_be_hidden()
        expect(page.locator("#last")).to_contain_text("Last turn: ")
        newest = running.snapshots.newest
        assert newest is not None
        last = newest.snapshot.last_turn
        assert last is not None
        assert f"{last.player} {last.text}" == known["turn"]
        expect(page.locator("#board .tap-mark")).to_have_count(0)
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_only_possible_taps_are_lit_and_a_tap_can_be_taken_back(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    lit = page.locator("#board .tap-mark.may")
    # The first tap on a piece begins by itself.
    page.locator("#place-a1").click()
    expect(lit).to_have_count(1)
    page.locator("#place-g7").click(force=True)
    page.get_by_role("button", name="Undo the last tap").click()
    expect(lit).to_have_count(7)
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#tapping")).to_be_hidden()
    expect(page.locator("#board svg.board")).to_have_attribute("role", "img")


def test_keys_alone_tap_a_turn_in_german_without_a_barrier(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, locale="de-DE", bypass_csp=True)
    page.get_by_role("button", name="Durch Antippen spielen").press("Enter")
    expect(page.locator("#board .tap-mark.may")).to_have_count(7)
    if AXE.is_file():
        page.add_script_tag(path=AXE)
        assert page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"] == []
    page.locator("#place-a7").focus()
    for key in ("ArrowDown",) * 6:
        page.keyboard.press(key)
    expect(page.locator("#place-a1")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(1)
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Diesen Zug spielen").press("Enter")
    expect(page.locator("#last")).to_contain_text("a1 nach a2")


def test_taps_begin_again_when_the_table_changes(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address)
    page.locator("#place-a1").click()
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(1)
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(0)
    expect(page.locator('#place-a7[aria-disabled="false"]')).to_be_attached()


def test_the_dice_lie_beside_the_tiles(tmp_path: Path, visit: Any) -> None:
    with served("number-drop", tmp_path, {"players": 2}) as (running, address):
        for step in known_of("number-drop")["tapped"]["before"]:
            assert not running.tell(step_of(step)).refused
        for size in (
            PHONE,
            {"width": 740, "height": 360},
            {"width": 1180, "height": 820},
            {"width": 1920, "height": 1080},
        ):
            dice, tiles = (each.bounding_box() for each in visit(address, viewport=size).locator("#board .dice").all())
            assert dice["x"] + dice["width"] <= tiles["x"]
            assert tiles["x"] + tiles["width"] <= size["width"]


@pytest.mark.parametrize(
    ("name", "locale", "taps", "shown"),
    [
        ("blockade", "en-GB", (6, 4), "6,4"),
        ("blokus-dice", "de-DE", (3, 5), "3,5"),
        ("number-drop", "en-GB", (1, 2, 2, 3, 2), ""),
    ],
)
def test_dice_are_tapped_until_they_show_the_roll(
    name: str, locale: str, taps: tuple[int, ...], shown: str, tmp_path: Path, visit: Any
) -> None:
    options: dict[str, OptionValue] = {} if name == "blockade" else {"players": 2}
    with served(name, tmp_path, options) as (running, address):
        for step in known_of(name)["tapped"]["before"][:-1]:
            assert not running.tell(step_of(step)).refused
        page = visit(address, viewport=PHONE, locale=locale, bypass_csp=True)
        dice = page.locator("#rolling .die")
        expect(dice).to_have_count(len(taps))
        expect(dice.last).to_be_in_viewport(ratio=1)
        told = page.locator("#rolling form button")
        expect(told).to_be_hidden()
        for at, times in enumerate(taps):
            dice.nth(at).focus()
            for _ in range(times):
                page.keyboard.press("Enter")
        # One too far and one back changes nothing.
        page.keyboard.press("ArrowUp")
        page.keyboard.press("ArrowDown")
        expect(told).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        if AXE.is_file():
            page.add_script_tag(path=AXE)
            assert page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"] == []
        # The die of letters shows each one's shape, as tiles do.
        expect(dice.locator("path:not([d=''])")).to_have_count(1 if name == "number-drop" else 0)
        lies = page.locator("#rolling [name=text]").input_value()
        assert lies == shown or not shown
        told.click()
        expect(page.locator("#rolling")).to_be_hidden()
        newest = running.snapshots.newest
        assert newest is not None
        dice_of = running.game.dice_for(lies)
        assert dice_of.roll_of(newest.snapshot.states[0]) == Roll(tuple(lies.split(",")))
        # A roll entered by a person is taken back, not corrected.
        expect(page.locator("#rolling")).to_be_hidden()


def test_typing_narrows_the_turns_that_are_offered(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(f"{address}/enter", viewport=PHONE)
    offered = page.locator("#turns button")
    expect(offered).to_have_count(150)
    expect(page.locator("#more")).to_contain_text("more turns")
    page.get_by_label("Turn", exact=True).fill("a1-a2 d1")
    expect(page.locator("#more")).to_be_hidden()
    assert 0 < offered.count() < 150
    page.get_by_role("button", name="Black moves a1 to a2 and passes d1 to e1. a1-a2 d1*e1").click()
    expect(page.get_by_label("Turn", exact=True)).to_have_value("a1-a2 d1*e1")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_contain_text("d1 to e1")


def test_a_quick_second_tap_counts_from_the_first(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    page.get_by_role("button", name="Play by tapping").click()
    expect(page.locator("#board .tap-mark.may")).to_have_count(7)
    click = "document.getElementById('place-%s').dispatchEvent(new Event('click', {bubbles: true}));"
    page.evaluate("".join(click % place for place in ("a1", "a2")))
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(2)
    expect(page.locator("#tapping [name=text]")).to_have_value("a1-a2")


def test_tapping_goes_on_after_an_answer_that_was_cut_off(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, service_workers="block")
    page.get_by_role("button", name="Play by tapping").click()
    expect(page.locator("#board .tap-mark.may")).to_have_count(7)
    page.route("**/api/tapped*", lambda route: route.fulfill(body="{"), times=1)
    with page.expect_response("**/api/tapped*"):
        page.locator("#place-a1").dispatch_event("click")
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(0)
    tap(page, "a1", "a2")
