"""Pictures of a table with markers and a grid, seen by a pinhole camera with distortion."""

import functools
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
    """The pose of the table for a camera that looks from one point at another, with +y up in the picture."""
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


def _empty_texture(grey: int) -> Image:
    size = 2 * _HALF_TABLE_MM * _TEXTURE_PX_PER_MM
    return np.full((size, size), grey, dtype=np.uint8)


def _board_texture(layout: TableLayout) -> Image:
    board = _empty_texture(110)
    half = layout.board.columns * layout.board.cell_mm / 2
    for line in range(layout.board.columns + 1):
        at = round(board.shape[0] / 2 + (line * layout.board.cell_mm - half) * _TEXTURE_PX_PER_MM)
        board[:, at - 2 : at + 2] = 20
        board[at - 2 : at + 2, :] = 20
    return board


def _texture_map(points_mm: np.ndarray, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """The point of a texture that each pixel of the picture shows."""
    middle = _HALF_TABLE_MM * _TEXTURE_PX_PER_MM
    x = (points_mm[:, 0] * _TEXTURE_PX_PER_MM + middle - 0.5).astype(np.float32).reshape(shape)
    y = (middle - points_mm[:, 1] * _TEXTURE_PX_PER_MM - 0.5).astype(np.float32).reshape(shape)
    return x, y


def _sample(texture: Image, seen_at: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    found = cv2.remap(texture, *seen_at, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(found, dtype=np.float64)


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

    width, height = camera.size
    pixels = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).reshape(-1, 2)
    half = layout.board.columns * layout.board.cell_mm / 2
    board = _board_texture(layout)

    @functools.lru_cache(maxsize=8)
    def grain(seed: int) -> np.ndarray:
        """A sensor's noise, of one level."""
        return np.random.default_rng(seed).normal(0, 1, (height, width))

    @functools.lru_cache(maxsize=50)
    def planes(rotation: bytes, translation: bytes) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray, np.ndarray]:
        """Texture maps of the table and of the board from that pose, and the mask of the board."""
        pose = Pose(np.frombuffer(rotation).reshape(3, 3), np.frombuffer(translation))
        on_table = back_project(camera, pose, pixels, layout.markers.z_mm)
        eye = pose.camera_position_mm
        # The same ray at the board's height.
        share = (layout.board.height_mm - eye[2]) / (layout.markers.z_mm - eye[2])
        on_board = eye + share * (on_table - eye)
        inside = (np.abs(on_board[:, :2]).max(axis=1) <= half + 1).reshape(height, width)
        shown = _sample(board, _texture_map(on_board, (height, width)))
        return _texture_map(on_table, (height, width)), shown, inside

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
        table = _empty_texture(60)
        for marker_id, (x, y) in layout.markers.centres_mm.items():
            if marker_id not in hidden:
                dx, dy = (moved or {}).get(marker_id, (0.0, 0.0))
                _marker_texture(table, layout, marker_id, (x + dx, y + dy))
        for marker_id, centre in extra:
            _marker_texture(table, layout, marker_id, centre)
        seen_at, shown, inside = planes(
            np.asarray(pose.rotation, np.float64).tobytes(), np.asarray(pose.translation, np.float64).tobytes()
        )
        picture = np.where(inside, shown, _sample(table, seen_at)) * light
        blurred = np.clip(cv2.GaussianBlur(picture, (0, 0), blur_px), 0, 255)
        toned = 255 * (blurred / 255) ** (1 / 2.2) + noise * grain(seed)
        grey = np.clip(toned, 0, 255).astype(np.uint8)
        return np.asarray(cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR), dtype=np.uint8)

    return render
