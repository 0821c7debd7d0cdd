"""Drawings of the faces of dice: pips, characters, stars and shapes of four squares."""

from __future__ import annotations

import math
from collections.abc import Mapping

import cv2
import numpy as np

from vision.frame import FloatImage, Image

FACE_PX = 64
"""The side of a drawing of a face, in pixels."""
_BIG_PX = 4 * FACE_PX
"""The side of a drawing before it is reduced."""

FACE_VALUES = (1, 6, 2, 5, 3, 4)
"""The values of ``pip_faces``, in order."""

_PIPS: Mapping[int, tuple[tuple[int, int], ...]] = {
    1: ((0, 0),),
    2: ((-1, -1), (1, 1)),
    3: ((-1, -1), (0, 0), (1, 1)),
    4: ((-1, -1), (-1, 1), (1, -1), (1, 1)),
    5: ((-1, -1), (-1, 1), (1, -1), (1, 1), (0, 0)),
    6: ((-1, -1), (-1, 0), (-1, 1), (1, -1), (1, 0), (1, 1)),
}
"""The pips of each value: their columns and rows from the face's centre."""


def pip_face(value: int, radius: float, spread: float = 0.26, first_radius: float | None = None) -> FloatImage:
    """Return a face with pips, shape (FACE_PX, FACE_PX), 1 where there is a pip.

    Lengths are shares of the side: ``spread`` is the distance of rows of pips from the centre line. ``first_radius``
    replaces ``radius`` on the face with a single pip.
    """
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    share = first_radius if value == 1 and first_radius is not None else radius
    for column, row in _PIPS[value]:
        middle = [round(_BIG_PX * (0.5 + spread * along)) for along in (column, row)]
        cv2.circle(big, (middle[0], middle[1]), round(_BIG_PX * share), 255, cv2.FILLED)
    return smaller_face(big)


def text_face(
    text: str, size: float = 0.6, font: int = cv2.FONT_HERSHEY_SIMPLEX, stroke: float = 22 / _BIG_PX
) -> FloatImage:
    """Return a face with one or two characters, shape (FACE_PX, FACE_PX).

    ``size`` is their height and ``stroke`` the width of lines, as shares of the side; ``font`` is one of OpenCV's.
    """
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    thickness = max(1, round(stroke * _BIG_PX))
    trial_scale = 5.0
    (width, height), _ = cv2.getTextSize(text, font, trial_scale, thickness)
    scale = trial_scale * min(size * _BIG_PX / height, 0.8 * _BIG_PX / width)
    (width, height), _ = cv2.getTextSize(text, font, scale, thickness)
    cv2.putText(big, text, (_BIG_PX // 2 - width // 2, _BIG_PX // 2 + height // 2), font, scale, 255, thickness)
    return smaller_face(big)


def star_face(size: float = 0.6, points: int = 5, waist: float = 0.42) -> FloatImage:
    """Return a face with a star, ``size`` sides wide; ``waist`` is its inner over its outer radius."""
    angles = np.arange(2 * points) * math.pi / points
    radii = np.where(np.arange(2 * points) % 2 == 0, 1.0, waist) * size / 2
    outline = np.column_stack([np.sin(angles), -np.cos(angles)]) * radii[:, None]
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    cv2.fillPoly(big, [np.rint((outline + 0.5) * _BIG_PX).astype(np.int32)], 255)
    return smaller_face(big)


SHAPE_SQUARES = {
    "I": ((0, 0), (1, 0), (2, 0), (3, 0)),
    "O": ((0, 0), (1, 0), (0, 1), (1, 1)),
    "T": ((0, 0), (1, 0), (2, 0), (1, 1)),
    "L": ((0, 0), (0, 1), (0, 2), (1, 2)),
    "S": ((1, 0), (2, 0), (0, 1), (1, 1)),
}
"""The shapes of four squares by their letters: each square's column and row."""


def shape_face(letter: str, square: float = 0.15, gap: float = 0.1, mirrored: bool = False) -> FloatImage:
    """Return a face with a shape of four squares.

    ``square`` is the pitch of the squares as a share of the side, ``gap`` the share of the pitch between them.
    """
    big = np.zeros((_BIG_PX, _BIG_PX), dtype=np.uint8)
    squares = np.array(SHAPE_SQUARES[letter], dtype=np.float64) * ((-1, 1) if mirrored else (1, 1))
    squares -= (squares.min(axis=0) + squares.max(axis=0)) / 2
    half = square * (1 - gap) / 2
    for middle in squares * square + 0.5:
        first, last = (np.rint((middle + end) * _BIG_PX).astype(int).tolist() for end in (-half, half))
        cv2.rectangle(big, (first[0], first[1]), (last[0], last[1]), 255, cv2.FILLED)
    return smaller_face(big)


def printed_face(name: str) -> FloatImage:
    """Return a face without pips: a star for ``*``, a shape of four squares for its letter, else the text itself."""
    if name == "*":
        return star_face()
    return shape_face(name) if name in SHAPE_SQUARES else text_face(name)


def smaller_face(big: Image) -> FloatImage:
    """Reduce a drawing from 0 to 255 to a face of shape (FACE_PX, FACE_PX) from 0 to 1."""
    small = cv2.resize(big, (FACE_PX, FACE_PX), interpolation=cv2.INTER_AREA)
    return np.asarray(small / 255, dtype=np.float32)


def pip_faces(radius: float = 0.1, spread: float = 0.26, first_radius: float | None = None) -> tuple[FloatImage, ...]:
    """Return the six faces of a die with pips, in the order of ``DieLook.faces``; opposite faces add up to seven."""
    return tuple(pip_face(value, radius, spread, first_radius) for value in FACE_VALUES)
