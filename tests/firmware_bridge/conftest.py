"""The MicroPython interpreter under Node, for all that runs in it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

PACKAGE = (
    Path(__file__).resolve().parents[1]
    / "micropython"
    / "node_modules"
    / "@micropython"
    / "micropython-webassembly-pyscript"
)

REQUIRED = "REQUIRE_MICROPYTHON"
"""When this environment variable is set, these tests fail where they would be skipped."""


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
