"""Reads a set's pictures as frames, with a system call before and after each as a mark for an instruction counter.

Run inside an emulated system: python -m benchmarks.machine.arm64.frames SET_DIR CALIBRATION FRAMES
"""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from app.runtime.builder import open_session
from benchmarks.parts.picture_films import FilmMoment, PictureSet, Projector, load_set
from benchmarks.parts.picture_sets import picture_settings
from engine.registry import load
from journal.journal import Journal
from referee.session.service import Service
from vision.readers.registry import table_reader

HELD_FRAMES = 3
"""Each picture is shown once as the first or a changed one, and twice unchanged."""


def costs(pictures: PictureSet, frames: int, meter: Callable[[], float]) -> Iterator[tuple[str, float]]:
    """Give each frame's kind, and the increase of the meter until its verdict."""
    cv2.setNumThreads(1)
    projector = Projector(pictures, HELD_FRAMES, np.random.default_rng(1))
    with ExitStack() as opened:
        for moment in islice(projector.film(), frames):
            if moment.kind == "first":
                opened.close()
                session = _session(pictures, moment, opened)
            before = meter()
            session.step(moment.frame)
            yield moment.kind, meter() - before


def _session(pictures: PictureSet, moment: FilmMoment, opened: ExitStack) -> Service[Any, Any]:
    shot, layout = pictures.shots[moment.shot], pictures.layout
    journal = opened.enter_context(Journal.in_memory(wall_clock=lambda: datetime.now(UTC)))
    reader = table_reader(shot.camera, layout, shot.looks)
    return opened.enter_context(open_session(load(layout.game), reader, journal, picture_settings(layout.game)))


def main() -> None:
    """Print each frame's kind after its two marks."""
    set_dir, calibration, frames = sys.argv[1:]
    pictures = load_set(Path(set_dir), Path(calibration))
    for kind, _ in costs(pictures, int(frames), os.getppid):
        print("frame", kind, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
