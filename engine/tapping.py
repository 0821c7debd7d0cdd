"""Turns entered tap by tap on a screen: what may be tapped next, and the turn that the taps make.

A tap is a place of the game, such as ``c3``, or a choice that has no place, such as ``hoops`` for the symbol that came
up. A game that supports this has a ``tapping`` part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from common.phrases import Phrase
from engine.errors import IllegalTurnError
from engine.values import Place

if TYPE_CHECKING:
    from engine.api import Game

TurnT_co = TypeVar("TurnT_co", covariant=True)
Tap = str
Taps = tuple[Tap, ...]


@dataclass(frozen=True)
class Tapped(Generic[TurnT_co]):
    """The part of a turn that was tapped so far.

    ``squares`` are the places that may be tapped next, in order; ``choices`` are the other possible taps, each with a
    label. ``turn`` is the complete turn, or ``None`` if taps are missing.
    """

    squares: tuple[Place, ...] = ()
    choices: Mapping[Tap, str] = field(default_factory=dict, hash=False)
    turn: TurnT_co | None = None
    taps: Taps = ()


def tapped(game: Game[Any, Any], state: Any, taps: Sequence[Tap]) -> Tapped[Any]:
    """Return what may follow these taps.

    A choice without an alternative is made automatically and added to the reply's ``taps``. Raises IllegalTurnError if
    no turn of the player to move begins with these taps.

    >>> from engine.registry import load
    >>> game = load("diaballik")
    >>> tapped(game, game.rules.new(), ["a1"]).squares
    ('a2',)
    """
    if game.tapping is None:
        raise IllegalTurnError(Phrase("turns of {title} can't be tapped; type them", game.title))
    steps = tuple(taps)
    found = game.tapping(state, steps)
    while len(found.choices) == 1 and not found.squares and found.turn is None and steps:
        steps = (*steps, *found.choices)
        found = game.tapping(state, steps)
    if steps and not found.squares and not found.choices and found.turn is None:
        raise IllegalTurnError(Phrase("no turn begins with {steps}; tap a square that is lit", ", ".join(steps)))
    return replace(found, taps=steps)
