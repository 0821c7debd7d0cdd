"""What a button says is what is believed after it was pressed, and what the page says then is so."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import frontends.page
import hall.web
from engine.values import EMPTY
from referee.commands.values import EnterTurn, NewGame, OfferDraw
from referee.judge.verdict import Verdict, VerdictKind
from tests.system.page.playing import PHONE, tap
from tests.system.page.seen import descriptions_of, expect, text_of
from tests.system.page.served import Session, page_of, session

TEMPLATES = [
    path
    for package in (frontends.page, hall.web)
    for path in sorted((Path(str(package.__file__)).parent / "templates").rglob("*.html"))
]


def snapshot(running: Session) -> Any:
    """What is believed now."""
    assert running.snapshots.newest is not None
    return running.snapshots.newest.snapshot


def show(running: Session, **looks: str) -> None:
    """Have the camera see these looks on top of what is believed, at the end of a turn."""
    running.reader.looks = {**snapshot(running).appearance, **looks}
    running.end_turn()


def one_too_many(running: Session) -> None:
    """A white piece that was not on the board stands on a3."""
    show(running, a3="white piece")


def moved_too_far(running: Session) -> None:
    """A block went from e1 to g4 without rolling."""
    show(running, e1=EMPTY, g4=snapshot(running).appearance["e1"])


def which_of_two(running: Session) -> None:
    """Two turns may have been played."""
    state, notation = snapshot(running).states[0], running.game.notation
    turns = running.game.rules.legal_turns(state)[-2:]
    texts, players = tuple(map(notation.format_turn, turns)), tuple(turn.player for turn in turns)
    asked = Verdict(
        VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, places=("a7",), candidates=texts, candidate_players=players
    )
    running.snapshots(replace(snapshot(running), verdict=asked))


def which_roll(running: Session) -> None:
    """The dice may show this."""
    asked = Verdict(VerdictKind.AMBIGUOUS, "Which?", 0.0, 0, candidates=("1,1",))
    running.snapshots(replace(snapshot(running), verdict=asked))


def after_a_turn(running: Session) -> None:
    """Black has played."""
    assert not running.tell(EnterTurn("a1-a2", "Ann")).refused


def draw_offered(running: Session) -> None:
    """White offers a draw."""
    assert not running.tell(OfferDraw("Ben", "white")).refused


def half_set_up(running: Session) -> None:
    """In another game two pieces are missing, and one stands where none belongs."""
    assert not running.tell(NewGame("diaballik")).refused
    running.reader.looks |= {"a1": EMPTY, "c3": "black piece", "b7": EMPTY}
    running.end_turn()


def put_up_since(running: Session) -> None:
    """In another game a piece was missing, and has been put there since."""
    assert not running.tell(NewGame("diaballik")).refused
    running.reader.looks |= {"a1": EMPTY}
    running.end_turn()
    running.reader.looks |= {"a1": "black piece"}


def first_tapped(page: Any) -> None:
    page.get_by_role("button", name="Play by tapping").click()
    tap(page, "a1", "a2")


def first_rolled(page: Any) -> None:
    for at in range(2):
        die = page.locator("#rolling .die").nth(at)
        while die.get_attribute("data-face") != "1":
            die.click()


def first_corrected(page: Any) -> None:
    for place, look in (("a1", "nothing"), ("a2", "black piece")):
        page.locator(f"#place-{place}").click()
        page.get_by_role("button", name=look, exact=True).click()


def first_typed(page: Any) -> None:
    page.get_by_label("Turn", exact=True).fill("a1-a2")


def looks(**wanted: str) -> Callable[[Any], bool]:
    """Whether these places are believed to show these looks."""
    return lambda shown: all(shown.appearance[place] == look for place, look in wanted.items())


def last(words: str) -> Callable[[Any], bool]:
    """Whether the last turn is that."""
    return lambda shown: shown.last_turn is not None and shown.last_turn.text == words


def over(shown: Any) -> bool:
    """Whether the game is over."""
    return shown.outcome is not None


def begins_anew(shown: Any) -> bool:
    """Whether it is the second game."""
    return bool(shown.game_number == 2)


def rolled(shown: Any) -> bool:
    """Whether two ones are believed."""
    return bool(shown.states[0].opening == (1, 1))


@dataclass(frozen=True)
class Deed:
    """A button: what it says, the command it sends, and what is believed once it was pressed.

    It is found on ``path`` after ``before`` and what a person does ``first``. ``is_overruling`` if the camera may see
    something else, so that it is never the strong one.
    """

    words: str
    command: str
    believed: Callable[[Any], bool]
    before: Callable[[Session], None] = lambda running: None
    game: str = "diaballik"
    path: str = "/"
    first: Callable[[Any], None] = lambda page: None
    is_overruling: bool = False


DEEDS = [
    Deed("a3 is empty", "overrule", looks(a3=EMPTY), one_too_many, is_overruling=True),
    Deed("e1: gold block, star up; g4 is empty", "overrule", looks(e1="gold block, star up", g4=EMPTY),
         moved_too_far, game="deblockle", is_overruling=True),
    Deed("a7: white piece", "overrule", looks(a7="white piece"), which_of_two, is_overruling=True),
    Deed("Start although a1, c3 and b7 look wrong", "correct",
         looks(a1="black piece", c3=EMPTY, b7="white piece"), half_set_up, is_overruling=True),
    Deed("Look again", "press", looks(a1="black piece"), put_up_since),
    Deed("The dice show 1, 1.", "roll", rolled, which_roll, game="blockade"),
    Deed("This is what they show", "roll", rolled, game="blockade", first=first_rolled),
    Deed("Play this turn", "turn", last("a1-a2"), first=first_tapped),
    Deed("Play it", "turn", last("a1-a2"), path="/enter", first=first_typed),
    Deed("Put right", "correct", looks(a1=EMPTY, a2="black piece"), path="/correct", first=first_corrected),
    Deed("Yes, take it back", "take back", looks(a1="black piece", a2=EMPTY), after_a_turn, path="/take-back"),
    Deed("Yes, resign", "announce", over, path="/ending?resign=white"),
    Deed("Both agree on a draw", "agreed draw", over, path="/ending"),
    Deed("Accept the draw", "answer", over, draw_offered),
    Deed("Black offers a draw", "offer draw", lambda shown: shown.offer.player == "black", path="/ending"),
    Deed("Begin", "new game", begins_anew, path="/new"),
]  # fmt: skip
"""Each button of the page that changes what is believed."""


@pytest.mark.parametrize("deed", DEEDS, ids=lambda deed: deed.words)
def test_a_button_makes_the_table_be_what_it_says(deed: Deed, tmp_path: Path, visit: Any) -> None:
    with session(deed.game, tmp_path) as running:
        running.end_turn()
        deed.before(running)
        with page_of(running) as address:
            page = visit(f"{address}{deed.path}", viewport=PHONE)
            deed.first(page)
            button = page.get_by_role("button", name=deed.words, exact=True)
            if deed.is_overruling:
                assert "strong" not in (button.get_attribute("class") or "").split()
            with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
                button.click()
            assert answered.value.status < 400
            assert deed.believed(snapshot(running))


def test_every_command_of_a_button_is_among_them() -> None:
    sent = re.compile(r'command_form\((?:session, here, )?"([a-z -]+)"|name="command" value="([a-z -]+)"')
    commands = {one or other for path in TEMPLATES for one, other in sent.findall(path.read_text(encoding="utf-8"))}
    believed = {deed.command for deed in DEEDS}
    assert commands - believed == {"hint", "pause clock", "same again"}, "these begin a game or change no belief"


def test_a_piece_that_a_person_overruled_is_not_thanked_for(diaballik: Any, visit: Any) -> None:
    running, address = diaballik
    page = visit(address, viewport=PHONE)
    one_too_many(running)
    square = page.locator("#place-a3")
    # What is drawn at full strength is said to be there.
    expect(square).to_have_attribute("aria-label", "a3: white piece (does not belong there)")
    assert "a3 white piece (does not belong there)" in descriptions_of(page.locator("#board svg"))[0]
    page.get_by_role("button", name="a3 is empty", exact=True).click()
    expect(square).to_have_attribute("aria-label", "a3: empty (looks different)")
    told = page.locator("#overruled")
    expect(told).to_have_text("a3 looks different to me, but I go by what I was told.")
    for _ in range(2):
        page.get_by_role("button", name="My turn has ended").click()
        expect(page.locator("#verdict .sentence")).to_contain_text("a3 looks different to me")
        expect(page.locator("#verdict")).not_to_contain_text("Thank you")
    expect(page.locator("#verdict h2")).to_have_text("Nothing new")
    running.reader.looks["a3"] = EMPTY
    page.get_by_role("button", name="My turn has ended").click()
    expect(square).to_have_attribute("aria-label", "a3: empty")
    expect(told).to_be_hidden()
    expect(page.locator("#verdict .sentence")).to_have_text("Nothing has changed.")


def test_a_start_that_looks_wrong_is_named_until_it_looks_right(tmp_path: Path, visit: Any) -> None:
    with session("diaballik", tmp_path) as running:
        half_set_up(running)
        with page_of(running) as address:
            page = visit(address, viewport=PHONE)
            assert [text_of(each) for each in page.locator("main .strong:visible").all()] == ["Look again"]
            expect(page.locator("#place-a1")).to_have_attribute("aria-label", "a1: black piece (missing)")
            page.get_by_role("button", name="Start although a1, c3 and b7 look wrong").click()
            told = "a1, c3 and b7 look different to me, but I go by what I was told."
            expect(page.locator("#next")).to_have_text("Black to play.")
            expect(page.locator("#overruled")).to_have_text(told)
            page.get_by_role("button", name="My turn has ended").click()
            expect(page.locator("#verdict .sentence")).to_have_text(f"{told} Nothing else has changed.")
            running.reader.looks |= {"a1": "black piece", "c3": EMPTY}
            page.get_by_role("button", name="My turn has ended").click()
            expect(page.locator("#verdict .sentence")).to_contain_text("b7 looks different to me")
            assert not running.tell(EnterTurn("c1-c2", "Ann")).refused
            expect(page.locator("#overruled")).to_have_text("b7 looks different to me, but I go by what I was told.")
