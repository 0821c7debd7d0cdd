"""The referee sees frames and button presses only: the demo asks the virtual table for nothing else."""

from __future__ import annotations

import ast
from pathlib import Path

from simulator.play.game import TruthLog
from simulator.play.players import Players
from simulator.table import VirtualTable

ROOT = Path(__file__).parents[2]
PRIVATE = {"_players", "_truth", "_script", "_choreography"}


def test_nobody_reaches_into_the_virtual_table() -> None:
    guilty = [
        path.name
        for path in (ROOT / "referee" / "demo").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr in PRIVATE and not _is_self(node.value)
    ]
    assert guilty == []


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


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
