"""Which turns follow from the explanations that were chosen, and what the side faces and heights say about them.

Pure; sentences for people are written elsewhere.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product
from typing import Generic

from engine.api import Game, StateT, TurnT
from engine.errors import ContradictionError, IllegalTurnError
from engine.values import EMPTY, Breach, Facing, Place
from referee.judge.belief import PendingTurn
from referee.judge.decision import Conclusion, Decision, decide, mostly_covered
from referee.judge.evidence.turns import (
    certain_sides,
    height_contradiction,
    keep_consistent_turns,
    side_contradiction,
    stack_doubts,
)
from referee.judge.explanations import (
    Explanation,
    ExplanationKind,
)
from referee.judge.explorer import Case, apply_turn, apply_turns, changes_between
from referee.judge.faults import find_breaches, find_turned_pieces
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import AcceptedTurn, places_named

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


def resolve(case: Case[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]]) -> Resolved[TurnT]:
    """Reduce explanations that leave the same appearance to one turn, or to two in a row.

    Look-alikes are told apart by side faces and heights, or else combined into one turn that stands for all of them.
    Where neither works, or the stacks contradict the best one, the result has candidates instead of turns. Of two turns
    in a row of which only the second is unclear, the result is the first.
    """
    game, side, seen = case.game, case.settings.side, case.seen
    by_sides: dict[tuple[TurnT, ...], float] = {}
    costs: dict[tuple[TurnT, ...], float] = {}
    starts: dict[tuple[TurnT, ...], list[StateT]] = defaultdict(list)
    for one in explanations:
        start = game.rules.apply(one.state, one.first[0]) if one.second else one.state
        kept = keep_consistent_turns(game, start, one.second or one.first, seen, side)
        for turn in case.context.combined(kept):
            sequence = (one.first[0], turn) if one.second else (turn,)
            cost = side_contradiction(game, one.state, sequence, seen)
            by_sides[sequence] = min(cost, by_sides.get(sequence, math.inf))
            cost += height_contradiction(game, one.state, sequence, seen)
            costs[sequence] = min(cost, costs.get(sequence, math.inf))
            starts[sequence].append(one.state)
    best = min(costs.values())
    sequences = [sequence for sequence, cost in costs.items() if cost < best + side]
    # The second turn can't be entered before the first.
    firsts = tuple(dict.fromkeys(sequence[0] for sequence in sequences))
    if len(firsts) > 1:
        return Resolved((), firsts)
    least = min(by_sides[sequence] for sequence in sequences)
    if len(sequences) > 1:
        return Resolved(firsts, contradiction=least)
    # Small doubts are noise, and in another light all stacks have some.
    noise = case.settings.unsure_log_odds
    every = (stack_doubts(game, state, sequences[0], seen) for state in starts[sequences[0]])
    against = min(({place: one for place, one in doubts.items() if one >= noise} for doubts in every), key=_total)
    if _total(against) < case.settings.stacks:
        return Resolved(sequences[0], contradiction=least)
    doubted = [place for place, doubt in against.items() if doubt >= _DOUBTED_SHARE * max(against.values())]
    return Resolved((), firsts, doubted=tuple(sorted(doubted, key=lambda place: -against[place])))


def _total(doubts: Mapping[Place, float]) -> float:
    return math.fsum(doubts.values())


def resolve_first(case: Case[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]]) -> Resolved[TurnT]:
    """Reduce explanations by a turn and part of the next to that first turn; the part is ignored."""
    firsts = tuple(dict.fromkeys(one.first[0] for one in explanations))
    if len(firsts) > 1:
        return Resolved((), firsts)
    # A piece that has since moved on tells nothing about that turn.
    costs = (side_contradiction(case.game, one.state, firsts, case.seen.without(one.touched)) for one in explanations)
    return Resolved(firsts, contradiction=min(costs))


def advance(case: Case[StateT, TurnT], turns: Sequence[TurnT]) -> tuple[tuple[AcceptedTurn, ...], tuple[Place, ...]]:
    """Return accepted turns with the states after each, the last narrowed by the side faces seen.

    Also return the places whose sighting was dropped.
    """
    steps, states = [], case.states
    for turn in turns:
        states = apply_turn(case.game, states, turn)
        steps.append(AcceptedTurn(turn, states))
    states, dropped = narrow_by_sides(replace(case, states=states))
    return (*steps[:-1], replace(steps[-1], states=states)), dropped


def ends_game(case: Case[StateT, TurnT], turns: Sequence[TurnT]) -> bool:
    """Return whether these turns end the game from every one of the states; false without turns."""
    after = apply_turns(case.game, case.states, turns)
    return bool(turns) and bool(after) and all(case.game.rules.outcome(state) is not None for state in after)


def narrow_by_sides(case: Case[StateT, TurnT]) -> tuple[tuple[StateT, ...], tuple[Place, ...]]:
    """Keep the states that agree with the side faces read with certainty.

    Also return the places whose sighting was dropped: one that contradicts every state, since cameras err more often
    than the rules. A sighting counts only where the top looks as believed, since the sides of another piece tell
    nothing.
    """
    seen, current, dropped = case.seen.places, case.states, []
    places = [at for at, look in case.base.items() if look != EMPTY and at in seen and seen[at].best == look]
    for place, facing in certain_sides(seen, places, case.settings.side).items():
        if kept := tuple(_agreeing(case.game, current, {place: facing})):
            current = kept
        else:
            dropped.append(place)
    return current, tuple(dropped)


def _agreeing(game: Game[StateT, TurnT], states: Sequence[StateT], seen: Mapping[Place, Facing]) -> Iterator[StateT]:
    """Yield the states that agree with the side faces seen, narrowed by them."""
    for state in states:
        with suppress(ContradictionError):
            yield state if game.side_faces is None else game.side_faces.narrow(state, seen)


@dataclass(frozen=True)
class SideCheck:
    """What the side faces seen say against turns, if anything.

    They certainly contradict a single turn, and the engine knows the ``breaches`` that were done instead, or they rule
    out several turns in a row; or a piece elsewhere was ``turned`` on its place, given as breaches; or they contradict
    the turns, but not with certainty (``is_doubtful``).
    """

    breaches: tuple[Breach, ...] = ()
    rules_out: bool = False
    turned: tuple[Breach, ...] = ()
    is_doubtful: bool = False


def weigh_sides(
    case: Case[StateT, TurnT],
    resolved: Resolved[TurnT],
    explanation: Explanation[StateT, TurnT],
    set_aside: frozenset[Place],
) -> SideCheck:
    """Weigh turns that explain a table by the side faces seen on their places and on all others."""
    if resolved.contradiction >= case.settings.turned:
        if explanation.kind is not ExplanationKind.TURN:
            return SideCheck(rules_out=True)
        if breaches := find_breaches(case, explanation.changes):
            return SideCheck(breaches)
    elsewhere = case.without({*set_aside, *places_named(resolved.turns), *explanation.touched})
    if turned := find_turned_pieces(elsewhere, case.settings.side):
        return SideCheck(turned=turned)
    return SideCheck(is_doubtful=resolved.contradiction >= case.settings.side)


def same_piece_moves_on(case: Case[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]]) -> bool:
    """Return whether the same player plays again after these first turns, and has begun with the same piece."""
    firsts = [(turn, one) for one in explanations for turn in one.first]
    after = [state for turn, _ in firsts for state in apply_turn(case.game, case.states, turn)]
    again = bool(after) and all(state.to_move == case.states[0].to_move for state in after)
    return again and any({*turn.places} & {*one.touched} for turn, one in firsts)


def was_ended_by_touch(
    case: Case[StateT, TurnT], pending: PendingTurn[TurnT], decision: Decision[StateT, TurnT], trigger: Trigger
) -> bool:
    """Return whether the table shows the waiting turn and something done after it.

    What was done after it may be part of a turn, a turn, or more, and need not be certain. Once the table has rested
    and still shows the waiting turn, it may also be a fault.
    """
    if not (pending.turns and trigger.ends_by_touch) or mostly_covered(case, pending.changes):
        return False
    if decision.conclusion is Conclusion.ALLOWED and not decision.best.kind.is_beyond_one:
        return False
    following = decide(replace(case, states=apply_turns(case.game, case.states, pending.turns)))
    if not _do_sides_fit(case, pending.turns):
        # They may fit that turn and whole turns after it, perhaps of the same piece.
        is_two = following.best.kind is ExplanationKind.TWO_TURNS and following.conclusion is Conclusion.ALLOWED
        later = product(following.best.first, following.best.second) if is_two else ()
        if not any(_do_sides_fit(case, (*pending.turns, *turns)) for turns in later):
            return False
    if following.conclusion is Conclusion.FORBIDDEN:
        # An object laid on its piece afterwards does not undo it.
        waiting = case.seen.visible_changes(case.base, pending.changes)
        return trigger is Trigger.TOUCH_RESTED and waiting < decision.shown
    return following.best.kind is not ExplanationKind.NOTHING


def _do_sides_fit(case: Case[StateT, TurnT], turns: Sequence[TurnT]) -> bool:
    """Return whether the side faces fit turns from any of the states that allow them."""
    for state in case.states:
        with suppress(IllegalTurnError):
            if side_contradiction(case.game, state, turns, case.seen) < case.settings.side:
                return True
    return False


def reading_of_turns(case: Case[StateT, TurnT], turns: Sequence[TurnT], pending: PendingTurn[TurnT]) -> PooledReading:
    """Return the reading that shows the accepted turns: the newest may also show what was done after them."""
    if pending.seen is None or len(turns) > 1:
        return case.seen
    after = apply_turn(case.game, case.states, turns[0])
    left = changes_between(case.base, case.game.table.appearance(after[0]))
    return pending.seen if left == pending.changes else case.seen
