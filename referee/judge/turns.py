"""The judge's rules for turns: when one is accepted, a fault named, a question asked, or nothing new.

Functions with ``answers_to`` in their names are ordered tables of these rules: of the judgements they yield, the first
counts.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from common.phrases import Phrase, joined, without_stop
from engine.api import PossibleLooks, StateT, TurnT
from engine.showing import turns_showing
from engine.support.looks import Look
from engine.values import EMPTY, Appearance, Breach, LookName, Player
from referee.judge import sentences
from referee.judge.assessment import Assessment, Judgement
from referee.judge.belief import Conversation, PendingTurn
from referee.judge.decision import Conclusion
from referee.judge.evidence import sensors
from referee.judge.evidence.earlier_readings import readings_to_keep, with_later_readings
from referee.judge.explanations import ExplanationKind, looks_while_writing, more_turns_explain
from referee.judge.explorer import MOST_WEIGHED, Changes, JudgeContext, apply_turns
from referee.judge.faults import StandingFault, find_breaches, find_turned_pieces
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.resolution import (
    Resolved,
    SideCheck,
    advance,
    narrow_by_sides,
    reading_of_turns,
    resolve,
    weigh_sides,
)
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, Verdict, VerdictKind, places_named


def accept(
    given: Assessment[StateT, TurnT], turns: Sequence[TurnT], *, instead: tuple[StateT, ...] = ()
) -> Judgement[StateT, TurnT]:
    """Accept turns from the believed states, or from others ``instead``, for which the believed ones are withdrawn."""
    context, belief, decision = given.context, given.belief, given.decision
    ignored = instead or belief.states_ignoring_sides
    case = replace(given, states=instead or belief.states)
    left = reading_of_turns(case, turns, belief.pending)
    steps, dropped = advance(case.but_seen(left), turns)
    states = steps[-1].states
    before, after = case.base, case.game.table.appearance(states[0])
    places, handwritten = places_named(turns), context.game.has_sheets
    accepted = Verdict(
        VerdictKind.ACCEPTED,
        joined(given.described(turns)),
        given.seen.time_s,
        given.seen.sequence,
        turns=tuple(map(case.game.notation.format_turn, turns)),
        places=places,
        expected={place: before[place] for place in places},
        seen={place: after[place] for place in places},
        margin=decision.margin,
    )
    believed = belief.with_states(states, apply_turns(case.game, ignored, turns))
    since_s = sensors.last_sensor_change_s(before, after, given.seen, left.time_s)
    # What was done after these turns on one of their places is no misreading.
    shown_now = {**before, **dict(decision.best.changes)}
    as_left = [place for place in places if left is not given.seen or shown_now[place] == after[place]]
    kept = readings_to_keep(
        left.places, as_left if handwritten or not decision.set_aside else (), after, handwritten=handwritten
    )
    earlier = with_later_readings(belief.observations.earlier, kept, handwritten=handwritten)
    believed = replace(
        believed,
        # Another player's sheet may still show what was taken back.
        conversation=Conversation(taken_back=belief.open_take_backs(context, after, after)),
        set_aside=belief.set_aside | frozenset(decision.set_aside),
        override=belief.override.after_turns(places, after),
        observations=replace(believed.observations, since_s=since_s, earlier=earlier),
    ).distrust_sensors(left.sensed, after)
    believed = believed.remember_pieces(context, left.places)
    notes = tuple(map(sentences.dropped_sighting, dropped))
    ruling = Ruling((accepted,), steps, notes, instead)
    judgement = Judgement(believed, ruling)
    if decision.set_aside:
        judgement = judgement.then(given.with_belief(believed).question_about(decision.set_aside))
    return judgement


def _with_question_about_later_touch(
    context: JudgeContext[StateT, TurnT], accepted: Judgement[StateT, TurnT], seen: PooledReading
) -> Judgement[StateT, TurnT]:
    """Ask about a turn that sensors can't notice, where its piece was touched after an accepted turn."""
    later = seen.with_changes_since(accepted.belief.observations.since_s)
    if later.changes:
        given = Assessment.at(context, accepted.belief, later, Trigger.RESTED)
        decision, touched = given.decision, {change.place for change in later.changes}
        if decision.conclusion is Conclusion.UNDECIDED and decision.is_alike_to_sensors:
            return accepted.then(given.undecided(Trigger.DECLARED))
        if any(turn.places[0] in touched for one in decision.unsensed for turn in one.first):
            return accepted.then(given.unsensed())
    return accepted


def name_fault(
    given: Assessment[StateT, TurnT], breaches: Sequence[Breach], changes: Changes, margin: float
) -> Judgement[StateT, TurnT]:
    """Name a fault, or show it quietly while nobody has ended a turn."""
    changed = given.places_of(changes)
    if not _may_name(given, changes):
        places = places_named(breaches) or changed
        return given.quietly(sentences.not_a_turn_yet(places), places, changes, margin)
    sentence = sentences.fault(breaches)
    if any(look == PIECE for _, look in changes):
        sentence = Phrase("{fault} (I only sense which squares are occupied.)", sentence)
    places = tuple(dict.fromkeys([*places_named(breaches), *changed]))
    named = given.say(VerdictKind.ILLEGAL, sentence, places, dict(changes), margin, breaches=breaches)
    return named._replace(belief=replace(given.belief, fault=StandingFault(changes, named.ruling.verdict)))


def _may_name(given: Assessment[StateT, TurnT], changes: Changes) -> bool:
    """Return whether to name a fault: when a turn has ended, or when this fault was named before."""
    fault = given.belief.fault
    return given.trigger.names_faults or (fault is not None and fault.changes == changes)


def answers_to_forbidden(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Judge a table that no legal turn explains."""
    shown, conversation = given.decision.shown, given.belief.conversation
    # Nobody would stop for a quiet light, and each further turn makes it harder to tell what was played.
    went_on = given.trigger.ends_by_touch and 0 < len(conversation.unexplained) < len(shown)
    if went_on and _count_colours(given) != 1:
        yield given.unexplained()
    if not _may_name(given, shown):
        first = min(conversation.unexplained or shown, shown, key=len)
        unexplained = replace(given.belief, conversation=replace(conversation, unexplained=first))
        yield given.with_belief(unexplained).not_a_turn_yet()
    yield from _if_only_sides_forbid(given)
    # There can't be that many pieces.
    if not given.game.adds_pieces and sensors.too_many_sensed(given.base, shown):
        yield given.question_about(given.places_of(shown))
    # Nobody would exchange that many at once.
    exchanged = () if given.game.turns_pieces_over else _exchanged(given)
    if len(exchanged) > given.settings.most_exchanged:
        yield given.question_about(exchanged)
    if more_turns_explain(given.visible, shown):
        yield given.too_many_turns(shown)
    breaches = find_breaches(given, shown)
    yield name_fault(given, breaches, shown, given.decision.margin) if breaches else given.unexplained()


def _count_colours(given: Assessment[StateT, TurnT]) -> int:
    """Count the colours of the pieces that have changed."""
    looks = (each for place, after in given.decision.shown for each in (given.base[place], after) if each != PIECE)
    return len({piece.colour for each in looks if (piece := Look.parse(each)) is not None})


def _exchanged(given: Assessment[StateT, TurnT]) -> Sequence[str]:
    """Return the places that show other pieces than the likeliest turn leaves there."""
    shown, best = dict(given.decision.shown), dict(given.decision.best.changes)
    after, left = {**given.base, **shown}, {**given.base, **best}
    changed = (place for place in shown.keys() | best.keys() if after[place] != left[place])
    return given.context.in_order({place for place in changed if EMPTY not in {after[place], left[place]}})


def _if_only_sides_forbid(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Ask about a turn that only side faces seen earlier contradict; accept it when a player declares it again."""
    context, ignored = given.context, given.belief.states_ignoring_sides
    if ignored == given.states:
        return
    decision = sensors.decide_for_trigger(replace(given.visible, states=ignored), given.trigger)
    if decision.conclusion is not Conclusion.ALLOWED or decision.best.kind is not ExplanationKind.TURN:
        return
    given, changes = replace(given, decision=decision), decision.best.changes
    resolved = resolve(given, given.of_kind(ExplanationKind.TURN))
    if not resolved.turns or resolved.contradiction >= context.settings.turned:
        return
    if given.confirms(changes):
        yield accept(given, resolved.turns, instead=ignored)
    yield given.asking_about(changes).against_sides(resolved.turns)


def accept_unless_contradicted(
    given: Assessment[StateT, TurnT], resolved: Resolved[TurnT], most: int | None = None
) -> Judgement[StateT, TurnT]:
    """Accept the first ``most`` turns, unless the side faces seen contradict any of them."""
    return next(_answers_to_turns(given, resolved, most))


def _answers_to_turns(
    given: Assessment[StateT, TurnT], resolved: Resolved[TurnT], most: int | None
) -> Iterator[Judgement[StateT, TurnT]]:
    changes, turns, all_turns = given.decision.best.changes, resolved.turns[:most], resolved.turns
    check = weigh_sides(given, resolved, given.decision.best, given.belief.set_aside)
    asking, is_confirmed, is_over = given.asking_about(changes), given.confirms(changes), given.trigger.names_faults
    if check.breaches:
        yield name_fault(given, check.breaches, changes, resolved.contradiction)
    if not is_confirmed and sensors.may_have_left(given.base, changes, given.seen):
        left = sentences.left_the_board(joined(given.described(all_turns)))
        yield asking.doubt(all_turns, left) if is_over else given.not_a_turn_yet()
    # Where only sensors know of a turn, but all touches that they report are elsewhere, some may be broken.
    if sensors.touched_elsewhere(changes, turns, given.seen):
        yield given.which_sensed(turns) if is_over else given.not_a_turn_yet()
    if check == SideCheck(is_doubtful=is_confirmed and check.is_doubtful):
        yield _with_question_about_later_touch(given.context, accept(given, turns), given.seen)
    if is_confirmed and check.turned:
        yield accept(given, turns, instead=_states_facing_as_seen(given, check.turned))
    if not is_over:
        yield given.not_a_turn_yet()
    # A press can't confirm what the side faces rule out.
    if check.rules_out:
        if more_turns_explain(given.visible, changes):
            yield given.too_many_turns(changes)
        played = without_stop(joined(given.described(all_turns)))
        said = Phrase(
            "{played}? The sides don't fit: a piece was turned, or more than two turns were played. {say_so}",
            played,
            sentences.SAY_SO,
        )
        yield given.doubt(all_turns, said)
    if check.turned:
        yield asking.piece_turned(check.turned)
    yield asking.against_sides(all_turns)


def find_two_written_turns(given: Assessment[StateT, TurnT], player: Player) -> tuple[TurnT, ...]:
    """Return the two turns of a player that a sheet shows together, or only the first where the second is unclear.

    Empty unless exactly one first turn fits.
    """
    context, game, case = given.context, given.game, given.visible
    if game.looks_before is None or len(given.states) > 1:
        return ()
    if not _could_be_second_step(game.looks_before, given.base, case.could_be):
        return ()
    found: list[tuple[TurnT, ...]] = []
    for first in islice(turns_showing(game, given.states[0], looks_while_writing(case)), MOST_WEIGHED):
        after = game.rules.apply(given.states[0], first)
        if first.player != player or player not in game.rules.players_to_move(after):
            continue
        if not any(context.expand(after, case.could_be).by_changes):
            continue
        second = Assessment.at(context, given.belief.with_states((after,), (after,)), given.seen, given.trigger)
        best = second.decision.best
        if second.decision.conclusion is Conclusion.ALLOWED and best.kind is ExplanationKind.TURN:
            found.append((first, *resolve(given, (best,)).turns))
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


def judge_unchanged(given: Assessment[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    """Judge a table on which nothing seems to have happened."""
    belief, changes = given.belief, given.belief.pending.changes
    # An object laid on the piece of a waiting turn does not undo it.
    if not changes or given.seen.visible_changes(given.base, changes):
        belief = replace(belief, pending=PendingTurn())
    belief = belief.remember_pieces(given.context, given.seen.places, settled=False)
    return next(_answers_to_unchanged(given.with_belief(belief)))


def _answers_to_unchanged(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Yield what could be said; the first counts."""
    belief, decision, settings, fault = given.belief, given.decision, given.settings, given.belief.fault
    case, seen = given.visible, given.seen
    # A fault put back the wrong way round is named without waiting for the turn to end.
    trigger = given.trigger if fault is None or given.declared else Trigger.RESTED
    if turned := tuple(filter(given.has_seen_facing, find_turned_pieces(case, settings.turned))):
        yield name_fault(replace(given, trigger=trigger), turned, frozenset(), decision.margin)
    if trigger.names_faults and (turned := find_turned_pieces(case, settings.side)):
        about = frozenset((place, given.base[place]) for breach in turned for place in breach.places)
        # If a player declares again, they were not turned.
        yield _as_seen(given, turned) if given.confirms(about) else given.asking_about(about).piece_turned(turned)
    # Something may have happened on hidden places, except those that somebody was asked about or settled.
    hidden = [place for place in decision.unseen if place in given.out_of_sight - belief.set_aside]
    overruled = belief.overruled(given.context)
    as_before = sentences.unchanged(overruled)
    unchanged = given.say(VerdictKind.UNCHANGED, as_before, margin=decision.margin)
    if decision.set_aside and given.trigger.names_faults:
        yield given.with_belief(belief.distrust_sensors(seen.sensed, given.base)).question_about(decision.set_aside)
    if decision.set_aside:
        yield given.out_of_sight_at(hidden) if hidden else given.say(VerdictKind.UNCHANGED, as_before)
    may_ask = fault is None and given.trigger.names_faults
    if may_ask:
        yield from _questions(given)
    if fault is not None:
        # The fault may still be there where all of its places are hidden.
        covered = {place for place, _ in fault.changes} & given.out_of_sight
        if covered and not seen.visible_changes(given.base, fault.changes):
            yield given.out_of_sight_at(given.context.in_order(covered))
        yield given.with_belief(replace(belief, fault=None)).say(
            VerdictKind.PUT_RIGHT, sentences.put_right(overruled), fault.verdict.places, margin=decision.margin
        )
    if hidden:
        yield given.out_of_sight_at(hidden)
    # A player who declares the end of the turn passes, or forgoes what could still be written.
    if given.declared and len(given.states) == 1 and (turns := given.context.silent_turns(given.states[0])):
        yield accept(given, turns)
    if may_ask:
        # The sensor changes so far have led to nothing.
        settled = replace(belief, observations=replace(belief.observations, since_s=seen.time_s))
        yield unchanged._replace(belief=settled.distrust_sensors(seen.sensed, given.base))
    yield unchanged


def _states_facing_as_seen(given: Assessment[StateT, TurnT], turned: Sequence[Breach]) -> tuple[StateT, ...]:
    """Return the states without what side faces told, and with any facing of these pieces that even so can't be."""
    states, table = given.belief.states_ignoring_sides, given.game.table
    case = replace(given.visible, states=states)
    for place in places_named(find_turned_pieces(case, given.settings.side)):
        if place in places_named(turned):
            look = given.base[place]
            # A piece that is put down anew may face any way.
            lifted = [(table.amend(state, {place: EMPTY}), state.to_move) for state in states]
            states = tuple(table.amend(state, {place: look}, to_move) for state, to_move in lifted)
    return states


def _as_seen(given: Assessment[StateT, TurnT], turned: Sequence[Breach]) -> Judgement[StateT, TurnT]:
    """Believe that pieces were not turned: side faces seen earlier were misread, or a turn was seen wrongly."""
    ignored = _states_facing_as_seen(given, turned)
    states, _ = narrow_by_sides(replace(given, states=ignored))
    overruled = given.belief.overruled(given.context)
    kind, said = VerdictKind.UNCHANGED, sentences.unchanged(overruled)
    if given.belief.fault is not None:
        kind, said = VerdictKind.PUT_RIGHT, sentences.put_right(overruled)
    answer = given.with_belief(given.belief.with_states(states, ignored)).say(kind, said, margin=given.decision.margin)
    return answer._replace(ruling=replace(answer.ruling, withdrawn=states))


def _questions(given: Assessment[StateT, TurnT]) -> Iterator[Judgement[StateT, TurnT]]:
    """Ask about what may have happened unseen, while somebody waits for an answer and no fault is open."""
    seen, belief, override = given.seen, given.belief, given.belief.override
    if sensors.should_ask_about_unsensed(given.decision, seen, given.settings, given.trigger):
        yield given.unsensed()
    if len(seen.disputed) > 1:
        # The camera sees nothing new, but several sensors may report a turn.
        sensed = seen.trusting_sensors().without(override.ignored | belief.set_aside)
        decision = sensors.decide_for_trigger(given.but_seen(sensed), given.trigger)
        if decision.best.kind is not ExplanationKind.NOTHING and decision.conclusion is not Conclusion.FORBIDDEN:
            yield replace(given, decision=decision).question_about(tuple(seen.disputed))
    if override.places_to_ask:
        # They were hidden when a person named them.
        shown = frozenset((place, override.ignored_looks[place]) for place in override.places_to_ask)
        asked = replace(override, asked=override.asked | override.places_to_ask)
        places = given.places_of(shown)
        question = sentences.differs_from_correction(places)
        yield given.with_belief(replace(belief, override=asked)).ask(question, places, shown)
