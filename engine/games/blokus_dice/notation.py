"""The sheets drawn and the rules in short, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import OptionValue
from engine.games.blokus_dice.play.options import COLOURS, FIXED_RING, PLAYERS, options_from
from engine.games.blokus_dice.play.shapes import shape_of
from engine.games.blokus_dice.sheet import Sheet
from engine.games.blokus_dice.state import BlokusState, FilledSheet, PlayerStatus, colour_in_hand
from engine.support.grid import members
from engine.support.polyomino import picture

WIDTH = 100
_CLOSED, _EMPTY = "#", "."


def diagram_of(state: BlokusState) -> str:
    """Every sheet side by side as far as they fit, what is left on each, the dice and the markers."""
    settings = state.settings
    blocks = [_block(state, seat) for seat in range(settings.players)]
    width = max(len(line) for block in blocks for line in block) + 3
    in_a_row = max(1, (WIDTH + 3) // width)
    lines: list[str] = []
    for start in range(0, len(blocks), in_a_row):
        together = blocks[start : start + in_a_row]
        for parts in zip(*together, strict=True):
            lines.append("".join(part.ljust(width) for part in parts).rstrip())
        lines.append("")
    waiting = ", ".join(COLOURS[colour] for colour in state.markers[settings.players :])
    if state.seat is None:
        lines.append("The game is over.")
    elif state.dice:
        lines.append(
            f"Dice on the table: {' '.join(map(str, state.dice))}. {state.to_move} takes one and draws in "
            f"{COLOURS[colour_in_hand(state, state.seat)]}."
        )
    else:
        lines.append(f"{state.to_move} rolls {len(state.active())} dice.")
    if waiting:
        lines.append(f"Standing by: {waiting}.")
    return "\n".join(lines)


def _block(state: BlokusState, seat: int) -> list[str]:
    sheet, filled = state.settings.sheet, state.sheets[seat]
    standing = "" if filled.status == PlayerStatus.PLAYING else f", {filled.status}"
    left = sheet.strikes - filled.strikes
    lines = [f"{PLAYERS[seat]} holds {COLOURS[colour_in_hand(state, seat)]}{standing}"]
    lines += squares_drawn(sheet, filled)
    lines.append(f"{filled.filled.bit_count()} filled, {left} strike{'' if left == 1 else 's'} left")
    for face, row in enumerate(sheet.shapes_of_row, 1):
        unused = (name for name in row if not filled.used >> sheet.number_of[name] & 1)
        lines.append(f"{face}: {' '.join(unused) or '-'}")
    return lines


def squares_drawn(sheet: Sheet, filled: FilledSheet) -> list[str]:
    """A sheet's squares, the farthest row first, with the names of rows and columns."""
    marks = [_EMPTY] * sheet.grid.squares
    for square in members(sheet.closed):
        marks[square] = _CLOSED
    for colour, squares in zip(COLOURS, filled.colours, strict=True):
        for square in members(squares):
            marks[square] = colour[0].upper()
    lines = [
        f"{row + 1:2} {' '.join(marks[row * sheet.columns : (row + 1) * sheet.columns])}"
        for row in reversed(range(sheet.rows))
    ]
    return [*lines, "   " + " ".join(name[0] for name in sheet.grid.names[: sheet.columns])]


def sheet_drawn(sheet: Sheet) -> str:
    """A sheet as it is printed: its squares, its rows of shapes, its strikes."""
    lines = squares_drawn(sheet, FilledSheet())
    for face, row in enumerate(sheet.shapes_of_row, 1):
        pictures = [picture(shape_of(name)).replace("X", "■").replace(".", " ").split("/") for name in row]
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
        f"{sheet.strikes} strikes",
    ]
    return "\n".join(lines)


def summary_of(options: Mapping[str, OptionValue] | None = None) -> str:
    """The rules in short with these options in force."""
    settings = options_from(options)
    sheet = settings.sheet
    paragraphs = [
        f"Blokus Dice Game for {settings.players}. Everyone fills a sheet of {sheet.columns} by {sheet.rows} squares "
        f"({sheet.open_squares.bit_count()} of them open) with shapes. The fewest unfilled squares win; "
        "a tie goes to fewer strikes used, and is shared if that is level too.",
        "A round: whoever starts it rolls one die for each player still in the game. In turn, clockwise, each takes a "
        "die and draws one unused shape from the row of that number, turned or flipped at will, with the marker in "
        "hand. Every shape is used once.",
        "The first shape of a colour covers a corner square of the sheet. Each further one touches its own colour "
        "at a corner, and never at a side. Other colours don't matter.",
        f"You may cross out a strike, {sheet.strikes} times in a game, to draw a shape of another row than your die's.",
        "After the round every marker goes one place to the left, and the next player in the game rolls. Who can place "
        "nothing with the colour in hand, by no die and by no strike, is out: they still pass markers, and "
        "from the next roll on there is one die fewer. The game ends when nobody is left.",
    ]
    if settings.players < len(PLAYERS):
        where = (
            "at fixed places between the last player and the first"
            if settings.standby == FIXED_RING
            else "to the right of whoever starts the round"
        )
        paragraphs.append(f"The markers that nobody holds stand by {where}, and go round with the others.")
    rows = "; ".join(f"{face}: {' '.join(row)}" for face, row in enumerate(sheet.shapes_of_row, 1))
    paragraphs.append(f"Rows of the sheet: {rows}.")
    return "\n\n".join(paragraphs)
