"""States as text: written strictly, read leniently.

A state is one line: who is to move (``warm``, ``cool`` or ``over``), the current roll (``roll=4,1``) or the rolls for
who starts (``opening``, then ``opening=4,1`` once warm has rolled), the 25 stacks from a1 to e5, each from bottom to
top, and what differs from the defaults::

    warm roll=4,1 a1:CL+YMMMMM b1:GLS … b4:RLMS+KL+RM … e5:CL+RMMMMM strict=true passes=1 announced=cool:resign

``RLMS+KL+RM`` is a red large, medium and small, a black large and a red medium on top.
"""

from __future__ import annotations

import re
from dataclasses import replace

from common.phrases import Phrase
from engine.errors import UnreadableError
from engine.games.blockade.explanation import impossibility
from engine.games.blockade.state import (
    BY_ROLL,
    LETTERS,
    OPTIONS,
    PLACES,
    PLAYERS,
    SIZE_LETTERS,
    WARM,
    BlockadeState,
    Dice,
    Stack,
    colour_of,
    options_from,
    other,
    outcome_of,
    piece_of,
    settle,
    size_of,
)
from engine.options import differing_options
from engine.support.chance import ORDINARY_DIE
from engine.support.notation import OVER, StateText, unreadable, words
from engine.support.players import common_announcements, format_announcement
from engine.values import Announcement

_STACK = re.compile(r"([a-e][1-5])[:=]([rygbck][sml]+(?:\+[rygbck][sml]+)*)")
_EXPECTED = Phrase("a player, a stack such as a2:RLS, roll=4,1 or an option such as strict=true")
_DIGITS = re.compile("[0-9]+")


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
    parts = [state.to_move or OVER]
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


def parse_state(text: str) -> BlockadeState:
    """Read a state leniently: any case, spaces and order.

    Raises UnreadableError that names the faulty part and its column, or the broken invariant.
    """
    said, named = StateText(text, PLAYERS, _EXPECTED), {}
    opening: tuple[int, ...] | None = None
    for word in words(text):
        if match := _STACK.fullmatch(word.text):
            place, written = match.groups()
            if place in named:
                raise said.bad(word, Phrase("{place} only once", place))
            named[place] = _read_stack(written)
        elif word.text == "opening":
            opening = ()
        else:
            said.read(word)
    missing = [place for place in PLACES if place not in named]
    if missing:
        raise UnreadableError(
            Phrase(
                "the state {text!r} leaves out {missing}; expected a stack for each of the 25 squares, such as a2:RLS",
                text,
                ", ".join(missing),
            ),
            len(text) + 1,
        )
    options = said.options(options_from, "roll", "opening", "passes")
    stacks = tuple(named[place] for place in PLACES)
    wrong = impossibility(stacks, options)
    if wrong is not None:
        place, why = wrong
        raise UnreadableError(
            Phrase("the position {text!r} is impossible: {why}", text, why), _column_of(text, f"{place}:")
        )
    if "opening" in said.named:
        opening = read_dice(text, *said.named["opening"])
    return _finish_state(said, opening, BlockadeState(options, stacks, WARM))


def _finish_state(said: StateText, opening: tuple[int, ...] | None, state: BlockadeState) -> BlockadeState:
    text, options = said.text, state.options
    roll = read_dice(text, *said.named["roll"]) if "roll" in said.named else None
    to_move = WARM if options.starts == BY_ROLL else options.starts
    if said.to_move is not None:
        to_move = said.to_move.text
    if opening is not None:
        rolling = other(WARM) if opening else WARM
        if roll is not None or to_move not in (rolling, OVER):
            raise UnreadableError(
                Phrase(
                    "the state {text!r} is about who starts, where {rolling} rolls next; write {rolling}, and no roll=",
                    text,
                    rolling,
                ),
                _column_of(text, "opening"),
            )
    full = replace(
        state,
        to_move=WARM if said.is_over else to_move,
        passes=_read_passes(said, options.draw_after_passes),
        announced=_read_announced(said),
    )
    ended = outcome_of(full) is not None
    if said.to_move is not None and said.is_over and not ended:
        raise UnreadableError(
            Phrase("the state {text!r} says 'over', but nobody has won; write who is to move", text),
            said.to_move.column,
        )
    if ended:
        return settle(full)
    return replace(full, roll=roll, opening=opening)


def _read_passes(said: StateText, most: int) -> int:
    if "passes" not in said.named:
        return 0
    word = said.whole("passes")
    if not _DIGITS.fullmatch(said.named["passes"].text):
        raise said.bad(word, _EXPECTED)
    passes = int(said.named["passes"].text[:9])
    if passes and (not most or passes > most):
        raise UnreadableError(
            Phrase(
                "the state {text!r} counts {passes} passes, but draw_after_passes is {most}; leave passes "
                "out or make them no more than that",
                said.text,
                passes,
                most,
            ),
            word.column,
        )
    return passes


def _read_announced(said: StateText) -> Announcement | None:
    read = said.announced()
    if read is not None and read not in common_announcements(PLAYERS):
        raise said.bad(said.named["announced"], Phrase("warm:resign, cool:resign or all:draw"))
    return read


def _read_stack(written: str) -> Stack:
    return tuple(
        piece_of(LETTERS.index(group[0].upper()), SIZE_LETTERS.index(size.upper()))
        for group in written.split("+")
        for size in group[1:]
    )


def _column_of(text: str, part: str) -> int:
    return max(0, text.lower().find(part)) + 1


def read_dice(text: str, value: str, column: int) -> Dice:
    """Read two dice, separated by a comma, a space or nothing; raises UnreadableError."""
    faces = value.replace(",", " ").split()
    if len(faces) == 1 and set(faces[0]) <= set(ORDINARY_DIE):
        faces = list(faces[0])
    for face in faces:
        if face not in ORDINARY_DIE:
            raise unreadable(text, face, column + value.find(face), Phrase("two dice from 1 to 6, such as 4,1"))
    if len(faces) != 2:
        raise unreadable(text, value, column, Phrase("two dice, such as 4,1"))
    return int(faces[0]), int(faces[1])
