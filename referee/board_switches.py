"""From switches by number, on a board or on the Pi's own pins, to squares that are occupied."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Protocol

from hardware.sensor_matrix_pins import PinSwitches
from referee.mapping_file import SensorMap
from referee.sensing.values import PlaceChange, Sensed


class SwitchMoved(Protocol):
    """A switch that closed or opened, when (monotonic seconds)."""

    @property
    def switch(self) -> int: ...  # noqa: D102
    @property
    def closed(self) -> bool: ...  # noqa: D102
    @property
    def time_s(self) -> float: ...  # noqa: D102


class SwitchReport(Protocol):
    """All switches by number: one value each in ``closed`` and ``doubtful``, and the changes since the last time.

    ``hardware.sensor_matrix_settling.SwitchSnapshot`` is one, ``firmware_bridge.connection_events.SensorsReported``
    another.
    """

    @property
    def time_s(self) -> float: ...  # noqa: D102
    @property
    def closed(self) -> Sequence[bool]: ...  # noqa: D102
    @property
    def doubtful(self) -> Sequence[bool]: ...  # noqa: D102
    @property
    def changes(self) -> Sequence[SwitchMoved]: ...  # noqa: D102


def sensed(report: SwitchReport, sensor_map: SensorMap) -> Sensed:
    """Give a report by squares; a square whose switch is not there is left out."""
    there = {place: switch for place, switch in sensor_map.places.items() if switch < len(report.closed)}
    above = {switch: place for place, switch in there.items()}
    return Sensed(
        time_s=report.time_s,
        occupied={place: bool(report.closed[switch]) for place, switch in there.items()},
        doubtful=frozenset(place for place, switch in there.items() if report.doubtful[switch]),
        changes=tuple(
            PlaceChange(above[change.switch], change.closed, change.time_s)
            for change in report.changes
            if change.switch in above
        ),
    )


class PinSensors:
    """Switches on the Pi's own pins by square: a ``SensorSource`` that scans when it is asked."""

    def __init__(
        self, switches: PinSwitches, sensor_map: SensorMap, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._switches = switches
        self._map = sensor_map
        self._clock = clock

    def latest(self, now_s: float) -> Sensed | None:
        """Give what the switches say, ``None`` while they can't be read."""
        del now_s
        # Pins live in real time, whatever time a recording's frames have.
        snapshot = self._switches.latest(self._clock())
        return None if snapshot is None else sensed(snapshot, self._map)
