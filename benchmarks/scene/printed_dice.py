"""Synthetic square crops of dice with printed faces, as the finder cuts them out of a rectified picture."""

import math

import cv2
import numpy as np

from benchmarks.scene.dice_variety import random_colours
from simulator.rendering.dice import FACE_PX
from simulator.rendering.optics import compress
from vision.frame import FloatArray, FloatImage, Image

_SIDE_PX = 40
"""Length of a die's edge as it is drawn."""
_CANVAS_PX = 76
"""Side of the table around it: enough to cut out a square at any angle."""
_FACE_CORNERS = np.array([[0, 0], [FACE_PX, 0], [FACE_PX, FACE_PX], [0, FACE_PX]], dtype=np.float32) - np.float32(0.5)
_SHINES = 0.25
"""Share of dice whose upper side reflects a lamp."""


def _distort(face: FloatImage, rng: np.random.Generator) -> FloatImage:
    """Return the face as another maker might print it: scaled, stretched, slanted, bolder, off centre."""
    size = math.exp(rng.uniform(math.log(0.68), math.log(1.2)))
    wider = math.exp(rng.normal(0, 0.1))
    matrix = np.array([[size * wider, size * rng.normal(0, 0.08), 0], [0, size, 0]])
    middle = (FACE_PX - 1) / 2
    matrix[:, 2] = middle - matrix[:, :2] @ (middle, middle) + rng.normal(0, 0.02, 2) * FACE_PX
    shown = cv2.warpAffine(face, matrix, (FACE_PX, FACE_PX), flags=cv2.INTER_LINEAR)
    if rng.random() < 0.15:
        shown = cv2.dilate(shown, np.ones((3, 3), dtype=np.uint8))
    return np.asarray(shown, dtype=np.float32)


def _ink(
    body: FloatArray, ink: FloatArray, face: FloatImage, strength: float, light: float, rng: np.random.Generator
) -> FloatImage:
    cover = (face * strength)[..., None]
    surface = body * (1 - cover) + ink * cover
    if rng.random() < 0.2:
        coarse = rng.normal(1, rng.uniform(0.02, 0.12), (5, 5)).astype(np.float32)
        surface = surface * cv2.resize(coarse, (FACE_PX, FACE_PX), interpolation=cv2.INTER_CUBIC)[..., None]
    return np.asarray(surface * light, dtype=np.float32)


def printed_square(
    rng: np.random.Generator, face: FloatImage, beside: FloatImage, size_px: int, edge_px: float
) -> Image:
    """Return a square (size_px, size_px, 3) around a die with ``face`` up and ``beside`` on its visible sides.

    The die's edge is about ``edge_px`` long. Position, size, sharpness and light vary as in rectified pictures of trays
    that were taken from straight above to 45 degrees.
    """
    body, ink = (np.array(colour) for colour in random_colours(rng))
    slant = float(rng.uniform(0, 1.1))
    half = _SIDE_PX / 2
    turn = rng.uniform(0, 2 * math.pi)
    across = np.array([math.cos(turn), math.sin(turn)])
    down = np.array([-across[1], across[0]])
    middle = np.full(2, (_CANVAS_PX - 1) / 2)
    corners = np.array([middle + half * (x * across + y * down) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))])
    table = np.array(random_colours(rng)[int(rng.integers(2))])
    canvas = np.empty((_CANVAS_PX, _CANVAS_PX, 3), dtype=np.float32)
    canvas[...] = table * rng.uniform(0.4, 1.1)
    coarse = rng.normal(1, rng.uniform(0, 0.15), (9, 9)).astype(np.float32)
    canvas *= cv2.resize(coarse, (_CANVAS_PX, _CANVAS_PX), interpolation=cv2.INTER_LINEAR)[..., None]
    strength = float(rng.uniform(0.75, 1.0))
    # lower points appear further down, because the camera is beyond the square's lower edge
    lower = np.array([0.0, slant * _SIDE_PX])
    for first, second in ((0, 1), (1, 2), (2, 3), (3, 0)):
        outwards = (corners[first] + corners[second]) / 2 - middle
        if outwards[1] > 0.05 * _SIDE_PX and slant > 0.1:
            side = _ink(body, ink, _distort(beside, rng), strength, float(rng.uniform(0.3, 1.15)), rng)
            quad = np.array([corners[first], corners[second], corners[second] + lower, corners[first] + lower])
            _paste(canvas, side, quad, 0.1)
    upper = _ink(body, ink, _distort(face, rng), strength, 1.0, rng)
    rounding = float(rng.uniform(0.03, 0.25))
    if rng.random() < _SHINES:
        _add_reflection(upper, rounding, rng)
    _paste(canvas, upper, corners, rounding)
    _add_light(canvas, rng)
    sharp = math.exp(rng.uniform(math.log(0.3), math.log(1.35))) * _SIDE_PX / edge_px
    blurred = cv2.GaussianBlur(canvas, (0, 0), sigmaX=sharp, sigmaY=sharp * math.hypot(1, slant))
    scale = edge_px / _SIDE_PX * math.exp(float(np.clip(rng.normal(0, 0.06), -0.15, 0.15)))
    spin = rng.uniform(0, 2 * math.pi)
    matrix = scale * np.array([[math.cos(spin), -math.sin(spin), 0], [math.sin(spin), math.cos(spin), 0]])
    off = rng.normal(0, 0.045 * (1 + slant / 2), 2).clip(-0.16, 0.16) * edge_px
    matrix[:, 2] = (size_px - 1) / 2 + off - matrix[:, :2] @ middle
    square = cv2.warpAffine(blurred, matrix, (size_px, size_px), flags=cv2.INTER_LINEAR)
    grain = rng.standard_normal(square.shape, dtype=np.float32)
    softened = cv2.GaussianBlur(np.asarray(grain), (0, 0), 0.7) if rng.random() < 0.5 else grain
    noise = np.float32(rng.uniform(0, 0.03))
    image: Image = np.clip((square + noise * softened) * 255, 0, 255).astype(np.uint8)
    if rng.random() < 0.3:
        image = compress(image, int(rng.integers(45, 95)))
    return image


def _paste(canvas: FloatImage, side: FloatImage, quad: FloatArray, rounding: float) -> None:
    """Draw a side (FACE_PX, FACE_PX, 3) over the canvas, in place, with its corners at ``quad`` (4, 2)."""
    mask = np.zeros((FACE_PX, FACE_PX), dtype=np.float32)
    inset = max(1, round(rounding * FACE_PX))
    cv2.rectangle(mask, (inset, inset), (FACE_PX - 1 - inset, FACE_PX - 1 - inset), (1.0,), cv2.FILLED)
    rounded = cv2.dilate(mask, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * inset + 1, 2 * inset + 1)))
    matrix = cv2.getPerspectiveTransform(_FACE_CORNERS, quad.astype(np.float32))
    size = (_CANVAS_PX, _CANVAS_PX)
    cover = cv2.warpPerspective(rounded, matrix, size, flags=cv2.INTER_LINEAR)[..., None]
    shown = cv2.warpPerspective(side, matrix, size, flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    canvas *= 1 - cover
    canvas += shown * cover


def _add_reflection(upper: FloatImage, rounding: float, rng: np.random.Generator) -> None:
    """Let the flat part of a glossy upper side reflect a lamp, in place: the same light all over it, edges excepted."""
    flat = np.zeros((FACE_PX, FACE_PX), dtype=np.float32)
    half = (0.5 - rounding * rng.uniform(0.3, 1)) * FACE_PX
    middle = (FACE_PX // 2, FACE_PX // 2)
    if rng.random() < 0.3:
        cv2.circle(flat, middle, round(half), (1.0,), cv2.FILLED)
    else:
        near, far = round(FACE_PX / 2 - half), round(FACE_PX / 2 + half)
        cv2.rectangle(flat, (near, near), (far, far), (1.0,), cv2.FILLED)
    lamp = np.float32(rng.uniform(0.05, 0.8)) * (1 - rng.uniform(0, 0.15, 3).astype(np.float32))
    upper += cv2.GaussianBlur(flat, (0, 0), 1.0)[..., None] * lamp


def _add_light(canvas: FloatImage, rng: np.random.Generator) -> None:
    """Apply a gradient of light, in place, and sometimes add a highlight."""
    along = rng.uniform(0, 2 * math.pi)
    steps = np.linspace(-1, 1, _CANVAS_PX, dtype=np.float32)
    fall = np.float32(rng.uniform(0, 0.35))
    canvas *= (1 + fall * (np.float32(math.cos(along)) * steps + np.float32(math.sin(along)) * steps[:, None]))[
        ..., None
    ]
    if rng.random() < 0.25:
        glow = np.zeros((_CANVAS_PX, _CANVAS_PX), dtype=np.float32)
        at = (_CANVAS_PX / 2 + rng.uniform(-0.5, 0.5, 2) * _SIDE_PX).astype(int)
        axes = rng.uniform(0.05, 0.2, 2) * _SIDE_PX
        cv2.ellipse(glow, (int(at[0]), int(at[1])), (int(axes[0]) + 1, int(axes[1]) + 1), 0, 0, 360, (1.0,), cv2.FILLED)
        canvas += cv2.GaussianBlur(glow, (0, 0), float(rng.uniform(1, 5)))[..., None] * np.float32(
            rng.uniform(0.1, 0.7)
        )
