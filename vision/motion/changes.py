"""Detecting whether anything moves, and which places, trays, margins and markers changed: only those are read again.

A full reading costs far more than checking whether anything moved. So frames with movement are skipped, a picture that
has come to rest is read a few times, and then its reading is reused until the picture changes (``ChangeGate``).

All pictures are compared at a quarter of their size, where sensor noise averages out; they are shrunk once, for
whatever compares them (``SharedPicture.small``). A place's reference picture is only replaced when the place is read,
so slow changes add up and are noticed too.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum, auto

import cv2
import numpy as np
import numpy.typing as npt

from common.phrases import Phrase
from vision.frame import FloatArray, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import Surface, top_mm
from vision.layout.table import TableLayout
from vision.opencv import as_grey
from vision.reading import Hindrance, HindranceKind, Reading
from vision.sampling import MAD_TO_SIGMA, SHRINK, differing


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
_CHANGED_PIXELS = 3
"""How many such pixels change the picture. Higher: the same for small changes."""
_READS = 2
"""How often a picture at rest is read at once. Higher: steadier readings, more work."""
_REFRESH_S, _HINDERED_REFRESH_S = 3.0, 0.2
"""After how many seconds it is read again, usually and if something is in the way. Longer: less work, later
verdicts."""


class Attention(Enum):
    """Which frames of a camera are read in full."""

    ALL = auto()
    """Every place of every frame, since between single pictures anything may change."""
    STILL = auto()
    """Frames at rest, while there is something new to see."""
    MOVING = auto()
    """Also those in which something moves: a hand that writes must not keep the others' sheets from being read."""


class ChangeGate:
    """Has a film's frames read only if there is something new to see.

    Frames must come in order. A frame with movement results in a Reading with a hindrance of kind ``hand``, and without
    places unless ``reads_movement``; once it rests, every place is read anew. A frame like the last one read returns
    that reading again, with the new frame's time and number.
    """

    def __init__(self, *, reads_movement: bool = False) -> None:
        self._reads_movement = reads_movement
        self._previous: FloatArray | None = None
        self._read: FloatArray | None = None
        self._reading: Reading | None = None
        self._reads = 0
        self._read_at_s = 0.0

    def forget(self) -> None:
        """Have the next frame read, whatever came before."""
        self._previous = self._reading = None

    def reading(
        self, frame: Frame, small: Image, read: Callable[[], Reading], invalidate_cache: Callable[[], object]
    ) -> Reading:
        """Read a frame, whose picture was shrunk, as cheaply as possible; raises what ``read`` raises.

        After ``invalidate_cache``, ``read`` reads every place, since something moved, and what it changed may hardly
        show.
        """
        seen = _smoothed(small)
        moving = self._previous is not None and _differs(self._previous, seen)
        self._previous = seen
        if moving:
            self._reading = None
            invalidate_cache()
            why = Hindrance(HindranceKind.HAND, Phrase("Something is moving over the table."))
            if not self._reads_movement:
                return Reading(frame.sequence, frame.time_s, {}, (why,))
            reading = read()
            return replace(reading, hindrances=(*reading.hindrances, why))
        known = self._reading
        if known is None or self._read is None or _differs(self._read, seen):
            self._reads = 0
        elif self._reads >= _READS and frame.time_s - self._read_at_s < _reuse_s(known):
            return replace(known, sequence=frame.sequence, time_s=frame.time_s)
        self._reading = read()
        self._read, self._read_at_s = seen, frame.time_s
        self._reads += 1
        return self._reading


def _reuse_s(known: Reading) -> float:
    """Return for how many seconds the reading of a still picture is reused; fewer if something is in the way."""
    return _HINDERED_REFRESH_S if known.hindrances else _REFRESH_S


def _differs(before: FloatArray, now: FloatArray) -> bool:
    # A lamp or automatic exposure changes everything alike, which is not movement.
    gain = float(np.median(now)) / max(1.0, float(np.median(before)))
    difference = np.abs(now - before * gain)
    # Most of the picture stands still, so the median of the differences is the camera's noise.
    noise = MAD_TO_SIGMA * float(np.median(difference))
    return int(np.count_nonzero(difference > max(_GREY_LEVELS, _NOISE_SIGMAS * noise))) >= _CHANGED_PIXELS


def _smoothed(small: Image) -> FloatArray:
    """Return a shrunken picture without colours and most of its noise, even smaller if it is wide."""
    height, width = small.shape[:2]
    if width > _SMALL_WIDTH_PX:
        size = (_SMALL_WIDTH_PX, max(1, round(height * _SMALL_WIDTH_PX / width)))
        small = np.asarray(cv2.resize(small, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
    return np.asarray(cv2.blur(as_grey(small).astype(np.float32), (3, 3)), dtype=np.float64)
