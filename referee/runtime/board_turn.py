"""Which side of a board without markers is the first player's: the one from which it shows what should stand there.

A board's lines look the same from all sides. What is expected is the set-up, or in a game that goes on what is believed
to stand there. Where that decides nothing, the side nearest to the picture's lower edge is taken.
"""

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
"""By how much more of the pieces expected a side must show than the one nearest to the lower edge, as a share of 1."""


def likeliest_turn(
    frame: Frame,
    camera: CameraModel,
    layout: TableLayout,
    looks_at: Callable[[SurfaceView], Appearance],
    expected: Mapping[str, str],
) -> tuple[Pose, Appearance]:
    """Give the pose from which a picture shows what is expected, place by place, and what the pieces look like.

    ``looks_at`` teaches or knows the pieces. Of a table with markers the pose is their own. Raises NotLocatedError, and
    EnrolmentError where ``looks_at`` does from every side.
    """
    located = locate(frame.image, camera, layout)
    found: list[tuple[float, Pose, Appearance]] = []
    refused: list[EnrolmentError] = []
    for pose in (located.pose, *located.turned):
        view = SurfaceView(frame.image, camera, pose, layout.board, frame.time_s, layout.markers)
        try:
            looks = looks_at(view)
        except EnrolmentError as error:
            refused.append(error)
            continue
        shown = 0.0
        if located.turned:
            shown = _share_shown(table_reader(camera, layout, looks, pose).read(frame), expected)
        if not found or shown > found[0][0] + CLEARLY_BETTER:
            found.insert(0, (shown, pose, looks))
    if not found:
        raise refused[0]
    return found[0][1:]


def _share_shown(reading: Reading, expected: Mapping[str, str]) -> float:
    """The mean probability of the pieces expected on places in sight, 0 where there are none."""
    seen = [
        reading.places[place].probabilities.get(look, 0.0)
        for place, look in expected.items()
        if look != EMPTY and place in reading.places and reading.places[place].hidden_by is None
    ]
    return sum(seen) / max(1, len(seen))
