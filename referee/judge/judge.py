"""The judge: compares what is believed with what is seen, and asks where it isn't certain.

It is a pure function: the same belief, readings and trigger always give the same belief and ruling.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.api import StateT, TurnT
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
from referee.judge.explorer import JudgeContext
from referee.judge.pooled_reading import PooledReading, pool
from referee.judge.rules.glance import Glance, Judgement, first_judgement
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
from referee.judge.starts import usual_appearance
from referee.judge.verdict import Ruling, Verdict, VerdictKind
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
    be read, *cannot see* when places are hidden. While the trigger names no faults, *not finished* replaces *illegal*
    and *ambiguous*, and with ``anywhere`` also *set up*, since more pieces may be on their way. Raises OptionError for
    a bad option.
    """
    places = tuple(usual_appearance(context.game, options))
    seen = pool(readings, places, context.game.looks, context.settings.probability_floor)
    # A player who was asked and declares the set-up done again confirms the camera.
    confirmed = belief.conversation.asked_disputes if trigger is Trigger.DECLARED else frozenset()
    result = judge_set_up(context, seen, options, anywhere=anywhere, trigger=trigger, confirmed=confirmed)
    belief = _asked_disputes(belief.after_looking(seen), result.ruling, seen)
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
    belief = belief.after_sensor_changes(readings[-1].changes if readings else ())
    seen = pool(readings, tuple(believed), game.looks, context.settings.probability_floor, belief.observations.doubted)
    seen = seen.with_earlier_disputes(belief.observations.disputed)
    belief = belief.after_sensing(seen)
    if not seen.places:
        return belief, _without_places(VerdictKind.CANNOT_SEE, sentences.nothing_to_see(), seen)
    belief = belief.with_misreadings_told(context, seen).after_looking(seen)
    earlier = belief.observations.earlier
    places = given_earlier_readings(seen.places, earlier, believed, handwritten=context.has_sheets)
    seen = replace(seen, places=places)
    seen = compare_with_earlier_pictures(game, seen, belief.observations.pieces)
    outcomes = [game.rules.outcome(state) for state in belief.states]
    if outcomes[0] is not None and all(outcomes):
        return belief, _without_places(VerdictKind.UNCHANGED, sentences.game_over(outcomes[0].reason), seen)
    belief, notes = remember_known_dice(context, belief, seen.dice)
    glance = _resolve_disputes(context, belief, seen.with_changes_since(belief.observations.since_s), trigger)
    belief, ruling = first_judgement(_RULES, glance)
    if ruling.steps and glance.seen.dice is not None:
        # The next player may have rolled before the turn was accepted; the press that ended it tells nothing of dice.
        after = Trigger.RESTED if trigger is Trigger.DECLARED else trigger
        answer = _judge_roll(Glance.at(context, belief, glance.seen, after))
        if answer is not None and answer[1].rolls:
            belief, ruling = answer[0], ruling.then(answer[1])
    ruling = replace(ruling, notes=ruling.notes + notes)
    return _asked_disputes(belief, ruling, seen), ruling


def _without_places(kind: VerdictKind, sentence: str, seen: PooledReading) -> Ruling:
    return Ruling((Verdict(kind, sentence, seen.time_s, seen.sequence),))


def _asked_disputes(belief: Belief[StateT, TurnT], ruling: Ruling, seen: PooledReading) -> Belief[StateT, TurnT]:
    """Remember which disagreements between camera and sensors a question is about."""
    asked = {place for one in ruling.verdicts if one.kind is VerdictKind.AMBIGUOUS for place in one.places}
    if not asked:
        return belief
    disputes = frozenset(asked & seen.disputed.keys())
    return replace(belief, conversation=replace(belief.conversation, asked_disputes=disputes))


def _resolve_disputes(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading, trigger: Trigger
) -> Glance[StateT, TurnT]:
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
    glance = Glance.at(context, belief, seen.without(override.ignored), trigger)
    if trigger is Trigger.DECLARED and override.asked and glance.decision.shows_nothing:
        # A player who was asked and declares the turn again confirms that something was played there.
        override = override.without(override.asked)
        glance = Glance.at(context, replace(belief, override=override), seen.without(override.ignored), trigger)
    return glance


def _judge_roll(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Judge a roll that was awaited; anything else the table shows was done after it."""
    answer = judge_roll(glance)
    if answer is None or not answer[1].rolls:
        return (answer or judge_roll_before_turn_ended(glance)) if glance.decision.shows_nothing else None
    belief, more = _judge_rest(glance, answer[0], glance.trigger)
    return belief, answer[1].then(more)


def _accept_waiting_turn(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Accept a waiting turn that was ended by a touch, and judge the touch as the next player's."""
    pending = glance.belief.pending
    if not was_ended_by_touch(glance.context, glance.states, pending, glance.decision, glance.visible, glance.trigger):
        return None
    if sensors.may_have_left(glance.believed, pending.changes, glance.visible):
        return None
    belief, ruling = accept(glance, pending.turns)
    belief, more = _judge_rest(glance, belief, glance.trigger)
    return belief, ruling.then(more)


def _judge_rest(
    glance: Glance[StateT, TurnT], belief: Belief[StateT, TurnT], trigger: Trigger
) -> Judgement[StateT, TurnT]:
    """Judge what else the table shows after an accepted turn."""
    after = Glance.at(glance.context, belief, glance.seen.with_changes_since(belief.observations.since_s), trigger)
    if after.decision.shows_nothing:
        return belief, Ruling(())
    return first_judgement((_undone_turn_still_shown, _forbidden, _undecided, _judge_by_kind), after)


def _forbidden(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    return judge_forbidden(glance) if glance.decision.conclusion is Conclusion.FORBIDDEN else None


def _undone_turn_still_shown(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Quietly show that a turn which was taken back is still there; other sheets are judged as if it were erased."""
    undone = _undone_turns_shown(glance)
    if glance.declared or not undone:
        return None
    places = {place for part in undone for place, _ in part}
    if not any(places.isdisjoint(dict(part)) for part in glance.context.by_sheet(glance.decision.changes)):
        return glance.belief, glance.verdicts.taken_back()
    sheets = {glance.context.sheet_of(place) for place in places}
    erased = [place for place in glance.believed if glance.context.sheet_of(place) in sheets]
    seen = glance.seen.assuming(glance.believed, erased, glance.game.looks)
    others = Glance.at(glance.context, glance.belief, seen, glance.trigger)
    belief, ruling = first_judgement((_forbidden, _undecided, _judge_by_kind), others)
    conversation = replace(belief.conversation, taken_back=belief.conversation.taken_back | undone)
    return replace(belief, conversation=conversation), ruling


def _undone_turns_shown(glance: Glance[StateT, TurnT]) -> frozenset[Changes]:
    taken_back = glance.belief.conversation.taken_back
    if not taken_back:
        return frozenset()
    return sensors.undone_turns_shown(glance.context, glance.believed, taken_back, glance.decision, glance.seen)


def _undecided(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    if glance.decision.conclusion is not Conclusion.UNDECIDED:
        return None
    places = glance.decision.places
    if places and glance.out_of_sight.issuperset(places):
        return glance.belief, glance.verdicts.out_of_sight(places)
    breaches: tuple[Breach, ...] = ()
    if glance.context.has_sheets and glance.decision.rather_illegal and glance.trigger.names_faults:
        breaches = faults.find_breaches(glance.context, glance.states, glance.decision.shown, glance.seen)
    return glance.belief, glance.verdicts.undecided(glance.trigger, breaches)


def _judge_by_kind(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Judge a table where it is certain what has happened."""
    conversation = replace(glance.belief.conversation, unexplained=frozenset())
    if not _undone_turns_shown(glance):
        # The turn taken back is off the table, so it may be played again.
        conversation = replace(conversation, taken_back=frozenset())
    glance = glance.with_belief(replace(glance.belief, conversation=conversation))
    match glance.decision.best.kind:
        case ExplanationKind.NOTHING:
            return judge_unchanged(glance)
        case ExplanationKind.PART:
            return _judge_part(glance)
        case ExplanationKind.TURN:
            return _judge_turn(glance)
        case ExplanationKind.TURN_AND_PART | ExplanationKind.TWO_TURNS:
            return first_judgement((_wait_quietly, _same_piece_moves_on, _only_sensed, _judge_turns_in_a_row), glance)


def _judge_each_sheet(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Judge each sheet by itself when several players wrote at once."""
    rules, belief, ruling = glance.game.rules, glance.belief, Ruling(())
    least = 2 if glance.game.looks_before is None else 1
    if not glance.trigger.accepts or len(rules.players_to_move(glance.states[0])) < least:
        return None
    changed = {place for place, _ in glance.decision.shown}
    for player in rules.players_to_move(glance.states[0]):
        believed = glance.game.table.appearance(belief.states[0])
        others = [place for place in believed if glance.context.sheet_of(place) != player]
        if changed.issubset(others) or player not in rules.players_to_move(belief.states[0]):
            continue
        sheet = glance.seen.assuming(believed, others, glance.game.looks)
        alone = Glance.at(glance.context, belief, sheet, glance.trigger)
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
    belief, more = _judge_rest(glance, belief, glance.trigger)
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


def _judge_part(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    glance = glance.with_belief(replace(glance.belief, pending=PendingTurn()))
    best, decision = glance.decision.best, glance.decision
    if glance.declared:
        breaches = faults.find_breaches(glance.context, glance.states, best.changes, glance.seen)
        if breaches:
            return name_fault(glance, breaches, best.changes, decision.margin)
    return glance.belief, glance.verdicts.not_finished(best.instruction, best.touched, decision.shown, decision.margin)


def _of_kind(glance: Glance[StateT, TurnT], kind: ExplanationKind) -> tuple[Explanation[StateT, TurnT], ...]:
    return tuple(one for one in glance.decision.explanations if one.kind is kind)


def _judge_turn(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    trigger, decision, seen = glance.trigger, glance.decision, glance.seen
    resolved = resolve_by_dice(glance, resolve(glance.context, _of_kind(glance, ExplanationKind.TURN), seen))
    is_over = trigger.ends_by_touch and ends_game(glance.game, glance.states, resolved.turns)
    has_next_rolled = trigger.ends_by_touch and has_next_player_rolled(glance, resolved)
    # A player who only brushed against stacks may still be thinking.
    moves_nothing = bool(resolved.turns) and not any(turn.places for turn in resolved.turns)
    is_ended = trigger.accepts and (glance.declared or not moves_nothing)
    if not (is_ended or is_over or has_next_rolled):
        if trigger.ends_by_touch and resolved.turns:
            pending = PendingTurn(resolved.turns, decision.best.changes, seen)
            glance = glance.with_belief(replace(glance.belief, pending=pending))
            if trigger.names_faults and check_sides(glance, resolved).support is not SideSupport.SUPPORTED:
                return accept_unless_contradicted(glance, resolved)
        # A thing that looks clearly like a piece too many may be one; unclear and disputed places can wait.
        margin = glance.context.settings.margin
        clear = [at for at in decision.set_aside if at in seen.places and seen.places[at].certainty >= margin]
        if glance.trigger.names_faults and clear:
            return glance.belief, glance.verdicts.question_about(clear, decision.shown)
        return glance.belief, glance.verdicts.turn_waits(resolved)
    parts = _of_kind(glance, ExplanationKind.PART)
    if parts and not (glance.declared or has_next_rolled):
        return glance.belief, glance.verdicts.pending(sentences.may_go_on(parts[0].instruction), resolved)
    if not resolved.turns:
        return glance.belief, glance.verdicts.which_turn(resolved)
    return accept_unless_contradicted(glance, resolved)


def _wait_quietly(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Wait while more than one turn was played and nobody has ended any."""
    if glance.trigger.accepts or glance.trigger.ends_by_touch:
        return None
    shown = glance.decision.shown
    return glance.belief, glance.verdicts.not_finished(
        sentences.several_turns(), glance.verdicts.places_of(shown), shown, glance.decision.margin
    )


def _same_piece_moves_on(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask when the same piece moved on: it may also be one illegal move."""
    kind = glance.decision.best.kind
    if kind is ExplanationKind.TWO_TURNS or not glance.trigger.names_faults:
        return None
    if not same_piece_moves_on(glance.game, glance.states, _of_kind(glance, kind)):
        return None
    return glance.belief, glance.verdicts.piece_moved_on()


def _only_sensed(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask: more than one turn is never accepted from sensors alone.

    Where a touch ends a turn it is asked aloud at once, since three turns would be too many to follow.
    """
    if not sensors.only_sensed(glance.decision.best.changes, glance.seen) or _camera_agrees(glance):
        return None
    if not (glance.trigger.names_faults or glance.trigger.ends_by_touch):
        return glance.belief, glance.verdicts.not_a_turn_yet()
    return glance.belief, glance.verdicts.several_turns_sensed()


def _camera_agrees(glance: Glance[StateT, TurnT]) -> bool:
    """Return whether the same turns explain the table without the places that sensors alone know."""
    visible = glance.visible
    without = visible.without([place for place in visible.places if visible.only_sensed(place)])
    alone = sensors.decide_for_trigger(glance.context, glance.states, without, glance.trigger)
    camera_alone, seen = ({replace(one, score=0.0) for one in each.explanations} for each in (alone, glance.decision))
    return alone.conclusion is Conclusion.ALLOWED and camera_alone == seen


def _judge_turns_in_a_row(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    kind = glance.decision.best.kind
    alike = _of_kind(glance, kind)
    whole = kind is ExplanationKind.TWO_TURNS
    resolved = (
        resolve(glance.context, alike, glance.seen) if whole else resolve_first(glance.context, alike, glance.seen)
    )
    if not resolved.turns:
        return glance.belief, glance.verdicts.which_turn(resolved)
    have_ended = whole and glance.trigger.accepts
    if have_ended and len(resolved.turns) > 1:
        return accept_unless_contradicted(glance, resolved)
    belief, ruling = accept_unless_contradicted(glance, resolved, most=1)
    if not ruling.steps:
        return belief, ruling
    # Nothing is said aloud about a second turn that has not ended yet.
    quiet = Trigger.TOUCH if glance.trigger.ends_by_touch else Trigger.GLANCE
    belief, more = _judge_rest(glance, belief, glance.trigger if have_ended else quiet)
    return belief, ruling.then(more)
