"""Pictures of a table drawn from the contracts alone: markers and a grid under a pinhole camera with distortion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import cv2
import numpy as np
import pytest

from vision.frame import Image
from vision.geometry import CameraModel, Pose, back_project
from vision.layout.table import TableLayout, default_layout

_TEXTURE_PX_PER_MM = 3
_HALF_TABLE_MM = 320


def look_at(camera_mm: Sequence[float], target_mm: Sequence[float] = (0.0, 0.0, 0.0)) -> Pose:
    """The pose of the table for a camera at a place, looking at another, with +y up in the picture."""
    eye, target = np.asarray(camera_mm, dtype=np.float64), np.asarray(target_mm, dtype=np.float64)
    forward = (target - eye) / np.linalg.norm(target - eye)
    right = np.cross(forward, [0.0, 1.0, 0.0] if abs(forward[1]) < 0.99 else [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward])
    return Pose(rotation, -rotation @ eye)


def _marker_texture(canvas: Image, layout: TableLayout, marker_id: int, centre: tuple[float, float]) -> None:
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, layout.markers.dictionary))
    side = round(layout.markers.side_mm * _TEXTURE_PX_PER_MM)
    border = side // 6
    code = cv2.copyMakeBorder(
        cv2.aruco.generateImageMarker(dictionary, marker_id, side),
        *(border, border, border, border),
        cv2.BORDER_CONSTANT,
        value=255,
    )
    middle = canvas.shape[0] / 2
    left = round(middle + centre[0] * _TEXTURE_PX_PER_MM - code.shape[0] / 2)
    top = round(middle - centre[1] * _TEXTURE_PX_PER_MM - code.shape[0] / 2)
    canvas[top : top + code.shape[0], left : left + code.shape[0]] = np.where(code > 0, 190, 8)


def _sample(texture: Image, points_mm: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    middle = texture.shape[0] / 2
    x = (points_mm[:, 0] * _TEXTURE_PX_PER_MM + middle - 0.5).astype(np.float32).reshape(shape)
    y = (middle - points_mm[:, 1] * _TEXTURE_PX_PER_MM - 0.5).astype(np.float32).reshape(shape)
    return np.asarray(cv2.remap(texture, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE), dtype=np.float64)


RenderTable = Callable[..., Image]


@pytest.fixture(scope="session")
def layout() -> TableLayout:
    return default_layout("deblockle")


@pytest.fixture(scope="session")
def camera() -> CameraModel:
    matrix = np.array([[656.0, 0.0, 318.0], [0.0, 656.0, 241.0], [0.0, 0.0, 1.0]])
    return CameraModel(matrix, np.array([-0.09, 0.01, 0.0005, -0.0003, 0.0]), (640, 480), 0.1, "drawn")


@pytest.fixture(scope="session")
def pose() -> Pose:
    return look_at((60.0, -330.0, 700.0))


@pytest.fixture(scope="session")
def pose_looking_from() -> Callable[..., Pose]:
    return look_at


@pytest.fixture(scope="session")
def render_table(layout: TableLayout, camera: CameraModel) -> RenderTable:
    """``render_table(pose, hidden=(), moved={}, extra=(), blur_px=0.7, light=1.0, noise=1.5, seed=1)``."""

    seen: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def on_planes(pose: Pose) -> tuple[np.ndarray, np.ndarray]:
        key = pose.rotation.tobytes() + pose.translation.tobytes()
        if key not in seen:
            width, height = camera.size
            pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
            seen[key] = (
                back_project(camera, pose, pixels, layout.markers.z_mm),
                back_project(camera, pose, pixels, layout.board.height_mm),
            )
        return seen[key]

    def render(
        pose: Pose,
        *,
        hidden: Sequence[int] = (),
        moved: Mapping[int, tuple[float, float]] | None = None,
        extra: Sequence[tuple[int, tuple[float, float]]] = (),
        blur_px: float = 0.7,
        light: float = 1.0,
        noise: float = 1.5,
        seed: int = 1,
    ) -> Image:
        random = np.random.default_rng(seed)
        size = 2 * _HALF_TABLE_MM * _TEXTURE_PX_PER_MM
        table = np.full((size, size), 60, dtype=np.uint8)
        for marker_id, (x, y) in layout.markers.centres_mm.items():
            if marker_id not in hidden:
                dx, dy = (moved or {}).get(marker_id, (0.0, 0.0))
                _marker_texture(table, layout, marker_id, (x + dx, y + dy))
        for marker_id, centre in extra:
            _marker_texture(table, layout, marker_id, centre)
        half = layout.board.columns * layout.board.cell_mm / 2
        board = np.full((size, size), 110, dtype=np.uint8)
        for line in range(layout.board.columns + 1):
            at = round(size / 2 + (line * layout.board.cell_mm - half) * _TEXTURE_PX_PER_MM)
            board[:, at - 2 : at + 2] = 20
            board[at - 2 : at + 2, :] = 20
        width, height = camera.size
        on_table, on_board = on_planes(pose)
        picture = _sample(table, on_table, (height, width))
        inside = (np.abs(on_board[:, :2]).max(axis=1) <= half + 1).reshape(height, width)
        picture = np.where(inside, _sample(board, on_board, (height, width)), picture) * light
        blurred = np.clip(cv2.GaussianBlur(picture, (0, 0), blur_px), 0, 255)
        toned = 255 * (blurred / 255) ** (1 / 2.2) + random.normal(0, noise, picture.shape)
        grey = np.clip(toned, 0, 255).astype(np.uint8)
        return np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), dtype=np.uint8)

    return render
