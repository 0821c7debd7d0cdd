"""``referee play`` in an empty folder."""

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from tests.commands import runner_in
from tests.engine import toy_harvest

Play = Callable[..., Result]


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Run ``referee play`` in an empty folder with lines typed."""
    toy_harvest.register(monkeypatch)
    invoke = runner_in(tmp_path, monkeypatch)

    def run(*arguments: object, typed: str | bytes = "", code: int = 0, command: str = "play") -> Result:
        result = invoke(command, *arguments, input=typed)
        assert result.exit_code == code, result.output + result.stderr
        return result

    return run
