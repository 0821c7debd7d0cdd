"""Checks what holds in every position, and recognises the shapes that filled squares make."""

from __future__ import annotations

from collections.abc import Sequence

from common.phrases import counted
from engine.errors import UnreadableError
from engine.games.blokus_dice.sheet import Sheet, names_by_shape
from engine.games.blokus_dice.state import COLOURS, PLAYERS, BlokusState, FilledSheet, PlayerStatus
from engine.support.grid import Grid, members
from engine.support.polyomino import free


def name_on(grid: Grid, squares: int) -> str | None:
    """Return the name of the shape on these squares; ``None`` if the game has no such shape."""
    if not 1 <= squares.bit_count() <= 5:
        return None
    cells = frozenset((grid.column_of(square), grid.row_of(square)) for square in members(squares))
    return names_by_shape().get(free(cells))


def read_shapes_drawn(sheet: Sheet, player: str, colours: Sequence[int]) -> int:
    """Return the set of numbers of the shapes drawn, which the squares determine: equal colours never share a side.

    Raises UnreadableError for impossible squares: a piece that is no shape of the sheet, a shape drawn twice, a colour
    that doesn't begin in a corner, or one whose shapes aren't connected by their corners.
    """
    grid, used = sheet.grid, 0
    for colour, squares in zip(COLOURS, colours, strict=True):
        patches = list(grid.patches(squares))
        for piece in patches:
            at = _at(grid, piece)
            name = name_on(grid, piece)
            if name is None or name not in sheet.number_of:
                raise UnreadableError(
                    f"{player}'s {colour} squares {at} are no shape of the sheet; equal colours touch only at corners"
                )
            if used >> sheet.number_of[name] & 1:
                raise UnreadableError(f"{player} has drawn {name} twice, the second time on {at}; expected it once")
            used |= 1 << sheet.number_of[name]
        if squares and not any(_is_connected(grid, piece, squares) for piece in patches if piece & sheet.corners):
            raise UnreadableError(
                f"{player}'s {colour} shapes on {_at(grid, squares)} don't all hang together by their corners from one "
                "in a corner square; expected the first one in a corner and each other one touching at a corner"
            )
    return used


def _at(grid: Grid, squares: int) -> str:
    return ",".join(grid.names[square] for square in members(squares))


def _is_connected(grid: Grid, piece: int, squares: int) -> bool:
    while (grown := (piece | grid.around(piece)) & squares) != piece:
        piece = grown
    return piece == squares


def check_position(state: BlokusState) -> None:
    """Raise UnreadableError if no rolls can lead to the state; ``read_shapes_drawn`` must have checked its squares."""
    for seat, filled in enumerate(state.sheets):
        _check_strikes(state, seat, filled)
    if all(filled.status == PlayerStatus.RESIGNED for filled in state.sheets):
        raise UnreadableError("everyone has resigned; expected at least one player who has not")
    if state.seat is None:
        return
    if state.sheets[state.seat].status != PlayerStatus.PLAYING:
        raise UnreadableError(f"{state.to_move} is to move but is {state.sheets[state.seat].status}")
    waiting = state.still_to_play() if state.dice else state.active()
    if not state.dice and state.starter != state.seat:
        raise UnreadableError(
            f"{PLAYERS[state.starter]} starts the round, so {PLAYERS[state.starter]} rolls, not {state.to_move}"
        )
    gone = state.options.players - len(state.active())
    if state.dice and not len(waiting) <= len(state.dice) <= len(waiting) + gone:
        raise UnreadableError(
            f"dice on the table: {len(state.dice)}; players still to take one in this round: {len(waiting)}; expected "
            f"a die for each, and at most {gone} more for those who are out"
        )
    _check_rounds(state)


def _check_strikes(state: BlokusState, seat: int, filled: FilledSheet) -> None:
    most = min(state.options.sheet.strikes, filled.shapes_drawn)
    if not 0 <= filled.strikes <= most:
        raise UnreadableError(
            f"{PLAYERS[seat]} has crossed out {counted(filled.strikes, 'strike')}; expected {most} at most: one for "
            f"each shape drawn, and no more than the sheet has ({state.options.sheet.strikes})"
        )


def _check_rounds(state: BlokusState) -> None:
    assert state.seat is not None
    count = state.options.players
    rounds = state.sheets[state.seat].shapes_drawn
    for seat, filled in enumerate(state.sheets):
        before = (seat - state.starter) % count < (state.seat - state.starter) % count
        most = rounds + (before and filled.status != PlayerStatus.OUT)
        least = most if filled.status == PlayerStatus.PLAYING else 0
        if not least <= filled.shapes_drawn <= most:
            expected = str(most) if least == most else f"{most} at most"
            raise UnreadableError(
                f"{PLAYERS[seat]} has drawn {filled.shapes_drawn} shapes when {state.to_move}, who is to move, has "
                f"drawn {rounds}; expected {expected}: everyone draws one shape a round"
            )
