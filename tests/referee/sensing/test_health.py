"""Faulty sensors: found, reported once, switched off, kept beside the journal, and put back into use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.errors import ConfigError, CorrectionError
from referee.sensing.health import (
    HealthFile,
    HealthSettings,
    SensorHealth,
    SensorSettings,
    forget_sensors,
    health_file,
    load_health,
    put_back,
    sensors_out,
)
from referee.wiring.devices import OpenedDevices
from vision.reading import PlaceChange

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
