"""Objects that don't belong to the game, as the camera sees them: outlines, shadows and patterns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import cv2
import numpy as np

from benchmarks.scene.colours import random_colour
from simulator.rendering import optics
from simulator.rendering.painting import (
    SUBPIXEL_BITS,
    box_around,
    clipped,
    darken_in_shadow,
    fixed_point,
    hull,
    polygon_mask,
)
from simulator.scene.pieces import Colour
from simulator.scene.scene import Setting
from vision.frame import FloatArray, Image
from vision.geometry import project

ForeignObjectKind = Literal["coin", "cup", "card", "playing card", "napkin", "scarf", "sleeve", "cat"]
_HEIGHTS_MM: Mapping[ForeignObjectKind, float] = {
    "coin": 2.2,
    "cup": 85.0,
    "card": 0.4,
    "playing card": 0.3,
    "napkin": 1.0,
    "scarf": 7.0,
    "sleeve": 50.0,
    "cat": 90.0,
}


@dataclass(frozen=True)
class ForeignObject:
    """Something that does not belong to the game, at (x, y) on ``base_mm``, turned anticlockwise by ``turned_deg``.

    ``radius_mm`` is half the depth of a card or a napkin, half the width of a scarf or a sleeve, and of a curled-up cat
    the radius. ``seed`` draws its pattern.
    """

    kind: ForeignObjectKind
    x_mm: float
    y_mm: float
    colour: Colour = (0.45, 0.65, 0.75)
    base_mm: float = 0.0
    radius_mm: float = 12.0
    turned_deg: float = 0.0
    seed: int = 0

    @property
    def foot_mm(self) -> tuple[float, float, float]:
        """Where the middle of its underside lies."""
        return (self.x_mm, self.y_mm, self.base_mm)

    @property
    def height_mm(self) -> float:
        """Its height."""
        return _HEIGHTS_MM[self.kind]

    def paint(self, setting: Setting, image: Image, pixels_per_mm: float) -> None:
        """Draw it and its shadows into the picture, in place."""
        paint_foreign_object(setting, image, self, pixels_per_mm)

    def silhouette_px(self, setting: Setting) -> list[FloatArray]:
        """Return polygons (n, 2) of the picture that together are what it hides."""
        return silhouette_px(setting, self)


_ANGLES = np.linspace(0.0, 2 * np.pi, 48, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
_PLAYING_CARD = (31.5 / 44.0, 1.0)
"""Half the width and half the depth of a playing card, as shares of the latter."""
_SCARF_LENGTHS = 7.0
"""Half the length of a scarf, and of a sleeve, over half its width."""
_DOMED: Mapping[ForeignObjectKind, float] = MappingProxyType({"cat": 0.72, "sleeve": 0.6})
"""Size of the top of what is round, as a share of its foot."""


def _box(half_x: float, half_y: float) -> FloatArray:
    return np.array([[-half_x, half_y], [half_x, half_y], [half_x, -half_y], [-half_x, -half_y]])


def _bend(along: FloatArray, seed: int) -> FloatArray:
    """Return how far the middle of a scarf lies aside at positions along it, in half widths."""
    swings, begins = np.random.default_rng([seed, 91]).uniform((0.5, 0.0), (1.6, 6.0))
    return np.asarray(swings * np.sin(0.45 * along + begins), dtype=np.float64)


def _ribbon(seed: int) -> FloatArray:
    along = np.linspace(-_SCARF_LENGTHS, _SCARF_LENGTHS, 40)
    aside = _bend(along, seed)
    return np.vstack([np.column_stack([along, aside + 1.0]), np.column_stack([along, aside - 1.0])[::-1]])


def _sleeve() -> FloatArray:
    cuff = _CIRCLE[np.cos(_ANGLES) < 0][:, ::1] * np.array([0.35, 0.8]) - np.array([_SCARF_LENGTHS / 2, 0.0])
    order = np.argsort(-np.arctan2(cuff[:, 1], -(cuff[:, 0] + _SCARF_LENGTHS / 2)))
    return np.vstack([cuff[order], [[_SCARF_LENGTHS / 2, -1.25], [_SCARF_LENGTHS / 2, 1.25]]])


def _cat() -> tuple[FloatArray, ...]:
    head = np.array([0.62, 0.52]) + 0.42 * _CIRCLE
    ears = tuple(
        np.array([0.62, 0.52])
        + 0.42
        * np.array(
            [
                [np.cos(a - 0.35), np.sin(a - 0.35)],
                [1.5 * np.cos(a), 1.5 * np.sin(a)],
                [np.cos(a + 0.35), np.sin(a + 0.35)],
            ]
        )
        for a in (0.05, 1.2)
    )
    return (_CIRCLE * np.array([1.0, 0.82]), head, *ears)


def shapes_mm(thing: ForeignObject, height_mm: float, scale: float = 1.0) -> list[FloatArray]:
    """Return the object's outlines at a height above its foot: points on the table in millimetres, each (n, 3)."""
    match thing.kind:
        case "card":
            shapes: tuple[FloatArray, ...] = (_box(1.4, 1.0),)
        case "playing card":
            shapes = (_box(*_PLAYING_CARD),)
        case "napkin":
            shapes = (_box(1.0, 1.0),)
        case "scarf":
            shapes = (_ribbon(thing.seed),)
        case "sleeve":
            shapes = (_sleeve(),)
        case "cat":
            shapes = _cat()
        case _:
            shapes = (_CIRCLE,)
    angle = np.radians(thing.turned_deg)
    turn = thing.radius_mm * scale * np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    return [
        np.column_stack([shape @ turn + (thing.x_mm, thing.y_mm), np.full(len(shape), thing.base_mm + height_mm)])
        for shape in shapes
    ]


def silhouette_px(setting: Setting, thing: ForeignObject) -> list[FloatArray]:
    """Return polygons (n, 2) of the picture that together are what the object hides."""
    top = _DOMED.get(thing.kind, 1.0)
    found = []
    for foot, rim in zip(shapes_mm(thing, 0.0), shapes_mm(thing, thing.height_mm, top), strict=True):
        low, high = (project(setting.camera, setting.pose, outline) for outline in (foot, rim))
        sides = np.stack([low, np.roll(low, -1, axis=0), np.roll(high, -1, axis=0), high], axis=1)
        found += [low, high, *(hull(side) for side in sides)]
    return found


def _stripes(u: FloatArray, v: FloatArray, colour: FloatArray, seed: int) -> FloatArray:
    """Return the reflectance of a knitted scarf with stripes across."""
    other = optics.decode(random_colour(np.random.default_rng([seed, 92])))
    v = v - _bend(u, seed)
    second = (np.sin(4.2 * u + 0.3 * np.sin(3.0 * v)) > 0.25)[..., None]
    knit = 1.0 + 0.16 * np.sin(34.0 * u + 9.0 * np.abs(np.sin(17.0 * v)))
    return np.asarray(np.where(second, other, colour) * knit[..., None], dtype=np.float64)


def _folds(u: FloatArray, v: FloatArray, colour: FloatArray, seed: int) -> FloatArray:
    """Return the reflectance of cloth in folds."""
    begins = np.random.default_rng([seed, 93]).uniform(0.0, 6.0, 3)
    fold = np.sin(2.1 * u + 1.2 * np.sin(1.7 * v + begins[0]) + begins[1]) + 0.5 * np.sin(5.3 * u - v + begins[2])
    return np.asarray(colour * (1.0 + 0.2 * fold)[..., None], dtype=np.float64)


def _fur(u: FloatArray, v: FloatArray, colour: FloatArray, seed: int) -> FloatArray:
    """Return the reflectance of fur with a tabby's stripes."""
    rng = np.random.default_rng([seed, 94])
    angle, away = np.arctan2(v, u), np.hypot(u, v)
    swirl = np.sin(9.0 * away + 1.5 * np.sin(2.0 * angle + 4.0 * u) + 1.2 * np.sin(5.0 * v))
    tabby = 1.0 / (1.0 + np.exp(5.0 * (swirl - 0.2)))
    hairs = cv2.GaussianBlur(rng.standard_normal(u.shape).astype(np.float32), (0, 0), 1.2) * 0.6
    return np.asarray(colour * np.clip((0.45 + 0.55 * tabby) * (1.0 + hairs), 0.05, None)[..., None], dtype=np.float64)


def _pips(u: FloatArray, v: FloatArray, _colour: FloatArray, seed: int) -> FloatArray:
    """Return the reflectance of a playing card's face."""
    rng = np.random.default_rng([seed, 95])
    ink = optics.decode(((0.1, 0.1, 0.75), (0.1, 0.1, 0.1))[int(rng.integers(2))])
    rows = int(rng.integers(2, 5))
    across, along = np.abs(np.abs(u) - 0.3), np.abs((v / 0.75 + 1.0) * rows / 2 % 1.0 - 0.5) * 1.5 / rows
    pip = (across**2 + along**2 < 0.1**2) & (np.abs(v) < 0.75)
    corner = (np.abs(np.abs(u) - 0.58) < 0.07) & (np.abs(np.abs(v) - 0.8) < 0.1)
    return np.where((pip | corner)[..., None], ink, optics.decode((0.93, 0.94, 0.95)))


Pattern = Callable[[FloatArray, FloatArray, FloatArray, int], FloatArray]
_PATTERNS: Mapping[ForeignObjectKind, Pattern] = MappingProxyType(
    {"scarf": _stripes, "sleeve": _folds, "napkin": _folds, "cat": _fur, "playing card": _pips}
)
"""By kind: the linear reflectance (..., 3) at points of the object in units of its radius, from its colour and seed."""
_SOFT = frozenset({"scarf", "sleeve", "cat"})
_RIM_BRIGHTNESS = 0.4
"""Brightness of a soft object's rim, as a share of its middle's."""


def paint_foreign_object(setting: Setting, image: Image, thing: ForeignObject, pixels_per_mm: float) -> None:
    """Draw the object and its shadows into the picture, in place."""
    height = thing.height_mm
    feet, rims = shapes_mm(thing, 0.0), shapes_mm(thing, height, _DOMED.get(thing.kind, 1.0))
    middle = rims[0].mean(axis=0)
    for lamp in setting.lighting.lamps:
        share = optics.shade_table(optics.remaining_light(setting.lighting, lamp, middle))
        softness = max(optics.penumbra_mm(lamp, height) * pixels_per_mm, 0.7)
        for foot, rim in zip(feet, rims, strict=True):
            reached = optics.shadow_points(lamp, np.vstack([foot, rim]), thing.base_mm)
            outline = project(setting.camera, setting.pose, reached)
            # a scarf's hull would shade what lies in its bends
            darken_in_shadow(image, outline[len(foot) :] if thing.kind == "scarf" else hull(outline), softness, share)
    light = optics.irradiance(setting.lighting, middle, optics.UP) * optics.sensor_gain(setting.sensor)
    if thing.kind in _PATTERNS:
        _paint_pattern(setting, image, thing, light, pixels_per_mm)
        return
    colour, rim = optics.decode(thing.colour) * light, rims[0]
    body = hull(project(setting.camera, setting.pose, np.vstack([feet[0], rim])))
    _fill(image, body, colour * 0.6)  # its side
    _fill(image, project(setting.camera, setting.pose, rim), colour)
    if thing.kind == "cup":
        # its inside, dark below the rim
        _fill(image, project(setting.camera, setting.pose, shapes_mm(thing, height - 8.0, 0.9)[0]), colour * 0.18)
    elif thing.kind == "coin":
        # its face, brighter than the raised edge
        _fill(image, project(setting.camera, setting.pose, shapes_mm(thing, height, 0.86)[0]), colour * 1.15)


def _paint_pattern(
    setting: Setting, image: Image, thing: ForeignObject, light: FloatArray, pixels_per_mm: float
) -> None:
    polygons = silhouette_px(setting, thing)
    box = clipped(box_around(np.vstack(polygons), 2), image.shape)
    if box is None:
        return
    left, top, right, bottom = box
    size = (right - left, bottom - top)
    cover = np.zeros(size[::-1], dtype=np.uint8)
    for polygon in polygons:
        cover = np.maximum(cover, polygon_mask(cover.shape, polygon - (left, top)))
    rays = optics.normalised_rays(setting.camera, left, top, size)
    points, _ = optics.on_plane(setting.pose, rays, thing.base_mm + thing.height_mm / 2)
    angle = np.radians(thing.turned_deg)
    back = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) / thing.radius_mm
    local = (points - (thing.x_mm, thing.y_mm)) @ back
    seen = _PATTERNS[thing.kind](local[..., 0], local[..., 1], optics.decode(thing.colour), thing.seed) * light
    if thing.kind in _SOFT:
        inside = cv2.distanceTransform((cover > 127).astype(np.uint8), cv2.DIST_L2, 3)
        rounded = np.clip(inside / (0.6 * thing.radius_mm * pixels_per_mm), 0.0, 1.0)
        seen *= (_RIM_BRIGHTNESS + (1.0 - _RIM_BRIGHTNESS) * np.sqrt(1.0 - (1.0 - rounded) ** 2))[..., None]
    part, alpha = image[top:bottom, left:right], (cover.astype(np.float32) / 255.0)[..., None]
    part[...] = np.rint(part * (1.0 - alpha) + optics.develop(seen) * alpha).astype(np.uint8)


def _fill(image: Image, pixels: FloatArray, linear: FloatArray) -> None:
    cv2.fillPoly(image, [fixed_point(pixels)], optics.develop(linear).tolist(), cv2.LINE_AA, SUBPIXEL_BITS)
