"""States as text: strict to write, lenient to read.

A state is one line: who is to move (``warm``, ``cool`` or ``over``), the dice where they lie (``roll=4,1``) or the
rolling for who starts (``opening``, then ``opening=4,1`` when warm has rolled), the 25 stacks from a1 to e5, each from
below, and what differs from the defaults::

    warm roll=4,1 a1:CL+YMMMMM b1:GLS … b4:RLMS+KL+RM … e5:CL+RMMMMM strict=true passes=1 announced=cool:resign

``RLMS+KL+RM`` is a red large, medium and small, a black large and a red medium on top.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from engine.api import Announcement, OptionValue
from engine.errors import OptionError, UnreadableError
from engine.games.blockade.board import (
    BY_ROLL,
    LETTERS,
    OPTIONS,
    PLACES,
    PLAYERS,
    SIZE_LETTERS,
    WARM,
    Stack,
    colour_of,
    options_from,
    other,
    piece_of,
    size_of,
)
from engine.games.blockade.state import BlockadeState, Dice, outcome_of, with_end_noticed
from engine.games.blockade.violations import impossibility
from engine.options import differing_options
from engine.support.chance import ORDINARY_DIE
from engine.support.notation import Word, unreadable, words
from engine.support.players import common_announcements, format_announcement, parse_announcement

_OVER = "over"
_STACK = re.compile(r"([a-e][1-5])[:=]([rygbck][sml]+(?:\+[rygbck][sml]+)*)")
_OPTION_NAMES = frozenset(option.name for option in OPTIONS)


def format_stack(stack: Stack) -> str:
    """Write a stack in its strict form: ``RLMS+KL``."""
    written = ""
    colour = -1
    for piece in stack:
        if colour_of(piece) != colour:
            colour = colour_of(piece)
            written += ("+" if written else "") + LETTERS[colour]
        written += SIZE_LETTERS[size_of(piece)]
    return written


def format_dice(dice: tuple[int, ...]) -> str:
    """Write dice in their strict form."""
    return ",".join(str(die) for die in dice)


def format_state(state: BlockadeState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or _OVER]
    if state.roll is not None:
        parts.append(f"roll={format_dice(state.roll)}")
    if state.opening is not None:
        parts.append("opening" + (f"={format_dice(state.opening)}" if state.opening else ""))
    parts += [f"{place}:{format_stack(stack)}" for place, stack in zip(PLACES, state.stacks, strict=True)]
    parts += differing_options(OPTIONS, state.options)
    if state.passes:
        parts.append(f"passes={state.passes}")
    if state.announced is not None:
        parts.append(f"announced={format_announcement(state.announced)}")
    return " ".join(parts)


@dataclass
class _Parts:
    """What a state's text says, before it is put together."""

    to_move: str | None = None
    roll: Dice | None = None
    opening: tuple[int, ...] | None = None
    stacks: dict[str, Stack] = field(default_factory=dict)
    options: dict[str, OptionValue] = field(default_factory=dict)
    passes: int = 0
    announced: Announcement | None = None


def parse_state(text: str) -> BlockadeState:
    """Read a state leniently: any case, spaces and order.

    Raises UnreadableError that names the part it stumbled over and where it stands, or which invariant is broken.
    """
    parts = _Parts()
    for word in words(text):
        _read_word(text, word, parts)
    missing = [place for place in PLACES if place not in parts.stacks]
    if missing:
        raise UnreadableError(
            f"the state {text!r} leaves out {', '.join(missing)}; expected a stack for each of the 25 squares, "
            "such as a2:RLS",
            len(text) + 1,
        )
    try:
        options = options_from(parts.options)
    except OptionError as error:
        raise UnreadableError(f"the state {text!r} can't be read: {error}", _column_of(text, "=")) from error
    stacks = tuple(parts.stacks[place] for place in PLACES)
    wrong = impossibility(stacks, options)
    if wrong is not None:
        place, why = wrong
        raise UnreadableError(f"the position {text!r} is impossible: {why}", _column_of(text, f"{place}:"))
    return _put_together(text, parts, BlockadeState(options, stacks, WARM))


def _put_together(text: str, parts: _Parts, state: BlockadeState) -> BlockadeState:
    options = state.options
    to_move = parts.to_move
    if to_move is None:
        to_move = WARM if options.starts == BY_ROLL else options.starts
    if parts.passes and (not options.draw_after_passes or parts.passes > options.draw_after_passes):
        raise UnreadableError(
            f"the state {text!r} counts {parts.passes} passes, but draw_after_passes is "
            f"{options.draw_after_passes}; leave passes out or make them no more than that",
            _column_of(text, "passes="),
        )
    if parts.opening is not None:
        rolling = other(WARM) if parts.opening else WARM
        if parts.roll is not None or to_move not in (rolling, _OVER):
            raise UnreadableError(
                f"the state {text!r} is about who starts, where {rolling} rolls next; write {rolling}, and no roll=",
                _column_of(text, "opening"),
            )
    over = to_move == _OVER
    full = replace(state, to_move=WARM if over else to_move, passes=parts.passes, announced=parts.announced)
    ended = outcome_of(full) is not None
    if over and not ended:
        raise UnreadableError(f"the state {text!r} says 'over', but nobody has won; write who is to move", 1)
    if ended:
        return with_end_noticed(full)
    return replace(full, roll=parts.roll, opening=parts.opening)


def _read_word(text: str, word: Word, parts: _Parts) -> None:
    part, column = word
    name, equals, value = part.partition("=")
    if part in (*PLAYERS, _OVER):
        if parts.to_move is not None:
            raise unreadable(text, part, column, f"only one of {', '.join(PLAYERS)}, {_OVER}")
        parts.to_move = part
    elif match := _STACK.fullmatch(part):
        place, written = match.groups()
        if place in parts.stacks:
            raise unreadable(text, part, column, f"{place} only once")
        parts.stacks[place] = _read_stack(written)
    elif name == "opening":
        parts.opening = read_dice(text, value, column + len("opening=")) if equals else ()
    elif name == "roll" and equals:
        parts.roll = read_dice(text, value, column + len("roll="))
    elif name == "passes" and value.isdecimal() and value.isascii():
        parts.passes = int(value[:9])
    elif name == "announced" and equals:
        parts.announced = _read_announced(text, value, column + len("announced="))
    elif name in _OPTION_NAMES and equals:
        parts.options[name] = value
    else:
        raise unreadable(
            text, part, column, "a player, a stack such as a2:RLS, roll=4,1 or an option such as strict=true"
        )


def _read_stack(written: str) -> Stack:
    return tuple(
        piece_of(LETTERS.index(group[0].upper()), SIZE_LETTERS.index(size.upper()))
        for group in written.split("+")
        for size in group[1:]
    )


def _read_announced(text: str, value: str, column: int) -> Announcement:
    read = parse_announcement(value, PLAYERS)
    if read not in common_announcements(PLAYERS):
        raise unreadable(text, value, column, "warm:resign, cool:resign or all:draw")
    return read


def _column_of(text: str, part: str) -> int:
    return max(0, text.lower().find(part)) + 1


def read_dice(text: str, value: str, column: int) -> Dice:
    """Read two dice, parted by a comma or a space; raises UnreadableError."""
    faces = value.replace(",", " ").split()
    for face in faces:
        if face not in ORDINARY_DIE:
            raise unreadable(text, face, column + value.find(face), "two dice from 1 to 6, such as 4,1")
    if len(faces) != 2:
        raise unreadable(text, value, column, "two dice, such as 4,1")
    return int(faces[0]), int(faces[1])
