"""The games there are; the only module that imports concrete ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from common.suggestions import nearest
from engine.api import Game
from engine.errors import UnknownGameError


def _blockade() -> Game[Any, Any]:
    from engine.games.blockade.game import Blockade

    return Blockade()


def _blokus_dice() -> Game[Any, Any]:
    from engine.games.blokus_dice.game import BlokusDice

    return BlokusDice()


def _deblockle() -> Game[Any, Any]:
    from engine.games.deblockle.game import Deblockle

    return Deblockle()


def _diaballik() -> Game[Any, Any]:
    from engine.games.diaballik.game import Diaballik

    return Diaballik()


def _number_drop() -> Game[Any, Any]:
    from engine.games.number_drop.game import NumberDrop

    return NumberDrop()


_GAMES: Mapping[str, Callable[[], Game[Any, Any]]] = MappingProxyType(
    {
        "blockade": _blockade,
        "blokus-dice": _blokus_dice,
        "deblockle": _deblockle,
        "diaballik": _diaballik,
        "number-drop": _number_drop,
    }
)


def games() -> tuple[str, ...]:
    """Name every game, in alphabetical order."""
    return tuple(sorted(_GAMES))


def load(name: str) -> Game[Any, Any]:
    """Give the game of that name (case and outer spaces don't matter); raises UnknownGameError.

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
    return _GAMES[key]()
