"""Photoreal pictures with known truth, unchanged and with hardships.

Light, defocus, noise, hands and objects are added to an existing picture, with the names of the hardships.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

from benchmarks.parts.picture_sets import PictureFolder
from benchmarks.parts.stress.hardships import ARM_SKINS, ARM_SLEEVES, drawn_radius_mm, reaching_hand
from benchmarks.parts.stress.score import PictureScore, score
from common.places import EMPTY
from simulator.rendering.hands import HandOcclusion, hand_sprite, paint_hand_shadow
from simulator.rendering.optics import compress, motion_blur, shade_table
from simulator.rendering.painting import paint_foreign_object, paste
from simulator.scene.scene import ForeignObject, Lighting, Sensor, Setting
from vision.errors import EnrolmentError
from vision.frame import FloatArray, FloatImage, Frame, Image
from vision.geometry import CameraModel, Pose, project
from vision.images import load_image
from vision.layout.table import TableLayout
from vision.locating.location import locate
from vision.readers.blocks.appearance import look_name
from vision.readers.registry import table_reader
from vision.sampling import linear_light

ORDINARY_LIGHT = 0.35
SHADOW_LEFT = 0.55

Step = TypeVar("Step")


@dataclass(frozen=True, eq=False)
class LabelledPicture:
    """A picture and its truth, with the fields of ``StressCase``; ``occupied`` are the places with a block."""

    image: Image
    camera: CameraModel
    pose: Pose
    layout: TableLayout
    occupied: tuple[str, ...]
    covered: tuple[str, ...] = ()
    hand: str = "beside"
    thing: bool = False


Change = Callable[[LabelledPicture, np.random.Generator], LabelledPicture]
LightChange = Callable[[FloatImage, LabelledPicture, np.random.Generator], FloatImage]


def developed(light: FloatImage) -> Image:
    """Convert linear light, 0 to 1, to an 8-bit sRGB picture (IEC 61966-2-1)."""
    clipped = np.clip(light, 0.0, 1.0)
    curve = np.where(clipped <= 0.0031308, 12.92 * clipped, 1.055 * np.power(clipped, 1 / 2.4) - 0.055)
    return np.asarray(np.round(255 * curve), dtype=np.uint8)


def _board_px(picture: LabelledPicture, shares: Sequence[tuple[float, float]]) -> FloatArray:
    """Project points of the board, given as shares of its half width and half depth."""
    layout = picture.layout
    half = np.array([layout.board.columns, layout.board.rows]) * layout.board.cell_mm / 2
    points = [[x * half[0], y * half[1], layout.board.height_mm] for x, y in shares]
    return project(picture.camera, picture.pose, points)


def _board_side_px(picture: LabelledPicture) -> float:
    outline = _board_px(picture, [(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return float(np.sqrt(cv2.contourArea(outline.astype(np.float32))))


def with_glare(light: FloatImage, picture: LabelledPicture, rng: np.random.Generator, peak: float) -> FloatImage:
    """A lamp's specular reflection on the board: a Gaussian spot of added light, ``peak`` at most (1 is white)."""
    (middle,) = _board_px(picture, [(float(rng.uniform(-0.9, 0.9)), float(rng.uniform(-0.9, 0.9)))])
    spread = _board_side_px(picture) * float(rng.uniform(0.08, 0.22))
    height, width = light.shape[:2]
    across = np.exp(-0.5 * ((np.arange(width) - middle[0]) / spread) ** 2)
    down = np.exp(-0.5 * ((np.arange(height) - middle[1]) / spread) ** 2)
    spot = np.outer(down, across).astype(np.float32) * np.float32(peak)
    return np.asarray(light + spot[..., None], dtype=np.float32)


def with_gains(
    light: FloatImage, _picture: LabelledPicture, _rng: np.random.Generator, colour: tuple[float, float, float]
) -> FloatImage:
    """Another lamp colour or exposure: a gain for each channel."""
    return light * np.asarray(colour, dtype=np.float32)


def with_shadow(light: FloatImage, picture: LabelledPicture, rng: np.random.Generator, left: float) -> FloatImage:
    """One side of the table in shadow, with a straight soft edge; the other side slightly too bright."""
    (middle,) = _board_px(picture, [(float(rng.uniform(-0.5, 0.5)), float(rng.uniform(-0.5, 0.5)))])
    angle, side = float(rng.uniform(-np.pi, np.pi)), _board_side_px(picture)
    height, width = light.shape[:2]
    x, y = np.meshgrid(np.arange(width) - middle[0], np.arange(height) - middle[1])
    beyond = (x * np.cos(angle) + y * np.sin(angle)) / (side * float(rng.uniform(0.03, 0.3))) + 0.5
    sky = np.array([1.15, 1.0, 0.9]) * left
    share = np.clip(beyond, 0.0, 1.0)[..., None]
    factor = float(rng.uniform(1.0, 1.4)) * (1 - share) + sky * share
    return np.asarray(light * factor.astype(np.float32), dtype=np.float32)


def defocused(picture: LabelledPicture, _rng: np.random.Generator, sigma_px: float) -> LabelledPicture:
    """Defocus: a Gaussian blur."""
    return replace(picture, image=np.asarray(cv2.GaussianBlur(picture.image, (0, 0), sigma_px), dtype=np.uint8))


def shaken(picture: LabelledPicture, rng: np.random.Generator, length_px: float) -> LabelledPicture:
    """Motion blur of that length in any direction."""
    angle = float(rng.uniform(0, np.pi))
    blur_px = (length_px * float(np.cos(angle)), length_px * float(np.sin(angle)))
    return replace(picture, image=motion_blur(picture.image, blur_px))


def noisy(picture: LabelledPicture, rng: np.random.Generator, levels: float) -> LabelledPicture:
    """Sensor noise of that standard deviation in grey levels."""
    noise = rng.normal(0.0, levels, picture.image.shape)
    return replace(picture, image=np.asarray(np.clip(np.round(picture.image + noise), 0, 255), dtype=np.uint8))


def compressed(picture: LabelledPicture, _rng: np.random.Generator, quality: int) -> LabelledPicture:
    """JPEG of that quality, and back."""
    return replace(picture, image=compress(picture.image, quality))


def without_markers(picture: LabelledPicture, rng: np.random.Generator, missing: int, half: int = 0) -> LabelledPicture:
    """Paint over whole and half markers in the table's colour."""
    image = picture.image.copy()
    markers = picture.layout.markers
    order = [int(index) for index in rng.permutation(len(markers.centres_mm))]
    height, width = image.shape[:2]
    for count, index in enumerate(order[: missing + half]):
        x, y = markers.centres_mm[sorted(markers.centres_mm)[index]]
        reach = 0.75 * markers.side_mm
        low = -reach if count < missing else 0.0
        patch = [
            [x + a, y + b, markers.z_mm] for a, b in ((low, -reach), (reach, -reach), (reach, reach), (low, reach))
        ]
        (beside,) = project(picture.camera, picture.pose, [[x * 1.25, y * 1.25, 0.0]])
        column, row = (int(np.clip(v, 4, size - 5)) for v, size in zip(beside, (width, height), strict=True))
        colour = np.median(image[row - 4 : row + 5, column - 4 : column + 5].reshape(-1, 3), axis=0)
        corners = np.round(project(picture.camera, picture.pose, patch)).astype(np.int32)
        cv2.fillConvexPoly(image, corners, [float(value) for value in colour])
    return replace(picture, image=image)


def _setting(picture: LabelledPicture) -> Setting:
    """A virtual table with the picture's camera and pose, as bright as its board."""
    outline = np.round(_board_px(picture, [(-1, -1), (1, -1), (1, 1), (-1, 1)])).astype(np.int32)
    mask = np.zeros(picture.image.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, outline, 255)
    light = linear_light(picture.image[mask > 0])
    exposure = float(np.clip(np.median(light) / ORDINARY_LIGHT, 0.05, 2.0))
    return Setting(
        picture.camera,
        picture.pose,
        picture.layout,
        lighting=Lighting(),
        sensor=Sensor(exposure=exposure, vignette=0.0),
    )


def with_hand(
    picture: LabelledPicture, rng: np.random.Generator, skin: str | None = None, sleeve: str | None = None
) -> LabelledPicture:
    """Render a hand over the board, from any side."""
    layout = picture.layout
    half = np.array([layout.board.columns, layout.board.rows]) * layout.board.cell_mm / 2
    hand = reaching_hand(rng, layout.board.height_mm, 0.75, half, skin, sleeve)
    setting, image = _setting(picture), picture.image.copy()
    shade = shade_table(np.full(3, float(rng.uniform(SHADOW_LEFT, 1.0))))
    paint_hand_shadow(setting, image, hand, [shade], _board_side_px(picture) / (2 * float(half[0])))
    sprite = hand_sprite(setting, hand)
    if sprite is not None:
        paste(image, sprite)
    covered = HandOcclusion(setting).covered((hand,), picture.occupied)
    state = "over" if covered or picture.hand == "over" else "at the rim"
    return replace(picture, image=image, covered=tuple({*picture.covered, *covered}), hand=state)


def with_object(picture: LabelledPicture, rng: np.random.Generator, kind: str) -> LabelledPicture:
    """A coin, a cup or a card on a free part of the board or beside it."""
    layout = picture.layout
    radius = drawn_radius_mm(rng, kind)
    colour = tuple(float(value) for value in rng.uniform(0.1, 0.9, 3))
    half = np.array([layout.board.columns, layout.board.rows]) * layout.board.cell_mm / 2
    blocks = np.array([layout.centre_mm(place) for place in picture.occupied]).reshape(-1, 2)
    # a cup would hide blocks behind it, which the truth of this picture doesn't know
    places = [rng.uniform(-0.95, 0.95, 2) * half for _ in range(60)] if kind != "cup" else []
    clear = [at for at in places if not len(blocks) or np.linalg.norm(blocks - at, axis=1).min() > 26 + 1.5 * radius]
    if clear:
        (x, y), base = clear[0], layout.board.height_mm
    else:
        away, along = half[0] + radius + float(rng.uniform(100.0, 130.0)), float(rng.uniform(-100.0, 100.0))
        (x, y), base = ((away, along), (-away, along))[int(rng.integers(2))], 0.0
    image = picture.image.copy()
    thing = ForeignObject(kind, float(x), float(y), colour, base, radius)  # type: ignore[arg-type]
    paint_foreign_object(_setting(picture), image, thing, _board_side_px(picture) / (2 * float(half[0])))
    return replace(picture, image=image, thing=True)


IN_THE_SCENE: Mapping[str, Mapping[str, Change]] = {
    "hands": {skin: partial(with_hand, skin=skin) for skin in ARM_SKINS}
    | {sleeve: partial(with_hand, sleeve=sleeve) for sleeve in ARM_SLEEVES},
    "things": {kind: partial(with_object, kind=kind) for kind in ("coin", "cup", "card")},
    "markers": {
        "1 missing": partial(without_markers, missing=1),
        "1 half covered": partial(without_markers, missing=0, half=1),
        "2 missing": partial(without_markers, missing=2),
        "1 missing, 1 half": partial(without_markers, missing=1, half=1),
        "3 missing": partial(without_markers, missing=3),
    },
}
# glare before shadow: a shade also removes the lamp's specular reflection
IN_THE_LIGHT: Mapping[str, Mapping[str, LightChange]] = {
    "glare": {f"peak {peak}": partial(with_glare, peak=peak) for peak in (0.3, 0.8, 2.0)},
    "side in shadow": {f"{left:.0%} left": partial(with_shadow, left=left) for left in (0.4, 0.2, 0.08)},
    "lamp colour": {
        "warm": partial(with_gains, colour=(0.6, 0.9, 1.1)),
        "candle": partial(with_gains, colour=(0.25, 0.65, 1.15)),
        "cold": partial(with_gains, colour=(1.3, 1.0, 0.75)),
        "green": partial(with_gains, colour=(0.7, 1.15, 0.7)),
        "pink": partial(with_gains, colour=(1.1, 0.7, 1.15)),
    },
    "exposure": {f"x {x}": partial(with_gains, colour=(x, x, x)) for x in (0.15, 0.35, 1.5, 2.2)},
}
IN_THE_CAMERA: Mapping[str, Mapping[str, Change]] = {
    "defocus": {f"sigma {px} px": partial(defocused, sigma_px=px) for px in (1.0, 1.6, 2.2)},
    "motion blur": {f"{px} px": partial(shaken, length_px=float(px)) for px in (4, 7, 11)},
    "noise": {f"{levels} levels": partial(noisy, levels=float(levels)) for levels in (5, 9, 14)},
    "compression": {f"JPEG {quality}": partial(compressed, quality=quality) for quality in (50, 30)},
}
AT_ONCE = {"some of all": 0.3, "most of all": 0.6}
SELDOM = 0.4


def harder(picture: LabelledPicture, hardship: str, level: str, rng: np.random.Generator) -> LabelledPicture:
    """Apply one hardship, or many for ``everything``, in physical order: scene, light, camera."""

    def drawn(levels: Mapping[str, Step], name: str) -> Step | None:
        if hardship != "everything":
            return levels[level] if name == hardship else None
        if rng.random() >= AT_ONCE[level] * (SELDOM if name in {"hands", "things"} else 1.0):
            return None
        return list(levels.values())[int(rng.integers(len(levels)))]

    for name, steps in IN_THE_SCENE.items():
        if (change := drawn(steps, name)) is not None:
            picture = change(picture, rng)
    relit = [found for name, lights in IN_THE_LIGHT.items() if (found := drawn(lights, name)) is not None]
    if relit:
        light = linear_light(picture.image)
        for relight in relit:
            light = relight(light, picture, rng)
        picture = replace(picture, image=developed(light))
    for name, steps in IN_THE_CAMERA.items():
        if (change := drawn(steps, name)) is not None:
            picture = change(picture, rng)
    return picture


def picture_levels() -> list[tuple[str, str]]:
    """Every pair of hardship and level for photoreal pictures, ``everything`` last."""
    kinds: tuple[Mapping[str, Mapping[str, object]], ...] = (IN_THE_SCENE, IN_THE_LIGHT, IN_THE_CAMERA)
    single = [(name, level) for kind in kinds for name, levels in kind.items() for level in levels]
    return [*single, *(("everything", level) for level in AT_ONCE)]


AS_IT_IS = "photoreal"


@dataclass(frozen=True)
class PhotorealTask:
    """One picture of a set, by its file name; ``hardship`` is ``AS_IT_IS`` or one to apply."""

    file: str
    hardship: str
    level: str
    number: int
    seed: int

    @property
    def name(self) -> str:
        """The task as part of a file name."""
        return f"{Path(self.file).stem}-{self.hardship}-{self.level}-{self.number:03d}".replace(" ", "-")


class PhotorealSet:
    """A set of pictures with its cameras, and its piece sets learned once.

    Raises EnrolmentError for a set without enrolment pictures.
    """

    def __init__(self, set_dir: Path, calibration: Path) -> None:
        folder = PictureFolder(set_dir, calibration)
        self._folder = set_dir
        self._layout = folder.layout
        self.files = [path.name for path in folder.pictures]
        self._cameras = {name: folder.camera_of(name) for name in self.files}
        self._looks = {name: looks for name in self.files if (looks := folder.looks_of(name)) is not None}
        if len(self._looks) < len(self.files):
            raise EnrolmentError(f"{set_dir} has no enrolment pictures (enrol*.jpg); a set with them is needed")

    def tasks(self, harder_pictures: int, seed: int) -> list[PhotorealTask]:
        """Every picture unchanged, then ``harder_pictures``: half with one hardship, half with many."""
        plain = [PhotorealTask(name, AS_IT_IS, "as it is", number, seed) for number, name in enumerate(self.files)]
        levels = picture_levels()
        single = [one for one in levels if one[0] != "everything"]
        together = [one for one in levels if one[0] == "everything"]
        rng = np.random.default_rng([seed, 77])
        order = [single[int(index)] for index in rng.permutation(len(single))]
        files = [self.files[int(index)] for index in rng.permutation(len(self.files))]
        chosen = [
            (order[number // 2 % len(order)] if number % 2 == 0 else together[number // 2 % len(together)])
            for number in range(harder_pictures)
        ]
        return plain + [
            PhotorealTask(files[(number + number // len(files)) % len(files)], *one, number, seed)
            for number, one in enumerate(chosen)
        ]

    def picture(self, task: PhotorealTask) -> tuple[LabelledPicture, dict[str, str]]:
        """The picture of a task, and the true look of each place.

        The truth doesn't say what a hand hides, so all places of a picture with a hand count as covered.
        """
        path = self._folder / task.file
        truth = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
        looks = dict.fromkeys(self._layout.places, EMPTY)
        looks |= {block["cell"]: look_name(block["colour"], block["top"]) for block in truth["blocks"]}
        image, camera = load_image(path), self._cameras[task.file]
        picture = LabelledPicture(
            image,
            camera,
            locate(image, camera, self._layout).pose,
            self._layout,
            tuple(place for place, look in looks.items() if look != EMPTY),
            tuple(self._layout.places) if truth["occluded"] else (),
            "over" if truth["occluded"] else "beside",
        )
        if task.hardship != AS_IT_IS:
            rng = np.random.default_rng([task.seed, task.number, *task.file.encode(), *task.level.encode()])
            picture = harder(picture, task.hardship, task.level, rng)
        return picture, looks

    def look_at(self, task: PhotorealTask) -> tuple[PictureScore, LabelledPicture, Sequence[str]]:
        """Read a picture; give its score, the picture, and the hindrances named by the reading."""
        picture, looks = self.picture(task)
        reader = table_reader(picture.camera, self._layout, self._looks[task.file])
        reading = reader.read(Frame(picture.image, 0.0, 0, task.file))
        name = (task.name, task.hardship, task.level, task.number)
        result = score(name, reading, looks, covered=picture.covered, hand=picture.hand, thing=picture.thing)
        return result, picture, [hindrance.message for hindrance in reading.hindrances]
