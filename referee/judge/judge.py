"""The judge: compares what is believed with what is seen, and asks where it isn't certain.

It is a pure function: the same belief, readings and trigger always give the same belief and ruling.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from common.phrases import Phrase, listed, without_stop
from engine.api import StateT, TurnT
from engine.values import Breach
from referee.judge import faults, sentences
from referee.judge.assessment import Assessment, Judgement
from referee.judge.belief import Belief, PendingTurn
from referee.judge.decision import Conclusion
from referee.judge.evidence import sensors
from referee.judge.evidence.earlier_pictures import compare_with_earlier_pictures
from referee.judge.evidence.earlier_readings import given_earlier_readings
from referee.judge.explanations import ExplanationKind
from referee.judge.explorer import Changes, JudgeContext
from referee.judge.pooled_reading import PooledReading, pool
from referee.judge.resolution import (
    SideCheck,
    ends_game,
    resolve,
    resolve_first,
    same_piece_moves_on,
    was_ended_by_touch,
    weigh_sides,
)
from referee.judge.rolling import (
    following_dice_put_aside,
    has_next_player_rolled,
    judge_roll,
    judge_roll_before_turn_ended,
    remember_known_dice,
    resolve_by_dice,
)
from referee.judge.settings import Trigger
from referee.judge.turns import (
    accept,
    accept_unless_contradicted,
    answers_to_forbidden,
    find_two_written_turns,
    judge_unchanged,
    name_fault,
)
from referee.judge.verdict import Ruling, Verdict, VerdictKind
from vision.reading import Reading


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
        return _without_places(belief, VerdictKind.CANNOT_SEE, sentences.NOTHING_TO_SEE, seen)
    belief = belief.learn_misreadings(context, seen).after_looking(seen)
    earlier = belief.observations.earlier
    places = given_earlier_readings(seen.places, earlier, believed, handwritten=context.game.has_sheets)
    misread = frozenset(place for place, one in places.items() if one is not seen.places[place])
    seen = compare_with_earlier_pictures(
        game, replace(seen, places=places, settled=misread), belief.observations.pieces
    )
    outcomes = [game.rules.outcome(state) for state in belief.states]
    if outcomes[0] is not None and all(outcomes):
        over = Phrase("The game is over: {reason}.", outcomes[0].reason)
        return _without_places(belief, VerdictKind.UNCHANGED, over, seen)
    belief, notes = remember_known_dice(context, belief, seen.dice)
    given = _resolve_disputes(context, belief, seen.with_changes_since(belief.observations.since_s), trigger)
    given = following_dice_put_aside(given)
    answer = next(_answers(given))
    if answer.ruling.steps and given.seen.dice is not None:
        # The next player may have rolled before the turn was accepted; the press that ended it tells nothing of dice.
        after = Trigger.RESTED if trigger is Trigger.DECLARED else trigger
        roll = next(_answers_to_roll(Assessment.at(context, answer.belief, given.seen, after)), None)
        if roll is not None and roll.ruling.rolls:
            answer = answer.then(roll)
    ruling = replace(answer.ruling, notes=answer.ruling.notes + notes)
    return Judgement(answer.belief.with_asked_disputes(ruling, seen), ruling)


def _without_places(
    belief: Belief[StateT, TurnT], kind: VerdictKind, sentence: str, seen: PooledReading
) -> Judgement[StateT, TurnT]:
    return Judgement(belief, Ruling((Verdict(kind, sentence, seen.time_s, seen.sequence),)))


def _resolve_disputes(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading, trigger: Trigger
) -> Assessment[StateT, TurnT]:
    """Resolve disagreements about what the table shows, and assess the result."""
    believed = context.game.table.appearance(belief.states[0])
    disputes = belief.conversation.asked_disputes
    if trigger is Trigger.DECLARED and disputes & seen.disputed.keys():
        # A player who was asked and declares the turn again confirms the camera.
        belief, seen = replace(belief, set_aside=belief.set_aside - disputes), seen.trusting_camera()
    seen = seen.without_new_disputes(believed)
    set_aside = faults.still_differing(believed, belief.set_aside, seen)
    override = belief.override.after_look(believed, seen)
    belief = replace(belief, set_aside=set_aside, override=override)
    given = Assessment.at(context, belief, override.applied_to(seen, context.game.looks), trigger)
    if trigger is Trigger.DECLARED and override.asked and given.decision.shows_nothing:
        # A player who was asked and declares the turn again confirms that something was played there.
        override = override.without(override.asked)
        belief = replace(belief, override=override)
        given = Assessment.at(context, belief, override.applied_to(seen, context.game.looks), trigger)
    return given


def _answers(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Yield what could be said about a table; the first counts."""
    yield from _answers_to_roll(given)
    yield from _answers_to_sheets(given)
    pending = given.belief.pending
    was_touched = was_ended_by_touch(given.visible, pending, given.decision, given.trigger)
    # The touch is the next player's.
    if was_touched and not sensors.may_have_left(given.base, pending.changes, given.visible.seen):
        yield _with_rest(given, accept(given, pending.turns))
    yield from _answers_to_table(given)


def _answers_to_roll(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Judge a roll that was awaited; anything else the table shows was done after it."""
    answer, shows_nothing = judge_roll(given), given.decision.shows_nothing
    if answer is not None and answer.ruling.rolls:
        yield _with_rest(given, answer)
    if shows_nothing and (answer := answer or judge_roll_before_turn_ended(given)) is not None:
        yield answer


def _with_rest(
    given: Assessment[StateT, TurnT], accepted: Judgement[StateT, TurnT], trigger: Trigger | None = None
) -> Judgement[StateT, TurnT]:
    """Judge what else the table shows after something was accepted."""
    seen = given.seen.with_changes_since(accepted.belief.observations.since_s)
    after = Assessment.at(given.context, accepted.belief, seen, trigger or given.trigger)
    return accepted if after.decision.shows_nothing else accepted.then(next(_answers_to_table(after)))


def _answers_to_table(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Judge the table, but first whether a turn that was taken back is still there, which is shown quietly."""
    undone = frozenset() if given.declared else _undone_turns_shown(given)
    if undone:
        places = {place for part in undone for place, _ in part}
        if not any(places.isdisjoint(dict(part)) for part in given.context.by_sheet(given.decision.changes)):
            changed = given.places_of(given.decision.changes)
            said = sentences.taken_back(changed, written=given.game.has_sheets)
            yield given.quietly(said, changed, given.decision.changes)
        # Other sheets are judged as if it were erased.
        sheets = {given.context.sheet_of(place) for place in places}
        erased = [place for place in given.base if given.context.sheet_of(place) in sheets]
        seen = given.seen.assuming(given.base, erased, given.game.looks)
        answer = next(_answers_to_decision(Assessment.at(given.context, given.belief, seen, given.trigger)))
        talk = answer.belief.conversation
        talk = replace(talk, taken_back=talk.taken_back | undone)
        yield answer._replace(belief=replace(answer.belief, conversation=talk))
    yield from _answers_to_decision(given)


def _undone_turns_shown(given: Assessment[StateT, TurnT]) -> frozenset[Changes]:
    taken_back = given.belief.conversation.taken_back
    return sensors.undone_turns_shown(given, taken_back, given.decision) if taken_back else frozenset()


def _answers_to_decision(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Judge a table by what best explains it."""
    decision = given.decision
    if decision.conclusion is Conclusion.FORBIDDEN:
        yield from answers_to_forbidden(given)
    if decision.conclusion is Conclusion.UNDECIDED:
        if decision.places and given.out_of_sight.issuperset(decision.places):
            yield given.out_of_sight_at(decision.places)
        breaches: tuple[Breach, ...] = ()
        if given.game.has_sheets and decision.rather_illegal and given.trigger.names_faults:
            breaches = faults.find_breaches(given, decision.shown)
        yield given.undecided(given.trigger, breaches)
    conversation = replace(given.belief.conversation, unexplained=frozenset())
    if not _undone_turns_shown(given):
        # The turn taken back is off the table, so it may be played again.
        conversation = replace(conversation, taken_back=frozenset())
    given = given.with_belief(replace(given.belief, conversation=conversation))
    match decision.best.kind:
        case ExplanationKind.NOTHING:
            yield judge_unchanged(given)
        case ExplanationKind.PART:
            yield _judge_part(given)
        case ExplanationKind.TURN:
            yield _judge_turn(given)
        case _:
            yield from _answers_to_several_turns(given)


def _answers_to_sheets(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Judge each sheet by itself when several players wrote at once."""
    rules, answer = given.game.rules, Judgement(given.belief, Ruling(()))
    least = 2 if given.game.looks_before is None else 1
    if not given.trigger.accepts or len(rules.players_to_move(given.states[0])) < least:
        return
    changed = {place for place, _ in given.decision.shown}
    for player in rules.players_to_move(given.states[0]):
        state = answer.belief.states[0]
        believed = given.game.table.appearance(state)
        others = [place for place in believed if given.context.sheet_of(place) != player]
        if changed.issubset(others) or player not in rules.players_to_move(state):
            continue
        sheet = given.seen.assuming(believed, others, given.game.looks)
        alone = Assessment.at(given.context, answer.belief, sheet, given.trigger)
        if not alone.declared and _undone_turns_shown(alone):
            continue
        if alone.decision.conclusion is Conclusion.ALLOWED and alone.decision.best.kind is ExplanationKind.TURN:
            written = _judge_turn(alone)
        elif turns := find_two_written_turns(alone, player):
            written = accept(alone, turns)
        else:
            continue
        if written.ruling.steps:
            answer = answer.then(written)
    if answer.ruling.steps:
        yield _with_rest(given, answer)


def _judge_part(given: Assessment[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    given = given.with_belief(replace(given.belief, pending=PendingTurn()))
    best, decision = given.decision.best, given.decision
    if given.declared and (breaches := faults.find_breaches(given, best.changes)):
        return name_fault(given, breaches, best.changes, decision.margin)
    return given.quietly(best.instruction, best.touched, decision.shown)


def _judge_turn(given: Assessment[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    trigger, decision, seen = given.trigger, given.decision, given.seen
    resolved = resolve_by_dice(given, resolve(given, given.of_kind(ExplanationKind.TURN)))
    is_over = trigger.ends_by_touch and ends_game(given, resolved.turns)
    has_next_rolled = trigger.ends_by_touch and has_next_player_rolled(given, resolved)
    # A player who only brushed against stacks may still be thinking.
    moves_nothing = bool(resolved.turns) and not any(turn.places for turn in resolved.turns)
    is_ended = trigger.accepts and (given.declared or not moves_nothing)
    if not (is_ended or is_over or has_next_rolled):
        if trigger.ends_by_touch and resolved.turns:
            pending = PendingTurn(resolved.turns, decision.best.changes, seen)
            given = given.with_belief(replace(given.belief, pending=pending))
            sides = weigh_sides(given, resolved, decision.best, given.belief.set_aside)
            if trigger.names_faults and sides != SideCheck():
                return accept_unless_contradicted(given, resolved)
        # A thing that looks clearly like a piece too many may be one; unclear and disputed places can wait.
        margin = given.settings.margin
        clear = [at for at in decision.set_aside if at in seen.places and seen.places[at].certainty >= margin]
        return given.question_about(clear) if trigger.names_faults and clear else given.turn_waits(resolved)
    parts = given.of_kind(ExplanationKind.PART)
    if parts and not (given.declared or has_next_rolled):
        return given.may_go_on(parts[0].instruction, resolved)
    return accept_unless_contradicted(given, resolved) if resolved.turns else given.which_turn(resolved)


def _answers_to_several_turns(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    trigger, best, shown = given.trigger, given.decision.best, given.decision.shown
    same_kind, is_whole = given.of_kind(best.kind), best.kind is ExplanationKind.TWO_TURNS
    changed = given.places_of(shown)
    if not (trigger.accepts or trigger.ends_by_touch):
        yield given.quietly(Phrase("More than one turn seems to have been played."), changed, shown)
    if not is_whole and trigger.names_faults and same_piece_moves_on(given, same_kind):
        # It may also be one illegal move.
        described = without_stop(given.game.notation.describe(best.first[0]))
        said = Phrase(
            "{described}, and then the same piece moved on? If so: {instruction} If not, put it back, or say what was "
            "played.",
            described,
            best.instruction,
        )
        yield given.ask(said, changed, shown)
    if sensors.only_sensed(best.changes, given.seen) and not _camera_agrees(given):
        # More than one turn is never accepted from sensors alone. Where a touch ends a turn, three would be too many
        # to follow.
        if not (trigger.names_faults or trigger.ends_by_touch):
            yield given.not_a_turn_yet()
        places = changed or given.places_of(best.changes)
        said = Phrase(
            "More than one turn seems to have been played on {places}. Please say which (./run table turn).",
            listed(places),
        )
        yield given.ask(said, places, shown)
    resolved = resolve(given, same_kind) if is_whole else resolve_first(given, same_kind)
    if not resolved.turns:
        yield given.which_turn(resolved)
    have_ended = is_whole and trigger.accepts
    if have_ended and len(resolved.turns) > 1:
        yield accept_unless_contradicted(given, resolved)
    accepted = accept_unless_contradicted(given, resolved, most=1)
    # Nothing is said aloud about a second turn that has not ended yet.
    quiet = Trigger.TOUCH if trigger.ends_by_touch else Trigger.GLANCE
    yield _with_rest(given, accepted, trigger if have_ended else quiet) if accepted.ruling.steps else accepted


def _camera_agrees(given: Assessment[StateT, TurnT]) -> bool:
    """Return whether the same turns explain the table without the places that sensors alone know."""
    case = given.visible
    by_camera = case.without([place for place in case.seen.places if case.seen.only_sensed(place)])
    alone = sensors.decide_for_trigger(by_camera, given.trigger)
    camera_alone, seen = ({replace(one, score=0.0) for one in each.explanations} for each in (alone, given.decision))
    return alone.conclusion is Conclusion.ALLOWED and camera_alone == seen
