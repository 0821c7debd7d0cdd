"""Two phones, each a player's: what each may do, who is asked, and what only one of them is shown."""

from pathlib import Path
from typing import Any

from frontends.page.access import Role
from referee.commands.values import NewGame
from tests.system.page.playing import tap
from tests.system.page.seen import expect
from tests.system.page.served import pair, paired_page_of, session

PHONE = {"width": 360, "height": 740}
NOTES_BUZZES = "window.buzzed = 0; navigator.vibrate = () => { window.buzzed += 1; return true; };"


def becomes(phone: Any, name: str) -> None:
    """Say on a phone whose it is."""
    phone.get_by_role("button", name=f"{name}'s").click()
    expect(phone.locator("#whose_phone summary")).to_contain_text(f"This phone is {name}'s")


def test_each_of_two_phones_plays_and_asks_for_its_player(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        running.tell(NewGame("diaballik", {}, {"black": "Anna", "white": "Ben"}))
        running.end_turn()
        anna, ben = (visit(page.address, is_paired=False, viewport=PHONE) for _ in range(2))
        for phone, name in ((anna, "Anna"), (ben, "Ben")):
            pair(phone, page, Role.PLAY, "guest")
            phone.add_init_script(NOTES_BUZZES)
            becomes(phone, name)
        # Only who is to move is offered a turn.
        expect(anna.get_by_role("button", name="Play by tapping")).to_be_visible()
        expect(ben.get_by_role("button", name="Play by tapping")).to_have_count(0)
        # A hint is shown to its player alone.
        anna.get_by_role("button", name="Give a hint").click()
        expect(anna.locator("#hint")).to_contain_text("Hint:")
        expect(ben.locator("#hint")).to_be_hidden()
        # Ben has touched his phone, so it may buzz when his turn comes.
        ben.locator("#next").click()
        anna.get_by_role("button", name="Play by tapping").click()
        tap(anna, "a1", "a2")
        anna.get_by_role("button", name="Play this turn").click()
        expect(ben.locator("#last")).to_have_text("Last turn: Anna moves a1 to a2.")
        expect(ben.get_by_role("button", name="Play by tapping")).to_be_visible()
        assert ben.evaluate("buzzed") == 1
        assert anna.evaluate("buzzed") == 0
        # Anna asks to take back; she can't answer that herself.
        for answer, turns in (("No, play on", 1), ("Yes, take it back", 0)):
            anna.get_by_role("link", name="Take the last turn back").click()
            anna.get_by_role("button", name="Ask them").click()
            anna.wait_for_url(page.address)
            expect(anna.get_by_role("button", name="Withdraw that")).to_be_visible()
            expect(anna.get_by_role("button", name="Yes, take it back")).to_have_count(0)
            expect(ben.locator("#offer")).to_contain_text("Anna asks to take this back: Anna moves a1 to a2.")
            ben.get_by_role("button", name=answer).click()
            expect(anna.locator("#offer section")).to_have_count(0)
            assert running.snapshots.newest is not None
            assert running.snapshots.newest.snapshot.turns == turns
        # Nobody resigns for the other.
        ben.get_by_role("link", name="Resign or draw").click()
        expect(ben.get_by_role("link", name="Ben resigns")).to_be_visible()
        expect(ben.get_by_role("link", name="Anna resigns")).to_have_count(0)


def test_a_phone_follows_its_players_name_and_becomes_everybodys(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        running.tell(NewGame("diaballik", {}, {"black": "Anna", "white": "Ben"}))
        running.end_turn()
        phone = visit(page.address, is_paired=False, viewport=PHONE)
        pair(phone, page, Role.PLAY, "guest")
        becomes(phone, "Anna")
        # The next game, with the sides swapped.
        running.tell(NewGame("diaballik", {}, {"black": "Ben", "white": "Anna"}))
        running.end_turn()
        expect(phone.locator("#next")).to_have_text("Ben to play.")
        expect(phone.locator("#whose_phone summary")).to_contain_text("This phone is Anna's")
        expect(phone.get_by_role("button", name="My turn has ended")).to_have_count(0)
        phone.locator("#whose_phone summary").click()
        phone.get_by_role("button", name="everybody's").click()
        expect(phone.get_by_role("button", name="My turn has ended")).to_be_visible()


def test_at_the_machine_a_browser_without_scripts_says_whose_it_is(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, java_script_enabled=False)
    page.get_by_role("button", name="White's").click()
    expect(page.locator("#whose_phone summary")).to_contain_text("This phone is White's")
