"""For owners of a board with the referee's firmware: its lights, switches, buttons and round trip. Skipped otherwise.

    REFEREE_REAL_BOARD=auto ./check --real tests/real/test_real_board.py

``auto`` takes the only board there is; or give its port, /dev/ttyACM0. REFEREE_REAL_SWITCHES=0-7,12 tries these
switches only. What the tests can't see they ask you.
"""

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from firmware_bridge.connection.connection import BoardConnection
from firmware_bridge.connection.events import BoardEvent, ButtonPressed, ConnectionState, SensorsReported
from firmware_bridge.ports.selection import WantedBoard
from firmware_bridge.protocol.messages import Welcome
from hardware.lights.signals import Sound
from hardware.lights.sounds import TONES

NAMED = os.environ.get("REFEREE_REAL_BOARD", "")
SWITCHES = os.environ.get("REFEREE_REAL_SWITCHES", "")
STEP_S = float(os.environ.get("REFEREE_REAL_STEP_S", "0.1"))
DIM = 60
LINK_S = 30.0
HAND_S = 120.0
ROUNDS = 100
SLOWEST_S = float(os.environ.get("REFEREE_REAL_SLOWEST_S", "0.05"))

pytestmark = pytest.mark.skipif(not NAMED, reason="set REFEREE_REAL_BOARD=auto, or to the port of a real board")

Tell = Callable[[str], None]
Ask = Callable[[str], bool]


class Bench:
    """A linked board, and what it reported since somebody last looked."""

    def __init__(self, connection: BoardConnection, welcome: Welcome) -> None:
        self.connection = connection
        self.welcome = welcome
        self.closed: tuple[bool, ...] = ()

    def light(self, *lit: tuple[int, tuple[int, int, int]]) -> None:
        """Light these lights, all others off."""
        frame = bytearray(3 * self.welcome.lights)
        for number, colour in lit:
            frame[3 * number : 3 * number + 3] = bytes(colour)
        self.connection.show_lights(bytes(frame))

    def wait_for(self, happens: Callable[[BoardEvent], bool], timeout_s: float) -> bool:
        """Wait for an event that fits; what came before it is forgotten."""
        end_s = time.monotonic() + timeout_s
        while (left_s := end_s - time.monotonic()) > 0:
            self.connection.wait_for(lambda: self.connection.has_events, left_s)
            for event in self.connection.poll():
                if isinstance(event, SensorsReported):
                    self.closed = event.closed
                if happens(event):
                    return True
        return False

    def wait_for_switch(self, switch: int, closed: bool) -> bool:
        """Wait until a switch is as wanted, and no other has moved the wrong way."""
        return self.wait_for(lambda event: len(self.closed) > switch and self.closed[switch] is closed, HAND_S)


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    wanted = WantedBoard(port=None if NAMED == "auto" else NAMED)
    said: list[str] = []
    with BoardConnection(wanted, time.monotonic, said.append) as connection:
        linked = connection.wait_for(lambda: connection.state is ConnectionState.LINKED, LINK_S)
        assert linked, f"the board does not answer: {connection.outage}; {said}"
        assert connection.welcome is not None
        yield Bench(connection, connection.welcome)
        connection.show_lights(b"")


def wanted_switches(count: int) -> list[int]:
    """The switches to try: all, or those that are named, such as 0-7,12."""
    if not SWITCHES:
        return list(range(count))
    numbers: list[int] = []
    for part in SWITCHES.split(","):
        first, _, last = part.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers


def test_the_board_says_what_it_is(bench: Bench, tell: Tell) -> None:
    welcome = bench.welcome
    tell(
        f"{welcome.board}, firmware {'.'.join(map(str, welcome.firmware))}: {welcome.lights} lights, "
        f"{welcome.switches} switches, {welcome.buttons} buttons"
    )
    assert welcome.lights or welcome.switches or welcome.buttons, "its pin map is empty"


def test_red_is_red(bench: Bench, ask: Ask) -> None:
    if bench.welcome.lights < 3:
        pytest.skip("the board has fewer than three lights")
    bench.light((0, (DIM, 0, 0)), (1, (0, DIM, 0)), (2, (0, 0, DIM)))
    assert ask("Is the first light red, the second green, the third blue?"), "set the strip's order in the pin map"


def test_every_light_lights(bench: Bench, ask: Ask, tell: Tell) -> None:
    if not bench.welcome.lights:
        pytest.skip("the board has no lights")
    tell("Now one light after the other, from the first to the last.")
    never = threading.Event()
    for number in range(bench.welcome.lights):
        bench.light((number, (DIM, DIM, DIM)))
        never.wait(STEP_S)
    bench.light()
    assert ask("Did every light of the strip light up once, white, one after the other?")


def test_every_switch_closes_and_opens(bench: Bench, tell: Tell) -> None:
    if not bench.welcome.switches:
        pytest.skip("the board has no switches")
    for switch in wanted_switches(bench.welcome.switches):
        tell(f"Close switch {switch} (a magnet, a piece), within two minutes.")
        assert bench.wait_for_switch(switch, closed=True), f"switch {switch} never closed"
        others = [number for number, closed in enumerate(bench.closed) if closed and number != switch]
        tell(f"Switch {switch} is closed{f', and so are {others}' if others else ''}. Now open it.")
        assert bench.wait_for_switch(switch, closed=False), f"switch {switch} never opened"


def test_every_button_is_heard_once(bench: Bench, tell: Tell) -> None:
    if not bench.welcome.buttons:
        pytest.skip("the board has no buttons")
    for button in range(bench.welcome.buttons):
        tell(f"Press button {button} once, shortly, within two minutes.")

        def is_pressed(event: BoardEvent, button: int = button) -> bool:
            if not isinstance(event, ButtonPressed):
                return False
            assert event.button == button, f"button {event.button} was pressed, and not {button}"
            return True

        assert bench.wait_for(is_pressed, HAND_S), f"button {button} was not heard"


def test_the_buzzer_sounds(bench: Bench, ask: Ask) -> None:
    bench.connection.play([(tone.frequency_hz, tone.duration_s) for tone in TONES[Sound.FINISHED]])
    assert ask("Did you hear four tones, rising (an active buzzer: four of one pitch), or has the board no buzzer?")


def test_the_round_trip_is_short(bench: Bench, tell: Tell) -> None:
    connection = bench.connection
    shown = connection.statistics.link.shown

    def is_shown() -> bool:
        return connection.statistics.link.shown > shown

    times_ms = []
    for number in range(ROUNDS):
        shown = connection.statistics.link.shown
        start_s = time.perf_counter()
        connection.show_lights(bytes((1 + number % DIM, 0, 0)))
        assert connection.wait_for(is_shown, LINK_S)
        times_ms.append(1000 * (time.perf_counter() - start_s))
    median_ms = statistics.median(times_ms)
    tell(f"round trip of {ROUNDS} questions: median {median_ms:.1f} ms, longest {max(times_ms):.1f} ms")
    assert median_ms < 1000 * SLOWEST_S
