"""Fitting one block's top face closely, starting from a rough sight of it."""

from __future__ import annotations

from collections.abc import Mapping

import cv2
import numpy as np

from vision.faces import (
    FaceFinder,
    FaceFit,
    contrast_views,
    edge_clarity,
    face_and_ink,
    slide,
)
from vision.frame import FloatArray
from vision.looks import RATIO_FLOOR, PieceLooks, log_ratio
from vision.sampling import FloatImage, PlaneWindow

TURNS_DEG = tuple(float(degrees) for degrees in range(-45, 45, 3))
LARGEST_TURN_DEG = 33.0
SEARCH_MM = 3.0
EDGE_WEIGHT = 0.06
UPRIGHT_WEIGHT = 0.0006
GLOSS = np.array([-0.03, -0.015, 0.0, 0.015, 0.03, 0.05, 0.08, 0.12, 0.17, 0.23, 0.3])
GLOSS_SPREAD = 0.12


def fit_face(
    finder: FaceFinder,
    picture: FloatImage,
    window: PlaneWindow,
    middle_mm: tuple[float, float],
    blur_px: float,
    colour: str | None = None,
) -> FaceFit | None:
    """Fit the face whose middle is within a few millimetres of ``middle_mm``; ``None`` outside the picture.

    ``picture`` is linear light sampled through ``window`` at the finder's scale. The square's edges say how the block
    is turned; each symbol is then judged against those edges, so that a cross is told from an x. With a ``colour``
    named, ink is sought as it stands out from that colour alone.
    """
    scale = finder.px_per_mm
    reach = finder.side_mm * 0.72 + SEARCH_MM
    column, row = window.to_pixels(*middle_mm)
    left, top = round(column - reach * scale), round(row - reach * scale)
    size = round(2 * reach * scale)
    if left < 0 or top < 0 or left + size > picture.shape[1] or top + size > picture.shape[0]:
        picture = np.asarray(
            cv2.copyMakeBorder(picture, size, size, size, size, cv2.BORDER_REPLICATE), dtype=np.float32
        )
        left, top = left + size, top + size
        pad = size
    else:
        pad = 0
    if left < 0 or top < 0 or left + size > picture.shape[1] or top + size > picture.shape[0]:
        return None
    patch = np.ascontiguousarray(picture[top : top + size, left : left + size])
    side_px = finder.side_mm * scale

    # brightness as seen, not linear light: edges in the shade count as much as edges in the sun
    seen = np.sqrt(np.clip(patch, 0.0, 1.0))
    smooth = cv2.GaussianBlur(seen, (0, 0), 0.6 * scale)
    gradient_x = np.asarray(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 1, 0)).sum(axis=2), dtype=np.float32)
    gradient_y = np.asarray(np.abs(cv2.Sobel(smooth, cv2.CV_32F, 0, 1)).sum(axis=2), dtype=np.float32)
    middle = (column - (left - pad), row - (top - pad))
    clarity = edge_clarity(gradient_x, gradient_y, middle, side_px, TURNS_DEG)
    relative = clarity / max(float(np.median(clarity)), 1e-6)
    by_turn = dict(zip(TURNS_DEG, relative, strict=True))
    allowed = [degrees for degrees in TURNS_DEG if abs(degrees) <= LARGEST_TURN_DEG]
    ranked = sorted(allowed, key=lambda degrees: -by_turn[degrees])
    turns = sorted({0.0, *ranked[:3]})

    looks = finder.looks if colour is None else PieceLooks({colour: finder.looks.colours[colour]}, finder.looks.masks)
    views = contrast_views(patch, looks)
    margin = round(SEARCH_MM * scale)
    best: tuple[float, float, FaceFit] | None = None
    scores: dict[str, float] = {}
    for degrees in turns:
        bonus = EDGE_WEIGHT * float(np.log(by_turn[degrees])) - UPRIGHT_WEIGHT * abs(degrees)
        for template in finder.templates(degrees, blur_px):
            half = (template.mask.shape[0] - 1) / 2
            first_column = max(0, round(middle[0] - half) - margin)
            first_row = max(0, round(middle[1] - half) - margin)
            span = template.mask.shape[0] + 2 * margin
            for view in views:
                near = view[first_row : first_row + span, first_column : first_column + span]
                fit, (dx, dy) = slide(near, template.mask)
                judged = fit + bonus
                scores[template.symbol] = max(scores.get(template.symbol, -1.0), judged)
                if best is not None and judged <= best[0]:
                    continue
                found_left, found_top = first_column + dx, first_row + dy
                found = patch[
                    found_top : found_top + template.mask.shape[0], found_left : found_left + template.mask.shape[1]
                ]
                face, ink = face_and_ink(found, template.mask)
                x_mm = window.left_mm + (left - pad + found_left + half + 0.5) / scale
                y_mm = window.far_mm - (top - pad + found_top + half + 0.5) / scale
                best = (
                    judged,
                    fit,
                    FaceFit(
                        template.symbol, template.quarter, x_mm, y_mm, degrees, fit, face, ink, scores, by_turn[degrees]
                    ),
                )
    return None if best is None else best[2]


class ColourJudge:
    """Says how far a face's colour is from each known one, in standard deviations of ``spread`` (log units).

    A gloss on the face adds the lamp's own light to all channels, to dark faces most of all. Each colour is tried with
    a little more and less of it (the dichromatic reflection model, Shafer 1985), at a price.
    """

    def __init__(self, colours: Mapping[str, FloatArray], spread: float) -> None:
        self._spread = spread
        self._glossy = {name: _glossy(known) for name, known in colours.items()}
        self._price = (GLOSS / GLOSS_SPREAD) ** 2

    def distances(self, face: FloatArray, ink: FloatArray) -> dict[str, float]:
        """The distance of linear-light ``face`` and ``ink``, each (3,), from each colour."""
        ratio = log_ratio(face, ink)
        return {
            name: float(np.sqrt(((((ratio - glossy) / self._spread) ** 2).mean(axis=1) + self._price).min()))
            for name, glossy in self._glossy.items()
        }


def _glossy(known: FloatArray) -> FloatArray:
    """Log ratios of a colour under each amount of gloss, shape (amounts, 3)."""
    # the brighter of face and ink is 1 in each channel; undo log_ratio's floor for the darker
    darker = np.clip((1 + RATIO_FLOOR) * np.exp(-np.abs(known)) - RATIO_FLOOR, 0.0, 1.0)
    face, ink = np.where(known > 0, 1.0, darker), np.where(known > 0, darker, 1.0)
    return log_ratio(np.maximum(face + GLOSS[:, None], 0.0), np.maximum(ink + GLOSS[:, None], 0.0))
