"""Renders scenes as the camera sees them.

A picture has three layers. The background is cached for each setting, and the pieces at rest until they change; moving
pieces, hands and noise are drawn for each frame.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

import numpy as np

from simulator.rendering.background import paint_background, pixels_per_mm
from simulator.rendering.dice import DicePainter
from simulator.rendering.hands import hand_sprite, paint_hand_shadow
from simulator.rendering.ink import InkPainter, PenPainter
from simulator.rendering.optics import SensorNoise, add_light, through_sensor
from simulator.rendering.painting import PiecePainter, Shadows, Sprite, paste
from simulator.rendering.pieces import BlockPainter, DiscPainter, PyramidPainter
from simulator.scene.pieces import (
    BallPose,
    BlockPose,
    DiePose,
    DiscPose,
    InkPose,
    PenPose,
    PiecePose,
    StackPose,
    stands,
)
from simulator.scene.scene import Scene, Setting, Thing
from vision.frame import Image

_CACHED_SETTINGS = 3  # backgrounds; each takes megabytes
_CACHED_SPRITES = 1200  # a game needs fewer
_CACHED_STILLS = 4  # whole pictures

PAINTERS: Mapping[type[Any], Callable[[Setting, Shadows], PiecePainter]] = MappingProxyType(
    {
        BlockPose: BlockPainter,
        DiscPose: DiscPainter,
        BallPose: DiscPainter,
        StackPose: PyramidPainter,
        DiePose: DicePainter,
        InkPose: InkPainter,
        PenPose: PenPainter,
    }
)
"""The painter of each kind of piece."""


class _SettingPainter:
    """Draws scenes of one setting."""

    def __init__(self, setting: Setting, seed: int) -> None:
        self._setting = setting
        self._pixels_per_mm = pixels_per_mm(setting)
        self._background = paint_background(setting)
        mirrors = setting.lighting.mirrored
        self._mirrored = None if mirrors is None else mirrors.light(setting)
        self._shadows = shadows = Shadows(setting, self._pixels_per_mm)
        self._noise = SensorNoise(setting.camera, setting.sensor.noise, seed)

        painters: dict[type[Any], PiecePainter] = {}

        def painter(piece: PiecePose) -> PiecePainter:
            kind = type(piece)
            if kind not in painters:
                painters[kind] = PAINTERS[kind](setting, shadows)
            return painters[kind]

        @lru_cache(maxsize=_CACHED_SPRITES)
        def sprite(piece: PiecePose) -> Sprite:
            return painter(piece).sprite(piece)

        self._painter, self._sprite = painter, sprite
        self._stills: OrderedDict[tuple[object, ...], Image] = OrderedDict()

    def _still(self, scene: Scene, standing: tuple[PiecePose, ...]) -> Image:
        """Return the picture of everything at rest; it is cached, so the caller must not change it."""
        key = (standing, scene.things)
        image = self._stills.get(key)
        if image is None:
            image = self._stills[key] = self._paint_still(standing, scene.things)
            if len(self._stills) > _CACHED_STILLS:
                self._stills.popitem(last=False)
        return image

    def _paint_still(self, standing: tuple[PiecePose, ...], things: tuple[Thing, ...]) -> Image:
        image = self._background.copy()
        for piece in standing:
            if isinstance(piece, InkPose):
                paste(image, self._sprite(piece))
        if self._mirrored is not None:
            # over the ink, and under all that stands on the board
            image = add_light(image, self._mirrored)
        solid = _without_ink(standing)
        for piece in solid:
            self._painter(piece).paint_shadows(image, piece)
        sprites = _farthest_first([self._sprite(piece) for piece in solid])
        for thing in sorted(things, key=lambda one: (self._lies_on_pieces(one), -self._distance_mm(one))):
            while sprites and (self._lies_on_pieces(thing) or sprites[0].distance_mm > self._distance_mm(thing)):
                paste(image, sprites.pop(0))
            thing.paint(self._setting, image, self._pixels_per_mm)
        for sprite in sprites:
            paste(image, sprite)
        return image

    def _lies_on_pieces(self, thing: Thing) -> bool:
        """Return whether a thing lies on pieces, none of which is high enough to hide it."""
        return thing.foot_mm[2] > self._setting.layout.board.height_mm

    def _distance_mm(self, thing: Thing) -> float:
        return float(np.linalg.norm(np.array(thing.foot_mm) - self._setting.pose.camera_position_mm))

    def paint(self, scene: Scene, frame: int) -> Image:
        standing = tuple(piece for piece in scene.pieces if stands(piece))
        moving = tuple(piece for piece in scene.pieces if not stands(piece))
        image = self._still(scene, standing)
        if moving or scene.hands:
            image = image.copy()
        for piece in moving:
            self._painter(piece).paint_shadows(image, piece)
        shades = [self._shadows.shade(lamp) for lamp in self._setting.lighting.lamps] if scene.hands else []
        for hand in scene.hands:
            paint_hand_shadow(self._setting, image, hand, shades, self._pixels_per_mm)
        for piece in moving:
            sprite = self._painter(piece).sprite(piece)
            paste(image, sprite)
            others = [self._sprite(other) for other in _without_ink(standing)]
            for other in _farthest_first(others):
                if other.distance_mm < sprite.distance_mm and other.overlaps(sprite):
                    paste(image, other)
        for hand in scene.hands:
            arm = hand_sprite(self._setting, hand)
            if arm is not None:
                paste(image, arm)
        return through_sensor(image, self._setting.sensor, self._noise, frame)


def _without_ink(pieces: tuple[PiecePose, ...]) -> tuple[PiecePose, ...]:
    return tuple(piece for piece in pieces if not isinstance(piece, InkPose))


def _farthest_first(sprites: list[Sprite]) -> list[Sprite]:
    return sorted(sprites, key=lambda sprite: -sprite.distance_mm)


class Renderer:
    """Renders scenes; the same scene, seed and frame number give the same picture byte for byte."""

    def __init__(self, seed: int = 0) -> None:
        self._painter = lru_cache(maxsize=_CACHED_SETTINGS)(partial(_SettingPainter, seed=seed))

    def render(self, scene: Scene, frame: int = 0) -> Image:
        """Return what the camera sees, shape (height, width, 3), blue-green-red; ``frame`` seeds the noise."""
        # a copy, because a picture without noise or blur is the cached one
        return self._painter(scene.setting).paint(scene, frame).copy()
