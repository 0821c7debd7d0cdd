"""From a scene to what the camera sees.

The picture is built in layers, each kept as long as it holds: the background of a setting; the blocks that stand
still, with their shadows; and, anew for each frame, what moves: blocks in a hand, hands, noise.
"""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from simulator.rendering.background import paint_background, pixels_per_mm
from simulator.rendering.hands import hand_sprite, paint_hand_shadow
from simulator.rendering.optics import SensorNoise, through_sensor
from simulator.rendering.sprites import BlockPainter, Sprite, paint_foreign_object, paste
from simulator.scene.scene import BlockPose, ForeignObject, Scene, Setting
from vision.frame import Image

_KEPT_SETTINGS = 3
_KEPT_SPRITES = 400
_KEPT_STILLS = 4


class _SettingPainter:
    """Draws scenes of one setting."""

    def __init__(self, setting: Setting, seed: int) -> None:
        self.setting = setting
        self._pixels_per_mm = pixels_per_mm(setting)
        self._background = paint_background(setting)
        self._blocks = BlockPainter(setting, self._pixels_per_mm)
        self._noise = SensorNoise(setting.camera, setting.sensor.noise, seed)
        self._sprites: OrderedDict[BlockPose, Sprite] = OrderedDict()
        self._stills: OrderedDict[tuple[object, ...], Image] = OrderedDict()

    def _sprite(self, block: BlockPose) -> Sprite:
        sprite = self._sprites.get(block)
        if sprite is None:
            sprite = self._blocks.sprite(block)
            self._sprites[block] = sprite
            if len(self._sprites) > _KEPT_SPRITES:
                self._sprites.popitem(last=False)
        return sprite

    def _still(self, scene: Scene, standing: tuple[BlockPose, ...]) -> Image:
        key = (standing, scene.things)
        image = self._stills.get(key)
        if image is None:
            image = self._background.copy()
            for block in standing:
                self._blocks.paint_shadows(image, block)
            sprites = _farthest_first([self._sprite(block) for block in standing])
            for thing in sorted(scene.things, key=self._distance_mm, reverse=True):
                while sprites and sprites[0].distance_mm > self._distance_mm(thing):
                    paste(image, sprites.pop(0))
                paint_foreign_object(self.setting, image, thing, self._pixels_per_mm)
            for sprite in sprites:
                paste(image, sprite)
            self._stills[key] = image
            if len(self._stills) > _KEPT_STILLS:
                self._stills.popitem(last=False)
        return image

    def _distance_mm(self, thing: ForeignObject) -> float:
        where = np.array([thing.x_mm, thing.y_mm, thing.base_mm])
        return float(np.linalg.norm(where - self.setting.pose.camera_position_mm))

    def paint(self, scene: Scene, frame: int) -> Image:
        standing = tuple(block for block in scene.blocks if _stands(block))
        moving = tuple(block for block in scene.blocks if not _stands(block))
        image = self._still(scene, standing)
        if moving or scene.hands:
            image = image.copy()
        for block in moving:
            self._blocks.paint_shadows(image, block)
        lamps = self.setting.lighting.lamps
        for hand in scene.hands:
            shades = [self._blocks.shade(lamp) for lamp in lamps]
            paint_hand_shadow(self.setting, image, hand, shades, self._pixels_per_mm)
        for block in moving:
            sprite = self._blocks.sprite(block)
            paste(image, sprite)
            nearer = [self._sprite(other) for other in standing]
            for other in _farthest_first(nearer):
                if other.distance_mm < sprite.distance_mm and other.overlaps(sprite):
                    paste(image, other)
        for hand in scene.hands:
            arm = hand_sprite(self.setting, hand)
            if arm is not None:
                paste(image, arm)
        return through_sensor(image, self.setting.sensor, self._noise, frame)


def _stands(block: BlockPose) -> bool:
    return block.tipped_deg == 0 and block.streak_mm == (0.0, 0.0) and (block.base_mm is None or block.base_mm == 0)


def _farthest_first(sprites: list[Sprite]) -> list[Sprite]:
    return sorted(sprites, key=lambda sprite: -sprite.distance_mm)


class Renderer:
    """Renders scenes; the same scene, seed and frame number give the same picture byte for byte."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._painters: OrderedDict[int, _SettingPainter] = OrderedDict()

    def render(self, scene: Scene, frame: int = 0) -> Image:
        """Give what the camera sees, shape (height, width, 3), blue-green-red; ``frame`` chooses the noise."""
        painter = self._painters.get(id(scene.setting))
        if painter is None:
            painter = _SettingPainter(scene.setting, self._seed)
            self._painters[id(scene.setting)] = painter
            if len(self._painters) > _KEPT_SETTINGS:
                self._painters.popitem(last=False)
        image = painter.paint(scene, frame)
        return np.array(image, dtype=np.uint8)
