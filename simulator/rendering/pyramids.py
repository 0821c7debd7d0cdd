"""Stacks of square pyramids, as the camera sees them."""

from __future__ import annotations

import cv2
import numpy as np

from simulator.rendering.painting import Shadows, Sprite, base_height_mm, shadow_ground_mm
from simulator.rendering.solids import Body, bodies_sprite, normals_of
from simulator.scene.cube import turn_rotation
from simulator.scene.pieces import Pyramid, StackPose
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.layout.pieces import PyramidPieces

_EDGE_MM = 0.7
_CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) / 2


class PyramidPainter:
    """Draws stacks of pyramids of one setting."""

    def __init__(self, setting: Setting, shadows: Shadows) -> None:
        self._setting = setting
        self._pieces = PyramidPieces.on(setting.layout.board)
        self._look = setting.pyramids
        self._shadows = shadows

    def sprite(self, stack: StackPose) -> Sprite:
        """Draw one stack as the camera sees it."""
        return bodies_sprite(self._setting, self._bodies(stack), stack.streak_mm)

    def paint_shadows(self, image: Image, stack: StackPose) -> None:
        """Darken the board, in place, where the stack keeps the lamps' light off."""
        bodies = self._bodies(stack)
        corners = np.vstack([body.corners_mm for body in bodies])
        opacity = max(body.opacity for body in bodies)
        self._shadows.paint(image, corners, shadow_ground_mm(self._setting, stack), opacity)

    def _bodies(self, stack: StackPose) -> list[Body]:
        foot = np.array([stack.x_mm, stack.y_mm, base_height_mm(self._setting, stack)])
        rotation = turn_rotation(stack.turned_deg)
        elevations = self._pieces.elevations_mm([pyramid.size for pyramid in stack.pyramids])
        bodies = []
        for pyramid, elevation_mm in zip(stack.pyramids, elevations, strict=True):
            middle = foot + rotation @ np.array([*pyramid.offset_mm, elevation_mm])
            bodies.append(self._body(pyramid, middle, rotation @ _lie(pyramid)))
        return bodies

    def _body(self, pyramid: Pyramid, foot_mm: FloatArray, rotation: FloatArray) -> Body:
        look = self._look
        if pyramid.colour not in look.colours:
            raise ValueError(f"no pyramid colour {pyramid.colour!r}; this table has {', '.join(sorted(look.colours))}")
        size = self._pieces.sizes[pyramid.size]
        below = np.column_stack([_CORNERS * size.base_mm, np.zeros(4)]) @ rotation.T + foot_mm
        tip = _CORNERS * size.base_mm * look.tip_share
        above = np.column_stack([tip, np.full(4, size.height_mm)]) @ rotation.T + foot_mm
        sides = [np.stack([below[k], below[(k + 1) % 4], above[(k + 1) % 4], above[k]]) for k in range(4)]
        facets = np.stack([*sides, above])
        upright, foot = np.stack([below, above], axis=1), np.stack([below, np.roll(below, -1, axis=0)], axis=1)
        return Body(
            facets,
            normals_of(facets),
            look.colours[pyramid.colour],
            look.gloss,
            look.opacity.get(pyramid.colour, look.usual_opacity),
            np.concatenate([upright, foot]),
            _EDGE_MM,
            1.0 + look.edge,
        )


def _lie(pyramid: Pyramid) -> FloatArray:
    """The rotation of a pyramid in its stack: turned about its axis, then leaning."""
    towards_x, towards_y = np.radians(pyramid.lean_deg)
    lean, _ = cv2.Rodrigues(np.array([-towards_y, towards_x, 0.0]))
    return np.asarray(lean @ turn_rotation(pyramid.turned_deg), dtype=np.float64)
