"""Readers with sensors: readings while sensors report, are unsettled, or are silent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from referee.sensing.health import SensorHealth, SensorSettings
from referee.sensing.readers import FusedReader, SensorReader, TickSource
from tests.referee.sensed_table import ScriptedCamera, ScriptedSensors
from vision.errors import NotLocatedError
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind


def frame(time_s: float) -> Frame:
    return Frame(np.zeros((1, 1, 3), np.uint8), time_s, round(time_s * 10))


@pytest.fixture
def sensors(deblockle: Any) -> ScriptedSensors:
    return ScriptedSensors(
        {place: look != "empty" for place, look in deblockle.table.appearance(deblockle.rules.new()).items()}
    )


def alone(game: Any, sensors: ScriptedSensors, health: SensorHealth | None = None) -> SensorReader:
    return SensorReader(sensors, game.places, game.looks, health=health)


def test_sensors_alone_report_occupied_places(deblockle: Any, sensors: ScriptedSensors) -> None:
    reading = alone(deblockle, sensors).read(frame(1.0))
    assert set(reading.places) == set(deblockle.places)
    assert reading.places["c1"].sensed == pytest.approx(0.97 / 0.98)
    assert reading.places["c1"].best[1] < 0.1
    assert reading.places["a4"].best[0] == "empty"
    assert all(one.hidden_by == HindranceKind.NO_CAMERA for one in reading.places.values())
    assert sum(reading.places["c1"].probabilities.values()) == pytest.approx(1)


@pytest.mark.parametrize(("put_down", "quiet_s"), [(True, 0.4), (False, 1.5)])
def test_a_table_is_unsettled_for_a_moment_after_a_change(
    deblockle: Any, sensors: ScriptedSensors, put_down: bool, quiet_s: float
) -> None:
    reader = alone(deblockle, sensors)
    reader.read(frame(1.0))
    sensors.put("a4" if put_down else "c1", put_down, 2.0)
    busy = reader.read(frame(2.0 + quiet_s - 0.1))
    assert busy.hindered_by(HindranceKind.HAND) is not None
    assert busy.places == {}
    rested = reader.read(frame(2.0 + quiet_s + 0.1))
    assert rested.hindrances == ()
    assert [(change.place, change.put_down) for change in rested.changes] == [("a4" if put_down else "c1", put_down)]


def test_a_lost_change_is_noticed_by_the_occupied_places(deblockle: Any, sensors: ScriptedSensors) -> None:
    reader = alone(deblockle, sensors)
    reader.read(frame(1.0))
    sensors.put("c1", False, 2.0, told=False)
    assert reader.read(frame(3.0)).hindered_by(HindranceKind.HAND) is not None
    rested = reader.read(frame(5.0))
    assert [(change.place, change.put_down, change.time_s) for change in rested.changes] == [("c1", False, 3.0)]


def test_doubtful_stale_and_missing_sensors_give_no_evidence(deblockle: Any, sensors: ScriptedSensors) -> None:
    reader = alone(deblockle, sensors)
    sensors.doubtful = frozenset({"c1"})
    del sensors.stands["a4"]
    assert set(deblockle.places) - set(reader.read(frame(1.0)).places) == {"c1", "a4"}
    sensors.heard_s = 1.0
    stale = reader.read(frame(9.0))
    assert stale.places == {}
    hindrance = stale.hindered_by(HindranceKind.NOT_LOCATED)
    assert hindrance is not None
    assert hindrance.message == "No sensor can be read. Check the wiring or the board."
    sensors.silent = True
    assert reader.read(frame(10.0)).places == {}


def test_a_sensor_taken_out_gives_no_evidence_and_causes_no_wait(deblockle: Any, sensors: ScriptedSensors) -> None:
    health = SensorHealth()
    reader = alone(deblockle, sensors, health)
    reader.read(frame(1.0))
    for number in range(12):
        sensors.put("a4", number % 2 == 0, 2.0 + number / 10)
    chattering = reader.read(frame(3.2))
    assert "sensor under a4 has changed 12 times" in chattering.notices[0]
    assert "a4" not in chattering.places
    assert chattering.hindrances == ()
    assert chattering.changes == ()
    assert reader.read(frame(3.3)).notices == ()


def play_on_while_c1_is_off(game: Any, sensors: ScriptedSensors, lifted_s_before: float) -> SensorHealth:
    """Forty accepted turns on a4, while the sensor of the occupied c1 reports it free from this long before each."""
    health = SensorHealth()
    reader = alone(game, sensors, health)
    looks = dict(game.table.appearance(game.rules.new()))
    for turn in range(40):
        now_s = 100.0 * (turn + 1)
        looks["a4"] = "empty" if turn % 2 else looks["c1"]
        sensors.put("a4", looks["a4"] != "empty", now_s - 30)
        sensors.put("c1", True, now_s - 30)
        sensors.put("c1", False, now_s - lifted_s_before)
        reader.read(frame(now_s))
        reader.on_accepted(looks)
    return health


def test_a_piece_lifted_early_for_the_next_turn_does_not_make_a_sensor_faulty(
    deblockle: Any, sensors: ScriptedSensors
) -> None:
    assert play_on_while_c1_is_off(deblockle, sensors, 1.0).out == frozenset()
    assert play_on_while_c1_is_off(deblockle, sensors, 20.0).out == {"c1"}


def test_findings_are_reported_even_after_the_sensors_are_disconnected(
    deblockle: Any, sensors: ScriptedSensors
) -> None:
    reader = alone(deblockle, sensors)
    looks = dict(deblockle.table.appearance(deblockle.rules.new()))
    told: list[str] = []
    sensors.stuck["a4"] = True
    for turn in range(40):
        sensors.silent = False
        told += reader.read(frame(100.0 * turn)).notices
        assert told == []
        looks["a4"] = looks["c1"] if turn % 2 else "empty"
        reader.on_accepted(looks)
        sensors.silent = True
        told += reader.read(frame(100.0 * turn + 1)).notices
        if told:
            break
    assert len(told) == 1
    assert "a4" in told[0]


def test_turns_during_a_lost_connection_make_no_sensor_faulty(deblockle: Any, sensors: ScriptedSensors) -> None:
    def health_after(*, is_heard: bool) -> SensorHealth:
        looks = dict(deblockle.table.appearance(deblockle.rules.new()))
        camera, health = ScriptedCamera(deblockle, looks), SensorHealth()
        reader = FusedReader(camera, sensors, deblockle.places, deblockle.looks, health=health)
        for turn in range(40):
            now_s = 100.0 * (turn + 1)
            sensors.heard_s = now_s if is_heard or not turn else 100.0
            reader.read(frame(now_s))
            looks["a4"] = "empty" if turn % 2 else looks["c1"]
            reader.on_accepted(looks)
        return health

    assert health_after(is_heard=False).out == frozenset()
    assert health_after(is_heard=True).out == {"a4"}


def test_there_is_no_picture_without_a_camera(deblockle: Any, sensors: ScriptedSensors) -> None:
    with pytest.raises(NotLocatedError, match="no camera"):
        alone(deblockle, sensors).crop(frame(1.0), "c3")


def fused(game: Any, sensors: ScriptedSensors, camera: ScriptedCamera) -> FusedReader:
    return FusedReader(camera, sensors, game.places, game.looks, SensorHealth(SensorSettings(camera_patience_s=2.0)))


def test_camera_and_sensor_are_kept_apart_in_a_reading(deblockle: Any, sensors: ScriptedSensors) -> None:
    camera = ScriptedCamera(deblockle, deblockle.table.appearance(deblockle.rules.new()), hidden=frozenset({"c1"}))
    del sensors.stands["e1"]
    reading = fused(deblockle, sensors, camera).read(frame(1.0))
    assert reading.places["c3"].best == ("gold block, star up", 0.98)
    assert reading.places["c3"].sensed == pytest.approx(0.97 / 0.98)
    assert reading.places["c1"].hidden_by is HindranceKind.OBJECT
    assert reading.places["c1"].sensed == pytest.approx(0.97 / 0.98)
    assert reading.places["e1"].sensed is None


@pytest.mark.parametrize(("heard_s", "is_told"), [(9.4, True), (9.2, False)])
def test_old_sensor_values_that_contradict_the_camera_are_ignored(
    deblockle: Any, sensors: ScriptedSensors, heard_s: float, is_told: bool
) -> None:
    moved = dict(deblockle.table.appearance(deblockle.rules.new()))
    moved["a4"], moved["c1"] = moved["c1"], "empty"
    camera = ScriptedCamera(deblockle, moved, hidden=frozenset({"e1"}))
    sensors.heard_s = heard_s
    places = fused(deblockle, sensors, camera).read(frame(10.0)).places
    assert [places[place].sensed is not None for place in ("a4", "c1")] == [is_told, is_told]
    assert all(places[place].sensed is not None for place in ("c3", "g7", "e1")), "agreement, or out of sight"


def test_a_place_outside_the_picture_is_sensed(deblockle: Any, sensors: ScriptedSensors) -> None:
    looks = {
        place: look for place, look in deblockle.table.appearance(deblockle.rules.new()).items() if place[0] != "g"
    }
    reading = fused(deblockle, sensors, ScriptedCamera(deblockle, looks)).read(frame(1.0))
    assert set(reading.places) == set(deblockle.places)
    assert reading.places["g4"].hidden_by == HindranceKind.OUTSIDE_PICTURE
    assert reading.places["g4"].sensed == pytest.approx(0.03 / 1.02)


def test_a_visible_hand_is_waited_for_without_a_limit(deblockle: Any, sensors: ScriptedSensors) -> None:
    camera = ScriptedCamera(deblockle, deblockle.table.appearance(deblockle.rules.new()))
    reader = fused(deblockle, sensors, camera)
    reader.read(frame(1.0))
    camera.trouble = Hindrance(HindranceKind.HAND, "a hand is over the board")
    for second in range(2, 30):
        assert reader.read(frame(float(second))).places == {}


def test_a_table_out_of_sight_is_waited_for_and_then_read_by_sensors(deblockle: Any, sensors: ScriptedSensors) -> None:
    camera = ScriptedCamera(deblockle, deblockle.table.appearance(deblockle.rules.new()))
    reader = fused(deblockle, sensors, camera)
    reader.read(frame(1.0))
    camera.trouble = NotLocatedError("no marker was found")
    assert reader.read(frame(2.0)).hindered_by(HindranceKind.NOT_LOCATED) is not None
    blind = reader.read(frame(4.5))
    assert blind.hindrances == ()
    assert {one.hidden_by for one in blind.places.values()} == {"not located"}
    assert "the sensors alone" in blind.notices[0]
    sensors.silent = True
    assert reader.read(frame(5.0)).hindered_by(HindranceKind.NOT_LOCATED) is not None
    camera.trouble = None
    assert reader.read(frame(6.0)).places["c3"].best[0] == "gold block, star up"


def test_it_is_noticed_once_that_the_sensors_are_used_alone(deblockle: Any, sensors: ScriptedSensors) -> None:
    camera = ScriptedCamera(deblockle, deblockle.table.appearance(deblockle.rules.new()))
    reader = fused(deblockle, sensors, camera)
    reader.read(frame(1.0))
    camera.trouble = NotLocatedError("no marker was found")
    reader.read(frame(2.0))
    alone = reader.read(frame(4.5)).notices
    assert len(alone) == 1
    sensors.put("a4", True, 5.0)
    busy = reader.read(frame(5.1))
    assert busy.hindered_by(HindranceKind.HAND) is not None
    assert busy.notices == reader.read(frame(7.0)).notices == alone
    camera.trouble = None
    assert reader.read(frame(8.0)).notices == ()
    sensors.put("a4", False, 9.0)
    assert reader.read(frame(9.1)).notices == ()


def test_without_a_camera_frames_come_at_regular_times() -> None:
    now_s, waited = [10.0], []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        now_s[0] += seconds

    source = TickSource(lambda: now_s[0], wait, period_s=0.1)
    frames = [source.read(2.0) for _ in range(3)]
    assert [each.sequence for each in frames] == [1, 2, 3]
    assert [each.time_s for each in frames] == pytest.approx([10.0, 10.1, 10.2])
    assert waited == pytest.approx([0.1, 0.1])
    now_s[0] = 20.0
    assert source.read(2.0).time_s == 20.0
    assert len(waited) == 2
