"""Iterative-deepening alpha-beta for two-player games without dice or hidden information.

Knuth & Moore (1975), "An analysis of alpha-beta pruning"; null windows as in Reinefeld (1983), "An improvement to
the scout tree search algorithm"; history as in Schaeffer (1989), "The history heuristic and alpha-beta search
enhancements in practice"; killers as in Akl & Newborn (1977), "The principal continuation and the killer heuristic".

A game implements `Rules` of engine/search/two_player.py.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import Any, Generic

from engine.search.budget import Deadline, DeadlineExceededError, PeriodicTimeCheck
from engine.search.two_player import (
    AT_LEAST,
    AT_MOST,
    EXACT,
    MOST_GUESS,
    SOLVED,
    WIN,
    Entry,
    Found,
    MoveT,
    PositionT,
    Rules,
    Table,
)

__all__ = ["MOST_GUESS", "MOST_PLIES", "WIN", "Found", "Rules", "best_move"]

MOST_PLIES = 100
"""Maximum search depth, well within Python's recursion limit."""

_INFINITY = WIN + 1
_MOST_QUIET_PLIES = 16
_NO_HANDICAPS: Mapping[Any, int] = MappingProxyType({})


def best_move(
    rules: Rules[PositionT, MoveT],
    position: PositionT,
    deadline: Deadline,
    rng: Random,
    *,
    first: MoveT | None = None,
    most_depth: int = MOST_PLIES,
    window: int | None = None,
    use_history: bool = True,
    nodes_per_check: int = 8,
    table: Table[MoveT] | None = None,
    handicaps: Mapping[MoveT, int] = _NO_HANDICAPS,
    better: Callable[[Found[MoveT]], None] | None = None,
) -> Found[MoveT]:
    """Find a good move by deepening until the deadline, ``most_depth`` plies or the end of every line.

    ``first`` is a legal fallback move, for games whose move list may take longer than the deadline. ``better`` is
    called with a first answer at once, then with each change of the best move and each completed depth. ``rng`` orders
    moves that score the same after one ply. ``window`` is the half width of aspiration windows in points; there are
    none by default. A win in one is always found once all moves were tried; of several, the first. The same ``rng`` and
    a `budget.CountingClock` give the same answer. ``table`` may be kept between turns while the rules and the scale of
    scores stay the same. ``handicaps`` are points subtracted from root moves, except from proven wins and losses; the
    returned score includes them.

    Raises ValueError if the game has ended or there is no move, and for a depth or ``nodes_per_check`` below 1.
    """
    if most_depth < 1 or nodes_per_check < 1:
        raise ValueError(f"got a depth of {most_depth} and {nodes_per_check} nodes per check; expected at least 1")
    if rules.ended(position) is not None:
        raise ValueError("there is no move to find: the game has ended")
    # An empty table is false, and may still be the caller's.
    search = _Search(rules, deadline, Table() if table is None else table, nodes_per_check, use_history, better)
    search.handicaps = handicaps
    return search.run(position, rng, first, min(most_depth, MOST_PLIES), window)


def _no_time_check() -> None:
    """A time check that never stops, for work that must be finished even after the deadline."""


class _Search(Generic[PositionT, MoveT]):
    """One search: its counters and memory, and the best answer so far."""

    def __init__(
        self,
        rules: Rules[PositionT, MoveT],
        deadline: Deadline,
        table: Table[MoveT],
        nodes_per_check: int,
        use_history: bool,
        better: Callable[[Found[MoveT]], None] | None,
    ) -> None:
        self._rules = rules
        self._check_time = PeriodicTimeCheck(deadline, nodes_per_check)
        self._table = table
        self._use_history = use_history
        self._better = better
        self._nodes = 0
        self._guesses = 0
        self._killers: list[tuple[MoveT, ...]] = [()] * (MOST_PLIES + 1)
        self._history: dict[MoveT, int] = {}
        self._lost: set[MoveT] = set()
        self._ranked: dict[MoveT, Found[MoveT]] = {}
        self.handicaps: Mapping[MoveT, int] = _NO_HANDICAPS

    def run(
        self, position: PositionT, rng: Random, first: MoveT | None, most_depth: int, window: int | None
    ) -> Found[MoveT]:
        """Search deeper and deeper; see `best_move`."""
        rules = self._rules
        if first is not None:
            self._tell(Found(first, 0, 0, False, 0))
        try:
            winning = rules.winning_move(position, self._check_time)
            if winning is not None:
                answer = Found(winning, WIN - 1, 1, True, self._nodes, (winning,))
                self._tell(answer)
                return answer
            moves = list(rules.moves(position, self._check_time))
        except DeadlineExceededError:
            if first is not None:
                return Found(first, 0, 0, False, self._nodes)
            moves = list(rules.moves(position, _no_time_check))
        if not moves:
            raise ValueError("there is no move to find: the game gives none")
        answer = Found(moves[0], 0, 0, False, 0, (moves[0],))
        if first is None:
            self._tell(answer)
        try:
            ranked = self._one_ply(position, moves, rng)
            self._ranked = {each.move: each for each in ranked}
            answer = ranked[0]
            # A win in one ply or a single legal move needs no further search.
            most_depth = 1 if answer.win_in == 1 or len(moves) == 1 else most_depth
            self._tell(answer)
            order = [each.move for each in ranked]
            for depth in range(2, most_depth + 1):
                if self._settled(answer):
                    break
                answer = self._deeper(position, order, depth, window, answer)
                order.sort(key=lambda move: (move != answer.move, move in self._lost))
        except _CutShortError as cut:
            return cut.answer
        return answer

    def _tell(self, answer: Found[MoveT]) -> None:
        if self._better is not None:
            self._better(answer)

    @staticmethod
    def _settled(answer: Found[MoveT]) -> bool:
        """Whether a deeper search can't change the answer: a win lies within the depth, or every line is solved."""
        plies = answer.win_in or answer.loss_in
        return answer.proven and (plies is None or plies <= answer.depth)

    def _one_ply(self, position: PositionT, moves: Sequence[MoveT], rng: Random) -> list[Found[MoveT]]:
        """Score every move by the resulting position, the best first; ``rng`` orders equal ones."""
        guesses = self._guesses
        mover = self._rules.mover(position)
        found: list[Found[MoveT]] = []
        best = None
        try:
            for move in moves:
                score = self._first(position, move, mover, 0, -_INFINITY, _INFINITY)
                each = Found(move, score, 1, abs(score) > MOST_GUESS, self._nodes, (move,))
                if best is None or score > best.score:
                    best = each
                    self._tell(best)
                if each.win_in == 1:
                    return [each]
                found.append(each)
        except DeadlineExceededError:
            raise _CutShortError(best or Found(moves[0], 0, 0, False, self._nodes)) from None
        if self._guesses == guesses:
            found = [Found(each.move, each.score, 1, True, each.nodes, each.line) for each in found]
        drawn = list(range(len(found)))
        rng.shuffle(drawn)
        return [
            found[i]
            for _, _, i in sorted((-each.score, lot, i) for i, (each, lot) in enumerate(zip(found, drawn, strict=True)))
        ]

    def _deeper(
        self, position: PositionT, order: Sequence[MoveT], depth: int, window: int | None, before: Found[MoveT]
    ) -> Found[MoveT]:
        """Search all moves to ``depth``; raises _CutShortError with the best answer known at the deadline."""
        alpha, beta = -_INFINITY, _INFINITY
        if window is not None and abs(before.score) < MOST_GUESS:
            alpha, beta = before.score - window, before.score + window
        while True:
            answer = self._within(position, order, depth, alpha, beta, before)
            if alpha < answer.score < beta:
                self._tell(answer)
                return answer
            # Outside the window the score is only a bound: widen that side and search again.
            alpha, beta = (-_INFINITY, beta) if answer.score <= alpha else (alpha, _INFINITY)

    def _within(
        self, position: PositionT, order: Sequence[MoveT], depth: int, alpha: int, beta: int, before: Found[MoveT]
    ) -> Found[MoveT]:
        """Search all moves to ``depth`` for a score within the window."""
        mover = self._rules.mover(position)
        guesses = self._guesses
        lower = alpha
        best: Found[MoveT] | None = None
        tried = 0
        try:
            for move in order:
                score = self._first(position, move, mover, depth - 1, lower, lower + 1 if best else beta)
                if best is not None and lower < score < beta:
                    score = self._first(position, move, mover, depth - 1, lower, beta)
                tried += 1
                if score < -MOST_GUESS:
                    self._lost.add(move)
                if best is None or score > best.score:
                    changed = best is not None and score > lower
                    proven = abs(score) > MOST_GUESS and score > alpha
                    best = Found(move, score, depth, proven, self._nodes, self._line(position, move, depth))
                    if changed:
                        self._tell(best)
                lower = max(lower, score)
                if lower >= beta:
                    break
        except DeadlineExceededError:
            raise _CutShortError(self._unfinished(order, tried, alpha, best, before)) from None
        if best is None:
            raise AssertionError("a search of at least one move finds one")
        if self._guesses == guesses:
            best = Found(best.move, best.score, depth, True, self._nodes, best.line)
        return best

    def _unfinished(
        self, order: Sequence[MoveT], tried: int, alpha: int, best: Found[MoveT] | None, before: Found[MoveT]
    ) -> Found[MoveT]:
        """Choose between the result of an incomplete depth and that of the depth before."""
        if best is None or best.score <= alpha:
            return before
        if best.loss_in is not None:
            # Prefer an unsolved move to one that is proven to lose.
            for move in order[tried:]:
                if move not in self._lost:
                    return self._ranked[move]
        return best

    def _first(self, position: PositionT, move: MoveT, mover: Hashable, depth: int, alpha: int, beta: int) -> int:
        """Score a root move, minus its handicap."""
        handicap = self.handicaps.get(move, 0)
        low, high = _lifted(alpha, handicap), _lifted(beta, handicap)
        return _lifted(self._after(self._rules.play(position, move), mover, depth, low, high, 1), -handicap)

    def _after(self, after: PositionT, mover: Hashable, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Score a position for the player who moved into it."""
        if self._rules.mover(after) == mover:
            return self._score(after, depth, alpha, beta, ply)
        return -self._score(after, depth, -beta, -alpha, ply)

    def _score(self, position: PositionT, depth: int, alpha: int, beta: int, ply: int) -> int:
        """Score a position for its mover: exact within the window, else a bound (fail-soft)."""
        self._nodes += 1
        self._check_time()
        rules = self._rules
        ended = rules.ended(position)
        if ended is not None:
            return ended * (WIN - ply)
        if depth <= 0:
            return self._at_horizon(position, alpha, beta, ply, _MOST_QUIET_PLIES)
        key = rules.key(position)
        entry = self._table.get(key)
        if entry is not None:
            known = self._known(entry, depth, alpha, beta, ply)
            if known is not None:
                return known
        if rules.winning_move(position, self._check_time) is not None:
            return WIN - ply - 1
        mover = rules.mover(position)
        guesses = self._guesses
        lower = alpha
        best, best_move = -_INFINITY, None
        for move in self._ordered(position, entry[3] if entry is not None else None, ply):
            after = rules.play(position, move)
            if best_move is None:
                score = self._after(after, mover, depth - 1, lower, beta, ply + 1)
            else:
                score = self._after(after, mover, depth - 1, lower, lower + 1, ply + 1)
                if lower < score < beta:
                    score = self._after(after, mover, depth - 1, lower, beta, ply + 1)
            if score > best:
                best, best_move = score, move
            lower = max(lower, score)
            if lower >= beta:
                self._cut_off(move, depth, ply)
                break
        if best_move is None:
            raise ValueError("the game hasn't ended, and yet there are no moves")
        bound = AT_MOST if best <= alpha else AT_LEAST if best >= beta else EXACT
        reach = SOLVED if self._guesses == guesses else depth
        self._table.put(key, (reach, bound, _from_here(best, ply), best_move))
        return best

    def _known(self, entry: Entry[MoveT], depth: int, alpha: int, beta: int, ply: int) -> int | None:
        """Give the remembered score if its depth and bound suffice for the window."""
        reach, bound, here, _ = entry
        score = _from_root(here, ply)
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

    def _at_horizon(self, position: PositionT, alpha: int, beta: int, ply: int, plies_left: int) -> int:
        """Quiescence search: estimate the score, following noisy moves only; either player may also decline them."""
        rules = self._rules
        if rules.winning_move(position, self._check_time) is not None:
            return WIN - ply - 1
        self._guesses += 1
        best = rules.evaluate(position)
        if best >= beta or plies_left == 0:
            return best
        mover = rules.mover(position)
        for move in rules.noisy_moves(position, self._check_time):
            self._nodes += 1
            self._check_time()
            after = rules.play(position, move)
            ended = rules.ended(after)
            same = rules.mover(after) == mover
            low, high = max(alpha, best), beta
            if ended is not None:
                score = ended * (WIN - ply - 1)
            elif same:
                score = self._at_horizon(after, low, high, ply + 1, plies_left - 1)
            else:
                score = self._at_horizon(after, -high, -low, ply + 1, plies_left - 1)
            best = max(best, score if same else -score)
            if best >= beta:
                break
        return best

    def _ordered(self, position: PositionT, remembered: MoveT | None, ply: int) -> Iterator[MoveT]:
        """Yield the remembered move first (before listing the others), then killers, then the rest by history."""
        if remembered is not None:
            yield remembered
        moves = self._rules.moves(position, self._check_time)
        history = self._history
        if self._use_history and history:
            moves = sorted(moves, key=lambda move: -history.get(move, 0))
        killers = self._killers[ply]
        leading = [move for move in killers if move != remembered and move in moves] if killers else []
        yield from leading
        for move in moves:
            if move != remembered and move not in leading:
                yield move

    def _cut_off(self, move: MoveT, depth: int, ply: int) -> None:
        """Remember a move that refuted the one before it."""
        self._history[move] = self._history.get(move, 0) + depth * depth
        killers = self._killers[ply]
        if move not in killers:
            self._killers[ply] = (move, *killers[:1])

    def _line(self, position: PositionT, move: MoveT, depth: int) -> tuple[MoveT, ...]:
        """Give the principal variation after ``move``, as far as the table remembers it."""
        line = [move]
        position = self._rules.play(position, move)
        while len(line) < depth and self._rules.ended(position) is None:
            entry = self._table.get(self._rules.key(position))
            if entry is None or entry[3] is None:
                break
            line.append(entry[3])
            position = self._rules.play(position, entry[3])
        return tuple(line)


class _CutShortError(Exception):
    """Raised when the deadline passes; carries the best answer so far."""

    def __init__(self, answer: Found[Any]) -> None:
        super().__init__()
        self.answer: Found[Any] = answer


def _lifted(score: int, points: int) -> int:
    """Add points to an estimated score; leave proven wins and losses unchanged."""
    return score + points if -MOST_GUESS <= score <= MOST_GUESS else score


def _from_here(score: int, ply: int) -> int:
    """Count the plies of a win or loss from the position instead of from the root."""
    return score + ply if score > MOST_GUESS else score - ply if score < -MOST_GUESS else score


def _from_root(score: int, ply: int) -> int:
    """Count the plies of a win or loss from the root instead of from the position."""
    return score - ply if score > MOST_GUESS else score + ply if score < -MOST_GUESS else score
