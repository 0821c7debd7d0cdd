"""Readings while sensors report, are unsettled or silent; faulty sensors are found, reported and switched off."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.sensing.health import (
    HealthFile,
    HealthSettings,
    SensorHealth,
    SensorSettings,
    forget_sensors,
    health_file,
    load_health,
    occupancy_coverage,
    put_back,
    sensors_out,
)
from app.sensing.readers import FusedReader, SensorReader, TickSource
from app.wiring.devices import OpenedDevices
from engine.registry import load
from engine.values import Roll
from referee.errors import ConfigError, CorrectionError
from tests.referee.sensed_table import ScriptedCamera, ScriptedSensors
from vision.errors import NotLocatedError
from vision.frame import Frame
from vision.reading import Hindrance, HindranceKind, PlaceChange


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


PLACES = tuple(f"{column}{row}" for column in "abcd" for row in range(1, 5))


def settled(health: SensorHealth, taken: set[str], stuck: dict[str, bool] | None = None) -> tuple[str, ...]:
    """Compare a table with pieces on ``taken`` with the sensors, some of which may be stuck."""
    truth = {place: place in taken for place in PLACES}
    return health.compare({place: (stuck or {}).get(place, stands) for place, stands in truth.items()}, truth)


def test_a_sensor_stuck_closed_is_taken_out_after_three_turns_that_emptied_it() -> None:
    health = SensorHealth(health=HealthSettings(standing=0.0))
    stuck = {"b2": True}
    settled(health, {"b2"}, stuck)
    for turn in range(3):
        assert health.out == frozenset()
        said = settled(health, {"b3"}, stuck)
        assert bool(said) == (turn == 2)
        if turn < 2:
            assert settled(health, {"b2"}, stuck) == ()
    assert said == (
        'The sensor under b2 has said "occupied" through three turns that emptied it; I go on without it. '
        "`./run hardware sensors` shows them.",
    )
    assert health.out == {"b2"}


def test_a_dead_sensor_is_taken_out_after_four_turns_that_put_something_there() -> None:
    health = SensorHealth(health=HealthSettings(standing=0.0))
    stuck = {"b2": False}
    settled(health, {"b3"}, stuck)
    said: list[str] = []
    turns = 0
    while not said:
        turns += 1
        said += settled(health, {"b2"}, stuck)
        said += settled(health, {"b3"}, stuck)
    assert turns == 4
    assert '"empty" through four turns that put something there' in said[0]


def test_an_error_without_a_change_counts_a_third() -> None:
    health = SensorHealth()
    stuck = {"d4": True}
    tables = 0
    while not health.out:
        tables += 1
        settled(health, {PLACES[tables % 8]}, stuck)
    assert tables == 9
    assert health.report()[PLACES.index("d4")].why == 'has said "occupied" in nine positions with nothing on its square'


def test_sensors_on_a_broken_wire_are_taken_out_together_and_early() -> None:
    health = SensorHealth()
    row = dict.fromkeys(("a1", "b1", "c1", "d1"), True)
    said: list[str] = []
    for table in range(3):
        assert health.out == frozenset()
        said += settled(health, {PLACES[5 + table]}, row)
    assert health.out == set(row)
    assert len(said) == 4


def test_the_same_table_counts_once() -> None:
    health = SensorHealth()
    for _ in range(100):
        assert settled(health, {"a1"}, {"b2": True}) == ()
    assert health.out == frozenset()


def test_a_place_with_a_moving_piece_is_not_compared() -> None:
    health = SensorHealth()
    for table in range(40):
        truth = {place: place == PLACES[table % 4] for place in PLACES}
        health.compare({**truth, "d4": True}, truth, moving=["d4"])
    assert health.out == frozenset()


def test_one_right_answer_clears_a_sensor() -> None:
    health = SensorHealth(health=HealthSettings(standing=0.0))
    settled(health, {"b2"})
    for _ in range(2):
        settled(health, {"b3"}, {"b2": True})
        settled(health, {"b2"}, {"b2": True})
    suspected = next(record for record in health.report() if record.place == "b2").stuck_closed
    assert suspected.turns == 2
    settled(health, {"b3"})
    cleared = next(record for record in health.report() if record.place == "b2").stuck_closed
    assert cleared.log_odds < suspected.log_odds - 3


def test_a_sensor_that_is_right_through_three_changes_comes_back() -> None:
    health = SensorHealth()
    row = dict.fromkeys(("a1", "b1", "c1", "d1"), True)
    for table in range(3):
        settled(health, {PLACES[5 + table]}, row)
    said: list[str] = []
    for table in range(3):
        assert "a1" in health.out
        said += settled(health, {"a1"} if table % 2 == 0 else {"b3"})
    assert said == ["The sensor under a1 was right through three changes; it is used again."]
    assert "a1" not in health.out


def test_a_person_puts_a_sensor_back() -> None:
    health = SensorHealth()
    with pytest.raises(CorrectionError, match="no sensor is switched off"):
        health.put_back("a1")
    for place in ("a1",):
        health.listen([PlaceChange(place, number % 2 == 0, number / 10) for number in range(12)], (), 2.0)
    assert health.out == {"a1"}
    assert health.put_back("a1") == "The sensor under a1 is used again."
    assert health.out == frozenset()


def test_a_chattering_sensor_is_taken_out_once() -> None:
    health = SensorHealth()
    changes = [PlaceChange("a1", number % 2 == 0, number / 10) for number in range(30)]
    said = health.listen(changes, (), 3.0)
    assert len(said) == 1
    assert "12 times within 5 seconds" in said[0]
    slow = [PlaceChange("b1", number % 2 == 0, 5.0 * number) for number in range(30)]
    assert health.listen(slow, (), 150.0) == ()


def test_a_sensor_doubtful_for_long_is_named_once() -> None:
    health = SensorHealth()
    said: list[str] = []
    for second in range(0, 200, 10):
        said += health.listen((), {"a1"} if second != 30 else (), float(second))
    assert len(said) == 1
    assert "could not be read for 60 seconds" in said[0]


def test_sensors_that_are_doubtful_together_are_named_together_and_used_again_once_they_are_readable() -> None:
    health = SensorHealth()
    said: list[str] = []
    for second in range(0, 80, 10):
        said += health.listen((), {"a1", "b1", "c1"}, float(second))
    assert said == [
        "The sensors under a1, b1, c1 could not be read for 60 seconds; I go on without them. "
        "`./run hardware sensors` shows them."
    ]
    assert health.out == {"a1", "b1", "c1"}
    said = []
    # A moment's doubt starts the minute anew.
    for second in range(80, 200, 10):
        said += health.listen((), {"b1"} if second == 110 else (), float(second))
    assert said == [
        "The sensors under a1, c1 have been readable for 60 seconds; they are used again.",
        "The sensor under b1 has been readable for 60 seconds; it is used again.",
    ]
    assert health.out == frozenset()


def test_time_without_a_report_does_not_count_as_readable() -> None:
    health = SensorHealth()
    for second in range(0, 80, 10):
        health.listen((), {"a1"}, float(second))
    assert health.out == {"a1"}
    assert health.listen((), (), 80.0) == ()
    assert health.listen((), (), 300.0) == (), "the board was away"
    assert health.out == {"a1"}


def test_a_sensor_that_is_off_for_another_reason_stays_off_though_it_is_readable() -> None:
    health = health_with_a_stuck_sensor()
    assert not [said for second in range(0, 200, 10) for said in health.listen((), (), float(second))]
    assert health.out == {"a1"}


def test_the_kept_state_is_read_back() -> None:
    health = SensorHealth()
    row = dict.fromkeys(("a1", "b1", "c1", "d1"), True)
    for table in range(3):
        settled(health, {PLACES[5 + table]}, row)
    kept = json.loads(json.dumps(health.as_data()))
    again = SensorHealth()
    again.take_data(kept)
    assert again.report() == health.report()
    assert again.out == health.out


@pytest.mark.parametrize(
    "kept", [{"a1": {}}, {"a1": 3}, {"a1": {"stuck_closed": {}, "stuck_open": {}, "agreed": 0, "out": "asleep"}}]
)
def test_an_invalid_kept_state_is_refused(kept: dict[str, object]) -> None:
    health = SensorHealth()
    with pytest.raises(ValueError, match="sensor under a1 can't be read"):
        health.take_data(kept)


@given(st.lists(st.integers(0, 15), min_size=1, max_size=60), st.integers(0, 2**32 - 1))
def test_sensors_that_never_err_are_never_taken_out(tables: list[int], seed: int) -> None:
    health = SensorHealth(SensorSettings(false_closed=0.001, false_open=0.001))
    for table in tables:
        assert settled(health, {PLACES[table], PLACES[(table * 7 + seed) % 16]}) == ()
    assert health.out == frozenset()


def test_error_rates_become_probabilities() -> None:
    settings = SensorSettings(false_closed=0.01, false_open=0.03)
    assert settings.probability_occupied(True) == pytest.approx(0.97 / 0.98)
    assert settings.probability_occupied(False) == pytest.approx(0.03 / 1.02)


def health_with_a_stuck_sensor() -> SensorHealth:
    """The health after several turns that emptied a1 while its sensor still said "occupied"."""
    health = SensorHealth()
    for turn in range(12):
        health.compare({"a1": True, "b1": False}, {"a1": turn % 2 == 0, "b1": False})
    assert health.out == {"a1"}
    return health


def test_the_health_of_sensors_is_kept_in_a_file(tmp_path: Path) -> None:
    path = health_file(tmp_path / "journal.sqlite")
    said: list[str] = []
    health = health_with_a_stuck_sensor()
    keeper = HealthFile(SensorHealth(), path, said.append)
    keeper.save()
    assert not path.exists()
    keeper.health.take_data(health.as_data())
    keeper.save()
    again = load_health(path)
    assert again.as_data() == health.as_data()
    assert "occupied" in sensors_out(again)["a1"]
    assert said == []


def test_a_failing_disk_is_reported_once(tmp_path: Path) -> None:
    said: list[str] = []
    keeper = HealthFile(SensorHealth(), tmp_path / "nowhere" / "sensors.json", said.append)
    keeper.health.take_data(health_with_a_stuck_sensor().as_data())
    keeper.save()
    keeper.save()
    assert len(said) == 1
    assert "could not be kept" in said[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "is not a JSON object"),
        ("{", "is not valid JSON"),
        ('{"a1": {"out": "eaten"}}', "is damaged .*under a1"),
    ],
)
def test_an_unreadable_file_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "journal.sensors.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"{message}.*remove the file"):
        load_health(path)


def test_every_journal_has_a_record_of_its_own() -> None:
    assert health_file(Path("club.db")) != health_file(Path("club.sqlite"))


def test_without_a_journal_no_health_is_kept() -> None:
    keeper = HealthFile(SensorHealth(), None, print)
    keeper.health.take_data(health_with_a_stuck_sensor().as_data())
    keeper.save()
    assert load_health(None).report() == ()


def test_a_sensor_put_back_is_kept(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    HealthFile.write(health_with_a_stuck_sensor(), health_file(journal))
    with pytest.raises(CorrectionError, match="the sensor under b1 is not switched off; these are: a1"):
        put_back(journal, "b1")
    assert put_back(journal, "a1") == "The sensor under a1 is used again."
    assert load_health(health_file(journal)).out == frozenset()


def test_the_records_of_mapped_sensors_are_forgotten(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    assert forget_sensors(journal, ["a1"]) == ()
    assert not health_file(journal).exists()
    HealthFile.write(health_with_a_stuck_sensor(), health_file(journal))
    assert forget_sensors(journal, ["b1"]) == ()
    assert load_health(health_file(journal)).out == {"a1"}
    assert forget_sensors(journal, ["b1", "a1"]) == ("a1",)
    assert load_health(health_file(journal)).report() == ()


def test_a_running_referee_puts_a_sensor_back_into_use_and_saves_that_at_once(tmp_path: Path) -> None:
    path = health_file(tmp_path / "journal.sqlite")
    keeper = HealthFile(health_with_a_stuck_sensor(), path, print)
    wires = OpenedDevices(health=keeper)
    assert wires.put_back("a1") == "The sensor under a1 is used again."
    assert load_health(path).out == frozenset()
    with pytest.raises(CorrectionError, match="no sensor is switched off, so there is none to switch on under a1"):
        wires.put_back("a1")
    with pytest.raises(CorrectionError, match=r"no sensors; set source, map and eyes under \[sensors\]"):
        OpenedDevices().put_back("a1")


def test_sensors_alone_tell_most_turns_of_deblockle_if_the_blocks_are_known(deblockle: Any) -> None:
    told = occupancy_coverage(deblockle, deblockle.rules.new())
    assert told.turns == told.alone + told.alike + told.unsensed == 58
    assert (told.alone, told.alike, told.unsensed) == (32, 18, 8)


def test_sensors_alone_tell_fewer_turns_of_deblockle_if_side_faces_are_unknown(deblockle: Any) -> None:
    told = occupancy_coverage(deblockle, deblockle.table.set_up(deblockle.table.appearance(deblockle.rules.new())))
    assert told.alone / told.turns < 0.5


def test_sensors_alone_tell_no_turn_of_diaballik_because_passes_are_not_sensed() -> None:
    game: Any = load("diaballik")
    told = occupancy_coverage(game, game.rules.new())
    assert told.alone == 0
    assert told.alike > 250
    assert told.unsensed == 7
    assert told.any


def test_sensors_tell_nothing_in_blockade_because_every_square_stays_occupied() -> None:
    game: Any = load("blockade")
    state = game.rules.new({"starts": "warm"})
    told = occupancy_coverage(game, game.dice.rolled(state, Roll(("2", "1"))))
    assert told.turns > 250
    assert told.unsensed == told.turns
    assert not told.any
