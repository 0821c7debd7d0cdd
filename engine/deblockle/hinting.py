"""Which turn to play: a win in one turn is taken, a loss in one avoided, a block taken off where that can be."""

from __future__ import annotations

from random import Random

from engine.api import Hint
from engine.deblockle.state import DeblockleState, DeblockleTurn
from engine.deblockle.turns import legal_turns, outcome_of, played
from engine.errors import IllegalTurnError


def hinted(state: DeblockleState, rng: Random) -> Hint[DeblockleTurn]:
    """A turn of the player to move and why; raises IllegalTurnError when the game is over.

    While faces are hidden, a turn counts as the win it may be.
    """
    turns = [turn for turn in legal_turns(state) if turn.player == state.to_move]
    if not turns:
        raise IllegalTurnError("there is no turn to hint at: the game is over")
    winning = [turn for turn in turns if _wins(state, turn)]
    if winning:
        return Hint(winning[0], "wins: the last block leaves the board", 1.0, "win", 1.0)
    if len(turns) == 1:
        return Hint(turns[0], "is the only turn there is", 0.5, "win", 1.0)
    safe = [turn for turn in turns if not _loses(state, turn)]
    leaving = [turn for turn in safe or turns if turn.end is None]
    if leaving:
        return Hint(leaving[0], "takes a block off the board", 0.5, "win", 0.0)
    turn = rng.choice(safe or turns)
    if len(safe) == len(turns):
        return Hint(turn, "is as good as any", 0.5, "win", 0.0)
    if safe:
        return Hint(turn, "keeps the opponent from winning at once", 0.5, "win", 0.0)
    return Hint(turn, "can't keep the opponent from winning", 0.0, "win", 1.0)


def _wins(state: DeblockleState, turn: DeblockleTurn) -> bool:
    return turn.end is None and len(state.owned(turn.player)) == 1


def _loses(state: DeblockleState, turn: DeblockleTurn) -> bool:
    after = played(state, turn)
    if outcome_of(after) is not None or after.to_move == turn.player:
        return False
    return any(reply.player == after.to_move and _wins(after, reply) for reply in legal_turns(after))
