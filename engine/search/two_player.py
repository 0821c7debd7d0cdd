"""What a game of two gives a search, and what the search gives back.

A game subclasses `Rules` over positions and moves of its own fast core (packed integers, tuples: small and hashable).
Scores are whole numbers, seen by the player to move. A win ``n`` plies away scores ``WIN - n``, so that the shorter is
preferred, and the longer of losses; guesses of `Rules.evaluate` must stay within ``MOST_GUESS``.

What a search remembers of positions it has met is in a `Table`, within a bound (a transposition table): Greenblatt,
Eastlake & Crocker (1967), "The Greenblatt chess program"; keys as in Zobrist (1970), "A new hashing method with
application for game playing", or the packed position itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

from engine.search.budget import TimeCheck

PositionT = TypeVar("PositionT")
MoveT = TypeVar("MoveT", bound=Hashable)

WIN = 1_000_000_000
"""The score of having won; a win in ``n`` plies scores ``n`` less."""
MOST_GUESS = 900_000_000
"""No guess about a position scores more than this, and none less than its negative."""


class Rules(ABC, Generic[PositionT, MoveT]):
    """What the search needs to know of a game; one object may serve many searches.

    To be overridden: `key`, `mover`, `ended`, `moves`, `play`, `evaluate`. The others may be.
    """

    @abstractmethod
    def key(self, position: PositionT) -> Hashable:
        """Name the position, who is to move included; equal only for positions that go on alike.

        A hash that may collide is not enough: the move remembered for a key is played unseen.
        """

    @abstractmethod
    def mover(self, position: PositionT) -> Hashable:
        """Say whose turn it is, also in a position where the game has ended (there: whose view `ended` takes).

        The same player may be to move twice running.
        """

    @abstractmethod
    def ended(self, position: PositionT) -> int | None:
        """Say how the game ended for the mover: 1 won, 0 drawn, -1 lost; ``None`` while it goes on."""

    @abstractmethod
    def moves(self, position: PositionT, check_time: TimeCheck) -> Sequence[MoveT]:
        """List all moves, those that look best first; at least one where the game hasn't ended.

        Call ``check_time`` now and then if it can take more than a millisecond: it ends the search at the deadline.
        """

    @abstractmethod
    def play(self, position: PositionT, move: MoveT) -> PositionT:
        """Give the position after one of its moves."""

    @abstractmethod
    def evaluate(self, position: PositionT) -> int:
        """Guess how good the position is for the mover, 0 when level, within ``MOST_GUESS`` either way."""

    def winning_move(self, position: PositionT, check_time: TimeCheck) -> MoveT | None:  # noqa: ARG002
        """Give a move that wins at once, if that is found at less cost than listing the moves; else ``None``.

        It is asked at every position, at the horizon too, where it looks one ply further.
        """
        return None

    def noisy_moves(self, position: PositionT, check_time: TimeCheck) -> Sequence[MoveT]:  # noqa: ARG002
        """List the moves to be followed beyond the horizon, where a guess now would be rash; none for most games."""
        return ()


@dataclass(frozen=True)
class Found(Generic[MoveT]):
    """What a search found: the move, its score, how many plies were looked ahead, and the line expected.

    ``proven`` says that the score is no guess: a win or loss worked out, or every line followed to its end.
    """

    move: MoveT
    score: int
    depth: int
    proven: bool
    nodes: int
    line: tuple[MoveT, ...] = ()

    @property
    def win_in(self) -> int | None:
        """The plies until the win that was worked out, or ``None``."""
        return WIN - self.score if self.score > MOST_GUESS else None

    @property
    def loss_in(self) -> int | None:
        """The plies until the loss that was worked out, or ``None``."""
        return WIN + self.score if self.score < -MOST_GUESS else None

    def chance(self, scale: float) -> float:
        """The chance of winning from 0 to 1: certain when worked out, else logistic, ``scale`` points per unit.

        Raises ValueError for a scale that isn't positive.
        """
        if scale <= 0:
            raise ValueError(f"got a scale of {scale} points; expected more than 0")
        if self.proven and abs(self.score) > MOST_GUESS:
            return float(self.score > 0)
        if self.proven:
            return 0.5
        return 0.5 + 0.5 * math.tanh(self.score / (2 * scale))


SOLVED = 1 << 20
"""The depth of a value that no guess has part in: every line below it was followed to the end of the game."""

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""What a remembered score says of the true one."""

Entry: TypeAlias = tuple[int, int, int, MoveT | None]
"""What was found of a position: searched how deep, what the score says, the score for its mover, the best move.

A score of a win or loss counts the plies from this position. It is a plain tuple of numbers, which Python's collector
of garbage leaves alone: a table full of anything else makes it stop the search for tens of milliseconds.
"""


class Table(Generic[MoveT]):
    """Two generations of entries: when the younger is full it becomes the older, and the older is forgotten."""

    def __init__(self, most_entries: int = 200_000) -> None:
        if most_entries < 2:
            raise ValueError(f"got room for {most_entries} entries; expected at least 2")
        self._most_young = most_entries // 2
        self._young: dict[Hashable, Entry[MoveT]] = {}
        self._old: dict[Hashable, Entry[MoveT]] = {}

    def __len__(self) -> int:
        """Give the number of entries held, one that is in both generations counted twice."""
        return len(self._young) + len(self._old)

    def get(self, key: Hashable) -> Entry[MoveT] | None:
        """Give what is known of a position, or ``None``."""
        return self._young.get(key) or self._old.get(key)

    def put(self, key: Hashable, entry: Entry[MoveT]) -> None:
        """Remember it, in place of what was known."""
        if len(self._young) >= self._most_young and key not in self._young:
            self._old = self._young
            self._young = {}
        self._young[key] = entry
