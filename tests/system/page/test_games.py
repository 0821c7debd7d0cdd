"""Whole games by two phones: turns shown, typed and rolled, a correction, a take-back, outages, a killed server."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from engine.api import Game
from engine.registry import games, load
from engine.values import EMPTY, OptionValue
from referee.naming import Names
from referee.record.events import EventKind
from referee.record.fold import after_step, read_step
from referee.record.results import outcome_sentence
from tests.games.known import known_of
from tests.system.page.playing import PHONE, described, go, journal_of, parts_of, standing
from tests.system.page.seen import expect, texts_of
from tests.system.page.served import Killable, take_back


@dataclass(frozen=True)
class Script:
    """A game to its end, as ``whole_game`` in the game's file of ``tests/games``."""

    steps: Sequence[str]
    wrong: Mapping[str, str]
    by_hand: bool
    options: Mapping[str, OptionValue] | None = None


def drawn(phone: Any) -> str:
    """The board on a page without its labels, in a form that doesn't depend on the order of attributes."""
    return str(
        phone.locator("#board").evaluate(
            """(board) => {
                const copy = board.cloneNode(true);
                copy.querySelectorAll("title, desc, text").forEach((each) => each.remove());
                for (const each of copy.querySelectorAll("*")) {
                    const sorted = [...each.attributes].sort((one, other) => (one.name < other.name ? -1 : 1));
                    for (const { name } of sorted) each.removeAttribute(name);
                    for (const { name, value } of sorted) if (name !== "aria-label") each.setAttribute(name, value);
                }
                return copy.innerHTML;
            }"""
        )
    )


class Evening:
    """Two phones at one table; each step is played by the control the page offers."""

    def __init__(self, script: Script, game: Game[Any, Any], table: Killable, phones: list[Any], folder: Path) -> None:
        self.script, self.game, self.table, self.phones, self.folder = script, game, table, phones, folder
        self.state = game.rules.new(script.options)
        self.typist = phones[1]

    def phone_of(self, player: str | None) -> Any:
        """The phone of the player by hand; typed turns are all typed on one phone while the other watches."""
        if not self.script.by_hand:
            return self.typist
        return self.phones[self.game.players.index(player) % 2 if player else 0]

    def play(self, step: str, only: Any = None) -> None:
        """Play a step, and see it on both phones; or play it by one of them, and see it there."""
        named, kind, text = parts_of(self.game, step)
        player = named or self.state.to_move
        phone = only or self.phone_of(player)
        after = after_step(self.game, self.state, read_step(self.game, self.state, kind, text, player))
        if kind == EventKind.TURN and self.script.by_hand:
            self.table.show(self.game.table.appearance(after))
            self.press(phone, "end turn")
        else:
            self.type(phone, step)
        self.state = after
        self.compare([only] if only else self.phones)

    def type(self, phone: Any, step: str) -> None:
        """Go to where turns are typed, and type one."""
        player, kind, text = parts_of(self.game, step)
        go(phone, "/enter")
        command = "roll" if kind == EventKind.ROLLED else "turn"
        form = phone.locator(f"form:has([name=command][value='{command}'])")
        form.locator("[name=text]").fill(text)
        if player:
            form.locator("[name=player]").select_option(player)
        form.locator("button").click()
        expect(phone.locator("#said")).to_be_visible()
        expect(form.locator("[name=text]")).to_have_value("")

    def correct(self, looks: Mapping[str, str]) -> None:
        """Tap squares on the second phone and correct their pieces."""
        phone = self.phones[1]
        go(phone, "/correct")
        for place, look in looks.items():
            phone.locator(f"[id='place-{place}']").click()
            phone.locator(f".pieces [value='{look}']").click()
        phone.locator("[data-correct] button.strong").click()
        expect(phone.locator("#said")).to_be_visible()
        expect(phone.locator("#changes li")).to_have_count(0)

    def press(self, phone: Any, what: str) -> None:
        """Press a button of the table's page, and wait until it has led to an event."""
        before = journal_of(self.folder, self.game).last_event
        phone.locator(f"form:has([value='{what}']) button").click()
        expect(phone.locator("html")).not_to_have_attribute("data-live", str(before))

    def compare(self, phones: Sequence[Any] = ()) -> Any:
        """Assert that phones, journal and engine agree, and give the state."""
        told = self.see(phones)
        assert standing(self.game, told.states[0]) == standing(self.game, self.state)
        assert told.outcome == self.game.rules.outcome(self.state)
        return told

    def see(self, phones: Sequence[Any] = ()) -> Any:
        """Assert that phones and journal agree, and give the state."""
        told = journal_of(self.folder, self.game)
        for phone in phones or self.phones:
            expect(phone.locator("html")).to_have_attribute("data-live", str(told.last_event))
        at_the_table = [phone for phone in phones or self.phones if urlsplit(phone.url).path == "/"]
        assert len({drawn(phone) for phone in at_the_table}) <= 1
        if self.phones[0] in at_the_table:
            assert described(self.phones[0]) == standing(self.game, told.states[0])
        return told

    def gather(self) -> None:
        """Have both phones show the table."""
        for phone in self.phones:
            go(phone, "/")


@pytest.fixture
def evening(request: pytest.FixtureRequest, tmp_path: Path, visit: Callable[..., Any]) -> Iterator[Evening]:
    name = request.param
    script = Script(**known_of(name)["whole_game"])
    with Killable(name, tmp_path, script.options) as table:
        phones = [visit(table.address, viewport=PHONE, locale=locale) for locale in ("en-GB", "de-DE")]
        yield Evening(script, load(name), table, phones, tmp_path)


@pytest.mark.parametrize("evening", games(), indirect=True)
def test_a_whole_game_is_played_on_two_phones(evening: Evening) -> None:
    english, german = evening.phones
    game, steps = evening.game, evening.script.steps
    half = len(steps) // 2
    for step in steps[:half]:
        evening.play(step)

    # A person's wrong correction is corrected.
    right = {place: game.table.appearance(evening.state).get(place, EMPTY) for place in evening.script.wrong}
    evening.correct(evening.script.wrong)
    assert standing(game, evening.see().states[0]) != standing(game, evening.state)
    evening.correct(right)
    evening.compare()

    # The last step is taken back and played again.
    evening.gather()
    played = evening.see().steps
    before = evening.see().last_event
    take_back(english)
    expect(german.locator("html")).not_to_have_attribute("data-live", str(before))
    assert len(evening.see().steps) < len(played)
    evening.type(german, steps[half - 1])
    evening.gather()
    evening.compare()

    # One phone has no network while the other plays on.
    english.context.set_offline(True)
    expect(english.locator("#connection")).to_be_visible()
    evening.play(steps[half], only=german)
    evening.gather()
    english.context.set_offline(False)
    expect(english.locator("#connection")).to_be_hidden()
    evening.compare()

    # The referee loses its power, and gets it again.
    evening.table.kill()
    for phone in evening.phones:
        expect(phone.locator("#connection")).to_be_visible()
    evening.table.start(game.table.appearance(evening.state))
    evening.compare()
    evening.typist = english
    for step in steps[half + 1 :]:
        evening.play(step)

    evening.gather()
    told = evening.compare()
    assert told.outcome is not None
    ending = Names.on_screen(game, {})(outcome_sentence(told.outcome))
    expect(english.locator("#next")).to_have_text(ending)
    expect(german.locator("#next")).not_to_have_text(ending)
    for phone in evening.phones:
        assert phone.locator("#players .to-move").count() == 0
        assert phone.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
        if game.scores is not None:
            shown = texts_of(phone.locator("#over .sums b"))
            assert sorted(shown) == sorted(str(score) for score in game.scores(evening.state).values())
