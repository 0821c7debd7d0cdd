"""From the box to the first turn: who plays by a few taps, house rules under a name, a refused form, the set-up."""

import re
from typing import Any

import pytest

from engine.values import EMPTY
from referee.commands.values import NewGame
from tests.system.page.playing import PHONE
from tests.system.page.seen import expect
from tests.system.page.served import served


def begun(running: Any) -> Any:
    newest = running.snapshots.newest
    assert newest is not None
    return newest.snapshot


def test_three_taps_begin_a_game_of_those_who_played_before(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    running.tell(NewGame("diaballik", {}, {"black": "Anna", "white": "Ben"}))
    running.tell(NewGame("diaballik", {}, {"black": "Clara"}))
    page = visit(f"{address}/new", viewport=PHONE)
    page.get_by_role("button", name="Anna", exact=True).click()
    page.get_by_role("button", name="Clara", exact=True).click()
    expect(page.get_by_label("Black", exact=True)).to_have_value("Anna")
    page.get_by_role("button", name="Change sides", exact=True).click()
    expect(page.get_by_label("White", exact=True)).to_have_value("Anna")
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.locator("#next")).to_contain_text("Set the pieces up as drawn.")
    assert begun(running).names == {"black": "Clara", "white": "Anna"}


def test_as_many_play_as_are_named(tmp_path: Any, visit: Any) -> None:
    with served("blokus-dice", tmp_path) as (running, address):
        page = visit(f"{address}/new", viewport=PHONE)
        expect(page.locator(".seats li:visible")).to_have_count(2)
        for place, name in enumerate(("Anna", "Ben", "Clara"), start=1):
            page.get_by_label(f"Player {place}", exact=True).fill(name)
        expect(page.locator(".seats li:visible")).to_have_count(4)
        page.get_by_role("button", name="Begin", exact=True).click()
        page.wait_for_selector("#next")
        # Those who play are listed before the sheets are laid out.
        expect(page.locator("#players li")).to_have_count(3)
        assert begun(running).playing == ("p1", "p2", "p3")
        assert begun(running).names == {"p1": "Anna", "p2": "Ben", "p3": "Clara"}


def test_rules_are_kept_under_a_name_and_chosen_again(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/new", viewport=PHONE)
    page.get_by_role("radio", name="Change them").check()
    page.get_by_label("Where the pieces start").select_option("variant")
    page.get_by_label("Keep these rules under a name").fill("Sundays")
    page.get_by_role("button", name="Begin", exact=True).click()
    page.wait_for_selector("#next")
    wanted = begun(running).wanted
    assert wanted["b1"] == "white piece"
    running.tell(NewGame("diaballik"))
    assert begun(running).wanted["b1"] == "black piece"
    page.goto(f"{address}/new")
    page.get_by_role("radio", name="Sundays").check()
    page.get_by_role("button", name="Begin", exact=True).click()
    page.wait_for_selector("#next")
    assert begun(running).wanted == wanted


def test_a_game_that_another_phone_has_just_begun_is_not_replaced_unseen(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    first, second = (visit(f"{address}/new", viewport=PHONE) for _ in range(2))
    first.get_by_label("Black", exact=True).fill("Anna")
    # Pressed twice, it begins one game.
    form = first.evaluate("new URLSearchParams(new FormData(document.forms.new)).toString()")
    for _ in range(2):
        sent = {"Content-Type": "application/x-www-form-urlencoded"}
        assert first.request.post(f"{address}/new", data=form, headers=sent, max_redirects=0).status == 303
    second.get_by_label("Black", exact=True).fill("Clara")
    second.get_by_role("button", name="Begin", exact=True).click()
    expect(second.get_by_role("alert").filter(has_text="The table has changed meanwhile")).to_be_in_viewport()
    expect(second.get_by_label("Black", exact=True)).to_have_value("Clara")
    assert begun(running).names == {"black": "Anna"}
    second.get_by_role("button", name="Begin", exact=True).click()
    second.wait_for_selector("#next")
    assert begun(running).names == {"black": "Clara"}


@pytest.mark.parametrize("has_scripts", [True, False])
def test_a_refused_form_keeps_what_was_typed(has_scripts: bool, diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(f"{address}/new", viewport=PHONE, java_script_enabled=has_scripts)
    for side in ("Black", "White"):
        page.get_by_label(side, exact=True).fill("Anna")
    page.get_by_text("No hints in this game").click()
    page.get_by_role("button", name="Begin", exact=True).click()
    refused = page.get_by_role("alert").filter(has_text="Anna is named twice")
    expect(refused).to_be_in_viewport()
    expect(page.get_by_label("White", exact=True)).to_have_value("Anna")
    assert page.get_by_label("No hints in this game").is_checked()
    page.get_by_label("White", exact=True).fill("Ben")
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.locator("#next")).to_contain_text("Set the pieces up")


def test_a_clock_that_cannot_be_read_is_said_at_its_field(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(f"{address}/new", viewport=PHONE)
    page.get_by_label("Black", exact=True).fill("Anna")
    page.get_by_role("radio", name="Another").check()
    minutes = page.get_by_role("spinbutton", name="Minutes each")
    minutes.fill("")
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.get_by_role("alert").filter(has_text="cannot read the clock")).to_be_in_viewport(ratio=1)
    expect(minutes).to_be_in_viewport(ratio=1)
    expect(minutes).to_have_accessible_description(re.compile("Cannot read the clock"))
    expect(page.get_by_label("Black", exact=True)).to_have_value("Anna")
    minutes.fill("7")
    page.get_by_role("button", name="Begin", exact=True).click()
    expect(page.locator("#players")).to_contain_text("Anna")


def test_the_page_follows_the_pieces_while_they_are_set_up(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    start = dict(running.reader.looks)
    running.tell(NewGame("diaballik"))
    page = visit(address)
    expect(page.locator("#next")).to_have_text("Set the pieces up as drawn.")
    running.reader.looks |= {"a1": EMPTY, "a2": "black piece"}
    running.end_turn()
    expect(page.locator("#next")).to_contain_text("2 squares are still wrong: a1 and a2.")
    expect(page.get_by_role("button", name="Start although a1 and a2 look wrong")).to_be_visible()
    expect(page.locator("#verdict button")).to_have_count(0)
    running.reader.looks |= start
    running.reader.looks |= {"a2": EMPTY}
    running.end_turn()
    expect(page.locator("#next")).to_contain_text("Black to play.")
