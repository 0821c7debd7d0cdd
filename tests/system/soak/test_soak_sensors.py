"""Short games with switches under the board: what they feel, what is asked, and how that is scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

import pytest

from benchmarks.parts.soak.circumstances import looks_the_same_by_occupancy, misled, seen_as, undetected
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict, plan_of, play
from benchmarks.parts.soak.inputs import NoCamera, TableSwitches
from benchmarks.parts.soak.outcomes import GameScore, Outcome
from benchmarks.parts.soak.report import SoakReport
from benchmarks.parts.soak.score import score
from engine.registry import load
from referee.judge.verdict import Verdict, VerdictKind
from referee.wiring.plan import Inputs
from simulator.faults.answers import FaultyOptions
from simulator.faults.disturbances import Disturbance
from simulator.faults.table import FaultyTable, faulty_setting
from simulator.play.ground_truth import TruthEvent, TruthLog
from simulator.scene.scene import block_on
from simulator.switches import SwitchFaults, VirtualSwitches
from vision.errors import CameraError, EndOfFramesError

SIZE = (320, 180)
QUIET = ("nothing", "illegal turn")


@pytest.fixture(scope="module")
def sensed() -> GameRecord:
    """A game that is only sensed: honest turns and violations."""
    return play(GamePlan(2, turns=8, kinds=QUIET, inputs=Inputs.SENSORS))


def table(*disturbances: Disturbance) -> FaultyTable:
    made = FaultyTable(3, FaultyOptions(turns=1, kinds=("nothing",)), setting=faulty_setting(3, SIZE), pictures=False)
    for one in disturbances:
        made.disturbances.begin(one)
    return made


def emptied_or_filled(event: TruthEvent) -> frozenset[str]:
    before, after = (
        {place for place, look in looks.items() if look != "empty"} for looks in (event.before, event.after)
    )
    return frozenset(before ^ after)


def outcomes(scored: GameScore) -> set[Outcome]:
    return {item.outcome for item in scored.items}


def test_a_game_by_sensors_alone_asks_and_is_never_wrong(sensed: GameRecord) -> None:
    scored = score(sensed)
    assert scored.turns == 8
    assert outcomes(scored) <= {Outcome.AT_ONCE, Outcome.AFTER_ASKING, Outcome.UNSEEN}
    assert scored.questions > 0
    report = SoakReport([replace(scored, verdict_computing_s=())], "", "sensors")
    assert report.met


def test_a_turn_by_sensors_alone_that_is_called_illegal_is_wrong(sensed: GameRecord) -> None:
    events = sensed.truth.events
    turn = next(one for before, one in pairwise(events) if before.kind == one.kind == "turn")
    alarm = TimedVerdict(0, turn.gone_s, Verdict(VerdictKind.ILLEGAL, "No.", turn.gone_s, 0))
    assert Outcome.WRONG in outcomes(score(replace(sensed, said=[alarm, *sensed.said])))


@pytest.mark.parametrize("inputs", [Inputs.SENSORS, Inputs.BOTH])
def test_a_game_with_switches_replays_byte_for_byte(inputs: Inputs) -> None:
    plan = plan_of(6, 3, SIZE, perfect_reader=True, inputs=inputs)
    assert play(plan).digest == play(plan).digest


def test_with_both_fewer_questions_are_asked_than_by_sensors_alone(sensed: GameRecord) -> None:
    both = score(play(replace(sensed.plan, inputs=Inputs.BOTH, perfect_reader=True)))
    assert outcomes(both) <= {Outcome.AT_ONCE, Outcome.UNSEEN}
    assert both.questions < score(sensed).questions


def test_sensors_alone_get_the_usual_start_and_no_touch() -> None:
    plans = [plan_of(seed, 40, SIZE, inputs=Inputs.SENSORS) for seed in range(20)]
    assert {plan.start for plan in plans} == {"usual"}
    assert {plan.turn_end for plan in plans} == {"button", "rest"}


def test_switches_tell_each_change_once_and_the_last_snapshot_while_the_cable_is_off() -> None:
    made = table()
    layout = made.setting.layout
    source = TableSwitches(made, VirtualSwitches(layout, 1, SwitchFaults(unplugged=((3.0, 4.0),))))
    made._blocks = (block_on(layout, "b1", "gold", "star", "slider"),)
    first = source.latest(1.0)
    made._blocks = (block_on(layout, "c1", "gold", "star", "slider"),)
    second = source.latest(2.0)
    off = source.latest(3.5)
    assert first is not None
    assert second is not None
    assert first.changes == ()
    assert [(one.place, one.put_down) for one in second.changes] == [("b1", False), ("c1", True)]
    assert off == replace(second, changes=())
    assert source.sensor_errors == [(3.5, frozenset(layout.places))]


def test_without_a_camera_ticks_go_on_while_the_camera_is_unplugged() -> None:
    unplugged = Disturbance("camera unplugged", 0.0, 1.0, delivery="unplugged")
    with pytest.raises(CameraError, match="check its cable"):
        table(unplugged).read(0.0)
    ticks = NoCamera(table(unplugged))
    times = [ticks.read(2.0).time_s for _ in range(20)]
    assert times == pytest.approx([number / 15 for number in range(20)])


def test_ticks_end_with_the_game() -> None:
    ticks = NoCamera(table())

    def all_of_them() -> None:
        for _ in range(10_000):
            ticks.read(2.0)

    with pytest.raises(EndOfFramesError):
        all_of_them()


def test_what_a_switch_tells_fits_any_piece() -> None:
    assert seen_as("a piece", "gold block, x up")
    assert not seen_as("a piece", "empty")
    assert seen_as("empty", "empty")
    assert not seen_as("gold block, x up", "teal block, x up")


def test_a_switch_misled_only_about_its_place_and_lately() -> None:
    played = GameRecord(GamePlan(1, inputs=Inputs.SENSORS), TruthLog())
    played.sensor_errors = [(10.0, frozenset({"c3"}))]
    assert misled(played, ("c3", "d4"), 12.0)
    assert misled(played, (), 12.0)
    assert not misled(played, ("d4",), 12.0)
    assert not misled(played, ("c3",), 9.9)
    assert not misled(played, ("c3",), 20.0)


def test_a_violation_under_a_dead_switch_was_not_to_be_felt(sensed: GameRecord) -> None:
    event, changed = next((one, places) for one in sensed.truth.events if (places := emptied_or_filled(one)))
    broken = replace(sensed, sensor_errors=[(event.gone_s + 0.1, changed)])
    assert undetected(broken, event)
    assert not undetected(sensed, event)
    assert not undetected(replace(broken, plan=replace(sensed.plan, inputs=Inputs.CAMERA)), event)


def test_a_question_is_called_for_where_switches_leave_more_than_one_turn(sensed: GameRecord) -> None:
    game = load("deblockle")
    asked = [said.time_s for said in sensed.said if said.verdict.kind is VerdictKind.AMBIGUOUS]
    assert any(looks_the_same_by_occupancy(game, sensed.truth, time_s) for time_s in asked)
    assert not looks_the_same_by_occupancy(game, sensed.truth, 0.0)


def test_a_question_about_the_very_first_turn_may_be_called_for() -> None:
    """Nothing went before it, and yet some first turns leave the same squares taken as another, and some don't."""
    game = load("deblockle")
    start = game.rules.new()
    for place, facings in game.side_faces.facings(start).items():
        start = game.side_faces.narrow(start, {place: facings[0]})
    before = game.table.appearance(start)

    def taken(looks: Mapping[str, str]) -> frozenset[str]:
        return frozenset(place for place, look in looks.items() if look != "empty")

    leaving: dict[frozenset[str], set[tuple[str, ...]]] = {}
    results = [game.table.appearance(game.rules.apply(start, turn)) for turn in game.rules.legal_turns(start)]
    for looks in results:
        leaving.setdefault(taken(looks), set()).add(tuple(looks[place] for place in game.places))
    called_for = set()
    for looks in results:
        truth = TruthLog(game.notation.format_state(start), [TruthEvent("turn", "gold", 1.0, 2.0, before, looks, {})])
        called_for.add(looks_the_same_by_occupancy(game, truth, 2.5))
        came_back = taken(looks) == taken(before)
        assert looks_the_same_by_occupancy(game, truth, 2.5) == (came_back or len(leaving[taken(looks)]) > 1)
    assert called_for == {True, False}


@pytest.mark.parametrize("seed", [9, 13])
def test_players_hear_what_is_said_while_a_hand_stays_on_a_block(seed: int) -> None:
    """Switches feel no hand, so the light comes while it still lies there: nobody presses and asks again."""
    played = play(plan_of(seed, 3, SIZE, ("hand stays on the block",), inputs=Inputs.SENSORS))
    assert [event.kind for event in played.truth.events] == ["turn"] * 3
