"""Scores of a photoreal set with known truth, in the words of ``stress_score``; the truth is used for nothing else."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.photoreal import Cameras, enrolled_looks
from benchmarks.stress_score import PictureScore, score
from vision.errors import EnrolmentError
from vision.frame import Frame
from vision.frames import load_image
from vision.layout import load_layout
from vision.looks import look_name
from vision.reader import TableReader
from vision.reading import EMPTY


def photoreal_scores(set_dir: Path, calibration: Path) -> Iterator[PictureScore]:
    """Read every picture of a set by itself and compare it with its truth file.

    Of a picture with a hand the truth does not tell what the hand hides, so all its places count as covered. Raises
    EnrolmentError for a set without enrolment pictures.
    """
    layout = load_layout(set_dir / "layout.json")
    index = json.loads((set_dir / "index.json").read_text(encoding="utf-8"))
    cameras = Cameras(calibration)
    looks = enrolled_looks(set_dir, index, cameras, layout)
    if looks is None:
        raise EnrolmentError(f"{set_dir} has no enrolment pictures (enrol*.jpg); a set with them is needed")
    for number, path in enumerate(sorted(set_dir.glob("[0-9]*.jpg"))):
        reader = TableReader(cameras[index[path.name]["camera"]], layout, looks)
        frame = Frame(load_image(path), 0.0, 0, path.name)
        start = time.perf_counter()
        reading = reader.read(frame)
        spent_ms = (time.perf_counter() - start) * 1000
        truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        known = dict.fromkeys(layout.places, EMPTY)
        known |= {block["cell"]: look_name(block["colour"], block["top"]) for block in truth["blocks"]}
        hand = "over" if truth["occluded"] else "beside"
        covered = layout.places if truth["occluded"] else ()
        name = (path.stem, "photoreal", str(truth.get("light", "any light")), number)
        yield score(name, reading, known, covered=tuple(covered), hand=hand, spent_ms=spent_ms)
