"""State kept between looks: a person's corrections, sensors known to be wrong, and places set aside."""

import math
from typing import Any

import pytest

from referee.judge.belief import Belief, Observations, Override, override_belief
from referee.judge.explorer import JudgeContext
from referee.judge.pooled_reading import PooledReading
from tests.referee.judge.drawn import seen_as
from vision.reading import PlaceChange

BELIEVED = {"a1": "black piece", "b1": "empty", "c1": "empty"}


def sensed(**says: bool) -> PooledReading:
    return PooledReading({}, frozenset(), 7.0, 0, sensed=says)


def test_a_sensor_that_contradicts_the_belief_is_doubted_until_its_value_changes() -> None:
    belief: Belief[Any, Any] = Belief()
    doubting = belief.distrust_sensors({"a1": False, "b1": True, "c1": False}, BELIEVED)
    assert doubting.observations.doubted == {"a1": False, "b1": True}
    later = doubting.after_sensing(sensed(a1=True, c1=False))
    assert later.observations.doubted == {"b1": True}
    assert later.observations.sensed == {"a1": True, "c1": False}
    again = later.distrust_sensors({"a1": False}, BELIEVED)
    assert again.observations.doubted == {"a1": False, "b1": True}


def test_a_place_is_no_longer_ignored_once_its_sensor_reports_a_change() -> None:
    observations = Observations(doubted={"a1": False, "b1": True}, since_s=5.0)
    override = Override(ignored_looks={"a1": "empty", "c1": "black piece"})
    belief: Belief[Any, Any] = Belief(observations=observations, override=override)
    changes = (PlaceChange("b1", put_down=True, time_s=5.0), PlaceChange("a1", put_down=False, time_s=6.0))
    later = belief.after_sensor_changes(changes)
    assert later.observations.doubted == {"b1": True}, "the change on b1 was known when the belief began"
    assert later.override.ignored_looks == {"c1": "black piece"}


def test_a_new_belief_ignores_sensor_changes_from_before_it() -> None:
    belief: Belief[Any, Any] = Belief.of(())
    assert belief.observations.since_s == -math.inf
    looked = belief.after_looking(sensed())
    assert (looked.observations.looked_s, looked.observations.since_s) == (7.0, -math.inf)
    assert looked.with_states(()).observations.since_s == 7.0


def test_a_place_that_a_person_described_while_it_was_hidden_is_asked_about_once_it_looks_different() -> None:
    override = Override(frozenset({"a1", "b1"}), {"b1": "white piece", "c1": "white piece"}, frozenset({"a1", "b1"}))
    assert override.places_to_ask == {"b1"}
    assert (
        Override(ignored_looks={"b1": "x"}, unseen=frozenset({"b1"}), asked=frozenset({"b1"})).places_to_ask
        == frozenset()
    )
    assert override.without(["b1"]) == Override(frozenset({"a1"}), {"c1": "white piece"}, frozenset({"a1"}))


def test_confirming_places_sets_them_aside() -> None:
    belief: Belief[Any, Any] = Belief(set_aside=frozenset({"a1"}))
    assert belief.with_places_confirmed(["b1"]).set_aside == {"a1", "b1"}


def test_a_correction_needs_at_least_one_state(diaballik: Any) -> None:
    with pytest.raises(ValueError, match="at least one state"):
        override_belief(JudgeContext(diaballik), Belief(), ())


def test_a_correction_refuses_the_old_belief_and_overrides_the_camera_on_the_named_places(
    diaballik: Any,
) -> None:
    context: JudgeContext[Any, Any] = JudgeContext(diaballik)
    state = diaballik.rules.new()
    after = diaballik.rules.apply(state, diaballik.notation.parse_turn(state, "a1-a2 a2-a3"))
    seen = seen_as(diaballik, after, {"c1": "hidden"})
    belief: Belief[Any, Any] = Belief.of((after,))
    looked = belief.after_looking(seen)
    told = override_belief(context, looked, (state,), ("a1", "b1", "c1"))
    assert told.states == (state,)
    assert told.conversation.taken_back == {frozenset({("a1", "empty"), ("a3", "black piece")})}
    # The camera agreed about b1 and could not see c1.
    assert told.override == Override(frozenset({"a1", "c1"}), unseen=frozenset({"c1"}))
    again = override_belief(context, told, (state,))
    assert again.conversation.taken_back == told.conversation.taken_back
    taken_back = override_belief(context, told, (state,), undone=(after,))
    assert taken_back.conversation.taken_back == told.conversation.taken_back


def test_after_a_correction_sensors_that_were_already_wrong_stay_doubted(diaballik: Any) -> None:
    state = diaballik.rules.new()
    after = diaballik.rules.apply(state, diaballik.notation.parse_turn(state, "a1-a2 a2-a3"))
    stuck: Belief[Any, Any] = Belief(
        (state,), (state,), observations=Observations(sensed={"a1": True, "a3": False, "d4": True, "b1": True})
    )
    told = override_belief(JudgeContext(diaballik), stuck, (after,))
    # d4 contradicted the old belief too; a1 and a3 agreed with it and may still change.
    assert told.observations.doubted == {"d4": True}


def test_before_the_first_look_no_sensor_change_is_too_old(deblockle: Any) -> None:
    state = deblockle.rules.new()
    belief: Belief[Any, Any] = Belief.of([state])
    assert belief.with_states([state]).observations.since_s == -math.inf
