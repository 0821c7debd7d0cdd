"""Decisions about places known only by sensors, one table of cases each."""

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from referee.judge.decision import Conclusion, Decision
from referee.judge.evidence.sensors import (
    last_sensor_change_s,
    may_have_left,
    only_sensed,
    rule_out_parts,
    should_ask_about_unsensed,
    too_many_sensed,
    touched_elsewhere,
    undone_turns_shown,
)
from referee.judge.explanations import Explanation, ExplanationKind
from referee.judge.explorer import Case, Changes, JudgeContext
from referee.judge.pooled_reading import PIECE, PooledPlace, PooledReading
from referee.judge.settings import JudgeSettings, Trigger
from vision.reading import PlaceChange

BELIEVED = {"a1": "gold", "b1": "teal", "c1": "empty", "d1": "empty"}
LEFT, CAME, GUESSED, TURNED = ("a1", "empty"), ("c1", "gold"), ("d1", PIECE), ("b1", "red")


@pytest.mark.parametrize(
    ("changes", "too_many"),
    [
        ({LEFT, GUESSED}, False),
        ({GUESSED}, True),
        ({LEFT, CAME, GUESSED}, True),
        ({LEFT, ("b1", "empty"), CAME, GUESSED}, False),
        ({CAME}, False),
        ({("b1", PIECE)}, False),
        ({TURNED, GUESSED}, True),
        (set(), False),
    ],
)
def test_there_are_too_many_pieces_if_more_came_than_left_and_one_is_only_sensed(
    changes: Changes, too_many: bool
) -> None:
    assert too_many_sensed(BELIEVED, frozenset(changes)) is too_many


def test_changes_known_only_by_sensors() -> None:
    sensed = PooledPlace({"empty": -0.1, "gold": -3.0}, sensed_only=True)
    seen = PooledReading({"a1": sensed, "c1": PooledPlace({"empty": -3.0, "gold": -0.1})}, frozenset(), 0.0, 0)
    assert only_sensed(frozenset({LEFT, CAME}), seen)
    assert not only_sensed(frozenset({CAME, ("d1", "gold")}), seen)
    assert not only_sensed(frozenset(), seen)
    assert may_have_left(BELIEVED, frozenset({LEFT}), seen)
    assert may_have_left(BELIEVED, frozenset({LEFT, TURNED}), seen), "exchanging a piece fills no empty place"
    assert not may_have_left(BELIEVED, frozenset({TURNED}), seen)
    stands = replace(seen, places={"a1": replace(sensed, log_probabilities={"empty": -3.0, "gold": -0.1})})
    assert not may_have_left(BELIEVED, frozenset({LEFT}), stands)


def test_touches_on_other_places_alone_speak_against_a_turn_that_only_sensors_know() -> None:
    sensed = PooledPlace({"empty": -0.1, "gold": -3.0}, sensed_only=True)
    turns = [SimpleNamespace(places=("a1", "c1")), SimpleNamespace(places=("a1", "d1"))]

    def elsewhere(*touched: str, camera: bool = False) -> bool:
        places = {"a1": sensed, "c1": replace(sensed, sensed_only=not camera)}
        changes = tuple(PlaceChange(place, True, 3.0) for place in touched)
        return touched_elsewhere(
            frozenset({LEFT, CAME}), turns, PooledReading(places, frozenset(), 9.0, 0, changes=changes)
        )

    assert elsewhere("b1")
    assert not elsewhere("b1", "d1"), "one of the turns passed there"
    assert not elsewhere()
    assert not elsewhere("b1", camera=True)


def test_the_last_sensor_change_of_a_turn_is_the_latest_on_its_places() -> None:
    changes = tuple(
        PlaceChange(place, True, time_s) for place, time_s in (("a1", 3.0), ("c1", 5.0), ("a1", 4.0), ("d1", 9.0))
    )
    seen = PooledReading({}, frozenset(), 10.0, 0, changes=changes)
    assert last_sensor_change_s(BELIEVED, {**BELIEVED, "a1": "empty", "c1": "gold"}, seen, 7.0) == 5.0
    assert last_sensor_change_s(BELIEVED, {**BELIEVED, "b1": "red"}, seen, 7.0) == 7.0
    assert last_sensor_change_s(BELIEVED, BELIEVED, seen, 7.0) == 7.0


def explanation(kind: ExplanationKind, *changes: tuple[str, str]) -> Explanation[Any, Any]:
    return Explanation(kind, None, frozenset(changes), 0.0)


TURN = explanation(ExplanationKind.TURN, LEFT, CAME)
OTHER_TURN = explanation(ExplanationKind.TURN, LEFT, ("d1", "gold"))
PART = explanation(ExplanationKind.PART, LEFT)
TWO_TURNS = explanation(ExplanationKind.TWO_TURNS, LEFT, CAME)


@pytest.mark.parametrize(
    ("conclusion", "alike", "every", "hides", "taken"),
    [
        (Conclusion.UNDECIDED, True, (PART, TURN), False, (TURN,)),
        (Conclusion.UNDECIDED, True, (TURN, TURN, PART), False, (TURN, TURN)),
        (Conclusion.UNDECIDED, False, (PART, TURN), False, None),
        (Conclusion.FORBIDDEN, True, (PART, TURN), False, None),
        (Conclusion.UNDECIDED, True, (TURN, OTHER_TURN), False, None),
        (Conclusion.UNDECIDED, True, (TURN, TWO_TURNS), False, None),
        (Conclusion.UNDECIDED, True, (PART, PART), False, None),
        (Conclusion.UNDECIDED, True, (PART, TURN), True, None),
    ],
)
def test_a_finished_turn_rules_out_partial_turns_if_only_one_whole_turn_is_possible(
    conclusion: Conclusion, alike: bool, every: tuple[Explanation[Any, Any], ...], hides: bool, taken: Any
) -> None:
    decision = Decision(conclusion, every[:1], frozenset(), 0.5, ("a1",), every[1:], is_alike_to_sensors=alike)
    sensed = PooledPlace({"empty": -3.0, "gold": -0.1, "teal": -0.1}, sensed_only=True)
    seen = PooledReading({"a1": sensed} if hides else {}, frozenset(), 0.0, 0)
    # c1 is only sensed, and was occupied before.
    believed = {**BELIEVED, "c1": "teal"} if hides else BELIEVED
    seen = replace(seen, places={"c1": sensed}) if hides else seen
    whole = rule_out_parts(believed, decision, seen)
    if taken is None:
        assert whole is decision
    else:
        assert (whole.conclusion, whole.explanations) == (Conclusion.ALLOWED, taken)
        assert (whole.places, whole.rivals, whole.is_alike_to_sensors, whole.margin) == ((), (), False, 0.5)


@pytest.mark.parametrize(
    ("conclusion", "alike", "changes", "undone", "lies"),
    [
        (Conclusion.ALLOWED, False, {LEFT, CAME}, [{LEFT, CAME}], True),
        (Conclusion.FORBIDDEN, False, {LEFT, CAME}, [{CAME}, {LEFT, CAME}], True),
        (Conclusion.UNDECIDED, True, {LEFT, CAME}, [{LEFT, CAME}], True),
        (Conclusion.UNDECIDED, False, {LEFT, CAME}, [{LEFT, CAME}], False),
        (Conclusion.ALLOWED, False, {LEFT, CAME}, [{LEFT}], False),
        (Conclusion.ALLOWED, False, set(), [set()], False),
    ],
)
def test_an_undone_turn_is_recognised_while_the_table_still_shows_it(
    deblockle: Any, conclusion: Conclusion, alike: bool, changes: Changes, undone: list[Changes], lies: bool
) -> None:
    shown = frozenset(changes) if conclusion is Conclusion.FORBIDDEN else frozenset()
    best = explanation(ExplanationKind.TURN, *(changes - shown))
    decision = Decision(conclusion, (best,), shown, 0.0, is_alike_to_sensors=alike)
    case = Case(JudgeContext(deblockle), (deblockle.rules.new(),), PooledReading({}, frozenset(), 0.0, 0))
    refused = [frozenset(each) for each in undone]
    assert bool(undone_turns_shown(case, refused, decision)) is lies


@dataclass(frozen=True)
class Played:
    """A turn, by the places that it names."""

    places: tuple[str, ...]


@pytest.mark.parametrize(
    ("trigger", "turns", "stopped", "asks"),
    [
        (Trigger.DECLARED, [("a1", "c1")], [], True),
        (Trigger.DECLARED, [], ["c1"], False),
        (Trigger.RESTED, [("a1", "c1")], [], False),
        (Trigger.RESTED, [("a1", "c1")], ["c1"], True),
        (Trigger.RESTED, [("a1", "c1")], ["c1", "a1"], True),
        (Trigger.RESTED, [("a1", "c1")], ["d1"], False),
        (Trigger.RESTED, [("a1", "c1")], ["c1", "d1"], False),
        (Trigger.RESTED, [("a1", "c1"), ("c1", "d1")], ["c1", "d1"], True),
        (Trigger.GLANCE, [("a1", "c1")], ["c1"], True),
    ],
)
def test_turns_without_a_sensed_change_are_asked_about_at_a_press_or_after_a_stopover(
    trigger: Trigger, turns: list[tuple[str, ...]], stopped: list[str], asks: bool
) -> None:
    nothing = explanation(ExplanationKind.NOTHING)
    unsensed = tuple(replace(TURN, first=(Played(places),)) for places in turns)
    decision: Any = Decision(Conclusion.ALLOWED, (nothing,), frozenset(), 0.0, unsensed=unsensed)
    lifts = [PlaceChange(place, down, 1.0 if down else 1.3) for place in stopped for down in (True, False)]
    seen = PooledReading({}, frozenset(), 10.0, 0, changes=tuple(lifts))
    assert should_ask_about_unsensed(decision, seen, JudgeSettings(), trigger) is asks
    brushed = replace(seen, changes=tuple(replace(one, time_s=min(one.time_s, 1.2)) for one in lifts))
    assert should_ask_about_unsensed(decision, brushed, JudgeSettings(), trigger) is (
        bool(turns) and trigger is Trigger.DECLARED
    )
