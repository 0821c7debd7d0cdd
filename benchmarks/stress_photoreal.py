"""Scores of a photoreal set with known truth, as it is and with hardships laid over it, in the words of
``stress_score``; the truth is used for nothing else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.photoreal import Cameras, enrolled_looks
from benchmarks.stress_degrade import Taken, harder, picture_levels
from benchmarks.stress_score import PictureScore, score
from vision.errors import EnrolmentError
from vision.frame import Frame
from vision.frames import load_image
from vision.geometry import CameraModel
from vision.layout import TableLayout, load_layout
from vision.locating import locate
from vision.looks import PieceLooks, look_name
from vision.reader import TableReader
from vision.reading import EMPTY

AS_IT_IS = "photoreal"


@dataclass(frozen=True)
class PhotorealTask:
    """One picture of a set, by its file name; ``hardship`` is ``AS_IT_IS`` or one that is laid over it."""

    file: str
    hardship: str
    level: str
    number: int
    seed: int

    @property
    def name(self) -> str:
        """A file name's worth."""
        return f"{Path(self.file).stem}-{self.hardship}-{self.level}-{self.number:03d}".replace(" ", "-")


class PhotorealSet:
    """A set of pictures with its cameras and the looks of its pieces, learned once.

    Raises EnrolmentError for a set without enrolment pictures.
    """

    def __init__(self, set_dir: Path, calibration: Path) -> None:
        self._folder = set_dir
        self._layout: TableLayout = load_layout(set_dir / "layout.json")
        index: Mapping[str, Any] = json.loads((set_dir / "index.json").read_text(encoding="utf-8"))
        cameras = Cameras(calibration)
        self.files = [path.name for path in sorted(set_dir.glob("[0-9]*.jpg"))]
        self._cameras: Mapping[str, CameraModel] = {name: cameras[index[name]["camera"]] for name in self.files}
        looks = enrolled_looks(set_dir, index, cameras, self._layout)
        if looks is None:
            raise EnrolmentError(f"{set_dir} has no enrolment pictures (enrol*.jpg); a set with them is needed")
        self._looks: PieceLooks = looks

    def tasks(self, harder_pictures: int, seed: int) -> list[PhotorealTask]:
        """Every picture as it is, then so many with a hardship: half one at a time, half many at once."""
        plain = [PhotorealTask(name, AS_IT_IS, "as it is", number, seed) for number, name in enumerate(self.files)]
        levels = picture_levels()
        single = [one for one in levels if one[0] != "everything"]
        together = [one for one in levels if one[0] == "everything"]
        rng = np.random.default_rng([seed, 77])
        order = [single[int(index)] for index in rng.permutation(len(single))]
        files = [self.files[int(index)] for index in rng.permutation(len(self.files))]
        chosen = [
            (order[number // 2 % len(order)] if number % 2 == 0 else together[number // 2 % len(together)])
            for number in range(harder_pictures)
        ]
        return plain + [
            PhotorealTask(files[(number + number // len(files)) % len(files)], *one, number, seed)
            for number, one in enumerate(chosen)
        ]

    def taken(self, task: PhotorealTask) -> tuple[Taken, dict[str, str]]:
        """The picture of a task with what it truly shows, and the look of each place.

        Of a picture with a hand the truth does not tell what the hand hides, so all its places count as covered.
        """
        path = self._folder / task.file
        truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        looks = dict.fromkeys(self._layout.places, EMPTY)
        looks |= {block["cell"]: look_name(block["colour"], block["top"]) for block in truth["blocks"]}
        image, camera = load_image(path), self._cameras[task.file]
        taken = Taken(
            image,
            camera,
            locate(image, camera, self._layout).pose,
            self._layout,
            tuple(place for place, look in looks.items() if look != EMPTY),
            tuple(self._layout.places) if truth["occluded"] else (),
            "over" if truth["occluded"] else "beside",
        )
        if task.hardship != AS_IT_IS:
            rng = np.random.default_rng([task.seed, task.number, *task.file.encode(), *task.level.encode()])
            taken = harder(taken, task.hardship, task.level, rng)
        return taken, looks

    def look_at(self, task: PhotorealTask) -> tuple[PictureScore, Taken, Sequence[str]]:
        """Read a picture by itself; its score, the picture, and what the reading names that is in the way."""
        taken, looks = self.taken(task)
        reader = TableReader(taken.camera, self._layout, self._looks)
        start = time.perf_counter()
        reading = reader.read(Frame(taken.image, 0.0, 0, task.file))
        spent_ms = (time.perf_counter() - start) * 1000
        name = (task.name, task.hardship, task.level, task.number)
        result = score(
            name, reading, looks, covered=taken.covered, hand=taken.hand, thing=taken.thing, spent_ms=spent_ms
        )
        return result, taken, [hindrance.message for hindrance in reading.hindrances]
