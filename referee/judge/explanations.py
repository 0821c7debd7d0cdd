"""What could have happened since the last belief: each explanation the engine allows, scored against what was seen.

An explanation is nothing, part of a turn, a turn, two turns in a row, or one and part of the next. Those that look
alike are ordered by where a piece was put down on its way. Of three turns it is only said whether they would do.
"""

import enum
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Generic

from engine.api import PossibleLooks, StateT, TurnT
from engine.values import EMPTY, Appearance, Place, Player
from referee.judge.evidence.turns import side_contradiction
from referee.judge.explorer import Case, Changes, Expansion, JudgeContext, changes_between
from referee.judge.pooled_reading import PooledReading
from referee.judge.verdict import places_named
from vision.reading import PlaceChange


class ExplanationKind(enum.Enum):
    """What an explanation says has happened."""

    NOTHING = "nothing"
    PART = "part of a turn"
    TURN = "a turn"
    TURN_AND_PART = "a turn, and part of the next"
    TWO_TURNS = "two turns"

    @property
    def is_beyond_one(self) -> bool:
        """Whether something was done after a whole turn."""
        return self in {ExplanationKind.TURN_AND_PART, ExplanationKind.TWO_TURNS}


@dataclass(frozen=True)
class Explanation(Generic[StateT, TurnT]):
    """One thing that could have happened, from one of the believed states.

    ``changes`` are the (place, look) pairs that differ from what was believed; ``first`` and ``second`` the turns
    that would leave them, look-alikes together. For a started turn, ``instruction`` says what is missing and
    ``touched`` where it was played.
    """

    kind: ExplanationKind
    state: StateT
    changes: Changes
    score: float
    first: tuple[TurnT, ...] = ()
    second: tuple[TurnT, ...] = ()
    instruction: str = ""
    touched: tuple[Place, ...] = ()


def score_changes(base: Appearance, changes: Changes, seen: PooledReading, *, allowed: bool = False) -> float:
    """Log-likelihood of the changed table minus that of the believed one; hidden places are ignored.

    Of changes that the rules allow, the dice alone say how likely a star's digit is.
    """
    visible = [(seen.places[place], look, base.get(place, EMPTY)) for place, look in changes if place in seen.places]
    # A set has no order, and the sum must not depend on one.
    return math.fsum(one.lead_if_allowed(look, old) if allowed else one.lead(look, old) for one, look, old in visible)


def score_touches(seen: PooledReading, played_on: Iterable[Collection[Place]]) -> float:
    """Log-likelihood of which stacks look touched, by the best of several turns, each given as the places played on.

    It is 0 where exactly the stacks that look touched were played on; each other stack lowers it.
    """
    touched = seen.touched
    if not touched:
        return 0.0
    unexplained = math.fsum(max(0.0, one) for one in touched.values())
    explained = max((math.fsum(touched.get(place, 0.0) for place in places) for places in played_on), default=0.0)
    return explained - unexplained


def score(
    case: Case[StateT, TurnT],
    changes: Changes,
    played_on: Iterable[Collection[Place]],
    prior: float = 0.0,
    *,
    allowed: bool = True,
) -> float:
    """Weigh all evidence for changes that the rules allow or not: looks, touched stacks, and the prior log-odds."""
    return score_changes(case.base, changes, case.seen, allowed=allowed) + prior + score_touches(case.seen, played_on)


def best_first(found: Iterable[Explanation[StateT, TurnT]]) -> list[Explanation[StateT, TurnT]]:
    """Sort explanations by their scores."""
    return sorted(found, key=lambda one: -one.score)


def shown_changes(base: Appearance, seen: PooledReading, unsure_log_odds: float) -> Changes:
    """What the table shows regardless of the rules: places whose best look leads the believed one by that much.

    Where only a sensor reports a piece, the look is ``PIECE``, which agrees with any piece believed there.
    """
    visible = ((place, look, seen.places[place]) for place, look in base.items() if place in seen.places)
    return frozenset(
        (place, one.best)
        for place, look, one in visible
        if not one.agrees(look) and one.lead(one.best, look) >= unsure_log_odds
    )


def within_one_turn(case: Case[StateT, TurnT]) -> list[Explanation[StateT, TurnT]]:
    """Return the explanations by nothing, part of a turn or a turn, from each believed state, best first."""
    found: list[Explanation[StateT, TurnT]] = []
    for state in case.states:
        own = changes_between(case.base, case.game.table.appearance(state))
        found.append(Explanation(ExplanationKind.NOTHING, state, own, score(case, own, [()], allowed=False)))
        found += _next_steps(case, state, state, case.could_be)
    return best_first(found)


def _next_steps(
    case: Case[StateT, TurnT], origin: StateT, state: StateT, could_be: PossibleLooks, first: tuple[TurnT, ...] = ()
) -> Iterator[Explanation[StateT, TurnT]]:
    """Yield the explanations by part of a turn or a turn from a state, which is the origin or that after ``first``."""
    base, context, before = case.base, case.context, places_named(first)
    prior = case.settings.second_turn_prior if first else 0.0
    expansion = context.expand(state, could_be)
    kind = ExplanationKind.TURN_AND_PART if first else ExplanationKind.PART
    for part in context.unfinished(state, could_be):
        changes = changes_between(base, {**expansion.appearance, **part.change})
        weight = score(case, changes, [{*before, *part.places}], prior + case.settings.unfinished_prior)
        yield Explanation(kind, origin, changes, weight, first, instruction=part.instruction, touched=part.places)
    kind = ExplanationKind.TWO_TURNS if first else ExplanationKind.TURN
    is_base = expansion.appearance == base
    for own, turns in expansion.by_changes.items():
        changes = own if is_base else changes_between(base, {**expansion.appearance, **dict(own)})
        weight = score(case, changes, ({*before, *turn.places} for turn in turns), prior)
        yield Explanation(kind, origin, changes, weight, first or turns, turns if first else ())


def with_a_misread_sign(case: Case[StateT, TurnT], shown: Changes) -> list[Explanation[StateT, TurnT]]:
    """Return the explanations by a turn in which one of the newly written signs is another one than it seems."""
    signs = tuple(look for look in case.game.looks if look != EMPTY)
    return [
        one
        for place, look in sorted(shown)
        if look != EMPTY and case.base.get(place, EMPTY) == EMPTY
        for state in case.states
        for one in _next_steps(case, state, state, {**case.could_be, place: signs})
        if one.kind is ExplanationKind.TURN and dict(one.changes).get(place) not in {None, *case.could_be[place]}
    ]


def find_stopovers(changes: Sequence[PlaceChange], stopover_s: float) -> frozenset[Place]:
    """Return the places where a piece was put down and lifted again at least that much later."""
    down_s: dict[Place, float] = {}
    found: set[Place] = set()
    for change in changes:
        if change.put_down:
            down_s[change.place] = change.time_s
        elif change.time_s - down_s.pop(change.place, change.time_s) >= stopover_s:
            found.add(change.place)
    return frozenset(found)


def rank_by_stopovers(
    case: Case[StateT, TurnT], found: list[Explanation[StateT, TurnT]]
) -> list[Explanation[StateT, TurnT]]:
    """Rank explanations that leave the same appearance by the stopovers they pass through.

    Those that pass fewer stopovers than the best lose ``settings.stopover_log_odds``. This never decides alone, since a
    flickering sensor makes stopovers too, and a player may have tried another turn first.
    """
    passed = find_stopovers(case.seen.changes, case.settings.stopover_s)
    if not passed:
        return found
    missed = [
        (one, case.seen.observable_changes(case.base, one.changes), _missed_stopovers(one, passed)) for one in found
    ]
    least: dict[Changes, int] = {}
    for _, observed, count in missed:
        least[observed] = min(count, least.get(observed, count))
    return best_first(
        replace(one, score=one.score - case.settings.stopover_log_odds) if count > least[observed] else one
        for one, observed, count in missed
    )


def _missed_stopovers(one: Explanation[StateT, TurnT], passed: frozenset[Place]) -> int:
    """Count the stopovers that an explanation misses, by its best-fitting turns."""
    seconds = [set(turn.places) for turn in one.second] or [set(one.touched)]
    firsts = [set(turn.places) for turn in one.first] or [set()]
    return min(len(passed - first - second) for first in firsts for second in seconds)


def beyond_one_turn(case: Case[StateT, TurnT]) -> list[Explanation[StateT, TurnT]]:
    """Two turns in a row, or one and part of the next; best first.

    Only first turns whose own changes can still be seen, or may be hidden, are followed, and a forced pass. Places that
    clearly look as believed were not touched, with three exceptions: the same player may move the same piece again,
    a piece that was turned over may have been turned back, and where only sensors tell that a place is taken, another
    piece may have come to it. States with too many turns to list are skipped.
    """
    search, few = _TwoTurnSearch(case.context, case.states, case.seen), case.context.has_few_turns
    return best_first(one for state in case.states if few(state) for one in search.explanations(state))


@dataclass(frozen=True)
class _TwoTurnSearch(Case[StateT, TurnT]):
    """Searches for two turns, or one and part of the next, that lead from the believed table to what is seen."""

    @cached_property
    def while_writing(self) -> PossibleLooks:
        """The looks that ink can have between two turns; nothing for games without sheets."""
        if not self.game.has_sheets:
            return {}
        written = looks_while_writing(self)
        return {place: (look, *written[place]) for place, look in self.base.items() if place in written}

    @cached_property
    def writers(self) -> frozenset[Player]:
        """The players whose sheets look otherwise than believed where they are in sight."""
        differing = (place for place, one in self.seen.places.items() if not one.agrees(self.base.get(place, EMPTY)))
        return frozenset(self.context.sheet_of(place) for place in differing if place not in self.seen.hidden)

    @cached_property
    def suspects(self) -> frozenset[Place]:
        """The places that the first turn may have changed: hidden, unclear, or other than believed."""
        # On a sheet the cells that are hard to read would be too many.
        unsure = 0.0 if self.game.has_sheets else self.settings.margin
        return self.seen.hidden | {
            place
            for place, one in self.seen.places.items()
            if one.certainty < unsure or not one.agrees(self.base.get(place, EMPTY))
        }

    def explanations(self, state: StateT) -> Iterator[Explanation[StateT, TurnT]]:
        """Yield the explanations from one state."""
        for first, after, changes in self._first_turns(state):
            could_be = {**self.could_be, **self._left_under_hands(changes)}
            yield from _next_steps(self, state, after, could_be, (first,))

    def _first_turns(self, state: StateT) -> Iterator[tuple[TurnT, StateT, Changes]]:
        """Yield the first turns that are followed, look-alikes as one, the state after each, and what it changes."""
        context, seen, base = self.context, self.seen, self.base
        if not context.game.has_sheets:
            for turn in context.silent_turns(state):
                yield turn, context.game.rules.apply(state, turn), frozenset()
        may_all_write = context.game.has_sheets and self.writers <= set(context.game.rules.players_to_move(state))
        for free, most_untouched in ((self.suspects, 0), (self.suspects | _empty_places(context, base), 1)):
            between = {**self.while_writing, **_possible_between_turns(context, base, seen, free)}
            for changes, turns in context.expand(state, between).by_changes.items():
                # Whoever may write now does not wait for what may be written under a hand.
                if may_all_write and not self._is_by_writer(changes):
                    continue
                noticeable = seen.noticeable_changes(base, changes)
                # Where a sensor reports a piece on a place that the turn empties, the place was filled again.
                untouched = sum(
                    place not in self.suspects
                    and not (look == EMPTY and seen.only_sensed(place))
                    and look not in context.turned_over(base[place])
                    for place, look in noticeable
                )
                # A turn that sensors can't notice may still have come first.
                unnoticed = bool(changes) and not noticeable
                if untouched != most_untouched or (untouched == len(noticeable) and not unnoticed):
                    continue
                for turn in context.combined(turns):
                    after = context.game.rules.apply(state, turn)
                    if not untouched or after.to_move == state.to_move:
                        yield turn, after, changes

    def _is_by_writer(self, changes: Changes) -> bool:
        """Return whether changes are on a sheet that shows something new."""
        return any(self.context.sheet_of(place) in self.writers for place, _ in changes)

    def _left_under_hands(self, first: Changes) -> PossibleLooks:
        """Return the looks of hidden places after a first turn on a sheet that shows nothing new.

        The turn after it has to explain what is in sight.
        """
        context, after = self.context, {**self.base, **dict(first)}
        if not context.game.has_sheets or self._is_by_writer(first):
            return {}
        hidden = self.seen.hidden & after.keys()
        return {place: (after[place],) for place in hidden if context.sheet_of(place) not in self.writers}


def _possible_between_turns(
    context: JudgeContext[StateT, TurnT], base: Appearance, seen: PooledReading, free: Collection[Place]
) -> PossibleLooks:
    """Return the looks that are possible between two turns: as before or turned over, but anything on ``free`` places.

    Where only sensors report a piece, another may have come to the place it left.
    """
    return {
        place: (look, *context.turned_over(look))
        for place, look in base.items()
        if place not in free and (look == EMPTY or not seen.only_sensed(place))
    }


def looks_while_writing(case: Case[StateT, TurnT]) -> PossibleLooks:
    """Return the looks that could become those worth weighing if more is written, and these themselves."""
    looks_before = case.game.looks_before
    if looks_before is None:
        return case.could_be
    return {
        place: (*looks, *(before for each in looks for before in looks_before(each)))
        for place, looks in case.could_be.items()
    }


def _empty_places(context: JudgeContext[StateT, TurnT], base: Appearance) -> frozenset[Place]:
    """Return the empty places where a piece may have stopped between two turns; ink stays where it is."""
    if context.game.has_sheets:
        return frozenset()
    return frozenset(place for place, look in base.items() if look == EMPTY)


_TURNS_IN_A_ROW = 3
_MOST_STATES = 12


def more_turns_explain(case: Case[StateT, TurnT], changes: Changes) -> bool:
    """Return whether three turns in a row, each on a place that changed, leave what is seen, tops and sides.

    This only changes the question that is asked: three turns fit too many tables to be accepted. False where fewer than
    three places changed, since a broken rule explains those as well. The search stops after a dozen positions, since
    the players wait.
    """
    if len(changes) < _TURNS_IN_A_ROW:
        return False
    target = {**case.base, **dict(changes)}
    visible = {place: look for place, look in target.items() if place in case.seen.places}
    changed = frozenset(place for place, _ in changes)
    return any(_SequenceSearch(case, state, visible, changed).finds(state, ()) for state in case.states)


@dataclass
class _SequenceSearch(Generic[StateT, TurnT]):
    """Searches for turns from one state to a table, nearest positions first."""

    case: Case[StateT, TurnT]
    origin: StateT
    target: Mapping[Place, str]
    changed: frozenset[Place]
    _expanded: int = field(default=0, init=False)

    def finds(self, state: StateT, played: tuple[TurnT, ...]) -> bool:
        """Return whether further turns after those ``played`` lead to the target."""
        self._expanded += 1
        if self._expanded > _MOST_STATES or not self.case.context.has_few_turns(state):
            return False
        left, settings = _TURNS_IN_A_ROW - len(played) - 1, self.case.settings
        expansion = self.case.context.expand(state, self._could_be(state, left))
        ways = [
            (missing, turns)
            for changes, turns in expansion.by_changes.items()
            if any(place in self.changed for place, _ in changes)
            # Only the last turn may reach the target; if an earlier one does, fewer turns would do.
            and bool(missing := self._missing(expansion, changes)) is bool(left)
        ]
        for _, turns in sorted(ways, key=lambda way: way[0]):
            for turn in self.case.context.combined(turns):
                sequence = (*played, turn)
                if left:
                    if self.finds(self.case.game.rules.apply(state, turn), sequence):
                        return True
                elif side_contradiction(self.case.game, self.origin, sequence, self.case.seen) < settings.side:
                    return True
        return False

    def _could_be(self, state: StateT, left: int) -> PossibleLooks:
        """Return the looks that are possible after the next turn; after the last one, the target."""
        if not left:
            # A sensor can't tell looks apart.
            return {place: (look,) for place, look in self.target.items() if not self.case.seen.only_sensed(place)}
        base = self.case.game.table.appearance(state)
        free = self.changed | self.case.seen.hidden | _empty_places(self.case.context, base)
        return _possible_between_turns(self.case.context, base, self.case.seen, free)

    def _missing(self, expansion: Expansion[TurnT], changes: Changes) -> int:
        after = {**expansion.appearance, **dict(changes)}
        seen = self.case.seen.places
        return sum(
            seen[place].observable_look(after[place]) != seen[place].observable_look(look)
            for place, look in self.target.items()
        )
