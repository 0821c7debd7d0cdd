import json
from importlib import resources
from pathlib import Path

import pytest

from engine.registry import load
from referee.settings.table_layout import grid_of_table, layout_for, with_rules
from vision.errors import LayoutError
from vision.layout.table import default_layout


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
    layout = json.loads(
        resources.files("vision.layout").joinpath("games", "diaballik.json").read_text(encoding="utf-8")
    )
    path = tmp_path / "layout.json"
    path.write_text(json.dumps(layout), encoding="utf-8")
    assert layout_for("diaballik", path).board.columns == 7
    layout["board"] |= changed
    path.write_text(json.dumps(layout), encoding="utf-8")
    with pytest.raises(LayoutError, match=r"squares, a1 to .*; Diaballik needs 7 x 7, a1 to g7"):
        layout_for("diaballik", path)
