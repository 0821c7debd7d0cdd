"""Locating one light in pictures taken with it off and on, and the square it is in. Pure.

Pairs of pictures are taken alternately, so that changes that do not repeat with the light (flicker, daylight, automatic
exposure, noise, a hand) disappear in the median.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, back_project, project
from vision.layout.table import TableLayout
from vision.sampling import MAD_TO_SIGMA

LEAST_GREY_LEVELS = 4.0
"""Minimum brightening, in grey levels of 255."""

_NOISE_SIGMAS = 8.0
"""How many standard deviations of noise a light must stand out by."""
_BLUR_SHARE = 0.12
"""Smoothing radius, in squares: about the size of a light seen through a board's top."""
_SECOND_PEAK_SHARE = 0.6
"""A second peak above this share of the strongest one makes the light ambiguous."""
_EDGE_SHARE = 0.12
"""Nearer to a square's edge than this share of its width, the square is doubtful."""
_OUTSIDE_SHARE = 0.5
"""Further off the board than this share of a square, the light belongs to none."""


@dataclass(frozen=True)
class LightLocation:
    """The result for one light.

    ``place`` is its square, ``None`` for none. ``doubt`` is the reason to ask a person, empty when certain.
    """

    place: str | None
    doubt: str = ""


def locate_light(
    off: Sequence[Image], on: Sequence[Image], camera: CameraModel, pose: Pose, layout: TableLayout
) -> LightLocation:
    """Locate the light that shines in the pictures ``on`` and is dark in ``off``.

    ``on[k]`` was taken between ``off[k]`` and ``off[k + 1]``, so there is one more of ``off``. Each is height x width x
    3, uint8, all of one size. Raises ValueError when the numbers don't fit.
    """
    if not on or len(off) != len(on) + 1:
        raise ValueError(f"{len(off)} pictures with the light off and {len(on)} with it on; expected one more of off")
    square_px = _square_px(camera, pose, layout)
    changes = [_change(before, lit, after) for before, lit, after in zip(off, on, off[1:], strict=False)]
    smooth = _smooth_median(changes, square_px)
    noise = max(_noise(smooth), _noise_of_off(off, square_px))
    y, x = np.unravel_index(int(np.argmax(smooth)), smooth.shape)
    peak = float(smooth[y, x])
    if peak < max(LEAST_GREY_LEVELS, _NOISE_SIGMAS * noise):
        return LightLocation(None, "I see no light that goes on and off")
    place, doubt = _place((float(x), float(y)), camera, pose, layout)
    second_peak = _second_peak(smooth, (int(y), int(x)), square_px)
    if second_peak > _SECOND_PEAK_SHARE * peak:
        doubt = "it shines in two places, or is mirrored"
    return LightLocation(place, doubt)


def _change(before: Image, lit: Image, after: Image) -> FloatArray:
    """Return the brightening of each pixel relative to the mean of before and after, in its strongest channel."""
    dark = (before.astype(np.float64) + after.astype(np.float64)) / 2
    bright = lit.astype(np.float64)
    # a lamp or automatic exposure changes everything alike: normalised by the medians
    gain = np.maximum(np.median(dark, axis=(0, 1)), 1.0) / np.maximum(np.median(bright, axis=(0, 1)), 1.0)
    change: FloatArray = bright * gain - dark
    return np.asarray(change.max(axis=-1), dtype=np.float64) if change.ndim == 3 else change


def _noise_of_off(off: Sequence[Image], square_px: float) -> float:
    """Return the strongest change between pictures without the light: people, shadows, a flickering screen."""
    if len(off) < 3:
        return 0.0
    changes = [_change(off[k], off[k + 1], off[k + 2]) for k in range(len(off) - 2)]
    return float(_smooth_median(changes, square_px).max()) / _NOISE_SIGMAS


def _noise(smooth: FloatArray) -> float:
    return MAD_TO_SIGMA * float(np.median(np.abs(smooth - np.median(smooth))))


def _smooth_median(changes: Sequence[FloatArray], square_px: float) -> FloatArray:
    """Return the blurred median of the changes, which lacks what happened only once."""
    median = np.median(np.stack(changes), axis=0).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(median, (0, 0), max(1.0, _BLUR_SHARE * square_px)), dtype=np.float64)


def _second_peak(smooth: FloatArray, peak: tuple[int, int], square_px: float) -> float:
    """Return the strongest change more than a square away from the peak."""
    rows, columns = np.ogrid[: smooth.shape[0], : smooth.shape[1]]
    away = (rows - peak[0]) ** 2 + (columns - peak[1]) ** 2 > square_px**2
    return float(smooth[away].max()) if away.any() else 0.0


def _square_px(camera: CameraModel, pose: Pose, layout: TableLayout) -> float:
    """Return the approximate width of a square in the middle of the board, in pixels."""
    half = layout.board.cell_mm / 2
    ends = project(camera, pose, [[-half, 0.0, layout.board.height_mm], [half, 0.0, layout.board.height_mm]])
    return float(np.linalg.norm(ends[1] - ends[0]))


def _place(pixel: tuple[float, float], camera: CameraModel, pose: Pose, layout: TableLayout) -> tuple[str | None, str]:
    """Return the square of a pixel, and why it may be wrong."""
    board = layout.board
    point_mm = back_project(camera, pose, [pixel], board.height_mm)[0, :2]
    offsets = np.abs(board.centres_mm - point_mm) / board.cell_mm
    nearest = int(np.argmin(np.linalg.norm(offsets, axis=1)))
    place, off_centre = board.places[nearest], float(offsets[nearest].max())
    if off_centre > 0.5 + _OUTSIDE_SHARE:
        return None, "it shines beside the board: the status light?"
    if off_centre > 0.5:
        return place, "it shines on the edge of the board"
    if off_centre > 0.5 - _EDGE_SHARE:
        return place, "it shines between two squares"
    return place, ""
