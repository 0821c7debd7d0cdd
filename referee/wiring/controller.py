"""The controller board as used by a session: one connection shared by lights, buzzer, buttons and sensors.

Lights and sounds may be sent from another thread than the one that reads presses and sensors; the connection is
thread-safe. If the board fails, only its lights and buttons are lost: the connection reports it once and searches for
it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

from common.phrases import Phrase, either
from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import (
    BoardEvent,
    ButtonChanged,
    EventsDropped,
    FaultReported,
    Linked,
    LogLine,
    Lost,
    SensorsReported,
    SwitchChanged,
)
from firmware_bridge.install.manifest import version_problem
from firmware_bridge.protocol.messages import ButtonAction, Welcome
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource
from hardware.lights.pixels import CHANNELS, PixelDriver
from hardware.lights.sounds import ToneDriver
from hardware.pin_map import ButtonRole
from referee.sensing.values import SensorSnapshot
from referee.wiring.plan import SwitchSource, WiringPlan
from referee.wiring.sensor_map import by_place

_ERROR_LEVEL = 40
# far more than come between two frames; without sensors in use, nobody takes them
_MOST_CHANGES = 256


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
        # the board reports every change immediately, so its last report was valid when it was last heard
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
            case ButtonChanged(action=ButtonAction.PRESSED, button=button):
                self._press(button)
            case SensorsReported():
                self._report = event
                self._moved += event.changes
            case Linked(welcome=welcome):
                self._forget_switches()
                self._greet(welcome)
                for sentence in find_mismatches(welcome, self._plan):
                    self._say_once(sentence)
            case Lost():
                self._forget_switches()
            case FaultReported(text=text, code=code):
                self._say_once(Phrase("The board says: {part}.", text or Phrase("fault {code}", code)))
            case LogLine(level=level, text=text) if level >= _ERROR_LEVEL:
                self._say_once(Phrase("The board says: {text}", text))
            case EventsDropped(presses=presses) if presses:
                self._say(
                    either(
                        presses == 1,
                        "1 press of the board's buttons came too fast to count.",
                        "{presses} presses of the board's buttons came too fast to count.",
                        presses=presses,
                    )
                )

    def _greet(self, welcome: Welcome) -> None:
        """Say everything again about another board, or one that was changed; a loose cable changes nothing."""
        described = replace(welcome, boot_id=0, time_ms=0, reset_cause=0)
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
