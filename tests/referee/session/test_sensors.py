"""The service with sensors, alone or beside a camera; each sheet is judged when its writer's hand has gone."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import pytest

from engine.registry import load
from engine.search.budget import CountingClock
from engine.support.players import who_plays
from hardware.lights.signals import Mood, Sound
from journal.journal import Journal
from referee.clocks import FlagRule, TimeControl, read_control
from referee.commands.values import Announce, Correct, EnterRoll, EnterTurn, NewGame, Reply, TakeBack
from referee.hints.opponent import ImmediateHints, Opponent, OpponentSettings
from referee.judge.verdict import Verdict, VerdictKind
from referee.record.events import Event, EventKind
from referee.record.fold import fold
from referee.session.ports import ServiceSettings, TurnEnd
from referee.session.service import Service
from referee.session.timekeeper import NOBODY_LOSES
from tests.referee.judge.drawn import drawn
from tests.referee.judge.test_sheets import may_loop
from tests.referee.sensed_table import SensedTable
from tests.referee.service_table import FPS, Table, kinds_of, wall_clock
from vision.errors import FrameError, NotLocatedError
from vision.reading import Hindrance, HindranceKind, PlaceReading, uniform_reading

BUTTON = ServiceSettings(turn_end=TurnEnd.BUTTON)
REST = ServiceSettings(turn_end=TurnEnd.REST, rest_s=2.0)


@pytest.fixture
def journal() -> Iterator[Journal]:
    with ExitStack() as opened:
        yield opened.enter_context(Journal.in_memory(wall_clock=wall_clock))


def begun(game: Any, journal: Journal, settings: ServiceSettings, *, with_camera: bool = False) -> SensedTable:
    table = SensedTable(game, journal, settings, dict(game.table.appearance(game.rules.new())), with_camera=with_camera)
    table.service.start()
    verdicts = table.wait(4.0)
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.SET_UP]
    return table


def unique_turn(game: Any, state: Any) -> Any:
    """A turn that moves one piece to an empty square, with occupied places as after no other turn."""
    taken: dict[frozenset[str], list[Any]] = {}
    for turn in game.rules.legal_turns(state):
        looks = game.table.appearance(game.rules.apply(state, turn))
        taken.setdefault(frozenset(place for place in looks if looks[place] != "empty"), []).append(turn)
    return next(turns[0] for turns in taken.values() if len(turns) == 1)


def test_the_usual_start_is_assumed_and_reported(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, BUTTON)
    assert any("usual start" in said for said in table.said)
    assert table.kinds() == ["new game", "set up", "note"]


def test_a_remark_after_the_set_up_refuses_no_command_of_those_who_saw_the_set_up(
    deblockle: Any, journal: Journal
) -> None:
    table = begun(deblockle, journal, BUTTON)
    (set_up,) = [number for number, event in journal.events() if event.kind == "set up"]
    assert table.kinds()[-1] == "note"
    turn = deblockle.notation.format_turn(unique_turn(deblockle, table.service.belief[0]))
    replies: list[Reply | None] = []
    table.service.carry_out(EnterTurn(turn, "Ann", seen=set_up), replies.append)
    assert [reply and reply.refused for reply in replies] == [False]


def test_a_question_is_answered_by_typing_the_turn_and_the_game_goes_on(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, BUTTON)
    state = table.service.belief[0]
    turn = deblockle.notation.parse_turn(state, "c1-b1=x-a2")
    looks = deblockle.table.appearance(deblockle.rules.apply(state, turn))
    assert table.carry(looks) == []
    verdicts = table.press()
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.AMBIGUOUS]
    assert "c1-b1=x-a2" in verdicts[0].candidates
    assert "a touch on c1 and a2" in verdicts[0].sentence
    table.service.carry_out_or_raise(EnterTurn("c1-b1=x-a2", "Ann"))
    assert {verdict.kind for verdict in table.wait(5.0)} <= {VerdictKind.UNCHANGED}
    folded = fold(deblockle, journal.events(table.service.game_number))
    assert [step.text for step in folded.steps] == ["c1-b1=x-a2"]


def test_a_stop_is_sensed_and_the_turn_counts(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, BUTTON)
    table.service.carry_out_or_raise(Correct("Ann", position=deblockle.notation.format_state(deblockle.rules.new())))
    table.wait(4.0)
    state = table.service.belief[0]
    turn = unique_turn(deblockle, state)
    table.carry(deblockle.table.appearance(deblockle.rules.apply(state, turn)), stops=turn.places[1:-1])
    verdicts = table.press()
    assert verdicts[0].kind is VerdictKind.ACCEPTED
    assert verdicts[0].turns == (deblockle.notation.format_turn(turn),)


def test_a_table_with_a_lifted_piece_is_not_at_rest(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, REST)
    table.sensors.put("c1", False, table.time_s)
    assert table.wait(1.2) == []
    assert table.service.reading is not None
    assert table.service.reading.hindered_by(HindranceKind.HAND) is not None
    table.sensors.put("c1", True, table.time_s)
    table.wait(4.0)
    assert table.kinds() == ["new game", "set up", "note"]


def test_moves_of_diaballik_are_asked_about_because_of_passes_and_answered_by_typing(
    diaballik: Any, journal: Journal
) -> None:
    table = begun(diaballik, journal, BUTTON)
    rng = random.Random(3)
    for _ in range(4):
        state = table.service.belief[0]
        moves = [
            turn
            for turn in diaballik.rules.legal_turns(state)
            if "*" not in diaballik.notation.format_turn(turn) and len(turn.places) == 2
        ]
        turn = rng.choice(moves)
        table.carry(diaballik.table.appearance(diaballik.rules.apply(state, turn)))
        verdicts = table.press()
        assert [verdict.kind for verdict in verdicts] == [VerdictKind.AMBIGUOUS]
        assert diaballik.notation.format_turn(turn) in verdicts[0].candidates
        table.service.carry_out_or_raise(EnterTurn(diaballik.notation.format_turn(turn), "Ann"))
        table.wait(3.0)
    assert table.kinds().count("turn") == 4


def test_a_camera_and_sensors_play_diaballik_with_a_square_covered(diaballik: Any, journal: Journal) -> None:
    """A square under a cup is asked about by a camera alone; a sensor under it tells that the piece arrived."""
    table = begun(diaballik, journal, BUTTON, with_camera=True)
    state = table.service.belief[0]
    turn = diaballik.notation.parse_turn(state, "c1-c2")
    table.camera.hidden = frozenset({"c2"})
    table.carry(diaballik.table.appearance(diaballik.rules.apply(state, turn)))
    verdicts = table.press()
    assert verdicts[0].turns == ("c1-c2",)


def test_sensors_continue_alone_when_the_camera_loses_the_table(diaballik: Any, journal: Journal) -> None:
    table = begun(diaballik, journal, BUTTON, with_camera=True)
    state = table.service.belief[0]
    for trouble in (
        NotLocatedError("no marker was found"),
        FrameError("black"),
        Hindrance(HindranceKind.MOVED_CAMERA, "it moves"),
    ):
        table.camera.trouble = trouble
        table.wait(4.0)
        assert table.service.reading is not None
        assert set(table.service.reading.places) == set(diaballik.places)
        table.camera.trouble = None
        table.wait(1.0)
    assert sum("the sensors alone" in said for said in table.said) == 3
    table.camera.trouble = NotLocatedError("no marker was found")
    table.wait(4.0)
    table.carry(diaballik.table.appearance(diaballik.rules.apply(state, diaballik.notation.parse_turn(state, "c1-c2"))))
    verdicts = table.press()
    assert verdicts[-1].kind is VerdictKind.AMBIGUOUS
    assert "c1-c2" in verdicts[-1].candidates
    assert "turn" not in table.kinds()


def test_no_set_up_is_taken_from_sensors_if_the_camera_never_saw_the_table(diaballik: Any, journal: Journal) -> None:
    table = SensedTable(
        diaballik, journal, BUTTON, dict(diaballik.table.appearance(diaballik.rules.new())), with_camera=True
    )
    table.camera.trouble = NotLocatedError("no marker was found")
    table.service.start()
    assert [verdict.kind for verdict in table.wait(8.0)] == [VerdictKind.CANNOT_SEE]
    assert table.service.belief == ()


def test_silent_sensors_are_reported_and_waited_for(deblockle: Any, journal: Journal) -> None:
    table = begun(deblockle, journal, REST)
    table.sensors.silent = True
    verdicts = table.wait(8.0)
    assert [verdict.kind for verdict in verdicts] == [VerdictKind.CANNOT_SEE]
    assert "No sensor can be read" in verdicts[0].sentence
    table.sensors.silent = False
    table.wait(2.0)
    assert table.service.shown is not None
    assert table.service.shown.kind is VerdictKind.UNCHANGED


def test_a_sensor_stuck_closed_is_found_reported_recorded_and_ignored(diaballik: Any, journal: Journal) -> None:
    table = begun(diaballik, journal, BUTTON, with_camera=True)
    table.sensors.stuck["c2"] = True
    for text in ("c1-c2", "g7-g6", "c2-c3", "g6-g7", "c3-c2", "g7-g6", "c2-c1", "g6-g7", "c1-c2", "g7-g6", "c2-c3"):
        state = table.service.belief[0]
        table.carry(
            diaballik.table.appearance(diaballik.rules.apply(state, diaballik.notation.parse_turn(state, text)))
        )
        verdicts = table.press()
        assert verdicts[0].turns == (text,)
    told = [said for said in table.said if "sensor under c2" in said]
    assert len(told) == 1
    assert told[0].startswith('The sensor under c2 has said "occupied" through three turns that emptied it')
    assert told[0].endswith("I go on without it. `./run hardware sensors` shows them.")
    assert table.health.out == {"c2"}
    notes = [event.data["sentence"] for _, event in journal.events() if event.kind == "note"]
    assert told[0] in notes
    assert table.service.reading is not None
    assert table.service.reading.places["c2"].sensed is None


def test_an_empty_board_is_waited_for_without_an_alarm_until_a_press(deblockle: Any, journal: Journal) -> None:
    start = dict(deblockle.table.appearance(deblockle.rules.new()))
    table = SensedTable(deblockle, journal, BUTTON, dict.fromkeys(start, "empty"))
    table.service.start()
    assert table.wait(10.0) == []
    assert {(signal.mood, signal.sound) for signal in table.lamp.signals} == {(Mood.LOOKING, Sound.SILENCE)}
    assert table.service.shown is None
    assert [verdict.kind for verdict in table.press()] == [VerdictKind.ILLEGAL]
    table.carry(start)
    assert VerdictKind.SET_UP in [verdict.kind for verdict in table.wait(6.0)]


NUMBER_DROP: Any = load("number-drop")
OPTIONS = {"players": 3}
P2_TURN = "a1=1,b1=2,c1=4,d1=6"
P2_DOUBTFUL = ("p2.a1", "p2.b1")
HAND = HindranceKind.HAND
ONE_OR_TWO = PlaceReading({**dict.fromkeys(NUMBER_DROP.looks, 0.0), "digit 1": 0.5, "digit 2": 0.5})
SHAPE = {"a1": "digit 1", "b1": "digit 2", "c1": "digit 4", "d1": "digit 6"}


def written(player: str) -> dict[str, str]:
    """What a player wrote after the roll 1, 2, 4, 6, I."""
    return {f"{player}.{cell}": look for cell, look in SHAPE.items()}


def see(
    on: Table,
    looks: Mapping[str, str],
    under_hands: Sequence[str] = (),
    seconds: float = 2.0,
    doubtful: Sequence[str] = (),
) -> list[Verdict]:
    """Show the sheets with these looks, hands over some players' sheets, and places that show a 1 or a 2."""
    verdicts: list[Verdict] = []
    for _ in range(round(seconds * 10)):
        frame = on.frame()
        state = on.service.belief[0] if on.service.belief else NUMBER_DROP.rules.new(OPTIONS)
        (reading,) = drawn(NUMBER_DROP, state, looks, readings=1)
        unseen = uniform_reading(tuple(NUMBER_DROP.looks), HAND)
        covered = [place for place in reading.places if place.partition(".")[0] in under_hands]
        places = {**reading.places, **dict.fromkeys(covered, unseen), **dict.fromkeys(doubtful, ONE_OR_TWO)}
        hands = (Hindrance(HAND, "a hand or arm is over the sheet"),) if under_hands else ()
        on.reader.following = replace(
            reading, places=places, hindrances=hands, time_s=frame.time_s, sequence=frame.sequence
        )
        verdicts += on.service.step(frame)
    return verdicts


def at_roll(journal: Journal, turn_end: TurnEnd = TurnEnd.REST, clock: TimeControl | None = None) -> Table:
    """Three players who have set up, and rolled 1, 2, 4, 6, I."""
    table = Table(
        NUMBER_DROP, None, journal, ServiceSettings(rest_s=1.0, options=OPTIONS, turn_end=turn_end, clock=clock)
    )
    table.service.start()
    assert kinds_of(see(table, {})) == [VerdictKind.SET_UP]
    draw = NUMBER_DROP.dice.possible_rolls(table.service.belief[0])[0].roll
    table.tell(EnterRoll(",".join(draw.faces), "p1"))
    for player in ("p1", "p2", "p3"):
        table.tell(EnterTurn(f"g1={player[1]}", player, player))
    table.tell(EnterRoll("1,2,4,6,I", "p1"))
    see(table, {})
    return table


@pytest.fixture
def on(new_journal: Callable[[], Journal]) -> Table:
    return at_roll(new_journal())


def accepted(verdicts: Sequence[Verdict]) -> list[str]:
    return [one.sentence for one in verdicts if one.kind is VerdictKind.ACCEPTED]


def test_a_sheet_is_judged_while_hands_are_over_others(on: Table) -> None:
    assert see(on, written("p1"), ["p1", "p2", "p3"]) == []
    assert see(on, written("p1"), ["p2", "p3"], 0.9) == [], "it has not rested for long enough"
    assert accepted(see(on, written("p1"), ["p2", "p3"])) == ["p1 drops 1 on a1, 2 on b1, 4 on c1, 6 on d1."]
    both = written("p1") | written("p3")
    assert accepted(see(on, both, ["p2"])) == ["p3 drops 1 on a1, 2 on b1, 4 on c1, 6 on d1."]
    assert accepted(see(on, both | written("p2"))) == ["p2 drops 1 on a1, 2 on b1, 4 on c1, 6 on d1."]
    assert fold(NUMBER_DROP, on.journal.events()).states == on.service.belief


def test_a_hand_over_the_own_sheet_keeps_it_from_being_judged(on: Table) -> None:
    assert accepted(see(on, written("p1"), ["p1"], 4.0)) == []


def test_a_sheet_rests_by_itself_while_hands_come_and_go_over_others(on: Table) -> None:
    verdicts = [one for number in range(5) for one in see(on, written("p1"), ["p2", "p3"][: number % 2 + 1], 0.3)]
    assert len(accepted(verdicts)) == 1


def test_faults_wait_until_all_hands_have_gone(on: Table) -> None:
    wrong = written("p1") | {"p1.d1": "digit 7 99.9%"}
    assert VerdictKind.ILLEGAL not in kinds_of(see(on, wrong, ["p2"], 4.0))
    assert kinds_of(see(on, wrong))[-1] is VerdictKind.ILLEGAL


def test_sheets_of_players_who_do_not_play_are_not_asked_about(new_journal: Callable[[], Journal]) -> None:
    settings = ServiceSettings(rest_s=1.0, options={"players": 2}, stall_s=3.0)
    table = Table(NUMBER_DROP, None, new_journal(), settings)
    table.service.start()
    see(table, {})
    (question,) = see(table, {"p1.b1": "hidden", "p3.a1": "hidden"}, seconds=5.0)
    assert question.places == ("p1.b1",)


def test_a_game_with_more_sheets_than_the_camera_looks_for_does_not_begin(on: Table) -> None:
    reply = on.tell(NewGame("number-drop", {"players": 4}))
    assert reply.refused
    assert reply.words.startswith("the camera looks for other sheets, or fewer; change the options")
    assert on.tell(NewGame("number-drop", {"players": 2})).refused is False, "a sheet may stay empty"


def test_a_new_game_has_the_tables_own_options_but_for_those_it_names(new_journal: Callable[[], Journal]) -> None:
    table = Table(NUMBER_DROP, None, new_journal(), ServiceSettings(options={"players": 3}))
    table.service.start()
    for command, players in ((NewGame("number-drop"), 3), (NewGame("number-drop", {"players": 2}), 2)):
        assert not table.tell(command).refused
        assert table.journal.events(table.journal.latest_game())[0][1].data["options"]["players"] == players


def test_two_turns_taken_back_stay_so_until_their_sheets_change(on: Table) -> None:
    both = written("p1") | written("p3")
    assert len(accepted(see(on, both, (), 3.0))) == 2
    believed = on.service.belief
    for _ in range(2):
        on.tell(TakeBack("Ann"))
    for looks in (both, written("p3")):
        assert accepted(see(on, looks, (), 4.0)) == []
        assert on.service.shown is not None
        assert on.service.shown.sentence.startswith("That turn was taken back. Please erase p")
    assert on.service.belief != believed
    see(on, {})
    assert len(accepted(see(on, both, (), 3.0))) == 2


@pytest.mark.parametrize("typed", [False, True])
def test_a_turn_taken_back_stays_so_while_another_player_writes(on: Table, typed: bool) -> None:
    both = written("p1") | written("p3")
    see(on, both, (), 3.0)
    on.tell(TakeBack("Ann"))
    assert accepted(see(on, both)) == []
    if typed:
        assert not on.tell(EnterTurn("a1=1 b1=2 c1=4 d1=6", "Ben", "p2")).refused
        assert accepted(see(on, both, (), 3.0)) == []
    assert accepted(see(on, both | {"p2.a1": "digit 1", "p2.b1": "digit 2"}, (), 3.0)) == [], "p2 is writing"
    every = both | written("p2")
    p2 = [] if typed else ["p2 drops 1 on a1, 2 on b1, 4 on c1, 6 on d1."]
    assert accepted(see(on, every, (), 4.0)) == p2
    assert on.service.shown is not None
    assert on.service.shown.sentence == "That turn was taken back. Please erase p3.a1, p3.b1, p3.c1 and p3.d1."
    on.service.end_turn()
    turns = [event.data["player"] for _, event in on.journal.events() if event.kind == "turn"]
    assert turns[-2:] == ["p2", "p3"], "a press accepts it again"


def test_taking_back_a_turn_leaves_what_another_player_is_writing(on: Table) -> None:
    see(on, written("p1"), (), 3.0)
    see(on, written("p1") | written("p2"), (), 0.7)
    assert on.tell(TakeBack("Ann")).words == "p1 drops 1 on a1, 2 on b1, 4 on c1, 6 on d1. That is taken back."
    verdicts = see(on, written("p1") | written("p2"), (), 3.0)
    assert accepted(verdicts) == ["p2 drops 1 on a1, 2 on b1, 4 on c1, 6 on d1."]


@pytest.mark.parametrize("hands", [(), ("p2",)])
def test_a_sheet_takes_its_players_time_until_it_was_written(
    new_journal: Callable[[], Journal], hands: tuple[str, ...]
) -> None:
    on = at_roll(new_journal(), clock=read_control("game 10"))
    begun_s, events = on.sequence / FPS, len(on.journal.events())
    see(on, written("p1"), hands, 3.0)
    (turn,) = [event for _, event in on.journal.events()[events:] if event.kind == "turn"]
    assert turn.data["complete_s"] == pytest.approx(begun_s + 1 / FPS)


def test_the_turns_to_choose_from_have_their_player(on: Table) -> None:
    (question,) = [one for one in see(on, written("p2"), (), 4.0, P2_DOUBTFUL) if one.kind is VerdictKind.AMBIGUOUS]
    assert set(question.candidates) == {P2_TURN, "a1=2,b1=1,c1=4,d1=6"}
    assert question.candidate_players == ("p2", "p2")


def test_a_question_about_a_sheet_is_not_answered_by_the_programs_turn_on_another(on: Table) -> None:
    on.journal.append(Event(EventKind.INTENTION, {"player": "p1", "turn": P2_TURN, "sentence": "", "places": []}))
    side = Opponent(NUMBER_DROP, OpponentSettings("p1", "fair", 2.0), ImmediateHints(CountingClock(0.01)))
    on.service = Service(NUMBER_DROP, on.reader, on.journal, on._take, on.settings, on.said.append, opponent=side)
    on.service.start()
    assert VerdictKind.AMBIGUOUS in kinds_of(see(on, written("p2"), (), 4.0, P2_DOUBTFUL))
    assert "p1" in NUMBER_DROP.rules.players_to_move(on.service.belief[0])


def test_a_roll_does_not_pass_for_the_program_that_wants_a_loop(new_journal: Callable[[], Journal]) -> None:
    settings = ServiceSettings(rest_s=1.0, options={"players": 2})
    on = Table(NUMBER_DROP, None, new_journal(), settings)
    on.service.start()
    on.tell(Correct("Ann", position=NUMBER_DROP.notation.format_state(may_loop())))
    loop = Event(
        EventKind.INTENTION, {"player": "p2", "turn": "loop:a1+b1+c1", "sentence": "p2 draws a loop.", "places": []}
    )
    on.journal.append(loop)
    side = Opponent(NUMBER_DROP, OpponentSettings("p2", "fair", 2.0), ImmediateHints(CountingClock(0.01)))
    on.service = Service(NUMBER_DROP, on.reader, on.journal, on._take, settings, on.said.append, opponent=side)
    on.service.start()
    before = on.kinds()
    assert on.tell(EnterRoll("1,2,4,6,I", "Ann")) == Reply("something else comes first: p2 draws a loop.", refused=True)
    assert on.kinds() == before, "nor does p1, who could loop too"
    assert not on.tell(EnterTurn("loop:a1+b1+c1", "Ann", "p2")).refused
    assert not on.tell(EnterRoll("1,2,4,6,I", "Ann")).refused


def test_flags_that_fall_together_leave_the_result_to_the_players(new_journal: Callable[[], Journal]) -> None:
    clock = read_control("game 0.1", flag=FlagRule.LOSES, waits=False)
    on = at_roll(new_journal(), clock=clock)
    see(on, {}, (), 8.0)
    state = on.service.belief[0]
    assert who_plays(NUMBER_DROP, state) == ("p2", "p3"), "p1, who rolled, had less time"
    assert on.kinds().count("end") == 0
    assert NOBODY_LOSES in [signal.words for signal in on.lamp.signals]
    assert not on.tell(Announce("p2:resign", "Ann")).refused, "they can decide"


def test_a_button_that_ends_turns_waits_for_all_hands_to_go(new_journal: Callable[[], Journal]) -> None:
    on = at_roll(new_journal(), TurnEnd.BUTTON)
    assert accepted(see(on, written("p1"), ["p2"], 4.0)) == []
    on.service.end_turn()
    assert accepted(see(on, written("p1"), ["p2"])) == []
    assert len(accepted(see(on, written("p1")))) == 1
