"""States as text: written strictly, read leniently.

A state is one line: who is to move (``gold``, ``teal`` or ``over``), the blocks in order of their squares, how many
blocks of gold and teal have left, the options that differ from their defaults, how often positions occurred if
repetition counts, and the announcement that ended the game::

    teal c1:G.star/north=slider d4:G.x? e7:T.hoops/north=star|x removed=2,3 side_by_side=false

``?`` after the top symbol means any of its four orientations; a list names the symbols that the north side may show.
``announced=gold:resign`` ends a game.
"""

from __future__ import annotations

import re
from dataclasses import replace

from common.phrases import Phrase, either
from engine.errors import UnreadableError
from engine.games.deblockle.state import (
    MOST_BLOCKS,
    OPTIONS,
    PLACES,
    PLAYERS,
    SQUARE_OF,
    STARS,
    SYMBOLS,
    Block,
    DeblockleOptions,
    DeblockleState,
    options_from,
)
from engine.games.deblockle.turns import reason_against, settle
from engine.options import differing_options
from engine.support import repetition
from engine.support.notation import ANNOUNCED, OVER, StateText, unreadable, words
from engine.support.players import format_announcement
from engine.values import Announcement

_REMOVED = "removed"
_BLOCK = re.compile(r"([a-g][1-7])[:=](gold|teal|g|t)\.([a-z]+)(\?|/north=([a-z|]+))?")
_WRITTEN_OPTIONS = tuple(option for option in OPTIONS if not option.name.startswith("blocks_"))
"""The numbers of blocks are left out: they follow from the blocks on the board and those removed."""


def format_state(state: DeblockleState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    parts += [_format_block(state.options, block) for block in state.blocks]
    parts.append("removed=" + ",".join(str(state.removed(player)) for player in PLAYERS))
    parts += differing_options(_WRITTEN_OPTIONS, state.options)
    parts += repetition.format_counts(state.counts)
    if state.announced is not None:
        parts.append(f"announced={format_announcement(state.announced)}")
    return " ".join(parts)


def _format_block(options: DeblockleOptions, block: Block) -> str:
    cube = options.cube
    top = cube.top(block.mask)
    norths = sorted(facing["north"] for facing in cube.facings(block.mask))
    sides = "?" if block.mask == cube.with_top[top] else "/north=" + "|".join(norths)
    return f"{PLACES[block.square]}:{block.owner[0].upper()}.{top}{sides}"


def parse_state(text: str) -> DeblockleState:
    """Read a state leniently: any case, spaces and order; ``north`` may be left out; symbols may be shortened.

    Raises UnreadableError that names the faulty part and its column.
    """
    said = StateText(text, PLAYERS, Phrase("a block such as c3:G.x/north=stop, removed=0,0 or an option"))
    blocks_said = []
    for word in words(text):
        if match := _BLOCK.fullmatch(word.text):
            blocks_said.append((match, word.column))
        else:
            said.read(word)
    options = said.options(options_from, _REMOVED)
    blocks: dict[int, Block] = {}
    for match, column in blocks_said:
        block = _read_block(text, options, match, column)
        if block.square in blocks:
            raise UnreadableError(
                Phrase(
                    "the state {text!r} has two blocks on {place}; expected one a square at most",
                    text,
                    PLACES[block.square],
                ),
                column,
            )
        blocks[block.square] = block
    to_move = options.starts if said.to_move is None or said.is_over else said.to_move.text
    state = DeblockleState(options, tuple(sorted(blocks.values())), to_move, said.counts())
    state = replace(state, options=_count_blocks(state, said))
    is_first = repetition.SEEN not in said.named and not said.is_over
    state = settle(state, counted=is_first)
    announced = _read_announced(state, said)
    if announced is not None:
        state = replace(state, to_move=None, announced=announced)
    if said.to_move is not None and said.is_over and state.to_move is not None:
        raise UnreadableError(
            Phrase(
                "the state {text!r} says 'over', but {to_move} can still play; write who is to move",
                text,
                state.to_move,
            ),
            said.to_move.column,
        )
    return state


def _read_block(text: str, options: DeblockleOptions, match: re.Match[str], column: int) -> Block:
    part = match.group()
    place, owner, top_text, sides, norths = match.groups()
    square = SQUARE_OF[place]
    if STARS >> square & 1:
        raise unreadable(text, part, column, Phrase("a square without a star: no block ever rests on d2 or d6"))
    cube = options.cube
    top = read_symbol(top_text)
    if top is None:
        meant = symbols_from(top_text)
        expected = either(meant, "one of {names} in full", "one of {names} as its top", ", ".join(meant or SYMBOLS))
        raise unreadable(text, part, column, expected)
    mask = cube.with_top[top]
    if sides and norths:
        mask = 0
        for north_text in norths.split("|"):
            north = read_symbol(north_text)
            narrowed = cube.agreeing(cube.with_top[top], {"north": north}) if north else 0
            if not narrowed:
                shown = ", ".join(sorted(facing["north"] for facing in cube.facings(cube.with_top[top])))
                raise unreadable(
                    text, part, column, Phrase("one of {shown} away from gold (north) when {top} is up", shown, top)
                )
            mask |= narrowed
    return Block(square, PLAYERS[0] if owner[0] == PLAYERS[0][0] else PLAYERS[1], mask)


def read_symbol(text: str) -> str | None:
    """Read a symbol or an unambiguous prefix of one; ``None`` if none or several fit."""
    found = symbols_from(text)
    return text if text in SYMBOLS else found[0] if len(found) == 1 else None


def symbols_from(text: str) -> list[str]:
    """Return the symbols that begin with a text."""
    return [symbol for symbol in SYMBOLS if text and symbol.startswith(text)]


def _read_removed(said: StateText) -> tuple[int, int]:
    if _REMOVED not in said.named:
        return 0, 0
    match = re.fullmatch(r"([0-4])[,/]([0-4])", said.named[_REMOVED].text)
    if not match:
        raise said.bad(said.whole(_REMOVED), Phrase("removed=GOLD,TEAL with numbers from 0 to 4"))
    return int(match[1]), int(match[2])


def _read_announced(state: DeblockleState, said: StateText) -> Announcement | None:
    announcement = said.announced()
    refusal = None if announcement is None else reason_against(state, announcement)
    if refusal is not None:
        column = said.whole(ANNOUNCED).column
        raise UnreadableError(
            Phrase("the state {text!r} can't be: at column {column}, {refusal}", said.text, column, refusal), column
        )
    return announcement


def _count_blocks(state: DeblockleState, said: StateText) -> DeblockleOptions:
    totals = []
    removed = said.whole(_REMOVED).column if _REMOVED in said.named else None
    for player, gone in zip(PLAYERS, _read_removed(said), strict=True):
        total = len(state.owned(player)) + gone
        has = Phrase("the state {text!r} has {total} {player} blocks, counting those removed", said.text, total, player)
        if not 1 <= total <= MOST_BLOCKS:
            raise UnreadableError(Phrase("{has}; expected 1 to {most}", has, MOST_BLOCKS), removed)
        option = f"blocks_{player}"
        if option in said.named and total != state.options.blocks(player):
            raise UnreadableError(
                Phrase("{has}, but says {option}={number}", has, option, state.options.blocks(player)),
                said.whole(option).column,
            )
        totals.append(total)
    if not state.blocks:
        raise UnreadableError(
            Phrase("the state {text!r} has no blocks on the board; expected at least one", said.text), removed
        )
    return replace(state.options, blocks_gold=totals[0], blocks_teal=totals[1])
