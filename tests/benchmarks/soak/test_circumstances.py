"""What a verdict relied on when objects lie on the table."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.parts.soak.circumstances import asks_about_ambiguous_turn, relies_on_hidden_places
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict
from engine.api import Game
from engine.registry import load
from engine.values import Roll
from referee.judge.verdict import Verdict, VerdictKind
from simulator.faults.disturbances import Disturbance
from simulator.play.actions import ActionKind
from simulator.play.ground_truth import TruthEvent, TruthLog
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
