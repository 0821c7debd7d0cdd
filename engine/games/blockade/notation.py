"""States and turns as text: written strictly, read leniently.

A state is one line: who is to move (``warm``, ``cool`` or ``over``), the current roll (``roll=4,1``) or the rolls for
who starts (``opening``, then ``opening=4,1`` once warm has rolled), the 25 stacks from a1 to e5, each from bottom to
top, and what differs from the defaults::

    warm roll=4,1 a1:CL+YMMMMM b1:GLS … b4:RLMS+KL+RM … e5:CL+RMMMMM strict=true passes=1 announced=cool:resign

``RLMS+KL+RM`` is a red large, medium and small, a black large and a red medium on top.

A turn is its moves in order, each from a square to a square: ``a2-b3 e5-c3``, and ``stay`` when nothing moves. The
reader ignores case. It accepts ``->``, ``to``, ``x`` or a space for the dash (``a2 b3``), commas and semicolons for the
space, and squares on the way (``a2-a3-b4``).
"""

import re
from collections.abc import Mapping
from dataclasses import replace

from common.phrases import Phrase, either, in_turn, joined, listed
from engine.errors import UnreadableError
from engine.games.blockade.playing import merge_moves, play
from engine.games.blockade.state import (
    BY_ROLL,
    COLOURS,
    EXACT,
    GRID,
    LETTERS,
    OPTIONS,
    OWNED,
    PLACES,
    PLAYERS,
    SHARED_AT_MOST,
    SIZE_LETTERS,
    WARM,
    BlockadeState,
    BlockadeTurn,
    Dice,
    Path,
    Stack,
    breach_of_timing,
    colour_of,
    name_of,
    options_from,
    other,
    outcome_of,
    piece_of,
    settle,
    size_of,
)
from engine.games.blockade.table import impossibility
from engine.games.blockade.turns import turn_of
from engine.options import differing_options
from engine.support.breaches import illegal_turn
from engine.support.chance import ORDINARY_DIE
from engine.support.notation import OVER, StateText, tokens, unreadable, words
from engine.support.players import common_announcements, format_announcement
from engine.values import Announcement, OptionValue, Player

_STACK = re.compile(r"([a-e][1-5])[:=]([rygbck][sml]+(?:\+[rygbck][sml]+)*)")
_EXPECTED_STATE = Phrase("a player, a stack such as a2:RLS, roll=4,1 or an option such as strict=true")
_DIGITS = re.compile("[0-9]+")


def format_stack(stack: Stack) -> str:
    """Write a stack in its strict form: ``RLMS+KL``."""
    written = ""
    colour = -1
    for piece in stack:
        if colour_of(piece) != colour:
            colour = colour_of(piece)
            written += ("+" if written else "") + LETTERS[colour]
        written += SIZE_LETTERS[size_of(piece)]
    return written


def format_dice(dice: tuple[int, ...]) -> str:
    """Write dice in their strict form."""
    return ",".join(str(die) for die in dice)


def format_state(state: BlockadeState) -> str:
    """Write a state in its strict form."""
    parts = [state.to_move or OVER]
    if state.roll is not None:
        parts.append(f"roll={format_dice(state.roll)}")
    if state.opening is not None:
        parts.append("opening" + (f"={format_dice(state.opening)}" if state.opening else ""))
    parts += [f"{place}:{format_stack(stack)}" for place, stack in zip(PLACES, state.stacks, strict=True)]
    parts += differing_options(OPTIONS, state.options)
    if state.passes:
        parts.append(f"passes={state.passes}")
    if state.announced is not None:
        parts.append(f"announced={format_announcement(state.announced)}")
    return " ".join(parts)


def parse_state(text: str) -> BlockadeState:
    """Read a state leniently: any case, spaces and order.

    Raises UnreadableError that names the faulty part and its column, or the broken invariant.
    """
    said, named = StateText(text, PLAYERS, _EXPECTED_STATE), {}
    opening: tuple[int, ...] | None = None
    for word in words(text):
        if match := _STACK.fullmatch(word.text):
            place, written = match.groups()
            if place in named:
                raise said.bad(word, Phrase("{place} only once", place))
            named[place] = _read_stack(written)
        elif word.text == "opening":
            opening = ()
        else:
            said.read(word)
    missing = [place for place in PLACES if place not in named]
    if missing:
        raise UnreadableError(
            Phrase(
                "the state {text!r} leaves out {missing}; expected a stack for each of the 25 squares, such as a2:RLS",
                text,
                ", ".join(missing),
            ),
            len(text) + 1,
        )
    options = said.options(options_from, "roll", "opening", "passes")
    stacks = tuple(named[place] for place in PLACES)
    wrong = impossibility(stacks, options)
    if wrong is not None:
        place, why = wrong
        raise UnreadableError(
            Phrase("the position {text!r} is impossible: {why}", text, why), _column_of(text, f"{place}:")
        )
    if "opening" in said.named:
        opening = read_dice(text, *said.named["opening"])
    return _finish_state(said, opening, BlockadeState(options, stacks, WARM))


def _finish_state(said: StateText, opening: tuple[int, ...] | None, state: BlockadeState) -> BlockadeState:
    text, options = said.text, state.options
    roll = read_dice(text, *said.named["roll"]) if "roll" in said.named else None
    to_move = WARM if options.starts == BY_ROLL else options.starts
    if said.to_move is not None:
        to_move = said.to_move.text
    if opening is not None:
        rolling = other(WARM) if opening else WARM
        if roll is not None or to_move not in (rolling, OVER):
            raise UnreadableError(
                Phrase(
                    "the state {text!r} is about who starts, where {rolling} rolls next; write {rolling}, and no roll=",
                    text,
                    rolling,
                ),
                _column_of(text, "opening"),
            )
    full = replace(
        state,
        to_move=WARM if said.is_over else to_move,
        passes=_read_passes(said, options.draw_after_passes),
        announced=_read_announced(said),
    )
    ended = outcome_of(full) is not None
    if said.to_move is not None and said.is_over and not ended:
        raise UnreadableError(
            Phrase("the state {text!r} says 'over', but nobody has won; write who is to move", text),
            said.to_move.column,
        )
    if ended:
        return settle(full)
    return replace(full, roll=roll, opening=opening)


def _read_passes(said: StateText, most: int) -> int:
    if "passes" not in said.named:
        return 0
    word = said.whole("passes")
    if not _DIGITS.fullmatch(said.named["passes"].text):
        raise said.bad(word, _EXPECTED_STATE)
    passes = int(said.named["passes"].text[:9])
    if passes and (not most or passes > most):
        raise UnreadableError(
            Phrase(
                "the state {text!r} counts {passes} passes, but draw_after_passes is {most}; leave passes "
                "out or make them no more than that",
                said.text,
                passes,
                most,
            ),
            word.column,
        )
    return passes


def _read_announced(said: StateText) -> Announcement | None:
    read = said.announced()
    if read is not None and read not in common_announcements(PLAYERS):
        raise said.bad(said.named["announced"], Phrase("warm:resign, cool:resign or all:draw"))
    return read


def _read_stack(written: str) -> Stack:
    return tuple(
        piece_of(LETTERS.index(group[0].upper()), SIZE_LETTERS.index(size.upper()))
        for group in written.split("+")
        for size in group[1:]
    )


def _column_of(text: str, part: str) -> int:
    return max(0, text.lower().find(part)) + 1


def read_dice(text: str, value: str, column: int) -> Dice:
    """Read two dice, separated by a comma, a space or nothing; raises UnreadableError."""
    faces = value.replace(",", " ").split()
    if len(faces) == 1 and set(faces[0]) <= set(ORDINARY_DIE):
        faces = list(faces[0])
    for face in faces:
        if face not in ORDINARY_DIE:
            raise unreadable(text, face, column + value.find(face), Phrase("two dice from 1 to 6, such as 4,1"))
    if len(faces) != 2:
        raise unreadable(text, value, column, Phrase("two dice, such as 4,1"))
    return int(faces[0]), int(faces[1])


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


def _towers(state: BlockadeState, player: Player) -> str:
    counts = (Phrase("{colour} {number}", COLOURS[colour], len(state.towers(colour))) for colour in OWNED[player])
    return joined(counts, ", ")


def tallies(state: BlockadeState) -> dict[Player, str]:
    """Return how many towers each player has, by colour."""
    return {player: Phrase("Towers, of five: {towers}", _towers(state, player)) for player in PLAYERS}


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
            "{who}: roll the two dice for who starts. {rolled} has {dice}.",
            "{who}: roll the two dice for who starts. Then {other} rolls.",
            who=who,
            other=other(WARM),
            rolled=WARM.capitalize(),
            dice=format_dice(state.opening),
        )
    else:
        awaited = Phrase("{who}: roll the two dice.", who)
    towers = joined((_towers(state, player) for player in PLAYERS), ", ")
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
