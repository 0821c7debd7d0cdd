"""What somebody has entered stays: through others' turns, outages, kills, and without a network."""

import http.client
import json
import random
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest

from engine.registry import load
from engine.values import EMPTY
from frontends.page.access import Role
from referee.commands.values import AskHint, Correct, EnterRoll, EnterTurn, NewGame, TakeBack
from tests.effort import cases
from tests.system.page.playing import PHONE, journal_of, tap
from tests.system.page.seen import expect, expect_described, text_of
from tests.system.page.served import Killable, Session, page_of, pair, paired_page_of, session, take_back

TWO_SHEETS = (
    EnterRoll("O4,I4,X5,I3,T5", "Ann"), EnterTurn("e1=1", "Ann", "p1"), EnterTurn("e1=2", "Ben", "p2"),
    EnterRoll("2,2,3,4,T", "Ann"),
)  # fmt: skip
"""Two dropped, and rolled: both combine at once."""


def begun(running: Session) -> None:
    """Play two sheets up to where both may write."""
    for command in TWO_SHEETS:
        assert not running.tell(command).refused


def lose_once(route: Any) -> None:
    """Let a command arrive, and lose its reply; the next one has a network."""
    route.fetch()
    route.abort()


def test_taps_stay_through_the_turns_that_others_write_at_once(tmp_path: Path, visit: Any) -> None:
    with session("number-drop", tmp_path, {"players": 2}) as running, paired_page_of(running) as page:
        begun(running)
        ann, ben = (visit(page.address, is_paired=False, viewport=PHONE) for _ in range(2))
        for phone, name in ((ann, "Ann"), (ben, "Ben")):
            pair(phone, page, Role.PLAY, name)
            phone.get_by_role("button", name="Play by tapping").click()
        tap(ann, "p1.e2", "=3", "p1.d3", "=2", "p1.e3")
        tap(ben, "p2.e2", "=3", "p2.d3", "=2", "p2.e3", "=2", "p2.f3")
        ben.get_by_role("button", name="Play this turn").click()
        expect(ann.locator("#last")).to_contain_text("Player 2 drops ")
        # Somebody wants a hint, too.
        assert not running.tell(AskHint("Ben")).refused
        expect(ann.locator("#hint")).to_be_visible()
        expect(ann.locator("#board .tap-mark.tapped")).to_have_count(3)
        tap(ann, "=2")
        last = ann.locator('[id="place-p1.f3"][aria-disabled="false"]')
        last.dispatch_event("click")
        expect(ann.locator("#tapping [name=text]")).to_have_value("e2=3,d3=2,e3=2,f3=4")
        ann.get_by_role("button", name="Play this turn").click()
        expect(ann.locator("#last")).to_contain_text("Player 1 ")
        assert running.snapshots.newest is not None
        assert running.snapshots.newest.snapshot.turns == 4


def test_a_complete_turn_is_played_after_anothers_event(tmp_path: Path, visit: Any) -> None:
    with session("number-drop", tmp_path, {"players": 2}) as running, paired_page_of(running) as page:
        begun(running)
        ann = visit(page.address, is_paired=False, viewport=PHONE)
        pair(ann, page, Role.PLAY, "Ann")
        ann.get_by_role("button", name="Play by tapping").click()
        tap(ann, "p1.e2", "=3", "p1.d3", "=2", "p1.e3", "=2", "p1.f3")
        expect(ann.locator("#tapping [name=text]")).to_have_value("e2=3,d3=2,e3=2,f3=4")
        assert not running.tell(EnterTurn("e2=3,d3=2,e3=2,f3=4", "Ben", "p2")).refused
        expect(ann.locator("#last")).to_contain_text("Player 2 drops ")
        ann.get_by_role("button", name="Play this turn").click()
        expect(ann.locator("#last")).to_contain_text("Player 1 ")


def test_taps_that_no_longer_fit_are_named_and_the_others_stay(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, viewport=PHONE)
    page.get_by_role("button", name="Play by tapping").click()
    tap(page, "a1", "a2", "b1", "b2")
    assert not running.tell(Correct("Ann", looks={"b2": "white piece", "b7": EMPTY})).refused
    told = page.locator("#tapping [data-part=told]")
    expect(told).to_contain_text("The table has changed, so b2 no longer fits.")
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(3)
    page.get_by_role("button", name="Undo the last tap").click()
    expect(page.locator("#tapping [name=text]")).to_have_value("a1-a2")
    expect(told).not_to_contain_text("no longer fits")
    # The turn is over: nothing of it stays.
    assert not running.tell(EnterTurn("c1-c2", "Ann", "black")).refused
    expect(told).to_contain_text("so a1 no longer fits.")
    expect(page.locator("#board .tap-mark.tapped")).to_have_count(0)
    page.get_by_role("button", name="Stop tapping").click()
    expect(page.locator("#tapping")).to_be_hidden()


def test_a_command_whose_reply_is_lost_is_carried_out_once(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    for text in ("a1-a2", "a7-a6"):
        assert not running.tell(EnterTurn(text, "Ann")).refused
    page = visit(f"{address}/take-back", service_workers="block")
    page.route("**/api/commands", lose_once, times=1)
    page.get_by_role("button", name="Yes, take it back").click()
    page.wait_for_url(f"{address}/")
    expect(page.locator("#said")).to_contain_text("taken back")
    assert running.snapshots.newest.snapshot.turns == 1


def test_commands_wait_for_the_network_on_any_page_and_are_sent_once_each(tmp_path: Path, visit: Any) -> None:
    with Killable("diaballik", tmp_path) as table:
        page = visit(table.address, viewport=PHONE)
        kept_by_its_worker(page)
        page.goto(f"{table.address}/enter", wait_until="load")
        page.wait_for_selector("html[data-live]", state="attached")
        page.get_by_label("Turn", exact=True).fill("a1-a2")
        page.get_by_role("button", name="Play it").scroll_into_view_if_needed()
        table.kill()
        page.get_by_role("button", name="Play it").click()
        waits = page.locator("#said")
        expect(waits).to_have_text("The referee can't be reached. I send this once it can: Play it")
        expect(waits).to_be_in_viewport(ratio=1)
        expect(page.locator("#connection")).to_be_in_viewport()
        page.evaluate("scrollTo(0, document.body.scrollHeight)")
        for each in (waits, page.locator("#connection")):
            expect(each).to_be_in_viewport(ratio=1)
        # It waits on other pages, too.
        page.goto(table.address, wait_until="load")
        expect(waits).to_contain_text("Play it")
        page.get_by_role("button", name="Give a hint").click()
        expect(waits).to_contain_text("Play it, Give a hint")
        table.start()
        expect(page.locator("#last")).to_contain_text("Black moves a1 to a2")
        expect(waits).to_contain_text("White to play. ")
        assert page.url == f"{table.address}/"
        told = journal_of(tmp_path, load("diaballik"))
        assert [step.text for step in told.steps] == ["a1-a2"]


def test_what_waits_is_not_done_to_a_later_game(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/ending?resign=black", service_workers="block")
    page.wait_for_selector("html[data-live]", state="attached")
    page.route("**/api/commands", lambda route: route.abort())
    page.get_by_role("button", name="Yes, resign").click()
    expect(page.locator("#said")).to_contain_text("I send this once it can")
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    page.unroute("**/api/commands")
    expect(page.locator("#said")).to_have_text("The table has changed meanwhile. Check it, then try again.")
    assert running.snapshots.newest.snapshot.outcome is None


def test_a_correction_is_not_kept_for_a_later_game(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    running.end_turn()
    page = visit(f"{address}/correct", viewport=PHONE)
    page.locator("[id='place-a1']").click()
    page.locator(".pieces [value='empty']").click()
    expect(page.locator("#changes li")).to_have_count(1)
    running.tell(NewGame("diaballik"))
    expect(page.locator("#changes li")).to_have_count(0)


def test_a_command_done_before_a_restart_is_not_done_again(tmp_path: Path, visit: Any) -> None:
    with Killable("diaballik", tmp_path) as table:
        page = visit(f"{table.address}/enter", service_workers="block")

        def lose_reply(route: Any) -> None:
            route.fetch()
            table.kill()
            route.abort()

        page.route("**/api/commands", lose_reply, times=1)
        page.get_by_label("Turn", exact=True).fill("a1-a2")
        page.get_by_role("button", name="Play it").click()
        expect(page.locator("#said")).to_contain_text("I send this once it can: Play it")
        table.start()
        expect(page.locator("#said")).to_contain_text("That was done before")
        expect(page.get_by_label("Turn", exact=True)).to_have_value("")
        told = journal_of(tmp_path, load("diaballik"))
        assert [step.text for step in told.steps] == ["a1-a2"]


def test_a_waiting_command_can_be_cancelled(tmp_path: Path, visit: Any) -> None:
    with Killable("diaballik", tmp_path) as table:
        page = visit(f"{table.address}/enter")
        table.kill()
        page.get_by_label("Turn", exact=True).fill("a1-a2")
        page.get_by_role("button", name="Play it").click()
        page.get_by_role("button", name="Don't send").click()
        expect(page.locator("#said")).to_contain_text("That is no longer sent.")
        expect(page.get_by_role("button", name="Play it")).to_be_enabled()
        expect(page.get_by_label("Turn", exact=True)).to_have_value("a1-a2")
        table.start()
        expect(page.locator("#connection")).to_be_hidden()
        assert journal_of(tmp_path, load("diaballik")).steps == ()


def test_an_answer_is_in_view_where_it_was_asked_for(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, viewport=PHONE)
    said = page.locator("#said")
    hint = page.get_by_role("button", name="Give a hint")
    hint.scroll_into_view_if_needed()
    hint.click()
    # The table shows the hint, so its answer covers nothing.
    expect(page.locator("#hint")).to_be_in_viewport(ratio=1)
    expect(said).to_contain_text("Hint:")
    expect(page.get_by_role("button", name="Close")).to_have_count(0)
    button = page.get_by_role("button", name="My turn has ended")
    button.click()
    expect(said).to_be_in_viewport(ratio=1)
    page.get_by_role("button", name="Close").click()
    expect(said).to_be_hidden()
    top = button.bounding_box()["y"]
    button.click()
    expect(said).to_be_in_viewport(ratio=1)
    # An answer alone moves nothing under the finger.
    assert button.bounding_box()["y"] == pytest.approx(top, abs=1)
    # After tapping it is, too.
    page.get_by_role("button", name="Play by tapping").click()
    tap(page, "a1", "a2")
    page.get_by_role("button", name="Stop tapping").click()
    running.tell(EnterTurn("b1-b2", "Ann", "black"))
    expect(page.locator("#last")).to_contain_text("b1 to b2")
    take_back(page)
    expect(said).to_be_in_viewport(ratio=1)


def test_a_refusal_stays_until_it_is_closed(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/enter", viewport=PHONE)
    page.get_by_label("Turn", exact=True).fill("a1-a7")
    page.get_by_role("button", name="Play it").click()
    expect(page.locator("#said")).to_contain_text("a1")
    refused = text_of(page.locator("#said"))
    assert not running.tell(EnterTurn("b1-b2", "Ann", "black")).refused
    expect_described(page, "b2 black piece")
    expect(page.locator("#said")).to_have_text(refused)
    page.get_by_role("button", name="Close").click()
    expect(page.locator("#said")).to_be_hidden()


def test_a_hint_is_spoken_only_where_it_was_asked_for_and_says_whose_turn_it_is(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    asking, other = visit(address, viewport=PHONE), visit(address)
    for page in (asking, other):
        page.evaluate("() => { speechSynthesis.speak = ({ text }) => { document.body.dataset.said = text; }; }")
        page.get_by_text("Language, voice").click()
        page.get_by_label("Say verdicts").check()
    asking.get_by_role("button", name="Give a hint").click()
    expect(asking.locator("#said")).to_contain_text("Black to play. Hint:")
    expect(other.locator("#hint")).to_contain_text("Hint:")
    expect(asking.locator("body")).to_have_attribute("data-said", text_of(asking.locator("#said")))
    assert other.locator("body").get_attribute("data-said") is None
    assert running.snapshots.newest.snapshot.hint


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


LEAST_ICON_PX = 192
"""Chromium requires an icon of 144 pixels; devices get 192 and 512."""


def kept_by_its_worker(page: Any) -> None:
    """Wait until the service worker controls the page, and reload so that it caches the state."""
    page.evaluate(
        """() => new Promise((standsIn) => {
            if (navigator.serviceWorker.controller) standsIn();
            else navigator.serviceWorker.addEventListener("controllerchange", standsIn);
        })"""
    )
    page.reload()
    page.wait_for_selector("html[data-live]", state="attached")


def test_the_table_opens_without_a_network_and_catches_up(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running:
        with page_of(running) as address:
            page = visit(address)
            kept_by_its_worker(page)
            assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
            expect(page.locator("#next")).to_have_text("White to play.")
            board = page.locator("#board").inner_html()
        expect(page.locator("#connection")).to_be_visible()

        # Opened again, for example from the home screen.
        page.context.set_offline(True)
        page.goto(address, wait_until="load")
        connection = page.locator("#connection")
        expect(connection).to_contain_text(re.compile(r"can't be reached; it was last heard at \d?\d:\d\d"))
        expect(page.locator("#next")).to_have_text("White to play.")
        assert page.locator("#board").inner_html() == board
        page.goto(f"{address}/history", wait_until="load")
        expect(page.get_by_role("heading", level=1)).to_have_text("The referee can't be reached")
        page.goto(address, wait_until="load")
        expect(connection).to_be_visible()

        for player, text in (("white", "a7-a6"), ("black", "c1-c2")):
            assert not running.tell(EnterTurn(text, "Ann", player)).refused
        with page_of(running, int(address.rpartition(":")[2])):
            page.context.set_offline(False)
            expect(connection).to_be_hidden()
            newest = running.snapshots.newest
            assert newest is not None
            expect(page.locator("html")).to_have_attribute("data-live", str(newest.snapshot.event_number))
            expect(page.locator("#last")).to_contain_text("Black moves c1 to c2")


def test_without_a_network_the_wall_and_the_table_are_two_pages(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page, is_wall = visit(address), re.compile("wall")
    kept_by_its_worker(page)
    page.goto(f"{address}/?view=wall", wait_until="load")
    page.context.set_offline(True)
    page.goto(address, wait_until="load")
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.locator("body")).not_to_have_class(is_wall)
    page.goto(f"{address}/?view=wall", wait_until="load")
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.locator("body")).to_have_class(is_wall)


def test_a_phone_that_is_no_longer_paired_keeps_nothing_of_the_table(tmp_path: Path, visit: Any) -> None:
    kept = "async () => [JSON.parse(localStorage.table ?? null) !== null, Boolean(await caches.match('/'))]"
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        phone = visit(page.address, is_paired=False)
        pair(phone, page, Role.PLAY, "Ben")
        kept_by_its_worker(phone)
        phone.goto(f"{page.address}history", wait_until="load")
        assert phone.evaluate(kept) == [True, True]
        phone.context.clear_cookies()
        phone.goto(f"{page.address}history", wait_until="load")
        expect(phone.get_by_role("heading", level=1)).to_have_text("Pair this device")
        assert phone.evaluate(kept) == [False, False]


def test_a_silently_lost_network_is_noticed_by_the_silence(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, service_workers="block")
    page.clock.install()
    page.reload()
    page.wait_for_selector("html[data-live]", state="attached")
    page.clock.pause_at(page.evaluate("Date.now()") / 1000 + 1)
    connection = page.locator("#connection")
    expect(connection).to_be_hidden()
    page.clock.fast_forward(45_000)
    expect(connection).to_be_visible()
    page.clock.fast_forward(1_500)
    expect(connection).to_be_hidden()
    expect(page.locator("html[data-live]")).to_have_count(1)


def test_the_page_can_be_installed(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    kept_by_its_worker(page)
    devtools = page.context.new_cdp_session(page)
    told = devtools.send("Page.getAppManifest")
    assert told["errors"] == []
    # The private context of every test is the only obstacle to installing.
    hindrances = devtools.send("Page.getInstallabilityErrors")["installabilityErrors"]
    assert {each["errorId"] for each in hindrances} <= {"in-incognito"}
    manifest = json.loads(told["data"])
    assert manifest["display"] == "standalone"
    assert urljoin(told["url"], manifest["start_url"]) == f"{address}/"
    sides = set()
    for icon in manifest["icons"]:
        answer = page.request.get(urljoin(told["url"], icon["src"]))
        assert answer.headers["content-type"] == icon["type"]
        if icon["type"] == "image/png":
            width, height = struct.unpack(">II", answer.body()[16:24])
            assert icon["sizes"] == f"{width}x{height}"
            sides.add(width)
    assert min(sides) >= LEAST_ICON_PX
    assert {"any", "maskable"} <= {icon.get("purpose", "any") for icon in manifest["icons"]}
