"""The program plays a side: it says what it means to play, waits for it, and asks kindly where something else lies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.registry import load
from engine.search.budget import CountingClock
from hardware.lights.signals import LightRole
from referee.commands.values import AskHint, Correct, EnterTurn, TakeBack
from referee.hints.advice import HintSettings
from referee.hints.opponent import Intention, Opponent, OpponentRequest, OpponentSettings, intention_after
from referee.journal import Journal
from referee.journal.events import Event, EventKind
from referee.journal.exports import event_lines
from referee.judge.verdict import VerdictKind
from referee.session.execution import ImmediateHints
from referee.session.service import Service
from referee.session.settings import ServiceSettings
from tests.referee.service_table import Table, known_turn, wall_clock

Make = Callable[..., Table]


def opponent(game: Any, player: str) -> Opponent:
    return Opponent(game, OpponentSettings(player, "gentle", 0.1), ImmediateHints(CountingClock(0.01)))


@pytest.fixture
def at_table(deblockle: Any, make_reading: Any, start: dict[str, str]) -> Iterator[Make]:
    """Give a maker of tables at which the program plays teal."""
    with ExitStack() as opened:

        def make(journal: Any = None, player: str = "teal", **settings: Any) -> Table:
            chosen = journal or opened.enter_context(Journal.in_memory(wall_clock=wall_clock))
            table = Table(deblockle, make_reading, chosen, ServiceSettings(rest_s=1.0, **settings))
            table.service = Service(
                deblockle,
                table.reader,
                chosen,
                table._take,
                table.settings,
                table.said.append,
                opponent=opponent(deblockle, player),
            )
            table.service.start()
            if not table.service.belief:
                table.show(start, 2)
            return table

        yield make


def lit(table: Table, role: LightRole) -> tuple[str, ...]:
    return tuple(light.place for light in table.lamp.signals[-1].lights if light.role is role)


def meant(table: Table) -> tuple[Intention, Any]:
    """What the program means to play, and how the table looks after it."""
    intention = table.snapshots[-1].intention
    assert intention is not None
    state = table.service.belief[0]
    turn = table.game.notation.parse_turn(state, intention.turn, intention.player)
    return intention, table.game.table.appearance(table.game.rules.apply(state, turn))


def teal_to_play(table: Table) -> Any:
    """Have gold play; give how the table looks then."""
    _, after = table.play(start="c1", top="hoops")
    table.show(after, 2)
    table.service.poll_hints()
    return after


def another_turn(table: Table) -> tuple[Any, Any]:
    """A legal turn of teal's that leaves other places changed than the one it means."""
    state, (intention, _) = table.service.belief[0], meant(table)
    turn = next(turn for turn in table.game.rules.legal_turns(state) if not set(turn.places) & set(intention.places))
    return turn, table.game.table.appearance(table.game.rules.apply(state, turn))


def test_it_says_lights_and_records_what_it_means_to_play_and_waits(at_table: Make) -> None:
    table = at_table()
    table.service.poll_hints()
    assert table.snapshots[-1].intention is None, "gold plays first"
    after = teal_to_play(table)
    intention, shown = meant(table)
    assert table.kinds()[-1] == EventKind.INTENTION
    assert table.lamp.events_then[-1] == len(table.kinds()), "the journal has it first"
    assert table.lamp.signals[-1].words == intention.words == table.said[-1]
    assert intention.words.startswith("Teal ")
    assert intention.words.endswith("Please move it for teal.")
    assert lit(table, LightRole.OPPONENT) == intention.places
    said = len(table.said)
    table.show(after, 5)
    table.service.poll_hints()
    assert len(table.said) == said, "it waits and says nothing twice"
    verdicts = table.show(shown, 2)
    assert [verdict.kind for verdict in verdicts][-1] is VerdictKind.ACCEPTED
    assert verdicts[-1].turns == (intention.turn,)
    assert table.snapshots[-1].intention is None
    assert table.service.belief[0].to_move == "gold"


def test_it_is_called_what_it_is(at_table: Make) -> None:
    assert at_table().snapshots[-1].names == {"teal": "program (gentle)"}


def test_another_turn_is_told_apart_kindly_and_does_not_count(at_table: Make) -> None:
    table = at_table()
    before = teal_to_play(table)
    intention, shown = meant(table)
    turn, other = another_turn(table)
    (verdict,) = [verdict for verdict in table.show(other, 2) if verdict.kind is VerdictKind.AMBIGUOUS]
    assert verdict.sentence.startswith(table.game.notation.describe(turn))
    assert "The rules allow it, but the program means another turn." in verdict.sentence
    assert intention.words in verdict.sentence
    assert table.service.belief[0].to_move == "teal"
    table.show(before, 2)
    table.service.poll_hints()
    assert table.service.belief[0].to_move == "teal"
    table.show(shown, 2)
    assert table.service.belief[0].to_move == "gold"


def test_a_person_may_overrule_it(at_table: Make) -> None:
    table = at_table()
    teal_to_play(table)
    turn, other = another_turn(table)
    table.show(other, 2)
    assert not table.tell(EnterTurn(table.game.notation.format_turn(turn), "Ann")).refused
    table.show(other, 2)
    table.service.poll_hints()
    assert table.service.belief[0].to_move == "gold"
    assert table.snapshots[-1].intention is None


def test_after_a_fault_is_put_right_it_shows_its_turn_again(at_table: Make) -> None:
    table = at_table()
    before = teal_to_play(table)
    intention, _ = meant(table)
    table.show({**before, "e5": "empty", "a4": before["e5"]}, 3)
    assert lit(table, LightRole.FAULT)
    table.show(before, 2)
    assert lit(table, LightRole.OPPONENT) == intention.places
    assert intention.words in table.lamp.signals[-1].words


def test_taking_back_or_correcting_has_it_think_again(at_table: Make) -> None:
    table = at_table()
    teal_to_play(table)
    first, shown = meant(table)
    table.show(shown, 2)
    table.tell(TakeBack("Ann"))
    assert table.snapshots[-1].intention is None
    table.service.poll_hints()
    again, _ = meant(table)
    assert again.player == first.player
    table.tell(Correct("Ann", to_move="gold"))
    table.service.poll_hints()
    assert table.snapshots[-1].intention is None
    table.tell(Correct("Ann", to_move="teal"))
    table.service.poll_hints()
    assert table.snapshots[-1].intention is not None


def test_a_restart_keeps_the_turn_that_was_announced(at_table: Make, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        table = at_table(journal)
        teal_to_play(table)
        intention, shown = meant(table)
    with Journal.open(path, wall_clock=wall_clock) as journal:
        again = at_table(journal)
        again.service.poll_hints()
        assert again.snapshots[-1].intention == intention
        assert lit(again, LightRole.OPPONENT) == intention.places
        assert again.kinds().count(EventKind.INTENTION) == 1
        again.show(shown, 2)
        assert again.service.belief[0].to_move == "gold"


def test_it_plays_where_hints_are_ruled_out_and_gives_none(at_table: Make) -> None:
    table = at_table(hints=HintSettings("none"))
    teal_to_play(table)
    assert table.snapshots[-1].intention is not None
    assert "Chance" not in table.said[-1]
    assert table.tell(AskHint("Ann")).refused
    assert EventKind.HINT_GIVEN not in table.kinds()


def test_what_it_means_is_told_when_the_game_is_replayed(at_table: Make) -> None:
    table = at_table()
    teal_to_play(table)
    intention, _ = meant(table)
    assert event_lines(table.game, table.journal.events())[-1].sentence == intention.words


def wishes(name: str, player: str, state: Any) -> tuple[Opponent, OpponentRequest | None]:
    game = load(name)
    side = opponent(game, player)
    return side, side.poll((state,), list)


def rolled(game: Any, state: Any) -> Any:
    """The state once all is rolled; the first roll is the higher one, so that its player begins."""
    rolls = -1
    while game.awaits_roll(state):
        state = game.dice.rolled(state, game.dice.possible_rolls(state)[rolls].roll)
        rolls = 0
    return state


def test_with_dice_it_asks_for_its_roll_first_and_once() -> None:
    game = load("blockade")
    state = game.rules.new()
    side, wish = wishes("blockade", "warm", state)
    assert wish == OpponentRequest("Warm is to roll. Please roll for it.")
    assert side.poll((state,), list) is None
    wish = side.poll((rolled(game, state),), list)
    assert wish is not None
    assert wish.event is not None
    assert wish.event.data["player"] == "warm"


@pytest.mark.parametrize("name", ["blokus-dice", "number-drop"])
def test_of_a_sheet_it_says_what_to_write(name: str) -> None:
    game = load(name)
    state = rolled(game, game.rules.new({"players": 2}))
    _, wish = wishes(name, "p1", state)
    assert wish is not None
    assert "Please write it for p1." in wish.words


def test_who_writes_at_the_same_time_as_others_need_not_wait_for_them() -> None:
    game = load("number-drop")
    state = rolled(game, game.rules.new({"players": 2}))
    _, early = wishes("number-drop", "p2", state)
    assert early is not None
    assert early.event is not None
    turn = next(turn for turn in game.rules.legal_turns(state) if turn.player == "p1")
    _, wish = wishes("number-drop", "p2", game.rules.apply(state, turn))
    assert wish is not None
    assert wish.event is not None
    kept = intention_after(None, wish.event)
    assert kept is not None
    other = Event(EventKind.TURN, {"player": "p1", "turn": "a1=1", "state": ""})
    assert intention_after(kept, other) == kept
    assert intention_after(kept, Event(EventKind.TURN, {**other.data, "player": "p2"})) is None


def test_while_it_is_open_who_starts_and_at_the_end_it_wishes_nothing(deblockle: Any) -> None:
    side = opponent(deblockle, "gold")
    starts = tuple(deblockle.rules.new({"starts": player}) for player in deblockle.players)
    assert side.poll(starts, list) is None
    assert side.poll((), list) is None
    resigned = next(said for said in deblockle.rules.announcements(starts[0]) if said.player == "gold")
    assert side.poll((deblockle.rules.announce(starts[0], resigned),), list) is None


def test_what_the_table_shows_as_well_is_taken_for_the_turn_it_means(at_table: Make) -> None:
    table = at_table()
    teal_to_play(table)
    intention, shown = meant(table)
    changed = next(place for place in intention.places if shown[place] != table.snapshots[-1].appearance[place])
    assert known_turn(table.game, table.service.belief[0], player="teal")
    table.show(shown, 2, unreadable=(changed,))
    assert table.service.belief[0].to_move in {"gold", "teal"}
