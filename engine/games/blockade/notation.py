"""Turns as text: written strictly, read leniently, and described in a sentence.

A turn is its moves in order, each from a square to a square: ``a2-b3 e5-c3``, and ``stay`` when nothing moves. The
reader ignores case. It accepts ``->``, ``to``, ``x`` or a space for the dash (``a2 b3``), commas and semicolons for the
space, and squares on the way (``a2-a3-b4``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from common.phrases import Phrase, either, in_turn, joined, listed
from engine.errors import UnreadableError
from engine.games.blockade import state_text
from engine.games.blockade.explanation import merge_moves, play
from engine.games.blockade.state import (
    BY_ROLL,
    COLOURS,
    EXACT,
    GRID,
    OWNED,
    PLACES,
    PLAYERS,
    SHARED_AT_MOST,
    BlockadeState,
    BlockadeTurn,
    Path,
    breach_of_timing,
    name_of,
    options_from,
    outcome_of,
)
from engine.games.blockade.state_text import format_dice, format_stack
from engine.games.blockade.turns import turn_of
from engine.support.breaches import illegal_turn
from engine.support.notation import tokens, unreadable
from engine.values import OptionValue, Player

format_state, parse_state = state_text.format_state, state_text.parse_state

STAY = "stay"
_STAYING = (STAY, "pass", "none", "nothing", "-")
_TOKEN = re.compile(
    r"(?P<square>[a-e][1-5])|(?P<link>(?:->|→|–|-|>|\bto\b|(?<=[1-5])to(?=[a-e])|x|:)\s*)|(?P<gap>[\s,;.+]+|\bthen\b|\band\b)"
)
_EXPECTED = Phrase("moves such as a2-b3 e5-c3, or stay")


def format_turn(turn: BlockadeTurn) -> str:
    """Write a turn in its strict form."""
    return " ".join(f"{move.start}-{move.end}" for move in turn.moves) or STAY


def describe(turn: BlockadeTurn) -> str:
    """Describe the turn in a short sentence."""
    if not turn.moves:
        return Phrase("{player} moves nothing.", turn.player.capitalize())
    moves = [
        Phrase("the {piece} from {start} to {end}", name_of(move.piece), move.start, move.end) for move in turn.moves
    ]
    return Phrase("{player} moves {moves}.", turn.player.capitalize(), in_turn(moves))


def paths_of(turn: BlockadeTurn) -> tuple[Path, ...]:
    """Return a turn's moves as squares; raises UnreadableError for a place that isn't one."""
    paths = []
    for move in turn.moves:
        for place in (move.start, move.end):
            if place not in GRID.index:
                raise UnreadableError(Phrase("there is no square {place!r}; squares run from a1 to e5", place))
        paths.append((GRID.index[move.start], GRID.index[move.end]))
    return tuple(paths)


def parse_turn(state: BlockadeState, text: str, player: Player | None = None) -> BlockadeTurn:
    """Read a turn leniently; raises UnreadableError or IllegalTurnError.

    The moves are kept as they were typed, runs of one piece put together and moves that lead nowhere left out.
    """
    paths = _read(text)
    who = player or state.to_move or ""
    wrong = breach_of_timing(state, who)
    breaches = (wrong,) if wrong is not None else play(state, who, state.roll, paths).breaches
    if breaches:
        raise illegal_turn(repr(text), breaches)
    return turn_of(state, _simplify(paths))


def _simplify(paths: tuple[Path, ...]) -> tuple[Path, ...]:
    """Return the moves, with consecutive moves of one piece merged, and without those that end where they start."""
    fewer = tuple(path for path in merge_moves(paths) if path[0] != path[-1])
    return fewer if fewer == paths else _simplify(fewer)


def _read(text: str) -> tuple[Path, ...]:
    if text.strip(" \t.!").lower() in _STAYING:
        return ()
    paths: list[Path] = []
    column = 1
    linked = False
    for match in tokens(_TOKEN, text, _EXPECTED):
        if match["square"]:
            if linked or (paths and len(paths[-1]) == 1):
                paths[-1] = (*paths[-1], GRID.index[match["square"]])
            else:
                paths.append((GRID.index[match["square"]],))
                column = match.start() + 1
            linked = False
        elif linked or (match["link"] and not paths):
            raise unreadable(text, match.group().strip(), match.start() + 1, Phrase("a square; {expected}", _EXPECTED))
        elif match["link"]:
            linked = True
    if linked:
        raise unreadable(text, "", len(text) + 1, Phrase("a square; {expected}", _EXPECTED))
    if paths and len(paths[-1]) == 1:
        raise unreadable(
            text, PLACES[paths[-1][0]], column, Phrase("a square to go to after it; {expected}", _EXPECTED)
        )
    if not paths:
        raise UnreadableError(Phrase("{text!r} names no square; expected {expected}", text, _EXPECTED))
    return tuple(paths)


def squares(state: BlockadeState) -> dict[str, str]:
    """Return every stack, from the lowest piece up: ``RLMS+KL``."""
    return {place: format_stack(stack) for place, stack in zip(PLACES, state.stacks, strict=True) if stack}


def standing(state: BlockadeState) -> tuple[str, ...]:
    """Return what happens next, the towers, and how many black pieces are left."""
    outcome = outcome_of(state)
    who = str(state.to_move).capitalize()
    if outcome is not None:
        awaited = Phrase("The game is over.")
    elif state.roll is not None and state.to_move is not None:
        dice = listed(
            Phrase("{points} for {colour}", points, COLOURS[colour])
            for points, colour in zip(state.roll, OWNED[state.to_move], strict=True)
        )
        awaited = either(
            max(state.roll) <= SHARED_AT_MOST,
            "{who} plays: {dice}, or their sum of {sum} for one colour.",
            "{who} plays: {dice}.",
            who=who,
            dice=dice,
            sum=sum(state.roll),
        )
    elif state.opening is not None:
        awaited = either(
            state.opening,
            "{who} rolls for who starts against warm's {dice}.",
            "{who} rolls for who starts.",
            who=who,
            dice=format_dice(state.opening),
        )
    else:
        awaited = Phrase("{who} rolls.", who)
    towers = joined(
        (
            Phrase("{colour} {number}", COLOURS[colour], len(state.towers(colour)))
            for player in PLAYERS
            for colour in OWNED[player]
        ),
        ", ",
    )
    return (awaited, Phrase("Towers: {towers}. Black left: {supply}.", towers, len(state.supply)))


def summary(options: Mapping[str, OptionValue] | None = None) -> str:
    """Summarise the rules under these options, in paragraphs separated by blank lines."""
    in_force = options_from(options)
    begins = (
        "Each rolls two dice: the higher total plays first, and ties roll again."
        if in_force.starts == BY_ROLL
        else f"{in_force.starts.capitalize()} plays first."
    )
    when = "whenever its move ends" if in_force.strict else "when your turn ends"
    tower = "one medium" if in_force.tower == EXACT else "at least one medium"
    paragraphs = [
        f"Warm plays red and yellow, cool plays green and blue. {begins}",
        "Roll your two dice, one for each of your colours. A point moves a small or a medium of that colour one step "
        "in any direction, diagonals too. Share the points out among your pieces as you like, or leave some. When both "
        "dice show three or less, you may add them up for one colour. Only the top of a stack moves; larges and black "
        "never do.",
        f"Every piece must rest legally {when}: on clear always, on its own colour if the piece below is at least as "
        "big, on no other colour; on black only if the tower below has its colour and the black piece is larger.",
        f"A small that comes to rest on {tower} on the large, all of one colour, makes a tower. Cap it at once with "
        "the largest black piece left: a blockade, which the other player can't pass. Five towers in one colour win at "
        "once.",
    ]
    if in_force.draw_after_passes:
        passes = in_force.draw_after_passes
        how_long = "a turn" if passes == 1 else f"{passes} turns in a row"
        paragraphs.append(f"When nothing moves for {how_long}, the game is a draw.")
    return "\n\n".join(paragraphs)
