"""The real commands and the real connection with an emulated Pico, over a pseudo-terminal; and its watchdog."""

from __future__ import annotations

from typing import TYPE_CHECKING

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import BoardEvent, ButtonPressed, Linked
from firmware_bridge.install.check import check
from firmware_bridge.install.manifest import Firmware
from firmware_bridge.pin_maps.pin_map import PinMap
from firmware_bridge.ports.selection import WantedBoard
from tests.system.rp2040.conftest import around
from tests.system.rp2040.edges import MS
from tests.system.rp2040.strip import frames
from tests.system.rp2040.talk import PageDialogue

if TYPE_CHECKING:
    from tests.system.rp2040.emulated_pico import EmulatedPico
    from tests.system.rp2040.plugged_pico import PluggedPico

GUARD_S = 600.0
"""A limit against hanging only."""
WATCHDOG, SOFTWARE = 1, 2
AT_THE_PROMPT = b"""
from firmware.board.chip import reset_cause
print(reset_cause())
import machine, time
machine.WDT(timeout=500)
time.sleep(5)
"""


def test_check_confirms_an_installation_by_our_command(
    plugged: PluggedPico, firmware: Firmware, pins: PinMap, patience: None
) -> None:
    found = check(WantedBoard(plugged.port), firmware, pins, around(plugged), lambda *_: None)
    assert found.is_good, found.findings


def test_the_connection_links_shows_lights_and_receives_a_press(plugged: PluggedPico) -> None:
    edges = plugged.ask(lambda pico: pico.watch(28))
    said: list[str] = []
    with BoardConnection(WantedBoard(plugged.port), plugged.now_s, said.append, list_ports=list) as connection:
        events: list[BoardEvent] = []

        def heard(kind: type[BoardEvent]) -> bool:
            events.extend(connection.poll())
            return any(isinstance(event, kind) for event in events)

        connection.show_lights(bytes((0, 255, 0)) * 5)
        assert connection.wait_for(lambda: heard(Linked), GUARD_S)
        plugged.ask(lambda pico: pico.press(18))
        assert connection.wait_for(lambda: heard(ButtonPressed), GUARD_S)
        (press,) = (event for event in events if isinstance(event, ButtonPressed))
        assert press.button == 0
    assert plugged.ask(lambda pico: pico.run_until(lambda: pico.now_ns - edges[-1].at_ns > MS, 50))
    shown = frames(plugged.ask(lambda _: list(edges)))
    assert bytes((255, 0, 0)) * 5 + bytes(3 * 295) in shown


def test_the_firmware_leaves_for_its_prompt_and_the_watchdog_restarts_it(pico: EmulatedPico) -> None:
    talk = PageDialogue(pico)
    talk.link.leave()
    assert talk.pico.run_until(lambda: talk.run_until(lambda: pico.starts == 2, 2000), 5000)
    pico.run_for(300)
    pico.write(b"\r\x03\r\x01" + AT_THE_PROMPT + b"\x04")
    assert pico.run_until(lambda: pico.starts == 3, 5000)
    assert f"OK{SOFTWARE}\r\n".encode() in pico.read()
    talk = PageDialogue(pico)
    assert talk.link.welcome is not None
    assert talk.link.welcome.reset_cause == WATCHDOG
