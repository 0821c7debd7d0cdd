"""Detecting whether anything moves, and which places, trays, margins and markers changed: only those are read again.

A full reading costs far more than checking whether anything moved. So frames with movement are skipped, a picture that
has come to rest is read a few times, and then its reading is reused until the picture changes (``ChangeGate``). Frames
that the camera or its cable spoiled are left out, and the bands of a lamp that flickers taken out.

All pictures are compared at a quarter of their size, where sensor noise averages out; they are shrunk once, for
whatever compares them (``SharedPicture.small``). A place's reference picture is only replaced when the place is read,
so slow changes add up and are noticed too.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Self

import cv2
import numpy as np
import numpy.typing as npt

from common.phrases import Phrase
from vision.frame import FloatArray, FloatImage, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Surface, top_mm
from vision.layout.table import TableLayout
from vision.locating.markers import SharedPicture
from vision.opencv import as_grey
from vision.reading import Hindrance, HindranceKind, Reading
from vision.sampling import MAD_TO_SIGMA, SHRINK, differing, median


@dataclass(frozen=True)
class ChangeSettings:
    """When a region counts as changed. Set by hand on virtual games; ``benchmarks/frame.py`` shows the effect."""

    changed_pixels: int = 2
    """Minimum number of pixels in a region that differ (``vision.sampling.differing``)."""
    changed_beside_pixels: int = 6
    """The same beside a surface with places: it is large, and only hands and other things matter there."""
    marker_grown: float = 1.25
    """Size of the region watched around a marker, as a multiple of the marker, to include its white border."""


_SETTINGS = ChangeSettings()


def marker_region(marker_id: int) -> str:
    """Return the name of a marker's region; no place has such a name."""
    return Phrase("marker {marker_id}", marker_id)


def surface_region(name: str) -> str:
    """Return the name of a surface's region: the margin of one with places, all of others. No place has that name."""
    return Phrase("surface {name}", name)


@dataclass(frozen=True, eq=False)
class _Region:
    """A region of the small picture: a window, and a mask of the window's pixels that belong to it, 0 or 1."""

    window: tuple[slice, slice]
    inside: npt.NDArray[np.uint8]


class ChangeDetector:
    """Watches the part of the table that one set of markers locates, for one pose.

    Places are identified by their names, markers and surfaces by ``marker_region`` and ``surface_region``.
    ``beside_mm`` has the width of the watched margin of surfaces with places, by name.
    """

    def __init__(self, layout: TableLayout, camera: CameraModel, pose: Pose, beside_mm: Mapping[str, float]) -> None:
        self._reference: Image | None = None
        shapes = _shapes_mm(layout, beside_mm)
        points = np.concatenate([np.concatenate(parts, axis=1).reshape(-1, 3) for _, parts in shapes])
        self._pixels = np.clip(project(camera, pose, points) / SHRINK, -1e4, 1e4)
        # the number of points of each part of each region
        self._parts = {name: [part.shape[1] for part in parts] for names, parts in shapes for name in names}
        self._starts = np.concatenate([[0], np.cumsum([sum(lengths) for lengths in self._parts.values()])[:-1]])
        rounded = np.round(self._pixels)
        low, high = (reduce.reduceat(rounded, self._starts) for reduce in (np.minimum, np.maximum))
        high += 1
        # left, top, right and bottom of what each region covers of the small picture; the last two are exclusive
        size = [max(1, length // SHRINK) for length in camera.size]
        self._boxes = np.clip(np.hstack([low, high]), 0, [*size, *size]).astype(np.intp)
        self._least = dict.fromkeys(self._parts, _SETTINGS.changed_pixels)
        self._least |= {surface_region(name): _SETTINGS.changed_beside_pixels for name in beside_mm}
        self._numbers = {name: number for number, name in enumerate(self._parts)}
        self._regions: dict[str, _Region] = {}

    def changed(self, small: Image) -> set[str]:
        """Return the names of the regions that changed, and keep the picture, from ``shrink``, as their reference."""
        if self._reference is None:
            self._reference = small.copy()  # the parts of a table share the picture
            return set(self._parts)
        strong = differing(small, self._reference)
        if not strong.any():
            return set()
        counts = np.asarray(cv2.integral(strong))
        left, top, right, bottom = self._boxes.T
        within = counts[bottom, right] - counts[top, right] - counts[bottom, left] + counts[top, left]
        changed = set()
        for name, count in zip(self._parts, within, strict=True):
            if count < self._least[name]:
                continue
            region = self._region(name)
            if np.count_nonzero(strong[region.window] & region.inside) >= self._least[name]:
                changed.add(name)
        for name in changed:
            region = self._regions[name]
            cv2.copyTo(small[region.window], region.inside, self._reference[region.window])
        return changed

    def _region(self, name: str) -> _Region:
        """Return a region's pixels, computed when something changes near it for the first time."""
        if name not in self._regions:
            number = self._numbers[name]
            left, top, right, bottom = (int(value) for value in self._boxes[number])
            mask = np.zeros((bottom - top, right - left), dtype=np.uint8)
            start = int(self._starts[number])
            for length in self._parts[name]:
                outline = self._pixels[start : start + length]
                hull = cv2.convexHull(np.round(outline - (left, top)).astype(np.int32))
                cv2.fillConvexPoly(mask, hull, 1)
                start += length
            self._regions[name] = _Region((slice(top, bottom), slice(left, right)), mask)
        return self._regions[name]


def _shapes_mm(layout: TableLayout, beside_mm: Mapping[str, float]) -> list[tuple[list[str], list[FloatArray]]]:
    """Return points around regions: a place's piece and the space above it, margins, trays, and markers.

    Each entry has the names of regions of the same shape, and for each part of the shape its points, (names, n, 3).
    """
    shapes: list[tuple[list[str], list[FloatArray]]] = []
    for surface in layout.surfaces:
        if surface.places:
            first = surface.places[0]
            solid = surface.solid_at(first)
            parts = [_space_above(surface, first), *([] if solid is None else [solid.corners_mm()])]
            centres = np.array([surface.centre_mm(place) for place in surface.places])
            away = np.pad(centres - centres[0], ((0, 0), (0, 1)))[:, None]
            shapes.append((list(surface.places), [part + away for part in parts]))
            if surface.name in beside_mm:
                shapes.append(([surface_region(surface.name)], _margin_mm(surface, beside_mm[surface.name])))
        else:
            ends = [surface.bounds_mm.corners_mm(height) for height in (surface.height_mm, top_mm(surface))]
            shapes.append(([surface_region(surface.name)], [np.concatenate(ends)[None]]))
    for marker_id in layout.markers.centres_mm:
        corners = layout.markers.corners_mm(marker_id)
        middle = corners.mean(axis=0)
        grown = middle + _SETTINGS.marker_grown * (corners - middle)
        shapes.append(([marker_region(marker_id)], [grown[None]]))
    return shapes


def _margin_mm(surface: Surface, width_mm: float) -> list[FloatArray]:
    """Return the corners of the four strips that surround a surface; (1, 4, 3) each."""
    inner, outer = surface.bounds_mm, surface.bounds_mm.grown(width_mm)
    strips = (
        replace(outer, right_mm=inner.left_mm),
        replace(outer, left_mm=inner.right_mm),
        replace(outer, far_mm=inner.near_mm),
        replace(outer, near_mm=inner.far_mm),
    )
    return [strip.corners_mm(surface.height_mm)[None] for strip in strips]


def _space_above(surface: Surface, place: str) -> FloatArray:
    """Return corners of the space above a place, up to a height equal to its width; (n, 3)."""
    outline = surface.outline_mm(place)
    low = np.column_stack([outline, np.full(len(outline), surface.height_mm)])
    return np.concatenate([low, low + np.array([0.0, 0.0, np.ptp(outline[:, 0])])])


# When a picture counts as changed, and how often a still one is read. Set by hand on virtual games.
_SMALL_WIDTH_PX = 160
"""Wider pictures are shrunk to this width before they are compared as a whole."""
_GREY_LEVELS = 6.0
"""By how much, of 255, a pixel must differ after equalizing the brightness. Higher: noise causes fewer readings, faint
changes are missed."""
_NOISE_SIGMAS = 5.0
"""By how many standard deviations of the noise it must differ as well. Higher: the same effect."""
_MOST_NOISE = 2.5
"""Largest standard deviation of noise, in grey levels of a shrunken picture: more is damage. Higher: copes with noisier
cameras, and misses damage."""
_CHANGED_PIXELS = 3
"""How many such pixels change the picture. Higher: the same for small changes."""
_CLIPPED_LEVEL = 245.0
"""Grey level, of 255, from which a pixel may be clipped, so that it doesn't follow the light. Lower: misses changes of
bright places."""
_READS = 2
"""How often a picture at rest is read at once. Higher: steadier readings, more work."""
_REFRESH_S, _HINDERED_REFRESH_S = 3.0, 0.2
"""After how many seconds it is read again, usually and if something is in the way. Longer: less work, later
verdicts."""
_PASSING_FRAMES, _PASSING_S = 2, 0.3
"""For how many frames and seconds at most the picture may be unlike the last one at rest before that is movement. More:
copes with more damaged frames in a row, notices hands later."""
_CANDIDATES = 3
"""How many of the latest frames may confirm another one. More: finds rest among more damaged frames, costs more."""

_UNLIKE = Phrase("The camera's pictures are unlike each other. If it stays so, try another cable or a smaller picture.")
_MOVING = Phrase("Something is moving over the table.")


class Attention(Enum):
    """Which frames of a camera are read in full."""

    ALL = auto()
    """Every place of every frame, since between single pictures anything may change."""
    STILL = auto()
    """Frames at rest, while there is something new to see."""
    MOVING = auto()
    """Also those in which something moves: a hand that writes must not keep the others' sheets from being read."""


@dataclass(frozen=True, eq=False)
class _Look:
    """What frames are compared by: the shrunken picture without colours and most noise, some pixels, and the time."""

    grey: FloatImage
    sample: Image
    time_s: float


class ChangeGate:
    """Has a film's frames read only if there is something new to see, and none that the camera spoiled.

    Frames must come in order. A picture counts once another one confirms it: the last one at rest, or one of the latest
    frames. So a damaged, torn or old frame is left out, since no other is like it. If the picture stays unlike all
    others, something moves: then a Reading has a hindrance of kind ``hand``, and no places unless ``reads_movement``;
    once it rests, every place is read anew. A frame like the last one read returns that reading again, with the new
    frame's time and number. Bands of mains light are neither movement nor read (``MainsBands``). A camera that hangs
    shows nothing (``_Repeats``).
    """

    def __init__(self, *, reads_movement: bool = False) -> None:
        self._reads_movement = reads_movement
        self._rest: _Look | None = None
        self._unlike: deque[_Look] = deque(maxlen=_CANDIDATES)
        self._passed = 0
        self._has_moved = False
        self._read: FloatImage | None = None
        self._reading: Reading | None = None
        self._reads = 0
        self._read_at_s = 0.0
        self._bands = MainsBands()
        self._repeats = _Repeats()

    def forget_reading(self) -> None:
        """Have the next frame read, even if it is like the last one read: it would be read in another way."""
        self._reads, self._reading = 0, None

    def left_out(self, frame: Frame, why: str, kind: HindranceKind = HindranceKind.BAD_FRAME) -> Reading:
        """Return the reading of a frame that tells nothing about the table."""
        self._passed += 1
        return self._noted(Reading(frame.sequence, frame.time_s, {}, (Hindrance(kind, why),)))

    def _noted(self, reading: Reading) -> Reading:
        """Return a reading with what there is to say about the light and the camera."""
        said = (*((_FLICKERS,) if self._bands.are_seen else ()), *((_HANGS,) if self._repeats.hangs else ()))
        return replace(reading, notices=(*reading.notices, *said)) if said else reading

    def reading(
        self,
        frame: Frame,
        shared: SharedPicture,
        read: Callable[[Frame, SharedPicture], Reading],
        invalidate_cache: Callable[[], object],
    ) -> Reading:
        """Read a frame as cheaply as possible, without bands; raises what ``read`` raises.

        After ``invalidate_cache``, ``read`` reads every place, since something moved, and what it changed may hardly
        show.
        """

        def read_plainly() -> Reading:
            return read(*self._bands.without(frame, shared))

        look = _Look(_smoothed(shared.small), frame.image[::_SAMPLED_PX, ::_SAMPLED_PX].copy(), frame.time_s)
        if self._repeats.has(look):
            if not self._repeats.hangs:
                return self.left_out(frame, _UNLIKE)
            self._has_moved = True
            return self.left_out(frame, _HANGS, HindranceKind.FROZEN)
        before, bands = self._rest, self._bands.are_seen
        since_read = None if self._read is None else _Change.between(self._read, look.grey, bands=bands)
        if before is not None:
            change = _Change.between(before.grey, look.grey, bands=bands)
            self._bands.follow(change, since_read)
            if not change.is_seen:
                self._repeats.note_noise(before, look)
            elif self._is_confirmed(look):
                self._has_moved = True
            else:
                self._unlike.append(look)
                is_passing = self._passed < _PASSING_FRAMES and look.time_s - before.time_s <= _PASSING_S
                if is_passing:
                    return self.left_out(frame, _UNLIKE)
                self._has_moved = True
                moving = Reading(frame.sequence, frame.time_s, {})
                if self._reads_movement:
                    invalidate_cache()
                    moving = read_plainly()
                why = Hindrance(HindranceKind.HAND, _MOVING)
                return self._noted(replace(moving, hindrances=(*moving.hindrances, why)))
            self._bands.settle(change, look.grey.size)
        if self._has_moved or self._passed > _PASSING_FRAMES:
            self.forget_reading()
            invalidate_cache()
        self._rest = look
        self._unlike.clear()
        if since_read is None or since_read.is_seen:
            self._reads = 0
        return self._noted(self._resting(frame, read_plainly))

    def _is_confirmed(self, look: _Look) -> bool:
        """Whether one of the latest frames shows the same; the very same frame again proves nothing."""
        return any(
            not (self._repeats.are_known and np.array_equal(one.sample, look.sample))
            and not _Change.between(one.grey, look.grey, bands=self._bands.are_seen).is_seen
            for one in reversed(self._unlike)
        )

    def _resting(self, frame: Frame, read: Callable[[], Reading]) -> Reading:
        known, self._passed, self._has_moved = self._reading, 0, False
        is_recent = known is not None and frame.time_s - self._read_at_s < _reuse_s(known)
        if known is not None and is_recent and self._reads >= _READS:
            return replace(known, sequence=frame.sequence, time_s=frame.time_s)
        assert self._rest is not None
        self._reading = read()
        self._read, self._read_at_s = self._rest.grey, frame.time_s
        self._reads += 1
        return self._reading


def _reuse_s(known: Reading) -> float:
    """Return for how many seconds the reading of a still picture is reused; fewer if something is in the way."""
    return _HINDERED_REFRESH_S if known.hindrances else _REFRESH_S


def _smoothed(small: Image) -> FloatImage:
    """Return a shrunken picture without colours and most of its noise, even smaller if it is wide."""
    height, width = small.shape[:2]
    if width > _SMALL_WIDTH_PX:
        size = (_SMALL_WIDTH_PX, max(1, round(height * _SMALL_WIDTH_PX / width)))
        small = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return np.asarray(cv2.blur(as_grey(small).astype(np.float32), (3, 3)), dtype=np.float32)


@dataclass(frozen=True, eq=False)
class _Change:
    """What changed between two pictures from ``_smoothed``.

    ``light`` is by which factor each row became brighter, (rows,), ``pixels`` how many pixels changed otherwise; with
    ``bands``, each row may have its own light. ``of_bands``: the rows' light explains most of what looks different.
    """

    light: FloatImage
    pixels: int
    of_bands: bool

    @classmethod
    def between(cls, before: FloatImage, now: FloatImage, *, bands: bool) -> Self:
        # A lamp or automatic exposure changes the light of all that rests alike, a lamp that flickers that of each row.
        light = median(now / np.maximum(before, np.float32(1.0)), axis=1)
        usual = np.float32(np.median(light))
        light = np.clip(light, usual / _MOST_BAND, usual * _MOST_BAND, dtype=np.float32)
        difference = _difference(before, now, light[:, None])
        # Most of a row stands still, so the median of its differences is the camera's noise.
        noise = MAD_TO_SIGMA * float(np.median(median(difference, axis=1)))
        least = max(_GREY_LEVELS, _NOISE_SIGMAS * min(noise, _MOST_NOISE))
        plain = by_rows = int(np.count_nonzero(difference > least))
        uneven = float(np.std(np.log(light))) >= _BAND_SHARE
        if uneven:
            plain = int(np.count_nonzero(_difference(before, now, usual) > least))
        return cls(light, by_rows if bands else plain, uneven and by_rows <= _BAND_EXPLAINS * plain)

    @property
    def is_seen(self) -> bool:
        """Whether anything but the light changed."""
        return self.pixels >= _CHANGED_PIXELS


def _difference(before: FloatImage, now: FloatImage, light: FloatImage | np.float32) -> FloatImage:
    expected = before * light
    difference = np.abs(now - expected)
    difference[np.minimum(now, expected) > _CLIPPED_LEVEL] = 0
    return difference


# Bands of mains light, and cameras that hang. Set by hand on virtual games.
_MOST_BAND = 1.4
"""Largest factor between the light of a row and that of the picture which counts as a band. Higher: copes with stronger
bands, takes more of what fills the picture's width for one."""
_BAND_SHARE, _BAND_EXPLAINS = 0.015, 0.3
"""Least standard deviation of the rows' logarithmic light that may be bands, and share of the differing pixels that may
remain once it is equalized. Lower, higher: more counts as bands."""
_BANDED_FRAMES, _WATCHED_FRAMES, _STEADY_FRAMES = 7, 12, 150
"""How many of the latest frames must show bands for the lamp to flicker, which damaged frames in between don't, and
after how many without any it no longer does. More: said later, and for longer."""
_MEAN_FRAMES = 12
"""Over about how many frames the usual light of a row is averaged. More: steadier, slower to follow."""
_OTHER_SHARE = 0.3
"""Share of the pixels that changed from which the rows are those of another picture. Higher: the same."""
_SAMPLED_PX = 16
"""Spacing of the pixels that tell whether two frames are the very same."""
_NOISY_SHARE, _NOISY_FRAMES = 0.1, 10
"""What share of the pixels noise must change, in so many frames at rest in a row, for the camera to be one that never
gives the same frame twice. Higher: fewer are."""
_HANGS_S = 2.0
"""For how many seconds such a camera must give the same frame to hang. Longer: said later."""

_FLICKERS = Phrase(
    "The lamp flickers in the picture. Set mains_hz under [camera] to 50 or 60, whichever your mains has. If that "
    "doesn't help, use another lamp."
)
_HANGS = Phrase("The camera shows the same picture again and again. If that goes on, switch it off and on again.")


_UNKNOWN: FloatImage = np.zeros(1, dtype=np.float32)
"""The logarithmic light of rows of which no other picture is known."""


class MainsBands:
    """Follows the light of each row of a film: while a lamp flickers, a rolling shutter takes some rows in more light.

    Such bands are common to all columns, as no movement is.
    """

    def __init__(self) -> None:
        self._latest: deque[bool] = deque(maxlen=_WATCHED_FRAMES)
        self._steady = 0
        # logarithms of the rows' light: in the last picture at rest, on average, and in the newest one
        self._rest: FloatImage = _UNKNOWN
        self._usual: FloatImage = _UNKNOWN
        self._now: FloatImage = _UNKNOWN
        self.are_seen = False
        """Whether the lamp flickers."""

    def follow(self, change: _Change, since_read: _Change | None) -> None:
        """Process a frame, given its changes since the last one at rest, and since the last one read."""
        banded = change.of_bands or (since_read is not None and since_read.of_bands)
        self._latest.append(banded)
        self._steady = 0 if banded else self._steady + 1
        seen = sum(self._latest) >= _BANDED_FRAMES
        self.are_seen = seen or (self.are_seen and self._steady < _STEADY_FRAMES)
        self._now = self._rest + np.log(change.light)

    def settle(self, change: _Change, size: int) -> None:
        """Take the frame just processed, of ``size`` pixels, for the one at rest."""
        if change.pixels > _OTHER_SHARE * size:
            self._usual = self._now = _UNKNOWN
        self._rest = self._now
        self._usual = self._usual + np.float32(1 / _MEAN_FRAMES) * (self._now - self._usual)

    def without(self, frame: Frame, shared: SharedPicture) -> tuple[Frame, SharedPicture]:
        """Return a frame, and what is shared of its picture, in the rows' usual light."""
        excess = self._now - self._usual
        excess = excess - np.median(excess)
        if not self.are_seen or float(np.abs(excess).max()) < _BAND_SHARE:
            return frame, shared
        height, width, channels = frame.image.shape
        rows = (np.arange(height) + 0.5) * len(excess) / height - 0.5
        factor = np.exp(-np.interp(rows, np.arange(len(excess)), excess)).astype(np.float32)
        image = frame.image.reshape(height, -1)
        level = cv2.multiply(image, np.repeat(factor[:, None], width * channels, axis=1), dtype=cv2.CV_8U)
        frame = replace(frame, image=np.asarray(level, dtype=np.uint8).reshape(frame.image.shape))
        return frame, SharedPicture(frame.image, pause=shared.pause)


class _Repeats:
    """Finds the frames that a camera gives twice: none that has noise ever takes the very same one."""

    def __init__(self) -> None:
        self._last: _Look | None = None
        self._noisy_frames = 0
        self.hangs = False
        """Whether the camera has given the same frame for long."""

    @property
    def are_known(self) -> bool:
        """Whether the source certainly has noise. Films and drawn pictures may rightly repeat."""
        return self._noisy_frames >= _NOISY_FRAMES

    def has(self, look: _Look) -> bool:
        """Process the next frame; return whether it is the one before again."""
        last = self._last
        if last is None or not np.array_equal(last.sample, look.sample):
            self._last, self.hangs = look, False
            return False
        self.hangs = self.are_known and look.time_s - last.time_s >= _HANGS_S
        return self.are_known

    def note_noise(self, before: _Look, now: _Look) -> None:
        """Note how two frames of a table at rest differ."""
        if not self.are_known:
            is_noisy = float(np.mean(before.sample != now.sample)) >= _NOISY_SHARE
            self._noisy_frames = self._noisy_frames + 1 if is_noisy else 0
