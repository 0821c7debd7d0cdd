"""How hard the tests look: how many random cases are tried in this run."""

from collections.abc import Iterable
from typing import TypeVar

from hypothesis import settings

T = TypeVar("T")

_EXAMPLES_OF_A_CHECK = 100
"""Of the profile `check`, by which the numbers of cases are written down (tests/conftest.py)."""


def cases(number: int, least: int = 1) -> int:
    """How many random cases to try: this number in `./check --all`, a tenth in `./check`, five times in `--long`."""
    return max(least, number * settings().max_examples // _EXAMPLES_OF_A_CHECK)


def some(items: Iterable[T], least: int = 2) -> list[T]:
    """Some of a list of cases, spread evenly, the first among them: all in `./check --all`, a tenth in `./check`."""
    every = list(items)
    count = min(len(every), cases(len(every), least))
    return [every[number * len(every) // count] for number in range(count)]
