"""Readers around a table reader: one skips frames that need no reading, one learns the colours from the set-up.

A full reading costs far more than checking whether anything moved. So frames with movement are skipped, a picture that
has come to rest is read a few times, and then its reading is reused until the picture changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import cv2
import numpy as np

from common.places import EMPTY
from referee.session.ports import Reader
from vision.errors import EnrolmentError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.protocols import Appearance, SurfaceView
from vision.readers.registry import reader_kind, table_reader
from vision.reading import Hindrance, HindranceKind, Reading

SMALL_WIDTH_PX = 160
NOISE_SIGMAS = 5.0
MAD_TO_SIGMA = 1.4826


@dataclass(frozen=True)
class AttentionSettings:
    """When a picture counts as changed, and how often a still one is read.

    A pixel of the shrunk picture has changed when it differs by more than ``grey_levels`` (of 255) and by more than
    noise explains, after the two pictures were made equally bright; the picture has when at least ``pixels`` have.
    ``reads`` readings are taken
    of a picture at rest, then one every ``refresh_s`` seconds, or ``hindered_refresh_s`` where something is in the way.
    """

    grey_levels: float = 6.0
    pixels: int = 3
    reads: int = 2
    refresh_s: float = 3.0
    hindered_refresh_s: float = 0.2


class AttentiveReader:
    """Wraps a reader so that it is asked only when there is something new to see.

    Frames must come in order. A frame with movement gives a Reading without places and a hindrance of kind ``hand``;
    one like the last frame read gives that reading again, with its own time and number.
    """

    def __init__(self, reader: Reader, settings: AttentionSettings | None = None) -> None:
        self._reader = reader
        self._settings = settings or AttentionSettings()
        self._previous: FloatArray | None = None
        self._read: FloatArray | None = None
        self._reading: Reading | None = None
        self._reads = 0
        self._read_at_s = 0.0
        self.whole_readings = 0
        """How many frames were read fully."""

    def read(self, frame: Frame) -> Reading:
        """Read a frame as cheaply as possible; raises what the reader raises."""
        small = _shrunk(frame.image)
        moving = self._previous is not None and self._differs(self._previous, small)
        self._previous = small
        if moving:
            self._reading = None
            why = Hindrance(HindranceKind.HAND, "Something is moving over the table.")
            return Reading(frame.sequence, frame.time_s, {}, (why,))
        known = self._reading
        if known is None or self._read is None or self._differs(self._read, small):
            self._reads = 0
        elif self._reads >= self._settings.reads and frame.time_s - self._read_at_s < self._stands_s(known):
            return replace(known, sequence=frame.sequence, time_s=frame.time_s)
        self._reading = self._reader.read(frame)
        self._read, self._read_at_s = small, frame.time_s
        self._reads += 1
        self.whole_readings += 1
        return self._reading

    def _stands_s(self, known: Reading) -> float:
        """How long, in seconds, the reading of a still picture is reused; shorter where something was in the way."""
        return self._settings.hindered_refresh_s if known.hindrances else self._settings.refresh_s

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises what the reader raises."""
        return self._reader.crop(frame, place)

    def _differs(self, before: FloatArray, now: FloatArray) -> bool:
        if before.shape != now.shape:
            return True
        # A lamp or automatic exposure changes everything alike, which is not movement.
        gain = float(np.median(now)) / max(1.0, float(np.median(before)))
        difference = np.abs(now - before * gain)
        # Most of the picture stands still, so the median of the differences is the camera's noise.
        noise = MAD_TO_SIGMA * float(np.median(difference))
        changed = difference > max(self._settings.grey_levels, NOISE_SIGMAS * noise)
        return int(np.count_nonzero(changed)) >= self._settings.pixels


def _shrunk(image: Image) -> FloatArray:
    if image.size == 0:
        return np.zeros((1, 1), dtype=np.float64)
    height = max(1, round(image.shape[0] * SMALL_WIDTH_PX / image.shape[1]))
    small = cv2.resize(image, (SMALL_WIDTH_PX, height), interpolation=cv2.INTER_AREA)
    grey = small if small.ndim == 2 else cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.blur(np.asarray(grey, dtype=np.float32), (3, 3)), dtype=np.float64)


class LearningReader:
    """Reads frames like ``TableReader`` once a clear frame has taught it what is missing.

    It learns the pieces' colours where ``known`` does not give them, and for a board without markers the first player's
    side: the one from which the board shows what is ``expected``, place by place. ``colour_names`` go from the first
    player, nearest to the camera's lower edge in the layout's terms, to the last. What is learned stays until
    ``forget``, for a set-up that turned out not to be one. ``keep`` saves it before anything is read with it, so that
    no set-up is accepted with colours that a power cut could lose.
    """

    def __init__(
        self,
        camera: CameraModel,
        layout: TableLayout,
        colour_names: tuple[str, ...],
        keep: Callable[[Appearance], None] | None = None,
        *,
        known: Appearance | None = None,
        expected: Mapping[str, str] | None = None,
    ) -> None:
        self._camera = camera
        self._layout = layout
        self._names = colour_names
        self._kind = reader_kind(layout)
        self._known = known
        self._expected = expected or {}
        self._plain: Appearance = self._kind.plain(layout.board) if known is None else known
        self._reader = table_reader(camera, layout, self._plain)
        self._learned: Appearance | None = None
        self._pose: Pose | None = None
        self._keep = keep

    @property
    def looks(self) -> Appearance | None:
        """What was learned, ``None`` before."""
        return self._learned

    @property
    def pose(self) -> Pose | None:
        """The pose from which it was learned, ``None`` before."""
        return self._pose

    def read(self, frame: Frame) -> Reading:
        """Read one frame; a Reading without places that says why while the colours can't be learned."""
        reading = self._reader.read(frame)
        if (
            self._learned is not None
            or not reading.places
            or any(one.kind == HindranceKind.HAND for one in reading.hindrances)
        ):
            return reading
        try:
            pose, looks = likeliest_turn(frame, self._camera, self._layout, self._looks_at, self._expected)
        except (EnrolmentError, NotLocatedError) as error:
            why = Hindrance(HindranceKind.BAD_FRAME, f"The pieces' colours are not known yet: {error}")
            return Reading(frame.sequence, frame.time_s, {}, (*reading.hindrances, why), reading.notices)
        if self._keep is not None:
            self._keep(looks)
        self._reader = table_reader(self._camera, self._layout, looks, pose)
        self._learned, self._pose = looks, pose
        return self._reader.read(frame)

    def _looks_at(self, view: SurfaceView) -> Appearance:
        return self._kind.learn(view, self._plain, self._names) if self._known is None else self._known

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises NotLocatedError when the table is not located."""
        return self._reader.crop(frame, place)

    def forget(self) -> None:
        """Learn again from the next clear frame."""
        self._learned = self._pose = None
        self._reader = table_reader(self._camera, self._layout, self._plain)


CLEARLY_BETTER = 0.25
"""The share of expected pieces by which a side must beat the one nearest to the picture's lower edge."""


def likeliest_turn(
    frame: Frame,
    camera: CameraModel,
    layout: TableLayout,
    looks_at: Callable[[SurfaceView], Appearance],
    expected: Mapping[str, str],
) -> tuple[Pose, Appearance]:
    """Give the pose from which a picture shows what is expected, place by place, and the pieces' looks.

    A board's lines look the same from all sides. Where the expected pieces don't decide, the side nearest to the
    picture's lower edge is taken.

    ``looks_at`` teaches or knows the pieces. Of a table with markers the pose is their own. Raises NotLocatedError, and
    EnrolmentError where ``looks_at`` does from every side.
    """
    located = locate(frame.image, camera, layout)
    found: list[tuple[float, Pose, Appearance]] = []
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
        if not found or shown > found[0][0] + CLEARLY_BETTER:
            found.insert(0, (shown, pose, looks))
    if not found:
        raise refused[0]
    return found[0][1:]


def _share_shown(reading: Reading, expected: Mapping[str, str]) -> float:
    """The mean probability of the expected pieces on visible places, 0 where there are none."""
    seen = [
        reading.places[place].probabilities.get(look, 0.0)
        for place, look in expected.items()
        if look != EMPTY and place in reading.places and reading.places[place].hidden_by is None
    ]
    return sum(seen) / max(1, len(seen))
