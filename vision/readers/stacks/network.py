"""The small networks that find the foot and the tip of a stack and read sizes from its sides, run by OpenCV.

``benchmarks/training/stack_finder.py`` and ``benchmarks/training/stacks.py`` train and write them.

The second sees the sides below a tip flattened. Pyramids of all sizes are about equally steep. So the same pyramid lies
below every tip, down to the top piece's base, followed by a step at the base of each piece under it. In the flattened
picture, the rows of these steps show the sizes.

Each stack is cropped as seen by a camera that points at that place, with the upright direction up. Crops of different
places then differ only in viewing angle and distance.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import cv2
import numpy as np

from vision.frame import FloatArray, Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import PYRAMID_SIZES, PyramidPieces, Surface
from vision.opencv import as_colour
from vision.readers.networks import Floats, Network, checksums
from vision.readers.stacks.appearance import MOST_PIECES
from vision.sampling import PixelMap, RoundedMap, remapped, sample

WIDTH_PX, HEIGHT_PX = 96, 192
"""Size of a crop, in pixels."""
FOOT_PX = (47.5, 148.5)
"""Column and row of the place's centre."""
LARGE_PX = 60.0
"""Edge of a large pyramid's base, seen from straight above."""
_COARSE = 2.0
"""Pixels of the picture per pixel of a crop above which the picture is shrunk first."""

_STEEPEST = 0.1
"""Sideways movement of a ray per mm of height below which the view hardly tells the height of a point on it."""


class StackCrops:
    """Cuts the crops of one surface's places out of pictures taken from one pose."""

    def __init__(self, camera: CameraModel, pose: Pose, surface: Surface) -> None:
        self._camera = camera
        self._pose = pose
        self._level_mm = surface.height_mm
        self.large_mm = PyramidPieces.on(surface).sizes["L"].base_mm
        self._position = pose.camera_position_mm
        self._feet = {place: np.array([*surface.centre_mm(place), self._level_mm]) for place in surface.places}
        self._focal_px = {
            place: float(np.linalg.norm(foot - self._position)) * LARGE_PX / self.large_mm
            for place, foot in self._feet.items()
        }
        towards = _camera_rotations(np.array(list(self._feet.values())) - self._position)
        self._turns = dict(zip(self._feet, towards, strict=True))
        self._projections = {place: self._projection(place) for place in self._feet}
        self._maps: dict[str, RoundedMap] = {}
        self._halvings = 0
        middle = np.mean(list(self._feet.values()), axis=0)
        native = camera.matrix[0, 0] / float(np.linalg.norm(self._position - middle))
        while native * self.large_mm / LARGE_PX > _COARSE * 2**self._halvings:
            self._halvings += 1

    def of(self, image: Image, places: Sequence[str]) -> Image:
        """Return the crops of some places, shape (n, HEIGHT_PX, WIDTH_PX, 3), blue-green-red."""
        image = as_colour(image)
        for _ in range(self._halvings):
            image = np.asarray(cv2.pyrDown(image), dtype=np.uint8)
        return np.stack([sample(image, self._map(place)) for place in places])

    def views(self, places: Sequence[str]) -> FloatArray:
        """Return the sine of each place's viewing angle from straight above, and ten large pyramids' bases divided by
        its distance, (n, 2).
        """
        away = np.array([self._feet[place] - self._position for place in places])
        distance = np.linalg.norm(away, axis=1)
        return np.column_stack([np.hypot(away[:, 0], away[:, 1]) / distance, 10 * self.large_mm / distance])

    def bearing(self, place: str) -> float:
        """Return the angle from the board's right to the crop's, in radians, counter-clockwise."""
        right = self._turns[place][0]
        return float(np.arctan2(right[1], right[0]))

    def pixels(self, place: str, points_mm: FloatArray) -> FloatArray:
        """Project points (n, 3) into the crop of a place, (n, 2)."""
        return self.project([place] * len(points_mm), points_mm)

    def project(self, places: Sequence[str], points_mm: FloatArray) -> FloatArray:
        """Project a point for each place into its crop, (n, 3) to (n, 2)."""
        seen = np.einsum("nij,nj->ni", self.projections(places)[:, :, :3], points_mm - self._position)
        return np.asarray(seen[:, :2] / seen[:, 2:], dtype=np.float64)

    def projections(self, places: Sequence[str]) -> FloatArray:
        """Return matrices (n, 3, 4) that project points (x, y, z, 1) in mm into the crops of places."""
        return np.array([self._projections[place] for place in places])

    def _projection(self, place: str) -> FloatArray:
        matrix = self._matrix(place) @ self._turns[place]
        return np.column_stack([matrix, -matrix @ self._position])

    def _matrix(self, place: str) -> FloatArray:
        """Return the camera matrix of a place's crop."""
        focal_px = self._focal_px[place]
        return np.array([[focal_px, 0.0, FOOT_PX[0]], [0.0, focal_px, FOOT_PX[1]], [0.0, 0.0, 1.0]])

    def at_height(self, place: str, pixel: FloatArray, height_mm: float) -> FloatArray:
        """Return the point (3,) at a height that appears at a pixel (2,) of a place's crop."""
        return np.asarray(self.at_heights([place], pixel[None], np.array([[height_mm]]))[0, 0], dtype=np.float64)

    def at_heights(self, places: Sequence[str], pixels: FloatArray, heights_mm: FloatArray) -> FloatArray:
        """Return the points (n, m, 3) at heights (n, m) that appear at a pixel of each place's crop, (n, 2)."""
        return self._along(self.rays(places, pixels)[:, None], heights_mm)

    def near_axes(self, places: Sequence[str], pixels: FloatArray, axes_mm: FloatArray, height_mm: float) -> FloatArray:
        """Return for each place the points (n, m, 3) at pixels (n, m, 2) of its crop that are nearest to a vertical
        axis through x and y in mm, (n, 2). Seen from nearly straight above, they are near ``height_mm`` instead.
        """
        rays = self.rays(places, pixels)
        slopes = rays[..., :2] / rays[..., 2:]
        off = self._position[:2] + (height_mm - self._position[2]) * slopes - axes_mm[:, None]
        higher = -(off * slopes).sum(axis=-1) / ((slopes**2).sum(axis=-1) + _STEEPEST**2)
        return self._along(rays, height_mm + higher)

    def rays(self, places: Sequence[str], pixels: FloatArray) -> FloatArray:
        """Return the directions (n, ..., 3) in which the camera sees pixels (n, ..., 2) of the crops of n places."""
        focal = np.array([self._focal_px[place] for place in places]).reshape(-1, *[1] * (pixels.ndim - 1))
        seen = np.concatenate([pixels - FOOT_PX, np.broadcast_to(focal, (*pixels.shape[:-1], 1))], axis=-1)
        turns = np.array([self._turns[place] for place in places])
        return np.asarray(np.einsum("n...k,nkj->n...j", seen, turns))

    def on_board(self, places: Sequence[str], pixels: FloatArray) -> FloatArray:
        """Return the points of the board, x and y in mm, at a pixel of each place's crop, both (n, 2)."""
        return self._along(self.rays(places, pixels), np.full(len(places), self._level_mm))[:, :2]

    def _along(self, rays: FloatArray, heights_mm: FloatArray) -> FloatArray:
        """Return the points at heights (...) on rays from the camera (..., 3) or (3,)."""
        far = (heights_mm - self._position[2]) / rays[..., 2]
        return np.asarray(self._position + far[..., None] * rays, dtype=np.float64)

    def _map(self, place: str) -> RoundedMap:
        """Return the pixel map of a place's crop."""
        if place not in self._maps:
            # a crop is what another camera at the same place would see
            turn = self._turns[place] @ self._pose.rotation.T
            shrunk = self._camera.matrix / [[2**self._halvings], [2**self._halvings], [1]]
            size = WIDTH_PX, HEIGHT_PX
            self._maps[place] = cv2.initUndistortRectifyMap(
                shrunk, self._camera.distortion, turn, self._matrix(place), size, cv2.CV_16SC2
            )
        return self._maps[place]


def _camera_rotations(directions: FloatArray) -> FloatArray:
    """Return rotations (n, 3, 3) of cameras with given viewing directions (n, 3), with the board's upright direction up
    in the picture.

    From straight above, the board's far side is up.
    """
    forward = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    right = np.cross(forward, [0.0, 1e-6, 1.0])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return np.stack([right, np.cross(forward, right), forward], axis=1)


SLOPE = 0.239
"""Growth of a pyramid's half width, in mm, per mm further down."""
TIP_HALF_MM = 1.6
"""Half the edge of a medium pyramid's flat tip."""
_LARGE_MM = 25.4
"""Base of a large pyramid in the set measured here; for other sets all lengths are scaled."""
DOWN_MM = np.concatenate([np.zeros(3), np.arange(0.0, 62.0, 1.15)])
OUT_MM = np.concatenate([[0.0, 0.6, 1.2], np.full(len(DOWN_MM) - 3, TIP_HALF_MM)]) + DOWN_MM * SLOPE
"""Distance of each row of points below the tip, and from the axis. The first three rows are on the flat tip."""
ACROSS = np.array([-1.25, -0.8, -0.4, 0.0, 0.4, 0.8, 1.25])
"""Columns of points, as shares of the half width; the outermost lie beside the stack."""
SIDES = 4
"""Sides of a pyramid."""
_BESIDE_TIP = (slice(5, 9), slice(1, 6))
"""Rows and columns of points on the faces beside the tip, which give its colour."""
_LEAST_FACING = 0.3
"""How much a side must face the camera for its colour to count: 1 from straight above, 0 from edge on. Higher: fewer
sides count.
"""


def _points_mm() -> FloatArray:
    """Return points relative to a tip, (SIDES, rows, columns, 3): first the side towards -y, then counter-clockwise."""
    sides = []
    for number in range(SIDES):
        angle = (number - 1) * math.pi / 2
        outwards = np.array([math.cos(angle), math.sin(angle)])
        along = np.array([-outwards[1], outwards[0]])
        flat = OUT_MM[:, None, None] * (outwards + ACROSS[None, :, None] * along)
        down = np.broadcast_to(-DOWN_MM[:, None, None], (*flat.shape[:2], 1))
        sides.append(np.concatenate([flat, down], axis=2))
    return np.array(sides)


_POINTS = _points_mm().reshape(-1, 3)


def flatten_sides(
    crops: StackCrops, pictures: Image, places: Sequence[str], tips_mm: FloatArray, angles_rad: FloatArray
) -> Image:
    """Flatten the sides of stacks, (n, SIDES, rows, columns, 3), from the crops of their places (n, height, width, 3).

    ``tips_mm`` (n, 3) are the centres of the tips, ``angles_rad`` (n,) the stacks' angles relative to their crops.
    The first side is the one that faces the camera most.
    """
    bodies = np.zeros((len(places), 4, 4))
    angles = angles_rad + np.array([crops.bearing(place) for place in places])
    bodies[:, 0, 0] = bodies[:, 1, 1] = np.cos(angles)
    bodies[:, 1, 0] = np.sin(angles)
    bodies[:, 0, 1] = -bodies[:, 1, 0]
    bodies[:, 2, 2] = bodies[:, 3, 3] = 1.0
    bodies[:, :3, 3] = tips_mm
    points = np.column_stack([_POINTS * (crops.large_mm / _LARGE_MM), np.ones(len(_POINTS))]).astype(np.float32)
    # one product of two plain matrices is many times faster than one for each stack
    seen = (crops.projections(places) @ bodies).astype(np.float32).reshape(-1, 4) @ points.T
    x, y, depth = seen.reshape(len(places), 3, -1).transpose(1, 0, 2)
    pixels: PixelMap = np.stack([x / depth, y / depth], axis=-1)
    rows = pixels.reshape(len(places), SIDES * len(DOWN_MM), len(ACROSS), 2)
    flat = [remapped(picture, own, None) for picture, own in zip(pictures, rows, strict=True)]
    return np.array(flat, dtype=np.uint8).reshape(len(places), SIDES, len(DOWN_MM), len(ACROSS), 3)


def levels_beside_tips(sides: Image, views: FloatArray, angles_rad: FloatArray) -> FloatArray:
    """Return the mean levels of the visible faces beside tips, blue-green-red, (n, 3), given ``sides`` from
    ``flatten_sides``, ``views`` from ``StackCrops.views`` and the stacks' angles relative to their crops.
    """
    steep = views[:, 0] / np.sqrt(1 - views[:, 0] ** 2) / SLOPE
    facing = 1 + steep[:, None] * np.cos(angles_rad[:, None] + np.arange(SIDES) * np.pi / 2)
    weights = (facing > _LEAST_FACING).astype(np.float64)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1.0)
    means = sides[:, :, *_BESIDE_TIP].mean(axis=(2, 3))
    return np.asarray((means * weights[:, :, None]).sum(axis=1), dtype=np.float64)


def mirror_sides(sides: Image) -> Image:
    """Return the sides of the mirrored stacks: the two beside the first are exchanged."""
    return np.ascontiguousarray(sides[:, [0, 3, 2, 1], :, ::-1])


WEIGHTS = Path(__file__).parent / "weights"
KINDS = len(PYRAMID_SIZES) * (MOST_PIECES + 1)
"""Number of kinds of tops: each size with each number of pieces on the large one, from none."""
NO_TIP = KINDS
"""The class after the kinds of tops: not a tip."""
SHAPE = (SIDES, 3, len(DOWN_MM), len(ACROSS))
"""Shape of the network's input: sides, channels, rows, columns."""
EXTRAS = 4
"""Further inputs: the two values of ``StackCrops.views``, and cosine and sine of four times the stack's angle."""
LEAST_SPREAD = 8.0
"""Grey levels added to the standard deviation before dividing by it, so that pure noise stays small."""

MIRRORED_FROM = -3.0
"""Log-odds of a tip above which the stack's mirror image is evaluated too, if its kind is in doubt."""
MIRRORED_BELOW = 0.9
"""Probability of a kind of top below which it is in doubt. Higher: slower, and a little more exact in bad light."""


def kind_of(size: str, pieces: int) -> int:
    """Return the class of a top of one size with this many pieces on the large one."""
    return PYRAMID_SIZES.index(size) * (MOST_PIECES + 1) + pieces


def network_input(sides: Image, views: FloatArray, angles_rad: FloatArray) -> Floats:
    """Convert sides (n, SIDES, rows, columns, 3) to the network's input, (n, values).

    Each stack is normalised by its mean and standard deviation, to remove the light. ``views`` are (n, 2);
    ``angles_rad`` (n,) are relative to the crop.
    """
    count, values = len(sides), int(np.prod(SHAPE))
    given = np.empty((count, values + EXTRAS), dtype=np.float32)
    for number, one in enumerate(sides):
        mean, spread = cv2.meanStdDev(one.reshape(-1, 1))
        flat = one.transpose(0, 3, 1, 2).reshape(values)
        given[number, :values] = (flat - np.float32(mean[0, 0])) / np.float32(spread[0, 0] + LEAST_SPREAD)
    given[:, values : values + 2] = views
    given[:, values + 2] = np.cos(4 * angles_rad)
    given[:, values + 3] = np.sin(4 * angles_rad)
    return given


class StackNetwork:
    """The network of a folder, with the temperature that calibrates its probabilities."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = checksums(folder)
        self._network = Network(folder / "stacks.onnx", sums["stacks"])
        self._temperature = float(sums["temperature"])

    def log_probabilities(self, sides: Image, views: FloatArray, angles_rad: FloatArray) -> FloatArray:
        """Return log-probabilities of the kinds of tops and of NO_TIP, (n, KINDS + 1); arguments as for
        ``network_input``.
        """
        scores = np.asarray(self._network.run(network_input(sides, views, angles_rad)), dtype=np.float64)
        return _normalised(scores / self._temperature)

    def with_mirror_images(
        self, logs: FloatArray, sides: Image, views: FloatArray, angles_rad: FloatArray
    ) -> FloatArray:
        """Return the log-probabilities of stacks, averaged with those of their mirror images where the kind of a
        possible tip is in doubt.
        """
        doubtful = (tip_log_odds(logs) > MIRRORED_FROM) & (logs.max(axis=1) < math.log(MIRRORED_BELOW))
        averaged = logs.copy()
        if doubtful.any():
            mirrored = self.log_probabilities(mirror_sides(sides[doubtful]), views[doubtful], -angles_rad[doubtful])
            averaged[doubtful] = _normalised((logs[doubtful] + mirrored) / 2)
        return averaged


def _normalised(scores: FloatArray) -> FloatArray:
    return np.asarray(scores - np.logaddexp.reduce(scores, axis=1, keepdims=True))


def tip_log_odds(logs: FloatArray) -> FloatArray:
    """Return the log-odds of being a tip, (n,), from log-probabilities (n, KINDS + 1)."""
    return np.asarray(np.logaddexp.reduce(logs[:, :NO_TIP], axis=1) - logs[:, NO_TIP])


@cache
def shipped() -> StackNetwork:
    """Return the network that comes with the project."""
    return StackNetwork()


ASIDE_PX = 8
"""Columns on either side of a crop that the network does not see."""
SHRINK = 2
"""Pixels of a crop in one of the network's input, along each axis."""
CELL_PX = 8
"""Edge of the cells of a crop for which the network gives values."""
ROWS, COLUMNS = HEIGHT_PX // CELL_PX, WIDTH_PX // CELL_PX - 2
"""Number of those cells, without the columns that the network does not see."""
FINDER_SHAPE = (3, HEIGHT_PX // SHRINK, (WIDTH_PX - 2 * ASIDE_PX) // SHRINK)
"""Shape of the network's input: channels, rows, columns."""
FINDER_VALUES = 7
"""Values of each cell: the score of the tip being in it; the tip's position relative to the cell's centre, and the
foot's relative to ``FOOT_PX``, across and down in cells; cosine and sine of four times the stack's angle.
"""
FOOT_ROWS, FOOT_COLUMNS = slice(17, 20), slice(3, 7)
"""The cells whose values of foot and angle count, on average: those around ``FOOT_PX``."""
ASTRAY_PX = 4.0
"""Standard deviation of a tip's distance from the axis above the foot. Lower: tips of other stacks are mistaken for one
less often, and crooked stacks are missed more often.
"""
SAME_PX = 4.0
"""Distance in a crop, 1.7 mm, below which two tips are at one spot."""
SPOTS = 4
"""Number of spots returned for each stack. More: slower, and fewer tips are missed."""


@dataclass(frozen=True, eq=False)
class Found:
    """What is found on n places: the feet (n, 2), x and y in mm; the stacks' angles (n,) relative to their crops; and
    spots that may be tips, best first: ``tips_px`` (n, SPOTS, 2), and their log-probabilities ``logs`` (n, SPOTS).
    """

    feet_mm: FloatArray
    angles_rad: FloatArray
    tips_px: FloatArray
    logs: FloatArray


def finder_input(pictures: Image) -> Floats:
    """Convert crops (n, HEIGHT_PX, WIDTH_PX, 3) to the network's input (n, *FINDER_SHAPE), without their light."""
    given = np.empty((len(pictures), *FINDER_SHAPE), dtype=np.float32)
    for number, picture in enumerate(pictures):
        small = cv2.resize(picture[:, ASIDE_PX:-ASIDE_PX], FINDER_SHAPE[:0:-1], interpolation=cv2.INTER_AREA)
        mean, spread = cv2.meanStdDev(small.reshape(-1, 1))
        given[number] = small.transpose(2, 0, 1)
        given[number] -= np.float32(mean[0, 0])
        given[number] /= np.float32(spread[0, 0] + LEAST_SPREAD)
    return given


class StackFinder:
    """The network of a folder."""

    def __init__(self, folder: Path = WEIGHTS) -> None:
        sums = checksums(folder)
        self._network = Network(folder / "finder.onnx", sums["finder"])

    def find(self, crops: StackCrops, pictures: Image, places: Sequence[str], heights_mm: tuple[float, float]) -> Found:
        """Find feet and tips in the crops of places, (n, HEIGHT_PX, WIDTH_PX, 3).

        ``heights_mm`` are those of the lowest and the highest possible tip.
        """
        values = np.asarray(self._network.run(finder_input(pictures)), dtype=np.float64)
        foot = values[:, 3:, FOOT_ROWS, FOOT_COLUMNS].mean(axis=(2, 3))
        feet_mm = crops.on_board(places, FOOT_PX + CELL_PX * foot[:, :2])
        ends = [crops.project(places, np.column_stack([feet_mm, np.full(len(places), each)])) for each in heights_mm]
        tips_px, logs = spots_of(values, np.stack(ends, axis=1))
        return Found(feet_mm, np.arctan2(foot[:, 3], foot[:, 2]) / 4, tips_px, logs)


def spots_of(values: FloatArray, axes_px: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the spots (n, SPOTS, 2) that the network's values (n, FINDER_VALUES, ROWS, COLUMNS) say, best first, and
    their log-probabilities, (n, SPOTS).

    ``axes_px`` (n, 2, 2) are the ends of the stacks' axes between which a tip may be: the lower one first.
    """
    tips_px = values[:, 1:3].reshape(len(values), 2, -1).transpose(0, 2, 1) * CELL_PX + cell_centres_px()
    # by coordinate, since NumPy is slow along an axis of two
    x, y = np.moveaxis(tips_px, 2, 0).copy()
    left = values[:, 0].reshape(len(values), -1) - costs_astray(tips_px, axes_px)
    left -= left.max(axis=1, keepdims=True)
    left -= np.log(np.exp(left).sum(axis=1, keepdims=True))
    each, spots, logs = np.arange(len(values)), [], []
    for _ in range(SPOTS):
        best = left.argmax(axis=1)
        logs.append(left[each, best])
        off_x, off_y = (along - along[each, best][:, None] for along in (x, y))
        same = off_x**2 + off_y**2 < SAME_PX**2
        # cells beside the best one say where its tip is too
        shares = np.exp(np.where(same, left - logs[-1][:, None], -np.inf))
        spots.append(np.einsum("nc,nck->nk", shares, tips_px) / shares.sum(axis=1, keepdims=True))
        left[same] = -np.inf
    return np.stack(spots, axis=1), np.stack(logs, axis=1)


def costs_astray(tips_px: FloatArray, axes_px: FloatArray) -> FloatArray:
    """Return the cost, as negative log-likelihood, of tips (n, m, 2) being away from axes with the ends (n, 2, 2)."""
    (low_x, along_x), (low_y, along_y) = np.diff(axes_px, axis=1, prepend=0.0).transpose(2, 1, 0)[..., None]
    x, y = tips_px[..., 0] - low_x, tips_px[..., 1] - low_y
    share = np.clip((x * along_x + y * along_y) / np.maximum(along_x**2 + along_y**2, 1e-6), 0.0, 1.0)
    astray = (x - share * along_x) ** 2 + (y - share * along_y) ** 2
    return np.asarray(astray / (2 * ASTRAY_PX**2), dtype=np.float64)


def tip_heights_mm(surface: Surface) -> tuple[float, float]:
    """Return the heights of the lowest and the highest tip of a stack on a surface."""
    pieces = PyramidPieces.on(surface)
    return surface.height_mm + pieces.tip_mm("L", 0), surface.height_mm + pieces.tip_mm("S", MOST_PIECES)


@cache
def cell_centres_px() -> FloatArray:
    """Return the column and row of each cell's centre in a crop, (cells, 2)."""
    across, down = np.meshgrid(
        ASIDE_PX + (np.arange(COLUMNS) + 0.5) * CELL_PX - 0.5, (np.arange(ROWS) + 0.5) * CELL_PX - 0.5
    )
    return np.column_stack([across.ravel(), down.ravel()])


@cache
def shipped_finder() -> StackFinder:
    """Return the finder that comes with the project."""
    return StackFinder()
