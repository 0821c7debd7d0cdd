"""The benchmark of frames times the stages, and names missed targets."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.frame import growth_mb
from benchmarks.parts.frame_times import STAGE_NAMES, FrameReport, draw


def report(**changes: Any) -> FrameReport:
    usual: dict[str, Any] = {
        "frames": 100,
        "counts": {"first": 1, "still": 99},
        "medians_s": {"first": 0.012, "still": 0.002},
        "longest_unmarked_s": 0.4,
        "located_s": 0.002,
        "stages_s": {kind: dict.fromkeys(STAGE_NAMES, 0.001) for kind in ("first", "still")},
        "aruco_s": 0.004,
        "memory_mb": 200.0,
        "growth_mb": 0.5,
    }
    return FrameReport(**{**usual, **changes})


def test_missed_targets_are_named(tmp_path) -> None:
    lines = {"first": 4.0, "still": 0.7}
    assert report().not_met(lines, 4.0) == []
    slow = report(medians_s={"first": 0.1, "still": 0.005}, growth_mb=9.0)
    said = slow.not_met(lines, 4.0)
    assert [sentence.split(" ")[0] for sentence in said] == ["first", "nothing", "memory"]
    assert "25.00 times" in said[0]
    assert "1.25 times" in said[1]
    assert "9.0 MB" in said[2]
    draw(report(), tmp_path / "deeper" / "stages.png")
    assert (tmp_path / "deeper" / "stages.png").stat().st_size > 5000


def test_growth_is_only_judged_in_long_runs_after_one_showing() -> None:
    leaking = [(number, 100 + number / 1000) for number in range(0, 20_000, 100)]
    assert growth_mb(leaking, 20_000, 1000) == pytest.approx(14.4, abs=0.5)
    settled = [(number, 100.0 if number < 2000 else 180.0) for number in range(0, 20_000, 100)]
    assert growth_mb(settled, 20_000, 2000) == 0.0
    assert growth_mb(settled, 20_000, 6000) is None
    assert growth_mb(settled[:90], 9000, 100) is None


# Any Python can start the benchmarks that the documents name.

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
