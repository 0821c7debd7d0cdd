"""The board, the options, stacks of pyramids, states and turns as frozen values, and how a state looks.

A *piece* is an integer: four times its colour plus its size (1 small, 2 medium, 3 large). A *stack* is a tuple of
pieces from bottom to top. Squares are indices as in ``engine.support.grid``: a1 is 0, e5 is 24.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

from common.phrases import Phrase
from engine.errors import OptionError
from engine.options import read_into
from engine.support.breaches import advised
from engine.support.grid import Grid, members, set_of
from engine.support.looks import LookTable
from engine.support.players import opponent, outcome_of_announcement
from engine.values import Announcement, Breach, LookName, Option, OptionValue, Outcome, Place, Player

GRID = Grid(5, 5)
PLACES: tuple[Place, ...] = GRID.names
SQUARES = GRID.squares

WARM, COOL = "warm", "cool"
PLAYERS: tuple[Player, ...] = (WARM, COOL)

COLOURS: tuple[str, ...] = ("red", "yellow", "green", "blue", "clear", "black")
RED, YELLOW, GREEN, BLUE, CLEAR, BLACK = range(6)
LETTERS = "RYGBCK"
SMALL, MEDIUM, LARGE = 1, 2, 3
SIZES: tuple[str, ...] = ("", "small", "medium", "large")
SIZE_LETTERS = " SML"
OWNED: dict[Player, tuple[int, int]] = {WARM: (RED, YELLOW), COOL: (GREEN, BLUE)}
"""The two colours of each player, in the order of their dice."""

PIECES_OF_A_SIZE = 5
"""How many small, and how many medium, pyramids each playing colour has; and how many of each size black has."""

TOWERS_TO_WIN = 5
UNREACHABLE = 99
"""The distance to a square that can't be reached."""

SHARED_AT_MOST = 3
"""Dice that both show this or less may be added up for one colour."""

Path = tuple[int, ...]
"""The squares of one move: where the piece stood, any squares named on its way, where it stops."""

Stack = tuple[int, ...]
Stacks = tuple[Stack, ...]

_ROWS_FROM_FAR = ("CBBBC", "RRRBY", "RGCBY", "RGYYY", "CGGGC")
_CORNERS = {"a5": GREEN, "e5": RED, "a1": YELLOW, "e1": BLUE}


def piece_of(colour: int, size: int) -> int:
    """Return the piece with this colour and size."""
    return colour * 4 + size


def colour_of(piece: int) -> int:
    """Return the colour of a piece."""
    return piece >> 2


def size_of(piece: int) -> int:
    """Return the size of a piece: 1, 2 or 3."""
    return piece & 3


def name_of(piece: int) -> str:
    """Return a piece's name, which is also its look: ``red small``."""
    return f"{COLOURS[piece >> 2]} {SIZES[piece & 3]}"


def owner_of(colour: int) -> Player | None:
    """Return the player who owns a colour; ``None`` for clear and black."""
    return next((player for player, colours in OWNED.items() if colour in colours), None)


def other(player: Player) -> Player:
    """Return the opponent."""
    return opponent(PLAYERS, player)


BASES: tuple[int, ...] = tuple(LETTERS.index(_ROWS_FROM_FAR[4 - square // 5][square % 5]) for square in range(SQUARES))
"""The colour of the large that stands on each square, from the first turn to the last."""

CLEARS: tuple[int, ...] = tuple(square for square in range(SQUARES) if BASES[square] == CLEAR)
"""The squares with a clear large."""


def starting_stacks() -> Stacks:
    """Return the set-up: a large on every square, a small on each coloured large, and five mediums on each corner."""
    stacks = []
    for square, base in enumerate(BASES):
        stack = [piece_of(base, LARGE)]
        if base != CLEAR:
            stack.append(piece_of(base, SMALL))
        elif PLACES[square] in _CORNERS:
            stack += [piece_of(_CORNERS[PLACES[square]], MEDIUM)] * PIECES_OF_A_SIZE
        stacks.append(tuple(stack))
    return tuple(stacks)


@lru_cache(maxsize=2048)
def distances(walls: int) -> tuple[bytes, ...]:
    """Return ``[start][end]``: the fewest steps between two squares without stepping onto ``walls``.

    The distance is ``UNREACHABLE`` where there is no path, and for every path from or to a wall.
    """
    table = []
    for start in range(SQUARES):
        row = [UNREACHABLE] * SQUARES
        frontier = 0 if walls >> start & 1 else 1 << start
        seen = frontier
        steps = 0
        while frontier:
            for square in members(frontier):
                row[square] = steps
            frontier = GRID.around(frontier) & ~seen & ~walls
            seen |= frontier
            steps += 1
        table.append(bytes(row))
    return tuple(table)


BY_ROLL = "roll"
EXACT, CONTAINS = "exact", "contains"

OPTIONS: tuple[Option, ...] = (
    Option(
        "starts",
        BY_ROLL,
        "Who plays first: by rolling for it, or as agreed.",
        (BY_ROLL, *PLAYERS),
        ("by rolling for it",),
    ),
    Option("strict", False, "Whether a piece must rest legally whenever its move ends, not just when the turn does."),
    Option("draw_after_passes", 0, "After how many turns in a row with nothing moved the game is a draw; 0: never."),
    Option(
        "tower",
        EXACT,
        "A tower is a large, one medium, one small; or any mediums between.",
        (EXACT, CONTAINS),
        ("one medium", "any mediums"),
    ),
)


@dataclass(frozen=True)
class BlockadeOptions:
    """The options in use; OPTIONS explains each field."""

    starts: str
    strict: bool
    draw_after_passes: int
    tower: str


def options_from(given: Mapping[str, OptionValue] | None) -> BlockadeOptions:
    """Check options and fill in defaults; raises OptionError for an unknown name or a bad value."""
    options = read_into(BlockadeOptions, OPTIONS, given)
    if options.draw_after_passes < 0:
        raise OptionError(
            Phrase(
                "option draw_after_passes is {draw_after_passes}; it takes 0 (never) or more", options.draw_after_passes
            )
        )
    return options


ON_OTHER_COLOUR = "rested-on-other-colour"
ON_SMALLER = "rested-on-smaller"
ON_OTHER_BLOCKADE = "rested-on-other-blockade"
ON_SMALL_BLACK = "rested-on-black-not-larger"


def resting_fault(piece: int, stack: Stack) -> str | None:
    """Return the id of the rule that forbids the piece to rest on the stack; ``None`` if it may rest there."""
    below = stack[-1]
    colour = colour_of(below)
    if colour == CLEAR:
        return None
    if colour == BLACK:
        if colour_of(stack[0]) != colour_of(piece):
            return ON_OTHER_BLOCKADE
        return None if size_of(below) > size_of(piece) else ON_SMALL_BLACK
    if colour != colour_of(piece):
        return ON_OTHER_COLOUR
    return None if size_of(below) >= size_of(piece) else ON_SMALLER


# A turn changes few stacks, and checking a change compares the ends of many turns.
@lru_cache(maxsize=4096)
def first_fault(stack: Stack) -> tuple[int, str] | None:
    """Return the height of the lowest piece that breaks a resting rule (1: on the large), and the rule's id."""
    for height in range(1, len(stack)):
        if colour_of(stack[height]) != BLACK:
            fault = resting_fault(stack[height], stack[:height])
            if fault is not None:
                return height, fault
    return None


_BLACK_PIECES = frozenset(piece_of(BLACK, size) for size in (SMALL, MEDIUM, LARGE))


def is_blockade(stack: Stack) -> bool:
    """Return whether the stack contains a black piece."""
    return not _BLACK_PIECES.isdisjoint(stack)


def uncapped(stack: Stack) -> Stack:
    """Return the part of the stack below its black piece; the whole stack if there is none."""
    for height, piece in enumerate(stack):
        if colour_of(piece) == BLACK:
            return stack[:height]
    return stack


@lru_cache(maxsize=4096)
def makes_tower(stack: Stack, tower: str) -> bool:
    """Return whether a stack without black is a tower: a large, one medium (``contains``: or more), a small on top."""
    colour = colour_of(stack[0])
    if colour == CLEAR or len(stack) < 3 or any(colour_of(piece) != colour for piece in stack):
        return False
    sizes = [size_of(piece) for piece in stack]
    if tower == EXACT:
        return sizes == [LARGE, MEDIUM, SMALL]
    return sizes[0] == LARGE and sizes[1] == MEDIUM and sizes[-1] == SMALL and sizes == sorted(sizes, reverse=True)


def towers_of(stacks: Stacks, colour: int, tower: str) -> tuple[int, ...]:
    """Return the squares with towers of this colour."""
    return tuple(square for square, stack in enumerate(stacks) if _colour_of_tower(stack, tower) == colour)


def winning_colours(stacks: Stacks, tower: str) -> list[int]:
    """Return the colours that have enough towers to win."""
    return [colour for colour in range(CLEAR) if len(towers_of(stacks, colour, tower)) >= TOWERS_TO_WIN]


@lru_cache(maxsize=4096)
def _colour_of_tower(stack: Stack, tower: str) -> int | None:
    return colour_of(stack[0]) if makes_tower(uncapped(stack), tower) else None


def clears_held(stacks: Stacks, colour: int) -> int:
    """Return the set of clear squares on which pieces of this colour stand."""
    return sum(1 << square for square in CLEARS if len(stacks[square]) > 1 and colour_of(stacks[square][1]) == colour)


def supply(stacks: Iterable[Stack]) -> tuple[int, ...]:
    """Return the sizes of the black pieces left beside the board, in the order of their use."""
    left = {LARGE: PIECES_OF_A_SIZE, MEDIUM: PIECES_OF_A_SIZE, SMALL: PIECES_OF_A_SIZE}
    for stack in stacks:
        for piece in stack:
            if colour_of(piece) == BLACK:
                left[size_of(piece)] -= 1
    return tuple(size for size in (LARGE, MEDIUM, SMALL) for _ in range(left[size]))


def walls_against(stacks: Stacks, player: Player) -> int:
    """Return the set of squares that the player may not pass: the opponent's blockades."""
    return set_of(
        square for square, stack in enumerate(stacks) if is_blockade(stack) and owner_of(colour_of(stack[0])) != player
    )


Dice = tuple[int, int]

_PIECES = (
    *(piece_of(colour, size) for colour in range(CLEAR) for size in (SMALL, MEDIUM, LARGE)),
    piece_of(CLEAR, LARGE),
    *(piece_of(BLACK, size) for size in (SMALL, MEDIUM, LARGE)),
)

LOOK_TABLE = LookTable({piece: name_of(piece) for piece in _PIECES}, PLACES)

LOOKS: tuple[LookName, ...] = LOOK_TABLE.names
"""All a square can show from above; never empty while every large stands, but a camera may say so."""


class Move(NamedTuple):
    """One piece's uninterrupted steps, from the top of one stack to the square where it rests or waits."""

    piece: int
    start: Place
    end: Place


@dataclass(frozen=True, slots=True)
class BlockadeTurn:
    """One whole turn: its moves in order, or none if nothing moved. The caps of new towers are implied."""

    player: Player
    moves: tuple[Move, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        """The squares on which the moves start and end, in order, without repeats."""
        return tuple(dict.fromkeys(place for move in self.moves for place in (move.start, move.end)))


@dataclass(frozen=True, slots=True)
class BlockadeState:
    """A position.

    ``roll`` is the roll still to be used. ``opening`` holds the rolls so far that decide who starts: empty at first,
    then warm's roll, and ``None`` once the starter is known. ``passes`` counts consecutive turns in which nothing
    moved; it is kept only with the option ``draw_after_passes``. ``to_move`` is ``None`` when the game is over.
    """

    options: BlockadeOptions
    stacks: Stacks
    to_move: Player | None
    roll: Dice | None = None
    opening: tuple[int, ...] | None = None
    passes: int = 0
    announced: Announcement | None = None

    def towers(self, colour: int) -> tuple[int, ...]:
        """Return the squares with towers of this colour."""
        return towers_of(self.stacks, colour, self.options.tower)

    @property
    def supply(self) -> tuple[int, ...]:
        """The sizes of the black pieces beside the board, in the order of their use."""
        return supply(self.stacks)


def new_state(options: BlockadeOptions) -> BlockadeState:
    """Return the set-up; the players roll for who starts unless the options name the starter."""
    if options.starts == BY_ROLL:
        return BlockadeState(options, starting_stacks(), WARM, opening=())
    return BlockadeState(options, starting_stacks(), options.starts)


def rolled_state(state: BlockadeState, dice: Dice) -> BlockadeState:
    """Return the state after a roll, which gives the points of a turn or helps to decide who starts."""
    if state.opening is None:
        return replace(state, roll=dice)
    if not state.opening:
        return replace(state, opening=dice, to_move=other(WARM))
    warm, cool = sum(state.opening), sum(dice)
    if warm == cool:
        return replace(state, opening=(), to_move=WARM)
    return replace(state, opening=None, to_move=WARM if warm > cool else other(WARM))


def outcome_of(state: BlockadeState) -> Outcome | None:
    """Return the outcome, or ``None`` while the game continues."""
    if state.announced is not None:
        return outcome_of_announcement(state.announced, PLAYERS)
    won = winning_colours(state.stacks, state.options.tower)
    if won:
        return Outcome(owner_of(won[0]), Phrase("five {colour} towers stand", COLOURS[won[0]]))
    if 0 < state.options.draw_after_passes <= state.passes:
        return Outcome(
            None,
            Phrase("nothing moved for a turn")
            if state.passes == 1
            else Phrase("nothing moved for {passes} turns in a row", state.passes),
        )
    return None


def settle(state: BlockadeState) -> BlockadeState:
    """Return the state with ``to_move`` set to ``None`` if the game has ended."""
    return state if outcome_of(state) is None else replace(state, to_move=None, roll=None, opening=None)


def state_after(state: BlockadeState, stacks: Stacks) -> BlockadeState:
    """Return the state after the player to move ends the turn with these stacks."""
    assert state.to_move is not None
    counting = state.options.draw_after_passes > 0
    passes = state.passes + 1 if counting and stacks == state.stacks else 0
    return settle(replace(state, stacks=stacks, to_move=other(state.to_move), roll=None, passes=passes))


def appearance_of(stacks: Stacks) -> dict[Place, LookName]:
    """Map every square, a1 first, to the look of its top piece."""
    return {place: name_of(stack[-1]) for place, stack in zip(PLACES, stacks, strict=True)}


def breach_of_timing(state: BlockadeState, player: Player) -> Breach | None:
    """Return the reason why the player can't play any turn now, or ``None``."""
    if state.to_move is None:
        outcome = outcome_of(state)
        return Breach(
            "game-over",
            (Phrase("The game is over: {reason}.", outcome.reason) if outcome else Phrase("The game is over.")),
            Phrase("Put everything back, or begin a new game."),
        )
    if state.to_move != player:
        return advised(
            "not-your-turn",
            Phrase("It is {player}'s turn.", state.to_move),
            Phrase("Let {player} play first.", state.to_move),
        )
    if state.roll is None:
        return advised(
            "roll-first", Phrase("{player} hasn't rolled yet.", player.capitalize()), Phrase("Roll both dice first.")
        )
    return None


def allocations(dice: Dice) -> tuple[Dice, ...]:
    """Return the ways to share a roll's points, each as the most points that either colour may use."""
    first, second = dice
    if max(dice) > SHARED_AT_MOST:
        return (dice,)
    return dice, (first + second, 0), (0, first + second)
