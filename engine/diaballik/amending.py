"""A position put right by a person: what they say of some squares holds, all else stays."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import EMPTY, LookName, Player
from engine.diaballik.board import GOAL, PIECES_A_SIDE, PLAYERS, SQUARE_OF
from engine.diaballik.state import DiaballikState, Side, appearance_of, read_look
from engine.diaballik.turns import settled
from engine.errors import UnreadableError
from engine.grid import set_of


def amended(state: DiaballikState, looks: Mapping[str, LookName], to_move: Player | None) -> DiaballikState:
    """The state with these looks on these squares and ``to_move`` to play (as before when ``None``).

    Counts of repetition begin anew: what was counted came about by what is now said to be wrong. Raises
    UnreadableError for what can't be a position.
    """
    if to_move is not None and to_move not in PLAYERS:
        raise UnreadableError(f"there is no player {to_move!r}; expected {' or '.join(PLAYERS)}")
    for place, look in looks.items():
        read_look(place, look)
    shown = {**appearance_of(state), **looks}
    black, white = (_side(player, shown) for player in PLAYERS)
    if GOAL[PLAYERS[0]] >> black.ball & 1 and GOAL[PLAYERS[1]] >> white.ball & 1:
        raise UnreadableError("both balls would be on the row where they win; expected one at most")
    mover = to_move or state.to_move
    if mover is None:
        raise UnreadableError(f"the game was over, so say who is to play: {' or '.join(PLAYERS)}")
    return settled(DiaballikState(state.settings, black, white, mover), counted=True)


def _side(player: str, shown: Mapping[str, LookName]) -> Side:
    mine = {
        place: found[1] for place, look in shown.items() if (found := read_look(place, look)) and found[0] == player
    }
    balls = [place for place, ball in mine.items() if ball]
    if len(mine) != PIECES_A_SIDE:
        where = ", ".join(mine) or EMPTY
        raise UnreadableError(f"{player} would have {len(mine)} pieces ({where}); expected {PIECES_A_SIDE}")
    if len(balls) != 1:
        where = ", ".join(balls) or EMPTY
        raise UnreadableError(f"{player} would have {len(balls)} balls ({where}); expected 1")
    return Side(set_of(*(SQUARE_OF[place] for place in mine)), SQUARE_OF[balls[0]])
