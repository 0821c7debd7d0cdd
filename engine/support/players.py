"""Who plays: the one to move, the opponent in a game of two, and a player whom a person names."""

from __future__ import annotations

from collections.abc import Sequence

from engine.api import Player, State
from engine.errors import UnreadableError


def opponent(players: Sequence[Player], player: Player) -> Player:
    """The other one of two players."""
    return players[1] if player == players[0] else players[0]


def one_to_move(state: State) -> tuple[Player, ...]:
    """Name the one who may play now, nobody when the game is over."""
    return () if state.to_move is None else (state.to_move,)


def check_player(players: Sequence[Player], named: Player | None) -> None:
    """Raise UnreadableError when somebody is named who doesn't play."""
    if named is not None and named not in players:
        expected = " or ".join(players) if len(players) == 2 else f"one of {', '.join(players)}"
        raise UnreadableError(f"there is no player {named!r}; expected {expected}")


def mover_after_correction(players: Sequence[Player], named: Player | None, before: Player | None) -> Player:
    """Who plays next in a corrected position: whom a person named, else who was to move.

    Raises UnreadableError where the game was over and nobody is named.
    """
    mover = named or before
    if mover is None:
        raise UnreadableError(f"the game was over, so say who is to play: {' or '.join(players)}")
    return mover
