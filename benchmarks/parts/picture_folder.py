"""A folder of pictures with known truth, opened: its layout, its cameras, and the looks of its pieces.

The folder holds ``layout.json``, ``index.json`` (file name to camera), pictures ``000.jpg``, ``001.jpg``, ... and, for
enrolment, ``enrol*.jpg`` with ``enrol*.json``. The cameras' folder has one folder of ChArUco pictures a camera and, in
``layout.json``, the board. Truth files are left closed but for those of enrolment pictures.
"""

from __future__ import annotations

import json
import re
from functools import cache, cached_property
from pathlib import Path

from referee.session.settings import ServiceSettings
from vision.calibration import calibrate
from vision.frame import Image
from vision.geometry import CameraModel
from vision.images import load_image
from vision.layout.table import load_layout
from vision.locating.location import locate
from vision.readers.blocks.appearance import BlockAppearance
from vision.readers.blocks.enrolment import EnrolmentPicture, enrol

SETTINGS = ServiceSettings(options={"starts": "either"}, anywhere=True, stills=True)
"""Each picture is a table at rest at the end of a turn; the pieces may begin anywhere, and either player."""

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

    @cached_property
    def looks(self) -> BlockAppearance | None:
        """The piece set, learned from the enrolment pictures; ``None`` when there are none."""
        pictures = []
        for path in sorted(self.folder.glob("enrol*.jpg")):
            image, camera = self.load(path)
            truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
            position = {block["cell"]: (block["colour"], block["top"]) for block in truth["blocks"]}
            pose = locate(image, camera, self.layout).pose
            pictures.append(EnrolmentPicture(image, camera, pose, position, path.name))
        return enrol(pictures, self.layout.board) if pictures else None
