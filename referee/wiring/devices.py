"""Everything on wires for one evening: opened together, closed together, and each costs only itself when it fails."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from serial.tools import list_ports

from engine.api import Place
from firmware_bridge.wled import adalight, ddp
from firmware_bridge.wled.adalight import WledSerial
from firmware_bridge.wled.ddp import WledNetwork
from firmware_bridge.wled.frames import WledSettingError
from hardware.errors import SettingError
from hardware.inputs.switches import GpioSwitches
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource
from hardware.lights.pixels import PixelDriver, PixelOutput
from hardware.pins.pin_map import ButtonRole
from referee.errors import CorrectionError
from referee.sensing.health_file import HealthFile, load_health
from referee.sensing.values import SensorSource
from referee.wiring.controller import Controller
from referee.wiring.link import ListPorts, linked_controller
from referee.wiring.plan import SwitchSource, WiringPlan
from referee.wiring.sensor_map import PinSensors

CONTROLLER_LAG_S = 0.2
"""How long a change of a board's switch may take to be read: debounced, sent, and asked for at the next tick."""

PIN_LAG_S = 0.4
"""The same for the Pi's own pins, which are scanned at each tick and must be seen alike three times."""


@dataclass(frozen=True)
class OpenedDevices:
    """What the service gets of a plan: drivers for its panel, buttons, and sensors with what is known of them."""

    sources: tuple[DriverSource, ...] = ()
    controller: Controller | None = None
    sensors: SensorSource | None = None
    health: HealthFile | None = None
    sensor_lag_s: float = 0.0

    def presses(self) -> list[ButtonRole]:
        """Give the roles of the board's buttons pressed since the last time."""
        return [] if self.controller is None else self.controller.presses()

    def put_back(self, place: Place) -> str:
        """Go by a sensor again because a person says so; gives the sentence, or raises CorrectionError."""
        if self.health is None:
            raise CorrectionError("this referee has no sensors; set source, map and eyes below [sensors]")
        return self.health.put_back(place)

    def keep(self) -> None:
        """Keep what was learned of the sensors."""
        if self.health is not None:
            self.health.keep()


@contextmanager
def opened_devices(
    plan: WiringPlan,
    health_path: Path | None,
    say: Callable[[str], None],
    list_ports: ListPorts = list_ports.comports,
) -> Iterator[OpenedDevices]:
    """Open what the plan names. A board that is away is waited for while the game goes on.

    Raises ConfigError for a record of sensors that can't be read.
    """
    with ExitStack() as stack:
        controller = None
        if plan.needs_controller:
            controller = stack.enter_context(linked_controller(plan, say, list_ports)).controller
        sensors: SensorSource | None = None
        health = None
        if plan.has_sensors and plan.sensor_map is not None:
            health = HealthFile(load_health(health_path, plan.sensor_settings), health_path, say)
            stack.callback(health.keep)
            if plan.switch_source is SwitchSource.CONTROLLER:
                sensors = controller
            elif plan.switch_pins is not None:
                switches = GpioSwitches(plan.switch_pins, say, time.sleep)
                stack.callback(switches.close)
                sensors = PinSensors(switches, plan.sensor_map)
        sources = strip_sources(plan) + (() if controller is None else controller.driver_sources())
        lag_s = 0.0 if sensors is None else CONTROLLER_LAG_S if sensors is controller else PIN_LAG_S
        yield OpenedDevices(sources, controller, sensors, health, lag_s)


def strip_sources(plan: WiringPlan, clock: Callable[[], float] = time.monotonic) -> tuple[DriverSource, ...]:
    """Give a source for each WLED of the plan; nothing is opened here.

    The board's strip comes from its ``Controller``, which has buttons and sensors, too. ``clock`` is the panel's.
    """
    light_map = plan.light_map
    if light_map is None:
        return ()
    outputs: dict[str, Callable[[], PixelOutput]] = {
        "wled-serial": lambda: WledSerial(plan.wled_serial_port, _lights(plan, light_map), clock, baud=plan.wled_baud),
        "wled-network": lambda: WledNetwork(plan.wled_host, _lights(plan, light_map), clock, port=plan.wled_port),
    }
    # What is wrong with a frame comes out with a later one: only then is it known to work.
    steady_s = {"wled-serial": adalight.STEADY_S, "wled-network": ddp.STEADY_S}
    return tuple(
        DriverSource(name, partial(_driver, name, outputs[name], light_map, plan.brightness), steady_s=steady_s[name])
        for name in plan.drivers
        if name in outputs
    )


def _lights(plan: WiringPlan, light_map: LightMap) -> int:
    return plan.strip_lights or light_map.lights


def _driver(name: str, make_output: Callable[[], PixelOutput], light_map: LightMap, brightness: float) -> PixelDriver:
    try:
        return PixelDriver(name, make_output(), light_map, brightness=brightness)
    except WledSettingError as error:
        raise SettingError(str(error)) from error
