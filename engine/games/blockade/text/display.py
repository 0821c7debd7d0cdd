"""The position drawn and the rules in short, for a person at a terminal; and turns half done."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import OptionValue
from engine.games.blockade.board import (
    COLOURS,
    OWNED,
    PLAYERS,
)
from engine.games.blockade.play.options import BY_ROLL, EXACT, options_from
from engine.games.blockade.state import BlockadeState, outcome_of
from engine.games.blockade.state_text import format_dice, format_stack


def diagram_of(state: BlockadeState) -> str:
    """The stacks as text, row 5 on top, with the towers and what happens next below."""
    cells = [format_stack(stack) for stack in state.stacks]
    width = max(len(cell) for cell in cells)
    lines = []
    for row in range(4, -1, -1):
        lines.append(f"{row + 1} " + " ".join(cell.ljust(width) for cell in cells[row * 5 : row * 5 + 5]).rstrip())
    lines.append("  " + " ".join(letter.ljust(width) for letter in "abcde").rstrip())
    towers = ", ".join(
        f"{COLOURS[colour]} {len(state.towers(colour))}" for player in PLAYERS for colour in OWNED[player]
    )
    lines.append(f"Towers: {towers}. Black left: {len(state.supply)}.")
    outcome = outcome_of(state)
    if outcome is not None:
        lines.append(f"Over: {outcome.reason}.")
    elif state.roll is not None and state.to_move is not None:
        dice = " and ".join(
            f"{points} for {COLOURS[colour]}" for points, colour in zip(state.roll, OWNED[state.to_move], strict=True)
        )
        lines.append(f"{str(state.to_move).capitalize()} plays: {dice}.")
    elif state.opening is not None:
        against = f" against warm's {format_dice(state.opening)}" if state.opening else ""
        lines.append(f"{str(state.to_move).capitalize()} rolls for who starts{against}.")
    else:
        lines.append(f"{str(state.to_move).capitalize()} rolls.")
    return "\n".join(lines)


def summary_of(options: Mapping[str, OptionValue] | None = None) -> str:
    """The rules in short, paragraphs parted by blank lines."""
    settings = options_from(options)
    begins = (
        "Each rolls two dice: the higher total plays first, and ties roll again."
        if settings.starts == BY_ROLL
        else f"{settings.starts.capitalize()} plays first."
    )
    when = "whenever its move ends" if settings.strict else "when your turn ends"
    tower = "one medium" if settings.tower == EXACT else "at least one medium"
    paragraphs = [
        f"Warm plays red and yellow, cool plays green and blue. {begins}",
        "Roll your two dice, one for each of your colours. A point moves a small or a medium of that colour one step "
        "in any direction, diagonals too. Share the points out among your pieces as you like, or leave some. When both "
        "dice show three or less, you may add them up for one colour. Only the top of a stack moves; larges and black "
        "never do.",
        f"A piece must rest well {when}: on clear always, on its own colour if the piece below is at least as "
        "big, on no other colour; on black only if the tower below has its colour and the black piece is larger.",
        f"A small that comes to rest on {tower} on the large, all of one colour, makes a tower. Cap it at once with "
        "the largest black piece left: a blockade, which the other player can't pass. Five towers in one colour win at "
        "once.",
    ]
    if settings.draw_after_passes:
        paragraphs.append(f"When nothing moves for {settings.draw_after_passes} turns in a row, the game is a draw.")
    return "\n\n".join(paragraphs)
