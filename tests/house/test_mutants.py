"""What ``./check --mutants`` changes and what it runs are there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def mutants(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script as a module; the library that changes the code is not needed to read its table of rooms."""
    for name in ("cosmic_ray", "cosmic_ray.ast", "cosmic_ray.mutating", "cosmic_ray.plugins"):
        stand_in = ModuleType(name)
        for attribute in ("ast_nodes", "get_ast_from_path", "apply_mutation", "get_operator", "operator_names"):
            setattr(stand_in, attribute, None)
        monkeypatch.setitem(sys.modules, name, stand_in)
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "scripts" / "mutants.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "mutants", module)
    spec.loader.exec_module(module)
    return module


def test_every_room_has_code_and_tests(mutants: ModuleType) -> None:
    for name, room in mutants.ROOMS.items():
        for folder in (room.source, *room.tests):
            assert any((ROOT / folder).rglob("*.py")), f"{name}: there is no code in {folder}"


def test_every_game_with_rules_is_a_room(mutants: ModuleType) -> None:
    games = {path.name for path in (ROOT / "engine" / "games").iterdir() if (path / "game.py").exists()}
    assert set(mutants.GAMES) == games


def test_a_copy_holds_what_the_tests_need(mutants: ModuleType, tmp_path: Path) -> None:
    copy = mutants.copied(tmp_path)
    assert (copy / "tests" / "conftest.py").exists()
    assert not list(copy.rglob("__pycache__"))


def test_a_mutant_is_shown_first_to_the_tests_that_run_its_line_then_to_those_beside_them(mutants: ModuleType) -> None:
    baseline = mutants.Baseline(
        durations_s={"a::slow": 3.0, "a::quick": 0.5, "a::other": 0.2, "b::one": 1.5, "c::one": 0.1},
        tests_of={"x.py": {1: {""}, 2: {"a::slow", "a::quick", "b::one"}, 5: {"c::one"}}},
    )
    first = baseline.running("x.py", range(2, 3))
    assert first == ["b::one", "a::quick", "a::slow"]
    assert baseline.beside(first) == ["a::other"]
    on_import = baseline.running("x.py", range(1, 2))
    assert on_import == ["c::one", "b::one", "a::quick", "a::slow"]
    assert baseline.running("x.py", range(3, 5)) == [], "no test runs it"
    assert baseline.took_s(["a::quick", "of another name"]) == 3.5


@pytest.mark.parametrize(("line", "begins"), [(1, 1), (2, 1), (3, 3), (4, 4), (6, 4)])
def test_a_line_belongs_to_the_innermost_statement_around_it(mutants: ModuleType, line: int, begins: int) -> None:
    source = "x = (1,\n     2)\nif x:\n    y = (\n        3\n        < 4)\n"
    assert mutants.statement_until(source, line) == range(begins, line + 1)
