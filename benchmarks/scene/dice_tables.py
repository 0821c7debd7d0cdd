"""Random tables and trays, with objects on them that are not dice."""

import math

import cv2
import numpy as np

from benchmarks.scene.colours import random_colour
from simulator.rendering.optics import decode
from simulator.rendering.textures import smooth_noise
from vision.frame import FloatImage, Image

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


def patterned_ground(rng: np.random.Generator, size: int) -> FloatImage:
    """Return a ground whose pattern or roughness may look like dice, in linear light; shape (size, size, 3).

    One of checked, dotted or printed cloth, newspaper, gravel, lawn, carpet; none has a die.
    """
    wide = 2 * size
    ground, paint = (np.array(decode(random_colour(rng, 0.05, 0.95)), dtype=np.float32) for _ in range(2))
    picture = np.empty((wide, wide, 3), dtype=np.float32)
    picture[:] = ground
    kind = int(rng.integers(7))
    pitch = float(math.exp(rng.uniform(math.log(5), math.log(50))))
    rows, columns = np.indices((wide, wide), dtype=np.float32) / np.float32(pitch)
    if kind == 0:  # gingham, or a chessboard
        across, down = columns % 2 < 1, rows % 2 < 1
        share = (across.astype(np.float32) + down) / 2 if rng.random() < 0.6 else (across ^ down).astype(np.float32)
        picture += share[..., None] * (paint - ground)
    elif kind in (1, 2):  # dots in rows, or signs
        mask = np.zeros((wide, wide), dtype=np.uint8)
        for row, column in np.ndindex(round(wide / pitch) + 1, round(wide / pitch) + 1):
            at = np.array([column + 0.5 * (row % 2), row]) + rng.normal(0, 0.03, 2)
            place = tuple(np.rint(at * pitch).astype(int).tolist())
            if kind == 1:
                cv2.circle(mask, place, max(1, round(pitch * 0.2)), 255, cv2.FILLED, cv2.LINE_AA)
            else:
                sign = str(rng.choice(list(GLYPHS)))
                cv2.putText(mask, sign, place, cv2.FONT_HERSHEY_DUPLEX, pitch / 40, 255, 1, cv2.LINE_AA)
        picture += _share(mask) * (paint - ground)
    elif kind == 3:  # lines of words
        mask = np.zeros((wide, wide), dtype=np.uint8)
        for row in range(round(wide / pitch) + 1):
            text = "".join(rng.choice([*GLYPHS, " ", " ", " ", "  "], 300))
            start_px = -int(rng.integers(20)), round(row * pitch)
            cv2.putText(mask, text, start_px, cv2.FONT_HERSHEY_COMPLEX, pitch / 45, 255, 1, cv2.LINE_AA)
        picture += _share(mask) * (paint - ground)
    elif kind == 4:  # gravel
        for _ in range(round(1.5 * (wide / pitch) ** 2)):
            place = tuple(rng.integers(0, wide, 2).tolist())
            axes = tuple(np.maximum(1, pitch * rng.uniform(0.3, 0.7, 2)).astype(int).tolist())
            tone = (ground + (paint - ground) * np.float32(rng.random())) * np.float32(rng.uniform(0.5, 1.3))
            cv2.ellipse(
                picture, place, axes, float(rng.uniform(0, 180)), 0, 360, tone.tolist(), cv2.FILLED, cv2.LINE_AA
            )
    elif kind == 5:  # lawn, or a shaggy rug
        for _ in range(round(3 * (wide / pitch) ** 2)):
            start = rng.uniform(0, wide, 2)
            end = start + rng.normal(0, pitch * 0.7, 2)
            tone = (ground + (paint - ground) * np.float32(rng.random())) * np.float32(rng.uniform(0.5, 1.3))
            first, last = (tuple(np.rint(point).astype(int).tolist()) for point in (start, end))
            cv2.line(picture, first, last, tone.tolist(), max(1, round(pitch * 0.08)), cv2.LINE_AA)
    else:  # speckled carpet: each tuft has its own colour
        cells = max(2, round(wide / max(2.0, pitch / 4)))
        tufts = rng.standard_normal((cells, cells, 3)).astype(np.float32) * rng.uniform(0.1, 0.5, 3).astype(np.float32)
        tufts += rng.standard_normal((cells, cells, 1)).astype(np.float32) * np.float32(rng.uniform(0.1, 0.5))
        picture *= np.maximum(1 + cv2.resize(tufts, (wide, wide), interpolation=cv2.INTER_CUBIC), 0.05)
    spin = cv2.getRotationMatrix2D((size, size), float(rng.uniform(0, 360)), 1)
    spin[:, 2] -= np.array([size / 2, size / 2])
    turned = cv2.warpAffine(picture, spin, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REFLECT)
    tone = np.maximum(1 + np.float32(rng.uniform(0, 0.3)) * smooth_noise(rng, (size, size), (3, 3)), 0.1)
    return np.ascontiguousarray(turned * tone[..., None], dtype=np.float32)


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
        cover = _share(mask)
        picture[...] = picture * (1 - cover) + cover * np.asarray(paint, dtype=np.float32)
    elif kind == 5:
        _marker(rng, picture, at)
    else:
        for _ in range(int(rng.integers(2, 12))):
            dot = tuple(int(value) for value in np.array(at) + rng.integers(-25, 26, 2))
            cv2.circle(picture, dot, int(rng.integers(1, 4)), paint, cv2.FILLED, cv2.LINE_AA)


def _share(mask: Image) -> FloatImage:
    """Return the share of paint (n, m, 1) of a mask up to 255."""
    return np.asarray(mask.astype(np.float32)[..., None] / 255, dtype=np.float32)


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
