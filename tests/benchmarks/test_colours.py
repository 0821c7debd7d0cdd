from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import cv2
import pytest
from click.testing import CliRunner

from benchmarks import colours
from hardware.lights.signals import ROLE_STYLES, Colour, LightRole, Pattern


def test_it_prints_what_is_told_apart_and_draws_it(tmp_path: Path) -> None:
    file = tmp_path / "colours.png"
    result = CliRunner().invoke(colours.main, ["--picture", str(file)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    assert "orange, vermillion" in result.output
    assert "4.3 (18.2) *" in result.output
    assert "least difference side by side, any eye: 10.2" in result.output
    picture = cv2.imread(str(file))
    assert picture is not None
    assert len({tuple(pixel) for pixel in picture[::5, ::5].reshape(-1, 3)}) > 50


def test_two_meanings_that_cannot_be_told_apart_are_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    alike = {
        **ROLE_STYLES,
        LightRole.HINT: replace(ROLE_STYLES[LightRole.HINT], colour=Colour.ORANGE, pattern=Pattern.BLINK),
    }
    monkeypatch.setattr(colours, "ROLE_STYLES", MappingProxyType(alike))
    result = CliRunner().invoke(colours.main, [])
    assert result.exit_code == 1
    # For three kinds of eyes orange and vermillion are too near to each other.
    assert "NOT MET: 3 pairs of meanings cannot be told apart" in result.output
