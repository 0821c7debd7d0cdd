"""Explains which rules a written turn breaks, judging the roll that it names rather than a likelier one."""

from __future__ import annotations

from dataclasses import dataclass, replace

from common.phrases import listed
from engine.games.deblockle.board import GOAL, GRID, HOME_STAR, PLACES, RAYS, SQUARE_OF
from engine.games.deblockle.changes import Moved
from engine.games.deblockle.nearest_violation import Explanation, breach_of_wrong_goal, breaches_of_roll, put_back
from engine.games.deblockle.state import Block, DeblockleState, DeblockleTurn
from engine.games.deblockle.turns import certainty_of, possibly_blocked
from engine.support.breaches import advised, game_over
from engine.values import Breach, Certainty


@dataclass(frozen=True)
class WrittenTurn:
    """A turn as written: ``rolled_to`` is empty, and ``top`` or ``end`` is ``None``, if the text leaves them out."""

    start: str
    rolled_to: tuple[str, ...] = ()
    top: str | None = None
    end: str | None = None
    is_off: bool = False


def breaches_of_written(state: DeblockleState, turn: WrittenTurn) -> tuple[Breach, ...]:
    """List the rules that a turn breaks; empty if it is or may be legal, or no block stands on its start."""
    block = state.by_square().get(SQUARE_OF[turn.start])
    if state.to_move is None:
        return (game_over((turn.start,)),)
    if block is None:
        return ()
    if block.owner != state.to_move and not possibly_blocked(state, state.to_move):
        sentence = f"The block on {turn.start} is {block.owner}'s, and it is {state.to_move}'s turn."
        return (advised("moved-opponent-block", sentence, f"Move a {state.to_move} block.", (turn.start,)),)
    if turn.is_off:
        return (_breach_of_leaving(state, block, turn),)
    for rolled_to in turn.rolled_to if len(turn.rolled_to) > 1 else ():
        if breaches := breaches_of_written(state, replace(turn, rolled_to=(rolled_to,))):
            return breaches
    found = [
        explanation
        for rolled in _rolls(block, turn)
        for explanation in _explanations_of_roll(state, block, turn, rolled)
    ]
    if found:
        return min(found, key=lambda one: one.distance).breaches
    if _is_legal(state, turn) or (turn.top is None and _rolls(block, turn)):
        return ()
    return (_no_such_roll(state, block, turn),)


def _rolls(block: Block, turn: WrittenTurn) -> list[int]:
    """Return the sides to which the block may roll according to the text."""
    rays = RAYS[block.square]
    return [side for side, ray in enumerate(rays) if not turn.rolled_to or (ray and PLACES[ray[0]] in turn.rolled_to)]


def _explanations_of_roll(state: DeblockleState, block: Block, turn: WrittenTurn, side: int) -> list[Explanation]:
    cube = state.options.cube
    ray = RAYS[block.square][side]
    end = SQUARE_OF[turn.end] if turn.end is not None else ray[0] if ray else block.square
    return [
        breaches_of_roll(state, block, Moved(block.owner, block.square, end, cube.top(block.mask), top), side)
        for top, _, _ in cube.rolls(block.mask)[side]
        if turn.top in (None, top) and not _is_legal(state, replace(turn, top=top))
    ]


def _is_legal(state: DeblockleState, turn: WrittenTurn) -> bool:
    """Return whether a turn that names its roll and symbol is or may be legal."""
    if turn.top is None or not turn.rolled_to:
        return False
    owner = state.by_square()[SQUARE_OF[turn.start]].owner
    end = turn.end or turn.rolled_to[0]
    whole = DeblockleTurn(owner, turn.start, turn.rolled_to, turn.top, end)
    return certainty_of(state, whole) is not Certainty.IMPOSSIBLE


def _breach_of_leaving(state: DeblockleState, block: Block, turn: WrittenTurn) -> Breach:
    goal, home = PLACES[GOAL[block.owner]], PLACES[HOME_STAR[block.owner]]
    if turn.rolled_to == (home,) or (not turn.rolled_to and breach_of_wrong_goal(state, block.square)):
        sentence = f"{home} is {block.owner}'s own star; its blocks leave on {goal}."
        return Breach("wrong-goal", sentence, put_back(state, block.square), (turn.start, home))
    leaving = DeblockleTurn(block.owner, turn.start, (goal,), "star", None)
    if certainty_of(state, leaving) is not Certainty.IMPOSSIBLE:
        sentence = f"The {block.owner} block leaves the board only by rolling star up from {turn.start} to {goal}."
        places = (turn.start, goal)
        return Breach("block-removed-without-goal", sentence, put_back(state, block.square), places)
    sentence = f"The {block.owner} block on {turn.start} can't roll star up onto {goal}, so it doesn't leave the board."
    return Breach("block-removed-without-goal", sentence, put_back(state, block.square), (turn.start,))


def _no_such_roll(state: DeblockleState, block: Block, turn: WrittenTurn) -> Breach:
    """Return the breach of a roll to a square that isn't adjacent, or that shows an impossible symbol."""
    cube, back = state.options.cube, put_back(state, block.square)
    rolls = _rolls(block, turn)
    if not rolls:
        rolled = turn.rolled_to[0]
        apart = GRID.apart(block.square, SQUARE_OF[rolled])
        rule = {(0, 0): "no-roll", (1, 1): "rolled-diagonally"}.get(apart, "rolled-too-far")
        sentence = (
            f"A turn begins with a roll to another square, and the block is on {turn.start} already."
            if rolled == turn.start
            else f"A block rolls one square straight, and {rolled} is not right beside {turn.start}."
        )
        return Breach(rule, sentence, back, tuple(dict.fromkeys((turn.start, rolled))))
    shown = list(dict.fromkeys(top for side in rolls for top, _, _ in cube.rolls(block.mask)[side]))
    where = f" to {listed(turn.rolled_to, 'or')}" if turn.rolled_to else ""
    sentence = (
        f"After a roll from {turn.start}{where} the {block.owner} block shows {listed(shown, 'or')}, not {turn.top}."
    )
    return Breach("symbol-not-possible", sentence, back, (turn.start, *turn.rolled_to))
