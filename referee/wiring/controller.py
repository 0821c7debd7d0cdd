"""The microcontroller as the session sees it: one connection, shared by lights, buzzer, buttons and sensors.

Lights and sounds may be given from another thread than the one that asks for presses and sensors; the connection
stands between. A controller that is gone costs its own lights and buttons: the connection says so once and looks for
it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

from common.program import PROGRAM
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


class Connection(Protocol):
    """What is needed of ``firmware_bridge.connection.connection.BoardConnection``."""

    @property
    def welcome(self) -> Welcome | None:
        """What the board said of itself; ``None`` while it doesn't answer."""
        ...

    @property
    def last_heard_s(self) -> float | None:
        """When the board last said anything: what it reported before held until then; ``None`` before."""
        ...

    def show_lights(self, colours: bytes) -> None:
        """Show a complete frame, 3 bytes a light; kept and sent again should the board be away."""

    def play(self, tones: Sequence[tuple[float, float]]) -> None:
        """Play (frequency in hertz, seconds), in place of what sounds now."""

    def poll(self) -> tuple[BoardEvent, ...]:
        """Give what came since the last time; never waits."""
        ...


@dataclass(frozen=True)
class ControllerLights:
    """A ``PixelOutput`` of the board's strip; the connection keeps the newest frame, so nothing is refreshed."""

    connection: Connection
    lights: int
    refresh_s: float | None = None

    def show(self, colours: bytes) -> None:
        """Hand over a frame; a strip that is shorter gets the lights it has."""
        welcome = self.connection.welcome
        there = self.lights if welcome is None else min(self.lights, welcome.lights)
        self.connection.show_lights(colours[: CHANNELS * there])

    def close(self) -> None:
        """The connection is others' too and stays open."""


class Controller:
    """The board by what it is for: drivers for a panel, roles of buttons pressed, and what its switches say.

    ``say`` gets a sentence for each thing that is wrong, once as long as it lasts. Nothing here waits.
    """

    def __init__(self, connection: Connection, plan: WiringPlan, say: Callable[[str], None]) -> None:
        self._connection = connection
        self._plan = plan
        self._say = say
        self._said: set[str] = set()
        self._presses: list[ButtonRole] = []
        self._report: SensorsReported | None = None
        self._moved: list[SwitchChanged] = []

    def use(self, plan: WiringPlan) -> None:
        """Go by another plan from now on: one whose maps were made since."""
        self._plan = plan

    def driver_sources(self) -> tuple[DriverSource, ...]:
        """Give what a panel makes the board's lights and buzzer from; none where the lights are not the board's."""
        light_map = self._plan.light_map
        if "board" not in self._plan.drivers or light_map is None:
            return ()
        return (
            DriverSource("board lights", partial(self._lights, light_map)),
            DriverSource("board buzzer", partial(ToneDriver, "board buzzer", self._connection)),
        )

    def presses(self) -> list[ButtonRole]:
        """Give the roles of the buttons pressed since the last time, in order."""
        self._take()
        roles, self._presses = self._presses, []
        return roles

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Give what the switches say, ``None`` while the board is away; its times are the connection's clock's."""
        del now_s
        self._take()
        report, sensor_map = self._with_changes(), self._plan.sensor_map
        return None if report is None or sensor_map is None else by_place(report, sensor_map)

    def switches(self) -> SensorsReported | None:
        """Give the newest report by number, for commands that know no squares yet; ``None`` while the board is away.

        Its ``changes`` are those since it was last asked for.
        """
        self._take()
        return self._with_changes()

    def _with_changes(self) -> SensorsReported | None:
        if self._report is None:
            return None
        moved, self._moved = tuple(self._moved), []
        # It tells every change at once, so what it said last held when it was last heard.
        heard_s = self._connection.last_heard_s
        time_s = self._report.time_s if heard_s is None else max(self._report.time_s, heard_s)
        return replace(self._report, time_s=time_s, changes=moved)

    def _lights(self, light_map: LightMap) -> PixelDriver:
        output = ControllerLights(self._connection, light_map.lights)
        return PixelDriver("board lights", output, light_map, brightness=self._plan.brightness)

    def _take(self) -> None:
        for event in self._connection.poll():
            self._hear(event)

    def _hear(self, event: BoardEvent) -> None:
        match event:
            case ButtonChanged(action=ButtonAction.PRESSED, button=button):
                self._press(button)
            case SensorsReported():
                self._report = event
                self._moved += event.changes
            case Linked(welcome=welcome):
                self._forget()
                self._said.clear()
                for sentence in mismatches(welcome, self._plan):
                    self._say_once(sentence)
            case Lost():
                self._forget()
            case FaultReported(text=text, code=code):
                self._say_once(f"The board says: {text or f'fault {code}'}.")
            case LogLine(level=level, text=text) if level >= _ERROR_LEVEL:
                self._say_once(f"The board says: {text}")
            case EventsDropped(presses=presses) if presses:
                self._say(f"{presses} presses of the board's buttons came too fast to count.")

    def _forget(self) -> None:
        """What the switches said is over: the board tells all of it anew when it is back."""
        self._report = None
        self._moved.clear()

    def _press(self, button: int) -> None:
        if button < len(self._plan.roles):
            self._presses.append(self._plan.roles[button])
        else:
            self._say_once(
                f"The board's button {button} was pressed, and the settings give it no use; name it in the pin map, or "
                "in buttons below [board]."
            )

    def _say_once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._say(sentence)


def mismatches(welcome: Welcome, plan: WiringPlan) -> Iterator[str]:
    """Say in sentences what of the board that answers does not fit this program or the maps."""
    other = version_problem(welcome.firmware)
    if other is not None:
        yield f"The board's firmware is {other[0]}; {other[1]}."
    pin_map, light_map, sensor_map = plan.pin_map, plan.light_map, plan.sensor_map
    if pin_map is not None and pin_map.crc32 != welcome.pin_map_checksum:
        yield (
            f"The board has another pin map than the settings name; `{PROGRAM} hardware firmware install` puts "
            f"that one on it. "
            "Until then lights, switches and buttons may be others than you think."
        )
    if "board" in plan.drivers and light_map is not None:
        for problem in light_map.problems(strip_lights=welcome.lights):
            yield f"Lights: {problem}. The lights that are there are used."
        for problem in light_map.problems(pin_map_crc=welcome.pin_map_checksum):
            yield f"Lights: {problem}."
    if plan.switch_source is SwitchSource.CONTROLLER and sensor_map is not None:
        for problem in sensor_map.problems(switches=welcome.switches, pin_map_crc=welcome.pin_map_checksum):
            yield f"Sensors: {problem}."
