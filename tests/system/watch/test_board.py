"""``referee watch`` with a board: its lights, its button, its switches, over a real pseudo-terminal, in real time."""

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

from app.cli.root import root
from app.runtime.command_socket import ask
from app.runtime.watch import WatchOptions, watch
from app.sensing.health import HealthFile, SensorHealth, health_file, load_health
from app.settings.settings import Settings
from app.wiring.plan import Inputs, SensorMap, SwitchSource, WiringPlan
from common.grid import PlaceGrid
from engine.registry import load
from firmware_bridge.pin_maps.file import parse_pin_map
from firmware_bridge.ports.selection import WantedBoard
from hardware.lights.signals import Colour
from hardware.pin_map import BUTTON_ROLES, ButtonRole
from journal.reader import read_journal
from referee.commands.values import Correct, EnterTurn, RestoreSensor
from referee.errors import ConfigError, UnreachableError
from simulator.microcontroller.microcontroller import PRODUCT_ID, VENDOR_ID, VirtualMicrocontroller
from tests.guard import GUARD_S
from tests.hardware.strips import serpentine
from tests.referee.virtual_board import Heard

GAME: Any = load("deblockle")
PLACES = PlaceGrid.of_squares(7, 7).places
PINS = """
board = "pico"
[lights]
pin = 28
count = 50
[matrix]
rows = [0, 1, 2, 3, 4, 5, 6]
columns = [7, 8, 9, 10, 11, 12, 13]
diodes = true
[buttons]
"end turn" = 19
anti-play = 20
draw = 21
"""
START = (
    "gold c1:G.hoops/north=star e1:G.slider/north=cross c3:G.stop/north=cross e3:G.star/north=slider "
    "c5:T.slider/north=cross e5:T.stop/north=slider c7:T.star/north=cross e7:T.star/north=x removed=0,0"
)


@dataclass
class Sitting:
    """A person at the table, who moves pieces, presses, pulls cables and reads what is said."""

    device: VirtualMicrocontroller
    heard: Heard
    journal: Path
    sensor_map: SensorMap
    state: Any

    def stand(self, occupied: set[str]) -> None:
        for place, switch in self.sensor_map.places.items():
            self.device.set_switch(switch, place in occupied)

    def play(self) -> None:
        """Play an unmistakable turn, and end it with the board's button."""
        turn = _turn_told_by_occupancy(self.state)
        self.state = GAME.rules.apply(self.state, turn)
        self.stand(_occupied(self.state))
        self.device.press(0)

    def green(self) -> bool:
        """Whether the strip's status light shows an accepted turn."""
        colours = self.device.lights().colours[-3:]
        return colours == bytes(Colour.GREEN.value)


def _occupied(state: Any) -> set[str]:
    return {place for place, look in GAME.table.appearance(state).items() if look != "empty"}


def _turn_told_by_occupancy(state: Any) -> Any:
    ends = {turn: frozenset(_occupied(GAME.rules.apply(state, turn))) for turn in GAME.rules.legal_turns(state)}
    counts = Counter(ends.values())
    return next(turn for turn, end in ends.items() if counts[end] == 1 and end != frozenset(_occupied(state)))


@pytest.fixture
def sitting(tmp_path: Path) -> Any:
    pin_map = parse_pin_map(PINS, button_roles=BUTTON_ROLES)
    sensor_map = SensorMap({place: number for number, place in enumerate(PLACES)}, 49, pin_map.crc32)
    with VirtualMicrocontroller(pin_map.device_json(), seed=4) as device:
        yield Sitting(device, Heard(), tmp_path / "journal.sqlite", sensor_map, GAME.notation.parse_state(START))


def options(sitting: Sitting, eyes: str) -> WatchOptions:
    pin_map = parse_pin_map(PINS, button_roles=BUTTON_ROLES)
    plan = WiringPlan(
        drivers=("board",),
        wanted=WantedBoard(vendor_id=VENDOR_ID, product_id=PRODUCT_ID),
        pin_map=pin_map,
        roles=tuple(map(ButtonRole, pin_map.button_roles)),
        light_map=serpentine(PlaceGrid.of_squares(7, 7), status=(49,)),
        switch_source=SwitchSource.CONTROLLER,
        sensor_map=sitting.sensor_map,
        inputs=Inputs(eyes),
    )
    values = {"journal.path": sitting.journal, "journal.daily_copies": 0, "turn.end": "button", "lights.drivers": ()}
    return WatchOptions(Settings().changed(values), wiring=plan, list_ports=sitting.device.list_ports, resume=False)


def changed(watching: WatchOptions, **settings: str) -> WatchOptions:
    """Change settings, given as ``section_key``."""
    values = {name.replace("_", ".", 1): value for name, value in settings.items()}
    return replace(watching, settings=watching.settings.changed(values))


def referee(
    watching: WatchOptions, sitting: Sitting, person: Callable[[], None], console: Console | None = None
) -> int:
    """Referee until the person is done, or failed."""

    def sit() -> None:
        try:
            person()
            _wait_for_the_loop(sitting.journal)
        finally:
            os.kill(os.getpid(), signal.SIGINT)

    with ThreadPoolExecutor(max_workers=1) as chairs:
        sits = chairs.submit(sit)
        code = watch(watching, console or Console(file=sitting.heard, width=400))
    failure = sits.exception()
    if failure is not None:
        raise AssertionError(sitting.heard.getvalue()) from failure
    return code


def _wait_for_the_loop(journal: Path) -> None:
    """Ask until answered: answers come from the loop, where a stop signal is safe."""
    until_s = time.monotonic() + GUARD_S
    while True:
        try:
            ask(journal, RestoreSensor("nowhere", "Ann"), GUARD_S)
        except UnreachableError:
            if time.monotonic() > until_s:
                raise
            threading.Event().wait(0.02)
        else:
            return


def test_a_game_by_sensors_alone_with_the_board_s_button_and_lights(sitting: Sitting) -> None:
    def person() -> None:
        sitting.stand(_occupied(sitting.state))
        sitting.heard.wait_for("The board is set up.")
        correction = Correct(by="Ann", position=START, why="this is how they lie")
        assert not ask(sitting.journal, correction).refused
        sitting.play()
        sitting.heard.wait_for("accepted  ")
        assert sitting.device.wait_for(sitting.green, GUARD_S)
        sitting.device.unplug()
        sitting.heard.wait_for("was unplugged")
        sitting.device.replug()
        sitting.heard.wait_for("The board answers again")
        # What was shown before the cable was pulled is shown again, on another port.
        assert sitting.device.wait_for(sitting.green, GUARD_S)
        sitting.play()
        sitting.heard.wait_for("accepted  ", 2)

    assert referee(options(sitting, "sensors"), sitting, person) == 0
    assert "2 turns accepted, 0 faults named" in sitting.heard.getvalue()


def test_a_terminal_shows_the_game_on_one_screen_and_keeps_the_messages(sitting: Sitting) -> None:
    def person() -> None:
        sitting.stand(_occupied(sitting.state))
        sitting.heard.wait_for("The board is set up.")
        assert not ask(sitting.journal, Correct(by="Ann", position=START, why="this is how they lie")).refused
        sitting.play()
        sitting.heard.wait_for("[accepted]")
        assert not ask(sitting.journal, Correct(by="Ann", to_move="gold")).refused

    terminal = Console(
        file=sitting.heard, width=180, height=30, force_terminal=True, color_system=None, _environ={"TERM": "xterm"}
    )
    assert referee(options(sitting, "sensors"), sitting, person, terminal) == 0
    live, left = sitting.heard.getvalue().split("\x1b[?1049l")
    assert "\x1b[?1049h" in live
    assert "Deblockle, game 1" in live
    assert "1 turn" in live
    assert "Last turn: gold " in live
    assert "[] the accepted turn" in live
    assert "The board is set up." in left
    assert "1 turn accepted, 0 faults named" in left


def test_without_its_board_a_game_only_lacks_lights(sitting: Sitting) -> None:
    sitting.device.unplug()

    def person() -> None:
        sitting.heard.wait_for("ound no port for a board with USB numbers 2e8a:0005")
        sitting.device.replug()
        sitting.stand(_occupied(sitting.state))
        sitting.heard.wait_for("The board is set up.")

    assert referee(options(sitting, "sensors"), sitting, person) == 0


def test_the_same_command_goes_on_with_the_game(sitting: Sitting) -> None:
    def begin() -> None:
        sitting.stand(_occupied(sitting.state))
        sitting.heard.wait_for("The board is set up.")

    assert referee(options(sitting, "sensors"), sitting, begin) == 0
    assert "The same command without --new goes on with the game." in sitting.heard.getvalue()
    again = replace(options(sitting, "sensors"), resume=True)
    goes_on = "Game 1 of Deblockle goes on after 0 turns. Gold to play. `./run watch --new` begins another."
    assert referee(again, sitting, lambda: sitting.heard.wait_for(goes_on)) == 0
    assert "Stopped. The same command goes on with the game." in sitting.heard.getvalue()


def test_a_sensor_is_reinstated_during_and_outside_a_game(sitting: Sitting) -> None:
    health = SensorHealth()
    for turn in range(12):
        health.compare({"a1": True, "b1": False}, {"a1": turn % 2 == 0, "b1": False})
    HealthFile.write(health, health_file(sitting.journal))

    def put_back() -> Result:
        arguments = ["sensors", "put-back", "A1", "--by", "Ann", "--journal", str(sitting.journal)]
        return CliRunner().invoke(root, arguments, prog_name="referee")

    def person() -> None:
        sitting.stand(_occupied(sitting.state))
        sitting.heard.wait_for("The board is set up.")
        said = put_back()
        assert said.output == "The sensor under a1 is used again. The running game shows it.\n"
        sitting.heard.wait_for("The sensor under a1 is used again. Ann asked for it.")
        again = put_back()
        assert again.exit_code == 4
        assert "no sensor is switched off, so there is none to switch on under a1" in again.output

    assert referee(options(sitting, "sensors"), sitting, person) == 0
    assert load_health(health_file(sitting.journal)).out == frozenset()
    HealthFile.write(health, health_file(sitting.journal))
    assert put_back().output == "The sensor under a1 is used again. No referee is running; the journal has it.\n"
    with read_journal(sitting.journal) as journal:
        notes = [event.data["sentence"] for _, event in journal.events(1) if event.kind == "note"]
    assert notes.count("The sensor under a1 is used again. Ann asked for it.") == 2
    sitting.journal.unlink()
    HealthFile.write(health, health_file(sitting.journal))
    assert put_back().exit_code == 0
    assert not sitting.journal.exists()


def test_a_game_without_a_camera_is_followed_and_asked_about(sitting: Sitting) -> None:
    game: Any = load("diaballik")
    state = game.rules.new()
    turn = next(
        turn for turn in game.rules.legal_turns(state) if game.notation.format_turn(turn) == "b1-b2 b2-b3 d1*a1"
    )

    def standing(at: Any) -> set[str]:
        return {place for place, look in game.table.appearance(at).items() if look != "empty"}

    def person() -> None:
        sitting.stand(standing(state))
        sitting.heard.wait_for("The board is set up.")
        sitting.stand(standing(game.rules.apply(state, turn)))
        sitting.device.press(0)
        sitting.heard.wait_for("Please say which")
        reply = ask(sitting.journal, EnterTurn(game.notation.format_turn(turn), "Ann"))
        assert not reply.refused, reply
        sitting.device.press(1)
        sitting.heard.wait_for("Black's pieces don't form a wall")
        sitting.device.press(2)
        sitting.heard.wait_for("Draw agreed? Press again")
        sitting.device.press(2)
        sitting.heard.wait_for("Draw agreed.")

    watching = changed(options(sitting, "sensors"), game_name="diaballik")
    assert referee(watching, sitting, person) == 0
    assert "The switches alone identify 0 of the 290 turns possible at the start" in sitting.heard.getvalue()


def test_a_game_that_switches_cannot_sense_is_refused(sitting: Sitting) -> None:
    watching = changed(options(sitting, "sensors"), game_name="blockade")
    with pytest.raises(ConfigError, match=r"Blockade can't be followed by sensors alone: .*`./run table turn`"):
        watch(watching, Console(file=sitting.heard))


@pytest.mark.parametrize(
    ("game", "turn_end", "message"),
    [
        (
            "number-drop",
            "button",
            r"Number Drop can't be followed by sensors: it is written on sheets.*`./run table turn`",
        ),
        (
            "deblockle",
            "touch",
            r"turn\.end is touch, and sensors alone can't tell .*; end turns by the button or by rest",
        ),
    ],
)
def test_settings_impossible_with_sensors_alone_are_refused(
    sitting: Sitting, game: str, turn_end: str, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        watch(changed(options(sitting, "sensors"), game_name=game, turn_end=turn_end), Console(file=sitting.heard))
