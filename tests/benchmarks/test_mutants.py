"""What ``./check --mutants`` changes and what it runs are there."""

import ast
import os
import subprocess
import sys
from itertools import takewhile
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks import mutants

ROOT = Path(__file__).resolve().parents[2]


def test_every_room_has_code_and_tests() -> None:
    for name, room in mutants.ROOMS.items():
        assert all(path.is_file() for path in room.modules(ROOT)), f"{name}: there is no code in {room.source}"
        # What follows an option only chooses among the tests.
        for folder in takewhile(lambda word: not word.startswith("-"), room.tests):
            assert any((ROOT / folder).rglob("*.py")), f"{name}: there are no tests in {folder}"


@pytest.mark.parametrize(
    ("source", "changed"),
    [
        ("x < y", {"x <= y", "x >= y"}),
        ("x == y", {"x != y"}),
        ("x in y", {"x not in y"}),
        ("x and y", {"x or y"}),
        ("not x", {"x"}),
        ("True", {"False"}),
        ("7", {"8", "6"}),
        ("x - y", {"x + y"}),
        ("-x", {"x"}),
        ("x if y else z", {"x if not y else z"}),
        ("x + 'text'", set()),
        ("f(*x)", set()),
    ],
)
def test_each_small_fault_is_a_change_of_its_own(source: str, changed: set[str]) -> None:
    count = len(mutants.changes_of(ast.parse(source)))
    assert {ast.unparse(mutants.mutated(source, number)) for number in range(count)} == changed


WEAKLY_TESTED = """
    LIMIT = 3

    def allowed(count):
        return count < LIMIT

    def positive(count):
        return count > 0

    def never_run(count):
        return -count
"""
ITS_TESTS = """
    from shop.basket import allowed, positive

    def test_the_third_is_one_too_many():
        assert allowed(2)
        assert not allowed(3)

    def test_a_number_is_positive():
        assert positive(7)
        assert not positive(-7)
"""
TRYING_THEM = """
    import sys
    from pathlib import Path
    from benchmarks import mutants

    mutants.ROOMS["shop"] = mutants.Room("shop", ("shop_tests",), 0.95)
    mutants.run_room("shop", 100, 1, Path(sys.argv[1]))
"""


def test_just_what_no_test_would_notice_survives(tmp_path: Path) -> None:
    for name, text in (("shop/basket.py", WEAKLY_TESTED), ("shop_tests/test_basket.py", ITS_TESTS)):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(dedent(text), encoding="utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n", encoding="utf-8")
    command = [sys.executable, "-c", dedent(TRYING_THEM), str(tmp_path)]
    # Loading every plugin that is installed takes longer than the tests.
    plugins = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_cov"}
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **plugins}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {line.strip("+ ") for line in done.stdout.splitlines() if line.startswith("+")} == {
        "return count >= 0",
        "return count > 1",
        "return count > -1",
        "return count",
    }
    assert done.stdout.count("no test runs it") == 1
    assert (tmp_path / "shop" / "basket.py").read_text(encoding="utf-8") == dedent(WEAKLY_TESTED)
