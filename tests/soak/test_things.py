"""Things that lie on the bare board are not taken for blocks, however much they look like a symbol."""

from __future__ import annotations

import pytest

from benchmarks.soak_play import looks_of_pieces
from simulator.faults_table import faulty_setting
from simulator.render import Renderer
from simulator.scene import Scene, Thing, block_on
from vision.frame import Frame
from vision.reader import TableReader

SIZE = (960, 540)
PALE = (0.85, 0.85, 0.88)


@pytest.mark.parametrize("seed", [4013, 4009, 4039])
def test_a_pale_coin_is_no_stop_on_a_gold_block(seed: int) -> None:
    setting = faulty_setting(seed, SIZE)
    layout = setting.layout
    blocks = tuple(
        block_on(layout, place, colour, "stop", "slider") for place, colour in (("b2", "gold"), ("f6", "teal"))
    )
    coins = tuple(
        Thing("coin", *layout.centre_mm(place), PALE, layout.board_top_mm, radius_mm)
        for place, radius_mm in (("a5", 9.0), ("c6", 9.5), ("e3", 10.0), ("g1", 10.5))
    )
    image = Renderer(seed).render(Scene(setting, blocks, (), coins), 0)
    reading = TableReader(setting.camera, layout, looks_of_pieces(SIZE)).read(Frame(image, 0.0, 0))
    for place in ("a5", "c6", "e3", "g1"):
        seen = reading.places[place]
        assert seen.hidden_by is not None or seen.probabilities["gold block, stop up"] < 0.4
    assert reading.places["b2"].best[0] == "gold block, stop up"
    assert reading.places["f6"].best[0] == "teal block, stop up"
