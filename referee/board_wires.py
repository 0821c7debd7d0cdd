"""Everything on wires for one evening: opened together, closed together, and each costs only itself when it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from serial.tools import list_ports

from hardware.panel import DriverSource
from hardware.sensor_matrix_pins import PinSwitches
from referee.board import Board
from referee.board_health import HealthKeeper, load_health
from referee.board_link import ListPorts, linked_board
from referee.board_plan import WirePlan
from referee.board_strips import strip_sources
from referee.board_switches import PinSensors
from referee.sensing.values import SensorSource


@dataclass(frozen=True)
class Wires:
    """What the service gets of a plan: drivers for its panel, buttons, and sensors with what is known of them."""

    sources: tuple[DriverSource, ...] = ()
    board: Board | None = None
    sensors: SensorSource | None = None
    health: HealthKeeper | None = None

    def presses(self) -> list[str]:
        """Give the roles of the board's buttons pressed since the last time."""
        return [] if self.board is None else self.board.presses()

    def keep(self) -> None:
        """Keep what was learned of the sensors."""
        if self.health is not None:
            self.health.keep()


@contextmanager
def wired(
    plan: WirePlan,
    health_path: Path | None,
    say: Callable[[str], None],
    list_ports: ListPorts = list_ports.comports,
) -> Iterator[Wires]:
    """Open what the plan names. A board that is away is waited for while the game goes on.

    Raises ConfigError for a record of sensors that can't be read.
    """
    with ExitStack() as stack:
        board = None
        if plan.needs_board:
            board = stack.enter_context(linked_board(plan, say, list_ports)).board
        sensors: SensorSource | None = None
        health = None
        if plan.has_sensors and plan.sensor_map is not None:
            health = HealthKeeper(load_health(health_path, plan.sensor_settings), health_path, say)
            stack.callback(health.keep)
            if plan.sensors == "board":
                sensors = board
            elif plan.switch_pins is not None:
                switches = PinSwitches(plan.switch_pins, say, time.sleep)
                stack.callback(switches.close)
                sensors = PinSensors(switches, plan.sensor_map)
        sources = strip_sources(plan) + (() if board is None else board.driver_sources())
        yield Wires(sources, board, sensors, health)
