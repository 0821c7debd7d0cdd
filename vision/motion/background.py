"""A background model of the board, the difference of a frame from it, and how long each pixel has been at rest.

For each pixel of a small picture the model keeps the logarithm of its brightness, two logarithmic colour ratios and the
gradient of the log brightness. A change of light multiplies brightness: it shifts the logarithm by about the same
amount over a whole patch and leaves the gradient unchanged. An object over the board removes the gradient. So the
gradient decides what is covered; brightness and colour only show where something is *different*.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatImage, Image
from vision.opencv import as_colour
from vision.sampling import median


@dataclass(frozen=True)
class BackgroundSettings:
    """When structure counts as present, lost or different, and how fast the background is learned. Set by hand on the
    film and the virtual games of ``benchmarks/hands.py``.
    """

    dark_offset: float = 4.0
    """Grey levels added before the log of brightness. Higher: noise and edges in the dark count less."""
    colour_offset: float = 8.0
    """The same before the logs of colours."""
    least_noise_levels: float = 0.5
    """Minimum noise of a gradient, in grey levels."""
    over_noise: float = 6.0
    """Multiple of the noise that a gradient needs to count as structure. Higher: less of the board is judged."""
    noise_rate: float = 0.2
    """Weight of a new noise measurement in the running average."""
    darkest_shadow: float = 0.14
    """Minimum share of the light left in a shadow. Lower: more of a dark hand counts as shadow."""
    smoothing_px: float = 0.8
    """Standard deviation, in pixels, of the first smoothing."""
    window_px: int = 9
    """Side, in pixels, of the window in which structure is compared. Larger: more reliable, coarser."""
    clipped_level: float = 250.0
    """Grey level above which a pixel counts as overexposed."""
    lost: float = 0.45
    """Share of the learned structure below which a window has lost it. Higher: more counts as covered."""
    shown: float = 0.7
    """Share above which the structure is present as learned."""
    new: float = 0.6
    """Structure that was not learned, as a share of what is present, above which a window changed."""
    different_light: float = 0.33
    """Deviation of log brightness from the learned value above which a pixel is different. Higher: tolerates shadows.
    """
    different_colour: float = 0.16
    """The same of the log ratios of colours."""
    learning_rate: float = 0.08
    """Share of a new appearance learned from each frame. Higher: faster, and less steady."""
    still_log: float = 0.03
    """Change of log brightness below which a pixel is at rest. In the dark, ``still_levels`` allows for more."""
    still_levels: float = 2.0
    """Change in grey levels that is allowed besides: noise matters more in the dark."""
    rest_frames: int = 3
    """Number of frames for which a pixel must be at rest."""


_SETTINGS = BackgroundSettings()
_SPARSE = np.s_[::3, ::3]
"""The pixels from which medians of the whole picture are taken."""


@dataclass(frozen=True, eq=False)
class FrameFeatures:
    """Features of one small picture; every array is (rows, columns), float32.

    ``level`` is brightness in grey levels from 0 to 255, ``light`` its natural logarithm, ``red`` and ``blue`` the
    logarithms of those channels' ratios to green, ``slope_x`` and ``slope_y`` the gradient of ``light`` per pixel.
    """

    level: FloatImage
    light: FloatImage
    red: FloatImage
    blue: FloatImage
    slope_x: FloatImage
    slope_y: FloatImage


@dataclass(frozen=True, eq=False)
class Difference:
    """Difference between a frame and the background, as boolean arrays (rows, columns).

    ``judged``: the background has structure there, and the light suffices to see it. ``lost``: that structure is
    missing. ``shown``: it is present as learned, in any light. ``changed``: structure is missing or new. ``different``:
    changed, or of another brightness or colour. ``gain`` is the change of log brightness of the whole picture, which is
    subtracted before comparing.
    """

    judged: BoolImage
    lost: BoolImage
    shown: BoolImage
    changed: BoolImage
    different: BoolImage
    gain: float


def frame_features(small: Image) -> FrameFeatures:
    """Compute the features of a small blue-green-red picture of 8 bits a channel (a grey one counts as colourless)."""
    smooth = cv2.GaussianBlur(np.asarray(as_colour(small), dtype=np.float32), (0, 0), _SETTINGS.smoothing_px)
    level = np.asarray(cv2.transform(smooth, np.full((1, 3), 1 / 3)), dtype=np.float32)
    light = np.asarray(cv2.log(level + _SETTINGS.dark_offset), dtype=np.float32)
    colours = cv2.log(smooth + _SETTINGS.colour_offset)
    return FrameFeatures(
        level,
        light,
        np.asarray(colours[..., 2] - colours[..., 1]),
        np.asarray(colours[..., 0] - colours[..., 1]),
        np.asarray(cv2.Sobel(light, cv2.CV_32F, 1, 0, scale=0.25)),
        np.asarray(cv2.Sobel(light, cv2.CV_32F, 0, 1, scale=0.25)),
    )


def _mean(values: npt.NDArray[np.float32]) -> FloatImage:
    """Return the mean over the structure window."""
    return np.asarray(cv2.boxFilter(values, cv2.CV_32F, (_SETTINGS.window_px, _SETTINGS.window_px)), dtype=np.float32)


class BackgroundModel:
    """The learned appearance of the uncovered board, initialised with the first features."""

    def __init__(self, first: FrameFeatures) -> None:
        self._look = deepcopy(first)
        self._before = first
        self._noise = _SETTINGS.least_noise_levels**2

    def _measure_noise(self, now: FrameFeatures) -> None:
        """Update the noise of the gradient, in squared levels, from the median change between frames."""
        before = self._before
        self._before = now
        change_x = (now.slope_x[_SPARSE] - before.slope_x[_SPARSE]) * now.level[_SPARSE]
        change_y = (now.slope_y[_SPARSE] - before.slope_y[_SPARSE]) * now.level[_SPARSE]
        # of two independent normal deviates the median of the sum of squares is 1.386 variances, and the change of
        # two frames has twice the variance of one; the sum over both directions is two variances
        measured = float(median((change_x**2 + change_y**2).ravel())) / 1.386
        self._noise += _SETTINGS.noise_rate * (max(measured, _SETTINGS.least_noise_levels**2) - self._noise)

    def compare(self, now: FrameFeatures, trusted: BoolImage) -> Difference:
        """Compare a frame with the background.

        ``trusted`` marks the pixels from which the whole picture's change of brightness and colour is estimated. The
        share of structure still present is the regression of the gradient on the learned one, ``sum(now . learned) /
        sum(learned . learned)`` over a window: 1 in any light, about 0 under an object.
        """
        clear = self._look
        self._measure_noise(now)
        chosen = trusted[_SPARSE]
        if not chosen.any():
            chosen = np.ones_like(chosen)
        raw = now.light - clear.light
        gain = float(median(raw[_SPARSE][chosen]))
        light = np.asarray(cv2.blur(raw - np.float32(gain), (5, 5)), dtype=np.float32)
        # the noise is constant in levels, so gradients are scaled to the levels of the board in this light
        lit = np.maximum(now.level, np.float32(_SETTINGS.darkest_shadow * np.exp(gain)) * np.exp(clear.light))
        lit = np.asarray(cv2.blur(lit, (5, 5)) * (now.level < _SETTINGS.clipped_level), dtype=np.float32)
        expected_x, expected_y = clear.slope_x * lit, clear.slope_y * lit
        expected = _mean(expected_x * expected_x + expected_y * expected_y)
        seen_x, seen_y = now.slope_x * lit, now.slope_y * lit
        kept = _mean(expected_x * seen_x + expected_y * seen_y)
        new = _mean((seen_x - expected_x) ** 2 + (seen_y - expected_y) ** 2)
        judged = expected > _SETTINGS.over_noise * self._noise
        lost = judged & (kept < _SETTINGS.lost * expected)
        changed = lost | (new > _SETTINGS.over_noise * self._noise + _SETTINGS.new * expected)
        shown = judged & ~changed & (kept > _SETTINGS.shown * expected) & (kept < expected / _SETTINGS.shown)
        colour = np.zeros_like(light)
        for ours, theirs in ((now.red, clear.red), (now.blue, clear.blue)):
            change = ours - theirs
            smooth = cv2.blur(change - np.float32(median(change[_SPARSE][chosen])), (5, 5))
            colour = np.maximum(colour, np.abs(smooth))
        different = changed | (np.abs(light) > _SETTINGS.different_light) | (colour > _SETTINGS.different_colour)
        return Difference(
            np.asarray(judged),
            np.asarray(lost),
            np.asarray(shown),
            np.asarray(changed),
            np.asarray(different),
            gain,
        )

    def learn(self, now: FrameFeatures, gain: float, where: BoolImage, rate: float = _SETTINGS.learning_rate) -> None:
        """Move the background towards these features at the marked pixels; a rate of 1 replaces it."""
        clear = self._look
        light = now.light - np.float32(gain)
        pairs = (
            (clear.light, light),
            (clear.red, now.red),
            (clear.blue, now.blue),
            (clear.slope_x, now.slope_x),
            (clear.slope_y, now.slope_y),
        )
        if rate == 1:
            for learned, seen in pairs:
                np.copyto(learned, seen, where=where)
            return
        for learned, seen in pairs:
            cv2.accumulateWeighted(seen, learned, rate, where.view(np.uint8))

    def learn_light(self, now: FrameFeatures, gain: float, where: BoolImage) -> None:
        """Replace brightness and colour at the marked pixels, but keep the structure, which a shadow blurs."""
        clear = self._look
        np.copyto(clear.light, now.light - np.float32(gain), where=where)
        np.copyto(clear.red, now.red, where=where)
        np.copyto(clear.blue, now.blue, where=where)

    def edges_along(self, now: FrameFeatures, part: BoolImage) -> float:
        """Return the ratio of the edge strength along a region's outline in this frame to that in the background.

        Only the gradient across the outline counts. Above 1 the outline is visible in this frame; below 1 it was
        learned and has disappeared.
        """
        soft = cv2.GaussianBlur(np.asarray(part, dtype=np.float32), (0, 0), 1.5)
        across_x, across_y = cv2.Sobel(soft, cv2.CV_32F, 1, 0), cv2.Sobel(soft, cv2.CV_32F, 0, 1)
        steepness = np.hypot(across_x, across_y)
        outline = steepness > 0.5 * float(steepness.max())
        lit = cv2.blur(now.level, (5, 5)) / np.maximum(steepness, 1e-6)
        clear = self._look
        after = np.abs(now.slope_x * across_x + now.slope_y * across_y) * lit
        before = np.abs(clear.slope_x * across_x + clear.slope_y * across_y) * lit
        return float(after[outline].sum()) / max(float(before[outline].sum()), 1e-6)


class RestMap:
    """For each pixel of a picture of ``shape`` (rows, columns), the time since which it has looked the same."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self._light: npt.NDArray[np.float32] | None = None
        self._since_s = np.zeros(shape, dtype=np.float64)
        self._frames = np.zeros(shape, dtype=np.int32)
        self._rested_s = np.full(shape, -1.0)

    def update(self, now: FrameFeatures, gain: float, time_s: float) -> None:
        """Add a frame; ``gain`` is the whole picture's change of log brightness, which does not count as movement."""
        light = now.light - np.float32(gain)
        if self._light is None:
            self._light = light
            self._since_s[...] = time_s
            return
        limit = np.float32(_SETTINGS.still_log) + np.float32(_SETTINGS.still_levels) / (now.level + 4)
        moved = np.abs(light - self._light) > limit
        np.copyto(self._light, light, where=moved)
        np.copyto(self._since_s, time_s, where=moved)
        self._frames += 1
        np.copyto(self._frames, 0, where=moved)
        self._rested_s = time_s - self._since_s
        np.copyto(self._rested_s, -1.0, where=self._frames < _SETTINGS.rest_frames)

    def at_rest_for(self, rest_s: float) -> BoolImage:
        """Return pixels that have been at rest for that long, and for the minimum number of frames."""
        return np.asarray(self._rested_s >= rest_s)

    def share_at_least(self, where: BoolImage, rest_s: float) -> float:
        """Return the share of the marked pixels (at least one) that have been at rest for that long."""
        return float((self._rested_s[where] >= rest_s).mean())
