"""The import rules in pyproject.toml allow what they should and catch what they forbid."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

ALLOWED = {
    "simulator/scene/scene.py": "import engine.rules\nimport vision.geometry\n",
    "app/demo/watch.py": "import simulator.scene.scene\nimport vision.readers.blocks.appearance\n",
    "engine/extra.py": "import common.phrases\n",
    "vision/readers/registry/extra.py": "import vision.readers.blocks\n",
    "simulator/extra.py": "import firmware_bridge.protocol\n",
    "hardware/switches/extra.py": "import hardware.pins\n",
    "firmware_bridge/install/extra.py": "import firmware_bridge.protocol\n",
    "app/cli/extra.py": "import referee.judge\n",
    "hall/extra.py": "import engine.rules\nimport journal\n",
    "engine/registry.py": "import engine.games.deblockle\n",
}
FORBIDDEN = [
    ("common", "engine.rules"),
    ("engine", "vision.geometry"),
    ("vision", "engine.rules"),
    ("vision.readers.table_reader", "vision.readers.blocks"),
    ("hardware", "app.demo.watch"),
    ("vision", "simulator.scene.scene"),
    ("simulator", "app.demo.watch"),
    ("simulator", "vision.readers.blocks.appearance"),
    ("simulator", "hardware"),
    ("app.cli", "hall.extra"),
    ("hall", "vision.geometry"),
    ("simulator", "firmware_bridge.install"),
    ("firmware_bridge.firmware.core", "common.phrases"),
    ("hardware.pins", "hardware.switches"),
    ("firmware_bridge.protocol", "firmware_bridge.install"),
    ("referee.judge", "referee.session"),
    ("referee", "journal"),
    ("referee", "hardware.pins"),
    ("journal", "frontends.page"),
    ("frontends", "app.runtime"),
    ("frontends.mqtt", "frontends.page"),
    ("app.runtime", "simulator.scene.scene"),
    ("referee", "engine.games.deblockle.board"),
    ("engine.games.reversi", "engine.games.deblockle.board"),
]
"""Packages, and what no module of them may import."""
GAMES = ("deblockle", "reversi")


def import_rules_of(folder, extra):
    """What import-linter says of a project like ours with these modules too; its exit code and its report."""
    files = dict.fromkeys(
        (
            "common/phrases.py",
            "engine/rules.py",
            "vision/geometry.py",
            "vision/readers/blocks/appearance.py",
            "hardware/pin_map.py",
        ),
        "",
    )
    toml = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(toml)["tool"]["importlinter"]["contracts"]
    protected = [module for contract in contracts for module in contract.get("protected_modules", ())]
    files |= {f"{name.replace('.', '/').replace('*', each)}/board.py": "" for name in protected for each in GAMES}
    rooms = {
        room for contract in contracts for layer in contract.get("layers", ()) for room in re.split(r"[ |:]+", layer)
    }
    rooms |= {room for contract in contracts for room in contract.get("modules", ())}
    files |= {f"{room.replace('.', '/')}/__init__.py": "" for room in rooms}
    for name, text in {**files, **ALLOWED, **extra}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        for package in list(Path(name).parents)[:-1]:
            (folder / package / "__init__.py").touch()
    (folder / "pyproject.toml").write_text(toml, encoding="utf-8")
    code = (
        "import sys; sys.path.insert(0, ''); from importlinter.cli import lint_imports; "
        "sys.exit(lint_imports(no_cache=True))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_import_rules_allow_what_they_should(tmp_path):
    pytest.importorskip("importlinter")
    code, report = import_rules_of(tmp_path, {})
    assert code == 0, report


def test_the_import_rules_catch_what_they_forbid(tmp_path):
    """All at once, each import in a module of its own, since a run takes as long for one as for all."""
    pytest.importorskip("importlinter")
    guilty = {
        f"{package.replace('.', '/')}/extra_{number}.py": f"import {imported}\n"
        for number, (package, imported) in enumerate(FORBIDDEN)
    }
    code, report = import_rules_of(tmp_path, guilty)
    assert code != 0
    for number, (package, imported) in enumerate(FORBIDDEN):
        assert f"{package}.extra_{number} -> {imported} (l.1)" in report, report
