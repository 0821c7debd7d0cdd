"""Objects and print on the board are not taken for blocks, nor blocks for the board."""

from __future__ import annotations

import pytest

from benchmarks.faults.table import faulty_setting
from benchmarks.parts.soak.game import looks_of_pieces
from simulator.rendering.renderer import Renderer
from simulator.scene.pieces import block_on
from simulator.scene.scene import ForeignObject, Scene
from tests.effort import some
from vision.frame import Frame
from vision.layout.pieces import BlockPieces
from vision.readers.registry import table_reader

SIZE = (960, 540)
PALE = (0.85, 0.85, 0.88)
COPPER = (0.28, 0.42, 0.66)


@pytest.mark.parametrize("seed", some([4013, 4009, 4039], 1))
def test_a_pale_coin_is_no_stop_on_a_gold_block(seed: int) -> None:
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = tuple(
        block_on(layout, place, colour, "stop", "slider") for place, colour in (("b2", "gold"), ("f6", "teal"))
    )
    coins = tuple(
        ForeignObject("coin", *layout.centre_mm(place), PALE, layout.board.height_mm, radius_mm)
        for place, radius_mm in (("a5", 9.0), ("c6", 9.5), ("e3", 10.0), ("g1", 10.5))
    )
    image = Renderer(seed).render(Scene(setting, blocks, (), coins), 0)
    reading = table_reader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    for place in ("a5", "c6", "e3", "g1"):
        seen = reading.places[place]
        assert seen.hidden_by is not None or seen.probabilities["gold block, stop up"] < 0.8
    assert reading.places["b2"].best[0] == "gold block, stop up"
    assert reading.places["f6"].best[0] == "teal block, stop up"


@pytest.mark.parametrize("seed", some([1312, 1324, 1337, 1329]))
def test_a_block_that_stands_star_up_on_a_star_is_seen(seed: int) -> None:
    """The star printed on the board looks like the one on the block."""
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = (
        block_on(layout, "d6", "gold", "star", "slider", turned_deg=4.0),
        block_on(layout, "c3", "teal", "stop", "slider"),
    )
    image = Renderer(seed).render(Scene(setting, blocks), 0)
    reading = table_reader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    assert reading.places["d6"].probabilities["gold block, star up"] > 0.9
    assert reading.places["d2"].probabilities["empty"] > 0.95


@pytest.mark.parametrize("seed", some([1300, 1302, 1313, 1324]))
def test_a_block_under_a_coin_is_not_certainly_gone(seed: int) -> None:
    """A copper coin looks like wood; only a rim of the gold block below it shows, behind another block."""
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = tuple(block_on(layout, place, "gold", "x", "slider") for place in ("b3", "b2", "e5", "e4", "g6", "g5"))
    top_mm = layout.board.height_mm + BlockPieces.on(layout.board).side_mm
    coins = tuple(ForeignObject("coin", *layout.centre_mm(place), COPPER, top_mm, 13.5) for place in ("b3", "e5", "g6"))
    image = Renderer(seed).render(Scene(setting, blocks, (), coins), 0)
    reading = table_reader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    for place in ("b3", "e5", "g6"):
        assert reading.places[place].probabilities["empty"] < 0.5
    for place in ("b2", "e4", "g5"):
        assert reading.places[place].probabilities["gold block, x up"] > 0.95
