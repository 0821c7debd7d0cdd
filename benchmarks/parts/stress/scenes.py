"""Scenes far from the virtual table's usual look: what a hardship makes of a draft, and what it truly shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.parts.stress.hardships import Draft, Hardship, draft_layout, ordinary_draft, setting_of
from common.places import occupied
from simulator.play.actions import Arrangement
from simulator.rendering.hands import HandOcclusion, cover_mask
from simulator.scene.cube import direction, net_side
from simulator.scene.pieces import SYMBOLS, Ball, BlockPose, DiscPose, block_on
from simulator.scene.scene import Scene
from vision.geometry import back_project
from vision.layout.pieces import BlockPieces
from vision.layout.table import TableLayout

GAP_MM = 1.5
BALL_OFF_MM = 0.8
"""How far off its disc's middle a ball lies, standard deviation."""


@dataclass(frozen=True, eq=False)
class StressCase:
    """One picture to take, and what it truly shows.

    ``looks`` maps every place to its look; ``covered`` are the places of which hands hide at least a quarter;
    ``hand`` is ``over``, ``beside`` (none of the board is hidden) or ``at the rim`` (neither counts).
    """

    hardship: str
    level: str
    number: int
    pieces: int
    scene: Scene
    looks: Mapping[str, str]
    covered: tuple[str, ...]
    hand: str

    @property
    def name(self) -> str:
        """A file name's worth: ``tilt-45-deg-003``."""
        return f"{self.hardship}-{self.level}-{self.number:03d}".replace(" ", "-").replace("°", "deg")


def case_of(hardship: Hardship, level: str, number: int, seed: int, game: str = "deblockle") -> StressCase:
    """The picture of that number of one hardship at one level, of a game's pieces."""
    rng = np.random.default_rng([seed, number, *hardship.name.encode(), *level.encode()])
    draft = hardship.levels[level](ordinary_draft(rng, game), rng)
    layout = draft_layout(game)
    unprinted = [place for place in layout.places if place not in layout.board.printed]
    put = discs_on if game == "diaballik" else blocks_on
    scene = Scene(setting_of(draft), put(draft, layout, unprinted, rng), draft.hands, draft.things)
    looks = Arrangement.on_board(layout, scene.pieces).appearance(layout.places)
    covered = HandOcclusion(scene.setting).covered(scene.hands, occupied(looks))
    return StressCase(hardship.name, level, number, draft.pieces, scene, looks, covered, _hand_state(scene, covered))


def blocks_on(
    draft: Draft, layout: TableLayout, places: Sequence[str], rng: np.random.Generator
) -> tuple[BlockPose, ...]:
    """Blocks on some of ``places``, drawn at random, no two in one another and none on a thing."""
    order = [places[int(index)] for index in rng.permutation(len(places))]
    most_mm, most_deg = draft.careless
    standing: list[BlockPose] = []
    for place in order:
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
"""Discs of two players."""


def discs_on(
    draft: Draft, layout: TableLayout, places: Sequence[str], rng: np.random.Generator
) -> tuple[DiscPose, ...]:
    """Discs of both players on some of ``places``, drawn at random, a ball on one of each, none on a thing."""
    order = [places[int(index)] for index in rng.permutation(len(places))]
    most_mm, _ = draft.careless
    standing: list[DiscPose] = []
    for place in order[:MOST_DISCS]:
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


def _on_thing(draft: Draft, x_mm: float, y_mm: float) -> bool:
    """Whether a piece would stand on a thing, or right beside it."""
    return any(
        thing.base_mm > 0 and np.hypot(thing.x_mm - x_mm, thing.y_mm - y_mm) < 22 + 1.4 * thing.radius_mm
        for thing in draft.things
    )


def _touch(first: BlockPose, second: BlockPose, side_mm: float) -> bool:
    """Whether two turned squares come nearer than a small gap (separating axes, Gottschalk 1996)."""
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
