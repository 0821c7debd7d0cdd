"""The judge's rules for dice: a roll on the table, and dice touched after they were read."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import Generic

from engine.api import Dice, StateT, TurnT
from engine.showing import silent_turns
from engine.support.chance import format_roll
from referee.judge import sentences
from referee.judge.acceptance import Resolved
from referee.judge.belief import Belief
from referee.judge.dice import ScoredRoll, SeenDice, names_of, rank_rolls, score_of, shortfall
from referee.judge.explorer import JudgeContext, apply_turn
from referee.judge.rules.glance import Glance, Judgement, first_judgement
from referee.judge.rules.turns import accept
from referee.judge.verdict import AcceptedRoll, Ruling, Verdict, VerdictKind


@dataclass(frozen=True)
class _RollCase(Generic[StateT, TurnT]):
    """Dice that may be the awaited roll, and the rolls they may show, the most probable first.

    ``known`` are the dice that already lay there, without those left over; ``lying`` are all that lie there now.
    """

    glance: Glance[StateT, TurnT]
    rules: Dice[StateT]
    dice: SeenDice
    known: SeenDice
    lying: SeenDice
    ranked: tuple[ScoredRoll, ...]

    @property
    def text(self) -> str:
        return format_roll(self.ranked[0].roll)

    @property
    def lead(self) -> float:
        """The log-odds by which the best roll leads the next one; negative where the dice can't be a roll."""
        best = self.ranked[0]
        if (behind := shortfall(self.dice, best)) > 0:
            return -behind
        return best.score - max((one.score for one in self.ranked[1:]), default=-math.inf)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The rolls close to the best one."""
        margin = self.glance.context.settings.margin
        near = [one for one in self.ranked if self.ranked[0].score - one.score < margin]
        return tuple(format_roll(one.roll) for one in near[:_MOST_NAMED])


_MOST_NAMED = 4


def judge_roll(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Accept a roll on the table where one is awaited.

    Dice that already lay there are not a roll, nor are those that were only pushed aside, nor dice of which some lie as
    before, unless exactly the others are as many as are to be rolled. Each die must rest, flat and in sight, and the
    roll must lead the next one by the margin. Where dice have names, only those of the player who rolls count.
    """
    rules, seen, known = glance.game.dice, glance.seen.dice, glance.belief.dice
    if rules is None or seen is None or known is None or not awaits_roll(glance.context, glance.belief):
        return None
    if glance.game.to_draw(glance.states[0]):
        # People tell what they drew.
        return None
    dice = _dice_of_player_to_move(glance.context, glance.belief, seen)
    if not dice.dice:
        return None
    lying = dice.with_others(known)
    dice, known = _without_left_over(glance, rules, dice, known)
    match = dice.against(known)
    # A bump, or a misread face, hardly changes two faces.
    if not match.lies_elsewhere and match.count - match.same_face < 2:
        return _show_quietly(glance, sentences.dice_lay_there()) if glance.declared else None
    ranked = rank_rolls(glance.game, glance.states[0], dice, glance.context.settings.probability_floor)
    return first_judgement(
        (_no_roll_yet, _some_lay_there, _same_as_before, _accept_roll, _unclear),
        _RollCase(glance, rules, dice, known, lying, ranked),
    )


def _without_left_over(
    glance: Glance[StateT, TurnT], rules: Dice[StateT], dice: SeenDice, known: SeenDice
) -> tuple[SeenDice, SeenDice]:
    """Leave out dice that lie as before from these and the known ones if only the others can be the roll.

    Near the end of a game fewer dice are rolled, and one that nobody took may stay where it was.
    """
    fresh = dice.against(known).fresh
    if glance.game.dice_names is not None or not 0 < len(fresh) < len(dice.dice):
        return dice, known
    numbers = {len(one.roll.faces) for one in rules.possible_rolls(glance.states[0])}
    is_rest_rolled = len(fresh) in numbers and len(dice.dice) not in numbers
    return (SeenDice(fresh), SeenDice(known.against(dice).fresh)) if is_rest_rolled else (dice, known)


def judge_roll_before_turn_ended(glance: Glance[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Accept a new roll while players may still write; they then forgo it."""
    seen, known = glance.seen.dice, glance.belief.dice
    if seen is None or known is None or len(glance.states) > 1 or not (seen.rests and seen.against(known).is_rolled):
        return None
    turns = silent_turns(glance.game, glance.states[0])
    if not turns:
        return None
    belief, ruling = accept(glance, turns)
    answer = judge_roll(Glance.at(glance.context, belief, glance.seen, glance.trigger))
    return (answer[0], ruling.then(answer[1])) if answer is not None and answer[1].rolls else None


def has_next_player_rolled(glance: Glance[StateT, TurnT], resolved: Resolved[TurnT]) -> bool:
    """Return whether the next player has rolled, which ends a waiting turn as a touch does."""
    after = apply_turn(glance.game, glance.states, (resolved.turns or resolved.candidates)[0])
    answer = judge_roll(glance.with_belief(glance.belief.with_states(after))) if after else None
    return answer is not None and bool(answer[1].rolls)


def _dice_of_player_to_move(
    context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], dice: SeenDice
) -> SeenDice:
    """Return the dice of the player to move where the game names dice, all of them otherwise."""
    return dice.with_names(names_of(context.game, belief.states[0]))


def awaits_roll(context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT]) -> bool:
    """Return whether dice must be rolled, whichever of the believed states is the case."""
    return all(context.game.awaits_roll(state) for state in belief.states)


def _no_roll_yet(case: _RollCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    if case.dice.rests and case.ranked:
        return None
    leaning, there = case.dice.leaning, len(case.dice.dice)
    needed = max((len(one.roll.faces) for one in case.rules.possible_rolls(case.glance.states[0])), default=there)
    if leaning:
        sentence = sentences.roll_again(leaning)
    elif there > needed:
        sentence = sentences.too_many_dice(there, needed)
    else:
        sentence = sentences.no_roll_yet()
    return _show_quietly(case.glance, sentence)


def _some_lay_there(case: _RollCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Refuse a roll in which some dice lie as before: they may not have been rolled."""
    lying = case.dice.against(case.known).untouched
    return _show_quietly(case.glance, sentences.some_dice_lay_there(lying)) if lying else None


def _same_as_before(case: _RollCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    """Ask where dice show the same as before: they may only have been put aside, unless a press says otherwise."""
    known = _dice_of_player_to_move(case.glance.context, case.glance.belief, case.known)
    if case.glance.declared or not case.dice.against(known).is_same_roll:
        return None
    return _show_quietly(case.glance, sentences.same_roll(case.text))


def _accept_roll(case: _RollCase[StateT, TurnT]) -> Judgement[StateT, TurnT] | None:
    glance, belief = case.glance, case.glance.belief
    if case.lead < glance.context.settings.margin:
        return None
    roll = case.ranked[0].roll
    states = tuple(case.rules.rolled(state, roll) for state in belief.states)
    ignoring_sides = tuple(case.rules.rolled(state, roll) for state in belief.states_ignoring_sides)
    said = glance.verdicts.ruling(
        VerdictKind.ACCEPTED, glance.game.roll_sentence(belief.states[0], roll), margin=case.lead
    )
    verdict: Verdict = replace(said.verdict, roll=case.text)
    believed = replace(belief, states=states, states_ignoring_sides=ignoring_sides, dice=case.lying, fault=None)
    return believed, Ruling((verdict,), rolls=(AcceptedRoll(roll, states),))


def _unclear(case: _RollCase[StateT, TurnT]) -> Judgement[StateT, TurnT]:
    glance, sentence = case.glance, sentences.which_roll(case.candidates)
    if not glance.trigger.names_faults:
        return _show_quietly(glance, sentence)
    asked = glance.verdicts.ruling(VerdictKind.AMBIGUOUS, sentence)
    return glance.belief, Ruling((replace(asked.verdict, candidates=case.candidates),))


def _show_quietly(glance: Glance[StateT, TurnT], sentence: str) -> Judgement[StateT, TurnT]:
    return glance.belief, glance.verdicts.not_finished(sentence, (), frozenset(), 0.0)


def resolve_by_dice(glance: Glance[StateT, TurnT], resolved: Resolved[TurnT]) -> Resolved[TurnT]:
    """Of turns that look alike, choose the one that leaves the dice that still lie there.

    Dice that can't be read by themselves may still tell: each turn leaves some of the known roll. If somebody turned a
    die, the dice tell nothing.
    """
    rules, dice, margin = glance.game.dice, glance.seen.dice, glance.context.settings.margin
    if rules is None or dice is None or not resolved.candidates or len(glance.states) > 1:
        return resolved
    if (dice.dice and not dice.rests) or _was_die_turned(glance):
        return resolved
    rolls = {turn: rules.roll_of(glance.game.rules.apply(glance.states[0], turn)) for turn in resolved.candidates}
    left = {turn: () if roll is None else tuple(sorted(roll.faces)) for turn, roll in rolls.items()}
    scores = {faces: score_of(dice, faces) for faces in left.values()}
    best = max(scores, key=lambda faces: scores[faces])
    next_one = max((score for faces, score in scores.items() if faces != best), default=-math.inf)
    if scores[best] - next_one < margin or score_of(dice, dice.faces) - scores[best] > margin:
        return resolved
    fitting = tuple(turn for turn, faces in left.items() if faces == best)
    return Resolved(fitting) if len(fitting) == 1 else resolved


def _was_die_turned(glance: Glance[StateT, TurnT]) -> bool:
    """Return whether the dice as they lay last clearly don't show the roll: somebody turned one after it was read."""
    rules, known = glance.game.dice, glance.belief.dice
    roll = None if rules is None else rules.roll_of(glance.states[0])
    if roll is None or known is None:
        return False
    lay = known.ever
    return lay.is_sure(glance.context.settings.margin) and not Counter(roll.faces) <= Counter(lay.faces)


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
    lies_as_before = bool(dice.dice) and not dice.against(known.ever).fresh
    if context.game.dice_names is None and (dice.against(known).is_remainder or lies_as_before):
        # Dice that were picked up may land where they lay before; a hand over them uncovers them as they lay.
        return replace(belief, dice=dice.remembering(known)), ()
    roll = None if rules is None else rules.roll_of(belief.states[0])
    own, before = (_dice_of_player_to_move(context, belief, every) for every in (dice, known))
    if roll is None or (own.dice and not own.rests):
        return belief, ()
    told = SeenDice().with_told(roll, names_of(context.game, belief.states[0]))
    if before.in_sight.against(own).is_remainder and own.against(told).is_same_roll:
        # A die that was taken lies there again, or a roll that a person told came in sight.
        return replace(belief, dice=own.with_others(known)), ()
    if len(own.dice) != len(before.dice):
        return belief, ()
    match = own.against(before)
    # Unnamed dice that lie elsewhere may be the next player's roll.
    if match.is_rolled and context.game.dice_names is None:
        return belief, ()
    is_new = not match.is_same_roll and own.is_sure(context.settings.margin)
    notes = (sentences.dice_changed(format_roll(roll)),) if is_new else ()
    return replace(belief, dice=own.with_others(known)), notes
