"""Long work made in steps, so that a film's frames are read meanwhile."""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar, cast

ResultT = TypeVar("ResultT")

Steps: TypeAlias = Generator[None, None, ResultT]
"""Work that yields between its steps and returns a result."""


def finish(steps: Steps[ResultT]) -> ResultT:
    """Take all steps at once and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast(ResultT, end.value)
