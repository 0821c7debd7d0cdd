"""Stress scenes: a draft with a hardship applied, and its truth."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from benchmarks.parts.picture_changes import Change, LabelledPicture
from benchmarks.parts.stress.drafts import Draft, ordinary_draft, setting_of
from benchmarks.parts.stress.hardships import Hardship
from common.places import occupied
from engine.registry import load
from simulator.play.actions import Arrangement, Slack
from simulator.play.blockade import parse_piles
from simulator.play.ink import SheetHandler
from simulator.play.players import HANDLERS
from simulator.rendering.hands import HandOcclusion, cover_mask
from simulator.rendering.renderer import Renderer
from simulator.scene.cube import direction, net_side
from simulator.scene.pieces import SYMBOLS, Ball, BlockPose, DiePose, DiscPose, PiecePose, Pyramid, StackPose, block_on
from simulator.scene.scene import Scene
from vision.frame import Image
from vision.geometry import back_project
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout

GAP_MM = 1.5
BALL_OFF_MM = 0.8
"""Standard deviation of a ball's offset from its disc's centre."""


@dataclass(frozen=True, eq=False)
class StressCase:
    """A picture to render, and its truth.

    ``looks`` maps every place to its look; ``covered`` are the places of which hands or things hide at least a quarter;
    ``hand`` is ``over``, ``beside`` (none of the board is hidden) or ``at the rim`` (not scored). ``afterwards``
    changes the picture once it is taken.
    """

    hardship: str
    level: str
    number: int
    pieces: int
    scene: Scene
    looks: Mapping[str, str]
    covered: tuple[str, ...]
    hand: str
    afterwards: tuple[Change, ...] = ()

    @property
    def name(self) -> str:
        """The case as part of a file name, such as ``tilt-45deg-003``."""
        return f"{self.hardship}-{self.level}-{self.number:03d}".replace(" ", "-").replace("°", "deg")


def case_of(
    hardship: Hardship,
    level: str,
    number: int,
    seed: int,
    game: str = "deblockle",
    places: Sequence[str] | None = None,
) -> StressCase:
    """The case of this number of a hardship at a level.

    Pieces stand on some of ``places``, by default of those without a print.
    """
    rng = np.random.default_rng([seed, number, *hardship.name.encode(), *level.encode()])
    draft = hardship.levels[level](ordinary_draft(rng, game), rng)
    setting = setting_of(draft)
    layout = setting.layout
    if places is None:
        places = [place for place in layout.places if place not in layout.board.printed]
    scene = Scene(setting, PLACE_PIECES[game](draft, layout, places, rng), draft.hands, draft.things)
    looks = Arrangement.on_board(layout, scene.pieces).appearance(layout.places)
    occlusion, there = HandOcclusion(scene.setting), occupied(looks)
    hand = _hand_state(scene, occlusion.covered(scene.hands, there))
    covered = occlusion.covered(scene.hands, there, scene.things)
    return StressCase(hardship.name, level, number, draft.pieces, scene, looks, covered, hand, draft.afterwards)


def picture_of(case: StressCase) -> Image:
    """Render a case's picture."""
    setting = case.scene.setting
    image = Renderer(case.number).render(case.scene, case.number)
    there = tuple(occupied(case.looks))
    picture = LabelledPicture(image, lambda: (setting.camera, setting.pose), setting.layout, there)
    rng = np.random.default_rng([case.number, *case.name.encode(), 53])
    for change in case.afterwards:
        picture = change(picture, rng)
    return picture.image


def blocks_on(
    draft: Draft, layout: TableLayout, places: Sequence[str], rng: np.random.Generator
) -> tuple[BlockPose, ...]:
    """Random blocks on some of ``places``, which neither touch each other nor stand on an object."""
    most_mm, most_deg = draft.careless
    standing: list[BlockPose] = []
    for place in rng.permutation(places).tolist():
        if len(standing) == draft.blocks:
            break
        colour = "gold" if len(standing) % 2 == 0 else "teal"
        up = SYMBOLS[int(rng.integers(len(SYMBOLS)))]
        upwards = direction(net_side(BlockPieces.on(layout.board).net, up))
        sides = [
            name
            for name in SYMBOLS
            if abs(float(upwards @ direction(net_side(BlockPieces.on(layout.board).net, name)))) < 0.5
        ]
        north = sides[int(rng.integers(4))]
        away, angle = most_mm * float(np.sqrt(rng.random())), float(rng.uniform(-np.pi, np.pi))
        block = block_on(
            layout,
            place,
            colour,
            up,
            north,
            offset_mm=(away * float(np.cos(angle)), away * float(np.sin(angle))),
            turned_deg=float(rng.uniform(-most_deg, most_deg)),
        )
        side_mm = BlockPieces.on(layout.board).side_mm
        touches = any(_touch(block, other, side_mm) for other in standing)
        if not touches and not _on_thing(draft, block.x_mm, block.y_mm):
            standing.append(block)
    return tuple(standing)


MOST_DISCS = 14
"""The discs of both players."""


def discs_on(
    draft: Draft, layout: TableLayout, places: Sequence[str], rng: np.random.Generator
) -> tuple[DiscPose, ...]:
    """Random discs of both players on some of ``places``, one of each with a ball, none on an object."""
    most_mm, _ = draft.careless
    standing: list[DiscPose] = []
    for place in rng.permutation(places)[:MOST_DISCS].tolist():
        colour = "black" if len(standing) % 2 == 0 else "white"
        away, angle = most_mm * float(np.sqrt(rng.random())), float(rng.uniform(-np.pi, np.pi))
        right, up = (float(off) for off in rng.normal(0.0, BALL_OFF_MM, 2))
        x, y = layout.centre_mm(place)
        piece = DiscPose(
            x + away * float(np.cos(angle)),
            y + away * float(np.sin(angle)),
            colour,
            Ball(colour, (right, up)) if all(other.colour != colour for other in standing) else None,
            turned_deg=float(rng.uniform(-180.0, 180.0)),
        )
        if not _on_thing(draft, piece.x_mm, piece.y_mm):
            standing.append(piece)
    return tuple(standing)


NEST_MM, NEST_DEG, LEAN_DEG = 0.5, 1.5, 0.6
"""Standard deviations of a pyramid's offset, rotation and lean on the one below."""


def stacks_on(
    draft: Draft, layout: TableLayout, places: Sequence[str], rng: np.random.Generator
) -> tuple[StackPose, ...]:
    """A stack on each of ``places``: on a clear large pyramid any one colour, on others their own colour."""
    blockade = load("blockade")
    start = blockade.notation.format_state(blockade.rules.new())
    most_mm, most_deg = draft.careless
    standing: list[StackPose] = []
    for place, (base, *_) in parse_piles(start):
        if place in places:
            away, angle = most_mm * float(np.sqrt(rng.random())), float(rng.uniform(-np.pi, np.pi))
            x, y = layout.centre_mm(place)
            pyramids = tuple(
                _nested(rng, size, colour, number) for number, (size, colour) in enumerate(_pile(rng, base[1]))
            )
            standing.append(
                StackPose(
                    x + away * float(np.cos(angle)),
                    y + away * float(np.sin(angle)),
                    pyramids,
                    turned_deg=float(rng.uniform(-most_deg, most_deg)),
                )
            )
    return tuple(standing)


def _nested(rng: np.random.Generator, size: str, colour: str, number: int) -> Pyramid:
    if not number:
        return Pyramid(size, colour)
    off, lean = rng.normal(0, NEST_MM, 2), rng.normal(0, LEAN_DEG, 2)
    turned = float(rng.normal(0, NEST_DEG))
    return Pyramid(size, colour, (float(off[0]), float(off[1])), turned, (float(lean[0]), float(lean[1])))


def _pile(rng: np.random.Generator, base: str) -> list[tuple[str, str]]:
    """Sizes and colours of a random stack, from the bottom."""
    if base == "clear":
        colour = ("red", "yellow", "green", "blue")[int(rng.integers(4))]
        sizes = ["M"] * int(rng.integers(0, 6)) + ["S"] * int(rng.integers(0, 3))
        return [("L", "clear"), *((size, colour) for size in sizes)]
    sizes = ["M"] * int(rng.choice(3, p=[0.6, 0.3, 0.1])) + ["S"] * int(rng.choice(3, p=[0.3, 0.5, 0.2]))
    pile = [("L", base), *((size, base) for size in sizes)]
    return [*pile, ("L", "black")] if sizes == ["M", "S"] and rng.random() < 0.7 else pile


_WRITTEN = 0.5
_MOST_LOOPS, _LONGEST_LOOP = 3, 4


def ink_on(
    _draft: Draft, layout: TableLayout, places: Sequence[str], rng: np.random.Generator
) -> tuple[PiecePose, ...]:
    """Signs in about half of ``places`` in one handwriting, and loops around some digits of a line."""
    handler = HANDLERS[layout.game](layout, Slack(), rng)
    if not isinstance(handler, SheetHandler):
        raise ValueError(f"{layout.game} is not written on sheets")
    looks = {place: str(rng.choice(handler.signs)) for place in places if rng.random() < _WRITTEN}
    standing = handler.set_up({})
    player = layout.board.prefix.removesuffix(".")
    standing = standing.after_all(handler.write(standing, player, looks))
    for _ in range(int(rng.integers(_MOST_LOOPS + 1)) if layout.game == "number-drop" else 0):
        place, ring = str(rng.choice(places)), {}
        for _ in range(int(rng.integers(2, _LONGEST_LOOP + 1))):
            if not looks.get(place, "").startswith("digit") or looks[place].endswith("circled"):
                break
            ring[place] = f"{looks[place]} circled"
            place = layout.board.neighbour(place, 1, 0) or ""
        if len(ring) > 1:
            looks |= ring
            standing = standing.after_all(handler.write(standing, player, ring))
    return tuple(piece for piece in standing.values() if not isinstance(piece, DiePose))


PLACE_PIECES: Mapping[
    str, Callable[[Draft, TableLayout, Sequence[str], np.random.Generator], tuple[PiecePose, ...]]
] = MappingProxyType(
    {"deblockle": blocks_on, "diaballik": discs_on, "blockade": stacks_on, "number-drop": ink_on, "blokus-dice": ink_on}
)
"""By game, the function that places its pieces."""


def _on_thing(draft: Draft, x_mm: float, y_mm: float) -> bool:
    """Whether a piece would stand on an object, or right beside it."""
    return any(
        thing.base_mm > 0 and np.hypot(thing.x_mm - x_mm, thing.y_mm - y_mm) < 22 + 1.4 * thing.radius_mm
        for thing in draft.things
    )


def _touch(first: BlockPose, second: BlockPose, side_mm: float) -> bool:
    """Whether two rotated squares are closer than ``GAP_MM`` (separating axes, Gottschalk 1996)."""
    apart = np.array([second.x_mm - first.x_mm, second.y_mm - first.y_mm])
    half = side_mm / 2
    for turned_deg in (first.turned_deg, second.turned_deg):
        other = np.radians(first.turned_deg - second.turned_deg)
        reach = half + half * (abs(float(np.cos(other))) + abs(float(np.sin(other)))) + GAP_MM
        for extra in (0.0, 90.0):
            angle = np.radians(turned_deg + extra)
            if abs(float(apart @ [np.cos(angle), np.sin(angle)])) > reach:
                return False
    return True


def _hand_state(scene: Scene, covered: tuple[str, ...]) -> str:
    if covered:
        return "over"
    if not scene.hands:
        return "beside"
    shrink = 4
    rows, columns = np.nonzero(cover_mask(scene.setting, scene.hands, shrink))
    if not len(rows):
        return "beside"
    layout, setting = scene.setting.layout, scene.setting
    pixels = np.column_stack([columns, rows]).astype(np.float64) * shrink
    points = back_project(setting.camera, setting.pose, pixels, layout.board.height_mm)
    half = np.array([layout.board.columns, layout.board.rows]) * layout.board.cell_mm / 2
    return "at the rim" if bool((np.abs(points[:, :2]) < half).all(axis=1).any()) else "beside"
