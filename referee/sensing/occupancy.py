"""How much of a game sensors alone can tell, by the game's own legal turns."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from engine.api import EMPTY, Game, Place, StateT, TurnT

_MOST_TURNS = 2000
_MOST_ROLLS = 4


@dataclass(frozen=True)
class OccupancyCoverage:
    """Of the turns looked at, how many sensors tell.

    ``alone`` leave squares occupied as no other turn does, ``alike`` as some others do, and ``unsensed`` as they were.
    """

    turns: int
    alone: int
    alike: int
    unsensed: int

    @property
    def any(self) -> bool:
        """Whether sensors notice anything of this game."""
        return self.alone + self.alike > 0


def occupancy_coverage(game: Game[StateT, TurnT], state: StateT) -> OccupancyCoverage:
    """Say what sensors tell of the turns that are legal in ``state``, after some roll where one is awaited.

    Turns that leave the same appearance count as one. Looks at 2000 turns at most, the first in the game's order.
    """
    start = state
    for attempt in range(_MOST_ROLLS):
        if game.dice is None or not game.dice.awaits_roll(start):
            break
        # The highest rolls come last and rarely leave nothing to do; another each time, since a tie rolls again.
        rolled = [game.dice.rolled(start, one.roll) for one in reversed(game.dice.possible_rolls(start))]
        start = next((one for one in rolled if not game.awaits_roll(one)), rolled[min(attempt, len(rolled) - 1)])
    turns = game.rules.legal_turns(start)
    before = game.table.appearance(start)
    results: dict[tuple[tuple[Place, str], ...], frozenset[Place]] = {}
    for number in range(min(len(turns), _MOST_TURNS)):
        after = game.table.appearance(game.rules.apply(start, turns[number]))
        results[tuple(after.items())] = frozenset(place for place, look in after.items() if look != EMPTY)
    same = frozenset(place for place, look in before.items() if look != EMPTY)
    counted = Counter(results.values())
    unsensed = counted.pop(same, 0)
    alone = sum(count == 1 for count in counted.values())
    return OccupancyCoverage(len(results), alone, sum(counted.values()) - alone, unsensed)
