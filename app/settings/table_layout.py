"""The layout of a game's table: measured or shipped, with the sheets, dice and blocks of the game's options."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.settings.settings import Settings
from common.grid import PlaceGrid, column_and_row
from common.phrases import Phrase
from engine import registry
from engine.api import Game
from engine.values import OptionValue
from vision.errors import LayoutError
from vision.layout.kit import KIT, Kit, has_kit, kit_of
from vision.layout.pieces import NET_SIDES, NO_MARKERS, BlockPieces, DicePieces, GridSurface, Pieces
from vision.layout.table import TableLayout, default_layout, games_with_layouts, load_layout
from vision.readers.dice.photographs import FaceSet
from vision.readers.registry import check_looks, check_readable

_DICE_OPTION, _NET_OPTION = "dice", "net"
"""The options of games whose dice or blocks may have other faces: faces of each die, and symbols of a block."""


def layout_for(game: str, path: Path | None, markers: str = "layout") -> TableLayout:
    """Load the layout at ``path``, or the one that comes with the game; raises LayoutError that says what to do.

    The path ``kit`` names the layout of the game's paper kit, unless there is such a file. A layout that names another
    game is refused, and so is one of a board with other squares than the game's.

    ``markers`` is the setting table.markers: with ``none`` the layout's markers are left out.
    """
    known = games_with_layouts()
    if path is None and game not in known:
        raise LayoutError(
            "no layout comes with {game} yet, so a camera can't see it (there is one for {known}); "
            "{saved_by}, play it with `./run play {game}`, or measure the table and set layout under "
            "[table]",
            game,
            ", ".join(known),
            saved_by(),
        )
    if is_kit(path):
        return kit_of(game).layout.without_markers() if markers == NO_MARKERS else kit_of(game).layout
    layout = default_layout(game) if path is None else load_layout(path)
    if (other := _game_named_by(layout)) not in (None, game):
        raise LayoutError(
            "{path} measures a table of {other}, and the game is {game}; give the layout of {game}, or "
            'set name = "{other}" under [game]',
            path,
            other,
            game,
        )
    _check_squares(layout, game)
    return layout.without_markers() if markers == NO_MARKERS else layout


def is_kit(path: Path | None) -> bool:
    """Return whether a path names the layout of a game's paper kit instead of a file."""
    return path is not None and path.name == KIT and not path.is_file()


def _check_squares(layout: TableLayout, game: str) -> None:
    """Raise LayoutError if a board lacks squares of the game, or has others; sheets are divided as they are printed."""
    board = layout.surfaces[0]
    if game not in registry.games() or not isinstance(board, GridSurface):
        return
    played = registry.load(game)
    if not played.has_sheets and set(board.places) != set(played.places):
        needed = grid_of(played.places).rows
        raise LayoutError(
            "the layout's {name} has {columns} x {rows} squares, {first} to {last}; {title} needs "
            "{wide} x {high}, {first_needed} to {last_needed}",
            board.name,
            board.columns,
            board.rows,
            board.places[0],
            board.places[-1],
            played.title,
            len(needed[0]),
            len(needed),
            needed[-1][0],
            needed[0][-1],
        )


def _game_named_by(layout: TableLayout) -> str | None:
    """Return the game that a layout names; ``None`` for none, or one that isn't built in."""
    return layout.game if layout.game in registry.games() else None


def game_of_layout(path: Path | None) -> str | None:
    """Return the game that the layout file at ``path`` names, ``None`` for none; raises LayoutError."""
    return None if path is None or is_kit(path) else _game_named_by(load_layout(path))


def layout_for_camera(game: str, path: Path | None, markers: str = "layout") -> TableLayout:
    """Load a layout as ``layout_for`` does; raises LayoutError also where no reader can read the game's pieces."""
    layout = layout_for(game, path, markers)
    check_readable(layout)
    if game in registry.games() and isinstance(layout.surfaces[0], GridSurface):
        check_looks(layout, registry.load(game).looks)
    return layout


def settings_for(settings: Settings, game: Game[Any, Any], options: Mapping[str, OptionValue]) -> Settings:
    """Return a table's settings for a game with these options, which outrank those of the settings' own game.

    What was measured and learned for the settings' own game says nothing of another: that is in files beside, such as
    ``layout-blockade.json`` beside ``layout.json``. Who has the paper kit of one game has the other's, too. The program
    then plays no side.
    """
    if game.name == settings.game.name:
        return settings.changed({"game.options": {**settings.game.options, **options}})
    table = settings.table
    layout, looks = (path and path.with_stem(f"{path.stem}-{game.name}") for path in (table.layout, table.looks))
    if is_kit(table.layout):
        layout = table.layout if has_kit(game.name) else None
    return settings.changed(
        {
            "game.name": game.name,
            "game.options": dict(options),
            "table.layout": layout,
            "table.looks": looks if looks and looks.is_file() else None,
            "opponent.player": None,
        }
    )


def with_rules(layout: TableLayout, game: Game[Any, Any], options: Mapping[str, OptionValue]) -> TableLayout:
    """Return the layout for a game with these options; a written game has one sheet per player, divided as printed.

    Dice and blocks are those of the options. Raises OptionError, LayoutError for the layout of another game or with
    dice or blocks of its own, and EnrolmentError for learned faces that can't be read.
    """
    layout = _with_pieces_of_options(layout, game, options)
    if game.printed_sheet is None:
        return layout
    printed = game.printed_sheet(options)
    board = layout.board
    if (board.columns, board.rows) != (printed.columns, printed.rows):
        layout = replace(layout, surfaces=(board.divided(printed.columns, printed.rows), *layout.surfaces[1:]))
    written = game.table.appearance(game.rules.new(options))
    return layout.with_sheets(len({place.partition(".")[0] for place in written}))


def kit_for(game: Game[Any, Any], options: Mapping[str, OptionValue]) -> Kit:
    """Return the paper kit of a game with these options; raises LayoutError for a game without one, and OptionError."""
    kit = kit_of(game.name)
    return replace(kit, layout=with_rules(kit.layout, game, options))


def _with_pieces_of_options(
    layout: TableLayout, game: Game[Any, Any], options: Mapping[str, OptionValue]
) -> TableLayout:
    """Return the layout with the dice and blocks that the options describe.

    A layout may list the shipped faces or those of the options. Raises LayoutError where it lists others, OptionError,
    and EnrolmentError for learned faces that can't be read.
    """
    if game.name not in games_with_layouts() or not {_DICE_OPTION, _NET_OPTION} & {one.name for one in game.options}:
        return layout
    usual = {type(surface.pieces): surface.pieces for surface in default_layout(game.name).surfaces}

    def as_ruled(pieces: Pieces | None) -> Pieces | None:
        shipped = usual.get(type(pieces))
        if isinstance(pieces, DicePieces) and isinstance(shipped, DicePieces):
            return _dice_as_ruled(pieces, shipped, _own_value(game, options, _DICE_OPTION))
        if isinstance(pieces, BlockPieces) and isinstance(shipped, BlockPieces):
            return _blocks_as_ruled(pieces, shipped, _own_value(game, options, _NET_OPTION))
        return pieces

    surfaces = tuple(replace(surface, pieces=as_ruled(surface.pieces)) for surface in layout.surfaces)
    return layout if surfaces == layout.surfaces else replace(layout, surfaces=surfaces)


def _own_value(game: Game[Any, Any], options: Mapping[str, OptionValue], name: str) -> str | None:
    """Return an option's value as states write it, ``None`` for the default; raises OptionError."""
    if name not in options:
        return None
    words = game.notation.format_state(game.rules.new({name: options[name]})).split()
    return next((word.partition("=")[2] for word in words if word.startswith(f"{name}=")), None)


def _dice_as_ruled(pieces: DicePieces, shipped: DicePieces, own: str | None) -> DicePieces:
    ruled = shipped.printed if own is None else tuple(own.split("/"))
    known = set("".join(ruled))
    if pieces.faces is not None and known:
        unknown = sorted(set(FaceSet.load(pieces.faces).names) - known)
        if unknown:
            raise LayoutError(
                "{faces} has the faces {unknown}, and the game's dice {ruled}; learn the faces again, each "
                "named as the game writes it, or set the game's option dice",
                pieces.faces,
                ", ".join(unknown),
                "/".join(ruled),
            )
    if not pieces.printed or _same_dice(pieces.printed, ruled):
        return pieces
    if not _same_dice(pieces.printed, shipped.printed):
        raise LayoutError(
            "the layout has the dice {printed}, and the game {ruled}; give the game's option dice and "
            "the layout's faces the same ones",
            "/".join(pieces.printed),
            "/".join(ruled),
        )
    return replace(pieces, printed=ruled)


def _same_dice(dice: Sequence[str], others: Sequence[str]) -> bool:
    return sorted(map(sorted, dice)) == sorted(map(sorted, others))


def _blocks_as_ruled(pieces: BlockPieces, shipped: BlockPieces, own: str | None) -> BlockPieces:
    ruled = shipped.net if own is None else dict(zip(NET_SIDES, own.split("/"), strict=True))
    if not pieces.net or _symbols(pieces.net) in _turned(ruled):
        return pieces
    if _symbols(pieces.net) not in _turned(shipped.net):
        raise LayoutError(
            "the layout has blocks with the net {net}, and the game with {ruled}; give the game's option "
            "net and the layout's block.net the same symbols",
            "/".join(_symbols(pieces.net)),
            "/".join(_symbols(ruled)),
        )
    return replace(pieces, net=ruled)


def _symbols(net: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(net[side] for side in NET_SIDES)


def _turned(net: Mapping[str, str]) -> set[tuple[str, ...]]:
    """Return a block's net in every rotation, in the order of NET_SIDES."""
    found = [_symbols(net)]
    for up, down, north, east, south, west in found:
        turned, tipped = (up, down, west, north, east, south), (south, north, up, east, down, west)
        found += [one for one in (turned, tipped) if one not in found]
    return set(found)


def saved_by() -> str:
    """Return the words that say how to go on with a game without a camera."""
    return Phrase("keep it by text with `./run table turn`, `./run table roll` and `./run table announce`")


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
