"""Pictures of an empty board, each with its own noise, and glowing lights on it."""

import numpy as np

from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from vision.frame import Image
from vision.geometry import project


def small_setting() -> Setting:
    return standard_setting(lens((640, 360)))


def empty_boards(setting: Setting, count: int) -> list[Image]:
    renderer = Renderer(3)
    return [renderer.render(Scene(setting, (), (), ()), frame) for frame in range(count)]


def glow(image: Image, setting: Setting, x_mm: float, y_mm: float, levels: float, wide_mm: float = 8.0) -> Image:
    """The picture with a soft light at a point of the board."""
    top = setting.layout.board.height_mm
    (x, y), (edge, _) = project(setting.camera, setting.pose, [[x_mm, y_mm, top], [x_mm + wide_mm, y_mm, top]])
    spread_px = edge - x
    # Beyond this distance the glow adds less than one level.
    reach_px = 6 * abs(spread_px)
    top_px, left_px = max(0, int(y - reach_px)), max(0, int(x - reach_px))
    part = np.s_[top_px : int(y + reach_px), left_px : int(x + reach_px)]
    shown = image.copy()
    rows, columns = np.indices(shown[part].shape[:2])
    away_px = np.hypot(rows + top_px - y, columns + left_px - x)
    light = levels * np.exp(-0.5 * (away_px / spread_px) ** 2)
    shown[part] = np.clip(shown[part] + light[..., None], 0, 255).astype(np.uint8)
    return shown
