"""Hand detection in a sequence of frames, on any board.

A hand hides the structure of the board (``vision.motion.background``), is larger than a fingertip and is connected to
the border of the watched region. A moved piece changes a square or two and is not connected to the border. A hand at
rest stays detected, because frames are compared with the background and not with the frame before. The background is
only learned where nothing covers it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt

from vision.frame import BoolImage, FloatArray, Image, IndexArray
from vision.motion.background import BackgroundModel, Difference, FrameFeatures, RestMap, frame_features
from vision.sampling import SHRINK, shrink

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
