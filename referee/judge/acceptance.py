"""Turns an explanation into accepted turns: checks side faces, and follows turns that wait for a touch. Pure."""

from __future__ import annotations

import enum
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Generic

from engine.api import Game, StateT, TurnT
from engine.errors import IllegalTurnError
from engine.values import EMPTY, Breach, Place
from referee.judge.decision import Conclusion, Decision, decide
from referee.judge.evidence.sides import certain_sides, keep_consistent_turns, side_contradiction
from referee.judge.evidence.stacks import height_contradiction, stack_doubts
from referee.judge.explanations import Changes, Explanation, ExplanationKind
from referee.judge.explorer import JudgeContext, apply_turn, apply_turns, changes_between, narrow_by_facings
from referee.judge.faults import find_breaches, find_turned_pieces
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import AcceptedTurn

_DOUBTED_SHARE = 0.3
"""Share of the clearest stack's log-odds against a turn from which others are named too. Lower: more are named."""


@dataclass(frozen=True)
class Resolved(Generic[TurnT]):
    """The turns of an explanation in order, or the candidates for the first when they can't be told apart.

    ``contradiction`` is the log-odds of the side faces seen against the turns. ``doubted`` are the stacks that
    contradict the only candidate, the clearest one first.
    """

    turns: tuple[TurnT, ...]
    candidates: tuple[TurnT, ...] = ()
    contradiction: float = 0.0
    doubted: tuple[Place, ...] = ()


def resolve(
    context: JudgeContext[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading
) -> Resolved[TurnT]:
    """Reduce explanations that leave the same appearance to one turn, or to two in a row.

    Look-alikes are told apart by side faces and heights, or else combined into one turn that stands for all of them.
    Where neither works, or the stacks contradict the best one, the result has candidates instead of turns. Of two turns
    in a row of which only the second is unclear, the result is the first.
    """
    game, explorer, side = context.game, context.explorer, context.settings.side
    contradictions: dict[tuple[TurnT, ...], float] = {}
    costs: dict[tuple[TurnT, ...], float] = {}
    starts: dict[tuple[TurnT, ...], list[StateT]] = defaultdict(list)
    for one in explanations:
        last = one.second or one.first
        start = game.rules.apply(one.state, one.first[0]) if one.second else one.state
        kept = keep_consistent_turns(game, start, last, seen, side)
        combined = explorer.combine(kept)
        for turn in kept if combined is None else (combined,):
            sequence = (one.first[0], turn) if one.second else (turn,)
            contradiction = side_contradiction(game, one.state, sequence, seen)
            contradictions[sequence] = min(contradiction, contradictions.get(sequence, contradiction))
            cost = contradiction + height_contradiction(game, one.state, sequence, seen)
            costs[sequence] = min(cost, costs.get(sequence, cost))
            starts[sequence].append(one.state)
    best = min(costs.values())
    sequences = [sequence for sequence, cost in costs.items() if cost < best + side]
    # The second turn can't be entered before the first.
    firsts = tuple(dict.fromkeys(sequence[0] for sequence in sequences))
    if len(firsts) > 1:
        return Resolved((), firsts)
    least = min(contradictions[sequence] for sequence in sequences)
    if len(sequences) > 1:
        return Resolved(firsts, contradiction=least)
    against = min((stack_doubts(game, state, sequences[0], seen) for state in starts[sequences[0]]), key=_total)
    if _total(against) < context.settings.stacks:
        return Resolved(sequences[0], contradiction=least)
    doubted = [place for place, doubt in against.items() if doubt >= _DOUBTED_SHARE * max(against.values())]
    return Resolved((), firsts, doubted=tuple(sorted(doubted, key=lambda place: -against[place])))


def _total(doubts: Mapping[Place, float]) -> float:
    return math.fsum(doubts.values())


def resolve_first(
    context: JudgeContext[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading
) -> Resolved[TurnT]:
    """Reduce explanations by a turn and part of the next to that first turn; the part is ignored."""
    firsts = tuple(dict.fromkeys(one.first[0] for one in explanations))
    if len(firsts) > 1:
        return Resolved((), firsts)
    # A piece that has since moved on tells nothing about that turn.
    costs = [
        side_contradiction(context.game, one.state, one.first[:1], seen.without(one.touched)) for one in explanations
    ]
    return Resolved(firsts, contradiction=min(costs))


@dataclass(frozen=True)
class Advance(Generic[StateT]):
    """The states after accepted turns, the steps that led there, and the sightings that were dropped."""

    states: tuple[StateT, ...]
    steps: tuple[AcceptedTurn, ...]
    dropped: tuple[Place, ...]


def advance(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT], seen: PooledReading | None
) -> Advance[StateT]:
    """Apply accepted turns, and narrow the last state by the side faces seen (none without ``seen``)."""
    current = tuple(states)
    steps = []
    for turn in turns:
        current = apply_turn(context.game, current, turn)
        steps.append(AcceptedTurn(turn, current))
    dropped: tuple[Place, ...] = ()
    if seen is not None:
        current, dropped = narrow_by_sides(context, current, seen)
        steps[-1] = replace(steps[-1], states=current)
    return Advance(current, tuple(steps), dropped)


def ends_game(game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT]) -> bool:
    """Return whether these turns end the game from every one of these states; false without turns."""
    after = apply_turns(game, states, turns)
    return bool(turns) and bool(after) and all(game.rules.outcome(state) is not None for state in after)


def narrow_by_sides(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], seen: PooledReading
) -> tuple[tuple[StateT, ...], tuple[Place, ...]]:
    """Keep the states that agree with the side faces read with certainty.

    Also return the places whose sighting was dropped. A sighting counts only where the top looks as believed, since the
    sides of another piece tell nothing.
    """
    game = context.game
    appearance = game.table.appearance(states[0])
    places = [
        place
        for place, look in appearance.items()
        if look != EMPTY and place in seen.places and seen.places[place].best == look
    ]
    return narrow_by_facings(game, states, certain_sides(seen, places, context.settings.side))


class SideSupport(enum.Enum):
    """Whether the side faces support the turns."""

    SUPPORTED = "supported"
    """They support the turns, or tell nothing."""

    PIECE_TURNED = "piece turned"
    """They support the turns, but a piece elsewhere was turned on its place."""

    DOUBTFUL = "doubtful"
    """They contradict the turns, but not with certainty."""

    BREAKS_A_RULE = "breaks a rule"
    """They certainly contradict a single turn, and the engine knows what was done instead."""

    RULED_OUT = "ruled out"
    """They certainly contradict several turns in a row."""


@dataclass(frozen=True)
class SideCheck:
    """Whether the side faces support the turns, and the breaches they show."""

    support: SideSupport
    breaches: tuple[Breach, ...] = ()


def weigh_sides(
    context: JudgeContext[StateT, TurnT],
    states: Sequence[StateT],
    resolved: Resolved[TurnT],
    explanation: Explanation[StateT, TurnT],
    seen: PooledReading,
    set_aside: frozenset[Place],
) -> SideCheck:
    """Weigh turns that explain a table by the side faces seen on their places and on all others."""
    settings = context.settings
    if resolved.contradiction >= settings.turned:
        if explanation.kind is not ExplanationKind.TURN:
            return SideCheck(SideSupport.RULED_OUT)
        breaches = find_breaches(context, states, explanation.changes, seen)
        if breaches:
            return SideCheck(SideSupport.BREAKS_A_RULE, breaches)
    of_turns = {place for turn in resolved.turns for place in turn.places}
    elsewhere = seen.without(set_aside | of_turns | set(explanation.touched))
    turned = find_turned_pieces(context, states, elsewhere, settings.side)
    if turned:
        return SideCheck(SideSupport.PIECE_TURNED, turned)
    return SideCheck(SideSupport.SUPPORTED if resolved.contradiction < settings.side else SideSupport.DOUBTFUL)


def same_piece_moves_on(
    game: Game[StateT, TurnT], states: Sequence[StateT], explanations: Sequence[Explanation[StateT, TurnT]]
) -> bool:
    """Return whether the same player plays again after these first turns, and has begun with the same piece."""
    after = [state for one in explanations for turn in one.first for state in apply_turn(game, states, turn)]
    again = bool(after) and all(state.to_move == states[0].to_move for state in after)
    return again and any({*turn.places} & {*one.touched} for one in explanations for turn in one.first)


def least_side_contradiction(
    game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT], seen: PooledReading
) -> float:
    """Log-odds of the side faces seen against the turns, from the state that fits them best.

    Infinite when no state allows the turns.
    """
    least = math.inf
    for state in states:
        try:
            least = min(least, side_contradiction(game, state, turns, seen))
        except IllegalTurnError:
            continue
    return least


@dataclass(frozen=True)
class PendingTurn(Generic[TurnT]):
    """A whole turn that waits to be ended, what it changed, and the reading it was seen in; no turns if none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()
    seen: PooledReading | None = None


def was_ended_by_touch(
    context: JudgeContext[StateT, TurnT],
    states: Sequence[StateT],
    pending: PendingTurn[TurnT],
    decision: Decision[StateT, TurnT],
    seen: PooledReading,
    trigger: Trigger,
) -> bool:
    """Return whether the table shows the waiting turn and something done after it.

    What was done after it may be part of a turn, a turn, or more, and need not be certain. Once the table has rested
    and still shows the waiting turn, it may also be a fault.
    """
    if not (pending.turns and trigger.ends_by_touch):
        return False
    more_than_one = decision.best.kind in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
    if decision.conclusion is Conclusion.ALLOWED and not more_than_one:
        return False
    game = context.game
    following = decide(context, apply_turns(game, states, pending.turns), seen)
    is_ruled_out = least_side_contradiction(game, states, pending.turns, seen) >= context.settings.side
    if is_ruled_out and not _was_played_on(context, states, pending, following, seen):
        return False
    if following.conclusion is Conclusion.FORBIDDEN:
        # An object laid on its piece afterwards does not undo it.
        waiting = seen.visible_changes(game.table.appearance(states[0]), pending.changes)
        return trigger is Trigger.TOUCH_RESTED and waiting < decision.shown
    return following.best.kind is not ExplanationKind.NOTHING


def _was_played_on(
    context: JudgeContext[StateT, TurnT],
    states: Sequence[StateT],
    pending: PendingTurn[TurnT],
    following: Decision[StateT, TurnT],
    seen: PooledReading,
) -> bool:
    """Return whether the side faces fit the waiting turn and whole turns after it, perhaps of the same piece."""
    if following.conclusion is not Conclusion.ALLOWED or following.best.kind is not ExplanationKind.TWO_TURNS:
        return False
    return any(
        least_side_contradiction(context.game, states, (*pending.turns, *turns), seen) < context.settings.side
        for turns in product(following.best.first, following.best.second)
    )


def reading_of_turns(
    game: Game[StateT, TurnT],
    states: Sequence[StateT],
    turns: Sequence[TurnT],
    pending: PendingTurn[TurnT],
    seen: PooledReading,
) -> PooledReading:
    """Return the reading that shows the accepted turns: the newest may also show what was done after them."""
    if pending.seen is None or len(turns) > 1:
        return seen
    after = apply_turn(game, states, turns[0])
    left = changes_between(game.table.appearance(states[0]), game.table.appearance(after[0]))
    return pending.seen if left == pending.changes else seen
