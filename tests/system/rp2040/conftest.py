"""Where the firmware runs whole: in MicroPython on an emulated RP2040. Skipped unless MICROPYTHON_UF2 names one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from firmware_bridge.install import access, console
from firmware_bridge.install.access import InstallEnvironment
from firmware_bridge.install.installation import install
from firmware_bridge.install.manifest import Firmware, our_firmware
from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.pin_maps.pin_map import PinMap
from firmware_bridge.ports.port import Port, open_port
from firmware_bridge.ports.selection import WantedBoard
from hardware.pin_map import BUTTON_ROLES

if TYPE_CHECKING:
    from tests.system.rp2040.emulated_pico import EmulatedPico
    from tests.system.rp2040.plugged_pico import PluggedPico

UF2 = "MICROPYTHON_UF2"

PINS = """
board = "pico"
[lights]
pin = 28
count = 300
current_limit_ma = 18300
[matrix]
rows = [2, 3, 4, 5, 6, 7, 8, 9]
columns = [10, 11, 12, 13, 14, 15, 16, 17]
diodes = true
[buttons]
"end turn" = 18
hint = 19
[buzzer]
pin = 22
"""

_PATIENCE_S = 1200.0


@pytest.fixture(scope="session")
def uf2() -> Path:
    """MicroPython for the Pico."""
    named = os.environ.get(UF2)
    if not named:
        pytest.skip(f"{UF2} is not set; docs/firmware.md explains how the firmware is run on an emulated Pico")
    pytest.importorskip("rp2040py", reason="rp2040py is not installed: pip install rp2040py")
    return Path(named)


@pytest.fixture(scope="session")
def firmware() -> Firmware:
    return our_firmware(files("firmware_bridge") / "firmware")


@pytest.fixture(scope="session")
def pins() -> PinMap:
    return parse_pin_map(PINS, button_roles=BUTTON_ROLES)


@pytest.fixture(scope="session")
def patience() -> Iterator[None]:
    """Whatever waits by the computer's clock waits longer: an emulated Pico is some twenty times as slow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "_ANSWER_S", _PATIENCE_S)
        patch.setattr(access, "STARTUP_TIMEOUT_S", _PATIENCE_S)
        patch.setattr(access, "_LEFT_S", _PATIENCE_S)
        yield


def around(plugged: PluggedPico) -> InstallEnvironment:
    """This computer, by the Pico's clock. A real Pico's port goes away with a reset; this one is empty when opened."""

    def open_settled(name: str, baud: int) -> Port:
        plugged.settle()
        return open_port(name, baud)

    return replace(InstallEnvironment(), list_ports=list, open_port=open_settled, clock=plugged.now_s)


@pytest.fixture(scope="session")
def installed_flash(uf2: Path, firmware: Firmware, pins: PinMap, patience: None) -> bytes:
    """The flash memory of a Pico on which our own command installed the firmware over USB."""
    from tests.system.rp2040.emulated_pico import EmulatedPico
    from tests.system.rp2040.plugged_pico import PluggedPico

    with PluggedPico(EmulatedPico(uf2)) as plugged:
        done = install(WantedBoard(plugged.port), firmware, pins, around(plugged), lambda *_: None)
        assert done.welcome is not None
        return plugged.ask(lambda pico: pico.flash)


@pytest.fixture
def pico(uf2: Path, installed_flash: bytes) -> EmulatedPico:
    """A Pico with our firmware, just switched on."""
    from tests.system.rp2040.emulated_pico import EmulatedPico

    return EmulatedPico(uf2, installed_flash)


@pytest.fixture
def plugged(pico: EmulatedPico) -> Iterator[PluggedPico]:
    """The same, behind a pseudo-terminal."""
    from tests.system.rp2040.plugged_pico import PluggedPico

    with PluggedPico(pico) as plugged:
        yield plugged
