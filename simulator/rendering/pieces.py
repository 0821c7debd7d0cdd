"""Blocks, discs with balls, and stacks of pyramids, as the camera sees them."""

from __future__ import annotations

import cv2
import numpy as np

from simulator.rendering.optics import irradiance, sensor_gain, specular, tone_table, vignette_at
from simulator.rendering.painting import (
    MARGIN_PX,
    SAMPLES,
    Shadows,
    Sprite,
    base_height_mm,
    shadow_ground_mm,
    with_motion_blur,
)
from simulator.rendering.polygons import SUBPIXEL_BITS, box_around, fixed_point, hull, supersampled
from simulator.rendering.solids import UNIT_SQUARE, Body, bodies_sprite, frustum, normals_of, revolve
from simulator.rendering.textures import BLOCK_FACE_PX, face_texture
from simulator.scene.cube import Face, placed_faces, rotation_of, tip_rotation, turn_rotation
from simulator.scene.pieces import BallPose, BlockPose, Colour, DiscPose, Pyramid, StackPose
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.geometry import project
from vision.layout.pieces import BlockPieces, DiscPieces, PyramidPieces


class BlockPainter:
    """Draws blocks of one setting."""

    def __init__(self, setting: Setting, shadows: Shadows) -> None:
        self._setting = setting
        self._pieces = BlockPieces.on(setting.layout.board)
        self._shadows = shadows
        self._camera_mm = setting.pose.camera_position_mm
        self._textures: dict[tuple[str, str], Image] = {}

    def _texture(self, colour: str, symbol: str) -> Image:
        key = (colour, symbol)
        if key not in self._textures:
            self._textures[key] = face_texture(self._setting.blocks, colour, symbol, self._setting.table.seed)
        return self._textures[key]

    def _middle_mm(self, block: BlockPose) -> FloatArray:
        return np.array([block.x_mm, block.y_mm, base_height_mm(self._setting, block) + self._pieces.side_mm / 2])

    def _faces(self, block: BlockPose) -> list[Face]:
        """Return the six faces of a block in the table's frame."""
        rotation = rotation_of(self._pieces.net, block.up, block.north)
        if block.tipped_towards is not None:
            rotation = tip_rotation(block.tipped_towards, block.tipped_deg) @ rotation
        rotation = turn_rotation(block.turned_deg) @ rotation
        return placed_faces(self._pieces.net, rotation, self._middle_mm(block), self._pieces.side_mm)

    def paint_shadows(self, image: Image, block: BlockPose) -> None:
        """Draw the block's shadows, in place."""
        corners = np.vstack([face.corners_mm for face in self._faces(block)[:2]])
        self._shadows.paint(image, corners, shadow_ground_mm(self._setting, block))

    def sprite(self, block: BlockPose) -> Sprite:
        """Draw one block as the camera sees it."""
        setting = self._setting
        faces = [face for face in self._faces(block) if float((self._camera_mm - face.centre_mm) @ face.normal) > 0]
        corners = project(setting.camera, setting.pose, np.vstack([face.corners_mm for face in faces]))
        left, top, right, bottom = box_around(corners, MARGIN_PX)
        width, height = right - left, bottom - top
        big = (width * SAMPLES, height * SAMPLES)
        image = np.zeros((big[1], big[0], 3), dtype=np.uint8)
        middle = corners.mean(axis=0)
        gain = sensor_gain(setting.sensor) * float(vignette_at(setting.camera, setting.sensor, middle))
        edge = BLOCK_FACE_PX - 0.5
        source = np.array([[-0.5, -0.5], [edge, -0.5], [edge, edge], [-0.5, edge]], dtype=np.float32)
        for index, face in enumerate(faces):
            light = irradiance(setting.lighting, face.centre_mm, face.normal)
            shine = specular(setting.lighting, face.centre_mm, face.normal, self._camera_mm)
            picture = cv2.LUT(self._texture(block.colour, face.symbol), tone_table(light * gain, shine * gain))
            pixels = corners[index * 4 : index * 4 + 4]
            target = supersampled(pixels - np.array([left, top]), SAMPLES).astype(np.float32)
            warp = cv2.getPerspectiveTransform(source, target)
            warped = cv2.warpPerspective(picture, warp, big, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            mask = np.zeros((big[1], big[0]), dtype=np.uint8)
            cv2.fillConvexPoly(mask, fixed_point(target), 255, cv2.LINE_8, SUBPIXEL_BITS)
            cv2.copyTo(warped, mask, image)
        outline = supersampled(hull(corners) - np.array([left, top]), SAMPLES)
        cover = np.zeros((big[1], big[0]), dtype=np.uint8)
        cv2.fillConvexPoly(cover, fixed_point(outline), 255, cv2.LINE_8, SUBPIXEL_BITS)
        small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        small_cover = cv2.resize(cover, (width, height), interpolation=cv2.INTER_AREA)
        sprite, alpha = np.asarray(small, dtype=np.uint8), np.asarray(small_cover, dtype=np.uint8)
        return with_motion_blur(setting, self._middle_mm(block), block.streak_mm, left, top, sprite, alpha)


_SIDES = 40
"""Facets around a disc; a ball has half as many."""
_BALL_RINGS = 14
"""Circles of corners of a ball, from its foot to its top."""
_ROUNDING_STEPS = 4
"""Circles of corners of a disc's rounded upper edge."""


class DiscPainter:
    """Draws discs, with or without a ball on top, and single balls of one setting."""

    def __init__(self, setting: Setting, shadows: Shadows) -> None:
        self._setting = setting
        self._pieces = DiscPieces.on(setting.layout.board)
        self._look = setting.discs
        self._shadows = shadows

    def sprite(self, piece: DiscPose | BallPose) -> Sprite:
        """Draw one disc or ball as the camera sees it."""
        return bodies_sprite(self._setting, self._bodies(piece), piece.streak_mm)

    def paint_shadows(self, image: Image, piece: DiscPose | BallPose) -> None:
        """Draw the piece's shadows, in place."""
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
        facets, normals = revolve(profile, foot_mm, _SIDES)
        rim = revolve(profile[-2:], foot_mm, _SIDES)[0][:_SIDES, 3].copy()
        return Body(facets, normals, self._colour(colour), self._look.gloss, top=rim)

    def _ball(self, colour: str, foot_mm: FloatArray) -> Body:
        angles = np.linspace(-np.pi / 2, np.pi / 2, _BALL_RINGS)
        profile = self._pieces.ball_mm / 2 * np.column_stack([np.cos(angles), 1.0 + np.sin(angles)])
        facets, normals = revolve(np.maximum(profile, 0.0), foot_mm, _SIDES // 2)
        own = self._look.balls[colour] if colour in self._look.balls else self._colour(colour)
        return Body(facets, normals, own, self._look.gloss)

    def _colour(self, name: str) -> Colour:
        """Return the colour of a player's pieces; raises ValueError for a name that the look does not have."""
        if name not in self._look.colours:
            raise ValueError(f"no piece colour {name!r}; this table has {', '.join(sorted(self._look.colours))}")
        return self._look.colours[name]


_EDGE_MM = 0.7
"""Width of a pyramid's rounded edges."""


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
        """Draw the stack's shadows, in place."""
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
            bodies.append(self._body(pyramid, middle, rotation @ _rotation_in_stack(pyramid)))
        return bodies

    def _body(self, pyramid: Pyramid, foot_mm: FloatArray, rotation: FloatArray) -> Body:
        look = self._look
        if pyramid.colour not in look.colours:
            raise ValueError(f"no pyramid colour {pyramid.colour!r}; this table has {', '.join(sorted(look.colours))}")
        size = self._pieces.sizes[pyramid.size]
        base = UNIT_SQUARE * size.base_mm
        below = np.column_stack([base, np.zeros(4)]) @ rotation.T + foot_mm
        above = np.column_stack([base * look.tip_share, np.full(4, size.height_mm)]) @ rotation.T + foot_mm
        facets = frustum(below, above)
        upright, foot = np.stack([below, above], axis=1), np.stack([below, np.roll(below, -1, axis=0)], axis=1)
        return Body(
            facets,
            normals_of(facets),
            look.colours[pyramid.colour],
            look.gloss,
            opacity=look.opacity.get(pyramid.colour, look.usual_opacity),
            edges=np.concatenate([upright, foot]),
            edge_mm=_EDGE_MM,
            edge_light=1.0 + look.edge,
        )


def _rotation_in_stack(pyramid: Pyramid) -> FloatArray:
    """Return the rotation of a pyramid in its stack: turned about its axis, then leaning."""
    towards_x, towards_y = np.radians(pyramid.lean_deg)
    lean, _ = cv2.Rodrigues(np.array([-towards_y, towards_x, 0.0]))
    return np.asarray(lean @ turn_rotation(pyramid.turned_deg), dtype=np.float64)
