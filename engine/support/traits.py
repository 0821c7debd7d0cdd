"""Parts of ``Game`` that games inherit, and random games played through the interface alone.

The random games are slow and plain: the yardstick for every faster way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, Generic, Protocol, runtime_checkable

from engine.api import Facing, Game, Place, Player, PossibleRoll, Roll, StateT, Tally, TurnT
from engine.errors import ContradictionError, IllegalTurnError, UnreadableError
from engine.support.dice import drawn


class OneAtATime(Generic[StateT, TurnT]):
    """A game in which only ``state.to_move`` plays, and perft counts the legal turns."""

    def players_to_move(self, state: StateT) -> tuple[Player, ...]:
        """Name the one who may play now, nobody when the game is over."""
        return () if state.to_move is None else (state.to_move,)


class WithoutDice(Generic[StateT, TurnT]):
    """A game in which nothing is rolled."""

    title: str

    def possible_rolls(self, state: StateT) -> Sequence[PossibleRoll]:  # noqa: ARG002
        """No roll is ever awaited."""
        return ()

    def awaits_roll(self, state: StateT) -> bool:  # noqa: ARG002
        """No roll is ever awaited."""
        return False

    def rolled(self, state: StateT, roll: Roll) -> StateT:  # noqa: ARG002
        """Raise IllegalTurnError: there are no dice."""
        raise IllegalTurnError(f"got a roll of {self.format_roll(roll)}, but {self.title} has no dice; leave it out")

    def roll_of(self, state: StateT) -> Roll | None:  # noqa: ARG002
        """Nothing lies on the table."""
        return None

    def format_roll(self, roll: Roll) -> str:
        """Write a roll as its faces, parted by commas."""
        return ",".join(roll.faces)

    def parse_roll(self, state: StateT, text: str) -> Roll:  # noqa: ARG002
        """Raise UnreadableError: there are no dice."""
        raise UnreadableError(f"got a roll {text!r}, but {self.title} has no dice; leave it out", 1)


@runtime_checkable
class ReadsAsWritten(Protocol):
    """A game whose ``parse_turn`` takes long, since it looks for the turn that stands for all of the same end.

    For turns that were written by ``format_turn`` there is nothing to look for.
    """

    def written_turn(self, state: Any, text: str, player: Player | None = None) -> Any:
        """Read a turn as it is written, legal or not; raises UnreadableError or IllegalTurnError."""


class WithoutSideFaces(Generic[StateT, TurnT]):
    """A game whose pieces, or marks, show all there is of them from above."""

    title: str
    places: tuple[Place, ...]

    def facings(self, state: StateT) -> Mapping[Place, tuple[Facing, ...]]:  # noqa: ARG002
        """Nothing has side faces."""
        return {}

    def narrow(self, state: StateT, sightings: Mapping[Place, Facing]) -> StateT:
        """Give the state as it is.

        Raises ContradictionError when a side face is said to be seen, UnreadableError for a place that isn't one.
        """
        for place, facing in sightings.items():
            if place not in self.places:
                raise UnreadableError(
                    f"there is no place {place!r} in {self.title}; "
                    f"places run from {self.places[0]} to {self.places[-1]}"
                )
            if facing:
                raise ContradictionError(f"side faces were seen on {place}, but nothing in {self.title} has any")
        return state


class WithoutPoints(Generic[StateT, TurnT]):
    """A game that is won, not scored."""

    def scores(self, state: StateT) -> Mapping[Player, int]:  # noqa: ARG002
        """No points."""
        return {}


def play_random_games(game: Game[Any, Any], state: Any, count: int, rng: Random, most_plies: int) -> Tally:
    """Play games at random by the interface alone: slow, and the yardstick for anything faster.

    Every turn is drawn evenly among the legal ones of whoever may play, every roll by its probability. A game that
    hasn't ended after ``most_plies`` turns is cut off.
    """
    wins: Counter[Player] = Counter()
    plies = draws = unfinished = 0
    for _ in range(count):
        now, played = state, 0
        while now.to_move is not None and played < most_plies:
            if game.awaits_roll(now):
                now = game.rolled(now, drawn(game.possible_rolls(now), rng))
                continue
            turns = game.legal_turns(now)
            now = game.apply(now, turns[rng.randrange(len(turns))])
            played += 1
        plies += played
        outcome = game.outcome(now)
        if outcome is None:
            unfinished += 1
        elif outcome.winner is None:
            draws += 1
        else:
            wins[outcome.winner] += 1
    return Tally(count, plies, dict(wins), draws, unfinished)
