"""A turn that waits for the next player's touch: touches, the reading the turn is judged by, and acceptance."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from referee.judge.belief import PendingTurn
from referee.judge.decision import decide
from referee.judge.explanations import Explanation, ExplanationKind
from referee.judge.explorer import Case, JudgeContext, changes_between
from referee.judge.pooled_reading import PooledReading
from referee.judge.resolution import (
    Resolved,
    SideCheck,
    advance,
    reading_of_turns,
    same_piece_moves_on,
    was_ended_by_touch,
    weigh_sides,
)
from referee.judge.settings import Trigger
from referee.judge.verdict import VerdictKind
from tests.referee.judge.drawn import drawn, seen_as
from tests.referee.judge.judged_game import JudgedGame

WAITING = "a1-a2 a2-a3"
NEXT = "b7-b6 b6-b5"


class Waiting:
    """Black's turn lies on the table and waits for white's touch."""

    def __init__(self, game: Any) -> None:
        self.game = game
        self.context: JudgeContext[Any, Any] = JudgeContext(game)
        self.state = game.rules.new()
        self.turn = game.notation.parse_turn(self.state, WAITING)
        self.after = game.rules.apply(self.state, self.turn)
        before, now = game.table.appearance(self.state), game.table.appearance(self.after)
        self.pending: PendingTurn[Any] = PendingTurn(
            (self.turn,), changes_between(before, now), seen_as(game, self.after)
        )

    def case(self, seen: PooledReading) -> Case[Any, Any]:
        return Case(self.context, (self.state,), seen)

    def touched(
        self,
        differing: dict[str, str] | None = None,
        trigger: Trigger = Trigger.TOUCH,
        pending: PendingTurn[Any] | None = None,
    ) -> bool:
        seen = seen_as(self.game, self.after, differing)
        decision = decide(self.case(seen))
        return was_ended_by_touch(self.case(seen), pending or self.pending, decision, trigger)


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


def test_a_lifted_piece_is_explained_as_part_of_the_next_turn(waiting: Waiting) -> None:
    lifted = decide(waiting.case(seen_as(waiting.game, waiting.after, {"b7": "empty"})))
    assert lifted.best.kind is ExplanationKind.TURN_AND_PART


def test_the_whole_next_turn_is_a_touch(waiting: Waiting) -> None:
    assert waiting.touched({"b7": "empty", "b5": "white piece"})


def test_nothing_counts_as_a_touch_while_no_turn_waits(waiting: Waiting) -> None:
    assert not waiting.touched({"b7": "empty"}, pending=PendingTurn())


def test_a_fault_is_a_touch_once_the_table_rests_and_still_shows_the_turn(waiting: Waiting) -> None:
    jump = {"b7": "empty", "b2": "white piece"}
    assert not waiting.touched(jump)
    assert waiting.touched(jump, Trigger.TOUCH_RESTED)
    undone = {"a3": "empty", "a1": "black piece", "c7": "empty", "d4": "white piece with ball"}
    assert not waiting.touched(undone, Trigger.TOUCH_RESTED)


def test_a_waiting_turn_is_judged_by_the_reading_from_before_the_touch(waiting: Waiting) -> None:
    now = seen_as(waiting.game, waiting.after, {"b7": "empty"})
    left = reading_of_turns(waiting.case(now), (waiting.turn,), waiting.pending)
    assert left is waiting.pending.seen


def test_other_turns_are_judged_by_the_current_reading(waiting: Waiting) -> None:
    now = seen_as(waiting.game, waiting.after)
    other = waiting.game.notation.parse_turn(waiting.state, "b1-b2 b2-b3")
    following = waiting.game.notation.parse_turn(waiting.after, NEXT)
    case = waiting.case(now)
    assert reading_of_turns(case, (other,), waiting.pending) is now
    assert reading_of_turns(case, (waiting.turn, following), waiting.pending) is now
    assert reading_of_turns(case, (waiting.turn,), PendingTurn()) is now


@dataclass(frozen=True)
class _Simple:
    """A state in which this player is to move, or a turn on these places."""

    to_move: str = ""
    places: tuple[str, ...] = ()


@pytest.mark.parametrize(
    ("next_to_move", "touched", "moves_on"),
    [("gold", ("b1",), True), ("gold", ("c1",), False), ("teal", ("b1",), False)],
)
def test_the_same_piece_moves_on_if_its_player_is_to_move_again_and_touches_its_place(
    next_to_move: str, touched: tuple[str, ...], moves_on: bool
) -> None:
    game: Any = SimpleNamespace(rules=SimpleNamespace(apply=lambda *_: _Simple(next_to_move)))
    state: Any = _Simple("gold")
    case: Any = SimpleNamespace(game=game, states=(state,))
    turn: Any = _Simple(places=("a1", "b1"))
    explanation = Explanation(
        ExplanationKind.TURN_AND_PART,
        state,
        frozenset(),
        0.0,
        first=(turn,),
        instruction="Put it down.",
        touched=touched,
    )
    assert same_piece_moves_on(case, (explanation,)) is moves_on


@pytest.mark.parametrize(
    ("contradiction", "kind", "support"),
    [
        (2.99, ExplanationKind.TURN, SideCheck()),
        (3.0, ExplanationKind.TURN, SideCheck(is_doubtful=True)),
        (4.99, ExplanationKind.TWO_TURNS, SideCheck(is_doubtful=True)),
        (5.0, ExplanationKind.TWO_TURNS, SideCheck(rules_out=True)),
        (5.0, ExplanationKind.TURN, SideCheck(is_doubtful=True)),
    ],
)
def test_side_faces_make_a_turn_doubtful_and_rule_out_two_turns_from_the_configured_log_odds(
    waiting: Waiting, contradiction: float, kind: ExplanationKind, support: SideCheck
) -> None:
    """A single turn is only ever doubtful: the engine finds no broken rule in it."""
    explanation = Explanation(kind, waiting.state, waiting.pending.changes, 0.0, (waiting.turn,))
    resolved: Resolved[Any] = Resolved((waiting.turn,), contradiction=contradiction)
    seen = seen_as(waiting.game, waiting.after)
    assert weigh_sides(waiting.case(seen), resolved, explanation, frozenset()) == support


def test_each_of_two_accepted_turns_comes_with_the_state_after_it(waiting: Waiting) -> None:
    notation = waiting.game.notation
    following = notation.parse_turn(waiting.after, NEXT)
    end = waiting.game.rules.apply(waiting.after, following)
    steps, _ = advance(waiting.case(seen_as(waiting.game, end)), (waiting.turn, following))
    assert [step.states for step in steps] == [(waiting.after,), (end,)]
    assert [notation.format_turn(step.turn) for step in steps] == [WAITING, NEXT]


@pytest.mark.parametrize("trigger", [Trigger.TOUCH, Trigger.TOUCH_RESTED])
def test_a_turn_that_ends_the_game_waits_for_no_touch(waiting: Waiting, trigger: Trigger) -> None:
    game = waiting.game
    state = game.notation.parse_state("ww.bwww/..w.W../......./......./......./......./bb.Bbbb")
    won = game.rules.apply(state, game.notation.parse_turn(state, "d1*d7"))
    ruling = JudgedGame(game, belief=(state,)).consider(drawn(game, won), trigger)
    assert ruling.verdict.turns == ("d1*d7",)
    moved = game.rules.apply(state, game.notation.parse_turn(state, "a1-a2"))
    waits = JudgedGame(game, belief=(state,)).consider(drawn(game, moved), trigger)
    assert (waits.verdict.kind, waits.steps) == (VerdictKind.NOT_FINISHED, ())


def test_two_turns_are_asked_about_while_either_player_may_have_started(waiting: Waiting) -> None:
    game = waiting.game
    white = game.table.amend(waiting.state, {}, "white")
    both = game.rules.apply(waiting.after, game.notation.parse_turn(waiting.after, NEXT))
    judged = JudgedGame(game, belief=(waiting.state, white))
    ruling = judged.consider(drawn(game, both), Trigger.DECLARED)
    assert (ruling.verdict.kind, ruling.steps) == (VerdictKind.AMBIGUOUS, ())
    assert set(ruling.verdict.candidates) == {WAITING, NEXT}
    assert ruling.verdict.sentence.startswith("This could be more than one turn:")
    assert judged.belief == (waiting.state, white)
