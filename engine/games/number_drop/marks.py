"""The marks on a sheet besides its squares: boxes, letters, lines, loops and sums."""

from __future__ import annotations

from engine.games.number_drop.sheet import (
    BONUS,
    BOXES,
    CONSECUTIVE,
    IDENTICAL,
    LETTERS,
    LINES,
    LINES_BELOW_GAME_OVER,
    Sheet,
    printed_sheet,
)
from engine.games.number_drop.state import PLAYERS, NumberDropState, Phase, places_on
from engine.printing import CIRCLED, CROSSED, MarkedSheet
from engine.values import Player


def marked_sheets(state: NumberDropState) -> dict[Player, MarkedSheet]:
    """Return every player's marked sheet; sums and the score are written once the game is over."""
    return {player: _marked(player, sheet, state) for player, sheet in zip(PLAYERS, state.sheets, strict=False)}


def _marked(player: Player, sheet: Sheet, state: NumberDropState) -> MarkedSheet:
    x_counts = state.options.x_counts_above_line
    points = sheet.points(x_counts)
    full, above = sheet.full_lines(), sheet.game_over_lines(x_counts)
    sums = ("", "", "")
    if state.phase is Phase.OVER:
        lines = points.full_lines + points.game_over_lines
        sums = (str(sum(points) - lines), str(lines), str(sheet.score(x_counts)))
    boxes = (
        *(_boxes(sheet, kind) for kind in (IDENTICAL, CONSECUTIVE, BONUS)),
        tuple(CIRCLED if sheet.letters >> index & 1 else "" for index in range(len(LETTERS))),
        *((said,) for said in sums),
    )
    lines_marked = tuple(
        CIRCLED if line in (full if line < LINES_BELOW_GAME_OVER else above) else "" for line in range(LINES)
    )
    loops = tuple(places_on(player, loop) for loop in sheet.loops if loop)
    return MarkedSheet(printed_sheet(), boxes, lines_marked, loops)


def _boxes(sheet: Sheet, kind: str) -> tuple[str, ...]:
    return tuple(CROSSED if loop else "" for (each, _), loop in zip(BOXES, sheet.loops, strict=True) if each == kind)
