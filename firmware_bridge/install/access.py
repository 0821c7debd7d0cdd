"""Access to a board: find it, identify its firmware, bring it to its prompt and back to work."""

import select
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

from serial.tools import list_ports as pyserial_list

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import ConnectionState
from firmware_bridge.errors import (
    BridgeError,
    NoFirmwareError,
    PortAmbiguousError,
    PortError,
    PortGoneError,
    PortMissingError,
    SilentDeviceError,
    VersionError,
    WrongDeviceError,
)
from firmware_bridge.install.console import START_OVER, BareBoard, InstallError
from firmware_bridge.install.manifest import STAY_FILE
from firmware_bridge.ports.port import Port, open_port
from firmware_bridge.ports.selection import WantedBoard, candidates
from firmware_bridge.ports.serial_ports import OWN_USB_VENDORS, SerialPort, serial_ports
from firmware_bridge.protocol.messages import Welcome

STARTUP_TIMEOUT_S = 20.0
"""Maximum time for a board to answer after a reset: its port comes back, 2 s pass, it loads its files."""
_RELEASE_TIMEOUT_S = 10.0  # for a running connection to leave the port; set by hand
_INTERRUPT_EVERY_S = 0.25  # Ctrl-C again and again, until the prompt answers; set by hand
# a board that hangs is reset by its watchdog after 8 s and then listens for 2 s
_INTERRUPTING_S = 12.0
_REPLUG_S = 60.0  # patience while somebody replugs the board

# interrupt the running program, and leave the raw prompt if it is active
_INTERRUPT = b"\r\x03\x03\r\x02"
_PROMPT = b">>> "


FLASH_ADVICE = (
    "A board without MicroPython shows no port of its own, or one with something else behind it. A Pico: hold its "
    "BOOTSEL button while you plug it in, and copy MicroPython's UF2 file for that board onto the drive that appears. "
    "An ESP32-S3: write MicroPython with esptool. docs/firmware.md explains both"
)


@dataclass(frozen=True)
class InstallEnvironment:
    """The computer's ports, time, and output. ``clock`` is monotonic seconds."""

    list_ports: Callable[[], Iterable[Any]] = pyserial_list.comports
    open_port: Callable[[str, int], Port] = open_port
    clock: Callable[[], float] = time.monotonic
    wait: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = lambda _: None


@dataclass(frozen=True)
class ReachedBoard:
    """A board that was found: its port, and the description sent by its firmware, if that is the referee's.

    ``why_not`` says why it does not answer as the referee's board; ``None`` if it does.
    """

    port: SerialPort
    welcome: Welcome | None
    why_not: BridgeError | None


def only_port(wanted: WantedBoard, environment: InstallEnvironment) -> SerialPort:
    """Select the port, before anything is opened.

    Raises PortMissingError with advice about a board without MicroPython, and PortAmbiguousError.
    """
    ports = serial_ports(environment.list_ports)
    try:
        found = candidates(wanted, ports)
    except PortMissingError as error:
        raise PortMissingError(f"{error}. {FLASH_ADVICE}") from error
    if len(found) > 1:
        raise PortAmbiguousError(
            f"there are {len(found)} boards: {'; '.join(map(str, found))}; name the port of one with --port"
        )
    return found[0]


def same_board(port: SerialPort, baud: int) -> WantedBoard:
    """Return the specification that finds the board on ``port`` again when its port returns with another name."""
    if port.serial_number:
        return WantedBoard(None, port.vendor_id, port.product_id, port.serial_number, baud)
    return WantedBoard(port.device, baud=baud)


def identify(port: SerialPort, baud: int, environment: InstallEnvironment, *, leave: bool) -> ReachedBoard:
    """Identify the device on ``port``; with ``leave``, also switch the referee's firmware to its interpreter.

    Raises PortError when the port itself can't be used: missing, taken, not allowed.
    """
    with _connection(WantedBoard(port.device, baud=baud), environment) as connection:
        connection.wait_for_answer(STARTUP_TIMEOUT_S)
        welcome, outage = connection.welcome, connection.outage
        if welcome is not None and leave:
            connection.leave()
            if not connection.wait_for(lambda: connection.state is ConnectionState.RELEASED, _RELEASE_TIMEOUT_S):
                raise InstallError(f"the board on {port.device} does not go to its prompt; {START_OVER}")
    if welcome is not None:
        return ReachedBoard(port, welcome, None)
    if outage is None:
        raise SilentDeviceError(f"nothing answers on {port.device}; unplug the board and plug it in again")
    if isinstance(outage.error, PortError) and not isinstance(outage.error, PortGoneError):
        raise outage.error
    return ReachedBoard(port, None, outage.error)


def await_restart(port: SerialPort, baud: int, environment: InstallEnvironment) -> Welcome | None:
    """Wait for the firmware of a board that was reset; ``None`` if it does not start within STARTUP_TIMEOUT_S."""
    with _connection(same_board(port, baud), environment) as connection:

        def is_decided() -> bool:
            outage = connection.outage
            stays_at_prompt = outage is not None and isinstance(outage.error, NoFirmwareError)
            return connection.welcome is not None or stays_at_prompt

        connection.wait_for(is_decided, STARTUP_TIMEOUT_S)
        return connection.welcome


def bare_board(reached: ReachedBoard, baud: int, environment: InstallEnvironment) -> BareBoard:
    """Bring a board to its prompt: one that left, has no firmware, hangs, or has an incompatible version.

    If that fails too, raises the error that kept it from answering as the referee's board.
    """
    if isinstance(reached.why_not, VersionError):
        environment.say(
            f"{reached.why_not}. This program cannot control it. Unplug it now and plug it in again; waiting up to "
            f"{_REPLUG_S:.0f} seconds."
        )
        patience_s = _REPLUG_S
    elif isinstance(reached.why_not, WrongDeviceError) and not _may_be_ours(reached.why_not, reached.port):
        raise reached.why_not
    else:
        patience_s = _INTERRUPTING_S
    name = _find_prompt(reached.port, baud, environment, patience_s)
    if name is not None:
        board = BareBoard(name, baud)
        return board if reached.why_not is None else _without_watchdog(board, reached.port, baud, environment)
    if reached.why_not is None:
        raise InstallError(
            f"the board on {reached.port.device} went to its prompt and did not come back; {START_OVER}. "
            "If that port is its UART: files go over USB, so name its USB port"
        )
    raise WrongDeviceError(f"{reached.why_not}. It does not come to MicroPython's prompt. {FLASH_ADVICE}")


def _without_watchdog(board: BareBoard, port: SerialPort, baud: int, environment: InstallEnvironment) -> BareBoard:
    """Reset a board whose firmware was interrupted: its watchdog can't be stopped, and would reset it in 8 s."""
    with ExitStack() as unless_kept:
        unless_kept.callback(board.close)
        if not board.survey().has_firmware:
            unless_kept.pop_all()
            return board
        board.stay_after_reset()
        board.reset()
        unless_kept.pop_all()
    name = _find_prompt(port, baud, environment, _INTERRUPTING_S)
    if name is None:
        raise InstallError(f"the board on {port.device} did not come back from its reset; {START_OVER}")
    with ExitStack() as unless_ready:
        restarted = unless_ready.enter_context(BareBoard(name, baud))
        # only the firmware's main.py removes it, and that may be missing
        restarted.remove((STAY_FILE,))
        unless_ready.pop_all()
    return restarted


def _connection(wanted: WantedBoard, environment: InstallEnvironment) -> BoardConnection:
    return BoardConnection(
        wanted,
        environment.clock,
        lambda _: None,
        open_port=environment.open_port,
        list_ports=environment.list_ports,
    )


def _may_be_ours(error: BridgeError, port: SerialPort) -> bool:
    """Return whether to search for a prompt: on a silent port, and on a chip with its own USB whatever it answers."""
    return isinstance(error, NoFirmwareError | SilentDeviceError) or port.vendor_id in OWN_USB_VENDORS


def _find_prompt(port: SerialPort, baud: int, environment: InstallEnvironment, patience_s: float) -> str | None:
    """Interrupt the board's program until its prompt appears; returns the port's name then, which may be another."""
    until_s = environment.clock() + patience_s
    wanted = same_board(port, baud)
    while environment.clock() < until_s:
        try:
            name = candidates(wanted, serial_ports(environment.list_ports), port)[0].device
            with closing(environment.open_port(name, baud)) as opened:
                if _reaches_prompt(opened, environment, until_s):
                    return name
        # while the board resets, its port is away or still closing
        except PortError:
            environment.wait(_INTERRUPT_EVERY_S)
    return None


def _reaches_prompt(port: Port, environment: InstallEnvironment, until_s: float) -> bool:
    heard = b""
    readable = select.poll()
    readable.register(port.fileno(), select.POLLIN)
    while environment.clock() < until_s:
        port.write(_INTERRUPT)
        interrupted_s = environment.clock()
        while environment.clock() < interrupted_s + _INTERRUPT_EVERY_S:
            readable.poll(_INTERRUPT_EVERY_S * 1000)
            heard = (heard + port.read())[-1024:]
            if _PROMPT in heard:
                return True
    return False
