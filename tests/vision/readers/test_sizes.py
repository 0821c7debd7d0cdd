"""How large pieces are in a picture, and what is said where they are too small."""

import functools

import numpy as np
import pytest

from benchmarks.scene.things import ForeignObject
from simulator.rendering.renderer import Renderer
from simulator.scene.scene import Scene, Setting, lens
from simulator.table import standard_setting
from vision.frame import Frame, Image
from vision.geometry import CameraModel, Pose
from vision.layout.pieces import BlockPieces, DiscPieces, PyramidPieces
from vision.layout.table import default_layout
from vision.readers.registry import table_reader
from vision.readers.sizes import are_pieces_too_small, least_px, smallest_px
from vision.reading import HindranceKind

FROM_ABOVE = Pose(np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, 1000.0]))


def straight(focal_px: float) -> CameraModel:
    return CameraModel(np.array([[focal_px, 0, 640.0], [0, focal_px, 360.0], [0, 0, 1]]), np.zeros(5), (1280, 720))


@pytest.mark.parametrize("game", ["deblockle", "blockade", "diaballik"])
def test_from_straight_above_all_pieces_are_as_large_as_their_height_makes_them(game: str) -> None:
    board = default_layout(game).board
    assert isinstance(board.pieces, BlockPieces | DiscPieces | PyramidPieces)
    away_mm = 1000.0 - board.height_mm - board.pieces.height_mm
    for width_px in (least_px(board) - 0.1, least_px(board) + 0.1):
        camera = straight(width_px / board.pieces.width_mm * away_mm)
        assert smallest_px(camera, FROM_ABOVE, board) == pytest.approx(width_px)
        assert are_pieces_too_small(camera, FROM_ABOVE, board) is (width_px < least_px(board))


def test_ink_has_no_limit() -> None:
    assert not are_pieces_too_small(straight(10.0), FROM_ABOVE, default_layout("number-drop").board)


@functools.cache
def rendered(size: tuple[int, int], *, with_card: bool) -> tuple[Setting, Image]:
    setting = standard_setting(lens(size))
    card = ForeignObject("playing card", 10.0, 20.0, base_mm=setting.layout.board.height_mm)
    return setting, Renderer(1).render(Scene(setting, (), things=(card,) if with_card else ()), 0)


@pytest.mark.parametrize(
    ("size", "with_card", "is_coarse"),
    [((800, 450), True, True), ((800, 450), False, False), ((1280, 720), True, False)],
)
def test_while_anything_is_unclear_small_pieces_are_said_to_be_the_reason(
    size: tuple[int, int], with_card: bool, is_coarse: bool
) -> None:
    setting, image = rendered(size, with_card=with_card)
    reader = table_reader(setting.camera, setting.layout, None)
    for number in range(3):
        reading = reader.read(Frame(image, number / 15, number))
        assert (reading.hindered_by(HindranceKind.OBJECT) is not None) is with_card
        assert (reading.hindered_by(HindranceKind.COARSE) is not None) is is_coarse
