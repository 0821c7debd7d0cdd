"""Times each stage of reading a frame by patching the reader; the report as table, plot and targets."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

from vision.locating.tracking import TableTracker
from vision.motion.changes import ChangeDetector
from vision.motion.hands import HandMonitor
from vision.readers import surface_reader as reader_module
from vision.readers.blocks.reader import BlockReader
from vision.readers.dice.reader import DiceReader
from vision.readers.discs.reader import DiscReader
from vision.readers.ink.reader import InkReader
from vision.readers.stacks.reader import StackReader
from vision.readers.table_reader import TableReader
from vision.surface.occlusion import OcclusionDetector
from vision.surface.sheet_occlusion import SheetOcclusionDetector
from vision.surface.view import SurfaceSampler

STAGES: tuple[tuple[str, Any, str], ...] = (
    ("locating", TableTracker, "update"),
    ("changes", ChangeDetector, "changed"),
    ("changes", ChangeDetector, "__init__"),
    ("pieces", BlockReader, "read"),
    ("pieces", DiscReader, "read"),
    ("pieces", StackReader, "read"),
    ("pieces", InkReader, "read"),
    ("dice", DiceReader, "read"),
    ("coverings", OcclusionDetector, "__init__"),
    ("coverings", OcclusionDetector, "detect"),
    ("coverings", SheetOcclusionDetector, "__init__"),
    ("coverings", SheetOcclusionDetector, "detect"),
    ("coverings", SurfaceSampler, "view"),
    ("bent paper", reader_module, "paper_shape"),
    ("bare places", reader_module, "emptiness"),
    ("hands in motion", HandMonitor, "with_hand"),
)
READING = "reading"
"""A whole reading, which includes the stages."""
STAGE_NAMES = (*dict.fromkeys(stage for stage, _, _ in STAGES), "everything else", "verdict")


@dataclass
class Stopwatch:
    """Sums the processor time in seconds of stages and whole readings.

    Stages must not be nested.
    """

    spent_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def timed(self, stage: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that its time is added to a stage."""

        def wrapped(*arguments: Any, **named: Any) -> Any:
            begin_s = time.process_time()
            try:
                return call(*arguments, **named)
            finally:
                self.spent_s[stage] += time.process_time() - begin_s

        return wrapped

    def lap(self) -> dict[str, float]:
        """Give the sums and reset them."""
        spent, self.spent_s = dict(self.spent_s), defaultdict(float)
        return spent

    @contextmanager
    def running(self) -> Iterator[None]:
        """Time every stage of every reader in this context."""
        with ExitStack() as patches:
            for stage, owner, name in (*STAGES, (READING, TableReader, "read")):
                patches.enter_context(patch.object(owner, name, self.timed(stage, getattr(owner, name))))
            yield


KIND_LABELS = {
    "first": "first frame of a table",
    "changed": "something changed",
    "still": "nothing changed",
    "unmarked": "no marker in sight",
}


@dataclass(frozen=True)
class FrameReport:
    """Times in seconds: medians to the Reading by kind of frame, and of all frames after the first (``located_s``);
    the longest without a marker; means by stage; the median of OpenCV's ArUco. Memory in megabytes: at the end, and
    its growth (``None``: run too short).
    """

    frames: int
    counts: Mapping[str, int]
    medians_s: Mapping[str, float]
    longest_unmarked_s: float
    located_s: float
    stages_s: Mapping[str, Mapping[str, float]]
    aruco_s: float
    memory_mb: float
    growth_mb: float | None

    def not_met(self, lines: Mapping[str, float], memory_line_mb: float) -> list[str]:
        """The missed targets as sentences; ``lines`` gives the longest time by kind as a multiple of ArUco's."""
        failed = []
        for kind, line in lines.items():
            times = self.medians_s.get(kind, 0.0) / self.aruco_s
            if times > line:
                failed.append(f"{KIND_LABELS[kind]}: {times:.2f} times as long as ArUco (at most {line:g})")
        if self.growth_mb is not None and self.growth_mb > memory_line_mb:
            failed.append(f"memory grew by {self.growth_mb:.1f} MB (at most {memory_line_mb:g})")
        return failed


def table(report: FrameReport) -> str:
    """The report in Markdown."""
    kinds = list(report.medians_s)
    lines = [
        f"| milliseconds of processor time, one thread | {' | '.join(KIND_LABELS[kind] for kind in kinds)} |",
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
        f"Longest frame without a marker: {report.longest_unmarked_s * 1000:.0f} ms, "
        f"{report.longest_unmarked_s / report.aruco_s:.0f} times as long as ArUco.",
    ]
    grown = "too few frames to say whether it grows" if report.growth_mb is None else f"grew by {report.growth_mb:.1f}"
    lines.append(f"Memory after {report.frames} frames: {report.memory_mb:.0f} MB; {grown}.")
    return "\n".join(lines)


def draw(report: FrameReport, path: Path) -> None:
    """Draw the time by stage for each kind of frame, beside ArUco's; the suffix sets the format."""
    # Takes longer to import than all the rest.
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    axes = figure.add_subplot()
    kinds = list(report.medians_s)[::-1]
    left = [0.0] * len(kinds)
    for stage in STAGE_NAMES:
        widths = [report.stages_s[kind][stage] * 1000 for kind in kinds]
        if not any(widths):
            continue  # this table has no dice, or no paper
        axes.barh([KIND_LABELS[kind] for kind in kinds], widths, left=left, label=stage)
        left = [start + width for start, width in zip(left, widths, strict=True)]
    axes.axvline(report.aruco_s * 1000, color="black", linestyle="--", linewidth=1)
    axes.text(report.aruco_s * 1000, len(kinds) - 0.45, " OpenCV's ArUco, whole frame", va="bottom", fontsize=8)
    axes.set_xlabel("mean milliseconds a frame, one thread")
    axes.legend(fontsize=8, ncols=2)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=130)
