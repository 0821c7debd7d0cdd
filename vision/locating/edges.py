"""Straight edges of a picture, and the 3D directions that many of them share.

A straight edge and the camera's centre span a plane. The planes of edges that are parallel on the table share one
direction: that of their vanishing point (Barnard 1983). With a calibrated camera, two such directions at right angles
are the sides of a board and give its rotation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import cv2
import numpy as np

from vision.frame import FloatArray, Image, IndexArray
from vision.geometry import CameraModel
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


_SETTINGS = EdgeSettings()


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
        chosen = np.argsort(-long_px)[: _SETTINGS.most_edges]
        ends = ends[chosen[long_px[chosen] >= _SETTINGS.shortest_px]]
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
        within = np.sin(np.radians(_SETTINGS.parallel_deg))
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
            too_flat = -rotation[2, 2] < np.cos(np.radians(_SETTINGS.most_tilt_deg))
            if not too_flat and not any(_have_same_axes(rotation, other) for other in rotations):
                rotations.append(rotation)
    return rotations


def _have_same_axes(one: FloatArray, other: FloatArray) -> bool:
    """Return whether two rotations have the same axes, in any order."""
    alike = np.abs(one.T @ other).max(axis=0).min()
    return bool(alike > np.cos(np.radians(_SETTINGS.same_turn_deg)))


def _shared_directions(edges: Edges) -> Iterator[FloatArray]:
    """Yield the directions shared by most edges."""
    few = edges.chosen(slice(_SETTINGS.proposing))
    first, second = np.triu_indices(len(few.lengths), 1)
    meeting = np.cross(few.planes[first], few.planes[second])
    size = np.linalg.norm(meeting, axis=1)
    apart = size > np.sin(np.radians(0.5))
    directions = meeting[apart] / size[apart, None]
    voters = edges.chosen(slice(_SETTINGS.voting))
    parts = range(0, len(directions), _SETTINGS.most_edges)
    votes = [voters.votes(directions[start : start + _SETTINGS.most_edges]) for start in parts]
    yield from _distinct_directions(directions, np.concatenate(votes) if votes else np.zeros(0), _SETTINGS.directions)


def _perpendicular_directions(edges: Edges, direction: FloatArray) -> Iterator[FloatArray]:
    """Yield the directions at right angles to one that most edges share, ignoring edges that point along that one."""
    across = np.cross(edges.planes, direction)
    size = np.linalg.norm(across, axis=1)
    own = edges.misalignment(direction[None])[0] < 2 * np.sin(np.radians(_SETTINGS.parallel_deg))
    others = np.flatnonzero(~own & (size > 0.2))
    chosen = others[: _SETTINGS.proposing]
    directions = across[chosen] / size[chosen, None]
    yield from _distinct_directions(directions, edges.chosen(others).votes(directions), _SETTINGS.crossings)


def _distinct_directions(directions: FloatArray, votes: FloatArray, most: int) -> Iterator[FloatArray]:
    """Yield the directions with most votes, without near duplicates."""
    kept: list[FloatArray] = []
    for index in np.argsort(-votes):
        if len(kept) == most:
            return
        if all(abs(directions[index] @ other) < np.cos(np.radians(_SETTINGS.apart_deg)) for other in kept):
            kept.append(directions[index])
            yield directions[index]


def _refine_rotation(edges: Edges, rotation: FloatArray) -> FloatArray:
    """Refine a rotation by least squares on all edges along its sides."""
    for _ in range(3):
        rows, errors = [], []
        for side in (rotation[:, 0], rotation[:, 1]):
            near = edges.misalignment(side[None])[0] < np.sin(np.radians(_SETTINGS.parallel_deg))
            slant = np.linalg.norm(np.cross(edges.middles[near], side), axis=1)
            weight = np.sqrt(edges.lengths[near]) / np.maximum(slant, 1e-3)
            rows.append(weight[:, None] * np.cross(side, edges.planes[near]))
            errors.append(-weight * (edges.planes[near] @ side))
        moved = np.linalg.lstsq(np.concatenate(rows), np.concatenate(errors), rcond=None)[0]
        rotation = np.asarray(cv2.Rodrigues(moved)[0] @ rotation, dtype=np.float64)
    return rotation
