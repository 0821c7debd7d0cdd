"""Finds the rule that a turn with known actions breaks: that of its first forbidden action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from common.phrases import listed
from engine.games.diaballik.announcements import claim_breach, may_claim
from engine.games.diaballik.fast_rules import visible
from engine.games.diaballik.state import (
    GOAL,
    GRID,
    NEAR,
    PLACES,
    Action,
    DiaballikState,
    DiaballikTurn,
    between_squares,
    other,
)
from engine.games.diaballik.turns import MOST_MOVES, TurnInProgress, begin_turn, can_act
from engine.support.breaches import game_over
from engine.values import Breach, Place

TAKE_BACK = "Put everything back as it was and play another turn."
LEAVE_ONE_BALL = "Leave the ball on one of them only."


def take_balls_off(places: Sequence[Place]) -> str:
    """Return the remedy for surplus balls on these places."""
    return f"Take the ball off the {'piece' if len(places) == 1 else 'pieces'} on {listed(places)}."


def whose_turn(state: DiaballikState, player: str, places: tuple[str, ...]) -> Breach | None:
    """Return the breach of playing when it isn't the player's turn, or ``None``."""
    if state.to_move is None:
        return game_over(places)
    if player == state.to_move:
        return None
    remedy = f"Put everything back as it was; {state.to_move} plays."
    if not can_act(begin_turn(state, player)):
        sentence = f"{player.capitalize()} can neither move nor pass, so {state.to_move} plays."
        return Breach("no-action-left", sentence, remedy, places)
    return Breach("not-your-turn", f"It is {state.to_move}'s turn, not {player}'s.", remedy, places)


def breaches_of_actions(state: DiaballikState, turn: DiaballikTurn) -> tuple[Breach, ...]:
    """List the breach of a written turn: wrong player, else its first illegal action; empty if it is legal."""
    breach = whose_turn(state, turn.player, turn.places)
    if breach is not None:
        return (breach,)
    if not turn.actions:
        return (Breach("null-turn", "Nothing was done; a turn has at least one action.", "Move or pass.", ()),)
    now = begin_turn(state, turn.player)
    for action in turn.actions:
        breach = breach_of(now, action)
        if breach is not None:
            return (breach,)
        now = now.after(action)
    if now.side == state.side(turn.player) and not state.options.null_turn:
        sentence = "After this turn everything stands where it stood before."
        return (Breach("null-turn", sentence, TAKE_BACK, turn.places),)
    if turn.claims and GOAL[now.player] >> now.ball & 1:
        return (_after_the_goal(now, (PLACES[now.ball],)),)
    if turn.claims and not may_claim(now.options, now.pieces, now.foes, now.player):
        breach = claim_breach(now.options, now.pieces, now.foes, now.player)
        without = "Play the turn without announcing anti-play."
        return (replace(breach, remedy=without, instead=without),)
    return ()


def _after_the_goal(now: TurnInProgress, places: tuple[str, ...]) -> Breach:
    sentence = f"With the ball on {PLACES[now.ball]} {now.player} has won, and nothing more is done."
    remedy = f"Leave the ball on {PLACES[now.ball]} and everything else as it was then."
    return Breach("goal-ends-turn", sentence, remedy, tuple(dict.fromkeys((PLACES[now.ball], *places))))


def breach_of(now: TurnInProgress, action: Action) -> Breach | None:
    """Return the breach of an action at this point of a turn, or ``None`` if it is legal."""
    start, end = PLACES[action.start], PLACES[action.end]
    places = tuple(dict.fromkeys((start, end)))
    if GOAL[now.player] >> now.ball & 1:
        return _after_the_goal(now, places)
    if now.ended:
        sentence = f"{now.player.capitalize()} has already won by anti-play, before {start} to {end}."
        left = f"the ball on {start}" if action.passes else f"the piece on {start} where it is"
        return Breach("game-over", sentence, f"Leave {left}: the game is over.", places)
    if now.foes >> action.start & 1:
        if action.passes:
            sentence = f"The piece on {start} is {other(now.player)}'s, and so is its ball."
            return Breach("passed-opponent-ball", sentence, TAKE_BACK, places)
        return Breach("moved-opponent-piece", f"The piece on {start} is {other(now.player)}'s.", TAKE_BACK, places)
    if not now.pieces >> action.start & 1:
        sentence = f"{now.player.capitalize()} has no piece on {start}."
        return Breach("pass-without-ball" if action.passes else "moved-opponent-piece", sentence, TAKE_BACK, places)
    return _pass_breach(now, action, places) if action.passes else _move_breach(now, action, places)


def _move_breach(now: TurnInProgress, action: Action, places: tuple[str, ...]) -> Breach | None:
    start, end = PLACES[action.start], PLACES[action.end]
    if action.start == now.ball:
        meant = f" Write {start}*{end} if a pass was meant." if now.pieces >> action.end & 1 else ""
        sentence = f"The piece on {start} has the ball, so it can't move to {end}."
        remedy = f"Put it back on {start}; it may move once the ball is passed.{meant}"
        instead = f"It may move once the ball is passed.{meant}"
        return Breach("carrier-moved", sentence, remedy, places, instead=instead)
    if (now.pieces | now.foes) >> action.end & 1:
        return Breach("square-taken", f"{end} is taken, so nothing moves there from {start}.", TAKE_BACK, places)
    if not NEAR[action.start] >> action.end & 1:
        columns, rows = GRID.apart(action.start, action.end)
        jumped = between_squares(action.start, action.end) & (now.pieces | now.foes)
        if rows + columns == 2 and jumped:
            over = PLACES[jumped.bit_length() - 1]
            sentence = f"From {start} to {end} a piece went over the one on {over}."
            return Breach("square-taken", sentence, TAKE_BACK, (start, over, end))
        if (rows, columns) == (1, 1):
            return Breach("moved-diagonally", f"{start} to {end} is a diagonal step.", TAKE_BACK, places)
        return too_far(action.start, action.end)
    if not now.moves_left:
        sentence = f"Moving {start} to {end} is one move too many; a turn has {MOST_MOVES}."
        return Breach("too-many-moves", sentence, TAKE_BACK, places)
    return None


def too_far(start: int, end: int) -> Breach:
    """Return the breach of moving one piece farther than a turn allows."""
    places, steps = (PLACES[start], PLACES[end]), sum(GRID.apart(start, end))
    sentence = f"{places[0]} to {places[1]} is {steps} steps; a turn has {MOST_MOVES} moves of one square."
    return Breach("too-many-moves", sentence, TAKE_BACK, places)


def _pass_breach(now: TurnInProgress, action: Action, places: tuple[str, ...]) -> Breach | None:
    start, end = PLACES[action.start], PLACES[action.end]
    if action.start != now.ball:
        sentence = f"The piece on {start} doesn't have the ball; the ball is on {PLACES[now.ball]}."
        return Breach("pass-without-ball", sentence, TAKE_BACK, places)
    if not now.pieces >> action.end & 1 or action.start == action.end:
        sentence = f"{now.player.capitalize()} has no other piece on {end}, so the ball can't be passed there."
        return Breach("pass-to-nobody", sentence, TAKE_BACK, places)
    return pass_line_breach(now, action.start, action.end) or (
        None
        if now.passes_left
        else Breach("second-pass", f"Passing {start} to {end} is a second pass; a turn has one.", TAKE_BACK, places)
    )


def pass_line_breach(now: TurnInProgress, start: int, end: int) -> Breach | None:
    """Return the breach of a pass that isn't straight or is blocked, or ``None``; ignores whether a pass is left."""
    places = (PLACES[start], PLACES[end])
    if not visible(start, 0) >> end & 1:
        sentence = f"The ball can't be passed from {places[0]} to {places[1]}: they share no row, column or diagonal."
        return Breach("pass-not-straight", sentence, TAKE_BACK, places)
    between = between_squares(start, end)
    barred = between & now.foes
    if barred:
        named = GRID.names_of(barred)
        sentence = f"The pass from {places[0]} to {places[1]} goes over the {other(now.player)} piece on {named[0]}."
        return Breach("pass-blocked", sentence, TAKE_BACK, (places[0], *named, places[1]))
    jumped = between & now.pieces
    if jumped and not now.options.pass_over_own:
        named = GRID.names_of(jumped)
        sentence = f"The pass from {places[0]} to {places[1]} goes over {now.player}'s own piece on {named[0]}."
        return Breach("pass-over-own", sentence, TAKE_BACK, (places[0], *named, places[1]))
    return None
