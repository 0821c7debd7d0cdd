"""Sheet files for the game's interface: reading them into options, and drawing and printing their sheets."""

from __future__ import annotations

from collections.abc import Mapping

from common.phrases import counted
from engine.games.blokus_dice.notation import CLOSED
from engine.games.blokus_dice.sheet import Sheet, house_file, read_sheet_file, shape_of
from engine.games.blokus_dice.state import PLAYERS, BlokusState, FilledSheet, options_from
from engine.printing import CROSSED, Box, BoxGroup, MarkedSheet, PrintedSheet
from engine.support.grid import members
from engine.support.polyomino import drawing, picture
from engine.values import OptionValue, Player

option = "sheet"
text = house_file


def read(text: str) -> Mapping[str, OptionValue]:
    """Read a sheet file into the option for its sheet; raises UnreadableError with one line per fault."""
    return {option: str(read_sheet_file(text)[1])}


def draw(text: str) -> str:
    """Draw the sheet of a sheet file as text; raises UnreadableError with one line per fault."""
    title, sheet = read_sheet_file(text)
    return "\n".join([*([title, ""] if title else []), draw_sheet(sheet)])


def draw_sheet(sheet: Sheet) -> str:
    """Return a sheet drawn as text: its squares, rows of shapes and strikes."""
    lines = _draw_squares(sheet)
    for face, row in enumerate(sheet.shapes_of_row, 1):
        pictures = [drawing(shape_of(name)) for name in row]
        height = max(map(len, pictures))
        lines.append("")
        columns = [
            [name.ljust(6), *(line.ljust(6) for line in drawn)] for name, drawn in zip(row, pictures, strict=True)
        ]
        for line in range(height + 1):
            number = f"{face}: " if line == 0 else "   "
            cells = (column[line] if line < len(column) else " " * 6 for column in columns)
            lines.append((number + "".join(cells)).rstrip())
    lines += [
        "",
        f"{len(sheet.shapes)} shapes, {sum(sheet.sizes)} squares; {sheet.open_squares.bit_count()} to fill; "
        f"{counted(sheet.strikes, 'strike')}",
    ]
    return "\n".join(lines)


def _draw_squares(sheet: Sheet) -> list[str]:
    """Return the squares with row and column names, the farthest row first."""
    marks = [CLOSED if sheet.closed >> square & 1 else "." for square in range(sheet.grid.squares)]
    lines = [
        f"{row + 1:2} {' '.join(marks[row * sheet.columns : (row + 1) * sheet.columns])}"
        for row in reversed(range(sheet.rows))
    ]
    return [*lines, "   " + " ".join(name[0] for name in sheet.grid.names[: sheet.columns])]


def printed_sheet(options: Mapping[str, OptionValue] | None = None) -> PrintedSheet:
    """Return the printed sheet of a player, with the boxes for its shapes and strikes; raises OptionError."""
    return _print_sheet(options_from(options).sheet)


def marked_sheets(state: BlokusState) -> dict[Player, MarkedSheet]:
    """Return every player's sheet, with its used shapes and strikes crossed off."""
    sheet = state.options.sheet
    printed = _print_sheet(sheet)
    return {player: _mark_sheet(sheet, printed, filled) for player, filled in zip(PLAYERS, state.sheets, strict=False)}


def _mark_sheet(sheet: Sheet, printed: PrintedSheet, filled: FilledSheet) -> MarkedSheet:
    boxes = [
        tuple(CROSSED if filled.used >> sheet.number_of[name] & 1 else "" for name in row)
        for row in sheet.shapes_of_row
    ]
    if sheet.strikes:
        boxes.append(tuple(CROSSED if strike < filled.strikes else "" for strike in range(sheet.strikes)))
    return MarkedSheet(printed, tuple(boxes))


def _print_sheet(sheet: Sheet) -> PrintedSheet:
    rows = [
        BoxGroup(str(face), tuple(Box(name, picture(shape_of(name))) for name in row))
        for face, row in enumerate(sheet.shapes_of_row, 1)
    ]
    strikes = [BoxGroup("Strikes", (Box(),) * sheet.strikes)] if sheet.strikes else []
    closed = tuple(sheet.grid.names[square] for square in members(sheet.closed))
    return PrintedSheet(sheet.grid.columns, sheet.grid.rows, (*rows, *strikes), closed)
