"""The examples in docstrings run, and packages that list their modules list all of them."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

from tests.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[2]
ENTRY_POINTS = {
    "engine",
    "engine.records",
    "engine.registry",
    "firmware_bridge.protocol",
    "hardware.lights",
    "journal",
    "referee.judge",
    "app.runtime.builder",
    "simulator",
    "vision.readers",
}
WITH_EXAMPLES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for room in ROOMS
    for file in (ROOT / room).rglob("*.py")
    if re.search(r"^ *>>> ", file.read_text(encoding="utf-8"), re.MULTILINE)
)
PACKAGES = sorted(file for room in ROOMS for file in (ROOT / room).rglob("__init__.py"))


def test_entry_points_have_examples() -> None:
    assert set(WITH_EXAMPLES) >= ENTRY_POINTS


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_the_example_runs(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    told: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    for example in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(example, out=told.append)
    assert runner.tries >= 1
    assert runner.failures == 0, "".join(told)


def listed(docstring: str) -> set[str]:
    """What a docstring lists: the names before the colon of each item, and of each sentence in it that begins so."""
    items = re.findall(r"^- .*(?:\n  .*)*", docstring, re.MULTILINE)
    heads = [head for item in items for head in re.findall(r"(?:^- |\. )((?:``\w+``(?:, )?)+):", item)]
    return {name for head in heads for name in re.findall(r"\w+", head)}


@pytest.mark.parametrize("package", PACKAGES, ids=lambda file: file.parent.relative_to(ROOT).as_posix())
def test_a_package_says_what_it_is_for_and_lists_its_modules_whole_or_not_at_all(package: Path) -> None:
    docstring = ast.get_docstring(ast.parse(package.read_text(encoding="utf-8")))
    assert docstring, "a package's docstring says what the folder is for"
    names = listed(docstring)
    if not names:
        return
    inside = {file.stem for file in package.parent.glob("*.py")} - {"__init__", "errors", "__main__", "main"}
    folders = {file.parent.name for file in package.parent.glob("*/__init__.py")}
    assert names == inside | folders
