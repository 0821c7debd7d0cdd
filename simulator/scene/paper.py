"""The game's paper kit on the virtual table: printed colours, folded edges, crumpled balls, and no gloss."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from simulator.scene.pieces import BlockLook, Colour, DiceLook, DiscLook, PyramidLook
from simulator.scene.scene import Setting, first_fitting
from simulator.scene.sheets import extent_mm, lying_sheets
from vision.frame import FloatArray
from vision.geometry import Pose
from vision.layout.kit import RGB, has_kit, kit_of
from vision.layout.pieces import Tray
from vision.layout.table import TableLayout

WHITE_PAPER = 0.92
"""Screen value of bare paper, from 0 to 1."""
_RIM_MM = 12.0
"""White paper around the markers of a printed board."""
_STEP_BACK_MM, _MOST_STEPS = 15.0, 60
_MARGIN_PX = 8.0
"""How the camera steps back until the whole paper is in its picture."""
_ONE_IN = 5
_DARKEST = 0.05
"""Screen value of solid black print, from 0 to 1."""


def printed_board_mm(layout: TableLayout, rim_mm: float) -> tuple[FloatArray, FloatArray]:
    """Return the near left and the far right corner, (2,) each, of the paper that a board and its markers need."""
    centres = np.array([*layout.markers.centres_mm.values()])
    reach = layout.markers.side_mm / 2 + rim_mm
    return centres.min(axis=0) - reach, centres.max(axis=0) + reach


def is_of_paper(seed: int, game: str) -> bool:
    """Return whether a game of a seed is played with its paper kit: one in five, of games that have one."""
    return seed % _ONE_IN == _ONE_IN - 1 and has_kit(game)


def on_paper(setting: Setting, seed: int) -> Setting:
    """Return a setting with the paper kit of its game, as one printer made it and one person folded it.

    The camera steps back if the kit's board, or its sheets and tray, are not wholly in its picture. Raises LayoutError
    for a game without a kit.
    """
    kit, rng = kit_of(setting.layout.game), np.random.default_rng([seed, 61])
    tints = 1.0 + rng.uniform(-0.07, 0.07, (3,))
    printed = {name: _printed(colour, tints) for name, colour in kit.colours.items()}
    inks = {name: _printed(kit.ink_on(name), tints) for name in kit.colours}
    layout = _layout(setting.layout, kit.layout)
    is_board = not lying_sheets(layout)
    return replace(
        setting,
        layout=layout,
        pose=_stepped_back(setting, layout),
        table=replace(
            setting.table,
            board_colour=_printed(kit.squares, tints),
            board_grain=0.01,
            line_colour=(0.1, 0.1, 0.1),
            line_mm=0.6,
            star_colour=(0.08, 0.08, 0.08),
            sheet_rim_mm=_RIM_MM if is_board else 0.0,
            stripes=kit.stripes,
        ),
        blocks=BlockLook(_of(printed, "gold", "teal"), inks=inks, grain=0.05, paper=float(rng.uniform(0.3, 1.0))),
        discs=DiscLook(
            _of(printed, "black", "white"),
            {name: printed.get("ball", (0.0, 0.0, 0.0)) for name in ("black", "white")},
            gloss=0.2,
            rounding_mm=0.1,
            crumpled=float(rng.uniform(0.05, 0.25)),
        ),
        pyramids=PyramidLook(
            printed,
            dict.fromkeys(printed, 1.0),
            1.0,
            gloss=0.2,
            edge=float(rng.uniform(0.1, 0.5)),
            rise_share=float(rng.uniform(0.7, 1.6)),
        ),
        dice=DiceLook({**printed, "white": _printed((1.0, 1.0, 1.0), tints)}, rounding=0.05, ball=1.7, gloss=0.02),
    )


def _of(colours: Mapping[str, Colour], *names: str) -> dict[str, Colour]:
    return {name: colours[name] for name in names if name in colours}


def _printed(colour: RGB, tints: FloatArray) -> Colour:
    """Return a screen colour as printed on paper, blue-green-red."""
    inked = np.clip(np.array(colour[::-1]) * np.where(np.array(colour) == 1.0, 1.0, tints), 0.0, 1.0)
    blue, green, red = (float(_DARKEST + (WHITE_PAPER - _DARKEST) * value) for value in inked)
    return blue, green, red


def _layout(own: TableLayout, kit: TableLayout) -> TableLayout:
    """Return the kit's layout, or for sheets the table's own with the kit's dice."""
    if not lying_sheets(own):
        return kit
    dice = next((one for one in kit.surfaces if isinstance(one, Tray)), None)
    surfaces = tuple(dice if isinstance(one, Tray) and dice is not None else one for one in own.surfaces)
    return replace(own, surfaces=surfaces)


def _stepped_back(setting: Setting, layout: TableLayout) -> Pose:
    """Return the first pose on the way back from the table's camera that shows the whole paper."""
    rotation, translation = setting.pose.rotation, setting.pose.translation
    if lying_sheets(layout):
        corners = extent_mm(layout)
    else:
        low, high = printed_board_mm(layout, _RIM_MM)
        corners = np.array([[x, y, 0.0] for x in (low[0], high[0]) for y in (low[1], high[1])])
        translation = translation - rotation @ corners.mean(axis=0)
    back = (np.array([0.0, 0.0, step * _STEP_BACK_MM]) for step in range(_MOST_STEPS))
    return first_fitting(setting.camera, corners, _MARGIN_PX, (Pose(rotation, translation + each) for each in back))
