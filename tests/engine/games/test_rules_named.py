"""Each game has tests of its own, in which every rule of its catalogue occurs."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.registry import games, load

TESTS = Path(__file__).parent


@pytest.mark.parametrize("name", games())
def test_every_rule_is_raised_in_the_tests_of_its_game(name: str) -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (TESTS / name.replace("-", "_")).glob("*.py"))
    assert text, f"tests/engine/games/{name.replace('-', '_')}/ has no tests"
    missing = [rule for rule in load(name).rules.catalogue if f'"{rule}"' not in text]
    assert not missing, f"no test of {name} names the rules {', '.join(missing)}"
