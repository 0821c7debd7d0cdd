"""Photoreal pictures with known truth, unchanged and with hardships."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.parts.picture_changes import LabelledPicture, harder, picture_levels
from benchmarks.parts.picture_sets import PICTURE_GAMES, PictureFolder
from benchmarks.parts.stress.score import PictureScore, score
from common.places import EMPTY
from vision.errors import EnrolmentError
from vision.frame import Frame
from vision.images import load_image
from vision.locating.location import locate
from vision.readers.registry import table_reader

AS_IT_IS = "photoreal"


@dataclass(frozen=True)
class PhotorealTask:
    """One picture of a set, by its file name; ``hardship`` is ``AS_IT_IS`` or one to apply."""

    file: str
    hardship: str
    level: str
    number: int
    seed: int

    @property
    def name(self) -> str:
        """The task as part of a file name."""
        return f"{Path(self.file).stem}-{self.hardship}-{self.level}-{self.number:03d}".replace(" ", "-")


class PhotorealSet:
    """A set of pictures with its cameras, and its piece sets learned once.

    Raises EnrolmentError for a set without enrolment pictures.
    """

    def __init__(self, set_dir: Path, calibration: Path) -> None:
        folder = PictureFolder(set_dir, calibration)
        self._folder = set_dir
        self._layout = folder.layout
        self.files = [path.name for path in folder.pictures]
        self._cameras = {name: folder.camera_of(name) for name in self.files}
        self._looks = {name: looks for name in self.files if (looks := folder.looks_of(name)) is not None}
        if folder.game.learn is not None and len(self._looks) < len(self.files):
            raise EnrolmentError(f"{set_dir} has no enrolment pictures (enrol*.jpg); a set with them is needed")

    def tasks(self, harder_pictures: int, seed: int, names: Sequence[str] = ()) -> list[PhotorealTask]:
        """Every picture unchanged, then ``harder_pictures``: half with one of the named hardships, half with many.

        Without names any may be drawn; with them, many at once only if ``everything`` is among them.
        """
        plain = [PhotorealTask(name, AS_IT_IS, "as it is", number, seed) for number, name in enumerate(self.files)]
        levels = [one for one in picture_levels() if not names or one[0] in names]
        single = [one for one in levels if one[0] != "everything"]
        together = [one for one in levels if one[0] == "everything"]
        rng = np.random.default_rng([seed, 77])
        order = [single[int(index)] for index in rng.permutation(len(single))]
        files = [self.files[int(index)] for index in rng.permutation(len(self.files))]
        kinds = [kind for kind in (order, together) if kind]
        chosen = [
            kind[number // len(kinds) % len(kind)]
            for number in range(harder_pictures if kinds else 0)
            for kind in (kinds[number % len(kinds)],)
        ]
        return plain + [
            PhotorealTask(files[(number + number // len(files)) % len(files)], *one, number, seed)
            for number, one in enumerate(chosen)
        ]

    def picture(self, task: PhotorealTask) -> tuple[LabelledPicture, dict[str, str]]:
        """The picture of a task, and the true look of each place.

        The truth doesn't say what a hand hides, so all places of a picture with a hand count as covered.
        """
        path = self._folder / task.file
        truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        looks = dict.fromkeys(self._layout.places, EMPTY)
        looks |= PICTURE_GAMES[self._layout.game].looks(truth, self._layout)
        image, camera = load_image(path), self._cameras[task.file]
        pose, is_covered = locate(image, camera, self._layout).pose, truth.get("occluded", False)
        picture = LabelledPicture(
            image,
            lambda: (camera, pose),
            self._layout,
            tuple(place for place, look in looks.items() if look != EMPTY),
            tuple(self._layout.places) if is_covered else (),
            "over" if is_covered else "beside",
        )
        if task.hardship != AS_IT_IS:
            rng = np.random.default_rng([task.seed, task.number, *task.file.encode(), *task.level.encode()])
            picture = harder(picture, task.hardship, task.level, rng)
        return picture, looks

    def look_at(self, task: PhotorealTask) -> tuple[PictureScore, LabelledPicture, Sequence[str]]:
        """Read a picture; give its score, the picture, and the hindrances named by the reading."""
        picture, looks = self.picture(task)
        reader = table_reader(picture.camera, self._layout, self._looks.get(task.file))
        reading = reader.read(Frame(picture.image, 0.0, 0, task.file))
        name = (task.name, task.hardship, task.level, task.number)
        result = score(name, reading, looks, covered=picture.covered, hand=picture.hand, thing=picture.thing)
        return result, picture, [hindrance.message for hindrance in reading.hindrances]
