"""Explanations by several turns in a row: two, one and part of the next, or whether three could be."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Generic

from engine.api import PossibleLooks, StateT, TurnT
from engine.values import EMPTY, Appearance, Place, Player
from referee.judge.evidence.sides import side_contradiction
from referee.judge.explanations import (
    Changes,
    Explanation,
    ExplanationKind,
    score_allowed,
    score_touches,
    worth_weighing,
)
from referee.judge.explorer import Expansion, Explorer, JudgeContext, changes_between
from referee.judge.pooled_reading import PooledReading


def beyond_one_turn(
    context: JudgeContext[StateT, TurnT], base: Appearance, states: Sequence[StateT], seen: PooledReading
) -> list[Explanation[StateT, TurnT]]:
    """Two turns in a row, or one and part of the next; best first.

    Only first turns whose own changes can still be seen, or may be hidden, are followed, and a forced pass. Places that
    clearly look as believed were not touched, with three exceptions: the same player may move the same piece again,
    a piece that was turned over may have been turned back, and where only sensors tell that a place is taken, another
    piece may have come to it. States with too many turns to list are skipped.
    """
    search = _TwoTurnSearch(context, base, seen)
    found = [one for state in states if context.explorer.has_few_turns(state) for one in search.explanations(state)]
    return sorted(found, key=lambda one: -one.score)


@dataclass(frozen=True)
class _TwoTurnSearch(Generic[StateT, TurnT]):
    """Searches for two turns, or one and part of the next, that lead from the table ``base`` to what is seen."""

    context: JudgeContext[StateT, TurnT]
    base: Appearance
    seen: PooledReading

    @cached_property
    def could_be(self) -> PossibleLooks:
        """The looks that are possible after both turns."""
        return worth_weighing(self.context, self.seen)

    @cached_property
    def while_writing(self) -> PossibleLooks:
        """The looks that ink can have between two turns; nothing for games without sheets."""
        if not self.context.has_sheets:
            return {}
        written = looks_while_writing(self.context, self.could_be)
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
        unsure = 0.0 if self.context.has_sheets else self.context.settings.margin
        return self.seen.hidden | {
            place
            for place, one in self.seen.places.items()
            if one.certainty < unsure or not one.agrees(self.base.get(place, EMPTY))
        }

    def explanations(self, state: StateT) -> Iterator[Explanation[StateT, TurnT]]:
        """Yield the explanations from one state."""
        for first, after, changes in self._first_turns(state):
            yield from self._after_first(state, first, after, {**self.could_be, **self._left_under_hands(changes)})

    def _first_turns(self, state: StateT) -> Iterator[tuple[TurnT, StateT, Changes]]:
        """Yield the first turns that are followed, look-alikes as one, the state after each, and what it changes."""
        context, seen = self.context, self.seen
        if not context.has_sheets:
            for turn in context.explorer.silent_turns(state):
                yield turn, context.game.rules.apply(state, turn), frozenset()
        may_all_write = context.has_sheets and self.writers <= set(context.game.rules.players_to_move(state))
        for free, most_untouched in (
            (self.suspects, 0),
            (self.suspects | _empty_places(context, self.base), 1),
        ):
            between = {**self.while_writing, **_possible_between_turns(context, self.base, seen, free)}
            for changes, turns in context.explorer.expand(state, between).by_changes.items():
                # Whoever may write now does not wait for what may be written under a hand.
                if may_all_write and not self._is_by_writer(changes):
                    continue
                noticeable = seen.noticeable_changes(self.base, changes)
                # Where a sensor reports a piece on a place that the turn empties, the place was filled again.
                untouched = sum(
                    place not in self.suspects
                    and not (look == EMPTY and seen.only_sensed(place))
                    and look not in context.turned_over(self.base[place])
                    for place, look in noticeable
                )
                # A turn that sensors can't notice may still have come first.
                unnoticed = bool(changes) and not noticeable
                if untouched != most_untouched or (untouched == len(noticeable) and not unnoticed):
                    continue
                for turn in combine_alike(context.explorer, turns):
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
        if not self.context.has_sheets or self._is_by_writer(first):
            return {}
        after = {**self.base, **dict(first)}
        hidden = self.seen.hidden & after.keys()
        return {place: (after[place],) for place in hidden if self.context.sheet_of(place) not in self.writers}

    def _after_first(
        self, state: StateT, first: TurnT, after: StateT, could_be: PossibleLooks
    ) -> Iterator[Explanation[StateT, TurnT]]:
        explorer, settings, seen = self.context.explorer, self.context.settings, self.seen
        following = explorer.expand(after, could_be)
        for part in explorer.unfinished(after, could_be):
            changes = changes_between(self.base, {**following.appearance, **part.change})
            score = score_allowed(self.base, changes, seen) + settings.second_turn_prior + settings.unfinished_prior
            score += score_touches(seen, [{*first.places, *part.places}])
            yield Explanation(
                ExplanationKind.TURN_AND_PART,
                state,
                changes,
                score,
                (first,),
                instruction=part.instruction,
                touched=part.places,
            )
        for own_changes, seconds in following.by_changes.items():
            changes = changes_between(self.base, {**following.appearance, **dict(own_changes)})
            score = score_allowed(self.base, changes, seen) + settings.second_turn_prior
            score += score_touches(seen, ({*first.places, *second.places} for second in seconds))
            yield Explanation(ExplanationKind.TWO_TURNS, state, changes, score, (first,), seconds)


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


def looks_while_writing(context: JudgeContext[StateT, TurnT], could_be: PossibleLooks) -> PossibleLooks:
    """Return the looks that could become those of ``could_be`` if more is written, and these themselves."""
    looks_before = context.game.looks_before
    if looks_before is None:
        return could_be
    return {
        place: (*looks, *(before for each in looks for before in looks_before(each)))
        for place, looks in could_be.items()
    }


def _empty_places(context: JudgeContext[StateT, TurnT], base: Appearance) -> frozenset[Place]:
    """Return the empty places where a piece may have stopped between two turns; ink stays where it is."""
    if context.has_sheets:
        return frozenset()
    return frozenset(place for place, look in base.items() if look == EMPTY)


def combine_alike(explorer: Explorer[StateT, TurnT], turns: Sequence[TurnT]) -> Iterator[TurnT]:
    """Yield one turn that stands for all of these look-alikes, or each of them when there is none."""
    combined = explorer.combine(turns)
    yield from turns if combined is None else (combined,)


_TURNS_IN_A_ROW = 3
_MOST_STATES = 12


def more_turns_explain(
    context: JudgeContext[StateT, TurnT], states: Sequence[StateT], changes: Changes, seen: PooledReading
) -> bool:
    """Return whether three turns in a row, each on a place that changed, leave what is seen, tops and sides.

    This only changes the question that is asked: three turns fit too many tables to be accepted. False where fewer than
    three places changed, since a broken rule explains those as well. The search stops after a dozen positions, since
    the players wait.
    """
    if len(changes) < _TURNS_IN_A_ROW:
        return False
    target = {**context.game.table.appearance(states[0]), **dict(changes)}
    visible = {place: look for place, look in target.items() if place in seen.places}
    changed = frozenset(place for place, _ in changes)
    return any(_SequenceSearch(context, state, visible, changed, seen).finds(state, ()) for state in states)


@dataclass
class _SequenceSearch(Generic[StateT, TurnT]):
    """Searches for turns from one state to a table, nearest positions first."""

    context: JudgeContext[StateT, TurnT]
    origin: StateT
    target: Mapping[Place, str]
    changed: frozenset[Place]
    seen: PooledReading
    _expanded: int = field(default=0, init=False)

    def finds(self, state: StateT, played: tuple[TurnT, ...]) -> bool:
        """Return whether further turns after those ``played`` lead to the target."""
        self._expanded += 1
        if self._expanded > _MOST_STATES or not self.context.explorer.has_few_turns(state):
            return False
        left, settings = _TURNS_IN_A_ROW - len(played) - 1, self.context.settings
        expansion = self.context.explorer.expand(state, self._could_be(state, left))
        ways = [
            (missing, turns)
            for changes, turns in expansion.by_changes.items()
            if any(place in self.changed for place, _ in changes)
            # Only the last turn may reach the target; if an earlier one does, fewer turns would do.
            and bool(missing := self._missing(expansion, changes)) is bool(left)
        ]
        for _, turns in sorted(ways, key=lambda way: way[0]):
            for turn in combine_alike(self.context.explorer, turns):
                sequence = (*played, turn)
                if left:
                    if self.finds(self.context.game.rules.apply(state, turn), sequence):
                        return True
                elif side_contradiction(self.context.game, self.origin, sequence, self.seen) < settings.side:
                    return True
        return False

    def _could_be(self, state: StateT, left: int) -> PossibleLooks:
        """Return the looks that are possible after the next turn; after the last one, the target."""
        if not left:
            # A sensor can't tell looks apart.
            return {place: (look,) for place, look in self.target.items() if not self.seen.only_sensed(place)}
        base = self.context.game.table.appearance(state)
        return _possible_between_turns(
            self.context, base, self.seen, self.changed | self.seen.hidden | _empty_places(self.context, base)
        )

    def _missing(self, expansion: Expansion[StateT, TurnT], changes: Changes) -> int:
        after = {**expansion.appearance, **dict(changes)}
        seen = self.seen.places
        return sum(
            seen[place].observable_look(after[place]) != seen[place].observable_look(look)
            for place, look in self.target.items()
        )
