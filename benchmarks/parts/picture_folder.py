"""A folder of pictures with known truth, opened: its layout, its cameras, and the looks of its pieces.

The folder holds ``layout.json``, ``index.json`` (file name to camera), pictures ``000.jpg``, ``001.jpg``, ... and, for
enrolment, ``enrol*.jpg`` with ``enrol*.json``. The cameras' folder has one folder of ChArUco pictures a camera and, in
``layout.json``, the board. Truth files are left closed but for those of enrolment pictures.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from benchmarks.parts.photoreal.picture_game import PictureGame, TeachingPicture
from benchmarks.parts.photoreal.registry import PICTURE_GAMES
from engine.registry import load
from referee.session.settings import ServiceSettings
from vision.calibration import calibrate
from vision.errors import LayoutError
from vision.frame import Image
from vision.geometry import CameraModel
from vision.images import load_image
from vision.layout.table import load_layout
from vision.readers.protocols import Appearance


def picture_settings(game: str) -> ServiceSettings:
    """Each picture is a table at rest at the end of a turn; the pieces may begin anywhere, and, where that may be left
    open, either player.
    """
    open_start = any(option.name == "starts" for option in load(game).options)
    return ServiceSettings(options={"starts": "either"} if open_start else {}, anywhere=True, stills=True)


_PICTURE = re.compile(r"\d+\.(jpg|jpeg|png)")


class PictureFolder:
    """A folder of pictures; cameras are calibrated once each, when they are first asked for.

    Raises OSError, ValueError and LayoutError for a folder without the files it needs.
    """

    def __init__(self, folder: Path, calibration: Path) -> None:
        self.folder = folder
        self.layout = load_layout(folder / "layout.json")
        self._index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
        self._calibration = calibration
        board = json.loads((calibration / "layout.json").read_text(encoding="utf-8"))
        columns, rows = board["squares"]
        self._board = f"charuco:{columns}x{rows}:{board['square_mm']}:{board['marker_mm']}:{board['dictionary']}"
        self._calibrated = cache(self._calibrate)
        self._learned = cache(self._learn)

    @property
    def game(self) -> PictureGame:
        """What is particular to the game; raises LayoutError for a game that no part of the benchmark knows."""
        known = PICTURE_GAMES.get(self.layout.game)
        if known is None:
            there = ", ".join(PICTURE_GAMES)
            raise LayoutError(f"sets of {self.layout.game!r} can't be answered; there is a part for {there}")
        return known

    @property
    def pictures(self) -> list[Path]:
        """The numbered pictures, in order."""
        return sorted(path for path in self.folder.iterdir() if _PICTURE.fullmatch(path.name))

    def load(self, path: Path) -> tuple[Image, CameraModel]:
        """A picture and the camera that took it; raises what ``load_image`` and ``calibrate`` raise."""
        return load_image(path), self.camera_of(path.name)

    def camera_of(self, name: str) -> CameraModel:
        """The camera of a picture, by file name; raises KeyError for a picture that the index does not list."""
        return self._calibrated(self._index[name]["camera"])

    def _calibrate(self, camera: str) -> CameraModel:
        views = [load_image(path) for path in sorted((self._calibration / camera).glob("*.jpg"))]
        return calibrate(views, self._board, name=camera).camera

    def looks_of(self, name: str) -> Appearance | None:
        """The piece set in a picture, learned from its enrolment pictures; ``None`` when it has none.

        Raises what the game's ``learn`` raises.
        """
        return self._learned(self._set_of(name))

    def _set_of(self, name: str) -> str:
        return str(self._index[name].get("set", ""))

    def _learn(self, set_name: str) -> Appearance | None:
        pictures = []
        for path in sorted(self.folder.glob("enrol*.jpg")):
            if self.game.learn is not None and self._set_of(path.name) == set_name:
                image, camera = self.load(path)
                said = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
                pictures.append(TeachingPicture(image, camera, said, path.name, set_name))
        return self.game.learn(pictures, self.layout) if pictures and self.game.learn is not None else None
