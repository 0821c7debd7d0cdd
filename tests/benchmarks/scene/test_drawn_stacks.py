"""Pictures of stacks as the virtual table draws them, and their ground truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scene.drawn_stacks import drawn_stacks_pictures
from vision.geometry import project
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout

USUAL = default_layout("blockade")
LAYOUT = replace(USUAL, surfaces=(replace(USUAL.board, columns=3, rows=3),))
"""A small board, which renders fast."""


def test_a_seed_gives_the_same_pictures_with_tips_at_their_true_positions() -> None:
    made = drawn_stacks_pictures(np.random.default_rng([2, 3]), LAYOUT)
    again = drawn_stacks_pictures(np.random.default_rng([2, 3]), LAYOUT)
    assert all((one.image == other.image).all() for one, other in zip(made, again, strict=True))
    pieces = PyramidPieces.on(LAYOUT.board)
    for picture in made:
        assert picture.hidden < set(picture.stacks)
        for place, stack in picture.stacks.items():
            height = LAYOUT.board.height_mm + pieces.tip_mm(stack.size, stack.pieces)
            assert stack.tip_mm[2] == pytest.approx(height, rel=0.05)
            assert np.linalg.norm(stack.foot_mm - LAYOUT.board.centre_mm(place)) < 9
            column, row = project(picture.camera, picture.pose, stack.tip_mm[None])[0]
            assert 0 <= column < picture.image.shape[1]
            assert 0 <= row < picture.image.shape[0]


def test_pictures_of_one_table_differ_in_their_stacks_only() -> None:
    first, *others = drawn_stacks_pictures(np.random.default_rng([2, 3]), LAYOUT)
    assert others
    for other in others:
        assert other.camera is first.camera
        assert other.pose is first.pose
        assert any(
            other.stacks[place].pieces != first.stacks[place].pieces for place in other.stacks.keys() & first.stacks
        )
