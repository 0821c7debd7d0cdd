"""The judge's rules for changes on the table: accept a turn, name a fault or ask a question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Generic

from engine.api import PossibleLooks, StateT, TurnT
from engine.showing import turns_showing
from engine.support.looks import Look
from engine.values import EMPTY, Appearance, Breach, LookName, Player
from referee.judge import sentences
from referee.judge.acceptance import Resolved, SideCheck, SideSupport, advance, reading_of_turns, resolve, weigh_sides
from referee.judge.belief import Belief, Conversation
from referee.judge.decision import Conclusion
from referee.judge.evidence import sensors
from referee.judge.evidence.earlier_readings import readings_to_keep, with_later_readings
from referee.judge.explanations import Changes, ExplanationKind, worth_weighing
from referee.judge.explorer import MOST_WEIGHED, JudgeContext
from referee.judge.faults import StandingFault, find_breaches
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.rules.glance import Glance, Judgement, first_judgement
from referee.judge.sequences import looks_while_writing, more_turns_explain
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, places_named


def accept(glance: Glance[StateT, TurnT], turns: Sequence[TurnT]) -> Judgement[StateT, TurnT]:
    """Accept turns from the believed states."""
    return _accept_from(glance, turns, glance.states)


def accept_ignoring_sides(glance: Glance[StateT, TurnT], turns: Sequence[TurnT]) -> Judgement[StateT, TurnT]:
    """Accept turns, and withdraw what earlier side faces told."""
    states = glance.belief.states_ignoring_sides
    belief, ruling = _accept_from(glance, turns, states)
    return belief, replace(ruling, withdrawn=states)


def _accept_from(
    glance: Glance[StateT, TurnT], turns: Sequence[TurnT], states: tuple[StateT, ...]
) -> Judgement[StateT, TurnT]:
    context, belief, decision, seen = glance.context, glance.belief, glance.decision, glance.seen
    left = reading_of_turns(context.game, states, turns, belief.pending, seen)
    moved = advance(context, states, turns, left)
    before, after = context.game.table.appearance(states[0]), context.game.table.appearance(moved.states[0])
    accepted = glance.verdicts.accepted(turns, moved, before, decision.margin)
    believed = belief.with_states(moved.states, advance(context, belief.states_ignoring_sides, turns, None).states)
    since_s = sensors.last_sensor_change_s(before, after, seen, left.time_s)
    # What was done after these turns on one of their places is no misreading.
    shown_now = {**before, **dict(decision.best.changes)}
    as_left = [place for place in accepted.places if left is not seen or shown_now[place] == after[place]]
    handwritten = context.has_sheets
    certain = as_left if handwritten or not decision.set_aside else ()
    kept = readings_to_keep(left.places, certain, after, handwritten=handwritten)
    earlier = with_later_readings(belief.observations.earlier, kept, handwritten=handwritten)
    believed = replace(
        believed,
        # Another player's sheet may still show what was taken back.
        conversation=Conversation(taken_back=belief.still_taken_back(context, after, after)),
        set_aside=belief.set_aside | frozenset(decision.set_aside),
        override=belief.override.without(accepted.places),
        observations=replace(believed.observations, since_s=since_s, earlier=earlier),
    ).doubting_sensors(left.sensed, after)
    believed = believed.with_pieces_of(context, left.places)
    notes = tuple(sentences.dropped_sighting(place) for place in moved.dropped)
    ruling = Ruling((accepted,), moved.steps, notes)
    if decision.set_aside:
        verdicts = glance.with_belief(believed).verdicts
        ruling = ruling.then(verdicts.question_about(decision.set_aside, decision.shown))
    return believed, ruling


def _ask_about_later_touch(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading
) -> Ruling:
    """Ask about a turn that sensors can't notice, where its piece was touched after an accepted turn."""
    later = seen.with_changes_since(belief.observations.since_s)
    if not later.changes:
        return Ruling(())
    glance = Glance.at(context, belief, later, Trigger.RESTED)
    decision = glance.decision
    if decision.conclusion is Conclusion.UNDECIDED and decision.alike:
        return glance.verdicts.undecided(Trigger.DECLARED)
    touched = {change.place for change in later.changes}
    if any(turn.places[0] in touched for one in decision.unsensed for turn in one.first):
        return glance.verdicts.unsensed()
    return Ruling(())


def judge_forbidden(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Judge a table that no legal turn explains."""
    rules = (
        _played_on,
        _not_ended_yet,
        _against_sides_only,
        _too_many_pieces,
        _too_many_exchanged,
        _too_many_turns,
        _fault,
    )
    return first_judgement(rules, glance)


def name_fault(
    glance: Glance[StateT, TurnT], breaches: Sequence[Breach], changes: Changes, margin: float
) -> Judgement[StateT, TurnT]:
    """Name a fault, or show it quietly while nobody has ended a turn."""
    if not _may_name(glance, changes):
        places = places_named(breaches) or glance.verdicts.places_of(changes)
        return glance.belief, glance.verdicts.not_finished(sentences.not_a_turn_yet(places), places, changes, margin)
    ruling = glance.verdicts.illegal(breaches, changes, margin)
    return replace(glance.belief, fault=StandingFault(changes, ruling.verdict)), ruling


def _may_name(glance: Glance[StateT, TurnT], changes: Changes) -> bool:
    """Return whether to name a fault: when a turn has ended, or when this fault was named before."""
    fault = glance.belief.fault
    return glance.trigger.names_faults or (fault is not None and fault.changes == changes)


def _played_on(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask once more than one colour has changed and play went on after changes that no turn explained.

    Nobody would stop for a quiet light, and each further turn makes it harder to tell what was played.
    """
    shown, before = glance.decision.shown, glance.belief.conversation.unexplained
    if not glance.trigger.ends_by_touch or not before or len(shown) <= len(before):
        return None
    looks = (each for place, after in shown for each in (glance.believed[place], after) if each != PIECE)
    if len({piece.colour for each in looks if (piece := Look.parse(each)) is not None}) == 1:
        return None
    return glance.belief, glance.verdicts.unexplained()


def _not_ended_yet(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    shown, conversation = glance.decision.shown, glance.belief.conversation
    if _may_name(glance, shown):
        return None
    first = min(conversation.unexplained or shown, shown, key=len)
    belief = replace(glance.belief, conversation=replace(conversation, unexplained=first))
    return belief, glance.verdicts.not_a_turn_yet()


def _against_sides_only(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask about a turn that only side faces contradict; accept it when a player declares it again."""
    belief, context = glance.belief, glance.context
    if belief.states_ignoring_sides == belief.states:
        return None
    decision = sensors.decide_for_trigger(context, belief.states_ignoring_sides, glance.visible, glance.trigger)
    if decision.conclusion is not Conclusion.ALLOWED or decision.best.kind is not ExplanationKind.TURN:
        return None
    turns = tuple(one for one in decision.explanations if one.kind is ExplanationKind.TURN)
    resolved = resolve(context, turns, glance.seen)
    if not resolved.turns or resolved.contradiction >= context.settings.turned:
        return None
    glance, changes = replace(glance, decision=decision), decision.best.changes
    if glance.confirms(changes):
        return accept_ignoring_sides(glance, resolved.turns)
    return belief.with_question(changes), glance.verdicts.doubted(resolved, sentences.against_sides)


def _too_many_pieces(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where sensors report more pieces than there can be."""
    shown = glance.decision.shown
    if glance.game.adds_pieces or not sensors.too_many_sensed(glance.believed, shown):
        return None
    return glance.belief, glance.verdicts.question_about(glance.verdicts.places_of(shown), shown)


def _too_many_exchanged(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where more pieces seem exchanged than anybody would exchange at once, unless turns turn them over."""
    if glance.game.turns_pieces_over:
        return None
    shown, best = dict(glance.decision.shown), dict(glance.decision.best.changes)
    left = {**glance.believed, **best}
    exchanged = {
        place
        for place in shown.keys() | best.keys()
        if EMPTY not in (seen := shown.get(place, glance.believed[place]), left[place]) and seen != left[place]
    }
    if len(exchanged) <= glance.context.settings.most_exchanged:
        return None
    return glance.belief, glance.verdicts.question_about(glance.context.in_order(exchanged), glance.decision.shown)


def _too_many_turns(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    shown = glance.decision.shown
    if not more_turns_explain(glance.context, glance.states, shown, glance.visible):
        return None
    return glance.belief, glance.verdicts.too_many_turns(shown)


def _fault(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Name the rules that were broken; ask where none explains the changes."""
    shown = glance.decision.shown
    breaches = find_breaches(glance.context, glance.states, shown, glance.seen)
    if not breaches:
        return glance.belief, glance.verdicts.unexplained()
    return name_fault(glance, breaches, shown, glance.decision.margin)


@dataclass(frozen=True)
class _TurnCase(Generic[StateT, TurnT]):
    """Turns about to be accepted, the first ``most`` of them, and whether the side faces support them."""

    glance: Glance[StateT, TurnT]
    resolved: Resolved[TurnT]
    side_check: SideCheck
    most: int | None

    @property
    def changes(self) -> Changes:
        return self.glance.decision.best.changes

    @property
    def turns(self) -> tuple[TurnT, ...]:
        return self.resolved.turns[: self.most]

    @property
    def is_confirmed(self) -> bool:
        return self.glance.confirms(self.changes)


def check_sides(glance: Glance[StateT, TurnT], resolved: Resolved[TurnT]) -> SideCheck:
    """Weigh turns by the side faces seen."""
    return weigh_sides(
        glance.context, glance.states, resolved, glance.decision.best, glance.seen, glance.belief.set_aside
    )


def accept_unless_contradicted(
    glance: Glance[StateT, TurnT], resolved: Resolved[TurnT], most: int | None = None
) -> Judgement[StateT, TurnT]:
    """Accept the first ``most`` turns, unless the side faces seen contradict any of them."""
    rules = (
        _breaks_a_rule,
        _may_have_left,
        _touched_elsewhere,
        _accepted,
        _accepted_ignoring_sides,
        _wait_for_end,
        _ruled_out,
        _turned_besides,
        _against_sides,
    )
    return first_judgement(rules, _TurnCase(glance, resolved, check_sides(glance, resolved), most))


def _breaks_a_rule(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    if case.side_check.support is not SideSupport.BREAKS_A_RULE:
        return None
    return name_fault(case.glance, case.side_check.breaches, case.changes, case.resolved.contradiction)


def _may_have_left(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where a piece left the board but a sensor may have missed it; a second declaration confirms it."""
    glance = case.glance
    if case.is_confirmed or not sensors.may_have_left(glance.believed, case.changes, glance.seen):
        return None
    if not glance.trigger.names_faults:
        return glance.belief, glance.verdicts.not_a_turn_yet()
    belief = glance.belief.with_question(case.changes)
    return belief, glance.verdicts.doubted(case.resolved, sentences.left_the_board)


def _touched_elsewhere(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where only sensors know of a turn, but all touches that they report are elsewhere: some may be broken."""
    glance = case.glance
    if not sensors.touched_elsewhere(case.changes, case.turns, glance.seen):
        return None
    if not glance.trigger.names_faults:
        return glance.belief, glance.verdicts.not_a_turn_yet()
    return glance.belief, glance.verdicts.which_sensed(case.turns)


def _accepted(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    support = case.side_check.support
    if support is not SideSupport.SUPPORTED and not (support is SideSupport.DOUBTFUL and case.is_confirmed):
        return None
    belief, ruling = accept(case.glance, case.turns)
    return belief, ruling.then(_ask_about_later_touch(case.glance.context, belief, case.glance.seen))


def _accepted_ignoring_sides(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    if case.side_check.support is not SideSupport.PIECE_TURNED or not case.is_confirmed:
        return None
    return accept_ignoring_sides(case.glance, case.turns)


def _wait_for_end(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    return None if case.glance.trigger.names_faults else (case.glance.belief, case.glance.verdicts.not_a_turn_yet())


def _ruled_out(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask what stands where: a press can't confirm what the side faces rule out."""
    glance = case.glance
    if case.side_check.support is not SideSupport.RULED_OUT:
        return None
    if more_turns_explain(glance.context, glance.states, case.changes, glance.visible):
        return glance.belief, glance.verdicts.too_many_turns(case.changes)
    return glance.belief, glance.verdicts.doubted(case.resolved, sentences.ruled_out_by_sides)


def _turned_besides(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    glance = case.glance
    if case.side_check.support is not SideSupport.PIECE_TURNED:
        return None
    return glance.belief.with_question(case.changes), glance.verdicts.piece_turned(case.side_check.breaches)


def _against_sides(case: _TurnCase[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    glance = case.glance
    belief = glance.belief.with_question(case.changes)
    return belief, glance.verdicts.doubted(case.resolved, sentences.against_sides)


def find_two_written_turns(glance: Glance[StateT, TurnT], player: Player) -> tuple[TurnT, ...]:
    """Return the two turns of a player that a sheet shows together, or only the first where the second is unclear.

    Empty unless exactly one first turn fits.
    """
    context, game = glance.context, glance.game
    if game.looks_before is None or len(glance.states) > 1:
        return ()
    could_be = worth_weighing(context, glance.visible)
    if not _could_be_second_step(game.looks_before, glance.believed, could_be):
        return ()
    found: list[tuple[TurnT, ...]] = []
    for first in islice(turns_showing(game, glance.states[0], looks_while_writing(context, could_be)), MOST_WEIGHED):
        after = game.rules.apply(glance.states[0], first)
        if first.player != player or player not in game.rules.players_to_move(after):
            continue
        if not any(context.explorer.expand(after, could_be).by_changes):
            continue
        second = Glance.at(context, glance.belief.with_states((after,), (after,)), glance.seen, glance.trigger)
        best = second.decision.best
        if second.decision.conclusion is Conclusion.ALLOWED and best.kind is ExplanationKind.TURN:
            found.append((first, *resolve(context, (best,), glance.seen).turns))
            if len(found) > 1:
                return ()
    return found[0] if found else ()


def _could_be_second_step(
    looks_before: Callable[[LookName], tuple[LookName, ...]], believed: Appearance, could_be: PossibleLooks
) -> bool:
    """Return whether some cell could show something new that is written in two steps, such as a digit in a loop."""
    return any(
        look != believed[place] and looks_before(look)
        for place, looks in could_be.items()
        if place in believed
        for look in looks
    )
