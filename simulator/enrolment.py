"""Pictures for enrolling a set (every top of every block colour, or a set-up) and for calibrating a camera."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import cv2
import numpy as np

from simulator.play.actions import Arrangement, Slack
from simulator.play.deblockle import BlockHandler
from simulator.rendering import optics
from simulator.rendering.renderer import Renderer
from simulator.scene.cube import axis_of
from simulator.scene.pieces import SYMBOLS, DiscPose, PiecePose, StackPose
from simulator.scene.scene import Lighting, Scene, Sensor, Setting, first_fitting, looking_at
from vision.frame import Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import BlockPieces

_SAMPLES = 2  # rays a pixel along each direction
_TEXTURE_PX_PER_MM = 6.0  # finer than any camera sees
_PAPER_MM = 12.0  # white border around the board
_SHEET_MARGIN_PX = 8  # between the board and the edge of the picture


@dataclass(frozen=True)
class PlacedBlock:
    """One block of an enrolment picture: its square, its colour and its orientation."""

    cell: str
    colour: str
    top: str
    north: str


@dataclass(frozen=True, eq=False)
class EnrolmentImage:
    """A picture of known blocks: one of each top, all of one colour."""

    image: Image
    colour: str
    blocks: tuple[PlacedBlock, ...]

    @property
    def name(self) -> str:
        """Name shown to a person."""
        return f"the picture of {self.colour}"

    @property
    def position(self) -> Mapping[str, tuple[str, str]]:
        """The position in the format of the block reader."""
        return {block.cell: (block.colour, block.top) for block in self.blocks}

    def as_json(self) -> dict[str, object]:
        """Return the position in the format of an enrolment file."""
        return {
            "blocks": [
                {"cell": block.cell, "colour": block.colour, "top": block.top, "north": block.north}
                for block in self.blocks
            ]
        }


@dataclass(frozen=True, eq=False)
class SetUpImage:
    """A picture of a game's set-up, and the position in the format of its piece reader."""

    image: Image
    position: Mapping[str, Any]

    name: ClassVar[str] = "the picture of the set-up"


def set_up_image(setting: Setting, standing: Arrangement, seed: int = 0) -> SetUpImage:
    """Render a set-up from which the pieces can be learned."""
    image = Renderer(seed).render(Scene(setting, tuple(standing.values())), 0)
    places = setting.layout.board.places
    return SetUpImage(image, {place: _piece_data(piece) for place, piece in standing.items() if place in places})


def _piece_data(piece: PiecePose) -> Any:
    match piece:
        case DiscPose():
            return (piece.colour, piece.ball is not None)
        case StackPose():
            return tuple((pyramid.size, pyramid.colour) for pyramid in piece.pyramids)
    raise ValueError(f"can't learn a {piece.look} from a set-up")


def enrolment_images(setting: Setting, seed: int = 0, slack: Slack | None = None) -> tuple[EnrolmentImage, ...]:
    """Render a picture for each block colour: its six tops on the middle row, from column a on.

    Raises ValueError when the board has fewer than six columns.
    """
    layout = setting.layout
    if layout.board.columns < len(SYMBOLS):
        raise ValueError(f"the board has {layout.board.columns} columns; enrolment needs {len(SYMBOLS)} in a row")
    net = BlockPieces.on(layout.board).net
    row = (layout.board.rows + 1) // 2
    rng = np.random.default_rng([seed, 21])
    handler = BlockHandler(layout, slack or Slack(), rng)
    pictures: list[EnrolmentImage] = []
    for frame, colour in enumerate(sorted(setting.blocks.colours)):
        placed: list[PlacedBlock] = []
        for column, top in enumerate(SYMBOLS):
            sides = [symbol for symbol in SYMBOLS if symbol not in axis_of(net, top)]
            north = sides[int(rng.integers(len(sides)))]
            placed.append(PlacedBlock(f"{chr(ord('a') + column)}{row}", colour, top, north))
        poses = tuple(handler.put_down(block.cell, block.colour, block.top, block.north) for block in placed)
        image = Renderer(seed).render(Scene(setting, poses), frame)
        pictures.append(EnrolmentImage(image, colour, tuple(placed)))
    return tuple(pictures)


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
