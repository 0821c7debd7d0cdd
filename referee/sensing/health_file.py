"""What is known of each sensor, kept beside the journal from one evening to the next."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from common.durable import write_durably
from engine.api import Place
from referee.errors import ConfigError, CorrectionError
from referee.sensing.health import SensorHealth
from referee.sensing.values import SensorSettings

_REMEDY = "remove the file, and every sensor is gone by again"


def health_file(journal: Path) -> Path:
    """Give the file of a journal's table."""
    return journal.with_suffix(".sensors.json")


def load_health(path: Path | None, settings: SensorSettings | None = None) -> SensorHealth:
    """Read what was kept, nothing where nothing was; raises ConfigError for a file that can't be read."""
    health = SensorHealth(settings or SensorSettings())
    if path is None or not path.is_file():
        return health
    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict):
            raise ConfigError(f"{path} is no record of sensors of ours; {_REMEDY}")
        health.take_data(data)
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror}; check its rights, or {_REMEDY}") from error
    except ValueError as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{path} is damaged ({error}); {_REMEDY}") from error
    return health


def sensors_out(health: SensorHealth) -> Mapping[Place, str]:
    """Give the sensors that are taken out and why, in words that follow the sensor's name."""
    return {record.place: record.why for record in health.report() if record.out is not None}


def put_back(journal: Path, place: Place) -> str:
    """Go by a sensor again because a person says so, while no referee is running; gives the sentence.

    Raises CorrectionError for a sensor that is not out, ConfigError for a record that can't be read, and OSError for
    one that can't be written.
    """
    path = health_file(journal)
    health = load_health(path)
    said = _put_back(health, place)
    HealthFile.write(health, path)
    return said


class HealthFile:
    """Writes what is known of the sensors whenever it has changed; a disk that fails is said once."""

    def __init__(self, health: SensorHealth, path: Path | None, say: Callable[[str], None]) -> None:
        self.health = health
        self._path = path
        self._say = say
        self._kept = health.as_data()
        self._failed = False

    def put_back(self, place: Place) -> str:
        """Go by a sensor again because a person says so, keep that, and give the sentence; raises CorrectionError."""
        said = _put_back(self.health, place)
        self.keep()
        return said

    def keep(self) -> None:
        """Write it if there is anything new."""
        data = self.health.as_data()
        if self._path is None or data == self._kept:
            return
        try:
            self.write(self.health, self._path)
        except OSError as error:
            if not self._failed:
                self._say(f"What is known of the sensors could not be kept in {self._path} ({error.strerror}).")
            self._failed = True
            return
        self._kept, self._failed = data, False

    @staticmethod
    def write(health: SensorHealth, path: Path) -> None:
        """Write what is known, whole or not at all; raises OSError."""
        write_durably(path, json.dumps(health.as_data(), indent=1) + "\n")


def _put_back(health: SensorHealth, place: Place) -> str:
    try:
        return health.put_back(place)
    except KeyError as error:
        raise CorrectionError(str(error.args[0])) from error
