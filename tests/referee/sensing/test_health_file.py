"""What is known of the sensors, kept beside the journal."""

from __future__ import annotations

from pathlib import Path

import pytest

from referee.errors import ConfigError, CorrectionError
from referee.sensing.health import SensorHealth
from referee.sensing.health_file import HealthFile, health_file, load_health, put_back, sensors_out
from referee.wiring.devices import OpenedDevices


def broken() -> SensorHealth:
    """What is known when the sensor under a1 said "occupied" through turn after turn that emptied it."""
    health = SensorHealth()
    for turn in range(12):
        health.compare({"a1": True, "b1": False}, {"a1": turn % 2 == 0, "b1": False})
    assert health.out == {"a1"}
    return health


def test_it_is_kept_from_one_evening_to_the_next(tmp_path: Path) -> None:
    path = health_file(tmp_path / "journal.sqlite")
    said: list[str] = []
    health = broken()
    keeper = HealthFile(SensorHealth(), path, said.append)
    keeper.keep()
    assert not path.exists()
    keeper.health.take_data(health.as_data())
    keeper.keep()
    again = load_health(path)
    assert again.as_data() == health.as_data()
    assert "occupied" in sensors_out(again)["a1"]
    assert said == []


def test_a_disk_that_fails_is_said_once(tmp_path: Path) -> None:
    said: list[str] = []
    keeper = HealthFile(SensorHealth(), tmp_path / "nowhere" / "sensors.json", said.append)
    keeper.health.take_data(broken().as_data())
    keeper.keep()
    keeper.keep()
    assert len(said) == 1
    assert "could not be kept" in said[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [("[]", "no record of sensors"), ("{", "is damaged"), ('{"a1": {"out": "eaten"}}', "is damaged .*under a1")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "journal.sensors.json"
    path.write_text(text)
    with pytest.raises(ConfigError, match=f"{message}.*remove the file"):
        load_health(path)


def test_without_a_journal_nothing_is_kept() -> None:
    keeper = HealthFile(SensorHealth(), None, print)
    keeper.health.take_data(broken().as_data())
    keeper.keep()
    assert load_health(None).report() == ()


def test_a_person_puts_a_sensor_back(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    HealthFile.write(broken(), health_file(journal))
    with pytest.raises(CorrectionError, match="the sensor under b1 is not out; a1 is"):
        put_back(journal, "b1")
    assert put_back(journal, "a1") == "I go by the sensor under a1 again."
    assert load_health(health_file(journal)).out == frozenset()


def test_a_running_referee_puts_a_sensor_back_and_keeps_that_at_once(tmp_path: Path) -> None:
    path = health_file(tmp_path / "journal.sqlite")
    keeper = HealthFile(broken(), path, print)
    wires = OpenedDevices(health=keeper)
    assert wires.put_back("a1") == "I go by the sensor under a1 again."
    assert load_health(path).out == frozenset()
    with pytest.raises(CorrectionError, match="the sensor under a1 is not out; none is"):
        wires.put_back("a1")
    with pytest.raises(CorrectionError, match=r"no sensors; set source, map and eyes below \[sensors\]"):
        OpenedDevices().put_back("a1")
