"""The judge: joins what is believed with what is seen, and never guesses silently."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Generic

from engine.api import Breach, Game, OptionValue, Place, StateT, TurnT
from referee.judge import faults, starting, words
from referee.judge.accepting import Resolved, advance, end_the_game, narrow_by_sides, resolve, resolve_first
from referee.judge.belief import Explorer, changes_between
from referee.judge.deciding import Decision, Standing, decide
from referee.judge.hypotheses import Changes, Happening
from referee.judge.pooling import PooledReading, pool
from referee.judge.rulings import Ruling
from referee.judge.settings import JudgeSettings, Occasion
from referee.judge.telling import Teller
from referee.judge.trusting import Word, looked_at
from referee.judge.unwatched import more_turns_explain
from referee.judge.waiting import Waiting, left_by, was_touched
from referee.judge.weighing import Leaning, Weighing, weigh
from referee.verdict import Verdict, VerdictKind
from vision.reading import Reading


class Judge(Generic[StateT, TurnT]):
    """Judges readings of a resting table against what is believed.

    ``belief`` holds every state that may be the case: none before the set-up, normally one, several while it is
    open who starts. ``fault`` is one that was named before a restart and not put right. Reads no
    clock and no files: the same calls give the same rulings.
    """

    def __init__(
        self,
        game: Game[StateT, TurnT],
        settings: JudgeSettings | None = None,
        belief: Sequence[StateT] = (),
        fault: Verdict | None = None,
    ) -> None:
        self._game = game
        self._settings = settings or JudgeSettings()
        self._explorer: Explorer[StateT, TurnT] = Explorer(game)
        self._belief: tuple[StateT, ...] = tuple(belief)
        # The same without what only side faces told, for when a side face was misread.
        self._by_tops: tuple[StateT, ...] = tuple(belief)
        self._asked_about_sides: Changes | None = None
        self._refused: frozenset[Changes] = frozenset()
        self._waiting: Waiting[TurnT] = Waiting()
        self._fault = faults.standing(fault)
        self._set_aside: frozenset[Place] = frozenset()
        self._word = Word()
        # What each place that could be seen showed at the latest look.
        self._looked: Mapping[Place, str] = {}

    @property
    def belief(self) -> tuple[StateT, ...]:
        """Every state that may be the case; empty before the set-up."""
        return self._belief

    @property
    def fault(self) -> Verdict | None:
        """The fault that was named and not yet put right."""
        return None if self._fault is None else self._fault.verdict

    @property
    def _tell(self) -> Teller[StateT, TurnT]:
        return Teller(self._game, self._belief)

    @property
    def against_camera(self) -> tuple[Place, ...]:
        """Places where a person's word holds although the camera sees something else."""
        return tuple(place for place in self._game.places if place in self._word.left_out)

    @property
    def set_aside(self) -> tuple[Place, ...]:
        """Places that a person should look at while the game goes on."""
        return tuple(place for place in self._game.places if place in self._set_aside)

    def correct(
        self,
        states: Sequence[StateT],
        places: Sequence[Place] = (),
        *,
        undone: Sequence[StateT] = (),
        fault: Verdict | None = None,
    ) -> None:
        """Believe a person: ``states`` hold from here, whatever the camera says.

        What was believed until now, and the states ``undone``, are not accepted again as a turn until the table has
        shown something else, or a player declares it. Where one of ``places`` looks otherwise at the next look, the
        camera counts for nothing there until it shows a third thing or is played on. ``fault`` is one named since.
        Raises ValueError for no states.
        """
        if not states:
            raise ValueError("a correction needs at least one state")
        looks = self._game.appearance(states[0])
        refused = {changes_between(looks, self._game.appearance(state)) for state in (*self._belief[:1], *undone)}
        self._believe(tuple(states))
        self._refused = frozenset(refused - {frozenset()})
        # Where the camera saw the same, a word settles nothing between them.
        self._word = Word(frozenset(place for place in places if self._looked.get(place) != looks[place]))
        self._fault = faults.standing(fault)

    def overrule(self, places: Sequence[Place]) -> None:
        """Believe a person that these places are as believed: they are left out until they look so again."""
        self._set_aside |= frozenset(places)
        self._fault = None

    def begin(
        self,
        readings: Sequence[Reading],
        options: Mapping[str, OptionValue] | None = None,
        *,
        anywhere: bool = False,
        occasion: Occasion = Occasion.RESTED,
    ) -> Ruling:
        """Take the set-up from readings of a resting table.

        Gives *set up* when it is a legal start, *illegal* with its breaches when it is not, *ambiguous* when a place
        can't be read, *cannot see* when places are hidden. Where the occasion names no faults it is *not finished*
        in place of the first two faults, and with ``anywhere``, since more pieces may be on their way. Raises
        OptionError for a bad option.
        """
        game, settings = self._game, self._settings
        seen = pool(readings, game.places, game.looks, settings.probability_floor)
        ruling, states, by_tops = starting.take_set_up(
            game, seen, options, settings, anywhere=anywhere, occasion=occasion
        )
        if states:
            self._believe(states, by_tops)
        return ruling

    def consider(self, readings: Sequence[Reading], occasion: Occasion) -> Ruling:
        """Judge readings of one resting table. Raises ValueError before the set-up or without readings."""
        if not self._belief:
            raise ValueError("there is no belief to judge from; call begin with the set-up, or correct, first")
        game, settings = self._game, self._settings
        seen = pool(readings, game.places, game.looks, settings.probability_floor)
        if not seen.places:
            return self._tell.ruling(VerdictKind.CANNOT_SEE, words.nothing_to_see(), seen)
        self._looked = {place: one.best for place, one in seen.places.items()}
        outcomes = [game.outcome(state) for state in self._belief]
        if outcomes[0] is not None and all(outcomes):
            return self._tell.ruling(VerdictKind.UNCHANGED, words.game_over(outcomes[0].reason), seen)
        self._set_aside = faults.still_odd(self._game, self._belief, self._set_aside, seen)
        self._word = looked_at(self._word, game.appearance(self._belief[0]), seen)
        seen = seen.without(self._word.left_out)
        visible = seen.without(self._set_aside)
        decision = decide(game, self._explorer, self._belief, visible, settings)
        if was_touched(game, self._explorer, self._belief, self._waiting, decision, visible, settings, occasion):
            # What the touch did is judged as the next player's doing.
            return self._accept(self._waiting.turns, decision, seen).then(self._follow(seen, occasion))
        if decision.standing is Standing.FORBIDDEN:
            return self._forbidden(decision, seen, occasion)
        if decision.standing is Standing.UNDECIDED:
            return self._tell.undecided(decision, seen, occasion)
        if decision.best.changes not in self._refused:
            self._refused = frozenset()
        elif occasion is not Occasion.DECLARED:
            places = self._tell.changed(decision.best.changes)
            return self._tell.quiet(words.taken_back(places), places, decision.best.changes, seen, decision.margin)
        return self._by_what_happened(decision, seen, occasion)

    def _by_what_happened(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion) -> Ruling:
        match decision.best.happening:
            case Happening.NOTHING:
                return self._nothing(decision, seen, occasion)
            case Happening.PART:
                return self._part(decision, seen, occasion)
            case Happening.TURN:
                return self._turn(decision, seen, occasion)
            case Happening.TURN_AND_PART | Happening.TWO_TURNS:
                return self._more_than_a_turn(decision, seen, occasion)

    def _nothing(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion) -> Ruling:
        self._waiting = Waiting()
        # A fault that was put back the wrong way round is named as soon as the table shows it.
        after_fault = occasion if self._fault is None or occasion is Occasion.DECLARED else Occasion.RESTED
        turned = self._turned_in_place(seen, self._settings.turned)
        if turned:
            return self._fault_ruling(turned, frozenset(), seen, after_fault, decision.margin)
        doubtful = self._turned_in_place(seen, self._settings.side) if after_fault.names_faults else ()
        if doubtful:
            return self._doubt_sides(doubtful, decision, seen, occasion)
        if decision.set_aside:
            if not occasion.names_faults:
                return self._tell.ruling(VerdictKind.UNCHANGED, words.unchanged(), seen)
            return Ruling((self._tell.question_about(decision.set_aside, decision.shown, seen),))
        if self._fault is not None:
            fault, self._fault = self._fault, None
            return self._tell.ruling(
                VerdictKind.PUT_RIGHT, words.put_right(), seen, places=fault.verdict.places, margin=decision.margin
            )
        return self._tell.ruling(VerdictKind.UNCHANGED, words.unchanged(), seen, margin=decision.margin)

    def _turned_in_place(self, seen: PooledReading, least_against: float) -> tuple[Breach, ...]:
        visible = seen.without(self._set_aside)
        return faults.turned_in_place(self._game, self._belief, visible, self._settings, least_against)

    def _doubt_sides(
        self, turned: Sequence[Breach], decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion
    ) -> Ruling:
        """Ask about pieces that may have been turned; when a player then declares it again, they stand as they did."""
        looks = self._game.appearance(self._belief[0])
        about = frozenset((place, looks[place]) for breach in turned for place in breach.places)
        if occasion is not Occasion.DECLARED or self._asked_about_sides != about:
            self._asked_about_sides = about
            return self._tell.turned_besides(turned, decision, seen)
        was_fault = self._fault is not None
        states, _ = narrow_by_sides(self._game, self._by_tops, seen, self._settings)
        self._believe(states, self._by_tops)
        kind = VerdictKind.PUT_RIGHT if was_fault else VerdictKind.UNCHANGED
        said = words.put_right() if was_fault else words.unchanged()
        withdrawn = tuple(self._game.format_state(state) for state in states)
        return replace(self._tell.ruling(kind, said, seen, margin=decision.margin), withdrawn=withdrawn)

    def _part(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion) -> Ruling:
        best, self._waiting = decision.best, Waiting()
        if occasion is Occasion.DECLARED:
            breaches = faults.breaches_of(self._game, self._belief, decision.best.changes, seen, self._settings)
            if breaches:
                return self._fault_ruling(breaches, best.changes, seen, occasion, decision.margin)
        return self._tell.quiet(best.to_do, best.touched, decision.shown, seen, decision.margin)

    def _turn(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion) -> Ruling:
        turns = tuple(one for one in decision.explanations if one.happening is Happening.TURN)
        part = next((one for one in decision.explanations if one.happening is Happening.PART), None)
        resolved = resolve(self._game, self._explorer, turns, seen, self._settings)
        over = occasion.ends_by_touch and end_the_game(self._game, self._belief, resolved.turns)
        if not occasion.accepts and not over:
            if occasion.ends_by_touch and resolved.turns:
                self._waiting = Waiting(resolved.turns, decision.best.changes, seen)
                if occasion.names_faults and self._weighed(resolved, decision, seen).leaning is not Leaning.FOR:
                    return self._take(resolved, decision, seen, occasion)
            described = [self._game.describe(turn) for turn in resolved.turns or resolved.candidates]
            return self._tell.pending(words.turn_waits(" ".join(described[:1])), resolved, decision, seen)
        if part is not None and occasion is not Occasion.DECLARED:
            return self._tell.pending(words.may_go_on(part.to_do), resolved, decision, seen)
        if not resolved.turns:
            return self._tell.which_of(resolved, decision, seen)
        return self._take(resolved, decision, seen, occasion)

    def _take(
        self,
        resolved: Resolved[TurnT],
        decision: Decision[StateT, TurnT],
        seen: PooledReading,
        occasion: Occasion,
        most: int | None = None,
    ) -> Ruling:
        """Accept turns, the first ``most`` of them, unless the side faces seen speak against any of them."""
        taken, changes = resolved.turns[:most], decision.best.changes
        weighed = self._weighed(resolved, decision, seen)
        confirmed = occasion is Occasion.DECLARED and self._asked_about_sides == changes
        if weighed.leaning is Leaning.BREAKS_A_RULE:
            return self._fault_ruling(weighed.breaches, changes, seen, occasion, resolved.against)
        if weighed.leaning is Leaning.FOR or (weighed.leaning is Leaning.DOUBTFUL and confirmed):
            return self._accept(taken, decision, seen)
        if weighed.leaning is Leaning.TURNED_BESIDES and confirmed:
            return self._accept_by_tops(taken, decision, seen)
        if not occasion.names_faults:
            return self._tell.not_yet(decision.shown, seen, decision.margin)
        if weighed.leaning is Leaning.RULED_OUT:
            if self._more_turns_explain(changes, seen):
                return self._tell.more_turns(changes, seen)
            return self._tell.forbidden_by_sides(resolved, decision, seen)
        self._asked_about_sides = changes
        if weighed.leaning is Leaning.TURNED_BESIDES:
            return self._tell.turned_besides(weighed.breaches, decision, seen)
        return self._tell.against_sides(resolved, decision, seen)

    def _weighed(self, resolved: Resolved[TurnT], decision: Decision[StateT, TurnT], seen: PooledReading) -> Weighing:
        return weigh(self._game, self._belief, resolved, decision.best, seen, self._set_aside, self._settings)

    def _more_turns_explain(self, changes: Changes, seen: PooledReading) -> bool:
        visible = seen.without(self._set_aside)
        return more_turns_explain(self._game, self._explorer, self._belief, changes, visible, self._settings)

    def _more_than_a_turn(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion) -> Ruling:
        whole = decision.best.happening is Happening.TWO_TURNS
        alike = tuple(one for one in decision.explanations if one.happening is decision.best.happening)
        if not occasion.accepts and not occasion.ends_by_touch:
            return self._tell.quiet(
                words.turn_waits("More than one turn was played"),
                self._tell.changed(decision.shown),
                decision.shown,
                seen,
                decision.margin,
            )
        if whole:
            resolved = resolve(self._game, self._explorer, alike, seen, self._settings)
        else:
            resolved = resolve_first(self._game, alike, seen)
        if not resolved.turns:
            return self._tell.which_of(resolved, decision, seen)
        if whole and occasion.accepts:
            return self._take(resolved, decision, seen, occasion)
        ruling = self._take(resolved, decision, seen, occasion, most=1)
        if not ruling.steps:
            return ruling
        # What comes after it has not ended yet, so nothing is said aloud of that.
        return ruling.then(self._follow(seen, Occasion.TOUCH if occasion.ends_by_touch else Occasion.GLANCE))

    def _accept(
        self,
        turns: Sequence[TurnT],
        decision: Decision[StateT, TurnT],
        seen: PooledReading,
        states: tuple[StateT, ...] | None = None,
    ) -> Ruling:
        game, earlier = self._game, states or self._belief
        left = left_by(game, earlier, turns, self._waiting, seen)
        moved = advance(game, self._explorer, earlier, turns, left, self._settings)
        set_aside = self._set_aside | frozenset(decision.set_aside)
        by_tops = advance(game, self._explorer, self._by_tops, turns, None, self._settings)
        expected = game.appearance(earlier[0])
        accepted = self._tell.accepted(turns, moved, expected, decision.margin, seen)
        word = self._word.without(accepted.places)
        self._believe(moved.states, by_tops.states)
        self._set_aside, self._word = set_aside, word
        questions = (self._tell.question_about(decision.set_aside, decision.shown, seen),) if decision.set_aside else ()
        notes = tuple(words.dropped_sighting(place) for place in moved.dropped)
        return Ruling((accepted, *questions), moved.steps, notes)

    def _accept_by_tops(self, turns: Sequence[TurnT], decision: Decision[StateT, TurnT], seen: PooledReading) -> Ruling:
        """Accept turns, and withdraw what side faces told before."""
        withdrawn = tuple(self._game.format_state(state) for state in self._by_tops)
        return replace(self._accept(turns, decision, seen, self._by_tops), withdrawn=withdrawn)

    def _forbidden(self, decision: Decision[StateT, TurnT], seen: PooledReading, occasion: Occasion) -> Ruling:
        if self._may_name(decision.shown, occasion):
            against_sides = self._against_sides_only(seen, occasion)
            if against_sides is not None:
                return against_sides
            if self._more_turns_explain(decision.shown, seen):
                return self._tell.more_turns(decision.shown, seen)
            breaches = faults.breaches_of(self._game, self._belief, decision.shown, seen, self._settings)
            if not breaches:
                return self._tell.unexplained(decision.shown, seen)
            return self._fault_ruling(breaches, decision.shown, seen, occasion, decision.margin)
        return self._tell.not_yet(decision.shown, seen, decision.margin)

    def _follow(self, seen: PooledReading, occasion: Occasion) -> Ruling:
        """Judge what else the table shows, a turn having just been accepted."""
        decision = decide(self._game, self._explorer, self._belief, seen.without(self._set_aside), self._settings)
        if decision.standing is Standing.FORBIDDEN:
            return self._forbidden(decision, seen, occasion)
        if decision.standing is Standing.UNDECIDED:
            return self._tell.undecided(decision, seen, occasion)
        if decision.best.happening is Happening.NOTHING:
            return Ruling(())
        return self._by_what_happened(decision, seen, occasion)

    def _against_sides_only(self, seen: PooledReading, occasion: Occasion) -> Ruling | None:
        """Ask about a turn that only side faces speak against; accept it when a player then declares it again."""
        if self._by_tops == self._belief:
            return None
        decision = decide(self._game, self._explorer, self._by_tops, seen.without(self._set_aside), self._settings)
        if decision.standing is not Standing.ALLOWED or decision.best.happening is not Happening.TURN:
            return None
        turns = tuple(one for one in decision.explanations if one.happening is Happening.TURN)
        resolved = resolve(self._game, self._explorer, turns, seen, self._settings)
        if not resolved.turns or resolved.against >= self._settings.turned:
            return None
        changes = decision.best.changes
        if occasion is Occasion.DECLARED and self._asked_about_sides == changes:
            return self._accept_by_tops(resolved.turns, decision, seen)
        self._asked_about_sides = changes
        return self._tell.against_sides(resolved, decision, seen)

    def _fault_ruling(
        self, breaches: Sequence[Breach], changes: Changes, seen: PooledReading, occasion: Occasion, margin: float
    ) -> Ruling:
        if not self._may_name(changes, occasion):
            places = tuple(dict.fromkeys(place for breach in breaches for place in breach.places))
            places = places or self._tell.changed(changes)
            return self._tell.quiet(words.not_a_turn_yet(places), places, changes, seen, margin)
        verdict = self._tell.illegal(breaches, changes, seen, margin)
        self._fault = faults.StandingFault(changes, verdict)
        return Ruling((verdict,))

    def _may_name(self, changes: Changes, occasion: Occasion) -> bool:
        """Faults are named when a turn has ended, and a fault that was named goes on being named."""
        return occasion.names_faults or (self._fault is not None and self._fault.changes == changes)

    def _believe(self, states: tuple[StateT, ...], by_tops: tuple[StateT, ...] | None = None) -> None:
        self._belief = states
        self._by_tops = by_tops or states
        self._asked_about_sides = None
        self._refused = frozenset()
        self._waiting = Waiting()
        self._fault = None
        self._set_aside = frozenset()
        self._word = Word()
