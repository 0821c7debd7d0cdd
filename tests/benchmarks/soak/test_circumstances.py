"""What a verdict relied on when objects lie on the table, and what excuses seeing too little."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.faults.disturbances import Disturbance
from benchmarks.parts.soak.circumstances import (
    asks_about_ambiguous_turn,
    is_disturbed,
    is_justified,
    relies_on_hidden_places,
)
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict
from engine.api import Game
from engine.registry import load
from engine.values import Roll
from referee.judge.verdict import Verdict, VerdictKind
from simulator.play.actions import ActionKind
from simulator.play.game import TruthEvent, TruthLog
from simulator.scene.scene import ForeignObject

COVERED_S, ACCEPTED_S = 10.0, 20.0


@pytest.mark.parametrize(
    ("pending", "relies"),
    [
        ([], True),
        ([(COVERED_S - 1, ("c1c2",))], False),
        ([(COVERED_S + 1, ("c1c2",))], True),
        ([(COVERED_S - 1, ("d1d2",))], True),
    ],
    ids=["not known before", "known before it was covered", "known after it was covered", "another turn was known"],
)
def test_a_turn_may_be_covered_once_it_is_known(pending: list[tuple[float, tuple[str, ...]]], relies: bool) -> None:
    plan = GamePlan(5, perfect_reader=True, game="diaballik")
    said = Verdict(
        VerdictKind.ACCEPTED,
        "White moves c1 to c2.",
        ACCEPTED_S,
        300,
        turns=("c1c2",),
        places=("c1", "c2"),
        expected={"c1": "white piece", "c2": "empty"},
        seen={"c1": "empty", "c2": "white piece"},
    )
    played = GameRecord(plan, TruthLog(), [TimedVerdict(300, ACCEPTED_S, said)], pending)
    layout = plan.setting.layout
    coin = ForeignObject("coin", *layout.centre_mm("c2"), base_mm=layout.board.height_mm, radius_mm=40.0)
    played.disturbances = [Disturbance("objects on the board", COVERED_S, things=(coin,))]
    assert relies_on_hidden_places(load("diaballik"), played, played.said[0]) is relies


def played_turn(game: Game[Any, Any], state: Any, turn: str) -> TruthLog:
    """A game whose only turn was played by the first player from a state."""
    after = game.rules.apply(state, game.notation.parse_turn(state, turn))
    before_looks, after_looks = (dict(game.table.appearance(one)) for one in (state, after))
    text = game.notation.format_state(state)
    event = TruthEvent(
        ActionKind.TURN, game.players[0], 1.0, 2.0, before_looks, after_looks, {}, turn, state_before=text
    )
    return TruthLog(events=[event])


def test_only_a_question_about_the_ambiguous_turn_is_justified_by_it() -> None:
    def asked(*candidates: str, places: tuple[str, ...] = ("c3",)) -> TimedVerdict:
        verdict = Verdict(VerdictKind.AMBIGUOUS, "Which?", 3.0, 45, candidates=candidates, places=places)
        return TimedVerdict(45, 3.0, verdict)

    game = load("blockade")
    assert game.dice is not None
    state = game.rules.new()
    for roll in ("12", "13", "13"):
        state = game.dice.rolled(state, Roll(tuple(roll)))
    # The top from d3 covers what else may have gone to c3.
    played = played_turn(game, state, "d3-c3")
    assert asks_about_ambiguous_turn(game, played, asked("d3-c3", "e1-c3 d3-c3"))
    assert asks_about_ambiguous_turn(game, played, asked())
    assert not asks_about_ambiguous_turn(game, played, asked("c2-d2"))
    assert not asks_about_ambiguous_turn(game, played, asked(places=("a5",)))
    assert not asks_about_ambiguous_turn(game, TruthLog(), asked("d3-c3"))
    discs = load("diaballik")
    clear = played_turn(discs, discs.rules.new(), "a1-a2")
    assert not asks_about_ambiguous_turn(discs, clear, asked("a1-a2", places=("a1", "a2")))


LIGHT = GamePlan(5).setting.lighting
COIN = ForeignObject("coin", *GamePlan(5).setting.layout.centre_mm("c3"), base_mm=10.0)


@pytest.mark.parametrize(
    ("one", "until_s"),
    [
        (Disturbance("lamp switched", 10.0, lighting=LIGHT), 13.0),
        (Disturbance("camera bumped", 10.0, pose=GamePlan(5).setting.pose), 13.0),
        (Disturbance("coin on a piece", 10.0, 30.0, things=(COIN,)), 30.0),
        (Disturbance("no frames", 10.0, 15.0, delivery="stopped"), 15.0),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)
def test_a_change_excuses_for_a_while_and_what_lies_there_as_long_as_it_does(one: Disturbance, until_s: float) -> None:
    played = GameRecord(GamePlan(5), TruthLog(), disturbances=[one])
    assert not is_disturbed(played, 8.0, 9.9)
    assert is_disturbed(played, 8.0, 11.0)
    assert is_disturbed(played, until_s - 0.1, until_s + 5.0)
    assert not is_disturbed(played, until_s + 0.1, until_s + 5.0)


@pytest.mark.parametrize(("asked_s", "justified"), [(10.3, False), (10.6, True), (20.3, True), (20.6, False)], ids=str)
def test_an_object_excuses_a_question_once_it_could_be_seen_and_until_its_absence_could_be(
    asked_s: float, justified: bool
) -> None:
    lies = Disturbance("coin on a piece", 10.0, 20.0, things=(COIN,))
    played = GameRecord(GamePlan(5), TruthLog(), disturbances=[lies])
    asked = TimedVerdict(0, asked_s, Verdict(VerdictKind.AMBIGUOUS, "Which?", asked_s, 0, places=("c3",)))
    assert is_justified(load("deblockle"), played, asked) is justified
