"""The legal turns that could explain what is seen of the table.

An observation maps places to the looks that each could show. A place that is missing could show anything: a hand may be
over it. The judge then weighs a few turns instead of a list that may have hundreds of thousands.

By default a game's legal turns are tried one by one. A game with many turns has its own ``turns_showing``, with the
help of `TableConstraint`.
"""

from collections.abc import Iterable, Iterator, Sequence

from engine.api import Game, PossibleLooks, StateT, TurnT
from engine.values import Appearance, LookName, Place, Unfinished

MOST_DRAWN_FROM = 2000
"""Turns. In random games of Blockade, as many of them make a tower, or move both colours, as of all turns."""


def turns_showing(game: Game[StateT, TurnT], state: StateT, could_be: PossibleLooks) -> Iterator[TurnT]:
    """Yield every legal turn after which each place has one of the looks it could show; small changes first.

    Turns are found lazily, without repeats. Places that the state doesn't show, such as an unused sheet, are ignored.
    There are no turns while a roll is awaited.

    >>> from engine.registry import load
    >>> game = load("diaballik")
    >>> found = turns_showing(game, game.rules.new(), {"a1": ["empty"], "a2": ["empty"], "b2": ["black piece"]})
    >>> game.notation.format_turn(next(found))
    'a1-a2 a2-b2'
    """
    if game.turns_showing is None:
        return turns_by_trying(game, state, could_be)
    return game.turns_showing(state, could_be)


def turns_by_trying(game: Game[StateT, TurnT], state: StateT, could_be: PossibleLooks) -> Iterator[TurnT]:
    """Yield the same turns by trying every legal one: slow, and the oracle for faster implementations."""
    seen = TableConstraint(game.table.appearance(state), could_be)
    ends = ((turn, game.table.appearance(game.rules.apply(state, turn))) for turn in game.rules.legal_turns(state))
    yield from seen.nearest_first(ends)


def turns_to_draw_from(game: Game[StateT, TurnT], state: StateT) -> Sequence[TurnT]:
    """Return the legal turns, or the first ``MOST_DRAWN_FROM`` if listing all of them takes seconds."""
    turns = game.rules.legal_turns(state)
    return turns[:MOST_DRAWN_FROM] if game.lists_turns_slowly else turns


def unfinished_showing(game: Game[StateT, TurnT], state: StateT, could_be: PossibleLooks) -> Iterator[Unfinished]:
    """Yield the positions within a turn that the table could show and no whole turn explains."""
    before = game.table.appearance(state)
    seen = TableConstraint(before, could_be)
    for part in game.table.unfinished(state):
        if seen.allows(part.change):
            table = {**before, **part.change}
            whole = turns_showing(game, state, {place: (look,) for place, look in table.items()})
            if next(whole, None) is None:
                yield part


def silent_turns(game: Game[StateT, TurnT], state: StateT) -> tuple[TurnT, ...]:
    """Return the turns by which everyone who may play now leaves the table unchanged, such as not drawing a loop.

    Empty unless each of them has exactly one such turn. On a board nothing else may be legal: a forced pass.
    """
    could_be = {place: (look,) for place, look in game.table.appearance(state).items()}
    turns = tuple(turns_showing(game, state, could_be))
    players = tuple(turn.player for turn in turns)
    if sorted(players) != sorted(game.rules.players_to_move(state)):
        return ()
    # With many turns, all of them would take seconds to list.
    return turns if game.has_sheets or len(game.rules.legal_turns(state)[: len(turns) + 1]) == len(turns) else ()


class TableConstraint:
    """What a table could show now, compared with what it showed before the turn."""

    def __init__(self, before: Appearance, could_be: PossibleLooks) -> None:
        self.before = before
        self._could_be = {place: frozenset(looks) for place, looks in could_be.items() if place in before}
        self.changed = frozenset(place for place, looks in self._could_be.items() if before[place] not in looks)
        """The places that can't look as before."""

    def could_show(self, place: Place, look: LookName) -> bool:
        """Return whether a place could show a look."""
        return place not in self._could_be or look in self._could_be[place]

    def allows(self, change: Appearance) -> bool:
        """Return whether the table could look as before except for the looks in ``change``."""
        return self.changed <= change.keys() and all(self.could_show(place, look) for place, look in change.items())

    def nearest_first(self, changes: Iterable[tuple[TurnT, Appearance]]) -> Iterator[TurnT]:
        """Keep the turns whose changed looks could be seen, those with the fewest changes first."""
        near: dict[int, list[TurnT]] = {}
        for turn, change in changes:
            if self.allows(change):
                differing = sum(self.before[place] != look for place, look in change.items())
                near.setdefault(differing, []).append(turn)
        for differing in sorted(near):
            yield from near[differing]
