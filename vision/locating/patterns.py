"""Matching a marker's pattern where it must be: for blur, shake and dim light, where no outline can be traced.

The picture around the expected place is rectified and compared with the marker's own pattern, blurred by several
amounts. The comparison ignores brightness and contrast.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.markers import MarkerLayout
from vision.locating.markers import FoundBy, Marker, MarkerDetector
from vision.locating.quads import refine_quad, undo_tone_curve
from vision.opencv import align_affine
from vision.sampling import PlaneWindow, plane_map, sample

_Single = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PatternSettings:
    """How markers are matched by their whole pattern. Set by hand on virtual and ray-traced pictures."""

    border_modules: float = 0.5
    """How much of a marker's white border is matched, too, in modules."""
    patch_module_px: int = 14
    """Pixels of a marker's module on the patch in which it is looked for. More: smaller markers are found, slower."""
    search_sides: float = 0.6
    """How far off its place it is looked for, in sides. More: rougher poses will do, slower."""
    polish_sides: float = 0.15
    """The same for one that was found and is measured again."""
    patch_side_px: tuple[float, float] = (16.0, 72.0)
    """Least and most pixels of its side on the patch. More: finer, slower."""
    least_stretch: float = 0.6
    """Share by which its area may be off the expected one."""
    blurs_modules: tuple[float, ...] = (0.15, 0.3, 0.5, 0.8)
    """Blurs that are tried, standard deviations in modules."""
    least_likeness: float = 0.8
    """Correlation, of 1, from which it is there. Higher: fewer markers, and fewer that are none."""
    least_lead: float = 0.12
    """By how much it must lead the layout's other markers. Higher: the same."""


_SETTINGS = PatternSettings()


@dataclass(frozen=True, eq=False)
class RectifiedPatch:
    """A square of the markers' plane, ``centre_mm`` in its middle, seen from straight above, +y up.

    ``image`` is uint8; ``px_per_mm`` its scale.
    """

    image: Image
    centre_mm: FloatArray
    z_mm: float
    px_per_mm: float
    camera: CameraModel
    pose: Pose

    def to_pixels(self, patch_px: FloatArray) -> FloatArray:
        """Turn places on the patch, shape (n, 2), into distorted pixels of the picture."""
        middle = (self.image.shape[0] - 1) / 2
        x = self.centre_mm[0] + (patch_px[:, 0] - middle) / self.px_per_mm
        y = self.centre_mm[1] - (patch_px[:, 1] - middle) / self.px_per_mm
        return project(self.camera, self.pose, np.column_stack([x, y, np.full(len(x), self.z_mm)]))


def rectify(
    grey: Image,
    camera: CameraModel,
    pose: Pose,
    layout: MarkerLayout,
    marker_id: int,
    *,
    half_mm: float,
    px_per_mm: float,
) -> RectifiedPatch | None:
    """Cut out the surroundings of one marker as seen from above; ``None`` when its centre is outside the picture."""
    x_mm, y_mm = layout.centres_mm[marker_id]
    middle = project(camera, pose, np.array([[x_mm, y_mm, layout.z_mm]]))[0]
    height, width = grey.shape
    if not (0 <= middle[0] < width and 0 <= middle[1] < height):
        return None
    side_mm = (2 * int(half_mm * px_per_mm) + 1) / px_per_mm
    window = PlaneWindow(x_mm - side_mm / 2, y_mm + side_mm / 2, side_mm, side_mm, layout.z_mm, px_per_mm)
    image = sample(grey, plane_map(camera, pose, window))
    return RectifiedPatch(image, np.array([x_mm, y_mm]), layout.z_mm, px_per_mm, camera, pose)


def find_expected(
    grey: Image, camera: CameraModel, pose: Pose, layout: MarkerLayout, marker_id: int, finder: MarkerDetector
) -> Marker | None:
    """Look for one marker where a pose puts it, on a patch rectified to a view from above and enlarged.

    This finds markers the whole-picture detector misses: small, oblique, dim or distorted ones. ``None`` when that
    id is not there.
    """
    patch = rectify(
        grey,
        camera,
        pose,
        layout,
        marker_id,
        half_mm=1.5 * layout.side_mm,
        px_per_mm=_SETTINGS.patch_module_px * 6 / layout.side_mm,
    )
    if patch is None:
        return None
    for sighting in finder.filling(_stretched(patch.image)):
        if sighting.marker_id == marker_id:
            corners = patch.to_pixels(sighting.corners_px)
            refined = refine_quad(grey, corners)
            return Marker(marker_id, corners if refined is None else refined, FoundBy.EXPECTED)
    return match_expected(grey, camera, pose, layout, marker_id, finder)


def _stretched(patch: Image) -> Image:
    low, high = np.percentile(patch, (2, 98))
    return np.asarray(np.clip((patch - low) * (255 / max(high - low, 8.0)), 0, 255), dtype=np.uint8)


def match_expected(
    grey: Image, camera: CameraModel, pose: Pose, layout: MarkerLayout, marker_id: int, finder: MarkerDetector
) -> Marker | None:
    """Find one marker by its pattern near where a pose puts it; ``None`` when nothing there looks like it.

    It must look like this marker, and clearly less like the layout's others.
    """
    view = _view(grey, camera, pose, layout, marker_id, _SETTINGS.search_sides)
    if view is None:
        return None
    patch, light, side_px = view
    likeness, place, template = _best_match(light, finder.pattern(marker_id), side_px, _SETTINGS.blurs_modules)
    if likeness < _SETTINGS.least_likeness:
        return None
    for other in layout.centres_mm:
        if other != marker_id:
            rival, _, _ = _best_match(light, finder.pattern(other), side_px, (0.3,))
            if likeness < rival + _SETTINGS.least_lead:
                return None
    return _aligned(patch, light, side_px, place, template, marker_id)


def likeness_there(
    grey: Image, camera: CameraModel, pose: Pose, layout: MarkerLayout, marker_id: int, finder: MarkerDetector
) -> float:
    """How much a place where a pose puts a marker looks like it, from -1 to 1: correlation, however it is blurred.

    A marker of which half is covered is as like as its better half. 0 for a place outside the picture.
    """
    view = _view(grey, camera, pose, layout, marker_id, _SETTINGS.polish_sides)
    if view is None:
        return 0.0
    _, light, side_px = view
    likeness, place, template = _best_match(light, finder.pattern(marker_id), side_px, _SETTINGS.blurs_modules)
    column, row = place.astype(int)
    size = template.shape[0]
    seen = light[row : row + size, column : column + size]
    half = size // 2
    halves = (
        (slice(half), slice(None)),
        (slice(half, None), slice(None)),
        (slice(None), slice(half)),
        (slice(None), slice(half, None)),
    )
    return max(
        likeness, *(float(cv2.matchTemplate(seen[part], template[part], cv2.TM_CCOEFF_NORMED)[0, 0]) for part in halves)
    )


def polish(
    grey: Image, camera: CameraModel, pose: Pose, layout: MarkerLayout, marker: Marker, finder: MarkerDetector
) -> Marker:
    """Measure a marker that was found, and agrees with the pose, again by its whole pattern.

    Every edge of the code counts, not the outline alone, so blur and noise matter less. The marker is given back as
    it was when its pattern does not fit there, as when a finger lies across it.
    """
    view = _view(grey, camera, pose, layout, marker.marker_id, _SETTINGS.polish_sides)
    if view is None:
        return marker
    patch, light, side_px = view
    likeness, place, template = _best_match(light, finder.pattern(marker.marker_id), side_px, _SETTINGS.blurs_modules)
    if likeness < _SETTINGS.least_likeness:
        return marker
    aligned = _aligned(patch, light, side_px, place, template, marker.marker_id)
    if (
        aligned is None
        or np.linalg.norm(aligned.centre_px - marker.centre_px) > _SETTINGS.polish_sides * marker.side_px
    ):
        return marker
    return replace(marker, corners_px=aligned.corners_px)


def _view(
    grey: Image, camera: CameraModel, pose: Pose, layout: MarkerLayout, marker_id: int, search_sides: float
) -> tuple[RectifiedPatch, _Single, float] | None:
    """The patch around a marker, its light, and the marker's side on it in pixels, near the picture's own scale."""
    expected = project(camera, pose, layout.corners_mm(marker_id))
    sides = np.linalg.norm(expected - np.roll(expected, -1, axis=0), axis=1)
    side_px = float(np.clip(1.25 * sides.max(), *_SETTINGS.patch_side_px))
    px_per_mm = side_px / layout.side_mm
    half_mm = layout.side_mm * (0.5 + _SETTINGS.border_modules / 6 + search_sides)
    patch = rectify(grey, camera, pose, layout, marker_id, half_mm=half_mm, px_per_mm=px_per_mm)
    if patch is None:
        return None
    return patch, np.asarray(undo_tone_curve(patch.image), dtype=np.float32), side_px


def _aligned(
    patch: RectifiedPatch, light: _Single, side_px: float, place: FloatArray, template: _Single, marker_id: int
) -> Marker | None:
    found = align_affine(template, light, place)
    if found is None or found[1] < _SETTINGS.least_likeness:
        return None
    warp = found[0]
    if not _SETTINGS.least_stretch < abs(float(np.linalg.det(warp[:, :2]))) < 1 / _SETTINGS.least_stretch:
        return None
    near = (template.shape[0] - side_px) / 2 - 0.5
    far = near + side_px
    corners = np.array([[near, near], [far, near], [far, far], [near, far]])
    return Marker(marker_id, patch.to_pixels(corners @ warp[:, :2].T + warp[:, 2]), FoundBy.MATCHED)


def _best_match(
    light: _Single, pattern: Image, side_px: float, blurs_modules: tuple[float, ...]
) -> tuple[float, FloatArray, _Single]:
    """Likeness (-1 to 1), place of the template's corner on the patch, and the blurred template that fits best."""
    best: tuple[float, FloatArray, _Single] = (-1.0, np.zeros(2), np.zeros((1, 1), dtype=np.float32))
    sharp = _template(pattern, side_px)
    for blur in blurs_modules:
        spread_px = max(blur * side_px / pattern.shape[0], 0.3)
        template = np.asarray(cv2.GaussianBlur(sharp, (0, 0), spread_px), dtype=np.float32)
        scores = cv2.matchTemplate(light, template, cv2.TM_CCOEFF_NORMED)
        _, likeness, _, place = cv2.minMaxLoc(scores)
        if likeness > best[0]:
            best = (float(likeness), np.asarray(place, dtype=np.float64), template)
    return best


def _template(pattern: Image, side_px: float) -> _Single:
    """Draw a marker with part of its white border, ``side_px`` wide without it; float32, 0 to 255."""
    modules = pattern.shape[0]
    oversampling = 4
    module_px = side_px / modules
    size = int(side_px + 2 * _SETTINGS.border_modules * module_px)
    fine = (np.arange(size * oversampling) + 0.5) / oversampling
    # The marker's middle is the template's middle, whatever rounding did to its size.
    index = np.floor((fine - (size - side_px) / 2) / module_px).astype(int)
    framed = np.pad(pattern, 2, constant_values=255)
    rows = np.clip(index + 2, 0, modules + 3)
    drawn = framed[np.ix_(rows, rows)].astype(np.float32)
    return np.asarray(cv2.resize(drawn, (size, size), interpolation=cv2.INTER_AREA), dtype=np.float32)
