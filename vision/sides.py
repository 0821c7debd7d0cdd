"""Reading the side faces of a block that the camera sees, and telling from them that a block is there at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from vision.faces import contrast_views
from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose, project
from vision.looks import PieceLooks
from vision.sampling import FloatImage, face_map, linear_light, sample
from vision.solids import SIDES, BlockSolid, inside_any
from vision.symbols import Mask, distinct_quarter_turns

SIDE_PX = 36
RIM_PX = 3
SMALLEST_HEIGHT_PX = 5.0
SMALLEST_SYMBOL_HEIGHT_PX = 6.0
SMALLEST_SYMBOL_FIT = 0.6
SMALLEST_OPEN_SHARE = 0.3
READABLE_OPEN_SHARE = 0.8
CLEAR_HEIGHT_PX = 14.0
SUPPORT_SLOPE = 36.0
SUPPORT_MIDDLE = 0.58
SUPPORT_LIMIT = 14.0


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


def symbol_fits(view: SideView, looks: PieceLooks, colour: str | None) -> dict[str, float] | None:
    """How well each symbol fits a side face, as the best correlation over small shifts; -1 to 1.

    Only pixels that no nearer block hides count. ``None`` when too little of the face is open to say anything.
    """
    inner = slice(RIM_PX, SIDE_PX - RIM_PX)
    is_open = view.open[inner, inner].ravel()
    if is_open.mean() < SMALLEST_OPEN_SHARE:
        return None
    known = looks if colour is None else PieceLooks({colour: looks.colours[colour]}, looks.masks)
    pictures = np.stack(
        [one[inner, inner].ravel()[is_open].astype(np.float64) for one in contrast_views(view.picture, known)]
    )
    pictures -= pictures.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(pictures, axis=1, keepdims=True)
    pictures = pictures / np.maximum(lengths, 1e-9)
    fits = {}
    for symbol, mask in looks.masks.items():
        templates = _shifted_templates(mask, view)[:, is_open]
        templates = templates - templates.mean(axis=1, keepdims=True)
        templates = templates / np.maximum(np.linalg.norm(templates, axis=1, keepdims=True), 1e-9)
        fits[symbol] = float((templates @ pictures.T).max())
    return fits


def support(views_and_fits: Sequence[tuple[SideView, Mapping[str, float]]]) -> float | None:
    """Log-odds that a block stands below a top face, from how well its sides show symbols; ``None``: none seen.

    A picture of a block's side can look like another block's top; but below a true top there are side faces too.
    """
    if not views_and_fits:
        return None
    total = 0.0
    for view, fits in views_and_fits:
        clarity = min(1.0, view.height_px / CLEAR_HEIGHT_PX) * view.open_share
        total += clarity * SUPPORT_SLOPE * (max(fits.values()) - SUPPORT_MIDDLE)
    return float(np.clip(total, -SUPPORT_LIMIT, SUPPORT_LIMIT / 2))


def side_probabilities(
    view: SideView, fits: Mapping[str, float], symbols: Sequence[str], temperature: float = 0.05
) -> dict[str, float] | None:
    """Probabilities of the symbols that can be on a side face; ``None`` when it is too flat or hidden to read."""
    possible = {symbol: fits[symbol] for symbol in symbols if symbol in fits}
    if not possible or view.height_px < SMALLEST_SYMBOL_HEIGHT_PX or view.open_share < READABLE_OPEN_SHARE:
        return None
    most = max(possible.values())
    if most < SMALLEST_SYMBOL_FIT:
        return None
    heat = temperature * (1 + 10.0 / view.height_px)
    weights = {symbol: float(np.exp((fit - most) / heat)) for symbol, fit in possible.items()}
    total = sum(weights.values())
    return {symbol: weight / total for symbol, weight in weights.items()}


def neighbours_in_net(net: Mapping[str, str], top: str) -> tuple[str, ...]:
    """The symbols that can be on the sides when ``top`` is up: all but it and its opposite."""
    opposite = {"up": "down", "down": "up", "north": "south", "south": "north", "east": "west", "west": "east"}
    here = next((face for face, symbol in net.items() if symbol == top), None)
    if here is None:
        return tuple(dict.fromkeys(net.values()))
    return tuple(symbol for face, symbol in net.items() if face not in {here, opposite[here]})


def _shifted_templates(mask: Mask, view: SideView) -> npt.NDArray[np.float64]:
    """The mask at every distinct quarter turn and small shift, blurred as much as the picture's few pixels blur the
    face; shape (templates, inner pixels).
    """
    size = (max(3, round(view.width_px)), max(3, round(view.height_px)))
    templates = []
    for quarter in distinct_quarter_turns(mask):
        upright = np.ascontiguousarray(np.rot90(mask, quarter))
        small = cv2.GaussianBlur(cv2.resize(upright, size, interpolation=cv2.INTER_AREA), (0, 0), 0.6)
        seen = np.asarray(cv2.resize(small, (SIDE_PX, SIDE_PX), interpolation=cv2.INTER_LINEAR))
        for down in range(-RIM_PX, RIM_PX + 1):
            for across in range(-RIM_PX, RIM_PX + 1):
                shifted = seen[RIM_PX + down : SIDE_PX - RIM_PX + down, RIM_PX + across : SIDE_PX - RIM_PX + across]
                templates.append(shifted.ravel())
    return np.asarray(templates, dtype=np.float64)
