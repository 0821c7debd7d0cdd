"""Wire faults for tests."""

from typing import Any

from simulator.microcontroller.wire import WireFaults


def faulty(**settings: Any) -> WireFaults:
    """Return wire faults from settings whose names are only known at run time."""
    return WireFaults(**settings)
