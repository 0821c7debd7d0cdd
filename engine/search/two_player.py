"""The interface between a two-player game and its search.

A game subclasses `Rules` over the positions and moves of its own fast core (packed integers, tuples: small and
hashable). Scores are integers from the view of the player to move. A win ``n`` plies away scores ``WIN - n``, so that
shorter wins and longer losses are preferred; `Rules.evaluate` must stay within ``MOST_GUESS``.

`Table` is a bounded transposition table: Greenblatt, Eastlake & Crocker (1967), "The Greenblatt chess program"; keys as
in Zobrist (1970), "A new hashing method with application for game playing", or the packed position itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeAlias, TypeVar

PositionT = TypeVar("PositionT")
MoveT = TypeVar("MoveT", bound=Hashable)

WIN = 1_000_000_000
"""The score of a won position; a win in ``n`` plies scores ``n`` less."""
MOST_GUESS = 900_000_000
"""The largest absolute value of an evaluation."""


class Rules(ABC, Generic[PositionT, MoveT]):
    """What the search needs to know about a game; one object may serve many searches.

    Subclasses must override `key`, `mover`, `ended`, `moves`, `play` and `evaluate`, and may override `winning_move`.
    """

    @abstractmethod
    def key(self, position: PositionT) -> Hashable:
        """Identify the position, including the player to move; positions with equal keys must be equivalent.

        A hash that may collide is not enough: the move remembered for a key is played without a check.
        """

    @abstractmethod
    def mover(self, position: PositionT) -> Hashable:
        """Return the player to move; after the end of the game, the one from whose view `ended` answers.

        The same player may move twice in a row.
        """

    @abstractmethod
    def ended(self, position: PositionT) -> int | None:
        """Return the result for the mover: 1 won, 0 drawn, -1 lost; ``None`` while the game goes on."""

    @abstractmethod
    def moves(self, position: PositionT) -> Sequence[MoveT]:
        """List all moves, the most promising first; at least one unless the game has ended."""

    @abstractmethod
    def play(self, position: PositionT, move: MoveT) -> PositionT:
        """Return the position after a move."""

    @abstractmethod
    def evaluate(self, position: PositionT) -> int:
        """Evaluate the position for the mover: 0 if even, at most ``MOST_GUESS`` in absolute value."""

    def winning_move(self, position: PositionT) -> MoveT | None:  # noqa: ARG002
        """Return a move that wins at once, if it can be found faster than by listing the moves; else ``None``.

        It is called at every position, even at the horizon, where it looks one ply further.
        """
        return None


@dataclass(frozen=True)
class Found(Generic[MoveT]):
    """The result of a search: the move, its score and the depth in plies.

    ``proven`` means that the score is exact: a forced win or loss, or every line was followed to its end.
    """

    move: MoveT
    score: int
    depth: int
    proven: bool

    @property
    def win_in(self) -> int | None:
        """Plies until a proven win, or ``None``."""
        return WIN - self.score if self.score > MOST_GUESS else None

    @property
    def loss_in(self) -> int | None:
        """Plies until a proven loss, or ``None``."""
        return WIN + self.score if self.score < -MOST_GUESS else None

    def chance(self, scale: float) -> float:
        """Return the probability of winning (0 to 1): certain if proven, else logistic with ``scale`` points per unit.

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
"""The depth of a solved position: every line below it was followed to the end of the game."""

EXACT, AT_LEAST, AT_MOST = 0, 1, 2
"""Whether a remembered score is the true one, or its lower or upper bound."""

Entry: TypeAlias = tuple[int, int, int, MoveT | None]
"""An entry of the table: search depth, kind of bound, score for the mover, best move.

A score of a win or loss counts the plies from this position. Entries are plain tuples of numbers, which Python's
garbage collector does not track: with a table of other objects it pauses the search for tens of milliseconds.
"""


class Table(Generic[MoveT]):
    """A transposition table of two generations: when the younger is full, it replaces the older."""

    def __init__(self, most_entries: int = 200_000) -> None:
        if most_entries < 2:
            raise ValueError(f"got room for {most_entries} entries; expected at least 2")
        self._most_young = most_entries // 2
        self._young: dict[Hashable, Entry[MoveT]] = {}
        self._old: dict[Hashable, Entry[MoveT]] = {}

    def get(self, key: Hashable) -> Entry[MoveT] | None:
        """Return the entry of a position, or ``None``."""
        return self._young.get(key) or self._old.get(key)

    def put(self, key: Hashable, entry: Entry[MoveT]) -> None:
        """Store an entry; replaces the previous one of the position."""
        if len(self._young) >= self._most_young and key not in self._young:
            self._old = self._young
            self._young = {}
        self._young[key] = entry
