"""Makes a table's drivers from settings."""

from dataclasses import dataclass, field
from functools import partial

from gpiozero.pins import Factory
from rich.console import Console

from common.grid import PlaceGrid
from common.phrases import Phrase, did_you_mean, joined
from hardware.errors import SettingError
from hardware.lights.gpio import BuzzerDriver, BuzzerKind, EdgeLed, PlaceLed, StatusLed
from hardware.lights.panel import DriverSource
from hardware.lights.terminal import TerminalDriver
from hardware.pin_map import NO_OUTPUT, GpioPinMap

DRIVER_NAMES = ("terminal", "gpio")


@dataclass(frozen=True)
class DriverSettings:
    """Which drivers show the signals, and their parameters.

    ``active_high`` is false for LEDs wired from 3.3 V to the pin. ``bell`` rings the terminal's bell for sounds.
    """

    drivers: tuple[str, ...] = ("terminal",)
    pins: GpioPinMap = field(default_factory=GpioPinMap)
    active_high: bool = True
    buzzer_kind: BuzzerKind = BuzzerKind.ACTIVE
    bell: bool = False


def driver_sources(
    settings: DriverSettings, grid: PlaceGrid, console: Console, pin_factory: Factory | None = None
) -> tuple[DriverSource, ...]:
    """Return the sources of a ``Panel``'s drivers: one per light, so that each fails and recovers separately.

    Nothing is opened here. ``pin_factory`` is gpiozero's; its default one when ``None``. Raises SettingError for an
    unknown driver, a driver named twice, and ``gpio`` without any pin.
    """
    for name in settings.drivers:
        if name not in DRIVER_NAMES:
            guess = did_you_mean(name, DRIVER_NAMES, quoted=True)
            raise SettingError(
                "there is no driver {name!r}{guess}; allowed are {names}", name, guess, joined(DRIVER_NAMES, ", ")
            )
    if len(set(settings.drivers)) < len(settings.drivers):
        raise SettingError("a driver is named twice in {names}; name each once", joined(settings.drivers, ", "))
    sources: list[DriverSource] = []
    if "terminal" in settings.drivers:
        terminal = partial(TerminalDriver, console, grid, bell=settings.bell)
        sources.append(DriverSource("terminal", terminal))
    if "gpio" in settings.drivers:
        if not settings.pins.has_outputs:
            raise SettingError(NO_OUTPUT)
        sources.extend(_gpio_sources(settings, pin_factory))
    return tuple(sources)


def _gpio_sources(settings: DriverSettings, pin_factory: Factory | None) -> list[DriverSource]:
    pins = settings.pins
    high = settings.active_high
    sources = [
        DriverSource(f"light {place}", partial(PlaceLed, place, pin, active_high=high, pin_factory=pin_factory))
        for place, pin in pins.places.items()
    ]
    sources += [
        DriverSource(f"edge light {line}", partial(EdgeLed, line, pin, active_high=high, pin_factory=pin_factory))
        for line, pin in [*pins.columns.items(), *pins.rows.items()]
    ]
    if pins.status is not None:
        sources.append(
            DriverSource(
                Phrase("status light"), partial(StatusLed, pins.status, active_high=high, pin_factory=pin_factory)
            )
        )
    if pins.buzzer is not None:
        buzzer = partial(
            BuzzerDriver, pins.buzzer, kind=settings.buzzer_kind, active_high=high, pin_factory=pin_factory
        )
        sources.append(DriverSource("buzzer", buzzer))
    return sources
