"""Time from a frame to its verdict, compared with OpenCV's marker detection, and whether memory grows.

Run: python benchmarks/frame.py --set SET_DIR --calibration DIR [--frames N] [--seed S] [--plot FILE]
     python benchmarks/frame.py --sheets 4 [--of blokus-dice]    a virtual table with sheets, one cell written at a time

The set's pictures become a film: each is shown for a second, every frame with fresh noise. All times are processor
times of one thread. OpenCV detects markers in the same frames with its default parameters. Exit code 1 when memory
grows, or when the median time of a kind of frame exceeds OpenCV's by more than this factor: the first frame of a table
4 (6 for written sheets), a frame with a change 2, a frame without one 0.7, a frame whose markers are all covered 3.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.parts.environment import enter_environment

enter_environment(__name__)

import time
from array import array
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime

import click
import cv2
import numpy as np
from rich.progress import Progress

from app.runtime.builder import open_session
from benchmarks.parts.command_line import PROGRESS
from benchmarks.parts.frame_times import READING, STAGE_NAMES, FrameReport, Stopwatch, draw, table
from benchmarks.parts.picture_films import FilmMoment, PictureSet, Projector, load_set
from benchmarks.parts.picture_sets import picture_settings
from benchmarks.parts.sheet_films import sheet_film
from engine.registry import load
from journal.journal import Journal
from vision.errors import VisionError
from vision.layout.pieces import Ink
from vision.opencv import aruco_dictionary
from vision.readers.registry import table_reader

HELD_FRAMES = 15
ARUCO_EVERY = 5
UNMARKED_FRAMES = 60
LINES = {"first": 4.0, "changed": 2.0, "still": 0.7, "unmarked": 3.0}
"""Longest median time by kind of frame, as a multiple of OpenCV's ArUco."""
FIRST_OF_SHEETS = 6.0
SHEETS_SIZE = (1280, 720)
MEMORY_LINE_MB = 4.0
WARM_UP_SHARE, FEWEST_SHOWINGS, FEWEST_FRAMES = 0.1, 4, 10_000
SAMPLED_EVERY = 100


def resident_mb() -> float:
    """The memory this process holds now, in megabytes."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmRSS:")[2].split()[0]) * 1024 / 1e6


def _numbers() -> defaultdict[str, array[float]]:
    return defaultdict(lambda: array("d"))


@dataclass
class Measures:
    """Times in seconds by kind of frame: to a Reading, summed by stage, and of ArUco; memory by frame number.

    Arrays keep it small, since memory is measured too.
    """

    reading_s: dict[str, array[float]] = field(default_factory=_numbers)
    aruco_s: dict[str, array[float]] = field(default_factory=_numbers)
    stages_s: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(float)))
    memory_mb: list[tuple[int, float]] = field(default_factory=list)

    def add(self, kind: str, reading_s: float, stages_s: Mapping[str, float]) -> None:
        """Add one frame."""
        self.reading_s[kind].append(reading_s)
        for stage, spent_s in stages_s.items():
            self.stages_s[kind][stage] += spent_s


class FilmSession:
    """Runs the service on a film, with a new reader for each shot."""

    def __init__(self, pictures: PictureSet, watch: Stopwatch) -> None:
        self._set = pictures
        self._watch = watch
        self._opened = ExitStack()

    def begin(self, shot: int) -> None:
        """Start a shot with a new reader and a new game."""
        self.close()
        shown, layout = self._set.shots[shot], self._set.layout
        reader = table_reader(shown.camera, layout, shown.looks)
        journal = self._opened.enter_context(Journal.in_memory(wall_clock=lambda: datetime.now(UTC)))
        self._service = self._opened.enter_context(
            open_session(load(layout.game), reader, journal, picture_settings(layout.game))
        )
        self._watch.lap()

    def take(self, moment: FilmMoment) -> tuple[float, dict[str, float]]:
        """Judge a frame; give the time to its Reading, and of each stage up to the verdict, in seconds."""
        if moment.kind == "first":
            self.begin(moment.shot)
        begin_s = time.process_time()
        self._service.step(moment.frame)
        whole_s = time.process_time() - begin_s
        stages = self._watch.lap()
        reading_s = stages.pop(READING)
        stages["everything else"] = max(0.0, reading_s - sum(stages.values()))
        stages["verdict"] = max(0.0, whole_s - reading_s)
        return reading_s, stages

    def close(self) -> None:
        """Close the journal."""
        self._opened.close()


def measure(pictures: PictureSet, frames: int, seed: int, progress: Progress) -> Measures:
    """Repeat the film until enough frames are read."""
    rng = np.random.default_rng(seed)
    projector = Projector(pictures, HELD_FRAMES, rng)
    detector = cv2.aruco.ArucoDetector(
        aruco_dictionary(pictures.layout.markers.dictionary), cv2.aruco.DetectorParameters()
    )
    measures, watch = Measures(), Stopwatch()
    task = progress.add_task("Watching", total=frames)
    done = 0
    session = FilmSession(pictures, watch)
    with watch.running():
        while True:
            for moment in projector.film(done):
                compared = moment.kind != "still" or done % ARUCO_EVERY == 0
                if compared:
                    begin_s = time.process_time()
                    detector.detectMarkers(moment.frame.image)
                    measures.aruco_s[moment.kind].append(time.process_time() - begin_s)
                reading_s, stages = session.take(moment)
                if done >= HELD_FRAMES:  # the first frames include one-time initialisation
                    measures.add(moment.kind, reading_s, stages)
                if done % SAMPLED_EVERY == 0:
                    measures.memory_mb.append((done, resident_mb()))
                done += 1
                progress.advance(task)
                if done >= frames:
                    _watch_unmarked(session, projector, measures)
                    session.close()
                    return measures


def _watch_unmarked(session: FilmSession, projector: Projector, measures: Measures) -> None:
    """Add frames of a table that is never found, because its markers are covered."""
    session.begin(0)
    for moment in projector.unmarked(UNMARKED_FRAMES):
        measures.add(moment.kind, *session.take(moment))


def growth_mb(memory_mb: list[tuple[int, float]], frames: int, film: int) -> float | None:
    """Growth of memory from the first fifth after the warm-up to the last fifth; ``None`` for short runs.

    The warm-up lasts one showing of the ``film`` of so many frames, at least a tenth of all frames. Within a few
    minutes, an allocator's fluctuations exceed a slow leak.
    """
    warm = max(film, int(WARM_UP_SHARE * frames))
    settled = [megabytes for number, megabytes in memory_mb if number >= warm]
    if frames < max(FEWEST_FRAMES, FEWEST_SHOWINGS * film):
        return None
    fifth = len(settled) // 5
    return float(np.median(settled[-fifth:]) - np.median(settled[:fifth]))


def report_of(measures: Measures, frames: int, film: int) -> FrameReport:
    """Summarise the measurements."""
    kinds = [kind for kind in ("first", "changed", "still", "unmarked") if measures.reading_s[kind]]
    after = [time_s for kind in ("changed", "still") for time_s in measures.reading_s[kind]]
    stages = {
        kind: {stage: measures.stages_s[kind].get(stage, 0.0) / len(measures.reading_s[kind]) for stage in STAGE_NAMES}
        for kind in kinds
    }
    aruco_s = float(np.median([time_s for times in measures.aruco_s.values() for time_s in times]))
    medians = {kind: float(np.median(measures.reading_s[kind])) for kind in kinds}
    return FrameReport(
        frames,
        {kind: len(measures.reading_s[kind]) for kind in kinds},
        medians,
        max(measures.reading_s["unmarked"]),
        float(np.median(after)) if after else float("nan"),
        stages,
        aruco_s,
        resident_mb(),
        growth_mb(measures.memory_mb, frames, film),
    )


@click.command()
@click.option("--set", "set_dir", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--calibration", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--sheets", type=click.IntRange(1), help="Instead of a set: a virtual table with N sheets.")
@click.option("--of", "game", default="number-drop", show_default=True, help="With --sheets: the game.")
@click.option("--frames", default=3000, show_default=True, type=click.IntRange(min=2 * HELD_FRAMES))
@click.option("--seed", default=1, show_default=True, type=click.IntRange(min=0), help="Seed of the noise.")
@click.option("--plot", type=click.Path(dir_okay=False, path_type=Path), help="Draw the time by stage here.")
def main(
    set_dir: Path | None,
    calibration: Path | None,
    sheets: int | None,
    game: str,
    frames: int,
    seed: int,
    plot: Path | None,
) -> None:
    """Measure the times from frame to Reading and Verdict."""
    cv2.setNumThreads(1)
    try:
        if sheets is not None:
            pictures = sheet_film(game, sheets, SHEETS_SIZE, seed)
        elif set_dir is not None and calibration is not None:
            pictures = load_set(set_dir, calibration)
        else:
            raise click.UsageError("give --set and --calibration, or --sheets")
    except (OSError, VisionError) as error:
        raise click.ClickException(str(error)) from error
    with Progress(console=PROGRESS) as progress:
        measures = measure(pictures, frames, seed, progress)
    report = report_of(measures, frames, pictures.film_frames(HELD_FRAMES))
    click.echo(table(report))
    if plot is not None:
        draw(report, plot)
    is_sheet = isinstance(pictures.layout.surfaces[0].pieces, Ink)
    failed = report.not_met(LINES | ({"first": FIRST_OF_SHEETS} if is_sheet else {}), MEMORY_LINE_MB)
    for line in failed:
        click.echo(f"NOT MET: {line}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
