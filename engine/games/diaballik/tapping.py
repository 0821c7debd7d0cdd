"""Turns tapped on the board: a piece and its destination, or the carrier and the receiver."""

from __future__ import annotations

from engine.games.diaballik.announcements import ANTI_PLAY
from engine.games.diaballik.rules import certainty
from engine.games.diaballik.state import PLACES, SQUARE_OF, Action, DiaballikState, DiaballikTurn
from engine.games.diaballik.turns import actions, begin_turn
from engine.tapping import Steps, Tapped
from engine.values import Certainty


def tapped(state: DiaballikState, taps: Steps) -> Tapped[DiaballikTurn]:
    """List what may follow these taps: the start or end of an action, or an announcement of anti-play."""
    if state.to_move is None:
        return Tapped()
    now, done = begin_turn(state, state.to_move), []
    squares, claims = (taps[:-1], True) if taps[-1:] == (ANTI_PLAY,) else (taps, False)
    if not set(squares) <= SQUARE_OF.keys():
        return Tapped()
    numbers = [SQUARE_OF[square] for square in squares]
    for start, end in zip(numbers[::2], numbers[1::2], strict=False):
        action = Action(start, end, passes=start == now.ball)
        if action not in actions(now):
            return Tapped()
        now = now.after(action)
        done.append(action)
    if len(numbers) % 2:
        ends = {action.end for action in actions(now) if action.start == numbers[-1]}
        return Tapped() if claims else Tapped(tuple(PLACES[end] for end in sorted(ends)))
    plain, claiming = (DiaballikTurn(state.to_move, tuple(done), claims=each) for each in (False, True))
    turn = claiming if claims else plain
    is_legal = bool(done) and certainty(state, turn) is Certainty.CERTAIN
    if claims:
        return Tapped(turn=turn if is_legal else None)
    starts = {action.start for action in actions(now)}
    # Where anti-play is automatic, there is nothing to announce.
    may_claim = bool(done) and not state.options.automatic and certainty(state, claiming) is Certainty.CERTAIN
    choices = {ANTI_PLAY: "announces anti-play"} if may_claim else {}
    return Tapped(tuple(PLACES[start] for start in sorted(starts)), choices, turn if is_legal else None)
