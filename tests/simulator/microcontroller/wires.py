"""Wires with faults that a test names."""

from typing import Any

from simulator.microcontroller.faults import WireFaults


def faulty(**knobs: Any) -> WireFaults:
    """Return the faults of a wire by the names of their knobs, which a test may look up."""
    return WireFaults(**knobs)
