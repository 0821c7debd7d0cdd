"""For owners of a WLED controller: its lights, over the network. Skipped otherwise.

    REFEREE_REAL_WLED=wled-board.local REFEREE_REAL_WLED_LIGHTS=64 ./check --real tests/real/test_real_wled.py

What the tests can't see they ask you.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from firmware_bridge.wled import DDP_PORT, WledNetwork
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource, Panel
from hardware.lights.pixels import PixelDriver
from hardware.lights.signals import Light, LightRole, Mood, Signal
from tests.firmware_bridge.wled.looking_up import wait_until_looked_up

NAMED = os.environ.get("REFEREE_REAL_WLED", "")
LIGHTS = int(os.environ.get("REFEREE_REAL_WLED_LIGHTS", "8"))
PORT = int(os.environ.get("REFEREE_REAL_WLED_PORT", str(DDP_PORT)))
BRIGHTNESS = 0.5
STEP_S = float(os.environ.get("REFEREE_REAL_STEP_S", "0.1"))

pytestmark = pytest.mark.skipif(not NAMED, reason="set REFEREE_REAL_WLED to the name of a real WLED")

Ask = Callable[[str], bool]


def made() -> PixelDriver:
    output = WledNetwork(NAMED, LIGHTS, time.monotonic, port=PORT)
    wait_until_looked_up(output.host, 10.0)
    light_map = LightMap({str(number): (number,) for number in range(LIGHTS)}, lights=LIGHTS)
    return PixelDriver("WLED", output, light_map, brightness=BRIGHTNESS)


@pytest.fixture
def panel() -> Iterator[Panel]:
    said: list[str] = []
    with Panel([DriverSource("WLED", made)], time.monotonic, said.append) as shown:
        yield shown
    assert said == []


def play(panel: Panel, seconds: float) -> None:
    end_s, never = time.monotonic() + seconds, threading.Event()
    while (change_s := panel.next_change_s()) is not None and change_s < end_s:
        never.wait(max(0.0, change_s - time.monotonic()))
        panel.tick()
    never.wait(max(0.0, end_s - time.monotonic()))


def test_colours_are_right(panel: Panel, ask: Ask) -> None:
    roles = (LightRole.FAULT, LightRole.PUT_RIGHT, LightRole.TURN)
    panel.show(
        Signal(Mood.FAULT, tuple(Light.for_role(str(number), role) for number, role in enumerate(roles[:LIGHTS])))
    )
    play(panel, 40 * STEP_S)
    assert ask("Did the first light blink orange-red, the second blink twice in blue, and does the third shine green?")


def test_every_light_lights(panel: Panel, ask: Ask) -> None:
    for number in range(LIGHTS):
        panel.show(Signal(Mood.ACCEPTED, (Light.for_role(str(number), LightRole.TURN),)))
        play(panel, STEP_S)
    assert ask(f"Did {LIGHTS} lights shine green, one after the other, to the end of the strip?")


def test_a_still_picture_stays(panel: Panel, ask: Ask) -> None:
    panel.show(Signal(Mood.ACCEPTED, (Light.for_role("0", LightRole.TURN),)))
    play(panel, 80 * STEP_S)
    assert ask("Did the first light shine green without a break, the others dark, for some seconds?")
