"""All wired devices of a session: found, opened and closed together, each failing independently.

The controller board has one connection, shared by lights, buzzer, buttons and sensors. Lights and sounds may be sent
from another thread than the one that reads presses and sensors; the connection is thread-safe. If the board fails, only
its lights and buttons are lost: the connection reports it once and searches for it.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from serial.tools import list_ports

from app.sensing.health import HealthFile, SensorSnapshot, SensorSource, load_health
from app.wiring.plan import PinSensors, SwitchReport, SwitchSource, WiringPlan, by_place
from common.phrases import Phrase, as_sentence, either, shortened
from engine.values import Place
from firmware_bridge import wled
from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonPressed,
    LightsLimited,
    Linked,
    Lost,
    PressesDropped,
    SensorsReported,
    SwitchChanged,
)
from firmware_bridge.errors import SilentDeviceError
from firmware_bridge.install.manifest import version_problem
from firmware_bridge.protocol.messages import Welcome
from firmware_bridge.wled import WledNetwork, WledSettingError
from hardware.errors import SettingError
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource
from hardware.lights.pixels import CHANNELS, PixelDriver
from hardware.lights.sounds import ToneDriver
from hardware.pin_map import ButtonRole
from hardware.switches import GpioSwitches
from referee.errors import ConfigError, CorrectionError

_MOST_CHANGES = 256
"""How many changes are kept: far more than come between two frames. Without sensors in use, nobody takes them."""


@dataclass(frozen=True)
class ControllerLights:
    """A ``PixelOutput`` of the board's strip; the connection keeps the newest frame, so no refresh is needed."""

    connection: BoardConnection
    lights: int
    refresh_s: float | None = None

    def show(self, colours: bytes) -> None:
        """Send a frame; a shorter strip gets as many lights as it has."""
        welcome = self.connection.welcome
        there = self.lights if welcome is None else min(self.lights, welcome.lights)
        self.connection.show_lights(colours[: CHANNELS * there])

    def close(self) -> None:
        """Do nothing: the connection is shared and stays open."""


class Controller:
    """The board by function: drivers for a panel, roles of pressed buttons, and the state of its switches.

    ``say`` is called with a sentence for each fault, once while it lasts. Nothing here blocks.
    """

    def __init__(self, connection: BoardConnection, plan: WiringPlan, say: Callable[[str], None]) -> None:
        self._connection = connection
        self._plan = plan
        self._say = say
        self._said: set[str] = set()
        self._described: Welcome | None = None
        self._presses: list[ButtonRole] = []
        self._report: SensorsReported | None = None
        self._moved: deque[SwitchChanged] = deque(maxlen=_MOST_CHANGES)

    def use(self, plan: WiringPlan) -> None:
        """Switch to another plan, with maps made since."""
        self._plan = plan

    def driver_sources(self) -> tuple[DriverSource, ...]:
        """Return the sources of drivers for the board's lights and buzzer; none if the board shows no signals."""
        if "board" not in self._plan.drivers:
            return ()
        buzzer = DriverSource(Phrase("board buzzer"), partial(ToneDriver, Phrase("board buzzer"), self._connection))
        light_map = self._plan.light_map
        if light_map is None or not self._plan.has_board_lights:
            return (buzzer,)
        return (DriverSource(Phrase("board lights"), partial(self._lights, light_map)), buzzer)

    def presses(self) -> list[ButtonRole]:
        """Return the roles of the buttons pressed since the last call, in order."""
        self._process_events()
        roles, self._presses = self._presses, []
        return roles

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Return the state of the switches, ``None`` while the board is away; times are on the connection's clock."""
        del now_s
        self._process_events()
        report, sensor_map = self._take_report(), self._plan.sensor_map
        return None if report is None or sensor_map is None else by_place(report, sensor_map)

    def switches(self) -> SensorsReported | None:
        """Return the newest report by switch number, without a sensor map; ``None`` while the board is away.

        Its ``changes`` are those since the last call.
        """
        self._process_events()
        return self._take_report()

    def _take_report(self) -> SensorsReported | None:
        if self._report is None:
            return None
        moved = tuple(self._moved)
        self._moved.clear()
        # the board tells every change immediately, so its last report was valid when it was last heard
        heard_s = self._connection.last_heard_s
        time_s = self._report.time_s if heard_s is None else max(self._report.time_s, heard_s)
        return replace(self._report, time_s=time_s, changes=moved)

    def _lights(self, light_map: LightMap) -> PixelDriver:
        output = ControllerLights(self._connection, light_map.lights)
        return PixelDriver(Phrase("board lights"), output, light_map, brightness=self._plan.brightness)

    def _process_events(self) -> None:
        for event in self._connection.poll():
            self._process(event)

    def _process(self, event: BoardEvent) -> None:
        match event:
            case ButtonPressed(button=button):
                self._press(button)
            case SensorsReported():
                self._report = event
                self._moved += event.changes
            case Linked(welcome=welcome):
                self._forget_switches()
                self._greet(welcome)
                if welcome.trouble:
                    self._say_once(Phrase("The board says: {message}.", welcome.trouble))
                for sentence in find_mismatches(welcome, self._plan):
                    self._say_once(sentence)
            case Lost():
                self._forget_switches()
            case LightsLimited(wanted_ma=wanted_ma, is_dark=is_dark):
                self._say_once(
                    either(
                        is_dark,
                        "The board's lights would draw {wanted} mA. They stay dark: the limit is too low.",
                        "The board's lights would draw {wanted} mA. The board dims them to stay within its limit.",
                        wanted=wanted_ma,
                    )
                )
            case PressesDropped(presses=presses):
                self._say(
                    either(
                        presses == 1,
                        "1 press of the board's buttons came too late or too fast to count.",
                        "{presses} presses of the board's buttons came too late or too fast to count.",
                        presses=presses,
                    )
                )

    def _greet(self, welcome: Welcome) -> None:
        """Say everything again about another board, or one that was changed; a loose cable changes nothing."""
        described = replace(welcome, boot_id=0, reset_cause=0)
        if described != self._described:
            self._described = described
            self._said.clear()

    def _forget_switches(self) -> None:
        """Discard the state of the switches: the board reports all of it again when it is back."""
        self._report = None
        self._moved.clear()

    def _press(self, button: int) -> None:
        if button < len(self._plan.roles):
            self._presses.append(self._plan.roles[button])
        else:
            self._say_once(
                Phrase(
                    "The board's button {button} was pressed, and the settings give it no use; name it in the "
                    "pin map, or in buttons under [board].",
                    button,
                )
            )

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._say(sentence)


def find_mismatches(welcome: Welcome, plan: WiringPlan) -> Iterator[str]:
    """Describe how the answering board does not fit this program or the maps."""
    other = version_problem(welcome.firmware)
    if other is not None:
        yield Phrase("The board's firmware is {other}; {other_2}.", other[0], other[1])
    pin_map, light_map, sensor_map = plan.pin_map, plan.light_map, plan.sensor_map
    if pin_map is not None and pin_map.crc32 != welcome.pin_map_checksum:
        yield (
            Phrase(
                "The pin map on the board is not the one that the settings name; `./run hardware firmware "
                "install` installs that one. Until then, lights, switches and buttons may be mixed up."
            )
        )
    if plan.has_board_lights and light_map is not None:
        for problem in light_map.problems(strip_lights=welcome.lights):
            yield Phrase("Lights: {problem}. The lights that are there are used.", problem)
        for problem in light_map.problems(pin_map_crc=welcome.pin_map_checksum):
            yield Phrase("Lights: {problem}.", problem)
    if plan.switch_source is SwitchSource.CONTROLLER and sensor_map is not None:
        for problem in sensor_map.problems(switches=welcome.switches, pin_map_crc=welcome.pin_map_checksum):
            yield Phrase("Sensors: {problem}.", problem)


@dataclass(frozen=True)
class SwitchesOnController:
    """The ``count`` switches of a connected board; ``pin_map_crc`` identifies its numbering of its pins."""

    linked: LinkedController
    count: int
    pin_map_crc: int | None

    def read(self) -> SwitchReport | None:
        """Return the newest report, with the changes since the last call; ``None`` if there is none."""
        return self.linked.controller.switches()

    def wait(self, timeout_s: float) -> None:
        """Wait for a message from the board, up to the time given."""
        self.linked.wait(timeout_s)


@dataclass(frozen=True)
class SwitchesOnPins:
    """The switches on the Pi's own pins."""

    switches: GpioSwitches
    pin_map_crc: int | None = None

    @property
    def count(self) -> int:
        """Number of switches."""
        return self.switches.pins.switches

    def read(self) -> SwitchReport | None:
        """Scan, and return the debounced state."""
        return self.switches.latest(time.monotonic())

    def wait(self, timeout_s: float) -> None:
        """Wait for the next scan, up to the time given."""
        now_s = time.monotonic()
        time.sleep(max(0.0, min(timeout_s, self.switches.next_scan_s(now_s) - now_s)))


Switches = SwitchesOnController | SwitchesOnPins


@contextmanager
def open_switches(plan: WiringPlan, say: Callable[[str], None]) -> Iterator[Switches]:
    """Open the switches that the settings name; raises ConfigError if they name none."""
    if plan.switch_source is SwitchSource.CONTROLLER:
        with answering_controller(plan, say) as linked:
            welcome = linked.welcome()
            if not welcome.switches:
                raise ConfigError(
                    "the board has no switches; name them in its pin map, then `./run hardware firmware install`"
                )
            for sentence in find_mismatches(welcome, plan):
                say(sentence)
            yield SwitchesOnController(linked, welcome.switches, welcome.pin_map_checksum)
    elif plan.switch_source is SwitchSource.PINS and plan.switch_pins is not None:
        on_pins = GpioSwitches(plan.switch_pins, say, time.sleep)
        try:
            yield SwitchesOnPins(on_pins)
        finally:
            on_pins.close()
    else:
        raise ConfigError('no switches are set; set source under [sensors] to "board" or "pins"')


ANSWER_TIMEOUT_S = 20.0
"""Maximum time for a board to answer: enough for one that resets when its port is opened, and two attempts."""


@dataclass(frozen=True)
class LinkedController:
    """The controller and its connection."""

    controller: Controller
    connection: BoardConnection

    def welcome(self) -> Welcome:
        """Wait for the board; raises the BridgeError that keeps it from answering, if it does not pass by itself."""
        self.connection.wait_for_answer(ANSWER_TIMEOUT_S)
        welcome, outage = self.connection.welcome, self.connection.outage
        if welcome is not None:
            return welcome
        if outage is not None:
            raise outage.error
        raise SilentDeviceError("no board answered within {answer_timeout_s} s", f"{ANSWER_TIMEOUT_S:g}")

    def wait(self, timeout_s: float) -> None:
        """Wait for a message from the board, up to the time given."""
        self.connection.wait_for(lambda: self.connection.has_events, timeout_s)


ListPorts = Callable[[], Iterable[Any]]
"""Returns pyserial's records of the ports."""


@contextmanager
def linked_controller(
    plan: WiringPlan, say: Callable[[str], None], list_ports: ListPorts = list_ports.comports
) -> Iterator[LinkedController]:
    """Search for the plan's board while this is entered; a board that is away is not an error here.

    ``say`` is called with a sentence when it is lost and when it is back, from the connection's thread.
    """
    connection = BoardConnection(
        plan.wanted, time.monotonic, lambda words: say(as_sentence(words)), list_ports=list_ports
    )
    connection.configure(plan.configure)
    with connection:
        yield LinkedController(Controller(connection, plan, say), connection)


@contextmanager
def answering_controller(plan: WiringPlan, say: Callable[[str], None]) -> Iterator[LinkedController]:
    """Connect the plan's board for a command that needs it, and wait until it answers.

    Raises the BridgeError that keeps it from answering, which is not also passed to ``say``; later events are.
    """
    has_answered = threading.Event()

    def say_later(sentence: str) -> None:
        if has_answered.is_set():
            say(sentence)

    with linked_controller(plan, say_later) as linked:
        linked.welcome()
        has_answered.set()
        yield linked


CONTROLLER_LAG_S = 0.2
"""Maximum delay of a change of a board's switch: debounced, sent, and read at the next tick."""

PIN_LAG_S = 0.4
"""The same for the Pi's own pins, which are scanned at each tick and must read alike three times."""


@dataclass(frozen=True)
class OpenedDevices:
    """A plan's opened devices: drivers for the panel, buttons, and sensors with their records."""

    sources: tuple[DriverSource, ...] = ()
    controller: Controller | None = None
    sensors: SensorSource | None = None
    health: HealthFile | None = None
    sensor_lag_s: float = 0.0

    def presses(self) -> list[ButtonRole]:
        """Return the roles of the board's buttons pressed since the last call."""
        return [] if self.controller is None else self.controller.presses()

    def put_back(self, place: Place) -> str:
        """Use a sensor again at a person's request; returns the sentence, or raises CorrectionError."""
        if self.health is None:
            raise CorrectionError("this referee has no sensors; set source, map and eyes under [sensors]")
        return self.health.put_back(place)

    def save_health(self) -> None:
        """Save the sensors' records."""
        if self.health is not None:
            self.health.save()


@contextmanager
def open_devices(
    plan: WiringPlan,
    health_path: Path | None,
    say: Callable[[str], None],
    list_ports: ListPorts = list_ports.comports,
) -> Iterator[OpenedDevices]:
    """Open the plan's devices. A board that is away is searched for while the game goes on.

    ``say`` is called with a sentence about sensors that are switched off, and about later faults. Raises ConfigError
    for a record of sensors that can't be read.
    """
    with ExitStack() as stack:
        controller = None
        if plan.needs_controller:
            controller = stack.enter_context(linked_controller(plan, say, list_ports)).controller
        sensors: SensorSource | None = None
        health = None
        if plan.has_sensors and plan.sensor_map is not None:
            known = load_health(health_path, plan.sensor_settings)
            out = [place for place in plan.sensor_map.places if place in known.out]
            if out:
                say(Phrase("These sensors are switched off: {out}. `./run hardware sensors` says why.", shortened(out)))
            health = HealthFile(known, health_path, say)
            stack.callback(health.save)
            if plan.switch_source is SwitchSource.CONTROLLER:
                sensors = controller
            elif plan.switch_pins is not None:
                switches = GpioSwitches(plan.switch_pins, say, time.sleep)
                stack.callback(switches.close)
                sensors = PinSensors(switches, plan.sensor_map)
        sources = strip_sources(plan) + (() if controller is None else controller.driver_sources())
        lag_s = 0.0 if sensors is None else CONTROLLER_LAG_S if sensors is controller else PIN_LAG_S
        yield OpenedDevices(sources, controller, sensors, health, lag_s)


def strip_sources(plan: WiringPlan, clock: Callable[[], float] = time.monotonic) -> tuple[DriverSource, ...]:
    """Return a source for the WLED of the plan; nothing is opened here.

    The board's own strip comes from its ``Controller``. ``clock`` is the panel's.
    """
    light_map = plan.light_map
    if light_map is None:
        return ()
    lights = plan.strip_lights or light_map.lights

    def driver() -> PixelDriver:
        try:
            output = WledNetwork(plan.wled_host, lights, clock, port=plan.wled_port)
        except WledSettingError as error:
            raise SettingError(str(error)) from error
        return PixelDriver("wled-network", output, light_map, brightness=plan.brightness)

    # a fault of one frame is only reported with a later one, which shows whether it works
    source = DriverSource(Phrase("the WLED on the network"), driver, steady_s=wled.STEADY_S)
    return (source,) if "wled-network" in plan.drivers else ()
