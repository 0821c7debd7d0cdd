"""Makes the verdicts that several of the judge's rules give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic

from common.phrases import joined
from engine.api import Game, StateT, TurnT
from engine.values import Appearance, Breach, Place
from referee.judge import sentences
from referee.judge.acceptance import Advance, Resolved
from referee.judge.decision import Decision
from referee.judge.explanations import Changes, Explanation, ExplanationKind
from referee.judge.pooled_reading import PIECE, PooledReading
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, Verdict, VerdictKind, places_named


@dataclass(frozen=True)
class VerdictFactory(Generic[StateT, TurnT]):
    """Makes verdicts on what was seen, compared with what is believed, and on the decision about it."""

    game: Game[StateT, TurnT]
    belief: tuple[StateT, ...]
    seen: PooledReading
    decision: Decision[StateT, TurnT]

    def taken_back(self) -> Ruling:
        """Quietly show that a turn which was taken back still lies on the table."""
        changes = self.decision.changes
        places = self.places_of(changes)
        sentence = sentences.taken_back(places, written=self.game.has_sheets)
        return self.not_finished(sentence, places, changes, self.decision.margin)

    def which_turn(self, resolved: Resolved[TurnT]) -> Ruling:
        """Ask which of several turns was played, or whether a single one was that some stacks contradict."""
        changes, places = self.decision.best.changes, self.places_of(self.decision.best.changes)
        described, doubted = self._described(resolved.candidates), resolved.doubted
        if doubted:
            sentence = sentences.stacks_contradict(joined(described), doubted)
            places = tuple(dict.fromkeys((*doubted, *places)))
        else:
            sentence = sentences.which_turn(described)
        return self._ask(sentence, places, changes, resolved.candidates)

    def doubted(self, resolved: Resolved[TurnT], say: Callable[[str], str]) -> Ruling:
        """Ask about turns that fit what is on top, but not everything; ``say`` takes their description."""
        turns = resolved.turns
        return self._ask(say(joined(self._described(turns))), places_named(turns), self.decision.best.changes, turns)

    def piece_moved_on(self) -> Ruling:
        """Ask about a turn after which the same piece moved on, which may also be one illegal move."""
        best = self.decision.best
        sentence = sentences.piece_moved_on(self.game.notation.describe(best.first[0]), best.instruction)
        return self._ask(sentence, self.places_of(self.decision.shown), self.decision.shown)

    def several_turns_sensed(self) -> Ruling:
        """Ask about more than one turn, which sensors alone can't identify."""
        places = self.places_of(self.decision.shown) or self.places_of(self.decision.best.changes)
        return self._ask(sentences.several_turns_sensed(places), places, self.decision.shown)

    def piece_turned(self, turned: Sequence[Breach]) -> Ruling:
        """Ask about a piece that seems to have been turned on its place, while the turns are fine."""
        return self._ask(sentences.piece_turned(turned), places_named(turned), self.decision.best.changes)

    def too_many_turns(self, changes: Changes) -> Ruling:
        """Ask what stands where, since more turns were played than the judge follows."""
        places = self.places_of(changes)
        return self._ask(sentences.too_many_turns(places), places, changes)

    def differs_from_correction(self, shown: Changes) -> Ruling:
        """Ask about places that a person named while they were hidden and that look different now."""
        places = self.places_of(shown)
        return self._ask(sentences.differs_from_correction(places), places, shown)

    def illegal(self, breaches: Sequence[Breach], changes: Changes, margin: float) -> Ruling:
        """Name a fault."""
        only_sensed = any(look == PIECE for _, look in changes)
        sentence = sentences.fault_sensed(breaches) if only_sensed else sentences.fault(breaches)
        places = tuple(dict.fromkeys([*places_named(breaches), *self.places_of(changes)]))
        return self.ruling(VerdictKind.ILLEGAL, sentence, places, dict(changes), margin, breaches=breaches)

    def accepted(self, turns: Sequence[TurnT], moved: Advance[StateT], expected: Appearance, margin: float) -> Verdict:
        """Say what was played; ``expected`` is the appearance before."""
        places = places_named(turns)
        after = self.game.table.appearance(moved.states[0])
        return Verdict(
            VerdictKind.ACCEPTED,
            joined(self._described(turns)),
            self.seen.time_s,
            self.seen.sequence,
            turns=tuple(map(self.game.notation.format_turn, turns)),
            places=places,
            expected={place: expected[place] for place in places},
            seen={place: after[place] for place in places},
            margin=margin,
        )

    def unexplained(self) -> Ruling:
        """Ask about changes that are neither a turn nor an explained violation."""
        places = self.places_of(self.decision.shown)
        return self._ask(sentences.unexplained(places), places, self.decision.shown)

    def not_a_turn_yet(self) -> Ruling:
        """Quietly show changes that are not a turn while nobody has ended one."""
        places = self.places_of(self.decision.shown)
        return self.not_finished(sentences.not_a_turn_yet(places), places, self.decision.shown, self.decision.margin)

    def pending(self, sentence: str, resolved: Resolved[TurnT], shown: Changes | None = None) -> Ruling:
        """Quietly show a whole turn that has not ended; ``shown`` is what was seen of it, by default all of it."""
        turns = resolved.turns or resolved.candidates
        changes = self.decision.best.changes if shown is None else shown
        return self.not_finished(sentence, places_named(turns[:1]), changes, self.decision.margin, turns)

    def turn_waits(self, resolved: Resolved[TurnT], shown: Changes | None = None) -> Ruling:
        """Quietly show a whole turn that has not ended, or that it is one of several; ``shown`` as in ``pending``."""
        first, *others = resolved.turns or resolved.candidates
        described = self.game.notation.describe(first)
        sentence = sentences.one_of(described, len(others)) if others else sentences.turn_waits(described)
        return self.pending(sentence, resolved, shown)

    def undecided(self, trigger: Trigger, breaches: Sequence[Breach] = ()) -> Ruling:
        """Ask about the places that a decision depends on, quietly unless the trigger names faults.

        Where a touch ends a turn, a dispute or an unclear first turn is asked about aloud once the next player has gone
        on, since three turns would be too many to follow. ``breaches`` are what is wrong if the places are read
        rightly.
        """
        places, shown = self.decision.places, self.decision.shown
        turns = [one for one in (self.decision.best, *self.decision.rivals) if one.kind is ExplanationKind.TURN]
        if self.decision.alike and turns:
            return self._indistinguishable(turns, trigger)
        went_on = self.decision.best.kind in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}
        is_first_unclear = any(set(one.first).isdisjoint(self.decision.best.first) for one in self.decision.rivals)
        can_wait = not is_first_unclear and self.seen.disputed.keys().isdisjoint(places)
        if not trigger.names_faults and (can_wait or not (trigger.ends_by_touch and went_on)):
            return self.not_finished(sentences.doubtful(places, {}), places, shown, self.decision.margin)
        return self.question_about(places, shown, [one.first[0] for one in turns], breaches)

    def _indistinguishable(self, found: Sequence[Explanation[StateT, TurnT]], trigger: Trigger) -> Ruling:
        """Ask which of several turns that sensors can't tell apart was played; quietly while it may go on."""
        every = (self.decision.best, *self.decision.rivals)
        turns = tuple(dict.fromkeys(turn for one in found for turn in one.first))
        resolved: Resolved[TurnT] = Resolved((), turns)
        part = next((one for one in every if one.kind is ExplanationKind.PART), None)
        if not trigger.names_faults:
            return self.turn_waits(resolved, self.decision.shown)
        if part is not None and trigger is not Trigger.DECLARED:
            return self.pending(sentences.may_go_on(part.instruction), resolved, self.decision.shown)
        return self.which_sensed(turns)

    def unsensed(self) -> Ruling:
        """Ask whether a turn was played that sensors can't notice."""
        turns = tuple(dict.fromkeys(turn for one in self.decision.unsensed for turn in one.first))
        return self.which_sensed(turns, unchanged=True)

    def which_sensed(self, turns: Sequence[TurnT], *, unchanged: bool = False) -> Ruling:
        """Ask which of some turns was played, as far as sensors tell; ``unchanged``: they notice none of them."""
        touched = tuple(dict.fromkeys(change.place for change in self.seen.changes))
        turns = sorted(turns, key=lambda turn: -len({*touched} & {*turn.places}))
        sentence = sentences.which_sensed(self._described(turns), touched, unchanged=unchanged)
        named, shown = places_named(turns), dict(self.decision.shown)
        places = tuple(place for place in named if place in touched or place in shown) or named
        return self._ask(sentence, places, self.decision.shown, turns)

    def not_finished(
        self, sentence: str, places: Sequence[Place], changes: Changes, margin: float, candidates: Sequence[TurnT] = ()
    ) -> Ruling:
        """Quietly show something that is not a whole turn."""
        return self.ruling(VerdictKind.NOT_FINISHED, sentence, tuple(places), dict(changes), margin, candidates)

    def question_about(
        self, places: Sequence[Place], shown: Changes, candidates: Sequence[TurnT] = (), breaches: Sequence[Breach] = ()
    ) -> Ruling:
        """Ask about places that can't be read for certain; as they are read, there are these ``breaches``."""
        looks = {place: look for place, look in shown if place in places}
        sentence = sentences.unsure(places, looks, self.seen.disputed)
        if breaches:
            sentence = sentences.unsure_of_fault(sentence, breaches)
        return self.ruling(VerdictKind.AMBIGUOUS, sentence, tuple(places), looks, candidates=candidates)

    def out_of_sight(self, places: Sequence[Place]) -> Ruling:
        """Say that something may have happened on these hidden places."""
        shown = dict(self.decision.shown)
        return self.ruling(VerdictKind.CANNOT_SEE, sentences.out_of_sight(places), tuple(places), shown)

    def places_of(self, changes: Changes) -> tuple[Place, ...]:
        """Return the places of some changes, in the order of the game."""
        changed = {place for place, _ in changes}
        return tuple(place for place in self.game.places if place in changed)

    def ruling(
        self,
        kind: VerdictKind,
        sentence: str,
        places: tuple[Place, ...] = (),
        shown: Mapping[Place, str] | None = None,
        margin: float = 0.0,
        candidates: Sequence[TurnT] = (),
        breaches: Sequence[Breach] = (),
    ) -> Ruling:
        """Return a ruling of one verdict: with what was expected and seen at its places; ``shown`` is what differs."""
        looks = dict(shown or {})
        written = dict.fromkeys((self.game.notation.format_turn(turn), turn.player) for turn in candidates)
        believed = self.game.table.appearance(self.belief[0])
        verdict = Verdict(
            kind,
            sentence,
            self.seen.time_s,
            self.seen.sequence,
            breaches=tuple(breaches),
            candidates=tuple(text for text, _ in written),
            candidate_players=tuple(player for _, player in written),
            places=places,
            expected={place: believed[place] for place in (*places, *looks) if place in believed},
            seen={**{place: believed[place] for place in places if place in believed}, **looks},
            margin=margin,
        )
        return Ruling((verdict,))

    def _ask(
        self, sentence: str, places: tuple[Place, ...], changes: Changes, candidates: Sequence[TurnT] = ()
    ) -> Ruling:
        return self.ruling(VerdictKind.AMBIGUOUS, sentence, places, dict(changes), candidates=candidates)

    def _described(self, turns: Iterable[TurnT]) -> list[str]:
        return [self.game.notation.describe(turn) for turn in turns]
