"""The referee sees frames and button presses only: nothing it is built from may look at the virtual table's truth."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from simulator.play.game import TruthLog
from simulator.play.players import Players
from simulator.table import VirtualTable

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "vision", "hardware", "firmware_bridge", "referee", "hall")
SHOW = "demo"
"""Modules of the show itself, which set the table up and compare with the truth once the game is over."""
PRIVATE = {"_players", "_truth", "_script", "_choreography"}


def modules() -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((ROOT / room).rglob("*.py"))


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("simulator."):
            yield node.value


def is_show(path: Path) -> bool:
    return path.parent.name == SHOW


def test_only_the_show_knows_the_simulator() -> None:
    paths = [path for path in modules() if not is_show(path)]
    assert len(paths) > 20
    texts = {path: path.read_text(encoding="utf-8") for path in paths}
    guilty = {
        str(path.relative_to(ROOT)): name
        for path, text in texts.items()
        if "simulator" in text
        for name in imported(ast.parse(text))
        if name.split(".")[0] == "simulator"
    }
    assert guilty == {}


def test_nobody_reaches_into_the_virtual_table() -> None:
    guilty = [
        str(path.relative_to(ROOT))
        for path in modules()
        if is_show(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE and not _is_self(node.value)
    ]
    assert guilty == []


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


@pytest.mark.parametrize("source", ["import simulator.play.game", "from simulator.table import VirtualTable"])
def test_the_check_itself_sees_a_leak(source: str) -> None:
    assert any(name.startswith("simulator") for name in imported(ast.parse(source)))


def test_the_table_shows_nothing_of_the_truth() -> None:
    table = VirtualTable(1, truth=TruthLog())
    public = {name: getattr(table, name) for name in dir(table) if not name.startswith("_")}
    assert not any(isinstance(value, TruthLog | Players) for value in public.values())
    assert set(public) == {
        "calibration",
        "close",
        "fps",
        "frames",
        "show_mood",
        "name",
        "presses",
        "read",
        "seed",
        "setting",
        "take_presses",
        "take_rolls",
        "enrolment_pictures",
        "time_s",
    }
