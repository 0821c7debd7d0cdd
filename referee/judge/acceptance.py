"""From an explanation to accepted turns: what side faces say of them, and a turn that waits for a touch. Pure."""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Generic

from engine.api import EMPTY, Breach, Game, Place, StateT, TurnT
from engine.errors import IllegalTurnError
from referee.judge.decision import Conclusion, Decision, decide
from referee.judge.explanations import Changes, Explanation, ExplanationKind, against_sides, best_by_sides, sure_sides
from referee.judge.explorer import JudgeContext, applied, changes_between, narrowed
from referee.judge.faults import breaches_of, turned_in_place
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import AcceptedTurn


@dataclass(frozen=True)
class Resolved(Generic[TurnT]):
    """What an explanation comes down to: the turns in order, or the candidates that can't be told apart.

    ``against`` is by how many log-odds the side faces seen speak against the turns.
    """

    turns: tuple[TurnT, ...]
    candidates: tuple[TurnT, ...] = ()
    against: float = 0.0


def resolve(
    context: JudgeContext[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading
) -> Resolved[TurnT]:
    """Make one turn (or two in a row) of explanations that leave the same appearance.

    Look-alikes are told apart by the side faces seen, else combined into one turn that stands for all. Where that
    can't be done the result has no turns but candidates.
    """
    game, explorer, side = context.game, context.explorer, context.settings.side
    weighed: dict[tuple[TurnT, ...], float] = {}
    for one in explanations:
        last = one.second or one.first
        start = game.rules.apply(one.state, one.first[0]) if one.second else one.state
        kept = best_by_sides(game, start, last, seen, side)
        combined = explorer.combined(kept)
        if combined is None:
            return Resolved((), tuple(kept))
        sequence = (one.first[0], combined) if one.second else (combined,)
        against = against_sides(game, one.state, sequence, seen)
        weighed[sequence] = min(against, weighed.get(sequence, against))
    least = min(weighed.values())
    sequences = [sequence for sequence, against in weighed.items() if against < least + side]
    if len(sequences) == 1:
        return Resolved(sequences[0], against=least)
    if all(len(sequence) == 1 for sequence in sequences):
        combined = explorer.combined([sequence[0] for sequence in sequences])
        if combined is not None:
            return Resolved((combined,), against=least)
    return Resolved((), tuple(dict.fromkeys(turn for sequence in sequences for turn in sequence)))


def resolve_first(
    context: JudgeContext[StateT, TurnT], explanations: Sequence[Explanation[StateT, TurnT]], seen: PooledReading
) -> Resolved[TurnT]:
    """Make one turn of explanations by a turn and part of the next, which is not weighed."""
    firsts = tuple(dict.fromkeys(one.first[0] for one in explanations))
    if len(firsts) > 1:
        return Resolved((), firsts)
    # A piece that has gone on from where the turn left it says nothing of that turn.
    costs = [against_sides(context.game, one.state, one.first[:1], seen.without(one.touched)) for one in explanations]
    return Resolved(firsts, against=min(costs))


@dataclass(frozen=True)
class Advance(Generic[StateT]):
    """The belief after accepted turns: the states, the steps that led there, and sightings that were dropped."""

    states: tuple[StateT, ...]
    steps: tuple[AcceptedTurn, ...]
    dropped: tuple[Place, ...]


def advance(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT], seen: PooledReading | None
) -> Advance[StateT]:
    """Apply accepted turns, and narrow the last state by the side faces seen (none without ``seen``)."""
    game = context.game
    current = tuple(states)
    reached: list[tuple[TurnT, tuple[StateT, ...]]] = []
    for turn in turns:
        current = applied(game, current, turn)
        reached.append((turn, current))
    dropped: tuple[Place, ...] = ()
    if seen is not None:
        current, dropped = narrow_by_sides(context, current, seen)
        reached[-1] = (reached[-1][0], current)
    steps = tuple(
        AcceptedTurn(
            game.notation.format_turn(turn),
            turn.player,
            tuple(game.notation.format_state(state) for state in after),
            tuple(turn.places),
        )
        for turn, after in reached
    )
    return Advance(current, steps, dropped)


def end_the_game(game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT]) -> bool:
    """Say whether turns, if there are any, end the game from all of these states."""
    for turn in turns:
        states = applied(game, states, turn)
    return bool(turns) and bool(states) and all(game.rules.outcome(state) is not None for state in states)


def narrow_by_sides(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], seen: PooledReading
) -> tuple[tuple[StateT, ...], tuple[Place, ...]]:
    """Keep what agrees with the side faces that were surely seen; also give the places whose sighting was dropped.

    A sighting counts only where the top looks as believed: the sides of another piece say nothing.
    """
    game = context.game
    appearance = game.table.appearance(states[0])
    places = [
        place
        for place, look in appearance.items()
        if look != EMPTY and place in seen.places and seen.places[place].best == look
    ]
    return narrowed(game, states, sure_sides(seen, places, context.settings.side))


class Leaning(enum.Enum):
    """Which way the side faces speak."""

    FOR = "for"
    """For the turns, or not at all."""

    TURNED_BESIDES = "turned besides"
    """For the turns, but a piece elsewhere was turned where it stands."""

    DOUBTFUL = "doubtful"
    """Against the turns, but not beyond doubt."""

    BREAKS_A_RULE = "breaks a rule"
    """Against a single turn, beyond doubt, and the engine knows what was done instead."""

    RULED_OUT = "ruled out"
    """Against turns in a row, beyond doubt."""


@dataclass(frozen=True)
class Weighing:
    """Which way the side faces speak, and what they say was done besides or instead."""

    leaning: Leaning
    breaches: tuple[Breach, ...] = ()


def weigh(
    context: JudgeContext[StateT, TurnT],
    states: Sequence[StateT],
    resolved: Resolved[TurnT],
    explanation: Explanation[StateT, TurnT],
    seen: PooledReading,
    set_aside: frozenset[Place],
) -> Weighing:
    """Weigh turns that explain a table by the side faces seen on their places, and on all the others."""
    settings = context.settings
    if resolved.against >= settings.turned:
        if explanation.kind is not ExplanationKind.TURN:
            return Weighing(Leaning.RULED_OUT)
        breaches = breaches_of(context, states, explanation.changes, seen)
        if breaches:
            return Weighing(Leaning.BREAKS_A_RULE, breaches)
    of_turns = {place for turn in resolved.turns for place in turn.places}
    elsewhere = seen.without(set_aside | of_turns | set(explanation.touched))
    turned = turned_in_place(context, states, elsewhere, settings.side)
    if turned:
        return Weighing(Leaning.TURNED_BESIDES, turned)
    return Weighing(Leaning.FOR if resolved.against < settings.side else Leaning.DOUBTFUL)


def same_piece_goes_on(
    game: Game[StateT, TurnT], states: Sequence[StateT], explanations: Sequence[Explanation[StateT, TurnT]]
) -> bool:
    """Say whether the same player is to play again after these first turns, and has begun with the same piece."""
    after = [state for one in explanations for turn in one.first for state in applied(game, states, turn)]
    again = bool(after) and all(state.to_move == states[0].to_move for state in after)
    return again and any({*turn.places} & {*one.touched} for one in explanations for turn in one.first)


def least_against(
    game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT], seen: PooledReading
) -> float:
    """By how many log-odds the side faces seen speak against turns from the state that suits them best.

    Infinite when no state allows the turns.
    """
    least = math.inf
    for state in states:
        try:
            least = min(least, against_sides(game, state, turns, seen))
        except IllegalTurnError:
            continue
    return least


@dataclass(frozen=True)
class PendingTurn(Generic[TurnT]):
    """A whole turn that was seen at rest, what it changed, and the table it was seen on; no turns when none waits."""

    turns: tuple[TurnT, ...] = ()
    changes: Changes = frozenset()
    seen: PooledReading | None = None


def was_touched(
    context: JudgeContext[StateT, TurnT],
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
    game = context.game
    after = tuple(states)
    for turn in pending.turns:
        after = applied(game, after, turn)
    following = decide(context, after, seen)
    is_ruled_out = least_against(game, states, pending.turns, seen) >= context.settings.side
    if is_ruled_out and not _was_played_on(context, states, pending, following, seen):
        return False
    if following.conclusion is Conclusion.FORBIDDEN:
        # A thing laid on its piece since does not undo it.
        waited = seen.told(game.table.appearance(states[0]), pending.changes)
        return trigger is Trigger.TOUCH_RESTED and waited < decision.shown
    return following.best.kind is not ExplanationKind.NOTHING


def _was_played_on(
    context: JudgeContext[StateT, TurnT],
    states: Sequence[StateT],
    pending: PendingTurn[TurnT],
    following: Decision[StateT, TurnT],
    seen: PooledReading,
) -> bool:
    """Say whether the side faces fit whole turns that followed: they may have moved the waiting turn's piece again."""
    if following.conclusion is not Conclusion.ALLOWED or following.best.kind is not ExplanationKind.TWO_TURNS:
        return False
    return any(
        least_against(context.game, states, (*pending.turns, *turns), seen) < context.settings.side
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
