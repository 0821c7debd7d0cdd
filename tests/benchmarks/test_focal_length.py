"""The benchmark of the focal length measures random lenses, and the pictures of a set."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from benchmarks.focal_length import Error, main, print_errors


def test_random_cameras_are_measured_and_listed_by_tilt() -> None:
    result = CliRunner().invoke(main, ["--cameras", "12", "--seed", "3"])
    assert result.exit_code == 0, result.output
    assert "12 of 12 measured" in result.output
    assert "known well" in result.output


def test_one_that_is_said_to_be_known_well_and_is_far_off_fails(capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = (Error(30.0, off, 0.01, True, 0.2, 0.7) for off in (0.001, -0.04))
    unsure = Error(3.0, 0.3, 0.2, False, 9.0, 0.7)
    assert print_errors([good, bad, unsure, None]) == pytest.approx(0.04)
    printed = capsys.readouterr().out
    assert "3 of 4 measured" in printed
    assert "known well                 2 of 3" in printed


def test_sets_need_what_their_cameras_are_measured_by(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, [str(tmp_path)]).exit_code == 2
