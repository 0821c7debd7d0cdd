"""Rendered trays of dice, each under one hardship, and the comparison of their reading with the truth."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from benchmarks.scene.dice_variety import COCKED, TrayPicture, random_look, tray_picture
from simulator.rendering.dice import FACE_VALUES, DrawnDie, centre_height_mm, die_rotation
from simulator.rendering.optics import compress, motion_blur
from simulator.scene.scene import Lamp, Lighting, lens, looking_at
from vision.frame import Image
from vision.readers.dice.finding import Networks
from vision.readers.dice.reader import DiceReader
from vision.readers.protocols import SurfaceView
from vision.reading import DieReading

CERTAIN = 0.999
"""Least probability at which a value counts as certain."""
_REACH_MM = 95.0
_NEAREST_MM = 26.0
"""Distance of centres at which dice don't touch."""


@dataclass(frozen=True)
class Hardship:
    """What makes a tray hard to read; every other measure stays ordinary.

    ``tilt_deg``: the camera's tilt from the vertical. ``view_deg``: its angle of view. ``count``: number of dice.
    ``side_mm``: their smallest and largest edge. ``touching``: the share that lie against another. ``leaning``: the
    share that lean, by ``lean_deg``. ``light``: strength of the ambient light; ``lamps``: number of lamps beside the
    tray; ``glossy``: whether dice have specular reflections. ``streak_px``, ``blur_px``, ``noise``, ``quality``: motion
    blur, defocus, noise in grey levels and JPEG quality of the picture.
    """

    tilt_deg: tuple[float, float] = (0.0, 25.0)
    view_deg: tuple[float, float] = (58.0, 66.0)
    count: tuple[int, int] = (4, 8)
    side_mm: tuple[float, float] = (15.0, 17.0)
    touching: float = 0.0
    leaning: float = 0.0
    lean_deg: tuple[float, float] = (18.0, 45.0)
    light: tuple[float, float] = (0.6, 0.8)
    lamps: int = 1
    glossy: bool = False
    streak_px: tuple[float, float] = (0.0, 0.0)
    blur_px: tuple[float, float] = (0.0, 0.5)
    noise: float = 2.0
    quality: int = 92


HARDSHIPS = {
    "none": Hardship(),
    "aslant": Hardship(tilt_deg=(35.0, 45.0)),
    "small": Hardship(side_mm=(12.0, 12.5)),
    "large": Hardship(side_mm=(19.0, 20.0)),
    "near and wide": Hardship(view_deg=(82.0, 90.0)),
    "many": Hardship(count=(18, 25)),
    "touching": Hardship(touching=0.7),
    "leaning": Hardship(leaning=0.4),
    "moving": Hardship(streak_px=(2.0, 5.0)),
    "out of focus": Hardship(blur_px=(1.2, 2.0)),
    "dim": Hardship(light=(0.12, 0.2), noise=7.0),
    "side light": Hardship(light=(0.2, 0.3), lamps=2),
    "glare": Hardship(lamps=3, glossy=True),
    "packed hard": Hardship(quality=30),
}
"""By name; ``none`` is the baseline."""


@dataclass(frozen=True)
class ReadDie:
    """A die of a rendered picture: its true value, the one read (empty: not found), and its probability."""

    shows: str
    said: str
    probability: float

    @property
    def right(self) -> bool:
        """Whether it was found with its value, or found to lean."""
        return self.shows == self.said

    @property
    def certain_and_wrong(self) -> bool:
        """Whether a wrong value was read with certainty; a leaning die has no value."""
        return self.said not in {"", COCKED} and not self.right and self.probability >= CERTAIN


def _places(rng: np.random.Generator, hardship: Hardship, side_mm: float) -> Iterator[tuple[float, float]]:
    laid: list[tuple[float, float]] = []
    for _ in range(int(rng.integers(hardship.count[0], hardship.count[1] + 1))):
        for _ in range(60):
            against = bool(laid) and rng.random() < hardship.touching
            if against:
                x, y = laid[int(rng.integers(len(laid)))]
                along = rng.uniform(0, 2 * math.pi)
                away = side_mm * rng.uniform(1.42, 1.5)
                place = (x + away * math.cos(along), y + away * math.sin(along))
            else:
                place = (float(rng.uniform(-_REACH_MM, _REACH_MM)), float(rng.uniform(-_REACH_MM, _REACH_MM)))
            least = 1.41 * side_mm if hardship.touching else _NEAREST_MM * side_mm / 16
            if max(map(abs, place)) <= _REACH_MM and all(math.dist(place, other) >= least for other in laid):
                laid.append(place)
                yield place
                break


def stress_picture(name: str, number: int, seed: int) -> TrayPicture:
    """Draw one tray under a hardship of HARDSHIPS."""
    return stress_tray(HARDSHIPS[name], np.random.default_rng([seed, number, *name.encode()]), number)


def stress_tray(hardship: Hardship, rng: np.random.Generator, number: int) -> TrayPicture:
    """Draw one tray under a hardship."""
    dice, shows = [], []
    side = float(rng.uniform(*hardship.side_mm))
    for x, y in _places(rng, hardship, side):
        look = random_look(rng, gloss=float(rng.uniform(0.8, 1.3)) if hardship.glossy else 0.2)
        face, leans = int(rng.integers(6)), rng.random() < hardship.leaning
        lean = float(rng.uniform(*hardship.lean_deg)) if leans else 0.0
        turn = die_rotation(face, float(rng.uniform(0, 360)), lean, float(rng.uniform(0, 360)))
        dice.append(DrawnDie(np.array([x, y, centre_height_mm(turn, side)]), side, turn, look))
        shows.append(COCKED if leans else str(FACE_VALUES[face]))
    lamps = []
    for _ in range(hardship.lamps):
        around = rng.uniform(0, 2 * math.pi)
        place = (700 * math.cos(around), 700 * math.sin(around), float(rng.uniform(300, 900)))
        lamps.append(Lamp(place, float(rng.uniform(0.2, 0.5)) * hardship.light[1], (1.0, 1.0, 1.0), 60.0))
    view = float(rng.uniform(*hardship.view_deg))
    camera = lens(horizontal_view_deg=view)
    distance = float(rng.uniform(540, 600)) * math.tan(math.radians(31)) / math.tan(math.radians(view / 2))
    pose = looking_at(distance, float(rng.uniform(*hardship.tilt_deg)), float(rng.uniform(-180, 180)))
    lighting = Lighting(tuple(lamps), float(rng.uniform(*hardship.light)))
    made = tray_picture(dice, shows, camera, pose, lighting, number)
    return TrayPicture(_degraded(rng, hardship, made.image), camera, pose, made.layout, made.dice)


def leaning_picture(lean_deg: float, number: int, seed: int) -> TrayPicture:
    """Draw one tray in any light and from any viewpoint, in which all dice lean by ``lean_deg``."""
    rng = np.random.default_rng([seed, number, round(10 * lean_deg)])
    hardship = Hardship(
        tilt_deg=(0.0, 40.0),
        view_deg=(55.0, 72.0),
        count=(9, 14),
        side_mm=(14.0, 18.0),
        leaning=float(lean_deg > 0),
        lean_deg=(lean_deg, lean_deg),
        light=(0.3, 0.8),
        lamps=int(rng.integers(0, 4)),
        glossy=bool(rng.random() < 0.2),
        blur_px=(0.0, 1.0),
        noise=float(rng.uniform(1, 5)),
        quality=int(rng.integers(60, 96)),
    )
    return stress_tray(hardship, rng, number)


def _degraded(rng: np.random.Generator, hardship: Hardship, image: Image) -> Image:
    along, length = rng.uniform(0, math.pi), rng.uniform(*hardship.streak_px)
    image = motion_blur(image, (float(length * math.cos(along)), float(length * math.sin(along))))
    blur = float(rng.uniform(*hardship.blur_px))
    if blur > 0.3:
        image = np.asarray(cv2.GaussianBlur(image, (0, 0), blur), dtype=np.uint8)
    grain = rng.standard_normal(image.shape).astype(np.float32) * np.float32(hardship.noise)
    image = np.clip(image + grain, 0, 255).astype(np.uint8)
    return compress(image, hardship.quality)


def read_stress(made: TrayPicture, networks: Networks) -> list[ReadDie]:
    """Read a tray and pair each of its dice with the nearest one read; those left over are false positives."""
    surface = made.layout.surfaces[0]
    left = list(DiceReader(surface, networks).read(SurfaceView(made.image, made.camera, made.pose, surface), None).dice)
    read = []
    for x, y, shows in made.dice:
        near = min(left, key=lambda die: math.hypot(die.x_mm - x, die.y_mm - y), default=None)
        if near is None or math.hypot(near.x_mm - x, near.y_mm - y) > 12.0:
            read.append(ReadDie(shows, "", 0.0))
            continue
        left.remove(near)
        read.append(_said(shows, near))
    return read + [_said("nothing", die) for die in left]


def _said(shows: str, die: DieReading) -> ReadDie:
    value, probability = die.best
    return ReadDie(shows, COCKED if die.cocked else value, probability)


def calibration_error(read: list[ReadDie]) -> float:
    """The expected calibration error (Guo et al., 2017) of the values read, in ten bins of equal size."""
    said = sorted((one for one in read if one.said not in {"", COCKED}), key=lambda one: one.probability)
    if not said:
        return 0.0
    parts = np.array_split(np.arange(len(said)), min(10, len(said)))
    errors = [
        len(part) * abs(float(np.mean([said[i].right - said[i].probability for i in part.tolist()]))) for part in parts
    ]
    return sum(errors) / len(said)
