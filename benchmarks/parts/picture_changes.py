"""Changes of a picture of a table, with or without known truth: what happens in the scene, in the light, in the camera.

``benchmarks/stress.py`` lays them over pictures, one at a time or many at once, with the names of the hardships.
``benchmarks/photoreal.py --effect NAME`` applies one to a whole set: those of a camera to the enrolment pictures too,
since one camera takes them all; any other only to the pictures to be read.
"""

import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TypeVar

import cv2
import numpy as np

from benchmarks.scene import processing, variety
from benchmarks.scene.mirrored import mirrored
from benchmarks.scene.processing import Levels, developed, rounded
from benchmarks.scene.things import ForeignObject, ForeignObjectKind, paint_foreign_object
from simulator.rendering.hands import HandOcclusion, hand_sprite, paint_hand_shadow
from simulator.rendering.optics import compress, motion_blur, normalised_rays, on_plane, shade_table
from simulator.rendering.painting import paste
from simulator.scene.pieces import Colour
from simulator.scene.scene import SKINS, SLEEVES, Hand, Lighting, Sensor, Setting
from vision.frame import FloatArray, FloatImage, Image
from vision.geometry import CameraModel, Pose, outline_px, project
from vision.layout.pieces import Ink, Surface
from vision.layout.table import TableLayout
from vision.sampling import TONE_CURVE, linear_light

ORDINARY_LIGHT, PAPER_LIGHT = 0.35, 0.8
"""Linear light of a board, and of white paper, in an ordinary picture of 1 for white."""
SHADOW_LEFT = 0.55

Step = TypeVar("Step")
View = Callable[[], tuple[CameraModel, Pose]]


@dataclass(frozen=True, eq=False)
class LabelledPicture:
    """A picture and its truth, with the fields of ``StressCase``; ``occupied`` are the places with a piece.

    ``view`` gives camera and pose, when a change asks for them.
    """

    image: Image
    view: View
    layout: TableLayout
    occupied: tuple[str, ...] = ()
    covered: tuple[str, ...] = ()
    hand: str = "beside"
    thing: bool = False

    @property
    def camera(self) -> CameraModel:
        """The camera that took the picture."""
        return self.view()[0]

    @property
    def pose(self) -> Pose:
        """The camera's pose."""
        return self.view()[1]

    @property
    def half_mm(self) -> FloatArray:
        """Half the width and the depth of the board, of the sheet's grid, or of the tray."""
        return variety.half_mm(self.surface)

    @property
    def surface(self) -> Surface:
        """The board, the sheet or the tray."""
        return self.layout.surfaces[0]


Change = Callable[[LabelledPicture, np.random.Generator], LabelledPicture]
LightChange = Callable[[FloatImage, LabelledPicture, np.random.Generator], FloatImage]


def _board_px(picture: LabelledPicture, shares: Sequence[tuple[float, float]]) -> FloatArray:
    """Project points of the board, given as shares of its half width and half depth."""
    points = [[*(picture.half_mm * share), picture.surface.height_mm] for share in np.asarray(shares)]
    return project(picture.camera, picture.pose, points)


def _board_side_px(picture: LabelledPicture) -> float:
    outline = _board_px(picture, [(-1, -1), (1, -1), (1, 1), (-1, 1)])
    return float(np.sqrt(cv2.contourArea(outline.astype(np.float32))))


def with_reflection(
    light: FloatImage, picture: LabelledPicture, rng: np.random.Generator, kind: variety.PanelKind, finish: str
) -> FloatImage:
    """A lamp or a window, mirrored by the board or the sheet, which has that finish, and what lies around it."""
    height_mm, pose = picture.surface.height_mm, picture.pose
    target = np.array([*(rng.uniform(-0.85, 0.85, 2) * picture.half_mm), height_mm])
    panel = variety.varied_panel(rng, kind, pose.camera_position_mm, target)
    surface = replace(variety.FINISHES[finish], seed=int(rng.integers(1 << 30)))
    rays = normalised_rays(picture.camera, 0.0, 0.0, picture.camera.size)
    points, hits = on_plane(pose, rays, height_mm)
    level = np.concatenate([points, np.full((*points.shape[:2], 1), height_mm)], axis=-1)
    focal_px = float(picture.camera.matrix[0, 0])
    shine = mirrored((panel,), surface, level, pose.camera_position_mm, focal_px) * hits[..., None]
    return np.asarray(light + shine * _exposure(picture), dtype=np.float32)


def with_stains(light: FloatImage, picture: LabelledPicture, rng: np.random.Generator, strength: float) -> FloatImage:
    """Use and dirt: rings of cups, blotches, creases and scratches on board or paper, not on pieces."""
    half, board = picture.half_mm, picture.surface
    scale = 3.0
    size = tuple(int(value) for value in np.ceil(2.2 * half * scale))
    left = np.ones((size[1], size[0], 3), dtype=np.float32)
    for _ in range(1 + int(rng.integers(3))):
        ring = np.zeros(size[::-1], dtype=np.float32)
        at = tuple(int(value) for value in rng.uniform(0.1, 0.9, 2) * size)
        radius = int(rng.uniform(28, 42) * scale)
        filled = rng.random() < 0.4
        cv2.circle(ring, at, radius, 0.5 if filled else 1.0, -1 if filled else int(rng.uniform(2, 5) * scale))
        ring = cv2.GaussianBlur(ring, (0, 0), 2.0) * (0.6 + 0.4 * _cloud(rng, ring.shape, 8.0))
        colour = np.array([0.75, 0.5, 0.3]) * rng.uniform(0.5, 1.0)
        left *= 1.0 - strength * ring[..., None] * colour.astype(np.float32)
    left *= 1.0 - 0.35 * strength * np.clip(_cloud(rng, left.shape[:2], 25.0) - 0.5, 0.0, 1.0)[..., None]
    for _ in range(int(rng.integers(2, 7))):
        line = np.zeros(size[::-1], dtype=np.float32)
        start, end = (tuple(int(value) for value in rng.uniform(0.0, 1.0, 2) * size) for _ in range(2))
        cv2.line(line, start, end, 1.0, int(rng.integers(1, 3)), cv2.LINE_AA)
        left *= 1.0 + float(rng.uniform(-0.35, 0.35)) * strength * line[..., None]
    rays = normalised_rays(picture.camera, 0.0, 0.0, picture.camera.size)
    points, hits = on_plane(picture.pose, rays, board.height_mm)
    columns, rows = np.moveaxis(((points * (1.0, -1.0) + 1.1 * half) * scale - 0.5).astype(np.float32), -1, 0)
    factor = cv2.remap(left, columns, rows, cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(1, 1, 1))
    factor[~hits] = 1.0
    for place in picture.occupied:
        solid = picture.layout.surface_of(place).solid_at(place)
        if solid is not None:
            outline = np.round(outline_px(solid, picture.camera, picture.pose)).astype(np.int32)
            cv2.fillConvexPoly(factor, outline, (1.0, 1.0, 1.0))
    return np.asarray(light * factor, dtype=np.float32)


def _cloud(rng: np.random.Generator, shape: tuple[int, ...], spread_px: float) -> FloatImage:
    """Smooth noise of that size, mean 0.5, from about 0 to 1."""
    rows, columns = (int(np.ceil(side / spread_px)) + 2 for side in shape)
    coarse = rng.uniform(0.0, 1.0, (rows, columns)).astype(np.float32)
    return np.asarray(cv2.resize(coarse, shape[1::-1], interpolation=cv2.INTER_CUBIC), dtype=np.float32)


def with_haze(light: FloatImage, picture: LabelledPicture, rng: np.random.Generator, transmission: float) -> FloatImage:
    """Fog or steam before the camera, as bright as the table."""
    return processing.hazed(light, transmission, _exposure(picture) * float(rng.uniform(0.35, 0.7)))


def with_bands(light: FloatImage, _picture: LabelledPicture, rng: np.random.Generator, depth: float) -> FloatImage:
    """Bands of a lamp on mains: 100 or 120 flashes a second, and 15 to 33 ms to read out a picture."""
    periods = float(rng.choice([100.0, 120.0]) * rng.uniform(0.015, 0.033))
    return processing.banded(light, depth, float(rng.uniform(0.0, 2 * np.pi)), periods)


def with_swing(light: FloatImage, _picture: LabelledPicture, rng: np.random.Generator, stops: float) -> FloatImage:
    """An exposure and a white balance that swing, caught anywhere: up to so many stops, and a third of it by colour."""
    swung = 2.0 ** (stops * rng.uniform(-1, 1) + stops / 3 * rng.uniform(-1, 1, 3))
    return np.asarray(light * swung, dtype=np.float32)


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


def _exposure(picture: LabelledPicture) -> float:
    """How bright the picture is: 1 where white paper in an ordinary light is nearly white."""
    outline = np.round(_board_px(picture, [(-1, -1), (1, -1), (1, 1), (-1, 1)])).astype(np.int32)
    mask = np.zeros(picture.image.shape[:2], dtype=np.uint8)
    cv2.fillConvexPoly(mask, outline, 255)
    usual = PAPER_LIGHT if isinstance(picture.surface.pieces, Ink) else ORDINARY_LIGHT
    inside = picture.image[mask > 0]
    return float(np.clip(np.median(linear_light(inside)) / usual, 0.05, 2.0)) if len(inside) else 1.0


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
    sensor = Sensor(exposure=_exposure(picture), vignette=0.0)
    return Setting(picture.camera, picture.pose, picture.layout, lighting=Lighting(), sensor=sensor)


ARM_SKINS = ("very pale skin", "pale skin", "tan skin", "brown skin", "dark skin")
ARM_SLEEVES = ("bare arm", "dark sleeve", "red sleeve", "white sleeve", "wood-brown sleeve")


def reaching_hand(
    rng: np.random.Generator,
    ground_mm: float,
    most: float,
    scale: FloatArray | float = 1.0,
    skin: str | None = None,
    sleeve: str | None = None,
) -> Hand:
    """A hand over the board from any side, with fingertips within ``most`` times ``scale`` mm of the centre."""
    angle = float(rng.uniform(-np.pi, np.pi))
    outwards = np.array([np.cos(angle), np.sin(angle)])
    tip = rng.uniform(-most, most, 2) * scale
    elbow = tip + outwards * float(rng.uniform(330.0, 420.0))
    return Hand(
        (float(tip[0]), float(tip[1]), ground_mm + float(rng.uniform(20.0, 60.0))),
        (float(elbow[0]), float(elbow[1]), float(rng.uniform(110.0, 170.0))),
        *drawn_arm(rng, skin, sleeve),
    )


def resting(hand: Hand, ground_mm: float) -> Hand:
    """The same hand, open and flat on the table."""
    (x, y, _), (elbow_x, elbow_y, _) = hand.tip_mm, hand.elbow_mm
    flat = (x, y, ground_mm + 9.0), (elbow_x, elbow_y, ground_mm + 45.0)
    return replace(hand, tip_mm=flat[0], elbow_mm=flat[1], grip=0.0)


def drawn_arm(
    rng: np.random.Generator, skin: str | None = None, sleeve: str | None = None
) -> tuple[Colour, Colour | None, float, float]:
    """An arm's skin, its sleeve and where that begins, and how closed the hand is."""
    return (
        SKINS[skin or ARM_SKINS[int(rng.integers(len(ARM_SKINS)))]],
        SLEEVES[sleeve or ARM_SLEEVES[int(rng.integers(len(ARM_SLEEVES)))]],
        float(rng.uniform(0.0, 0.6)),
        float(rng.uniform(0.0, 1.0)),
    )


def drawn_radius_mm(rng: np.random.Generator, kind: str) -> float:
    """The radius of a coin, a cup or a card."""
    return {"coin": float(rng.uniform(9, 13)), "cup": float(rng.uniform(32, 42)), "card": 32.0}[kind]


def with_hand(
    picture: LabelledPicture,
    rng: np.random.Generator,
    skin: str | None = None,
    sleeve: str | None = None,
    is_open: bool = False,
) -> LabelledPicture:
    """Render a hand over the board, from any side; ``is_open``: it lies flat."""
    half = picture.half_mm
    hand = reaching_hand(rng, picture.surface.height_mm, 0.75, half, skin, sleeve)
    if is_open:
        hand = resting(hand, picture.surface.height_mm)
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
    half = picture.half_mm
    blocks = np.array([layout.centre_mm(place) for place in picture.occupied]).reshape(-1, 2)
    # a cup would hide blocks behind it, which the truth of this picture doesn't know
    places = [rng.uniform(-0.95, 0.95, 2) * half for _ in range(60)] if kind != "cup" else []
    clear = [at for at in places if not len(blocks) or np.linalg.norm(blocks - at, axis=1).min() > 26 + 1.5 * radius]
    if clear:
        (x, y), base = clear[0], picture.surface.height_mm
    else:
        away, along = half[0] + radius + float(rng.uniform(100.0, 130.0)), float(rng.uniform(-100.0, 100.0))
        (x, y), base = ((away, along), (-away, along))[int(rng.integers(2))], 0.0
    image = picture.image.copy()
    thing = ForeignObject(kind, float(x), float(y), colour, base, radius)  # type: ignore[arg-type]
    paint_foreign_object(_setting(picture), image, thing, _board_side_px(picture) / (2 * float(half[0])))
    return replace(picture, image=image, thing=True)


def _with_things(picture: LabelledPicture, things: Sequence[ForeignObject]) -> LabelledPicture:
    setting, image = _setting(picture), picture.image.copy()
    for thing in things:
        paint_foreign_object(setting, image, thing, _board_side_px(picture) / (2 * float(picture.half_mm[0])))
    covered = HandOcclusion(setting).covered((), picture.occupied, things)
    return replace(picture, image=image, covered=tuple({*picture.covered, *covered}), thing=True)


def covered_by(picture: LabelledPicture, rng: np.random.Generator, kind: ForeignObjectKind) -> LabelledPicture:
    """Something that lies still over part of the board and over pieces."""
    return _with_things(picture, variety.varied_coverings(rng, kind, picture.surface))


def cluttered(picture: LabelledPicture, rng: np.random.Generator) -> LabelledPicture:
    """Cups, cards and coins beside the board."""
    centres = np.array(list(picture.layout.markers.centres_mm.values())).reshape(-1, 2)
    return _with_things(picture, variety.varied_clutter(rng, picture.surface, centres))


def mirror_image(picture: LabelledPicture, _rng: np.random.Generator) -> LabelledPicture:
    """The picture mirrored left to right, as webcam programs do it."""
    return replace(picture, image=np.ascontiguousarray(picture.image[:, ::-1]))


def upside_down(picture: LabelledPicture, _rng: np.random.Generator) -> LabelledPicture:
    """The picture turned by half a turn."""
    return replace(picture, image=np.ascontiguousarray(picture.image[::-1, ::-1]))


ImageChange = Callable[[Image, np.random.Generator], Image]


def _of_image(change: ImageChange) -> Change:
    def changed(picture: LabelledPicture, rng: np.random.Generator) -> LabelledPicture:
        return replace(picture, image=change(picture.image, rng))

    return changed


def _web_camera(image: Image, rng: np.random.Generator, strength: float) -> Image:
    """A cheap camera's own work: a mosaic with noise, smoothed, then sharpened."""
    seen = processing.denoised(processing.mosaicked(image, rng, strength / 4), strength)
    return rounded(processing.sharpened(seen.astype(np.float32), 1.2))


def _video(image: Image, _rng: np.random.Generator, step: float) -> Image:
    return processing.low_rate_video(image, step)


IN_THE_SCENE: Mapping[str, Mapping[str, Change]] = {
    "hands": {skin: partial(with_hand, skin=skin) for skin in ARM_SKINS}
    | {sleeve: partial(with_hand, sleeve=sleeve) for sleeve in ARM_SLEEVES},
    "things": {kind: partial(with_object, kind=kind) for kind in ("coin", "cup", "card")},
    "coverings": {kind: partial(covered_by, kind=kind) for kind in variety.COVERINGS}
    | {"open hand": partial(with_hand, is_open=True)},
    "clutter": {"beside the board": cluttered},
    "markers": {
        "1 missing": partial(without_markers, missing=1),
        "1 half covered": partial(without_markers, missing=0, half=1),
        "2 missing": partial(without_markers, missing=2),
        "1 missing, 1 half": partial(without_markers, missing=1, half=1),
        "3 missing": partial(without_markers, missing=3),
    },
}
# what is mirrored comes last: no stain or shade darkens it
IN_THE_LIGHT: Mapping[str, Mapping[str, LightChange]] = {
    "stains": {name: partial(with_stains, strength=share) for name, share in (("slight", 0.4), ("strong", 0.9))},
    "side in shadow": {f"{left:.0%} left": partial(with_shadow, left=left) for left in (0.4, 0.2, 0.08)},
    "lamp colour": {
        "warm": partial(with_gains, colour=(0.6, 0.9, 1.1)),
        "candle": partial(with_gains, colour=(0.25, 0.65, 1.15)),
        "cold": partial(with_gains, colour=(1.3, 1.0, 0.75)),
        "green": partial(with_gains, colour=(0.7, 1.15, 0.7)),
        "pink": partial(with_gains, colour=(1.1, 0.7, 1.15)),
    },
    "reflection": {
        f"{kind} on {finish}": partial(with_reflection, kind=kind, finish=finish)
        for kind in variety.MIRRORED
        for finish in variety.FINISHES
    },
    "fog": {f"{left:.0%} left": partial(with_haze, transmission=left) for left in (0.6, 0.35, 0.18)},
    "bands": {f"{depth:.0%}": partial(with_bands, depth=depth) for depth in (0.04, 0.12, 0.3)},
    "exposure": {f"x {x}": partial(with_gains, colour=(x, x, x)) for x in (0.15, 0.35, 1.5, 2.2, 4.0)},
    "swing": {f"{stops} stops": partial(with_swing, stops=stops) for stops in (0.5, 1.2)},
}
IN_THE_CAMERA: Mapping[str, Mapping[str, Change]] = {
    "defocus": {f"sigma {px} px": partial(defocused, sigma_px=px) for px in (1.0, 1.6, 2.2)},
    "motion blur": {f"{px} px": partial(shaken, length_px=float(px)) for px in (4, 7, 11)},
    "noise": {f"{levels} levels": partial(noisy, levels=float(levels)) for levels in (5, 9, 14)},
    "compression": {f"JPEG {quality}": partial(compressed, quality=quality) for quality in (50, 30)},
    "night mode": {
        f"{left:.1%} of the light": _of_image(partial(processing.night_mode, light_left=left))
        for left in (0.05, 0.015, 0.005)
    },
    "Bayer mosaic": {
        f"{noise} levels": _of_image(partial(processing.mosaicked, noise=float(noise))) for noise in (2, 8)
    },
    "web camera": {
        f"{strength} levels": _of_image(partial(_web_camera, strength=float(strength))) for strength in (10, 25)
    },
    "low-rate video": {f"step {step}": _of_image(partial(_video, step=float(step))) for step in (16, 32, 56)},
    "broken stream": {"bytes lost": _of_image(processing.garbled)},
    "orientation": {"mirrored": mirror_image, "half a turn": upside_down},
}
AT_ONCE = {"some of all": 0.3, "most of all": 0.6}
SELDOM, SELDOM_MET = 0.4, frozenset({"hands", "things", "coverings"})
NEVER_WITH_OTHERS = frozenset({"orientation", "broken stream"})
"""Hardships after which nothing can be read."""


def harder(picture: LabelledPicture, hardship: str, level: str, rng: np.random.Generator) -> LabelledPicture:
    """Apply one hardship, or many for ``everything``, in physical order: scene, light, camera."""

    def drawn(levels: Mapping[str, Step], name: str) -> Step | None:
        if hardship != "everything":
            return levels[level] if name == hardship else None
        if name in NEVER_WITH_OTHERS or rng.random() >= AT_ONCE[level] * (SELDOM if name in SELDOM_MET else 1.0):
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


# Effects on a whole set of pictures.


def _of_levels(change: Callable[[Levels, np.random.Generator], Levels]) -> Change:
    return _of_image(lambda image, rng: rounded(change(image.astype(np.float32), rng)))


def warm(levels: Levels, _rng: np.random.Generator) -> Levels:
    """A darker tone curve and a yellow white balance."""
    return np.asarray(255 * (levels / 255) ** 1.25 * np.array([0.85, 1.0, 1.12]), dtype=np.float32)


def dim(levels: Levels, rng: np.random.Generator) -> Levels:
    """Three fifths of the brightness, and noise with a standard deviation of 5 levels."""
    return np.asarray(0.6 * levels + rng.normal(0, 5, levels.shape), dtype=np.float32)


def night(levels: Levels, rng: np.random.Generator) -> Levels:
    """An eighth of the light, and noise with a standard deviation of 6 levels."""
    return np.asarray(_exposed(levels, 0.125) + rng.normal(0, 6, levels.shape), dtype=np.float32)


def shadow(levels: Levels, rng: np.random.Generator) -> Levels:
    """Half the light in a band with hard edges at any angle, as cast by somebody in front of a lamp.

    Its width is 0.2 to 0.6 of the picture's height; its middle is within a quarter of that height of the centre.
    """
    rows, columns = levels.shape[:2]
    angle, offset, width = rng.uniform(0, np.pi), rng.uniform(-0.25, 0.25) * rows, rng.uniform(0.2, 0.6) * rows
    y, x = np.mgrid[:rows, :columns]
    across = (x - columns / 2) * np.cos(angle) + (y - rows / 2) * np.sin(angle)
    shaded = np.abs(across - offset) < width / 2
    return np.where(shaded[..., None], _exposed(levels, 0.5), levels)


def cool(levels: Levels, _rng: np.random.Generator) -> Levels:
    """A blue white balance."""
    return np.asarray(levels * np.array([1.15, 1.0, 0.85]), dtype=np.float32)


def vivid(levels: Levels, _rng: np.random.Generator) -> Levels:
    """The saturation times 1.5."""
    return _saturated(levels, 1.5)


def pale(levels: Levels, _rng: np.random.Generator) -> Levels:
    """The saturation times 0.6."""
    return _saturated(levels, 0.6)


def _exposed(levels: Levels, factor: float) -> Levels:
    return np.asarray(levels * factor ** (1 / TONE_CURVE), dtype=np.float32)


def _saturated(levels: Levels, factor: float) -> Levels:
    grey = cv2.cvtColor(levels, cv2.COLOR_BGR2GRAY)[..., None]
    return np.asarray(grey + factor * (levels - grey), dtype=np.float32)


def _of_light(change: LightChange) -> Change:
    """The change of the picture that a change of its light gives."""

    def changed(picture: LabelledPicture, rng: np.random.Generator) -> LabelledPicture:
        return replace(picture, image=developed(change(linear_light(picture.image), picture, rng)))

    return changed


def _drawn_level(levels: Mapping[str, Change]) -> Change:
    """The change at a level drawn anew for each picture."""

    def changed(picture: LabelledPicture, rng: np.random.Generator) -> LabelledPicture:
        return list(levels.values())[int(rng.integers(len(levels)))](picture, rng)

    return changed


@dataclass(frozen=True)
class Effect:
    """A change of pictures, then JPEG compression at ``jpeg_quality``, 0 to 100.

    ``in_enrolment``: whether it is applied to enrolment pictures too.
    """

    change: Change
    jpeg_quality: int = 92
    in_enrolment: bool = False


def _all_changes() -> dict[str, dict[str, Change]]:
    """Every hardship's levels, in physical order, as changes of pictures."""
    in_the_light = {
        name: {level: _of_light(change) for level, change in levels.items()} for name, levels in IN_THE_LIGHT.items()
    }
    return {name: dict(levels) for name, levels in {**IN_THE_SCENE, **in_the_light, **IN_THE_CAMERA}.items()}


CHANGES: Mapping[str, Mapping[str, Change]] = MappingProxyType(_all_changes())
"""Changes of pictures by hardship and level."""


def _effects() -> dict[str, Effect]:
    of_camera = {"Bayer mosaic", "web camera"}
    found = {
        "warm": Effect(_of_levels(warm), 92, in_enrolment=True),
        "dim": Effect(_of_levels(dim), 75, in_enrolment=True),
        "sharpened": Effect(_of_levels(lambda levels, _: processing.sharpened(levels)), 65, in_enrolment=True),
        "soft": Effect(partial(defocused, sigma_px=1.1), 90, in_enrolment=True),
        "shaken": Effect(partial(shaken, length_px=6.0), 90, in_enrolment=True),
        "bright": Effect(_of_levels(lambda levels, _: _exposed(levels, 1.6))),
        "night": Effect(_of_levels(night), 75),
        "shadow": Effect(_of_levels(shadow)),
        "cool": Effect(_of_levels(cool)),
        "vivid": Effect(_of_levels(vivid)),
        "pale": Effect(_of_levels(pale)),
    }
    for name, levels in CHANGES.items():
        found[name] = Effect(_drawn_level(levels), in_enrolment=name in of_camera)
        found |= {f"{name}: {level}": Effect(one, in_enrolment=name in of_camera) for level, one in levels.items()}
    return found


EFFECTS: Mapping[str, Effect] = MappingProxyType(_effects())
"""The effects by name: ``NAME`` of a hardship, at any level, or ``NAME: LEVEL``."""


def with_effect(name: str, picture: LabelledPicture) -> Image:
    """Apply an effect and JPEG compression; deterministic for each picture."""
    effect = EFFECTS[name]
    changed = effect.change(picture, np.random.default_rng(zlib.crc32(picture.image.tobytes())))
    return compress(changed.image, effect.jpeg_quality)
