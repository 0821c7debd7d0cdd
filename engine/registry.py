"""The registered games, by the module that defines each ``GAME``. A module is imported when its game is loaded."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from common.phrases import nearest
from engine.api import Game
from engine.errors import UnknownGameError

_GAMES: Mapping[str, str] = MappingProxyType(
    {
        "blockade": "engine.games.blockade.game",
        "blokus-dice": "engine.games.blokus_dice.game",
        "deblockle": "engine.games.deblockle.game",
        "diaballik": "engine.games.diaballik.game",
        "number-drop": "engine.games.number_drop.game",
    }
)


def games() -> tuple[str, ...]:
    """List the names of all games, in alphabetical order."""
    return tuple(sorted(_GAMES))


def load(name: str) -> Game[Any, Any]:
    """Return the game of that name (case and outer spaces don't matter); raises UnknownGameError.

    >>> load("Diaballik").name
    'diaballik'
    >>> load("diabalik")
    Traceback (most recent call last):
    engine.errors.UnknownGameError: no game is called 'diabalik'; did you mean 'diaballik'?
    """
    key = name.strip().lower()
    if key not in _GAMES:
        near = nearest(key, _GAMES)
        hint = f"did you mean {near!r}?" if near else f"there are: {', '.join(games())}"
        raise UnknownGameError(f"no game is called {name!r}; {hint}")
    game: Game[Any, Any] = importlib.import_module(_GAMES[key]).GAME
    return game
