"""Hints: a good turn, found by a search over whole turns, and a reason that a player understands.

A turn has hundreds of results, so all results of a position are scored together. Alpha-beta then follows only the best
results (a beam) with iterative deepening, and caches the results worth following for each position.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from common.phrases import Phrase, listed
from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.games.diaballik.evaluation import (
    LOST_NEXT,
    SEEMS_LOST,
    WIN,
    Integers,
    Position,
    evaluate_results,
)
from engine.games.diaballik.results import can_win, claimed_results, reach_before_pass, results_of
from engine.games.diaballik.state import (
    CONTACTS_TO_CLAIM,
    GOAL,
    PLACES,
    PLAYERS,
    SIZE,
    DiaballikOptions,
    DiaballikState,
    DiaballikTurn,
    is_wall,
    other,
    touching,
)
from engine.games.diaballik.turns import (
    BALL_SHIFT,
    PIECES_MASK,
    TurnInProgress,
    begin_turn,
    may_claim,
    receivers,
    turn_with_result,
    unpack,
    visible,
)
from engine.search.alpha_beta import StallingPenalties
from engine.search.budget import Deadline, DeadlineExceededError
from engine.support.grid import members
from engine.values import Strength

_PROVEN = WIN - 1000
_LOST_LATER = -(WIN - 4)
"""A loss the turn after next."""
_MOST_KEPT = 48  # results of a position, the best
_MOST_POSITIONS = 60_000  # remembered in each table
_FIRST_FOLLOWED = 48
"""The number of best results searched deeper; the others are searched only if all of those lose."""


class EvaluatedPosition(NamedTuple):
    """An evaluated position: the score of its best result, and the results worth following, the best first.

    ``rest`` is the score of the best result that wasn't kept, ``None`` if all of those lose at once.
    """

    score: int
    results: tuple[int, ...]
    rest: int | None = None


class Known(NamedTuple):
    """A searched position: its depth in turns, score, and whether that is exact (0) or a lower (1) or upper (-1) bound.

    ``result`` is the best one, which the next search tries first.
    """

    depth: int
    score: int
    bound: int
    result: int

    def holds(self, alpha: int, beta: int) -> bool:
        """Return whether the score suffices for a search within alpha and beta."""
        if self.bound == 0:
            return True
        return self.score >= beta if self.bound > 0 else self.score <= alpha


class Line(NamedTuple):
    """A result, its score for the mover, and the depth of the search in turns."""

    result: int
    score: int
    depth: int

    @property
    def proven(self) -> bool:
        """Whether the score is a proven win or loss."""
        return abs(self.score) > _PROVEN


class Searcher:
    """One search: the options, the deadline, and the positions evaluated so far.

    ``usual`` means that the options allow looking results up in tables. ``deadline`` may be replaced.
    """

    def __init__(self, options: DiaballikOptions, deadline: Deadline) -> None:
        self._options = options
        self.deadline = deadline
        self._evaluated: dict[Position, EvaluatedPosition] = {}
        self._known: dict[Position, Known] = {}
        self.usual = options.pass_over_own and not options.automatic

    def results(self, position: Position) -> list[int]:
        """Return the results of the mover's turn under the options."""
        player = PLAYERS[position.player]
        return results_of(TurnInProgress(player, self._options, position.foes, position.own, position.ball))

    def wins_at_once(self, position: Position) -> bool:
        """Return whether the mover can win in this turn, by the ball or by anti-play, or has won by anti-play."""
        player = PLAYERS[position.player]
        goal = GOAL[player]
        if not self.usual or can_win(position.own, position.ball, position.foes, goal):
            for result in self.results(position):
                if goal >> (result >> BALL_SHIFT) & 1:
                    return True
        if is_wall(position.foes):
            touch = touching(position.foes, player, front_only=self._options.front_only)
            # If anti-play is automatic, the game may be over already: then there are no results.
            if (position.own & touch).bit_count() >= CONTACTS_TO_CLAIM:
                return True
            if position.own & touch:
                return any(
                    (result & touch & PIECES_MASK).bit_count() >= CONTACTS_TO_CLAIM for result in self.results(position)
                )
        return False

    def score_results(self, position: Position, results: list[int]) -> Integers:
        """Return the score of each result for the mover."""
        scores = evaluate_results(
            position, np.array(results, dtype=np.int64), front_only=self._options.front_only
        ).scores
        if not self.usual:
            # The evaluation assumes the usual options, so a loss at once isn't certain here.
            np.maximum(scores, SEEMS_LOST, out=scores)
        return scores

    def move_losers_last(self, position: Position, ranked: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the results, best first, after moving those to the end that lose at once despite their score.

        Only results that a claim might answer are checked (under unusual options all), until a safe one is found.
        """
        lost: list[tuple[int, int]] = []
        try:
            for number, (score, result) in enumerate(ranked):
                after = position.after(result)
                if score > LOST_NEXT and not self._may_miss_win(after):
                    return [*ranked[number:], *lost]
                self.deadline.check()
                if not self.wins_at_once(after):
                    return [(max(score, SEEMS_LOST), result), *ranked[number + 1 :], *lost]
                lost.append((LOST_NEXT, result))
        except DeadlineExceededError:
            return [*ranked[len(lost) :], *lost]
        return lost

    def _may_miss_win(self, after: Position) -> bool:
        """Return whether the score may have missed a win of the player to move."""
        if not self.usual or not is_wall(after.foes):
            return not self.usual
        touch = touching(after.foes, PLAYERS[after.player], front_only=self._options.front_only)
        return bool(after.own & touch)

    def evaluate(self, position: Position) -> EvaluatedPosition:
        """Evaluate a position: the score of its best result, or WIN - 1 if the mover wins at once. Cached."""
        known = self._evaluated.get(position)
        if known is not None:
            return known
        self.deadline.check()
        found = self._evaluate_anew(position)
        if len(self._evaluated) < _MOST_POSITIONS:
            self._evaluated[position] = found
        return found

    def _evaluate_anew(self, position: Position) -> EvaluatedPosition:
        if self.wins_at_once(position):
            return EvaluatedPosition(WIN - 1, ())
        results = self.results(position)
        if not results:
            # The mover has no action, so the opponent plays again.
            passed = position.own | position.ball << BALL_SHIFT
            score = int(self.score_results(position, [passed])[0])
            return EvaluatedPosition(score, (passed,))
        scores = self.score_results(position, results)
        order = np.argsort(-scores, kind="stable")[: _MOST_KEPT + 1].tolist()
        alive = [results[each] for each in order if scores[each] > LOST_NEXT]
        rest = int(scores[order[_MOST_KEPT]]) if len(alive) > _MOST_KEPT else None
        return EvaluatedPosition(int(scores[order[0]]), tuple(alive[:_MOST_KEPT]), rest)

    def value(self, position: Position, depth: int, alpha: int, beta: int) -> int:
        """Return the score for the mover after a search of ``depth`` turns (fail-soft alpha-beta)."""
        opened = self.evaluate(position)
        if depth <= 1 or not opened.results:
            return opened.score
        known = self._known.get(position)
        first = None
        if known is not None:
            first = known.result
            deep_enough = known.depth == depth or abs(known.score) > _PROVEN
            if deep_enough and known.holds(alpha, beta):
                return known.score
        best, best_result, low = -WIN - 1, opened.results[0], alpha
        followed = beam_width(depth)
        for number, result in enumerate(_move_to_front(opened.results, first)):
            # Results beyond the beam are searched only to confirm a loss.
            if number >= followed and best > -_PROVEN:
                break
            least, most = _delay_end(max(low, best), -1), _delay_end(beta, -1)
            score = -_delay_end(self.value(position.after(result), depth - 1, -most, -least), 1)
            if score > best:
                best, best_result = score, result
                if best >= beta:
                    break
        if best < -_PROVEN and opened.rest is not None:
            best = opened.rest
        if len(self._known) < _MOST_POSITIONS:
            self._known[position] = Known(depth, best, 1 if best >= beta else -1 if best <= alpha else 0, best_result)
        return best

    def first_safe(self, position: Position, lines: Sequence[Line]) -> Line:
        """Return the first line that doesn't lose by force within three turns; the first of all if each one loses.

        At the deadline, return the first that isn't known to lose.
        """
        if lines[0].proven:
            return lines[0]
        for line in (line for line in lines if line.score >= -_PROVEN):
            try:
                if not self._wins_next_but_one(position.after(line.result)):
                    return line
            except DeadlineExceededError:
                return line
        return lines[0]._replace(score=_LOST_LATER)

    def _wins_next_but_one(self, position: Position) -> bool:
        """Return whether the mover has a result after which the opponent loses to the ball at once, whatever the reply.

        Only a result that threatens to win qualifies, since the opponent could leave everything in place.
        """
        results = self.results(position)
        if not self.usual or not results:
            return False
        self.deadline.check()
        found = evaluate_results(position, np.array(results, dtype=np.int64), front_only=self._options.front_only)
        threatening = np.flatnonzero((found.threats != 0) & (found.scores > LOST_NEXT))
        best_first = threatening[np.argsort(-found.scores[threatening], kind="stable")].tolist()
        return any(self.evaluate(position.after(results[each])).score == LOST_NEXT for each in best_first)


def _move_to_front(results: tuple[int, ...], first: int | None) -> tuple[int, ...]:
    """Return the results with one of them first."""
    if first is None or first == results[0]:
        return results
    return (first, *(each for each in results if each != first))


def beam_width(depth: int) -> int:
    """Return the number of results to follow at this remaining depth."""
    return 16 if depth <= 2 else 12


def _delay_end(score: int, turns: int) -> int:
    """Return the score with a win or loss this many turns later; guesses stay what they are."""
    return score - turns if score > _PROVEN else score + turns if score < -_PROVEN else score


def _add_points(score: int, points: int) -> int:
    """Add points to a guess; wins and losses stay what they are."""
    return score + points if -_PROVEN <= score <= _PROVEN else score


def best_lines(
    searcher: Searcher,
    position: Position,
    results: list[int],
    better: Callable[[Line], None],
    penalties: Mapping[int, int],
    *,
    most_depth: int,
) -> list[Line]:
    """Rank the results by iterative deepening until the deadline; ``better`` is called with every best one.

    The caller has checked that none of the results wins at once. ``penalties`` are points taken off each
    result's score, unless it is a proven win or loss.
    """
    scores = searcher.score_results(position, results)
    scores -= np.array([penalties[result] for result in results], dtype=np.int64) * (np.abs(scores) < _PROVEN)
    order = np.argsort(-scores, kind="stable")
    ranked = [(int(scores[each]), results[each]) for each in order.tolist()]
    answer = Line(ranked[0][1], ranked[0][0], 1)
    better(answer)
    ranked = searcher.move_losers_last(position, ranked)
    if ranked[0][1] != answer.result:
        answer = Line(ranked[0][1], ranked[0][0], 1)
        better(answer)
    alive = [result for score, result in ranked if score > LOST_NEXT]
    before = {result: Line(result, score, 1) for score, result in ranked}
    if len(alive) < 2:
        return _rank_lines(answer, before)
    followed, waiting = alive[:_FIRST_FOLLOWED], alive[_FIRST_FOLLOWED:]
    for depth in range(2, most_depth + 1):
        found: list[tuple[int, int]] = []
        best = -WIN
        try:
            while followed:
                for result in followed:
                    penalty = penalties[result]
                    least = _delay_end(_add_points(best, penalty), -1)
                    score = -_delay_end(searcher.value(position.after(result), depth - 1, -WIN, -least), 1)
                    score = _add_points(score, -penalty)
                    found.append((score, result))
                    before[result] = Line(result, score, depth)
                    if score > best:
                        best = score
                        answer = Line(result, score, depth)
                        better(answer)
                # If all followed results lose, the others are searched too.
                followed, waiting = (
                    (waiting[:_FIRST_FOLLOWED], waiting[_FIRST_FOLLOWED:]) if best < -_PROVEN else ([], waiting)
                )
        except DeadlineExceededError:
            if best < -_PROVEN:
                # A result searched less deep is better than one that is known to lose.
                done = {result for _, result in found}
                left = next((result for result in followed if result not in done), answer.result)
                if left != answer.result:
                    answer = before[left]
                    better(answer)
            break
        found.sort(key=lambda each: -each[0])
        followed = [result for _, result in found]
        if answer.proven:
            break
    return _rank_lines(answer, before)


def _rank_lines(answer: Line, lines: Mapping[int, Line]) -> list[Line]:
    """Return the answer, then the other lines by score; those searched nearly as deep come first."""
    far = max(2, answer.depth - 1)
    others = sorted(lines.values(), key=lambda line: (line.depth < far, -line.score))
    return [answer, *(line for line in others if line.result != answer.result)]


_SCALE, _SCALE_IF_DEEP, _DEEP = 2500, 600, 3
"""The lead in score that raises the odds of winning e-fold, by searches of fewer than ``_DEEP`` turns and by
others: hints that see less lose their leads more often. Fitted to games of hints as in ``benchmarks/hints.py
--chances``: the scale until then, divided by the slope that it prints.
"""
_TEMPO = 370
"""What a score flatters the side that plays last in the search, if only one depth was searched: half the mean
difference between depths 1 and 2 in games of fair hints."""
_DEPTHS = {Strength.GENTLE: 1, Strength.FAIR: 2, Strength.STRONG: 30}
_SUREST_GUESS = 0.9  # confidence, 0 to 1, in a result that is not proven
_SHARE_FOR_CHECK, _MOST_FOR_CHECK_S = 0.15, 0.2
"""The time reserved for checking that a hint doesn't lose by force; one check takes up to 0.08 s."""
_MOST_FORWARD = 2  # rows that the pieces and the ball gain in a turn without a penalty for idling
_STALLING = StallingPenalties(second_time=200, third_time=1500, idle_turns=40, per_turn=40, most=20_000)


def position_of(state: DiaballikState) -> Position:
    """Return the board as seen by the player to move."""
    player = str(state.to_move)
    own, foes = state.side(player), state.side(other(player))
    return Position(own.pieces, own.ball, foes.pieces, foes.ball, PLAYERS.index(player))


def hint(
    state: DiaballikState,
    deadline_s: float,
    rng: Random,
    *,
    clock: Clock,
    strength: Strength = Strength.STRONG,
    earlier: Sequence[DiaballikState],
) -> Hint[DiaballikTurn]:
    """Find a good turn; see engine.api.Advice.hint. Raises IllegalTurnError when the game is over."""
    if state.to_move is None:
        raise IllegalTurnError(Phrase("the game is over, so there is no turn to hint at"))
    deadline_s = max(0.0, deadline_s)
    deadline = Deadline.after(deadline_s, clock)
    for_check_s = 0.0 if strength is Strength.GENTLE else min(_MOST_FOR_CHECK_S, deadline_s * _SHARE_FOR_CHECK)
    searcher = Searcher(state.options, Deadline(clock, deadline.at_s, deadline.margin_s + for_check_s))
    position = position_of(state)
    results = sorted(searcher.results(position))
    rng.shuffle(results)
    at_once = _immediate_hint(state, position, results)
    if at_once is not None:
        return at_once

    penalties = _penalties(position, results, earlier)
    best_at: dict[int, int] = {}

    def note(line: Line) -> None:
        best_at[line.depth] = line.score

    lines = best_lines(searcher, position, results, note, penalties, most_depth=_DEPTHS[strength])
    searcher.deadline = deadline
    line = lines[0] if strength is Strength.GENTLE else searcher.first_safe(position, lines)
    note(line)
    return _hint(state, position, line, _chance(line, penalties[line.result], best_at))


def _penalties(position: Position, results: list[int], earlier: Sequence[DiaballikState]) -> dict[int, int]:
    """Return the penalty of each result: for repeating a position, and in a long game for not moving forward."""
    seen = Counter(position_of(each) for each in earlier)
    seen[position] += 1
    # No turn of this game is irreversible, so all turns count as idle.
    idle_penalty = _STALLING.for_idling(len(earlier))
    stands = _rows_gone(position.own | position.ball << BALL_SHIFT, position.player)
    return {
        result: _STALLING.for_repetition(seen[position.after(result)])
        + (idle_penalty * max(0, _MOST_FORWARD + stands - _rows_gone(result, position.player)) if idle_penalty else 0)
        for result in results
    }


def _rows_gone(result: int, player: int) -> int:
    """Return how many rows from home a side's pieces and ball are, in all."""
    return _row(result >> BALL_SHIFT, player) + sum(_row(square, player) for square in members(result & PIECES_MASK))


def _immediate_hint(state: DiaballikState, position: Position, results: list[int]) -> Hint[DiaballikTurn] | None:
    """Return a hint that needs no search: a win, anti-play, or the only turn; ``None`` if there is none."""
    player = str(state.to_move)
    foe = other(player)
    turn = begin_turn(state, player)
    for result in results:
        if GOAL[player] >> (result >> BALL_SHIFT) & 1:
            reason = Phrase("wins: the ball reaches {place}", PLACES[result >> BALL_SHIFT])
            return Hint(turn_with_result(turn, unpack(result)), reason, 1.0, "win", 1.0)
    for result in claimed_results(turn, results):
        reason = Phrase("announces anti-play: at least three pieces touch {foe}'s wall", foe)
        return Hint(turn_with_result(turn, unpack(result), claims=True), reason, 1.0, "win", 1.0)
    if state.options.automatic:
        for result in results:
            if may_claim(state.options, result & PIECES_MASK, position.foes, player):
                reason = Phrase("wins: at least three pieces touch {foe}'s wall, which is anti-play", foe)
                return Hint(turn_with_result(turn, unpack(result)), reason, 1.0, "win", 1.0)
    if len(results) == 1:
        scored = evaluate_results(position, np.array(results, dtype=np.int64)).scores
        chance = _chance(Line(results[0], int(scored[0]), 1), 0, {})
        return Hint(turn_with_result(turn, unpack(results[0])), Phrase("is the only turn there is"), chance, "win", 0.5)
    return None


def _chance(line: Line, penalty: int, best_at: Mapping[int, int]) -> float:
    """Return the probability of winning by a line, as if no position had come up before.

    A score flatters the side that plays last in the search, so it is averaged with the depth before: ``best_at`` has
    the best score by depth, in turns.
    """
    if abs(line.score) > WIN // 2:
        return 1.0 if line.score > 0 else 0.0
    last, before = best_at.get(line.depth, -WIN), best_at.get(line.depth - 1, -WIN)
    one_depth = _TEMPO if line.depth % 2 else -_TEMPO
    tempo = (last - before) / 2 if min(last, before) > SEEMS_LOST else one_depth
    scale = _SCALE_IF_DEEP if line.depth >= _DEEP else _SCALE
    return 0.5 + 0.5 * math.tanh((line.score + penalty - tempo) / (2 * scale))


def _hint(state: DiaballikState, position: Position, line: Line, chance: float) -> Hint[DiaballikTurn]:
    sure = 1.0 if line.proven else min(_SUREST_GUESS, 0.3 + 0.1 * line.depth)
    return Hint(
        turn_with_result(begin_turn(state, str(state.to_move)), unpack(line.result)),
        reason_for(state.options, position, line),
        chance,
        "win",
        sure,
    )


def reason_for(options: DiaballikOptions, position: Position, line: Line) -> str:
    """Return the most important reason for a result, in a few words."""
    player, foe = PLAYERS[position.player], PLAYERS[1 - position.player]
    own, ball = line.result & PIECES_MASK, line.result >> BALL_SHIFT
    mine, theirs = (
        TurnInProgress(player, options, position.foes, position.own, position.ball),
        TurnInProgress(foe, options, position.own, position.foes, position.foe_ball),
    )
    mine_after, theirs_after = mine._replace(pieces=own, ball=ball), theirs._replace(foes=own)
    if line.proven:
        if line.score < 0:
            return Phrase("holds out longest: {foe} can force a win", foe)
        return Phrase("wins in {number} turns whatever {foe} does", (WIN - line.score + 1) // 2, foe)
    stopped = _winning_squares(theirs)
    if stopped and not _winning_squares(theirs_after):
        return Phrase("stops {foe}'s pass to {squares} on the far row", foe, _either(stopped))
    threats = _winning_squares(mine_after)
    if threats:
        return Phrase("threatens to pass to {squares} and win", _either(threats))
    if ball != position.ball and _row(ball, position.player) > _row(position.ball, position.player):
        return Phrase("brings the ball forward to {place}", PLACES[ball])
    opened = receivers(mine_after) & ~receivers(mine)
    ahead = [square for square in members(opened) if _row(square, position.player) > _row(ball, position.player)]
    if ahead:
        farthest = max(ahead, key=lambda square: _row(square, position.player))
        return Phrase("opens a passing line to {place}", PLACES[farthest])
    barred = receivers(theirs) & ~receivers(theirs_after)
    if barred:
        return Phrase("closes {foe}'s passing line to {place}", foe, PLACES[next(members(barred))])
    came = own & ~position.own
    forward = [square for square in members(came) if _row(square, position.player) >= SIZE // 2]
    if forward:
        return Phrase("brings a piece forward to {place}", PLACES[max(forward, key=lambda s: _row(s, position.player))])
    if came:
        return Phrase("posts a piece on {place}", PLACES[next(members(came))])
    return (
        Phrase("keeps everything in its place")
        if ball == position.ball
        else Phrase("brings the ball to safety on {place}", PLACES[ball])
    )


def _winning_squares(turn: TurnInProgress) -> list[int]:
    """Return the far-row squares to which the player could pass to win."""
    goal = GOAL[turn.player]
    if not can_win(turn.pieces, turn.ball, turn.foes, goal):
        return []
    if turn.options.pass_over_own:
        return list(
            members(visible(turn.ball, turn.foes) & goal & reach_before_pass(turn.pieces, turn.ball, turn.foes))
        )
    # Own pieces may stand in the way.
    ends = {result >> BALL_SHIFT for result in results_of(turn)}
    return sorted(end for end in ends if goal >> end & 1)


def _row(square: int, player: int) -> int:
    return square // SIZE if player == 0 else SIZE - 1 - square // SIZE


def _either(squares: list[int]) -> str:
    return listed((PLACES[square] for square in squares), "or")
