"""Random pictures of stacks, and their ground truth."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.scene.stack_variety import StacksPicture, stacks_picture
from tests.effort import cases
from vision.geometry import project
from vision.layout.pieces import PyramidPieces
from vision.layout.table import default_layout

USUAL = default_layout("blockade")
LAYOUT = replace(USUAL, surfaces=(replace(USUAL.board, columns=3, rows=3),))
"""A small board, which renders fast."""


@pytest.fixture(scope="module")
def made() -> list[StacksPicture]:
    return [stacks_picture(np.random.default_rng([2, number]), LAYOUT) for number in range(cases(8, 2))]


def test_a_seed_gives_one_picture(made: list[StacksPicture]) -> None:
    again = stacks_picture(np.random.default_rng([2, 0]), LAYOUT)
    assert (again.image == made[0].image).all()
    assert again.hidden == made[0].hidden


def test_pictures_show_every_size_empty_places_and_hidden_ones(made: list[StacksPicture]) -> None:
    stacks = [stack for picture in made for stack in picture.stacks.values()]
    assert {stack.size for stack in stacks} == {"S", "M", "L"}
    assert any(len(picture.stacks) < len(LAYOUT.board.places) for picture in made)
    assert any(picture.hidden for picture in made)


def test_tips_are_as_high_as_the_pieces_below_make_them_and_in_the_picture(made: list[StacksPicture]) -> None:
    pieces = PyramidPieces.on(LAYOUT.board)
    for picture in made:
        for place, stack in picture.stacks.items():
            height = LAYOUT.board.height_mm + pieces.tip_mm(stack.size, stack.pieces)
            assert stack.tip_mm[2] == pytest.approx(height, rel=0.12)
            assert np.linalg.norm(stack.foot_mm - LAYOUT.board.centre_mm(place)) < 9
            column, row = project(picture.camera, picture.pose, stack.tip_mm[None])[0]
            assert -1 <= column <= picture.image.shape[1]
            assert row <= picture.image.shape[0]
