"""Learning a set's appearance from pictures of known positions, or its colours from a set-up.

The numbers were set by hand on the virtual table's and the ray-traced pictures.
"""

import re
from collections.abc import Mapping, Sequence

import cv2
import numpy as np

from common.phrases import either, joined, listed
from common.places import EMPTY
from vision.errors import EnrolmentError
from vision.frame import FloatArray, FloatImage
from vision.layout.pieces import BlockPieces, Surface, top_mm
from vision.readers.blocks.appearance import MASK_SIDE_PX, BlockAppearance, Mask, drawn_appearance, transformed_mask
from vision.readers.blocks.faces import FaceFinder, FaceFit, fit_face, rough_centre
from vision.readers.blocks.reader import MARGIN_MM, BlockReader, BlockSighting
from vision.readers.enrolment import PositionText, check_distinct
from vision.readers.protocols import EnrolmentPicture, SurfaceView
from vision.sampling import PlaneWindow, linear_light, plane_map, sample

ENROL_PX_PER_MM = 2.0
"""Scale at which pictures are sampled, in pixels per millimetre. Higher: finer masks, but slower."""
REACH_MM = 10.0
"""Distance from a place's centre, across and away, up to which a face is searched for. Larger: a neighbouring block may
be found.
"""
AROUND_MM, AROUND_SIDES = 45.0, 1.5
"""Half the side of the part of a picture in which a place's block is fitted: in mm, but at least so many sides of a
block. It must contain a block wherever it is searched for. Larger: slower.
"""
SMALLEST_FIT = 0.75
"""Minimum correlation (-1 to 1) of a block to learn from with its drawn symbol. Higher: more pictures are refused."""
GOOD_FIT = 0.95
"""Correlation above which no other scale of a symbol is tried. Higher: the best scale more often, but slower."""
SYMBOL_SCALES = (1.0, 0.93, 1.07, 0.86, 1.14, 0.8)
"""Sizes of a symbol that are tried, relative to the drawn one, in this order. More: slower."""
LEARNED_LIKE_DRAWN = 0.6
"""Minimum correlation of a learned mask with the drawn one. Higher: more sets with unusual symbols are refused."""
DOUBTFUL_FIT, CLEARLY_BETTER_FIT = 0.9, 0.05
"""Correlation of the named symbol below which others are tried, and the lead by which another one must fit better for
the name to be rejected.

Of the blocks photographed for the tests the right symbol fits to 0.96 or more, any other to 0.86 or less.
"""
SET_UP_FIT = 0.86
"""Correlation above which a block of a set-up is used to learn from. Higher: fewer blocks are used."""
SAME_COLOUR_SPREAD = 0.45
"""Minimum root mean square difference between two colours, in log units. Higher: more sets are refused."""

_BLOCK = re.compile(r"(\w+)[\s,]+(?:block\s*,?\s*)?(\w+)(?:\s+up)?")


def _block(text: str, surface: Surface) -> tuple[str, str] | None:
    match = _BLOCK.fullmatch(text.lower())
    symbols = BlockPieces.on(surface).symbols
    if match and match[2] not in symbols:
        raise EnrolmentError("a block shows one of {names}", joined(sorted(symbols), ", "))
    return (match[1], match[2]) if match else None


BLOCK_POSITIONS = PositionText("block", '"a4=gold star, b4=gold stop"', _block, record=("colour", "top"))
"""Colour and symbol up by square."""


def enrol(pictures: Sequence[EnrolmentPicture], surface: Surface) -> BlockAppearance:
    """Learn colours and symbol masks from pictures of known positions.

    Not every symbol of every colour is needed, because the colours share the masks. Symbols of the net that no picture
    shows keep their drawn mask. Raises EnrolmentError naming the block that could not be used.
    """
    if not any(picture.position for picture in pictures):
        raise EnrolmentError("there is no picture of a known position to learn from; take one and say what it shows")
    symbols = BlockPieces.on(surface).symbols
    shown = {symbol for picture in pictures for _, symbol in picture.position.values()}
    unknown = sorted(shown - set(symbols))
    if unknown:
        raise EnrolmentError(
            either(
                len(unknown) > 1,
                "the picture is said to show the symbols {unknown}; the layout's net has {symbols}",
                "the picture is said to show the symbol {unknown}; the layout's net has {symbols}",
                listed(unknown),
                listed(symbols),
            )
        )
    drawn = drawn_appearance(symbols)
    ratios: dict[str, list[FloatArray]] = {}
    masks: dict[str, list[Mask]] = {}
    window = PlaneWindow.over(surface.bounds_mm.grown(MARGIN_MM), top_mm(surface), ENROL_PX_PER_MM)
    for picture in pictures:
        light = linear_light(sample(picture.image, plane_map(picture.camera, picture.pose, window)))
        for place, (colour, symbol) in picture.position.items():
            fit, fitted_mask = _fit_known(light, window, surface, drawn.masks[symbol], place, symbol)
            if fit.correlation < SMALLEST_FIT:
                raise EnrolmentError(
                    "{name} shows no clear symbol {symbol} on {place} (it fits to {correlation}; "
                    "{smallest_fit} is needed): check what stands there, the light, and that nothing covers it",
                    picture.name,
                    symbol,
                    place,
                    f"{fit.correlation:.2f}",
                    f"{SMALLEST_FIT:.2f}",
                )
            if fit.correlation < DOUBTFUL_FIT:
                fits = {
                    other: _fit_known(light, window, surface, drawn.masks[other], place, other)[0].correlation
                    for other in symbols
                }
                best_symbol = max(fits, key=lambda other: fits[other])
                if fits[best_symbol] > fit.correlation + CLEARLY_BETTER_FIT:
                    raise EnrolmentError(
                        "{name} is said to show the symbol {symbol} on {place}, and it looks like the symbol "
                        "{best_symbol}: correct the positions",
                        picture.name,
                        symbol,
                        place,
                        best_symbol,
                    )
            ratios.setdefault(colour, []).append(fit.ratio)
            learned_mask = _learned_mask(light, window, surface, fit)
            likeness = float(np.corrcoef(learned_mask.ravel(), fitted_mask.ravel())[0, 1])
            if likeness < LEARNED_LIKE_DRAWN:
                raise EnrolmentError(
                    "what {name} shows on {place} does not look like the symbol {symbol} (likeness {likeness}; "
                    "{learned_like_drawn} is needed): check the positions and the light",
                    picture.name,
                    place,
                    symbol,
                    f"{likeness:.2f}",
                    f"{LEARNED_LIKE_DRAWN:.2f}",
                )
            masks.setdefault(symbol, []).append(learned_mask)
    learned = dict(drawn.masks)
    for symbol, seen in masks.items():
        learned[symbol] = np.asarray(np.median(np.stack(seen), axis=0), dtype=np.float32)
    colours = {colour: np.median(np.stack(seen), axis=0) for colour, seen in ratios.items()}
    check_distinct(colours, _root_mean_square, SAME_COLOUR_SPREAD)
    return BlockAppearance(colours, learned)


def learn_colours(view: SurfaceView, plain: BlockAppearance, start: Mapping[str, str]) -> BlockAppearance:
    """Learn the colours of an unknown set from its set-up, where each player's blocks are on that player's side.

    ``start`` has the look of each place at the usual start; a block's colour is the first word of its look. The masks
    are those of ``plain``, scaled to the size seen. Raises EnrolmentError when the blocks don't form that many colours.
    """
    # in the order of the squares, the first player's colour is the first
    names = tuple(dict.fromkeys(start[at].split()[0] for at in view.surface.places if start.get(at, EMPTY) != EMPTY))
    best: dict[str, tuple[BlockSighting, float]] = {}
    # no block starts on a printed place, but a printed star looks like a block with dark ink
    looked_at = [place for place in view.surface.places if place not in view.surface.printed]
    for scale in SYMBOL_SCALES:
        scaled = {symbol: transformed_mask(mask, scale=scale) for symbol, mask in plain.masks.items()}
        seen = BlockReader(view.surface, BlockAppearance({}, scaled)).read(view, looked_at, {})
        for place, sight in seen.items():
            clear = sight.face.correlation > SET_UP_FIT and sight.log_odds > 0
            if clear and (place not in best or sight.face.correlation > best[place][0].face.correlation):
                best[place] = (sight, scale)
        # a symbol of another size fits badly at first but is detected; a place without a face is never detected
        looked_at = [
            place
            for place in looked_at
            if place in seen and (place not in best or best[place][0].face.correlation <= GOOD_FIT)
        ]
        if not looked_at:
            break
    sights = [sight for sight, _ in best.values()]
    if len(sights) < len(names):
        raise EnrolmentError(
            either(
                len(sights) == 1,
                "1 block found in the set-up; at least {names} are needed to learn the colours: improve "
                "the light, or enrol the set with a picture of a known position",
                "{sights} blocks found in the set-up; at least {names} are needed to learn the colours: "
                "improve the light, or enrol the set with a picture of a known position",
                names=len(names),
                sights=len(sights),
            )
        )
    masks = _masks_at_scale(plain, list(best.values()))
    ratios = np.array([sight.face.ratio for sight in sights], dtype=np.float32)
    criteria = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 50, 1e-4)
    seeds = np.array(_spread_seeds(ratios, len(names)))
    first_labels = np.linalg.norm(ratios[:, None] - seeds, axis=2).argmin(axis=1).astype(np.int32)
    _, labels, _ = cv2.kmeans(ratios, len(names), first_labels, criteria, 1, cv2.KMEANS_USE_INITIAL_LABELS)
    groups: list[tuple[float, FloatArray]] = []
    flat = np.asarray(labels).ravel()
    for label in range(len(names)):
        chosen = [sight for sight, own in zip(sights, flat, strict=True) if own == label]
        if not chosen:
            raise EnrolmentError(
                "the set-up shows fewer than {names} colours of block; enrol the set instead", len(names)
            )
        depth = float(np.mean([sight.face.y_mm for sight in chosen]))
        groups.append((depth, np.median(np.stack([sight.face.ratio for sight in chosen]), axis=0)))
    groups.sort(key=lambda group: group[0])
    colours = {name: ratio for name, (_, ratio) in zip(names, groups, strict=True)}
    check_distinct(colours, _root_mean_square, SAME_COLOUR_SPREAD)
    return BlockAppearance(colours, masks)


def _masks_at_scale(plain: BlockAppearance, seen: Sequence[tuple[BlockSighting, float]]) -> dict[str, Mask]:
    """Return each symbol's mask at the scale that fitted best; symbols not seen get the median scale."""
    usual = float(np.median([scale for _, scale in seen]))
    masks = {}
    for symbol, mask in plain.masks.items():
        own = [(sight.face.correlation, scale) for sight, scale in seen if sight.face.symbol == symbol]
        masks[symbol] = transformed_mask(mask, scale=max(own)[1] if own else usual)
    return masks


def _spread_seeds(ratios: FloatImage, count: int) -> list[FloatImage]:
    """Return rows far from each other, as initial cluster centres (farthest-first traversal, Gonzalez 1985)."""
    seeds = [ratios[0]]
    while len(seeds) < count:
        distances = np.min([np.linalg.norm(ratios - seed, axis=1) for seed in seeds], axis=0)
        seeds.append(ratios[int(distances.argmax())])
    return seeds


def _root_mean_square(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _around(light: FloatImage, window: PlaneWindow, surface: Surface, place: str) -> tuple[FloatImage, PlaneWindow]:
    """Return the part of a sampled plane around one place, which is faster to search."""
    column, row = (round(at) for at in window.to_pixels(*surface.centre_mm(place)))
    half = round(max(AROUND_MM, AROUND_SIDES * BlockPieces.on(surface).side_mm) * window.px_per_mm)
    left, top = max(0, column - half), max(0, row - half)
    part = np.ascontiguousarray(light[top : row + half, left : column + half])
    scale = window.px_per_mm
    left_mm, far_mm = window.left_mm + left / scale, window.far_mm - top / scale
    return part, PlaneWindow(left_mm, far_mm, part.shape[1] / scale, part.shape[0] / scale, window.height_mm, scale)


def _fit_known(
    light: FloatImage, window: PlaneWindow, surface: Surface, mask: Mask, place: str, symbol: str
) -> tuple[FaceFit, Mask]:
    """Fit a face whose symbol is known, anywhere on its place and at any scale of the symbol.

    Also returns the mask at the best scale.
    """
    light, window = _around(light, window, surface, place)
    middle = window.to_pixels(*surface.centre_mm(place))
    fits: list[tuple[FaceFit, Mask]] = []
    for scale in SYMBOL_SCALES:
        scaled = transformed_mask(mask, scale=scale)
        finder = FaceFinder(BlockAppearance({}, {symbol: scaled}), BlockPieces.on(surface).side_mm, ENROL_PX_PER_MM)
        column, row = rough_centre(finder, light, middle, REACH_MM * ENROL_PX_PER_MM)
        fits.append((fit_face(finder, light, window, window.to_mm(column, row)), scaled))
        if fits[-1][0].correlation > GOOD_FIT:
            break
    return max(fits, key=lambda one: one[0].correlation)


def _learned_mask(light: FloatImage, window: PlaneWindow, surface: Surface, fit: FaceFit) -> Mask:
    """Return the mask of a fitted face's ink, upright, from 0 to 1; zero outside the face's rim."""
    side = MASK_SIDE_PX
    column, row = window.to_pixels(fit.x_mm, fit.y_mm)
    scale = BlockPieces.on(surface).side_mm * window.px_per_mm / side
    angle = np.deg2rad(-fit.turned_deg)
    cosine, sine = scale * np.cos(angle), scale * np.sin(angle)
    middle = (side - 1) / 2
    matrix = np.array(
        [
            [cosine, -sine, column - middle * (cosine - sine)],
            [sine, cosine, row - middle * (sine + cosine)],
        ]
    )
    patch = cv2.warpAffine(light, matrix, (side, side), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP)
    way = fit.ink - fit.face
    amount = (patch.astype(np.float64) - fit.face) @ way / max(float(way @ way), 1e-9)
    mask = np.asarray(np.clip(amount, 0, 1), dtype=np.float32)
    rim = round(side * 0.08)
    inner = np.zeros_like(mask)
    inner[rim:-rim, rim:-rim] = mask[rim:-rim, rim:-rim]
    return np.ascontiguousarray(np.rot90(inner, -fit.quarter))
