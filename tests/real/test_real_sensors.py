"""For owners of a matrix of switches on a Pi's own pins. Skipped unless the pins are named.

    REFEREE_REAL_ROWS=4,5,6 REFEREE_REAL_COLUMNS=11,12 ./check --real tests/real/test_real_sensors.py

REFEREE_REAL_DIODES=0 for a matrix without diodes.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from hardware.switches import GpioSwitches, SwitchScanner, switch_pins

ROWS, COLUMNS = (os.environ.get(f"REFEREE_REAL_{lines}", "") for lines in ("ROWS", "COLUMNS"))
DIODES = os.environ.get("REFEREE_REAL_DIODES", "1") != "0"
HAND_S = 120.0
SCANS = 100

pytestmark = pytest.mark.skipif(not (ROWS and COLUMNS), reason="set REFEREE_REAL_ROWS and REFEREE_REAL_COLUMNS")

Tell = Callable[[str], None]


@pytest.fixture
def switches() -> Iterator[GpioSwitches]:
    said: list[str] = []
    pins = switch_pins(rows=ROWS.split(","), columns=COLUMNS.split(","), diodes=DIODES)
    made = GpioSwitches(pins, said.append, time.sleep)
    yield made
    made.close()
    assert said == []


def wait_for(switches: GpioSwitches, number: int, *, closed: bool) -> bool:
    never, end_s = threading.Event(), time.monotonic() + HAND_S
    while time.monotonic() < end_s:
        snapshot = switches.latest(time.monotonic())
        if snapshot is not None and snapshot.closed[number] == closed:
            return True
        never.wait(max(0.0, switches.next_scan_s(time.monotonic()) - time.monotonic()))
    return False


def test_every_switch_closes_and_opens(switches: GpioSwitches, tell: Tell) -> None:
    for number in range(switches.pins.switches):
        tell(f"Close switch {number} within two minutes.")
        assert wait_for(switches, number, closed=True), f"switch {number} never closed"
        tell("Now open it.")
        assert wait_for(switches, number, closed=False), f"switch {number} never opened"


def test_a_scan_is_quick(tell: Tell) -> None:
    scanner = SwitchScanner(switch_pins(rows=ROWS.split(","), columns=COLUMNS.split(","), diodes=DIODES), time.sleep)
    start_s = time.perf_counter()
    for _ in range(SCANS):
        scanner.scan()
    scan_ms = 1000 * (time.perf_counter() - start_s) / SCANS
    scanner.close()
    tell(f"a scan takes {scan_ms:.2f} ms")
    assert scan_ms < 20
