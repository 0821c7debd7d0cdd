"""Detecting that the table is at rest."""

from dataclasses import replace
from typing import Any

import pytest

from referee.judge.stability import STILLS, StabilityFilter, StabilitySettings, StableView, blocking_hindrance
from vision.reading import Hindrance, HindranceKind, Reading

HAND = (Hindrance(HindranceKind.HAND, "a hand is over a1", ("a1",)),)


@pytest.fixture
def start(deblockle: Any) -> dict[str, str]:
    return dict(deblockle.table.appearance(deblockle.rules.new()))


def test_a_table_settles_after_enough_readings_over_enough_time(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=3, quiet_s=0.5))
    results = [settler.add(make_reading(start, time_s=time_s)) for time_s in (7.0, 7.1, 7.2, 7.5)]
    assert results[:3] == [None, None, None]
    assert results[3] is not None
    assert results[3].rested_s == pytest.approx(0.5)
    assert len(results[3].readings) == 4


def test_only_the_latest_readings_of_a_long_rest_are_kept(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter()
    views = [settler.add(make_reading(start, time_s=step / 10)) for step in range(15)]
    assert [view is not None for view in views[:5]] == [False, False, False, True, True]
    latest = views[-1]
    assert latest is not None
    assert [reading.time_s for reading in latest.readings] == [step / 10 for step in range(6, 15)]
    assert latest.since_s == 0.0


def test_a_hand_restarts_the_wait_however_still_it_lies(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    settler.add(make_reading(start, time_s=0.0))
    assert settler.add(make_reading(start, time_s=0.1)) is not None
    for step in range(10):
        assert settler.add(make_reading(start, time_s=0.2 + step / 10, hindrances=HAND)) is None
    assert settler.add(make_reading(start, time_s=1.3)) is None
    again = settler.add(make_reading(start, time_s=1.4))
    assert again is not None
    assert again.since_s == pytest.approx(1.3)


def test_a_change_restarts_the_wait_with_the_first_reading_that_shows_it(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    for time_s in (0.0, 0.1, 0.2):
        settler.add(make_reading(start, time_s=time_s))
    moved = {**start, "c1": "empty", "a1": start["c1"]}
    assert settler.add(make_reading(moved, time_s=0.3)) is None
    settled = settler.add(make_reading(moved, time_s=0.4))
    assert settled is not None
    assert settled.since_s == pytest.approx(0.3)


def test_one_odd_reading_is_ignored(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    for time_s in (0.0, 0.1):
        settler.add(make_reading(start, time_s=time_s))
    assert settler.add(make_reading({**start, "c1": "empty"}, time_s=0.2)) is None
    settled = settler.add(make_reading(start, time_s=0.3))
    assert settled is not None
    assert settled.since_s == 0.0


@pytest.mark.parametrize(("gap_s", "since_s"), [(0.3, 0.0), (0.7, 0.8)])
def test_frames_that_cannot_be_used_disturb_no_rest_for_a_moment(
    make_reading: Any, start: Any, gap_s: float, since_s: float
) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0, gap_s=0.5))
    for time_s in (0.0, 0.1):
        settler.add(make_reading(start, time_s=time_s))
    damaged = (Hindrance(HindranceKind.BAD_FRAME, "it is torn"),)
    for time_s in (0.2, 0.1 + gap_s):
        assert settler.add(Reading(0, time_s, {}, damaged)) is None
    settler.add(make_reading(start, time_s=0.8))
    settled = settler.add(make_reading(start, time_s=0.9))
    assert settled is not None
    assert settled.since_s == since_s


def test_an_unsure_place_may_flicker(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(StabilitySettings(readings=3, quiet_s=0.0))
    looks = [{"c1": {"gold block, x up": 0.5}}, {"c1": {"gold block, cross up": 0.5}}] * 3
    results = [settler.add(make_reading(start, time_s=step / 10, overrides=odd)) for step, odd in enumerate(looks)]
    assert results[-1] is not None
    assert results[-1].since_s == 0.0


@pytest.mark.parametrize(("probability", "since_s"), [(0.79, 0.0), (0.8, 0.2)])
def test_a_look_is_certain_from_the_configured_probability(
    make_reading: Any, start: Any, probability: float, since_s: float
) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0, sure_probability=0.8))
    for time_s in (0.0, 0.1):
        settler.add(make_reading(start, time_s=time_s))
    other = {"c1": {"empty": probability}}
    views = [settler.add(make_reading(start, time_s=time_s, overrides=other)) for time_s in (0.2, 0.3, 0.4)]
    assert views[-1] is not None
    assert views[-1].since_s == since_s


@pytest.mark.parametrize(("sensed", "is_empty"), [(0.99, False), (0.01, True)])
def test_a_table_on_which_a_sensor_feels_a_piece_is_not_empty(
    make_reading: Any, start: Any, sensed: float, is_empty: bool
) -> None:
    settler = StabilityFilter(STILLS)
    bare = make_reading(dict.fromkeys(start, "empty"))
    places = {**bare.places, "c1": replace(bare.places["c1"], sensed=sensed)}
    view = settler.add(replace(bare, places=places))
    assert view is not None
    assert view.is_empty is is_empty


@pytest.mark.parametrize(("sensed", "since_s"), [(0.79, 0.0), (0.8, 0.2), (0.21, 0.0), (0.2, 0.2)])
def test_a_sensor_is_certain_from_the_configured_probability(
    make_reading: Any, start: Any, sensed: float, since_s: float
) -> None:
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0, sure_probability=0.8))

    def add(time_s: float, says: float) -> StableView | None:
        reading = make_reading(start, time_s=time_s)
        return settler.add(
            replace(reading, places={**reading.places, "c1": replace(reading.places["c1"], sensed=says)})
        )

    for time_s in (0.0, 0.1):
        add(time_s, 1 - sensed)
    views = [add(time_s, sensed) for time_s in (0.2, 0.3, 0.4)]
    assert views[-1] is not None
    assert views[-1].since_s == since_s


def test_every_still_is_settled(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter(STILLS)
    assert settler.add(make_reading(start)) is not None
    assert settler.add(make_reading({**start, "c1": "empty"}, time_s=1)) is not None


def test_the_readings_collected_so_far_are_available(make_reading: Any, start: Any) -> None:
    settler = StabilityFilter()
    assert settler.pending() is None
    settler.add(make_reading(start))
    pending = settler.pending()
    assert pending is not None
    assert len(pending.readings) == 1
    settler.clear()
    assert settler.pending() is None


def test_a_view_is_empty_if_every_place_is_certainly_empty() -> None:
    empty = StableView((), 0.0, {"a1": "empty", "b1": "empty"})
    assert empty.is_empty
    assert not StableView((), 0.0, {"a1": "empty", "b1": "red"}).is_empty
    assert not StableView((), 0.0, {}).is_empty, "nothing is sure"


def test_the_newest_reading_may_see_other_places_than_the_majority(make_reading: Any, start: Any) -> None:
    readings = [make_reading(start, hidden=hidden) for hidden in (["c1"], ["c1", "d1"], ["d1", "e1"], [])]
    assert StableView(tuple(readings[:3]), 0.0, {}).newest_in_sight == start.keys() - {"d1", "e1"}
    assert StableView(tuple(readings[:3]), 0.0, {}).in_sight == start.keys() - {"c1", "d1"}
    assert StableView(tuple(readings), 0.0, {}).newest_in_sight == start.keys()
    assert StableView(tuple(readings), 0.0, {}).in_sight == start.keys() - {"c1", "d1"}, "half is not most"


def test_views_look_alike_if_no_place_certainly_differs() -> None:
    view = StableView((), 0.0, {"a1": "empty", "b1": "red"})
    assert view.looks_like({"a1": "empty", "c1": "blue"})
    assert not view.looks_like({"a1": "empty", "b1": "blue"})


def test_an_object_on_one_square_does_not_block_the_table(make_reading: Any, start: Any) -> None:
    coin = (Hindrance(HindranceKind.OBJECT, "a foreign object is over a4", ("a4",)),)
    assert blocking_hindrance(make_reading(start, hindrances=coin)) is None
    assert blocking_hindrance(make_reading(start, hindrances=HAND)) == HAND[0]
    somewhere = (Hindrance(HindranceKind.OBJECT, "a foreign object lies beside the board"),)
    assert blocking_hindrance(make_reading(start, hindrances=somewhere)) is None


def test_a_sheet_that_is_not_located_blocks_nothing_while_another_is_read(make_reading: Any, start: Any) -> None:
    row = tuple(place for place in start if place.endswith("1"))
    lost = Hindrance(HindranceKind.NOT_LOCATED, "the sheet: no marker is in sight", row)
    assert blocking_hindrance(make_reading(start, hidden=row, hindrances=(lost,))) is None
    assert blocking_hindrance(make_reading(start, hidden=start, hindrances=(lost,))) == lost
    everywhere = Hindrance(HindranceKind.NOT_LOCATED, "no marker is in sight")
    assert blocking_hindrance(make_reading(start, hidden=row, hindrances=(everywhere,))) == everywhere
    settler = StabilityFilter(StabilitySettings(readings=2, quiet_s=0.0))
    views = [settler.add(make_reading(start, time_s=time_s, hidden=row, hindrances=(lost,))) for time_s in (0.0, 0.1)]
    assert views[-1] is not None
    assert views[-1].shown.keys() == start.keys() - set(row)


def test_a_reading_without_places_always_says_why() -> None:
    assert blocking_hindrance(Reading(0, 0.0, {})) is not None
    far = Hindrance(HindranceKind.OUTSIDE_PICTURE, "the board is not in the picture")
    assert blocking_hindrance(Reading(0, 0.0, {}, (far,))) == far
