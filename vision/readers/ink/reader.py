"""The reader of one sheet: cells filled with pens, or digits, crosses and loops.

Of cells filled, hatched or ticked with a few pens, amount and pen of the ink are read. The ratios between the densities
of the channels identify the pen, whatever the amount of ink. Grey is not a pen: a shadow takes the same share from all
channels.

Which cells loops enclose follows from the network's output for each cell and its sides. A loop's line runs between
enclosed cells and others, and between cells of two loops. The probabilities follow from all cells together, by belief
propagation on the grid (Pearl, Probabilistic Reasoning in Intelligent Systems, 1988, ch. 4).
"""

import functools
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import cv2
import numpy as np

from common.places import EMPTY
from vision.drawing import whole_pixels, write_text
from vision.errors import LayoutError
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import Side, project
from vision.layout.pieces import GridSurface, Ink, Surface
from vision.opencv import as_colour
from vision.readers.ink.appearance import CROSS_LOOK, InkAppearance, circled_look, digit_look, looks_of
from vision.readers.ink.network import (
    BLOT,
    CELL_PX,
    CROSS,
    DIGITS,
    EMPTY_SIGN,
    MARGIN_CELLS,
    OUTPUTS,
    SIGNS,
    InkNetwork,
    cell_of,
    cell_pictures,
    flat_map,
    flat_picture,
    ink_on,
    range_around,
    shipped,
)
from vision.readers.probabilities import probabilities
from vision.readers.protocols import SurfaceView
from vision.reading import PlacePicture, PlaceReading
from vision.sampling import PixelMap, linear_light
from vision.surface.paper import (
    densities_on,
    find_shade,
    fit_bare_paper,
    hues,
    nearest_turn,
    paper_in_shade,
    usual_hues,
)

LOOP, NO_LOOP = "loop", "open"
"""The possible contents of a cell's side."""
_OUTSIDE = -50.0
"""Log-odds that a loop encloses what is beyond the grid."""
_MOST_LINE = 30.0
"""Maximum log-odds of a line by itself, so that its exponential is a number."""


@dataclass(frozen=True)
class LoopSettings:
    """How much the network's outputs count, and how often lines lie where. ``benchmarks/training/loops.py`` fits all
    but ``gap`` and ``rounds``.
    """

    cell: float = 0.41
    """Log-odds that a cell is enclosed, per unit of the network's log-odds."""
    enclosed: float = 0.88
    """Log-odds added to those of each cell: the network sees fewer enclosed cells than there are."""
    line: float = 0.44
    """Log-odds of a line, per unit of the network's log-odds."""
    stray: float = 0.52
    """Share of the sides between cells outside of loops where a line seems to lie."""
    gap: float = 0.008
    """Share of the sides between an enclosed cell and one outside where no line seems to lie. Set by hand: drawn loops
    hardly have gaps. Higher: gaps cost less, and lines count for less.
    """
    touching: float = 0.24
    """Share of the sides between enclosed cells where a line seems to lie, mostly that of another loop."""
    rounds: int = 10
    """Rounds of message passing between neighbours; more of them find the same cells."""


def lines_between(lines: FloatArray) -> FloatArray:
    """Return log-odds of a line along each cell's sides (..., rows, columns, 4), in the order of Side, combining both
    cells' views.
    """
    both = lines.copy()
    across = (lines[..., :, :-1, 1] + lines[..., :, 1:, 3]) / 2
    down = (lines[..., :-1, :, 2] + lines[..., 1:, :, 0]) / 2
    both[..., :, :-1, 1] = both[..., :, 1:, 3] = across
    both[..., :-1, :, 2] = both[..., 1:, :, 0] = down
    return both


def decode_loops(
    looped: FloatArray, lines: FloatArray, settings: LoopSettings = LoopSettings()
) -> tuple[FloatArray, FloatArray]:
    """Return log-odds that a loop encloses each cell (..., rows, columns), and that its line runs along each side
    (..., rows, columns, 4), given all cells.

    ``looped`` and ``lines`` are the network's log-odds, of each cell by itself and from ``lines_between``.
    """
    shown = settings.line * np.clip(lines, -_MOST_LINE, _MOST_LINE)
    # the log-likelihood of what is seen along a side, by whether the cells on both sides are enclosed
    neither, one, both = (
        np.logaddexp(np.log1p(-share), np.log(share) + shown)
        for share in (settings.stray, 1 - settings.gap, settings.touching)
    )
    own = settings.cell * looped + settings.enclosed
    # from the neighbour on each side of each cell
    messages = np.zeros_like(lines)
    for _ in range(settings.rounds):
        other = _of_neighbours(_without_each(own, messages))
        sent = np.logaddexp(other + both, one) - np.logaddexp(other + one, neither)
        messages = (messages + sent) / 2
    mine = _without_each(own, messages)
    return own + messages.sum(axis=-1), shown + _line_prior(mine, _of_neighbours(mine), settings)


def _without_each(own: FloatArray, messages: FloatArray) -> FloatArray:
    """Return each cell's log-odds without the message from each side, (..., rows, columns, 4)."""
    return np.asarray((own + messages.sum(axis=-1))[..., None] - messages)


def _of_neighbours(odds: FloatArray) -> FloatArray:
    """Return for each side of each cell the value of the neighbour there for that side, (..., rows, columns, 4)."""
    found = np.full_like(odds, _OUTSIDE)
    north, east, south, west = range(4)
    found[..., 1:, :, north] = odds[..., :-1, :, south]
    found[..., :, :-1, east] = odds[..., :, 1:, west]
    found[..., :-1, :, south] = odds[..., 1:, :, north]
    found[..., :, 1:, west] = odds[..., :, :-1, east]
    return found


def _line_prior(mine: FloatArray, other: FloatArray, settings: LoopSettings) -> FloatArray:
    """Return log-odds of a line, given those of the cells on both sides of being enclosed, before it is looked at."""
    one, both = np.logaddexp(mine, other), mine + other
    there, missing = (
        np.logaddexp(np.logaddexp(np.log(neither), np.log(either) + one), np.log(in_both) + both)
        for neither, either, in_both in (
            (settings.stray, 1 - settings.gap, settings.touching),
            (1 - settings.stray, settings.gap, 1 - settings.touching),
        )
    )
    return np.asarray(there - missing)


@dataclass(frozen=True)
class PenSettings:
    """When a cell counts as filled, and with which pen. Odds are log-odds. All set by hand on ray-traced pictures."""

    blur_px: float = 1.2
    """Standard deviation, in pixels of the flat picture, of the smoothing before logarithms are taken."""
    window: float = 0.2
    """Standard deviation, in cells, of the weights around a cell's centre. Larger: ink from a neighbour that crosses
    the line counts more.
    """
    dark_floor: float = 0.02
    """Light, relative to paper, added before logarithms are taken: less is noise."""
    filled: float = 0.1
    """Density at which filled and empty are equally likely: above a neighbour's blur, below a thin tick."""
    slope: float = 5.0
    """Odds gained per factor of e above that."""
    most: float = 12.0
    """Maximum odds for or against."""
    bare_log_odds: float = -9.0
    """Odds of a cell without any ink."""
    hue_spread_deg: float = 11.0
    """Standard deviation of hue between cells of one pen."""
    usual_spread_deg: float = 16.0
    """Standard deviation of a pen's hue from its name's typical hue."""
    freedom: float = 4.0
    """Degrees of freedom of Student's t, after which those hues vary. Higher: a hue far off is less likely."""
    rounds: int = 8
    """Number of iterations of fitting cells and pens to each other."""
    odd_one_out: float = 0.002
    """Share of cells that are misread whatever their hue."""


_SETTINGS = PenSettings()


def densities(flat: Image, rows: int, columns: int) -> FloatArray:
    """Return the mean density in each cell of a flat picture, of ink and shadow, (rows, columns, 3), blue-green-red."""
    smooth = np.asarray(cv2.GaussianBlur(linear_light(flat), (0, 0), _SETTINGS.blur_px), dtype=np.float32)
    paper = fit_bare_paper(smooth)
    shade = find_shade(smooth, paper)
    if shade is not None:
        paper = paper_in_shade(smooth, paper, shade)
    return _means(densities_on(smooth, paper, _SETTINGS.dark_floor), rows, columns)


def _means(values: FloatImage, rows: int, columns: int) -> FloatArray:
    """Return the weighted mean in each cell of values at each pixel (height, width, n), (rows, columns, n)."""
    margin = round(MARGIN_CELLS * CELL_PX)
    inner = values[margin : margin + rows * CELL_PX, margin : margin + columns * CELL_PX]
    at = (np.arange(CELL_PX) + 0.5) / CELL_PX - 0.5
    along = np.exp(-0.5 * (at / _SETTINGS.window) ** 2)
    along /= along.sum()
    # first down, then across: products of matrices take a fraction of the time of one sum over both
    down = along @ inner.reshape(rows, CELL_PX, -1).astype(np.float64)
    return np.asarray(along @ down.reshape(rows, columns, CELL_PX, -1), dtype=np.float64)


@dataclass(frozen=True, eq=False)
class PenReading:
    """Log-odds that each cell is filled (rows, columns), and the probability of each pen if it is (rows, columns,
    pens).
    """

    filled: FloatArray
    pens: FloatArray


def read_pens(flat: Image, rows: int, columns: int, usual_deg: FloatArray) -> PenReading:
    """Read the cells of a flat picture; the pens' hues are fitted to this picture."""
    hue, strength = hues(densities(flat, rows, columns))
    filled = _SETTINGS.slope * np.log(np.maximum(strength, 1e-3) / _SETTINGS.filled)
    filled = np.clip(filled, _SETTINGS.bare_log_odds, _SETTINGS.most)
    there = 1 / (1 + np.exp(-filled.ravel()))
    hue = hue.ravel()
    off = nearest_turn(hue[:, None] - usual_deg)
    weight = (_SETTINGS.hue_spread_deg / _SETTINGS.usual_spread_deg) ** 2
    fitted = usual_deg
    for _ in range(_SETTINGS.rounds):
        nearest = np.abs(nearest_turn(hue[:, None] - fitted)).argmin(axis=1)
        shares = np.eye(len(fitted))[nearest] * there[:, None]
        fitted = usual_deg + (shares * off).sum(axis=0) / (shares.sum(axis=0) + weight)
    pens = _pen_shares(hue, fitted).reshape(rows, columns, len(usual_deg))
    return PenReading(filled, pens)


def _pen_shares(hue: FloatArray, pens: FloatArray) -> FloatArray:
    """Return the probability of each pen for each hue, (n, pens)."""
    off = nearest_turn(hue[:, None] - pens) / _SETTINGS.hue_spread_deg
    scores = -np.log1p(off**2 / _SETTINGS.freedom) * (_SETTINGS.freedom + 1) / 2
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    spare = _SETTINGS.odd_one_out
    return np.asarray((1 - spare) * weights + spare / len(pens))


CLEAR_LOG_ODDS = 6.0
"""Log-odds of ink above which something is certainly written. Higher: more written cells beside a hand count as hidden.
Set by hand.
"""
_LEAST_SHARE = 1e-4
"""Minimum share of each sign in what is written, before it is split by loops. Higher: every reading is less certain."""
_STARS_RARER = 2.4
"""How much rarer 0, 8 and 9 are than other digits, in log units: only stars, 3 of Number Drop's 24 faces with digits,
are written so.
"""
_SAME_LOG_ODDS = 1e-3
"""Change of a loop's log-odds around a cell below which its sighting is kept."""
_LOOKS = looks_of(())
_EMPTY_AND_LOOKS = (EMPTY, *_LOOKS)
_SIDES = tuple(str(side) for side in Side)
_SHOWN = [SIGNS.index(sign) for sign in SIGNS if sign not in {EMPTY_SIGN, BLOT}]
"""The signs that have looks."""
_NAMED = {CROSS_LOOK: CROSS, **{name(digit): digit for name in (digit_look, circled_look) for digit in DIGITS}}
_SIGN_OF_LOOK = [_SHOWN.index(SIGNS.index(_NAMED[look])) for look in _LOOKS]
"""For each look, which of ``_SHOWN`` it is."""
_IS_CIRCLED = np.array([look in {circled_look(digit) for digit in DIGITS} for look in _LOOKS])
_IS_CROSS = np.array([look == CROSS_LOOK for look in _LOOKS])
_RARER = {look: _STARS_RARER for digit in "089" for look in (digit_look(digit), circled_look(digit))}
_HOW_OFTEN = np.exp([-_RARER.get(look, 0.0) for look in _LOOKS])


@dataclass(frozen=True, eq=False)
class InkSighting:
    """The contents of a cell: log-odds that there are any, and what a Reading says of it. ``scores`` are the network's
    outputs for the cell by itself, if it was run, and ``loop_log_odds`` those of a loop around it and of a line along
    each side, (5,).
    """

    log_odds: float
    reading: PlaceReading
    scores: FloatArray | None = None
    loop_log_odds: FloatArray | None = None

    solid: ClassVar[None] = None
    """Ink is flat."""

    @property
    def is_certain(self) -> bool:
        """Whether something is certainly written."""
        return self.log_odds > CLEAR_LOG_ODDS

    @property
    def is_clear(self) -> bool:
        """Whether a sign is certainly written: colour in a filled cell may be that of an object beside it."""
        return self.is_certain and self.scores is not None

    def has_same_loop(self, loop_log_odds: FloatArray) -> bool:
        """Return whether these log-odds of a loop and its lines, (5,), are those of the sighting."""
        known = self.loop_log_odds
        return known is not None and bool(np.abs(known - loop_log_odds).max() < _SAME_LOG_ODDS)


class InkReader:
    """Reads one sheet; its layout decides between pens and handwriting."""

    def __init__(self, surface: Surface, appearance: InkAppearance) -> None:
        if not isinstance(surface, GridSurface):
            raise LayoutError(f"the {surface.name} has no cells to be written in")
        self._surface = surface
        self._pens = Ink.on(surface).colours
        self._usual_deg = usual_hues(self._pens)
        self._cells = {place: cell_of(place, surface) for place in surface.places}
        taught = appearance.handwriting
        self._network = shipped() if taught is None else InkNetwork(taught=taught)
        # a bound method would keep the reader alive until the garbage collector runs
        self._map = functools.lru_cache(maxsize=1)(lambda camera, pose, shape: flat_map(camera, pose, surface, shape))

    @property
    def looks(self) -> tuple[str, ...]:
        """The pens' colours, or digits, a cross, and digits inside a loop."""
        return looks_of(self._pens)

    def draw(self, picture: Image, view: SurfaceView, sightings: Mapping[str, InkSighting]) -> Image:
        """Return a copy of the picture with the reading beside each written cell."""
        return draw_ink(picture, view, self._surface, sightings)

    def read(
        self, view: SurfaceView, places: Collection[str], previous: Mapping[str, InkSighting]
    ) -> dict[str, InkSighting]:
        """Read every cell. Of a handwritten sheet only ``places`` and their neighbours are read again."""
        pixel_map = self._map(view.camera, view.pose, view.shape)
        if self._pens:
            return self._read_pens(view.image, pixel_map)
        return self._read_digits(view.image, pixel_map, places, previous)

    def _read_pens(self, image: Image, pixel_map: PixelMap) -> dict[str, InkSighting]:
        surface = self._surface
        flat = flat_picture(image, pixel_map, surface)
        seen = read_pens(flat, surface.rows, surface.columns, self._usual_deg)
        looks = (EMPTY, *self._pens)
        likely = probabilities(seen.filled.ravel(), seen.pens.reshape(-1, len(self._pens)))
        likely = likely.reshape(*seen.filled.shape, -1)
        return {
            place: InkSighting(
                float(seen.filled[cell]), PlaceReading(dict(zip(looks, likely[cell].tolist(), strict=True)))
            )
            for place, cell in self._cells.items()
        }

    def _read_digits(
        self, image: Image, pixel_map: PixelMap, places: Collection[str], previous: Mapping[str, InkSighting]
    ) -> dict[str, InkSighting]:
        surface = self._surface
        wanted = self._with_neighbours(places)
        known = {place: one.scores for place, one in previous.items() if one.scores is not None and place not in wanted}
        order = [place for place in surface.places if place not in known]
        scores = np.zeros((surface.rows, surface.columns, OUTPUTS))
        pictures = {place: previous[place].reading.picture for place in known}
        for place, score in known.items():
            scores[self._cells[place]] = score
        if order:
            cells = np.array([self._cells[place] for place in order], dtype=np.int64)
            part = range_around(cells, surface)
            ink = ink_on(flat_picture(image, pixel_map, surface, part))
            inside = cells - (part.row, part.column)
            scores[tuple(cells.T)] = self._network.read(ink, inside)
            pictures |= zip(order, cell_pictures(ink, inside), strict=True)
        looped, lines = decode_loops(scores[..., len(SIGNS)], lines_between(scores[..., len(SIGNS) + 1 :]))
        loops = np.concatenate([looped[..., None], lines], axis=-1)
        kept = {place: previous[place] for place in known if previous[place].has_same_loop(loops[self._cells[place]])}
        fresh = [place for place in surface.places if place not in kept]
        at = tuple(np.array([self._cells[place] for place in fresh], dtype=np.int64).reshape(-1, 2).T)
        seen = _sightings(scores[at], loops[at], [pictures[place] for place in fresh])
        found = kept | dict(zip(fresh, seen, strict=True))
        return {place: found[place] for place in surface.places}

    def _with_neighbours(self, places: Collection[str]) -> set[str]:
        """Return the places and their eight neighbours, whose crops show part of them."""
        if len(places) == len(self._surface.places):
            return set(places)
        steps = [(across, up) for across in (-1, 0, 1) for up in (-1, 0, 1)]
        found = {self._surface.neighbour(place, *step) for place in places for step in steps}
        return {place for place in found if place is not None}


def _sightings(scores: FloatArray, loops: FloatArray, pictures: Sequence[PlacePicture | None]) -> list[InkSighting]:
    """Make sightings from the cells' log-probabilities of SIGNS (n, ...), the log-odds of a loop and of its lines
    around them (n, 5), and pictures of their ink.
    """
    signs = np.exp(scores[:, : len(SIGNS)])
    empty, blot = signs[:, SIGNS.index(EMPTY_SIGN)], signs[:, SIGNS.index(BLOT)]
    shown = signs[:, _SHOWN]
    written = shown.sum(axis=1) + blot
    # a blot has no known look
    given = (shown + blot[:, None] / len(_SHOWN)) / np.maximum(written, 1e-12)[:, None]
    given = np.maximum(given, _LEAST_SHARE)
    likely = 1 / (1 + np.exp(-np.clip(loops, -30, 30)))
    circled = likely[:, :1]
    shares = given[:, _SIGN_OF_LOOK] * np.where(_IS_CIRCLED, circled, np.where(_IS_CROSS, 1.0, 1 - circled))
    shares *= _HOW_OFTEN
    shares /= shares.sum(axis=1, keepdims=True)
    log_odds = np.log(np.maximum(written, 1e-9)) - np.log(np.maximum(empty, 1e-9))
    found = []
    for odds, own, (_, *lines), score, loop, picture in zip(
        log_odds.tolist(),
        probabilities(log_odds, shares).tolist(),
        likely.tolist(),
        scores,
        loops,
        pictures,
        strict=True,
    ):
        looks = dict(zip(_EMPTY_AND_LOOKS, own, strict=True))
        if odds > 0:
            sides = {side: {LOOP: line, NO_LOOP: 1 - line} for side, line in zip(_SIDES, lines, strict=True)}
            reading = PlaceReading(looks, sides, picture=picture, rarer=_RARER)
        else:
            reading = PlaceReading(looks, rarer=_RARER)
        found.append(InkSighting(odds, reading, score, loop))
    return found


_SURE, _UNSURE = (60, 140, 20), (60, 60, 255)
"""Colours of certain and of other readings, blue-green-red."""
_LEAST_SURE = 0.9
"""Probability above which a reading is drawn as certain."""


def draw_ink(image: Image, view: SurfaceView, surface: Surface, sightings: Mapping[str, InkSighting]) -> Image:
    """Return a copy of the picture with the outline of each written cell and what is read there.

    Certain readings are green, others red.
    """
    picture = as_colour(image).copy()
    for place, one in sightings.items():
        if one.log_odds <= 0:
            continue
        likely = {look: share for look, share in one.reading.probabilities.items() if look != EMPTY}
        look = max(likely, key=lambda name: likely[name])
        colour = _SURE if likely[look] > _LEAST_SURE and one.is_certain else _UNSURE
        outline = surface.outline_mm(place)
        points = np.column_stack([outline, np.full(len(outline), surface.height_mm)])
        pixels = project(view.camera, view.pose, points)
        cv2.polylines(picture, [whole_pixels(pixels)], True, colour, 1, cv2.LINE_AA)
        said = look.removeprefix("digit ").replace(" circled", "o")
        write_text(picture, said, pixels.min(axis=0).astype(float), colour)
    return picture
