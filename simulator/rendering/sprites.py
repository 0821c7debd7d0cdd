"""Blocks, and objects that do not belong to the game, as the camera sees them, with their shadows.

A block is drawn into a small picture with a cover mask. Coins, cups and cards are drawn straight into the frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from simulator.rendering.background import polygon_mask
from simulator.rendering.optics import (
    decode,
    develop,
    gloss,
    hull,
    irradiance,
    light_left,
    penumbra_mm,
    sensor_gain,
    shade_table,
    shadow_points,
    streak,
    tone_table,
    vignette_at,
)
from simulator.rendering.textures import FACE_PX, face_texture
from simulator.scene.cube import Face, placed_faces, rotation_of, tip_rotation, turn_rotation
from simulator.scene.scene import BlockPose, ForeignObject, Lamp, Setting
from vision.frame import FloatArray, Image
from vision.geometry import project
from vision.layout.pieces import BlockPieces

_SAMPLES = 2
_MARGIN_PX = 3


@dataclass(frozen=True, eq=False)
class Sprite:
    """A small picture to lay over a frame at (left, top), its cover mask (0 to 255), and how far from the camera."""

    left: int
    top: int
    image: Image
    cover: Image
    distance_mm: float

    def overlaps(self, other: Sprite) -> bool:
        """Whether the two cover some of the same pixels' rectangle."""
        height, width = self.cover.shape
        other_height, other_width = other.cover.shape
        return bool(
            self.left < other.left + other_width
            and other.left < self.left + width
            and self.top < other.top + other_height
            and other.top < self.top + height
        )


def paste(frame: Image, sprite: Sprite) -> None:
    """Lay the sprite over the frame in place; what lies outside the frame is cut off."""
    window, part = _windows(frame, sprite.left, sprite.top, sprite.cover.shape)
    if window is None or part is None:
        return
    under = frame[window]
    cover = cv2.merge([sprite.cover[part]] * 3)
    over = cv2.multiply(sprite.image[part], cover, scale=1 / 255.0)
    kept = cv2.multiply(under, cv2.bitwise_not(cover), scale=1 / 255.0)
    frame[window] = cv2.add(over, kept)


def _windows(
    frame: Image, left: int, top: int, shape: tuple[int, ...]
) -> tuple[tuple[slice, slice] | None, tuple[slice, slice] | None]:
    height, width = frame.shape[:2]
    first_x, first_y = max(left, 0), max(top, 0)
    last_x, last_y = min(left + shape[1], width), min(top + shape[0], height)
    if first_x >= last_x or first_y >= last_y:
        return None, None
    window = (slice(first_y, last_y), slice(first_x, last_x))
    return window, (slice(first_y - top, last_y - top), slice(first_x - left, last_x - left))


def block_height_mm(setting: Setting, block: BlockPose) -> float:
    """The height of what the block stands on (or is held over)."""
    return setting.layout.board.height_mm if block.base_mm is None else block.base_mm


def block_faces(setting: Setting, block: BlockPose) -> list[Face]:
    """The six faces of a block as it lies, in the table's frame."""
    layout = setting.layout
    rotation = rotation_of(BlockPieces.on(layout.board).net, block.up, block.north)
    if block.tipped_towards is not None:
        rotation = tip_rotation(block.tipped_towards, block.tipped_deg) @ rotation
    rotation = turn_rotation(block.turned_deg) @ rotation
    centre = np.array(
        [block.x_mm, block.y_mm, block_height_mm(setting, block) + BlockPieces.on(layout.board).side_mm / 2]
    )
    return placed_faces(BlockPieces.on(layout.board).net, rotation, centre, BlockPieces.on(layout.board).side_mm)


def hidden_by_shadow(image: Image, outline: FloatArray, softness_px: float, table: Image) -> None:
    """Darken, in place, what lies in a soft-edged shadow with that outline in pixels (n, 2)."""
    reach = int(np.ceil(2.5 * softness_px)) + 2
    left, top = (int(value) for value in np.floor(outline.min(axis=0)) - reach)
    right, bottom = (int(value) for value in np.ceil(outline.max(axis=0)) + reach + 1)
    height, width = image.shape[:2]
    left, top, right, bottom = max(left, 0), max(top, 0), min(right, width), min(bottom, height)
    if left >= right or top >= bottom:
        return
    mask = polygon_mask((bottom - top, right - left), outline - np.array([left, top]))
    size = 2 * int(np.ceil(2.5 * softness_px)) + 1
    mask = np.asarray(cv2.GaussianBlur(mask, (size, size), softness_px), dtype=np.uint8)
    factor = cv2.LUT(cv2.merge([mask] * 3), table)
    part = image[top:bottom, left:right]
    image[top:bottom, left:right] = cv2.multiply(part, factor, scale=1 / 255.0)


class BlockPainter:
    """Draws blocks of one setting; keeps the faces' pictures once made."""

    def __init__(self, setting: Setting, pixels_per_mm: float) -> None:
        self._setting = setting
        self._pixels_per_mm = pixels_per_mm
        self._camera_mm = setting.pose.camera_position_mm
        self._textures: dict[tuple[str, str], Image] = {}
        self._shades: dict[Lamp, Image] = {}

    def _texture(self, colour: str, symbol: str) -> Image:
        key = (colour, symbol)
        if key not in self._textures:
            self._textures[key] = face_texture(self._setting.blocks, colour, symbol, self._setting.table.seed)
        return self._textures[key]

    def shade(self, lamp: Lamp) -> Image:
        """The table that turns a shadow mask of that lamp into what is left of a developed picture."""
        if lamp not in self._shades:
            point = np.array([0.0, 0.0, self._setting.layout.board.height_mm])
            self._shades[lamp] = shade_table(light_left(self._setting.lighting, lamp, point))
        return self._shades[lamp]

    def paint_shadows(self, image: Image, block: BlockPose) -> None:
        """Darken the board, in place, where the block keeps the lamps' light off."""
        setting = self._setting
        corners = np.vstack([face.corners_mm for face in block_faces(setting, block)[:2]])
        ground = setting.layout.board.height_mm if block.base_mm is None else min(block.base_mm, 10.0)
        ground = min(ground, setting.layout.board.height_mm)
        height = float(corners[:, 2].max()) - ground
        for lamp in setting.lighting.lamps:
            outline = hull(project(setting.camera, setting.pose, shadow_points(lamp, corners, ground)))
            softness = max(penumbra_mm(lamp, height * 0.7) * self._pixels_per_mm, 0.7)
            hidden_by_shadow(image, outline, softness, self.shade(lamp))

    def _seen_faces(self, block: BlockPose) -> list[Face]:
        faces = block_faces(self._setting, block)
        return [face for face in faces if float((self._camera_mm - face.centre_mm) @ face.normal) > 0]

    def sprite(self, block: BlockPose) -> Sprite:
        """Draw one block as the camera sees it."""
        setting = self._setting
        faces = self._seen_faces(block)
        corners = project(setting.camera, setting.pose, np.vstack([face.corners_mm for face in faces]))
        left, top = (int(value) for value in np.floor(corners.min(axis=0)) - _MARGIN_PX)
        right, bottom = (int(value) for value in np.ceil(corners.max(axis=0)) + _MARGIN_PX + 1)
        width, height = right - left, bottom - top
        big = (width * _SAMPLES, height * _SAMPLES)
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
            target = ((pixels - np.array([left, top]) + 0.5) * _SAMPLES - 0.5).astype(np.float32)
            warp = cv2.getPerspectiveTransform(source, target)
            warped = cv2.warpPerspective(picture, warp, big, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
            mask = np.zeros((big[1], big[0]), dtype=np.uint8)
            cv2.fillConvexPoly(mask, np.rint(target * 16).astype(np.int32), 255, cv2.LINE_8, 4)
            cv2.copyTo(warped, mask, image)
        outline = ((hull(corners) - np.array([left, top]) + 0.5) * _SAMPLES - 0.5).astype(np.float64)
        cover = np.zeros((big[1], big[0]), dtype=np.uint8)
        cv2.fillConvexPoly(cover, np.rint(outline * 16).astype(np.int32), 255, cv2.LINE_8, 4)
        small = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
        small_cover = cv2.resize(cover, (width, height), interpolation=cv2.INTER_AREA)
        return self._moving(block, left, top, np.asarray(small), np.asarray(small_cover))

    def _moving(self, block: BlockPose, left: int, top: int, image: Image, cover: Image) -> Sprite:
        setting = self._setting
        centre = np.array(
            [block.x_mm, block.y_mm, block_height_mm(setting, block) + BlockPieces.on(setting.layout.board).side_mm / 2]
        )
        distance = float(np.linalg.norm(centre - self._camera_mm))
        if block.streak_mm != (0.0, 0.0):
            moved = np.stack([centre, centre + np.array([*block.streak_mm, 0.0])])
            start, end = project(setting.camera, setting.pose, moved)
            way = (float(end[0] - start[0]), float(end[1] - start[1]))
            margin = int(np.ceil(max(abs(way[0]), abs(way[1])) / 2)) + 2
            around = ((margin, margin), (margin, margin))
            image = np.pad(image, (*around, (0, 0)), mode="edge")
            cover = np.pad(cover, around)
            image, cover = streak(image, way), streak(cover, way)
            left, top = left - margin, top - margin
        return Sprite(left, top, image, cover, distance)


def _ring(thing: ForeignObject, height_mm: float, swell: float = 1.0) -> FloatArray:
    if thing.kind == "card":
        half_x, half_y = thing.half_width_mm * swell, thing.radius_mm * swell
        shape = np.array([[-half_x, half_y], [half_x, half_y], [half_x, -half_y], [-half_x, -half_y]])
    else:
        angles = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
        shape = thing.radius_mm * swell * np.column_stack([np.cos(angles), np.sin(angles)])
    points = shape + np.array([thing.x_mm, thing.y_mm])
    return np.column_stack([points, np.full(len(points), thing.base_mm + height_mm)])


def paint_foreign_object(setting: Setting, image: Image, thing: ForeignObject, pixels_per_mm: float) -> None:
    """Draw the thing and its shadow into the picture, in place."""
    height = thing.height_mm
    foot, rim = _ring(thing, 0.0), _ring(thing, height)
    middle = rim.mean(axis=0)
    for lamp in setting.lighting.lamps:
        outline = hull(
            project(setting.camera, setting.pose, shadow_points(lamp, np.vstack([foot, rim]), thing.base_mm))
        )
        softness = max(penumbra_mm(lamp, height) * pixels_per_mm, 0.7)
        hidden_by_shadow(image, outline, softness, shade_table(light_left(setting.lighting, lamp, middle)))
    light = irradiance(setting.lighting, middle, np.array([0.0, 0.0, 1.0])) * sensor_gain(setting.sensor)
    colour = decode(thing.colour) * light
    body = hull(project(setting.camera, setting.pose, np.vstack([foot, rim])))
    _fill(image, body, colour * 0.6)
    _fill(image, project(setting.camera, setting.pose, rim), colour)
    if thing.kind == "cup":
        _fill(image, project(setting.camera, setting.pose, _ring(thing, height - 8.0, 0.9)), colour * 0.18)
    elif thing.kind == "coin":
        _fill(image, project(setting.camera, setting.pose, _ring(thing, height, 0.86)), colour * 1.15)


def _fill(image: Image, pixels: FloatArray, linear: FloatArray) -> None:
    value = [float(channel) for channel in develop(linear.reshape(1, 1, 3)).reshape(3)]
    cv2.fillPoly(image, [np.rint(pixels * 16).astype(np.int32)], value, cv2.LINE_AA, 4)
