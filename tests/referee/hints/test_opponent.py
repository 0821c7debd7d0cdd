"""The program plays a side: it announces its turn, waits until that is on the table, and points out another one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from engine.registry import load
from engine.search.budget import CountingClock
from hardware.lights.signals import LightRole
from journal.journal import Journal
from referee.commands.entries import apply_entry
from referee.commands.typed_lines import parse_line
from referee.commands.values import AskHint, Correct, EnterTurn, NewGame, TakeBack
from referee.hints.advice import Advice, Answer, Question
from referee.hints.hint_settings import HintSettings
from referee.hints.opponent import (
    ImmediateHints,
    Opponent,
    OpponentRequest,
    OpponentSettings,
    other_turn_verdict,
)
from referee.judge.verdict import AcceptedTurn, Verdict, VerdictKind
from referee.record.events import Event, EventKind
from referee.record.fold import Folded, Intention, intention_after
from referee.record.results import event_lines
from referee.session.ports import ServiceSettings
from referee.session.service import Service
from tests.referee.judge.drawn import drawn
from tests.referee.judge.test_sheets import rolled as shape_and_loop_possible
from tests.referee.service_table import Table, wall_clock

Make = Callable[..., Table]


def opponent(game: Any, player: str) -> Opponent:
    return Opponent(game, OpponentSettings(player, "gentle", 0.1), ImmediateHints(CountingClock(0.01)))


@pytest.fixture
def at_table(deblockle: Any, make_reading: Any, start: dict[str, str]) -> Iterator[Make]:
    """A factory of tables at which the program plays teal."""
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


def intended_turn(table: Table) -> tuple[Intention, Any]:
    """The program's intended turn, and the appearance after it."""
    intention = table.snapshots[-1].intention
    assert intention is not None
    state = table.service.belief[0]
    turn = table.game.notation.parse_turn(state, intention.turn, intention.player)
    return intention, table.game.table.appearance(table.game.rules.apply(state, turn))


def play_for_gold(table: Table) -> Any:
    """Play a turn for gold; returns the appearance after it."""
    _, after = table.play(start="c1", top="hoops")
    table.show(after, 2)
    table.service.poll_hints()
    return after


def another_turn(table: Table) -> tuple[Any, Any]:
    """A legal turn of teal's that changes other places than the intended one."""
    state, (intention, _) = table.service.belief[0], intended_turn(table)
    turn = next(turn for turn in table.game.rules.legal_turns(state) if not set(turn.places) & set(intention.places))
    return turn, table.game.table.appearance(table.game.rules.apply(state, turn))


def test_the_program_announces_lights_and_records_its_intended_turn_and_waits(at_table: Make) -> None:
    table = at_table()
    table.service.poll_hints()
    assert table.snapshots[-1].intention is None, "gold plays first"
    after = play_for_gold(table)
    intention, shown = intended_turn(table)
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
    # A camera can't tell apart the ways by which one block comes to one square with one symbol on top.
    assert table.game.table.appearance(table.service.belief[0]) == shown
    assert table.snapshots[-1].intention is None
    assert table.service.belief[0].to_move == "gold"


def test_the_program_is_named_as_a_program(at_table: Make) -> None:
    assert at_table().snapshots[-1].names == {"teal": "program (gentle)"}


def test_a_different_turn_for_the_program_is_pointed_out_and_does_not_count(at_table: Make) -> None:
    table = at_table()
    before = play_for_gold(table)
    intention, shown = intended_turn(table)
    turn, other = another_turn(table)
    (verdict,) = [verdict for verdict in table.show(other, 2) if verdict.kind is VerdictKind.AMBIGUOUS]
    assert verdict.sentence.startswith(table.game.notation.describe(turn))
    assert "The rules allow it, but the program chose another turn." in verdict.sentence
    assert intention.words in verdict.sentence
    assert verdict.candidates == (intention.turn, table.game.notation.format_turn(turn))
    assert verdict.candidate_players == ("teal", "teal")
    assert table.service.belief[0].to_move == "teal"
    table.show(before, 2)
    table.service.poll_hints()
    assert table.service.belief[0].to_move == "teal"
    table.show(shown, 2)
    assert table.service.belief[0].to_move == "gold"


def test_a_person_can_overrule_the_program(at_table: Make) -> None:
    table = at_table()
    play_for_gold(table)
    turn, other = another_turn(table)
    table.show(other, 2)
    assert not table.tell(EnterTurn(table.game.notation.format_turn(turn), "Ann")).refused
    table.show(other, 2)
    table.service.poll_hints()
    assert table.service.belief[0].to_move == "gold"
    assert table.snapshots[-1].intention is None


def test_the_program_shows_its_turn_again_after_a_fault_is_put_right(at_table: Make) -> None:
    table = at_table()
    before = play_for_gold(table)
    intention, _ = intended_turn(table)
    table.show({**before, "e5": "empty", "a4": before["e5"]}, 3)
    assert lit(table, LightRole.FAULT)
    table.show(before, 2)
    assert lit(table, LightRole.OPPONENT) == intention.places
    assert intention.words in table.lamp.signals[-1].words


def test_the_program_announces_its_turn_only_after_an_open_question(at_table: Make) -> None:
    table = at_table()
    _, after = table.play(start="c1", top="hoops")
    table.show(after, 2)
    table.show({**after, "g4": "teal block, stop up"}, 2)
    asked = lit(table, LightRole.QUESTION)
    table.service.poll_hints()
    assert lit(table, LightRole.QUESTION) == asked == ("g4",)
    table.show(after, 2)
    table.service.poll_hints()
    intention, _ = intended_turn(table)
    assert lit(table, LightRole.OPPONENT) == intention.places


def test_a_take_back_or_correction_makes_the_program_think_again(at_table: Make) -> None:
    table = at_table()
    play_for_gold(table)
    first, shown = intended_turn(table)
    table.show(shown, 2)
    table.tell(TakeBack("Ann"))
    assert table.snapshots[-1].intention is None
    table.service.poll_hints()
    again, _ = intended_turn(table)
    assert again.player == first.player
    table.tell(Correct("Ann", to_move="gold"))
    table.service.poll_hints()
    assert table.snapshots[-1].intention is None
    table.tell(Correct("Ann", to_move="teal"))
    table.service.poll_hints()
    assert table.snapshots[-1].intention is not None


def test_a_restart_keeps_the_announced_turn(at_table: Make, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        table = at_table(journal)
        play_for_gold(table)
        intention, shown = intended_turn(table)
    with Journal.open(path, wall_clock=wall_clock) as journal:
        again = at_table(journal)
        again.service.poll_hints()
        assert again.snapshots[-1].intention == intention
        assert lit(again, LightRole.OPPONENT) == intention.places
        assert again.kinds().count(EventKind.INTENTION) == 1
        again.show(shown, 2)
        assert again.service.belief[0].to_move == "gold"


def test_the_program_plays_in_games_without_hints_and_gives_none(at_table: Make) -> None:
    table = at_table(hints=HintSettings(strength="none"))
    play_for_gold(table)
    assert table.snapshots[-1].intention is not None
    assert "Chance" not in table.said[-1]
    assert table.tell(AskHint("Ann")).refused
    assert EventKind.HINT_GIVEN not in table.kinds()


def test_the_intended_turn_is_part_of_the_replay(at_table: Make) -> None:
    table = at_table()
    play_for_gold(table)
    intention, _ = intended_turn(table)
    assert event_lines(table.game, table.journal.events())[-1].sentence == intention.words


def opponent_and_request(name: str, player: str, state: Any) -> tuple[Opponent, OpponentRequest | None]:
    game = load(name)
    side = opponent(game, player)
    return side, side.poll((state,), Folded())


def rolled(game: Any, state: Any) -> Any:
    """The state after the rolls; the first roll is the higher one, so its player begins."""
    rolls = -1
    while game.awaits_roll(state):
        state = game.dice.rolled(state, game.dice.possible_rolls(state)[rolls].roll)
        rolls = 0
    return state


def test_in_a_dice_game_the_program_asks_once_for_its_roll_first() -> None:
    game = load("blockade")
    state = game.rules.new()
    side, wish = opponent_and_request("blockade", "warm", state)
    assert wish == OpponentRequest("Warm is to roll. Please roll for it.")
    assert side.poll((state,), Folded()) is None
    wish = side.poll((rolled(game, state),), Folded())
    assert wish is not None
    assert wish.event is not None
    assert wish.event.data["player"] == "warm"


@pytest.mark.parametrize("name", ["blokus-dice", "number-drop"])
def test_on_a_sheet_the_program_says_what_to_write(name: str) -> None:
    game = load(name)
    state = rolled(game, game.rules.new({"players": 2}))
    _, wish = opponent_and_request(name, "p1", state)
    assert wish is not None
    assert "Please write it for p1." in wish.words


class Decided:
    """A source of hints that always recommends the same turn."""

    def __init__(self, turn: str, player: str) -> None:
        self._advice = Advice(turn, player, "", 0.0, "points", 0.0)
        self._asked: list[int] = []

    def ask(self, question: Question) -> None:
        self._asked.append(question.number)

    def poll(self) -> list[Answer]:
        return [Answer(number, self._advice) for number in self._asked]

    def close(self) -> None: ...


@pytest.mark.parametrize(
    ("name", "position", "turn", "words"),
    [
        (
            "number-drop",
            "p1 tiles p1=- p2=-",
            "",
            "Draw the tiles to slots A to E, and tell the referee their faces.",
        ),
        (
            "number-drop",
            "p1 drop p1=....2../....1../....1../...11.. p2=...2... slots=I4,I3,O4,X5,T5 roll=1,1,1,2,I to=p2 then=p1",
            "none",
            "p1 draws no loop. Please play it for p1, and say: turn p1 none.",
        ),
        (
            "number-drop",
            "p1 slide p1=...1... slots=I4,L4,O4,T4,S4 roll=1,1,1,2,I to=p1 notches=0,0,0,0,0 players=1",
            "slide:A",
            "p1 slides the tile in column A by one notch. Please play it for p1, and say: turn slide:A.",
        ),
        ("blockade", "", "stay", "Warm moves nothing. Please play it for warm, and say: turn stay."),
    ],
)
def test_the_program_requests_what_people_can_do(name: str, position: str, turn: str, words: str) -> None:
    game = load(name)
    state = game.notation.parse_state(position) if position else rolled(game, game.rules.new())
    side = "warm" if name == "blockade" else "p1"
    wish = Opponent(game, OpponentSettings(side, "fair", 2.0), Decided(turn, side)).poll((state,), Folded())
    assert wish is not None
    assert wish.words == words
    if wish.event is not None:
        typed = parse_line(game, words.rpartition("say: ")[2].rstrip("."), "Ann")
        assert isinstance(typed, EnterTurn)
        assert apply_entry(game, (state,), typed).event.data["turn"] == turn


@pytest.mark.parametrize("others_first", [False, True])
def test_what_to_say_to_keep_another_turn_names_its_player(others_first: bool) -> None:
    game = load("number-drop")
    state = game.notation.parse_state("p1 drop p1=...1... p2=...2... slots=I4,I3,O4,X5,T5 roll=1,1,1,2,I to=p1,p2")
    intended, other = "a1=1,a2=1,a3=1,a4=2", "f1=1,f2=1,f3=1,f4=2"
    if others_first:
        state = game.rules.apply(state, game.notation.parse_turn(state, other, "p1"))
    turn = game.notation.parse_turn(state, other, "p2")
    step = AcceptedTurn(turn, (game.rules.apply(state, turn),))
    seen = Verdict(VerdictKind.ACCEPTED, "", 0.0, 0)
    verdict = other_turn_verdict(game, Intention("p2", intended, ""), state, step, seen)
    typed = parse_line(game, verdict.sentence.rpartition("say: ")[2].rstrip("."), "Ann")
    assert isinstance(typed, EnterTurn)
    recorded = apply_entry(game, (state,), typed).event.data
    assert (recorded["player"], recorded["turn"]) == ("p2", other)


def test_the_program_does_not_wait_for_simultaneous_players() -> None:
    game = load("number-drop")
    state = rolled(game, game.rules.new({"players": 2}))
    _, early = opponent_and_request("number-drop", "p2", state)
    assert early is not None
    assert early.event is not None
    turn = next(turn for turn in game.rules.legal_turns(state) if turn.player == "p1")
    _, wish = opponent_and_request("number-drop", "p2", game.rules.apply(state, turn))
    assert wish is not None
    assert wish.event is not None
    kept = intention_after(None, wish.event)
    assert kept is not None
    other = Event(EventKind.TURN, {"player": "p1", "turn": "a1=1", "state": ""})
    assert intention_after(kept, other) == kept
    assert intention_after(kept, Event(EventKind.TURN, {**other.data, "player": "p2"})) is None


def test_a_loop_may_follow_the_programs_shape_at_once(new_journal: Callable[[], Journal]) -> None:
    game: Any = load("number-drop")
    journal = new_journal()
    state = shape_and_loop_possible("1", "1", "1", "*", "I")
    turn = "a1=1,b1=1,c1=1,d1=1"
    settings = ServiceSettings(rest_s=1.0, options={"players": 2})
    table = Table(game, lambda looks: drawn(game, state, looks, readings=1)[0], journal, settings)
    table.service.start()
    table.tell(Correct("Ann", position=game.notation.format_state(state)))
    places = list(game.notation.parse_turn(state, turn, "p2").places)
    journal.append(Event(EventKind.INTENTION, {"player": "p2", "turn": turn, "sentence": "", "places": places}))
    table.service = Service(
        game, table.reader, journal, table._take, settings, table.said.append, opponent=opponent(game, "p2")
    )
    table.service.start()
    loop = {f"p2.{column}1": "digit 1 circled" for column in "abc"}
    table.show({**loop, "p2.d1": "digit 1"}, 3)
    assert game.scores(table.service.belief[0])["p2"] == 3


def test_the_program_requests_nothing_before_the_start_is_decided_and_after_the_end(deblockle: Any) -> None:
    side = opponent(deblockle, "gold")
    starts = tuple(deblockle.rules.new({"starts": player}) for player in deblockle.players)
    assert side.poll(starts, Folded()) is None
    assert side.poll((), Folded()) is None
    resigned = next(said for said in deblockle.rules.announcements(starts[0]) if said.player == "gold")
    assert side.poll((deblockle.rules.announce(starts[0], resigned),), Folded()) is None


def test_a_table_that_also_shows_the_intended_turn_is_taken_for_it(at_table: Make) -> None:
    table = at_table()
    play_for_gold(table)
    intention, shown = intended_turn(table)
    changed = next(place for place in intention.places if shown[place] != table.snapshots[-1].appearance[place])
    table.show(shown, 2, unreadable=(changed,))
    assert table.service.belief[0].to_move == "gold"


def test_a_new_game_s_names_do_not_replace_the_program_s(at_table: Make) -> None:
    table = at_table()
    assert not table.tell(NewGame("deblockle", players={"gold": "Ann", "teal": "Ben"})).refused
    assert table.snapshots[-1].names == {"gold": "Ann", "teal": "program (gentle)"}
