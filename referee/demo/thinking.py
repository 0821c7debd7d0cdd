"""How the demo's players choose their turns: by hints of little work, one of them thinking further than the others.

The work is counted, not timed, so that a seed gives the same game on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from engine.api import Game, Strength
from engine.search.budget import CountingClock
from referee.hints.opponent import Intention, Opponent, OpponentSettings
from referee.session.execution import ImmediateHints
from simulator.play.players import Choose

_WORK_S = 0.05
_STEP_S = 0.0001
"""A hint looks at its clock at most ``_WORK_S / _STEP_S`` times: tenths of a second on a small computer."""


def thinking_players(game: Game[Any, Any], seed: int) -> Choose:
    """Give who chooses the turns; the seed says which player is the better one, which lets a game come to an end."""
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
    """Give the program as an opponent that thinks as far as the demo's players do; raises ConfigError."""
    return Opponent(
        game, OpponentSettings(settings.player, settings.strength, _WORK_S), ImmediateHints(CountingClock(_STEP_S))
    )


def playing_for(game: Game[Any, Any], choose: Choose | None, meant: Callable[[], Intention | None]) -> Choose:
    """Have the players play the turn that the program means, where it means one; ``None`` for any turn at random."""

    def choose_or_obey(state: Any) -> Any:
        intention = meant()
        if intention is not None and intention.player == state.to_move:
            return game.notation.parse_turn(state, intention.turn, intention.player)
        return None if choose is None else choose(state)

    return choose_or_obey
