"""Toy games for the search: random games, Nim, noughts and crosses; and a plain search for comparison."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from random import Random

from engine.search.alpha_beta import MOST_GUESS, WIN, Rules
from engine.search.budget import CountingClock, Deadline


def no_hurry() -> Deadline:
    return Deadline(CountingClock(0.0), 1.0)


def reads(count: int) -> Deadline:
    """A deadline that passes after this many readings of the clock."""
    return Deadline(CountingClock(1.0), count)


@dataclass(frozen=True)
class RandomGame(Rules[tuple[int, int, int], int]):
    """A random game with positions (ply, number, mover); lines may meet, and a player may move twice in a row."""

    seed: int
    plies: int
    width: int
    loops: bool = False

    def key(self, position: tuple[int, int, int]) -> tuple[int, int, int]:
        return position

    def mover(self, position: tuple[int, int, int]) -> int:
        return position[2]

    def _draw(self, position: tuple[int, int, int], what: str) -> Random:
        return Random(f"{self.seed} {position} {what}")

    def ended(self, position: tuple[int, int, int]) -> int | None:
        if position[0] == 0:
            return None
        if position[0] == self.plies:
            return self._draw(position, "end").choice((-1, 0, 1))
        return self._draw(position, "early").choice((-1, 0, 1) + (None,) * 9)

    def moves(self, position: tuple[int, int, int]) -> Sequence[int]:
        return range(self._draw(position, "width").randint(1, self.width))

    def play(self, position: tuple[int, int, int], move: int) -> tuple[int, int, int]:
        draw = self._draw(position, f"move {move}")
        ply = position[0] + 1
        if self.loops and draw.random() < 0.3:
            ply = max(1, position[0] - 1)
        return (ply, draw.randrange(3), position[2] if draw.random() < 0.15 else 1 - position[2])

    def evaluate(self, position: tuple[int, int, int]) -> int:
        return self._draw(position, "guess").randint(-50, 50)


def plain_score(rules: Rules[tuple[int, int, int], int], position: tuple[int, int, int], depth: int) -> int:
    """The score by definition: every line searched, without pruning, remembered only within the call."""

    @cache
    def score(position: tuple[int, int, int], depth: int) -> int:
        ended = rules.ended(position)
        if ended is not None:
            return ended * WIN
        if depth == 0:
            return rules.evaluate(position)
        return max(seen_back(position, move, depth) for move in rules.moves(position))

    def seen_back(position: tuple[int, int, int], move: int, depth: int) -> int:
        after = rules.play(position, move)
        got = score(after, depth - 1)
        got += (got < -MOST_GUESS) - (got > MOST_GUESS)
        return got if rules.mover(after) == rules.mover(position) else -got

    return score(position, depth)


def plain_score_of(rules: RandomGame, position: tuple[int, int, int], move: int, depth: int) -> int:
    after = rules.play(position, move)
    got = plain_score(rules, after, depth - 1)
    got += (got < -MOST_GUESS) - (got > MOST_GUESS)
    return got if rules.mover(after) == rules.mover(position) else -got


START = (0, 0, 0)


class Nim(Rules[tuple[int, ...], tuple[int, int]]):
    """Heaps of matches; the player who takes the last one wins. The mover loses if the heaps' exclusive or is 0."""

    def key(self, position: tuple[int, ...]) -> tuple[int, ...]:
        return position

    def mover(self, position: tuple[int, ...]) -> int:
        return position[-1]

    def ended(self, position: tuple[int, ...]) -> int | None:
        return None if any(position[:-1]) else -1

    def moves(self, position: tuple[int, ...]) -> Sequence[tuple[int, int]]:
        return [(heap, taken) for heap, size in enumerate(position[:-1]) for taken in range(1, size + 1)]

    def play(self, position: tuple[int, ...], move: tuple[int, int]) -> tuple[int, ...]:
        heap, taken = move
        return (*position[:heap], position[heap] - taken, *position[heap + 1 : -1], 1 - position[-1])

    def evaluate(self, position: tuple[int, ...]) -> int:
        return 0


LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


class NoughtsAndCrosses(Rules[str, int]):
    def key(self, position: str) -> str:
        return position

    def mover(self, position: str) -> str:
        return "x" if position.count(".") % 2 else "o"

    def ended(self, position: str) -> int | None:
        if any(position[a] != "." and position[a] == position[b] == position[c] for a, b, c in LINES):
            return -1
        return None if "." in position else 0

    def moves(self, position: str) -> Sequence[int]:
        return [square for square in range(9) if position[square] == "."]

    def play(self, position: str, move: int) -> str:
        return position[:move] + self.mover(position) + position[move + 1 :]

    def evaluate(self, position: str) -> int:
        return 0


class WithWinsSeen(NoughtsAndCrosses):
    """The same game, which finds a winning move without trying the moves."""

    def winning_move(self, position: str) -> int | None:
        mine = self.mover(position)
        for line in LINES:
            held = "".join(position[square] for square in line)
            if held.count(mine) == 2 and "." in held:
                return line[held.index(".")]
        return None
