"""The packages of the project, as the import rules name them."""

import tomllib
from pathlib import Path

ROOMS: tuple[str, ...] = tuple(
    tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "root_packages"
    ]
)
