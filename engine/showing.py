"""Turns that could show this: of all legal turns those whose end may look like what is seen of the table.

What is seen is said place by place, as the looks that it could show there. A place that is left out could show
anything: a hand may be over it. So a judge asks for the few turns that are worth weighing, where the list of all legal
turns may have hundreds of thousands.

Any game can be asked: its legal turns are tried one by one. A game with many turns says itself which could be meant, by
the optional protocol `FindsTurns`; `Seen` helps it to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

from engine.api import Game, StateT, TurnT
from engine.values import Appearance, LookName, Place, Unfinished

CouldBe = Mapping[Place, Collection[LookName]]
"""For each place the looks that it could show. Places that are left out could show anything."""


@runtime_checkable
class FindsTurns(Protocol):
    """A game that finds the turns that could show something faster than by trying every legal one."""

    def turns_showing(self, state: Any, could_be: CouldBe) -> Iterator[Any]:
        """Yield what `turns_showing` promises."""


@runtime_checkable
class WritesInSteps(Protocol):
    """A table on which a player may write in two steps, of which only the end is seen."""

    def looks_before(self, look: LookName) -> tuple[LookName, ...]:
        """The looks that a place may have had between the steps: of a digit in a loop, the digit."""


def turns_showing(game: Game[StateT, TurnT], state: StateT, could_be: CouldBe) -> Iterator[TurnT]:
    """Yield every legal turn after which each place has one of the looks it could show; near ones first.

    Near are turns that change little. They are found as they are asked for, none twice. Places that the state doesn't
    show, such as a sheet nobody plays on, are passed over. There are none while a roll is awaited.

    >>> from engine.registry import load
    >>> game = load("diaballik")
    >>> found = turns_showing(game, game.rules.new(), {"a1": ["empty"], "a2": ["empty"], "b2": ["black piece"]})
    >>> game.notation.format_turn(next(found))
    'a1-a2 a2-b2'
    """
    if isinstance(game.rules, FindsTurns):
        return game.rules.turns_showing(state, could_be)
    return turns_by_trying(game, state, could_be)


def turns_by_trying(game: Game[StateT, TurnT], state: StateT, could_be: CouldBe) -> Iterator[TurnT]:
    """Yield the same turns by looking at the end of every legal one: slow, and the yardstick for anything faster."""
    seen = Seen(game.table.appearance(state), could_be)
    ends = ((turn, game.table.appearance(game.rules.apply(state, turn))) for turn in game.rules.legal_turns(state))
    yield from seen.nearest_first(ends)


def unfinished_showing(game: Game[StateT, TurnT], state: StateT, could_be: CouldBe) -> Iterator[Unfinished]:
    """Yield the positions inside a turn that the table could show, but for those that a whole turn explains."""
    before = game.table.appearance(state)
    seen = Seen(before, could_be)
    for part in game.table.unfinished(state):
        if seen.allows(part.change):
            table = {**before, **part.change}
            whole = turns_showing(game, state, {place: (look,) for place, look in table.items()})
            if next(whole, None) is None:
                yield part


def silent_turns(game: Game[StateT, TurnT], state: StateT) -> tuple[TurnT, ...]:
    """Give for each player who may play the one turn that leaves a sheet as it looks, such as doing without a loop.

    None where somebody has no such turn or several, and in games that are not written.
    """
    if game.printed_sheet is None:
        return ()
    could_be = {place: (look,) for place, look in game.table.appearance(state).items()}
    turns = tuple(turns_showing(game, state, could_be))
    players = tuple(turn.player for turn in turns)
    return turns if sorted(players) == sorted(game.rules.players_to_move(state)) else ()


class Seen:
    """What a table could show now, beside what it showed before the turn."""

    def __init__(self, before: Appearance, could_be: CouldBe) -> None:
        self.before = before
        self._could_be = {place: frozenset(looks) for place, looks in could_be.items() if place in before}
        self.changed = frozenset(place for place, looks in self._could_be.items() if before[place] not in looks)
        """The places that can't look as they did."""

    def could_show(self, place: Place, look: LookName) -> bool:
        """Say whether a place could show a look."""
        return place not in self._could_be or look in self._could_be[place]

    def allows(self, change: Appearance) -> bool:
        """Say whether the table could look so: as before, but for the places of ``change`` with their looks now."""
        return self.changed <= change.keys() and all(self.could_show(place, look) for place, look in change.items())

    def nearest_first(self, changes: Iterable[tuple[TurnT, Appearance]]) -> Iterator[TurnT]:
        """Of turns with the looks that they change those that could be, the fewest really changed first."""
        near: dict[int, list[TurnT]] = {}
        for turn, change in changes:
            if self.allows(change):
                differing = sum(self.before[place] != look for place, look in change.items())
                near.setdefault(differing, []).append(turn)
        for differing in sorted(near):
            yield from near[differing]
