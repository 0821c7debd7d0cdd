"""Locating a board without markers, as a grid of equal squares among the picture's straight edges.

Directions shared by many edges give candidate rotations of the board. Under the right
rotation the board's lines form two families, each equally spaced by the same pitch. Where a pattern with the layout's
number of lines fits both families, the pose follows, because the camera is calibrated and the size of a square is
known. The pose is then fitted to the edges on the lines. The candidate with the most visible lines, ending at the rim,
wins. A grid looks the same from all four sides (or two), so a pose may be off by such a turn; ``symmetric_poses``
returns the others. Under each rotation, a marker in sight says how far away the board is and where, so that few
patterns are left to try. All this is made in steps, so that a film's frames are read meanwhile.

A straight edge and the camera's centre span a plane. The planes of edges that are parallel on the table share one
direction: that of their vanishing point (Barnard 1983). With a calibrated camera, two such directions at right angles
are the sides of a board and give its rotation.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import TypeAlias, TypeVar, cast

import cv2
import numpy as np

from vision.frame import BoolImage, FloatArray, Image, IndexArray
from vision.geometry import CameraModel, Pose, project
from vision.layout.pieces import GridSurface
from vision.locating.pose import refine_pose
from vision.opencv import undistort_points


@dataclass(frozen=True)
class EdgeSettings:
    """How edges are selected and grouped by direction. Set by hand on ray-traced pictures whose markers were painted
    over.
    """

    most_edges: int = 500
    """Number of edges used, the longest first. More: fainter boards are found, slower."""
    shortest_px: float = 8.0
    """Minimum length of an edge, in pixels."""
    proposing: int = 60
    """Number of the longest edges that propose directions, pair by pair. More: slower."""
    voting: int = 250
    """Number of the longest edges that vote for the proposed directions."""
    parallel_deg: float = 1.5
    """Angle in the picture within which an edge points in a direction. Wider: rougher edges count, and more strays."""
    directions: int = 14
    """Number of directions with most votes that are tried as a side of the board."""
    crossings: int = 4
    """Number of directions at right angles to each that are tried."""
    apart_deg: float = 1.5
    """Angle above which two directions count as different."""
    same_turn_deg: float = 0.7
    """Angle between axes below which two rotations count as the same."""
    most_tilt_deg: float = 72.0
    """Maximum angle between the camera's axis and straight down."""


_EDGE_SETTINGS = EdgeSettings()


@dataclass(frozen=True, eq=False)
class Edges:
    """Straight edges, longest first.

    ``ends_px`` (n, 2, 2) are their ends in distorted pixels. ``rays`` (n, 2, 3) are the same as directions from the
    camera, with depth 1. ``planes`` (n, 3) are unit normals of the planes they span with the camera's centre,
    ``middles`` (n, 3) unit directions to their midpoints, ``lengths`` (n,) their lengths at depth 1.
    """

    ends_px: FloatArray
    rays: FloatArray
    planes: FloatArray
    middles: FloatArray
    lengths: FloatArray

    @classmethod
    def detect(cls, grey: Image, camera: CameraModel, reduction: int = 1) -> Edges:
        """Detect edges in a one-channel picture with OpenCV's line segment detector (von Gioi 2012).

        Detection runs on a picture reduced by the factor ``reduction``, in which blurred edges are sharp.
        """
        small = cv2.resize(grey, None, fx=1 / reduction, fy=1 / reduction, interpolation=cv2.INTER_AREA)
        found = cv2.createLineSegmentDetector(cv2.LSD_REFINE_STD).detect(small)[0]
        ends = np.zeros((0, 2, 2)) if found is None else np.asarray(found, dtype=np.float64).reshape(-1, 2, 2)
        # pixel centres are at whole numbers
        ends = (ends + 0.5) * reduction - 0.5
        long_px = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
        chosen = np.argsort(-long_px)[: _EDGE_SETTINGS.most_edges]
        ends = ends[chosen[long_px[chosen] >= _EDGE_SETTINGS.shortest_px]]
        flat = undistort_points(ends.reshape(-1, 2), camera.matrix, camera.distortion).reshape(-1, 2, 2)
        rays = np.concatenate([flat, np.ones((*flat.shape[:2], 1))], axis=2)
        planes = np.cross(rays[:, 0], rays[:, 1])
        return cls(ends, rays, _unit(planes), _unit(rays.mean(axis=1)), np.linalg.norm(flat[:, 1] - flat[:, 0], axis=1))

    def chosen(self, which: slice | IndexArray) -> Edges:
        """Return the edges of a slice, or those at some indices."""
        return Edges(*(getattr(self, part.name)[which] for part in fields(self)))

    def misalignment(self, directions: FloatArray) -> FloatArray:
        """Return the sine of the angle between each edge, at its midpoint, and each direction (m, 3); shape (m, n)."""
        across = np.cross(self.middles[None], directions[:, None])
        along = np.einsum("mnk,nk->mn", across, self.planes) / np.maximum(np.linalg.norm(across, axis=2), 1e-9)
        return np.asarray(np.sqrt(np.maximum(0.0, 1.0 - along**2)))

    def votes(self, directions: FloatArray) -> FloatArray:
        """Return the total length of the edges that point in each direction (m, 3), weighted by their precision; shape
        (m,).
        """
        within = np.sin(np.radians(_EDGE_SETTINGS.parallel_deg))
        return np.asarray(np.maximum(0.0, 1.0 - self.misalignment(directions) / within) @ self.lengths)


def _unit(vectors: FloatArray) -> FloatArray:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12))


def candidate_rotations(edges: Edges) -> list[FloatArray]:
    """Return possible rotations of a board under the camera, most likely first, as matrices (3, 3) from its frame.

    The columns are the board's two sides and its normal, which points to the camera. The order of the sides is
    arbitrary.
    """
    rotations: list[FloatArray] = []
    for first in _shared_directions(edges):
        for second in _perpendicular_directions(edges, first):
            rotation = _refine_rotation(edges, np.column_stack([first, second, np.cross(first, second)]))
            if rotation[2, 2] > 0:
                rotation = np.column_stack([rotation[:, 1], rotation[:, 0], -rotation[:, 2]])
            too_flat = -rotation[2, 2] < np.cos(np.radians(_EDGE_SETTINGS.most_tilt_deg))
            if not too_flat and not any(_have_same_axes(rotation, other) for other in rotations):
                rotations.append(rotation)
    return rotations


def _have_same_axes(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two rotations have the same axes, in any order."""
    alike = np.abs(one.T @ other).max(axis=0).min()
    return bool(alike > np.cos(np.radians(_EDGE_SETTINGS.same_turn_deg)))


def _shared_directions(edges: Edges) -> Iterator[FloatArray]:
    """Yield the directions shared by most edges."""
    few = edges.chosen(slice(_EDGE_SETTINGS.proposing))
    first, second = np.triu_indices(len(few.lengths), 1)
    meeting = np.cross(few.planes[first], few.planes[second])
    size = np.linalg.norm(meeting, axis=1)
    apart = size > np.sin(np.radians(0.5))
    directions = meeting[apart] / size[apart, None]
    voters = edges.chosen(slice(_EDGE_SETTINGS.voting))
    parts = range(0, len(directions), _EDGE_SETTINGS.most_edges)
    votes = [voters.votes(directions[start : start + _EDGE_SETTINGS.most_edges]) for start in parts]
    yield from _distinct_directions(
        directions, np.concatenate(votes) if votes else np.zeros(0), _EDGE_SETTINGS.directions
    )


def _perpendicular_directions(edges: Edges, direction: FloatArray) -> Iterator[FloatArray]:
    """Yield the directions at right angles to one that most edges share, ignoring edges that point along that one."""
    across = np.cross(edges.planes, direction)
    size = np.linalg.norm(across, axis=1)
    own = edges.misalignment(direction[None])[0] < 2 * np.sin(np.radians(_EDGE_SETTINGS.parallel_deg))
    others = np.flatnonzero(~own & (size > 0.2))
    chosen = others[: _EDGE_SETTINGS.proposing]
    directions = across[chosen] / size[chosen, None]
    yield from _distinct_directions(directions, edges.chosen(others).votes(directions), _EDGE_SETTINGS.crossings)


def _distinct_directions(directions: FloatArray, votes: FloatArray, most: int) -> Iterator[FloatArray]:
    """Yield the directions with most votes, without near duplicates."""
    kept: list[FloatArray] = []
    for index in np.argsort(-votes):
        if len(kept) == most:
            return
        if all(abs(directions[index] @ other) < np.cos(np.radians(_EDGE_SETTINGS.apart_deg)) for other in kept):
            kept.append(directions[index])
            yield directions[index]


def _refine_rotation(edges: Edges, rotation: FloatArray) -> FloatArray:
    """Refine a rotation by least squares on all edges along its sides."""
    for _ in range(3):
        rows, errors = [], []
        for side in (rotation[:, 0], rotation[:, 1]):
            near = edges.misalignment(side[None])[0] < np.sin(np.radians(_EDGE_SETTINGS.parallel_deg))
            slant = np.linalg.norm(np.cross(edges.middles[near], side), axis=1)
            weight = np.sqrt(edges.lengths[near]) / np.maximum(slant, 1e-3)
            rows.append(weight[:, None] * np.cross(side, edges.planes[near]))
            errors.append(-weight * (edges.planes[near] @ side))
        moved = np.linalg.lstsq(np.concatenate(rows), np.concatenate(errors), rcond=None)[0]
        rotation = np.asarray(cv2.Rodrigues(moved)[0] @ rotation, dtype=np.float64)
    return rotation


ResultT = TypeVar("ResultT")

Steps: TypeAlias = Generator[None, None, ResultT]
"""Work that yields between its steps and returns a result."""


def run_to_end(steps: Steps[ResultT], pause: Callable[[], object] = lambda: None) -> ResultT:
    """Take all steps at once, with a ``pause`` between them, and return the result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return cast("ResultT", end.value)
        pause()


_ERROR_PX = 3.0
"""Error of a marker's side, in pixels, by which it may be seen turned, too long or too short."""
_CARELESS = 0.1
"""Further error of a side that was laid or measured carelessly, as an angle in radians and a share of its length.
Higher, like _ERROR_PX: more careless or blurred markers are allowed for, slower. Both set by hand on blurred ray-traced
pictures.
"""
_ASTRAY_SQUARES = 1.6
"""Distance from where a marker puts a board, in squares, up to which a board agrees with it. It is more than one, as
a board whose rim is hidden may be found a square off.
"""


@dataclass(frozen=True, eq=False)
class MarkerSighting:
    """A marker seen beside a board, with sides parallel to the board's: distorted pixels of its corners (4, 2), and in
    the board's frame its side and its centre (3,).
    """

    corners_px: FloatArray
    side_mm: float
    centre_mm: FloatArray


@dataclass(frozen=True, eq=False)
class BoardHint:
    """The board that a marker predicts under a rotation.

    ``pitch`` is the side of a square in units of the camera's height above the board, ``error`` its relative error.
    ``corners_mm`` (n, 2) are the positions, in the board's frame, of the board's first corner relative to the marker's
    centre, seen from each side from which the board looks the same. ``centre`` (2,) is the marker's centre from the
    camera's foot, in units of the camera's height above the marker, which is ``drop_mm`` more than above the board.
    """

    pitch: float
    error: float
    corners_mm: FloatArray
    centre: FloatArray
    drop_mm: float
    cell_mm: float

    @classmethod
    def of(
        cls, marker: MarkerSighting, rotation: FloatArray, camera: CameraModel, surface: GridSurface
    ) -> BoardHint | None:
        """Return what a marker says under a rotation, a matrix (3, 3) from the board's frame; ``None`` if it is no
        square along the board's sides there.
        """
        sides_px = np.linalg.norm(np.roll(marker.corners_px, -1, axis=0) - marker.corners_px, axis=1)
        error = _CARELESS + _ERROR_PX / max(float(sides_px.min()), 1.0)
        flat = undistort_points(marker.corners_px, camera.matrix, camera.distortion)
        rays = np.column_stack([flat, np.ones(len(flat))]) @ rotation
        if rays[:, 2].max() >= 0:
            return None
        points = rays[:, :2] / -rays[:, 2:]
        sides = (np.roll(points, -1, axis=0) - points) @ (1, 1j)
        lengths = np.abs(sides)
        # a fourth power is the same for directions a quarter turn apart
        skew_rad = abs(float(np.angle((sides**4).sum()))) / 4
        if skew_rad > error or np.abs(lengths / lengths.mean() - 1).max() > error:
            return None
        x_mm, y_mm, z_mm = marker.centre_mm.tolist()
        turned_mm = [(x_mm, y_mm), (-y_mm, x_mm), (-x_mm, -y_mm), (y_mm, -x_mm)]
        centres_mm = np.array(turned_mm if surface.columns == surface.rows else turned_mm[::2])
        drop_mm = surface.height_mm - z_mm
        above_mm = marker.side_mm / float(lengths.mean()) - drop_mm
        corners_mm = np.array([surface.bounds_mm.left_mm, surface.bounds_mm.near_mm]) - centres_mm
        return cls(surface.cell_mm / above_mm, error, corners_mm, points.mean(axis=0), drop_mm, surface.cell_mm)

    def allows(self, pitch: float, corner: tuple[float, float] | None = None) -> bool:
        """Return whether a board agrees with the marker: the side of a square and, if given, the position of the first
        corner from the camera's foot, both in units of the camera's height above the board.
        """
        if abs(np.log(pitch / self.pitch)) >= self.error:
            return False
        if corner is None:
            return True
        above_mm = self.cell_mm / pitch
        corners = (self.corners_mm + self.centre * (above_mm + self.drop_mm)) / above_mm
        return bool(np.abs(corners - corner).max(axis=1).min() < _ASTRAY_SQUARES * pitch)


@dataclass(frozen=True)
class LatticeSettings:
    """How a grid is searched for, and when it is accepted. Set by hand on ray-traced pictures whose markers were
    painted over.

    Lengths "in squares" are multiples of a square's side.
    """

    smallest_share: float = 0.15
    """Minimum depth of a board, as a share of the picture's height. Smaller: more distant boards, slower."""
    largest_share: float = 1.6
    """The corresponding maximum."""
    shrunk: tuple[int, ...] = (1, 2)
    """Factors by which the picture is reduced, tried one after the other. More: tolerates stronger blur, and is slower
    where there is no board.
    """
    pitch_step: float = 0.015
    """Relative step between the pitches that are tried."""
    steps_per_square: int = 12
    """Offsets per square at which the line pattern is tried."""
    beside_weight: float = 0.6
    """Weight of edges one offset beside a line."""
    offsets: int = 3
    """Number of offsets of each family that are combined with those of the other."""
    off_deg: float = 2.0
    """Angle in the picture within which an edge runs along a side."""
    horizon: float = 0.1
    """Cosine of the angle between a ray and straight down below which an edge is too near the horizon."""
    rotations_a_step: int = 5
    """Number of rotations that are tried in one step. More: a search takes fewer frames, and each of them longer."""
    tried: int = 60
    """Number of offset pairs, for each rotation, whose visible lines are measured."""
    fitted: int = 12
    """Number of the best candidates whose poses are fitted."""
    on_line: float = 0.14
    """Distance from a line, in squares, within which an edge lies on it, before the pose is fitted."""
    on_fitted_line: float = 0.07
    """The same after the pose was fitted. Wider: boards whose lines are broad or curved, and more strays."""
    between_lines: float = 0.25
    """Distance from every line, in squares, above which an edge lies between them."""
    beyond_weight: float = 0.7
    """Penalty for lines that continue beyond the rim or lie beside the board. Higher: the board is less often located
    one square off, and a table with lines of the same pitch disturbs more.
    """
    between_weight: float = 0.5
    """Penalty for edges between the lines. Higher: patterned boards are missed, wood grain is rejected."""
    rim_weight: float = 1.0
    """Extra weight of the rim's lines."""
    least_visibility: float = 0.45
    """Minimum visibility of the lines; all of them give about 1.2. Higher: more boards are missed, fewer are found
    where there is none.
    """
    least_lead: float = 0.05
    """Minimum lead in visibility over a grid elsewhere, if nothing else decides. Higher: a board with one side under an
    arm is less often located one square off, and less often found.
    """
    clearly_more: float = 0.1
    """Lead in visibility at which a pose one square away replaces the expected one."""
    fewest_points: int = 16
    """Minimum number of edge ends on lines for fitting a pose."""
    longest_px: float = 200.0
    """Length, in pixels, above which a longer edge gets no more weight."""
    huber_px: float = 1.0
    """Distance from its line, in pixels, above which an edge's end gets less weight (Huber 1964)."""


_SETTINGS = LatticeSettings()


@dataclass(frozen=True, eq=False)
class KnownPoints:
    """Table points (n, 3), the distorted pixels (n, 2) where they are seen, and weights relative to edges (n,)."""

    points_mm: FloatArray
    pixels: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class BoardSighting:
    """A board located by its lines: its pose, and the visibility of the lines, from 0 to about 1.2.

    ``error_px`` is the root mean square distance of edges from their lines.
    """

    pose: Pose
    visibility: float
    error_px: float

    @property
    def is_clear(self) -> bool:
        """Whether enough of the lines is visible to accept it."""
        return self.visibility >= _SETTINGS.least_visibility

    def is_elsewhere(self, other: BoardSighting, surface: GridSurface) -> bool:
        """Return whether its centre is more than half a square away from another's."""
        return float(np.linalg.norm(other.pose.translation - self.pose.translation)) > surface.cell_mm / 2

    def shows_clearly_more_than(self, other: BoardSighting | None) -> bool:
        """Return whether clearly more lines are visible than in another sighting; without one, whether any are."""
        return self.visibility > (0.0 if other is None else other.visibility + _SETTINGS.clearly_more)


def symmetric_poses(pose: Pose, surface: GridSurface) -> tuple[Pose, ...]:
    """Return the poses from which the board's lines look the same; the given pose comes first."""
    quarters = (0, 1, 2, 3) if surface.columns == surface.rows else (0, 2)
    about = (Pose.from_vectors((0.0, 0.0, np.pi / 2 * quarter), (0.0, 0.0, 0.0)).rotation for quarter in quarters)
    return tuple(Pose(pose.rotation @ turn, pose.translation) for turn in about)


def is_ambiguous(board: BoardSighting, others: Sequence[BoardSighting], surface: GridSurface) -> bool:
    """Return whether one of the other boards is nearly as visible and lies elsewhere."""
    return any(
        other.visibility > board.visibility - _SETTINGS.least_lead and other.is_elsewhere(board, surface)
        for other in others
    )


def clear_boards(
    grey: Image, camera: CameraModel, surface: GridSurface, markers: Sequence[MarkerSighting] = ()
) -> Steps[list[tuple[Edges, BoardSighting]]]:
    """Return every accepted board among a picture's edges; if there is none, the search is repeated in a reduced
    picture. With markers, only boards that agree with one of them are searched for, which is faster.
    """
    for shrunk in _SETTINGS.shrunk:
        edges = Edges.detect(grey, camera, shrunk)
        clear = [one for one in (yield from candidate_boards(edges, camera, surface, markers)) if one.is_clear]
        if clear:
            return [(edges, one) for one in clear]
        yield
    return []


def candidate_boards(
    edges: Edges, camera: CameraModel, surface: GridSurface, markers: Sequence[MarkerSighting] = ()
) -> Steps[list[BoardSighting]]:
    """Return candidates for the board among a picture's edges, most likely first, in any orientation; with markers,
    those that agree with one of them.
    """
    candidates: list[tuple[float, Pose]] = []
    turns = candidate_rotations(edges)
    yield
    for number, turn in enumerate(turns):
        if number and number % _SETTINGS.rotations_a_step == 0:
            yield
        sideways = np.column_stack([turn[:, 1], -turn[:, 0], turn[:, 2]])
        for rotation in (turn,) if surface.columns == surface.rows else (turn, sideways):
            candidates += _candidates_at_rotation(edges, rotation, camera, surface, markers)
    candidates.sort(key=lambda candidate: -candidate[0])
    yield
    fitted = (fit_to_lines(edges, camera, pose, surface) for _, pose in candidates[: _SETTINGS.fitted])
    return sorted((one for one in fitted if one is not None), key=lambda one: -one.visibility)


def board_near(
    edges: Edges, camera: CameraModel, pose: Pose, surface: GridSurface, here: BoardSighting | None = None
) -> BoardSighting | None:
    """Return the board at a pose, or whole squares away where it is clearly more visible; ``None`` if there is none.

    ``here`` is the board at the pose if it was already fitted.
    """
    here = here or fit_to_lines(edges, camera, pose, surface)
    while True:
        best, start = here, pose if here is None else here.pose
        for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            step = start.rotation @ (x * surface.cell_mm, y * surface.cell_mm, 0.0)
            beside = fit_to_lines(edges, camera, Pose(start.rotation, start.translation + step), surface)
            if beside is not None and beside.shows_clearly_more_than(here):
                best = beside if best is None else max(best, beside, key=lambda one: one.visibility)
        if best is here:
            return here
        here = best


def fit_to_lines(
    edges: Edges, camera: CameraModel, pose: Pose, surface: GridSurface, known: KnownPoints | None = None
) -> BoardSighting | None:
    """Fit a nearby pose to the edges on the board's lines and to known points; ``None`` with too few edges.

    An edge's end has the square root of its edge's length in pixels as weight, reduced when it is off its line.
    """
    for within in np.linspace(_SETTINGS.on_line, _SETTINGS.on_fitted_line, 3):
        *ends, weights = _edge_ends_on_lines(edges, pose, surface, float(within))
        points, pixels, normals = ends
        if len(points) < _SETTINGS.fewest_points:
            return None
        off_px = _off_lines_px(camera, pose, *ends)
        weights = weights * np.sqrt(np.minimum(1.0, _SETTINGS.huber_px / np.maximum(off_px, 1e-9)))
        if known is not None:
            points, pixels = np.concatenate([points, known.points_mm]), np.concatenate([pixels, known.pixels])
            normals = np.concatenate([normals, np.zeros_like(known.pixels)])
            weights = np.concatenate([weights, known.weights])
        pose = refine_pose(camera, pose, points, pixels, directions=normals, weights=weights)
    shown = _visibility(_line_families(edges, pose, surface), _SETTINGS.on_fitted_line)
    return BoardSighting(pose, shown, float(np.sqrt(np.mean(_off_lines_px(camera, pose, *ends) ** 2))))


def _off_lines_px(
    camera: CameraModel, pose: Pose, points_mm: FloatArray, pixels: FloatArray, normals: FloatArray
) -> FloatArray:
    """Return how far edge ends, as from ``_edge_ends_on_lines``, are from their lines at a pose, in pixels (n,)."""
    return np.asarray(np.abs(((project(camera, pose, points_mm) - pixels) * normals).sum(axis=1)))


@dataclass(frozen=True, eq=False)
class _LineFamily:
    """Edges along one side of a board, in squares from its corner.

    ``across`` (n,) is the line each lies on, counted from 0 to ``lines``. ``ends`` (n, 2) are the positions along it
    where they begin and end, between 0 and ``squares``. ``chosen`` (n,) are their indices.
    """

    across: FloatArray
    ends: FloatArray
    lines: int
    squares: int
    chosen: IndexArray

    @classmethod
    def along(cls, edges: Edges, rotation: FloatArray, surface: GridSurface, side: int) -> _LineFamily:
        """Return the edges along a side (0: x, 1: y), in units of the camera's height above the board and from its
        foot.
        """
        near = edges.misalignment(rotation[:, side][None])[0] < np.sin(np.radians(_SETTINGS.off_deg))
        down = -edges.rays @ rotation[:, 2]
        chosen = np.flatnonzero(near & (down.min(axis=1) > _SETTINGS.horizon))
        points = (edges.rays[chosen] @ rotation) / down[chosen][..., None]
        squares = (surface.columns, surface.rows)
        return cls(
            points[..., 1 - side].mean(axis=1),
            np.sort(points[..., side], axis=1),
            squares[1 - side] + 1,
            squares[side],
            chosen,
        )

    def moved(self, across: float, along: float, pitch: float) -> _LineFamily:
        """Return the same edges relative to another corner and another size of square."""
        return replace(self, across=(self.across - across) / pitch, ends=(self.ends - along) / pitch)


def _line_families(edges: Edges, pose: Pose, surface: GridSurface) -> tuple[_LineFamily, _LineFamily]:
    """Return the edges along both sides of a board at a pose."""
    camera_mm, bounds = pose.camera_position_mm, surface.bounds_mm
    above_mm = camera_mm[2] - surface.height_mm
    pitch = surface.cell_mm / above_mm
    x, y = ((bounds.left_mm - camera_mm[0]) / above_mm, (bounds.near_mm - camera_mm[1]) / above_mm)
    along_x, along_y = (_LineFamily.along(edges, pose.rotation, surface, side) for side in (0, 1))
    return along_x.moved(y, x, pitch), along_y.moved(x, y, pitch)


def _edge_ends_on_lines(
    edges: Edges, pose: Pose, surface: GridSurface, within: float
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return edge ends on lines: on the board (n, 3), in the picture (n, 2), normals in pixels (n, 2), weights (n,)."""
    points, pixels, normals, weights = [], [], [], []
    corner = np.array([surface.bounds_mm.left_mm, surface.bounds_mm.near_mm])
    for side, family in enumerate(_line_families(edges, pose, surface)):
        line = np.round(family.across)
        on = (np.abs(family.across - line) < within) & (line >= 0) & (line < family.lines)
        on &= (family.ends[:, 1] > 0) & (family.ends[:, 0] < family.squares)
        seen = edges.ends_px[family.chosen[on]]
        way = seen[:, 1] - seen[:, 0]
        long_px = np.linalg.norm(way, axis=1)
        for end in (0, 1):
            point = np.full((int(on.sum()), 3), surface.height_mm)
            point[:, 1 - side] = corner[1 - side] + line[on] * surface.cell_mm
            ray = edges.rays[family.chosen[on], end] @ pose.rotation
            down_mm = pose.camera_position_mm[2] - surface.height_mm
            point[:, side] = pose.camera_position_mm[side] - ray[:, side] / ray[:, 2] * down_mm
            points.append(point)
            pixels.append(seen[:, end])
            normals.append(np.column_stack([-way[:, 1], way[:, 0]]) / long_px[:, None])
            weights.append(np.sqrt(np.minimum(long_px, _SETTINGS.longest_px)))
    return np.concatenate(points), np.concatenate(pixels), np.concatenate(normals), np.concatenate(weights)


def _candidates_at_rotation(
    edges: Edges,
    rotation: FloatArray,
    camera: CameraModel,
    surface: GridSurface,
    markers: Sequence[MarkerSighting],
) -> Iterator[tuple[float, Pose]]:
    """Yield the candidate poses of a board with this rotation whose line pattern fits the edges, each with its
    visibility; with markers, those that agree with one of them.
    """
    smallest, largest = (
        share * camera.size[1] / float(camera.matrix[1, 1]) / max(surface.rows, surface.columns)
        for share in (_SETTINGS.smallest_share, _SETTINGS.largest_share)
    )
    pitches = np.exp(np.arange(np.log(smallest), np.log(largest), _SETTINGS.pitch_step))
    hints = [hint for marker in markers if (hint := BoardHint.of(marker, rotation, camera, surface)) is not None]
    if markers:
        pitches = np.array([pitch for pitch in pitches if any(hint.allows(pitch) for hint in hints)])
    along_x, along_y = (_LineFamily.along(edges, rotation, surface, side) for side in (0, 1))
    pairs: list[tuple[float, float, float, float]] = []
    for pitch in pitches:
        # each y or x of the first line, and how many lines are then visible
        level_lines = _best_offsets(along_x, float(pitch))
        upright_lines = _best_offsets(along_y, float(pitch))
        pairs += [
            (level / along_x.lines + upright / along_y.lines, float(pitch), x, y)
            for y, level in level_lines
            for x, upright in upright_lines
            if not markers or any(hint.allows(pitch, (x, y)) for hint in hints)
        ]
    for _, pitch, x, y in sorted(pairs, reverse=True)[: _SETTINGS.tried]:
        families = along_x.moved(y, x, pitch), along_y.moved(x, y, pitch)
        above_mm = surface.cell_mm / pitch
        bounds = surface.bounds_mm
        camera_mm = np.array(
            [bounds.left_mm - x * above_mm, bounds.near_mm - y * above_mm, surface.height_mm + above_mm]
        )
        yield _visibility(families, _SETTINGS.on_line), Pose(rotation, -rotation @ camera_mm)


def _best_offsets(family: _LineFamily, pitch: float) -> list[tuple[float, float]]:
    """Return the best offsets of a pattern of equally spaced lines: the first line's position, and the number of
    visible lines.
    """
    if not len(family.across):
        return []
    share = np.minimum(1.0, (family.ends[:, 1] - family.ends[:, 0]) / (family.squares * pitch))
    first = family.across.min() - pitch
    place = (family.across - first) / pitch * _SETTINGS.steps_per_square
    reach = family.lines * _SETTINGS.steps_per_square
    steps = int(place.max()) + reach + 2
    here = np.asarray(np.bincount(place.astype(np.intp), share * (1 - place % 1), steps), dtype=np.float64)
    here += np.bincount(place.astype(np.intp) + 1, share * (place % 1), steps)
    here[1:-1] += _SETTINGS.beside_weight * (here[:-2] + here[2:])
    here = np.minimum(here, 1.0)
    count, half = len(here) - reach + 1, _SETTINGS.steps_per_square // 2
    lines = range(0, reach, _SETTINGS.steps_per_square)
    on = np.sum([here[at : at + count] for at in lines], axis=0)
    on -= np.sum([here[at + half : at + half + count] for at in lines[:-1]], axis=0)
    best = []
    for _ in range(_SETTINGS.offsets):
        step = int(np.argmax(on))
        if on[step] <= 0:
            break
        best.append((float(first + step * pitch / _SETTINGS.steps_per_square), float(on[step])))
        on[max(0, step - _SETTINGS.steps_per_square // 4) : step + _SETTINGS.steps_per_square // 4 + 1] = 0
    return best


def _visibility(families: Sequence[_LineFamily], within: float) -> float:
    """Return the visible share of a board's lines, with extra weight for the rim and a penalty for lines that continue
    beyond.
    """
    score, total = 0.0, 0
    for family in families:
        line = np.round(family.across)
        beside = np.abs(family.across - line)
        on = _covered_shares(family, line, beside < within, family.lines)
        between = _covered_shares(family, np.floor(family.across), beside > _SETTINGS.between_lines, family.lines - 1)
        beyond = on[0].sum() + on[-1].sum() + on[1:-1, 0].sum() + on[1:-1, -1].sum()
        rim = on[1, 1:-1].sum() + on[-2, 1:-1].sum()
        score += on[1:-1, 1:-1].sum() + _SETTINGS.rim_weight * rim
        score -= _SETTINGS.beyond_weight * beyond + _SETTINGS.between_weight * between[1:-1, 1:-1].sum()
        total += family.lines * family.squares
    return float(score / total)


def _covered_shares(family: _LineFamily, row: FloatArray, counted: BoolImage, rows: int) -> FloatArray:
    """Return the share of each square's length covered by edges in each row, with one more row and square on every
    side.
    """
    shares = np.zeros((rows + 2, family.squares + 2))
    counted = counted & (row >= -1) & (row <= rows)
    start = np.arange(-1, family.squares + 1)
    ends = family.ends[counted]
    length = np.minimum(ends[:, 1:], start + 1) - np.maximum(ends[:, :1], start)
    np.add.at(shares, row[counted].astype(np.intp) + 1, np.maximum(length, 0.0))
    return np.minimum(shares, 1.0)
