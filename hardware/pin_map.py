"""The function of each pin, validated before any pin is used.

Pins have their Broadcom numbers (GPIO17), as in gpiozero and the Pi's own documentation. ``parse_pin`` also reads
``BOARD11`` and ``J8:11``.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from common.grid import column_and_row
from common.phrases import Phrase, did_you_mean, first_and_last
from hardware.errors import PinError

PinName = int | str


class ButtonRole(enum.StrEnum):
    """The function of a button; the values are used in settings and pin maps."""

    END_TURN = "end turn"
    HINT = "hint"
    TAKE_BACK = "take back"
    ANTI_PLAY = "anti-play"
    REPETITION = "repetition"
    DRAW = "draw"
    RESIGN = "resign"


BUTTON_ROLES: tuple[ButtonRole, ...] = tuple(ButtonRole)
"""All functions of buttons."""

USUAL_BUTTONS: tuple[ButtonRole, ...] = (ButtonRole.END_TURN, ButtonRole.HINT, ButtonRole.TAKE_BACK)
"""Default roles of a board's buttons, in their order."""

ANNOUNCING_BUTTONS: tuple[ButtonRole, ...] = (
    ButtonRole.ANTI_PLAY,
    ButtonRole.REPETITION,
    ButtonRole.DRAW,
    ButtonRole.RESIGN,
)
"""Buttons for announcements; the game's rules decide which are possible, and when."""

_USABLE = range(2, 28)
_HAT_EEPROM = (0, 1)  # pins that the Pi keeps for add-on boards
# physical position on the 40-pin header (J8) to Broadcom number
_PHYSICAL: Mapping[int, int] = MappingProxyType(
    {
        3: 2, 5: 3, 7: 4, 8: 14, 10: 15, 11: 17, 12: 18, 13: 27, 15: 22, 16: 23, 18: 24, 19: 10, 21: 9, 22: 25,
        23: 11, 24: 8, 26: 7, 27: 0, 28: 1, 29: 5, 31: 6, 32: 12, 33: 13, 35: 19, 36: 16, 37: 26, 38: 20, 40: 21,
    }
)  # fmt: skip
_SPELLING = re.compile(r"\s*(?:(?P<bcm>(?:gpio|bcm)?\s*(?P<number>\d+))|(?:board|j8:)\s*(?P<position>\d+))\s*", re.I)


def parse_pin(name: PinName) -> int:
    """Parse a pin's name to its Broadcom number: ``17``, ``"GPIO17"``, ``"BCM17"``, ``"BOARD11"`` or ``"J8:11"``.

    Raises PinError for anything else, for positions without GPIO, and for GPIO0 and GPIO1, which belong to the
    identification chip of add-on boards.
    """
    number: int | None
    if isinstance(name, bool) or not isinstance(name, int | str):
        raise PinError("{name!r} is not a pin; give a number such as 17 or a name such as GPIO17 or BOARD11", name)
    if isinstance(name, int):
        number = name
    else:
        match = _SPELLING.fullmatch(name)
        if match is None:
            raise PinError("{name!r} is not a pin; give a number such as 17 or a name such as GPIO17 or BOARD11", name)
        if match["bcm"] is not None:
            number = int(match["number"])
        else:
            number = _PHYSICAL.get(int(match["position"]))
            if number is None:
                raise PinError("{name!r} is not a GPIO pin: it is power, ground, or not on the 40-pin header", name)
    if number in _HAT_EEPROM:
        raise PinError(
            "{name!r} is kept for the identification chip of add-on boards; use one of GPIO2 to GPIO27", name
        )
    if number not in _USABLE:
        raise PinError("{name!r} does not exist on the 40-pin header; use one of GPIO2 to GPIO27", name)
    return number


class PinAllocator:
    """Assigns each pin to at most one use, and collects the ``problems``.

    ``uses`` are the pins that are already assigned, and their uses.
    """

    def __init__(self, uses: Mapping[int, str] = MappingProxyType({})) -> None:
        self.problems: list[str] = []
        self._uses = dict(uses)

    def allocate(self, use: str, name: PinName) -> int:
        """Return the Broadcom number of an unassigned pin; any number if there is a problem."""
        try:
            number = parse_pin(name)
        except PinError as error:
            self.problems.append(f"{use}: {error}")
            return -1
        if number in self._uses:
            self.problems.append(
                Phrase(
                    "GPIO{number} is used twice: for {use} and for {use_2}; give each its own pin",
                    number,
                    self._uses[number],
                    use,
                )
            )
        self._uses.setdefault(number, use)
        return number

    def check(self) -> None:
        """Raise PinError with every problem, if there is any."""
        if self.problems:
            raise PinError("; ".join(self.problems))


NO_OUTPUT = Phrase(
    "the driver gpio has no pin to drive; give it pins for places, the status light or the "
    "buzzer, or take it off the list of drivers"
)


@dataclass(frozen=True)
class GpioPinMap:
    """Pins by function, as Broadcom numbers, none used twice. Made by ``from_names``.

    ``places`` have an LED each. ``columns`` and ``rows`` are LEDs along two edges of a board with more squares than the
    Pi has pins: one of each together indicates a square, and several squares alternate. ``status`` is an RGB LED's
    (red, green, blue).
    """

    places: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, int] = field(default_factory=dict)
    rows: Mapping[str, int] = field(default_factory=dict)
    status: tuple[int, int, int] | None = None
    buzzer: int | None = None
    buttons: Mapping[ButtonRole, int] = field(default_factory=dict)

    @classmethod
    def from_names(
        cls,
        *,
        places: Mapping[str, PinName] | None = None,
        columns: Mapping[str, PinName] | None = None,
        rows: Mapping[str, PinName] | None = None,
        status_red: PinName | None = None,
        status_green: PinName | None = None,
        status_blue: PinName | None = None,
        buzzer: PinName | None = None,
        buttons: Mapping[str, PinName] | None = None,
        known_places: Collection[str] = (),
    ) -> GpioPinMap:
        """Validate and make a pin map.

        ``known_places`` are the game's; if given, no other place may have a pin. Raises PinError, which lists *every*
        problem: invalid pins, pins used twice (with both uses), unknown places and button roles, and a status light
        without one of its three pins.
        """
        pins = PinAllocator()
        status = {"red": status_red, "green": status_green, "blue": status_blue}
        given = {colour: pin for colour, pin in status.items() if pin is not None}
        if given and len(given) < len(status):
            lacking = ", ".join(colour for colour in status if colour not in given)
            pins.problems.append(
                Phrase(
                    "the status light has no pin for {lacking}; it needs red, green and blue, or none of them", lacking
                )
            )
        pins.problems += _unknown("place", places or {}, known_places)
        pins.problems += _unknown("column", columns or {}, [column_and_row(place)[0] for place in known_places])
        pins.problems += _unknown("row", rows or {}, [column_and_row(place)[1] for place in known_places])
        pins.problems += _unknown("button", buttons or {}, BUTTON_ROLES)
        if bool(columns) != bool(rows):
            pins.problems.append(Phrase("edge lights need pins for columns and for rows; only one of the two has any"))
        place_pins = {
            place: pins.allocate(Phrase("place {place}", place), pin) for place, pin in (places or {}).items()
        }
        column_pins = {
            column: pins.allocate(Phrase("column {column}", column), pin) for column, pin in (columns or {}).items()
        }
        row_pins = {row: pins.allocate(Phrase("row {row}", row), pin) for row, pin in (rows or {}).items()}
        status_pins = [
            pins.allocate(Phrase("the status light's {colour}", colour), pin) for colour, pin in given.items()
        ]
        buzzer_pin = None if buzzer is None else pins.allocate(Phrase("the buzzer"), buzzer)
        button_pins = {
            role: pins.allocate(Phrase("the button {role!r}", str(role)), pin) for role, pin in (buttons or {}).items()
        }
        pins.check()
        return cls(
            places=place_pins,
            columns=column_pins,
            rows=row_pins,
            status=(status_pins[0], status_pins[1], status_pins[2]) if len(status_pins) == len(status) else None,
            buzzer=buzzer_pin,
            buttons={ButtonRole(role): pin for role, pin in button_pins.items()},
        )

    @property
    def has_outputs(self) -> bool:
        """Whether there is a light or a buzzer."""
        return bool(self.places or self.columns or self.rows or self.status or self.buzzer is not None)

    @property
    def uses(self) -> tuple[tuple[str, int], ...]:
        """The use of each pin, in words, and its Broadcom number."""
        return (
            *((Phrase("place {place}", place), pin) for place, pin in self.places.items()),
            *((Phrase("column {column}", column), pin) for column, pin in self.columns.items()),
            *((Phrase("row {row}", row), pin) for row, pin in self.rows.items()),
            *zip(
                (Phrase("status red"), Phrase("status green"), Phrase("status blue")), self.status or (), strict=False
            ),
            *(() if self.buzzer is None else (("buzzer", self.buzzer),)),
            *((Phrase("button {value!r}", role.value), pin) for role, pin in self.buttons.items()),
        )


def _unknown(kind: str, given: Collection[str], allowed: Collection[str]) -> Iterator[str]:
    if not allowed:
        return
    for name in given:
        if name not in allowed:
            guess = did_you_mean(name, allowed, quoted=True)
            names = first_and_last(tuple(dict.fromkeys(allowed)), most=12)
            yield Phrase("there is no {kind} {name!r}{guess}; there are {names}", kind, name, guess, names)
