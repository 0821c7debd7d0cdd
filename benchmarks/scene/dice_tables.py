"""Random tables and trays, with objects on them that are not dice."""

import math

import cv2
import numpy as np

from simulator.rendering.optics import decode, random_colour
from simulator.rendering.textures import smooth_noise
from vision.frame import FloatImage

GLYPHS = "0123456789*ILOTSX+ACEHKZ#?"


def random_table(rng: np.random.Generator, size: int) -> FloatImage:
    """Return a table or tray without dice, in linear light; shape (size, size, 3)."""
    tone = np.ones((size, size), dtype=np.float32)
    kind = rng.random()
    if kind < 0.35:
        bands = int(rng.integers(6, 40))
        wide = (2 * size, 2 * size)
        grain = smooth_noise(rng, wide, (3, bands)) + 0.5 * smooth_noise(rng, wide, (6, bands * 4))
        spin = cv2.getRotationMatrix2D((size, size), float(rng.uniform(0, 360)), 1)
        turned = cv2.warpAffine(grain, spin, wide, borderMode=cv2.BORDER_REFLECT)
        tone += float(rng.uniform(0.05, 0.35)) * turned[size // 2 : size // 2 + size, size // 2 : size // 2 + size]
    elif kind < 0.65:
        tone += float(rng.uniform(0.02, 0.15)) * rng.standard_normal((size, size)).astype(np.float32)
        tone += float(rng.uniform(0, 0.1)) * smooth_noise(rng, (size, size), (int(rng.integers(20, 80)),) * 2)
    elif kind < 0.75:
        cells = int(rng.integers(8, 40))
        rows, columns = np.indices((size, size)) // cells
        tone += float(rng.uniform(0.05, 0.3)) * (((rows + columns) % 2) - 0.5).astype(np.float32)
    tone += float(rng.uniform(0, 0.25)) * smooth_noise(rng, (size, size), (3, 3))
    grey = rng.random() < 0.35
    value = float(rng.uniform(0.1, 0.95))
    colour = (value, value, value) if grey else random_colour(rng, 0.1, 0.95, 0.45)
    picture = np.maximum(tone, 0.05)[..., None] * decode(colour).astype(np.float32)
    for _ in range(int(rng.integers(0, 7)) if rng.random() < 0.6 else 0):
        _clutter(rng, picture)
    return np.ascontiguousarray(picture, dtype=np.float32)


def _clutter(rng: np.random.Generator, picture: FloatImage) -> None:
    """Draw an object other than a die, in place: a line, a disc, a ring, a printed square, a word, a marker or dots."""
    size = len(picture)
    paint = tuple(float(value) for value in decode(random_colour(rng)))
    at = tuple(int(value) for value in rng.integers(0, size, 2))
    kind = rng.integers(0, 7)
    if kind == 0:
        along = rng.uniform(0, 2 * math.pi)
        reach = np.array([math.cos(along), math.sin(along)]) * size * 1.5
        start, end = (np.array(at) - reach).astype(int), (np.array(at) + reach).astype(int)
        cv2.line(picture, tuple(start.tolist()), tuple(end.tolist()), paint, int(rng.integers(1, 25)), cv2.LINE_AA)
    elif kind == 1:
        cv2.circle(picture, at, int(rng.integers(2, 30)), paint, cv2.FILLED, cv2.LINE_AA)
    elif kind == 2:
        cv2.circle(picture, at, int(rng.integers(4, 30)), paint, int(rng.integers(1, 4)), cv2.LINE_AA)
    elif kind == 3:
        middle = (float(at[0]), float(at[1]))
        side = float(rng.uniform(8, 60))
        box = cv2.boxPoints((middle, (side, side * float(rng.uniform(0.5, 1))), float(rng.uniform(0, 90))))
        cv2.fillPoly(picture, [box.astype(np.int32)], paint, cv2.LINE_AA)
        ink = tuple(float(value) for value in decode(random_colour(rng)))
        if rng.random() < 0.5:
            inner = np.rint(box.mean(axis=0) + (box - box.mean(axis=0)) * 0.5).astype(np.int32)
            cv2.fillPoly(picture, [inner[: int(rng.integers(3, 5))]], ink, cv2.LINE_AA)
    elif kind == 4:
        text = "".join(rng.choice(list(GLYPHS), int(rng.integers(1, 7))))
        mask = np.zeros((size, size), dtype=np.uint8)
        cv2.putText(mask, text, at, cv2.FONT_HERSHEY_SIMPLEX, float(rng.uniform(0.3, 1.2)), 255, 1)
        cover = (mask.astype(np.float32) / 255)[..., None]
        picture[...] = picture * (1 - cover) + cover * np.asarray(paint, dtype=np.float32)
    elif kind == 5:
        _marker(rng, picture, at)
    else:
        for _ in range(int(rng.integers(2, 12))):
            dot = tuple(int(value) for value in np.array(at) + rng.integers(-25, 26, 2))
            cv2.circle(picture, dot, int(rng.integers(1, 4)), paint, cv2.FILLED, cv2.LINE_AA)


def _marker(rng: np.random.Generator, picture: FloatImage, at: tuple[int, ...]) -> None:
    """Draw a printed ArUco marker with a white border."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    code = cv2.aruco.generateImageMarker(dictionary, int(rng.integers(50)), 60)
    printed = cv2.copyMakeBorder(code, 10, 10, 10, 10, cv2.BORDER_CONSTANT, value=255)
    scale, along = float(rng.uniform(0.25, 1.1)), float(rng.uniform(0, 360))
    turn = cv2.getRotationMatrix2D((40, 40), along, scale)
    turn[:, 2] += np.subtract(at, 40)
    size = (picture.shape[1], picture.shape[0])
    cover = cv2.warpAffine(np.ones_like(printed, dtype=np.float32), turn, size)[..., None]
    shown = cv2.warpAffine(printed.astype(np.float32) / 255 * float(rng.uniform(0.5, 0.95)), turn, size)[..., None]
    picture[...] = picture * (1 - cover) + shown
