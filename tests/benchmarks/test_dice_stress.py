"""Trays under hardships, and the scoring of their readings."""

import pytest

from benchmarks.parts.dice_stress import (
    HARDSHIPS,
    ReadDie,
    calibration_error,
    read_stress,
    stress_picture,
)
from benchmarks.scene.dice_variety import COCKED
from vision.readers.dice.finding import shipped


def test_a_seed_gives_one_tray_and_every_hardship_has_dice() -> None:
    first, second = (stress_picture("leaning", 0, 7) for _ in range(2))
    assert (first.image == second.image).all()
    assert len(first.dice) >= HARDSHIPS["leaning"].count[0]
    shown = {shows for _, _, shows in first.dice}
    assert COCKED in shown
    assert shown > {COCKED}


def test_an_ordinary_tray_is_read() -> None:
    read = read_stress(stress_picture("none", 0, 3), shipped())
    assert sum(die.right for die in read) >= len(read) - 1
    assert not any(die.certain_and_wrong for die in read)


def test_what_counts_as_certain_and_wrong() -> None:
    assert ReadDie(COCKED, "4", 0.9995).certain_and_wrong
    assert ReadDie("nothing", "4", 0.9995).certain_and_wrong
    assert not ReadDie("3", "4", 0.9).certain_and_wrong
    assert not ReadDie("3", COCKED, 1.0).certain_and_wrong
    assert not ReadDie("3", "", 0.0).certain_and_wrong


def test_probabilities_that_come_true_have_no_error() -> None:
    halves = [ReadDie("3", "3", 0.5), ReadDie("3", "4", 0.5)] * 20
    assert calibration_error(halves) == pytest.approx(0.0, abs=0.01)
    assert calibration_error([ReadDie("3", "4", 1.0)] * 10) == pytest.approx(1.0)
    assert calibration_error([]) == 0.0
