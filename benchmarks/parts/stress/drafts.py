"""Parameters of ordinary scenes, which hardships modify; all are drawn from seeds."""

from dataclasses import dataclass, field, replace

import numpy as np

from benchmarks.parts.picture_changes import Change
from benchmarks.scene.things import ForeignObject
from benchmarks.scene.variety import pose_with_markers, varied_discs, varied_pieces, whole_table_distance_mm
from simulator.scene.paper import on_paper
from simulator.scene.pieces import BlockLook, DiscLook
from simulator.scene.scene import (
    Bend,
    Hand,
    Lamp,
    Lighting,
    Sensor,
    Setting,
    TableLook,
    first_fitting,
    growing_distances,
    lens,
    looking_at,
)
from simulator.scene.sheets import extent_mm, lying_sheets
from vision.layout.table import TableLayout, default_layout


@dataclass(frozen=True)
class Draft:
    """The parameters of a scene; hardships replace some of them.

    ``pieces`` is the seed of a piece set (negative: an ordinary one, see ``piece_look``; from ``PAPER`` on downwards: a
    paper kit). ``careless`` is the largest
    offset of a block from its place's centre in millimetres, and its largest rotation in degrees. ``blocks`` is the
    number of pieces of any kind. ``afterwards`` changes the picture once it is taken.
    """

    game: str
    tilt_deg: float
    azimuth_deg: float
    roll_deg: float
    farther: float
    table: TableLook
    lighting: Lighting
    pieces: int
    size: tuple[int, int] = (1280, 720)
    view_deg: float = 66.0
    distortion: float = -0.05
    sensor: Sensor = field(default_factory=lambda: Sensor(jpeg_quality=90))
    careless: tuple[float, float] = (3.0, 5.0)
    blocks: int = 8
    hands: tuple[Hand, ...] = ()
    things: tuple[ForeignObject, ...] = ()
    bend: Bend | None = None
    afterwards: tuple[Change, ...] = ()


PAPER = -100
"""The first seed of a piece set that is a paper kit; the next one is less by one."""


def with_pieces(setting: Setting, pieces: int) -> Setting:
    """Return the setting with the piece set of a seed."""
    game = setting.layout.game
    if pieces <= PAPER:
        return on_paper(setting, -pieces)
    if game == "deblockle":
        return replace(setting, blocks=piece_look(pieces))
    return replace(setting, discs=disc_look(pieces)) if game == "diaballik" else setting


def piece_look(pieces: int) -> BlockLook:
    """The piece set of a seed; negative seeds give ordinary sets in gold and teal."""
    if pieces >= 0:
        return varied_pieces(pieces)[1]
    ordinary = BlockLook()
    return replace(ordinary, grain=0.15 + 0.1 * (-pieces % 3), symbol_scale=1.0 - 0.05 * (-pieces % 3))


def disc_look(pieces: int) -> DiscLook:
    """The set of discs of a seed; negative seeds give ordinary sets in black and white."""
    return varied_discs(pieces)[1] if pieces >= 0 else DiscLook(gloss=1.0 + 0.4 * (-pieces % 3))


def ordinary_draft(rng: np.random.Generator, game: str) -> Draft:
    """An ordinary scene: a wooden table, one lamp, a good camera, blocks placed with ordinary care."""
    angle = float(rng.uniform(-np.pi, np.pi))
    lamp = Lamp((500.0 * float(np.cos(angle)), 500.0 * float(np.sin(angle)), 1100.0))
    return Draft(
        game,
        tilt_deg=float(rng.uniform(4.0, 20.0)),
        azimuth_deg=-90.0 + float(rng.uniform(-12.0, 12.0)),
        roll_deg=float(rng.uniform(-3.0, 3.0)),
        farther=float(rng.uniform(1.0, 1.12)),
        table=TableLook(seed=int(rng.integers(1000))),
        lighting=Lighting((lamp,)),
        pieces=-1 - int(rng.integers(2)),
    )


def setting_of(draft: Draft) -> Setting:
    """The setting of a draft, without pieces."""
    # with the distortion of a narrow lens, a wide one would fold the picture's corners over
    k1 = draft.distortion * min(1.0, (66.0 / draft.view_deg) ** 2)
    camera = lens(draft.size, draft.view_deg, (k1, -0.15 * k1, 0.0004, -0.0003, 0.0), (5.0, -4.0))
    layout = stress_layout(draft.game)
    if lying_sheets(layout):
        extent = extent_mm(layout)
        x, y, z = (float(middle) for middle in (extent.min(axis=0) + extent.max(axis=0)) / 2)
        turned = (draft.tilt_deg, draft.azimuth_deg, draft.roll_deg, (x, y, z))
        distances = growing_distances(260.0 * draft.farther, 1.03, 60)
        pose = first_fitting(camera, extent, 8.0, (looking_at(one, *turned) for one in distances))
    else:
        distance = whole_table_distance_mm(camera) * draft.farther
        seen = {marker_id for marker_id in range(4) if draft.table.markers.get(marker_id) != "missing"}
        turned = (draft.tilt_deg, draft.azimuth_deg, draft.roll_deg, (0.0, 0.0, 0.0))
        pose = pose_with_markers(camera, distance, *turned, seen)
    setting = Setting(camera, pose, layout, draft.table, lighting=draft.lighting, sensor=draft.sensor, bend=draft.bend)
    return with_pieces(setting, draft.pieces)


def stress_layout(game: str) -> TableLayout:
    """The layout of a game, with a single sheet if it is played on sheets, so that its cells are large enough."""
    layout = default_layout(game)
    return layout.with_sheets(1) if lying_sheets(layout) else layout
