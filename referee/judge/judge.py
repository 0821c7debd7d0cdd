"""The judge: joins what is believed with what is seen, and never guesses silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engine.api import Breach, OptionValue, StateT, TurnT
from referee.judge import faults, sensor_evidence, sentences, set_up
from referee.judge.acceptance import Leaning, Resolved, narrow_by_sides
from referee.judge.decision import Conclusion, Decision
from referee.judge.explanations import Changes, ExplanationKind
from referee.judge.memory import Memory, after_look
from referee.judge.pending_turn import PendingTurn, left_by
from referee.judge.pooled_reading import PooledReading, pool
from referee.judge.settings import Trigger
from referee.judge.verdict import Ruling, VerdictKind
from referee.judge.verdict_factory import VerdictFactory
from vision.reading import Reading


class Judge(Memory[StateT, TurnT]):
    """Judges readings of a resting table against what is believed.

    Reads no clock and no files: the same calls give the same rulings.
    """

    @property
    def _tell(self) -> VerdictFactory[StateT, TurnT]:
        return VerdictFactory(self._game, self._belief)

    def begin(
        self,
        readings: Sequence[Reading],
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,
        occasion: Trigger = Trigger.RESTED,
    ) -> Ruling:
        """Take the set-up from readings of a resting table.

        Gives *set up* when it is a legal start, *illegal* with its breaches when it is not, *ambiguous* when a place
        can't be read, *cannot see* when places are hidden. Where the occasion names no faults it is *not finished*
        in place of the first two faults, and with ``anywhere``, since more pieces may be on their way. Raises
        OptionError for a bad option.
        """
        game, settings = self._game, self._settings
        seen = pool(readings, game.places, game.looks, settings.probability_floor)
        ruling, states, by_tops = set_up.take_set_up(
            game, seen, options, settings, anywhere=anywhere, occasion=occasion
        )
        self._looked, self._looked_s = seen.places, seen.time_s
        if states:
            self._believe(states, by_tops)
            self._doubt(seen.felt, game.appearance(states[0]))
        return ruling

    def consider(self, readings: Sequence[Reading], occasion: Trigger) -> Ruling:
        """Judge readings of one resting table. Raises ValueError before the set-up or without readings."""
        if not self._belief:
            raise ValueError("there is no belief to judge from; call begin with the set-up, or correct, first")
        game = self._game
        seen = pool(readings, game.places, game.looks, self._settings.probability_floor, self._doubted)
        self._felt = seen.felt
        self._doubted = {place: says for place, says in self._doubted.items() if seen.felt.get(place, says) == says}
        if not seen.places:
            return self._tell.ruling(VerdictKind.CANNOT_SEE, sentences.nothing_to_see(), seen)
        self._looked, self._looked_s = seen.places, seen.time_s
        outcomes = [game.outcome(state) for state in self._belief]
        if outcomes[0] is not None and all(outcomes):
            return self._tell.ruling(VerdictKind.UNCHANGED, sentences.game_over(outcomes[0].reason), seen)
        ruling = self._judged(seen.since(self._since_s), occasion)
        asked = {place for one in ruling.verdicts if one.kind is VerdictKind.AMBIGUOUS for place in one.places}
        if asked:
            self._asked_disputes = frozenset(asked & seen.disputed.keys())
        return ruling

    def _judged(self, seen: PooledReading, occasion: Trigger) -> Ruling:
        game = self._game
        believed = game.appearance(self._belief[0])
        if occasion is Trigger.DECLARED and self._asked_disputes & seen.disputed.keys():
            # Asked once, a player who declares it again says that the camera is right.
            self._set_aside -= self._asked_disputes
            seen = seen.by_camera()
        seen = seen.settled_by(believed)
        self._set_aside = faults.still_odd(game, self._belief, self._set_aside, seen)
        self._word = after_look(self._word, believed, seen)
        everything, seen = seen, seen.without(self._word.left_out)
        visible = seen.without(self._set_aside)
        decision = self._think.decide(self._belief, visible, occasion)
        if occasion is Trigger.DECLARED and self._word.asked and decision.shows_nothing:
            # Asked once, a player who declares it again says that something was played there.
            self._word = self._word.without(self._word.asked)
            return self._judged(everything, occasion)
        touched = self._think.was_touched(self._belief, self._waiting, decision, visible, occasion)
        if touched and not sensor_evidence.may_have_left(believed, self._waiting.changes, visible):
            # What the touch did is judged as the next player's doing.
            return self._accept(self._waiting.turns, decision, seen).then(self._follow(seen, occasion))
        if decision.standing is Conclusion.FORBIDDEN:
            return self._forbidden(decision, seen, occasion)
        if sensor_evidence.lies_there(believed, self._refused, decision, seen):
            if occasion is not Trigger.DECLARED:
                return self._tell.taken_back(decision, seen)
        elif decision.standing is not Conclusion.UNDECIDED:
            self._refused = frozenset()
        if decision.standing is Conclusion.UNDECIDED:
            return self._tell.undecided(decision, seen, occasion)
        return self._by_what_happened(decision, seen, occasion)

    def _by_what_happened(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling:
        match decision.best.happening:
            case ExplanationKind.NOTHING:
                return self._nothing(decision, seen, occasion)
            case ExplanationKind.PART:
                return self._part(decision, seen, occasion)
            case ExplanationKind.TURN:
                return self._turn(decision, seen, occasion)
            case ExplanationKind.TURN_AND_PART | ExplanationKind.TWO_TURNS:
                return self._more_than_a_turn(decision, seen, occasion)

    def _nothing(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling:
        # A thing laid on the piece of a turn that waits does not undo it.
        is_covered = bool(self._waiting.changes) and not seen.told(
            self._game.appearance(self._belief[0]), self._waiting.changes
        )
        self._waiting = self._waiting if is_covered else PendingTurn()
        # A fault that was put back the wrong way round is named as soon as the table shows it.
        after_fault = occasion if self._fault is None or occasion is Trigger.DECLARED else Trigger.RESTED
        visible = seen.without(self._set_aside)
        turned = self._think.turned_in_place(self._belief, visible, self._settings.turned)
        if turned:
            return self._fault_ruling(turned, frozenset(), seen, after_fault, decision.margin)
        named = after_fault.names_faults
        doubtful = self._think.turned_in_place(self._belief, visible, self._settings.side) if named else ()
        if doubtful:
            return self._doubt_sides(doubtful, decision, seen, occasion)
        if decision.set_aside:
            if not occasion.names_faults:
                return self._tell.ruling(VerdictKind.UNCHANGED, sentences.unchanged(), seen)
            self._doubt(seen.felt, self._game.appearance(self._belief[0]))
            return Ruling((self._tell.question_about(decision.set_aside, decision.shown, seen),))
        if self._fault is None and occasion.names_faults:
            question = self._maybe_unseen(decision, seen, occasion)
            if question is not None:
                return question
            self._since_s = seen.time_s
            self._doubt(seen.felt, self._game.appearance(self._belief[0]))
        if self._fault is not None:
            fault, self._fault = self._fault, None
            return self._tell.ruling(
                VerdictKind.PUT_RIGHT, sentences.put_right(), seen, places=fault.verdict.places, margin=decision.margin
            )
        return self._tell.ruling(VerdictKind.UNCHANGED, sentences.unchanged(), seen, margin=decision.margin)

    def _maybe_unseen(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling | None:
        """Ask about a turn that may leave nothing to see: sensors felt something, or a word was given in its stead."""
        if sensor_evidence.asks_about_unsensed(decision, seen, self._settings, occasion):
            return self._tell.unfelt(decision, seen)
        if len(seen.disputed) > 1:
            felt = seen.by_sensors().without(self._word.left_out | self._set_aside)
            by_sensors = self._think.decide(self._belief, felt, occasion)
            if (
                by_sensors.best.happening is not ExplanationKind.NOTHING
                and by_sensors.standing is not Conclusion.FORBIDDEN
            ):
                return Ruling((self._tell.question_about(tuple(seen.disputed), by_sensors.shown, seen),))
        if self._word.to_ask:
            shown = frozenset((place, self._word.against[place]) for place in self._word.to_ask)
            self._word = replace(self._word, asked=self._word.asked | self._word.to_ask)
            return self._tell.otherwise_than_told(shown, seen)
        return None

    def _doubt_sides(
        self, turned: Sequence[Breach], decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger
    ) -> Ruling:
        """Ask about pieces that may have been turned; when a player then declares it again, they stand as they did."""
        looks = self._game.appearance(self._belief[0])
        about = frozenset((place, looks[place]) for breach in turned for place in breach.places)
        if occasion is not Trigger.DECLARED or self._asked_about != about:
            self._asked_about = about
            return self._tell.turned_besides(turned, decision, seen)
        was_fault = self._fault is not None
        states, _ = narrow_by_sides(self._game, self._by_tops, seen, self._settings)
        self._believe(states, self._by_tops)
        kind = VerdictKind.PUT_RIGHT if was_fault else VerdictKind.UNCHANGED
        said = sentences.put_right() if was_fault else sentences.unchanged()
        withdrawn = tuple(self._game.format_state(state) for state in states)
        return replace(self._tell.ruling(kind, said, seen, margin=decision.margin), withdrawn=withdrawn)

    def _part(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling:
        best, self._waiting = decision.best, PendingTurn()
        if occasion is Trigger.DECLARED:
            breaches = self._think.breaches_of(self._belief, decision.best.changes, seen)
            if breaches:
                return self._fault_ruling(breaches, best.changes, seen, occasion, decision.margin)
        return self._tell.quiet(best.to_do, best.touched, decision.shown, seen, decision.margin)

    def _turn(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling:
        turns = tuple(one for one in decision.explanations if one.happening is ExplanationKind.TURN)
        part = next((one for one in decision.explanations if one.happening is ExplanationKind.PART), None)
        resolved = self._think.resolve(turns, seen)
        over = occasion.ends_by_touch and self._think.end_the_game(self._belief, resolved.turns)
        if not occasion.accepts and not over:
            if occasion.ends_by_touch and resolved.turns:
                self._waiting = PendingTurn(resolved.turns, decision.best.changes, seen)
                if (
                    occasion.names_faults
                    and self._think.weigh(self._belief, resolved, decision, seen, self._set_aside).leaning
                    is not Leaning.FOR
                ):
                    return self._take(resolved, decision, seen, occasion)
            described = [self._game.describe(turn) for turn in resolved.turns or resolved.candidates]
            return self._tell.pending(sentences.turn_waits(" ".join(described[:1])), resolved, decision, seen)
        if part is not None and occasion is not Trigger.DECLARED:
            return self._tell.pending(sentences.may_go_on(part.to_do), resolved, decision, seen)
        if not resolved.turns:
            return self._tell.which_of(resolved, decision, seen)
        return self._take(resolved, decision, seen, occasion)

    def _take(
        self,
        resolved: Resolved[TurnT],
        decision: Decision[StateT, TurnT],
        seen: PooledReading,
        occasion: Trigger,
        most: int | None = None,
    ) -> Ruling:
        """Accept turns, the first ``most`` of them, unless the side faces seen speak against any of them."""
        taken, changes = resolved.turns[:most], decision.best.changes
        weighed = self._think.weigh(self._belief, resolved, decision, seen, self._set_aside)
        confirmed = occasion is Trigger.DECLARED and self._asked_about == changes
        if weighed.leaning is Leaning.BREAKS_A_RULE:
            return self._fault_ruling(weighed.breaches, changes, seen, occasion, resolved.against)
        if not confirmed and sensor_evidence.may_have_left(self._game.appearance(self._belief[0]), changes, seen):
            if not occasion.names_faults:
                return self._tell.not_yet(decision.shown, seen, decision.margin)
            self._asked_about = changes
            return self._tell.left_the_board(resolved, decision, seen)
        if weighed.leaning is Leaning.FOR or (weighed.leaning is Leaning.DOUBTFUL and confirmed):
            return self._accept(taken, decision, seen).then(self._felt_after(seen))
        if weighed.leaning is Leaning.TURNED_BESIDES and confirmed:
            return self._accept_by_tops(taken, decision, seen)
        if not occasion.names_faults:
            return self._tell.not_yet(decision.shown, seen, decision.margin)
        if weighed.leaning is Leaning.RULED_OUT:
            if self._more_turns_explain(changes, seen):
                return self._tell.more_turns(changes, seen)
            return self._tell.forbidden_by_sides(resolved, decision, seen)
        self._asked_about = changes
        if weighed.leaning is Leaning.TURNED_BESIDES:
            return self._tell.turned_besides(weighed.breaches, decision, seen)
        return self._tell.against_sides(resolved, decision, seen)

    def _more_turns_explain(self, changes: Changes, seen: PooledReading) -> bool:
        return self._think.more_turns_explain(self._belief, changes, seen.without(self._set_aside))

    def _more_than_a_turn(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling:
        whole = decision.best.happening is ExplanationKind.TWO_TURNS
        alike = tuple(one for one in decision.explanations if one.happening is decision.best.happening)
        if not occasion.accepts and not occasion.ends_by_touch:
            return self._tell.quiet(
                sentences.turn_waits("More than one turn was played"),
                self._tell.changed(decision.shown),
                decision.shown,
                seen,
                decision.margin,
            )
        if not whole and occasion.names_faults and self._think.same_piece_goes_on(self._belief, alike):
            # A block that its player moves on may as well have been moved against the rules.
            return self._tell.goes_on(decision, seen)
        resolved = self._think.resolve(alike, seen) if whole else self._think.resolve_first(alike, seen)
        if sensor_evidence.only_sensed(decision.best.changes, seen):
            if not occasion.names_faults:
                return self._tell.not_yet(decision.shown, seen, decision.margin)
            return self._tell.several_felt(decision, seen)
        if not resolved.turns:
            return self._tell.which_of(resolved, decision, seen)
        if whole and occasion.accepts:
            return self._take(resolved, decision, seen, occasion)
        ruling = self._take(resolved, decision, seen, occasion, most=1)
        if not ruling.steps:
            return ruling
        # What comes after it has not ended yet, so nothing is said aloud of that.
        return ruling.then(self._follow(seen, Trigger.TOUCH if occasion.ends_by_touch else Trigger.GLANCE))

    def _accept(
        self,
        turns: Sequence[TurnT],
        decision: Decision[StateT, TurnT],
        seen: PooledReading,
        states: tuple[StateT, ...] | None = None,
    ) -> Ruling:
        game, earlier = self._game, states or self._belief
        left = left_by(game, earlier, turns, self._waiting, seen)
        moved = self._think.advance(earlier, turns, left)
        set_aside = self._set_aside | frozenset(decision.set_aside)
        by_tops = self._think.advance(self._by_tops, turns, None)
        expected = game.appearance(earlier[0])
        accepted = self._tell.accepted(turns, moved, expected, decision.margin, seen)
        word = self._word.without(accepted.places)
        self._believe(moved.states, by_tops.states)
        self._set_aside, self._word = set_aside, word
        self._since_s = sensor_evidence.last_sensed(expected, game.appearance(moved.states[0]), seen, left.time_s)
        self._doubt(left.felt, game.appearance(moved.states[0]))
        questions = (self._tell.question_about(decision.set_aside, decision.shown, seen),) if decision.set_aside else ()
        notes = tuple(sentences.dropped_sighting(place) for place in moved.dropped)
        return Ruling((accepted, *questions), moved.steps, notes)

    def _felt_after(self, seen: PooledReading) -> Ruling:
        """Ask about a turn that left nothing to feel, where its piece was touched after an accepted turn."""
        later = seen.since(self._since_s)
        if not later.changes:
            return Ruling(())
        decision = self._think.decide(self._belief, later.without(self._set_aside), Trigger.RESTED)
        if decision.standing is Conclusion.UNDECIDED and decision.alike:
            return self._tell.undecided(decision, later, Trigger.DECLARED)
        touched = {change.place for change in later.changes}
        if any(turn.places[0] in touched for one in decision.unfelt for turn in one.first):
            return self._tell.unfelt(decision, later)
        return Ruling(())

    def _accept_by_tops(self, turns: Sequence[TurnT], decision: Decision[StateT, TurnT], seen: PooledReading) -> Ruling:
        """Accept turns, and withdraw what side faces told before."""
        withdrawn = tuple(self._game.format_state(state) for state in self._by_tops)
        return replace(self._accept(turns, decision, seen, self._by_tops), withdrawn=withdrawn)

    def _forbidden(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Trigger) -> Ruling:
        if self._may_name(decision.shown, occasion):
            against_sides = self._against_sides_only(seen, occasion)
            if against_sides is not None:
                return against_sides
            if sensor_evidence.too_many_sensed(self._game.appearance(self._belief[0]), decision.shown):
                places = self._tell.changed(decision.shown)
                return Ruling((self._tell.question_about(places, decision.shown, seen),))
            if self._more_turns_explain(decision.shown, seen):
                return self._tell.more_turns(decision.shown, seen)
            breaches = self._think.breaches_of(self._belief, decision.shown, seen)
            if not breaches:
                return self._tell.unexplained(decision.shown, seen)
            return self._fault_ruling(breaches, decision.shown, seen, occasion, decision.margin)
        return self._tell.not_yet(decision.shown, seen, decision.margin)

    def _follow(self, seen: PooledReading, occasion: Trigger) -> Ruling:
        """Judge what else the table shows, a turn having just been accepted."""
        seen = seen.since(self._since_s)
        decision = self._think.decide(self._belief, seen.without(self._set_aside), occasion)
        if decision.standing is Conclusion.FORBIDDEN:
            return self._forbidden(decision, seen, occasion)
        if decision.standing is Conclusion.UNDECIDED:
            return self._tell.undecided(decision, seen, occasion)
        if decision.best.happening is ExplanationKind.NOTHING:
            return Ruling(())
        return self._by_what_happened(decision, seen, occasion)

    def _against_sides_only(self, seen: PooledReading, occasion: Trigger) -> Ruling | None:
        """Ask about a turn that only side faces speak against; accept it when a player then declares it again."""
        if self._by_tops == self._belief:
            return None
        decision = self._think.decide(self._by_tops, seen.without(self._set_aside), occasion)
        if decision.standing is not Conclusion.ALLOWED or decision.best.happening is not ExplanationKind.TURN:
            return None
        turns = tuple(one for one in decision.explanations if one.happening is ExplanationKind.TURN)
        resolved = self._think.resolve(turns, seen)
        if not resolved.turns or resolved.against >= self._settings.turned:
            return None
        changes = decision.best.changes
        if occasion is Trigger.DECLARED and self._asked_about == changes:
            return self._accept_by_tops(resolved.turns, decision, seen)
        self._asked_about = changes
        return self._tell.against_sides(resolved, decision, seen)

    def _fault_ruling(
        self, breaches: Sequence[Breach], changes: Changes, seen: PooledReading, occasion: Trigger, margin: float
    ) -> Ruling:
        if not self._may_name(changes, occasion):
            places = tuple(dict.fromkeys(place for breach in breaches for place in breach.places))
            places = places or self._tell.changed(changes)
            return self._tell.quiet(sentences.not_a_turn_yet(places), places, changes, seen, margin)
        verdict = self._tell.illegal(breaches, changes, seen, margin)
        self._fault = faults.StandingFault(changes, verdict)
        return Ruling((verdict,))

    def _may_name(self, changes: Changes, occasion: Trigger) -> bool:
        """Faults are named when a turn has ended, and a fault that was named goes on being named."""
        return occasion.names_faults or (self._fault is not None and self._fault.changes == changes)
