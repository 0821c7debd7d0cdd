"""How hard the tests look: how many random cases are tried in this run."""

from __future__ import annotations

from hypothesis import settings

_EXAMPLES_OF_A_CHECK = 100
"""Of the profile `check`, by which the numbers of cases are written down (tests/conftest.py)."""


def cases(number: int, least: int = 1) -> int:
    """How many random cases to try: this number in `./check --all`, a fifth in `./check`, five times in `--long`."""
    return max(least, number * settings().max_examples // _EXAMPLES_OF_A_CHECK)
