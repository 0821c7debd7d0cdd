"""Selects the port of the wanted board, also after it comes back under another name. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from common.phrases import Phrase, either
from firmware_bridge.errors import PortAmbiguousError, PortMissingError
from firmware_bridge.ports.port import DEFAULT_BAUD, ports_named
from firmware_bridge.ports.serial_ports import OWN_USB_VENDORS, SerialPort


@dataclass(frozen=True)
class WantedBoard:
    """Which board to use: by port name, by USB numbers, or, with nothing given, the only one there is.

    ``port`` is a name such as ``/dev/ttyACM0`` or a link to it, USB or not. ``vendor_id`` and ``product_id`` are USB's;
    ``serial_number`` distinguishes two boards of the same kind. ``baud`` only matters on a UART.
    """

    port: str | None = None
    vendor_id: int | None = None
    product_id: int | None = None
    serial_number: str | None = None
    baud: int = DEFAULT_BAUD

    @property
    def is_any(self) -> bool:
        """Whether nothing was specified, so that the only board that answers is used."""
        return self.port is None and not self._asks_for_usb

    @property
    def _asks_for_usb(self) -> bool:
        return self.vendor_id is not None or self.product_id is not None or self.serial_number is not None

    def fits(self, port: SerialPort) -> bool:
        """Return whether the specified USB numbers are this port's; its name is not compared."""
        return (
            self.vendor_id in (None, port.vendor_id)
            and self.product_id in (None, port.product_id)
            and self.serial_number in (None, port.serial_number)
        )

    def __str__(self) -> str:
        """The specification in words."""
        words = [] if self.port is None else [Phrase("on {port}", self.port)]
        if self.vendor_id is not None or self.product_id is not None:
            words.append(
                Phrase(
                    "with USB numbers {hexadecimal}:{hexadecimal_2}",
                    _hexadecimal(self.vendor_id),
                    _hexadecimal(self.product_id),
                )
            )
        if self.serial_number is not None:
            words.append(Phrase("with serial number {serial_number}", self.serial_number))
        return " ".join([Phrase("a board"), *words]) if words else Phrase("any board of the referee's")


def candidates(
    wanted: WantedBoard,
    ports: Sequence[SerialPort],
    known: SerialPort | None = None,
    lookalikes: Collection[str] = (),
) -> tuple[SerialPort, ...]:
    """Return the ports that the wanted board may be on; more than one only if nothing was specified.

    ``known`` is where it answered before; it is found by its USB numbers under any name. ``lookalikes`` is what
    ``similar_ports`` returned then. Raises PortMissingError, which names those there are, or PortAmbiguousError.
    """
    again = () if known is None else _same_board_ports(wanted, ports, known, lookalikes)
    if again:
        return again
    if wanted.port is not None:
        return (_port_by_name(wanted, ports),)
    if wanted.is_any:
        return _likely_ports(ports)
    fitting = [port for port in ports if port.vendor_id is not None and wanted.fits(port)]
    if not fitting:
        raise PortMissingError("found no port for {wanted}; {ports_named}", wanted, ports_named(ports))
    if len(fitting) > 1:
        raise PortAmbiguousError(
            "{fitting} ports fit {wanted}: {list_ports}; {ask_which_port}",
            len(fitting),
            wanted,
            _list_ports(fitting),
            ask_which_port(fitting),
        )
    return (fitting[0],)


def similar_ports(board: SerialPort, ports: Sequence[SerialPort]) -> frozenset[str]:
    """Return the names of other ports with the same USB numbers as the board's port.

    Many serial converters have no serial number: the one beside the board's may be a 3D printer's.
    """
    return frozenset(port.device for port in ports if port.device != board.device and is_same_board(port, board))


def returned_ports(
    ports: Sequence[SerialPort], known: SerialPort, lookalikes: Collection[str]
) -> tuple[SerialPort, ...]:
    """Return the ports with the USB numbers of ``known``, without the ``lookalikes``; none if it has no numbers."""
    if known.vendor_id is None:
        return ()
    return tuple(port for port in ports if is_same_board(port, known) and port.device not in lookalikes)


def is_same_board(port: SerialPort, known: SerialPort) -> bool:
    """Return whether both ports have the same USB numbers."""
    return (port.vendor_id, port.product_id, port.serial_number) == (
        known.vendor_id,
        known.product_id,
        known.serial_number,
    )


def _same_board_ports(
    wanted: WantedBoard, ports: Sequence[SerialPort], known: SerialPort, lookalikes: Collection[str]
) -> tuple[SerialPort, ...]:
    """Return the ports where the board of ``known`` may be now; none if it is gone, so that a spare one may be used."""
    alike = returned_ports(ports, known, lookalikes)
    for name in (known.device, *(() if wanted.port is None else _names_of(wanted.port))):
        if any(port.device == name for port in alike):
            return tuple(port for port in alike if port.device == name)
    if len(alike) < 2 or wanted.is_any:
        return alike
    raise PortAmbiguousError(
        "the board that was on {device} is gone, and {alike} are like it: {list_ports}; {ask_which_port}",
        known.device,
        len(alike),
        _list_ports(alike),
        ask_which_port(alike),
    )


def _port_by_name(wanted: WantedBoard, ports: Sequence[SerialPort]) -> SerialPort:
    name = wanted.port or ""
    for port in ports:
        if port.device in _names_of(name):
            if not wanted.fits(port):
                raise PortMissingError(
                    "found no port for {wanted}; on that port is {port}; {ports_named}",
                    wanted,
                    port,
                    ports_named(ports),
                )
            return port
    # pseudo-terminals and a Pi's own UART may be missing from the list: opening shows whether the port exists
    return SerialPort(name)


def _names_of(name: str) -> tuple[str, str]:
    """Return a port's name, and the one that it links to, as those in /dev/serial/by-id do."""
    return name, str(Path(name).resolve())


def _likely_ports(ports: Sequence[SerialPort]) -> tuple[SerialPort, ...]:
    found = tuple(port for port in ports if port.vendor_id in OWN_USB_VENDORS)
    if found:
        return found
    raise PortMissingError(
        either(
            ports,
            "found no Pico and no Espressif board on USB; {ports_named}; if the board is behind "
            "another port, name it in the settings",
            "found no Pico and no Espressif board on USB; {ports_named}",
            ports_named(ports),
        )
    )


def _list_ports(ports: Sequence[SerialPort]) -> str:
    return "; ".join(str(port) for port in ports)


def ask_which_port(ports: Sequence[SerialPort]) -> str:
    """Ask which of several ports to use, with their differences."""
    numbers = [port.serial_number for port in ports]
    if all(numbers) and len(set(numbers)) == len(numbers):
        return Phrase("which one is it? Give its serial number in the settings")
    return Phrase("which one is it? Name its port in the settings")


def _hexadecimal(number: int | None) -> str:
    return "any" if number is None else f"{number:04x}"
