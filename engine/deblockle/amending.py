"""A position put right by a person: what they say of some squares holds, all else stays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from engine.api import LookName, Player
from engine.deblockle.board import PLACES, PLAYERS, SQUARE_OF, STARS
from engine.deblockle.settings import MOST_BLOCKS
from engine.deblockle.state import Block, DeblockleState, read_look
from engine.deblockle.turns import settled
from engine.errors import UnreadableError


def amended(state: DeblockleState, looks: Mapping[str, LookName], to_move: Player | None) -> DeblockleState:
    """The state with these looks on these squares and ``to_move`` to play (as before when ``None``).

    What was seen of the sides stays known where a block of the same owner keeps its top. Of a block that wasn't
    there before only the top is known. Raises UnreadableError for what can't be a position.
    """
    if to_move is not None and to_move not in PLAYERS:
        raise UnreadableError(f"there is no player {to_move!r}; expected {' or '.join(PLAYERS)}")
    blocks = state.by_square()
    cube = state.settings.cube
    for place, look in looks.items():
        seen = read_look(place, look)
        square = SQUARE_OF[place]
        if seen is None:
            blocks.pop(square, None)
            continue
        owner, top = seen
        if STARS >> square & 1:
            raise UnreadableError(f"{place} can't hold the {owner} block: no block ever rests on a star square")
        before = blocks.get(square)
        if before is None or before.owner != owner or cube.top(before.mask) != top:
            blocks[square] = Block(square, owner, cube.with_top[top])
    mover = to_move or state.to_move
    if mover is None:
        raise UnreadableError(f"the game was over, so say who is to play: {' or '.join(PLAYERS)}")
    changed = replace(state, blocks=tuple(sorted(blocks.values())), to_move=mover)
    return settled(_recounted(changed), counted=True)


def _recounted(state: DeblockleState) -> DeblockleState:
    """The state with as many blocks a side as stand on the board, where those are more than it started with."""
    settings = state.settings
    for player in PLAYERS:
        on_board = state.owned(player)
        if len(on_board) > MOST_BLOCKS:
            where = ", ".join(PLACES[block.square] for block in on_board)
            raise UnreadableError(
                f"{player} would have {len(on_board)} blocks ({where}); expected {MOST_BLOCKS} at most"
            )
    if all(not state.owned(player) for player in PLAYERS):
        raise UnreadableError("there would be no block on the board; expected at least one")
    return replace(
        state,
        settings=replace(
            settings,
            blocks_gold=max(settings.blocks_gold, len(state.owned(PLAYERS[0]))),
            blocks_teal=max(settings.blocks_teal, len(state.owned(PLAYERS[1]))),
        ),
        # What was counted or said came about by what is now said to be wrong.
        counts=(),
        announced=None,
    )
