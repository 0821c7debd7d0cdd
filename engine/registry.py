"""The games, by the folders of ``engine.games``: each has a module ``game`` with a ``GAME``, imported when loaded."""

import importlib
import pkgutil
from typing import Any

import engine.games
from common.phrases import Phrase, nearest
from engine.api import Game
from engine.errors import UnknownGameError


def games() -> tuple[str, ...]:
    """List the names of all games, in alphabetical order."""
    return tuple(sorted(each.name.replace("_", "-") for each in pkgutil.iter_modules(engine.games.__path__)))


def load(name: str) -> Game[Any, Any]:
    """Return the game of that name (case and outer spaces don't matter); raises UnknownGameError.

    >>> load("Diaballik").name
    'diaballik'
    >>> load("diabalik")
    Traceback (most recent call last):
    engine.errors.UnknownGameError: no game is called 'diabalik'; did you mean 'diaballik'?
    """
    key, known = name.strip().lower(), games()
    if key not in known:
        near = nearest(key, known)
        if near:
            raise UnknownGameError(Phrase("no game is called {name!r}; did you mean {near!r}?", name, near))
        raise UnknownGameError(Phrase("no game is called {name!r}; there are: {known}", name, ", ".join(known)))
    game: Game[Any, Any] = importlib.import_module(f"engine.games.{key.replace('-', '_')}.game").GAME
    return game
