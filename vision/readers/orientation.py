"""From which side a board without markers is seen: the one from which it shows the expected pieces."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from common.places import EMPTY
from vision.errors import EnrolmentError
from vision.frame import Frame
from vision.geometry import CameraModel, Pose
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.protocols import Appearance, SurfaceView
from vision.readers.registry import table_reader
from vision.reading import Reading

CLEARLY_BETTER = 0.25
"""The share of expected pieces by which a side must beat the one nearest to the picture's lower edge."""


def likeliest_orientation(
    frame: Frame,
    camera: CameraModel,
    layout: TableLayout,
    looks_at: Callable[[SurfaceView], Appearance],
    expected: Mapping[str, str],
) -> tuple[Pose, Appearance]:
    """Return the pose in which a picture shows the ``expected`` looks, place by place, and the pieces' looks.

    A board's lines look the same from all sides. If the expected pieces don't decide, the side nearest to the
    picture's lower edge is taken.

    ``looks_at`` learns or returns the pieces' looks. For a table with markers, they determine the pose. Raises
    NotLocatedError, and EnrolmentError if ``looks_at`` raises it for every side.
    """
    located = locate(frame.image, camera, layout)
    best: tuple[float, Pose, Appearance] | None = None
    refused: list[EnrolmentError] = []
    for pose in (located.pose, *located.symmetric_poses):
        view = SurfaceView(frame.image, camera, pose, layout.board, frame.time_s, layout.markers)
        try:
            looks = looks_at(view)
        except EnrolmentError as error:
            refused.append(error)
            continue
        shown = 0.0
        if located.symmetric_poses:
            shown = _share_shown(table_reader(camera, layout, looks, pose).read(frame), expected)
        if best is None or shown > best[0] + CLEARLY_BETTER:
            best = shown, pose, looks
    if best is None:
        raise refused[0]
    return best[1:]


def _share_shown(reading: Reading, expected: Mapping[str, str]) -> float:
    """Return the mean probability of the expected pieces on visible places, 0 where there are none."""
    seen = [
        reading.places[place].probabilities.get(look, 0.0)
        for place, look in expected.items()
        if look != EMPTY and place in reading.places and reading.places[place].hidden_by is None
    ]
    return sum(seen) / max(1, len(seen))
