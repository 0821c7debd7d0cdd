"""States as text: strict to write, lenient to read.

A state is one line: who is to move (``gold``, ``teal`` or ``over``), the blocks by rising square, how many blocks of
gold and teal have left, the options that differ from their defaults, and how often positions occurred where
repetition counts, and what was announced::

    teal c1:G.star/north=slider d4:G.x? e7:T.hoops/north=star|x removed=2,3 side_by_side=false

``?`` after the top symbol means any of the four turnings; a list names the symbols the north side may show.
``announced=gold:resign`` ends a game.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from engine.api import Announcement, OptionValue
from engine.errors import OptionError, UnreadableError
from engine.games.deblockle.board import PLACES, PLAYERS, SQUARE_OF, STARS, SYMBOLS
from engine.games.deblockle.state import MOST_BLOCKS, OPTIONS, Block, DeblockleOptions, DeblockleState, options_from
from engine.games.deblockle.turns import reason_against, settled
from engine.options import differing_options
from engine.support import repetition
from engine.support.notation import Word, unreadable, words
from engine.support.players import format_announcement, parse_announcement

_OVER, _REMOVED, _ANNOUNCED = "over", "removed", "announced"
_BLOCK = re.compile(r"([a-g][1-7])[:=](gold|teal|g|t)\.([a-z]+)(\?|/north=([a-z|]+))?")
_WRITTEN_OPTIONS = tuple(option for option in OPTIONS if not option.name.startswith("blocks_"))
"""How many blocks there were is told by those on the board and those removed."""


def format_state(state: DeblockleState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or _OVER]
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


@dataclass
class _Parts:
    """The words of a state's text by what they tell, each with the column it stands at."""

    to_move: Word | None = None
    blocks: list[tuple[re.Match[str], int]] = field(default_factory=list)
    named: dict[str, Word] = field(default_factory=dict)
    """What follows the equals sign of ``name=value``; the column is that of the name."""

    def column(self, name: str) -> int | None:
        """Where ``name=`` stands, ``None`` when it was left out."""
        return self.named[name].column if name in self.named else None


def parse_state(text: str) -> DeblockleState:
    """Read a state leniently: any case, spaces and order; ``north`` may be left out; symbols may be shortened.

    Raises UnreadableError that names the part it stumbled over and where it stands.
    """
    parts = _sorted_out(text)
    options = _read_options(text, parts)
    blocks: dict[int, Block] = {}
    for match, column in parts.blocks:
        block = _read_block(text, options, match, column)
        if block.square in blocks:
            raise UnreadableError(
                f"the state {text!r} has two blocks on {PLACES[block.square]}; expected one a square at most", column
            )
        blocks[block.square] = block
    state = DeblockleState(
        options,
        tuple(sorted(blocks.values())),
        options.starts if parts.to_move is None or parts.to_move.text == _OVER else parts.to_move.text,
        _read_counts(text, parts),
    )
    state = replace(state, options=_count_blocks(text, state, parts))
    state = settled(replace(state, announced=_read_announced(text, state, parts)), counted=False)
    if parts.to_move is not None and parts.to_move.text == _OVER and state.to_move is not None:
        raise UnreadableError(
            f"the state {text!r} says 'over', but {state.to_move} can still play; write who is to move",
            parts.to_move.column,
        )
    return state


def _sorted_out(text: str) -> _Parts:
    parts = _Parts()
    for word in words(text):
        name, equals, value = word.text.partition("=")
        if word.text in (*PLAYERS, _OVER):
            if parts.to_move is not None:
                raise unreadable(text, *word, f"only one of {', '.join(PLAYERS)}, {_OVER}")
            parts.to_move = word
        elif block := _BLOCK.fullmatch(word.text):
            parts.blocks.append((block, word.column))
        elif equals and ":" not in name:
            if name in parts.named and parts.named[name].text != value:
                raise unreadable(text, *word, f"{name}= with one value")
            parts.named[name] = Word(value, word.column)
        else:
            raise unreadable(text, *word, "a block such as c3:G.x/north=stop, removed=0,0 or an option")
    return parts


def _read_options(text: str, parts: _Parts) -> DeblockleOptions:
    given: dict[str, OptionValue] = {}
    for name, value in parts.named.items():
        if name in (_REMOVED, repetition.SEEN, _ANNOUNCED):
            continue
        given[name] = value.text
        try:
            options_from({name: value.text})
        except OptionError as error:
            raise UnreadableError(
                f"the state {text!r} can't be read at column {value.column}: {error}", value.column
            ) from error
    return options_from(given)


def _read_block(text: str, options: DeblockleOptions, match: re.Match[str], column: int) -> Block:
    part = match.group()
    place, owner, top_text, sides, norths = match.groups()
    square = SQUARE_OF[place]
    if STARS >> square & 1:
        raise unreadable(text, part, column, "a square without a star: no block ever rests on d2 or d6")
    cube = options.cube
    top = read_symbol(top_text)
    if top is None:
        raise unreadable(text, part, column, f"one of {', '.join(SYMBOLS)} as its top")
    mask = cube.with_top[top]
    if sides and norths:
        mask = 0
        for north_text in norths.split("|"):
            north = read_symbol(north_text)
            narrowed = cube.agreeing(cube.with_top[top], {"north": north}) if north else 0
            if not narrowed:
                shown = ", ".join(sorted(facing["north"] for facing in cube.facings(cube.with_top[top])))
                raise unreadable(text, part, column, f"one of {shown} to the north when {top} is up")
            mask |= narrowed
    return Block(square, PLAYERS[0] if owner[0] == PLAYERS[0][0] else PLAYERS[1], mask)


def read_symbol(text: str) -> str | None:
    """Read a symbol or an unmistakable beginning of one; ``None`` when it is none or fits several."""
    if text in SYMBOLS:
        return text
    found = [symbol for symbol in SYMBOLS if text and symbol.startswith(text)]
    return found[0] if len(found) == 1 else None


def _read_removed(text: str, parts: _Parts) -> tuple[int, int]:
    if _REMOVED not in parts.named:
        return 0, 0
    value, column = parts.named[_REMOVED]
    match = re.fullmatch(r"([0-4])[,/]([0-4])", value)
    if not match:
        raise unreadable(text, f"{_REMOVED}={value}", column, "removed=GOLD,TEAL with numbers from 0 to 4")
    return int(match[1]), int(match[2])


def _read_counts(text: str, parts: _Parts) -> repetition.Counts:
    if repetition.SEEN not in parts.named:
        return ()
    value, column = parts.named[repetition.SEEN]
    counts = repetition.read_counts(value)
    if counts is None:
        raise unreadable(text, f"{repetition.SEEN}={value}", column, repetition.COUNTS_EXPECTED)
    return counts


def _read_announced(text: str, state: DeblockleState, parts: _Parts) -> Announcement | None:
    if _ANNOUNCED not in parts.named:
        return None
    value, column = parts.named[_ANNOUNCED]
    try:
        announcement = parse_announcement(value, PLAYERS)
    except UnreadableError as error:
        raise UnreadableError(f"the state {text!r} can't be read at column {column}: {error}", column) from error
    refusal = reason_against(state, announcement)
    if refusal is not None:
        raise UnreadableError(f"the state {text!r} can't be: at column {column}, {refusal}", column)
    return announcement


def _count_blocks(text: str, state: DeblockleState, parts: _Parts) -> DeblockleOptions:
    totals = []
    for player, gone in zip(PLAYERS, _read_removed(text, parts), strict=True):
        total = len(state.owned(player)) + gone
        if not 1 <= total <= MOST_BLOCKS:
            raise UnreadableError(
                f"the state {text!r} has {total} {player} blocks, counting those removed; expected 1 to {MOST_BLOCKS}",
                parts.column(_REMOVED),
            )
        option = f"blocks_{player}"
        if option in parts.named and total != state.options.blocks(player):
            raise UnreadableError(
                f"the state {text!r} has {total} {player} blocks, counting those removed, "
                f"but says {option}={state.options.blocks(player)}",
                parts.column(option),
            )
        totals.append(total)
    if not state.blocks:
        raise UnreadableError(
            f"the state {text!r} has no blocks on the board; expected at least one", parts.column(_REMOVED)
        )
    return replace(state.options, blocks_gold=totals[0], blocks_teal=totals[1])
