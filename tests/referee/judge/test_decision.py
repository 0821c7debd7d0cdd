"""The explanation chosen for a table, at the limits of noise, doubt and certainty."""

import math
from dataclasses import replace
from typing import Any

import pytest

from referee.judge.decision import Conclusion, Decision, decide
from referee.judge.explanations import ExplanationKind, find_stopovers
from referee.judge.explorer import Case, JudgeContext
from tests.referee.judge.drawn import seen_as
from vision.reading import PlaceChange


@pytest.fixture(scope="module")
def context(diaballik: Any) -> JudgeContext[Any, Any]:
    return JudgeContext(diaballik)


def decided(
    context: JudgeContext[Any, Any], differing: dict[str, str] | None = None, turn: str = ""
) -> Decision[Any, Any]:
    game = context.game
    state = game.rules.new()
    shown = game.rules.apply(state, game.notation.parse_turn(state, turn)) if turn else state
    return decide(Case(context, (state,), seen_as(game, shown, differing)))


def test_a_table_as_believed_needs_no_explanation(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context)
    assert decision.shows_nothing
    assert (decision.shown, decision.places, decision.set_aside) == (frozenset(), (), ())
    assert decision.margin > 3


@pytest.mark.parametrize(
    ("look", "conclusion", "set_aside"),
    [
        ("black piece 60%", Conclusion.ALLOWED, ()),
        ("black piece 70%", Conclusion.ALLOWED, ("d4",)),
        ("black piece 95%", Conclusion.ALLOWED, ("d4",)),
        ("black piece 99.6%", Conclusion.ALLOWED, ("d4",)),
        ("black piece 99.7%", Conclusion.FORBIDDEN, ()),
    ],
)
def test_a_piece_from_nowhere_is_noise_or_set_aside_or_a_fault(
    context: JudgeContext[Any, Any], look: str, conclusion: Conclusion, set_aside: tuple[str, ...]
) -> None:
    decision = decided(context, {"d4": look})
    assert (decision.conclusion, decision.best.kind) == (conclusion, ExplanationKind.NOTHING)
    assert decision.set_aside == set_aside
    assert decision.shown == ({("d4", "black piece")} if conclusion is Conclusion.FORBIDDEN else set())


@pytest.mark.parametrize("other", ["white piece with ball", "white piece", "black piece"])
def test_a_ball_too_many_must_lead_the_looks_of_all_other_pieces(context: JudgeContext[Any, Any], other: str) -> None:
    """What hardly looks more like one piece than like another may be neither."""
    game = context.game
    seen = seen_as(game, game.rules.new())
    shown = "black piece with ball"
    logs = dict.fromkeys(game.looks, -12.0) | {shown: 0.0}
    expected = {-6.9: (Conclusion.ALLOWED, ("a1",)), -7.1: (Conclusion.FORBIDDEN, ())}
    for log_probability, answer in expected.items():
        torn = replace(seen.places["a1"], log_probabilities=logs | {other: log_probability})
        decision = decide(Case(context, (game.rules.new(),), replace(seen, places={**seen.places, "a1": torn})))
        assert (decision.conclusion, decision.set_aside) == answer


def test_a_fault_is_only_as_certain_as_its_least_certain_place(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context, {"d4": "black piece 99.8%", "d5": "black piece 99.9%"})
    assert decision.conclusion is Conclusion.FORBIDDEN
    assert decision.margin == pytest.approx(math.log(0.998 / 0.0005) + context.settings.illegal_prior)


def test_two_doubtful_places_are_set_aside_and_three_are_asked_about(context: JudgeContext[Any, Any]) -> None:
    doubtful = "black piece 66%"
    assert decided(context, {"d3": doubtful, "d4": doubtful}).set_aside == ("d3", "d4")
    for look in (doubtful, "black piece 99.6%"):
        decision = decided(context, {"d3": look, "d4": look, "d5": look})
        assert (decision.conclusion, decision.places) == (Conclusion.UNDECIDED, ("d3", "d4", "d5"))
        assert decision.margin == 0.0


def test_a_turn_is_allowed_despite_a_doubtful_place_elsewhere(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context, {"d4": "white piece 80%"}, "a1-a2 a2-a3")
    assert (decision.conclusion, decision.best.kind) == (Conclusion.ALLOWED, ExplanationKind.TURN)
    assert decision.set_aside == ("d4",)


def test_a_doubtful_place_of_the_turn_itself_is_asked_about(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context, {"a3": "white piece 75%"}, "a1-a2 a2-a3")
    assert (decision.conclusion, decision.margin) == (Conclusion.UNDECIDED, 0.0)
    assert "a3" in decision.places
    assert set(decision.rivals) >= {decision.best}


@pytest.mark.parametrize(
    ("white", "conclusion"), [(0.9, Conclusion.UNDECIDED), (0.86, Conclusion.ALLOWED), (0.4, Conclusion.ALLOWED)]
)
def test_a_slight_difference_from_the_table_after_a_turn_does_not_contradict_it(
    context: JudgeContext[Any, Any], white: float, conclusion: Conclusion
) -> None:
    """A look that leads by less than ``unsure`` counts as unchanged after a turn too."""
    game = context.game
    state = game.rules.new()
    after = game.rules.apply(state, game.notation.parse_turn(state, "a1-a2 a2-a3"))
    seen = seen_as(game, after)
    looks = dict.fromkeys(game.looks, 1e-4) | {"white piece": white, "black piece": 0.9995 - white}
    torn = replace(seen.places["a3"], log_probabilities={look: math.log(value) for look, value in looks.items()})
    decision = decide(Case(context, (state,), replace(seen, places={**seen.places, "a3": torn})))
    assert (decision.conclusion, decision.best.kind) == (conclusion, ExplanationKind.TURN)


def test_a_piece_in_the_air_and_a_doubtful_one_elsewhere_may_be_the_same(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context, {"a1": "empty", "d5": "black piece 80%"})
    assert (decision.conclusion, decision.best.kind) == (Conclusion.UNDECIDED, ExplanationKind.PART)
    assert decision.places == ("d5",)


def test_a_piece_that_came_to_a_hidden_place_or_is_in_the_air_is_asked_about(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context, {"a3": "hidden"}, "a1-a2 a2-a3")
    assert (decision.conclusion, decision.best.kind) == (Conclusion.UNDECIDED, ExplanationKind.TURN)
    assert decision.margin == pytest.approx(1.0)
    assert "a3" in decision.places


@pytest.mark.parametrize(("turn", "hidden"), [("a1-a2 a2-a3 d1*c1", ("c1",)), ("a1-a2 a2-a3", ("a1", "g1"))])
def test_a_whole_turn_to_a_hidden_place_or_from_either_of_two_is_asked_about(
    context: JudgeContext[Any, Any], turn: str, hidden: tuple[str, ...]
) -> None:
    decision = decided(context, dict.fromkeys(hidden, "hidden"), turn)
    assert (decision.conclusion, decision.best.kind) == (Conclusion.UNDECIDED, ExplanationKind.TURN)
    assert (decision.places, decision.margin) == (hidden, 0.0)


def test_a_piece_that_left_a_hidden_place_is_followed(context: JudgeContext[Any, Any]) -> None:
    decision = decided(context, {"a1": "hidden"}, "a1-a2 a2-a3")
    assert (decision.conclusion, decision.best.kind) == (Conclusion.ALLOWED, ExplanationKind.TURN)


def test_two_turns_explain_a_table_that_one_turn_cannot(context: JudgeContext[Any, Any]) -> None:
    game = context.game
    state = game.rules.new()
    one = game.rules.apply(state, game.notation.parse_turn(state, "a1-a2 a2-a3"))
    two = game.rules.apply(one, game.notation.parse_turn(one, "b7-b6 b6-b5"))
    decision = decide(Case(context, (state,), seen_as(game, two)))
    assert (decision.conclusion, decision.best.kind) == (Conclusion.ALLOWED, ExplanationKind.TWO_TURNS)
    assert decision.best.score == pytest.approx(4 * math.log(0.98 / 0.005) - 2, rel=1e-3)


@pytest.mark.parametrize(("lifted_s", "found"), [(0.24, set()), (0.25, {"c3"}), (2.0, {"c3"})])
def test_a_stopover_is_a_piece_put_down_for_a_while(lifted_s: float, found: set[str]) -> None:
    changes = (PlaceChange("c3", True, 0.0), PlaceChange("d4", True, 0.1), PlaceChange("c3", False, lifted_s))
    assert find_stopovers(changes, 0.25) == found


def test_lifting_a_piece_is_no_stopover() -> None:
    assert find_stopovers((PlaceChange("c3", False, 5.0), PlaceChange("c3", True, 6.0)), 0.25) == frozenset()
    again = (PlaceChange("c3", True, 0.0), PlaceChange("c3", False, 0.1), PlaceChange("c3", False, 9.0))
    assert find_stopovers(again, 0.25) == frozenset()
