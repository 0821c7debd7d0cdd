"""Games for the judge's tests."""

import importlib
from pathlib import Path
from typing import Any

import pytest

import engine.games

_EXAMPLE = Path(__file__).parents[2] / "system" / "another_game"


@pytest.fixture
def reversi(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The example of CONTRIBUTING: discs are put down and turned over, and a player may have to pass."""
    monkeypatch.setattr(engine.games, "__path__", [*engine.games.__path__, str(_EXAMPLE)])
    return importlib.import_module("engine.games.reversi.game").GAME
