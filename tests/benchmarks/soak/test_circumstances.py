"""What a verdict relied on when objects lie on the table."""

from __future__ import annotations

import pytest

from benchmarks.parts.soak.circumstances import relies_on_hidden_places
from benchmarks.parts.soak.game import GamePlan, GameRecord, TimedVerdict
from engine.registry import load
from referee.judge.verdict import Verdict, VerdictKind
from simulator.faults.disturbances import Disturbance
from simulator.play.ground_truth import TruthLog
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
