"""Random settings, from tidy to awkward, and random sets of blocks and discs.

A set has two colours that people can distinguish; symbols on blocks contrast with their face.
"""

from collections.abc import Collection, Mapping

import cv2
import numpy as np

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
    whole_table_distance_mm,
)
from vision.frame import FloatArray
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import BlockPieces

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
