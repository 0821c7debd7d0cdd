"""Whether a whole turn that waits for the next player's touch has been followed by one. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic

from engine.api import Game, StateT, TurnT
from referee.judge.belief import Explorer, applied, changes_between
from referee.judge.deciding import Decision, Standing, decide
from referee.judge.hypotheses import Changes, Happening
from referee.judge.pooling import PooledReading
from referee.judge.settings import JudgeSettings, Occasion
from referee.judge.weighing import least_against


@dataclass(frozen=True)
class Waiting(Generic[TurnT]):
    """A whole turn that was seen at rest, what it changed, and the table it was seen on; no turns when none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()
    seen: PooledReading | None = None


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
    """Say whether a table shows more than one turn could, or a fault: the waiting turn and what was done since.

    What was done since is a turn, part of one or two, however surely; or a fault, once the table has rested and still
    shows the waiting turn, where it shows anything.
    """
    if not (waiting.turns and occasion.ends_by_touch):
        return False
    more_than_one = decision.best.happening in {Happening.TURN_AND_PART, Happening.TWO_TURNS}
    if decision.standing is Standing.ALLOWED and not more_than_one:
        return False
    after = tuple(belief)
    for turn in waiting.turns:
        after = applied(game, after, turn)
    following = decide(game, explorer, after, seen, settings)
    if least_against(game, belief, waiting.turns, seen) >= settings.side and not _was_played_on(
        game, belief, waiting, following, seen, settings
    ):
        return False
    if following.standing is Standing.FORBIDDEN:
        # A thing laid on its piece since does not undo it.
        waited = seen.told(game.appearance(belief[0]), waiting.changes)
        return occasion is Occasion.TOUCH_RESTED and waited < decision.shown
    return following.best.happening is not Happening.NOTHING


def _was_played_on(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    waiting: Waiting[TurnT],
    following: Decision[StateT, TurnT],
    seen: PooledReading,
    settings: JudgeSettings,
) -> bool:
    """Say whether the side faces fit whole turns that followed: they may have moved the waiting turn's piece again."""
    if following.standing is not Standing.ALLOWED or following.best.happening is not Happening.TWO_TURNS:
        return False
    return any(
        least_against(game, belief, (*waiting.turns, *turns), seen) < settings.side
        for turns in product(following.best.first, following.best.second)
    )


def left_by(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    turns: Sequence[TurnT],
    waiting: Waiting[TurnT],
    seen: PooledReading,
) -> PooledReading:
    """Give the table as accepted turns left it: as it was while they waited, since what came after may be a misdeed."""
    if waiting.seen is None or len(turns) > 1:
        return seen
    after = applied(game, belief, turns[0])
    left = changes_between(game.appearance(belief[0]), game.appearance(after[0]))
    return waiting.seen if left == waiting.changes else seen
