"""The reader chosen for a table, and looks missing from a set of pieces."""

from __future__ import annotations

import gc
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.registry import games, load
from vision.errors import EnrolmentError, LayoutError
from vision.geometry import CameraModel, Rectangle
from vision.layout.pieces import BlockPieces, GridSurface, Ink, NamedPieces, Tray
from vision.layout.table import default_layout
from vision.readers.blocks.appearance import drawn_appearance
from vision.readers.blocks.appearance import save_appearance as save_blocks
from vision.readers.discs.lighting import DiscAppearance, DiscColours
from vision.readers.registry import (
    PIECE_READERS,
    check_looks,
    check_readable,
    is_readable,
    load_any,
    missing_traits,
    reader_kind,
    table_reader,
)
from vision.reading import HindranceKind


@pytest.mark.parametrize("game", games())
def test_every_games_table_can_be_read_and_its_looks_survive_a_file(
    game: str, camera: CameraModel, tmp_path: Path
) -> None:
    layout = default_layout(game)
    assert is_readable(layout)
    kind = reader_kind(layout)
    plain = kind.plain(layout.board)
    kind.save(plain, tmp_path / "looks.json")
    assert load_any(tmp_path / "looks.json").looks == plain.looks
    assert table_reader(camera, layout, None).layout is layout
    assert table_reader(camera, layout, plain).layout is layout
    check_looks(layout, load(game).looks)


@pytest.mark.parametrize("game", games())
def test_readers_that_are_dropped_leave_nothing_for_the_garbage_collector(game: str, camera: CameraModel) -> None:
    layout = default_layout(game)
    table_reader(camera, layout, None)
    gc.collect()
    table_reader(camera, layout, None)
    assert gc.collect() == 0


def test_taught_looks_are_those_of_the_boards_kind_of_pieces_alone(camera: CameraModel) -> None:
    layout = default_layout("deblockle")
    markers = [replace(layout.markers, centres_mm={one: (0.0, 0.0)}) for one in (11, 12)]
    again = replace(layout.board, name="again", prefix="q.", printed=(), markers=markers[0])
    sheet = GridSurface("sheet", 3, 3, 24.0, pieces=Ink(), markers=markers[1], prefix="p.")
    taught = replace(drawn_appearance(("star", "cross")), colours={"red": np.zeros(3)})
    reader = table_reader(camera, replace(layout, surfaces=(layout.board, again, sheet)), taught)
    looks = {
        place: set(reading.probabilities)
        for part in reader._parts
        for place, reading in part.hidden(HindranceKind.HAND).items()
    }
    assert looks["a1"] == looks["q.a1"] == {"empty", *taught.looks}
    assert looks["p.a1"] == {"empty", *PIECE_READERS["ink"].plain(sheet).looks}


def test_a_table_with_an_unknown_kind_of_pieces_is_unreadable() -> None:
    layout = default_layout("deblockle")
    assert not is_readable(replace(layout, surfaces=(replace(layout.board, pieces=NamedPieces("shells")),)))
    assert not is_readable(replace(layout, surfaces=(replace(layout.board, pieces=None),)))
    dice_on_places = replace(layout, surfaces=(replace(layout.board, pieces=NamedPieces("dice")),))
    with pytest.raises(LayoutError, match=r"no reader knows 'dice', .* for the board; there is one for blocks, discs"):
        check_readable(dice_on_places)
    tray = Tray("tray", Rectangle(0.0, 50.0, 0.0, 50.0), pieces=NamedPieces("blocks"))
    with pytest.raises(LayoutError, match=r"no reader knows 'blocks', .* for the tray; there is one for dice"):
        check_readable(replace(layout, surfaces=(*layout.surfaces, tray)))


def test_blocks_without_a_net_are_unreadable() -> None:
    layout = default_layout("deblockle")
    bare = replace(layout.board, pieces=BlockPieces(30.0, {}))
    with pytest.raises(LayoutError, match=r"which symbols are on the blocks; add net .* up, down, north, east"):
        check_readable(replace(layout, surfaces=(bare,)))


def test_a_look_that_the_reader_never_gives_is_refused() -> None:
    layout = default_layout("diaballik")
    check_looks(layout, ("empty", "red piece", "blue piece with ball"))
    with pytest.raises(
        LayoutError, match="'red pebble', and the reader of the board gives red piece, red piece with b"
    ):
        check_looks(layout, ("empty", "red piece", "red pebble"))


def test_a_board_without_pieces_is_told_what_may_lie_on_it() -> None:
    layout = default_layout("deblockle")
    with pytest.raises(LayoutError, match='the kind of piece in "pieces", or give "block", "piece" and "ball"'):
        check_readable(replace(layout, surfaces=(replace(layout.board, pieces=None),)))


def test_several_sheets_without_markers_are_not_read(camera: CameraModel) -> None:
    layout = default_layout("number-drop").with_sheets(2).without_markers()
    with pytest.raises(LayoutError, match="can't be told apart without markers"):
        table_reader(camera, layout, None)


def test_a_file_of_looks_is_read_as_the_kind_that_wrote_it(tmp_path: Path) -> None:
    symbols = ("star", "cross")
    save_blocks(drawn_appearance(symbols), tmp_path / "blocks.json")
    assert load_any(tmp_path / "blocks.json").traits == ((), symbols)
    (tmp_path / "other.json").write_text('{"format": "other"}', encoding="utf-8")
    with pytest.raises(EnrolmentError, match=r"other\.json have format 'other'; expected '.*looks 1', .* or '.*ink 1'"):
        load_any(tmp_path / "other.json")
    (tmp_path / "damaged.json").write_text(json.dumps({"format": PIECE_READERS["blocks"].format}), encoding="utf-8")
    with pytest.raises(EnrolmentError, match=r"cannot be read \('colours'\): enrol the piece set again"):
        load_any(tmp_path / "damaged.json")
    with pytest.raises(EnrolmentError, match="cannot read"):
        load_any(tmp_path / "none.json")


def test_missing_looks_are_named_by_their_first_word() -> None:

    taught = DiscAppearance({"black": DiscColours(np.zeros(3), np.zeros(3))})
    expected = ("empty", "black piece", "white piece", "white piece with ball", "red piece")
    assert missing_traits(taught, expected) == ("white", "red")
    assert missing_traits(taught, ("black piece with ball",)) == ()
    assert missing_traits(DiscAppearance({}), ("black piece",)) == ("black",)
    assert set(PIECE_READERS) == {"blocks", "discs", "pyramids", "ink"}
