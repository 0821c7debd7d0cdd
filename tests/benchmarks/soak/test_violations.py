"""Outcomes of violations that an object hid, or that are invisible from above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict
from benchmarks.parts.soak.report import Outcome
from benchmarks.parts.soak.violations import Violation, responses_to, violation_outcome
from engine.registry import load
from referee.judge.verdict import Verdict, VerdictKind
from simulator.faults.disturbances import Disturbance
from simulator.play.actions import ActionKind
from simulator.play.ground_truth import TruthEvent, TruthLog
from simulator.scene.scene import ForeignObject

UNTIL_S = 8.0


def outcome_of(
    game_name: str, event: TruthEvent, said: Verdict, coin_on: str = "", moods: Sequence[tuple[float, str, str]] = ()
) -> Outcome:
    """The outcome of a violation without a loud verdict, with a coin on a piece, while the table shows moods."""
    plan = GamePlan(5, perfect_reader=True, game=game_name)
    played = GameRecord(plan, TruthLog(), [TimedVerdict(0, said.time_s, said)])
    played.moods = list(moods)
    if coin_on:
        layout = plan.setting.layout
        coin = ForeignObject("coin", *layout.centre_mm(coin_on), base_mm=layout.board.height_mm + 10.0)
        played.disturbances = [Disturbance("coin on a piece", 0.0, things=(coin,))]
    outcome, _ = violation_outcome(load(game_name), played, Violation(0, event, UNTIL_S, None), responses_to([]))
    return outcome


@pytest.fixture
def ball_taken_off() -> TruthEvent:
    game = load("diaballik")
    state = game.rules.new()
    before = game.table.appearance(state)
    after = {**before, "d1": "black piece"}
    text = game.notation.format_state(state)
    return TruthEvent(ActionKind.VIOLATION, "black", 1.0, 2.0, before, after, {}, violation="taken off", state=text)


CANNOT_SEE = Verdict(VerdictKind.CANNOT_SEE, "I can't see what happened on c1.", 3.0, 30, places=("c1",))


def test_a_ball_that_may_be_under_the_coin_is_out_of_sight(ball_taken_off: TruthEvent) -> None:
    assert outcome_of("diaballik", ball_taken_off, CANNOT_SEE, "c1") is Outcome.UNSEEN


@pytest.mark.parametrize(
    ("said", "coin_on"),
    [
        (CANNOT_SEE, ""),
        (CANNOT_SEE, "a7"),
        (replace(CANNOT_SEE, places=("a7",)), "a7"),
        (replace(CANNOT_SEE, kind=VerdictKind.UNCHANGED), "c1"),
    ],
)
def test_a_missing_ball_without_a_verdict_is_lost(ball_taken_off: TruthEvent, said: Verdict, coin_on: str) -> None:
    assert outcome_of("diaballik", ball_taken_off, said, coin_on) is Outcome.LOST


@pytest.mark.parametrize(
    ("moods", "outcome"),
    [
        ([(3.0, "cannot see", "a hand")], Outcome.UNSEEN),
        ([(3.0, "cannot see", "a hand"), (5.0, "ready", "")], Outcome.LOST),
        ([(9.0, "cannot see", "a hand")], Outcome.LOST),
    ],
)
def test_a_violation_put_right_while_the_table_says_what_is_in_the_way_could_not_be_seen(
    ball_taken_off: TruthEvent, moods: Sequence[tuple[float, str, str]], outcome: Outcome
) -> None:
    said = replace(CANNOT_SEE, kind=VerdictKind.UNCHANGED)
    assert outcome_of("diaballik", ball_taken_off, said, moods=moods) is outcome


@pytest.mark.parametrize(("top", "outcome"), [("yellow medium", Outcome.UNSEEN), ("clear large", Outcome.WRONG)])
def test_a_stack_that_is_lower_looks_the_same_from_above(top: str, outcome: Outcome) -> None:
    game = load("blockade")
    before = game.table.appearance(game.rules.new())
    event = TruthEvent(ActionKind.VIOLATION, "warm", 0.0, 0.0, before, {**before, "a1": top}, {}, violation="missing")
    assert outcome_of("blockade", event, Verdict(VerdictKind.SET_UP, "Begin.", 0.3, 5)) is outcome
