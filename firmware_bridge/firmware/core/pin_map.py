"""The pin map on the board: JSON written by the host, validated again here. Pure."""

import json

from .packets import crc32

FORMAT = 1  # of the JSON
MOST_LIGHTS = 300  # limits of this firmware, for the RAM of an RP2040
MOST_ROWS = 16
MOST_COLUMNS = 16
MOST_SINGLES = 24
MOST_BUTTONS = 8
HIGHEST_PIN = 48  # of an ESP32-S3
COLOUR_ORDERS = ("GRB", "RGB", "BRG", "RBG", "GBR", "BGR")

NO_BUZZER = 0  # kinds of buzzers
ACTIVE_BUZZER = 1
PASSIVE_BUZZER = 2

DEFAULT_LIMIT_MA = 400  # what a USB port gives, less the board itself


class PinMap:
    """What is connected to which pin. If the file has any fault, only the link is connected.

    ``checksum`` is the file's CRC-32, 0 without one; ``uart`` is ``(number, tx, rx, baud)``, or ``None`` for USB.
    """

    def __init__(self, checksum: int = 0) -> None:
        self.checksum = checksum
        self.faults: list[str] = []
        self.board = "unknown board"
        self.uart: tuple[int, int, int, int] | None = None
        self.drop_pins()

    def drop_pins(self) -> None:
        """Disconnect everything except the link."""
        self.light_pin = 0
        self.lights = 0
        self.light_order = "GRB"
        self.limit_ma = DEFAULT_LIMIT_MA
        self.brightness = 255
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.diodes = False
        self.singles: list[int] = []
        self.buttons: list[int] = []
        self.buzzer_pin = 0
        self.buzzer = NO_BUZZER

    @property
    def switches(self) -> int:
        """Number of switches."""
        return len(self.rows) * len(self.columns) + len(self.singles)


def read_pin_map(data: bytes) -> PinMap:
    """Parse the file's bytes. Never raises; problems are listed in ``faults``."""
    pins = PinMap(crc32(data))
    try:
        form = json.loads(data.decode())
    except (ValueError, RuntimeError):
        # MicroPython raises RuntimeError for JSON that is nested too deeply.
        pins.faults.append("the pin map is not JSON")
        return pins
    if not isinstance(form, dict) or form.get("format") != FORMAT:
        pins.faults.append(f"the pin map is not of format {FORMAT}")
        return pins
    _Reader(pins).read(form)
    if pins.faults:
        pins.drop_pins()
    return pins


class _Reader:
    """Fills a pin map from its JSON and remembers which pin is used for what."""

    def __init__(self, pins: PinMap) -> None:
        self._pins = pins
        self._uses: dict[int, str] = {}

    def read(self, form: "dict[str, object]") -> None:
        pins = self._pins
        name = form.get("name", form.get("board"))
        if isinstance(name, str):
            pins.board = name
        link = form.get("link", "usb")
        if link != "usb":
            link = self._section("link", link)
            pins.uart = (
                self._number(link, "link", "uart", 0, 9),
                self._pin(link.get("tx"), "link tx"),
                self._pin(link.get("rx"), "link rx"),
                self._number(link, "link", "baud", 1200, 3000000),
            )
            if pins.faults:
                pins.uart = None
        if "lights" in form:
            self._read_lights(self._section("lights", form["lights"]))
        if "matrix" in form:
            matrix = self._section("matrix", form["matrix"])
            pins.rows = self._pin_list(matrix.get("rows"), "matrix row", MOST_ROWS)
            pins.columns = self._pin_list(matrix.get("columns"), "matrix column", MOST_COLUMNS)
            pins.diodes = matrix.get("diodes", False) is True
            if not (pins.rows and pins.columns):
                pins.faults.append("a matrix needs rows and columns")
        pins.singles = self._pin_list(form.get("switches", []), "switch", MOST_SINGLES)
        pins.buttons = self._pin_list(form.get("buttons", []), "button", MOST_BUTTONS)
        if "buzzer" in form:
            buzzer = self._section("buzzer", form["buzzer"])
            pins.buzzer_pin = self._pin(buzzer.get("pin"), "buzzer")
            pins.buzzer = ACTIVE_BUZZER if buzzer.get("kind") == "active" else PASSIVE_BUZZER
            if buzzer.get("kind", "passive") not in ("active", "passive"):
                pins.faults.append("a buzzer is active or passive, not {}".format(buzzer.get("kind")))

    def _read_lights(self, lights: "dict[str, object]") -> None:
        pins = self._pins
        pins.light_pin = self._pin(lights.get("pin"), "lights")
        pins.lights = self._number(lights, "lights", "count", 1, MOST_LIGHTS)
        pins.limit_ma = self._number(lights, "lights", "limit_ma", 1, 65535, DEFAULT_LIMIT_MA)
        pins.brightness = self._number(lights, "lights", "brightness", 0, 255, 255)
        order = lights.get("order", "GRB")
        if order in COLOUR_ORDERS:
            pins.light_order = str(order)
        else:
            pins.faults.append("lights: order is {}; expected one of {}".format(order, ", ".join(COLOUR_ORDERS)))

    def _section(self, name: str, value: object) -> "dict[str, object]":
        if isinstance(value, dict):
            return value
        self._pins.faults.append(f"{name}: expected an object")
        return {}

    def _number(
        self, section: "dict[str, object]", name: str, key: str, least: int, most: int, default: int = -1
    ) -> int:
        value = section.get(key, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        self._pins.faults.append(f"{name}: {key} is {value}; expected {least} to {most}")
        return least

    def _pin(self, value: object, use: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HIGHEST_PIN:
            self._pins.faults.append(f"{use}: pin {value}; expected 0 to {HIGHEST_PIN}")
            return 0
        if value in self._uses:
            self._pins.faults.append(f"pin {value} is used twice: {self._uses[value]} and {use}")
        self._uses[value] = use
        return value

    def _pin_list(self, values: object, use: str, most: int) -> list[int]:
        if not isinstance(values, list) or len(values) > most:
            self._pins.faults.append(f"{use}: expected a list of at most {most} pins")
            return []
        return [self._pin(value, f"{use} {index}") for index, value in enumerate(values)]
