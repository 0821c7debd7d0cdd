"""The script that tries the project on an emulated ARM system says what it needs."""

import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "try_on_arm64"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "got no argument; name a Debian: bookworm or trixie"),
        (["sid"], "got sid; name a Debian: bookworm or trixie"),
        (["trixie", "--quick"], "unknown argument --quick; there are --demo-only and --tests PATH"),
        (["trixie", "--tests"], "--tests needs a path, such as tests/vision/readers"),
    ],
)
def test_unknown_arguments_are_named(arguments: list[str], said: str) -> None:
    done = subprocess.run([SCRIPT, *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (64, f"try_on_arm64: {said}\n")
