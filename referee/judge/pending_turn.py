"""A whole turn that waits for the next player's touch, and whether that came. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic

from engine.api import Game, StateT, TurnT
from referee.judge.acceptance import least_against
from referee.judge.belief import Explorer, applied, changes_between
from referee.judge.decision import Conclusion, Decision, decide
from referee.judge.explanations import Changes, ExplanationKind
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import JudgeSettings, Trigger


@dataclass(frozen=True)
class PendingTurn(Generic[TurnT]):
    """A whole turn that was seen at rest, what it changed, and the table it was seen on; no turns when none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()
    seen: PooledReading | None = None


def was_touched(
    game: Game[StateT, TurnT],
    explorer: Explorer[StateT, TurnT],
    belief: Sequence[StateT],
    waiting: PendingTurn[TurnT],
    decision: Decision[StateT, TurnT],
    seen: PooledReading,
    settings: JudgeSettings,
    occasion: Trigger,
) -> bool:
    """Say whether a table shows more than one turn could, or a fault: the waiting turn and what was done since.

    What was done since is a turn, part of one or two, however surely; or a fault, once the table has rested and still
    shows the waiting turn, where it shows anything.
    """
    if not (waiting.turns and occasion.ends_by_touch):
        return False
    more_than_one = decision.best.happening in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
    if decision.standing is Conclusion.ALLOWED and not more_than_one:
        return False
    after = tuple(belief)
    for turn in waiting.turns:
        after = applied(game, after, turn)
    following = decide(game, explorer, after, seen, settings)
    if least_against(game, belief, waiting.turns, seen) >= settings.side and not _was_played_on(
        game, belief, waiting, following, seen, settings
    ):
        return False
    if following.standing is Conclusion.FORBIDDEN:
        # A thing laid on its piece since does not undo it.
        waited = seen.told(game.appearance(belief[0]), waiting.changes)
        return occasion is Trigger.TOUCH_RESTED and waited < decision.shown
    return following.best.happening is not ExplanationKind.NOTHING


def _was_played_on(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    waiting: PendingTurn[TurnT],
    following: Decision[StateT, TurnT],
    seen: PooledReading,
    settings: JudgeSettings,
) -> bool:
    """Say whether the side faces fit whole turns that followed: they may have moved the waiting turn's piece again."""
    if following.standing is not Conclusion.ALLOWED or following.best.happening is not ExplanationKind.TWO_TURNS:
        return False
    return any(
        least_against(game, belief, (*waiting.turns, *turns), seen) < settings.side
        for turns in product(following.best.first, following.best.second)
    )


def left_by(
    game: Game[StateT, TurnT],
    belief: Sequence[StateT],
    turns: Sequence[TurnT],
    waiting: PendingTurn[TurnT],
    seen: PooledReading,
) -> PooledReading:
    """Give the table as accepted turns left it: as it was while they waited, since what came after may be a misdeed."""
    if waiting.seen is None or len(turns) > 1:
        return seen
    after = applied(game, belief, turns[0])
    left = changes_between(game.appearance(belief[0]), game.appearance(after[0]))
    return waiting.seen if left == waiting.changes else seen
