"""Whole games tapped on two phones, each its player's, in German and English, while a third device interferes."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from engine.api import Game, Taps, tapped
from engine.registry import games
from engine.values import EMPTY, Roll
from frontends.page.access import Role
from referee.commands.values import NewGame
from referee.record.fold import after_step, read_step
from tests.games.known import known_of
from tests.system.page.playing import PHONE, described, go, journal_of, parts_of, standing, taps_of, two_players
from tests.system.page.seen import expect, text_of
from tests.system.page.served import Session, paired_page_of, session

NAMES = ("Anna", "Ben")
MOST_RANDOM_STEPS = 40


def nothing() -> None:
    """Nobody interferes."""


def random_taps(game: Game[Any, Any], state: Any, rng: random.Random) -> tuple[Taps, Any]:
    """A turn tapped at random, and its taps."""
    found = tapped(game, state, ())
    while found.turn is None or ((found.squares or found.choices) and rng.random() < 0.5):
        found = tapped(game, state, (*found.taps, rng.choice((*found.squares, *found.choices))))
    return found.taps, found.turn


class Table:
    """Anna's German phone, Ben's English one and a third device that is everybody's, all paired to one table."""

    def __init__(self, running: Session, phones: Sequence[Any], third: Any) -> None:
        self.running, self.game, self.phones, self.third = running, running.game, phones, third
        self.state = self.believed()
        self.count = 0

    def believed(self) -> Any:
        """The state the referee believes in, which may know less than was played: the sides of corrected pieces."""
        assert self.running.snapshots.newest is not None
        return self.running.snapshots.newest.snapshot.states[0]

    def players_to_move(self) -> Sequence[str]:
        """Who may play now."""
        return tuple(self.game.rules.players_to_move(self.state))

    def phone_of(self, player: str) -> Any:
        """The phone of a player."""
        return self.phones[self.game.players.index(player) % len(self.phones)]

    def roll(self, roll: Roll) -> None:
        """Tap each die until it shows its face, and enter them."""
        phone = self.phone_of(self.state.to_move or self.game.players[0])
        for at, face in enumerate(roll.faces):
            die = phone.locator("#rolling .die").nth(at)
            for _ in range(12):
                if die.get_attribute("data-face") == face:
                    break
                die.click()
            expect(die).to_have_attribute("data-face", face)
        self.play(phone.locator("#rolling form button"), roll)

    def tap(self, turn: Any, taps: Taps, halfway: Callable[[], None] = nothing) -> None:
        """Tap a turn on its player's phone and play it; halfway something else happens."""
        phone = self.phone_of(turn.player)
        for other in self.phones:
            is_asked = other is phone or self.game.players[self.phones.index(other)] in self.players_to_move()
            expect(other.locator("#actions [data-deed=tap]")).to_have_count(int(is_asked))
        phone.locator("#actions [data-deed=tap]").click()
        expect(phone.locator("#tapping")).to_be_visible()
        done: Taps = ()
        for number, each in enumerate(taps):
            if len(done) > number:
                continue  # the only choice is made by itself
            if number == len(taps) // 2:
                halfway()
            found = tapped(self.game, self.state, done)
            with phone.expect_response("**/api/tapped*"):
                if each in found.squares:
                    expect(phone.locator(f'[id="place-{each}"]')).to_have_attribute("aria-disabled", "false")
                    phone.locator(f'[id="place-{each}"]').tap()
                else:
                    phone.locator("#tapping [data-part=choices] button").nth(list(found.choices).index(each)).click()
            done = tapped(self.game, self.state, (*done, each)).taps
        play = phone.locator("#tapping [data-part=play]")
        expect(play.locator("[name=text]")).to_have_value(self.game.notation.format_turn(turn))
        self.play(play.locator("button"), turn)

    def type(self, turn: Any) -> None:
        """Type a turn on the third device, whoever's it is."""
        go(self.third, "/enter")
        form = self.third.locator("form:has([name=command][value=turn])")
        form.locator("[name=text]").fill(self.game.notation.format_turn(turn))
        if form.locator("[name=player]").count():
            form.locator("[name=player]").select_option(turn.player)
        self.play(form.locator("button"), turn)

    def play(self, button: Any, step: Any) -> None:
        """Press the button that plays a roll or turn, and see that everywhere."""
        before = journal_of(self.running.journal.parent, self.game).last_event
        button.click()
        expect(self.phones[0].locator("html")).not_to_have_attribute("data-live", str(before))
        self.state = after_step(self.game, self.state, step)
        self.count += 1
        self.compare()

    def compare(self) -> Any:
        """Assert that both phones, the journal and the engine agree."""
        told = journal_of(self.running.journal.parent, self.game)
        for phone in self.phones:
            expect(phone.locator("html")).to_have_attribute("data-live", str(told.last_event))
        assert len(told.steps) == self.count
        assert standing(self.game, told.states[0]) == standing(self.game, self.state)
        assert described(self.phones[1]) == standing(self.game, self.state)
        return told

    def hint(self) -> None:
        """The third device asks for a hint, if there are any."""
        go(self.third, "/")
        button = self.third.locator("form:has([value=hint]) button")
        if button.is_visible():
            button.click()
            expect(self.third.locator("#said")).not_to_be_empty()
            self.compare()

    def correct(self, looks: Mapping[str, str]) -> None:
        """The third device corrects squares wrongly, and then that."""
        go(self.third, "/correct")
        stand = self.game.table.appearance(self.state)
        for corrected in (looks, {place: stand.get(place, EMPTY) for place in looks}):
            for place, look in corrected.items():
                self.third.locator(f"[id='place-{place}']").click()
                self.third.locator(f".pieces [value='{look}']").click()
            self.third.locator("[data-correct] button.strong").click()
            expect(self.third.locator("#changes li")).to_have_count(0)
            self.count += 1
        self.compare()
        self.state = self.believed()

    def end(self) -> None:
        """Assert that the game is over everywhere, with the engine's result."""
        told = self.compare()
        assert told.outcome is not None
        assert told.outcome == self.game.rules.outcome(self.state)
        names = dict(zip(self.game.players, NAMES, strict=False))
        for winner in told.outcome.shared_by or filter(None, [told.outcome.winner]):
            expect(self.phones[1].locator("#next")).to_contain_text(names[winner])
        for phone in self.phones:
            expect(phone.locator("[data-deed=tap]")).to_be_hidden()
            if self.game.scores is not None:
                sums = phone.locator("#over .sums li").all()
                shown = {text_of(each.locator("span")): text_of(each.locator("b")) for each in sums}
                scores = self.game.scores(self.state)
                assert shown == {names[player]: str(score) for player, score in scores.items()}


@pytest.fixture
def table(request: pytest.FixtureRequest, tmp_path: Path, visit: Callable[..., Any]) -> Iterator[Table]:
    name, options = request.param
    with ExitStack() as stack:
        running = stack.enter_context(session(name, tmp_path, options))
        playing = dict(zip(running.game.players, NAMES, strict=False))
        running.tell(NewGame(name, options, playing))
        assert not running.end_turn().refused
        page = stack.enter_context(paired_page_of(running))
        devices = []
        for who, locale in zip((*NAMES, "Clara"), ("de-DE", "en-GB", "de-DE"), strict=True):
            device = visit(page.address, is_paired=False, viewport=PHONE, locale=locale, has_touch=True)
            reply = device.request.post(f"{page.address}api/pair", data={"code": page.codes[Role.PLAY], "name": who})
            assert reply.ok, reply.text()
            device.goto(page.address)
            device.wait_for_selector("html[data-live]", state="attached")
            devices.append(device)
        for phone, (player, who) in zip(devices, playing.items(), strict=False):
            phone.locator(f"#whose_phone button[value='{player}']").click()
            expect(phone.locator("#whose_phone summary")).to_contain_text(who)
            phone.wait_for_selector("html[data-live]", state="attached")
        yield Table(running, devices[:2], devices[2])


@pytest.mark.parametrize(
    "table",
    [pytest.param((name, known_of(name)["whole_game"].get("options", two_players(name))), id=name) for name in games()],
    indirect=True,
)
def test_two_tap_a_whole_game_while_a_third_interferes(table: Table) -> None:
    game = table.game
    known = known_of(game.name)["whole_game"]
    steps, half = list(known["steps"]), len(known["steps"]) // 2
    is_corrected = False
    while steps:
        named, kind, text = parts_of(game, steps.pop(0))
        meant = read_step(game, table.state, kind, text, named or table.state.to_move)
        if isinstance(meant, Roll):
            table.roll(meant)
            continue
        first, halfway = nothing, table.hint
        if len(steps) <= half and not is_corrected:
            first, is_corrected = partial(table.correct, known["wrong"]), True
        following = parts_of(game, steps[0]) if steps else None
        if following and following[0] in game.rules.players_to_move(table.state) and following[0] != meant.player:
            # Both write at once: one is typed while the other is tapped.
            halfway, typed = partial(table.type, meant), meant
            meant = read_step(game, table.state, *following[1:], following[0])
            steps.pop(0)
            if taps_of(game, table.state, meant) is None:
                halfway, meant = partial(table.type, meant), typed
        first()
        taps = taps_of(game, table.state, meant)
        if taps is None:
            table.type(meant)
        else:
            table.tap(meant, taps, halfway)
    assert is_corrected
    table.end()


@pytest.mark.long
@pytest.mark.parametrize("table", [pytest.param((name, two_players(name)), id=name) for name in games()], indirect=True)
@pytest.mark.parametrize("seed", range(3))
def test_two_tap_random_turns_to_the_end(seed: int, table: Table) -> None:
    game, rng = table.game, random.Random(seed)
    while table.count < MOST_RANDOM_STEPS and game.rules.outcome(table.state) is None:
        if game.awaits_roll(table.state):
            assert game.dice is not None
            table.roll(rng.choice(list(game.dice.possible_rolls(table.state))).roll)
        else:
            taps, turn = random_taps(game, table.state, rng)
            table.tap(turn, taps, rng.choice([nothing, table.hint]))
    told = table.compare()
    assert told.outcome == game.rules.outcome(table.state)
