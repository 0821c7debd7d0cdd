"""A position drawn for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from engine.deblockle.board import PLACES, SIZE, STARS
from engine.deblockle.state import Block, DeblockleState

_SIGNS = {"star": "*", "stop": "o", "cross": "+", "x": "x", "slider": "<>", "hoops": "ooo"}
_OPEN, _STAR = ".", "*"
_CELL = 7


def draw(state: DeblockleState) -> str:
    """The board from the first player's side, what is known of every block, and who is to move."""
    blocks = state.by_square()
    columns = "   " + "".join(name.center(_CELL) for name in "abcdefg")
    lines = [columns.rstrip()]
    for row in reversed(range(SIZE)):
        cells = (_cell(square, blocks.get(square)) for square in range(row * SIZE, (row + 1) * SIZE))
        rows = "".join(_shown(state, cell) if isinstance(cell, Block) else cell.center(_CELL) for cell in cells)
        lines.append(f" {row + 1} {rows} {row + 1}")
    lines += [columns.rstrip(), "", *_known_sides(state), "", _standing(state)]
    return "\n".join(lines)


def _cell(square: int, block: Block | None) -> Block | str:
    return block or (_STAR if STARS >> square & 1 else _OPEN)


def _shown(state: DeblockleState, block: Block) -> str:
    return f"{block.owner[0].upper()}:{_SIGNS[state.settings.cube.top(block.mask)]}".center(_CELL)


def _known_sides(state: DeblockleState) -> Iterator[str]:
    cube = state.settings.cube
    for block in state.blocks:
        facings = cube.facings(block.mask)
        sides = ", ".join(f"{symbol} {side}" for side, symbol in facings[0].items())
        known = sides if len(facings) == 1 else f"turned in one of {len(facings)} ways"
        yield f" {PLACES[block.square]} {block.owner}: {cube.top(block.mask)} up, {known}"


def _standing(state: DeblockleState) -> str:
    gone = f"gold has removed {state.removed('gold')}, teal {state.removed('teal')}"
    return f" {state.to_move} to move; {gone}" if state.to_move else f" the game is over; {gone}"
