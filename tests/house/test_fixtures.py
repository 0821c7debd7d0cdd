"""Every fixture says what it is made from and what it gives, so that mypy knows what a test works with."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def untyped_fixtures(code: str) -> Iterator[str]:
    """The names of the fixtures in a module that lack the type of a parameter or of what they give."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.FunctionDef) and any(
            "pytest.fixture" in ast.unparse(one) for one in node.decorator_list
        ):
            types = [node.returns, *(each.annotation for each in (*node.args.args, *node.args.kwonlyargs))]
            if None in types:
                yield node.name


@pytest.mark.parametrize("code", ["def it(tmp_path: Path):\n    ...", "def it(tmp_path) -> Path:\n    ..."])
def test_a_fixture_without_a_type_is_named(code: str) -> None:
    assert list(untyped_fixtures(f"@pytest.fixture(scope='module')\n{code}")) == ["it"]


def test_every_fixture_has_types() -> None:
    paths = [path for path in TESTS.rglob("*.py") if "node_modules" not in path.parts]
    codes = {path: path.read_text(encoding="utf-8") for path in paths}
    found = {path: list(untyped_fixtures(code)) for path, code in codes.items() if "pytest.fixture" in code}
    assert not {path: names for path, names in found.items() if names}
