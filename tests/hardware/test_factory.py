import ast
import io
from pathlib import Path

import pytest
from gpiozero import LED
from gpiozero.pins.mock import MockFactory
from rich.console import Console

import hardware
from common.grid import PlaceGrid
from hardware.errors import DriverError, HardwareError, MapFileError, PinError, SettingError
from hardware.factory import DriverSettings, driver_sources
from hardware.lights.gpio import BuzzerKind
from hardware.lights.panel import Panel
from hardware.lights.signals import AnimatedDriver, Driver, Light, LightRole, Mood, Signal, Sound
from hardware.lights.terminal import TerminalDriver
from hardware.pin_map import GpioPinMap

BOARD = PlaceGrid.of_squares(7, 7)
PINS = GpioPinMap.from_names(
    places={"d6": 17},
    columns={"c": 2},
    rows={"3": 3},
    status_red=13,
    status_green=19,
    status_blue=26,
    buzzer=18,
    buttons={"end turn": 5},
)


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=80, color_system=None)


def test_each_light_has_its_own_driver_source(console: Console, pwm_pins: MockFactory) -> None:
    settings = DriverSettings(("terminal", "gpio"), PINS)
    names = [source.name for source in driver_sources(settings, BOARD, console, pwm_pins)]
    assert names == ["terminal", "light d6", "edge light c", "edge light 3", "status light", "buzzer"]


def test_a_busy_pin_affects_only_its_own_light(clock, console: Console, pwm_pins: MockFactory) -> None:
    said: list[str] = []
    settings = DriverSettings(("terminal", "gpio"), PINS, buzzer_kind=BuzzerKind.PASSIVE)
    shown = Signal(
        Mood.FAULT,
        (Light.for_role("c3", LightRole.FAULT), Light.for_role("d6", LightRole.TURN)),
        Sound.FAULT,
        "Not there.",
    )
    with (
        LED(2, pin_factory=pwm_pins),
        Panel(driver_sources(settings, BOARD, console, pwm_pins), clock, said.append) as panel,
    ):
        panel.show(shown)
        assert [pwm_pins.pin(f"GPIO{number}").state for number in (17, 3, 18)] == [True, True, 0.5]
        assert pwm_pins.pin("GPIO13").state > 0.5
    assert len(said) == 1
    assert isinstance(console.file, io.StringIO)
    assert "!c3!" in console.file.getvalue()


def test_settings_without_drivers_give_no_sources(console: Console) -> None:
    assert driver_sources(DriverSettings(drivers=()), BOARD, console) == ()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (DriverSettings(("gpoi",), PINS), r"no driver 'gpoi' \(did you mean 'gpio'\?\); allowed are terminal, gpio"),
        (DriverSettings(("terminal", "terminal")), "a driver is named twice in terminal, terminal"),
        (DriverSettings(("gpio",)), "the driver gpio has no pin to drive; give it pins"),
    ],
)
def test_settings_with_unknown_names_are_refused(console: Console, settings: DriverSettings, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        driver_sources(settings, BOARD, console)


# Rules for the whole room: value equality, builtin errors, and no waiting or clocks.


def test_equal_signals_compare_and_hash_alike() -> None:
    assert Signal(Mood.WAITING) == Signal(Mood.WAITING)
    assert len({Signal(Mood.WAITING), Signal(Mood.WAITING), Signal(Mood.FAULT)}) == 2


@pytest.mark.parametrize(
    ("error", "builtin"),
    [(PinError, ValueError), (SettingError, ValueError), (DriverError, OSError), (MapFileError, OSError)],
)
def test_each_error_is_also_the_builtin_it_resembles(error: type[HardwareError], builtin: type[Exception]) -> None:
    assert issubclass(error, HardwareError)
    assert issubclass(error, builtin)


def test_the_terminal_driver_needs_no_ticks(tmp_path: Path) -> None:
    from rich.console import Console

    driver: Driver = TerminalDriver(Console(), PlaceGrid.of_squares(1, 1))
    assert not isinstance(driver, AnimatedDriver)


def test_no_module_sleeps_or_reads_a_clock() -> None:
    """A sleep would hide a race; callers pass in the time."""
    for path in Path(hardware.__file__).parent.rglob("*.py"):
        names = {node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Attribute)}
        assert not {"sleep", "monotonic", "perf_counter"} & (names | attributes), path.name
