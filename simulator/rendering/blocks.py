"""Cubes with a symbol on each face, as the camera sees them."""

from __future__ import annotations

import cv2
import numpy as np

from simulator.rendering.optics import gloss, hull, irradiance, sensor_gain, tone_table, vignette_at
from simulator.rendering.painting import (
    MARGIN_PX,
    SAMPLES,
    Shadows,
    Sprite,
    base_height_mm,
    moving,
    shadow_ground_mm,
)
from simulator.rendering.textures import FACE_PX, face_texture
from simulator.scene.cube import Face, placed_faces, rotation_of, tip_rotation, turn_rotation
from simulator.scene.pieces import BlockPose
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.geometry import project
from vision.layout.pieces import BlockPieces


class BlockPainter:
    """Draws blocks of one setting; keeps the faces' pictures once made."""

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
        """The six faces of a block as it lies, in the table's frame."""
        rotation = rotation_of(self._pieces.net, block.up, block.north)
        if block.tipped_towards is not None:
            rotation = tip_rotation(block.tipped_towards, block.tipped_deg) @ rotation
        rotation = turn_rotation(block.turned_deg) @ rotation
        return placed_faces(self._pieces.net, rotation, self._middle_mm(block), self._pieces.side_mm)

    def paint_shadows(self, image: Image, block: BlockPose) -> None:
        """Darken the board, in place, where the block keeps the lamps' light off."""
        corners = np.vstack([face.corners_mm for face in self._faces(block)[:2]])
        self._shadows.paint(image, corners, shadow_ground_mm(self._setting, block))

    def sprite(self, block: BlockPose) -> Sprite:
        """Draw one block as the camera sees it."""
        setting = self._setting
        faces = [face for face in self._faces(block) if float((self._camera_mm - face.centre_mm) @ face.normal) > 0]
        corners = project(setting.camera, setting.pose, np.vstack([face.corners_mm for face in faces]))
        left, top = (int(value) for value in np.floor(corners.min(axis=0)) - MARGIN_PX)
        right, bottom = (int(value) for value in np.ceil(corners.max(axis=0)) + MARGIN_PX + 1)
        width, height = right - left, bottom - top
        big = (width * SAMPLES, height * SAMPLES)
        image = np.zeros((big[1], big[0], 3), dtype=np.uint8)
        middle = corners.mean(axis=0)
        gain = sensor_gain(setting.sensor) * float(vignette_at(setting.camera, setting.sensor, middle))
        edge = FACE_PX - 0.5
        source = np.array([[-0.5, -0.5], [edge, -0.5], [edge, edge], [-0.5, edge]], dtype=np.float32)
        for index, face in enumerate(faces):
            light = irradiance(setting.lighting, face.centre_mm, face.normal)
            shine = gloss(setting.lighting, face.centre_mm, face.normal, self._camera_mm)
            picture = cv2.LUT(self._texture(block.colour, face.symbol), tone_table(light * gain, shine * gain))
            pixels = corners[index * 4 : index * 4 + 4]
            target = ((pixels - np.array([left, top]) + 0.5) * SAMPLES - 0.5).astype(np.float32)
            warp = cv2.getPerspectiveTransform(source, target)
            warped = cv2.warpPerspective(picture, warp, big, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            mask = np.zeros((big[1], big[0]), dtype=np.uint8)
            cv2.fillConvexPoly(mask, np.rint(target * 16).astype(np.int32), 255, cv2.LINE_8, 4)
            cv2.copyTo(warped, mask, image)
        outline = ((hull(corners) - np.array([left, top]) + 0.5) * SAMPLES - 0.5).astype(np.float64)
        cover = np.zeros((big[1], big[0]), dtype=np.uint8)
        cv2.fillConvexPoly(cover, np.rint(outline * 16).astype(np.int32), 255, cv2.LINE_8, 4)
        small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        small_cover = cv2.resize(cover, (width, height), interpolation=cv2.INTER_AREA)
        layers = (np.asarray(small, dtype=np.uint8), np.asarray(small_cover, dtype=np.uint8))
        return moving(setting, self._middle_mm(block), block.streak_mm, left, top, *layers)
