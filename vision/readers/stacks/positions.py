"""Known stacks of pyramids, as an owner writes them for enrolment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from common.json_files import read_json
from vision.errors import EnrolmentError, LayoutError
from vision.layout.surfaces import Surface
from vision.readers.stacks.appearance import SIZE_WORDS, Stack

_EXAMPLE = '"a2=L:red S:red, c3=L:clear"'
_PYRAMID = re.compile(r"([SML]):([a-z]+)")


def read_positions(text: str, surface: Surface) -> dict[str, Stack]:
    """Read ``a2=L:red S:red, c3=L:clear`` (commas, semicolons or lines between), or a JSON file of that name.

    The file holds ``{"stacks": {"a2": ["L:red", "S:red"], …}}``, each stack from below. Raises EnrolmentError that says
    which part cannot be read, or names a square the board does not have.
    """
    is_file = text.endswith(".json") or ("=" not in text and Path(text).is_file())
    written = _of_file(Path(text)) if is_file else _of_text(text)
    position: dict[str, Stack] = {}
    for place, pyramids in written:
        try:
            surface.centre_mm(place)
        except LayoutError as error:
            raise EnrolmentError(f"the positions name {place!r}: {error}") from error
        if place in position:
            raise EnrolmentError(f"the square {place} is given twice in the positions")
        position[place] = stack_of(pyramids)
    if not position:
        raise EnrolmentError(f"the positions {text!r} name no stack; expected such as {_EXAMPLE}")
    return position


def stack_of(pyramids: list[str]) -> Stack:
    """A stack of pyramids written as ``L:red``, from below; raises EnrolmentError for one that can't be read."""
    stack = []
    for pyramid in pyramids:
        match = _PYRAMID.fullmatch(pyramid.strip())
        if match is None:
            sizes = ", ".join(SIZE_WORDS)
            raise EnrolmentError(
                f"cannot read the pyramid {pyramid!r}; expected a size ({sizes}) and a colour: 'L:red'"
            )
        stack.append((match[1], match[2]))
    if not stack:
        raise EnrolmentError("a stack without pyramids stands in the positions; leave its square out")
    return tuple(stack)


def _of_text(text: str) -> list[tuple[str, list[str]]]:
    written = []
    for part in re.split(r"[;,\n]", text):
        if not part.strip():
            continue
        place, equals, pyramids = part.partition("=")
        if not equals:
            raise EnrolmentError(f"cannot read the position {part.strip()!r}; expected such as {_EXAMPLE}")
        written.append((place.strip(), pyramids.split()))
    return written


def _of_file(path: Path) -> list[tuple[str, list[str]]]:
    data = read_json(path, "the positions", EnrolmentError, plural=True)
    stacks = data.get("stacks") if isinstance(data, Mapping) else None
    if not isinstance(stacks, Mapping) or not all(isinstance(stack, list) for stack in stacks.values()):
        raise EnrolmentError(f'the positions {path} need "stacks": a list of pyramids such as "L:red" for each square')
    return [(str(place), [str(pyramid) for pyramid in stack]) for place, stack in stacks.items()]
