"""Drivers for LEDs and a buzzer on the Pi's own pins, through gpiozero. docs/hardware.md has the wiring.

Each LED, the status light and the buzzer has its own driver, so a busy or missing pin only affects one light. Drivers
have no threads: ``tick`` sets the pin to the pattern's present level.
"""

import enum
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any, TypeVar

from gpiozero import LED, PWMLED, PWMOutputDevice
from gpiozero.exc import PinPWMError
from gpiozero.pins import Factory

from common.grid import column_and_row
from common.srgb import linear_from_srgb
from hardware.lights.animation import Animation
from hardware.lights.signals import Signal
from hardware.pins import hardware_error, open_pin_factory, pin_errors

T = TypeVar("T")

_HALF = 0.5  # a pin without PWM is on from this brightness
_AUDIBLE_DUTY = 0.5  # a square wave, the loudest


class _PinDriver(ABC):
    """Base of these drivers: the animation, and the conversion of pin exceptions to HardwareError."""

    def __init__(self, name: str, pin_factory: Factory | None) -> None:
        self.name = name
        self._animation = Animation()
        self._outputs = ExitStack()
        self._factory = open_pin_factory() if pin_factory is None else pin_factory

    def show(self, signal: Signal, time_s: float) -> None:
        """Show the signal from ``time_s`` (monotonic seconds) on; raises HardwareError when the pin can't be set."""
        self._animation = self._animation.followed_by(signal, time_s)
        self.tick(time_s)

    def tick(self, time_s: float) -> None:
        """Set the pin to its level at ``time_s``; raises HardwareError when it can't be set."""
        self._attempt(lambda: self._set(time_s))

    @abstractmethod
    def next_change_s(self, time_s: float) -> float | None:
        """Return when the pin changes next, after ``time_s``; ``None`` if it won't."""

    def close(self) -> None:
        """Turn the light or the tone off, and release the pin."""
        self._animation = Animation()
        self._attempt(self._outputs.close)

    @abstractmethod
    def _set(self, time_s: float) -> None: ...

    def _register(self, device: T) -> T:
        """Register a device to be turned off and closed with this driver."""
        self._outputs.callback(device.close)  # type: ignore[attr-defined]
        return device

    def _attempt(self, act: Callable[[], T]) -> T:
        try:
            return act()
        except pin_errors() as error:
            raise hardware_error(self.name, error) from error


class _SingleLed(_PinDriver):
    """One LED that is on or off."""

    def __init__(self, name: str, pin: int, *, active_high: bool, pin_factory: Factory | None) -> None:
        super().__init__(name, pin_factory)
        self._led: Any = self._attempt(
            lambda: self._register(LED(pin, active_high=active_high, pin_factory=self._factory))
        )
        self._lit = False

    def _set(self, time_s: float) -> None:
        lit = self._is_lit(time_s)
        if lit != self._lit:
            self._led.value = lit
            self._lit = lit

    @abstractmethod
    def _is_lit(self, time_s: float) -> bool: ...


class PlaceLed(_SingleLed):
    """The LED of one place, on ``pin`` (Broadcom number). Its colour is fixed; its pattern shows the role."""

    def __init__(self, place: str, pin: int, *, active_high: bool = True, pin_factory: Factory | None = None) -> None:
        super().__init__(f"light {place} (GPIO{pin})", pin, active_high=active_high, pin_factory=pin_factory)
        self._place = place

    def _is_lit(self, time_s: float) -> bool:
        return self._animation.brightness_of(self._place, time_s, smooth=False) >= _HALF

    def next_change_s(self, time_s: float) -> float | None:
        """Return when the light goes on or off next."""
        return self._animation.next_light_s(self._place, time_s, smooth=False)


class EdgeLed(_SingleLed):
    """The LED beside one column or row; lit while the place shown is in it."""

    def __init__(self, line: str, pin: int, *, active_high: bool = True, pin_factory: Factory | None = None) -> None:
        super().__init__(f"edge light {line} (GPIO{pin})", pin, active_high=active_high, pin_factory=pin_factory)
        self._line = line

    def _is_lit(self, time_s: float) -> bool:
        place, level = self._animation.alternating_place(time_s)
        return place is not None and self._line in column_and_row(place) and level >= _HALF

    def next_change_s(self, time_s: float) -> float | None:
        """Return when the place shown, or its brightness, changes next."""
        return self._animation.next_alternation_s(time_s)


class StatusLed(_PinDriver):
    """The RGB LED that shows the mood, on ``pins`` (red, green, blue; Broadcom numbers).

    Mixed colours need pulse-width modulation. With a pin library that lacks it, the three LEDs are on or off, and the
    pattern distinguishes the moods.
    """

    def __init__(
        self,
        pins: tuple[int, int, int],
        *,
        active_high: bool = True,
        pin_factory: Factory | None = None,
    ) -> None:
        super().__init__(f"status light (GPIO{pins[0]}, {pins[1]}, {pins[2]})", pin_factory)
        self._smooth = False
        self._leds: tuple[Any, ...] = self._attempt(lambda: self._open(pins, active_high))
        self._levels = (0.0,) * len(pins)

    def _open(self, pins: tuple[int, int, int], active_high: bool) -> tuple[Any, ...]:
        try:
            leds = self._open_as(PWMLED, pins, active_high)
        except PinPWMError:
            return self._open_as(LED, pins, active_high)
        self._smooth = True
        return leds

    def _open_as(self, kind: Any, pins: tuple[int, int, int], active_high: bool) -> tuple[Any, ...]:
        """Open all pins, or none if one fails."""
        with ExitStack() as opened:
            leds = [opened.enter_context(kind(pin, active_high=active_high, pin_factory=self._factory)) for pin in pins]
            self._outputs = opened.pop_all()
        return tuple(leds)

    def _set(self, time_s: float) -> None:
        encoded = self._animation.status(time_s, smooth=self._smooth)
        # an LED's brightness is proportional to its duty cycle
        levels = tuple(linear_from_srgb(level) if self._smooth else float(level >= _HALF) for level in encoded)
        for led, level, held in zip(self._leds, levels, self._levels, strict=True):
            if level != held:
                led.value = level
        self._levels = levels

    def next_change_s(self, time_s: float) -> float | None:
        """Return when the mood's pattern changes the light next."""
        return self._animation.next_status_s(time_s, smooth=self._smooth)


class BuzzerKind(enum.StrEnum):
    """An active buzzer only has its own tone; a passive one plays any tone."""

    ACTIVE = "active"
    PASSIVE = "passive"


class BuzzerDriver(_PinDriver):
    """The buzzer on ``pin``."""

    def __init__(
        self,
        pin: int,
        *,
        kind: BuzzerKind = BuzzerKind.ACTIVE,
        active_high: bool = True,
        pin_factory: Factory | None = None,
    ) -> None:
        super().__init__(f"buzzer (GPIO{pin})", pin_factory)
        self._passive = kind is BuzzerKind.PASSIVE
        device = PWMOutputDevice if self._passive else LED
        self._buzzer: Any = self._attempt(
            lambda: self._register(device(pin, active_high=active_high, pin_factory=self._factory))
        )
        self._frequency_hz = 0.0

    def _set(self, time_s: float) -> None:
        frequency_hz = self._animation.frequency_hz(time_s)
        if frequency_hz == self._frequency_hz:
            return
        if not self._passive:
            self._buzzer.value = frequency_hz > 0
        elif frequency_hz > 0:
            self._buzzer.frequency = round(frequency_hz)
            self._buzzer.value = _AUDIBLE_DUTY
        else:
            self._buzzer.value = 0
        self._frequency_hz = frequency_hz

    def next_change_s(self, time_s: float) -> float | None:
        """Return when the next tone or rest begins, or the sound ends."""
        return self._animation.next_tone_s(time_s)
