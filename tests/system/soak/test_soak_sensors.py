"""Short games with switches under the board: readings, questions and their scores."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from benchmarks.parts.soak.circumstances import is_ambiguous_by_occupancy, undetected
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict, plan_of, play
from benchmarks.parts.soak.report import GameScore, Outcome, SoakReport
from benchmarks.parts.soak.score import score
from engine.registry import load
from referee.judge.verdict import Verdict, VerdictKind
from referee.wiring.plan import Inputs
from simulator.play.game import TruthEvent

SIZE = (320, 180)
QUIET = ("nothing", "illegal turn")


@pytest.fixture(scope="module")
def sensed() -> GameRecord:
    """A game that is only sensed: honest turns and violations."""
    return play(GamePlan(2, turns=8, kinds=QUIET, inputs=Inputs.SENSORS))


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
    report = SoakReport([replace(scored, verdict_computing_s=())], "", Inputs.SENSORS)
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


def test_camera_and_sensors_ask_fewer_questions_than_sensors_alone(sensed: GameRecord) -> None:
    both = score(play(replace(sensed.plan, inputs=Inputs.BOTH, perfect_reader=True)))
    assert outcomes(both) <= {Outcome.AT_ONCE, Outcome.UNSEEN}
    assert both.questions < score(sensed).questions


def test_a_violation_under_a_dead_switch_counts_as_undetectable(sensed: GameRecord) -> None:
    event, changed = next((one, places) for one in sensed.truth.events if (places := emptied_or_filled(one)))
    broken = replace(sensed, sensor_errors=[(event.gone_s + 0.1, changed)])
    assert undetected(broken, event)
    assert not undetected(sensed, event)
    assert not undetected(replace(broken, plan=replace(sensed.plan, inputs=Inputs.CAMERA)), event)


def test_a_question_is_justified_if_switches_leave_more_than_one_turn(sensed: GameRecord) -> None:
    game = load("deblockle")
    asked = [said.time_s for said in sensed.said if said.verdict.kind is VerdictKind.AMBIGUOUS]
    assert any(is_ambiguous_by_occupancy(game, sensed.truth, time_s) for time_s in asked)
    assert not is_ambiguous_by_occupancy(game, sensed.truth, 0.0)


@pytest.mark.parametrize("seed", [9, 13])
def test_players_notice_a_verdict_given_while_a_hand_stays_on_a_block(seed: int) -> None:
    """Switches don't feel a hand, so the light comes while it is still there, and nobody presses again."""
    played = play(plan_of(seed, 3, SIZE, ("hand stays on the piece",), inputs=Inputs.SENSORS))
    assert [event.kind for event in played.truth.events] == ["turn"] * 3
