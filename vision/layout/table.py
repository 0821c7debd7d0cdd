"""A table's layout and its JSON file.

Coordinates are in the world frame of ``vision.geometry``. The keys of the file are:

``markers``: dictionary, side of the black square, z, and centres by id (ids clockwise from the far left, each marker's
top edge towards +y); or ``none`` for a board that is located by its lines. ``board``: cols, rows, cell, top_z; or
``sheet``: size, and a grid of cols, rows or lines, and cell. ``pieces``: the kind of pieces. Their measurements:
``block`` (side, net); ``piece`` and ``ball`` (diameters and a height); ``pyramids`` (base and height by size,
``rise``); ``colours`` of the pens of a coloured sheet; ``dice`` (side, colours, faces) in a tray, or thrown to the
right of a sheet. ``sheets``: number of equal sheets. Places of the second begin with ``p2.``; its ids are
``SHEET_MARKERS`` higher. ``surfaces``: further surfaces, each with a ``name``, a ``board`` or a ``tray`` (x and y from
and to, top_z), a ``prefix`` for its places, its ``pieces``, and its own ``markers`` if it can move by itself.
``dice_tray`` (x, y, die_side, colours, faces): a tray beside the board. ``kit``: where the game's paper kit differs
(``vision.layout.kit``).

Unknown keys are ignored.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

from common.json_files import read_json_object
from common.phrases import Phrase, joined, listed
from vision.errors import LayoutError
from vision.layout.pieces import (
    DicePieces,
    GridSurface,
    Ink,
    MarkerLayout,
    Measured,
    Surface,
    check_markers,
    markers_from_json,
    naming,
    surface_from_json,
    whole_number,
)


@dataclass(frozen=True)
class TableLayout:
    """The measured table: its surfaces, the main one first, and the markers of those without their own."""

    game: str
    markers: MarkerLayout
    surfaces: tuple[Surface, ...]

    @property
    def board(self) -> GridSurface:
        """The surface the game is played on; raises LayoutError for a table that only has a tray."""
        first = self.surfaces[0]
        if not isinstance(first, GridSurface):
            raise LayoutError("the table has no board with squares, but a {name}", first.name)
        return first

    @cached_property
    def places(self) -> tuple[str, ...]:
        """The places of all surfaces, in order."""
        return tuple(place for surface in self.surfaces for place in surface.places)

    def surface_of(self, place: str) -> Surface:
        """Return the surface that has a place; raises LayoutError for an unknown place."""
        for surface in self.surfaces:
            if place in surface.places:
                return surface
        self.surfaces[0].centre_mm(place)
        raise LayoutError("no place {place!r} on this table", place)

    def centre_mm(self, place: str) -> tuple[float, float]:
        """Return the (x, y) of a place's centre in its surface's frame; raises LayoutError for an unknown place."""
        return self.surface_of(place).centre_mm(place)

    def with_sheets(self, count: int) -> TableLayout:
        """Return the same table with that many sheets.

        Raises LayoutError for a table without a sheet, and for more sheets than there are markers for.
        """
        first = self.surfaces[0]
        if not isinstance(first, GridSurface) or not isinstance(first.pieces, Ink):
            raise LayoutError("a table with a {name} has no sheets", first.name)
        if not 1 <= count <= MOST_SHEETS:
            raise LayoutError("sheets is {count}; expected 1 to {most_sheets}", count, MOST_SHEETS)
        more = tuple(
            replace(
                first,
                name=_sheet_name(number),
                prefix=_sheet_prefix(number),
                markers=self.markers.with_ids_increased(SHEET_MARKERS * (number - 1)),
            )
            for number in range(2, count + 1)
        )
        others = tuple(one for one in self.surfaces[1:] if not isinstance(one.pieces, Ink))
        return _checked(replace(self, surfaces=(first, *others, *more)))

    def without_markers(self) -> TableLayout:
        """Return the same table without its markers, to be located by its lines. It can't be read while it has several
        parts.

        Raises LayoutError for a table with a part that has no lines.
        """
        surfaces = tuple(
            surface if surface.markers is None else replace(surface, markers=surface.markers.without_markers())
            for surface in self.surfaces
        )
        bare = replace(self, markers=self.markers.without_markers(), surfaces=surfaces)
        _check_located(bare)
        return bare

    def check_told_apart(self) -> None:
        """Raise LayoutError if several parts have no markers: the same lines would be taken for each of them."""
        bare = [Phrase("the {name}", part.surfaces[0].name) for part in self.parts() if not part.markers.centres_mm]
        if len(bare) > 1:
            raise LayoutError("{bare} can't be told apart without markers; print them with markers", listed(bare))

    def parts(self) -> tuple[TableLayout, ...]:
        """Split the table into parts with their own pose: surfaces without markers, then each surface with some."""
        shared = tuple(surface for surface in self.surfaces if surface.markers is None)
        return (
            replace(self, surfaces=shared),
            *(
                TableLayout(self.game, surface.markers, (replace(surface, markers=None),))
                for surface in self.surfaces
                if surface.markers is not None
            ),
        )


def layout_from_json(data: Mapping[str, Any]) -> TableLayout:
    """Parse a layout file's JSON; raises LayoutError that names the key and what it needs."""
    with naming("the layout"):
        markers = markers_from_json(data["markers"])
        if "sheet" in data:
            surfaces = [surface_from_json(data, _sheet_name(1), None, _sheet_prefix(1))]
        else:
            surfaces = [surface_from_json(data, "tray" if "tray" in data else "board", None)]
        if "dice_tray" in data:
            beside = data["dice_tray"]
            with naming("dice_tray", add_section=True):
                dice = {"side": beside["die_side"]} if "die_side" in beside else {}
                dice |= {key: beside[key] for key in ("colours", "faces") if key in beside}
                surfaces.append(surface_from_json({"tray": beside, "dice": dice}, "dice tray", None))
        elif "sheet" in data and "dice" in data:
            with naming("sheet"):
                tray = _right_of_sheet(data["sheet"]["size"])
            surfaces.append(surface_from_json({"tray": tray, "dice": data["dice"]}, "dice tray", None))
        for number, further in enumerate(data.get("surfaces", ())):
            with naming(f"surfaces[{number}]", add_section=True):
                own = markers_from_json(further["markers"]) if "markers" in further else None
                surfaces.append(surface_from_json(further, str(further["name"]), own, str(further.get("prefix", ""))))
    layout = TableLayout(str(data.get("game", "")), markers, tuple(surfaces))
    layout = layout.with_sheets(whole_number(data["sheets"], "sheets")) if "sheets" in data else _checked(layout)
    _check_sizes(layout)
    return layout


SHEET_MARKERS = 4
"""Markers per sheet: ids 0 to 3 are the first sheet's, 4 to 7 the second's."""


MOST_SHEETS = 100
"""Maximum number of sheets; more in a layout file is taken for a typing error."""

DICE_BESIDE_MM = (6.0, 76.0)
"""Where dice lie beside a sheet without a tray: from and to, in mm from its right edge."""


def _right_of_sheet(size_mm: Sequence[float]) -> dict[str, list[float]]:
    """Return a tray as deep as a sheet of (width, depth), to its right."""
    width, depth = size_mm
    return {"x": [width / 2 + away for away in DICE_BESIDE_MM], "y": [-depth / 2, depth / 2]}


def _sheet_name(number: int) -> str:
    return Phrase("sheet of {player}", f"p{number}")


def _sheet_prefix(number: int) -> str:
    return f"p{number}."


def _check_located(layout: TableLayout) -> None:
    """Raise LayoutError if one of a table's parts can't be located."""
    for part in layout.parts():
        check_markers(part.markers)
        if not part.markers.centres_mm and not isinstance(part.surfaces[0], GridSurface):
            raise LayoutError("the {name} has no lines to be found by; it needs markers", part.surfaces[0].name)


def _check_sizes(layout: TableLayout) -> None:
    """Raise LayoutError where a marker lies on squares, or a piece is wider than its square."""
    for part in layout.parts():
        for surface in (one for one in part.surfaces if isinstance(one, GridSurface)):
            cell_mm, pieces = surface.cell_mm, surface.pieces
            if cell_mm < LEAST_SQUARE_MM:
                raise LayoutError(
                    "a square of the {name} is {cell_mm} mm wide; expected at least {least_square_mm}: give "
                    "all lengths in millimetres",
                    surface.name,
                    f"{cell_mm:g}",
                    f"{LEAST_SQUARE_MM:g}",
                )
            if isinstance(pieces, Measured) and 0 < pieces.width_mm < LEAST_PIECE_MM:
                raise LayoutError(
                    "a piece on the {name} is {width_mm} mm wide; expected at least {least_piece_mm}: give all "
                    "lengths in millimetres",
                    surface.name,
                    f"{pieces.width_mm:g}",
                    f"{LEAST_PIECE_MM:g}",
                )
            if isinstance(pieces, Measured) and pieces.width_mm > cell_mm:
                raise LayoutError(
                    "a piece on the {name} is {width_mm} mm wide, and a square {cell_mm} mm; measure both again",
                    surface.name,
                    f"{pieces.width_mm:g}",
                    f"{cell_mm:g}",
                )
            width_mm, depth_mm = surface.bounds_mm.width_mm, surface.bounds_mm.depth_mm
            for marker_id, (x, y) in sorted(part.markers.centres_mm.items()):
                gap_mm = max(abs(x) - width_mm / 2, abs(y) - depth_mm / 2) - part.markers.side_mm / 2
                if gap_mm < -TOUCHING_MM:
                    raise LayoutError(
                        "marker {marker_id} at ({x}, {y}) lies on the squares of the {name}, which are {width_mm} "
                        "x {depth_mm} mm in all; measure the squares and the markers again",
                        marker_id,
                        f"{x:g}",
                        f"{y:g}",
                        surface.name,
                        f"{width_mm:g}",
                        f"{depth_mm:g}",
                    )


LEAST_SQUARE_MM, LEAST_PIECE_MM = 5.0, 6.0
"""The narrowest square and piece, in mm: narrower ones are too small to be read, and usually given in centimetres."""
TOUCHING_MM = 0.5
"""Overlap of a marker and the squares that is taken for an error of measurement."""


def _checked(layout: TableLayout) -> TableLayout:
    """Return a layout unless one of its parts can't be located, or can't be told from another; raises LayoutError."""
    _check_located(layout)
    layout.check_told_apart()
    ids = [marker_id for part in layout.parts() for marker_id in part.markers.centres_mm]
    names = [surface.name for surface in layout.surfaces]
    for what, all_of_them in (
        (Phrase("the name"), names),
        (Phrase("the place"), layout.places),
        (Phrase("the marker"), ids),
    ):
        twice = next((one for one, count in Counter(all_of_them).items() if count > 1), None)
        if twice is not None:
            raise LayoutError("two surfaces have {what} {twice}; each needs its own", what, twice)
    return layout


def games_with_layouts() -> tuple[str, ...]:
    """Return the games that come with a layout, in alphabetical order."""
    entries = resources.files("vision.layout").joinpath("games").iterdir()
    return tuple(sorted(entry.name.removesuffix(".json") for entry in entries if entry.name.endswith(".json")))


def default_layout(game: str) -> TableLayout:
    """Return the layout that comes with a game; raises LayoutError for a game without one."""
    return layout_from_json(shipped_data(game))


def shipped_data(game: str) -> dict[str, Any]:
    """Return the content of the layout file that comes with a game; raises LayoutError for a game without one."""
    known = games_with_layouts()
    if game not in known:
        raise LayoutError("no layout comes with the game {game!r}; there is one for {names}", game, joined(known, ", "))
    source = resources.files("vision.layout").joinpath("games", f"{game}.json")
    data: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    return data


def load_layout(path: Path) -> TableLayout:
    """Read a layout file; raises LayoutError when it is missing, is not JSON or is invalid."""
    data = read_json_object(path, Phrase("the layout"), LayoutError)
    try:
        layout = layout_from_json(data)
    except LayoutError as error:
        raise LayoutError(joined((path, error), ": ")) from None
    surfaces = tuple(
        replace(surface, pieces=surface.pieces.resolved_in(path.parent))
        if isinstance(surface.pieces, DicePieces)
        else surface
        for surface in layout.surfaces
    )
    return replace(layout, surfaces=surfaces)
