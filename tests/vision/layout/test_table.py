"""A layout file is valid, or is refused with the name of the wrong key."""

import copy
import json
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    named_places,
    top_mm,
)
from vision.layout.table import TableLayout, default_layout, games_with_layouts, layout_from_json, load_layout

GOOD: dict[str, Any] = {
    "game": "deblockle",
    "board": {"cols": 7, "rows": 7, "cell": 40, "top_z": 10},
    "markers": {"dictionary": "DICT_4X4_50", "side": 36, "z": 0.4, "centres": {"0": [-175, 175], "1": [175, 175]}},
    "star_spaces": ["d2", "d6"],
}


def changed(path, value):
    data = copy.deepcopy(GOOD)
    *parents, last = path
    target = data
    for key in parents:
        target = target[key]
    target[last] = value
    return data


def test_the_layout_of_deblockle_has_its_measurements():
    layout = default_layout("deblockle")
    assert (layout.board.columns, layout.board.rows, layout.board.cell_mm, layout.board.height_mm) == (7, 7, 40.0, 10.0)
    assert layout.board.printed == ("d2", "d6")
    assert set(layout.markers.centres_mm) == {0, 1, 2, 3}
    assert BlockPieces.on(layout.board).net["south"] == "hoops"
    assert len(layout.places) == 49
    assert layout.places[:2] == ("a1", "b1")
    # it is asked for each place of each frame
    assert layout.places is layout.places


@pytest.mark.parametrize("game", ["chess", "", "../secret", "deblockle.json"])
def test_a_game_without_a_layout_is_named(game):
    with pytest.raises(LayoutError, match=f"there is one for {', '.join(games_with_layouts())}"):
        default_layout(game)


def test_the_board_is_centred_on_the_origin():
    layout = layout_from_json(GOOD)
    assert layout.centre_mm("a1") == (-120, -120)
    assert layout.centre_mm("d4") == (0, 0)
    assert layout.centre_mm("g7") == (120, 120)


@pytest.mark.parametrize(
    ("x_mm", "y_mm", "place"),
    [
        *((0, 0, "d4"), (-139, -101, "a1"), (-139, -99, "a2"), (139, 139, "g7"), (-99, -119, "b1")),
        *((-141, 0, None), (141, 0, None), (0, -141, None), (0, 141, None)),
    ],
)
def test_the_square_at_a_point_is_found(x_mm, y_mm, place):
    assert layout_from_json(GOOD).board.place_at(x_mm, y_mm) == place


def test_squares_have_neighbours_up_to_the_edge():
    layout = layout_from_json(GOOD)
    assert layout.board.neighbour("a1", 0, 1) == "a2"
    assert layout.board.neighbour("c3", 2, -1) == "e2"
    for corner, columns, rows in (("a1", -1, 0), ("a1", 0, -1), ("g7", 1, 0), ("g7", 0, 1)):
        assert layout.board.neighbour(corner, columns, rows) is None


def test_squares_of_a_sheet_have_neighbours_on_the_same_sheet():
    sheet = default_layout("number-drop").with_sheets(2).surfaces[-1]
    assert isinstance(sheet, GridSurface)
    assert sheet.neighbour("p2.f12", 1, 2) == "p2.g14"


@given(st.text(max_size=4))
def test_any_other_text_is_refused_as_a_square(place):
    layout = layout_from_json(GOOD)
    if place in layout.places:
        assert abs(layout.centre_mm(place)[0]) <= 120
    else:
        with pytest.raises(LayoutError, match="squares run from a1 to g7"):
            layout.centre_mm(place)


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (("board", "cell"), 0, "board.cell is 0"),
        (("board", "cell"), float("nan"), "board.cell is nan"),
        (("board", "cell"), True, "board.cell is True"),
        (("board", "cell"), 1e6, "board.cell is 1000000.0"),
        (("board", "cols"), 0, "0 x 7 squares"),
        (("board", "rows"), 0, "7 x 0 squares"),
        (("board", "rows"), 101, "7 x 101 squares"),
        (("board", "cols"), "many", "board.cols is 'many'; expected a whole number"),
        (("board", "cols"), 7.9, "board.cols is 7.9; expected a whole number"),
        (("board", "cell"), 4, "a square of the board is 4 mm wide; expected at least 5: give all lengths in milli"),
        (("board", "rows"), None, "board.rows is None; expected a whole number"),
        (("board", "top_z"), None, "board.top_z is None; expected a height"),
        (("board", "top_z"), float("nan"), "board.top_z is nan; expected a height"),
        (("board", "top_z"), 1e9, "board.top_z is 1000000000.0; expected a height"),
        (("board",), [7, 7, 40], "board is invalid"),
        (("markers", "side"), "36", "markers.side is '36'"),
        (("markers", "centres"), {}, "names no marker"),
        (("markers", "centres"), {"0": [1, 2], "1": [20, 2]}, "markers 0 and 1 overlap"),
        (("markers", "centres"), {"0": [1, 2], "1": [90, 2], "2": [90, 37.9]}, "markers 1 and 2 overlap"),
        (("markers", "centres"), {"0": [1, 2], "1": [90, 2], "2": [36.9, 2]}, "markers 0 and 2 overlap"),
        (("markers", "centres"), {"0": [1, 2], "00": [200, 2]}, "an id twice"),
        (("markers", "centres"), {"0": [float("inf"), 2]}, "marker 0 stands at"),
        (
            ("markers", "centres"),
            {"0": [-175, 175], "1": [1e308, 0]},
            r"marker 1 stands at \(1e\+308, 0\); expected mill",
        ),
        (("markers", "centres"), {str(number): [0, 0] for number in range(9**5)}, "marker 50 is not in DICT_4X4_50"),
        (("markers", "centres"), {"50": [1, 2]}, "marker 50 is not in DICT_4X4_50; its ids are 0 to 49"),
        (("markers", "centres"), {"-1": [1, 2]}, "marker -1 is not in DICT_4X4_50"),
        (("markers", "dictionary"), "DICT_9X9_3", "no marker dictionary 'DICT_9X9_3'"),
        (("markers",), None, "markers is invalid"),
        (("markers", "z"), float("inf"), "markers.z is inf; expected a height"),
        (("markers", "centres"), {"0": [-175]}, "markers is invalid"),
        (("markers", "centres"), {"far left": [-175, 175]}, "markers is invalid"),
        (("star_spaces",), ["d9"], "no square 'd9'"),
        (("star_spaces",), None, "star_spaces is invalid"),
        (("block",), {"side": 30, "net": {"up": "star"}}, "block.net has"),
        (("block",), {"side": 30, "net": ["star"]}, "block is invalid"),
        (("block",), {"net": {}, "edge": 30}, "block has no key 'side'"),
        (("pieces",), "discs", "the layout has no key 'piece'"),
        (("board", "cell"), 60, r"marker 0 at \(-175, 175\) lies on the squares of the board, which are 420 x 420 mm"),
        (("block",), {"side": 45}, "a piece on the board is 45 mm wide, and a square 40 mm"),
        (
            ("pyramids",),
            {size: {"base": base, "height": 40} for size, base in zip("SML", (20, 30, 41), strict=True)},
            "a piece on the board is 41 mm wide",
        ),
        (("surfaces",), [{"board": GOOD["board"]}], r"surfaces\[0\] has no key 'name'"),
        (("surfaces",), [{"name": "side", "tray": {"x": [1], "y": [1, 2]}}], r"surfaces\[0\]: tray is invalid"),
        (("surfaces",), [{"name": "side", "board": {**GOOD["board"], "cell": 0}}], r"surfaces\[0\]: board.cell is 0"),
        (("dice_tray",), {"x": [1, 2], "y": [1, 2], "die_side": 0}, "dice_tray: dice.side is 0"),
        (("dice_tray",), {"x": [1, 2], "y": [1, 2], "die_side": [1, 2, 3]}, "dice_tray: dice is invalid"),
    ],
)
def test_an_invalid_value_in_a_layout_is_named(path, value, says):
    with pytest.raises(LayoutError, match=says):
        layout_from_json(changed(path, value))


def test_a_disc_may_fill_its_square_and_a_ball_its_disc():
    filled = {**GOOD, "piece": {"diameter": 40, "height": 10}, "ball": {"diameter": 40}}
    assert DiscPieces.on(layout_from_json(filled).board).width_mm == 40
    with pytest.raises(LayoutError, match="a piece on the board is 41 mm wide"):
        layout_from_json(filled | {"piece": {"diameter": 41, "height": 10}})
    with pytest.raises(LayoutError, match=r"ball\.diameter is 41; expected piece\.diameter, 40, or less"):
        layout_from_json(filled | {"ball": {"diameter": 41}})


@pytest.mark.parametrize(("columns", "rows"), [(2, 1), (1, 2), (26, 100)])
def test_a_board_has_up_to_26_columns_and_a_hundred_rows(columns, rows):
    board = layout_from_json(
        {**GOOD, "board": {"cols": columns, "rows": rows, "cell": 5}, "star_spaces": [], "markers": "none"}
    ).board
    assert len(board.places) == columns * rows
    assert board.bounds_mm.width_mm == 5 * columns


def test_a_piece_given_in_centimetres_is_named():
    layout = json.loads(resources.files("vision.layout").joinpath("games/deblockle.json").read_text(encoding="utf-8"))
    layout["block"]["side"] /= 10
    with pytest.raises(
        LayoutError, match="a piece on the board is 3 mm wide; expected at least 6: give all lengths in"
    ):
        layout_from_json(layout)


def test_a_lone_square_is_no_board():
    with pytest.raises(LayoutError, match="the board has 1 x 1 squares; expected at least 2"):
        layout_from_json({**GOOD, "board": {"cols": 1, "rows": 1, "cell": 5}, "star_spaces": []})


def test_markers_may_touch_and_lie_on_the_table_by_default():
    markers = {"dictionary": "DICT_4X4_50", "side": 36, "centres": {"0": [158, 0], "1": [194, 10], "2": [168, -36]}}
    layout = layout_from_json(changed(("markers",), markers))
    assert layout.markers.corners_mm(0)[:, 2].tolist() == [0.0] * 4


def test_boards_sheets_and_trays_lie_on_the_table_by_default():
    flat = {"dictionary": "DICT_4X4_50", "side": 36, "centres": {"0": [-175, 175]}}
    tray = {"x": [-50, 50], "y": [-50, 50]}
    shapes = ({"board": {"cols": 3, "rows": 3, "cell": 12}}, {"tray": tray}, {"sheet": SHEET["sheet"]})
    for shape in shapes:
        assert layout_from_json({**shape, "markers": flat}).surfaces[0].height_mm == 0.0
    assert layout_from_json({"tray": {**tray, "top_z": 3}, "markers": flat}).surfaces[0].height_mm == 3.0
    assert layout_from_json({"sheet": SHEET["sheet"], "markers": "none"}).board.height_mm == 0.0


def test_a_table_may_have_no_markers():
    layout = layout_from_json(changed(("markers",), "none"))
    assert not layout.markers.centres_mm
    assert layout.board == layout_from_json(GOOD).without_markers().board
    with pytest.raises(LayoutError, match="markers is 'some'"):
        layout_from_json(changed(("markers",), "some"))


def test_only_one_part_of_a_table_may_lack_markers():
    assert layout_from_json(SHEET | {"markers": "none", "sheets": 1}).places
    bare = default_layout("number-drop").without_markers()
    bare.with_sheets(1).check_told_apart()
    refused = "the sheet of p1 and the sheet of p2 can't be told apart without markers; print them with markers"
    with pytest.raises(LayoutError, match=refused):
        layout_from_json(SHEET | {"markers": "none", "sheets": 2})
    for check in (bare.check_told_apart, lambda: bare.with_sheets(2)):
        with pytest.raises(LayoutError, match=refused):
            check()


def test_a_tray_alone_needs_markers():
    tray = {"tray": {"x": [-50, 50], "y": [-50, 50]}, "dice": {"side": 16}}
    with pytest.raises(LayoutError, match="the tray has no lines to be found by"):
        layout_from_json({**tray, "markers": "none"})
    with pytest.raises(LayoutError, match="the tray has no lines to be found by"):
        layout_from_json({**tray, "markers": GOOD["markers"]}).without_markers()


@pytest.mark.parametrize("key", ["x", "y"])
def test_the_limits_of_a_tray_are_in_order(key):
    tray = {"x": [-50, 50], "y": [-50, 50], key: [21, -21]}
    with pytest.raises(LayoutError, match=rf"tray\.{key} is \[21, -21\]; expected two lengths in mm, the smaller one"):
        layout_from_json({"tray": tray, "markers": GOOD["markers"]})


def test_a_missing_key_is_named():
    data = copy.deepcopy(GOOD)
    del data["markers"]["side"]
    with pytest.raises(LayoutError, match="markers has no key 'side'"):
        layout_from_json(data)
    with pytest.raises(LayoutError, match="the layout has no key 'markers'"):
        layout_from_json({"board": GOOD["board"]})


def test_symbols_of_a_net_may_be_capitalised_and_others_are_refused():
    net = {"up": "Star", "down": "STOP", "north": "slider", "east": "X", "south": "hoops", "west": "cross"}
    blocks = BlockPieces.on(layout_from_json({**GOOD, "block": {"side": 30, "net": net}}).board)
    assert blocks.symbols == ("star", "stop", "slider", "x", "hoops", "cross")
    with pytest.raises(LayoutError, match="the symbol 'moon'; expected star, stop, slider, x, hoops or cross"):
        layout_from_json({**GOOD, "block": {"side": 30, "net": net | {"up": "moon"}}})


def test_missing_files_and_files_that_are_no_layout_are_refused(tmp_path):
    with pytest.raises(LayoutError, match="cannot read the layout"):
        load_layout(tmp_path / "none.json")
    path = tmp_path / "layout.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(LayoutError, match="is not valid JSON"):
        load_layout(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(LayoutError, match="is not a JSON object"):
        load_layout(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(LayoutError, match=r"layout\.json: the layout has no key 'markers'"):
        load_layout(path)
    path.write_text(json.dumps(GOOD), encoding="utf-8")
    assert load_layout(path) == layout_from_json(GOOD)


def test_corners_run_clockwise_from_the_far_left():
    corners = layout_from_json(GOOD).markers.corners_mm(1)
    assert corners.tolist() == [[157, 193, 0.4], [193, 193, 0.4], [193, 157, 0.4], [157, 157, 0.4]]


def test_the_layout_of_diaballik_measures_discs_and_balls() -> None:
    discs = DiscPieces.on(default_layout("diaballik").board)
    assert (discs.diameter_mm, discs.disc_mm, discs.ball_mm, discs.height_mm) == (25.0, 10.0, 15.0, 25.0)


def test_each_nesting_pyramid_raises_the_apex_of_a_stack_by_the_rise() -> None:
    pyramids = PyramidPieces.on(default_layout("blockade").board)
    for sizes in ("LMMMMM", "LMS", "LS", "LMSL"):
        for number, (base, size) in enumerate(zip(pyramids.elevations_mm(sizes), sizes, strict=True)):
            apex = base + pyramids.sizes[size].apex_mm
            assert apex == pytest.approx(pyramids.sizes["L"].apex_mm + pyramids.rise_mm * number)
            assert pyramids.tip_mm(size, number) == pytest.approx(base + pyramids.sizes[size].height_mm)


def test_a_small_pyramid_on_a_large_one_is_higher_than_a_second_large_one() -> None:
    pyramids = PyramidPieces.on(default_layout("blockade").board)
    large, small = pyramids.sizes["L"], pyramids.sizes["S"]
    wall_mm = pyramids.rise_mm * large.base_mm / 2 / large.apex_mm
    base_mm = pyramids.elevations_mm("LS")[1]
    inner_mm = small.base_mm / 2 - wall_mm
    outer_mm = large.base_mm / 2 * (1 - base_mm / large.apex_mm)
    assert inner_mm == pytest.approx(outer_mm, abs=0.2)
    assert pyramids.tip_mm("S", 1) > pyramids.tip_mm("M", 1) > pyramids.tip_mm("L", 1) + 1


def test_a_request_for_pieces_of_another_kind_is_refused() -> None:
    board = default_layout("deblockle").board
    with pytest.raises(LayoutError, match="it needs piece and ball"):
        DiscPieces.on(board)
    with pytest.raises(LayoutError, match="it needs their sizes"):
        PyramidPieces.on(board)


@pytest.mark.parametrize(
    ("game", "last", "colours"),
    [("number-drop", "g14", ()), ("blokus-dice", "j10", ("red", "blue", "yellow", "green"))],
)
def test_sheets_differ_only_in_markers_and_place_names(game, last, colours):
    layout = default_layout(game).with_sheets(3)
    sheets = [surface for surface in layout.surfaces if surface.places]
    assert [sheet.places[-1] for sheet in sheets] == [f"p1.{last}", f"p2.{last}", f"p3.{last}"]
    assert [sorted(part.markers.centres_mm) for part in layout.parts()] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert {Ink.on(sheet).colours for sheet in sheets} == {colours}
    assert {sheet.solid_at(sheet.places[0]) for sheet in sheets} == {None}
    assert layout.with_sheets(1).places == sheets[0].places
    with pytest.raises(LayoutError, match="sheets is 0"):
        layout.with_sheets(0)
    with pytest.raises(LayoutError, match="marker 50 is not in DICT_4X4_50"):
        layout.with_sheets(13)
    with pytest.raises(LayoutError, match="two surfaces have the marker 4"):
        layout_from_json(SHEET | {"surfaces": [SECOND]}).with_sheets(2)
    with pytest.raises(LayoutError, match="has no sheets"):
        default_layout("deblockle").with_sheets(2)


SECOND = {
    "name": "second",
    "board": {"cols": 3, "rows": 3, "cell": 12},
    "markers": {"dictionary": "DICT_4X4_50", "side": 36, "centres": {"4": [60, 0]}},
}
SHEET = {"sheet": {"size": [60, 60], "grid": {"cols": 3, "rows": 3, "cell": 12}}, "markers": GOOD["markers"]}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"sheets": "two"}, "sheets is 'two'"),
        ({"sheets": True}, "sheets is True; expected a whole number"),
        ({"sheets": 65536}, "sheets is 65536; expected 1 to 100"),
        ({"sheets": 14}, "marker 52 is not in DICT_4X4_50"),
        ({"sheet": {"grid": {"cols": float("inf"), "rows": 3, "cell": 12}}}, "sheet.grid.cols is inf"),
        (
            {"sheet": {"grid": {"cols": 3, "rows": 3}}},
            "sheet has no key 'cell'; see docs/set-up.md for a complete example",
        ),
        ({"sheet": {**SHEET["sheet"], "size": [60]}}, "sheet is invalid"),
        (
            {"sheet": {"grid": {"cols": 27, "rows": 3, "cell": 12}}},
            "27 columns; expected at most 26, since letters name them",
        ),
        ({"sheet": {"grid": {"cols": 3, "rows": 3, "cell": 10**400}}}, "expected a length in millimetres"),
        (
            {"sheet": {"grid": {"cols": 3, "rows": 101, "cell": 12}}},
            "3 x 101 squares; expected 1 to 26 columns and 1 to",
        ),
        ({"colours": "red"}, r"""colours is 'red'; expected a list of the pens' names, such as \["red", "blue"\]"""),
        ({"sheet": {"grid": {"cols": 3, "rows": 3, "cell": 12, "left": 0}}}, "sheet.grid.left is 0; expected -18"),
    ],
)
def test_an_invalid_value_of_a_sheet_is_named(wrong, says):
    assert layout_from_json(SHEET).board.height_mm == 0.4
    with pytest.raises(LayoutError, match=says):
        layout_from_json(SHEET | wrong)


@pytest.mark.parametrize(("bottom", "fits"), [(-18.4, True), (-17.6, True), (-18.6, False), (-17.4, False)])
def test_a_grid_must_be_centred_on_its_sheet_within_half_a_millimetre(bottom, fits):
    grid = {"cols": 5, "lines": 3, "cell": 12, "left": -30, "bottom": bottom}
    data = {"sheet": {"size": [70, 60], "grid": grid}, "markers": GOOD["markers"]}
    if fits:
        assert layout_from_json(data).board.places[-1] == "p1.e3"
    else:
        with pytest.raises(LayoutError, match="expected -18, since all is measured"):
            layout_from_json(data)


def test_dice_lie_to_the_right_of_the_first_sheet():
    dice = {"side": 16, "faces": ["1*3457", "IOTLS*"]}
    layout = layout_from_json({**SHEET, "dice": dice}).with_sheets(2)
    tray = next(one for one in layout.parts()[0].surfaces if isinstance(one, Tray))
    assert tray.bounds_mm == Rectangle(36.0, 106.0, -30.0, 30.0)
    assert DicePieces.on(tray).printed == ("1*3457", "IOTLS*")
    assert DicePieces.on(tray).faces is None


def test_a_tray_beside_a_board_may_give_the_side_and_colours_of_its_dice():
    beside = {"x": [150, 200], "y": [-50, 50], "top_z": 2}
    usual = layout_from_json({**GOOD, "dice_tray": beside}).surfaces[1]
    assert (usual.name, usual.bounds_mm, usual.height_mm) == ("dice tray", Rectangle(150.0, 200.0, -50.0, 50.0), 2.0)
    assert DicePieces.on(usual) == DicePieces()
    told = layout_from_json({**GOOD, "dice_tray": {**beside, "die_side": 14, "colours": ["red"]}}).surfaces[1]
    assert DicePieces.on(told) == DicePieces(14.0, 14.0, ("red",))


def test_few_places_are_named_many_counted_and_all_called_by_the_surface() -> None:
    board = default_layout("diaballik").board
    assert named_places(board, board.places[:2]) == "a1, b1"
    assert named_places(board, board.places[:20]) == "a1, b1, c1, d1, e1, f1, g1 and 13 more"
    assert named_places(board, board.places) == "the board"


# Heights of pieces, what they can hide, and surfaces without pieces.

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
