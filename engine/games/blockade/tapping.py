"""Turns tapped on the board: a piece and its destination, as often as the dice allow."""

from __future__ import annotations

from collections.abc import Iterator

from engine.games.blockade.board import GRID, LARGE, OWNED, PLACES, Path, colour_of, distances, size_of, walls_against
from engine.games.blockade.moves import allocations, play
from engine.games.blockade.notation import STAY
from engine.games.blockade.rules import certainty
from engine.games.blockade.state import BlockadeState, BlockadeTurn
from engine.games.blockade.turns import turn_of
from engine.tapping import Steps, Tapped
from engine.values import Breach, Certainty

_RESTED = "rested-on-"
"""The prefix of the rules whose breach a later move of the same turn may still correct, if the options allow that."""


def tapped(state: BlockadeState, taps: Steps) -> Tapped[BlockadeTurn]:
    """Return what may follow these taps, which alternate between starts and ends of moves.

    An end where the piece may not stay is offered only if the piece can move on from there.
    """
    if state.to_move is None or state.roll is None:
        return Tapped()
    if taps == (STAY,):
        return Tapped(turn=BlockadeTurn(state.to_move, ()))
    if not set(taps) <= GRID.index.keys():
        return Tapped()
    numbers = [GRID.index[square] for square in taps]
    made = tuple(zip(numbers[::2], numbers[1::2], strict=False))
    if not _may_be(state, made):
        return Tapped()
    if len(numbers) % 2:
        return Tapped(tuple(PLACES[end] for end in _ends(state, made, numbers[-1])))
    starts = tuple(place for start, place in enumerate(PLACES) if any(True for _ in _ends(state, made, start)))
    turn = turn_of(state, made) if made else None
    is_legal = turn is not None and certainty(state, turn) is Certainty.CERTAIN
    return Tapped(starts, {} if made else {STAY: "moves nothing"}, turn if is_legal else None)


def _ends(state: BlockadeState, made: tuple[Path, ...], start: int) -> Iterator[int]:
    """Yield where the piece on a square can go after these moves."""
    player, dice = state.to_move, state.roll
    assert player is not None
    assert dice is not None
    played = play(state, player, None, made)
    piece = played.stacks[start][-1]
    if colour_of(piece) not in OWNED[player] or size_of(piece) == LARGE:
        return
    which = OWNED[player].index(colour_of(piece))
    left = max((may[which] for may in allocations(dice) if may[1 - which] >= played.used[1 - which]), default=0)
    steps = distances(walls_against(state.stacks, player))[start]
    for end in range(len(PLACES)):
        if end != start and steps[end] <= left - played.used[which] and _may_be(state, (*made, (start, end))):
            yield end


def _may_be(state: BlockadeState, made: tuple[Path, ...]) -> bool:
    """Return whether a turn may begin with these moves: legal now, or once the piece that may not rest moves on."""
    breaches = _breaches(state, made)
    if not breaches or state.options.strict or len(breaches) > 1 or not breaches[0].rule.startswith(_RESTED):
        return not breaches
    wrong = GRID.index[breaches[0].places[0]]
    return any(not _breaches(state, (*made, (wrong, end))) for end in range(len(PLACES)))


def _breaches(state: BlockadeState, made: tuple[Path, ...]) -> tuple[Breach, ...]:
    assert state.to_move is not None
    return play(state, state.to_move, state.roll, made).breaches
