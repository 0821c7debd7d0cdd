"""Hints: a good turn, and a reason that a player understands."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from common.phrases import Phrase, listed
from engine.api import Clock, Hint
from engine.errors import IllegalTurnError
from engine.games.diaballik.search import SEEMS_LOST, WIN, Line, Position, Searcher, best_lines, evaluate_results
from engine.games.diaballik.state import (
    GOAL,
    PLACES,
    PLAYERS,
    SIZE,
    DiaballikOptions,
    DiaballikState,
    DiaballikTurn,
    other,
)
from engine.games.diaballik.turns import (
    BALL_SHIFT,
    PIECES_MASK,
    TurnInProgress,
    begin_turn,
    can_win,
    claimed_results,
    may_claim,
    packed_results,
    reach_before_pass,
    receivers,
    turn_with_result,
    unpack,
    visible,
)
from engine.search.alpha_beta import StallingPenalties
from engine.search.budget import Deadline
from engine.support.grid import members
from engine.values import Strength

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
    ends = {result >> BALL_SHIFT for result in packed_results(turn)}
    return sorted(end for end in ends if goal >> end & 1)


def _row(square: int, player: int) -> int:
    return square // SIZE if player == 0 else SIZE - 1 - square // SIZE


def _either(squares: list[int]) -> str:
    return listed((PLACES[square] for square in squares), "or")
