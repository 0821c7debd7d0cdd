"""What follows when turns are accepted: the belief moves on, and the ruling says what was played."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engine.api import StateT, TurnT
from referee.judge import sensor_evidence, sentences
from referee.judge.acceptance import advance
from referee.judge.belief import Belief
from referee.judge.decision import Conclusion
from referee.judge.explorer import Bench
from referee.judge.pending_turn import left_by
from referee.judge.pooled_reading import PooledReading
from referee.judge.rules.look import Answer, Look
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling
from referee.judge.verdict_factory import VerdictFactory


def accept(look: Look[StateT, TurnT], turns: Sequence[TurnT]) -> Answer[StateT, TurnT]:
    """Accept turns from what is believed."""
    return _accept_from(look, turns, look.states)


def accept_ignoring_sides(look: Look[StateT, TurnT], turns: Sequence[TurnT]) -> Answer[StateT, TurnT]:
    """Accept turns, and withdraw what side faces told before."""
    states = look.belief.states_ignoring_sides
    belief, ruling = _accept_from(look, turns, states)
    return belief, replace(ruling, withdrawn=tuple(look.game.notation.format_state(state) for state in states))


def _accept_from(
    look: Look[StateT, TurnT], turns: Sequence[TurnT], states: tuple[StateT, ...]
) -> Answer[StateT, TurnT]:
    bench, belief, decision, seen = look.bench, look.belief, look.decision, look.seen
    left = left_by(bench.game, states, turns, belief.pending, seen)
    moved = advance(bench, states, turns, left)
    before, after = bench.game.table.appearance(states[0]), bench.game.table.appearance(moved.states[0])
    accepted = look.tell.accepted(turns, moved, before, decision.margin, seen)
    believed = belief.believing(moved.states, advance(bench, belief.states_ignoring_sides, turns, None).states)
    since_s = sensor_evidence.last_sensed(before, after, seen, left.time_s)
    believed = replace(
        believed,
        set_aside=belief.set_aside | frozenset(decision.set_aside),
        override=belief.override.without(accepted.places),
        senses=replace(believed.senses, since_s=since_s),
    ).doubting(left.sensed, after)
    asked = decision.set_aside
    question = VerdictFactory(bench.game, believed.states).question_about
    questions = (question(asked, decision.shown, seen),) if asked else ()
    notes = tuple(sentences.dropped_sighting(place) for place in moved.dropped)
    return believed, Ruling((accepted, *questions), moved.steps, notes)


def sensed_after(bench: Bench[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading) -> Ruling:
    """Ask about a turn that left nothing to notice, where its piece was touched after an accepted turn."""
    later = seen.since(belief.senses.since_s)
    if not later.changes:
        return Ruling(())
    tell = VerdictFactory(bench.game, belief.states)
    decision = sensor_evidence.decide_as_asked(bench, belief.states, later.without(belief.set_aside), Trigger.RESTED)
    if decision.conclusion is Conclusion.UNDECIDED and decision.alike:
        return tell.undecided(decision, later, Trigger.DECLARED)
    touched = {change.place for change in later.changes}
    if any(turn.places[0] in touched for one in decision.unsensed for turn in one.first):
        return tell.unsensed(decision, later)
    return Ruling(())
