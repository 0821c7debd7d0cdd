"""What could have happened since the last belief: each explanation the engine allows, scored against what was seen.

Explanations that look alike are ordered by where a piece was put down on its way. A short search tells whether more
turns than the judge accepts would explain the table.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic

from engine.api import StateT, TurnT
from engine.showing import CouldBe, WritesInSteps
from engine.values import EMPTY, Appearance, Place, Player
from referee.judge.evidence.sides import side_contradiction
from referee.judge.explorer import Expansion, Explorer, JudgeContext, changes_between
from referee.judge.pooled_reading import PooledReading
from vision.reading import PlaceChange

Changes = frozenset[tuple[Place, str]]


class ExplanationKind(enum.Enum):
    """What an explanation says has happened."""

    NOTHING = "nothing"
    PART = "part of a turn"
    TURN = "a turn"
    TURN_AND_PART = "a turn, and part of the next"
    TWO_TURNS = "two turns"


@dataclass(frozen=True)
class Explanation(Generic[StateT, TurnT]):
    """One thing that could have happened, from one of the believed states.

    ``changes`` are the (place, look) pairs that differ from what was believed; ``first`` and ``second`` the turns
    that would leave them, look-alikes together; for a started turn, ``to_do`` says what is missing and ``touched``
    where it was played.
    """

    kind: ExplanationKind
    state: StateT
    changes: Changes
    score: float
    first: tuple[TurnT, ...] = ()
    second: tuple[TurnT, ...] = ()
    to_do: str = ""
    touched: tuple[Place, ...] = ()


def score_changes(base: Appearance, changes: Changes, seen: PooledReading) -> float:
    """Log-likelihood of the changed table minus that of the believed one; hidden places are ignored."""
    # A set has no order, and the sum must not depend on one.
    return math.fsum(
        seen.places[place].lead(look, base.get(place, EMPTY)) for place, look in changes if place in seen.places
    )


def score_allowed(base: Appearance, changes: Changes, seen: PooledReading) -> float:
    """Return ``score_changes`` of changes that the rules allow: the dice alone say how likely a star's digit is."""
    return math.fsum(
        seen.places[place].lead_if_allowed(look, base.get(place, EMPTY))
        for place, look in changes
        if place in seen.places
    )


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


def shown_changes(base: Appearance, seen: PooledReading, unsure: float) -> Changes:
    """What the table shows regardless of the rules: places whose best look leads the believed one by ``unsure``.

    Where only a sensor reports a piece, the look is ``PIECE``, which agrees with any piece believed there.
    """
    changes = []
    for place, look in base.items():
        place_seen = seen.places.get(place)
        if place_seen is None:
            continue
        best = place_seen.best
        if not place_seen.agrees(look) and place_seen.lead(best, look) >= unsure:
            changes.append((place, best))
    return frozenset(changes)


def within_one_turn(
    context: JudgeContext[StateT, TurnT], base: Appearance, states: Sequence[StateT], seen: PooledReading
) -> list[Explanation[StateT, TurnT]]:
    """Return the explanations by nothing, part of a turn or a turn, from each believed state, best first."""
    found: list[Explanation[StateT, TurnT]] = []
    could_be = worth_weighing(context, seen)
    for state in states:
        expansion = context.explorer.expand(state, could_be)
        own = changes_between(base, expansion.appearance)
        score = score_changes(base, own, seen) + score_touches(seen, [()])
        found.append(Explanation(ExplanationKind.NOTHING, state, own, score))
        for part in context.explorer.unfinished(state, could_be):
            changes = changes_between(base, {**expansion.appearance, **part.change})
            score = score_allowed(base, changes, seen) + context.settings.unfinished_prior
            score += score_touches(seen, [part.places])
            found.append(
                Explanation(ExplanationKind.PART, state, changes, score, to_do=part.to_do, touched=part.places)
            )
        found += _by_turns(base, expansion, seen)
    return sorted(found, key=lambda one: -one.score)


def _by_turns(
    base: Appearance, expansion: Expansion[StateT, TurnT], seen: PooledReading
) -> Iterator[Explanation[StateT, TurnT]]:
    """Yield the explanations by a turn from one state."""
    is_base = expansion.appearance == base
    for own, turns in expansion.by_changes.items():
        changes = own if is_base else changes_between(base, {**expansion.appearance, **dict(own)})
        score = score_allowed(base, changes, seen) + score_touches(seen, (turn.places for turn in turns))
        yield Explanation(ExplanationKind.TURN, expansion.state, changes, score, turns)


def with_a_misread_sign(
    context: JudgeContext[StateT, TurnT],
    base: Appearance,
    states: Sequence[StateT],
    seen: PooledReading,
    shown: Changes,
) -> list[Explanation[StateT, TurnT]]:
    """Return the explanations by a turn in which one of the newly written signs is another one than it seems."""
    could_be = worth_weighing(context, seen)
    signs = tuple(look for look in context.game.looks if look != EMPTY)
    return [
        one
        for place, look in sorted(shown)
        if look != EMPTY and base.get(place, EMPTY) == EMPTY
        for state in states
        for one in _by_turns(base, context.explorer.expand(state, {**could_be, place: signs}), seen)
        if dict(one.changes).get(place) not in {None, *could_be[place]}
    ]


def beyond_one_turn(
    context: JudgeContext[StateT, TurnT], base: Appearance, states: Sequence[StateT], seen: PooledReading
) -> list[Explanation[StateT, TurnT]]:
    """Two turns in a row, or one and part of the next; best first.

    Only first turns whose own changes can still be seen, or may be hidden, are followed. Places that clearly look as
    believed were not touched, with two exceptions: the same player may move the same piece again, and where only
    sensors tell that a place is taken, another piece may have come to it. States with too many turns to list are
    skipped.
    """
    could_be = worth_weighing(context, seen)
    found: list[Explanation[StateT, TurnT]] = []
    writers = _writers(context, base, seen)
    for state in filter(context.explorer.has_few_turns, states):
        for group, after, changes in _first_turns(context, base, state, seen, could_be, writers):
            follows = {**could_be, **_left_under_hands(context, base, seen, writers, changes)}
            found.extend(_after_first(context, base, state, group, after, seen, follows))
    return sorted(found, key=lambda one: -one.score)


def _first_turns(
    context: JudgeContext[StateT, TurnT],
    base: Appearance,
    state: StateT,
    seen: PooledReading,
    could_be: CouldBe,
    writers: Collection[Player],
) -> Iterator[tuple[TurnT, StateT, Changes]]:
    """Yield the first turns that are followed, look-alikes as one, the state after each, and what it changes.

    ``could_be`` are the looks that are possible after both turns.
    """
    # On a sheet the cells that are hard to read would be too many.
    unsure = 0.0 if context.has_sheets else context.settings.margin
    suspects = seen.hidden | {
        place for place, one in seen.places.items() if one.certainty < unsure or not one.agrees(base.get(place, EMPTY))
    }
    may_all_write = context.has_sheets and set(writers) <= set(context.game.rules.players_to_move(state))
    written = _possible_while_writing(context, base, could_be)
    for between, most_untouched in (
        ({**written, **_possible_between_turns(base, seen, suspects)}, 0),
        ({**written, **_possible_between_turns(base, seen, suspects | _empty_places(context, base))}, 1),
    ):
        for changes, turns in context.explorer.expand(state, between).by_changes.items():
            # Whoever may write now does not wait for what may be written under a hand.
            if may_all_write and not any(context.sheet_of(place) in writers for place, _ in changes):
                continue
            noticeable = seen.noticeable_changes(base, changes)
            # Where a sensor reports a piece on a place that the turn empties, the place was filled again.
            untouched = sum(
                place not in suspects and not (look == EMPTY and seen.only_sensed(place)) for place, look in noticeable
            )
            # A turn that sensors can't notice may still have come first.
            unnoticed = bool(changes) and not noticeable
            if untouched != most_untouched or (untouched == len(noticeable) and not unnoticed):
                continue
            for group in combine_alike(context.explorer, turns):
                after = context.game.rules.apply(state, group)
                if not untouched or after.to_move == state.to_move:
                    yield group, after, changes


def _writers(context: JudgeContext[StateT, TurnT], base: Appearance, seen: PooledReading) -> frozenset[Player]:
    """Return the players whose sheets look otherwise than believed where they are in sight."""
    differing = (place for place, one in seen.places.items() if not one.agrees(base.get(place, EMPTY)))
    return frozenset(context.sheet_of(place) for place in differing if place not in seen.hidden)


def _left_under_hands(
    context: JudgeContext[StateT, TurnT],
    base: Appearance,
    seen: PooledReading,
    writers: Collection[Player],
    first: Changes,
) -> CouldBe:
    """Return the looks of hidden places after a first turn on a sheet that shows nothing new: the turn after it has to
    explain what is in sight.
    """
    if not context.has_sheets or any(context.sheet_of(place) in writers for place, _ in first):
        return {}
    after = {**base, **dict(first)}
    return {place: (after[place],) for place in seen.hidden & after.keys() if context.sheet_of(place) not in writers}


def worth_weighing(context: JudgeContext[StateT, TurnT], seen: PooledReading) -> CouldBe:
    """Return the looks that a turn must leave to be worth weighing; any other look would be a fault by itself."""
    return seen.could_be(context.settings.margin - context.settings.illegal_prior, context.handwriting)


def _possible_between_turns(base: Appearance, seen: PooledReading, free: Collection[Place]) -> CouldBe:
    """Return the looks that are possible between two turns: as before, but anything on ``free`` places.

    Where only sensors report a piece, another may have come to the place it left.
    """
    return {
        place: (look,)
        for place, look in base.items()
        if place not in free and (look == EMPTY or not seen.only_sensed(place))
    }


def looks_while_writing(context: JudgeContext[StateT, TurnT], could_be: CouldBe) -> CouldBe:
    """Return the looks that could become those of ``could_be`` if more is written, and these themselves."""
    table = context.game.table
    if not isinstance(table, WritesInSteps):
        return could_be
    return {
        place: (*looks, *(before for each in looks for before in table.looks_before(each)))
        for place, looks in could_be.items()
    }


def _possible_while_writing(context: JudgeContext[StateT, TurnT], base: Appearance, could_be: CouldBe) -> CouldBe:
    """Return the looks that ink can have between two turns that lead to ``could_be``; nothing for other games."""
    if not context.has_sheets:
        return {}
    written = looks_while_writing(context, could_be)
    return {place: (look, *written[place]) for place, look in base.items() if place in written}


def _empty_places(context: JudgeContext[StateT, TurnT], base: Appearance) -> frozenset[Place]:
    """Return the empty places where a piece may have stopped between two turns; ink stays where it is."""
    if context.has_sheets:
        return frozenset()
    return frozenset(place for place, look in base.items() if look == EMPTY)


def combine_alike(explorer: Explorer[StateT, TurnT], turns: Sequence[TurnT]) -> Iterator[TurnT]:
    """Yield one turn that stands for all of these look-alikes, or each of them when there is none."""
    combined = explorer.combine(turns)
    if combined is None:
        yield from turns
    else:
        yield combined


def _after_first(
    context: JudgeContext[StateT, TurnT],
    base: Appearance,
    state: StateT,
    first: TurnT,
    after: StateT,
    seen: PooledReading,
    could_be: CouldBe,
) -> Iterator[Explanation[StateT, TurnT]]:
    following, settings = context.explorer.expand(after, could_be), context.settings
    for part in context.explorer.unfinished(after, could_be):
        changes = changes_between(base, {**following.appearance, **part.change})
        score = score_allowed(base, changes, seen) + settings.second_turn_prior + settings.unfinished_prior
        score += score_touches(seen, [{*first.places, *part.places}])
        yield Explanation(
            ExplanationKind.TURN_AND_PART, state, changes, score, (first,), to_do=part.to_do, touched=part.places
        )
    for own_changes, seconds in following.by_changes.items():
        changes = changes_between(base, {**following.appearance, **dict(own_changes)})
        score = score_allowed(base, changes, seen) + settings.second_turn_prior
        score += score_touches(seen, ({*first.places, *second.places} for second in seconds))
        yield Explanation(ExplanationKind.TWO_TURNS, state, changes, score, (first,), seconds)


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
            # fewer turns would do
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

    def _could_be(self, state: StateT, left: int) -> CouldBe:
        """Return the looks that are possible after the next turn; after the last one, the target."""
        if not left:
            # a sensor can't tell looks apart
            return {place: (look,) for place, look in self.target.items() if not self.seen.only_sensed(place)}
        base = self.context.game.table.appearance(state)
        return _possible_between_turns(
            base, self.seen, self.changed | self.seen.hidden | _empty_places(self.context, base)
        )

    def _missing(self, expansion: Expansion[StateT, TurnT], changes: Changes) -> int:
        after = {**expansion.appearance, **dict(changes)}
        seen = self.seen.places
        return sum(
            seen[place].observable_look(after[place]) != seen[place].observable_look(look)
            for place, look in self.target.items()
        )


def find_stopovers(changes: Sequence[PlaceChange], stopover_s: float) -> frozenset[Place]:
    """Return the places where a piece was put down and lifted again at least ``stopover_s`` later."""
    down_s: dict[Place, float] = {}
    found: set[Place] = set()
    for change in changes:
        if change.put_down:
            down_s[change.place] = change.time_s
        elif change.time_s - down_s.pop(change.place, change.time_s) >= stopover_s:
            found.add(change.place)
    return frozenset(found)


def rank_by_stopovers(
    context: JudgeContext[StateT, TurnT], found: list[Explanation[StateT, TurnT]], base: Appearance, seen: PooledReading
) -> list[Explanation[StateT, TurnT]]:
    """Rank explanations that leave the same appearance by the stopovers they pass through.

    Those that pass fewer stopovers than the best lose ``settings.stopover``. This never decides alone, since a
    flickering sensor makes stopovers too, and a player may have tried another turn first.
    """
    passed = find_stopovers(seen.changes, context.settings.stopover_s)
    if not passed:
        return found
    missed = [_missed_stopovers(one, passed) for one in found]
    least: dict[Changes, int] = {}
    observed: list[Changes] = [seen.observable_changes(base, one.changes) for one in found]
    for changes, count in zip(observed, missed, strict=True):
        least[changes] = min(count, least.get(changes, count))
    weighed = [
        replace(one, score=one.score - context.settings.stopover) if count > least[changes] else one
        for one, changes, count in zip(found, observed, missed, strict=True)
    ]
    return sorted(weighed, key=lambda one: -one.score)


def _missed_stopovers(one: Explanation[StateT, TurnT], passed: frozenset[Place]) -> int:
    """Count the stopovers that an explanation misses, by its best-fitting turns."""
    seconds = [set(turn.places) for turn in one.second] or [set(one.touched)]
    firsts = [set(turn.places) for turn in one.first] or [set()]
    return min(len(passed - first - second) for first in firsts for second in seconds)
