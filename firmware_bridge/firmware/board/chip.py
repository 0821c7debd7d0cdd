"""Why the microcontroller started, and its watchdog."""

import sys

import machine

POWER = 0
WATCHDOG = 1
SOFTWARE = 2
UNKNOWN = 255

# The RP2040's watchdog counts at most 8.388 s (its data sheet, section 4.7).
WATCHDOG_MS = 8000

# On these chips every reset by software is one by the watchdog, too. The Pico SDK leaves a number in the watchdog's
# fourth scratch register while it guards a loop, and another one for a reset that is wanted (hardware_watchdog).
_SCRATCH_4 = {"RP2040": 0x4005801C, "RP2350": 0x400D801C}
_GUARDING = 0x6AB73121


def reset_cause() -> int:
    """Give why the board started, as WELCOME tells it."""
    cause = machine.reset_cause()
    if cause == machine.PWRON_RESET:
        return POWER
    if cause != machine.WDT_RESET:
        return SOFTWARE
    port: str = sys.platform
    if port != "rp2":
        return WATCHDOG
    for chip, address in _SCRATCH_4.items():
        if chip in sys.implementation._machine:
            return WATCHDOG if machine.mem32[address] & 0xFFFFFFFF == _GUARDING else SOFTWARE
    return UNKNOWN


def start_watchdog() -> "machine.WDT":
    """Start the watchdog. It can't be stopped: from now on it is fed in time, or the board restarts."""
    return machine.WDT(timeout=WATCHDOG_MS)
