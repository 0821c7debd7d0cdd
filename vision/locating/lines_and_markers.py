"""The board's pose from its lines together with the remaining markers, each weighted by its sharpness.

One marker fixes the pose near itself, but a small error in its corners moves the far side of the board by millimetres,
and blurred markers contradict each other. The lines cover the whole board and fix the pose up to whole squares and
quarter turns. A marker, even a blurred one, resolves which of these it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.pieces import Ink
from vision.layout.surfaces import GridSurface
from vision.layout.table import TableLayout
from vision.locating.edges import Edges
from vision.locating.lattice import (
    BoardSighting,
    KnownPoints,
    MarkerSighting,
    clear_boards,
    fit_to_lines,
    symmetric_poses,
)
from vision.locating.markers import FoundBy, Marker
from vision.locating.patterns import MarkerPatterns
from vision.locating.pose import PoseFit, agrees, corner_pairs, marker_error_px
from vision.locating.refinement import grid_agrees, refine_by_grid
from vision.locating.steps import Steps
from vision.opencv import as_grey


@dataclass(frozen=True)
class FusionSettings:
    """Weights of markers relative to lines. Set by hand on ray-traced pictures with one to three markers left."""

    sharp_weight: float = 30.0
    """Weight of a sharp marker's corner. An edge has the square root of its length in pixels."""
    blurred_weight: float = 8.0
    """The same for a marker found only after sharpening, enlarging or equalising, or by its outline or pattern."""
    same_lines_mm: float = 2.5
    """Maximum distance, in mm, between the board's corners by edges and by line centres. Higher: may mix up lines."""
    few_markers: int = 2
    """Number of sharp markers up to which lines are searched for all over the picture, if the markers leave doubt."""
    enough_markers: int = 4
    """Number of markers below which a pose with a blurred one is in doubt. Higher: lines are searched more often."""
    clearly_likelier: float = 0.35
    """Minimum lead of one orientation, in the sum of the markers' squared similarities, each up to 1."""
    boards: int = 2
    """Number of grids among a picture's edges that are tried. More: slower."""


_SETTINGS = FusionSettings()
_SHARP = frozenset({FoundBy.PLAIN, FoundBy.THOROUGH, FoundBy.EXPECTED, FoundBy.SEEN_AGAIN, FoundBy.AVERAGED})


def fit_lines_and_markers(
    edges: Edges, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> BoardSighting | None:
    """Fit a nearby pose to markers and the board's lines; ``None`` where too few lines are visible."""
    return fit_to_lines(edges, camera, pose, layout.board, _known_corners(layout, markers))


def refine_by_lines(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> Pose | None:
    """Fit a pose from few markers to the lines as well; ``None`` if there is one marker and the lines contradict it.

    Edges lead to the lines from further away, and also on boards of two colours. The lines' centres are then measured
    more exactly along their whole length, and used as long as they agree with the edges.
    """
    together = fit_lines_and_markers(Edges.detect(as_grey(image), camera), camera, pose, layout, markers)
    start = pose if together is None or not together.is_clear else together.pose
    measured = refine_by_grid(image, camera, start, layout, markers)
    if start is pose:
        return measured if len(markers) > 1 or grid_agrees(image, camera, measured, layout) else None
    return measured if _corner_shift_mm(camera, measured, start, layout.board) < _SETTINGS.same_lines_mm else start


def _corner_shift_mm(camera: CameraModel, first: Pose, second: Pose, surface: GridSurface) -> float:
    """Return the largest distance on the board between its corners at two poses."""
    corners = surface.bounds_mm.corners_mm(surface.height_mm)
    seen = back_project(camera, first, project(camera, second, corners), surface.height_mm)
    return float(np.linalg.norm(seen - corners, axis=1).max())


def _known_corners(layout: TableLayout, markers: Sequence[Marker]) -> KnownPoints | None:
    if not markers:
        return None
    points, pixels = corner_pairs(layout.markers, markers)
    weights = [_SETTINGS.sharp_weight if marker.found_by in _SHARP else _SETTINGS.blurred_weight for marker in markers]
    return KnownPoints(points, pixels, np.repeat(weights, 4))


def fit_by_lines(patterns: MarkerPatterns, layout: TableLayout, markers: Sequence[Marker]) -> Steps[PoseFit | None]:
    """Return the pose by the board's lines, turned and moved by whole squares so that most markers are where they were
    seen.

    Otherwise the markers' positions decide that look most like the markers, which works even for markers too blurred
    or covered to be detected. ``None`` where no board is found, where the orientation stays open, where the lines
    contradict every marker, and where several sheets can't be told apart.
    """
    camera, surface = patterns.camera, layout.surfaces[0]
    if not isinstance(surface, GridSurface) or (isinstance(surface.pieces, Ink) and not markers):
        return None
    seen = [
        MarkerSighting(
            marker.corners_px, layout.markers.side_mm, layout.markers.corners_mm(marker.marker_id).mean(axis=0)
        )
        for marker in markers
    ]
    boards = yield from clear_boards(patterns.grey, camera, layout.board, seen)
    yield
    for edges, sighting in boards[: _SETTINGS.boards]:
        poses = _most_agreeing_poses(camera, symmetric_poses(sighting.pose, layout.board), layout, markers)
        similarities = [_total_similarity(patterns, pose) for pose in poses]
        order = np.argsort(similarities)[::-1]
        if not poses or (
            len(poses) > 1 and similarities[order[0]] - similarities[order[1]] < _SETTINGS.clearly_likelier
        ):
            continue
        first = order[0]
        used = _markers_in_place(patterns, poses[first], markers)
        fitted = fit_lines_and_markers(edges, camera, poses[first], layout, used)
        if fitted is not None and fitted.is_clear:
            unused = tuple(one for one in markers if one.marker_id not in {other.marker_id for other in used})
            errors = [marker_error_px(camera, fitted.pose, layout.markers, one) for one in used]
            error_px = float(np.sqrt(np.mean(np.square(errors)))) if errors else 0.0
            return PoseFit(fitted.pose, used, unused, error_px, by_lines=True)
    return None


def _most_agreeing_poses(
    camera: CameraModel, poses: Sequence[Pose], layout: TableLayout, markers: Sequence[Marker]
) -> Sequence[Pose]:
    """Return the poses that agree with most markers: of these or, if none agrees with any, of those a square farther.

    Returns all of them if no marker was seen.
    """
    if not markers:
        return poses
    steps = [step * layout.board.cell_mm for step in (-1, 0, 1)]
    farther = [
        Pose(pose.rotation, pose.translation + pose.rotation @ np.array([x_mm, y_mm, 0.0]))
        for pose in poses
        for x_mm in steps
        for y_mm in steps
    ]
    for candidates in (poses, farther):
        agreeing = [_count_agreeing_markers(camera, pose, layout, markers) for pose in candidates]
        if max(agreeing) > 0:
            return [pose for pose, count in zip(candidates, agreeing, strict=True) if count == max(agreeing)]
    return ()


def _count_agreeing_markers(camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]) -> int:
    """Return the number of ids whose marker's centre is nearer than half its side to where a pose puts it."""
    centres = np.array([(*layout.markers.centres_mm[marker.marker_id], layout.markers.z_mm) for marker in markers])
    away_px = np.linalg.norm(project(camera, pose, centres) - [marker.centre_px for marker in markers], axis=1)
    return len({one.marker_id for one, away in zip(markers, away_px.tolist(), strict=True) if away < one.side_px / 2})


def _total_similarity(patterns: MarkerPatterns, pose: Pose) -> float:
    """Return the total similarity of the markers' positions to the markers; small values count little."""
    likeness = [patterns.similarity(pose, marker_id) for marker_id in patterns.layout.centres_mm]
    return float(np.sum(np.square(np.maximum(likeness, 0.0))))


def has_few_sharp_markers(markers: Sequence[Marker]) -> bool:
    """Return whether so few markers are sharp that the board's lines may be more reliable."""
    return len({marker.marker_id for marker in markers if marker.found_by in _SHARP}) <= _SETTINGS.few_markers


def is_imprecise(fit: PoseFit) -> bool:
    """Return whether a pose rests on markers so few and blurred that the board's lines are more reliable."""
    return len(fit.ids) < _SETTINGS.enough_markers and any(marker.found_by not in _SHARP for marker in fit.used)


def _markers_in_place(patterns: MarkerPatterns, pose: Pose, markers: Sequence[Marker]) -> tuple[Marker, ...]:
    """Return the marker of each id that is where a pose puts it."""
    camera, layout = patterns.camera, patterns.layout
    in_place = []
    for marker_id in sorted(layout.centres_mm):
        seen = [marker for marker in markers if marker.marker_id == marker_id]
        if not any(agrees(camera, pose, layout, marker) for marker in seen):
            found = patterns.find(pose, marker_id)
            seen = [] if found is None else [found]
        agreeing = [marker for marker in seen if agrees(camera, pose, layout, marker)]
        if agreeing:
            in_place.append(min(agreeing, key=lambda one: marker_error_px(camera, pose, layout, one)))
    return tuple(in_place)
