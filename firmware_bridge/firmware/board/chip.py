"""Why the microcontroller started, and its watchdog."""

import sys

import machine

POWER = 0  # causes of a reset, as in the protocol
WATCHDOG = 1
SOFTWARE = 2
UNKNOWN = 255

# The RP2040's watchdog counts at most 8.388 s (its data sheet, section 4.7).
WATCHDOG_MS = 8000

# These chips report a software reset as one by the watchdog, too. The Pico SDK keeps a magic number in the watchdog's
# fourth scratch register while the watchdog is enabled, and another one for an intended reset (hardware_watchdog).
_SCRATCH_4 = {"RP2040": 0x4005801C, "RP2350": 0x400D801C}
_ENABLED = 0x6AB73121  # the bootloader's mark of an enabled watchdog (RP2040 data sheet)


def reset_cause() -> int:
    """Return why the board started, as a number for WELCOME."""
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
            return WATCHDOG if machine.mem32[address] & 0xFFFFFFFF == _ENABLED else SOFTWARE
    return UNKNOWN


def start_watchdog() -> "machine.WDT":
    """Start the watchdog. It can't be stopped: the board restarts unless it is fed in time."""
    return machine.WDT(timeout=WATCHDOG_MS)
