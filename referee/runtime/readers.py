"""Wrappers of a table reader: for videos, for single pictures, and for learning the colours from the set-up.

A full reading costs far more than checking whether anything moved. So frames with movement are skipped, a picture that
has come to rest is read a few times, and then its reading is reused until the picture changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import cv2
import numpy as np

from referee.session.ports import KeepsReadings, Reader
from vision.errors import EnrolmentError, NotLocatedError
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose
from vision.layout.table import TableLayout
from vision.readers.orientation import likeliest_orientation
from vision.readers.protocols import Appearance, SurfaceView
from vision.readers.registry import reader_kind, table_reader
from vision.reading import Hindrance, HindranceKind, Reading
from vision.sampling import MAD_TO_SIGMA

# When a picture counts as changed, and how often a still one is read. Set by hand on virtual games.
_SMALL_WIDTH_PX = 160
"""Pictures are shrunk to this width before they are compared."""
_GREY_LEVELS = 6.0
"""By how much, of 255, a pixel must differ after equalizing the brightness. Higher: noise causes fewer readings, faint
changes are missed."""
_NOISE_SIGMAS = 5.0
"""By how many standard deviations of the noise it must differ as well. Higher: the same effect."""
_CHANGED_PIXELS = 3
"""How many such pixels change the picture. Higher: the same for small changes."""
_READS = 2
"""How often a picture at rest is read at once. Higher: steadier readings, more work."""
_REFRESH_S, _HINDERED_REFRESH_S = 3.0, 0.2
"""After how many seconds it is read again, usually and if something is in the way. Longer: less work, later
verdicts."""


class AttentiveReader:
    """Wraps a reader so that it is called only if there is something new to see.

    Frames must come in order. A frame with movement results in a Reading with a hindrance of kind ``hand``, and without
    places unless ``reads_movement``; once it rests, every place is read anew. A frame like the last one read returns
    that reading again, with the new frame's time and number.
    """

    def __init__(self, reader: Reader, *, reads_movement: bool = False) -> None:
        self._reader = reader
        self._reads_movement = reads_movement
        self._previous: FloatArray | None = None
        self._read: FloatArray | None = None
        self._reading: Reading | None = None
        self._reads = 0
        self._read_at_s = 0.0

    def read(self, frame: Frame) -> Reading:
        """Read a frame as cheaply as possible; raises what the reader raises."""
        small = _shrunk(frame.image)
        moving = self._previous is not None and _differs(self._previous, small)
        self._previous = small
        if moving:
            self._reading = None
            if isinstance(self._reader, KeepsReadings):
                self._reader.look_afresh()
            why = Hindrance(HindranceKind.HAND, "Something is moving over the table.")
            if not self._reads_movement:
                return Reading(frame.sequence, frame.time_s, {}, (why,))
            reading = self._reader.read(frame)
            return replace(reading, hindrances=(*reading.hindrances, why))
        known = self._reading
        if known is None or self._read is None or _differs(self._read, small):
            self._reads = 0
        elif self._reads >= _READS and frame.time_s - self._read_at_s < _reuse_s(known):
            return replace(known, sequence=frame.sequence, time_s=frame.time_s)
        self._reading = self._reader.read(frame)
        self._read, self._read_at_s = small, frame.time_s
        self._reads += 1
        return self._reading

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises what the reader raises."""
        return self._reader.crop(frame, place)


def _reuse_s(known: Reading) -> float:
    """Return for how many seconds the reading of a still picture is reused; fewer if something is in the way."""
    return _HINDERED_REFRESH_S if known.hindrances else _REFRESH_S


def _differs(before: FloatArray, now: FloatArray) -> bool:
    if before.shape != now.shape:
        return True
    # A lamp or automatic exposure changes everything alike, which is not movement.
    gain = float(np.median(now)) / max(1.0, float(np.median(before)))
    difference = np.abs(now - before * gain)
    # Most of the picture stands still, so the median of the differences is the camera's noise.
    noise = MAD_TO_SIGMA * float(np.median(difference))
    return int(np.count_nonzero(difference > max(_GREY_LEVELS, _NOISE_SIGMAS * noise))) >= _CHANGED_PIXELS


def _shrunk(image: Image) -> FloatArray:
    if image.size == 0:
        return np.zeros((1, 1), dtype=np.float64)
    height = max(1, round(image.shape[0] * _SMALL_WIDTH_PX / image.shape[1]))
    small = cv2.resize(image, (_SMALL_WIDTH_PX, height), interpolation=cv2.INTER_AREA)
    grey = small if small.ndim == 2 else cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    return np.asarray(cv2.blur(np.asarray(grey, dtype=np.float32), (3, 3)), dtype=np.float64)


class WholeReader:
    """Wraps a reader so that it reads every place in each frame: between single pictures anything may change."""

    def __init__(self, reader: KeepsReadings) -> None:
        self._reader = reader

    def read(self, frame: Frame) -> Reading:
        """Read a frame; raises what the reader raises."""
        self._reader.look_afresh()
        return self._reader.read(frame)

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises what the reader raises."""
        return self._reader.crop(frame, place)


class LearningReader:
    """Reads frames like ``TableReader``, after learning the looks of the pieces from a clear frame.

    It learns the pieces' colours from the ``start``, which maps places to looks, unless they are ``known``. For a board
    without markers, it also learns the first player's side: the one from which the board shows the ``expected`` looks,
    which are those of the start by default. ``forget`` discards what was learned, for a frame that turned out not to
    show a set-up. ``keep`` saves the looks before they are used, so that no set-up is accepted with colours that a
    power cut could lose.
    """

    def __init__(
        self,
        camera: CameraModel,
        layout: TableLayout,
        start: Mapping[str, str],
        keep: Callable[[Appearance], None] | None = None,
        *,
        known: Appearance | None = None,
        expected: Mapping[str, str] | None = None,
    ) -> None:
        self._camera = camera
        self._layout = layout
        self._start = start
        self._kind = reader_kind(layout)
        self._known = known
        self._expected = start if expected is None else expected
        self._plain: Appearance = self._kind.plain(layout.board) if known is None else known
        self._reader = table_reader(camera, layout, self._plain)
        self._pose: Pose | None = None
        self._keep = keep

    @property
    def pose(self) -> Pose | None:
        """The pose of the frame used for learning, ``None`` before learning."""
        return self._pose

    def read(self, frame: Frame) -> Reading:
        """Read a frame. Until the colours can be learned, the Reading has no places and says why."""
        reading = self._reader.read(frame)
        if (
            self._pose is not None
            or not reading.places
            or any(one.kind == HindranceKind.HAND for one in reading.hindrances)
        ):
            return reading
        try:
            pose, looks = likeliest_orientation(frame, self._camera, self._layout, self._looks_at, self._expected)
        except (EnrolmentError, NotLocatedError) as error:
            why = Hindrance(HindranceKind.BAD_FRAME, f"The pieces' colours are not known yet: {error}")
            return Reading(frame.sequence, frame.time_s, {}, (*reading.hindrances, why), reading.notices)
        if self._keep is not None:
            self._keep(looks)
        self._reader = table_reader(self._camera, self._layout, looks, pose)
        self._pose = pose
        return self._reader.read(frame)

    def look_afresh(self) -> None:
        """Read every place in the next frame, also those that look as before."""
        self._reader.look_afresh()

    def _looks_at(self, view: SurfaceView) -> Appearance:
        return self._kind.learn(view, self._plain, self._start) if self._known is None else self._known

    def crop(self, frame: Frame, place: str) -> Image:
        """Cut out one place; raises NotLocatedError when the table is not located."""
        return self._reader.crop(frame, place)

    def forget(self) -> None:
        """Learn again from the next clear frame."""
        self._pose = None
        self._reader = table_reader(self._camera, self._layout, self._plain)
