"""The board's pose from its lines and from what its markers still show, each weighed by how sharply it is seen.

One marker fixes the pose near itself, but a small error in its corners swings the far side of the board by millimetres;
blurred ones contradict each other. The lines lie all over the board and say where it is to a square; which of its sides
is which a marker tells, however blurred.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.edges import Edges
from vision.locating.lattice import BoardSighting, PointsSeen, boards_in, fit_to_lines, turned
from vision.locating.markers import FoundBy, Marker, MarkerDetector
from vision.locating.patterns import find_expected, likeness_there
from vision.locating.pose import PoseFit, agreement_px, corner_pairs, marker_error_px
from vision.locating.refinement import grid_agrees, refine_by_grid
from vision.opencv import as_grey


@dataclass(frozen=True)
class FusionSettings:
    """What markers say beside lines. Set by hand on ray-traced pictures with one to three markers left."""

    sharp_weight: float = 30.0
    """Weight of a corner of a marker that was found as it is, beside an edge's, the root of its length in pixels."""
    blurred_weight: float = 8.0
    """The same of one that had to be sharpened, enlarged or equalised, or was told by its outline or pattern."""
    same_lines_mm: float = 2.5
    """How far apart, in mm, edges and lines' middles may put the board's corners. Farther: other lines are met."""
    few_markers: int = 2
    """Sharp markers up to which lines are looked for all over the picture, where others contradict them ..."""
    enough_markers: int = 4
    """... or are blurred and these few at most. Higher: more often, slower."""
    clearly_likelier: float = 0.35
    """By how much the sum of the markers' squared likeness, each up to 1, must lead from one side of the board."""
    boards: int = 2
    """Grids among a picture's edges that are tried. More: slower."""


_SETTINGS = FusionSettings()
_SHARP = frozenset({FoundBy.PLAIN, FoundBy.THOROUGH, FoundBy.EXPECTED, FoundBy.SEEN_AGAIN, FoundBy.AVERAGED})


def fit_together(
    edges: Edges, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> BoardSighting | None:
    """Fit a pose nearby to markers and the board's lines; ``None`` where too few lines show."""
    return fit_to_lines(edges, camera, pose, layout.board, _corners(layout, markers))


def refined_by_lines(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> Pose | None:
    """A pose from few markers, fitted to them and to the board's lines; ``None`` where lines refute the only one.

    Edges lead to the lines from afar, and on boards of two colours too. The lines' middles are then measured more
    exactly along their whole length, which holds as long as it agrees with the edges.
    """
    together = fit_together(Edges.of(as_grey(image), camera), camera, pose, layout, markers)
    start = pose if together is None or not together.is_clear else together.pose
    measured = refine_by_grid(image, camera, start, layout, markers)
    if start is pose:
        return measured if len(markers) > 1 or grid_agrees(image, camera, measured, layout) else None
    return measured if _apart_mm(camera, measured, start, layout.board) < _SETTINGS.same_lines_mm else start


def _apart_mm(camera: CameraModel, first: Pose, second: Pose, surface: GridSurface) -> float:
    """How far apart on the board two poses put its corners, at most."""
    corners = surface.bounds_mm.corners_mm(surface.height_mm)
    seen = back_project(camera, first, project(camera, second, corners), surface.height_mm)
    return float(np.linalg.norm(seen - corners, axis=1).max())


def _corners(layout: TableLayout, markers: Sequence[Marker]) -> PointsSeen | None:
    if not markers:
        return None
    points, pixels = corner_pairs(layout.markers, markers)
    weights = [_SETTINGS.sharp_weight if marker.found_by in _SHARP else _SETTINGS.blurred_weight for marker in markers]
    return PointsSeen(points, pixels, np.repeat(weights, 4))


def fit_by_lines(
    grey: Image, camera: CameraModel, layout: TableLayout, markers: Sequence[Marker], finder: MarkerDetector
) -> PoseFit | None:
    """The pose by the board's lines, from the side from which the markers' places look most like the markers.

    Markers too blurred or covered to be found still tell that. ``None`` where no board shows, or where they don't, and
    where nothing says which of several sheets it is.
    """
    surface = layout.surfaces[0]
    if not isinstance(surface, GridSurface) or (isinstance(surface.pieces, Ink) and not markers):
        return None
    for edges, sighting in islice(boards_in(grey, camera, layout.board), _SETTINGS.boards):
        poses = turned(sighting.pose, layout.board)
        alike = [_alike(grey, camera, pose, layout, finder) for pose in poses]
        second, first = np.argsort(alike)[-2:]
        if alike[first] - alike[second] < _SETTINGS.clearly_likelier:
            continue
        used = _there(grey, camera, poses[first], layout, markers, finder)
        fitted = fit_together(edges, camera, poses[first], layout, used)
        if fitted is not None and fitted.is_clear:
            unused = tuple(one for one in markers if one.marker_id not in {other.marker_id for other in used})
            errors = [marker_error_px(camera, fitted.pose, layout.markers, one) for one in used]
            error_px = float(np.sqrt(np.mean(np.square(errors)))) if errors else 0.0
            return PoseFit(fitted.pose, used, unused, error_px, by_lines=True)
    return None


def _alike(grey: Image, camera: CameraModel, pose: Pose, layout: TableLayout, finder: MarkerDetector) -> float:
    """How much the markers' places look like the markers: the sum of their likeness, of which small ones say little."""
    ids = layout.markers.centres_mm
    likeness = [likeness_there(grey, camera, pose, layout.markers, marker_id, finder) for marker_id in ids]
    return float(np.sum(np.square(np.maximum(likeness, 0.0))))


def few_sharp(markers: Sequence[Marker]) -> bool:
    """Whether so few markers are seen sharply that the board's lines may know better what contradicts them."""
    return len({marker.marker_id for marker in markers if marker.found_by in _SHARP}) <= _SETTINGS.few_markers


def is_rough(fit: PoseFit) -> bool:
    """Whether a pose rests on so few markers, and on such blurred ones, that the board's lines know better."""
    return len(fit.ids) < _SETTINGS.enough_markers and any(marker.found_by not in _SHARP for marker in fit.used)


def _there(
    grey: Image,
    camera: CameraModel,
    pose: Pose,
    layout: TableLayout,
    markers: Sequence[Marker],
    finder: MarkerDetector,
) -> tuple[Marker, ...]:
    """The marker of each id that is where a pose puts it."""
    there = []
    for marker_id in sorted(layout.markers.centres_mm):
        seen = [marker for marker in markers if marker.marker_id == marker_id]
        if not any(_agrees(camera, pose, layout, marker) for marker in seen):
            found = find_expected(grey, camera, pose, layout.markers, marker_id, finder)
            seen = [] if found is None else [found]
        agreeing = [marker for marker in seen if _agrees(camera, pose, layout, marker)]
        if agreeing:
            there.append(min(agreeing, key=lambda one: marker_error_px(camera, pose, layout.markers, one)))
    return tuple(there)


def _agrees(camera: CameraModel, pose: Pose, layout: TableLayout, marker: Marker) -> bool:
    return marker_error_px(camera, pose, layout.markers, marker) <= agreement_px(layout.markers, marker)
