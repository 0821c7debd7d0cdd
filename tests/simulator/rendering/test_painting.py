"""Sprites mix with what is behind them at their edges, and with nothing else."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from simulator.rendering.hands import hand_sprite
from simulator.rendering.painting import Shadows, Sprite, paste
from simulator.rendering.renderer import PAINTERS
from simulator.scene.pieces import DiePose, DiscPose, PenPose, Pyramid, StackPose, block_on, changed
from simulator.scene.scene import Hand, Lighting, Setting
from tests.present import present
from vision.layout.table import default_layout

DECK = default_layout("deblockle")
STILL, MOVING = (0.0, 0.0), (8.0, 3.0)
PIECES = [
    ("deblockle", block_on(DECK, "d4", "gold", "star", "x", turned_deg=9.0)),
    ("diaballik", DiscPose(0.0, 0.0, "white")),
    ("blockade", StackPose(0.0, 0.0, (Pyramid("L", "yellow"),))),
    ("blockade", DiePose(0.0, 0.0, "white", 3)),
    ("number-drop", PenPose(0.0, 0.0, "red")),
]


def assert_as_bright_at_the_edge(sprite: Sprite) -> None:
    """Its colour, found from its picture before black and before white, is about the same where it covers half."""
    shape = (*sprite.cover.shape, 3)
    black, white = np.zeros(shape, np.uint8), np.full(shape, 255, np.uint8)
    for frame in (black, white):
        paste(frame, replace(sprite, left=0, top=0))
    cover = 1.0 - (white.astype(float) - black).mean(axis=2) / 255.0
    edge, inside = (cover > 0.3) & (cover < 0.7), cover > 0.9
    colour = (black[edge] / cover[edge][:, None]).mean()
    assert 0.75 < colour / black[inside].mean() < 1.25


@pytest.mark.parametrize("streak_mm", [STILL, MOVING])
@pytest.mark.parametrize(("game", "piece"), PIECES, ids=lambda one: one if isinstance(one, str) else type(one).__name__)
def test_edges_of_pieces_are_as_bright_as_their_inside(
    clean_setting: Setting, game: str, piece: Any, streak_mm: tuple[float, float]
) -> None:
    setting = replace(clean_setting, layout=default_layout(game), lighting=Lighting((), ambient=0.9, gloss=0.0))
    painter = PAINTERS[type(piece)](setting, Shadows(setting, 1.0))
    assert_as_bright_at_the_edge(painter.sprite(changed(piece, streak_mm=streak_mm)))


@pytest.mark.parametrize("streak_mm", [STILL, MOVING])
def test_edges_of_hands_are_as_bright_as_their_inside(clean_setting: Setting, streak_mm: tuple[float, float]) -> None:
    hand = Hand((30.0, -60.0, 60.0), (120.0, -260.0, 200.0), sleeve=None, streak_mm=streak_mm)
    assert_as_bright_at_the_edge(present(hand_sprite(clean_setting, hand)))
