"""The position drawn and the rules in short, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from engine.api import OptionValue
from engine.games.deblockle.board import PRINTED_NET
from engine.games.deblockle.play.board import PLACES, SIZE, STARS
from engine.games.deblockle.play.options import DeblockleOptions, options_from
from engine.games.deblockle.state import Block, DeblockleState

_SIGNS = {"star": "*", "stop": "o", "cross": "+", "x": "x", "slider": "<>", "hoops": "ooo"}
_OPEN, _STAR = ".", "*"
_CELL = 7


def diagram_of(state: DeblockleState) -> str:
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


def summary_of(options: Mapping[str, OptionValue] | None = None) -> str:
    """A few paragraphs, parted by blank lines."""
    settings = options_from(options)
    gold, teal = settings.blocks_gold, settings.blocks_teal
    each = f"{gold} each" if gold == teal else f"{gold} of gold and {teal} of teal"
    paragraphs = [
        "Deblockle is for two players, gold and teal. Get all your blocks off the board first to win. There are "
        f"{each} on 7 by 7 squares, and {settings.starts} begins. Gold's goal is the star square d6, teal's is d2.",
        "A turn is a roll and then a hop with the same block. Roll it over an edge onto the open square beside it; the "
        "symbol that comes up says how it hops, without turning: stop stays, the cross goes one square straight, the x "
        "one square diagonally, the slider straight on until a block or the edge stops it, the hoops exactly three "
        "straight steps over open squares. No hop ends on a star square or on a block.",
        "The star may be rolled up in one place only: on your goal, and then the block leaves the board.",
        _stuck(settings),
        "You may not pass. Who has no turn waits while the other plays on; if neither has one, it is a draw.",
    ]
    if not settings.side_by_side:
        paragraphs.append(
            "No turn may end with one of your blocks right beside one of the opponent's, and a slide is to be stopped "
            "by the edge or your own block."
        )
    if settings.repetition_draw:
        paragraphs.append(
            "From the third time a position comes up, the player to move may claim a draw. Anyone may resign, and both "
            "may agree on a draw."
        )
    else:
        paragraphs.append("Anyone may resign, and both may agree on a draw.")
    if settings.net != PRINTED_NET:
        paragraphs.append(f"The blocks show {settings.net} (up/down/north/east/south/west).")
    return "\n\n".join(paragraphs)


def _stuck(settings: DeblockleOptions) -> str:
    hop = (
        "If no hop is possible after a roll, the block stays where it rolled."
        if settings.hop_forfeited_when_stuck
        else "A roll after which no hop is possible is not allowed."
    )
    slide = (
        "A slide that would end on a star square may stop just before it."
        if settings.slider_stops_before_star
        else "A slide that would end on a star square is not allowed."
    )
    return f"{hop} {slide}"
