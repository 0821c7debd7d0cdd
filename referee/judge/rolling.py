"""The judge's rules for dice: a roll on the table, and dice touched after they were read."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from common.phrases import Phrase
from engine.api import Dice, StateT, TurnT
from engine.showing import silent_turns
from engine.support.chance import format_roll
from referee.judge import sentences
from referee.judge.assessment import Assessment, Judgement
from referee.judge.belief import Belief
from referee.judge.dice import SeenDice, names_of, rank_rolls, score_of, shortfall
from referee.judge.explorer import JudgeContext, apply_turn
from referee.judge.resolution import Resolved
from referee.judge.turns import accept
from referee.judge.verdict import AcceptedRoll, Ruling, VerdictKind

_MOST_NAMED = 4


def judge_roll(given: Assessment[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Accept a roll on the table where one is awaited.

    Dice that already lay there are not a roll, nor are those that were only pushed aside, nor dice of which some lie as
    before, unless exactly the others are as many as are to be rolled. Each die must rest, flat and in sight, and the
    roll must lead the next one by the margin. Where dice have names, only those of the player who rolls count.
    """
    rules, seen, known = given.game.dice, given.seen.dice, given.belief.dice
    if rules is None or seen is None or known is None or not awaits_roll(given.context, given.belief):
        return None
    # People tell what they drew.
    dice = SeenDice() if given.game.to_draw(given.states[0]) else _of_mover(given.context, given.belief, seen)
    return next(_answers_to_dice(given, rules, dice, known), None) if dice.dice else None


def _answers_to_dice(
    given: Assessment[StateT, TurnT], rules: Dice[StateT], every: SeenDice, every_known: SeenDice
) -> Iterator[Judgement[StateT, TurnT]]:
    """Yield what could be said about dice that may be the awaited roll; the first counts."""
    dice, known = _without_left_over(given, rules, every, every_known)
    match, belief, settings = dice.against(known.ever), given.belief, given.settings
    # A bump, or a misread face, hardly changes two faces.
    if not match.lies_elsewhere and match.count - match.same_face < 2:
        if given.declared:
            yield _quietly(
                given, Phrase("The dice lie as before. Please roll them, or say what was rolled (./run table roll).")
            )
        return
    ranked = rank_rolls(given.game, given.states[0], dice, settings.probability_floor)
    if not dice.rests or not ranked:
        numbers = (len(one.roll.faces) for one in rules.possible_rolls(given.states[0]))
        yield _quietly(given, sentences.no_roll_yet(dice.leaning, match.count, max(numbers, default=match.count)))
    # They may not have been rolled; but one of several may land as one lay that was picked up.
    if match.untouched and (dice.against(known).untouched or match.untouched >= min(2, match.count // 2)):
        yield _quietly(given, sentences.some_dice_lay_there(match.untouched))
    best, text = ranked[0], format_roll(ranked[0].roll)
    # They may only have been put aside.
    lay = _of_mover(given.context, belief, known)
    before = [each for each in (lay, lay.ever) if dice.against(each).is_same_roll]
    if not given.declared and not all(dice.must_be_thrown_since(each) for each in before):
        yield _quietly(
            given, Phrase("The dice show {roll}, as before. Press the button if they were rolled again.", text)
        )
    lead = best.score - max((one.score for one in ranked[1:]), default=-math.inf)
    if (behind := shortfall(dice, best)) > 0:
        # They can't be a roll.
        lead = -behind
    if lead >= settings.margin:
        states = tuple(rules.rolled(state, best.roll) for state in belief.states)
        ignoring_sides = tuple(rules.rolled(state, best.roll) for state in belief.states_ignoring_sides)
        lying = every.with_others(every_known)
        said = given.say(VerdictKind.ACCEPTED, given.game.roll_sentence(belief.states[0], best.roll), margin=lead)
        verdict = replace(said.ruling.verdict, roll=text)
        belief = replace(belief, states=states, states_ignoring_sides=ignoring_sides, dice=lying, fault=None)
        yield Judgement(belief, Ruling((verdict,), rolls=(AcceptedRoll(best.roll, states),)))
    near = [one for one in ranked if best.score - one.score < settings.margin]
    candidates = tuple(format_roll(one.roll) for one in near[:_MOST_NAMED])
    if not given.trigger.names_faults:
        yield _quietly(given, sentences.which_roll(candidates))
    asked = given.say(VerdictKind.AMBIGUOUS, sentences.which_roll(candidates)).ruling.verdict
    yield Judgement(given.belief, Ruling((replace(asked, candidates=candidates),)))


def following_dice_put_aside(given: Assessment[StateT, TurnT]) -> Assessment[StateT, TurnT]:
    """Remember where the dice of other players than the mover lie, while nothing else changes: they are not rolled yet.

    Once something was played, they may be their next roll.
    """
    seen, known, game = given.seen.dice, given.belief.dice, given.game
    if seen is None or known is None or game.dice_names is None or not given.decision.shows_nothing:
        return given
    own = names_of(game, given.states[0])
    others, lay = (SeenDice(tuple(die for die in each.dice if die.name not in own)) for each in (seen, known))
    if not (others.rests and others.against(lay).is_same_roll):
        return given
    return given.with_belief(replace(given.belief, dice=others.surest(lay, given.settings.margin).with_others(known)))


def _without_left_over(
    given: Assessment[StateT, TurnT], rules: Dice[StateT], dice: SeenDice, known: SeenDice
) -> tuple[SeenDice, SeenDice]:
    """Leave out dice that lie as before from these and the known ones if only the others can be the roll.

    Near the end of a game fewer dice are rolled, and one that nobody took may stay where it was.
    """
    fresh = dice.against(known.ever).fresh
    if given.game.dice_names is not None or not 0 < len(fresh) < len(dice.dice):
        return dice, known
    numbers = {len(one.roll.faces) for one in rules.possible_rolls(given.states[0])}
    is_rest_rolled = len(fresh) in numbers and len(dice.dice) not in numbers
    others = SeenDice(known.against(dice).fresh, SeenDice(known.vanished).against(dice).fresh)
    return (SeenDice(fresh), others) if is_rest_rolled else (dice, known)


def judge_roll_before_turn_ended(given: Assessment[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Accept a new roll while players may still write; they then forgo it."""
    seen, known = given.seen.dice, given.belief.dice
    if (
        seen is None
        or known is None
        or len(given.states) > 1
        or not (seen.rests and seen.against(known.ever).is_rolled)
    ):
        return None
    # While somebody may still write, dice that show the same were rather put out of the way.
    turns = silent_turns(given.game, given.states[0])
    if not turns or (seen.against(known.ever).is_same_roll and not given.declared):
        return None
    forgone = accept(given, turns)
    answer = judge_roll(Assessment.at(given.context, forgone.belief, given.seen, given.trigger))
    return forgone.then(answer) if answer is not None and answer.ruling.rolls else None


def has_next_player_rolled(given: Assessment[StateT, TurnT], resolved: Resolved[TurnT]) -> bool:
    """Return whether the next player has rolled, which ends a waiting turn as a touch does."""
    after = apply_turn(given.game, given.states, (resolved.turns or resolved.candidates)[0])
    answer = judge_roll(given.with_belief(given.belief.with_states(after))) if after else None
    return answer is not None and bool(answer.ruling.rolls)


def _of_mover(context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], dice: SeenDice) -> SeenDice:
    """Return the dice of the player to move where the game names dice, all of them otherwise."""
    return dice.with_names(names_of(context.game, belief.states[0]))


def awaits_roll(context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT]) -> bool:
    """Return whether dice must be rolled, whichever of the believed states is the case."""
    return all(context.game.awaits_roll(state) for state in belief.states)


def _quietly(given: Assessment[StateT, TurnT], sentence: str) -> Judgement[StateT, TurnT]:
    return given.quietly(sentence, (), frozenset(), 0.0)


def resolve_by_dice(given: Assessment[StateT, TurnT], resolved: Resolved[TurnT]) -> Resolved[TurnT]:
    """Of turns that look alike, choose the one that leaves the dice that still lie there.

    Dice that can't be read by themselves may still tell: each turn leaves some of the known roll. If somebody turned a
    die, the dice tell nothing.
    """
    rules, dice, margin = given.game.dice, given.seen.dice, given.settings.margin
    if rules is None or dice is None or not resolved.candidates or len(given.states) > 1:
        return resolved
    if (dice.dice and not dice.rests) or _was_die_turned(given):
        return resolved
    rolls = {turn: rules.roll_of(given.game.rules.apply(given.states[0], turn)) for turn in resolved.candidates}
    left = {turn: () if roll is None else tuple(sorted(roll.faces)) for turn, roll in rolls.items()}
    scores = {faces: score_of(dice, faces) for faces in left.values()}
    best = max(scores, key=lambda faces: scores[faces])
    next_one = max((score for faces, score in scores.items() if faces != best), default=-math.inf)
    if scores[best] - next_one < margin or score_of(dice, dice.faces) - scores[best] > margin:
        return resolved
    fitting = tuple(turn for turn, faces in left.items() if faces == best)
    return Resolved(fitting) if len(fitting) == 1 else resolved


def _was_die_turned(given: Assessment[StateT, TurnT]) -> bool:
    """Return whether the dice as they lay last clearly don't show the roll: somebody turned one after it was read."""
    rules, known = given.game.dice, given.belief.dice
    roll = None if rules is None else rules.roll_of(given.states[0])
    if roll is None or known is None:
        return False
    lay = known.ever
    return lay.is_sure(given.settings.margin) and not Counter(roll.faces) <= Counter(lay.faces)


def remember_known_dice(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], dice: SeenDice | None
) -> tuple[Belief[StateT, TurnT], tuple[str, ...]]:
    """Remember dice that are not a new roll: those at the first look, and those of the roll in use.

    A die nudged or turned after it was read does not change the roll; a remark says so.
    """
    if dice is None:
        return belief, ()
    known = belief.dice
    if known is None:
        return (replace(belief, dice=dice) if dice.rests or not dice.dice else belief), ()
    rules = context.game.dice
    roll = None if rules is None else rules.roll_of(belief.states[0])
    own, before = (_of_mover(context, belief, every) for every in (dice, known))
    told = SeenDice() if roll is None else SeenDice().with_typed_roll(roll, names_of(context.game, belief.states[0]))
    margin = context.settings.margin
    lying = own.surest(before, margin).with_others(known)
    if own.rests and before.in_sight.against(own).is_remainder and own.against(told).is_same_roll:
        # A die that was taken lies there again, or a roll that a person told came in sight.
        return replace(belief, dice=lying), ()
    lies_as_before = bool(dice.dice) and not dice.against(known.ever).fresh
    if context.game.dice_names is None and (dice.against(known.ever).is_remainder or lies_as_before):
        # Dice that were picked up may land where they lay before; a hand over them uncovers them as they lay.
        return replace(belief, dice=dice.remembering(known)), ()
    if roll is None or (own.dice and not own.rests):
        return belief, ()
    if len(own.dice) != len(before.dice):
        return belief, ()
    match = own.against(before)
    # Unnamed dice that lie elsewhere may be the next player's roll.
    if match.is_rolled and context.game.dice_names is None:
        return belief, ()
    is_new = not match.is_same_roll and own.is_sure(margin)
    notes = (Phrase("The dice were touched. The roll that counts is {roll}.", format_roll(roll)),) if is_new else ()
    return replace(belief, dice=replace(lying, vanished=known.vanished)), notes
