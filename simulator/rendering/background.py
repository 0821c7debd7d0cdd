"""The constant part of a picture: table, board or sheets, and markers under the lamps."""

from functools import lru_cache

import cv2
import numpy as np

from simulator.rendering import optics
from simulator.rendering.painting import box_around, clipped, hull, polygon_mask
from simulator.rendering.textures import (
    TABLE_PX_PER_MM,
    TABLE_TILE_PX,
    board_texture,
    marker_texture,
    sheet_texture,
    table_texture,
)
from simulator.scene.paper import WHITE_PAPER, printed_board_mm
from simulator.scene.scene import Setting
from simulator.scene.sheets import LyingSheet, lying_sheets
from vision.frame import BoolImage, FloatArray, FloatImage, Image
from vision.geometry import project

_MARKER_SAMPLES = 4
"""Supersampling of markers: samples per pixel along each direction."""
_LIGHT_STEP_PX = 8
"""Distance between the points at which light is computed."""
_TEXTURE_DETAIL = 1.4
"""Pixels of a board's or a sheet's texture per pixel of the picture."""
_FARTHEST_MM = 20_000.0
"""Limit of the table's coordinates near the horizon."""
_BEND_ROUNDS = 4
"""Iterations for intersecting rays with bent paper; each cuts the error to about a fifth."""
_AROUND_SHEET_MM = (-200.0, 200.0)
"""Range of a sheet's coordinates for which its bend is computed; beyond, the bend of the nearest point in it."""


def pixels_per_mm(setting: Setting) -> float:
    """Return the highest number of pixels per millimetre at the board's centre."""
    top = setting.layout.board.height_mm
    points = np.array([[0.0, 0.0, top], [1.0, 0.0, top], [0.0, 1.0, top]])
    centre, right, far = project(setting.camera, setting.pose, points)
    return float(max(np.linalg.norm(right - centre), np.linalg.norm(far - centre)))


def _linear(texture: Image) -> FloatImage:
    """Return the linear light of a texture's screen values."""
    return np.asarray(optics.decode_levels().astype(np.float32)[texture], dtype=np.float32)


def _sample(texture: Image, columns: FloatArray, rows: FloatArray) -> Image:
    """Return a texture's values at positions, mirrored beyond its edges."""
    sampled = cv2.remap(
        texture,
        columns.astype(np.float32),
        rows.astype(np.float32),
        cv2.INTER_LINEAR,
        borderMode=cv2.BORDER_REFLECT,
    )
    return np.asarray(sampled, dtype=np.uint8)


def _light_on(
    setting: Setting, points_mm: FloatArray, height_mm: float, gloss_share: float
) -> tuple[FloatImage, FloatImage]:
    """Return the irradiance and the specular reflection of a level plane at points (height, width, 2).

    Computed on a coarse grid, because light changes slowly.
    """
    size = (points_mm.shape[1], points_mm.shape[0])
    half = _LIGHT_STEP_PX // 2
    coarse = _with_height(np.ascontiguousarray(points_mm[half::_LIGHT_STEP_PX, half::_LIGHT_STEP_PX]), height_mm)
    layers = (
        optics.irradiance(setting.lighting, coarse, optics.UP),
        optics.specular(setting.lighting, coarse, optics.UP, setting.pose.camera_position_mm) * gloss_share,
    )
    fine = (cv2.resize(layer.astype(np.float32), size, interpolation=cv2.INTER_LINEAR) for layer in layers)
    incident, shine = (np.asarray(layer, dtype=np.float32) for layer in fine)
    return incident, shine


def _with_height(points_mm: FloatArray, height_mm: float) -> FloatArray:
    heights = np.full((*points_mm.shape[:-1], 1), height_mm)
    return np.concatenate([points_mm, heights], axis=-1)


def _paint_polygon(image: FloatImage, pixels: FloatArray, colour: FloatArray) -> None:
    mask = polygon_mask(image.shape[:2], pixels)
    cover = (mask.astype(np.float32) / 255.0)[..., None]
    image[...] = image * (1.0 - cover) + cover * colour


def _paint_markers(setting: Setting, image: FloatImage) -> None:
    markers = setting.layout.markers
    for marker_id in markers.centres_mm:
        state = setting.table.markers.get(marker_id, "whole")
        if state == "missing":
            continue
        texture, side_mm = marker_texture(markers, marker_id, setting.table.marker_border_mm, state)
        x, y = markers.centres_mm[marker_id]
        half = side_mm / 2
        square = np.array([[x - half, y + half], [x + half, y + half], [x + half, y - half], [x - half, y - half]])
        corners = project(setting.camera, setting.pose, _with_height(square, markers.z_mm))
        box = clipped(box_around(corners, 2), image.shape)
        if box is None:
            continue
        left, top, right, bottom = box
        size = (right - left, bottom - top)
        rays = optics.supersampled_rays(setting.camera, left, top, size, _MARKER_SAMPLES)
        points, hits = optics.on_plane(setting.pose, rays, markers.z_mm)
        scale = texture.shape[0] / side_mm
        columns = (points[..., 0] - (x - half)) * scale - 0.5
        rows = ((y + half) - points[..., 1]) * scale - 0.5
        inside = hits & (np.abs(points[..., 0] - x) <= half) & (np.abs(points[..., 1] - y) <= half)
        albedo = optics.decode_levels()[_sample(texture, columns, rows)]
        cover = np.asarray(cv2.resize(inside.astype(np.float32), size, interpolation=cv2.INTER_AREA))
        paint = np.asarray(cv2.resize((albedo * inside).astype(np.float32), size, interpolation=cv2.INTER_AREA))
        light = optics.irradiance(setting.lighting, np.array([x, y, markers.z_mm]), optics.UP)
        part = image[top:bottom, left:right]
        part[...] = part * (1.0 - cover[..., None]) + paint[..., None] * light


def _paint_board(setting: Setting, image: FloatImage, rays: FloatArray) -> None:
    board, scale = setting.layout.board, pixels_per_mm(setting)
    upper, lower = (board.bounds_mm.corners_mm(height_mm)[::-1] for height_mm in (board.height_mm, 0.0))
    _paint_board_shadows(setting, image, upper, lower)
    _paint_board_edges(setting, image, upper, lower)
    texture = board_texture(setting.layout, setting.table, min(max(_TEXTURE_DETAIL * scale, 1.0), 6.0))
    points, hits = optics.on_plane(setting.pose, rays, board.height_mm)
    half = np.array([board.bounds_mm.right_mm, board.bounds_mm.far_mm])
    _lay(image, texture, points, half, hits, scale, _light_on(setting, points, board.height_mm, 1.0))


def _paint_board_shadows(setting: Setting, image: FloatImage, upper: FloatArray, lower: FloatArray) -> None:
    """Draw the board's shadows on the table, in place; ``upper`` and ``lower`` (4, 3) are its corners."""
    for lamp in setting.lighting.lamps:
        outline = hull(
            project(setting.camera, setting.pose, np.vstack([optics.shadow_points(lamp, upper, 0.0), lower]))
        )
        mask = polygon_mask(image.shape[:2], outline)
        softness = max(optics.penumbra_mm(lamp, setting.layout.board.height_mm) * pixels_per_mm(setting), 0.6)
        mask = np.asarray(cv2.GaussianBlur(mask, (0, 0), softness), dtype=np.uint8)
        share = optics.remaining_light(setting.lighting, lamp, np.zeros(3))
        image *= 1.0 - (mask.astype(np.float32) / 255.0)[..., None] * (1.0 - share).astype(np.float32)


def _paint_board_edges(setting: Setting, image: FloatImage, upper: FloatArray, lower: FloatArray) -> None:
    """Draw the board's visible edges, in place; ``upper`` and ``lower`` (4, 3) are its corners."""
    camera_mm = setting.pose.camera_position_mm
    edge = optics.decode(setting.table.board_colour) * 0.8
    for index in range(4):
        following = (index + 1) % 4
        side = np.stack([upper[index], upper[following], lower[following], lower[index]])
        middle = side.mean(axis=0)
        normal = np.array([middle[0], middle[1], 0.0]) / np.linalg.norm(middle[:2])
        if float((camera_mm - middle) @ normal) > 0:
            light = optics.irradiance(setting.lighting, middle, normal)
            _paint_polygon(image, project(setting.camera, setting.pose, side), edge * light)


def _lay(
    image: FloatImage,
    texture: Image,
    points: FloatArray,
    half_mm: FloatArray,
    hits: BoolImage,
    px_per_mm: float,
    light: tuple[FloatImage, FloatImage],
) -> None:
    """Lay a texture over the picture, in place, with anti-aliased edges.

    ``half_mm`` (2,) is half the texture's size; ``points`` (..., 2) are positions of pixels relative to its centre.
    """
    columns = (points[..., 0] + half_mm[0]) * texture.shape[1] / (2 * half_mm[0]) - 0.5
    rows = (half_mm[1] - points[..., 1]) * texture.shape[0] / (2 * half_mm[1]) - 0.5
    inside_px = np.min(half_mm - np.abs(points), axis=-1) * px_per_mm + 0.5
    cover = np.where(hits, np.clip(inside_px, 0.0, 1.0), 0.0).astype(np.float32)[..., None]
    columns = np.clip(columns, -2.0, texture.shape[1] + 1.0)
    rows = np.clip(rows, -2.0, texture.shape[0] + 1.0)
    incident, shine = light
    paint = _linear(_sample(texture, columns, rows)) * incident + shine
    image[...] = image * (1.0 - cover) + cover * paint


def paint_table(setting: Setting) -> FloatImage:
    """Render the table with its sheets or markers in linear light, without a board; shape (height, width, 3)."""
    return _table(setting, optics.normalised_rays(setting.camera, 0.0, 0.0, setting.camera.size))


def _table(setting: Setting, rays: FloatArray) -> FloatImage:
    points, hits = optics.on_plane(setting.pose, rays, 0.0)
    points = np.clip(points, -_FARTHEST_MM, _FARTHEST_MM)
    texture = table_texture(setting.table)
    columns = points[..., 0] * TABLE_PX_PER_MM + TABLE_TILE_PX / 2 - 0.5
    rows = TABLE_TILE_PX / 2 - points[..., 1] * TABLE_PX_PER_MM - 0.5
    incident, shine = _light_on(setting, points, 0.0, 0.5)
    image = _linear(_sample(texture, columns, rows)) * incident + shine
    image[~hits] = 0.25 * setting.lighting.ambient  # a dim room above the horizon
    sheets = lying_sheets(setting.layout)
    for sheet in sheets:
        _paint_sheet(setting, image, rays, sheet)
    if not sheets:
        if setting.table.sheet_rim_mm:
            _paint_printed_board(setting, image, rays)
        _paint_markers(setting, image)
    return image


def _paint_printed_board(setting: Setting, image: FloatImage, rays: FloatArray) -> None:
    """Draw the white paper around a board and its markers, in place."""
    height_mm, (low, high) = setting.layout.markers.z_mm, printed_board_mm(setting.layout, setting.table.sheet_rim_mm)
    points, hits = optics.on_plane(setting.pose, rays, height_mm)
    paper = np.full((4, 4, 3), round(255 * WHITE_PAPER), np.uint8)
    light = _light_on(setting, points, height_mm, 0.3)
    _lay(image, paper, points - (low + high) / 2, (high - low) / 2, hits, pixels_per_mm(setting), light)


def _paint_sheet(setting: Setting, image: FloatImage, rays: FloatArray, sheet: LyingSheet) -> None:
    height_mm = sheet.surface.height_mm
    points, hits = optics.on_plane(setting.pose, rays, height_mm)
    on_sheet = sheet.on_sheet(points)
    if setting.bend is not None:
        for _ in range(_BEND_ROUNDS):
            heights = height_mm + setting.bend.heights_mm(np.clip(on_sheet, *_AROUND_SHEET_MM))
            points, hits = optics.on_plane(setting.pose, rays, heights)
            on_sheet = sheet.on_sheet(points)
    scale = pixels_per_mm(setting)
    texture = sheet_texture(sheet, setting.layout.game, _TEXTURE_DETAIL * scale)
    _lay(image, texture, on_sheet, sheet.half_mm, hits, scale, _light_on(setting, points, height_mm, 0.3))


@lru_cache(maxsize=3)
def paint_background(setting: Setting) -> Image:
    """Render what never moves as the camera sees it, without noise; shape (height, width, 3), read-only.

    The last few are cached, because a background takes longer to render than all pieces.
    """
    width, height = setting.camera.size
    rays = optics.normalised_rays(setting.camera, 0.0, 0.0, (width, height))
    image = _table(setting, rays)
    if not lying_sheets(setting.layout):
        _paint_board(setting, image, rays)
    picture = optics.develop(image * gain(setting))
    picture.setflags(write=False)
    return picture


def gain(setting: Setting) -> FloatImage:
    """Return the sensor's gain and the vignette as a factor on linear light, shape (height, width, 3)."""
    width, height = setting.camera.size
    grid = np.stack(np.meshgrid(np.arange(width), np.arange(height)), axis=-1).astype(np.float64)
    vignette = optics.vignette_at(setting.camera, setting.sensor, grid).astype(np.float32)[..., None]
    return np.asarray(vignette * optics.sensor_gain(setting.sensor).astype(np.float32), dtype=np.float32)
