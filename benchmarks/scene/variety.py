"""Random settings, from tidy to awkward, random sets of blocks and discs, and what tables mirror and what lies on them.

A set has two colours that people can distinguish; symbols on blocks contrast with their face.
"""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Literal

import cv2
import numpy as np

from benchmarks.scene.mirrored import Finish, Panel
from benchmarks.scene.things import ForeignObject, ForeignObjectKind
from simulator.scene.pieces import BlockLook, Colour, DiscLook
from simulator.scene.scene import (
    Lamp,
    Lighting,
    MarkerState,
    Sensor,
    Setting,
    Surface,
    TableLook,
    first_fitting,
    growing_distances,
    lens,
    looking_at,
    standard_layout,
)
from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import BlockPieces, GridSurface, Tray, top_mm

PanelKind = Literal["lamp shade", "window", "ceiling grid"]

_SURFACES: tuple[tuple[Surface, Colour], ...] = (
    ("wood", (0.36, 0.47, 0.6)),
    ("dark wood", (0.36, 0.47, 0.6)),
    ("checks", (0.75, 0.8, 0.85)),
    ("marble", (0.8, 0.8, 0.8)),
    ("cloth", (0.28, 0.48, 0.22)),
    ("plain", (0.55, 0.53, 0.52)),
)
"""The surfaces of tables, and their usual colours."""
_MOST_STEPS_BACK = 40
"""Limit of the steps by which a camera moves away until everything is in the picture."""
_SIZES = ((1280, 720), (640, 480), (1920, 1080), (1296, 972))


_HALF_TABLE_MM = 215.0
"""Half the width of a board with its markers and a margin."""


def whole_table_distance_mm(camera: CameraModel) -> float:
    """Return the minimum distance at which the board and its markers fit into the shorter side of the picture."""
    return float(camera.matrix[1, 1]) * 2 * _HALF_TABLE_MM / min(camera.size)


def varied_setting(seed: int, hardness: float, size: tuple[int, int] | None = None) -> Setting:
    """Return a setting drawn from ``seed``; ``hardness`` from 0 (tidy) to 1 (tilted, dim, coloured, blurred, noisy).

    ``size`` fixes the picture's (width, height). Raises ValueError for a hardness outside 0 to 1.
    """
    if not 0.0 <= hardness <= 1.0:
        raise ValueError(f"hardness {hardness} asked for; expected 0 to 1")
    rng = np.random.default_rng([seed, 31])
    sizes = _SIZES[: 1 + round(hardness * (len(_SIZES) - 1))]
    chosen = size or sizes[int(rng.integers(len(sizes)))]
    camera = _lens(rng, hardness, chosen)
    azimuth = -90.0 + float(rng.uniform(-1, 1)) * 180.0 * hardness
    distance = whole_table_distance_mm(camera) * float(rng.uniform(1.0, 1.0 + 0.25 * hardness))
    tilt = float(rng.uniform(0.0, 8.0 + 37.0 * hardness))
    shift = rng.uniform(-20.0, 20.0, 2) * hardness
    roll = float(rng.uniform(-6.0, 6.0)) * hardness
    target = (float(shift[0]), float(shift[1]), 0.0)
    pose = pose_with_markers(camera, distance, tilt, azimuth, roll, target)
    surface, colour = _SURFACES[int(rng.integers(len(_SURFACES)))]
    table = TableLook(
        surface=surface,
        colour=_tint(rng, colour, 0.08),
        board_colour=_tint(rng, (0.58, 0.73, 0.86), 0.12 * hardness),
        markers=_markers(rng, hardness),
        seed=seed,
    )
    ordinary = BlockLook()
    blocks = BlockLook(
        colours={name: _tint(rng, shade, 0.2 * hardness) for name, shade in ordinary.colours.items()},
        ink=_tint(rng, ordinary.ink, 0.1 * hardness),
        grain=float(rng.uniform(0.1, 0.3 + 0.5 * hardness)),
        symbol_scale=float(rng.uniform(1.0 - 0.15 * hardness, 1.0 + 0.08 * hardness)),
    )
    return Setting(camera, pose, standard_layout(), table, blocks, _lighting(rng, hardness), _sensor(rng, hardness))


def pose_with_markers(
    camera: CameraModel,
    distance_mm: float,
    tilt_deg: float,
    azimuth_deg: float,
    roll_deg: float,
    target_mm: tuple[float, float, float],
    marker_ids: Collection[int] | None = None,
) -> Pose:
    """Return the nearest pose, from ``distance_mm`` on, with the board and those markers inside the picture.

    ``marker_ids`` are all by default; the markers' white borders are included.
    """
    layout = standard_layout()
    markers = layout.markers
    wanted = markers.centres_mm if marker_ids is None else marker_ids
    top = layout.board.height_mm + BlockPieces.on(layout.board).side_mm
    board = [layout.board.bounds_mm.corners_mm(height_mm) for height_mm in (0.0, top)]
    paper = np.vstack([*board, *(markers.corners_mm(marker_id) * 1.05 for marker_id in wanted)])
    distances = growing_distances(distance_mm, 1.04, _MOST_STEPS_BACK)
    poses = (looking_at(one, tilt_deg, azimuth_deg, roll_deg, target_mm) for one in distances)
    return first_fitting(camera, paper, 4, poses)


def _tint(rng: np.random.Generator, colour: Colour, spread: float) -> Colour:
    factors = 1.0 + rng.uniform(-1.0, 1.0, 3) * spread
    blue, green, red = (float(value) for value in np.clip(np.asarray(colour) * factors, 0.03, 0.98))
    return (blue, green, red)


def _lens(rng: np.random.Generator, hardness: float, size: tuple[int, int]) -> CameraModel:
    view_deg = float(rng.uniform(60.0, 66.0 + 24.0 * hardness))
    radial = float(rng.uniform(-0.22, 0.06)) * (0.3 + 0.7 * hardness)
    centre = rng.uniform(-12.0, 12.0, 2)
    return lens(size, view_deg, (radial, -0.15 * radial, 0.0004, -0.0003, 0.0), (float(centre[0]), float(centre[1])))


def _markers(rng: np.random.Generator, hardness: float) -> dict[int, MarkerState]:
    """Damage at most one marker."""
    marker_id = int(rng.permutation(4)[0])
    if rng.random() >= 0.6 * hardness:
        return {}
    return {marker_id: "missing" if rng.random() < 0.5 else "half covered"}


def _lighting(rng: np.random.Generator, hardness: float) -> Lighting:
    lamps: list[Lamp] = []
    for index in range(1 + int(rng.random() < 0.5)):
        angle = float(rng.uniform(-np.pi, np.pi))
        height = float(rng.uniform(1300.0 - 850.0 * hardness, 1500.0))
        across = float(rng.uniform(300.0, 500.0 + 500.0 * hardness))
        warmth = float(rng.uniform(-1.0, 1.0)) * 0.3 * hardness
        lamps.append(
            Lamp(
                (across * float(np.cos(angle)), across * float(np.sin(angle)), height),
                strength=float(rng.uniform(0.5, 0.9)) / (1 + index),
                colour=(1.0 - warmth, 1.0, 1.0 + warmth),
                radius_mm=float(rng.uniform(20.0, 120.0)),
            )
        )
    ambient = float(rng.uniform(0.35 - 0.25 * hardness, 0.45))
    return Lighting(tuple(lamps), ambient, gloss=float(rng.uniform(0.0, 0.05 + 0.4 * hardness)))


def _sensor(rng: np.random.Generator, hardness: float) -> Sensor:
    cast = 1.0 + rng.uniform(-1.0, 1.0, 3) * 0.15 * hardness
    return Sensor(
        exposure=float(rng.uniform(1.0 - 0.5 * hardness, 1.0 + 0.25 * hardness)),
        white_balance=(float(cast[0]), float(cast[1]), float(cast[2])),
        vignette=float(rng.uniform(0.05, 0.15 + 0.3 * hardness)),
        noise=float(rng.uniform(1.0, 2.0 + 5.0 * hardness)),
        defocus_px=float(rng.uniform(0.3, 0.6 + 0.8 * hardness)),
        jpeg_quality=round(float(rng.uniform(92.0 - 30.0 * hardness, 95.0))),
    )


APART = 38.0
"""Smallest distance in L*a*b* of colours that people distinguish at a glance."""
INK_CONTRAST = 30.0
"""Smallest difference in L* between ink and face."""

FACES: Mapping[str, Colour] = {
    "gold": (0.16, 0.58, 0.82),
    "orange": (0.12, 0.45, 0.9),
    "red": (0.16, 0.16, 0.72),
    "wine": (0.22, 0.12, 0.42),
    "pink": (0.68, 0.56, 0.92),
    "purple": (0.55, 0.22, 0.45),
    "navy": (0.38, 0.18, 0.12),
    "blue": (0.75, 0.4, 0.14),
    "sky": (0.9, 0.75, 0.5),
    "teal": (0.53, 0.49, 0.1),
    "green": (0.22, 0.5, 0.16),
    "lime": (0.25, 0.82, 0.62),
    "yellow": (0.2, 0.82, 0.93),
    "cream": (0.7, 0.85, 0.92),
    "white": (0.9, 0.9, 0.9),
    "grey": (0.5, 0.5, 0.5),
    "brown": (0.16, 0.28, 0.42),
    "black": (0.13, 0.13, 0.13),
}
"""Screen colours of painted wood."""

INKS: Mapping[str, Colour] = {
    "white": (0.95, 0.97, 0.97),
    "cream": (0.72, 0.88, 0.95),
    "yellow": (0.3, 0.88, 0.95),
    "black": (0.08, 0.08, 0.08),
    "navy": (0.32, 0.12, 0.1),
    "wine": (0.12, 0.08, 0.35),
}
"""Screen colours of symbols."""


def lab(colour: Colour) -> FloatArray:
    """Return CIE L*a*b* of a screen colour, shape (3,)."""
    pixel = np.asarray(colour, dtype=np.float32).reshape(1, 1, 3)
    return np.asarray(cv2.cvtColor(pixel, cv2.COLOR_BGR2LAB), dtype=np.float64).reshape(3)


def are_distinguishable(first: Colour, second: Colour) -> bool:
    """Whether people distinguish two colours at a glance: by their distance in L*a*b* (CIE 1976)."""
    return bool(np.linalg.norm(lab(first) - lab(second)) >= APART)


def shows_on(ink: Colour, face: Colour) -> bool:
    """Whether an ink is clearly lighter or clearly darker than the face."""
    return bool(abs(lab(ink)[0] - lab(face)[0]) >= INK_CONTRAST)


def varied_pieces(seed: int) -> tuple[str, BlockLook]:
    """Return a piece set drawn from ``seed`` and its description, such as ``red with white, cream with navy``.

    The first of the two colours is called gold, the second teal, whatever they look like.
    """
    rng = np.random.default_rng([seed, 41])
    faces = _two_faces(rng)
    inks = [_ink_for(face, rng) for face in faces]
    description = ", ".join(f"{face} with {ink}" for face, ink in zip(faces, inks, strict=True))
    look = BlockLook(
        colours={"gold": FACES[faces[0]], "teal": FACES[faces[1]]},
        inks={"gold": INKS[inks[0]], "teal": INKS[inks[1]]},
        grain=float(rng.uniform(0.1, 0.5)),
        symbol_scale=float(rng.uniform(0.88, 1.06)),
    )
    return description, look


_OWN_BALL_COLOUR = 0.5
"""Share of players whose balls have a colour of their own."""


def varied_discs(seed: int) -> tuple[str, DiscLook]:
    """Return a set of discs and balls drawn from ``seed`` and its description, such as ``red, cream with navy balls``.

    The first of the two colours is called black, the second white, whatever they look like. Balls have their owner's
    colour or one of their own that shows on it.
    """
    rng = np.random.default_rng([seed, 43])
    chosen = _two_faces(rng)
    descriptions, balls = [], {}
    for player, face in zip(("black", "white"), chosen, strict=True):
        ink = _ink_for(face, rng) if rng.random() < _OWN_BALL_COLOUR else None
        descriptions.append(face if ink is None else f"{face} with {ink} balls")
        if ink is not None:
            balls[player] = INKS[ink]
    colours = {"black": FACES[chosen[0]], "white": FACES[chosen[1]]}
    look = DiscLook(colours, balls, gloss=float(rng.uniform(0.8, 2.2)), rounding_mm=float(rng.uniform(0.6, 1.6)))
    return ", ".join(descriptions), look


def _two_faces(rng: np.random.Generator) -> list[str]:
    """Return two distinguishable colours of pieces."""
    names = tuple(FACES)
    while True:
        first, second = (names[int(index)] for index in rng.integers(len(names), size=2))
        if are_distinguishable(FACES[first], FACES[second]):
            return [first, second]


def _ink_for(face: str, rng: np.random.Generator) -> str:
    """Return an ink that shows on the face."""
    fitting = [name for name, ink in INKS.items() if shows_on(ink, FACES[face])]
    return fitting[int(rng.integers(len(fitting)))]


MIRRORED: tuple[PanelKind, ...] = ("lamp shade", "window", "ceiling grid")
"""What a table may mirror."""
FINISHES: Mapping[str, Finish] = {
    "varnish": Finish(roughness=0.04, waviness=0.003),
    "laminate": Finish(roughness=0.004, waviness=0.012),
    "whiteboard": Finish(head_on=0.05, roughness=0.012, waviness=0.002),
    "glossy paper": Finish(roughness=0.08, waviness=0.01),
}
"""How smooth boards and sheets are, from a varnished board to a sheet in a laminating pouch."""


def varied_panel(rng: np.random.Generator, kind: PanelKind, camera_mm: FloatArray, target_mm: FloatArray) -> Panel:
    """Return a lamp or a window that the camera sees mirrored at a point (3,) of a level surface."""
    ray = target_mm - camera_mm
    ray /= np.linalg.norm(ray)
    leaving = ray * np.array([1.0, 1.0, -1.0])
    beside = np.cross(leaving, rng.normal(size=3))
    beside /= np.linalg.norm(beside)
    angle = float(rng.uniform(-np.pi, np.pi))
    level, other = np.array([np.cos(angle), np.sin(angle), 0.0]), np.array([-np.sin(angle), np.cos(angle), 0.0])
    panes, bars, is_round = (1, 1), 0.0, False
    if kind == "lamp shade":
        away, luminance, is_round = rng.uniform(600, 1300), rng.uniform(15, 40), True
        across, up = (rng.uniform(110, 220) * axis for axis in (level, other))
    elif kind == "window":
        away, luminance = rng.uniform(1500, 2600), rng.uniform(25, 80)
        # it stands across the ray: a window for a tilted camera, a roof light for one above
        across, up = beside * rng.uniform(350, 600), np.cross(leaving, beside) * rng.uniform(450, 800)
        panes, bars = (int(rng.integers(1, 4)), int(rng.integers(2, 4))), float(rng.uniform(0.06, 0.14))
    else:
        away, luminance = rng.uniform(1300, 1900), rng.uniform(40, 100)
        across, up = level * rng.uniform(700, 1100), other * rng.uniform(500, 900)
        panes, bars = (int(rng.integers(2, 5)), int(rng.integers(2, 4))), float(rng.uniform(0.45, 0.7))
    warmth = float(rng.uniform(-0.2, 0.25))
    return Panel(
        _triple(target_mm + leaving * away),
        _triple(across),
        _triple(up),
        float(luminance),
        (1.0 - warmth, 1.0, 1.0 + warmth),
        panes,
        bars,
        is_round,
    )


def _triple(values: FloatArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z


def half_mm(surface: GridSurface | Tray) -> FloatArray:
    """Return half the width and the depth of a board, of a sheet's grid, or of a tray."""
    return np.array([surface.bounds_mm.width_mm, surface.bounds_mm.depth_mm]) / 2


COVERINGS: tuple[ForeignObjectKind, ...] = ("cat", "scarf", "sleeve", "playing card", "napkin")
"""What may lie still over a board or a sheet."""
_CLOTHS: tuple[Colour, ...] = (
    (0.12, 0.1, 0.1),
    (0.35, 0.2, 0.15),
    (0.15, 0.15, 0.6),
    (0.85, 0.86, 0.86),
    (0.3, 0.5, 0.3),
)
_NAPKINS: tuple[Colour, ...] = (
    (0.92, 0.93, 0.94),
    (0.84, 0.9, 0.95),
    (0.6, 0.55, 0.88),
    (0.55, 0.72, 0.5),
    (0.2, 0.15, 0.6),
)
_FURS: tuple[Colour, ...] = (
    (0.1, 0.1, 0.1),
    (0.2, 0.35, 0.55),
    (0.45, 0.47, 0.48),
    (0.8, 0.83, 0.86),
    (0.25, 0.5, 0.75),
)


def varied_coverings(
    rng: np.random.Generator, kind: ForeignObjectKind, surface: GridSurface | Tray
) -> tuple[ForeignObject, ...]:
    """Return what lies over part of a surface, on what stands there: one thing, or up to five playing cards."""
    half, base_mm = half_mm(surface), min(top_mm(surface), surface.height_mm + 40.0) + 0.5

    def one(reach: float, radius_mm: float, colours: tuple[Colour, ...]) -> ForeignObject:
        x, y = (float(value) for value in rng.uniform(-reach, reach, 2) * half)
        colour, turned = colours[int(rng.integers(len(colours)))], float(rng.uniform(-180.0, 180.0))
        return ForeignObject(kind, x, y, colour, base_mm, radius_mm, turned, int(rng.integers(1 << 30)))

    size = float(half.mean())
    if kind == "cat":
        return (one(1.0, size * float(rng.uniform(0.6, 1.0)), _FURS),)
    if kind == "scarf":
        return (one(0.7, size * float(rng.uniform(0.2, 0.32)), _CLOTHS),)
    if kind == "napkin":
        return (one(0.8, size * float(rng.uniform(0.5, 1.3)), _NAPKINS),)
    if kind == "sleeve":
        thing = one(0.6, float(rng.uniform(38.0, 55.0)), _CLOTHS)
        # its cuff lies over the board, and the rest leads away from it
        along = np.radians(thing.turned_deg)
        half_length = 3.5 * thing.radius_mm
        return (
            replace(
                thing,
                x_mm=thing.x_mm + half_length * float(np.cos(along)),
                y_mm=thing.y_mm + half_length * float(np.sin(along)),
            ),
        )
    return tuple(one(0.9, 44.0, _CLOTHS) for _ in range(int(rng.integers(1, 6))))


def varied_clutter(
    rng: np.random.Generator, surface: GridSurface | Tray, keep_clear_mm: FloatArray
) -> tuple[ForeignObject, ...]:
    """Return things that lie around a board or sheet, none within 60 mm of points (n, 2)."""
    half = half_mm(surface)
    kinds: tuple[ForeignObjectKind, ...] = ("coin", "cup", "card", "playing card", "playing card", "scarf")
    lying: list[ForeignObject] = []
    for _ in range(40):
        kind = kinds[int(rng.integers(len(kinds)))]
        radius = {"coin": 12.0, "cup": 38.0, "card": 32.0, "playing card": 44.0, "scarf": 26.0}[kind]
        reach = radius * (7.2 if kind == "scarf" else 1.5)
        at = rng.uniform(-1.0, 1.0, 2) * (half + 190.0)
        is_beside = bool((np.abs(at) - half).max() > reach + (45.0 if kind == "cup" else 8.0))
        near = [np.array([thing.x_mm, thing.y_mm]) for thing in lying] + list(keep_clear_mm)
        if is_beside and all(np.linalg.norm(at - other) > radius + 60.0 for other in near):
            colour = _CLOTHS[int(rng.integers(len(_CLOTHS)))]
            turned, seed = float(rng.uniform(-180.0, 180.0)), int(rng.integers(1 << 30))
            lying.append(ForeignObject(kind, float(at[0]), float(at[1]), colour, 0.0, radius, turned, seed))
        if len(lying) == 8:
            break
    return tuple(lying)
