"""The values of sensors under the places, how far to trust them, and how much of a game they can distinguish."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from engine.api import Game, StateT, TurnT
from engine.values import EMPTY, Place
from vision.reading import PlaceChange


@dataclass(frozen=True)
class SensorSnapshot:
    """The values of all sensors at one moment.

    ``time_s`` is the latest moment at which they are known to hold, on the frames' clock (``time.monotonic`` in the
    service). ``occupied`` maps every place with a sensor to whether a piece stands there. ``doubtful`` are places that
    can't be read now. ``changes`` are those since the last snapshot, oldest first, each reported once. A change may be
    missing; ``occupied`` is right even then.
    """

    time_s: float
    occupied: Mapping[Place, bool]
    doubtful: frozenset[Place] = frozenset()
    changes: tuple[PlaceChange, ...] = field(default=())


class SensorSource(Protocol):
    """A source of sensor values; it never blocks."""

    def latest(self, now_s: float) -> SensorSnapshot | None:
        """Return the newest snapshot, ``None`` before the first; ``now_s`` is on the frames' clock."""


@dataclass(frozen=True)
class SensorSettings:
    """How far sensors are trusted, and how long they must have been quiet. Set by hand.

    ``false_closed``, ``false_open``
        the probabilities that a sensor says *occupied* on an empty place, and *empty* under a piece. The owner's
        settings allow 0.001 to 0.2: below, a single sensor could decide a turn; above, no sensor could. Higher: sensors
        count less.
    ``after_put_down_s``, ``after_lift_s``
        how long ago, in seconds, the latest change must be for the table to be at rest. It is longer after a piece was
        lifted, because it is probably still in the air. Longer: later verdicts, fewer about pieces on their way.
    ``fading_s``, ``stale_s``
        values older than the first, in seconds, count unless the camera contradicts them; values older than the second
        don't count, because a lost connection reports no changes. A board reports every half second. Longer: copes with
        slower connections, notices lost ones later.
    ``camera_patience_s``
        how long, in seconds, the camera may lose sight of the table before the sensors are used alone. Longer: fewer
        questions that the camera would have answered, later verdicts.
    """

    false_closed: float = 0.01
    false_open: float = 0.03
    after_put_down_s: float = 0.4
    after_lift_s: float = 1.5
    fading_s: float = 0.75
    stale_s: float = 1.5
    camera_patience_s: float = 3.0

    def probability_occupied(self, closed: bool) -> float:
        """Return the probability that a place is occupied, given its sensor's value; ``closed`` means *occupied*."""
        if closed:
            return (1 - self.false_open) / (1 - self.false_open + self.false_closed)
        return self.false_open / (self.false_open + 1 - self.false_closed)


_MOST_TURNS = 2000
"""How many turns are compared. More: slower to start, and the share of a game with more turns is more exact."""
_MOST_ROLLS = 4
"""How many rolls are tried until one allows a turn."""


@dataclass(frozen=True)
class OccupancyCoverage:
    """How many of the examined turns sensors can identify.

    ``alone`` turns leave a unique set of occupied squares, ``alike`` turns share it with others, and ``unsensed`` turns
    change nothing that a sensor notices.
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
    """Count the legal turns that sensors can identify in ``state``. If it awaits a roll, some roll is chosen.

    Turns that leave the same appearance count as one. Only the first 2000 turns in the game's order are examined.
    """
    start = state
    for attempt in range(_MOST_ROLLS):
        if game.dice is None or not game.dice.awaits_roll(start):
            break
        # The highest rolls come last and nearly always allow a turn. After a tie, another roll is chosen.
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
