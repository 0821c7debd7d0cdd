"""Films of tables with sheets, partly filled, with one more cell written in each picture."""

import numpy as np

from benchmarks.parts.picture_films import PictureSet, Shot
from simulator.play.actions import Arrangement, Slack
from simulator.play.ink import SheetHandler
from simulator.play.players import HANDLERS
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from vision.layout.pieces import GridSurface
from vision.layout.table import default_layout
from vision.readers.registry import reader_kind

SHOTS, PICTURES = 4, 5
"""Number of tables, and of pictures of each: the first, and one for each cell written later."""
_FILLED = 0.4
"""Share of lines written in the first picture, from the bottom up."""


def sheet_film(game: str, sheets: int, size: tuple[int, int], seed: int) -> PictureSet:
    """Films of tables with so many sheets, each table in another handwriting.

    Raises LayoutError for a game without sheets.
    """
    layout = default_layout(game).with_sheets(sheets)
    setting = standard_setting(lens(size), game=game, layout=layout)
    return PictureSet(layout, tuple(_shot(setting, [seed, number]) for number in range(SHOTS)))


def _shot(setting: Setting, seed: list[int]) -> Shot:
    rng = np.random.default_rng(seed)
    layout = setting.layout
    handler = HANDLERS[layout.game](layout, Slack(), rng)
    if not isinstance(handler, SheetHandler):
        raise ValueError(f"{layout.game} is not written on sheets")
    standing = handler.set_up({})
    bare: list[str] = []
    sheets = [surface for surface in layout.surfaces if isinstance(surface, GridSurface)]
    for sheet in sheets:
        written = round(_FILLED * sheet.rows) * sheet.columns
        standing = _written(handler, standing, sheet.places[:written], rng)
        bare += sheet.places[written : written + sheet.columns]
    renderer = Renderer(int(rng.integers(2**31)))
    pictures = [renderer.render(Scene(setting, tuple(standing.values())), 0)]
    for number, place in enumerate(rng.permutation(bare)[: PICTURES - 1], 1):
        standing = _written(handler, standing, (str(place),), rng)
        pictures.append(renderer.render(Scene(setting, tuple(standing.values())), number))
    looks = reader_kind(layout).plain(layout.board)
    return Shot(setting.camera, setting.pose, looks, tuple(pictures))


def _written(
    handler: SheetHandler, standing: Arrangement, places: tuple[str, ...], rng: np.random.Generator
) -> Arrangement:
    """The arrangement after random signs are written into these places of one sheet."""
    signs = handler.signs
    looks = {place: signs[int(rng.integers(len(signs)))] for place in places}
    return standing.after_all(handler.write(standing, places[0].partition(".")[0], looks))
