"""A fast renderer of stacks of pyramids, for training pictures: flat facets with reflections, in linear light."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt

from benchmarks.scene.colours import random_colour
from benchmarks.scene.mirrored import fresnel
from benchmarks.scene.reflections import Facets, Surroundings
from simulator.rendering.optics import GAMMA, UP, compress, decode
from simulator.rendering.painting import SUBPIXEL_BITS, Box, box_around, clipped, fixed_point, supersampled
from simulator.rendering.pieces import UNIT_SQUARE, frustum, normals_of
from simulator.scene.scene import SKINS
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, hull_px, project
from vision.layout.pieces import GridSurface

GROUND_MARGIN_MM = 60.0
"""Width of the table around the board in the ground's texture."""
NOT_A_TOP = -1
"""Label of samples that show anything on the ground but a stack's top pyramid."""
_SAMPLES = 2
"""Supersampling: samples per pixel along each axis."""
_TIP = 4
"""Index of the tip among the facets of a pyramid."""
_LEAST_REFLECTANCE = 0.02
"""Reflectance below which a reflection is not rendered."""
_LEAST_VISIBLE = 0.4
"""Smallest visible share of a top pyramid that counts as visible."""


class DistantLamp(NamedTuple):
    """A lamp far away: the unit vector towards it (3,), its linear colour (3,), and the softness of its shadows."""

    direction: FloatArray
    colour: FloatArray
    softness: float


class Lights(NamedTuple):
    """Ambient light and lamps."""

    ambient: float
    lamps: list[DistantLamp]


@dataclass(frozen=True, eq=False)
class Piece:
    """One pyramid: its size, the corners of its base and of its tip, (4, 3) each, and the name of its colour."""

    size: str
    below: FloatArray
    above: FloatArray
    colour: str


@dataclass(frozen=True, eq=False)
class PyramidSet:
    """The appearance of one set of pyramids.

    ``colours`` are linear. ``tip_share`` is the tip's width over the base's, ``rise_mm`` the distance between tips of
    nested pyramids. ``edge_light`` and ``tip_light`` are the brightness of edges and tips over that of the sides.
    ``back_share`` is the opacity of far sides over that of near ones; ``facing`` makes sides that face the camera more
    opaque. ``head_on`` is the reflectance at normal incidence, 0 for a matt set; ``mirror_blur_px`` blurs reflections.
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
    head_on: float
    mirror_blur_px: float


def linear(colour: npt.ArrayLike) -> FloatArray:
    """Convert a screen colour, from 0 to 1, to linear light."""
    return np.power(np.clip(np.asarray(colour, dtype=np.float64), 0, 1), GAMMA)


def random_light(rng: np.random.Generator, low: float = 0.05) -> FloatArray:
    """Draw a random colour in linear light; its value on a screen (of HSV) is at least ``low``."""
    return decode(random_colour(rng, low, 0.95))


def irradiance(normal: FloatArray, lights: Lights) -> FloatArray:
    """Return the irradiance (3,) of an unshadowed facet with a unit normal (3,)."""
    total = np.full(3, _ambient(normal, lights))
    for lamp in lights.lamps:
        total = total + max(0.0, float(lamp.direction @ normal)) * lamp.colour
    return np.asarray(total)


def _ambient(normal: FloatArray, lights: Lights) -> float:
    """Return the ambient light on a facet; vertical ones get less than level ones."""
    return lights.ambient * (0.65 + 0.35 * float(normal[2]))


def facets_of(piece: Piece, look: PyramidSet, lights: Lights) -> Facets:
    """Return the facets of an unshadowed pyramid: its four sides, its tip and its base."""
    facets = np.concatenate([frustum(piece.below, piece.above), piece.below[None, ::-1]])
    normals = normals_of(facets)
    colour = look.colours[piece.colour]
    return Facets(facets, normals, np.array([colour * irradiance(normal, lights) for normal in normals]))


class StackCanvas:
    """A picture in linear light: the ground, on which objects are painted from the farthest to the nearest.

    ``texture`` shows the board and GROUND_MARGIN_MM of table around it from above. ``sky`` (3,) is the light that faces
    reflect from above the table. Each sample has a label: 0 for the ground, a stack's number for its top pyramid, else
    ``NOT_A_TOP``.
    """

    def __init__(
        self, camera: CameraModel, pose: Pose, texture: FloatImage, board: GridSurface, sky: FloatArray
    ) -> None:
        self._camera, self._pose = camera, pose
        self._light = self._ground(texture, board)
        self._labels: npt.NDArray[np.int16] = np.zeros(self._light.shape[:2], dtype=np.int16)
        self._top_samples: dict[int, int] = {}
        self._surroundings = self._surroundings_of(texture, board, sky)

    def _ground(self, texture: FloatImage, board: GridSurface) -> FloatImage:
        """Return the ground as the camera sees it, supersampled."""
        corners = board.bounds_mm.grown(GROUND_MARGIN_MM).corners_mm(board.height_mm)
        edge = texture.shape[0] - 0.5
        source = np.array([[-0.5, edge], [edge, edge], [edge, -0.5], [-0.5, -0.5]], dtype=np.float32)
        matrix = cv2.getPerspectiveTransform(source, self._pixels(corners).astype(np.float32))
        size = (self._camera.size[0] * _SAMPLES, self._camera.size[1] * _SAMPLES)
        ground = cv2.warpPerspective(texture, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(ground, dtype=np.float32)

    def _surroundings_of(self, texture: FloatImage, board: GridSurface, sky: FloatArray) -> Surroundings:
        around = board.bounds_mm.grown(GROUND_MARGIN_MM)
        step = around.width_mm / texture.shape[0]
        ground = np.array(
            [
                [step, 0, around.left_mm + step / 2],
                [0, -step, around.far_mm - step / 2],
                [0, 0, board.height_mm],
                [0, 0, 1],
            ]
        )
        to_samples = np.array([[_SAMPLES, 0, _SAMPLES / 2 - 0.5], [0, _SAMPLES, _SAMPLES / 2 - 0.5], [0, 0, 1]])
        projection = to_samples @ self._camera.matrix @ np.column_stack([self._pose.rotation, self._pose.translation])
        return Surroundings(projection, self._pose.camera_position_mm, texture, ground, sky)

    def light(self) -> FloatImage:
        """Return the picture, at the camera's resolution."""
        return np.asarray(cv2.resize(self._light, self._camera.size, interpolation=cv2.INTER_AREA))

    def visible_samples(self) -> npt.NDArray[np.int64]:
        """Return the number of visible samples of each stack's top, indexed by the stack's number."""
        return np.bincount(np.maximum(self._labels, 0).ravel(), minlength=max(self._top_samples, default=0) + 1)

    def top_is_visible(self, number: int, tip_mm: FloatArray, visible_samples: npt.NDArray[np.int64]) -> bool:
        """Whether a stack's tip (3,) is visible, and enough of its top pyramid."""
        column, row = np.rint(self._pixels(tip_mm[None])[0]).astype(int)
        inside = 0 <= row < self._labels.shape[0] and 0 <= column < self._labels.shape[1]
        enough = visible_samples[number] > _LEAST_VISIBLE * self._top_samples[number]
        return bool(inside and self._labels[row, column] == number and enough)

    def occluded_share(self, corners_mm: FloatArray) -> float:
        """Return the share of a polygon (n, 3) on the ground that is occluded; 1 outside the picture."""
        mask = np.zeros(self._labels.shape, dtype=np.uint8)
        cv2.fillConvexPoly(mask, np.rint(self._pixels(corners_mm)).astype(np.int32), 1)
        inside = mask > 0
        return float((self._labels[inside] != 0).mean()) if inside.any() else 1.0

    def draw_pyramid(
        self,
        piece: Piece,
        look: PyramidSet,
        lights: Lights,
        label: int,
        mirrored: Facets,
        casters: Sequence[FloatArray],
    ) -> None:
        """Draw one pyramid, first the far sides that shine through.

        ``mirrored`` are the facets that it may reflect; ``casters`` the corners (n, 3) of each stack that may cast a
        shadow on it.
        """
        body = facets_of(piece, look, lights)
        facets, normals = body.corners_mm, body.normals
        to_camera = self._pose.camera_position_mm - facets.mean(axis=1)
        to_camera /= np.linalg.norm(to_camera, axis=1, keepdims=True)
        cosines = (to_camera * normals).sum(axis=1)
        near = cosines > 0
        pixels = self._pixels(facets.reshape(-1, 3)).reshape(-1, 4, 2)
        colour, opacity = look.colours[piece.colour], look.opacity[piece.colour]
        if opacity < 0.97 and look.back_share > 0.1:
            for far in np.flatnonzero(~near):
                self._blend([(pixels[far], colour * irradiance(-normals[far], lights))], opacity * look.back_share)
        box = self._box(pixels[near].reshape(-1, 2))
        if box is None:
            return
        left, top, right, bottom = box
        origin, shape = np.array([left, top]), (bottom - top, right - left)
        diffuse_shares, polygons = [], []
        for number in np.flatnonzero(near):
            normal, centre = normals[number], facets[number].mean(axis=0)
            diffuse = self._shade_facet(colour, centre, normal, lights, casters, origin, shape)
            diffuse = diffuse * np.float32(look.tip_light if number == _TIP else 1.0)
            specular = np.zeros(3)
            for lamp in lights.lamps:
                halfway = lamp.direction + to_camera[number]
                halfway /= np.linalg.norm(halfway)
                specular = specular + look.gloss * max(0.0, float(halfway @ normal)) ** 30 * lamp.colour
            reflectance = float(fresnel(cosines[number], look.head_on)) if look.head_on > 0 else 0.0
            if reflectance > _LEAST_REFLECTANCE:
                image = self._surroundings.mirrored(centre, normal, mirrored, origin, shape)
                if look.mirror_blur_px > 0:
                    image = np.asarray(cv2.GaussianBlur(image, (0, 0), look.mirror_blur_px), dtype=np.float32)
                specular = specular + reflectance * image
            diffuse_shares.append(1 - reflectance)
            polygons.append((pixels[number], diffuse_shares[-1] * diffuse + specular))
        scale = float(np.linalg.norm(pixels[0, 1] - pixels[0, 0]) / np.linalg.norm(facets[0, 1] - facets[0, 0]))
        opacities = opacity + (1 - opacity) * look.facing * np.clip(cosines[near] * 1.2, 0, 1)
        opacities = np.clip(opacities + (1 - np.array(diffuse_shares)), 0, 1)
        lines = [
            (pixels[k, first], pixels[k, second], body.radiance[k] * look.edge_light)
            for k in range(4)
            if near[k] and look.edge_light != 1.0
            for first, second in ((0, 1), (0, 3), (1, 2))
        ]
        self._blend(polygons, opacities, lines, max(1, round(look.edge_mm * scale)), label)

    def _shade_facet(
        self,
        colour: FloatArray,
        centre: FloatArray,
        normal: FloatArray,
        lights: Lights,
        casters: Sequence[FloatArray],
        origin: FloatArray,
        shape: tuple[int, int],
    ) -> FloatImage:
        """Return the diffuse light of a facet with shadows on it, (*shape, 3), or (1, 1, 3) where none falls."""
        level = np.full((1, 1, 3), _ambient(normal, lights), dtype=np.float32)
        for lamp in lights.lamps:
            cosine = float(lamp.direction @ normal)
            if cosine <= 0:
                continue
            mask = self._surroundings.shadow(centre, normal, lamp.direction, casters, origin, shape)
            visibility = np.ones((1, 1, 1), dtype=np.float32)
            if mask.any():
                soft = cv2.GaussianBlur(mask, (0, 0), 1 + 15 * lamp.softness)
                visibility = (1 - soft / np.float32(255))[..., None].astype(np.float32)
            level = np.asarray(level + visibility * (cosine * lamp.colour).astype(np.float32), dtype=np.float32)
        return np.asarray(level * colour.astype(np.float32), dtype=np.float32)

    def draw_foreign_object(self, rng: np.random.Generator, foot_mm: FloatArray, lights: Lights) -> None:
        """Draw a random disc or block that stands near ``foot_mm`` (3,)."""
        radius, height, corners = rng.uniform(6, 16), rng.uniform(1, 25), int(rng.choice([4, 24]))
        start = rng.uniform(0, 6.3)
        angles = np.linspace(0, 2 * np.pi, corners, endpoint=False) + start
        ring = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(corners)]) * radius
        ring += foot_mm + np.array([*rng.normal(0, 4, 2), 0])
        colour = random_light(rng)
        upper = ring + np.array([0, 0, height])
        both = hull_px(self._pixels(np.vstack([ring, upper]))).astype(np.float64)
        side = colour * irradiance(np.array([1.0, 0, 0]), lights)
        self._blend([(both, side)], 1.0, label=NOT_A_TOP)
        self._blend([(self._pixels(upper), colour * irradiance(UP, lights))], 1.0, label=NOT_A_TOP)

    def draw_occluder(self, rng: np.random.Generator, board: GridSurface) -> None:
        """Draw an arm or a sheet of paper over everything."""
        skin = np.array(SKINS["pale skin"])
        colour = linear(skin * rng.uniform(0.3, 1.1)) if rng.random() < 0.6 else random_light(rng)
        colour = colour * rng.uniform(0.4, 1.2)
        reach = board.bounds_mm.width_mm / 2
        end = np.array([*rng.uniform(-reach, reach, 2), rng.uniform(45, 130)])
        azimuth = rng.uniform(0, 2 * math.pi)
        along = np.array([math.cos(azimuth), math.sin(azimuth), rng.uniform(0, 0.3)])
        aside = np.array([-along[1], along[0], 0.0])
        if rng.random() < 0.7:
            # one finger or four, and the arm: radius, shift to the side, length
            segments = (
                [(rng.uniform(9, 16), 0.0, 60.0)]
                if rng.random() < 0.5
                else [(rng.uniform(7, 10), shift, rng.uniform(0, 18)) for shift in (-27.0, -9.0, 9.0, 27.0)]
            )
            segments.append((rng.uniform(25, 45), 0.0, 300.0))
            for radius, shift, length in segments:
                begin = end + aside * shift + along * (0 if length < 200 else 45)
                stop = begin + along * (max(length, 60))
                near, far = self._pixels(np.stack([begin, stop]))
                scale = float(np.linalg.norm(np.subtract(*self._pixels(np.stack([begin, begin + aside])))))
                self._stroke(near, far, colour * rng.uniform(0.85, 1.1), round(radius * scale * 2))
        else:
            sides = rng.uniform(25, 110, 2)
            corners = end + UNIT_SQUARE[:, :1] * sides[0] * along + UNIT_SQUARE[:, 1:] * sides[1] * aside
            self._blend([(self._pixels(corners), colour)], 1.0, label=NOT_A_TOP)

    def _stroke(self, start: FloatArray, stop: FloatArray, value: FloatArray, width_px: int) -> None:
        first, last = fixed_point(np.stack([start, stop])).tolist()
        cv2.line(self._light, first, last, value.tolist(), max(1, width_px), cv2.LINE_8, SUBPIXEL_BITS)
        mask = np.zeros(self._labels.shape, dtype=np.uint8)
        cv2.line(mask, first, last, 1, max(1, width_px), cv2.LINE_8, SUBPIXEL_BITS)
        self._labels[mask > 0] = NOT_A_TOP

    def _pixels(self, points_mm: FloatArray) -> FloatArray:
        return supersampled(project(self._camera, self._pose, points_mm), _SAMPLES)

    def _box(self, points: FloatArray) -> Box | None:
        """Return the window of samples around points (n, 2); ``None`` outside the picture."""
        return clipped(box_around(points, 2), self._light.shape)

    def _blend(
        self,
        polygons: Sequence[tuple[FloatArray, FloatArray | FloatImage]],
        opacity: float | FloatArray,
        lines: Sequence[tuple[FloatArray, FloatArray, FloatArray]] = (),
        thickness: int = 1,
        label: int | None = None,
    ) -> None:
        """Blend polygons with lines on them over the picture, each polygon with its own opacity.

        A polygon's light is one colour, (3,) or (1, 1, 3), or an image of the box around all of them.
        """
        box = self._box(np.concatenate([polygon for polygon, _ in polygons]))
        if box is None:
            return
        left, top, right, bottom = box
        part = self._light[top:bottom, left:right]
        over, mask = np.zeros_like(part), np.zeros(part.shape[:2], dtype=np.uint8)
        origin = np.array([left, top])
        for (corners, value), share in zip(polygons, np.broadcast_to(opacity, len(polygons)), strict=True):
            polygon = fixed_point(corners - origin)
            if value.size == over.shape[2]:
                cv2.fillConvexPoly(over, polygon, value.ravel().tolist(), cv2.LINE_8, SUBPIXEL_BITS)
            else:
                inside = np.zeros_like(mask)
                cv2.fillConvexPoly(inside, polygon, 1, cv2.LINE_8, SUBPIXEL_BITS)
                np.copyto(over, value, where=inside[..., None] > 0)
            cv2.fillConvexPoly(mask, polygon, max(1, round(255 * float(share))), cv2.LINE_8, SUBPIXEL_BITS)
        for start, end, value in lines:
            first, last = fixed_point(np.stack([start, end]) - origin).tolist()
            cv2.line(over, first, last, value.tolist(), thickness, cv2.LINE_8, SUBPIXEL_BITS)
        part += (mask.astype(np.float32) / np.float32(255))[..., None] * (over - part)
        if label is not None:
            np.copyto(self._labels[top:bottom, left:right], label, where=mask > 0)
            if label != NOT_A_TOP:
                self._top_samples[label] = int(np.count_nonzero(mask))


def photographed(rng: np.random.Generator, light: FloatImage) -> Image:
    """Return linear light as a random camera's picture: exposure, white balance, blur, noise and compression."""
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
    levels = 255 * np.power(np.clip(light, 0, 1), np.float32(1 / GAMMA))
    noise = rng.standard_normal(levels.shape, dtype=np.float32) * np.float32(rng.uniform(0.5, 6))
    if rng.random() < 0.5:
        noise = cv2.GaussianBlur(noise, (0, 0), 0.6) * 1.6
    image: Image = np.clip(levels + noise, 0, 255).astype(np.uint8)
    if rng.random() < 0.6:
        image = compress(image, int(rng.integers(60, 97)))
    return image
