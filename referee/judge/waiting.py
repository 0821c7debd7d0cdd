"""Whether a whole turn that waits for the next player's touch has been followed by one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic

from engine.api import Game, StateT, TurnT
from referee.judge.belief import Explorer, applied
from referee.judge.deciding import Decision, Standing, decide
from referee.judge.hypotheses import Changes, Happening
from referee.judge.pooling import PooledReading
from referee.judge.settings import JudgeSettings, Occasion
from referee.judge.weighing import least_against


@dataclass(frozen=True)
class Waiting(Generic[TurnT]):
    """A whole turn that was seen at rest, and what it changed; no turns when none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()


def was_touched(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    belief: Sequence[StateT],
    waiting: Waiting[TurnT],
    decision: Decision[StateT, TurnT],
    seen: PooledReading,
    settings: JudgeSettings,
    occasion: Occasion,
) -> bool:
    """Say whether a table that nothing else explains is the waiting turn and what the next players did since.

    What they did is a turn, part of one or two; or a fault, once the table has rested and still shows the waiting turn.
    """
    if not (waiting.turns and occasion.ends_by_touch):
        return False
    if least_against(game, belief, waiting.turns, seen) >= settings.side:
        return False
    after = tuple(belief)
    for turn in waiting.turns:
        after = applied(game, after, turn)
    following = decide(game, explorer, after, seen, settings)
    if following.standing is Standing.ALLOWED:
        return following.best.happening is not Happening.NOTHING
    return occasion is Occasion.TOUCH_RESTED and waiting.changes < decision.shown
