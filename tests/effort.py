"""How hard the tests look: how many random cases are tried in this run."""

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

_WRITTEN_FOR = 100
"""The examples of a property for which the numbers of cases are written down."""
EXAMPLES_IN_ALL = 40
"""The examples of a property in `./check --all` (tests/conftest.py)."""


def cases(number: int, least: int = 1) -> int:
    """How many random cases to try: a tenth of this in `./check`, two fifths in `--all`, five times it in `--long`."""
    return max(least, number * settings().max_examples // _WRITTEN_FOR)


def some(items: Iterable[T], least: int = 1) -> list[T]:
    """Some of a list of cases, spread evenly, the first among them: all in `./check --all`, a tenth in `./check`."""
    every = list(items)
    is_all = settings().max_examples >= EXAMPLES_IN_ALL
    count = len(every) if is_all else min(len(every), cases(len(every), least))
    return [every[number * len(every) // count] for number in range(count)]
