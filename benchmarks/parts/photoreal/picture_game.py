"""What the program that answers a set of pictures asks of each game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vision.frame import Image
from vision.geometry import CameraModel
from vision.layout.table import TableLayout
from vision.readers.protocols import Appearance
from vision.reading import Reading


@dataclass(frozen=True, eq=False)
class TeachingPicture:
    """A picture to learn from, the camera that took it, and what is said of it, as parsed JSON.

    ``set_name`` is the piece set that the index names for it, empty where it names none.
    """

    image: Image
    camera: CameraModel
    said: Mapping[str, Any]
    name: str
    set_name: str


@dataclass(frozen=True)
class PictureGame:
    """``learn`` gives a piece set's appearance from its pictures; ``answer`` what is seen, as the scorer wants it.

    ``learn`` is ``None`` for pieces that need no teaching.
    """

    learn: Callable[[Sequence[TeachingPicture], TableLayout], Appearance] | None
    answer: Callable[[Reading, TableLayout], dict[str, Any]]
