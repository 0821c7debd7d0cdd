"""The position drawn and the rules in short, for a person at a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from engine.api import OptionValue
from engine.games.diaballik.play.board import PLAYERS, SIZE
from engine.games.diaballik.play.options import STANDARD, options_from
from engine.games.diaballik.state import DiaballikState
from engine.games.diaballik.turns import outcome_of


def diagram_of(state: DiaballikState) -> str:
    """Draw the board, row 7 first: b and w for pieces, B and W for those with a ball, and who is to move."""
    letters = dict.fromkeys(range(SIZE * SIZE), ".")
    for player in PLAYERS:
        side = state.side(player)
        for square in letters:
            if side.pieces >> square & 1:
                letters[square] = player[0].upper() if square == side.ball else player[0]
    lines = [f"{row + 1}  {' '.join(letters[row * SIZE + column] for column in range(SIZE))}" for row in range(SIZE)][
        ::-1
    ]
    lines += ["", f"   {' '.join('abcdefg')}", ""]
    outcome = outcome_of(state)
    if outcome is None:
        lines.append(f"{state.to_move} to move")
    elif outcome.winner is None:
        lines.append(f"a draw: {outcome.reason}")
    else:
        lines.append(f"{outcome.winner} has won: {outcome.reason}")
    return "\n".join(lines)


def summary_of(options: Mapping[str, OptionValue] | None = None) -> str:
    """Tell the rules in short with these options in force, paragraphs parted by blank lines."""
    settings = options_from(options)
    start = (
        "Black starts on a1 to g1, white on a7 to g7, the balls on d1 and d7."
        if settings.start == STANDARD
        else "Black starts on row 1 and white on row 7, but the pieces of columns b and f have changed sides; "
        "the balls are on d1 and d7."
    )
    over_own = "but over your own" if settings.pass_over_own else "and none over your own either"
    null = (
        "A turn may end where it began."
        if settings.null_turn
        else "A turn has to change something: out and back alone is not allowed."
    )
    how = (
        "the game ends at once, and the player who touches the wall wins; if both would, the one whose turn it is"
        if settings.automatic
        else "a player may announce anti-play in their own turn, before it or after any of its actions, and wins"
    )
    counting = "Only pieces on your own side of the wall count." if settings.front_only else "Both sides of it count."
    repetition = (
        "From the third time of a position with the same player to move on, that player may claim a draw."
        if settings.repetition_draw
        else "A position that comes again means nothing."
    )
    return "\n\n".join(
        (
            f"Each player has seven pieces, one of which carries a ball. {start} Black begins. Whoever gets their ball "
            "onto the far row, where the opponent's pieces stood at first, wins at once.",
            "In a turn you do one to three things, in any order: up to two moves and one pass. A move takes a piece "
            "one square sideways, forwards or back onto an empty square; the same piece may move twice. The piece with "
            "the ball can't move, but it may once it has passed the ball on. A pass goes along a row, a column or a "
            "diagonal to another of your pieces, any distance, over no piece of the opponent, "
            f"{over_own}. {null} Whoever can do nothing at all is skipped.",
            "Seven pieces that stand one in every column, each at most one row off its neighbours, are a wall. When at "
            f"least three of the other player's pieces touch it face to face, {how}. {counting}",
            f"{repetition} Players may resign, or agree on a draw, at any time.",
        )
    )
