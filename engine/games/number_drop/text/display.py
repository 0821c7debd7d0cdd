"""The table drawn and the rules in short, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import OptionValue
from engine.games.number_drop.components import Components
from engine.games.number_drop.play.options import OTHER_SIDE, SOLO_SIDE, NumberDropOptions, options_from
from engine.games.number_drop.sheet import BOXES, COLUMNS, EMPTY_CELL, LETTERS, LINES, LINES_BELOW_GAME_OVER, Sheet
from engine.games.number_drop.state import PLAYERS, SLIDES_TO_GO, NumberDropState, Phase
from engine.support.grid import members
from engine.support.polyomino import picture

_A_ROW = 3
"""Sheets drawn side by side."""
_WIDTH = 28


def diagram_of(state: NumberDropState) -> str:
    """Draw the sheets, three in a row, with what lies on the table below; circled digits stand in brackets."""
    drawn = [
        _sheet_lines(PLAYERS[player], sheet, state, gone=bool(state.gone >> player & 1))
        for player, sheet in enumerate(state.sheets)
    ]
    rows = []
    for start in range(0, len(drawn), _A_ROW):
        together = zip(*drawn[start : start + _A_ROW], strict=True)
        rows += ["  ".join(line.ljust(_WIDTH) for line in lines).rstrip() for lines in together]
        rows.append("")
    return "\n".join([*rows, *_table_lines(state)])


def _sheet_lines(player: str, sheet: Sheet, state: NumberDropState, *, gone: bool) -> list[str]:
    score = sheet.score(state.settings.x_counts_above_line)
    lines = [f"{player}: {score}{' (resigned)' if gone else ''}"]
    full = sheet.full_lines()
    over = sheet.game_over_lines(state.settings.x_counts_above_line)
    for line in reversed(range(LINES)):
        cells = "".join(_cell(sheet, line * COLUMNS + column) for column in range(COLUMNS))
        earned = " +2" if line in full else " -5" if line in over else ""
        lines.append(f"{line + 1:2}{cells}{earned}")
        if line == LINES_BELOW_GAME_OVER:
            lines.append("  " + "=" * (3 * COLUMNS))
    lines.append("  " + "".join(f" {letter} " for letter in "abcdefg"))
    lines.append("  same " + _boxes(sheet, "same") + "  letters " + _letters(sheet.letters))
    lines.append("  run  " + _boxes(sheet, "run") + "  bonus " + _boxes(sheet, "bonus"))
    return lines


def _cell(sheet: Sheet, square: int) -> str:
    mark = sheet.cells[square]
    if sheet.circled >> square & 1:
        return f"({mark})"
    return f" {'·' if mark == EMPTY_CELL else mark} "


def _boxes(sheet: Sheet, kind: str) -> str:
    filled = zip(BOXES, sheet.loops, strict=True)
    return "".join(str(size) if loop else "-" for (each, size), loop in filled if each == kind)


def _letters(letters: int) -> str:
    return "".join(LETTERS[index] for index in members(letters)) or "-"


def _table_lines(state: NumberDropState) -> list[str]:
    lines = []
    if state.tiles:
        lines.append("Tiles: " + "  ".join(_tile(state, slot) for slot in range(len(LETTERS))))
    if state.roll:
        lines.append(f"Dice: {' '.join(state.roll)}")
    waits = {
        Phase.TILES: f"The tiles are to be drawn to slots A to E ({state.to_move} is first).",
        Phase.SETUP: f"First digits to write: {_names(state.playing)}.",
        Phase.ROLL: f"{state.to_move} rolls.",
        Phase.PENALTY: f"The penalty of tile {_letters(1 << (state.slot or 0))} drops: {_names(state.playing)}.",
        Phase.SLIDE: "Slide any tile.",
        Phase.STAR_SLIDE: "Slide the tile that the star asks for.",
        Phase.DROP: "To drop: "
        + (_names(state.playing) or "nobody")
        + ". To combine: "
        + (_names(state.combining) or "nobody")
        + ".",
        Phase.OVER: "The game is over.",
    }
    return [*lines, waits[state.phase]]


def _names(players: int) -> str:
    return ", ".join(PLAYERS[player] for player in members(players))


def _tile(state: NumberDropState, slot: int) -> str:
    off = state.crossed_off >> slot & 1
    slid = f" {state.notches[slot]}/{SLIDES_TO_GO}" if state.notches else " (off)" if off else ""
    return f"{LETTERS[slot]} {state.tiles[slot]}{slid}"


def summary_of(options: Mapping[str, OptionValue] | None = None) -> str:
    """Tell the rules with these options in force."""
    settings = options_from(options)
    parts = [
        "Number Drop. Write digits in falling shapes, loop equal or consecutive ones for points, and stay below the "
        "Game Over line. " + ("You play alone." if settings.solo else f"{settings.players} play, each on a sheet."),
        "A sheet has 7 columns and 14 lines. To begin, "
        + ("write a 1" if settings.solo else "the first player writes a 1, the second a 2 and so on,")
        + " on any cell of the lowest line.",
        _dice_told(settings.components),
        _penalty_told(settings),
        "Drop: put the four digits into the four cells of the shape, in any order, turned and flipped as you like. It "
        "falls straight down until something stops it. Everyone drops the same roll.",
        "Then you may loop one combination of digits that are in no loop yet: 3 to 7 equal digits that touch, or a "
        "path of 3 to 7 digits that rises by one from each to the next (no step from 9 to 0). Each size of each kind "
        "counts once; eight of either kind fill the bonus box.",
        "Points: the size of each combination; 10 more for all five equal ones, and for all five consecutive ones; 2 "
        f"for each of the lowest {LINES_BELOW_GAME_OVER} lines that is full. A line above the Game Over line with "
        + ("anything" if settings.x_counts_above_line else "a digit")
        + " in it costs 5, and the game ends with that turn"
        + (", or when all tiles are down." if settings.solo else ". Most points win; a tie is shared."),
    ]
    return "\n\n".join(parts)


def _dice_told(components: Components) -> str:
    *numbers, shape = components.dice
    return (
        f"The dice: {', '.join(' '.join(die) for die in numbers)}, and the shape die {' '.join(shape)}. A star is any "
        "digit, and on the shape die any shape."
    )


def _penalty_told(settings: NumberDropOptions) -> str:
    faces = ", ".join(f"{solo} {picture(settings.components.shapes[solo])}" for solo, _ in settings.components.tiles)
    if settings.solo:
        return (
            f"The five tiles ({faces}) lie in columns A to E. After each roll slide any tile down a notch; when a die "
            "shows a star, also the tile of the shape rolled (any, for a star). At the fourth notch its shape drops "
            "into your sheet as X, unless you circled its letter."
        )
    sides = {SOLO_SIDE: "solo side up", OTHER_SIDE: "other side up"}.get(settings.tiles, "either side up")
    return (
        f"Five tiles ({faces} and their backs) are drawn to slots A to E, {sides}. Fill both boxes of a size and you "
        "may circle its letter (A for 3 to E for 7). When a die shows a star, the first circled letter strikes: all "
        "who haven't circled it drop its shape as X, the letter is crossed off, and the turn is over without a drop."
    )
