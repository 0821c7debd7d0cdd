"""The block reader: coarse and fine fits of faces, and a decision over all of them.

Tops are searched for in the plane they lie in. A distant block's side face can cover a nearer square in that plane and
look like a top there. So squares are judged from near to far, with their own side faces and what nearer blocks hide.

Visible side faces are read too, as evidence for a block being there. The numbers were set by hand on the virtual
table's and the ray-traced pictures; ``benchmarks/stress.py`` shows the effect of a change. Heights are those of a side
face in the picture; correlations range from -1 to 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import cv2
import numpy as np
import numpy.typing as npt

from vision.drawing import write_text
from vision.frame import BoolArray, FloatArray, FloatImage, Image
from vision.geometry import SIDE_CORNERS, CameraModel, CubeSolid, Pose, Side, corners_px, hull_px, project
from vision.layout.pieces import BlockPieces, Surface, top_mm
from vision.opencv import as_colour
from vision.readers.blocks.appearance import (
    BlockAppearance,
    correlations,
    distinct_quarter_turns,
    log_ratio,
    look_name,
    unit_rows,
)
from vision.readers.blocks.faces import CloseFitter, ColourMetric, FaceFit, RoughFinder, face_and_ink, view_weights
from vision.readers.probabilities import softmax
from vision.readers.protocols import NOTHING, SurfaceView
from vision.sampling import PixelMap, PlaneGrid, linear_light, sample

SIDE_PX = 36
"""Side of a sampled side face."""
RIM_PX = 3
"""Rim of a sampled face that is left out, and the largest shift tried. Larger: slower, and less of it is compared."""
SMALLEST_HEIGHT_PX = 5.0
"""Minimum height of a face to be sampled. Higher: faster, but above the next height fewer sides are read."""
SMALLEST_SYMBOL_HEIGHT_PX = 6.0
"""Minimum height of a face to be read. Higher: fewer sides are read."""
SMALLEST_SYMBOL_FIT = 0.6
"""Minimum correlation of the best possible symbol. Higher: fewer sides are read."""
SMALLEST_OPEN_SHARE = 0.3
"""Minimum share (0 to 1) of a face that is not hidden, for it to be fitted. Higher: fewer sides are evidence."""
READABLE_OPEN_SHARE = 0.8
"""Minimum share (0 to 1) of a face that is not hidden, for it to be read. Higher: fewer sides are read."""
VAGUE_HEIGHT_PX = 8.0
"""Height, in pixels, up to which a side is no evidence of a block."""
CLEAR_HEIGHT_PX = 14.0
"""Further height, in pixels, over which its evidence grows to its full weight. Higher: low sides count less."""
SUPPORT_SLOPE = 36.0
"""Log-odds gained for each unit of a side's correlation above SUPPORT_MIDDLE, and lost below it."""
SUPPORT_MIDDLE = 0.58
"""Correlation of a side that is no evidence either way."""
SUPPORT_LIMIT = 16.0
"""Maximum log-odds of the sides against a block, and twice the maximum for one. Higher: they can outweigh its top."""
COLOUR_SLOPE = 10.0
"""Log-odds gained, up to 3, for each log unit by which a side differs less from the block's colour than COLOUR_MIDDLE;
up to 8 are lost if it differs more.
"""
COLOUR_MIDDLE = 0.95
"""Difference of a side from the block's colour, in log units, that is no evidence either way."""
SHIFT_STEP_PX = 2
"""Step between the shifts tried, in pixels of the sampled face. Larger: faster, but symbols fit less exactly."""
BLURS_PX = (0.6, 1.3, 2.2)
"""Standard deviations of the masks' blur, in pixels of the picture, sharpest first. Larger: for pictures out of focus.
More: slower.
"""
LENGTH_STEP = 0.2
"""Step between the widths and heights that masks are made for, as a logarithm. Larger: faster, but masks fit less
exactly.
"""
SYMBOL_TEMPERATURE = 0.015
"""Temperature of the softmax over symbols for a high side, in units of correlation. Higher: less certain."""
FLAT_HEIGHT_PX = 10.0
"""Height of a side at which that temperature doubles. Higher: less certain of flat sides."""
ODD_ONE_OUT = 0.002
"""Share of sides that are misread whatever the fit. Higher: less certain."""


@dataclass(frozen=True, eq=False)
class SideView:
    """A side face sampled from the picture: linear light (36, 36, 3), the picture coordinates of its pixels (36, 36,
    2), its height and width in pixels of the picture, and which of its pixels are not hidden.
    """

    side: Side
    picture: FloatImage
    points_px: PixelMap
    height_px: float
    width_px: float
    open: BoolArray

    @property
    def open_share(self) -> float:
        """Share (0 to 1) of the face that nearer blocks do not hide."""
        return np.count_nonzero(self.open) / self.open.size

    def without_hidden(self, nearer: npt.NDArray[np.uint8]) -> SideView:
        """Return the view without the pixels hidden by nearer blocks; ``nearer`` marks those in the picture."""
        hidden = sample(nearer, self.points_px, cv2.INTER_NEAREST) > 0
        return replace(self, open=np.asarray(self.open & ~hidden)) if hidden.any() else self


def side_views(image: Image, blocks_px: FloatArray) -> list[list[SideView]]:
    """Sample each block's side faces that face the camera and are at least a few pixels high.

    ``blocks_px`` are the blocks' corners in the picture, (n, 8, 2), as returned by ``corners_px``.
    """
    quads = blocks_px[:, [SIDE_CORNERS[side] for side in Side]]
    ahead = quads[:, :, [1, 2, 3, 0]]
    # seen from outside, a face's corners are clockwise, in the picture too
    areas = (quads[..., 0] * ahead[..., 1] - ahead[..., 0] * quads[..., 1]).sum(axis=2) / 2
    edges = np.hypot(*(quads[:, :, [1, 2]] - quads[:, :, [0, 3]]).transpose(3, 0, 1, 2))
    widths = edges.mean(axis=2)
    heights = areas / np.maximum(widths, 1.0)
    faces = [(int(index), int(side)) for index, side in zip(*np.nonzero(heights >= SMALLEST_HEIGHT_PX), strict=True)]
    views: list[list[SideView]] = [[] for _ in blocks_px]
    if not faces:
        return views
    points = _quad_maps(np.array([quads[face] for face in faces]))
    seen = sample(image, points.reshape(-1, SIDE_PX, 2))
    light = linear_light(seen).reshape(len(faces), SIDE_PX, SIDE_PX, -1)
    rows, columns = image.shape[:2]
    x, y = points[..., 0], points[..., 1]
    inside = np.asarray((x >= 0) & (x < columns) & (y >= 0) & (y < rows))
    sides = tuple(Side)
    for number, (index, side) in enumerate(faces):
        size_px = float(heights[index, side]), float(widths[index, side])
        views[index].append(SideView(sides[side], light[number], points[number], *size_px, inside[number]))
    return views


def _quad_maps(quads_px: FloatArray) -> PixelMap:
    """Return the pixel maps, (n, 36, 36, 2), of squares seen as quads (n, 4, 2): upper left, upper right, lower
    right, lower left. Lens distortion within one face is ignored.
    """
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], dtype=np.float32)
    steps = (np.arange(SIDE_PX) + 0.5) / SIDE_PX
    points = np.dstack(np.meshgrid(steps, steps))
    matrices = [cv2.getPerspectiveTransform(square, quad) for quad in quads_px.astype(np.float32)]
    return np.array([cv2.perspectiveTransform(points, matrix) for matrix in matrices], dtype=np.float32)


@dataclass(frozen=True)
class SideFit:
    """Fit of a side face: each symbol's best correlation over small shifts (-1 to 1), the best one without extra blur,
    and the distance from the block's colour in log units; ``None`` when no colour is known.
    """

    fits: Mapping[str, float]
    sharp_fit: float
    colour_off: float | None


class SideReader:
    """Fits symbols to side faces; caches the masks for faces of about the same size."""

    def __init__(self, looks: BlockAppearance) -> None:
        self._looks = looks
        self._weights = view_weights(looks)
        self._colours = {name: index for index, name in enumerate(looks.colours)}
        upright = [
            (symbol, np.rot90(mask, quarter))
            for symbol, mask in looks.masks.items()
            for quarter in distinct_quarter_turns(mask)
        ]
        self._count = len(upright)
        # side by side they are resized in one call; the edges that blur into each other have no ink
        side_by_side = np.hstack([mask for _, mask in upright])
        self._rows_of = {
            symbol: [index for index, (name, _) in enumerate(upright) if name == symbol] for symbol in looks.masks
        }
        # a bound method would keep the reader alive until the garbage collector runs
        self._templates = functools.lru_cache(maxsize=128)(functools.partial(_templates, side_by_side, self._count))

    def fit(self, view: SideView, colour: str | None) -> SideFit | None:
        """Fit every symbol to the open pixels of a side face; ``None`` when too few are open."""
        inner = slice(RIM_PX, SIDE_PX - RIM_PX)
        if np.count_nonzero(view.open[inner, inner]) < SMALLEST_OPEN_SHARE * (SIDE_PX - 2 * RIM_PX) ** 2:
            return None
        templates = self._templates(_rounded_length(view.width_px), _rounded_length(view.height_px))
        weights = self._weights if colour is None else self._weights[self._colours[colour]][None]
        shown = np.asarray(cv2.transform(view.picture, weights), dtype=np.float32).reshape(SIDE_PX, SIDE_PX, -1)
        is_open = None if view.open.all() else _shifted_windows(view.open.astype(np.float32))
        shown -= shown.mean(axis=(0, 1))
        scores = functools.reduce(
            np.maximum,
            [_open_correlations(_shifted_windows(shown[..., at]), templates, is_open) for at in range(len(weights))],
        )
        shift, template = divmod(int(scores.argmax()), scores.shape[1])
        # all symbols in one picture are equally out of focus, so all are judged at the best blur
        first = template - template % self._count
        best = scores[:, first : first + self._count].max(axis=0).tolist()
        fits = {symbol: max(best[row] for row in rows) for symbol, rows in self._rows_of.items()}
        off = None
        if colour is not None:
            off = _colour_difference(view, shift, templates[template], self._looks.colours[colour])
        # with enough blur any symbol also resembles the bare board
        sharp_fit = float(scores[:, : self._count].max())
        return SideFit(fits, sharp_fit, off)


def _templates(side_by_side: FloatImage, count: int, width_px: int, height_px: int) -> FloatImage:
    """Return ``count`` masks, given side by side in one picture, at the camera's resolution and each of the blurs,
    sharpest first; rows of mean 0 and length 1, shape (blurs x masks, inner pixels).
    """
    inner = slice(RIM_PX, SIDE_PX - RIM_PX)
    small = cv2.resize(side_by_side, (count * width_px, height_px), interpolation=cv2.INTER_AREA)
    blurred = []
    for blur_px in BLURS_PX:
        seen = cv2.GaussianBlur(small, (0, 0), blur_px)
        seen = cv2.resize(seen, (count * SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR)
        faces = np.asarray(seen, dtype=np.float32).reshape(SIDE_PX, count, SIDE_PX).transpose(1, 0, 2)
        blurred.append(np.ascontiguousarray(faces[:, inner, inner]).reshape(count, -1))
    return unit_rows(np.concatenate(blurred))


def _rounded_length(length_px: float) -> int:
    """Return a length rounded to whole pixels such that lengths with nearly equal blur are equal."""
    step = round(math.log(max(length_px, SMALLEST_HEIGHT_PX)) / LENGTH_STEP)
    return round(math.exp(step * LENGTH_STEP))


def _shifted_windows(picture: FloatImage) -> FloatImage:
    """Return the inner part of a side face at every small shift, as rows; shape (shifts, inner pixels)."""
    windows = np.lib.stride_tricks.sliding_window_view(picture, (SIDE_PX - 2 * RIM_PX, SIDE_PX - 2 * RIM_PX))
    return np.ascontiguousarray(windows[::SHIFT_STEP_PX, ::SHIFT_STEP_PX]).reshape(-1, (SIDE_PX - 2 * RIM_PX) ** 2)


def _open_correlations(windows: FloatImage, templates: FloatImage, is_open: FloatImage | None) -> FloatImage:
    """Return the correlation of windows (n, pixels) with templates (t, pixels) over open pixels (``None``: all); (n,
    t).
    """
    if is_open is None:
        return correlations(windows, templates)
    count = np.maximum(is_open.sum(axis=1, keepdims=True), 1.0)
    seen = windows * is_open
    seen -= is_open * (seen.sum(axis=1, keepdims=True) / count)
    open_sums, open_squares = is_open @ templates.T, is_open @ (templates**2).T
    spread = np.maximum(open_squares - open_sums**2 / count, 1e-9)
    lengths = np.maximum(np.linalg.norm(seen, axis=1, keepdims=True), 1e-9)
    return np.asarray(seen @ templates.T / (lengths * np.sqrt(spread)), dtype=np.float32)


def _colour_difference(view: SideView, shift: int, template: FloatImage, ratio: FloatArray) -> float:
    """Return the root mean square difference, in log units, between a side's ratio of face to ink and the block's."""
    inner, across = SIDE_PX - 2 * RIM_PX, (2 * RIM_PX) // SHIFT_STEP_PX + 1
    top, left = (SHIFT_STEP_PX * at for at in divmod(shift, across))
    part = np.s_[top : top + inner, left : left + inner]
    is_open = view.open[part].ravel()
    amount = (template - template.min()) / max(float(template.max() - template.min()), 1e-9)
    pixels = view.picture[part].reshape(-1, 3)
    if not is_open.all():
        amount, pixels = amount[is_open], pixels[is_open]
    face, ink = face_and_ink(pixels, np.asarray(amount, dtype=np.float32))
    return float(np.sqrt(((log_ratio(face, ink) - ratio) ** 2).mean()))


def support(sides: Sequence[tuple[SideView, SideFit]]) -> float:
    """Return log-odds that there is a block below a top face, given its side faces; 0 without any.

    A picture of a block's side can look like another block's top, but a real top has side faces below it, with symbols
    and of the block's colour.
    """
    total = 0.0
    for view, fit in sides:
        # a side only a few pixels high carries little information, and can't have been mistaken for a top either
        clarity = min(max((view.height_px - VAGUE_HEIGHT_PX) / CLEAR_HEIGHT_PX, 0.0), 1.0) * view.open_share
        evidence = SUPPORT_SLOPE * (fit.sharp_fit - SUPPORT_MIDDLE)
        if fit.colour_off is not None:
            evidence += min(max(COLOUR_SLOPE * (COLOUR_MIDDLE - fit.colour_off), -8.0), 3.0)
        total += clarity * evidence
    return min(max(total, -SUPPORT_LIMIT), SUPPORT_LIMIT / 2)


def side_probabilities(view: SideView, fits: Mapping[str, float], symbols: Sequence[str]) -> dict[str, float] | None:
    """Return probabilities of the symbols that can be on a side face; ``None`` when it is too flat or hidden to be
    read.

    The temperature is set so that they are not overconfident on the ray-traced pictures or the virtual table's
    difficult ones; it is higher for a flat face.
    """
    possible = {symbol: fits[symbol] for symbol in symbols if symbol in fits}
    if not possible or view.height_px < SMALLEST_SYMBOL_HEIGHT_PX or view.open_share < READABLE_OPEN_SHARE:
        return None
    if max(possible.values()) < SMALLEST_SYMBOL_FIT:
        return None
    return softmax(possible, SYMBOL_TEMPERATURE * (1 + FLAT_HEIGHT_PX / view.height_px), ODD_ONE_OUT)


def neighbours_in_net(net: Mapping[str, str], top: str) -> tuple[str, ...]:
    """Return the symbols that can be on the sides when ``top`` is up: all but it and its opposite, unless the net has
    it twice; all of them if the net lacks it.
    """
    opposite = {"up": "down", "down": "up", "north": "south", "south": "north", "east": "west", "west": "east"}
    ups = [face for face, symbol in net.items() if symbol == top]
    sides = [face for up in ups for face in net if face not in {up, opposite[up]}]
    return tuple(dict.fromkeys(net[face] for face in sides or net))


MARGIN_MM = 38.0
"""Margin around the surface in the plane of the tops, for blocks near its edge. Smaller: beyond it the border repeats.
"""
STAR = "star"


@dataclass(frozen=True)
class BlockSettings:
    """Thresholds and weights for accepting a sighting as a block, and for its look.

    Odds are log-odds that a block is there. All were set by hand on the virtual table's stress pictures and the
    ray-traced pictures. ``benchmarks/stress.py`` shows the effect of a change.
    """

    rough_fit: float = 0.6
    """Correlation (-1 to 1) of a coarse detection above which it is fitted closely. Higher: faster, but dim blocks are
    missed.
    """
    close_fit: float = 0.6
    """Minimum correlation of the fine fit. Higher: fewer sightings of other objects, but dim blocks are missed."""
    colour_spread: float = 0.2
    """Standard deviation of a known colour, in log units. Larger: colours are distinguished less reliably, but other
    lamps are tolerated.
    """
    far_from_any_colour: float = 4.5
    """Distance from every known colour, in standard deviations, above which a coarse detection is dropped, unless it is
    clearly a face. Larger: slower, tolerates other lamps.
    """
    clearly_a_face: float = 0.8
    """Correlation above which a coarse detection of any colour is kept. Lower: slower, blocks in odd light are kept."""
    fit_slope: float = 26.0
    """Odds gained for each unit of correlation above ``fit_middle``, and lost below it. Higher: the symbol's fit counts
    more.
    """
    fit_middle: float = 0.7
    """Correlation at which the odds are even. Higher: dim blocks are missed sooner, other objects too."""
    colour_easy: float = 1.5
    """Distance from the nearest colour, in standard deviations, without cost. Larger: tolerates other lamps."""
    colour_cost: float = 0.8
    """Odds lost for each squared standard deviation beyond that. Higher: refuses objects of other colours sooner."""
    colour_cost_limit: float = 8.0
    """Maximum cost of an unusual colour, in odds. Lower: a good fit outweighs any colour."""
    offset_easy_mm: float = 7.0
    """Offset of a block from its place's centre, in mm, without cost. Larger: tolerates careless placement."""
    offset_cost_per_mm: float = 0.8
    """Odds lost for each mm beyond that. Higher: blocks between two places are refused sooner."""
    sure_support: float = 2.0
    """Odds from the side faces below which the two following costs apply fully. Higher: more objects must show sides.
    """
    well_supported: float = 6.0
    """Odds from which neither applies. Higher: the sides must be clearer to prove a block."""
    printed_star_cost: float = 7.0
    """Maximum cost, in odds, of looking like a printed star. Higher: fewer printed stars are read as blocks, more
    blocks with the star up are missed there.
    """
    sure_edges: float = 2.2
    """Strength of the square's edges (1: none) above which it is a block's star. Higher: fewer stars count as blocks.
    """
    no_edges: float = 1.6
    """Strength below which the star certainly has no edges. Higher: more stars count as printed."""
    own_colour: float = 0.7
    """Distance from a block's colour, in standard deviations, below which it is that colour. Larger: boards of a
    similar colour pass for blocks.
    """
    another_colour: float = 1.5
    """Distance above which it is another colour. Larger: the colour costs less."""
    flat_thing_cost: float = 12.0
    """Maximum cost, in odds, of an object lying flat on the bare board, such as a coin. Higher: fewer coins pass for
    blocks, dim blocks are missed.
    """
    faint_edges: float = 1.7
    """Strength of edges above which an object is not flat. Higher: more objects count as flat."""
    faintest_edges: float = 1.4
    """Strength of edges below which an object is certainly flat. Higher: more objects count as flat."""
    odd_colour: float = 1.7
    """Distance from the nearest colour, in standard deviations, below which it may be a block's. Larger: coins of a
    similar colour pass for blocks.
    """
    oddest_colour: float = 2.2
    """Distance above which the colour is not a block's. Larger: the colour costs less."""
    least_log_odds: float = -6.0
    """Odds below which a sighting is dropped. Lower: slower, more doubtful sightings are kept."""
    overlap_share: float = 0.72
    """Distance between the centres of two blocks, in sides, below which only the more probable one is kept. Larger:
    fewer blocks are read twice, blocks that touch are lost.
    """
    clear_fit: float = 0.88
    """Correlation above which a block counts as clearly seen, whatever covers its surroundings. Higher: more blocks
    beside a hand count as hidden.
    """
    symbol_temperature: float = 0.016
    """Temperature of the softmax over symbols, in units of correlation. Higher: less certain."""
    odd_one_out: float = 0.002
    """Share of faces that are misread whatever the fit. Higher: less certain."""


_SETTINGS = BlockSettings()


@dataclass(frozen=True, eq=False)
class BlockSighting:
    """A block detected on a place: its face, its solid, the distance from each colour, log-odds that it is there, and
    the probabilities of the symbols on each visible side.
    """

    face: FaceFit
    solid: CubeSolid
    colour_distance: Mapping[str, float]
    log_odds: float
    sides: Mapping[str, Mapping[str, float]]

    heights: ClassVar[Mapping[int, float]] = NOTHING
    tops_mm: ClassVar[Mapping[int, tuple[float, float]]] = NOTHING
    picture: ClassVar[None] = None

    @property
    def colour(self) -> str | None:
        """The nearest colour, or ``None`` when no colour is known."""
        return _nearest(self.colour_distance)

    @property
    def is_clear(self) -> bool:
        """Whether it is certainly there and its face is clearly seen."""
        return self.log_odds > 0 and self.face.correlation > _SETTINGS.clear_fit

    def look_probabilities(self) -> dict[str, float]:
        """Return the probability of each combination of colour and symbol, from their fits."""
        if not self.colour_distance:
            return {}
        symbols = softmax(self.face.scores, _SETTINGS.symbol_temperature, _SETTINGS.odd_one_out)
        squares = {name: -0.5 * distance**2 for name, distance in self.colour_distance.items()}
        colours = softmax(squares, 1.0, _SETTINGS.odd_one_out)
        return {
            look_name(colour, symbol): colours[colour] * symbols[symbol] for colour in colours for symbol in symbols
        }


class BlockReader:
    """Reads the blocks of one set on one surface; caches what depends only on the set and the pose."""

    def __init__(self, surface: Surface, appearance: BlockAppearance) -> None:
        self._surface = surface
        self._pieces = BlockPieces.on(surface)
        self._appearance = appearance
        self._rough = RoughFinder(appearance, self._pieces.side_mm)
        self._close = CloseFitter(appearance, self._pieces.side_mm)
        self._sides = SideReader(appearance)
        self._metric = ColourMetric(appearance.colours, _SETTINGS.colour_spread)
        # a bound method would keep the reader alive until the garbage collector runs
        self._grid = functools.lru_cache(maxsize=1)(
            functools.partial(PlaneGrid.of, bounds=surface.bounds_mm.grown(MARGIN_MM), height_mm=top_mm(surface))
        )

    @property
    def looks(self) -> tuple[str, ...]:
        """Every colour with every symbol up."""
        return self._appearance.looks

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, BlockSighting]) -> Image:
        """Return a copy of the picture with every block's outline, top symbol and readable sides."""
        return draw_blocks(picture, sightings, view.camera, view.pose)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, BlockSighting]
    ) -> dict[str, BlockSighting]:
        """Detect the blocks, by place, with log-odds above those of a chance match; see ``PieceReader.read``."""
        image, camera, pose = view.image, view.camera, view.pose
        order = self._places_near_to_far(pose)
        looked_at = [place for place in order if place in places]
        fits = self._fits(image, camera, pose, looked_at)
        base_mm, side_mm = self._surface.height_mm, self._pieces.side_mm
        solids = {place: CubeSolid(fit.x_mm, fit.y_mm, base_mm, side_mm, fit.turned_deg) for place, fit in fits.items()}
        kept = {place: block for place, block in previous.items() if place not in places}
        corners = corners_px([*solids.values(), *(block.solid for block in kept.values())], camera, pose)
        outlines = dict(zip([*solids, *kept], map(hull_px, np.clip(corners, -1e4, 1e4)), strict=True))
        side_faces = dict(zip(solids, side_views(image, corners[: len(solids)]), strict=True))
        found: dict[str, BlockSighting] = {}
        nearer = np.zeros(image.shape[:2], dtype=np.uint8)
        for place in order:
            block: BlockSighting | None
            if place in fits:
                seen = [face.without_hidden(nearer) for face in side_faces[place]] if found else side_faces[place]
                block = self._make_sighting(place, fits[place], solids[place], seen)
            else:
                block = kept.get(place)
            if block is None or block.log_odds < _SETTINGS.least_log_odds:
                continue
            rival = next((at for at, other in found.items() if self._overlap(other.solid, block.solid)), None)
            if rival is not None:
                if found[rival].log_odds >= block.log_odds:
                    continue
                del found[rival]
            found[place] = block
            if block.log_odds > 0:
                cv2.fillConvexPoly(nearer, np.round(outlines[place]).astype(np.int32), 1)
        return found

    def _fits(self, image: Image, camera: CameraModel, pose: Pose, places: Sequence[str]) -> dict[str, FaceFit]:
        """Return the fine fits of the faces with a known colour near some places."""
        if not places:
            return {}
        grid = self._grid(camera, pose)
        sights, colours = [], []
        for sight in self._rough.find(image, grid, self._surface, places, _SETTINGS.rough_fit):
            distances = self._metric.distances(sight.face, sight.ink)
            colour = _nearest(distances)
            if (
                colour is None
                or sight.fit > _SETTINGS.clearly_a_face
                or distances[colour] < _SETTINGS.far_from_any_colour
            ):
                sights.append(sight)
                colours.append(colour)
        fits = self._close.fit(image, grid, sights, colours)
        return {
            sight.place: fit
            for sight, fit in zip(sights, fits, strict=True)
            if fit is not None and fit.correlation > _SETTINGS.close_fit
        }

    def _places_near_to_far(self, pose: Pose) -> list[str]:
        x, y, _ = pose.camera_position_mm
        places = self._surface.places
        away = [math.hypot(column - x, row - y) for column, row in map(self._surface.centre_mm, places)]
        return [place for _, place in sorted(zip(away, places, strict=True))]

    def _overlap(self, first: CubeSolid, second: CubeSolid) -> bool:
        apart = math.hypot(first.x_mm - second.x_mm, first.y_mm - second.y_mm)
        return apart < _SETTINGS.overlap_share * self._pieces.side_mm

    def _make_sighting(self, place: str, fit: FaceFit, solid: CubeSolid, seen: Sequence[SideView]) -> BlockSighting:
        distances = self._metric.distances(fit.face, fit.ink)
        log_odds = _SETTINGS.fit_slope * (fit.correlation - _SETTINGS.fit_middle)
        colour = _nearest(distances)
        if colour is not None:
            beyond = max(0.0, distances[colour] - _SETTINGS.colour_easy)
            log_odds -= min(_SETTINGS.colour_cost_limit, _SETTINGS.colour_cost * beyond**2)
        x, y = self._surface.centre_mm(place)
        off = math.hypot(fit.x_mm - x, fit.y_mm - y)
        log_odds -= _SETTINGS.offset_cost_per_mm * max(0.0, off - _SETTINGS.offset_easy_mm)
        views = [(view, side_fit) for view in seen if (side_fit := self._sides.fit(view, colour)) is not None]
        below = support(views)
        log_odds += below
        unsupported = _ramp(below, _SETTINGS.well_supported, _SETTINGS.sure_support)
        if place in self._surface.printed and fit.symbol == STAR and fit.edges < _SETTINGS.sure_edges:
            log_odds -= unsupported * _printed_star_cost(fit.edges, None if colour is None else distances[colour])
        if colour is not None:
            log_odds -= unsupported * _flat_thing_cost(fit.edges, distances[colour])
        possible = neighbours_in_net(self._pieces.net, fit.symbol)
        sides: dict[str, Mapping[str, float]] = {
            view.side: probabilities
            for view, side_fit in views
            if (probabilities := side_probabilities(view, side_fit.fits, possible)) is not None
        }
        return BlockSighting(fit, solid, distances, log_odds, sides)


def _nearest(distances: Mapping[str, float]) -> str | None:
    return min(distances, key=lambda name: distances[name], default=None)


def _printed_star_cost(edges: float, colour_distance: float | None) -> float:
    """Return the cost, in log-odds, of looking like the star printed on the board.

    A printed star has no edges around it, and the board seldom has a block's colour.
    """
    faint = _ramp(edges, _SETTINGS.sure_edges, _SETTINGS.no_edges)
    odd = 1.0 if colour_distance is None else _ramp(colour_distance, _SETTINGS.own_colour, _SETTINGS.another_colour)
    return _SETTINGS.printed_star_cost * max(faint, odd)


def _flat_thing_cost(edges: float, colour_distance: float) -> float:
    """Return the cost, in log-odds, of looking like a flat object on the bare board.

    A light coin looks like the stop symbol on a pale block, but has no square edges around it, and the board's colour
    differs from the block's.
    """
    faint = _ramp(edges, _SETTINGS.faint_edges, _SETTINGS.faintest_edges)
    odd = _ramp(colour_distance, _SETTINGS.odd_colour, _SETTINGS.oddest_colour)
    return _SETTINGS.flat_thing_cost * faint * odd


def _ramp(value: float, zero_at: float, one_at: float) -> float:
    """Return where a value lies between two others, from 0 to 1; ``zero_at`` may be above ``one_at``."""
    return min(max((value - zero_at) / (one_at - zero_at), 0.0), 1.0)


_SURE, _UNSURE, _SIDE = (80, 220, 80), (60, 60, 255), (255, 200, 60)
"""Colours of outlines and names: blue, green, red."""


def draw_blocks(image: Image, blocks: Mapping[str, BlockSighting], camera: CameraModel, pose: Pose) -> Image:
    """Return a copy of the picture with every block's outline, top symbol and readable sides written on it.

    Blocks are drawn green, or red with their log-odds if these are 0 or less.
    """
    picture = as_colour(image).copy()
    for place, block in blocks.items():
        colour = _SURE if block.log_odds > 0 else _UNSURE
        corners = np.round(project(camera, pose, block.solid.corners_mm())).astype(np.int32)
        below, above = corners[:4], corners[4:]
        cv2.polylines(picture, [above.reshape(-1, 1, 2), below.reshape(-1, 1, 2)], True, colour, 1, cv2.LINE_AA)
        for low, high in zip(below, above, strict=True):
            cv2.line(picture, tuple(map(int, low)), tuple(map(int, high)), colour, 1, cv2.LINE_AA)
        doubt = "" if block.log_odds > 0 else f" {block.log_odds:.0f}"
        write_text(
            picture,
            f"{place} {block.colour or '?'} {block.face.symbol}{doubt}",
            above.min(axis=0).astype(np.float64),
            colour,
        )
        for side in Side:
            probabilities = block.sides.get(side)
            if probabilities:
                symbol = max(probabilities, key=lambda name: probabilities[name])
                middle = project(camera, pose, block.solid.side_corners_mm(side).mean(axis=0))[0]
                write_text(picture, f"{side[0]}:{symbol}", middle, _SIDE)
    return picture
