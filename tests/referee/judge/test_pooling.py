"""Pooling several readings: medians, places hidden too often, sensors alone and beside a camera."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.judge.decision import Conclusion, Decision
from referee.judge.evidence.sensors import set_aside_disputes
from referee.judge.explanations import Explanation, ExplanationKind
from referee.judge.pooled_reading import (
    PIECE,
    PooledPlace,
    PooledReading,
    pool,
)
from vision.reading import HindranceKind, PlaceChange, PlacePicture, PlaceReading, Reading

LOOKS = ("empty", "gold", "teal")
FLOOR = 1e-5


def place(empty: float, gold: float, teal: float, sensed: float | None = None, *, hidden: bool = False) -> PlaceReading:
    looks = {"empty": empty, "gold": gold, "teal": teal}
    return PlaceReading(looks, hidden_by=HindranceKind.OBJECT if hidden else None, sensed=sensed)


def pooled(*places: PlaceReading, doubted: dict[str, bool] | None = None) -> PooledReading:
    readings = [Reading(number, number / 10, {"c3": one}) for number, one in enumerate(places)]
    return pool(readings, ["c3"], LOOKS, FLOOR, doubted)


GOLD, EMPTY = place(0.05, 0.9, 0.05), place(0.9, 0.05, 0.05)
HIDDEN = place(0, 0, 0, hidden=True)


def test_a_minority_of_bad_frames_has_no_effect() -> None:
    seen = pooled(GOLD, EMPTY, GOLD).places["c3"]
    assert seen.best == "gold"
    assert seen.log_probabilities == pytest.approx(
        {"empty": math.log(0.05), "gold": math.log(0.9), "teal": math.log(0.05)}
    )


@pytest.mark.parametrize(
    ("places", "hidden"), [((GOLD, HIDDEN, GOLD), False), ((GOLD, HIDDEN), True), ((HIDDEN, GOLD, HIDDEN), True)]
)
def test_a_place_hidden_in_half_of_the_readings_is_hidden(places: tuple[PlaceReading, ...], hidden: bool) -> None:
    seen = pooled(*places)
    assert seen.hidden == ({"c3"} if hidden else set())
    assert ("c3" in seen.places) is not hidden


def test_no_look_is_less_probable_than_the_floor() -> None:
    assert pooled(place(1.0, 0.0, 0.0)).places["c3"].log_probabilities["gold"] == math.log(FLOOR)


def test_a_look_that_a_reading_does_not_name_is_as_improbable_as_the_floor() -> None:
    one = pooled(PlaceReading({"gold": 0.9, "empty": 0.1})).places["c3"]
    assert (one.best, one.log_probabilities["teal"]) == ("gold", math.log(FLOOR))


def test_pooling_needs_a_reading() -> None:
    with pytest.raises(ValueError, match="at least one"):
        pool([], ["c3"], LOOKS, FLOOR)


def test_a_sensor_alone_knows_a_piece_and_no_look() -> None:
    seen = pooled(place(0, 0, 0, sensed=0.99, hidden=True))
    assert seen.only_sensed("c3")
    assert not seen.only_sensed("d4")
    one = seen.places["c3"]
    assert (one.best, one.sensed_only) == (PIECE, True)
    assert one.lead(PIECE, "empty") == pytest.approx(math.log(99))
    assert one.lead("gold", "teal") == 0
    assert one.certainty == pytest.approx(math.log(99))
    assert (one.observable_look("gold"), one.observable_look("empty")) == (PIECE, "empty")
    assert (one.agrees("teal"), one.agrees("empty")) == (True, False)
    assert seen.sensed == {"c3": True}


def test_a_camera_gives_looks_and_the_certainty_that_a_place_is_occupied() -> None:
    one = pooled(GOLD).places["c3"]
    assert one.lead(PIECE, "empty") == pytest.approx(math.log(0.9 / 0.05))
    assert one.lead("teal", "gold") == pytest.approx(math.log(0.05 / 0.9))
    assert one.certainty == pytest.approx(math.log(0.9 / 0.05))
    assert (one.observable_look("gold"), one.agrees("teal")) == ("gold", False)


def test_a_look_of_another_game_is_an_error() -> None:
    with pytest.raises(KeyError):
        pooled(GOLD).places["c3"].lead("purple", "empty")


def test_one_look_alone_is_certain() -> None:
    assert PooledPlace({"empty": 0.0}).certainty == math.inf
    assert PooledPlace({"empty": -0.5, "gold": -2.5}).certainty == 2.0


def test_the_certainty_of_a_place_is_the_lead_of_its_best_look() -> None:
    assert pooled(place(0.6, 0.1, 0.3)).places["c3"].certainty == pytest.approx(math.log(2))


def test_a_sensor_adds_to_what_a_camera_sees() -> None:
    alone, together = pooled(place(0.4, 0.5, 0.1)), pooled(place(0.4, 0.5, 0.1, sensed=0.8))
    lead = alone.places["c3"].lead("gold", "empty")
    assert together.places["c3"].lead("gold", "empty") == pytest.approx(lead + math.log(4))
    assert together.places["c3"].lead("gold", "teal") == pytest.approx(math.log(5))
    assert sum(map(math.exp, together.places["c3"].log_probabilities.values())) == pytest.approx(1.0)
    assert not together.only_sensed("c3")


def test_a_sensor_known_to_be_wrong_is_ignored_until_its_value_changes() -> None:
    torn = place(0.4, 0.5, 0.1, sensed=0.8)
    assert pooled(torn, doubted={"c3": True}).places == pooled(place(0.4, 0.5, 0.1)).places
    assert pooled(torn, doubted={"c3": False}).places == pooled(torn).places
    assert pooled(torn, doubted={"c3": True}).sensed == {"c3": True}
    assert pooled(place(0, 0, 0, 0.9, hidden=True), doubted={"c3": True}).hidden == {"c3"}


@pytest.mark.parametrize(
    ("sensed", "disputed"), [(0.001, True), (0.1, True), (0.13, False), (0.5, False), (0.999, False)]
)
def test_camera_and_sensor_contradict_each_other_where_both_are_sure(sensed: float, disputed: bool) -> None:
    seen = pooled(place(0.01, 0.98, 0.01, sensed))
    assert bool(seen.disputed) is disputed
    if disputed:
        assert seen.places["c3"] == seen.disputed["c3"].camera
        assert seen.places["c3"].best == "gold"
        assert seen.disputed["c3"].sensor.best == "empty"


@pytest.mark.parametrize("looks", [("gold", "teal"), ("empty",)])
def test_a_camera_that_cannot_tell_occupied_from_empty_disputes_no_sensor(looks: tuple[str, ...]) -> None:
    one = PlaceReading({looks[0]: 0.99}, sensed=0.001)
    assert not pool([Reading(0, 0.0, {"c3": one})], ["c3"], looks, FLOOR).disputed


def test_an_unsure_camera_disputes_no_sensor() -> None:
    assert not pooled(place(0.3, 0.6, 0.1, sensed=0.001)).disputed


def test_a_dispute_hides_the_place_only_if_the_camera_sees_a_change() -> None:
    seen = pooled(place(0.01, 0.98, 0.01, 0.001))
    assert seen.without_new_disputes({"c3": "gold"}).hidden == frozenset()
    assert seen.without_new_disputes({"c3": "empty"}).hidden == {"c3"}
    assert seen.without_new_disputes({}).hidden == {"c3"}
    assert seen.trusting_camera().without_new_disputes({"c3": "empty"}).hidden == frozenset()
    assert seen.without_new_disputes({"c3": "empty"}).trusting_sensors().places["c3"].best == "empty"
    assert seen.without_new_disputes({"c3": "empty"}).trusting_sensors().hidden == frozenset()


@pytest.mark.parametrize(
    ("conclusion", "changes", "set_aside"),
    [
        (Conclusion.ALLOWED, frozenset(), ("c3",)),
        (Conclusion.ALLOWED, frozenset({("c3", "gold")}), ()),
        (Conclusion.UNDECIDED, frozenset(), ()),
        (Conclusion.FORBIDDEN, frozenset(), ()),
    ],
)
def test_a_firm_decision_sets_aside_disputed_places_that_it_does_not_explain(
    conclusion: Conclusion, changes: frozenset[tuple[str, str]], set_aside: tuple[str, ...]
) -> None:
    seen = pooled(place(0.01, 0.98, 0.01, 0.001)).without_new_disputes({"c3": "empty"})
    best: Explanation[Any, Any] = Explanation(ExplanationKind.NOTHING, None, changes, 0.0)
    decision = Decision(conclusion, (best,), frozenset(), 0.0)
    assert set_aside_disputes({"c3": "empty"}, decision, seen).set_aside == set_aside


def test_visible_noticeable_and_observable_changes() -> None:
    base = {"c3": "gold", "d4": "empty"}
    seen = pooled(place(0, 0, 0, sensed=0.99, hidden=True))
    assert seen.noticeable_changes(base, [("c3", "teal"), ("d4", "gold")]) == {("d4", "gold")}
    assert seen.observable_changes(base, [("c3", "empty")]) == {("c3", "empty")}
    assert seen.observable_changes({"c3": "empty"}, [("c3", "gold")]) == {("c3", PIECE)}
    assert seen.without(["c3"]).visible_changes(base, [("c3", "empty"), ("d4", "gold")]) == {("d4", "gold")}
    assert seen.without(["c3"]).observable_changes(base, [("c3", "empty")]) == {("c3", "empty")}


def test_a_place_could_have_any_look_within_the_given_distance_of_the_best() -> None:
    seen = pooled(place(0.1, 0.8, 0.1))
    behind = math.log(8)
    assert seen.could_be(behind + 0.01)["c3"] == LOOKS
    assert seen.could_be(behind - 0.01)["c3"] == ("gold",)
    assert seen.could_be(0.0)["c3"] == ("gold",)
    assert pooled(HIDDEN).could_be(1.0) == {}


def test_handwriting_gets_a_wider_bound_unless_the_place_looks_empty() -> None:
    empty, gold, teal = 0.01, 0.9, 0.09
    written, behind = place(empty, gold, teal), math.log(gold / teal)
    assert pooled(written).could_be(1.0, behind)["c3"] == ("gold", "teal")
    assert pooled(written).could_be(1.0, behind - 1.01)["c3"] == ("gold",)
    assert pooled(place(gold, teal, empty)).could_be(1.0, behind)["c3"] == ("empty",)


def test_the_wider_bound_applies_only_between_written_looks() -> None:
    assert pooled(place(0.25, 0.7, 0.05)).could_be(1.0, 3.0)["c3"] == ("gold", "teal")
    assert pooled(place(0.3, 0.65, 0.05)).could_be(1.0, 3.0)["c3"] == LOOKS
    assert pooled(place(0.6, 0.3, 0.1)).could_be(1.0, 3.0)["c3"] == ("empty", "gold")


def test_rarity_does_not_exclude_a_look() -> None:
    behind = math.log(8)
    seen = pooled(replace(place(0.1, 0.8, 0.1), rarer={"teal": 1.0}))
    assert seen.could_be(behind - 0.99)["c3"] == ("gold", "teal")
    assert seen.could_be(behind - 1.01)["c3"] == ("gold",)


def test_a_place_assumed_to_be_as_believed_is_certain() -> None:
    seen = pooled(HIDDEN).assuming({"c3": "teal"}, ["c3"], LOOKS)
    assert (seen.hidden, seen.places["c3"].best) == (frozenset(), "teal")
    assert seen.places["c3"].certainty > 20


def test_sensor_changes_up_to_the_given_time_are_dropped() -> None:
    changes = tuple(PlaceChange("c3", True, time_s) for time_s in (4.0, 5.0, 6.0))
    seen = replace(pooled(GOLD), changes=changes)
    assert seen.with_changes_since(5.0).changes == changes[2:]


def test_time_and_changes_are_those_of_the_last_reading() -> None:
    changes = (PlaceChange("c3", True, 4.0),)
    seen = pool([Reading(6, 0.6, {}), Reading(7, 0.7, {}, changes=changes)], ["c3"], LOOKS, FLOOR)
    assert (seen.sequence, seen.time_s, seen.changes) == (7, 0.7, changes)


@pytest.mark.parametrize(
    ("seen_in", "readings", "is_told"), [(1, 3, False), (2, 3, True), (3, 3, True), (2, 4, False), (2, 5, False)]
)
def test_a_side_counts_when_most_readings_see_it(seen_in: int, readings: int, is_told: bool) -> None:
    with_side = replace(GOLD, sides={"north": {"x": 0.9, "star": 0.1}})
    sides = pooled(*[with_side] * seen_in, *[GOLD] * (readings - seen_in)).places["c3"].sides
    assert set(sides) == ({"north"} if is_told else set())
    if is_told:
        assert sides["north"] == pytest.approx({"x": math.log(0.9), "star": math.log(0.1)})


@pytest.mark.parametrize(("sensed", "is_told"), [((0.9, None), False), ((0.9, 0.9), True), ((0.9, None, 0.9), True)])
def test_a_sensor_counts_when_it_speaks_in_most_readings(sensed: tuple[float | None, ...], is_told: bool) -> None:
    seen = pooled(*(replace(HIDDEN, sensed=one) for one in sensed))
    assert seen.only_sensed("c3") is is_told


def test_even_the_surest_sensor_leaves_some_doubt() -> None:
    for sensed in (0.0, 1.0):
        seen = pooled(replace(HIDDEN, sensed=sensed))
        assert seen.places["c3"].certainty == pytest.approx(math.log((1 - FLOOR) / FLOOR))
        assert seen.places["c3"].best == (PIECE if sensed else "empty")


@pytest.mark.parametrize(("sensed", "says"), [(0.4, False), (0.6, True)])
def test_a_sensor_reports_the_likelier_state(sensed: float, says: bool) -> None:
    assert pooled(replace(GOLD, sensed=sensed)).sensed == {"c3": says}


def test_a_dispute_continues_under_a_cover_while_the_sensor_repeats_its_value() -> None:
    earlier = pooled(place(0.01, 0.98, 0.01, 0.001)).disputed
    covered = pooled(replace(HIDDEN, sensed=0.001)).with_earlier_disputes(earlier)
    assert (covered.hidden, covered.disputed) == (frozenset({"c3"}), earlier)
    felt = pooled(replace(HIDDEN, sensed=0.999))
    assert felt.with_earlier_disputes(earlier) == felt
    seen = pooled(GOLD)
    assert seen.with_earlier_disputes(earlier) == seen


STACK = replace(GOLD, heights={2: 0.8, 3: 0.2}, tops_mm={2: (1.0, 5.0), 3: (2.0, 6.0)})


@pytest.mark.parametrize(("told_in", "is_told"), [(1, False), (2, True), (3, True)])
def test_heights_and_tops_count_when_most_readings_have_them(told_in: int, is_told: bool) -> None:
    one = pooled(*[STACK] * told_in, *[GOLD] * (3 - told_in)).places["c3"]
    assert one.heights == (pytest.approx({2: math.log(0.8), 3: math.log(0.2)}) if is_told else {})
    assert one.tops_mm == (STACK.tops_mm if is_told else {})


def test_half_of_the_readings_that_see_a_stack_are_no_majority() -> None:
    for readings in ((STACK, GOLD, HIDDEN, STACK, GOLD), (STACK, GOLD, HIDDEN, HIDDEN, STACK, GOLD, GOLD)):
        one = pooled(*readings).places["c3"]
        assert (one.heights, one.tops_mm) == ({}, {})
    assert pooled(STACK, STACK, GOLD, HIDDEN, HIDDEN).places["c3"].tops_mm == STACK.tops_mm


def test_a_top_is_at_the_median_position_by_coordinate() -> None:
    tops = [(1.0, 9.0), (3.0, 5.0), (2.0, 7.0)]
    seen = pooled(*(replace(STACK, tops_mm={2: top, 4: top} if top[0] > 1 else {2: top}) for top in tops))
    assert seen.places["c3"].tops_mm == {2: (2.0, 7.0), 4: (2.5, 6.0)}


def test_the_newest_picture_is_kept() -> None:
    pictures = [PlacePicture(np.full((4, 4), number, np.float32), (2.0, 2.0)) for number in range(3)]
    last_hidden = replace(HIDDEN, picture=pictures[2])
    seen = pooled(*(replace(GOLD, picture=one) for one in (*pictures[:2], pictures[0])), last_hidden)
    assert seen.places["c3"].picture is pictures[0]
    assert pooled(*(replace(GOLD, picture=one) for one in pictures)).places["c3"].picture is pictures[2]


@given(st.dictionaries(st.sampled_from(["a1", "b2", "c3", "d4"]), st.sampled_from(LOOKS)), st.sets(st.just("c3")))
def test_changes_are_observed_alike_whether_or_not_a_sensor_alone_knows_another_place(
    after: dict[str, str], hidden: set[str]
) -> None:
    base = {"a1": "gold", "b2": "teal", "c3": "empty"}
    camera = pooled(GOLD).places["c3"]
    seen = PooledReading(dict.fromkeys({"a1", "b2", "c3"} - hidden, camera), frozenset(hidden), 0.0, 0)
    felt = pooled(place(0, 0, 0, sensed=0.9, hidden=True)).places["c3"]
    with_sensor = replace(seen, places={**seen.places, "z9": felt})
    changes = frozenset(after.items())
    for observe in (PooledReading.observable_changes, PooledReading.noticeable_changes, PooledReading.visible_changes):
        assert observe(seen, base, changes) == observe(with_sensor, base, changes)


@given(st.data())
def test_readings_that_share_their_distributions_are_pooled_like_equal_ones(data: st.DataObject) -> None:
    share = st.floats(0, 1)
    shown = data.draw(st.lists(st.builds(place, share, share, share), min_size=1, max_size=4))
    chosen = data.draw(st.lists(st.lists(st.sampled_from(shown), min_size=5, max_size=5), min_size=1, max_size=3))
    places = [f"a{number}" for number in range(len(chosen))]
    shared = [Reading(0, 0.0, dict(zip(places, each, strict=True))) for each in zip(*chosen, strict=True)]
    apart = [
        replace(
            one, places={at: replace(seen, probabilities=dict(seen.probabilities)) for at, seen in one.places.items()}
        )
        for one in shared
    ]
    assert pool(shared, places, LOOKS, FLOOR) == pool(apart, places, LOOKS, FLOOR)
