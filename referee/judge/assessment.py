"""A resting table compared with the belief, and the verdicts on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, NamedTuple

from common.phrases import Phrase, joined, listed, without_stop
from engine.api import StateT, TurnT
from engine.values import Breach, Place
from referee.judge import sentences
from referee.judge.belief import Belief
from referee.judge.decision import Conclusion, Decision
from referee.judge.evidence.sensors import decide_for_trigger
from referee.judge.explanations import Explanation, ExplanationKind
from referee.judge.explorer import Case, Changes, JudgeContext, apply_turn
from referee.judge.faults import piece_of
from referee.judge.pooled_reading import PooledReading
from referee.judge.resolution import Resolved
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, Verdict, VerdictKind, places_named


class Judgement(NamedTuple, Generic[StateT, TurnT]):
    """The belief after a look, and the ruling on it."""

    belief: Belief[StateT, TurnT]
    ruling: Ruling

    def then(self, after: Judgement[StateT, TurnT]) -> Judgement[StateT, TurnT]:
        """Join what came of the same look after this."""
        return Judgement(after.belief, self.ruling.then(after.ruling))


@dataclass(frozen=True)
class Assessment(Case[StateT, TurnT]):
    """A resting table compared with the belief, and what best explains it.

    Methods that return a judgement give verdicts.
    """

    belief: Belief[StateT, TurnT]
    trigger: Trigger
    decision: Decision[StateT, TurnT]

    @classmethod
    def at(
        cls, context: JudgeContext[StateT, TurnT], belief: Belief[StateT, TurnT], seen: PooledReading, trigger: Trigger
    ) -> Assessment[StateT, TurnT]:
        """Assess a table with this belief."""
        seen = replace(seen, settled=seen.settled | belief.settled)
        decision = decide_for_trigger(Case(context, belief.states, seen.without(belief.set_aside)), trigger)
        return cls(context, belief.states, seen, belief, trigger, decision)

    @property
    def visible(self) -> Case[StateT, TurnT]:
        """The case without the places set aside."""
        return Case(self.context, self.states, self.seen.without(self.belief.set_aside))

    @property
    def out_of_sight(self) -> frozenset[Place]:
        """The hidden places, except those that a person settled or that camera and sensor dispute."""
        override = self.belief.override
        hidden = self.seen.hidden | self.belief.set_aside
        return hidden - override.places - override.ignored - self.seen.disputed.keys()

    @property
    def declared(self) -> bool:
        """Whether a player said that the turn is over."""
        return self.trigger is Trigger.DECLARED

    def confirms(self, changes: Changes) -> bool:
        """Return whether a player who was asked about these changes declares again that the turn is over."""
        return self.declared and self.belief.conversation.asked_about == changes

    def of_kind(self, kind: ExplanationKind) -> tuple[Explanation[StateT, TurnT], ...]:
        """Return the explanations of one kind."""
        return tuple(one for one in self.decision.explanations if one.kind is kind)

    def with_belief(self, belief: Belief[StateT, TurnT]) -> Assessment[StateT, TurnT]:
        """Return the same assessment with another belief; the decision stays."""
        return replace(self, belief=belief, states=belief.states)

    def asking_about(self, changes: Changes) -> Assessment[StateT, TurnT]:
        """Return the same assessment with a question about changes remembered, which a second press answers."""
        asked = replace(self.belief.conversation, asked_about=changes)
        return self.with_belief(replace(self.belief, conversation=asked))

    def places_of(self, changes: Changes) -> tuple[Place, ...]:
        """Return the places of some changes, in the order of the game."""
        return self.context.in_order({place for place, _ in changes})

    def described(self, turns: Iterable[TurnT]) -> list[str]:
        """Return sentences that say what these turns do."""
        return [self.game.notation.describe(turn) for turn in turns]

    def say(
        self,
        kind: VerdictKind,
        sentence: str,
        places: Sequence[Place] = (),
        shown: Mapping[Place, str] | None = None,
        margin: float = 0.0,
        candidates: Sequence[TurnT] = (),
        breaches: Sequence[Breach] = (),
    ) -> Judgement[StateT, TurnT]:
        """Give one verdict: with what was expected and seen at its places; ``shown`` is what differs."""
        looks, believed = dict(shown or {}), self.base
        written = dict.fromkeys((self.game.notation.format_turn(turn), turn.player) for turn in candidates)
        verdict = Verdict(
            kind,
            sentence,
            self.seen.time_s,
            self.seen.sequence,
            breaches=tuple(breaches),
            candidates=tuple(text for text, _ in written),
            candidate_players=tuple(player for _, player in written),
            places=tuple(places),
            expected={place: believed[place] for place in (*places, *looks) if place in believed},
            seen={**{place: believed[place] for place in places if place in believed}, **looks},
            margin=margin,
            likely=self._likely(places),
        )
        return Judgement(self.belief, Ruling((verdict,)))

    def _likely(self, places: Sequence[Place]) -> tuple[str, ...]:
        one = self.seen.places.get(places[0]) if len(places) == 1 else None
        if one is None or one.sensed_only:
            return ()
        found = one.could_be(self.settings.margin, self.context.handwriting)
        return tuple(sorted(found, key=lambda look: -one.log_probabilities[look]))

    def ask(
        self, sentence: str, places: Sequence[Place], changes: Changes, candidates: Sequence[TurnT] = ()
    ) -> Judgement[StateT, TurnT]:
        """Ask a question."""
        return self.say(VerdictKind.AMBIGUOUS, sentence, places, dict(changes), candidates=candidates)

    def quietly(
        self,
        sentence: str,
        places: Sequence[Place],
        changes: Changes,
        margin: float | None = None,
        candidates: Sequence[TurnT] = (),
    ) -> Judgement[StateT, TurnT]:
        """Quietly show something that is not a whole turn; the margin is the decision's unless given."""
        margin = self.decision.margin if margin is None else margin
        return self.say(VerdictKind.NOT_FINISHED, sentence, places, dict(changes), margin, candidates)

    def not_a_turn_yet(self) -> Judgement[StateT, TurnT]:
        """Quietly show changes that are not a turn while nobody has ended one."""
        places = self.places_of(self.decision.shown)
        return self.quietly(sentences.not_a_turn_yet(places), places, self.decision.shown)

    def out_of_sight_at(self, places: Sequence[Place]) -> Judgement[StateT, TurnT]:
        """Say that something may have happened on these hidden places."""
        shown = dict(self.decision.shown)
        reasons = {self.seen.covered.get(place) for place in places}
        why = next((kind for kind in sentences.BAD_PICTURE if reasons == {kind}), None)
        return self.say(VerdictKind.CANNOT_SEE, sentences.out_of_sight(places, why), places, shown)

    def unexplained(self) -> Judgement[StateT, TurnT]:
        """Ask about changes that are neither a turn nor an explained violation."""
        places = self.places_of(self.decision.shown)
        return self.ask(sentences.unexplained(places), places, self.decision.shown)

    def which_turn(self, resolved: Resolved[TurnT]) -> Judgement[StateT, TurnT]:
        """Ask which of several turns was played, or whether a single one was that some stacks contradict."""
        changes, described = self.decision.best.changes, self.described(resolved.candidates)
        doubted = resolved.doubted or self._differing_stacks(resolved.candidates)
        sentence = sentences.which_turn(described, doubted)
        if resolved.doubted:
            sentence = sentences.stacks_contradict(joined(described), doubted)
        places = tuple(dict.fromkeys((*doubted, *self.places_of(changes))))
        return self.ask(sentence, places, changes, resolved.candidates)

    def _differing_stacks(self, turns: Sequence[TurnT]) -> tuple[Place, ...]:
        """Return the places on which these turns leave different numbers of pieces; none in a game without stacks."""
        if self.game.heights is None:
            return ()
        each = [self.game.heights(state) for turn in turns for state in apply_turn(self.game, self.states, turn)]
        return self.context.in_order({place for one in each for place in one if one[place] != each[0][place]})

    def doubt(self, turns: Sequence[TurnT], sentence: str) -> Judgement[StateT, TurnT]:
        """Ask about turns that fit what is on top, but not everything."""
        return self.ask(sentence, places_named(turns), self.decision.best.changes, turns)

    def against_sides(self, turns: Sequence[TurnT]) -> Judgement[StateT, TurnT]:
        """Ask about a turn that fits the tops of the pieces, but not the side faces seen."""
        described = without_stop(joined(self.described(turns)))
        question = Phrase(
            "{described}? The sides of that block don't fit. Press the button again if it is right.", described
        )
        return self.doubt(turns, question)

    def has_seen_facing(self, turned: Breach) -> bool:
        """Return whether the sides of that piece were read as believed since it was last played."""
        return self.belief.observations.facing.keys() >= {*turned.places}

    def piece_turned(self, turned: Sequence[Breach]) -> Judgement[StateT, TurnT]:
        """Ask about a piece that is not turned as believed, while the turns are fine."""
        unseen = next((breach for breach in turned if not self.has_seen_facing(breach)), None)
        if unseen is not None:
            place = unseen.places[0]
            question = sentences.facing_unknown(piece_of(self.base[place]), place, unseen.remedy)
        else:
            question = Phrase("{fault} Or press the button again if it stands as it did.", sentences.fault(turned))
        return self.ask(question, places_named(turned), self.decision.best.changes)

    def too_many_turns(self, changes: Changes) -> Judgement[StateT, TurnT]:
        """Ask what stands where, since more turns were played than the judge follows."""
        places = self.places_of(changes)
        said = Phrase(
            "More than two turns seem to have been played on {places}, and I can't tell which. {say_so}",
            listed(places),
            sentences.SAY_SO,
        )
        return self.ask(said, places, changes)

    def pending(self, sentence: str, resolved: Resolved[TurnT]) -> Judgement[StateT, TurnT]:
        """Quietly show a whole turn that has not ended."""
        turns, decision = resolved.turns or resolved.candidates, self.decision
        changes = decision.shown if decision.conclusion is Conclusion.UNDECIDED else decision.best.changes
        return self.quietly(sentence, places_named(turns[:1]), changes, candidates=turns)

    def may_go_on(self, instruction: str, resolved: Resolved[TurnT]) -> Judgement[StateT, TurnT]:
        """Quietly show a whole turn that may also continue."""
        said = Phrase(
            "If the turn is over, the next player may go on, or press the button. If not: {instruction}", instruction
        )
        return self.pending(said, resolved)

    def turn_waits(self, resolved: Resolved[TurnT]) -> Judgement[StateT, TurnT]:
        """Quietly show a whole turn that has not ended, or that it is one of several."""
        first, *others = resolved.turns or resolved.candidates
        described = self.game.notation.describe(first)
        return self.pending(sentences.turn_waits(described, len(others)), resolved)

    def undecided(self, trigger: Trigger, breaches: Sequence[Breach] = ()) -> Judgement[StateT, TurnT]:
        """Ask about the places that a decision depends on, quietly unless the trigger names faults.

        Of turns that sensors can't tell apart, ask which was played, quietly while it may go on. Where a touch ends a
        turn, a dispute or an unclear first turn is asked about aloud once the next player has gone on, since three
        turns would be too many to follow. ``breaches`` are what is wrong if the places are read rightly.
        """
        decision, places, best = self.decision, self.decision.places, self.decision.best
        every = (best, *decision.rivals)
        turns = [one for one in every if one.kind is ExplanationKind.TURN]
        firsts = tuple(dict.fromkeys(turn for one in turns for turn in one.first))
        if decision.is_alike_to_sensors and turns:
            part = next((one for one in every if one.kind is ExplanationKind.PART), None)
            if not trigger.names_faults:
                return self.turn_waits(Resolved((), firsts))
            if part is not None and trigger is not Trigger.DECLARED:
                return self.may_go_on(part.instruction, Resolved((), firsts))
            return self.which_sensed(firsts)
        is_first_unclear = any(set(one.first).isdisjoint(best.first) for one in decision.rivals)
        can_wait = not is_first_unclear and self.seen.disputed.keys().isdisjoint(places)
        if not trigger.names_faults and (can_wait or not (trigger.ends_by_touch and best.kind.is_beyond_one)):
            return self.quietly(sentences.doubtful(places, {}), places, decision.shown)
        return self.question_about(places, firsts, breaches)

    def unsensed(self) -> Judgement[StateT, TurnT]:
        """Ask whether a turn was played that sensors can't notice."""
        turns = tuple(dict.fromkeys(turn for one in self.decision.unsensed for turn in one.first))
        return self.which_sensed(turns, unchanged=True)

    def which_sensed(self, turns: Sequence[TurnT], *, unchanged: bool = False) -> Judgement[StateT, TurnT]:
        """Ask which of some turns was played, as far as sensors tell; ``unchanged``: they notice none of them."""
        touched = tuple(dict.fromkeys(change.place for change in self.seen.changes))
        turns = sorted(turns, key=lambda turn: -len({*touched} & {*turn.places}))
        sentence = sentences.which_sensed(self.described(turns), touched, unchanged=unchanged)
        named, shown = places_named(turns), dict(self.decision.shown)
        places = tuple(place for place in named if place in touched or place in shown) or named
        return self.ask(sentence, places, self.decision.shown, turns)

    def question_about(
        self, places: Sequence[Place], candidates: Sequence[TurnT] = (), breaches: Sequence[Breach] = ()
    ) -> Judgement[StateT, TurnT]:
        """Ask about places that can't be read for certain; as they are read, there are these ``breaches``."""
        visible = ((place, self.seen.places[place]) for place in places if place in self.seen.places)
        looks = {place: one.best for place, one in visible if not one.agrees(self.base[place])}
        say = sentences.missed if self.decision.misses_piece else sentences.unsure
        sentence = say(places, looks, self.seen.disputed, self.seen.hindrances)
        if breaches:
            sentence = Phrase("{question} As I read it: {sentence}", sentence, breaches[0].sentence)
        return self.say(VerdictKind.AMBIGUOUS, sentence, places, looks, candidates=candidates)
