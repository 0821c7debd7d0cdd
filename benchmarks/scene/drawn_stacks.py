"""Random pictures of stacks of pyramids by the virtual table's renderer, to train the network that reads stacks."""

import math
from dataclasses import replace

import cv2
import numpy as np

from benchmarks.scene.stack_variety import StacksPicture, TrueStack, random_pile
from benchmarks.scene.variety import varied_setting
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import PLASTIC, Pyramid, PyramidLook, StackPose
from simulator.scene.scene import Scene, Setting
from vision.frame import FloatArray
from vision.geometry import hull_px, project
from vision.layout.pieces import GridSurface, PyramidPieces
from vision.layout.table import TableLayout

_COLOURS = tuple(PLASTIC)
_MOST_HARDNESS = 0.8
"""Limit of ``varied_setting``'s hardness."""
_LAMPS_OFF = 0.2
"""Share of tables with ambient light only."""
_SIZES = ((960, 540), (1280, 720))
"""The pictures' sizes, (width, height)."""
_PER_TABLE = 3
"""Pictures of one table, whose background takes longer to render than its stacks."""


def drawn_stacks_pictures(rng: np.random.Generator, layout: TableLayout) -> list[StacksPicture]:
    """Return pictures of a virtual table with a stack on nearly every place, seen by a random camera in random light.

    The stacks differ from picture to picture.
    """
    seed = int(rng.integers(1 << 30))
    size = _SIZES[int(rng.integers(len(_SIZES)))]
    setting = replace(_recolour(rng, varied_setting(seed, rng.uniform(0, _MOST_HARDNESS), size)), layout=layout)
    if rng.random() < _LAMPS_OFF:
        lighting = replace(setting.lighting, lamps=(), ambient=setting.lighting.ambient * rng.uniform(1.0, 1.6))
        setting = replace(setting, lighting=lighting)
    renderer = Renderer(seed)
    pictures = []
    for number in range(_PER_TABLE):
        tidy = rng.uniform(0.3, 1.4)
        stacks = {place: _stack(rng, layout.board, place, tidy) for place in layout.board.places if rng.random() > 0.07}
        image = renderer.render(Scene(setting, tuple(stacks.values())), number)
        true = {place: _truth(layout.board, stack) for place, stack in stacks.items()}
        hidden = _hidden(setting, stacks, true)
        pictures.append(StacksPicture(image, setting.camera, setting.pose, true, hidden))
    return pictures


def _recolour(rng: np.random.Generator, setting: Setting) -> Setting:
    look = PyramidLook()
    colours = {
        name: (_tint(rng, colour[0]), _tint(rng, colour[1]), _tint(rng, colour[2]))
        for name, colour in look.colours.items()
    }
    opacity = {"clear": float(rng.uniform(0.25, 0.65)), "black": float(rng.uniform(0.7, 1.0))}
    usual = float(rng.uniform(0.6, 1.0))
    return replace(setting, pyramids=replace(look, colours=colours, opacity=opacity, usual_opacity=usual))


def _tint(rng: np.random.Generator, level: float) -> float:
    return float(np.clip(level * rng.normal(1, 0.12), 0.02, 0.97))


def _stack(rng: np.random.Generator, board: GridSurface, place: str, tidy: float) -> StackPose:
    x, y = np.array(board.centre_mm(place)) + np.clip(rng.normal(0, 2.0 * tidy, 2), -6, 6)
    pyramids: list[Pyramid] = []
    off, turned = np.zeros(2), 0.0
    for size, colour in random_pile(rng):
        if pyramids:
            off = off + np.clip(rng.normal(0, 0.55 * tidy, 2), -2, 2)
            turned = float(np.clip(rng.normal(0, 5.0 * tidy), -15, 15))
        named = _COLOURS[int(colour)] if colour.isdigit() else colour
        pyramids.append(Pyramid(size, named, (float(off[0]), float(off[1])), turned))
    return StackPose(float(x), float(y), tuple(pyramids), turned_deg=float(np.clip(rng.normal(0, 8.0 * tidy), -25, 25)))


def _truth(board: GridSurface, stack: StackPose) -> TrueStack:
    pieces = PyramidPieces.on(board)
    top = stack.pyramids[-1]
    angle = math.radians(stack.turned_deg)
    right, away = top.offset_mm
    x = stack.x_mm + math.cos(angle) * right - math.sin(angle) * away
    y = stack.y_mm + math.sin(angle) * right + math.cos(angle) * away
    elevation = pieces.elevations_mm([pyramid.size for pyramid in stack.pyramids])[-1]
    tip = np.array([x, y, board.height_mm + elevation + pieces.sizes[top.size].height_mm])
    turned = math.radians(stack.turned_deg + top.turned_deg)
    return TrueStack(top.size, len(stack.pyramids) - 1, tip, np.array([stack.x_mm, stack.y_mm]), turned)


def _hidden(setting: Setting, stacks: dict[str, StackPose], true: dict[str, TrueStack]) -> frozenset[str]:
    """Return the places whose tip is hidden by a nearer stack."""
    half = PyramidPieces.on(setting.layout.board).sizes["L"].base_mm / 2
    level_mm = setting.layout.board.height_mm

    def distance_mm(place: str) -> float:
        return float(np.linalg.norm(true[place].tip_mm - setting.pose.camera_position_mm))

    def outline(place: str) -> FloatArray:
        x, y = true[place].foot_mm
        below = [(x + right * half, y + far * half, level_mm) for right in (-1, 1) for far in (-1, 1)]
        corners = np.vstack([below, true[place].tip_mm])
        return np.asarray(hull_px(project(setting.camera, setting.pose, corners)), dtype=np.float64)

    hidden = set()
    for place in stacks:
        tip = project(setting.camera, setting.pose, true[place].tip_mm[None])[0]
        for other in stacks:
            if other != place and distance_mm(other) < distance_mm(place):
                around = outline(other).astype(np.float32).reshape(-1, 1, 2)
                if cv2.pointPolygonTest(around, (float(tip[0]), float(tip[1])), True) > -1.0:
                    hidden.add(place)
    return frozenset(hidden)
