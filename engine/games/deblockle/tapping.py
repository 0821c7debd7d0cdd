"""Turns tapped on the board: the block, where it rolls, the symbol if it isn't known, and where it hops."""

from __future__ import annotations

from engine.games.deblockle.state import DeblockleState, DeblockleTurn
from engine.games.deblockle.turns import legal_turns
from engine.tapping import Steps, Tapped

_OFF = "off"


def tapped(state: DeblockleState, taps: Steps) -> Tapped[DeblockleTurn]:
    """List what may follow these taps."""
    ways = {_way(turn): turn for turn in legal_turns(state)}
    fitting = [way for way in ways if way[: len(taps)] == taps]
    following = dict.fromkeys(way[len(taps)] for way in fitting if len(way) > len(taps))
    if len(taps) == 2:
        return Tapped(choices={symbol: symbol for symbol in following})
    choices = {_OFF: "leaves the board"} if _OFF in following else {}
    squares = tuple(square for square in following if square != _OFF)
    return Tapped(squares, choices, ways.get(taps))


def _way(turn: DeblockleTurn) -> Steps:
    """Return the taps of a turn, without an end if the block stays where it rolled."""
    (rolled_to,) = turn.rolled_to
    end = () if turn.end == rolled_to else (turn.end or _OFF,)
    return (turn.start, rolled_to, turn.top, *end)
