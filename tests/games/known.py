"""What the tests of every game need to know of one: ``NAME.toml`` beside this module."""

import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def known_of(name: str) -> dict[str, Any]:
    """The contents of a game's file."""
    path = HERE / f"{name}.toml"
    assert path.exists(), f"write {path.name}, as for the other games"
    return tomllib.loads(path.read_text(encoding="utf-8"))
