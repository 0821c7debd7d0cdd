"""No folder of the product is a heap: at most twenty modules side by side, and no family kept together by a prefix."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("common", "engine", "vision", "hardware", "firmware_bridge", "referee", "simulator", "benchmarks")
MOST_MODULES = 20


def heaps(modules: Iterable[Path]) -> list[str]:
    """Say which folders hold too many modules, or three that share the word before the first underscore."""
    folders: dict[Path, list[str]] = {}
    for path in modules:
        if path.name != "__init__.py":
            folders.setdefault(path.parent, []).append(path.stem)
    found = []
    for folder, names in sorted(folders.items()):
        if len(names) > MOST_MODULES:
            found.append(f"{folder} holds {len(names)} modules")
        prefixes = Counter(name.split("_")[0] for name in names if not name.startswith("_"))
        found += [f"{folder}: {count} modules start with {prefix}" for prefix, count in prefixes.items() if count > 2]
    return found


def test_no_folder_is_a_heap() -> None:
    listed = subprocess.run(["git", "ls-files", "*.py"], cwd=ROOT, capture_output=True, text=True, check=False)
    names = listed.stdout.split() if listed.returncode == 0 else [str(p.relative_to(ROOT)) for p in ROOT.rglob("*.py")]
    product = [Path(name) for name in names if name.split("/")[0] in ROOMS]
    assert len(product) > 200
    assert heaps(product) == []


@pytest.mark.parametrize(
    ("names", "heap"),
    [
        (["play.py", "play_game.py"], False),
        (["play.py", "play_game.py", "play_words.py"], True),
        ([f"module{number}.py" for number in range(MOST_MODULES)] + ["__init__.py"], False),
        ([f"module{number}.py" for number in range(MOST_MODULES + 1)], True),
    ],
)
def test_a_heap_is_noticed(names: list[str], heap: bool) -> None:
    assert bool(heaps(Path("room") / name for name in names)) is heap
