"""What ``benchmarks/frame.py`` measured, as a table, a plot and the lines it has to meet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.frame_timing import STAGE_NAMES

SAID = {"first": "first frame of a table", "changed": "something changed", "still": "nothing changed"}


@dataclass(frozen=True)
class Report:
    """Times in seconds: medians to the Reading per kind of frame, and of all after the first; mean times by stage;
    OpenCV's ArUco beside them. Memory in megabytes: at the end, and by how much it grew (``None``: too short to say).
    """

    frames: int
    counts: Mapping[str, int]
    medians_s: Mapping[str, float]
    located_s: float
    stages_s: Mapping[str, Mapping[str, float]]
    aruco_s: float
    memory_mb: float
    growth_mb: float | None

    def not_met(self, median_line: float, first_line: float, memory_line_mb: float) -> list[str]:
        """The lines that are not met, as sentences."""
        failed = []
        if self.located_s > median_line * self.aruco_s:
            failed.append(
                f"a frame of a located table takes {self.located_s / self.aruco_s:.2f} times as long as ArUco "
                f"({median_line:g} is the line)"
            )
        first_s = self.medians_s.get("first", 0.0)
        if first_s > first_line * self.aruco_s:
            times = first_s / self.aruco_s
            failed.append(f"the first frame takes {times:.1f} times as long as ArUco ({first_line:g} is the line)")
        if self.growth_mb is not None and self.growth_mb > memory_line_mb:
            failed.append(f"memory grew by {self.growth_mb:.1f} MB ({memory_line_mb:g} is the line)")
        return failed


def table(report: Report) -> str:
    """The report in Markdown."""
    kinds = list(report.medians_s)
    lines = [
        f"| milliseconds, one thread | {' | '.join(SAID[kind] for kind in kinds)} |",
        f"|---|{'---|' * len(kinds)}",
        f"| frames | {' | '.join(str(report.counts[kind]) for kind in kinds)} |",
    ]
    for stage in STAGE_NAMES:
        times = " | ".join(f"{report.stages_s[kind][stage] * 1000:.2f}" for kind in kinds)
        lines.append(f"| {stage} (mean) | {times} |")
    medians = " | ".join(f"{report.medians_s[kind] * 1000:.2f}" for kind in kinds)
    ratios = " | ".join(f"{report.medians_s[kind] / report.aruco_s:.2f}" for kind in kinds)
    lines += [
        f"| **frame to Reading (median)** | {medians} |",
        f"| **beside ArUco, {report.aruco_s * 1000:.2f} ms** | {ratios} |",
        "",
        f"All frames of a located table: median {report.located_s * 1000:.2f} ms, "
        f"{report.located_s / report.aruco_s:.2f} of ArUco's.",
    ]
    grown = "too few frames to say whether it grows" if report.growth_mb is None else f"grew by {report.growth_mb:.1f}"
    lines.append(f"Memory after {report.frames} frames: {report.memory_mb:.0f} MB; {grown}.")
    return "\n".join(lines)


def draw(report: Report, path: Path) -> None:
    """Draw the time by stage for each kind of frame, beside ArUco's; the suffix says in which format."""
    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.add_subplot()
    kinds = list(report.medians_s)[::-1]
    left = [0.0] * len(kinds)
    for stage in STAGE_NAMES:
        widths = [report.stages_s[kind][stage] * 1000 for kind in kinds]
        axes.barh([SAID[kind] for kind in kinds], widths, left=left, label=stage)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.axvline(report.aruco_s * 1000, color="black", linestyle="--", linewidth=1)
    axes.text(report.aruco_s * 1000, len(kinds) - 0.45, " OpenCV's ArUco, whole frame", va="bottom", fontsize=8)
    axes.set_xlabel("mean milliseconds a frame, one thread")
    axes.legend(fontsize=8, ncols=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
