"""A copy of the project with Reversi added as CONTRIBUTING says.

Run: python tests/system/another_game/copied.py FOLDER, then python FOLDER/benchmarks/soak.py --of reversi.
"""

import shutil
import sys
from pathlib import Path

from tests.rooms import ROOMS

ROOT = Path(__file__).resolve().parents[3]
GAME = Path(__file__).parent
COPIED = ("benchmarks", *ROOMS)

_HANDLER = '        "reversi": ReversiHandler,\n'
_IMPORT = "from simulator.play.reversi import ReversiHandler\n"


def copied(source: Path, target: Path) -> None:
    """Copy a file or a folder."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        shutil.copy(source, target)


def written_in(path: Path, after: str, text: str) -> None:
    """Put a text into a file, behind the first place where it says ``after``."""
    before, found, rest = path.read_text(encoding="utf-8").partition(after)
    assert found, f"{path.name} doesn't say {after!r}"
    path.write_text(before + found + text + rest, encoding="utf-8")


def copy_with_reversi(folder: Path) -> None:
    """Copy the project and do what CONTRIBUTING says about adding a game."""
    for room in COPIED:
        copied(ROOT / room, folder / room)
    for name in ("engine", "games", "playthroughs", "conftest.py", "effort.py", "guard.py", "present.py"):
        copied(ROOT / "tests" / name, folder / "tests" / name)
    copied(ROOT / "docs" / "games", folder / "docs" / "games")
    copied(ROOT / "pyproject.toml", folder / "pyproject.toml")
    copied(GAME / "reversi", folder / "engine" / "games" / "reversi")
    copied(GAME / "reversi.json", folder / "vision" / "layout" / "games" / "reversi.json")
    copied(GAME / "reversi.md", folder / "docs" / "games" / "reversi.md")
    copied(GAME / "reversi.toml", folder / "tests" / "games" / "reversi.toml")
    copied(GAME / "reversi_discs.py", folder / "simulator" / "play" / "reversi.py")
    written_in(folder / "simulator" / "play" / "players.py", "    {\n", _HANDLER)
    written_in(folder / "simulator" / "play" / "players.py", "NumberSheetHandler, unnamed_dice\n", _IMPORT)


if __name__ == "__main__":
    copy_with_reversi(Path(sys.argv[1]))
