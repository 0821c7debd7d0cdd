"""Pictures of stacks as the virtual table draws them, and what is told of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simulator.scene.drawn_stacks import drawn_stacks_picture
from vision.geometry import project
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout

USUAL = default_layout("blockade")
LAYOUT = replace(USUAL, surfaces=(replace(USUAL.board, columns=3, rows=3),))
"""A small board, which renders fast."""


def test_a_seed_gives_one_picture_with_tips_at_their_true_positions() -> None:
    made = drawn_stacks_picture(np.random.default_rng([2, 3]), LAYOUT)
    assert (drawn_stacks_picture(np.random.default_rng([2, 3]), LAYOUT).image == made.image).all()
    pieces = PyramidPieces.on(LAYOUT.board)
    assert made.hidden < set(made.stacks)
    for place, stack in made.stacks.items():
        height = LAYOUT.board.height_mm + pieces.tip_mm(stack.size, stack.pieces)
        assert stack.tip_mm[2] == pytest.approx(height, rel=0.05)
        assert np.linalg.norm(stack.foot_mm - LAYOUT.board.centre_mm(place)) < 9
        column, row = project(made.camera, made.pose, stack.tip_mm[None])[0]
        assert 0 <= column < made.image.shape[1]
        assert 0 <= row < made.image.shape[0]
