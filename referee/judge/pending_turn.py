"""A whole turn that waits for the next player's touch, and whether that came. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic

from engine.api import Game, StateT, TurnT
from referee.judge.acceptance import least_against
from referee.judge.decision import Conclusion, Decision, decide
from referee.judge.explanations import Changes, ExplanationKind
from referee.judge.explorer import Bench, applied, changes_between
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import Trigger


@dataclass(frozen=True)
class PendingTurn(Generic[TurnT]):
    """A whole turn that was seen at rest, what it changed, and the table it was seen on; no turns when none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()
    seen: PooledReading | None = None


def was_touched(
    bench: Bench[StateT, TurnT],
    states: Sequence[StateT],
    pending: PendingTurn[TurnT],
    decision: Decision[StateT, TurnT],
    seen: PooledReading,
    trigger: Trigger,
) -> bool:
    """Say whether a table shows more than one turn could, or a fault: the waiting turn and what was done since.

    What was done since is a turn, part of one or two, however surely; or a fault, once the table has rested and still
    shows the waiting turn, where it shows anything.
    """
    if not (pending.turns and trigger.ends_by_touch):
        return False
    more_than_one = decision.best.kind in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
    if decision.conclusion is Conclusion.ALLOWED and not more_than_one:
        return False
    game = bench.game
    after = tuple(states)
    for turn in pending.turns:
        after = applied(game, after, turn)
    following = decide(bench, after, seen)
    is_ruled_out = least_against(game, states, pending.turns, seen) >= bench.settings.side
    if is_ruled_out and not _was_played_on(bench, states, pending, following, seen):
        return False
    if following.conclusion is Conclusion.FORBIDDEN:
        # A thing laid on its piece since does not undo it.
        waited = seen.told(game.table.appearance(states[0]), pending.changes)
        return trigger is Trigger.TOUCH_RESTED and waited < decision.shown
    return following.best.kind is not ExplanationKind.NOTHING


def _was_played_on(
    bench: Bench[StateT, TurnT],
    states: Sequence[StateT],
    pending: PendingTurn[TurnT],
    following: Decision[StateT, TurnT],
    seen: PooledReading,
) -> bool:
    """Say whether the side faces fit whole turns that followed: they may have moved the waiting turn's piece again."""
    if following.conclusion is not Conclusion.ALLOWED or following.best.kind is not ExplanationKind.TWO_TURNS:
        return False
    return any(
        least_against(bench.game, states, (*pending.turns, *turns), seen) < bench.settings.side
        for turns in product(following.best.first, following.best.second)
    )


def left_by(
    game: Game[StateT, TurnT],
    states: Sequence[StateT],
    turns: Sequence[TurnT],
    pending: PendingTurn[TurnT],
    seen: PooledReading,
) -> PooledReading:
    """Give the table as accepted turns left it: as it was while they waited, since what came after may break a rule."""
    if pending.seen is None or len(turns) > 1:
        return seen
    after = applied(game, states, turns[0])
    left = changes_between(game.table.appearance(states[0]), game.table.appearance(after[0]))
    return pending.seen if left == pending.changes else seen
