"""Any Python can start the benchmarks that the documents name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMED = sorted(
    {
        name
        for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for name in re.findall(r"benchmarks/[a-z_/]+\.py", page.read_text())
        # Training needs PyTorch, which the environment doesn't have.
        if "/training/" not in name and '__name__ == "__main__"' in (ROOT / name).read_text()
    }
)


@pytest.mark.parametrize("name", NAMED)
def test_a_documented_benchmark_enters_the_environment_before_it_needs_a_library(name: str) -> None:
    text = (ROOT / name).read_text()
    first = re.search(
        r"^(?:import|from) (?:click|cv2|numpy|rich|engine|referee|simulator|vision)\b", text, re.MULTILINE
    )
    entered = text.find("\nenter_environment(__name__)")
    assert first is None or 0 < entered < first.start()
