"""Pictures of a ChArUco board, to calibrate a virtual camera with."""

import cv2
import numpy as np

from simulator.rendering import optics
from simulator.scene.scene import Lighting, Sensor, first_fitting, looking_at
from vision.frame import Image
from vision.geometry import CameraModel, Pose

_SAMPLES = 2  # rays a pixel along each direction
_TEXTURE_PX_PER_MM = 6.0  # finer than any camera sees
_PAPER_MM = 12.0  # white border around the board
_SHEET_MARGIN_PX = 8  # between the board and the edge of the picture
_SQUARES = (7, 5)
"""Columns and rows of the ChArUco sheet."""
_SQUARE_MM, _MARKER_MM = 30.0, 22.0  # of the printed calibration board
_SHEET_MM = (_SQUARES[0] * _SQUARE_MM, _SQUARES[1] * _SQUARE_MM)
_SENSOR = Sensor(noise=1.5, defocus_px=0.4)


def _sheet_texture() -> Image:
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    board = cv2.aruco.CharucoBoard(_SQUARES, _SQUARE_MM, _MARKER_MM, dictionary)
    width, height = (round(length * _TEXTURE_PX_PER_MM) for length in _SHEET_MM)
    squares = np.asarray(board.generateImage((width, height), marginSize=0), dtype=np.uint8)
    padded = np.pad(squares, round(_PAPER_MM * _TEXTURE_PX_PER_MM), constant_values=255)
    return np.clip(padded.astype(np.float64) * 0.86 + 18, 0, 255).astype(np.uint8)


def charuco_views(camera: CameraModel, count: int, seed: int) -> tuple[Image, ...]:
    """Render ``count`` pictures of a ChArUco sheet by a camera, each from a random pose."""
    texture = _sheet_texture()
    rng = np.random.default_rng([seed, 22])
    noise = optics.SensorNoise(camera, _SENSOR.noise, seed)
    return tuple(
        optics.through_sensor(_sheet_view(camera, _sheet_pose(camera, rng), texture), _SENSOR, noise, frame)
        for frame in range(count)
    )


def _sheet_pose(camera: CameraModel, rng: np.random.Generator) -> Pose:
    """Return a pose at which most of the sheet is in the picture."""
    width, height = camera.size
    corners = np.array([[x * _SHEET_MM[0] / 2, y * _SHEET_MM[1] / 2, 0.0] for x in (-1, 1) for y in (-1, 1)])

    def drawn() -> Pose:
        distance = float(camera.matrix[0, 0]) / width * _SHEET_MM[0] * float(rng.uniform(1.2, 2.6))
        shift = rng.uniform(-1.0, 1.0, 2) * distance * np.array([width, height]) / float(camera.matrix[0, 0]) * 0.35
        target = (float(shift[0]), float(shift[1]), 0.0)
        tilt, azimuth = float(rng.uniform(5, 40)), float(rng.uniform(-180, 180))
        return looking_at(distance, tilt, azimuth, float(-90 - azimuth + rng.uniform(-25, 25)), target)

    return first_fitting(camera, corners, _SHEET_MARGIN_PX, (drawn() for _ in range(60)))


def _sheet_view(camera: CameraModel, pose: Pose, texture: Image) -> Image:
    width, height = camera.size
    rays = optics.supersampled_rays(camera, 0, 0, (width, height), _SAMPLES)
    points, hits = optics.on_plane(pose, rays, 0.0)
    half = np.asarray(_SHEET_MM) / 2 + _PAPER_MM
    columns = ((points[..., 0] + half[0]) * _TEXTURE_PX_PER_MM - 0.5).clip(-2, texture.shape[1] + 1)
    rows = ((half[1] - points[..., 1]) * _TEXTURE_PX_PER_MM - 0.5).clip(-2, texture.shape[0] + 1)
    inside = hits & (np.abs(points) <= half).all(axis=-1)
    sampled = cv2.remap(texture, columns.astype(np.float32), rows.astype(np.float32), cv2.INTER_LINEAR)
    levels = optics.decode_levels().astype(np.float32)
    desk = float(optics.decode((0.45, 0.45, 0.45))[0])
    grey = np.where(inside, levels[np.asarray(sampled, dtype=np.uint8)], desk).astype(np.float32)
    small = np.asarray(cv2.resize(grey, (width, height), interpolation=cv2.INTER_AREA), dtype=np.float64)
    light = optics.irradiance(Lighting(), np.zeros(3), np.array([0.0, 0.0, 1.0]))
    return optics.develop(small[..., None] * light)
