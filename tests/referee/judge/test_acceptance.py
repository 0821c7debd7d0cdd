"""A turn that waits for the next player's touch: what counts as a touch, and which table it left."""

from __future__ import annotations

from typing import Any

import pytest

from referee.judge import JudgeContext, Trigger
from referee.judge.acceptance import PendingTurn, reading_of_turns, was_ended_by_touch
from referee.judge.decision import decide
from referee.judge.explanations import ExplanationKind
from referee.judge.explorer import changes_between
from tests.referee.judge.drawn import seen_as

WAITING = "a1-a2 a2-a3"
NEXT = "b7-b6 b6-b5"


class Waiting:
    """Black's turn lies on the table and waits for white's touch."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.context: JudgeContext[Any, Any] = JudgeContext.of(game)
        self.state = game.rules.new()
        self.turn = game.notation.parse_turn(self.state, WAITING)
        self.after = game.rules.apply(self.state, self.turn)
        before, now = game.table.appearance(self.state), game.table.appearance(self.after)
        self.pending: PendingTurn[Any] = PendingTurn(
            (self.turn,), changes_between(before, now), seen_as(game, self.after)
        )

    def touched(
        self,
        differing: dict[str, str] | None = None,
        trigger: Trigger = Trigger.TOUCH,
        pending: PendingTurn[Any] | None = None,
    ) -> bool:
        seen = seen_as(self.game, self.after, differing)
        decision = decide(self.context, (self.state,), seen)
        return was_ended_by_touch(self.context, (self.state,), pending or self.pending, decision, seen, trigger)


@pytest.fixture(scope="module")
def waiting(diaballik: Any) -> Waiting:
    return Waiting(diaballik)


def test_the_turn_alone_is_no_touch(waiting: Waiting) -> None:
    assert not waiting.touched()
    assert not waiting.touched(trigger=Trigger.TOUCH_RESTED)


@pytest.mark.parametrize("trigger", list(Trigger))
def test_a_piece_that_the_next_player_lifts_is_a_touch_where_touches_end_turns(
    waiting: Waiting, trigger: Trigger
) -> None:
    assert waiting.touched({"b7": "empty"}, trigger) is (trigger in {Trigger.TOUCH, Trigger.TOUCH_RESTED})


def test_a_turn_and_part_of_the_next_is_what_a_lifted_piece_is_taken_for(waiting: Waiting) -> None:
    lifted = decide(waiting.context, (waiting.state,), seen_as(waiting.game, waiting.after, {"b7": "empty"}))
    assert lifted.best.kind is ExplanationKind.TURN_AND_PART


def test_the_whole_next_turn_is_a_touch(waiting: Waiting) -> None:
    assert waiting.touched({"b7": "empty", "b5": "white piece"})


def test_nothing_is_touched_where_no_turn_waits(waiting: Waiting) -> None:
    assert not waiting.touched({"b7": "empty"}, pending=PendingTurn())


def test_a_fault_is_a_touch_once_the_table_rests_and_still_shows_the_turn(waiting: Waiting) -> None:
    jump = {"b7": "empty", "b2": "white piece"}
    assert not waiting.touched(jump)
    assert waiting.touched(jump, Trigger.TOUCH_RESTED)
    undone = {"a3": "empty", "a1": "black piece", "c7": "empty", "d4": "white piece with ball"}
    assert not waiting.touched(undone, Trigger.TOUCH_RESTED)


def test_turns_left_the_table_on_which_they_waited(waiting: Waiting) -> None:
    now = seen_as(waiting.game, waiting.after, {"b7": "empty"})
    left = reading_of_turns(waiting.game, (waiting.state,), (waiting.turn,), waiting.pending, now)
    assert left is waiting.pending.seen


def test_other_turns_left_the_table_that_is_seen_now(waiting: Waiting) -> None:
    now = seen_as(waiting.game, waiting.after)
    other = waiting.game.notation.parse_turn(waiting.state, "b1-b2 b2-b3")
    following = waiting.game.notation.parse_turn(waiting.after, NEXT)
    states = (waiting.state,)
    assert reading_of_turns(waiting.game, states, (other,), waiting.pending, now) is now
    assert reading_of_turns(waiting.game, states, (waiting.turn, following), waiting.pending, now) is now
    assert reading_of_turns(waiting.game, states, (waiting.turn,), PendingTurn(), now) is now
