"""The board's pose from its lines together with the remaining markers, each weighted by its sharpness.

One marker fixes the pose near itself, but a small error in its corners moves the far side of the board by millimetres,
and blurred markers contradict each other. The lines cover the whole board and fix the pose up to whole squares and
quarter turns. A marker, even a blurred one, resolves which of these it is.

When few markers are visible, lines found slightly off their expected position correct the pose (Gauss-Newton on
point-to-line distances, weighted as in Huber 1964).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.pieces import GridSurface, Ink
from vision.layout.table import TableLayout
from vision.locating import lattice
from vision.locating.markers import FoundBy, Marker
from vision.locating.patterns import MarkerPatterns
from vision.locating.pose import PoseFit, agrees, corner_pairs, marker_error_px, refine_pose
from vision.opencv import as_grey
from vision.sampling import sample
from vision.surface.plan import grid_segments
from vision.surface.view import SurfaceSampler


@dataclass(frozen=True)
class RefinementSettings:
    """How grid lines are searched for, and when they confirm a pose. Set by hand on virtual and ray-traced pictures."""

    search_mm: float = 9.0
    """Search distance around a line's expected position, in mm. Higher: tolerates worse poses, may find the next line.
    """
    step_mm: float = 0.5
    """Step of that search, in mm."""
    on_line_mm: float = 0.9
    """Distance, in mm, from a line's expected position within which its brightness is measured."""
    beside_mm: tuple[float, float] = (3.0, 6.0)
    """Minimum and maximum distance, in mm, at which the brightness beside a line is measured."""
    agreeing_mm: float = 1.5
    """Distance, in mm, within which a line is at its expected position."""
    agreeing_share: float = 0.5
    """Share of the clear lines that must be. Higher: fewer poses are confirmed."""
    fewest_lines: int = 20
    """Minimum number of clear lines."""
    line_contrast: float = 0.05
    """Minimum step in log brightness of a clear line. Higher: ignores wood grain, and faint lines."""
    rounds: int = 3
    """Number of times that lines are searched for again from the improved pose."""
    steps_a_round: int = 4
    """Gauss-Newton steps each time."""
    huber_px: float = 1.0
    """Distance, in pixels, above which a line gets less weight (Huber 1964)."""
    marker_weight: float = 2.0
    """Weight of the markers relative to all lines together. Higher: the pose stays closer to the markers."""
    heights_mm: tuple[float, float, float] = (0.0, 50.0, 0.5)
    """Least and greatest height of a board that its lines are compared with, and the step, in mm."""
    fitting_share: float = 0.85
    """Share of the best contrast above which a height fits as well as the best one. Higher: small errors are noticed,
    also where there are none.
    """


_GRID = RefinementSettings()
OFFSETS_MM = np.arange(-_GRID.search_mm, _GRID.search_mm + _GRID.step_mm / 2, _GRID.step_mm)
"""Offsets across a line, in mm, at which it is searched for."""
GRID_ALONG = np.linspace(0.1, 0.9, 17)
"""Positions along a line segment, as shares of its length, without its crossings. More: less noise, slower."""


def refine_by_grid(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> Pose:
    """Refine a pose so that its grid lies on the visible lines. The pose is returned unchanged when too few lines are
    found or their contrast does not improve.

    ``markers`` are the detections the pose is based on; the new pose is fitted to them as well, with ``marker_weight``.
    """
    best = pose
    for _ in range(_GRID.rounds):
        points, targets, normals = _seen_lines(image, camera, best, layout)
        if len(points) < _GRID.fewest_lines * len(GRID_ALONG) // 2:
            return pose
        best = _adjust_pose(camera, best, layout, markers, points, targets, normals)
    gained = grid_contrast(image, camera, best, layout) > grid_contrast(image, camera, pose, layout)
    return best if gained else pose


def _segments(surface: GridSurface) -> tuple[FloatArray, FloatArray]:
    """Return points along each grid line segment, (segments, points, 2), and the direction across it, (segments, 2)."""
    ends = grid_segments(surface).reshape(-1, 2, 2)
    ways = ends[:, 1] - ends[:, 0]
    across = np.column_stack([-ways[:, 1], ways[:, 0]]) / np.hypot(ways[:, 0], ways[:, 1])[:, None]
    return ends[:, :1] + GRID_ALONG[:, None] * ways[:, None], across


def _profiles(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout) -> FloatArray:
    """Return log brightness across each grid line segment, averaged along it; shape (segments, offsets)."""
    view = SurfaceSampler(camera, pose, layout.board).view(image, ())
    shade = np.asarray(np.log(view.light.mean(axis=2) + 0.004), dtype=np.float32)
    along, across = _segments(layout.board)
    pixels = view.window.pixels_of(along[:, None] + across[:, None, None] * OFFSETS_MM[:, None, None])
    levels = sample(shade, pixels.reshape(len(along), -1, 2).astype(np.float32)).reshape(pixels.shape[:-1])
    return np.asarray(levels.mean(axis=2), dtype=np.float64)


def _polarity(profiles: FloatArray) -> float:
    """Return -1 for a board with dark lines, 1 for one with bright lines."""
    middle = np.median(profiles, axis=1)
    dark = float(np.median(middle - profiles.min(axis=1)))
    bright = float(np.median(profiles.max(axis=1) - middle))
    return 1.0 if bright > dark else -1.0


def grid_contrast(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout) -> float:
    """Return the contrast of the lines at a pose: the median step in log brightness from beside a line onto it."""
    profiles = _profiles(image, camera, pose, layout)
    off_mm, (near_mm, far_mm) = np.abs(OFFSETS_MM), _GRID.beside_mm
    on, beside = off_mm < _GRID.on_line_mm, (off_mm > near_mm) & (off_mm < far_mm)
    return float(np.median(_polarity(profiles) * (profiles[:, on].mean(axis=1) - profiles[:, beside].mean(axis=1))))


def better_height_mm(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, *, clearly: bool = True
) -> float | None:
    """Return the height of the board's top above the table at which its grid lies on the visible lines, if the layout's
    height puts it less well there, and ``clearly`` so; ``None`` if it does not, or no lines are clear.

    The pose has to be that of markers, so that the lines had no part in it.
    """

    def contrast(height_mm: float) -> float:
        board = replace(layout.board, height_mm=height_mm)
        return abs(grid_contrast(image, camera, pose, replace(layout, surfaces=(board, *layout.surfaces[1:]))))

    low, high, step = _GRID.heights_mm
    heights_mm = np.arange(low, high + step / 2, step)
    contrasts = [contrast(float(height_mm)) for height_mm in heights_mm]
    best = int(np.argmax(contrasts))
    share = _GRID.fitting_share if clearly else 1.0
    if contrasts[best] < 2 * _GRID.line_contrast or contrast(layout.board.height_mm) >= share * contrasts[best]:
        return None
    return float(heights_mm[best])


def grid_agrees(image: Image, camera: CameraModel, pose: Pose, layout: TableLayout) -> bool:
    """Return whether most of the clear grid lines are within 1.5 mm of their expected position."""
    profiles = _profiles(image, camera, pose, layout)
    profiles = _polarity(profiles) * profiles
    peaks = profiles.max(axis=1) - np.median(profiles, axis=1)
    clear = peaks > _GRID.line_contrast
    near = np.abs(OFFSETS_MM[profiles.argmax(axis=1)]) <= _GRID.agreeing_mm
    return bool(clear.sum() >= _GRID.fewest_lines and near[clear].mean() > _GRID.agreeing_share)


def _seen_lines(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return world points on grid lines (n, 3), the pixels where the lines are seen (n, 2), and normals in pixels (n,
    2).
    """
    profiles = _profiles(image, camera, pose, layout)
    profiles = _polarity(profiles) * profiles
    along, across = _segments(layout.board)
    at = profiles.argmax(axis=1)
    shifts = OFFSETS_MM[at]
    clear = profiles.max(axis=1) - np.median(profiles, axis=1) > _GRID.line_contrast
    clear &= (at > 0) & (at < len(OFFSETS_MM) - 1)
    is_level = np.abs(across[:, 1]) > 0.5
    for way in (is_level, ~is_level):
        own = clear & way
        # a block's edge or wood grain can be darker than the line: shifts far from the usual one are rejected
        if own.any():
            clear &= ~way | (np.abs(shifts - np.median(shifts[own])) <= _GRID.search_mm / 2)
    along, steps = along[clear], np.pad(across[clear], ((0, 0), (0, 1)))[:, None]
    world = np.dstack([along, np.full(along.shape[:2], layout.board.height_mm)])
    seen = project(camera, pose, world + steps * shifts[clear, None, None])
    beside = project(camera, pose, world + steps) - project(camera, pose, world)
    normals = beside / np.maximum(np.linalg.norm(beside, axis=1, keepdims=True), 1e-9)
    return world.reshape(-1, 3), seen, normals


def _adjust_pose(
    camera: CameraModel,
    pose: Pose,
    layout: TableLayout,
    markers: Sequence[Marker],
    points: FloatArray,
    targets: FloatArray,
    normals: FloatArray,
) -> Pose:
    count = len(points)
    directions = normals
    weights = np.full(count, 1.0 / np.sqrt(max(1, count)))
    if markers:
        corners_mm, corners_px = corner_pairs(layout.markers, markers)
        points, targets = np.concatenate([points, corners_mm]), np.concatenate([targets, corners_px])
        directions = np.concatenate([normals, np.zeros_like(corners_px)])
        marker_weight = _GRID.marker_weight / np.sqrt(2 * len(corners_mm))
        weights = np.concatenate([weights, np.full(len(corners_mm), marker_weight)])
    for _ in range(_GRID.steps_a_round):
        off = np.abs(((project(camera, pose, points[:count]) - targets[:count]) * normals).sum(axis=1))
        huber = np.sqrt(np.minimum(1.0, _GRID.huber_px / np.maximum(off, 1e-9)))
        weighted = weights * np.concatenate([huber, np.ones(len(points) - count)])
        pose = refine_pose(camera, pose, points, targets, directions=directions, weights=weighted, steps=1)
    return pose


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
    edges: lattice.Edges, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> lattice.BoardSighting | None:
    """Fit a nearby pose to markers and the board's lines; ``None`` where too few lines are visible."""
    return lattice.fit_to_lines(edges, camera, pose, layout.board, _known_corners(layout, markers))


def refine_by_lines(
    image: Image, camera: CameraModel, pose: Pose, layout: TableLayout, markers: Sequence[Marker]
) -> Pose | None:
    """Fit a pose from few markers to the lines as well; ``None`` if there is one marker and the lines contradict it.

    Edges lead to the lines from further away, and also on boards of two colours. The lines' centres are then measured
    more exactly along their whole length, and used as long as they agree with the edges.
    """
    together = fit_lines_and_markers(lattice.Edges.detect(as_grey(image), camera), camera, pose, layout, markers)
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


def _known_corners(layout: TableLayout, markers: Sequence[Marker]) -> lattice.KnownPoints | None:
    if not markers:
        return None
    points, pixels = corner_pairs(layout.markers, markers)
    weights = [_SETTINGS.sharp_weight if marker.found_by in _SHARP else _SETTINGS.blurred_weight for marker in markers]
    return lattice.KnownPoints(points, pixels, np.repeat(weights, 4))


def fit_by_lines(
    patterns: MarkerPatterns, layout: TableLayout, markers: Sequence[Marker]
) -> lattice.Steps[PoseFit | None]:
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
        lattice.MarkerSighting(
            marker.corners_px, layout.markers.side_mm, layout.markers.corners_mm(marker.marker_id).mean(axis=0)
        )
        for marker in markers
    ]
    boards = yield from lattice.clear_boards(patterns.grey, camera, layout.board, seen)
    yield
    for edges, sighting in boards[: _SETTINGS.boards]:
        poses = _most_agreeing_poses(camera, lattice.symmetric_poses(sighting.pose, layout.board), layout, markers)
        similarities = [_total_similarity(patterns, pose) for pose in poses]
        order = np.argsort(similarities)[::-1]
        rivals = [similarities[index] for index in order[1:2]]
        if not any(marker.is_decoded for marker in markers):
            # a grid looks the same in a mirror, and only a decoded marker surely does not
            rivals += [_total_similarity(patterns.mirrored(), pose) for pose in poses]
        if not poses or similarities[order[0]] - max(rivals, default=-np.inf) < _SETTINGS.clearly_likelier:
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
