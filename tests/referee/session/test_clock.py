"""The clock at the table: the end of turns, waiting, flags, losses on time, and restarts."""

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.registry import load
from hardware.lights.signals import Mood, Sound
from journal.journal import Journal
from referee.clocks import ClockFace, FlagRule, TimeControl, read_control
from referee.commands.values import Announce, Correct, EnterTurn, NewGame, Overrule, PauseClock, Reply, TakeBack
from referee.judge.verdict import VerdictKind
from referee.record.fold import fold
from referee.record.results import event_lines
from referee.session.ports import ServiceSettings, TurnEnd
from tests.referee.service_table import FPS, Table, wall_clock
from vision.reading import Hindrance, HindranceKind

FRAME_S = 1 / FPS


def control(text: str, *, flag: FlagRule = FlagRule.SAID, waits: bool = True) -> TimeControl:
    read = read_control(text, flag=flag, waits=waits)
    assert read is not None
    return read


def begun(table: Callable[..., Any], start: Any, text: str, **settings: Any) -> Any:
    """A table with a clock, just set up: gold's time runs."""
    rules = {key: settings.pop(key) for key in ("flag", "waits") if key in settings}
    on = table(clock=control(text, **rules), **settings)
    on.service.start()
    while not on.service.belief:
        on.show(start, FRAME_S)
    return on


def face(on: Any) -> ClockFace:
    """The clock's current face."""
    told: ClockFace = on.snapshots[-1].clock
    return told.after(on.sequence / FPS - told.time_s)


def left(on: Any) -> tuple[float, float]:
    shown = face(on)
    return round(shown.remaining_s["gold"], 3), round(shown.remaining_s["teal"], 3)


def agrees_with_journal(on: Any) -> bool:
    """Whether the clock agrees with the fold of the journal."""
    folded = fold(on.game, on.journal.events()).clock.face(on.sequence / FPS)
    assert folded is not None
    return dict(folded.remaining_s) == pytest.approx(dict(face(on).remaining_s), abs=1e-6)


def test_a_game_without_a_clock_shows_none(on: Any) -> None:
    assert on.snapshots[-1].clock is None
    assert on.tell(PauseClock("Ann")).refused
    assert "clock" not in on.kinds()


def test_a_single_game_can_go_without_the_clock_of_the_settings(table: Any, start: Any) -> None:
    on = begun(table, start, "fischer 5+3")
    assert not on.tell(NewGame("deblockle", clock="none")).refused
    assert on.snapshots[-1].clock is None
    assert "clock" not in on.journal.events(2)[0][1].data
    on.show(start, 5)
    assert on.snapshots[-1].clock is None
    assert not on.tell(NewGame("deblockle")).refused
    on.show(start, 5)
    assert face(on).control == "fischer 5+3"


def test_the_house_rules_hold_for_a_clock_that_a_new_game_names(table: Any, start: Any) -> None:
    on = table(flag=FlagRule.LOSES, clock_waits=False)
    on.service.start()
    assert not on.tell(NewGame("deblockle", clock="game 0.1")).refused
    on.show(start, 9)
    assert on.snapshots[-1].outcome.reason == "gold's time is up"
    assert on.journal.events(2)[0][1].data["clock"]["waits"] is False


def test_the_clock_runs_from_the_set_up_and_is_recorded_every_ten_seconds(table: Any, start: Any) -> None:
    on = begun(table, start, "game 1")
    assert left(on) == (60, 60)
    on.show(start, 25)
    assert left(on) == (35, 60)
    assert face(on).running == ("gold",)
    recorded_s = [event.frame_time_s for _, event in on.journal.events() if event.frame_time_s is not None]
    waits_s = [later - earlier for earlier, later in itertools.pairwise(recorded_s)]
    assert waits_s == pytest.approx([10, 10], abs=1.1 * FRAME_S)


def test_a_command_is_refused_after_any_change_but_the_clocks(table: Any, start: Any) -> None:
    on = begun(table, start, "game 5")
    seen = on.snapshots[-1].event_number
    on.show(start, 25)
    assert on.kinds()[seen:] == ["clock", "clock"]
    turns = [on.game.notation.format_turn(turn) for turn in on.game.rules.legal_turns(on.service.belief[0])]
    assert not on.tell(EnterTurn(turns[0], "Ann"), seen).refused
    told, newest = on.tell(TakeBack("Ben"), seen), len(on.journal.events())
    assert (told.refused, told.words) == (True, "The table has changed meanwhile. Check it, then try again.")
    assert on.tell(TakeBack("Ben"), newest + 1).refused, "no such event yet"
    assert len(on.journal.events()) == newest
    assert on.snapshots[-1].event_number == newest
    assert not on.tell(TakeBack("Ben"), newest).refused


def test_a_turn_takes_time_until_it_is_complete_on_the_table_not_until_its_verdict(table: Any, start: Any) -> None:
    on = begun(table, start, "fischer 1+2")
    on.show(start, 5)
    _, after = on.play(start="c1", top="hoops")
    verdicts = on.show(after, 3)
    (accepted,) = [verdict for verdict in verdicts if verdict.kind is VerdictKind.ACCEPTED]
    # First seen a frame after 5 s, and accepted only once it has rested.
    assert left(on) == pytest.approx((60 - 5.1 + 2, 60 - 2.9))
    assert accepted.time_s > on.sequence / FPS - 2.9
    assert agrees_with_journal(on)


def test_if_a_press_ends_turns_the_time_of_the_press_counts(table: Any, start: Any) -> None:
    on = begun(table, start, "game 1", turn_end=TurnEnd.BUTTON)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 4)
    on.service.end_turn()
    on.show(after, 1)
    assert left(on) == (56, 59)


def test_if_a_touch_ends_turns_the_opponent_thinks_on_their_own_time(table: Any, start: Any) -> None:
    on = begun(table, start, "game 1", turn_end=TurnEnd.TOUCH)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 10)
    state = on.game.rules.apply(on.service.belief[0], on.play(start="c1", top="hoops")[0])
    turn = next(turn for turn in on.game.rules.legal_turns(state) if turn.player == "teal")
    on.show(on.game.table.appearance(on.game.rules.apply(state, turn)), 2)
    assert "turn" in on.kinds()
    gold, teal = left(on)
    assert gold == pytest.approx(59.9)
    assert teal == pytest.approx(48.1)


def test_a_person_can_pause_and_resume_the_clock(table: Any, start: Any) -> None:
    on = begun(table, start, "game 1")
    on.show(start, 2)
    assert on.tell(PauseClock("Ann")).words == "Ann stops the clock."
    assert on.tell(PauseClock("Ann")).refused
    on.show(start, 20)
    assert left(on) == (58, 60)
    assert face(on).paused == "somebody paused it"
    assert not on.tell(PauseClock("Ann", resume=True)).refused
    assert on.tell(PauseClock("Ann", resume=True)).refused
    on.show(start, 3)
    assert left(on) == (55, 60)
    assert agrees_with_journal(on)


@pytest.mark.parametrize("waits", [True, False])
def test_the_clock_waits_while_the_table_is_hidden_if_configured(table: Any, start: Any, waits: bool) -> None:
    on = begun(table, start, "game 2", waits=waits, patience_s=1.0)
    lost = (Hindrance(HindranceKind.NOT_LOCATED, "the board was not found"),)
    on.show(start, 10, hindrances=lost)
    on.show(start, 2)
    gold, _ = left(on)
    assert gold == pytest.approx(120 - 12 + (10 - 1 if waits else 0), abs=1)
    assert face(on).paused == ""
    assert agrees_with_journal(on)


def test_nothing_happens_to_the_clock_after_the_end_of_the_game(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2", patience_s=1.0)
    on.show(start, 2, hindrances=(Hindrance(HindranceKind.NOT_LOCATED, "the board was not found"),))
    assert face(on).paused
    on.tell(Announce("gold:resign", "Ann"))
    on.show(start, 2)
    on.service.say_trouble("The camera is gone.")
    assert on.tell(PauseClock("Ann")) == Reply("the game is over, so its clock has stopped", refused=True)
    assert on.kinds()[-1] == "end"


def test_a_hand_over_the_table_does_not_stop_the_clock(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2", patience_s=1.0)
    on.hand(start, 10)
    assert left(on)[0] == 110


def test_the_clock_waits_while_the_camera_is_disconnected(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2")
    on.show(start, 1)
    on.service.lose_sight()
    on.service.say_trouble("The camera is gone.")
    on.sequence += 300
    on.service.end_trouble("The camera is back.")
    on.show(start, 1)
    assert left(on)[0] == pytest.approx(118, abs=0.11)


def test_a_fallen_flag_is_reported_and_recorded_and_the_game_goes_on(table: Any, start: Any) -> None:
    on = begun(table, start, "game 0.1")
    on.show(start, 8)
    assert left(on) == (0, 6)
    assert face(on).fallen == ("gold",)
    assert on.said == ["Gold's time is up: the flag has fallen."]
    assert on.kinds().count("clock") == 1
    assert Sound.FAULT in [signal.sound for signal in on.lamp.signals]
    assert not on.service.finished
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    assert face(on).running == ("teal",)


def test_a_fallen_flag_loses_if_configured_until_a_person_takes_it_back(table: Any, start: Any) -> None:
    on = begun(table, start, "game 0.1", flag=FlagRule.LOSES)
    on.show(start, 8)
    assert on.service.finished
    outcome = on.snapshots[-1].outcome
    assert (outcome.winner, outcome.reason) == ("teal", "gold's time is up")
    assert on.snapshots[-1].signal.words == "Teal wins: gold's time is up."
    assert fold(on.game, on.journal.events()).outcome == outcome
    assert face(on).running == ()
    assert on.tell(TakeBack("Ann")) == Reply("Gold loses on time. That is taken back.")
    on.show(start, 1)
    assert not on.service.finished
    assert on.snapshots[-1].outcome is None
    assert face(on).running == ("gold",)


def test_a_solo_game_lost_on_time_was_given_up(make_reading: Any, new_journal: Callable[[], Journal]) -> None:
    game = load("number-drop")
    rules = ServiceSettings(options={"players": 1}, clock=control("game 0.1", flag=FlagRule.LOSES, waits=False))
    on = Table(game, make_reading, new_journal(), rules)
    on.service.start()
    on.tell(Correct("Ann", {}, game.notation.format_state(game.rules.new({"players": 1}))))
    on.show({}, 9)
    assert on.service.finished
    assert "The game was given up: p1's time is up." in [signal.words for signal in on.lamp.signals]
    assert fold(game, on.journal.events()).outcome == on.snapshots[-1].outcome


def test_a_turn_completed_before_the_flag_fell_is_in_time(table: Any, start: Any) -> None:
    on = begun(table, start, "fischer 0.1+1", flag=FlagRule.LOSES, rest_s=3.0)
    on.show(start, 5)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 4)
    assert not on.service.finished
    assert left(on)[0] == pytest.approx(6 - 5.1 + 1)
    assert face(on).fallen == ()


def test_a_turn_completed_after_the_flag_fell_is_too_late(table: Any, start: Any) -> None:
    on = begun(table, start, "fischer 0.1+1", flag=FlagRule.LOSES, rest_s=3.0)
    on.show(start, 5)
    _, after = on.play(start="c1", top="hoops")
    on.hand(after, 1.2)
    assert not on.service.finished
    on.show(after, 1)
    assert on.service.finished


def seconds_left(on: Any, seconds: float) -> float:
    """How many seconds to wait until gold has this many left."""
    return left(on)[0] - seconds


def test_a_finished_turn_is_in_time_while_the_next_player_reaches_over_the_table(table: Any, start: Any) -> None:
    on = begun(table, start, "game 0.1", flag=FlagRule.LOSES, turn_end=TurnEnd.TOUCH)
    on.show(start, seconds_left(on, 1))
    turn, after = on.play(start="c1", top="hoops")
    on.show(after, 2)
    on.hand(after, 2)
    assert (on.service.finished, face(on).fallen) == (False, ())
    state = on.game.rules.apply(on.service.belief[0], turn)
    later = next(turn for turn in on.game.rules.legal_turns(state) if turn.player == "teal")
    on.show(on.game.table.appearance(on.game.rules.apply(state, later)), 1)
    assert (on.kinds()[-1], face(on).fallen) == ("turn", ())
    assert left(on) == pytest.approx((1 - FRAME_S, 6 - 5 + FRAME_S))


@pytest.mark.parametrize("rested_s", [0.5, 1.5])
def test_a_turn_complete_before_the_flag_fell_is_in_time_although_a_hand_comes(
    table: Any, start: Any, rested_s: float
) -> None:
    on = begun(table, start, "game 0.2", flag=FlagRule.LOSES, rest_s=3.0)
    _, after = on.play(start="c1", top="hoops")
    on.show(start, seconds_left(on, 1))
    on.show(after, rested_s)
    on.hand(after, 3)
    assert (on.service.finished, face(on).fallen) == (False, ())
    on.show(after, 4)
    assert (on.kinds()[-1], face(on).fallen) == ("turn", ())
    assert left(on)[0] == pytest.approx(1 - FRAME_S)


def test_a_turn_changed_after_the_flag_fell_is_too_late(table: Any, start: Any) -> None:
    on = begun(table, start, "game 0.1", flag=FlagRule.LOSES, rest_s=3.0)
    _, after = on.play(start="c1", top="hoops")
    on.show(start, seconds_left(on, 1))
    on.show(after, 1.5)
    on.hand(after, 2)
    assert not on.service.finished
    _, other = on.play(start="e1")
    on.show(other, 1)
    assert on.service.finished


def test_a_press_before_the_flag_fell_is_in_time_although_the_hand_leaves_later(table: Any, start: Any) -> None:
    on = begun(table, start, "game 0.1", flag=FlagRule.LOSES, turn_end=TurnEnd.BUTTON)
    _, after = on.play(start="c1", top="hoops")
    on.show(start, seconds_left(on, 1))
    on.hand(after, 0.7)
    on.service.end_turn()
    on.hand(after, 2)
    assert (on.service.finished, face(on).fallen) == (False, ())
    on.show(after, 1)
    assert (on.kinds()[-1], face(on).fallen) == ("turn", ())
    assert left(on)[0] == pytest.approx(0.3)


def test_a_press_before_the_flag_fell_saves_nobody_without_a_turn(table: Any, start: Any) -> None:
    on = begun(table, start, "game 0.1", flag=FlagRule.LOSES, turn_end=TurnEnd.BUTTON)
    on.show(start, seconds_left(on, 0.5))
    on.hand(start, 0.2)
    on.service.end_turn()
    on.hand(start, 1)
    assert not on.service.finished
    on.show(start, 1)
    assert on.service.finished


def test_a_take_back_restores_the_time(table: Any, start: Any) -> None:
    on = begun(table, start, "fischer 1+5")
    on.show(start, 2)
    _, after = on.play(start="c1", top="hoops")
    on.show(after, 10)
    assert left(on) == pytest.approx((60 - 2.1 + 5, 60 - 9.9))
    on.tell(TakeBack("Ann"))
    assert left(on) == pytest.approx((60 - 2.1, 60))
    on.show(start, 3)
    assert left(on) == pytest.approx((60 - 5.1, 60))
    assert agrees_with_journal(on)


def test_the_time_of_a_typed_turn_is_when_it_was_typed(table: Any, start: Any) -> None:
    on = begun(table, start, "delay 1+2")
    on.show(start, 5)
    turn, _ = on.play(start="c1", top="hoops")
    on.tell(EnterTurn(on.game.notation.format_turn(turn), "Ann"))
    assert left(on) == (57, 60)


def test_the_end_stops_the_clock(table: Any, start: Any) -> None:
    on = begun(table, start, "game 1")
    on.show(start, 2)
    on.tell(Announce("resign", "Ann"))
    on.show(start, 5)
    assert left(on) == (58, 60)
    assert face(on).running == ()


def test_a_restart_keeps_the_times_and_the_pause_counts_for_nobody(
    table: Any, table_set_up: Any, start: Any, tmp_path: Path
) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table_set_up(journal, clock=control("fischer 2+5"))
        _, after = on.play(start="c1", top="hoops")
        on.show(after, 31)
        killed = left(on)
    with Journal.open(path, wall_clock=wall_clock) as journal:
        # Frame times count from the start of the machine, which may have been restarted.
        for first_frame in (5, 50_000):
            again = table(journal)
            again.service.start()
            again.sequence = first_frame
            again.show(after, FRAME_S)
            gold, teal = left(again)
            assert gold == killed[0]
            # A running clock is recorded in the journal every ten seconds.
            assert killed[1] <= teal <= killed[1] + 10.1
            killed = (gold, teal)
        again.show(after, 3)
        assert left(again) == pytest.approx((killed[0], killed[1] - 3))
        assert agrees_with_journal(again)


def test_a_restart_before_the_set_up_takes_no_time(table: Any, start: Any, tmp_path: Path) -> None:
    path = tmp_path / "journal.sqlite"
    with Journal.open(path, wall_clock=wall_clock) as journal:
        on = table(journal, clock=control("game 2"))
        on.service.start()
        on.sequence = 50_000
        on.show({**start, "c1": "empty"}, 3)
        assert on.kinds() == ["new game", "illegal"]
    for first_frame in (5, 50):
        with Journal.open(path, wall_clock=wall_clock) as journal:
            again = table(journal)
            again.service.start()
            # Frame times count from the start of the machine, which was restarted.
            again.sequence = first_frame
            while not again.service.belief:
                again.show(start, FRAME_S)
            again.show(start, FRAME_S)
            assert left(again) == pytest.approx((120, 120), abs=0.2)


def test_the_answer_that_all_is_as_believed_lets_the_clock_run_again(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2")
    ghost = {**start, "g4": "teal block, stop up"}
    on.show(ghost, 3)
    assert face(on).paused == "a question is open"
    gold = left(on)[0]
    on.tell(Overrule(("g4",), "Ann"))
    assert on.lamp.moods[-1] is Mood.WAITING
    on.show(ghost, 10)
    assert left(on)[0] == pytest.approx(gold - 10, abs=0.2)


def test_the_clock_runs_again_once_the_table_can_be_seen_although_a_place_is_set_aside(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2", patience_s=1.0)
    coin = {"g4": "teal block, stop up"}
    on.show({**start, **coin}, 3)
    on.tell(Overrule(("g4",), "Ann"))
    _, after = on.play(start="c1", top="hoops")
    on.show({**after, **coin}, 3)
    on.show({**after, **coin}, 5, hindrances=(Hindrance(HindranceKind.NOT_LOCATED, "the board was not found"),))
    assert face(on).paused == "the table can't be seen"
    on.show({**after, **coin}, 2)
    assert face(on).paused == ""
    assert on.service.shown.kind is VerdictKind.UNCHANGED


def test_the_clock_pauses_while_a_table_with_a_fault_cannot_be_seen(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2", patience_s=1.0)
    wrong = {**start, "e5": "empty", "a4": start["e5"]}
    on.show(wrong, 3)
    assert (on.service.shown.kind, face(on).paused) == (VerdictKind.ILLEGAL, "")
    on.show(wrong, 3, hindrances=(Hindrance(HindranceKind.NOT_LOCATED, "the board was not found"),))
    assert (on.service.shown.kind, face(on).paused) == (VerdictKind.ILLEGAL, "the table can't be seen")
    on.show(wrong, 3)
    assert face(on).paused == ""


def test_a_question_stops_the_clock(table: Any, start: Any) -> None:
    on = begun(table, start, "game 2", stall_s=2.0)
    on.show(start, 4, unreadable=("c1",))
    assert face(on).paused == "a question is open"
    gold = left(on)[0]
    on.show(start, 10, unreadable=("c1",))
    assert left(on)[0] == gold
    on.show(start, 5)
    assert face(on).paused == ""


def test_turns_accepted_together_were_complete_at_times_of_their_own(table: Any, start: Any) -> None:
    on = begun(table, start, "game 5", turn_end=TurnEnd.TOUCH)
    turn, after = on.play(start="c1", top="hoops")
    on.show(after, 100)
    later = next(turn for turn in on.game.rules.legal_turns(on.game.rules.apply(on.service.belief[0], turn)))
    both = on.game.table.appearance(on.game.rules.apply(on.game.rules.apply(on.service.belief[0], turn), later))
    on.hand(both, 1)
    on.service.end_turn()
    on.show(both, 1)
    assert on.kinds().count("turn") == 2
    assert left(on) == pytest.approx((300 - 1, 300 - 101), abs=0.2)


def test_a_pause_after_a_turn_was_complete_costs_its_player_nothing(table: Any, start: Any) -> None:
    on = begun(table, start, "game 5", turn_end=TurnEnd.TOUCH)
    turn, after = on.play(start="c1", top="hoops")
    on.show(after, 100)
    on.tell(PauseClock("Ann"))
    on.show(after, 30)
    on.tell(PauseClock("Ann", resume=True))
    state = on.game.rules.apply(on.service.belief[0], turn)
    later = next(turn for turn in on.game.rules.legal_turns(state))
    on.show(on.game.table.appearance(on.game.rules.apply(state, later)), 1)
    assert on.kinds().count("turn") == 1
    assert left(on) == pytest.approx((300, 300 - 101), abs=0.2)
    assert agrees_with_journal(on)


def lost_on_time(table: Callable[..., Any], start: Any) -> Any:
    """A game that gold has just lost on time."""
    on = table(clock=read_control("game 0.1", flag=FlagRule.LOSES))
    on.service.start()
    on.show(start, 10)
    assert on.kinds()[-2:] == ["announced", "end"]
    return on


def test_a_turn_typed_after_the_flag_fell_saves_nobody(table: Callable[..., Any], start: Any) -> None:
    on = table(clock=read_control("game 0.1", flag=FlagRule.LOSES))
    on.service.start()
    on.show(start, 2)
    turn, after = on.play(start="c1", top="hoops")
    on.hand(after, 5)
    assert on.kinds() == ["new game", "set up"], "the table is not at rest"
    assert not on.tell(EnterTurn(on.game.notation.format_turn(turn), "Ann")).refused
    on.show(after, 0.1)
    assert on.snapshots[-1].outcome.reason == "gold's time is up"


def test_a_loss_on_time_is_told_as_one(table: Callable[..., Any], start: Any) -> None:
    on = lost_on_time(table, start)
    assert event_lines(on.game, on.journal.events())[-2].sentence == "Gold loses on time."
    assert on.tell(TakeBack("Ben")).words == "Gold loses on time. That is taken back."
    assert event_lines(on.game, on.journal.events())[-1].sentence == "Gold loses on time. Taken back by Ben"


def test_a_loss_on_time_whose_end_a_power_cut_took_is_still_one(
    table: Callable[..., Any], start: Any, new_journal: Callable[[], Journal]
) -> None:
    cut = new_journal()
    for _, event in lost_on_time(table, start).journal.events()[:-1]:
        cut.append(event)
    again = table(cut)
    again.service.start()
    (end,) = [event for _, event in cut.events() if event.kind == "end"]
    assert end.data["reason"] == "gold's time is up"
    assert "Teal wins: gold's time is up." in again.said
