"""Games whose referee is killed again and again."""

from __future__ import annotations

import os

import pytest
from click.testing import CliRunner

from benchmarks import power_cut
from benchmarks.parts.power.kills import Aim


@pytest.fixture(autouse=True)
def same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put back what the benchmark sets for its children."""
    for name in ("PYTHONPATH", "OPENBLAS_NUM_THREADS"):
        monkeypatch.setenv(name, os.environ.get(name, ""))


def test_games_go_on_after_each_kill_and_nothing_is_lost() -> None:
    done = CliRunner().invoke(power_cut.main, ["--kills", "8", "--games", "0", "--turns", "3", "--seed", "21"])
    assert done.exit_code == 0, done.output
    assert "kill -9: 8 kills" in done.output
    assert "0 games with something lost, added or changed" in done.output


@pytest.mark.long
def test_games_go_on_after_many_kills() -> None:
    done = CliRunner().invoke(power_cut.main, ["--kills", "150", "--games", "0", "--seed", "31"])
    assert done.exit_code == 0, done.output
    assert all(aim.value in done.output for aim in Aim)
