"""A napkin that lies still over what was seen before: most of it, in each game, or a few of Blockade's stacks."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.parts.stress.drafts import ordinary_draft, setting_of
from benchmarks.parts.stress.scenes import PLACE_PIECES
from benchmarks.scene.things import ForeignObject
from benchmarks.stress import learn
from simulator.play.actions import Arrangement
from simulator.rendering.renderer import Renderer
from simulator.scene.paper import on_paper
from simulator.scene.scene import Scene
from tests.effort import some
from vision.frame import Frame
from vision.layout.pieces import top_mm
from vision.readers.registry import table_reader
from vision.reading import HindranceKind

LEAST_SURE = 0.9
MOST_COVERED = 1 / 3
"""The judge accepts nothing beyond (``JudgeSettings.most_covered``)."""
NAMES = {HindranceKind.HAND, HindranceKind.OBJECT}


WHITE, RED = (0.8, 0.83, 0.86), (0.1, 0.06, 0.55)


@pytest.mark.parametrize(
    ("game", "share", "colour"),
    some([*((game, share, WHITE) for game in PLACE_PIECES for share in (0.6, 0.86)), ("blokus-dice", 0.6, RED)], 5),
)
def test_a_napkin_is_named_and_hides_what_lies_beneath(
    game: str, share: float, colour: tuple[float, float, float]
) -> None:
    rng = np.random.default_rng(7)
    draft = replace(ordinary_draft(rng, game), blocks=24)
    setting = setting_of(draft)
    layout, board = setting.layout, setting.layout.board
    places = [place for place in layout.places if place not in board.printed]
    standing = PLACE_PIECES[game](draft, layout, places, rng)
    width_mm, depth_mm = board.bounds_mm.width_mm, board.bounds_mm.depth_mm
    half_mm = 0.6 * max(width_mm, depth_mm)
    base_mm = min(top_mm(board), board.height_mm + 40.0)
    napkin = ForeignObject("napkin", 0.0, depth_mm * (share - 0.5) - half_mm, colour, base_mm, half_mm, 4.0)
    looks = learn(draft.pieces, 1, game)
    assert not isinstance(looks, str)
    reader = table_reader(setting.camera, layout, looks)
    renderer, true = Renderer(7), Arrangement.on_board(layout, standing).appearance(layout.places)
    seen = reader.read(Frame(renderer.render(Scene(setting, standing), 0), 0.0, 0))
    assert not seen.hindrances
    reading = reader.read(Frame(renderer.render(Scene(setting, standing, things=(napkin,)), 1), 0.5, 1))
    assert NAMES & {one.kind for one in reading.hindrances}
    for place, one in reading.places.items():
        assert one.hidden_by or one.best[0] == true[place] or one.best[1] < LEAST_SURE, (place, one.best)
    assert len(reading.hidden) > MOST_COVERED * len(places)


@pytest.mark.parametrize("is_of_paper", [False, True])
@pytest.mark.parametrize("at_cells", some([(-1.5, -1.5), (0.0, 0.0), (1.5, -1.5)], 1))
def test_a_small_napkin_in_the_boards_colour_makes_no_stack_vanish(
    at_cells: tuple[float, float], is_of_paper: bool
) -> None:
    rng = np.random.default_rng(2)
    draft = replace(ordinary_draft(rng, "blockade"), blocks=24)
    setting = on_paper(setting_of(draft), 2) if is_of_paper else setting_of(draft)
    layout, board = setting.layout, setting.layout.board
    standing = PLACE_PIECES["blockade"](draft, layout, list(board.places), rng)
    x_mm, y_mm = (each * board.cell_mm for each in at_cells)
    base_mm = min(top_mm(board), board.height_mm + 60.0)
    napkin = ForeignObject("napkin", x_mm, y_mm, WHITE, base_mm, 0.75 * board.cell_mm, 4.0)
    looks = learn(draft.pieces, 1, "blockade")
    assert not isinstance(looks, str)
    reader = table_reader(setting.camera, layout, looks)
    renderer, true = Renderer(7), Arrangement.on_board(layout, standing).appearance(layout.places)
    assert not reader.read(Frame(renderer.render(Scene(setting, standing), 0), 0.0, 0)).hindrances
    reading = reader.read(Frame(renderer.render(Scene(setting, standing, things=(napkin,)), 1), 0.5, 1))
    assert HindranceKind.OBJECT in {one.kind for one in reading.hindrances}
    for place, one in reading.places.items():
        assert one.hidden_by or one.best[0] == true[place] or one.best[1] < LEAST_SURE, (place, one.best)
