"""The judge: compares what is believed with what is seen, and asks where it isn't certain.

It is a pure function: the same belief, readings and trigger always give the same belief and ruling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.api import StateT, TurnT, WritesTogether
from engine.values import Breach, OptionValue
from referee.judge import faults, sentences
from referee.judge.acceptance import (
    PendingTurn,
    SideSupport,
    ends_game,
    resolve,
    resolve_first,
    same_piece_moves_on,
    was_ended_by_touch,
)
from referee.judge.belief import Belief
from referee.judge.decision import Conclusion
from referee.judge.evidence import sensors
from referee.judge.evidence.earlier_pictures import compare_with_earlier_pictures
from referee.judge.evidence.earlier_readings import given_earlier_readings, readings_to_keep
from referee.judge.explanations import Changes, Explanation, ExplanationKind
from referee.judge.explorer import JudgeContext, usual_appearance
from referee.judge.pooled_reading import PooledReading
from referee.judge.pooling import pool
from referee.judge.rules.look import Judgement, Look, first_judgement
from referee.judge.rules.rolling import (
    has_next_player_rolled,
    judge_roll,
    judge_roll_before_turn_ended,
    remember_known_dice,
    resolve_by_dice,
)
from referee.judge.rules.set_up import judge_set_up
from referee.judge.rules.turns import (
    accept,
    accept_unless_contradicted,
    check_sides,
    find_two_written_turns,
    judge_forbidden,
    name_fault,
)
from referee.judge.rules.unchanged import judge_unchanged
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, VerdictKind
from referee.judge.verdict_factory import VerdictFactory
from vision.reading import Reading


def begin(
    context: JudgeContext[StateT, TurnT],
    belief: Belief[StateT, TurnT],
    readings: Sequence[Reading],
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,
    trigger: Trigger = Trigger.RESTED,
) -> Judgement[StateT, TurnT]:
    """Take the set-up from readings of a resting table.

    The ruling is *set up* for a legal start, *illegal* with its breaches for any other, *ambiguous* when a place can't
    be read, *cannot see* when places are hidden. While the trigger names no faults,
    *not finished* replaces *illegal* and *ambiguous*, and with ``anywhere`` also *set up*, since more pieces may be on
    their way. Raises OptionError for a bad option.
    """
    places = tuple(usual_appearance(context.game, options))
    seen = pool(readings, places, context.game.looks, context.settings.probability_floor)
    # A player who was asked and declares the set-up done again confirms the camera.
    confirmed = belief.conversation.asked_disputes if trigger is Trigger.DECLARED else frozenset()
    result = judge_set_up(context, seen, options, anywhere=anywhere, trigger=trigger, confirmed=confirmed)
    belief = _asked_disputes(replace(belief, observations=belief.observations.after_looking(seen)), result.ruling, seen)
    if result.states:
        belief = belief.with_states(result.states, result.states_ignoring_sides)
        believed = context.game.table.appearance(result.states[0])
        handwritten = context.has_sheets
        read = tuple(believed) if handwritten else result.misread
        earlier = readings_to_keep(seen.places, read, believed, handwritten=handwritten)
        observations = replace(belief.observations, earlier=earlier)
        belief = (
            replace(belief, observations=observations)
            .doubting_sensors(seen.sensed, believed)
            .with_pieces_of(context, seen.places)
        )
        belief, _ = remember_known_dice(context, belief, seen.dice)
    return belief, result.ruling


def judge(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], readings: Sequence[Reading], trigger: Trigger
) -> Judgement[StateT, TurnT]:
    """Judge readings of one resting table; return the new belief and the ruling.

    Raises ValueError before the set-up or without readings.
    """
    if not belief.states:
        raise ValueError("there is no belief to judge from; call begin with the set-up, or override_belief, first")
    game = context.game
    believed = game.table.appearance(belief.states[0])
    seen = pool(readings, tuple(believed), game.looks, context.settings.probability_floor, belief.observations.doubted)
    seen = seen.with_earlier_disputes(belief.observations.disputed)
    verdicts = VerdictFactory(game, belief.states)
    belief = replace(belief, observations=belief.observations.after_sensing(seen))
    if not seen.places:
        return belief, verdicts.ruling(VerdictKind.CANNOT_SEE, sentences.nothing_to_see(), seen)
    belief = belief.with_misreadings_told(context, seen)
    belief = replace(belief, observations=belief.observations.after_looking(seen))
    earlier = belief.observations.earlier
    places = given_earlier_readings(seen.places, earlier, believed, handwritten=context.has_sheets)
    seen = replace(seen, places=places)
    seen = compare_with_earlier_pictures(game, seen, belief.observations.pieces)
    outcomes = [game.rules.outcome(state) for state in belief.states]
    if outcomes[0] is not None and all(outcomes):
        return belief, verdicts.ruling(VerdictKind.UNCHANGED, sentences.game_over(outcomes[0].reason), seen)
    belief, notes = remember_known_dice(context, belief, seen.dice)
    look = _resolve_disputes(context, belief, seen.with_changes_since(belief.observations.since_s), trigger)
    belief, ruling = first_judgement(_RULES, look)
    if ruling.steps and look.seen.dice is not None:
        # The next player may have rolled before the turn was accepted; the press that ended it tells nothing of dice.
        after = Trigger.RESTED if trigger is Trigger.DECLARED else trigger
        answer = _judge_roll(Look.at(context, belief, look.seen, after))
        if answer is not None and answer[1].rolls:
            belief, ruling = answer[0], ruling.then(answer[1])
    ruling = replace(ruling, notes=ruling.notes + notes)
    return _asked_disputes(belief, ruling, seen), ruling


def _asked_disputes(belief: Belief[StateT, TurnT], ruling: Ruling, seen: PooledReading) -> Belief[StateT, TurnT]:
    """Remember which disagreements between camera and sensors a question is about."""
    asked = {place for one in ruling.verdicts if one.kind is VerdictKind.AMBIGUOUS for place in one.places}
    if not asked:
        return belief
    disputes = frozenset(asked & seen.disputed.keys())
    return replace(belief, conversation=replace(belief.conversation, asked_disputes=disputes))


def _resolve_disputes(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading, trigger: Trigger
) -> Look[StateT, TurnT]:
    """Resolve disagreements about what the table shows, and look at the result."""
    believed = context.game.table.appearance(belief.states[0])
    disputes = belief.conversation.asked_disputes
    if trigger is Trigger.DECLARED and disputes & seen.disputed.keys():
        # A player who was asked and declares the turn again confirms the camera.
        belief, seen = replace(belief, set_aside=belief.set_aside - disputes), seen.trusting_camera()
    seen = seen.without_new_disputes(believed)
    set_aside = faults.still_differing(believed, belief.set_aside, seen)
    override = belief.override.after_look(believed, seen)
    belief = replace(belief, set_aside=set_aside, override=override)
    look = Look.at(context, belief, seen.without(override.ignored), trigger)
    if trigger is Trigger.DECLARED and override.asked and look.decision.shows_nothing:
        # A player who was asked and declares the turn again confirms that something was played there.
        override = override.without(override.asked)
        look = Look.at(context, replace(belief, override=override), seen.without(override.ignored), trigger)
    return look


def _judge_roll(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Judge a roll that was awaited; anything else the table shows was done after it."""
    answer = judge_roll(look)
    if answer is None or not answer[1].rolls:
        return (answer or judge_roll_before_turn_ended(look)) if look.decision.shows_nothing else None
    belief, more = _judge_rest(look, answer[0], look.trigger)
    return belief, answer[1].then(more)


def _accept_waiting_turn(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Accept a waiting turn that was ended by a touch, and judge the touch as the next player's."""
    pending = look.belief.pending
    if not was_ended_by_touch(look.context, look.states, pending, look.decision, look.visible, look.trigger):
        return None
    if sensors.may_have_left(look.believed, pending.changes, look.visible):
        return None
    belief, ruling = accept(look, pending.turns)
    belief, more = _judge_rest(look, belief, look.trigger)
    return belief, ruling.then(more)


def _judge_rest(look: Look[StateT, TurnT], belief: Belief[StateT, TurnT], trigger: Trigger) -> Judgement[StateT, TurnT]:
    """Judge what else the table shows after an accepted turn."""
    after = Look.at(look.context, belief, look.seen.with_changes_since(belief.observations.since_s), trigger)
    if after.decision.shows_nothing:
        return belief, Ruling(())
    return first_judgement((_undone_turn_still_shown, _forbidden, _undecided, _judge_by_kind), after)


def _forbidden(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    return judge_forbidden(look) if look.decision.conclusion is Conclusion.FORBIDDEN else None


def _undone_turn_still_shown(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Quietly show that a turn which was taken back is still there; other sheets are judged as if it were erased."""
    undone = _undone_turns_shown(look)
    if look.declared or not undone:
        return None
    places = {place for part in undone for place, _ in part}
    if not any(places.isdisjoint(dict(part)) for part in look.context.by_sheet(look.decision.changes)):
        return look.belief, look.verdicts.taken_back(look.decision, look.seen)
    sheets = {look.context.sheet_of(place) for place in places}
    erased = [place for place in look.believed if look.context.sheet_of(place) in sheets]
    seen = look.seen.assuming(look.believed, erased, look.game.looks)
    others = Look.at(look.context, look.belief, seen, look.trigger)
    belief, ruling = first_judgement((_forbidden, _undecided, _judge_by_kind), others)
    conversation = replace(belief.conversation, refused=belief.conversation.refused | undone)
    return replace(belief, conversation=conversation), ruling


def _undone_turns_shown(look: Look[StateT, TurnT]) -> frozenset[Changes]:
    refused = look.belief.conversation.refused
    if not refused:
        return frozenset()
    return sensors.undone_turns_shown(look.context, look.believed, refused, look.decision, look.seen)


def _undecided(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    if look.decision.conclusion is not Conclusion.UNDECIDED:
        return None
    places = look.decision.places
    if places and look.out_of_sight.issuperset(places):
        return look.belief, look.verdicts.out_of_sight(places, look.decision.shown, look.seen)
    breaches: tuple[Breach, ...] = ()
    if look.context.has_sheets and look.decision.rather_illegal and look.trigger.names_faults:
        breaches = faults.find_breaches(look.context, look.states, look.decision.shown, look.seen)
    return look.belief, look.verdicts.undecided(look.decision, look.seen, look.trigger, breaches)


def _judge_by_kind(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Judge a table where it is certain what has happened."""
    conversation = replace(look.belief.conversation, unexplained=frozenset())
    if not _undone_turns_shown(look):
        # The turn taken back is off the table, so it may be played again.
        conversation = replace(conversation, refused=frozenset())
    look = look.with_belief(replace(look.belief, conversation=conversation))
    match look.decision.best.kind:
        case ExplanationKind.NOTHING:
            return judge_unchanged(look)
        case ExplanationKind.PART:
            return _judge_part(look)
        case ExplanationKind.TURN:
            return _judge_turn(look)
        case ExplanationKind.TURN_AND_PART | ExplanationKind.TWO_TURNS:
            return first_judgement((_wait_quietly, _same_piece_moves_on, _only_sensed, _judge_turns_in_a_row), look)


def _judge_each_sheet(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Judge each sheet by itself when several players wrote at once."""
    rules, belief, ruling = look.game.rules, look.belief, Ruling(())
    least = 1 if isinstance(look.game.table, WritesTogether) else 2
    if not look.trigger.accepts or len(rules.players_to_move(look.states[0])) < least:
        return None
    changed = {place for place, _ in look.decision.shown}
    for player in rules.players_to_move(look.states[0]):
        believed = look.game.table.appearance(belief.states[0])
        others = [place for place in believed if look.context.sheet_of(place) != player]
        if changed.issubset(others) or player not in rules.players_to_move(belief.states[0]):
            continue
        sheet = look.seen.assuming(believed, others, look.game.looks)
        alone = Look.at(look.context, belief, sheet, look.trigger)
        if not alone.declared and _undone_turns_shown(alone):
            continue
        if alone.decision.conclusion is Conclusion.ALLOWED and alone.decision.best.kind is ExplanationKind.TURN:
            after, said = _judge_turn(alone)
        else:
            turns = find_two_written_turns(alone, player)
            after, said = accept(alone, turns) if turns else (belief, Ruling(()))
        if said.steps:
            belief, ruling = after, ruling.then(said)
    if not ruling.steps:
        return None
    belief, more = _judge_rest(look, belief, look.trigger)
    return belief, ruling.then(more)


_RULES = (
    _judge_roll,
    _judge_each_sheet,
    _accept_waiting_turn,
    _undone_turn_still_shown,
    _forbidden,
    _undecided,
    _judge_by_kind,
)


def _judge_part(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    look = look.with_belief(replace(look.belief, pending=PendingTurn()))
    best, decision = look.decision.best, look.decision
    if look.declared:
        breaches = faults.find_breaches(look.context, look.states, best.changes, look.seen)
        if breaches:
            return name_fault(look, breaches, best.changes, decision.margin)
    return look.belief, look.verdicts.not_finished(best.to_do, best.touched, decision.shown, look.seen, decision.margin)


def _of_kind(look: Look[StateT, TurnT], kind: ExplanationKind) -> tuple[Explanation[StateT, TurnT], ...]:
    return tuple(one for one in look.decision.explanations if one.kind is kind)


def _judge_turn(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    trigger, decision, seen = look.trigger, look.decision, look.seen
    resolved = resolve_by_dice(look, resolve(look.context, _of_kind(look, ExplanationKind.TURN), seen))
    is_over = trigger.ends_by_touch and ends_game(look.game, look.states, resolved.turns)
    has_next_rolled = trigger.ends_by_touch and has_next_player_rolled(look, resolved)
    # A player who only brushed against stacks may still be thinking.
    moves_nothing = bool(resolved.turns) and not any(turn.places for turn in resolved.turns)
    is_ended = trigger.accepts and (look.declared or not moves_nothing)
    if not (is_ended or is_over or has_next_rolled):
        if trigger.ends_by_touch and resolved.turns:
            pending = PendingTurn(resolved.turns, decision.best.changes, seen)
            look = look.with_belief(replace(look.belief, pending=pending))
            if trigger.names_faults and check_sides(look, resolved).support is not SideSupport.SUPPORTED:
                return accept_unless_contradicted(look, resolved)
        # A thing that looks clearly like a piece too many may be one; unclear and disputed places can wait.
        margin = look.context.settings.margin
        clear = [at for at in decision.set_aside if at in seen.places and seen.places[at].certainty >= margin]
        if look.trigger.names_faults and clear:
            return look.belief, look.verdicts.question_about(clear, decision.shown, seen)
        return look.belief, look.verdicts.turn_waits(resolved, decision, seen)
    parts = _of_kind(look, ExplanationKind.PART)
    if parts and not (look.declared or has_next_rolled):
        return look.belief, look.verdicts.pending(sentences.may_go_on(parts[0].to_do), resolved, decision, seen)
    if not resolved.turns:
        return look.belief, look.verdicts.which_turn(resolved, decision, seen)
    return accept_unless_contradicted(look, resolved)


def _wait_quietly(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Wait while more than one turn was played and nobody has ended any."""
    if look.trigger.accepts or look.trigger.ends_by_touch:
        return None
    shown = look.decision.shown
    return look.belief, look.verdicts.not_finished(
        sentences.several_turns(), look.verdicts.places_of(shown), shown, look.seen, look.decision.margin
    )


def _same_piece_moves_on(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask when the same piece moved on: it may also be one illegal move."""
    kind = look.decision.best.kind
    if kind is ExplanationKind.TWO_TURNS or not look.trigger.names_faults:
        return None
    if not same_piece_moves_on(look.game, look.states, _of_kind(look, kind)):
        return None
    return look.belief, look.verdicts.piece_moved_on(look.decision, look.seen)


def _only_sensed(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask: more than one turn is never accepted from sensors alone.

    Where a touch ends a turn it is asked aloud at once, since three turns would be too many to follow.
    """
    if not sensors.only_sensed(look.decision.best.changes, look.seen) or _camera_agrees(look):
        return None
    if not (look.trigger.names_faults or look.trigger.ends_by_touch):
        return look.belief, look.not_a_turn_yet()
    return look.belief, look.verdicts.several_turns_sensed(look.decision, look.seen)


def _camera_agrees(look: Look[StateT, TurnT]) -> bool:
    """Return whether the same turns explain the table without the places that sensors alone know."""
    visible = look.visible
    without = visible.without([place for place in visible.places if visible.only_sensed(place)])
    alone = sensors.decide_for_trigger(look.context, look.states, without, look.trigger)
    camera_alone, seen = ({replace(one, score=0.0) for one in each.explanations} for each in (alone, look.decision))
    return alone.conclusion is Conclusion.ALLOWED and camera_alone == seen


def _judge_turns_in_a_row(look: Look[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    kind = look.decision.best.kind
    alike = _of_kind(look, kind)
    whole = kind is ExplanationKind.TWO_TURNS
    resolved = resolve(look.context, alike, look.seen) if whole else resolve_first(look.context, alike, look.seen)
    if not resolved.turns:
        return look.belief, look.verdicts.which_turn(resolved, look.decision, look.seen)
    have_ended = whole and look.trigger.accepts
    if have_ended and len(resolved.turns) > 1:
        return accept_unless_contradicted(look, resolved)
    belief, ruling = accept_unless_contradicted(look, resolved, most=1)
    if not ruling.steps:
        return belief, ruling
    # Nothing is said aloud about a second turn that has not ended yet.
    quiet = Trigger.TOUCH if look.trigger.ends_by_touch else Trigger.GLANCE
    belief, more = _judge_rest(look, belief, look.trigger if have_ended else quiet)
    return belief, ruling.then(more)
