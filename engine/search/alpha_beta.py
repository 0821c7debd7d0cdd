"""Iterative-deepening alpha-beta for two-player games without dice or hidden information.

Knuth & Moore (1975), "An analysis of alpha-beta pruning"; null windows as in Reinefeld (1983), "An improvement to
the scout tree search algorithm"; history as in Schaeffer (1989), "The history heuristic and alpha-beta search
enhancements in practice"; killers as in Akl & Newborn (1977), "The principal continuation and the killer heuristic".

A game subclasses `Rules` over the positions and moves of its own fast core (packed integers, tuples: small and
hashable). Scores are integers from the view of the player to move. A win ``n`` plies away scores ``WIN - n``, so that
shorter wins and longer losses are preferred; `Rules.evaluate` must stay within ``MOST_GUESS``.

`Table` is a bounded transposition table: Greenblatt, Eastlake & Crocker (1967), "The Greenblatt chess program"; keys as
in Zobrist (1970), "A new hashing method with application for game playing", or the packed position itself.

Penalties for turns without progress, in points of a game's evaluation. Two players who both follow the hints could
repeat positions for ever. A turn that repeats a position is therefore penalised, and so is every idle turn after a
while, more the longer the game makes no progress.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from types import MappingProxyType
from typing import Any, Generic, TypeAlias, TypeVar

from engine.search.budget import Deadline, DeadlineExceededError, PeriodicTimeCheck

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


@dataclass(frozen=True)
class StallingPenalties:
    """The penalties of a game, in points of its evaluation; tuned in games of hints against hints."""

    second_time: int
    """For the second occurrence of a position."""
    third_time: int
    """For the third occurrence, and again for each further one; alternatives that cost less are "nearly as good"."""
    idle_turns: int
    """Number of consecutive turns without progress, by both players, that are free."""
    per_turn: int
    """For a turn without progress, per idle turn beyond those."""
    most: int
    """Maximum penalty for idle turns, so that scores stay within the range of evaluations."""

    def for_repetition(self, times: int) -> int:
        """Return the penalty of a turn whose position occurred ``times`` times before."""
        return 0 if times == 0 else self.second_time if times == 1 else self.third_time * (times - 1)

    def for_idling(self, idle: int) -> int:
        """Return the penalty of a turn without progress after ``idle`` idle ones."""
        return min(self.most, self.per_turn * max(0, idle - self.idle_turns))


MOST_PLIES = 100
"""Maximum search depth, well within Python's recursion limit."""

_INFINITY = WIN + 1
_NODES_PER_CHECK = 8  # between two readings of the clock
_NO_PENALTIES: Mapping[Any, int] = MappingProxyType({})


def best_move(
    rules: Rules[PositionT, MoveT],
    position: PositionT,
    deadline: Deadline,
    rng: Random,
    *,
    most_depth: int = MOST_PLIES,
    penalties: Mapping[MoveT, int] = _NO_PENALTIES,
) -> Found[MoveT]:
    """Find a good move by deepening until the deadline, ``most_depth`` plies or the end of every line.

    ``rng`` orders moves that score the same after one ply. A win in one is always found once all moves were tried; of
    several, the first. The same ``rng`` and a `budget.CountingClock` give the same answer. ``penalties`` are points
    subtracted from root moves, except from proven wins and losses; the returned score includes them.

    Raises ValueError if the game has ended or there is no move, and for a depth below 1.
    """
    if most_depth < 1:
        raise ValueError(f"got a depth of {most_depth}; expected at least 1")
    if rules.ended(position) is not None:
        raise ValueError("there is no move to find: the game has ended")
    return _Search(rules, deadline, penalties).run(position, rng, min(most_depth, MOST_PLIES))


class _Search(Generic[PositionT, MoveT]):
    """One search: its memory, and the best answer so far."""

    def __init__(
        self,
        rules: Rules[PositionT, MoveT],
        deadline: Deadline,
        penalties: Mapping[MoveT, int],
    ) -> None:
        self._rules = rules
        self._check_time = PeriodicTimeCheck(deadline, _NODES_PER_CHECK)
        self._penalties = penalties
        self._table: Table[MoveT] = Table()
        self._guesses = 0
        self._killers: list[tuple[MoveT, ...]] = [()] * (MOST_PLIES + 1)
        self._history: dict[MoveT, int] = {}
        self._lost: set[MoveT] = set()
        self._ranked: dict[MoveT, Found[MoveT]] = {}

    def run(self, position: PositionT, rng: Random, most_depth: int) -> Found[MoveT]:
        """Search deeper and deeper; see `best_move`."""
        rules = self._rules
        winning = rules.winning_move(position)
        if winning is not None:
            return Found(winning, WIN - 1, 1, True)
        moves = rules.moves(position)
        if not moves:
            raise ValueError("there is no move to find: the game gives none")
        answer = Found(moves[0], 0, 0, False)
        try:
            ranked = self._search_one_ply(position, moves, rng)
            self._ranked = {each.move: each for each in ranked}
            answer = ranked[0]
            # A win in one ply or a single legal move needs no further search.
            most_depth = 1 if answer.win_in == 1 or len(moves) == 1 else most_depth
            order = [each.move for each in ranked]
            for depth in range(2, most_depth + 1):
                if self._is_settled(answer):
                    break
                answer = self._search_to_depth(position, order, depth, answer)
                order.sort(key=lambda move: (move != answer.move, move in self._lost))
        except _CutShortError as cut:
            return cut.answer
        return answer

    @staticmethod
    def _is_settled(answer: Found[MoveT]) -> bool:
        """Return whether a deeper search can't change the answer: a win is within the depth, or all is solved."""
        plies = answer.win_in or answer.loss_in
        return answer.proven and (plies is None or plies <= answer.depth)

    def _search_one_ply(self, position: PositionT, moves: Sequence[MoveT], rng: Random) -> list[Found[MoveT]]:
        """Score every move by the resulting position, the best first; ``rng`` orders equal ones."""
        guesses = self._guesses
        mover = self._rules.mover(position)
        found: list[Found[MoveT]] = []
        best = None
        try:
            for move in moves:
                score = self._score_root_move(position, move, mover, 0, -_INFINITY, _INFINITY)
                each = Found(move, score, 1, abs(score) > MOST_GUESS)
                if best is None or score > best.score:
                    best = each
                if each.win_in == 1:
                    return [each]
                found.append(each)
        except DeadlineExceededError:
            raise _CutShortError(best or Found(moves[0], 0, 0, False)) from None
        if self._guesses == guesses:
            found = [replace(each, proven=True) for each in found]
        drawn = list(range(len(found)))
        rng.shuffle(drawn)
        return [
            found[i]
            for _, _, i in sorted((-each.score, lot, i) for i, (each, lot) in enumerate(zip(found, drawn, strict=True)))
        ]

    def _search_to_depth(
        self, position: PositionT, order: Sequence[MoveT], depth: int, before: Found[MoveT]
    ) -> Found[MoveT]:
        """Search all moves to ``depth``; raises _CutShortError with the best answer known at the deadline."""
        mover = self._rules.mover(position)
        guesses = self._guesses
        best: Found[MoveT] | None = None
        tried = 0
        try:
            for move in order:
                lower, upper = (best.score, best.score + 1) if best else (-_INFINITY, _INFINITY)
                score = self._score_root_move(position, move, mover, depth - 1, lower, upper)
                if best is not None and score > lower:
                    score = self._score_root_move(position, move, mover, depth - 1, lower, _INFINITY)
                tried += 1
                if score < -MOST_GUESS:
                    self._lost.add(move)
                if best is None or score > best.score:
                    best = Found(move, score, depth, abs(score) > MOST_GUESS)
        except DeadlineExceededError:
            raise _CutShortError(self._answer_at_deadline(order, tried, best, before)) from None
        if best is None:
            raise AssertionError("a search of at least one move finds one")
        if self._guesses == guesses:
            best = replace(best, proven=True)
        return best

    def _answer_at_deadline(
        self, order: Sequence[MoveT], tried: int, best: Found[MoveT] | None, before: Found[MoveT]
    ) -> Found[MoveT]:
        """Choose between the result of an incomplete depth and that of the depth before."""
        if best is None:
            return before
        if best.loss_in is not None:
            # Prefer an unsolved move to one that is proven to lose.
            for move in order[tried:]:
                if move not in self._lost:
                    return self._ranked[move]
        return best

    def _score_root_move(
        self, position: PositionT, move: MoveT, mover: Hashable, depth: int, alpha: int, beta: int
    ) -> int:
        """Score a root move, minus its penalty."""
        penalty = self._penalties.get(move, 0)
        low, high = _add_points(alpha, penalty), _add_points(beta, penalty)
        return _add_points(
            self._score_after_move(self._rules.play(position, move), mover, depth, low, high, 1), -penalty
        )

    def _score_after_move(self, after: PositionT, mover: Hashable, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Score a position for the player who moved into it."""
        if self._rules.mover(after) == mover:
            return self._score(after, depth, alpha, beta, ply)
        return -self._score(after, depth, -beta, -alpha, ply)

    def _score(self, position: PositionT, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Score a position for its mover: exact within the window, else a bound (fail-soft)."""
        self._check_time()
        rules = self._rules
        ended = rules.ended(position)
        if ended is not None:
            return ended * (WIN - ply)
        if depth <= 0:
            if rules.winning_move(position) is not None:
                return WIN - ply - 1
            self._guesses += 1
            return rules.evaluate(position)
        key = rules.key(position)
        entry = self._table.get(key)
        if entry is not None:
            known = self._usable_score(entry, depth, alpha, beta, ply)
            if known is not None:
                return known
        if rules.winning_move(position) is not None:
            return WIN - ply - 1
        mover = rules.mover(position)
        guesses = self._guesses
        lower = alpha
        best, chosen = -_INFINITY, None
        for move in self._ordered_moves(position, entry[3] if entry is not None else None, ply):
            after = rules.play(position, move)
            if chosen is None:
                score = self._score_after_move(after, mover, depth - 1, lower, beta, ply + 1)
            else:
                score = self._score_after_move(after, mover, depth - 1, lower, lower + 1, ply + 1)
                if lower < score < beta:
                    score = self._score_after_move(after, mover, depth - 1, lower, beta, ply + 1)
            if score > best:
                best, chosen = score, move
            lower = max(lower, score)
            if lower >= beta:
                self._remember_cutoff(move, depth, ply)
                break
        if chosen is None:
            raise ValueError("the game hasn't ended, and yet there are no moves")
        bound = AT_MOST if best <= alpha else AT_LEAST if best >= beta else EXACT
        reach = SOLVED if self._guesses == guesses else depth
        self._table.put(key, (reach, bound, _delay_end(best, -ply), chosen))
        return best

    def _usable_score(self, entry: Entry[MoveT], depth: int, alpha: int, beta: int, ply: int) -> int | None:
        """Return the remembered score if its depth and bound suffice for the window."""
        reach, bound, here, _ = entry
        score = _delay_end(here, ply)
        if not (bound == EXACT or (bound == AT_LEAST and score >= beta) or (bound == AT_MOST and score <= alpha)):
            return None
        won = score > MOST_GUESS and score >= beta and bound != AT_MOST
        lost = score < -MOST_GUESS and score <= alpha and bound != AT_LEAST
        if reach == SOLVED or won or lost:
            return score
        if reach < depth:
            return None
        self._guesses += 1
        return score

    def _ordered_moves(self, position: PositionT, remembered: MoveT | None, ply: int) -> Iterator[MoveT]:
        """Yield the remembered move first (before listing the others), then killers, then the rest by history."""
        if remembered is not None:
            yield remembered
        moves = self._rules.moves(position)
        history = self._history
        if history:
            moves = sorted(moves, key=lambda move: -history.get(move, 0))
        killers = self._killers[ply]
        leading = [move for move in killers if move != remembered and move in moves] if killers else []
        yield from leading
        for move in moves:
            if move != remembered and move not in leading:
                yield move

    def _remember_cutoff(self, move: MoveT, depth: int, ply: int) -> None:
        """Remember a move that refuted the one before it."""
        self._history[move] = self._history.get(move, 0) + depth * depth
        killers = self._killers[ply]
        if move not in killers:
            self._killers[ply] = (move, *killers[:1])


class _CutShortError(Exception):
    """Raised when the deadline passes; carries the best answer so far."""

    def __init__(self, answer: Found[Any]) -> None:
        super().__init__()
        self.answer: Found[Any] = answer


def _add_points(score: int, points: int) -> int:
    """Add points to an estimated score; leave proven wins and losses unchanged."""
    return score + points if -MOST_GUESS <= score <= MOST_GUESS else score


def _delay_end(score: int, ply: int) -> int:
    """Return the score with a win or loss this many plies later; guesses stay what they are."""
    return score - ply if score > MOST_GUESS else score + ply if score < -MOST_GUESS else score
