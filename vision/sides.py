"""Reading the side faces of a block that the camera sees, and telling from them that a block is there at all."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.faces import contrast_views, face_and_ink
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.looks import PieceLooks, log_ratio
from vision.sampling import FloatImage, face_map, linear_light, sample
from vision.solids import SIDES, BlockSolid, inside_any
from vision.symbols import distinct_quarter_turns

SIDE_PX = 36
RIM_PX = 3
SMALLEST_HEIGHT_PX = 5.0
SMALLEST_SYMBOL_HEIGHT_PX = 6.0
SMALLEST_SYMBOL_FIT = 0.6
SMALLEST_OPEN_SHARE = 0.3
READABLE_OPEN_SHARE = 0.8
VAGUE_HEIGHT_PX = 8.0
CLEAR_HEIGHT_PX = 14.0
SUPPORT_SLOPE = 36.0
SUPPORT_MIDDLE = 0.58
SUPPORT_LIMIT = 16.0
COLOUR_SLOPE = 10.0
COLOUR_MIDDLE = 0.95
SHIFTS_PX = (-3, -1, 1, 3)
SYMBOL_TEMPERATURE = 0.015
FLAT_HEIGHT_PX = 10.0
ODD_ONE_OUT = 0.002


@dataclass(frozen=True, eq=False)
class SideView:
    """A side face as sampled from the picture: linear light (36, 36, 3), how high and wide it is in the picture's
    pixels, and which of its pixels no nearer block hides.
    """

    side: str
    picture: FloatImage
    height_px: float
    width_px: float
    open: npt.NDArray[np.bool_]

    @property
    def open_share(self) -> float:
        """How much of the face no nearer block hides, from 0 to 1."""
        return float(self.open.mean())


def side_views(
    image: Image,
    solid: BlockSolid,
    camera: CameraModel,
    pose: Pose,
    nearer_outlines: list[npt.NDArray[np.float32]],
) -> list[SideView]:
    """Sample every side face that is turned to the camera and at least a few pixels high."""
    views = []
    for side in SIDES:
        if solid.facing_camera(side, pose.camera_position_mm) <= 0.02:
            continue
        corners = solid.side_corners_mm(side)
        outline = project(camera, pose, corners)
        width = float(np.linalg.norm(outline[1] - outline[0]) + np.linalg.norm(outline[2] - outline[3])) / 2
        area = abs(float(cv2.contourArea(outline.astype(np.float32))))
        height = area / max(width, 1.0)
        if height < SMALLEST_HEIGHT_PX:
            continue
        pixel_map = face_map(camera, pose, corners, SIDE_PX)
        size = np.array([camera.size[0], camera.size[1]], dtype=np.float32)
        points = pixel_map.reshape(-1, 2)
        in_picture = ((points >= 0) & (points < size)).all(axis=1)
        is_open = (in_picture & ~inside_any(points, nearer_outlines)).reshape(SIDE_PX, SIDE_PX)
        views.append(SideView(side, linear_light(sample(image, pixel_map)), height, width, is_open))
    return views


def hue(light: FloatArray) -> FloatArray:
    """Blue and red against green, logarithmic, without brightness; channels last, (..., 3) to (..., 2)."""
    floor = 0.004 + 0.02 * light.max(axis=-1, keepdims=True)
    logs = np.log(light + floor)
    return np.asarray(np.stack([logs[..., 0] - logs[..., 1], logs[..., 2] - logs[..., 1]], axis=-1))


@dataclass(frozen=True)
class SideFit:
    """How well each symbol fits a side face (best correlation over small shifts, -1 to 1), and how far the face is
    from the block's colour, in log units; ``None`` when no colour is known.
    """

    fits: Mapping[str, float]
    colour_off: float | None


class SideReader:
    """Fits symbols to side faces; keeps the masks it made for faces of the same size."""

    def __init__(self, looks: PieceLooks) -> None:
        self._looks = looks
        self._seen = functools.lru_cache(maxsize=128)(self._templates)

    def fit(self, view: SideView, colour: str | None) -> SideFit | None:
        """Fit every symbol to the open pixels of a side face; ``None`` when too few are open to say anything."""
        inner = slice(RIM_PX, SIDE_PX - RIM_PX)
        is_open = view.open[inner, inner].ravel()
        if is_open.mean() < SMALLEST_OPEN_SHARE:
            return None
        looks = self._looks
        known = looks if colour is None else PieceLooks({colour: looks.colours[colour]}, looks.masks)
        pictures = np.stack([one[inner, inner].ravel()[is_open] for one in contrast_views(view.picture, known)])
        pictures = _unit(pictures)
        fits, best, best_template = {}, -2.0, None
        for symbol in looks.masks:
            templates = self._seen(symbol, max(3, round(view.width_px)), max(3, round(view.height_px)))
            whole = bool(is_open.all())
            open_templates = templates if whole else _unit(templates[:, is_open])
            likeness = open_templates @ pictures.T
            fits[symbol] = float(likeness.max())
            if fits[symbol] > best:
                best = fits[symbol]
                best_template = open_templates[int(likeness.max(axis=1).argmax())]
        off = None
        if colour is not None and best_template is not None:
            pixels = view.picture[inner, inner].reshape(-1, 3)[is_open]
            off = _colour_off(pixels, best_template, looks.colours[colour])
        return SideFit(fits, off)

    def _templates(self, symbol: str, width_px: int, height_px: int) -> FloatImage:
        """A mask at every distinct quarter turn and small shift, blurred as much as the picture's few pixels blur the
        face; rows of mean 0 and length 1, shape (templates, inner pixels).
        """
        mask = self._looks.masks[symbol]
        templates = []
        for quarter in distinct_quarter_turns(mask):
            upright = np.ascontiguousarray(np.rot90(mask, quarter))
            small = cv2.resize(upright, (width_px, height_px), interpolation=cv2.INTER_AREA)
            small = cv2.GaussianBlur(small, (0, 0), 0.6)
            seen = np.asarray(cv2.resize(small, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR), dtype=np.float32)
            for down in SHIFTS_PX:
                for across in SHIFTS_PX:
                    shifted = seen[RIM_PX + down : SIDE_PX - RIM_PX + down, RIM_PX + across : SIDE_PX - RIM_PX + across]
                    templates.append(shifted.ravel())
        return _unit(np.stack(templates))


def _unit(rows: FloatImage) -> FloatImage:
    """Rows less their mean, of length 1."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9), dtype=np.float32)


def _colour_off(pixels: FloatImage, template: FloatImage, ratio: FloatArray) -> float:
    """How far a side face's own face-to-ink ratio is from the block's, root mean square in log units."""
    amount = (template - template.min()) / max(float(template.max() - template.min()), 1e-9)
    face, ink = face_and_ink(pixels, np.asarray(amount, dtype=np.float32))
    return float(np.sqrt(np.mean((log_ratio(face, ink) - ratio) ** 2)))


def support(sides: Sequence[tuple[SideView, SideFit]]) -> float | None:
    """Log-odds that a block stands below a top face, from how its sides look; ``None``: none seen.

    A picture of a block's side can look like another block's top; but below a true top there are side faces too, with
    symbols and of the block's colour.
    """
    if not sides:
        return None
    total = 0.0
    for view, fit in sides:
        # a side only a few pixels high says little, and can't have been taken for a top either
        clarity = float(np.clip((view.height_px - VAGUE_HEIGHT_PX) / CLEAR_HEIGHT_PX, 0.0, 1.0)) * view.open_share
        evidence = SUPPORT_SLOPE * (max(fit.fits.values()) - SUPPORT_MIDDLE)
        if fit.colour_off is not None:
            evidence += float(np.clip(COLOUR_SLOPE * (COLOUR_MIDDLE - fit.colour_off), -8.0, 3.0))
        total += clarity * evidence
    return float(np.clip(total, -SUPPORT_LIMIT, SUPPORT_LIMIT / 2))


def side_probabilities(view: SideView, fits: Mapping[str, float], symbols: Sequence[str]) -> dict[str, float] | None:
    """Probabilities of the symbols that can be on a side face; ``None`` when it is too flat or hidden to read.

    The temperature is such that they come true at least as often as they say on ray-traced pictures and on those of the
    virtual table, hardships included; it is higher for a flat face.
    """
    possible = {symbol: fits[symbol] for symbol in symbols if symbol in fits}
    if not possible or view.height_px < SMALLEST_SYMBOL_HEIGHT_PX or view.open_share < READABLE_OPEN_SHARE:
        return None
    most = max(possible.values())
    if most < SMALLEST_SYMBOL_FIT:
        return None
    heat = SYMBOL_TEMPERATURE * (1 + FLAT_HEIGHT_PX / view.height_px)
    weights = {symbol: float(np.exp((fit - most) / heat)) for symbol, fit in possible.items()}
    total = sum(weights.values())
    # now and then a face is not what it seems, whatever its fit
    return {
        symbol: (1 - ODD_ONE_OUT) * weight / total + ODD_ONE_OUT / len(weights) for symbol, weight in weights.items()
    }


def neighbours_in_net(net: Mapping[str, str], top: str) -> tuple[str, ...]:
    """The symbols that can be on the sides when ``top`` is up: all but it and its opposite."""
    opposite = {"up": "down", "down": "up", "north": "south", "south": "north", "east": "west", "west": "east"}
    here = next((face for face, symbol in net.items() if symbol == top), None)
    if here is None:
        return tuple(dict.fromkeys(net.values()))
    return tuple(symbol for face, symbol in net.items() if face not in {here, opposite[here]})
