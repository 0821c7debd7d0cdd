"""Hand detection in a sequence of frames, on any board.

A hand hides the structure of the board (``BackgroundModel``), is larger than a fingertip and is connected to the border
of the watched region. A moved piece changes a square or two and is not connected to the border. A hand at rest stays
detected, because frames are compared with the background and not with the frame before. The background is only learned
where nothing covers it.

For each pixel of a small picture the model keeps the logarithm of its brightness, two logarithmic colour ratios and the
gradient of the log brightness. A change of light multiplies brightness: it shifts the logarithm by about the same
amount over a whole patch and leaves the gradient unchanged. An object over the board removes the gradient. So the
gradient decides what is covered; brightness and colour only show where something is *different*.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from common.phrases import either
from vision.frame import BoolImage, FloatArray, FloatImage, Frame, Image, IndexArray
from vision.geometry import CameraModel, Pose, outline_px, project
from vision.layout.pieces import Ink, Surface, named_places
from vision.opencv import as_colour
from vision.reading import Hindrance, HindranceKind, PlaceReading, Reading, uniform_reading
from vision.sampling import SHRINK, median, shrink


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


_BACKGROUND = BackgroundSettings()
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
    smooth = cv2.GaussianBlur(np.asarray(as_colour(small), dtype=np.float32), (0, 0), _BACKGROUND.smoothing_px)
    level = np.asarray(cv2.transform(smooth, np.full((1, 3), 1 / 3)), dtype=np.float32)
    light = np.asarray(cv2.log(level + _BACKGROUND.dark_offset), dtype=np.float32)
    colours = cv2.log(smooth + _BACKGROUND.colour_offset)
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
    return np.asarray(
        cv2.boxFilter(values, cv2.CV_32F, (_BACKGROUND.window_px, _BACKGROUND.window_px)),
        dtype=np.float32,
    )


class BackgroundModel:
    """The learned appearance of the uncovered board, initialised with the first features."""

    def __init__(self, first: FrameFeatures) -> None:
        self._look = deepcopy(first)
        self._before = first
        self._noise = _BACKGROUND.least_noise_levels**2

    def _measure_noise(self, now: FrameFeatures) -> None:
        """Update the noise of the gradient, in squared levels, from the median change between frames."""
        before = self._before
        self._before = now
        change_x = (now.slope_x[_SPARSE] - before.slope_x[_SPARSE]) * now.level[_SPARSE]
        change_y = (now.slope_y[_SPARSE] - before.slope_y[_SPARSE]) * now.level[_SPARSE]
        # of two independent normal deviates the median of the sum of squares is 1.386 variances, and the change of
        # two frames has twice the variance of one; the sum over both directions is two variances
        measured = float(median((change_x**2 + change_y**2).ravel())) / 1.386
        self._noise += _BACKGROUND.noise_rate * (max(measured, _BACKGROUND.least_noise_levels**2) - self._noise)

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
        lit = np.maximum(now.level, np.float32(_BACKGROUND.darkest_shadow * np.exp(gain)) * np.exp(clear.light))
        lit = np.asarray(cv2.blur(lit, (5, 5)) * (now.level < _BACKGROUND.clipped_level), dtype=np.float32)
        expected_x, expected_y = clear.slope_x * lit, clear.slope_y * lit
        expected = _mean(expected_x * expected_x + expected_y * expected_y)
        seen_x, seen_y = now.slope_x * lit, now.slope_y * lit
        kept = _mean(expected_x * seen_x + expected_y * seen_y)
        new = _mean((seen_x - expected_x) ** 2 + (seen_y - expected_y) ** 2)
        judged = expected > _BACKGROUND.over_noise * self._noise
        lost = judged & (kept < _BACKGROUND.lost * expected)
        changed = lost | (new > _BACKGROUND.over_noise * self._noise + _BACKGROUND.new * expected)
        shown = judged & ~changed & (kept > _BACKGROUND.shown * expected) & (kept < expected / _BACKGROUND.shown)
        colour = np.zeros_like(light)
        for ours, theirs in ((now.red, clear.red), (now.blue, clear.blue)):
            change = ours - theirs
            smooth = cv2.blur(change - np.float32(median(change[_SPARSE][chosen])), (5, 5))
            colour = np.maximum(colour, np.abs(smooth))
        different = changed | (np.abs(light) > _BACKGROUND.different_light) | (colour > _BACKGROUND.different_colour)
        return Difference(
            np.asarray(judged),
            np.asarray(lost),
            np.asarray(shown),
            np.asarray(changed),
            np.asarray(different),
            gain,
        )

    def learn(self, now: FrameFeatures, gain: float, where: BoolImage, rate: float = _BACKGROUND.learning_rate) -> None:
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
        limit = np.float32(_BACKGROUND.still_log) + np.float32(_BACKGROUND.still_levels) / (now.level + 4)
        moved = np.abs(light - self._light) > limit
        np.copyto(self._light, light, where=moved)
        np.copyto(self._since_s, time_s, where=moved)
        self._frames += 1
        np.copyto(self._frames, 0, where=moved)
        self._rested_s = time_s - self._since_s
        np.copyto(self._rested_s, -1.0, where=self._frames < _BACKGROUND.rest_frames)

    def at_rest_for(self, rest_s: float) -> BoolImage:
        """Return pixels that have been at rest for that long, and for the minimum number of frames."""
        return np.asarray(self._rested_s >= rest_s)

    def share_at_least(self, where: BoolImage, rest_s: float) -> float:
        """Return the share of the marked pixels (at least one) that have been at rest for that long."""
        return float((self._rested_s[where] >= rest_s).mean())


_FACTORS = (1, 2, 3, 4, 5, 8, 10, 16)
"""By how much the picture may be shrunk: what ``shrink`` does fast."""


@dataclass(frozen=True)
class HandSettings:
    """Thresholds for detecting a hand and for learning the background again.

    Times are in seconds of the frames' clock; shares range from 0 to 1. All were set by hand on the film and the
    virtual games of ``benchmarks/hands.py``, which shows the effect of a change.
    """

    board_side_px: float = 90.0
    """Minimum side of the board, in pixels, in the small picture used for detection. Larger: finer and slower."""
    margin_share: float = 0.17
    """Margin of the watched region around the board, as a share of its bounding box."""
    over_share: float = 0.05
    """Distance beyond the board's outline that still counts as over it, as a share of its side."""
    least_lost_share: float = 0.004
    """Minimum share of the board whose structure a hand hides. Higher: fingertips are missed."""
    least_over_share: float = 0.0025
    """Minimum part of that share that lies over the board itself."""
    piece_share: float = 0.03
    """Maximum share of the board for a region to be a single piece."""
    pieces_share: float = 0.09
    """Maximum share of the board for the changes to be a few pieces."""
    changed_light_share: float = 0.02
    """Share of the board with changed light above which the frame is undecided."""
    entering_lost_share: float = 0.0006
    """Share of the board lost at the border and moving above which something may be entering."""
    entering_share: float = 0.008
    """The same for structure that only changed."""
    starting_frames: int = 3
    """Number of frames whose median initialises the background."""
    piece_rests_s: float = 0.12
    """Seconds a moved piece must rest before it is learned. Longer: a hand is learned less easily, a piece later."""
    piece_at_border_rests_s: float = 0.3
    """The same in seconds at the border, where a hand may be holding it."""
    thing_rests_s: float = 0.9
    """Seconds any other object must rest before it is learned."""
    light_rests_s: float = 0.5
    """Seconds changed light must be stable before it is learned."""
    uncovered_rests_s: float = 0.6
    """Seconds a region must rest to be background uncovered by a hand that was there from the start."""
    uncovered_later_rests_s: float = 2.0
    """The same once the board was confirmed clear."""
    unconfirmed_rests_s: float = 1.6
    """Seconds after which a region at rest counts as an object, while the board was never confirmed clear."""
    abandoned_rests_s: float = 10.0
    """The same once the board was confirmed clear."""
    calm_s: float = 0.4
    """Seconds without anything over the board before the first clear state."""
    confirmed_clear_s: float = 2.0
    """Seconds of clear state after which the board is confirmed clear."""
    piece_still_share: float = 0.9
    """Share of a piece's pixels that must be at rest."""
    still_share: float = 0.97
    """Share of an object's pixels that must be at rest: a hand is never that still for long."""
    uncovered_edges: float = 1.0
    """Outline strength relative to the background below which an object was removed from there."""
    uncovered_later_edges: float = 0.85
    """The same once the board was confirmed clear."""
    longest_gap_s: float = 0.4
    """Seconds between two frames above which detection starts again."""
    same_place_px: float = 3.0
    """Movement of the board's corners, in pixels, above which detection starts again."""
    hidden_share: float = 0.35
    """Share of a place that the hand must cover for the place to be hidden."""


class HandState(StrEnum):
    """What the frames so far show over the board."""

    STARTING = "starting"
    CLEAR = "clear"
    HAND = "hand"
    UNSETTLED = "unsettled"


@dataclass(frozen=True, eq=False)
class HandDetection:
    """The result for one frame.

    ``kind``: clear (nothing is over the board), hand (something reaches over it), unsettled (the light or several
    pieces are changing) or starting (too few frames so far). ``mask`` marks what the hand and its shadow hide, boolean,
    (rows, columns) of the detector's small picture; ``share`` measures in it. ``connected``: the hand is visible all
    the way from the border. If it is not, the region may also be several pieces that were just moved and are not at
    rest yet.
    """

    kind: HandState
    mask: BoolImage
    connected: bool = False

    def share(self, pixels: IndexArray) -> float:
        """Return the share (0 to 1) that the hand hides of pixels from ``HandDetector.pixels_inside``; 0 of none."""
        return float(self.mask.ravel()[pixels].mean()) if len(pixels) else 0.0


def is_in_picture(corners_px: npt.ArrayLike, size: tuple[int, int]) -> bool:
    """Whether a picture of (width, height) shows enough of an outline, shape (n, 2), to detect hands over it: at least
    a sixteenth of its bounding box.
    """
    corners = np.asarray(corners_px, dtype=np.float64)
    low, high = corners.min(axis=0), corners.max(axis=0)
    seen = np.clip(high, 0, size) - np.clip(low, 0, size)
    return bool(np.prod(seen) * 16 >= np.prod(high - low))


class HandDetector:
    """Detects hands over one board in a sequence of frames from one camera position.

    ``corners_px`` is the board's outline in the picture, shape (n, 2), n at least 3; ``size`` the frames' (width,
    height). Raises ValueError for an outline that the picture does not show; see ``is_in_picture``.
    """

    def __init__(
        self, corners_px: npt.ArrayLike, size: tuple[int, int], settings: HandSettings = HandSettings()
    ) -> None:
        self._settings = settings
        corners = np.asarray(corners_px, dtype=np.float64).reshape(-1, 2)
        if len(corners) < 3 or not np.isfinite(corners).all():
            raise ValueError(f"the board's outline has {len(corners)} corners; expected at least 3, in pixels")
        if not is_in_picture(corners, size):
            raise ValueError(f"the board's outline lies outside a picture of {size[0]} x {size[1]} pixels")
        low, high = corners.min(axis=0), corners.max(axis=0)
        margin = self._settings.margin_share * (high - low)
        first = np.clip(np.floor(low - margin), 0, size).astype(int)
        last = np.clip(np.ceil(high + margin), 0, size).astype(int)
        self._size = size
        side_px = float(np.sqrt(cv2.contourArea(corners.astype(np.float32))))
        factor = max((one for one in _FACTORS if side_px >= one * self._settings.board_side_px), default=1)
        self._factor = factor
        self._is_in_small = factor % SHRINK == 0 and not any(length % SHRINK for length in size)
        if self._is_in_small:
            first -= first % SHRINK
        width, height = (max(1, int(length) // factor) for length in last - first)
        self._shape = (height, width)
        left, top = (int(value) for value in first)
        self._window = (slice(top, top + height * factor), slice(left, left + width * factor))
        self._origin = first.astype(np.float64)
        self._board = self._fill_outline(corners)
        grown = round(self._settings.over_share * side_px / factor)
        self._over = cv2.dilate(self._board.astype(np.uint8), _disc(grown)) > 0
        self._board_area = float(max(1, int(self._board.sum())))
        self._background: BackgroundModel | None = None
        self._first_frames: list[Image] = []
        self._hand: BoolImage = np.zeros(self._shape, dtype=np.bool_)
        self._rest = RestMap(self._shape)
        self._clear_since_s: float | None = None
        self._calm = False
        self._confirmed = False

    def update(
        self, image: Image, time_s: float, *, in_sight: bool = False, small: Image | None = None
    ) -> HandDetection:
        """Process the next frame; ``small`` is the same picture from ``shrink``, which saves time where it is known.

        ``in_sight``: another check found the whole board visible, so only something that moves can be a hand. Raises
        ValueError when the frame's size differs from the detector's.
        """
        if (image.shape[1], image.shape[0]) != self._size:
            raise ValueError(
                f"got a frame of {image.shape[1]} x {image.shape[0]} pixels; expected {self._size[0]} x {self._size[1]}"
            )
        if small is not None and self._is_in_small:
            rows, columns = (slice(part.start // SHRINK, part.stop // SHRINK) for part in self._window)
            seen = shrink(small[rows, columns], self._factor // SHRINK)
        else:
            seen = shrink(image[self._window], self._factor)
        if self._background is None:
            return self._collect_first(seen)
        now = frame_features(seen)
        difference = self._background.compare(now, self._board & ~self._hand)
        self._rest.update(now, difference.gain, time_s)
        parts = _Regions.of(difference)
        hand = np.zeros(self._shape, dtype=np.bool_)
        for part in self._hand_regions(parts):
            if not self._is_uncovered(self._background, now, part, in_sight=in_sight):
                hand |= part
        self._hand = hand
        self._learn(self._background, now, difference, parts)
        kind = self._state(difference, parts, hand)
        self._update_confirmation(kind, time_s)
        connected = bool(parts.border[parts.labels[hand]].any())
        return HandDetection(kind if self._calm or kind is HandState.HAND else HandState.STARTING, hand, connected)

    def pixels_inside(self, outline_px: npt.ArrayLike) -> IndexArray:
        """Return flat indices in a detection's mask, (m,), of the pixels in an outline in the picture, shape (n, 2)."""
        return np.flatnonzero(self._fill_outline(np.asarray(outline_px, dtype=np.float64).reshape(-1, 2)))

    def _fill_outline(self, outline_px: FloatArray) -> BoolImage:
        polygon = (outline_px - self._origin) / self._factor
        mask = np.zeros(self._shape, dtype=np.uint8)
        cv2.fillPoly(mask, [np.round(np.clip(polygon, -1e4, 1e4)).astype(np.int32)], 1)
        return np.asarray(mask > 0)

    def _collect_first(self, small: Image) -> HandDetection:
        """Collect the first frames and start with their median, so that one torn frame does no harm."""
        self._first_frames.append(small)
        if len(self._first_frames) >= self._settings.starting_frames:
            middle = np.median(np.stack(self._first_frames), axis=0).astype(np.uint8)
            self._background = BackgroundModel(frame_features(middle))
            self._first_frames.clear()
        return HandDetection(HandState.STARTING, np.zeros(self._shape, dtype=np.bool_))

    def _hand_regions(self, parts: _Regions) -> list[BoolImage]:
        """Return the regions that enter from the border, lie over the board and hide its structure."""
        reaching = []
        lost_areas = parts.count(parts.lost)
        enough = (lost_areas >= self._settings.least_lost_share * self._board_area) & (
            parts.count(parts.lost & self._over) >= self._settings.least_over_share * self._board_area
        )
        border = parts.border
        for label in np.nonzero(enough)[0]:
            part = np.asarray(parts.labels == label)
            lost = part & parts.lost
            at_border = bool(border[label])
            if (at_border or self._continues_hand(part, lost)) and not (at_border and self._is_piece(part, lost)):
                reaching.append(part)
        return reaching

    def _continues_hand(self, part: BoolImage, lost: BoolImage) -> bool:
        """Return whether a region away from the border is a hand whose sleeve looks like the table: it was part of the
        hand before, and is larger than what a piece leaves behind, or moves.
        """
        area = float(lost.sum())
        if area < self._settings.piece_share * self._board_area or float((lost & self._hand).sum()) < 0.3 * area:
            return False
        small = float(part.sum()) < self._settings.pieces_share * self._board_area
        rests_s = self._settings.piece_at_border_rests_s if small else self._settings.thing_rests_s
        return self._rest.share_at_least(lost, rests_s) < self._settings.piece_still_share

    def _is_piece(self, part: BoolImage, lost: BoolImage) -> bool:
        """Return whether a region is a piece placed or taken where the board touches the picture's edge: small,
        entirely on the board, without an arm's shadow, and at rest.
        """
        area = float(part.sum())
        if area > self._settings.piece_share * self._board_area or float((part & self._over).sum()) < 0.9 * area:
            return False
        return (
            self._rest.share_at_least(lost, self._settings.piece_at_border_rests_s) > self._settings.piece_still_share
        )

    def _is_uncovered(
        self, background: BackgroundModel, now: FrameFeatures, part: BoolImage, *, in_sight: bool
    ) -> bool:
        """Return whether a "hand" was part of the background and has left, or is an object that stays.

        The outline of a hand that left shows in the background and not in the frame, unless printed lines show there. A
        hand is never as still as an object for long.
        """
        settings = self._settings
        if self._confirmed:
            rests_s, abandoned_s = settings.uncovered_later_rests_s, settings.abandoned_rests_s
            edges = settings.uncovered_later_edges
        else:
            rests_s, abandoned_s = settings.uncovered_rests_s, settings.unconfirmed_rests_s
            edges = settings.uncovered_edges
        if self._rest.share_at_least(part, rests_s) < settings.still_share:
            return False
        if in_sight or self._rest.share_at_least(part, abandoned_s) >= settings.still_share:
            return True
        return background.edges_along(now, part) < edges

    def _learn(self, background: BackgroundModel, now: FrameFeatures, difference: Difference, parts: _Regions) -> None:
        sizes = parts.sizes
        long_resting = parts.count(self._rest.at_rest_for(self._settings.thing_rests_s)) > 0.9 * sizes
        # beside the board a hand may rest on a bare table, where it hides no structure
        beside = parts.pixels_of(parts.border & ~long_resting) & ~self._over
        free = ~_grown(self._hand | beside, 4)
        rested = self._rest.at_rest_for(self._settings.light_rests_s)
        background.learn(now, difference.gain, np.asarray(free & rested & ~difference.different))
        small = sizes < self._settings.pieces_share * self._board_area
        resting = small & (parts.count(self._rest.at_rest_for(self._settings.piece_rests_s)) > 0.9 * sizes)
        pieces = ((resting & ~parts.border) | long_resting) & (parts.count(~free) == 0)
        pieces[0] = False
        settled = _grown(parts.pixels_of(pieces), 5)
        settled |= self._rest.at_rest_for(self._settings.piece_at_border_rests_s) & self._over & difference.lost
        settled |= rested & difference.changed & ~difference.lost
        background.learn(now, difference.gain, np.asarray(settled & free), rate=1.0)
        background.learn_light(now, difference.gain, np.asarray(rested & free & ~settled))

    def _state(self, difference: Difference, parts: _Regions, hand: BoolImage) -> HandState:
        if hand.any():
            return HandState.HAND
        lost = np.count_nonzero(difference.lost & self._board)
        # changing light keeps lines and squares; only where those are not visible may it be anything else
        different = np.count_nonzero(difference.different & ~difference.shown & self._board)
        if (
            lost > self._settings.pieces_share * self._board_area
            or different > self._settings.changed_light_share * self._board_area
        ):
            return HandState.UNSETTLED
        entering = parts.pixels_of(parts.border) & self._over & ~self._rest.at_rest_for(0.0)
        lost_entering = np.count_nonzero(entering & difference.lost)
        changed_entering = np.count_nonzero(entering & difference.changed)
        if (
            lost_entering > self._settings.entering_lost_share * self._board_area
            or changed_entering > self._settings.entering_share * self._board_area
        ):
            return HandState.UNSETTLED
        return HandState.CLEAR

    def _update_confirmation(self, kind: HandState, time_s: float) -> None:
        """Note how long the board stayed clear: then it was learned correctly, without a hand in the first frames."""
        # the board is not clear before it was calm once: the first frames may show an arm coming in
        if kind is not HandState.CLEAR:
            self._clear_since_s = None
        elif self._clear_since_s is None:
            self._clear_since_s = time_s
        else:
            self._calm |= time_s - self._clear_since_s >= self._settings.calm_s
            self._confirmed |= time_s - self._clear_since_s >= self._settings.confirmed_clear_s


@dataclass(frozen=True, eq=False)
class _Regions:
    """The connected regions of what differs; label 0 is the rest. ``lost`` marks the structure lost in them."""

    labels: npt.NDArray[np.uint16]
    statistics: npt.NDArray[np.int32]
    lost: BoolImage

    @classmethod
    def of(cls, difference: Difference) -> _Regions:
        closed = cv2.morphologyEx(difference.different.astype(np.uint8), cv2.MORPH_CLOSE, _disc(2))
        # with labels of 32 bits OpenCV takes three times as long
        _, labels, statistics, _ = cv2.connectedComponentsWithStats(closed, connectivity=8, ltype=cv2.CV_16U)
        lost = cv2.morphologyEx(difference.lost.astype(np.uint8), cv2.MORPH_OPEN, _disc(1)) > 0
        return cls(np.asarray(labels, dtype=np.uint16), np.asarray(statistics, dtype=np.int32), np.asarray(lost))

    def count(self, where: BoolImage) -> IndexArray:
        """Return the number of marked pixels in each region; none are counted for label 0."""
        if len(self.statistics) == 1:
            return np.zeros(1, dtype=np.intp)
        marked = np.where(where, self.labels, np.uint16(0))
        counts = np.bincount(marked[marked > 0], minlength=len(self.statistics))
        return np.asarray(counts, dtype=np.intp)

    def pixels_of(self, regions: BoolImage) -> BoolImage:
        """Return the pixels of some regions, given as whether each is chosen, (regions,)."""
        return regions[self.labels] if regions.any() else np.zeros(self.labels.shape, dtype=np.bool_)

    @property
    def sizes(self) -> npt.NDArray[np.int32]:
        """The number of pixels of each region; 0 for label 0."""
        sizes = self.statistics[:, cv2.CC_STAT_AREA].copy()
        sizes[0] = 0
        return sizes

    @property
    def border(self) -> BoolImage:
        """Whether each region touches the border of the watched region."""
        rows, columns = self.labels.shape
        left, top, width, height = self.statistics[:, :4].T
        touches = (left <= 1) | (top <= 1) | (left + width >= columns - 1) | (top + height >= rows - 1)
        touches[0] = False
        return np.asarray(touches)


def _grown(marked: BoolImage, by_px: int) -> BoolImage:
    """Return marked pixels and those within that distance of one."""
    return np.asarray(cv2.dilate(marked.view(np.uint8), _disc(by_px)) > 0) if marked.any() else marked


@cache
def _disc(radius_px: int) -> npt.NDArray[np.uint8]:
    side = 2 * radius_px + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)), dtype=np.uint8)


class HandMonitor:
    """Detects hands over one surface, frame by frame; readings of frames far apart in time are returned unchanged."""

    def __init__(self, camera: CameraModel, surface: Surface, settings: HandSettings) -> None:
        self._settings = settings
        self._camera = camera
        self._surface = surface
        self._finder: HandDetector | None = None
        self._place_pixels: Mapping[str, IndexArray] = {}
        self._corners_px: FloatArray = np.zeros((4, 2))
        self._time_s: float | None = None

    def with_hand(self, frame: Frame, pose: Pose, reading: Reading, small: Image | None = None) -> Reading:
        """Return the reading, with a hand added where the frames so far show one; ``small`` is the frame's picture from
        ``vision.sampling.shrink``, if known.
        """
        before_s, self._time_s = self._time_s, frame.time_s
        bounds = self._surface.bounds_mm
        corners = project(self._camera, pose, bounds.corners_mm(self._surface.height_mm))
        moved = float(np.abs(corners - self._corners_px).max()) > self._settings.same_place_px
        if before_s is None or not 0 < frame.time_s - before_s <= self._settings.longest_gap_s or moved:
            self._finder = None
        seen = reading.hindered_by(HindranceKind.HAND) is not None
        if self._finder is None:
            if seen or not is_in_picture(corners, self._camera.size):
                return reading
            self._finder = HandDetector(corners, self._camera.size, self._settings)
            self._corners_px = corners
            self._place_pixels = {}
        # nothing can lie on paper without hiding print
        in_sight = isinstance(self._surface.pieces, Ink) and not reading.hindrances
        reach = self._finder.update(frame.image, frame.time_s, in_sight=in_sight, small=small)
        if reach.kind is not HandState.HAND or not reach.connected or seen:
            return reading
        if not self._place_pixels:
            # once for each finder: filling an outline takes long for a sheet's many cells
            self._place_pixels = {
                place: self._finder.pixels_inside(self._outline_px(place, pose)) for place in self._surface.places
            }
        places: dict[str, PlaceReading] = dict(reading.places)
        hidden = []
        for place, pixels in self._place_pixels.items():
            if place in places and reach.share(pixels) > self._settings.hidden_share:
                hidden.append(place)
                places[place] = uniform_reading(tuple(places[place].probabilities), HindranceKind.HAND)
        where = named_places(self._surface, hidden or self._surface.places)
        hand = Hindrance(
            HindranceKind.HAND,
            either(
                hidden or not self._surface.places,
                "a hand or arm is over {where}",
                "a hand or arm is at the edge of {where}",
                where,
            ),
            tuple(hidden),
        )
        return replace(reading, places=places, hindrances=(*reading.hindrances, hand))

    def _outline_px(self, place: str, pose: Pose) -> npt.NDArray[np.floating]:
        """Return the outline in the picture of the piece that may stand on a place, or of the place if none can."""
        solid = self._surface.solid_at(place)
        if solid is not None:
            return outline_px(solid, self._camera, pose)
        outline = self._surface.outline_mm(place)
        return project(self._camera, pose, np.column_stack([outline, np.full(len(outline), self._surface.height_mm)]))
