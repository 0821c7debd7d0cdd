"""States as text: strict to write, lenient to read.

A state is one line: who is to move (``gold``, ``teal`` or ``over``), the blocks by rising square, how many blocks of
gold and teal have left, the options that differ from their defaults, and how often positions occurred where
repetition counts::

    teal c1:G.star/north=slider d4:G.x? e7:T.hoops/north=star|x removed=2,3 side_by_side=false

``?`` after the top symbol means any of the four turnings; a list names the symbols the north side may show.
"""

from __future__ import annotations

import re
from dataclasses import fields, replace

from engine.api import OptionValue
from engine.deblockle.board import PLACES, PLAYERS, SQUARE_OF, STARS
from engine.deblockle.cube import SYMBOLS
from engine.deblockle.settings import MOST_BLOCKS, Settings, read_settings
from engine.deblockle.state import Block, DeblockleState
from engine.deblockle.turns import settled
from engine.errors import OptionError, UnreadableError

_OVER = "over"
_BLOCK = re.compile(r"([a-g][1-7])[:=](gold|teal|g|t)\.([a-z]+)(\?|/north=([a-z|]+))?")
_COUNTED = re.compile(r"([1-9][0-9]*)\*([0-9a-f]{16})")
_DERIVED_OPTIONS = ("blocks_gold", "blocks_teal")


def format_state(state: DeblockleState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or _OVER]
    parts += [_format_block(state.settings, block) for block in state.blocks]
    parts.append("removed=" + ",".join(str(state.removed(player)) for player in PLAYERS))
    default = Settings()
    for field in fields(Settings):
        value = getattr(state.settings, field.name)
        if field.name not in _DERIVED_OPTIONS and value != getattr(default, field.name):
            parts.append(f"{field.name}={str(value).lower()}")
    if state.counts:
        parts.append("seen=" + ",".join(f"{count}*{digest}" for digest, count in state.counts))
    return " ".join(parts)


def _format_block(settings: Settings, block: Block) -> str:
    cube = settings.cube
    top = cube.top(block.mask)
    norths = sorted(facing["north"] for facing in cube.facings(block.mask))
    sides = "?" if block.mask == cube.with_top[top] else "/north=" + "|".join(norths)
    return f"{PLACES[block.square]}:{block.owner[0].upper()}.{top}{sides}"


def parse_state(text: str) -> DeblockleState:
    """Read a state leniently: any case, spaces and order; ``north`` may be left out; symbols may be shortened.

    Raises UnreadableError that names the part it stumbled over and where it stands.
    """
    to_move: str | None = None
    removed = (0, 0)
    counts: list[tuple[str, int]] = []
    options: dict[str, OptionValue] = {}
    blocks: list[tuple[re.Match[str], int]] = []
    parts = [(match.group().lower(), match.start() + 1) for match in re.finditer(r"\S+", text)]
    for part, position in parts:
        name, equals, value = part.partition("=")
        if part in (*PLAYERS, _OVER):
            if to_move is not None:
                raise _unreadable(text, part, position, f"only one of {', '.join(PLAYERS)}, {_OVER}")
            to_move = part
        elif block := _BLOCK.fullmatch(part):
            blocks.append((block, position))
        elif name == "removed" and equals:
            removed = _read_removed(text, part, position, value)
        elif name == "seen" and equals:
            counts = _read_counts(text, part, position, value)
        elif equals and ":" not in name:
            options[name] = value
        else:
            raise _unreadable(text, part, position, "a block such as c3:G.x/north=stop, removed=0,0 or an option")
    settings, given = _read_options(text, options)
    state = DeblockleState(
        settings,
        tuple(sorted(_read_block(text, settings, block, position) for block, position in blocks)),
        settings.starts if to_move in (None, _OVER) else to_move,
        tuple(sorted(counts)),
    )
    state = settled(replace(state, settings=_count_blocks(text, state, removed, given)), counted=False)
    if to_move == _OVER and state.to_move is not None:
        raise UnreadableError(
            f"the state {text!r} says 'over', but {state.to_move} can still play; write who is to move"
        )
    return state


def _read_options(text: str, options: dict[str, OptionValue]) -> tuple[Settings, set[str]]:
    try:
        return read_settings(options), set(options)
    except OptionError as error:
        raise UnreadableError(f"the state {text!r} can't be read: {error}") from error


def _read_block(text: str, settings: Settings, match: re.Match[str], position: int) -> Block:
    part = match.group()
    place, owner, top_text, sides, norths = match.groups()
    square = SQUARE_OF[place]
    if STARS >> square & 1:
        raise _unreadable(text, part, position, "a square without a star: no block ever rests on d2 or d6")
    cube = settings.cube
    top = read_symbol(top_text)
    if top is None:
        raise _unreadable(text, part, position, f"one of {', '.join(SYMBOLS)} as its top")
    mask = cube.with_top[top]
    if sides and norths:
        mask = 0
        for north_text in norths.split("|"):
            north = read_symbol(north_text)
            narrowed = cube.agreeing(cube.with_top[top], {"north": north}) if north else 0
            if not narrowed:
                shown = ", ".join(sorted(facing["north"] for facing in cube.facings(cube.with_top[top])))
                raise _unreadable(text, part, position, f"one of {shown} to the north when {top} is up")
            mask |= narrowed
    return Block(square, PLAYERS[0] if owner[0] == PLAYERS[0][0] else PLAYERS[1], mask)


def read_symbol(text: str) -> str | None:
    """Read a symbol or an unmistakable beginning of one; ``None`` when it is none or fits several."""
    if text in SYMBOLS:
        return text
    found = [symbol for symbol in SYMBOLS if text and symbol.startswith(text)]
    return found[0] if len(found) == 1 else None


def _read_removed(text: str, part: str, position: int, value: str) -> tuple[int, int]:
    match = re.fullmatch(r"([0-4])[,/]([0-4])", value)
    if not match:
        raise _unreadable(text, part, position, "removed=GOLD,TEAL with numbers from 0 to 4")
    return int(match[1]), int(match[2])


def _read_counts(text: str, part: str, position: int, value: str) -> list[tuple[str, int]]:
    matches = [_COUNTED.fullmatch(entry) for entry in value.split(",")]
    counts = [(match[2], int(match[1])) for match in matches if match]
    if len(counts) != len(matches) or len(dict(counts)) != len(counts):
        raise _unreadable(text, part, position, "seen=COUNT*DIGEST,… with 16 hexadecimal digits each, none twice")
    return counts


def _count_blocks(text: str, state: DeblockleState, removed: tuple[int, int], given: set[str]) -> Settings:
    squares = [block.square for block in state.blocks]
    twice = {square for square in squares if squares.count(square) > 1}
    if twice:
        raise UnreadableError(
            f"the state {text!r} has two blocks on {PLACES[min(twice)]}; expected one a square at most"
        )
    totals = []
    for player, gone in zip(PLAYERS, removed, strict=True):
        total = len(state.owned(player)) + gone
        if not 1 <= total <= MOST_BLOCKS:
            raise UnreadableError(
                f"the state {text!r} has {total} {player} blocks, counting those removed; expected 1 to {MOST_BLOCKS}"
            )
        if f"blocks_{player}" in given and total != state.settings.blocks(player):
            raise UnreadableError(
                f"the state {text!r} has {total} {player} blocks, counting those removed, "
                f"but says blocks_{player}={state.settings.blocks(player)}"
            )
        totals.append(total)
    if not state.blocks or sum(not state.owned(player) for player in PLAYERS) > 1:
        raise UnreadableError(f"the state {text!r} has no blocks on the board; expected at least one")
    return replace(state.settings, blocks_gold=totals[0], blocks_teal=totals[1])


def _unreadable(text: str, part: str, position: int, expected: str) -> UnreadableError:
    return UnreadableError(f"cannot read {part!r} at character {position} of {text!r}; expected {expected}")
