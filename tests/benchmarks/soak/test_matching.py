"""The journal's turns and those that were played, in a game whose tops don't tell what lies below."""

from __future__ import annotations

import pytest

from benchmarks.parts.soak.game import GamePlan, GameRecord
from benchmarks.parts.soak.matching import resolve
from engine.registry import load
from engine.values import Roll
from referee.journal.events import Event, EventKind, JsonValue
from simulator.play.actions import ActionKind
from simulator.play.ground_truth import TruthEvent, TruthLog

PLAYED, OTHER = "d3-c3", "e1-c3 d3-c3"
"""Two turns after which the tops look the same."""


@pytest.mark.parametrize(
    ("believed", "is_right"), [((PLAYED,), True), ((OTHER,), False), ((OTHER, PLAYED), True)], ids=str
)
def test_a_wrong_guess_of_what_lies_below_the_tops_is_no_match(believed: tuple[str, ...], is_right: bool) -> None:
    game = load("blockade")
    assert game.dice is not None
    state = game.rules.new()
    for roll in ("12", "13", "13"):
        state = game.dice.rolled(state, Roll(tuple(roll)))
    after = {turn: game.rules.apply(state, game.notation.parse_turn(state, turn)) for turn in (PLAYED, OTHER)}
    texts = {turn: game.notation.format_state(one) for turn, one in after.items()}
    looks = dict(game.table.appearance(after[PLAYED]))
    assert looks == dict(game.table.appearance(after[OTHER]))
    before = dict(game.table.appearance(state))
    truth = TruthEvent(ActionKind.TURN, "warm", 1.0, 2.0, before, looks, {}, PLAYED, state=texts[PLAYED])
    states: list[JsonValue] = [texts[turn] for turn in believed]
    written = Event(EventKind.TURN, {"turn": believed[0], "state": states if len(states) > 1 else states[0]}, 3.0)
    played = GameRecord(GamePlan(5, game="blockade"), TruthLog(events=[truth]), events=[(1, written)])
    found = resolve(played, [truth], [])
    assert (found.resolved, list(found.stray)) == (({0: ("turn", 3.0)}, []) if is_right else ({}, [written]))
