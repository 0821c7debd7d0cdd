"""What a camera can see of the virtual table by geometry alone: side faces in plain view, squares under a thing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import cv2
import numpy as np
import numpy.typing as npt

from simulator.scene.scene import ForeignObject, Setting
from vision.frame import FloatArray
from vision.geometry import CubeSolid, Pose, Side, outline_px, project

PLAIN_HEIGHT_PX = 16.0
"""A side face that is lower in the picture than this need not be readable."""

_PLAIN_OPEN_SHARE = 0.9
_COVERED_SHARE = 0.08
_GRID = 8


def sides_in_plain_view(
    setting: Setting,
    pose: Pose,
    blocks: Mapping[str, CubeSolid],
    place: str,
    least_height_px: float = PLAIN_HEIGHT_PX,
) -> list[Side]:
    """The compass sides of the block on ``place`` that are high enough in the picture and that no block hides."""
    solid = blocks[place]
    nearer = [
        outline_px(block, setting.camera, pose)
        for other, block in blocks.items()
        if other != place and _distance(pose, block) < _distance(pose, solid)
    ]
    found = []
    for side in Side:
        if solid.facing_camera(side, pose.camera_position_mm) <= 0:
            continue
        corners = solid.side_corners_mm(side)
        outline = project(setting.camera, pose, corners)
        width = float(np.linalg.norm(outline[1] - outline[0]) + np.linalg.norm(outline[2] - outline[3])) / 2
        height = abs(float(cv2.contourArea(outline.astype(np.float32)))) / max(width, 1.0)
        if height >= least_height_px and _open_share(outline, nearer) >= _PLAIN_OPEN_SHARE:
            found.append(side)
    return found


def covered_places(
    setting: Setting, pose: Pose, things: Sequence[ForeignObject], more_than: float = _COVERED_SHARE
) -> set[str]:
    """The places of which things hide more than a share, counted on a piece that stands or would stand there."""
    layout = setting.layout
    hulls = [_thing_outline(setting, pose, thing) for thing in things]
    found = set()
    for place in layout.board.places:
        solid = layout.board.solid_at(place)
        if solid is None:
            continue
        outline = outline_px(solid, setting.camera, pose)
        area = abs(float(cv2.contourArea(outline)))
        shared = sum(float(cv2.intersectConvexConvex(outline, hull)[0]) for hull in hulls)
        if shared > more_than * area:
            found.add(place)
    return found


def _distance(pose: Pose, block: CubeSolid) -> float:
    x, y, _ = pose.camera_position_mm
    return float(np.hypot(block.x_mm - x, block.y_mm - y))


def _open_share(outline: FloatArray, nearer: Sequence[npt.NDArray[np.float32]]) -> float:
    """How much of a quadrilateral lies outside all the outlines, from 0 to 1."""
    shares = (np.arange(_GRID) + 0.5) / _GRID
    u, v = (one.ravel()[:, None] for one in np.meshgrid(shares, shares))
    top = outline[0] * (1 - u) + outline[1] * u
    bottom = outline[3] * (1 - u) + outline[2] * u
    points = top * (1 - v) + bottom * v
    hidden = [any(cv2.pointPolygonTest(one, (float(x), float(y)), False) >= 0 for one in nearer) for x, y in points]
    return 1.0 - float(np.mean(hidden))


def _thing_outline(setting: Setting, pose: Pose, thing: ForeignObject) -> npt.NDArray[np.float32]:
    reach = thing.half_width_mm
    angles = np.linspace(0.0, 2 * np.pi, 16, endpoint=False)
    ring = np.column_stack([thing.x_mm + reach * np.cos(angles), thing.y_mm + reach * np.sin(angles)])
    points = np.vstack(
        [
            np.column_stack([ring, np.full(len(ring), level)])
            for level in (thing.base_mm, thing.base_mm + thing.height_mm)
        ]
    )
    return np.asarray(cv2.convexHull(project(setting.camera, pose, points).astype(np.float32))[:, 0], dtype=np.float32)
