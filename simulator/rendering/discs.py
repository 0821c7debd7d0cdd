"""Discs and balls, as the camera sees them."""

from __future__ import annotations

import numpy as np

from simulator.rendering.painting import Shadows, Sprite, base_height_mm, shadow_ground_mm
from simulator.rendering.solids import Body, bodies_sprite, revolved
from simulator.scene.pieces import BallPose, Colour, DiscPose
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.layout.pieces import DiscPieces

_SIDES = 40
_BALL_RINGS = 14
_ROUNDING_STEPS = 4


class DiscPainter:
    """Draws discs, with a ball on top or without, and balls by themselves, of one setting."""

    def __init__(self, setting: Setting, shadows: Shadows) -> None:
        self._setting = setting
        self._pieces = DiscPieces.on(setting.layout.board)
        self._look = setting.discs
        self._shadows = shadows

    def sprite(self, piece: DiscPose | BallPose) -> Sprite:
        """Draw one disc or ball as the camera sees it."""
        return bodies_sprite(self._setting, self._bodies(piece), piece.streak_mm)

    def paint_shadows(self, image: Image, piece: DiscPose | BallPose) -> None:
        """Darken the board, in place, where the piece keeps the lamps' light off."""
        ground_mm = shadow_ground_mm(self._setting, piece)
        for body in self._bodies(piece):
            self._shadows.paint(image, body.corners_mm, ground_mm)

    def _bodies(self, piece: DiscPose | BallPose) -> list[Body]:
        foot = np.array([piece.x_mm, piece.y_mm, base_height_mm(self._setting, piece)])
        if isinstance(piece, BallPose):
            return [self._ball(piece.colour, foot)]
        bodies = [self._disc(piece.colour, foot)]
        if piece.ball is not None:
            on_top = foot + np.array([*piece.ball.offset_mm, self._pieces.disc_mm])
            bodies.append(self._ball(piece.ball.colour, on_top))
        return bodies

    def _disc(self, colour: str, foot_mm: FloatArray) -> Body:
        radius, height, rounding = self._pieces.diameter_mm / 2, self._pieces.disc_mm, self._look.rounding_mm
        angles = np.linspace(0.0, np.pi / 2, _ROUNDING_STEPS)
        arc = rounding * np.column_stack([np.cos(angles), np.sin(angles)]) + (radius - rounding, height - rounding)
        profile = np.vstack([[radius, 0.0], arc])
        facets, normals = revolved(profile, foot_mm, _SIDES)
        rim = revolved(profile[-2:], foot_mm, _SIDES)[0][:_SIDES, 3].copy()
        return Body(facets, normals, self._colour(colour), self._look.gloss, top=rim)

    def _ball(self, colour: str, foot_mm: FloatArray) -> Body:
        angles = np.linspace(-np.pi / 2, np.pi / 2, _BALL_RINGS)
        profile = self._pieces.ball_mm / 2 * np.column_stack([np.cos(angles), 1.0 + np.sin(angles)])
        facets, normals = revolved(np.maximum(profile, 0.0), foot_mm, _SIDES // 2)
        shade = self._look.balls[colour] if colour in self._look.balls else self._colour(colour)
        return Body(facets, normals, shade, self._look.gloss)

    def _colour(self, name: str) -> Colour:
        """The colour of a player's pieces; raises ValueError for a name that the look does not have."""
        if name not in self._look.colours:
            raise ValueError(f"no piece colour {name!r}; this table has {', '.join(sorted(self._look.colours))}")
        return self._look.colours[name]
