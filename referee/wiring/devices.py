"""Everything on wires for one evening: opened together, closed together, and each costs only itself when it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from serial.tools import list_ports

from engine.api import Place
from hardware.panel import DriverSource
from hardware.sensor_matrix_pins import PinSwitches
from referee.board import Board
from referee.board_health import HealthKeeper, load_health
from referee.board_link import ListPorts, linked_board
from referee.board_plan import WirePlan
from referee.board_strips import strip_sources
from referee.board_switches import PinSensors
from referee.errors import CorrectionError
from referee.sensing.values import SensorSource

BOARD_LAG_S = 0.2
"""How long a change of a board's switch may take to be read: debounced, sent, and asked for at the next tick."""

PIN_LAG_S = 0.4
"""The same for the Pi's own pins, which are scanned at each tick and must be seen alike three times."""


@dataclass(frozen=True)
class Wires:
    """What the service gets of a plan: drivers for its panel, buttons, and sensors with what is known of them."""

    sources: tuple[DriverSource, ...] = ()
    board: Board | None = None
    sensors: SensorSource | None = None
    health: HealthKeeper | None = None
    sensor_lag_s: float = 0.0

    def presses(self) -> list[str]:
        """Give the roles of the board's buttons pressed since the last time."""
        return [] if self.board is None else self.board.presses()

    def put_back(self, place: Place) -> str:
        """Go by a sensor again because a person says so; gives the sentence, or raises CorrectionError."""
        if self.health is None:
            raise CorrectionError("this referee has no sensors; set source, map and eyes below [sensors]")
        return self.health.put_back(place)

    def keep(self) -> None:
        """Keep what was learned of the sensors."""
        if self.health is not None:
            self.health.keep()


class HeldPresses:
    """Presses that wait until the switches have told what was moved just before them.

    A switch is believed some moments after a piece was put down, on its way through debouncing and the cable; who
    puts a piece down and presses at once must not be judged by the table before. ``press`` gives the roles pressed
    since it was asked last, ``lag_s`` is how long switches may take.
    """

    def __init__(self, press: Callable[[], list[str]], lag_s: float, clock: Callable[[], float]) -> None:
        self._press = press
        self._lag_s = lag_s
        self._clock = clock
        self._held: list[tuple[float, str]] = []

    def __call__(self) -> list[str]:
        """Give the roles that have waited long enough, in order."""
        now_s = self._clock()
        self._held += [(now_s, role) for role in self._press()]
        ripe = [role for pressed_s, role in self._held if now_s - pressed_s >= self._lag_s]
        self._held = self._held[len(ripe) :]
        return ripe


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
        lag_s = 0.0 if sensors is None else BOARD_LAG_S if sensors is board else PIN_LAG_S
        yield Wires(sources, board, sensors, health, lag_s)
