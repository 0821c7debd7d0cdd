"""Using the page: view, play, correct, replay, end a game, in two windows, after an outage, and in the demo."""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.registry import games
from engine.values import EMPTY, OptionValue
from frontends.page.access import Role
from referee.commands.values import Correct, EnterTurn, NewGame
from referee.judge.verdict import Verdict, VerdictKind
from tests.guard import GUARD_S
from tests.system.page.playing import described, journal_of, standing
from tests.system.page.seen import expect, expect_described, text_of
from tests.system.page.served import page_of, pair, paired_page_of, served, session, take_back

OPTIONS: dict[str, dict[str, OptionValue]] = {"blokus-dice": {"players": 4}, "number-drop": {"players": 3}}

UNCLEAR = {"c1": {"gold block, star up": 0.1, "gold block, x up": 0.8, "gold block, hoops up": 0.1}}
"""What stands as believed, what no turn could have put there, and what one turn did."""


@pytest.mark.parametrize("name", games())
def test_the_table_of_every_game_is_drawn_and_fits_a_phone(name: str, tmp_path: Path, visit: Any) -> None:
    with served(name, tmp_path, OPTIONS.get(name)) as (running, address):
        page = visit(address, viewport={"width": 360, "height": 740})
        newest = running.snapshots.newest
        assert newest is not None
        for place in newest.snapshot.appearance:
            expect(page.locator(f'[id="place-{place}"]')).to_have_count(1)
        waits = "roll the" if running.game.dice else "to play."
        if name == "number-drop":
            waits = "Draw the tiles"
        expect(page.locator("#next")).to_contain_text(waits)
        assert page.locator("#board svg").first.bounding_box()["width"] > 140
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_turn_is_typed_and_taken_back(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    expect(page.locator("#next")).to_have_text("Black to play.")
    typing = visit(f"{address}/enter")
    typing.get_by_label("Turn", exact=True).fill("a1-a2 c1-c2")
    typing.get_by_role("button", name="Play it").click()
    expect(typing.locator("#said")).to_contain_text("a1")
    expect(page.locator("#next")).to_have_text("White to play.")
    expect(page.locator("#last")).to_have_text("Last turn: Black moves a1 to a2 and moves c1 to c2.")
    expect(page.locator("#board .arrow")).to_have_count(2)
    page.get_by_role("link", name="Take the last turn back").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Take Black's turn back?")
    expect(page.locator(".ask p").first).to_have_text("Black moves a1 to a2 and moves c1 to c2.")
    page.get_by_role("link", name="No, play on").click()
    expect(page.locator("#last")).to_have_text("Last turn: Black moves a1 to a2 and moves c1 to c2.")
    take_back(page)
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.get_by_role("link", name="Take the last turn back")).to_have_count(0)
    page.goto(f"{address}/take-back")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing to take back.")


def test_two_phones_that_take_the_same_turn_back_take_back_only_that(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    for text in ("a1-a2", "a7-a6"):
        assert not running.tell(EnterTurn(text, "Ann")).refused
    pages = [visit(address), visit(address)]
    for page in pages:
        page.get_by_role("link", name="Take the last turn back").click()
        expect(page.locator(".ask")).to_contain_text("a7")
    for page, said in zip(pages, ("taken back", "changed meanwhile"), strict=True):
        page.get_by_role("button", name="Yes, take it back").click()
        expect(page.locator("#said")).to_contain_text(said)
    assert running.snapshots.newest.snapshot.turns == 1
    take_back(pages[0])
    expect(pages[0].locator("#last")).to_be_hidden()


def test_typing_shows_the_current_table_and_its_turns(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    typing = visit(f"{address}/enter")
    offered = typing.locator("#turns button").first
    before = offered.get_attribute("value")
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    expect_described(typing, "a2 black piece")
    expect(offered).not_to_have_attribute("value", before)
    game = running.game
    newest = running.snapshots.newest
    assert newest is not None
    legal = {game.notation.format_turn(turn) for turn in game.rules.legal_turns(newest.snapshot.states[0])}
    assert {option.get_attribute("value") for option in typing.locator("#turns button").all()[:5]} <= legal
    expect(typing.get_by_label("Turn", exact=True)).to_have_attribute("placeholder", offered.get_attribute("value"))
    claim = typing.get_by_label("Announcement", exact=True)
    expect(claim).to_be_hidden()
    assert not running.tell(Correct("Ann", position="......./..W..w./.w.ww.w/w...b.b/b....../......./.bB..bb")).refused
    expect(claim).to_have_value("black:anti-play")


def test_the_hint_button_follows_a_new_game(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address)
    button = page.get_by_role("button", name="Give a hint")
    expect(button).to_be_visible()
    for without_hints in (True, False):
        assert not running.tell(NewGame("diaballik", without_hints=without_hints)).refused
        running.end_turn()
        expect(button).to_be_visible(visible=not without_hints)


def test_an_illegal_turn_is_shown_with_its_rule_remedy_and_pictures(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address)
    running.reader.looks |= {"a1": EMPTY, "a4": "black piece"}
    page.get_by_role("button", name="My turn has ended").click()
    verdict = page.locator("#verdict")
    expect(verdict).to_have_attribute("data-kind", "illegal")
    expect(verdict.get_by_role("heading")).to_have_text("Not allowed")
    expect(verdict.locator("[data-part=rule]")).not_to_be_empty()
    expect(page.locator("#next")).to_contain_text("Put everything back")
    expect(verdict.locator("img")).to_have_count(4)
    expect(page.locator("#board .light")).to_have_count(2)
    # The server alone renders the same for a new visitor.
    newcomer = visit(address, java_script_enabled=False)
    expect(newcomer.locator("#verdict img")).to_have_count(4)
    assert text_of(newcomer.locator("#next")) == text_of(page.locator("#next"))


def test_a_question_about_a_turn_is_answered_for_its_player(tmp_path: Path, visit: Any) -> None:
    with served("number-drop", tmp_path, OPTIONS["number-drop"]) as (running, address):
        page = visit(address)
        newest = running.snapshots.newest
        assert newest is not None
        asked = Verdict(VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, candidates=("a1=1",), candidate_players=("p2",))
        running.snapshots(replace(newest.snapshot, verdict=asked))
        expect(page.get_by_role("button", name="a1=1")).to_be_visible()
        assert page.locator("#verdict [name=player]").input_value() == "p2"
        rolled = replace(asked, candidates=("1,2,3,5,T",), candidate_players=())
        running.snapshots(replace(newest.snapshot, verdict=rolled))
        expect(page.get_by_role("button", name="The dice show 1, 2, 3, 5, T.")).to_be_visible()
        assert page.locator("#verdict [name=command]").input_value() == "roll"
        assert page.locator("#verdict [name=player]").count() == 0


@pytest.mark.parametrize(
    ("answer", "kind", "look"),
    [
        ("c1: gold block, star up", "unchanged", "gold block, star up"),
        ("c1: gold block, hoops up", "accepted", "gold block, hoops up"),
        ("c1: gold block, x up", "illegal", "gold block, star up"),
        ("c1 is empty", "illegal", "gold block, star up"),
    ],
)
def test_each_answer_about_a_square_is_what_the_same_table_is_judged_with(
    tmp_path: Path, visit: Any, answer: str, kind: str, look: str
) -> None:
    with served("deblockle", tmp_path) as (running, address):
        page, other = (visit(address, viewport={"width": 360, "height": 740}) for _ in range(2))
        running.reader.doubts = UNCLEAR
        running.end_turn()
        for each in (page, other):
            expect(each.locator("#verdict button.look")).to_have_count(4)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        for button in page.locator("#verdict button.look").all():
            box = button.bounding_box()
            assert min(box["width"], box["height"]) >= 44
            assert box["y"] + box["height"] <= 740
        page.get_by_role("button", name=answer, exact=True).click()
        expect(page.locator("#verdict")).to_be_hidden()
        running.end_turn()
        newest = running.snapshots.newest
        assert newest is not None
        assert newest.snapshot.verdict is not None
        assert newest.snapshot.verdict.kind.value == kind
        assert newest.snapshot.appearance["c1"] == look
        expect_described(page, f"c1 {look}")
        assert standing(running.game, journal_of(tmp_path, running.game).states[0]) == described(page)
        expect(other.locator("#verdict button.look")).not_to_have_count(4)


def test_of_two_phones_that_answer_the_same_question_the_first_counts(tmp_path: Path, visit: Any) -> None:
    with served("deblockle", tmp_path) as (running, address):
        # Without scripts a phone shows the question that it has loaded.
        pages = [visit(address, java_script_enabled=False) for _ in range(2)]
        running.reader.doubts = UNCLEAR
        running.end_turn()
        for page in pages:
            page.reload()
        pages[0].get_by_role("button", name="c1: gold block, hoops up").click()
        pages[1].get_by_role("button", name="c1: gold block, star up").click()
        expect(pages[1].locator("body")).to_contain_text("The table has changed meanwhile.")
        running.end_turn()
        newest = running.snapshots.newest
        assert newest is not None
        assert newest.snapshot.appearance["c1"] == "gold block, hoops up"


def test_squares_and_pieces_are_tapped_undone_and_corrected(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/correct")
    told, changes = page.locator("#chosen"), page.locator("#changes li")
    send, undo = page.get_by_role("button", name="Put right"), page.get_by_role("button", name="Undo")
    expect(send).to_be_disabled()
    page.locator("#place-a4").click()
    expect(told).to_have_text("a4: tap what stands there.")
    page.get_by_role("button", name="white piece", exact=True).click()
    expect(told).to_have_text("a4: white piece")
    page.get_by_role("button", name="nothing").click()
    expect(told).to_have_text("nothing: tap where it stands.")
    for place in ("a7", "b7", "a4"):
        page.locator(f"#place-{place}").click()
    expect(page.locator("#board .put")).to_have_count(3)
    for _ in range(2):
        undo.click()
    page.get_by_text("2 changes").click()
    expect(changes).to_have_text(["a4: white piece", "a7: nothing"])
    send.click()
    expect(page.locator("#said")).not_to_be_empty()
    expect(changes).to_have_count(0)
    expect(page.locator("#board .put")).to_have_count(0)
    newest = running.snapshots.newest
    assert newest is not None
    looks = newest.snapshot.appearance
    assert [looks[place] for place in ("a4", "a7", "b7")] == ["white piece", EMPTY, "white piece"]


def test_keys_alone_choose_a_square_and_a_piece(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(f"{address}/correct")
    page.locator("#place-a7").focus()
    for key in ("ArrowDown", "ArrowRight", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#chosen")).to_have_text("b6: tap what stands there.")
    page.keyboard.press("Space")
    expect(page.locator("#place-b6")).to_be_focused()
    page.get_by_text("1 change").click()
    expect(page.locator("#changes li")).to_have_text(["b6: nothing"])


def test_a_reply_is_shown_until_the_next_event(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    page = visit(address)
    take_back(page)
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.locator("#said")).to_contain_text("taken back")
    page.wait_for_selector("html[data-live]", state="attached")
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    expect(page.locator("#next")).to_have_text("White to play.")
    expect(page.locator("#said")).to_be_hidden()


def test_a_page_says_that_the_referee_is_away_and_catches_up(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running:
        with page_of(running) as address:
            page = visit(address)
        expect(page.locator("#connection")).to_contain_text("can't be reached")
        assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
        with page_of(running, int(address.rpartition(":")[2])):
            expect(page.locator("#next")).to_have_text("White to play.")
            expect(page.locator("#connection")).to_be_hidden()


def test_the_clock_of_a_new_game_runs_and_stops(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(f"{address}/new")
    page.get_by_label("Black", exact=True).fill("Ann")
    page.get_by_role("radio", name="Quick").check()
    page.get_by_role("button", name="Begin", exact=True).click()
    page.wait_for_url(f"{address}/")
    expect(page.locator("#players")).to_contain_text("Ann")
    newest = running.snapshots.newest
    assert newest is not None
    assert newest.snapshot.game_number == 2
    running.end_turn()
    expect(page.locator("[data-player=white] [data-part=clock]")).to_have_text("5:00")
    page.get_by_role("button", name="Stop the clock").click()
    expect(page.locator("#clock")).to_be_visible()
    page.get_by_role("button", name="Let the clock run").click()
    expect(page.locator("#clock")).to_be_hidden()


def test_settings_stay_on_the_device(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    page.get_by_text("Language, voice").click()
    page.locator("select[data-setting=theme]").select_option("dark")
    page.get_by_label("Say verdicts").check()
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.get_by_text("Language, voice").click()
    expect(page.get_by_label("Say verdicts")).to_be_checked()


def test_verdicts_are_spoken_except_in_quiet_hours(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address)
    page.evaluate("() => { speechSynthesis.speak = ({ text }) => { document.body.dataset.said = text; }; }")
    page.get_by_text("Language, voice").click()
    page.get_by_label("Say verdicts").check()
    assert not running.tell(EnterTurn("a1-a2", "Ann", "black")).refused
    expect(page.locator("body")).to_have_attribute("data-said", re.compile("White to play"))
    page.locator("[data-setting=quietFrom]").fill("00:00")
    page.locator("[data-setting=quietTo]").fill("23:59")
    page.clock.set_fixed_time("2026-11-21T12:00:00")
    assert not running.tell(EnterTurn("a7-a6", "Ann", "white")).refused
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.locator("body")).to_have_attribute("data-said", re.compile("White to play"))


def test_a_screen_on_the_wall_shows_only_the_table_and_stays_awake(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address, viewport={"width": 1920, "height": 1080})
    page.locator("summary", has_text="More").click()
    page.keyboard.press("Escape")
    wall = page.get_by_role("link", name="Only the table")
    expect(wall).to_be_hidden()
    page.add_init_script(
        "window.locks = 0;"
        "Object.defineProperty(navigator, 'wakeLock', {value: {request: async () => { window.locks += 1; }}});"
    )
    page.locator("summary", has_text="More").click()
    wall.click()
    for name in ("header", "footer", "#actions"):
        expect(page.locator(name)).to_be_hidden()
    page.wait_for_function("locks === 1")
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    page.wait_for_function("locks === 2")
    page.get_by_role("button", name="Full screen").click()
    page.wait_for_function("document.fullscreenElement !== null")
    page.get_by_role("link", name="Menu").click()
    expect(page.get_by_role("navigation")).to_be_visible()


def test_clocks_count_on_by_themselves(diaballik: Any, visit: Any) -> None:
    _, address = diaballik
    page = visit(address)
    clock = {
        "mode": "delay", "remaining_s": {"black": 3700, "white": 15}, "delay_s": {"white": 2},
        "running": ["white"], "paused": "", "fallen": [],
    }  # fmt: skip
    module = """await import(document.querySelector("[href$='/clocks.js']").href)"""
    left = f"async ([clock, player, seconds]) => ({module}).left(clock, player, seconds)"
    assert [page.evaluate(left, [clock, "white", seconds]) for seconds in (1, 5)] == [15, 12]
    assert page.evaluate(left, [clock, "black", 5]) == 3700
    assert page.evaluate(left, [{**clock, "paused": "a question"}, "white", 5]) == 15
    both = {**clock, "running": ["black", "white"], "remaining_s": {"black": 60, "white": 60}, "delay_s": {}}
    assert [page.evaluate(left, [both, side, 30]) for side in ("black", "white")] == [30, 30]
    empty = {**both, "remaining_s": {"black": 0, "white": 60}}
    assert [page.evaluate(left, [empty, side, 30]) for side in ("black", "white")] == [0, 30]
    face = f"async (seconds) => ({module}).face(seconds)"
    assert [page.evaluate(face, seconds) for seconds in (9.54, 20, 3700)] == ["9.5", "0:20", "1:01:40"]
    assert visit(address, locale="de-DE").evaluate(face, 9.54) == "9,5"


@pytest.mark.parametrize("scripts", [True, False])
def test_resigning_is_confirmed_and_may_be_taken_back(scripts: bool, diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, java_script_enabled=scripts)
    page.get_by_role("link", name="Resign or draw").click()
    page.get_by_role("link", name="White resigns").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("White resigns. Black wins. Are you sure?")
    page.get_by_role("link", name="No, play on").click()
    assert running.snapshots.newest.snapshot.outcome is None
    page.get_by_role("link", name="Resign or draw").click()
    page.get_by_role("link", name="White resigns").click()
    page.get_by_role("button", name="Yes, resign").click()
    page.wait_for_url(f"{address}/")
    expect(page.locator("#next")).to_contain_text("white resigned")
    expect(page.get_by_role("link", name="Resign or draw")).to_be_hidden()
    take_back(page)
    expect(page.locator("#next")).to_have_text("Black to play.")
    expect(page.get_by_role("link", name="Resign or draw")).to_be_visible()


def test_a_draw_is_offered_on_one_phone_and_answered_on_another(tmp_path: Path, visit: Any) -> None:
    phone = {"width": 360, "height": 740}
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        one, other = (visit(page.address, viewport=phone, is_paired=False) for _ in range(2))
        for each, name in ((one, "Ann"), (other, "Ben")):
            pair(each, page, Role.PLAY, name)
        for answer, ends in (("Refuse the draw", False), ("Accept the draw", True)):
            one.get_by_role("link", name="Resign or draw").click()
            one.get_by_role("button", name="Black offers a draw").click()
            one.wait_for_url(page.address)
            # Who offered it can't accept it for the other.
            one.get_by_role("button", name="Accept the draw").click()
            expect(one.locator("#said")).to_contain_text("This device offered the draw.")
            expect(other.locator("#offer")).to_contain_text("Black offers a draw.")
            other.get_by_role("button", name=answer).click()
            for each in (one, other):
                expect(each.locator("#offer")).to_be_hidden()
            assert running.snapshots.newest is not None
            assert (running.snapshots.newest.snapshot.outcome is not None) == ends
        expect(one.locator("#next")).to_contain_text("draw")


def test_an_unpaired_phone_is_sent_to_the_pairing_page(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        phones = {}
        for role, name in ((Role.OWN, "Ann"), (Role.PLAY, "Ben")):
            phone = visit(page.address, java_script_enabled=role is Role.PLAY, is_paired=False)
            pair(phone, page, role, name)
            expect(phone.locator("#next")).to_have_text("Black to play.")
            phones[role] = phone
        owner, guest = phones[Role.OWN], phones[Role.PLAY]
        expect(guest.get_by_role("link", name="Owner")).to_have_count(0)
        owner.locator("summary", has_text="More").click()
        owner.get_by_role("link", name="Owner").click()
        owner.get_by_label("What Ben may do").select_option("look")
        owner.get_by_role("button", name="Change Ben").click()
        guest.reload()
        expect(guest.get_by_role("button", name="My turn has ended")).to_have_count(0)
        owner.get_by_role("button", name="Unpair Ben").click()
        expect(owner.locator(".devices li")).to_have_count(1)
        expect(guest.get_by_role("heading", level=1)).to_have_text("Pair this device")


def test_a_scanned_code_pairs_with_one_press_and_leaves_the_address(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        phone = visit(f"{page.address}pair#code={page.codes[Role.PLAY]}", is_paired=False)
        expect(phone.get_by_label("Code", exact=True)).to_have_value(page.codes[Role.PLAY])
        assert phone.url == f"{page.address}pair"
        phone.keyboard.press("Enter")
        expect(phone.locator("#next")).to_have_text("Black to play.")


def test_a_wrong_code_is_said_until_it_is_put_right(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running, paired_page_of(running) as page:
        phone = visit(page.address, is_paired=False)
        phone.get_by_label("Code", exact=True).fill("1234")
        phone.get_by_label("Your name").fill("Ben")
        phone.get_by_label("Allow it to").select_option("play")
        asked: list[str] = []
        phone.on("request", lambda request: asked.append(request.url))
        phone.get_by_role("button", name="Pair").click()
        refused = phone.get_by_role("alert")
        expect(refused).to_contain_text("That is not the code.")
        phone.wait_for_load_state("networkidle")
        # Nothing follows the table's changes, which would lead to the empty pairing page.
        assert [address for address in asked if "/api/events" in address] == []
        expect(refused).to_be_visible()
        expect(phone.get_by_label("Your name")).to_have_value("Ben")
        expect(phone.get_by_label("Allow it to")).to_have_value("play")
        phone.get_by_label("Code", exact=True).fill(page.codes[Role.OWN])
        phone.get_by_role("button", name="Pair").click()
        expect(phone.locator("#next")).to_have_text("Black to play.")


ROOT = Path(__file__).resolve().parents[3]


def asked(address: str, path: str, fields: dict[str, Any] | None = None, csrf: str = "") -> Any:
    """Request the page and give its answer."""
    headers = {"Content-Type": "application/json", "X-CSRF-Token": csrf}
    body = None if fields is None else json.dumps(fields).encode()
    with urllib.request.urlopen(urllib.request.Request(address + path, body, headers), timeout=GUARD_S) as answer:
        return json.loads(answer.read())


@pytest.fixture
def demo(tmp_path: Path) -> Any:
    """A demo of one turn, and a function that waits for a line of its output."""
    command = [sys.executable, "-m", "app", "demo", "--page", "--fast", "--turns", "1", "--lights", "none"]
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "--journal", str(tmp_path / "journal.sqlite")],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        guard = threading.Timer(4 * GUARD_S, process.kill)
        guard.start()

        def wait_for(pattern: str) -> str:
            assert process.stdout is not None
            read = ""
            for line in process.stdout:
                read += line
                if found := re.search(pattern, line):
                    return found[0]
            raise AssertionError(f"{pattern!r} was not said: {read}")

        yield process, wait_for
        guard.cancel()
        process.kill()


def test_the_page_shows_the_game_and_its_end_and_takes_commands_until_ctrl_c(
    demo: tuple[subprocess.Popen[str], Callable[[str], str]],
) -> None:
    process, wait_for = demo
    address = wait_for(r"http://127\.0\.0\.1:\d+")
    assert asked(address, "/api/table")["game"]["name"] == "deblockle"
    wait_for("Ctrl-C ends it")
    ended = asked(address, "/api/table")
    assert ended["turns"] == 1
    csrf = asked(address, "/api/session")["csrf"]
    taken_back = asked(address, "/api/commands", {"command": "take back", "seen": ended["event_number"]}, csrf)
    assert not taken_back["refused"], taken_back
    assert asked(address, "/api/table")["turns"] == 0
    assert [event["kind"] for event in asked(address, "/api/history")["events"]][-2:] == ["turn", "take back"]
    with urllib.request.urlopen(f"{address}/api/camera.jpg?overlay=1", timeout=GUARD_S) as picture:
        assert picture.read(2) == b"\xff\xd8"
    process.send_signal(signal.SIGINT)
    assert process.wait(GUARD_S) == 0
