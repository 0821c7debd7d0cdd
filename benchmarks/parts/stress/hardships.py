"""Hardships: conditions that make reading harder, at named levels, each a change of an ordinary scene.

Everything is drawn from seeds.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from benchmarks.parts.picture_changes import (
    ARM_SKINS,
    ARM_SLEEVES,
    CHANGES,
    NEVER_WITH_OTHERS,
    SELDOM_MET,
    Change,
    drawn_arm,
    drawn_radius_mm,
    reaching_hand,
    resting,
)
from benchmarks.parts.stress.drafts import PAPER, Draft, setting_of, stress_layout
from benchmarks.scene import variety
from benchmarks.scene.colours import random_colour
from benchmarks.scene.mirrored import Mirrored
from benchmarks.scene.things import ForeignObject, ForeignObjectKind
from simulator.scene.pieces import Colour
from simulator.scene.scene import Bend, Hand, Lamp, MarkerState, Shade, Surface

PIECE_SETS = 8
"""Number of piece sets that differ in colour."""


DraftChange = Callable[[Draft, np.random.Generator], Draft]


@dataclass(frozen=True)
class Hardship:
    """A condition that makes reading harder, with its levels from mild to hard."""

    name: str
    levels: Mapping[str, DraftChange]


def _unchanged(draft: Draft, _rng: np.random.Generator) -> Draft:
    return draft


def _with_draft(draft: Draft, _rng: np.random.Generator, **changes: object) -> Draft:
    return replace(draft, **changes)  # type: ignore[arg-type]


def _with_sensor(draft: Draft, _rng: np.random.Generator, **changes: object) -> Draft:
    return replace(draft, sensor=replace(draft.sensor, **changes))  # type: ignore[arg-type]


def _with_lighting(draft: Draft, _rng: np.random.Generator, **changes: object) -> Draft:
    return replace(draft, lighting=replace(draft.lighting, **changes))  # type: ignore[arg-type]


def _with_table(draft: Draft, _rng: np.random.Generator, **changes: object) -> Draft:
    return replace(draft, table=replace(draft.table, **changes))  # type: ignore[arg-type]


def _tilted(draft: Draft, rng: np.random.Generator, degrees: float) -> Draft:
    return replace(draft, tilt_deg=min(45.0, degrees + float(rng.uniform(-2.0, 2.0))))


def _from_side(draft: Draft, rng: np.random.Generator, degrees: float) -> Draft:
    off = float(rng.uniform(-22.5, 22.5))
    return replace(draft, azimuth_deg=degrees + off, tilt_deg=float(rng.uniform(10.0, 32.0)))


def _with_surface(draft: Draft, rng: np.random.Generator, surface: Surface, colour: Colour) -> Draft:
    tint = tuple(float(value) for value in np.clip(np.asarray(colour) * rng.uniform(0.85, 1.15, 3), 0.03, 0.98))
    return _with_table(draft, rng, surface=surface, colour=tint)


def _with_piece_set(draft: Draft, rng: np.random.Generator, first: int) -> Draft:
    return replace(draft, pieces=first + int(rng.integers(PIECE_SETS)))


def _with_glare(draft: Draft, rng: np.random.Generator, gloss: float) -> Draft:
    """A lamp placed so that its specular reflection on board and pieces is near the picture's centre."""
    azimuth = np.radians(draft.azimuth_deg + 180.0 + float(rng.uniform(-15.0, 15.0)))
    across = 1000.0 * float(np.tan(np.radians(max(draft.tilt_deg, 6.0) + float(rng.uniform(-5.0, 5.0)))))
    lamp = Lamp((across * float(np.cos(azimuth)), across * float(np.sin(azimuth)), 1000.0))
    return _with_lighting(draft, rng, lamps=(*draft.lighting.lamps, replace(lamp, strength=0.5)), gloss=gloss)


def _with_panel(draft: Draft, rng: np.random.Generator, kind: variety.PanelKind, finish: str) -> Draft:
    """A lamp or a window that the board or the sheet, of that finish, mirrors into the camera."""
    setting = setting_of(draft)
    board = setting.layout.board
    target = np.array([*(rng.uniform(-0.85, 0.85, 2) * variety.half_mm(board)), board.height_mm])
    panel = variety.varied_panel(rng, kind, setting.pose.camera_position_mm, target)
    surface = replace(variety.FINISHES[finish], seed=int(rng.integers(1 << 30)))
    return _with_lighting(draft, rng, mirrored=Mirrored((panel,), surface))


def _covered_by(draft: Draft, rng: np.random.Generator, kind: ForeignObjectKind) -> Draft:
    """Something that lies still over part of the board, and over pieces."""
    layout = stress_layout(draft.game)
    return replace(draft, things=(*draft.things, *variety.varied_coverings(rng, kind, layout.board)))


def _under_open_hand(draft: Draft, rng: np.random.Generator) -> Draft:
    board = stress_layout(draft.game).board
    hand = reaching_hand(rng, board.height_mm, 0.8, variety.half_mm(board))
    return replace(draft, hands=(*draft.hands, resting(hand, board.height_mm)))


def _cluttered(draft: Draft, rng: np.random.Generator) -> Draft:
    """Cups, cards and coins beside the board."""
    layout = stress_layout(draft.game)
    centres = np.array(list(layout.markers.centres_mm.values()))
    return replace(draft, things=(*draft.things, *variety.varied_clutter(rng, layout.board, centres)))


def _curled(draft: Draft, rng: np.random.Generator, rise_mm: float) -> Draft:
    """Paper that arches or whose corners lift."""
    signs = rng.choice([-1.0, 1.0], 2)
    rise, twist = (float(value) for value in signs * rise_mm * rng.uniform((0.4, 0.0), (1.0, 0.5)))
    return replace(draft, bend=Bend(max(rise, -0.3 * rise_mm), float(rng.uniform(0.0, 180.0)), twist))


def _afterwards(draft: Draft, _rng: np.random.Generator, change: Change) -> Draft:
    return replace(draft, afterwards=(*draft.afterwards, change))


def _with_lamp_colour(draft: Draft, _rng: np.random.Generator, colour: Colour) -> Draft:
    lamps = tuple(replace(lamp, colour=colour) for lamp in draft.lighting.lamps)
    even: Colour = (0.5 + 0.5 * colour[0], 0.5 + 0.5 * colour[1], 0.5 + 0.5 * colour[2])
    return replace(draft, lighting=replace(draft.lighting, lamps=lamps, ambient=0.3, ambient_colour=even))


def _with_shade(draft: Draft, rng: np.random.Generator, left: float) -> Draft:
    shade = Shade(float(rng.uniform(-180, 180)), float(rng.uniform(-60, 60)), float(rng.uniform(15, 90)), left)
    return _with_lighting(draft, rng, shade=shade, ambient=0.25)


def _shaken(draft: Draft, rng: np.random.Generator, length_px: float) -> Draft:
    angle = float(rng.uniform(0, np.pi))
    return _with_sensor(draft, rng, shake_px=(length_px * float(np.cos(angle)), length_px * float(np.sin(angle))))


def _with_markers(draft: Draft, rng: np.random.Generator, states: tuple[MarkerState, ...]) -> Draft:
    order = [int(marker_id) for marker_id in rng.permutation(4)]
    return _with_table(draft, rng, markers=dict(zip(order, states, strict=False)))


_METAL_SHARE = 0.5
"""Share of coins of silver or brass; others, as buttons or chips, have any colour."""


def _with_object(draft: Draft, rng: np.random.Generator, kind: str, on_board: bool) -> Draft:
    board, radius = stress_layout(draft.game).board, drawn_radius_mm(rng, kind)
    half = variety.half_mm(board)
    colour = random_colour(rng, 0.1, 0.95)
    if kind == "coin" and rng.random() < _METAL_SHARE:
        colour = ((0.7, 0.75, 0.75), (0.3, 0.55, 0.7))[int(rng.integers(2))]
    if on_board:
        x, y = (float(value) for value in rng.uniform(-0.93, 0.93, 2) * half)
        base = board.height_mm
    else:
        away = half + radius + float(rng.uniform(6.0, 30.0))
        along, side = rng.uniform(-0.8, 0.8, 2) * half, int(rng.integers(4))
        x, y = ((away[0], along[1]), (-away[0], along[1]), (along[0], away[1]), (along[0], -away[1]))[side]
        x, y, base = float(x), float(y), 0.0
    return replace(draft, things=(*draft.things, ForeignObject(kind, x, y, colour, base, radius)))  # type: ignore[arg-type]


def _with_hand(draft: Draft, rng: np.random.Generator, skin: str | None = None, sleeve: str | None = None) -> Draft:
    board = stress_layout(draft.game).board
    hand = reaching_hand(rng, board.height_mm, 0.8, variety.half_mm(board), skin, sleeve)
    return replace(draft, hands=(hand,))


def _hand_beside(draft: Draft, rng: np.random.Generator) -> Draft:
    """A hand resting on the table beside the board; its shadow may fall on the board."""
    angle = float(rng.uniform(-np.pi, np.pi))
    outwards = np.array([np.cos(angle), np.sin(angle)])
    tip = outwards * (
        float(variety.half_mm(stress_layout(draft.game).board).max()) / float(np.abs(outwards).max())
        + float(rng.uniform(55.0, 75.0))
    )
    elbow = tip + outwards * 380.0
    hand = Hand((float(tip[0]), float(tip[1]), 12.0), (float(elbow[0]), float(elbow[1]), 90.0), *drawn_arm(rng))
    return replace(draft, hands=(hand,))


_BOARDS: Mapping[str, Colour] = {
    "maple board": (0.58, 0.73, 0.86),
    "walnut board": (0.2, 0.3, 0.42),
    "white board": (0.88, 0.9, 0.9),
    "green board": (0.3, 0.5, 0.28),
    "slate board": (0.32, 0.3, 0.29),
    "red board": (0.2, 0.22, 0.6),
}
_SURFACES: Mapping[str, tuple[Surface, Colour]] = {
    "wood": ("wood", (0.36, 0.47, 0.6)),
    "dark wood": ("dark wood", (0.36, 0.47, 0.6)),
    "checks": ("checks", (0.75, 0.8, 0.85)),
    "red checks": ("checks", (0.25, 0.25, 0.8)),
    "marble": ("marble", (0.8, 0.8, 0.8)),
    "green cloth": ("cloth", (0.28, 0.48, 0.22)),
    "black cloth": ("cloth", (0.1, 0.1, 0.1)),
    "plain": ("plain", (0.55, 0.53, 0.52)),
}


def _levels(change: Callable[..., Draft], name: str, values: Mapping[str, object]) -> dict[str, DraftChange]:
    return {level: partial(change, **{name: value}) for level, value in values.items()}


def _board(draft: Draft, rng: np.random.Generator, colour: Colour) -> Draft:
    dark = float(np.mean(colour)) < 0.45
    lines: Colour = (0.75, 0.75, 0.72) if dark and rng.random() < 0.5 else (0.12, 0.12, 0.14)
    return _with_table(draft, rng, board_colour=colour, line_colour=lines)


def hardships(seed: int, game: str = "deblockle") -> dict[str, Hardship]:
    """Every hardship of a game by name; ``seed`` draws the piece sets."""
    sizes = ((640, 480), (800, 600), (1280, 720), (1296, 972), (1920, 1080))
    listed = [
        Hardship("ordinary", {"as it is": _unchanged}),
        Hardship("resolution", _levels(_with_draft, "size", {f"{w}x{h}": (w, h) for w, h in sizes})),
        Hardship("lens", _levels(_with_draft, "view_deg", {f"{deg}° wide": float(deg) for deg in (50, 80, 95, 110)})),
        Hardship("distortion", _levels(_with_draft, "distortion", {f"k1 {k:+.2f}": k for k in (-0.3, -0.2, 0.08)})),
        Hardship("tilt", _levels(_tilted, "degrees", {f"{deg}°": float(deg) for deg in (0, 15, 30, 38, 45)})),
        Hardship("rotation", _levels(_from_side, "degrees", {f"{deg}°": float(deg) for deg in range(-180, 180, 45)})),
        Hardship("table", {name: partial(_with_surface, surface=s, colour=c) for name, (s, c) in _SURFACES.items()}),
        Hardship("board", _levels(_board, "colour", _BOARDS)),
        Hardship("piece colours", {"any two": partial(_with_piece_set, first=seed * 1000)}),
        Hardship("paper", _levels(_with_draft, "pieces", {f"print {number}": PAPER - number for number in range(3)})),
        Hardship("glare", _levels(_with_glare, "gloss", {f"gloss {gloss}": gloss for gloss in (0.2, 0.5, 1.0)})),
        Hardship(
            "reflection",
            {
                f"{kind} on {finish}": partial(_with_panel, kind=kind, finish=finish)
                for kind in variety.MIRRORED
                for finish in variety.FINISHES
            },
        ),
        Hardship(
            "lamp colour",
            _levels(
                _with_lamp_colour,
                "colour",
                {
                    "warm": (0.65, 0.9, 1.15),
                    "candle": (0.3, 0.7, 1.2),
                    "cold": (1.3, 1.0, 0.8),
                    "green": (0.7, 1.2, 0.7),
                    "pink": (1.1, 0.75, 1.2),
                },
            ),
        ),
        Hardship("side in shadow", _levels(_with_shade, "left", {f"{s:.0%} of the lamp": s for s in (0.4, 0.15, 0.0)})),
        Hardship("exposure", _levels(_with_sensor, "exposure", {f"x {x}": x for x in (0.15, 0.3, 0.5, 1.3, 1.7)})),
        Hardship("noise", _levels(_with_sensor, "noise", {f"{n} levels": float(n) for n in (4, 8, 14)})),
        Hardship("motion blur", _levels(_shaken, "length_px", {f"{px} px": float(px) for px in (3, 5, 8, 12)})),
        Hardship("defocus", _levels(_with_sensor, "defocus_px", {f"sigma {px} px": px for px in (1.0, 1.6, 2.2, 3.0)})),
        Hardship("compression", _levels(_with_sensor, "jpeg_quality", {f"JPEG {q}": q for q in (70, 40, 20)})),
        Hardship(
            "markers",
            _levels(
                _with_markers,
                "states",
                {
                    "1 half covered": ("half covered",),
                    "1 missing": ("missing",),
                    "2 missing": ("missing", "missing"),
                    "1 missing, 2 half": ("missing", "half covered", "half covered"),
                    "3 missing": ("missing", "missing", "missing"),
                },
            ),
        ),
        Hardship("off centre", _levels(_with_draft, "careless", {f"{mm} mm": (float(mm), 5.0) for mm in (5, 8)})),
        Hardship("turned", _levels(_with_draft, "careless", {f"{deg}°": (2.0, float(deg)) for deg in (10, 20, 30)})),
        Hardship(
            "things",
            {
                f"{kind} {'on' if on else 'beside'}": partial(_with_object, kind=kind, on_board=on)
                for on in (False, True)
                for kind in ("coin", "cup", "card")
            },
        ),
        Hardship(
            "hands",
            {skin: partial(_with_hand, skin=skin) for skin in ARM_SKINS}
            | {sleeve: partial(_with_hand, sleeve=sleeve) for sleeve in ARM_SLEEVES}
            | {"beside": _hand_beside},
        ),
        Hardship(
            "coverings",
            {kind: partial(_covered_by, kind=kind) for kind in variety.COVERINGS} | {"open hand": _under_open_hand},
        ),
        Hardship("clutter", {"beside the board": _cluttered}),
        Hardship("curled", _levels(_curled, "rise_mm", {f"{mm} mm": float(mm) for mm in (4, 10)})),
        *(
            Hardship(name, {level: partial(_afterwards, change=change) for level, change in CHANGES[name].items()})
            for name in _IN_THE_PICTURE
        ),
    ]
    known = {one.name: one for one in listed if one.name not in _NOT_OF.get(game, ())}
    everything = Hardship(
        "everything",
        {"some of all": partial(_everything, known, 0.3), "most of all": partial(_everything, known, 0.65)},
    )
    more = (everything,) if "markers" not in known else (everything, _hard_to_locate())
    return known | {one.name: one for one in more}


_IN_THE_PICTURE = (
    "stains",
    "fog",
    "bands",
    "swing",
    "night mode",
    "Bayer mosaic",
    "web camera",
    "low-rate video",
    "broken stream",
    "orientation",
)
"""Hardships that are laid over the rendered picture, as over any other."""
_ONLY_BOARDS = ("board", "piece colours", "markers", "off centre", "turned")
_NOT_OF: Mapping[str, tuple[str, ...]] = {
    "deblockle": ("curled",),
    "diaballik": ("turned", "curled"),
    "blockade": ("piece colours", "things", "hands", "curled"),
    "number-drop": _ONLY_BOARDS,
    "blokus-dice": _ONLY_BOARDS,
}
"""Hardships that don't apply to a game: discs are round; stacks have fixed colours, and leave no room on the board."""


def _hard_to_locate() -> Hardship:
    """At most two or three visible markers, with blur or with board lines that hardly show."""
    two_left = partial(_with_markers, states=("missing", "missing"))
    one_missing = partial(_with_markers, states=("missing",))
    return Hardship(
        "hard to locate",
        {
            "shaken 16 px": partial(_shaken, length_px=16.0),
            "2 markers, shaken 12 px": partial(_together, changes=(two_left, partial(_shaken, length_px=12.0))),
            "2 markers, sigma 4 px": partial(_together, changes=(two_left, partial(_with_sensor, defocus_px=4.0))),
            "2 markers, faint lines": partial(_together, changes=(two_left, _faint_lines)),
            "2 markers, grained dark board": partial(_together, changes=(two_left, _careless, _grained)),
            "1 missing, grained dark board": partial(
                _together, changes=(one_missing, _careless, _grained, _slightly_shaken)
            ),
        },
    )


def _together(draft: Draft, rng: np.random.Generator, changes: tuple[DraftChange, ...]) -> Draft:
    for change in changes:
        draft = change(draft, rng)
    return draft


def _faint_lines(draft: Draft, rng: np.random.Generator) -> Draft:
    """A dark board with slightly darker lines."""
    board = np.asarray(_BOARDS["walnut board"]) * float(rng.uniform(0.6, 1.1))
    colour, lines = (tuple(float(value) for value in one) for one in (board, 0.75 * board))
    return _with_table(draft, rng, board_colour=colour, line_colour=lines)


def _grained(draft: Draft, rng: np.random.Generator) -> Draft:
    """A dark board of strongly grained wood, whose lines hardly show, on a table of another wood."""
    grained = _faint_lines(draft, rng)
    return _with_table(grained, rng, board_grain=float(rng.uniform(0.2, 0.45)), surface="dark wood")


def _careless(draft: Draft, _rng: np.random.Generator) -> Draft:
    """Many blocks, off centre and rotated."""
    return replace(draft, careless=(8.0, 25.0), blocks=14)


def _slightly_shaken(draft: Draft, rng: np.random.Generator) -> Draft:
    """Slight motion blur."""
    return _shaken(draft, rng, float(rng.uniform(3.0, 8.0)))


def _everything(known: Mapping[str, Hardship], share: float, draft: Draft, rng: np.random.Generator) -> Draft:
    """Many hardships at once, each at a random level."""
    for hardship in known.values():
        if hardship.name in NEVER_WITH_OTHERS:
            continue
        seldom = hardship.name in SELDOM_MET
        if rng.random() < share * (0.5 if seldom else 1.0):
            levels = list(hardship.levels.values())
            draft = levels[int(rng.integers(len(levels)))](draft, rng)
    return draft
