"""The benchmark of frames times the stages, and names missed targets."""

import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks.frame import growth_mb, resident_mb
from benchmarks.parts.frame_times import STAGE_NAMES, FrameReport, Stopwatch, draw
from vision.motion.changes import ChangeDetector


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


def test_nothing_is_timed_after_the_stopwatch_ends() -> None:
    watch, before = Stopwatch(), ChangeDetector.changed
    with watch.running():
        assert ChangeDetector.changed is not before
    assert ChangeDetector.changed is before


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


@pytest.mark.parametrize("page_bytes", [4096, 16384])
def test_memory_does_not_depend_on_the_size_of_a_page(page_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # a page of 16 kB is usual on a Raspberry Pi 5
    files = {
        "/proc/self/statm": f"9999 {204_800_000 // page_bytes} 99 1 0 99 0\n",
        "/proc/self/status": "Name:\tpython\nVmHWM:\t  999999 kB\nVmRSS:\t  200000 kB\n",
    }
    monkeypatch.setattr(Path, "read_text", lambda path, encoding: files[str(path)])
    assert resident_mb() == pytest.approx(204.8)


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
