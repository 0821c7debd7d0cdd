"""How the demo's players choose their turns: by short hints, one player searching deeper than the others.

The work is counted instead of timed, so that a seed gives the same game on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from engine.api import Game
from engine.search.budget import CountingClock
from engine.values import Strength
from referee.hints.opponent import Intention, Opponent, OpponentSettings
from referee.session.execution import ImmediateHints
from simulator.play.players import Choose

_WORK_S = 0.05
_STEP_S = 0.0001
"""A hint reads its clock at most ``_WORK_S / _STEP_S`` times: tenths of a second on a small computer."""


def thinking_players(game: Game[Any, Any], seed: int) -> Choose:
    """Return the function that chooses turns; the seed decides which player is stronger, so that games end."""
    rng = Random(seed)
    better = game.players[seed % 2]

    earlier: list[Any] = []

    def choose(state: Any) -> Any:
        strength = Strength.STRONG if state.to_move == better else Strength.GENTLE
        hint = game.advice.hint(state, _WORK_S, rng, clock=CountingClock(_STEP_S), strength=strength, earlier=earlier)
        earlier.append(state)
        return hint.turn

    return choose


def counted_opponent(game: Game[Any, Any], settings: OpponentSettings) -> Opponent:
    """The program as an opponent that searches as deep as the demo's players; raises ConfigError."""
    return Opponent(
        game, OpponentSettings(settings.player, settings.strength, _WORK_S), ImmediateHints(CountingClock(_STEP_S))
    )


def playing_for(game: Game[Any, Any], choose: Choose | None, meant: Callable[[], Intention | None]) -> Choose:
    """Make the players play the turn that the program announces, else ``choose``; ``None`` for random turns."""

    def choose_or_obey(state: Any) -> Any:
        intention = meant()
        if intention is not None and intention.player == state.to_move:
            return game.notation.parse_turn(state, intention.turn, intention.player)
        return None if choose is None else choose(state)

    return choose_or_obey
