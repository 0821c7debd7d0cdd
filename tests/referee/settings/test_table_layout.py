import json
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.registry import load
from referee.settings.table_layout import grid_of_table, layout_for, layout_for_camera, with_rules
from vision.errors import LayoutError
from vision.layout.pieces import NET_SIDES, BlockPieces, DicePieces
from vision.layout.table import TableLayout, default_layout
from vision.readers.dice.photographs import INSIDE, FaceSet

OWN_DICE = "1*3457/12*456/234*67/123597/IOTLS*"
OWN_NET = "star/stop/x/slider/hoops/cross"


def shipped(name: str) -> dict[str, Any]:
    """The layout file that comes with a game."""
    text = resources.files("vision.layout").joinpath("games", f"{name}.json").read_text(encoding="utf-8")
    data: dict[str, Any] = json.loads(text)
    return data


def own(data: dict[str, Any], folder: Path) -> Path:
    """An owner's layout file."""
    path = folder / "layout.json"
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def dice_of(layout: TableLayout) -> DicePieces:
    return next(surface.pieces for surface in layout.surfaces if isinstance(surface.pieces, DicePieces))


@pytest.mark.parametrize(("name", "players"), [("number-drop", 1), ("number-drop", 6), ("blokus-dice", 4)])
def test_every_player_has_a_sheet(name: str, players: int) -> None:
    game = load(name)
    layout = with_rules(default_layout(name), game, {"players": players})
    assert layout.places == tuple(game.table.appearance(game.rules.new({"players": players})))
    assert len(grid_of_table(layout).rows[0]) == players * layout.board.columns


def test_an_owners_own_sheet_is_divided_as_specified() -> None:
    layout = with_rules(default_layout("blokus-dice"), load("blokus-dice"), {"sheet": "8x6/3/-/1/2/I3/V3/I4/L4"})
    assert (layout.board.columns, layout.board.rows, layout.board.cell_mm) == (8, 6, 17.5)


def test_a_board_stays_unchanged_and_is_no_sheet() -> None:
    board = default_layout("deblockle")
    assert with_rules(board, load("deblockle"), {}) is board
    assert grid_of_table(board).rows[-1][0] == "a1"
    with pytest.raises(LayoutError, match="has no sheets"):
        with_rules(board, load("number-drop"), {})


@pytest.mark.parametrize("changed", [{"cols": 8}, {"rows": 6}, {"cols": 8, "rows": 6}])
def test_a_board_with_other_squares_than_the_games_is_refused(changed: dict[str, int], tmp_path: Path) -> None:
    layout = shipped("diaballik")
    assert layout_for("diaballik", own(layout, tmp_path)).board.columns == 7
    layout["board"] |= changed
    with pytest.raises(LayoutError, match=r"squares, a1 to .*; Diaballik needs 7 x 7, a1 to g7"):
        layout_for("diaballik", own(layout, tmp_path))


def test_the_camera_looks_for_the_dice_of_the_options() -> None:
    game, layout = load("number-drop"), default_layout("number-drop")
    assert dice_of(with_rules(layout, game, {"dice": OWN_DICE.lower()})).printed == tuple(OWN_DICE.split("/"))
    assert dice_of(with_rules(layout, game, {"dice": "printed"})) == dice_of(layout)


def test_a_layout_may_list_an_owners_dice_too_but_no_others(tmp_path: Path) -> None:
    game, data = load("number-drop"), shipped("number-drop")
    data["dice_tray"]["faces"] = ["975321", *OWN_DICE.split("/")[:3], "IOTLS*"]
    layout = layout_for("number-drop", own(data, tmp_path))
    assert dice_of(with_rules(layout, game, {"dice": OWN_DICE})) == dice_of(layout)
    for options in ({}, {"dice": OWN_DICE.replace("9", "8")}):
        with pytest.raises(LayoutError, match=r"the layout has the dice 975321/.*, and the game 1\*3457/.*; give the"):
            with_rules(layout, game, options)


@pytest.mark.parametrize(
    ("name", "dice", "fits"), [("*", "printed", True), ("star", "printed", False), ("9", OWN_DICE, True)]
)
def test_learned_faces_have_the_games_names(name: str, dice: str, fits: bool, tmp_path: Path) -> None:
    data = shipped("number-drop")
    data["dice_tray"]["faces"] = "faces.npz"
    layout = layout_for("number-drop", own(data, tmp_path))
    FaceSet(("1", name), np.zeros((2, INSIDE.size), dtype=np.float32)).save(tmp_path / "faces.npz")
    if fits:
        assert dice_of(with_rules(layout, load("number-drop"), {"dice": dice})) == dice_of(layout)
    else:
        with pytest.raises(
            LayoutError, match=r"faces\.npz has the faces star, and the game's dice 1\*3457/.*each named"
        ):
            with_rules(layout, load("number-drop"), {"dice": dice})


def test_the_camera_looks_for_the_blocks_of_the_options(tmp_path: Path) -> None:
    game, layout = load("deblockle"), default_layout("deblockle")
    assert with_rules(layout, game, {"net": "stop/star/hoops/x/slider/cross", "starts": "either"}) is layout
    own_blocks = with_rules(layout, game, {"net": OWN_NET})
    assert "/".join(BlockPieces.on(own_blocks.board).net[side] for side in NET_SIDES) == OWN_NET
    assert with_rules(own_blocks, game, {"net": OWN_NET}) is own_blocks
    with pytest.raises(LayoutError, match=rf"with the net {OWN_NET}, and the game with star/stop/slider/x/hoops/cross"):
        with_rules(own_blocks, game, {})
    data = shipped("deblockle")
    data["block"]["net"]["up"] = "stop"
    with pytest.raises(LayoutError, match="with the net stop/stop/slider"):
        with_rules(layout_for("deblockle", own(data, tmp_path)), game, {})


def test_a_layout_with_pieces_that_never_look_like_the_games_is_refused(tmp_path: Path) -> None:
    data = shipped("deblockle")
    data["piece"], data["ball"] = {"diameter": 25, "height": 10}, {"diameter": 15}
    del data["block"]
    with pytest.raises(
        LayoutError, match="has the look 'gold block, star up', and the reader of the board gives gold pi"
    ):
        layout_for_camera("deblockle", own(data, tmp_path))
