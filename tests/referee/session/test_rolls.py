"""Visible rolls: recorded, taken back, outranked by typed ones; questions stay lit until they are answered."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.search.budget import CountingClock
from engine.values import Roll
from hardware.lights.signals import Mood
from journal.journal import Journal
from referee.commands.values import AskHint, Correct, EnterRoll, EnterTurn, Reply, TakeBack, ignore_reply
from referee.hints.opponent import ImmediateHints
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.fold import fold
from referee.session.ports import ServiceSettings, TurnEnd
from tests.present import present
from tests.referee.by_text import by_text
from tests.referee.judge.blockade_turns import moved_alike, moving_turn
from tests.referee.judge.drawn import drawn
from tests.referee.sensed_table import SensedTable
from tests.referee.service_table import Table, kinds_of, known_turn, wall_clock

BLOCKADE: Any = load("blockade")
OPTIONS = {"starts": "warm"}


def see(
    on: Table, dice: str, seconds: float = 2.0, state: Any = None, differing: Mapping[str, str] | None = None
) -> list[Verdict]:
    """Show the believed table, or that state, with these dice and places that differ."""
    verdicts: list[Verdict] = []
    state = state or (on.service.belief[0] if on.service.belief else BLOCKADE.rules.new(OPTIONS))
    for _ in range(round(seconds * 10)):
        frame = on.frame()
        (reading,) = drawn(BLOCKADE, state, differing, dice=dice, readings=1)
        on.reader.following = replace(reading, time_s=frame.time_s, sequence=frame.sequence)
        verdicts += on.service.step(frame)
    return verdicts


def at_first_roll(journal: Journal, turn_end: TurnEnd = TurnEnd.REST, **options: Any) -> Table:
    """A game of Blockade that is set up, before its first roll."""
    table = Table(BLOCKADE, None, journal, ServiceSettings(rest_s=1.0, options=options, turn_end=turn_end))
    table.service.start()
    assert kinds_of(see(table, "")) == [VerdictKind.SET_UP]
    return table


@pytest.fixture
def on(new_journal: Callable[[], Journal]) -> Table:
    return at_first_roll(new_journal(), starts="warm")


def test_a_visible_roll_is_recorded_and_the_game_goes_on(on: Table) -> None:
    (verdict,) = see(on, "red:4 yellow:1")
    assert (verdict.kind, verdict.roll) == (VerdictKind.ACCEPTED, "4,1")
    event = on.journal.events()[-1][1]
    assert (event.kind, event.data["roll"], event.data["source"]) == ("rolled", "4,1", "camera")
    assert "by" not in event.data
    assert fold(BLOCKADE, on.journal.events()).states == on.service.belief
    assert not BLOCKADE.awaits_roll(on.service.belief[0])
    assert (on.lamp.moods[-1], on.lamp.signals[-1].words) == (Mood.ACCEPTED, "4,1 was rolled.")
    assert on.snapshots[-1].evidence == on.snapshots[-1].event_number == on.journal.events()[-1][0]
    assert see(on, "red:4 yellow:1", 3) == [], "the same dice are no second roll"


def test_a_visible_roll_can_be_taken_back_and_survives_a_restart(on: Table) -> None:
    see(on, "red:4 yellow:1")
    again = Table(BLOCKADE, None, on.journal, on.settings)
    again.service.start()
    assert again.service.belief == on.service.belief
    again.tell(TakeBack("Ann"))
    assert BLOCKADE.awaits_roll(again.service.belief[0])
    assert again.said[-1] == "4,1 was rolled. That is taken back."


@pytest.mark.parametrize("running", [False, True])
def test_a_typed_roll_outranks_a_visible_one(on: Table, running: bool) -> None:
    see(on, "red:4 yellow:1")
    if running:
        assert on.tell(EnterRoll("5,1", "Ann")).words == "5,1 was rolled."
        assert see(on, "red:4 yellow:1", 3) == [], "the dice on the table are not read again"
        assert BLOCKADE.dice.roll_of(on.service.belief[0]).faces == ("5", "1")
    else:
        idle = by_text(on.journal, clock=CountingClock(0.01))
        assert idle.carry_out_or_raise(EnterRoll("5,1", "Ann")) == "5,1 was rolled."
    events = on.journal.events()
    assert [event.kind for _, event in events][-3:] == ["rolled", "take back", "rolled"]
    assert [event.data.get("by") for _, event in events][-2:] == ["Ann", "Ann"]
    assert [step.text for step in fold(BLOCKADE, events).steps] == ["5,1"]


def test_only_the_event_that_completes_a_command_has_its_id(on: Table) -> None:
    see(on, "red:4 yellow:1")
    on.service.carry_out(EnterRoll("5,1", "Ann"), ignore_reply, "hall-1")
    assert [event.data.get("request") for _, event in on.journal.events()[-3:]] == [None, None, "hall-1"]


def test_a_typed_roll_cannot_be_replaced_by_a_second_one(on: Table) -> None:
    on.tell(EnterRoll("5,1", "Ann"))
    assert on.tell(EnterRoll("4,1", "Ben")).refused
    assert on.kinds() == ["new game", "set up", "rolled"]


def test_a_typed_roll_is_the_next_one_if_a_roll_is_awaited(new_journal: Callable[[], Journal]) -> None:
    on = at_first_roll(new_journal(), starts="roll")
    see(on, "red:4 yellow:1")
    assert BLOCKADE.awaits_roll(on.service.belief[0])
    assert not on.tell(EnterRoll("5,1", "Ann")).refused
    assert on.kinds() == ["new game", "set up", "rolled", "rolled"]


def test_after_the_turn_a_typed_roll_is_the_next_players(on: Table) -> None:
    see(on, "red:1 yellow:1")
    turn = BLOCKADE.rules.legal_turns(on.service.belief[0])[0]
    assert not on.tell(EnterTurn(BLOCKADE.notation.format_turn(turn), "Ann")).refused
    before = on.kinds()
    on.tell(EnterRoll("4,1", "Ann"))
    assert on.kinds() == [*before, "rolled"], "it is the next player's roll"


@pytest.mark.parametrize("turn_end", [TurnEnd.TOUCH, TurnEnd.BUTTON])
@pytest.mark.parametrize("player", ["teal", None])
def test_if_touches_end_turns_a_typed_turn_of_the_next_player_ends_the_one_before_it(
    table_set_up: Any, turn_end: TurnEnd, player: str | None
) -> None:
    on = table_set_up(turn_end=turn_end)
    before = on.service.belief
    turn, after = on.play(start="c1", top="hoops")
    state = on.game.rules.apply(before[0], turn)
    on.show(after, 2)
    own = on.game.notation.format_turn(known_turn(on.game, before[0], start="e1", player="gold"))
    following = on.game.notation.format_turn(known_turn(on.game, state, start="e5", player="teal"))
    events = on.kinds()
    assert on.tell(EnterTurn("a4-a5=x", "Bo", player)).refused
    assert (on.service.belief, on.kinds()) == (before, events), "a turn that nobody can play ends nothing"
    reply = on.tell(EnterTurn(following, "Bo", player))
    if turn_end is TurnEnd.BUTTON:
        assert reply.refused
        assert not on.tell(EnterTurn(own, "Ann")).refused
    else:
        assert reply.words.startswith("Teal rolls e5")
        assert [event.data["player"] for _, event in on.journal.events()[-2:]] == ["gold", "teal"]


def test_a_refused_correction_ends_no_turn_and_leaves_its_id_nowhere(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    replies: list[Reply | None] = []
    wrong = Correct("Ann", {"z9": "empty"}, to_move="teal")
    on.service.carry_out(wrong, replies.append, "hall-1")
    assert [reply and reply.refused for reply in replies] == [True]
    assert on.kinds() == ["new game", "set up"]
    assert on.journal.event_of_request("hall-1") is None


@pytest.mark.parametrize("roll", ["9,9", "1", "4,1,1"])
def test_a_roll_that_is_refused_ends_no_turn(new_journal: Callable[[], Journal], roll: str) -> None:
    on = at_first_roll(new_journal(), TurnEnd.TOUCH, starts="warm")
    see(on, "red:1 yellow:1")
    rolled, events = on.service.belief, on.kinds()
    see(on, "red:1 yellow:1", state=moving_turn(rolled[0])[1])
    assert on.tell(EnterRoll(roll, "Ben")).refused
    assert (on.service.belief, on.kinds()) == (rolled, events)


def test_a_visible_roll_ends_a_fault_as_a_typed_one_does(new_journal: Callable[[], Journal]) -> None:
    settings = ServiceSettings(rest_s=1.0, options=OPTIONS)
    on = Table(BLOCKADE, None, new_journal(), settings, ImmediateHints(CountingClock(0.01)))
    on.service.start()
    see(on, "")
    before = on.service.belief[0]
    moved = BLOCKADE.table.appearance(moving_turn(BLOCKADE.dice.rolled(before, Roll(("4", "1"))))[1])
    changed = {place: look for place, look in moved.items() if look != BLOCKADE.table.appearance(before)[place]}
    see(on, "", 3, differing=changed)
    assert present(on.service.shown).kind is VerdictKind.ILLEGAL
    see(on, "red:4 yellow:1", 3, differing=dict.fromkeys(changed, "hidden"))
    assert (on.kinds()[-1], fold(BLOCKADE, on.journal.events()).fault) == ("rolled", None)
    replies: list[Reply | None] = []
    on.service.carry_out(AskHint("Ann"), replies.append)
    assert replies == [], "no square is lit that could be corrected first"


def test_a_typed_turn_of_the_player_to_move_replaces_the_waiting_one(table_set_up: Any) -> None:
    on = table_set_up(turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    own = on.game.notation.format_turn(known_turn(on.game, on.service.belief[0], start="e1", player="gold"))
    assert not on.tell(EnterTurn(own, "Ann")).refused
    assert on.kinds() == ["new game", "set up", "turn"]


@pytest.mark.parametrize("is_plain", [True, False])
def test_if_touches_end_turns_a_typed_roll_ends_the_turn_before_it(
    new_journal: Callable[[], Journal], is_plain: bool
) -> None:
    on = at_first_roll(new_journal(), TurnEnd.TOUCH, starts="warm")
    see(on, "red:1 yellow:1")
    rolled = on.service.belief
    after = moving_turn(rolled[0])[1] if is_plain else moved_alike(rolled[0])
    assert kinds_of(see(on, "red:1 yellow:1", state=after)) == [VerdictKind.NOT_FINISHED]
    reply = on.tell(EnterRoll("4,1", "Ben"))
    if is_plain:
        assert not reply.refused
        assert on.kinds()[-2:] == ["turn", "rolled"]
        assert on.service.belief == (BLOCKADE.dice.rolled(after, Roll(("4", "1"))),)
    else:
        assert reply.refused
        assert reply.words.startswith("This could be more than one turn:")
        assert on.service.belief == rolled, "the roll that was used stands"
        (asked,) = see(on, "red:1 yellow:1", state=after)
        assert (asked.kind, asked.sentence) == (VerdictKind.AMBIGUOUS, reply.words)


Interrupt = Callable[[SensedTable], None]


def hand_over_the_board(table: SensedTable) -> None:
    table.sensors.put("d4", True, table.time_s)
    table.wait(0.2)
    table.sensors.put("d4", False, table.time_s)


def cable_pulled(table: SensedTable) -> None:
    table.sensors.silent = True
    table.wait(12.0)
    table.sensors.silent = False


def nothing_came_for_a_moment(table: SensedTable) -> None:
    table.sensors.heard_s = table.time_s - 2.0
    table.wait(0.2)
    table.sensors.heard_s = None


def camera_gone(table: SensedTable) -> None:
    table.service.say_trouble("The camera is gone.")
    lit = table.lamp.signals[-1]
    assert (lit.mood, lit.words) == (Mood.TROUBLE, "The camera is gone.")
    assert lit.lights
    table.service.end_trouble("The camera is back.")


@pytest.fixture
def asked(deblockle: Any) -> Iterator[SensedTable]:
    """A table with sensors alone that asks about a turn which the switches cannot tell."""
    with ExitStack() as opened:
        journal = opened.enter_context(Journal.in_memory(wall_clock=wall_clock))
        game = deblockle
        settings = ServiceSettings(turn_end=TurnEnd.BUTTON)
        table = SensedTable(game, journal, settings, dict(game.table.appearance(game.rules.new())))
        table.service.start()
        table.wait(4.0)
        turn = game.notation.parse_turn(table.service.belief[0], "c1-b1=x-a2")
        table.carry(game.table.appearance(game.rules.apply(table.service.belief[0], turn)))
        assert [verdict.kind for verdict in table.press()] == [VerdictKind.AMBIGUOUS]
        yield table


@pytest.mark.parametrize("interrupt", [hand_over_the_board, cable_pulled, nothing_came_for_a_moment, camera_gone])
def test_a_question_outlasts_an_interruption(asked: SensedTable, interrupt: Interrupt) -> None:
    question = asked.lamp.signals[-1]
    assert question.mood is Mood.QUESTION
    recorded = asked.kinds()
    interrupt(asked)
    assert asked.wait(6.0) == []
    again = asked.lamp.signals[-1]
    assert (again.mood, again.lights, again.words) == (question.mood, question.lights, question.words)
    assert asked.kinds() == recorded


@pytest.mark.parametrize("interrupt", [cable_pulled, camera_gone])
def test_a_question_can_be_answered_after_an_interruption(asked: SensedTable, interrupt: Interrupt) -> None:
    interrupt(asked)
    asked.service.carry_out_or_raise(EnterTurn("c1-b1=x-a2", "Ann"))
    assert asked.lamp.signals[-1].mood is Mood.ACCEPTED
    asked.wait(4.0)
    assert asked.kinds()[-1] == "turn"


def test_an_accepted_turn_is_not_lit_again_after_the_camera_was_gone(asked: SensedTable) -> None:
    """Somebody may have played without the camera, and would take the light for the acceptance of that turn."""
    asked.service.carry_out_or_raise(EnterTurn("c1-b1=x-a2", "Ann"))
    asked.service.say_trouble("The camera is gone.")
    asked.service.end_trouble("The camera is back.")
    assert [signal.mood for signal in asked.lamp.signals[-3:]] == [Mood.ACCEPTED, Mood.TROUBLE, Mood.WAITING]
    assert asked.lamp.signals[-3].lights
    assert not asked.lamp.signals[-2].lights


def test_a_question_about_a_hidden_square_ends_once_it_is_visible(deblockle: Any) -> None:
    with ExitStack() as opened:
        journal = opened.enter_context(Journal.in_memory(wall_clock=wall_clock))
        looks = dict(deblockle.table.appearance(deblockle.rules.new()))
        table = SensedTable(deblockle, journal, ServiceSettings(turn_end=TurnEnd.BUTTON), looks, with_camera=True)
        table.sensors.stands.pop("c3")
        table.service.start()
        table.wait(4.0)
        table.camera.hidden = frozenset({"c3"})
        assert [verdict.kind for verdict in table.wait(30.0)] == [VerdictKind.AMBIGUOUS]
        hand_over_the_board(table)
        table.camera.hidden = frozenset()
        assert [verdict.kind for verdict in table.wait(4.0)] == [VerdictKind.UNCHANGED]
        assert table.lamp.signals[-1].mood is Mood.WAITING


@pytest.mark.parametrize("turn_end", list(TurnEnd))
def test_a_question_about_an_unreadable_square_goes_out_once_it_can_be_read(
    table_set_up: Any, start: Any, turn_end: TurnEnd
) -> None:
    on = table_set_up(turn_end=turn_end, stall_s=2.0)
    on.show(start, 5, unreadable=("c1",))
    assert on.lamp.signals[-1].mood is Mood.QUESTION
    on.show(start, 2)
    assert (on.service.shown.kind, on.lamp.signals[-1].mood) == (VerdictKind.UNCHANGED, Mood.WAITING)


def test_putting_the_pieces_back_answers_the_question(asked: SensedTable, deblockle: Any) -> None:
    start = deblockle.table.appearance(deblockle.rules.new())
    verdicts = asked.carry(start) + asked.wait(4.0)
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.UNCHANGED]
    assert asked.lamp.signals[-1].mood is Mood.WAITING
