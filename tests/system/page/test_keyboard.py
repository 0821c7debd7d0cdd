"""A whole game by the keyboard alone: the focus is never lost, squares say what stands there, nothing is said twice."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.api import tapped
from engine.values import Roll
from referee.record.fold import after_step, read_step
from tests.games.known import known_of
from tests.system.page.playing import described, parts_of, standing, taps_of, two_players
from tests.system.page.seen import expect
from tests.system.page.served import served

MOST_TABS = 60
MOST_ARROWS = 80
ARROWS = {"ArrowLeft": (-1, 0), "ArrowRight": (1, 0), "ArrowUp": (0, -1), "ArrowDown": (0, 1)}
NOTES_WHAT_IS_SAID = """
window.heard = [];
const live = "[aria-live], [role=status], [role=alert]";
new MutationObserver((changes) => {
  const regions = new Set(changes.map(({ target }) => (target.closest ? target : target.parentElement)?.closest(live)));
  for (const region of regions) {
    const words = region?.checkVisibility() && region.ariaLive !== "off" ? region.textContent.trim() : "";
    if (words) window.heard.push(words);
  }
}).observe(document, { subtree: true, childList: true, characterData: true });
"""
FOCUS = """() => {
  const { id, tagName } = document.activeElement;
  return [tagName, id, document.activeElement.getClientRects().length];
}"""


class Keys:
    """A person at the keyboard of a page, without a mouse."""

    def __init__(self, page: Any) -> None:
        self.page = page

    @property
    def focused(self) -> Any:
        """What has the focus."""
        return self.page.locator(":focus")

    def press(self, *keys: str) -> None:
        """Press keys; the focus is on something that is seen after each."""
        for key in keys:
            self.page.keyboard.press(key)
            self.keeps_focus()

    def keeps_focus(self) -> None:
        """Assert that the focus is on something that is seen."""
        tag, identity, boxes = self.page.evaluate(FOCUS)
        assert tag not in ("BODY", "HTML"), "The focus was lost."
        assert boxes, f"The focus is on a hidden {tag} {identity}."

    def reach(self, wanted: Any, key: str = "Tab") -> None:
        """Go on by Tab until a control has the focus."""
        expect(wanted).to_be_visible()
        expect(wanted).to_be_enabled()
        for _ in range(MOST_TABS):
            if wanted.evaluate("(element) => element === document.activeElement"):
                return
            self.press(key)
        raise AssertionError(f"{wanted} is not reached by {key}.")

    def walk(self, place: str) -> None:
        """Go to a square by arrows, which stop only at squares that can be played."""
        wanted = self.page.locator(f'[id="place-{place}"]')
        expect(wanted).to_have_attribute("aria-disabled", "false")
        been: Counter[tuple[str, str]] = Counter()
        for _ in range(MOST_ARROWS):
            at = self.page.evaluate("document.activeElement.id")
            if at == f"place-{place}":
                return
            boxes = [self.focused.bounding_box(), wanted.bounding_box()]
            right, down = (
                boxes[1][corner] + boxes[1][side] / 2 - boxes[0][corner] - boxes[0][side] / 2
                for corner, side in (("x", "width"), ("y", "height"))
            )
            key = min(ARROWS, key=lambda each: (been[at, each], -right * ARROWS[each][0] - down * ARROWS[each][1]))
            been[at, key] += 1
            self.press(key)
            reached = self.focused
            assert reached.get_attribute("id") == at or reached.get_attribute("aria-disabled") == "false"
        raise AssertionError(f"{place} is not reached by arrows.")

    def heard(self) -> list[str]:
        """Take what was said since the last time."""
        words: list[str] = self.page.evaluate("window.heard.splice(0)")
        return words


class Player:
    """Plays a game by keys on one page for everybody, and compares it with the engine's."""

    def __init__(self, running: Any, page: Any, name: str) -> None:
        self.running, self.page, self.keys = running, page, Keys(page)
        self.game, self.state = running.game, running.game.rules.new(two_players(name))

    def settled(self, before: str) -> None:
        """Wait until the page shows the step after an event."""
        expect(self.page.locator("html")).not_to_have_attribute("data-live", before)
        expect(self.page.locator("button:disabled:visible")).to_have_count(0)
        self.keys.keeps_focus()
        assert described(self.page) == standing(self.game, self.state)

    def roll(self, roll: Roll) -> None:
        """Enter what the dice show."""
        dice = self.page.locator("#rolling .die")
        expect(dice).to_have_count(len(roll.faces))
        for at, face in enumerate(roll.faces):
            self.keys.reach(dice.nth(at))
            while dice.nth(at).get_attribute("data-face") != face:
                self.keys.press("ArrowUp")
        self.keys.reach(self.page.locator("#rolling form button"))
        before = self.page.locator("html").get_attribute("data-live")
        self.state = after_step(self.game, self.state, roll)
        self.page.keyboard.press("Enter")
        self.settled(before)

    def turn(self, turn: Any) -> None:
        """Play a turn by squares and choices."""
        page, keys, looks = self.page, self.keys, self.game.table.appearance(self.state)
        keys.reach(page.get_by_role("button", name="Play by tapping"))
        keys.press("Enter")
        expect(page.locator("#tapping")).to_be_visible()
        taps = taps_of(self.game, self.state, turn)
        assert taps is not None
        done: tuple[str, ...] = ()
        for number, each in enumerate(taps):
            if len(done) > number:
                continue  # the only choice is made by itself
            found = tapped(self.game, self.state, done)
            if each in found.squares:
                self.to_the_board()
                keys.walk(each)
                name = keys.focused.get_attribute("aria-label")
                stands = looks.get(each, "empty")
                assert name is not None
                assert each.rpartition(".")[2] in name
                assert stands == "empty" or stands in name, f"{each} is called {name!r}, but there stands {stands}."
            else:
                keys.reach(page.locator("#tapping [data-part=choices] button").nth(list(found.choices).index(each)))
            with page.expect_response("**/api/tapped*"):
                page.keyboard.press("Enter")
            done = tapped(self.game, self.state, (*done, each)).taps
            keys.keeps_focus()
        play = page.locator("#tapping [data-part=play]")
        expect(play.locator("[name=text]")).to_have_value(self.game.notation.format_turn(turn))
        keys.reach(play.locator("button"))
        before = page.locator("html").get_attribute("data-live")
        self.state = after_step(self.game, self.state, turn)
        keys.heard()
        page.keyboard.press("Enter")
        expect(page.locator("#tapping")).to_be_hidden()
        self.settled(before)

    def to_the_board(self) -> None:
        """Go back to the squares, of which one is a stop of Tab."""
        stop = self.page.locator("#board .places [tabindex='0']")
        if self.keys.focused.evaluate("(element) => !element.matches('#board .places [id]')"):
            self.keys.reach(stop, "Shift+Tab")


@pytest.fixture
def player(request: pytest.FixtureRequest, tmp_path: Path, visit: Any) -> Iterator[Player]:
    with served(request.param, tmp_path, two_players(request.param)) as (running, address):
        page = visit(address)
        page.evaluate(NOTES_WHAT_IS_SAID)
        yield Player(running, page, request.param)


@pytest.mark.parametrize("player", ["diaballik", pytest.param("blokus-dice", marks=pytest.mark.long)], indirect=True)
def test_keys_alone_play_a_whole_game(player: Player) -> None:
    game = player.game
    for step in known_of(game.name)["whole_game"]["steps"]:
        named, kind, text = parts_of(game, step)
        meant = read_step(game, player.state, kind, text, named or player.state.to_move)
        if isinstance(meant, Roll):
            player.roll(meant)
            continue
        player.turn(meant)
        heard = Counter(player.keys.heard())
        assert heard, "Nothing was said."
        assert max(heard.values()) == 1, heard
    assert game.rules.outcome(player.state) is not None
    player.keys.reach(player.page.get_by_role("link", name="Watch the game"))


@pytest.mark.parametrize("player", ["diaballik"], indirect=True)
def test_the_focus_stays_near_what_is_undone_or_left(player: Player) -> None:
    page, keys = player.page, player.keys
    begin = page.get_by_role("button", name="Play by tapping")
    keys.reach(begin)
    keys.press("Enter")
    expect(page.locator("#board .places :focus")).to_be_attached()
    keys.walk("a1")
    keys.press("Enter")
    undo = page.get_by_role("button", name="Undo the last tap")
    keys.reach(undo)
    keys.press("Enter")
    expect(undo).to_be_hidden()
    expect(page.locator("#board .places :focus")).to_be_attached()
    keys.keeps_focus()
    keys.press("Escape")
    expect(begin).to_be_focused()
