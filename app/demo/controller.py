"""The demo's microcontroller: a virtual one on a real pseudo-terminal, with lights, buttons and switches.

The virtual players read the table's lights from the strip and press the board's button. The switches under the board
close where a piece stands in each frame. The wire runs in real time and the table in virtual time, so the table's time
stops while data is in transit, up to a limit in case the wire is cut.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from app.sensing.health import SensorSnapshot
from app.wiring.devices import Controller
from app.wiring.plan import SensorMap, SwitchSource, WiringPlan
from common.grid import PlaceGrid
from common.phrases import Phrase, as_sentence, counted, joined
from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import BoardSettings
from hardware.lights.light_map import LightMap
from hardware.lights.panel import DriverSource
from hardware.lights.signals import MOOD_STYLES, Colour, Mood, Pattern, Signal, most_urgent_lights
from hardware.pin_map import BUTTON_ROLES, ButtonRole
from simulator.microcontroller.microcontroller import PRODUCT_ID, VENDOR_ID, VirtualMicrocontroller
from simulator.microcontroller.wire import WireFaults

_SETTLE_S = 2.0
"""Maximum real time for which the table's time stops, for a frame or a switch in transit."""
_PRESS_S = 5.0
_LINK_S = 30.0
_HELD_S = 0.05
"""The longest wait for a press to be reported and for the link, in real seconds, and how long a press lasts."""

_PINS = """
board = "pico"
name = "Virtual Pico"
[lights]
pin = 28
count = {lights}
current_limit_ma = 2000
[matrix]
rows = {rows}
columns = {columns}
diodes = true
[buttons]
"end turn" = 19
"hint" = 20
"take back" = 21
[buzzer]
pin = 22
"""

_MOODS: Mapping[tuple[int, ...], Mood] = MappingProxyType(
    {style.colour.value: mood for mood, style in reversed(list(MOOD_STYLES.items()))}
)
"""The mood that a player reads from each colour of the status light: the first of those that share it."""


@dataclass
class WireReport:
    """Statistics for the end of the demo: signals seen on the strip, and those that differed from the intended ones."""

    signals: int = 0
    wrong: int = 0
    presses: int = 0
    changes: int = 0


class _RecordingConnection(BoardConnection):
    """A connection that remembers the last frame sent."""

    frame = b""

    def show_lights(self, colours: bytes) -> None:
        """Send a frame."""
        self.frame = colours
        super().show_lights(colours)


@dataclass
class DemoController:
    """The board on the demo's table. Made by ``demo_controller``."""

    device: VirtualMicrocontroller
    connection: _RecordingConnection
    board: Controller
    roles: Sequence[ButtonRole]
    light_map: LightMap
    sensor_map: SensorMap
    report: WireReport = field(default_factory=WireReport)
    signal: Signal | None = None
    _standing: Mapping[str, bool] = field(default_factory=dict)

    def driver_sources(self, on_mood: Callable[[str], None]) -> tuple[DriverSource, ...]:
        """Return the drivers of the board and of the strip watcher; ``on_mood`` gets each mood of the status light."""
        watched = _StripWatcher(self, on_mood)
        return (*self.board.driver_sources(), DriverSource("players", lambda: watched))

    def press(self, role: ButtonRole) -> list[ButtonRole]:
        """Press a button, and again once the board is back if nothing happened, as a person would."""
        button = self.roles.index(role)
        for _ in range(3):
            self.connection.wait_for(lambda: self.connection.welcome is not None, _LINK_S)
            boots = self.device.boots
            self.device.press(button, _HELD_S)
            until_s = time.monotonic() + _PRESS_S
            while time.monotonic() < until_s and self.device.boots == boots:
                roles = self.board.presses()
                if roles:
                    self.report.presses += 1
                    return roles
                self.connection.wait_for(lambda: self.connection.has_events, 0.1)
        return []

    def put(self, occupied: Mapping[str, bool]) -> None:
        """Set the switches to where pieces stand."""
        for place, stands in occupied.items():
            if stands != self._standing.get(place, False):
                self.device.set_switch(self.sensor_map.places[place], stands)
        self._standing = dict(occupied)

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Return the board's switches in the table's time, once all changes have arrived."""
        until_s = time.monotonic() + _SETTLE_S
        sensed = self.board.latest(now_s)
        changes = [] if sensed is None else list(sensed.changes)
        while self._has_pending_changes(sensed) and time.monotonic() < until_s:
            self.connection.wait_for(lambda: self.connection.has_events, 0.1)
            sensed = self.board.latest(now_s)
            changes += [] if sensed is None else sensed.changes
        if sensed is None:
            return None
        self.report.changes += len(changes)
        return replace(sensed, time_s=now_s, changes=tuple(replace(change, time_s=now_s) for change in changes))

    def closing_sentences(self) -> tuple[str, ...]:
        """Return sentences about the traffic on the wire and its faults."""
        report, link = self.report, self.connection.statistics.link
        struck = {kind: count for kind, count in self.device.fault_counts().items() if count}
        frames = struck.pop("frames", 0)
        faults = ", ".join(f"{kind} {count}" for kind, count in struck.items()) or Phrase("none")
        trip = Phrase("never measured") if link.round_trip_s is None else f"{link.round_trip_s * 1000:.1f} ms"
        parts = []
        if report.signals:
            right = report.signals - report.wrong
            parts.append(
                Phrase("the strip showed {right} of {signals} signals as they were meant", right, report.signals)
            )
        parts.append(Phrase("{presses} came over the wire", counted(report.presses, "press", "presses")))
        if report.changes:
            parts.append(counted(report.changes, "switch change was detected", "switch changes were detected"))
        return (
            Phrase("The board: {parts}.", joined(parts, "; ")),
            Phrase(
                "The wire: {frames} frames, {resent} sent again, {handshakes}, round trip {trip}; faults: {faults}.",
                *(frames, link.again, counted(link.welcomes, "handshake"), trip, faults),
            ),
        )

    def _has_pending_changes(self, sensed: SensorSnapshot | None) -> bool:
        if sensed is None:
            return self.connection.welcome is not None
        return bool(sensed.doubtful) or any(sensed.occupied.get(place) != on for place, on in self._standing.items())

    @property
    def is_up_to_date(self) -> bool:
        """Whether the strip shows the newest frame."""
        shown = self.device.lights()
        return not shown.is_waiting and shown.colours.rstrip(b"\0") == self.connection.frame.rstrip(b"\0")

    def wait_for_lights(self) -> None:
        """Wait until the strip shows the newest frame, unless the board is away."""
        self.device.wait_for(lambda: self.is_up_to_date or self.connection.welcome is None, _SETTLE_S)

    def mood(self) -> Mood | None:
        """Return the mood of the strip's status light; ``None`` while it is dark."""
        status = self.light_map.status[0]
        return _nearest_mood(self._colour(status))

    def seen(self) -> Signal | None:
        """Return the signal that the strip shows at this moment: its lit lights."""
        if self.signal is None:
            return None
        lit = tuple(light for light in self.signal.lights if any(self._colour(self.light_map.places[light.place][0])))
        return replace(self.signal, lights=lit)

    def agrees_with(self, signal: Signal) -> bool:
        """Whether every lit light of the strip belongs to the signal and has its colour, and each steady one is lit."""
        meant = most_urgent_lights(signal.lights)
        for place, numbers in self.light_map.places.items():
            colour, light = self._colour(numbers[0]), meant.get(place)
            if any(colour) and (light is None or not _is_colour(colour, light.colour.value)):
                return False
            if light is not None and light.pattern is Pattern.STEADY and not any(colour):
                return False
        return _is_colour(self._colour(self.light_map.status[0]), MOOD_STYLES[signal.mood].colour.value)

    def _colour(self, light: int) -> bytes:
        shown = self.device.lights()
        return b"" if shown.is_waiting else shown.colours[3 * light : 3 * light + 3]


@dataclass
class _StripWatcher:
    """A driver that reads the strip after each signal and reports the mood of its status light to the players."""

    table: DemoController
    on_mood: Callable[[str], None]
    name: str = "players"
    _unseen: Signal | None = None

    def show(self, signal: Signal, time_s: float) -> None:
        """Wait until the strip shows the signal, up to a limit."""
        del time_s
        self._unseen = self.table.signal = signal
        self.table.wait_for_lights()
        self._look()

    def tick(self, time_s: float) -> None:
        """Check again for a signal that was not visible before."""
        del time_s
        if self._unseen is not None:
            self._look()

    def next_change_s(self, time_s: float) -> float | None:
        """Return ``None``, because the demo calls ``tick`` at every frame anyway."""
        del time_s
        return None

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _look(self) -> None:
        mood = self.table.mood()
        if self._unseen is not None and mood is not None and self.table.is_up_to_date:
            self.table.report.signals += 1
            self.table.report.wrong += not self.table.agrees_with(self._unseen)
            self._unseen = None
            self.on_mood(mood.value)


@contextmanager
def demo_controller(
    grid: PlaceGrid, faults: WireFaults | None, seed: int, *, lights: bool, say: Callable[[str], None]
) -> Iterator[DemoController]:
    """Plug in a virtual board and wait until it answers. ``lights``: whether it drives the table's lights.

    ``say`` is called with the service's sentences about the board, from the connection's thread.
    """
    columns, rows = len(grid.rows[0]), len(grid.rows)
    squares = columns * rows
    pins = _PINS.format(lights=squares + 1, rows=list(range(rows)), columns=list(range(rows, rows + columns)))
    pin_map = parse_pin_map(pins, button_roles=BUTTON_ROLES)
    near_first = [place for row in reversed(grid.rows) for place in row]
    # the strip reverses direction at the end of each row
    strip = [place for number, row in enumerate(reversed(grid.rows)) for place in (row[::-1] if number % 2 else row)]
    light_map = LightMap({place: (number,) for number, place in enumerate(strip)}, (squares,), lights=squares + 1)
    sensor_map = SensorMap({place: number for number, place in enumerate(near_first)}, squares, pin_map.crc32)
    plan = WiringPlan(
        drivers=("board",) if lights else (),
        light_map=light_map,
        switch_source=SwitchSource.CONTROLLER,
        sensor_map=sensor_map,
        pin_map=pin_map,
    )
    with VirtualMicrocontroller(pin_map.device_json(), faults, seed) as device:
        wanted = WantedBoard(vendor_id=VENDOR_ID, product_id=PRODUCT_ID)
        connection = _RecordingConnection(
            wanted, time.monotonic, lambda words: say(as_sentence(words)), list_ports=device.list_ports
        )
        connection.configure(BoardSettings())
        with connection:
            connection.wait_for(lambda: connection.welcome is not None, _LINK_S)
            board = Controller(connection, plan, say)
            yield DemoController(device, connection, board, plan.roles, light_map, sensor_map)


def _nearest_mood(colour: bytes) -> Mood | None:
    """Return the mood of a status light's colour, at any brightness; ``None`` while it is dark."""
    if not any(colour):
        return None
    return _MOODS[min(_MOODS, key=lambda known: _distance(known, colour))]


def _distance(known: Sequence[int], colour: Sequence[int]) -> float:
    brightest, shown = max(known), max(colour)
    return sum((one / brightest - other / shown) ** 2 for one, other in zip(known, colour, strict=True))


def _is_colour(colour: bytes, known: Sequence[int]) -> bool:
    return any(colour) and min(
        (one.value for one in Colour if any(one.value)), key=lambda it: _distance(it, colour)
    ) == tuple(known)
