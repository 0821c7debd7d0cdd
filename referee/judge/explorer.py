"""What the engine allows from a state, cached; the context in which the judge works, and the case it has to decide."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from itertools import islice
from typing import Generic

from engine.api import Game, PossibleLooks, StateT, TurnT
from engine.errors import AmbiguousError, IllegalTurnError
from engine.showing import silent_turns, turns_showing, unfinished_showing
from engine.support.looks import Look
from engine.values import EMPTY, Appearance, LookName, Place, Unfinished
from referee.judge.pooled_reading import PooledReading
from referee.judge.settings import JudgeSettings

_CACHE_SIZE = 256
MOST_LISTED = 2_500
"""The most turns looked at, nearest first, in a game that is quick to list. From a state with more turns, the judge
does not look for two turns in a row.
"""

MOST_WEIGHED = 150
"""The most turns looked at, nearest first, in a game that is slow to list; more would end in a question anyway."""

Changes = frozenset[tuple[Place, LookName]]
"""The places that look different, and how."""

_HashableLooks = tuple[tuple[Place, tuple[LookName, ...]], ...]


@dataclass(frozen=True)
class Expansion(Generic[TurnT]):
    """What a state looks like, and the turns from it that could show what is seen.

    ``by_changes`` maps each set of changed (place, look) pairs to the turns that leave exactly these changes.
    """

    appearance: Appearance
    by_changes: Mapping[Changes, tuple[TurnT, ...]]


class JudgeContext(Generic[StateT, TurnT]):
    """What the judge needs besides the belief: the game, its settings, and what the engine says can follow a state.

    The latest answers of the engine are cached, which saves time and changes no answer.
    """

    def __init__(self, game: Game[StateT, TurnT], settings: JudgeSettings | None = None) -> None:
        self.game = game
        self.settings = settings or JudgeSettings()
        self.has_few_turns = lru_cache(_CACHE_SIZE)(self._has_few_turns)
        self.silent_turns = lru_cache(_CACHE_SIZE)(partial(silent_turns, game))
        self._expansions = lru_cache(_CACHE_SIZE)(self._expand)
        self._unfinished = lru_cache(_CACHE_SIZE)(self._find_unfinished)

    def _has_few_turns(self, state: StateT) -> bool:
        """Return whether the turns of a state are few enough to look at each."""
        if self.game.lists_turns_slowly:
            return False
        return not self.game.rules.legal_turns(state)[MOST_LISTED : MOST_LISTED + 1]

    def expand(self, state: StateT, could_be: PossibleLooks) -> Expansion[TurnT]:
        """Return the turns from ``state`` after which the table could look like ``could_be``."""
        return self._expansions(state, _hashable(could_be))

    def _expand(self, state: StateT, could_be: _HashableLooks) -> Expansion[TurnT]:
        table, rules = self.game.table, self.game.rules
        appearance = table.appearance(state)
        change_of = self.game.change_of
        groups: dict[Changes, list[TurnT]] = {}
        if rules.outcome(state) is None:
            most = MOST_WEIGHED if self.game.lists_turns_slowly else MOST_LISTED
            for turn in islice(turns_showing(self.game, state, dict(could_be)), most):
                if change_of is None:
                    changes = changes_between(appearance, table.appearance(rules.apply(state, turn)))
                else:
                    changes = frozenset(change_of(state, turn).items())
                groups.setdefault(changes, []).append(turn)
        return Expansion(appearance, {changes: tuple(group) for changes, group in groups.items()})

    def unfinished(self, state: StateT, could_be: PossibleLooks) -> tuple[Unfinished, ...]:
        """Return the positions in the middle of a turn that could look like ``could_be``."""
        return self._unfinished(state, _hashable(could_be))

    def _find_unfinished(self, state: StateT, could_be: _HashableLooks) -> tuple[Unfinished, ...]:
        if self.game.rules.outcome(state) is not None:
            return ()
        return tuple(unfinished_showing(self.game, state, dict(could_be)))

    def combined(self, turns: Sequence[TurnT]) -> Sequence[TurnT]:
        """Return one turn that stands for all of these look-alikes, or each of them when they can't be one."""
        try:
            return turns if len(turns) == 1 else (self.game.rules.combine(turns),)
        except AmbiguousError:
            return turns

    @property
    def handwriting(self) -> float:
        """The log-odds added to a lead that only handwriting tells; 0 for games without sheets."""
        return self.settings.handwriting if self.game.has_sheets else 0.0

    def turned_over(self, look: LookName) -> tuple[LookName, ...]:
        """Return the looks that a piece may have once a turn has turned it over or taken it; none in most games."""
        piece = Look.parse(look) if self.game.turns_pieces_over else None
        if piece is None:
            return ()
        others = ((other, Look.parse(other)) for other in self.game.looks)
        return tuple(name for name, other in others if other is not None and other.colour != piece.colour)

    def sheet_of(self, place: Place) -> str:
        """Return the player on whose sheet a place is; empty on a board."""
        return place.partition(".")[0] if self.game.has_sheets else ""

    def by_sheet(self, changes: Changes) -> frozenset[Changes]:
        """Return the changes of each sheet by themselves; on a board, all of them together."""
        sheets: dict[str, set[tuple[Place, str]]] = {}
        for place, look in changes:
            sheets.setdefault(self.sheet_of(place), set()).add((place, look))
        return frozenset(frozenset(sheet) for sheet in sheets.values())

    def in_order(self, places: Collection[Place]) -> tuple[Place, ...]:
        """Return places in the order of the game."""
        return tuple(place for place in self.game.places if place in places)


def _hashable(could_be: PossibleLooks) -> _HashableLooks:
    return tuple((place, tuple(looks)) for place, looks in could_be.items())


@dataclass(frozen=True)
class Case(Generic[StateT, TurnT]):
    """What the judge has to explain: the states that may be the case, and what is seen."""

    context: JudgeContext[StateT, TurnT]
    states: tuple[StateT, ...]
    seen: PooledReading

    @property
    def game(self) -> Game[StateT, TurnT]:
        """The game."""
        return self.context.game

    @property
    def settings(self) -> JudgeSettings:
        """The judge's settings."""
        return self.context.settings

    @cached_property
    def base(self) -> Appearance:
        """What the table should show."""
        return self.game.table.appearance(self.states[0])

    @cached_property
    def could_be(self) -> PossibleLooks:
        """The looks that a turn must leave to be worth weighing; any other look would be a fault by itself."""
        return self.seen.could_be(self.settings.margin - self.settings.illegal_prior, self.context.handwriting)

    def but_seen(self, seen: PooledReading) -> Case[StateT, TurnT]:
        """Return the case with another reading."""
        return replace(self, seen=seen)

    def without(self, places: Iterable[Place]) -> Case[StateT, TurnT]:
        """Return the case with these places hidden."""
        return self.but_seen(self.seen.without(places))


def changes_between(before: Appearance, after: Appearance) -> Changes:
    """Return the (place, look) pairs of ``after`` that differ from ``before``."""
    differing = after.items() - before.items()
    return frozenset((place, look) for place, look in differing if place in before or look != EMPTY)


def apply_turn(game: Game[StateT, TurnT], states: Sequence[StateT], turn: TurnT) -> tuple[StateT, ...]:
    """Apply a turn to every state that allows it; empty when none does."""
    reached = []
    for state in states:
        try:
            reached.append(game.rules.apply(state, turn))
        except IllegalTurnError:
            continue
    return tuple(dict.fromkeys(reached))


def apply_turns(game: Game[StateT, TurnT], states: Sequence[StateT], turns: Sequence[TurnT]) -> tuple[StateT, ...]:
    """Apply turns one after another, each to every state that allows it; empty when none does."""
    for turn in turns:
        states = apply_turn(game, states, turn)
    return tuple(states)
