"""``referee play`` in an empty folder."""

import inspect
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from engine import registry
from referee.cli.root import root

Play = Callable[..., Result]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Run ``referee play`` in an empty folder with lines typed."""
    monkeypatch.setattr(registry, "_GAMES", {**registry._GAMES, "harvest": "tests.engine.toy_harvest"})
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    # click 8.1 mixes both outputs unless told not to; from 8.2 on it never does and can't be told.
    mixes = "mix_stderr" in inspect.signature(CliRunner).parameters
    runner = CliRunner(**({"mix_stderr": False} if mixes else {}))

    def run(*arguments: object, typed: str | bytes = "", code: int = 0, command: str = "play") -> Result:
        result = runner.invoke(root, [command, *map(str, arguments)], input=typed, prog_name="referee")
        assert result.exit_code == code, result.output + result.stderr
        return result

    return run
