"""The MicroPython interpreter under Node, and the scripts that run in it and in CPython alike."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "firmware_bridge" / "firmware"
MICROPYTHON = ROOT / "tests" / "micropython"
PACKAGE = MICROPYTHON / "node_modules" / "@micropython" / "micropython-webassembly-pyscript"

REQUIRED = "REQUIRE_MICROPYTHON"
"""When this environment variable is set, these tests fail where they would be skipped."""

HEAP_BYTES = 128 * 1024 * 1024
LONGEST_S = 120

Script = Callable[..., list[Any]]


def why_not() -> str | None:
    """One sentence why there is no MicroPython, with what to do; ``None`` when it is there."""
    node = shutil.which("node")
    if node is None:
        return "MicroPython runs under Node, which is not installed: apt install nodejs npm, or see nodejs.org"
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout.strip()
    major = said.lstrip("v").partition(".")[0]
    if not major.isdecimal() or int(major) < 18:
        return f"MicroPython needs Node 18 or newer, and this is {said or 'no Node at all'}"
    if not PACKAGE.is_dir():
        return "MicroPython is not installed: npm ci --ignore-scripts --prefix tests/micropython"
    return None


@pytest.fixture(scope="session")
def node() -> str:
    """The Node that MicroPython runs under; without, the test is skipped, or fails where it is required."""
    reason = why_not()
    if reason is not None:
        if os.environ.get(REQUIRED):
            pytest.fail(f"{reason} ({REQUIRED} is set)")
        pytest.skip(reason)
    return str(shutil.which("node"))


@pytest.fixture
def in_micropython(node: str, tmp_path: Path) -> Script:
    """Call functions of a script in MicroPython: ``(script, data, *functions)`` gives all that they give."""

    def call(script: str, data: object, *functions: str, heap_bytes: int = HEAP_BYTES) -> list[Any]:
        file, out = tmp_path / f"{script}.json", tmp_path / f"{script}.out"
        file.write_text(json.dumps(data), encoding="utf-8")
        command = [node, MICROPYTHON / "runner.mjs", "--heap", str(heap_bytes), "--firmware", FIRMWARE]
        command += ["--data", file, "--out", out, script, *(functions or ("run",))]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST_S)
        assert done.returncode == 0, done.stdout + done.stderr
        return [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]

    return call


@pytest.fixture
def in_cpython(monkeypatch: pytest.MonkeyPatch) -> Iterator[Script]:
    """Call the same here."""
    monkeypatch.syspath_prepend(str(MICROPYTHON / "scripts"))
    before = set(sys.modules)

    def call(script: str, data: object, *functions: str) -> list[Any]:
        module = importlib.import_module(script)
        results: list[Any] = []
        for function in functions or ("run",):
            results += getattr(module, function)(json.loads(json.dumps(data)))
        parsed: list[Any] = json.loads(json.dumps(results))
        return parsed

    yield call
    for name in set(sys.modules) - before:
        file = getattr(sys.modules[name], "__file__", None)
        if file and Path(file).is_relative_to(MICROPYTHON):
            del sys.modules[name]


@pytest.fixture(params=["CPython", "MicroPython"])
def script(request: pytest.FixtureRequest) -> Script:
    """Call functions of a script, once in each interpreter."""
    called: Script = request.getfixturevalue(f"in_{request.param.lower()}")
    return called
