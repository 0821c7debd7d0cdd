"""The layout of a game's places: measured, or a grid derived from their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from common.grid import PlaceGrid, column_and_row
from engine import registry
from engine.api import Game
from engine.values import OptionValue
from referee.settings.own_pieces import with_pieces_of_options
from vision.errors import LayoutError
from vision.layout.markers import NO_MARKERS
from vision.layout.surfaces import GridSurface
from vision.layout.table import TableLayout, default_layout, games_with_layouts, load_layout
from vision.readers.registry import check_looks, check_readable


def layout_for(game: str, path: Path | None, markers: str = "layout") -> TableLayout:
    """Load the layout at ``path``, or the one that comes with the game; raises LayoutError that says what to do.

    A layout that names another game is refused, and so is one of a board with other squares than the game's.

    ``markers`` is the setting table.markers: with ``none`` the layout's markers are left out.
    """
    known = games_with_layouts()
    if path is None and game not in known:
        raise LayoutError(
            f"no layout comes with {game} yet, so a camera can't see it (there is one for {', '.join(known)}); "
            f"{kept_by_text()}, play it with `./run play {game}`, or measure the table and set layout under [table]"
        )
    layout = default_layout(game) if path is None else load_layout(path)
    if (other := _game_named_by(layout)) not in (None, game):
        raise LayoutError(
            f"{path} measures a table of {other}, and the game is {game}; give the layout of {game}, or set "
            f'name = "{other}" under [game]'
        )
    _check_squares(layout, game)
    return layout.without_markers() if markers == NO_MARKERS else layout


def _check_squares(layout: TableLayout, game: str) -> None:
    """Raise LayoutError if a board lacks squares of the game, or has others; sheets are divided as they are printed."""
    board = layout.surfaces[0]
    if game not in registry.games() or not isinstance(board, GridSurface):
        return
    played = registry.load(game)
    if played.printed_sheet is None and set(board.places) != set(played.places):
        needed = grid_of(played.places).rows
        raise LayoutError(
            f"the layout's {board.name} has {board.columns} x {board.rows} squares, {board.places[0]} to "
            f"{board.places[-1]}; {played.title} needs {len(needed[0])} x {len(needed)}, {needed[-1][0]} to "
            f"{needed[0][-1]}"
        )


def _game_named_by(layout: TableLayout) -> str | None:
    """Return the game that a layout names; ``None`` for none, or one that isn't built in."""
    return layout.game if layout.game in registry.games() else None


def game_of_layout(path: Path | None) -> str | None:
    """Return the game that the layout file at ``path`` names, ``None`` for none; raises LayoutError."""
    return None if path is None else _game_named_by(load_layout(path))


def layout_for_camera(game: str, path: Path | None, markers: str = "layout") -> TableLayout:
    """Load a layout as ``layout_for`` does; raises LayoutError also where no reader can read the game's pieces."""
    layout = layout_for(game, path, markers)
    check_readable(layout)
    if game in registry.games() and isinstance(layout.surfaces[0], GridSurface):
        check_looks(layout, registry.load(game).looks)
    return layout


def with_rules(layout: TableLayout, game: Game[Any, Any], options: Mapping[str, OptionValue]) -> TableLayout:
    """Return the layout for a game with these options; a written game has one sheet per player, divided as printed.

    Dice and blocks are those of the options. Raises OptionError, LayoutError for the layout of another game or with
    dice or blocks of its own, and EnrolmentError for learned faces that can't be read.
    """
    layout = with_pieces_of_options(layout, game, options)
    if game.printed_sheet is None:
        return layout
    printed = game.printed_sheet(options)
    board = layout.board
    if (board.columns, board.rows) != (printed.columns, printed.rows):
        layout = replace(layout, surfaces=(board.divided(printed.columns, printed.rows), *layout.surfaces[1:]))
    written = game.table.appearance(game.rules.new(options))
    return layout.with_sheets(len({place.partition(".")[0] for place in written}))


def kept_by_text() -> str:
    """Return the words that say how to go on with a game without a camera."""
    return "keep it by text with `./run table turn`, `./run table roll` and `./run table announce`"


def grid_of_table(layout: TableLayout) -> PlaceGrid:
    """Return the squares of a table as a grid: those of its board, or of its sheets side by side."""
    boards = [one for one in layout.surfaces if isinstance(one, GridSurface)]
    rows = max(board.rows for board in boards)
    lines = [
        tuple(name for board in boards for name in board.places[(row - 1) * board.columns : row * board.columns])
        for row in range(rows, 0, -1)
    ]
    return PlaceGrid(tuple(lines))


def grid_of(places: Sequence[str]) -> PlaceGrid:
    """Arrange places such as c3 in a grid: a row for each number, highest first, columns in the given order."""
    rows: dict[str, list[str]] = {}
    for place in places:
        rows.setdefault(column_and_row(place)[1], []).append(place)
    return PlaceGrid(tuple(tuple(row) for row in reversed(list(rows.values()))))
