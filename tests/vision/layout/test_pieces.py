"""Heights of pieces, what they can hide, and surfaces without pieces."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from vision.errors import LayoutError
from vision.geometry import CubeSolid, FrustumSolid, Rectangle
from vision.layout.pieces import (
    BlockPieces,
    DicePieces,
    DiscPieces,
    GridSurface,
    Ink,
    NamedPieces,
    PyramidPieces,
    Tray,
    top_mm,
)
from vision.layout.table import TableLayout, default_layout, layout_from_json, load_layout

MARKERS = {"dictionary": "DICT_4X4_50", "side": 36, "centres": {"0": [-175, 175], "1": [175, 175]}}


def test_a_block_can_hide_as_much_as_its_cube() -> None:
    board = default_layout("deblockle").board
    blocks = BlockPieces.on(board)
    x, y = board.centre_mm("b3")
    assert board.solid_at("b3") == CubeSolid(x, y, board.height_mm, blocks.side_mm)
    assert top_mm(board) == board.height_mm + blocks.side_mm
    assert len(set(blocks.symbols)) == len(blocks.symbols)
    assert set(blocks.symbols) == set(blocks.net.values())


def test_a_disc_can_hide_as_much_as_a_disc_with_a_ball() -> None:
    discs = DiscPieces(diameter_mm=24.0, disc_mm=10.0, ball_mm=14.0)
    assert discs.solid_at(1.0, 2.0, 3.0) == FrustumSolid(1.0, 2.0, 3.0, 24.0, 12.0, 7.0)
    assert discs.solid_with(1.0, 2.0, 3.0, ball=False) == FrustumSolid(1.0, 2.0, 3.0, 10.0, 12.0, 12.0)


def test_a_pyramid_can_hide_as_much_as_the_highest_stack() -> None:
    pyramids = PyramidPieces.on(default_layout("blockade").board)
    large, small = pyramids.sizes["L"], pyramids.sizes["S"]
    highest = large.apex_mm + 5 * pyramids.rise_mm - (small.apex_mm - small.height_mm)
    assert pyramids.height_mm == pytest.approx(highest)
    assert pyramids.solid_at(1.0, 2.0, 3.0) == FrustumSolid(1.0, 2.0, 3.0, pyramids.height_mm, large.base_mm / 2, 0.0)


def test_a_large_pyramid_that_covers_a_small_one_stands_on_the_board() -> None:
    pyramids = PyramidPieces.on(default_layout("blockade").board)
    sizes = {**pyramids.sizes, "S": replace(pyramids.sizes["S"], height_mm=10.0)}
    assert replace(pyramids, sizes=sizes, rise_mm=6.0).elevations_mm("SL") == (0.0, 0.0)
    assert pyramids.elevations_mm("") == ()


def test_pyramids_without_a_rise_get_that_of_the_usual_sets() -> None:
    sizes = {name: {"base": 20.0, "height": 42.0} for name in "SML"}
    pyramids = PyramidPieces.from_json({"pyramids": sizes})
    assert pyramids.rise_mm == 5.5
    assert pyramids.sizes["M"].apex_mm == pytest.approx(50.0)
    assert PyramidPieces.from_json({"pyramids": {**sizes, "rise": 4}}).rise_mm == 4


def test_the_height_of_dice_is_that_of_the_largest() -> None:
    dice = DicePieces.from_json({"dice": {"side": [14, 18], "colours": ["red"]}})
    assert (dice.smallest_mm, dice.largest_mm, dice.colours) == (14, 18, ("red",))
    assert dice.height_mm == 18
    assert dice.solid_at(1.0, 2.0, 3.0) == CubeSolid(1.0, 2.0, 3.0, 18)
    assert DicePieces.from_json({"dice": {"side": 16}}) == DicePieces(16, 16)
    usual = DicePieces.from_json({})
    assert (usual.smallest_mm, usual.largest_mm, usual.colours, usual.printed) == (12, 20, (), ())


@pytest.mark.parametrize(
    ("dice", "says"),
    [
        ({"faces": ["1*3457", ""]}, "has no face; expected a text"),
        ({"faces": 6}, "dice.faces is 6; expected a file, or a list"),
        ({"colours": "red"}, r"""dice.colours is 'red'; expected a list, such as \["red", "white"\]"""),
        ({"side": [20, 12]}, r"dice.side is \[20, 12\]; expected the smallest length first"),
    ],
)
def test_an_invalid_value_of_dice_is_refused(dice: dict[str, Any], says: str) -> None:
    with pytest.raises(LayoutError, match=says):
        DicePieces.from_json({"dice": dice})


def test_paths_of_learned_faces_are_relative_to_the_layout_file(tmp_path: Path) -> None:
    path = tmp_path / "tray.json"
    tray = {"tray": {"x": [-50, 60], "y": [-40, 70]}, "markers": MARKERS, "dice": {"side": 16, "faces": "faces.json"}}
    path.write_text(json.dumps(tray), encoding="utf-8")
    (surface,) = load_layout(path).surfaces
    assert DicePieces.on(surface).faces == tmp_path / "faces.json"
    assert surface.bounds_mm == Rectangle(-50.0, 60.0, -40.0, 70.0)


def test_the_margin_is_that_of_the_narrower_side_less_the_papers_edge() -> None:
    sheet = GridSurface("sheet", columns=2, rows=3, cell_mm=20.0)
    assert Ink(size_mm=(60.0, 90.0)).margin_mm(sheet) == 7.5
    assert Ink(size_mm=(90.0, 80.0)).margin_mm(sheet) == 7.5
    assert Ink(size_mm=(42.0, 90.0)).margin_mm(sheet) == 0.0
    assert Ink().margin_mm(sheet) == 0.0


def test_pieces_without_measurements_are_flat() -> None:
    layout = layout_from_json({"board": {"cols": 3, "rows": 2, "cell": 20}, "markers": MARKERS, "pieces": "beans"})
    assert layout.board.pieces == NamedPieces("beans")
    assert layout.board.solid_at("c2") is None
    assert top_mm(layout.board) == 0.0
    with pytest.raises(LayoutError, match="pieces is 3; expected a kind"):
        layout_from_json({"board": {"cols": 3, "rows": 2, "cell": 20}, "markers": MARKERS, "pieces": 3})


def test_a_layout_without_pieces_gives_a_board_without_pieces() -> None:
    board = layout_from_json({"board": {"cols": 3, "rows": 2, "cell": 20}, "markers": MARKERS}).board
    assert board.pieces is None
    assert board.solid_at("a1") is None
    for kind, needs in ((BlockPieces, "side and net"), (DicePieces, "set pieces to dice"), (Ink, "needs a sheet")):
        with pytest.raises(LayoutError, match=needs):
            kind.on(board)


def test_a_square_has_an_outline_and_a_board_can_be_divided_differently() -> None:
    board = GridSurface("board", columns=3, rows=2, cell_mm=20.0)
    assert board.outline_mm("a2").tolist() == [[-30, 0], [-10, 0], [-10, 20], [-30, 20]]
    assert board.divided(6, 2) == GridSurface("board", columns=6, rows=2, cell_mm=10.0)
    assert board.divided(3, 8).cell_mm == 5.0


def test_a_place_is_found_on_its_own_sheet() -> None:
    layout = default_layout("number-drop").with_sheets(2)
    assert layout.surface_of("p2.b3").name == "sheet of p2"
    assert layout.centre_mm("p2.b3") == layout.centre_mm("p1.b3")
    with pytest.raises(LayoutError, match="no square"):
        layout.centre_mm("p3.b3")


def test_a_tray_has_no_places() -> None:
    tray = Tray("tray", Rectangle(0.0, 10.0, 0.0, 10.0))
    for ask in (tray.centre_mm, tray.outline_mm, tray.solid_at):
        with pytest.raises(LayoutError, match="no place 'a1' in the tray"):
            ask("a1")
    layout = TableLayout("dice", default_layout("deblockle").markers, (tray,))
    assert layout.places == ()
    with pytest.raises(LayoutError, match="has no board with squares, but a tray"):
        _ = layout.board
    with pytest.raises(LayoutError, match="no place 'a1'"):
        layout.centre_mm("a1")


def test_two_surfaces_with_the_same_marker_place_or_name_are_refused() -> None:
    board = {"cols": 3, "rows": 2, "cell": 20}
    other = {"name": "other", "board": board, "prefix": "o."}
    table = {"board": board, "markers": MARKERS}
    assert layout_from_json({**table, "surfaces": [other]}).places[-1] == "o.c2"
    with pytest.raises(LayoutError, match="two surfaces have the marker 0"):
        layout_from_json({**table, "surfaces": [{**other, "markers": MARKERS}]})
    with pytest.raises(LayoutError, match="two surfaces have the place a1"):
        layout_from_json({**table, "surfaces": [{**other, "prefix": ""}]})
    with pytest.raises(LayoutError, match="two surfaces have the name board"):
        layout_from_json({**table, "surfaces": [{**other, "name": "board"}]})
