"""The strips that owners have, as drivers of a panel: a board's, and WLED's over a cable or the network."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from firmware_bridge import wled_network, wled_serial
from firmware_bridge.wled import WledSettingError
from firmware_bridge.wled_network import WledNetwork
from firmware_bridge.wled_serial import WledSerial
from hardware.errors import SettingError
from hardware.light_map import LightMap
from hardware.panel import DriverSource
from hardware.pixels import PixelDriver, PixelOutput
from referee.board_plan import WirePlan


def strip_sources(plan: WirePlan, clock: Callable[[], float] = time.monotonic) -> tuple[DriverSource, ...]:
    """Give a source for each WLED of the plan; nothing is opened here.

    The board's strip comes from ``referee.board.Board``, since the board has buttons and sensors, too. ``clock``
    is the panel's.
    """
    light_map = plan.light_map
    if light_map is None:
        return ()
    outputs: dict[str, Callable[[], PixelOutput]] = {
        "wled-serial": lambda: WledSerial(plan.wled_serial_port, _lights(plan, light_map), clock, baud=plan.wled_baud),
        "wled-network": lambda: WledNetwork(plan.wled_host, _lights(plan, light_map), clock, port=plan.wled_port),
    }
    # What is wrong with a frame comes out with a later one: only then is it known to work.
    steady_s = {"wled-serial": wled_serial.STEADY_S, "wled-network": wled_network.STEADY_S}
    return tuple(
        DriverSource(name, partial(_driver, name, outputs[name], light_map, plan.brightness), steady_s=steady_s[name])
        for name in plan.drivers
        if name in outputs
    )


def _lights(plan: WirePlan, light_map: LightMap) -> int:
    return plan.strip_lights or light_map.lights


def _driver(name: str, make_output: Callable[[], PixelOutput], light_map: LightMap, brightness: float) -> PixelDriver:
    try:
        return PixelDriver(name, make_output(), light_map, brightness=brightness)
    except WledSettingError as error:
        raise SettingError(str(error)) from error
