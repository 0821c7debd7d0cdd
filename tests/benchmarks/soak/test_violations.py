"""Outcomes of violations that an object hid, or that are invisible from above."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from benchmarks.faults.disturbances import Disturbance
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict
from benchmarks.parts.soak.report import Outcome
from benchmarks.parts.soak.violations import Violation, responses_to, violation_outcome
from engine.registry import load
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from simulator.scene.scene import ForeignObject

UNTIL_S = 8.0


def outcome_of(
    game_name: str,
    event: TruthEvent,
    said: Verdict,
    coin_on: str = "",
    moods: Sequence[tuple[float, str, str]] = (),
    disturbances: Sequence[Disturbance] = (),
) -> Outcome:
    """The outcome of a violation without a loud verdict, with a coin on a piece, while the table shows moods."""
    plan = GamePlan(5, perfect_reader=True, game=game_name)
    played = GameRecord(plan, TruthLog(), [TimedVerdict(0, said.time_s, said)])
    played.moods = list(moods)
    played.disturbances = list(disturbances)
    if coin_on:
        layout = plan.setting.layout
        coin = ForeignObject("coin", *layout.centre_mm(coin_on), base_mm=layout.board.height_mm + 10.0)
        played.disturbances = [Disturbance("coin on a piece", 0.0, things=(coin,))]
    outcome, _ = violation_outcome(load(game_name), played, Violation(event, UNTIL_S, None), responses_to([]))
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


SAID_SO = [(3.0, "cannot see", "the corners are covered")]
CARDS = Disturbance("markers covered", 0.5, 9.0, things=(ForeignObject("card", 300.0, 300.0),))


@pytest.mark.parametrize(
    ("moods", "disturbances", "outcome"),
    [
        (SAID_SO, [CARDS], Outcome.UNSEEN),
        (SAID_SO, [], Outcome.LOST),
        (SAID_SO, [replace(CARDS, ended_s=1.5)], Outcome.LOST),
        ([*SAID_SO, (5.0, "ready", "")], [CARDS], Outcome.LOST),
        ([(9.0, *SAID_SO[0][1:])], [CARDS], Outcome.LOST),
    ],
    ids=["something lay there", "nothing did", "it was gone before", "it was said no longer", "it was said too late"],
)
def test_a_violation_could_not_be_seen_if_something_was_in_the_way_and_the_table_said_so_until_it_was_put_right(
    ball_taken_off: TruthEvent,
    moods: Sequence[tuple[float, str, str]],
    disturbances: Sequence[Disturbance],
    outcome: Outcome,
) -> None:
    said = replace(CANNOT_SEE, kind=VerdictKind.UNCHANGED)
    assert outcome_of("diaballik", ball_taken_off, said, moods=moods, disturbances=disturbances) is outcome


@pytest.mark.parametrize(("kind", "until_s"), [("taken off", UNTIL_S), ("turned while hopping", UNTIL_S + 5.0)])
def test_an_accepted_turn_is_charged_to_a_violation_until_it_is_put_right_or_later_if_only_side_faces_show_it(
    ball_taken_off: TruthEvent, kind: str, until_s: float
) -> None:
    violation = Violation(replace(ball_taken_off, violation=kind), UNTIL_S, UNTIL_S + 3.0)
    assert violation.charged_s == (ball_taken_off.gone_s, until_s)


@pytest.mark.parametrize(("top", "outcome"), [("yellow medium", Outcome.UNSEEN), ("clear large", Outcome.WRONG)])
def test_a_stack_that_is_lower_looks_the_same_from_above(top: str, outcome: Outcome) -> None:
    game = load("blockade")
    before = game.table.appearance(game.rules.new())
    event = TruthEvent(ActionKind.VIOLATION, "warm", 0.0, 0.0, before, {**before, "a1": top}, {}, violation="missing")
    assert outcome_of("blockade", event, Verdict(VerdictKind.SET_UP, "Begin.", 0.3, 5)) is outcome
