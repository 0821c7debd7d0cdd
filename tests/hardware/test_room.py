"""Rules for the whole room: value equality, builtin errors, and no waiting or clocks."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import hardware
from common.grid import PlaceGrid
from hardware.errors import DriverError, HardwareError, MapFileError, PinError, SettingError
from hardware.lights.signals import AnimatedDriver, Driver, Mood, Signal
from hardware.lights.terminal import TerminalDriver


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
