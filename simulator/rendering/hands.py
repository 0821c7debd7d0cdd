"""Hands and arms: their appearance, their shadows, and which squares they hide from the camera.

An arm is a set of tapered limbs in space: forearm, palm, fingers and thumb, reaching over from a player's side.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering import optics
from simulator.rendering.painting import (
    SUBPIXEL_BITS,
    Sprite,
    darken_in_shadow,
    fixed_point,
    hull,
    motion_px,
    polygon_mask,
)
from simulator.scene.pieces import Colour
from simulator.scene.scene import Hand, Setting, Thing
from simulator.scene.sheets import place_mm
from vision.frame import FloatArray, Image
from vision.geometry import Rectangle, project

_ANGLES = np.linspace(0, 2 * np.pi, 20, endpoint=False)
_CIRCLE = np.column_stack([np.cos(_ANGLES), np.sin(_ANGLES)])
_SHADES = ((1.0, 0.62), (0.86, 0.8), (0.68, 0.92), (0.46, 1.0), (0.22, 1.05))
"""Radius and brightness of the nested outlines that make a limb look round, as shares."""
_PALM_MM = 62.0
"""Length of the palm."""
_MARGIN_PX = 6
"""Margin of a sprite around the hand."""
_FAR_PX = 2e4
"""Limit of projected coordinates, for OpenCV's fixed-point drawing."""
_FARTHEST_SHADOW_MM = 900.0
"""Limit of a shadow's coordinates on the board's plane."""
_ARM_SHADOW_MM = 40.0
"""Half the width of the forearm's shadow at the elbow."""
_NEAREST_MM = 60.0
"""Smallest depth at which a limb is projected."""


@dataclass(frozen=True, eq=False)
class _Limb:
    """A tapered capsule: its two ends (3,), their radii, and its colour."""

    start_mm: FloatArray
    end_mm: FloatArray
    start_radius_mm: float
    end_radius_mm: float
    colour: Colour


def _limbs_of(hand: Hand) -> list[_Limb]:
    """Return the hand's limbs in the order in which they are drawn: thumb, fingers, palm, forearm, sleeve.

    The numbers are an adult's measurements in millimetres.
    """
    tip = np.asarray(hand.tip_mm, dtype=np.float64)
    elbow = np.asarray(hand.elbow_mm, dtype=np.float64)
    level = (tip - elbow) * np.array([1.0, 1.0, 0.0])
    ahead = level / max(float(np.linalg.norm(level)), 1.0)
    across = np.array([ahead[1], -ahead[0], 0.0])
    spread = 1.35 - 0.55 * hand.grip
    lift = 22.0 + 30.0 * hand.grip
    knuckles = tip - ahead * (70.0 - 22.0 * hand.grip) + optics.UP * lift
    wrist = knuckles - ahead * _PALM_MM + optics.UP * 12.0
    limbs: list[_Limb] = []
    thumb_root = wrist + ahead * 22.0 - across * 24.0 - optics.UP * 10.0
    thumb_joint = tip - ahead * 34.0 - across * 34.0 * spread + optics.UP * 18.0
    thumb_tip = tip - ahead * (2.0 + 16.0 * hand.grip) - across * (30.0 * spread - 12.0 * hand.grip)
    limbs.append(_Limb(thumb_root, thumb_joint, 13.0, 10.0, hand.skin))
    limbs.append(_Limb(thumb_joint, thumb_tip, 10.0, 8.0, hand.skin))
    beyond_tip = (-3.0, 6.0, 3.0, -10.0)  # of index, middle, ring and little finger
    for index, length in enumerate(beyond_tip):
        aside = (index - 1.5) * 17.0
        root = knuckles + across * aside
        end = tip + ahead * (length + 14.0 * hand.grip) + across * aside * spread * (1.0 - 0.25 * hand.grip)
        joint = (root + end) / 2 + optics.UP * (10.0 + 10.0 * hand.grip)
        limbs.append(_Limb(end, joint, 7.0, 8.5, hand.skin))
        limbs.append(_Limb(joint, root, 8.5, 9.5, hand.skin))
    for aside in (-22.0, -7.0, 8.0, 22.0):
        limbs.append(_Limb(knuckles + across * aside, wrist + across * aside * 0.55, 12.0, 15.0, hand.skin))
    limbs.append(_Limb(wrist, elbow, 25.0, 42.0, hand.skin))
    if hand.sleeve is not None:
        cuff = wrist + (elbow - wrist) * hand.sleeve_from
        start = 31.0 + 14.0 * hand.sleeve_from
        limbs.append(_Limb(cuff, elbow, start, 52.0, hand.sleeve))
    return limbs


@dataclass(frozen=True, eq=False)
class _ProjectedLimbs:
    """Limbs in the picture: both ends of each (limbs, 2, 2), and their radii (limbs, 2)."""

    ends_px: FloatArray
    radii_px: FloatArray

    @classmethod
    def of(cls, setting: Setting, limbs: Sequence[_Limb]) -> _ProjectedLimbs:
        ends = np.array([[limb.start_mm, limb.end_mm] for limb in limbs])
        pixels = project(setting.camera, setting.pose, ends.reshape(-1, 3)).reshape(-1, 2, 2)
        radii = np.array([[limb.start_radius_mm, limb.end_radius_mm] for limb in limbs])
        return cls(pixels, radii * float(setting.camera.matrix[0, 0]) / _depths_mm(setting, ends))

    def outline(self, index: int, scale: float = 1.0) -> FloatArray:
        """Return the convex outline, shape (n, 2), of one limb with its radii multiplied by ``scale``."""
        start, end = self.ends_px[index]
        first, last = self.radii_px[index] * scale
        rounded = np.concatenate([start + first * _CIRCLE, end + last * _CIRCLE])
        return hull(np.clip(rounded, -_FAR_PX, _FAR_PX))


def _depths_mm(setting: Setting, points_mm: FloatArray) -> FloatArray:
    """Return the distance of points (..., 3) from the camera along its axis; shape (...)."""
    return np.asarray((points_mm - setting.pose.camera_position_mm) @ setting.pose.rotation[2], dtype=np.float64)


def _can_be_projected(setting: Setting, limb: _Limb) -> bool:
    return bool(_depths_mm(setting, np.stack([limb.start_mm, limb.end_mm])).min() > _NEAREST_MM)


def _shortened(setting: Setting, limb: _Limb) -> _Limb | None:
    """Return the part of a limb that can be projected, from its start; ``None`` if there is none."""
    if _can_be_projected(setting, limb):
        return limb
    for share in (0.8, 0.6, 0.4, 0.2):
        end = limb.start_mm + (limb.end_mm - limb.start_mm) * share
        radius = limb.start_radius_mm + (limb.end_radius_mm - limb.start_radius_mm) * share
        shorter = _Limb(limb.start_mm, end, limb.start_radius_mm, radius, limb.colour)
        if _can_be_projected(setting, shorter):
            return shorter
    return None


def _projectable_limbs(setting: Setting, hand: Hand) -> list[_Limb]:
    return [part for limb in _limbs_of(hand) if (part := _shortened(setting, limb)) is not None]


def hand_sprite(setting: Setting, hand: Hand) -> Sprite | None:
    """Draw a hand as the camera sees it; ``None`` when it is outside the picture."""
    limbs = _projectable_limbs(setting, hand)
    if not limbs:
        return None
    projected = _ProjectedLimbs.of(setting, limbs)
    outlines = [projected.outline(index) for index in range(len(limbs))]
    width, height = setting.camera.size
    points = np.vstack(outlines)
    first = np.clip(np.floor(points.min(axis=0)) - _MARGIN_PX, 0, [width, height]).astype(int)
    last = np.clip(np.ceil(points.max(axis=0)) + _MARGIN_PX, 0, [width, height]).astype(int)
    if first[0] >= last[0] or first[1] >= last[1]:
        return None
    tip_mm, origin = np.asarray(hand.tip_mm, dtype=np.float64), first.astype(np.float64)
    shape = (int(last[1] - first[1]), int(last[0] - first[0]))
    image = np.zeros((*shape, 3), dtype=np.uint8)
    cover, painted = np.zeros(shape, dtype=np.uint8), np.zeros(shape, dtype=np.uint8)
    towards_light = _towards_light(setting)
    shades = _shades_of(setting, limbs, outlines)
    for index, outline in enumerate(outlines):
        cv2.fillPoly(cover, [fixed_point(outline - origin)], 255, cv2.LINE_AA, SUBPIXEL_BITS)
        thickness = float(np.ptp(outline, axis=0).min())
        for (scale, _), value in zip(_SHADES, shades[index], strict=True):
            ring = projected.outline(index, scale) + towards_light * (1.0 - scale) * min(thickness, 60.0) * 0.3
            cv2.fillPoly(image, [fixed_point(ring - origin)], value.tolist(), cv2.LINE_AA, SUBPIXEL_BITS)
            cv2.fillPoly(painted, [fixed_point(ring - origin)], 255, cv2.LINE_AA, SUBPIXEL_BITS)
    # what is not painted has no weight, so that the edge stays as bright
    blurred, weight = (cv2.GaussianBlur(layer.astype(np.float32), (5, 5), 1.3) for layer in (image, painted))
    share = cover / np.maximum(weight, 1.0)
    image = np.rint(blurred * share[..., None]).clip(0, 255).astype(np.uint8)
    distance = float(np.linalg.norm(tip_mm - setting.pose.camera_position_mm))
    if hand.streak_mm != (0.0, 0.0):
        motion = motion_px(setting, tip_mm, hand.streak_mm)
        image, cover = optics.motion_blur(image, motion), optics.motion_blur(cover, motion)
    return Sprite(int(first[0]), int(first[1]), image, cover, distance)


def _shades_of(setting: Setting, limbs: Sequence[_Limb], outlines: Sequence[FloatArray]) -> FloatArray:
    """Return each limb's screen colours from its rim to its ridge; shape (limbs, shades, 3)."""
    middles = np.array([(limb.start_mm + limb.end_mm) / 2 for limb in limbs])
    light = optics.irradiance(setting.lighting, middles, optics.UP) * optics.sensor_gain(setting.sensor)
    centres = np.array([outline.mean(axis=0) for outline in outlines])
    light = light * optics.vignette_at(setting.camera, setting.sensor, centres)[:, None]
    colours = light * np.array([optics.decode(limb.colour) for limb in limbs])
    brightness = np.array([brightness for _, brightness in _SHADES])
    return optics.develop(colours[:, None, :] * brightness[:, None]).astype(np.float64)


def _towards_light(setting: Setting) -> FloatArray:
    """Return the direction of the first lamp in the picture, a unit vector; zeros without lamps."""
    if not setting.lighting.lamps:
        return np.zeros(2)
    lamp = np.asarray(setting.lighting.lamps[0].position_mm) * np.array([1.0, 1.0, 0.0])
    away = lamp / max(float(np.linalg.norm(lamp)), 1.0)
    start, end = project(setting.camera, setting.pose, np.stack([np.zeros(3), away * 10.0]))
    direction = end - start
    return np.asarray(direction / max(float(np.linalg.norm(direction)), 1e-6), dtype=np.float64)


def paint_hand_shadow(setting: Setting, image: Image, hand: Hand, shades: list[Image], pixels_per_mm: float) -> None:
    """Draw the hand's shadows, in place; ``shades`` holds one ``shade_table`` for each lamp."""
    ground = setting.layout.surfaces[0].height_mm
    # a sleeve's shadow is its forearm's
    *limbs, forearm = _limbs_of(replace(hand, sleeve=None))
    fingers_and_palm = np.vstack([[limb.start_mm, limb.end_mm] for limb in limbs])
    wrist, elbow = forearm.start_mm, forearm.end_mm
    across = np.cross(elbow - wrist, optics.UP)
    across = across / max(float(np.linalg.norm(across)), 1.0) * _ARM_SHADOW_MM
    arm = np.stack([wrist + across * 0.6, wrist - across * 0.6, elbow + across, elbow - across])
    for lamp, shade in zip(setting.lighting.lamps, shades, strict=True):
        for points in (fingers_and_palm, arm):
            shadow = np.clip(optics.shadow_points(lamp, points, ground), -_FARTHEST_SHADOW_MM, _FARTHEST_SHADOW_MM)
            outline = hull(np.clip(project(setting.camera, setting.pose, shadow), -_FAR_PX, _FAR_PX))
            height = float(points[:, 2].mean()) - ground
            softness = max(optics.penumbra_mm(lamp, height) * pixels_per_mm, 1.0)
            darken_in_shadow(image, outline, min(softness, 14.0), shade)


def cover_mask(setting: Setting, hands: tuple[Hand, ...], shrink: int, things: Sequence[Thing] = ()) -> Image:
    """Return where hands and things hide the picture: a mask of the frame's size divided by ``shrink``, 0 or 255."""
    width, height = setting.camera.size
    mask = np.zeros((height // shrink + 1, width // shrink + 1), dtype=np.uint8)
    for hand in hands:
        limbs = _projectable_limbs(setting, hand)
        if not limbs:
            continue
        projected = _ProjectedLimbs.of(setting, limbs)
        for index in range(len(limbs)):
            cv2.fillConvexPoly(mask, np.rint(projected.outline(index) / shrink).astype(np.int32), 255)
    for outline in (one for thing in things for one in thing.silhouette_px(setting)):
        cv2.fillPoly(mask, [np.rint(np.clip(outline, -_FAR_PX, _FAR_PX) / shrink).astype(np.int32)], 255)
    return mask


_SHRINK = 4
"""Pixels of the picture per pixel, along each direction, of the masks that find hidden places."""
_HIDDEN_SHARE = 0.25
"""Share of a place that is hidden when the place counts as covered."""


class HandOcclusion:
    """Finds the places that hands, or things, hide from the camera of one setting."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._squares = {place: self._square(place) for place in setting.layout.places}
        self._tops = {place: self._top(place) for place in setting.layout.places}

    def _square(self, place: str) -> npt.NDArray[np.intp]:
        """Return the pixels of a place's square."""
        board = self._setting.layout.board
        x, y = place_mm(self._setting.layout, place)
        half = board.cell_mm / 2
        return self._within(Rectangle(x - half, x + half, y - half, y + half).corners_mm(board.height_mm))

    def _top(self, place: str) -> npt.NDArray[np.intp]:
        """Return the pixels of the top of a piece on a place, or of the whole piece if it is pointed."""
        solid = self._setting.layout.surface_of(place).solid_at(place)
        if solid is None:
            return np.zeros(0, dtype=np.intp)
        corners = solid.corners_mm()
        top = corners[corners[:, 2] == corners[:, 2].max()]
        pixels = project(self._setting.camera, self._setting.pose, top)
        return self._within(top if cv2.contourArea(pixels.astype(np.float32)) > 1 else corners)

    def _within(self, corners: FloatArray) -> npt.NDArray[np.intp]:
        """Return the pixels of the convex hull of corners (n, 3)."""
        width, height = self._setting.camera.size
        pixels = hull(project(self._setting.camera, self._setting.pose, corners) / _SHRINK)
        return np.flatnonzero(polygon_mask((height // _SHRINK + 1, width // _SHRINK + 1), pixels))

    def covered(
        self, hands: tuple[Hand, ...], occupied: Collection[str], things: Sequence[Thing] = ()
    ) -> tuple[str, ...]:
        """Return the places where hands and things hide at least a quarter of the square or of its piece's top."""
        if not hands and not things:
            return ()
        hidden = cover_mask(self._setting, hands, _SHRINK, things).reshape(-1) > 127
        found: list[str] = []
        for place, square in self._squares.items():
            regions = [square, self._tops[place]] if place in occupied else [square]
            if any(len(region) and float(hidden[region].mean()) >= _HIDDEN_SHARE for region in regions):
                found.append(place)
        return tuple(found)
