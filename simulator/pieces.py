"""Piece sets drawn from a seed: two block colours that a person tells apart, each with an ink that shows on it."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from simulator.scene import BlockLook, Colour
from vision.frame import FloatArray

APART = 38.0
INK_CONTRAST = 30.0
_TRIES = 400

FACES: Mapping[str, Colour] = {
    "gold": (0.16, 0.58, 0.82),
    "orange": (0.12, 0.45, 0.9),
    "red": (0.16, 0.16, 0.72),
    "wine": (0.22, 0.12, 0.42),
    "pink": (0.68, 0.56, 0.92),
    "purple": (0.55, 0.22, 0.45),
    "navy": (0.38, 0.18, 0.12),
    "blue": (0.75, 0.4, 0.14),
    "sky": (0.9, 0.75, 0.5),
    "teal": (0.53, 0.49, 0.1),
    "green": (0.22, 0.5, 0.16),
    "lime": (0.25, 0.82, 0.62),
    "yellow": (0.2, 0.82, 0.93),
    "cream": (0.7, 0.85, 0.92),
    "white": (0.9, 0.9, 0.9),
    "grey": (0.5, 0.5, 0.5),
    "brown": (0.16, 0.28, 0.42),
    "black": (0.13, 0.13, 0.13),
}
"""Colours of painted wood as they look on a screen."""

INKS: Mapping[str, Colour] = {
    "white": (0.95, 0.97, 0.97),
    "cream": (0.72, 0.88, 0.95),
    "yellow": (0.3, 0.88, 0.95),
    "black": (0.08, 0.08, 0.08),
    "navy": (0.32, 0.12, 0.1),
    "wine": (0.12, 0.08, 0.35),
}
"""Colours the symbols are painted in."""


def lab(colour: Colour) -> FloatArray:
    """CIE L*a*b* of a screen colour, shape (3,)."""
    pixel = np.asarray(colour, dtype=np.float32).reshape(1, 1, 3)
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_BGR2LAB), dtype=np.float64).reshape(3)


def told_apart(first: Colour, second: Colour) -> bool:
    """Whether a person sees two colours as different ones at a glance: far apart in L*a*b* (CIE 1976)."""
    return bool(np.linalg.norm(lab(first) - lab(second)) >= APART)


def shows_on(ink: Colour, face: Colour) -> bool:
    """Whether an ink is clearly lighter or clearly darker than the face."""
    return bool(abs(lab(ink)[0] - lab(face)[0]) >= INK_CONTRAST)


def varied_pieces(seed: int, faces: tuple[str, ...] = (), inks: tuple[str, ...] = ()) -> tuple[str, BlockLook]:
    """A piece set drawn from ``seed`` and its description, such as ``red with white, cream with navy``.

    The first of the two colours is called gold, the second teal, whatever they look like. ``faces`` and ``inks`` narrow
    the choice. Raises ValueError when nothing among them can be told apart.
    """
    rng = np.random.default_rng([seed, 41])
    face_names, ink_names = faces or tuple(FACES), inks or tuple(INKS)
    for _ in range(_TRIES):
        chosen = [face_names[int(index)] for index in rng.integers(len(face_names), size=2)]
        if not told_apart(FACES[chosen[0]], FACES[chosen[1]]):
            continue
        painted = [_ink_for(face, ink_names, rng) for face in chosen]
        first, second = painted
        if first is None or second is None:
            continue
        said = ", ".join(f"{face} with {ink}" for face, ink in zip(chosen, painted, strict=True))
        look = BlockLook(
            colours={"gold": FACES[chosen[0]], "teal": FACES[chosen[1]]},
            inks={"gold": INKS[first], "teal": INKS[second]},
            grain=float(rng.uniform(0.1, 0.5)),
            symbol_scale=float(rng.uniform(0.88, 1.06)),
        )
        return said, look
    raise ValueError(f"no two of {', '.join(face_names)} can be told apart with inks {', '.join(ink_names)}")


def _ink_for(face: str, inks: tuple[str, ...], rng: np.random.Generator) -> str | None:
    """An ink that shows on the face, or ``None``."""
    fitting = [ink for ink in inks if shows_on(INKS[ink], FACES[face])]
    return fitting[int(rng.integers(len(fitting)))] if fitting else None
