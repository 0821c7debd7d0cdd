"""Stacks of pyramids drawn quickly, for very many pictures: flat facets that mirror, in linear light."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from simulator.rendering.optics import compress
from simulator.rendering.reflections import Body, Light, Surroundings, fresnel
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, hull_px, project
from vision.layout.surfaces import GridSurface

Lights = tuple[float, list[tuple[FloatArray, FloatArray, float]]]
"""The light from all around, and lamps: which way, of what colour, and how soft their shadows are."""
CORNERS = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]) / 2
"""Of a square with sides of 1, anticlockwise."""
BESIDE_MM = 60.0
"""How far beyond the board the ground's picture goes."""
_SAMPLES = 2
"""Samples along each direction that are averaged into a pixel."""
_BITS = 4
_TIP = 4
"""The number of the tip among a body's facets."""
_LEAST_MIRRORED = 0.02
"""A share of mirrored light below which it is left out."""
_IN_SIGHT = 0.4
"""Share of the top pyramid from which it counts as seen."""


@dataclass(frozen=True, eq=False)
class Piece:
    """One pyramid: its corners below and above (4, 3) each, its colour and its size."""

    size: str
    below: FloatArray
    above: FloatArray
    colour: str


@dataclass(frozen=True, eq=False)
class PyramidSet:
    """How one set looks: linear colours, how much each hides, tips, edges, gloss, and how much of the far
    sides shines through. A side hides more of what is behind it the more it faces the camera: ``facing``
    tells how much more. ``mirrors`` is the share of light along its normal that a side mirrors, 0 for a dull set, and
    ``dullness`` how many pixels that picture is blurred by.
    """

    colours: Mapping[str, FloatArray]
    opacity: Mapping[str, float]
    tip_share: float
    rise_mm: float
    edge_light: float
    edge_mm: float
    tip_light: float
    gloss: float
    back_share: float
    facing: float
    mirrors: float
    dullness: float


def linear(colour: npt.ArrayLike) -> FloatArray:
    """Return a colour as it looks on a screen, from 0 to 1, in linear light."""
    return np.power(np.clip(np.asarray(colour, dtype=np.float64), 0, 1), 2.2)


def any_colour(rng: np.random.Generator, low: float = 0.05) -> FloatArray:
    """Draw a random colour, in linear light; on a screen it is at least as bright as ``low``."""
    hue, strength, value = rng.uniform(0, 180), rng.beta(1.2, 1.0) * 255, rng.uniform(low, 0.95) * 255
    pixel = np.array([[[hue, strength, value]]], dtype=np.uint8)
    return linear(cv2.cvtColor(pixel, cv2.COLOR_HSV2BGR)[0, 0] / 255)


def lit(normal: FloatArray, light: Lights) -> FloatArray:
    """Return the light that reaches a facet with a unit normal (3,)."""
    ambient, lamps = light
    total = np.full(3, ambient * (0.65 + 0.35 * normal[2]))
    for way, strength, _ in lamps:
        total = total + max(0.0, float(way @ normal)) * strength
    return np.asarray(total)


def body_of(piece: Piece, look: PyramidSet, light: Lights) -> Body:
    """Return the facets of a pyramid (its sides, its tip and its base) and their light, were nothing in its way."""
    below, above = piece.below, piece.above
    sides = [np.stack([below[k], below[(k + 1) % 4], above[(k + 1) % 4], above[k]]) for k in range(4)]
    facets = np.stack([*sides, above, below[::-1]])
    across = np.cross(facets[:, 2] - facets[:, 0], facets[:, 3] - facets[:, 1])
    normals = across / np.linalg.norm(across, axis=1, keepdims=True)
    colour = look.colours[piece.colour]
    return Body(facets, normals, np.array([colour * lit(normal, light) for normal in normals]))


class StackCanvas:
    """A picture in linear light that is drawn from the farthest to the nearest."""

    def __init__(self, camera: CameraModel, pose: Pose) -> None:
        self._camera, self._pose = camera, pose
        shape = (camera.size[1] * _SAMPLES, camera.size[0] * _SAMPLES)
        self._light: Light = np.zeros((*shape, 3), dtype=np.float32)
        self._owner = np.zeros(shape, dtype=np.int16)
        self._drawn: dict[int, int] = {}

    def light(self) -> Light:
        """Return the picture, at the camera's resolution."""
        return np.asarray(cv2.resize(self._light, self._camera.size, interpolation=cv2.INTER_AREA))

    def in_sight(self) -> npt.NDArray[np.int64]:
        """Return how many points each top shows, by its number."""
        return np.bincount(np.maximum(self._owner, 0).ravel(), minlength=max(self._drawn, default=0) + 1)

    def shows(self, number: int, tip_mm: FloatArray, in_sight: npt.NDArray[np.int64]) -> bool:
        """Whether enough of a top is in sight, its tip among it."""
        column, row = np.rint(self._pixels(tip_mm[None])[0]).astype(int)
        inside = 0 <= row < self._owner.shape[0] and 0 <= column < self._owner.shape[1]
        seen = in_sight[number] > _IN_SIGHT * self._drawn[number]
        return bool(inside and self._owner[row, column] == number and seen)

    def covered(self, corners_mm: FloatArray) -> float:
        """Return the share of a polygon that something is drawn over."""
        mask = np.zeros(self._owner.shape, dtype=np.uint8)
        cv2.fillConvexPoly(mask, np.rint(self._pixels(corners_mm)).astype(np.int32), 1)
        inside = mask > 0
        return float((self._owner[inside] != 0).mean()) if inside.any() else 1.0

    def ground(self, texture: Light, board: GridSurface, sky: FloatArray) -> None:
        """Lay the board and the table under everything; ``sky`` is the light (3,) from where there is nothing."""
        corners = board.bounds_mm.grown(BESIDE_MM).corners_mm(board.height_mm)
        side = texture.shape[0] - 0.5
        given = np.array([[-0.5, side], [side, side], [side, -0.5], [-0.5, -0.5]], dtype=np.float32)
        matrix = cv2.getPerspectiveTransform(given, self._pixels(corners).astype(np.float32))
        size = (self._light.shape[1], self._light.shape[0])
        cv2.warpPerspective(texture, matrix, size, self._light, cv2.INTER_LINEAR, cv2.BORDER_REPLICATE)
        around = board.bounds_mm.grown(BESIDE_MM)
        step = around.width_mm / texture.shape[0]
        on_ground = np.array(
            [
                [step, 0, around.left_mm + step / 2],
                [0, -step, around.far_mm - step / 2],
                [0, 0, board.height_mm],
                [0, 0, 1],
            ]
        )
        finer = np.array([[_SAMPLES, 0, _SAMPLES / 2 - 0.5], [0, _SAMPLES, _SAMPLES / 2 - 0.5], [0, 0, 1]])
        projection = finer @ self._camera.matrix @ np.column_stack([self._pose.rotation, self._pose.translation])
        self._surroundings = Surroundings(projection, self._pose.camera_position_mm, texture, on_ground, sky)

    def pyramid(
        self, piece: Piece, look: PyramidSet, light: Lights, owner: int, around: Body, beside: Sequence[FloatArray]
    ) -> None:
        """Draw one pyramid over what is there; the far sides shine through.

        ``around`` is all that it may mirror; ``beside`` are the corners (n, 3) of each stack whose shadow may
        fall on it.
        """
        body = body_of(piece, look, light)
        facets, normals = body.facets, body.normals
        to_camera = self._pose.camera_position_mm - facets.mean(axis=1)
        to_camera /= np.linalg.norm(to_camera, axis=1, keepdims=True)
        towards = (to_camera * normals).sum(axis=1)
        seen = towards > 0
        pixels = self._pixels(facets.reshape(-1, 3)).reshape(-1, 4, 2)
        colour, opacity = look.colours[piece.colour], look.opacity[piece.colour]
        if opacity < 0.97 and look.back_share > 0.1:
            for behind in np.flatnonzero(~seen):
                self._blend([(pixels[behind], colour * lit(-normals[behind], light))], opacity * look.back_share)
        left, top, right, bottom = self._bounds(pixels[seen].reshape(-1, 2))
        if left >= right or top >= bottom:
            return
        origin, shape = np.array([left, top]), (bottom - top, right - left)
        own, shine = [], []
        for number in np.flatnonzero(seen):
            normal, middle = normals[number], facets[number].mean(axis=0)
            value = self._shade_facet(colour, middle, normal, light, beside, origin, shape)
            own.append(value * np.float32(look.tip_light if number == _TIP else 1.0))
            mirrored = np.zeros(3)
            for way, strength, _ in light[1]:
                halfway = way + to_camera[number]
                halfway /= np.linalg.norm(halfway)
                mirrored = mirrored + look.gloss * max(0.0, float(halfway @ normal)) ** 30 * strength
            share = fresnel(float(towards[number]), look.mirrors) if look.mirrors > 0 else 0.0
            if share > _LEAST_MIRRORED:
                picture = self._surroundings.mirrored(middle, normal, around, origin, shape)
                if look.dullness > 0:
                    picture = np.asarray(cv2.GaussianBlur(picture, (0, 0), look.dullness), dtype=np.float32)
                mirrored = mirrored + share * picture
            shine.append((1 - share, mirrored))
        scale = float(np.linalg.norm(pixels[0, 1] - pixels[0, 0]) / np.linalg.norm(facets[0, 1] - facets[0, 0]))
        hides = opacity + (1 - opacity) * look.facing * np.clip(towards[seen] * 1.2, 0, 1)
        front = [
            (pixels[number], share * value + mirrored)
            for number, value, (share, mirrored) in zip(np.flatnonzero(seen), own, shine, strict=True)
        ]
        hides = np.clip(hides + [1 - share for share, _ in shine], 0, 1)
        lines = [
            (pixels[k, first], pixels[k, second], body.values[k] * look.edge_light)
            for k in range(4)
            if seen[k] and look.edge_light != 1.0
            for first, second in ((0, 1), (0, 3), (1, 2))
        ]
        self._blend(front, hides, lines, max(1, round(look.edge_mm * scale)), owner)

    def _shade_facet(
        self,
        colour: FloatArray,
        middle: FloatArray,
        normal: FloatArray,
        light: Lights,
        beside: Sequence[FloatArray],
        origin: FloatArray,
        shape: tuple[int, int],
    ) -> Light:
        """Return the light of a facet with the shadows of others on it: (1, 1, 3) for all of it if there are none."""
        ambient, lamps = light
        level = np.full((1, 1, 3), ambient * (0.65 + 0.35 * normal[2]), dtype=np.float32)
        for way, strength, softness in lamps:
            facing = float(way @ normal)
            if facing <= 0:
                continue
            mask = self._surroundings.shadow(middle, normal, way, beside, origin, shape)
            share = np.ones((1, 1, 1), dtype=np.float32)
            if mask.any():
                soft = cv2.GaussianBlur(mask, (0, 0), 1 + 15 * softness)
                share = (1 - soft / np.float32(255))[..., None].astype(np.float32)
            level = np.asarray(level + share * (facing * strength).astype(np.float32), dtype=np.float32)
        return np.asarray(level * colour.astype(np.float32), dtype=np.float32)

    def stranger(
        self,
        rng: np.random.Generator,
        middle: FloatArray,
        light: Lights,
    ) -> None:
        """Draw a foreign object: a disc or a block."""
        radius, height, corners = rng.uniform(6, 16), rng.uniform(1, 25), int(rng.choice([4, 24]))
        start = rng.uniform(0, 6.3)
        angles = np.linspace(0, 2 * np.pi, corners, endpoint=False) + start
        ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(corners)]) * radius
        ring += middle + np.array([*rng.normal(0, 4, 2), 0])
        colour = any_colour(rng)
        upper = ring + np.array([0, 0, height])
        both = hull_px(self._pixels(np.vstack([ring, upper]))).astype(np.float64)
        side = colour * lit(np.array([1.0, 0, 0]), light)
        self._blend([(both, side)], 1.0, owner=0)
        self._blend([(self._pixels(upper), colour * lit(np.array([0, 0, 1.0]), light))], 1.0, owner=0)

    def cover(self, rng: np.random.Generator, board: GridSurface) -> None:
        """Draw something over everything: an arm, a sheet of paper."""
        colour = linear(np.array([0.52, 0.63, 0.84]) * rng.uniform(0.3, 1.1)) if rng.random() < 0.6 else any_colour(rng)
        colour = colour * rng.uniform(0.4, 1.2)
        reach = board.bounds_mm.width_mm / 2
        end = np.array([*rng.uniform(-reach, reach, 2), rng.uniform(45, 130)])
        towards = rng.uniform(0, 2 * math.pi)
        along = np.array([math.cos(towards), math.sin(towards), rng.uniform(0, 0.3)])
        aside = np.array([-along[1], along[0], 0.0])
        if rng.random() < 0.7:
            strands = (
                [(rng.uniform(9, 16), 0.0, 60.0)]
                if rng.random() < 0.5
                else [(rng.uniform(7, 10), shift, rng.uniform(0, 18)) for shift in (-27.0, -9.0, 9.0, 27.0)]
            )
            strands.append((rng.uniform(25, 45), 0.0, 300.0))
            for width, shift, length in strands:
                begin = end + aside * shift + along * (0 if length < 200 else 45)
                stop = begin + along * (max(length, 60))
                near, far = self._pixels(np.stack([begin, stop]))
                scale = float(np.linalg.norm(np.subtract(*self._pixels(np.stack([begin, begin + aside])))))
                self._stroke(near, far, colour * rng.uniform(0.85, 1.1), round(width * scale * 2))
        else:
            sides = rng.uniform(25, 110, 2)
            corners = end + CORNERS[:, :1] * sides[0] * along + CORNERS[:, 1:] * sides[1] * aside
            self._blend([(self._pixels(corners), colour)], 1.0, owner=-999)

    def _stroke(self, start: FloatArray, stop: FloatArray, value: FloatArray, width_px: int) -> None:
        points = [tuple(int(part) for part in np.rint(point * 2**_BITS)) for point in (start, stop)]
        cv2.line(self._light, points[0], points[1], value.tolist(), max(1, width_px), cv2.LINE_8, _BITS)
        owner = np.zeros(self._owner.shape, dtype=np.uint8)
        cv2.line(owner, points[0], points[1], 1, max(1, width_px), cv2.LINE_8, _BITS)
        self._owner[owner > 0] = -999

    def _pixels(self, points_mm: FloatArray) -> FloatArray:
        return np.asarray((project(self._camera, self._pose, points_mm) + 0.5) * _SAMPLES - 0.5, dtype=np.float64)

    def _bounds(self, points: FloatArray) -> tuple[int, int, int, int]:
        """Return left, top, right and bottom of the part of the picture around points (n, 2)."""
        left, top = np.maximum(np.floor(points.min(axis=0)).astype(int) - 2, 0).tolist()
        right, bottom = np.minimum(np.ceil(points.max(axis=0)).astype(int) + 3, self._light.shape[1::-1]).tolist()
        return left, top, right, bottom

    def _blend(
        self,
        polygons: Sequence[tuple[FloatArray, FloatArray | Light]],
        opacity: float | FloatArray,
        lines: Sequence[tuple[FloatArray, FloatArray, FloatArray]] = (),
        thickness: int = 1,
        owner: int | None = None,
    ) -> None:
        """Lay polygons of one opacity each over the picture, all at once, lines on them.

        Each is of one brightness (3,), or a part of the picture as large as ``_bounds`` of all says.
        """
        left, top, right, bottom = self._bounds(np.concatenate([polygon for polygon, _ in polygons]))
        if left >= right or top >= bottom:
            return
        part = self._light[top:bottom, left:right]
        over, mask = np.zeros_like(part), np.zeros(part.shape[:2], dtype=np.uint8)
        origin = np.array([left, top])

        def fixed(corners: FloatArray) -> npt.NDArray[np.int32]:
            return np.asarray(np.rint((corners - origin) * 2**_BITS), dtype=np.int32)

        for (corners, value), share in zip(polygons, np.broadcast_to(opacity, len(polygons)), strict=True):
            if value.size == over.shape[2]:
                cv2.fillConvexPoly(over, fixed(corners), value.ravel().tolist(), cv2.LINE_8, _BITS)
            else:
                inside = np.zeros_like(mask)
                cv2.fillConvexPoly(inside, fixed(corners), 1, cv2.LINE_8, _BITS)
                np.copyto(over, value, where=inside[..., None] > 0)
            cv2.fillConvexPoly(mask, fixed(corners), max(1, round(255 * float(share))), cv2.LINE_8, _BITS)
        for start, end, value in lines:
            first, last = fixed(np.stack([start, end])).tolist()
            cv2.line(over, first, last, value.tolist(), thickness, cv2.LINE_8, _BITS)
        part += (mask.astype(np.float32) / np.float32(255))[..., None] * (over - part)
        if owner is not None:
            np.copyto(self._owner[top:bottom, left:right], owner if owner > 0 else -1, where=mask > 0)
            if owner > 0:
                self._drawn[owner] = int(np.count_nonzero(mask))


def developed(rng: np.random.Generator, light: Light) -> Image:
    """Return what a camera makes of the light: exposure, blur, noise, white balance, compression."""
    bright = rng.uniform(0.25, 0.75) / max(float(np.percentile(light, 97)), 1e-3)
    gains = np.asarray(bright * rng.normal(1, 0.1, 3) * rng.uniform(0.8, 1.3), dtype=np.float32)
    rows, columns = light.shape[:2]
    slope = rng.normal(0, 0.25, 2)
    shade = 1 + slope[0] * np.linspace(-1, 1, rows)[:, None] + slope[1] * np.linspace(-1, 1, columns)
    light = light * gains * np.clip(shade, 0.3, 1.7)[..., None].astype(np.float32)
    light = np.asarray(cv2.GaussianBlur(light, (0, 0), rng.uniform(0.25, 1.0)), dtype=np.float32)
    if rng.random() < 0.15:
        streak = (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
        light = np.asarray(cv2.blur(light, streak), dtype=np.float32)
    levels = 255 * np.power(np.clip(light, 0, 1), np.float32(1 / 2.2))
    noise = rng.standard_normal(levels.shape, dtype=np.float32) * np.float32(rng.uniform(0.5, 6))
    if rng.random() < 0.5:
        noise = cv2.GaussianBlur(noise, (0, 0), 0.6) * 1.6
    image: Image = np.clip(levels + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.6:
        image = compress(image, int(rng.integers(60, 97)))
    return image
