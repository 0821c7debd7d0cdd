"""Markers by their pattern, where a pose puts them: for blur, shake and dim light, where outlines fail.

The picture around a marker's expected position is rectified and compared with the marker's pattern at several amounts
of blur. The comparison is independent of brightness and contrast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import MarkerLayout
from vision.locating.markers import FoundBy, Marker, MarkerDetector
from vision.locating.quads import refine_quad, undo_tone_curve
from vision.opencv import align_affine
from vision.sampling import PlaneWindow, plane_map, sample


@dataclass(frozen=True)
class PatternSettings:
    """How markers are matched by their pattern. Set by hand on virtual and ray-traced pictures."""

    border_modules: float = 0.5
    """Width of the marker's white border that is matched as well, in modules, up to 1."""
    patch_module_px: int = 14
    """Size of a marker's module, in pixels, on the patch that is searched. More: smaller markers are found, slower."""
    search_sides: float = 0.6
    """Search distance around the expected position, in sides. More: tolerates worse poses, slower."""
    refine_sides: float = 0.15
    """The same when refining a marker that was found."""
    patch_side_px: tuple[float, float] = (16.0, 72.0)
    """Minimum and maximum side of the marker on the patch, in pixels. More: finer, slower."""
    least_stretch: float = 0.6
    """Minimum ratio between its area and the expected one."""
    blurs_modules: tuple[float, ...] = (0.15, 0.3, 0.5, 0.8)
    """Blurs that are tried, as standard deviations in modules."""
    least_likeness: float = 0.8
    """Minimum correlation for a match. Higher: fewer markers, and fewer false ones."""
    least_lead: float = 0.12
    """Minimum lead over the layout's other markers. Higher: the same."""


_SETTINGS = PatternSettings()


@dataclass(frozen=True, eq=False)
class RectifiedPatch:
    """A square of the markers' plane around ``centre_mm``, seen from straight above, +y up.

    ``image`` is uint8, with ``px_per_mm`` pixels per millimetre.
    """

    image: Image
    centre_mm: FloatArray
    z_mm: float
    px_per_mm: float
    camera: CameraModel
    pose: Pose

    def to_pixels(self, patch_px: FloatArray) -> FloatArray:
        """Map points on the patch, shape (n, 2), to distorted pixels of the picture."""
        middle = (self.image.shape[0] - 1) / 2
        x = self.centre_mm[0] + (patch_px[:, 0] - middle) / self.px_per_mm
        y = self.centre_mm[1] - (patch_px[:, 1] - middle) / self.px_per_mm
        return project(self.camera, self.pose, np.column_stack([x, y, np.full(len(x), self.z_mm)]))


@dataclass(frozen=True, eq=False)
class MarkerPatterns:
    """Looks for a layout's markers in one grey picture, each where a pose puts it.

    ``finder`` is that of the layout's dictionary. ``are_mirrored``: looks for the markers' mirror images.
    """

    grey: Image
    camera: CameraModel
    layout: MarkerLayout
    finder: MarkerDetector
    are_mirrored: bool = False

    def mirrored(self) -> MarkerPatterns:
        """Return what looks for the layout's mirror image instead."""
        centres_mm = {marker_id: (-x_mm, y_mm) for marker_id, (x_mm, y_mm) in self.layout.centres_mm.items()}
        layout = replace(self.layout, centres_mm=centres_mm)
        return replace(self, layout=layout, are_mirrored=not self.are_mirrored)

    def find(self, pose: Pose, marker_id: int) -> Marker | None:
        """Search for one marker at its expected position, on a patch rectified to a view from above and enlarged.

        This finds markers that detection in the whole picture misses: small, oblique, dim or distorted ones. ``None``
        when that id is not there.
        """
        side_mm = self.layout.side_mm
        patch = self.rectified(pose, marker_id, 1.5 * side_mm, _SETTINGS.patch_module_px * 6 / side_mm)
        if patch is None:
            return None
        for sighting in self.finder.filling(_stretch_contrast(patch.image)):
            if sighting.marker_id == marker_id:
                corners = patch.to_pixels(sighting.corners_px)
                refined = refine_quad(self.grey, corners)
                return Marker(marker_id, corners if refined is None else refined, FoundBy.EXPECTED)
        return self.match(pose, marker_id)

    def match(self, pose: Pose, marker_id: int) -> Marker | None:
        """Find one marker by its pattern near its expected position; ``None`` when nothing there matches.

        It must be similar to this marker, and clearly less similar to the layout's others.
        """
        view = self._view(pose, marker_id, _SETTINGS.search_sides)
        if view is None:
            return None
        patch, light, side_px = view
        likeness, place, template = self._best_match(light, marker_id, side_px)
        if likeness < _SETTINGS.least_likeness:
            return None
        for other in self.layout.centres_mm:
            if other != marker_id:
                rival, _, _ = self._best_match(light, other, side_px, (0.3,))
                if likeness < rival + _SETTINGS.least_lead:
                    return None
        return _align(patch, light, side_px, place, template, marker_id)

    def similarity(self, pose: Pose, marker_id: int) -> float:
        """Return the correlation (-1 to 1) between a marker and its expected position in the picture, at the best blur.

        A half-covered marker scores as its better half. 0 for a position outside the picture.
        """
        view = self._view(pose, marker_id, _SETTINGS.refine_sides)
        if view is None:
            return 0.0
        _, light, side_px = view
        likeness, place, template = self._best_match(light, marker_id, side_px)
        column, row = place.astype(int)
        size = template.shape[0]
        seen = light[row : row + size, column : column + size]
        half = size // 2
        halves = np.s_[:half, :], np.s_[half:, :], np.s_[:, :half], np.s_[:, half:]
        return max(
            likeness,
            *(float(cv2.matchTemplate(seen[part], template[part], cv2.TM_CCOEFF_NORMED)[0, 0]) for part in halves),
        )

    def refined(self, pose: Pose, marker: Marker) -> Marker:
        """Measure a marker that was found and agrees with the pose again, by its whole pattern.

        All edges of the code count, not only the outline, so blur and noise matter less. The marker is returned
        unchanged when its pattern does not fit, for example when a finger lies across it.
        """
        view = self._view(pose, marker.marker_id, _SETTINGS.refine_sides)
        if view is None:
            return marker
        patch, light, side_px = view
        likeness, place, template = self._best_match(light, marker.marker_id, side_px)
        if likeness < _SETTINGS.least_likeness:
            return marker
        aligned = _align(patch, light, side_px, place, template, marker.marker_id)
        most_px = _SETTINGS.refine_sides * marker.side_px
        if aligned is None or np.linalg.norm(aligned.centre_px - marker.centre_px) > most_px:
            return marker
        return replace(marker, corners_px=aligned.corners_px)

    def rectified(self, pose: Pose, marker_id: int, half_mm: float, px_per_mm: float) -> RectifiedPatch | None:
        """Rectify the surroundings of one marker to a view from above; ``None`` when its centre is outside the picture.

        ``half_mm`` is half the side of the patch.
        """
        layout = self.layout
        x_mm, y_mm = layout.centres_mm[marker_id]
        middle = project(self.camera, pose, np.array([[x_mm, y_mm, layout.z_mm]]))[0]
        height, width = self.grey.shape
        if not (0 <= middle[0] < width and 0 <= middle[1] < height):
            return None
        side_mm = (2 * int(half_mm * px_per_mm) + 1) / px_per_mm
        window = PlaneWindow(x_mm - side_mm / 2, y_mm + side_mm / 2, side_mm, side_mm, layout.z_mm, px_per_mm)
        image = sample(self.grey, plane_map(self.camera, pose, window))
        return RectifiedPatch(image, np.array([x_mm, y_mm]), layout.z_mm, px_per_mm, self.camera, pose)

    def _view(self, pose: Pose, marker_id: int, search_sides: float) -> tuple[RectifiedPatch, FloatImage, float] | None:
        """Return the patch around a marker, its linear light, and the marker's side on it in pixels, near the picture's
        scale.
        """
        expected = project(self.camera, pose, self.layout.corners_mm(marker_id))
        sides = np.linalg.norm(expected - np.roll(expected, -1, axis=0), axis=1)
        side_px = float(np.clip(1.25 * sides.max(), *_SETTINGS.patch_side_px))
        half_mm = self.layout.side_mm * (0.5 + _SETTINGS.border_modules / 6 + search_sides)
        patch = self.rectified(pose, marker_id, half_mm, side_px / self.layout.side_mm)
        if patch is None:
            return None
        return patch, np.asarray(undo_tone_curve(patch.image), dtype=np.float32), side_px

    def _best_match(
        self,
        light: FloatImage,
        marker_id: int,
        side_px: float,
        blurs_modules: Sequence[float] = _SETTINGS.blurs_modules,
    ) -> tuple[float, FloatArray, FloatImage]:
        """Return the best template's correlation (-1 to 1), its corner's position on the patch, and the template."""
        pattern = self.finder.pattern(marker_id)
        pattern = pattern[:, ::-1] if self.are_mirrored else pattern
        best: tuple[float, FloatArray, FloatImage] = (-1.0, np.zeros(2), np.zeros((1, 1), dtype=np.float32))
        sharp = _template(pattern, side_px)
        for blur in blurs_modules:
            spread_px = max(blur * side_px / pattern.shape[0], 0.3)
            template = np.asarray(cv2.GaussianBlur(sharp, (0, 0), spread_px), dtype=np.float32)
            scores = cv2.matchTemplate(light, template, cv2.TM_CCOEFF_NORMED)
            _, likeness, _, place = cv2.minMaxLoc(scores)
            if likeness > best[0]:
                best = (float(likeness), np.asarray(place, dtype=np.float64), template)
        return best


def _stretch_contrast(patch: Image) -> Image:
    low, high = np.percentile(patch, (2, 98))
    levels = np.clip((np.arange(256) - low) * (255 / max(high - low, 8.0)), 0, 255)
    return np.asarray(cv2.LUT(patch, levels.astype(np.uint8)), dtype=np.uint8)


def _align(
    patch: RectifiedPatch, light: FloatImage, side_px: float, place: FloatArray, template: FloatImage, marker_id: int
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


def _template(pattern: Image, side_px: float) -> FloatImage:
    """Draw a marker with part of its white border, ``side_px`` wide without the border; float32, 0 to 255."""
    modules = pattern.shape[0]
    oversampling = 4
    module_px = side_px / modules
    size = int(side_px + 2 * _SETTINGS.border_modules * module_px)
    fine = (np.arange(size * oversampling) + 0.5) / oversampling
    # rounding the size must not move the marker's centre off the template's centre
    index = np.floor((fine - (size - side_px) / 2) / module_px).astype(int)
    framed = np.pad(pattern, 1, constant_values=255)
    drawn = framed[np.ix_(index + 1, index + 1)].astype(np.float32)
    return np.asarray(cv2.resize(drawn, (size, size), interpolation=cv2.INTER_AREA), dtype=np.float32)
