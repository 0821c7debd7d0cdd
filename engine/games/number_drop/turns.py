"""The sequence of play: rolls, penalties, slides, drops, combinations, and the ends of turns and of the game.

Lists of turns are lazy, since a roll with stars allows hundreds of thousands of drops. Rolls have their faces in a
canonical order.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import permutations, product

from common.phrases import Phrase, counted, either, listed
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.number_drop.sheet import (
    COLUMNS,
    CROSS,
    GRID,
    LETTERS,
    NUMBER_DICE,
    SHAPES,
    SLOT_OF_BOX,
    STAR,
    TILES,
    Cells,
    Components,
    Sheet,
    assignments,
    box_of_marks,
    combinations,
    combinations_in_order,
    earns_letter,
    has_combination,
    landings,
    turned_shapes,
)
from engine.games.number_drop.state import (
    OTHER_SIDE,
    PLAYERS,
    SLIDES_TO_GO,
    SOLO_SIDE,
    Combination,
    Drop,
    NumberDropOptions,
    NumberDropState,
    NumberDropTurn,
    PenaltyDrop,
    Phase,
    SetUpDigit,
    Slide,
    WritingTurn,
    look_of,
    written_by,
)
from engine.support.chance import every_roll, format_roll
from engine.support.grid import Shape, members, set_of, union
from engine.support.lazy import Concatenated, FromIterator, LazySequence
from engine.support.notation import words
from engine.values import LookName, Outcome, OutcomeKind, Place, PossibleRoll, Roll


class Drops(LazySequence[Drop]):
    """Every drop of one player: by where the shape lands, then by the digits in its squares."""

    def __init__(self, player: str, places: Sequence[Cells], digits: Sequence[str]) -> None:
        self._player, self._places, self._digits = player, places, digits

    def __len__(self) -> int:
        return len(self._places) * len(self._digits)

    def _item(self, index: int) -> Drop:
        place, digits = divmod(index, len(self._digits))
        return Drop(self._player, tuple(GRID.names[square] for square in self._places[place]), self._digits[digits])


def legal_turns(state: NumberDropState) -> Sequence[NumberDropTurn]:
    """List the turns of everyone who may play now, clockwise from the first player, without repeats."""
    parts = [turns_of(state, player) for player in state.busy()]
    return parts[0] if len(parts) == 1 else Concatenated(parts)


def turns_of(state: NumberDropState, player: int) -> Sequence[NumberDropTurn]:
    """List one player's turns in a fixed order."""
    name, sheet = PLAYERS[player], state.sheets[player]
    if state.combining >> player & 1:
        return combinations_of(state, player)
    if not state.playing >> player & 1:
        return ()
    if state.phase is Phase.SETUP:
        return tuple(SetUpDigit(name, GRID.names[square], str(player + 1)) for square in range(COLUMNS))
    if state.phase is Phase.PENALTY:
        return turns_in(state, player, landings(sheet.heights, penalty_shapes(state)))
    if state.phase is Phase.DROP:
        return turns_in(state, player, landings(sheet.heights, turned_shapes(state.options.components, state.roll[-1])))
    return tuple(Slide(name, LETTERS[slot]) for slot in slidable(state))


def turns_in(state: NumberDropState, player: int, places: Sequence[Cells]) -> Sequence[NumberDropTurn]:
    """List one player's drops or penalties that come to rest in these places."""
    if state.phase is Phase.DROP:
        return Drops(PLAYERS[player], places, assignments(state.roll[:-1]))
    return tuple(PenaltyDrop(PLAYERS[player], tuple(GRID.names[square] for square in cells)) for cells in places)


def penalty_shapes(state: NumberDropState) -> tuple[frozenset[tuple[int, int]], ...]:
    """Return every rotation and reflection of the penalty that drops now."""
    return turned_shapes(state.options.components, state.tiles[int(state.slot or 0)])


def combinations_of(state: NumberDropState, player: int, most: int | None = None) -> Sequence[Combination]:
    """List no combination first, then each one by box and squares, both without and with its letter if it earns one.

    ``most`` limits the number of combinations to search for.
    """
    name = PLAYERS[player]
    sheet = state.sheets[player]

    def found() -> Iterator[tuple[int, str | None]]:
        yield 0, None
        for box, squares in combinations_in_order(sheet) if most is None else combinations(sheet, most):
            yield squares, None
            if letter := letter_for(state, player, box):
                yield squares, letter

    # There can be a hundred thousand, of which few are used.
    return FromIterator(found(), lambda turn: Combination(name, GRID.names_of(turn[0]), turn[1]))


def digits_at(cells: str, squares: int) -> str:
    """Return the marks in a set of squares, in rising order of squares, with dots for open cells."""
    return "".join(cells[square] for square in members(squares))


def play_turn(state: NumberDropState, turn: NumberDropTurn) -> NumberDropState:
    """Return the state after a legal turn."""
    player = PLAYERS.index(turn.player)
    if isinstance(turn, Slide):
        return slide_tile(state, LETTERS.index(turn.letter))
    if not isinstance(turn, Combination):
        return write_marks(state, player, marks_by_square(turn))
    if not turn.squares:
        return draw_loop(state, player, None, 0, letter=False)
    squares = GRID.squares_named(turn.squares)
    box = box_of_marks(digits_at(state.sheets[player].cells, squares))
    return draw_loop(state, player, box, squares, letter=turn.letter is not None)


def marks_by_square(turn: WritingTurn) -> dict[int, str]:
    """Return the marks that a turn writes, by square."""
    return {GRID.index[name]: mark for name, mark in zip(*written_by(turn), strict=True)}


def change_of(state: NumberDropState, turn: NumberDropTurn) -> dict[Place, LookName]:
    """Return the looks that a legal turn changes."""
    if isinstance(turn, Slide):
        return {}
    is_circled = isinstance(turn, Combination)
    if isinstance(turn, Combination):
        marks = digits_at(state.sheets[PLAYERS.index(turn.player)].cells, GRID.squares_named(turn.squares))
    else:
        _, marks = written_by(turn)
    return {place: look_of(mark, is_circled) for place, mark in zip(turn.places, marks, strict=True)}


def turn_of_marks(state: NumberDropState, player: str, marks: dict[str, str]) -> NumberDropTurn:
    """Return the turn that writes these marks, legal or not; its kind follows from the phase."""
    squares = in_order(marks)
    digits = "".join(marks[square] for square in squares)
    if state.phase is Phase.SETUP and len(squares) == 1 and digits != CROSS:
        return SetUpDigit(player, squares[0], digits)
    if set(digits) == {CROSS}:
        return PenaltyDrop(player, squares)
    return Drop(player, squares, digits)


def in_order(squares: Iterable[str]) -> tuple[str, ...]:
    """Sort the names of squares, without repeats."""
    return GRID.names_of(GRID.squares_named(squares))


def canonical(faces: tuple[str, ...]) -> tuple[str, ...]:
    """Sort the number faces, stars last, then the shape; raises IllegalTurnError unless there are four and one.

    A shape's letter may be anywhere. Without a letter, one of the stars counts as the shape die's.
    """
    shapes = [face for face in faces if face in SHAPES] or [STAR]
    if len(faces) != NUMBER_DICE + 1 or len(shapes) > 1:
        raise IllegalTurnError(
            Phrase(
                "got the roll {names}; expected {number_dice} number dice and the shape die, such as 1,3,4,5,T",
                ",".join(faces),
                NUMBER_DICE,
            )
        )
    (shape,) = shapes
    if shape not in faces:
        raise IllegalTurnError(
            Phrase(
                "got the roll {names} without a shape; expected one of {shapes} or {star}",
                ",".join(faces),
                SHAPES,
                STAR,
            )
        )
    numbers = list(faces)
    numbers.remove(shape)
    return (*_sorted(tuple(numbers)), shape)


def _sorted(numbers: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted(numbers, key=lambda face: (face == STAR, face)))


@cache
def dice_rolls(components: Components) -> tuple[PossibleRoll, ...]:
    """Return every roll of the five dice in canonical order, with its probability."""
    return every_roll(components.dice, lambda faces: (*_sorted(faces[:NUMBER_DICE]), faces[NUMBER_DICE]))


@cache
def _known_rolls(components: Components) -> frozenset[tuple[str, ...]]:
    return frozenset(possible.roll.faces for possible in dice_rolls(components))


def tile_draws(options: NumberDropOptions) -> tuple[PossibleRoll, ...]:
    """Return every way to draw the tiles to slots A to E, with its probability; in solo games the solo side is up."""
    return _draws(options.components.tiles, _sides_up(options))


def _sides_up(options: NumberDropOptions) -> tuple[int, ...]:
    if options.solo or options.tiles == SOLO_SIDE:
        return (0,)
    return (1,) if options.tiles == OTHER_SIDE else (0, 1)


# There are thousands of draws, so options with the same ones share them.
@cache
def _draws(tiles: tuple[tuple[str, str], ...], sides: tuple[int, ...]) -> tuple[PossibleRoll, ...]:
    faces = sorted(
        tuple(tile[side] for tile, side in zip(drawn, up, strict=True))
        for drawn in permutations(tiles)
        for up in product(sides, repeat=TILES)
    )
    each = Fraction(1, len(faces))
    return tuple(PossibleRoll(Roll(drawn), each) for drawn in faces)


@cache
def _known_draws(tiles: tuple[tuple[str, str], ...], sides: tuple[int, ...]) -> frozenset[tuple[str, ...]]:
    return frozenset(possible.roll.faces for possible in _draws(tiles, sides))


def read_dice_roll(components: Components, faces: Sequence[str]) -> tuple[str, ...]:
    """Return the faces of a roll in canonical order; raises IllegalTurnError if these dice can't show them."""
    ordered = canonical(tuple(faces))
    if ordered not in _known_rolls(components):
        raise IllegalTurnError(
            Phrase(
                "got the roll {names}, which the dice {names_2} can't show; read them again",
                ",".join(ordered),
                "/".join(components.dice),
            )
        )
    return ordered


def read_tile_draw(options: NumberDropOptions, faces: Sequence[str]) -> tuple[str, ...]:
    """Return the faces of the tiles in slots A to E; raises IllegalTurnError if these tiles can't show them."""
    drawn = tuple(faces)
    for tile in options.components.tiles:
        slots = [letter for letter, face in zip(LETTERS, drawn, strict=False) if face in tile]
        if len(slots) > 1:
            raise IllegalTurnError(
                Phrase("{slots} show the same tile ({sides} are its two sides)", listed(slots), listed(tile))
            )
    if drawn not in _known_draws(options.components.tiles, _sides_up(options)):
        example = tile_draws(options)[0].roll.faces
        raise IllegalTurnError(
            Phrase(
                "the tiles {names} can't lie on the table together: each of the {tiles} tiles lies there once; "
                "{example} can",
                ", ".join(drawn),
                TILES,
                ", ".join(example),
            )
        )
    return drawn


def awaits_roll(state: NumberDropState) -> bool:
    """Return whether tiles must be drawn or dice rolled now."""
    return state.phase in (Phase.TILES, Phase.ROLL)


def to_draw(state: NumberDropState) -> str:
    """Return a request to draw the tiles while they are awaited, else nothing."""
    return (
        Phrase("draw the tiles to slots A to E, and tell the referee their faces") if state.phase is Phase.TILES else ""
    )


def possible_rolls(state: NumberDropState) -> Sequence[PossibleRoll]:
    """List every draw of the tiles, or later every roll of the five dice; empty if none is awaited."""
    if state.phase is Phase.TILES:
        return tile_draws(state.options)
    return dice_rolls(state.options.components) if state.phase is Phase.ROLL else ()


def rolled(state: NumberDropState, roll: Roll) -> NumberDropState:
    """Return the state after the tiles were drawn or the dice rolled; raises IllegalTurnError.

    Faces of dice may be in any order; those of tiles are in the order of their slots.
    """
    if state.phase is Phase.TILES:
        return apply_tiles(state, read_tile_draw(state.options, roll.faces))
    if state.phase is not Phase.ROLL:
        raise IllegalTurnError(
            either(
                state.to_move is None,
                "got a roll of {roll}, but the game is over",
                "got a roll of {roll}, but {player} is still to play",
                roll=format_roll(roll),
                player=state.to_move,
            )
        )
    return apply_roll(state, read_dice_roll(state.options.components, roll.faces))


def roll_of(state: NumberDropState) -> Roll | None:
    """Return the roll that is still to be dropped, or ``None``; a roll that triggers a penalty is used up."""
    return Roll(state.roll) if state.roll else None


def parse_roll(state: NumberDropState, text: str) -> Roll:
    """Read a roll's text leniently (commas, spaces, case, any order of dice).

    Raises UnreadableError, or IllegalTurnError if the roll is impossible or none is awaited.
    """
    named = words(text.replace(",", " "))
    faces = tuple(word.text.upper() for word in named)
    if not faces:
        raise UnreadableError(Phrase("cannot read {text!r} as a roll; expected faces such as 1,3,4,*,T", text), 1)
    known = set("".join(state.options.components.dice)) | set(state.options.components.shapes) | {STAR}
    for word in named:
        if word.text.upper() not in known:
            raise UnreadableError(
                Phrase(
                    "cannot read {text!r} at column {column} of the roll {text_2!r}; expected digits, * "
                    "and a shape such as 1,3,4,*,T, or the faces of the tiles",
                    word.text,
                    word.column,
                    text,
                ),
                word.column,
            )
    rolled(state, Roll(faces))
    if state.phase is Phase.TILES:
        return Roll(read_tile_draw(state.options, faces))
    return Roll(read_dice_roll(state.options.components, faces))


def new_state(options: NumberDropOptions) -> NumberDropState:
    """Return the starting state: empty sheets, and the tiles still to be drawn."""
    return NumberDropState(
        options, Phase.TILES, (Sheet(),) * options.players, notches=(0,) * len(LETTERS) if options.solo else ()
    )


def everyone(state: NumberDropState) -> int:
    """Return the set of players still in the game."""
    return ((1 << state.options.players) - 1) & ~state.gone


def players_without_digit(state: NumberDropState) -> int:
    """Return the set of players still in the game whose sheets are empty."""
    return sum(1 << player for player in members(everyone(state)) if not any(state.sheets[player].heights))


def apply_tiles(state: NumberDropState, faces: tuple[str, ...]) -> NumberDropState:
    """Return the state after the tiles are drawn; players without a first digit write it next."""
    waiting = players_without_digit(state)
    return replace(state, tiles=faces, phase=Phase.SETUP if waiting else Phase.ROLL, playing=waiting)


def apply_roll(state: NumberDropState, faces: tuple[str, ...]) -> NumberDropState:
    """Return the state after the dice are rolled; a penalty, the solo slides or everyone's drop comes next."""
    rolled = replace(state, roll=faces)
    if state.options.solo:
        return replace(rolled, phase=Phase.SLIDE, playing=1)
    slot = struck_slot(rolled)
    if slot is None:
        return begin_drop(rolled)
    return _begin_penalty(replace(rolled, roll=()), slot)


def struck_slot(state: NumberDropState) -> int | None:
    """Return the slot whose penalty a star triggers: that of the first circled letter that isn't crossed off."""
    if not state.has_star():
        return None
    circled = union(state.sheets[player].letters for player in members(everyone(state)))
    return next(members(circled & ~state.crossed_off), None)


def _begin_penalty(state: NumberDropState, slot: int) -> NumberDropState:
    shapes = turned_shapes(state.options.components, state.tiles[slot])
    struck = [player for player in members(everyone(state)) if not state.sheets[player].letters >> slot & 1]
    begun = _let_write(replace(state, phase=Phase.PENALTY, slot=slot), struck, shapes)
    return begun if begun.playing else _end_penalty(begun)


def _let_write(state: NumberDropState, players: list[int], shapes: tuple[Shape, ...]) -> NumberDropState:
    """Let these players write one of these shapes; if it fits nowhere on a sheet, this turn is the last."""
    able = [player for player in players if landings(state.sheets[player].heights, shapes)]
    return replace(state, playing=set_of(able), last_turn=state.last_turn or len(able) < len(players))


def _end_penalty(state: NumberDropState) -> NumberDropState:
    done = replace(state, slot=None, playing=0)
    if state.options.solo:
        return _continue_slides(done)
    return end_turn(replace(done, crossed_off=state.crossed_off | 1 << int(state.slot or 0)))


def begin_drop(state: NumberDropState) -> NumberDropState:
    """Let every player whose sheet has room drop the rolled shape."""
    shapes = turned_shapes(state.options.components, state.roll[-1])
    begun = _let_write(replace(state, phase=Phase.DROP), list(members(everyone(state))), shapes)
    return begun if begun.playing else end_turn(begun)


def write_marks(state: NumberDropState, player: int, marks: dict[int, str]) -> NumberDropState:
    """Return the state after a player wrote a first digit, shape or penalty."""
    sheet = state.sheets[player].with_marks(marks)
    playing = state.playing & ~(1 << player)
    now = replace(state.with_sheet(player, sheet), playing=playing)
    if state.phase is Phase.DROP and has_combination(sheet):
        return replace(now, combining=now.combining | 1 << player)
    return advance_phase(now)


def draw_loop(state: NumberDropState, player: int, box: int | None, squares: int, *, letter: bool) -> NumberDropState:
    """Return the state after a player drew a combination, or chose none (``box`` is ``None``)."""
    if box is not None:
        state = state.with_sheet(player, state.sheets[player].with_loop(box, squares, letter=letter))
    return advance_phase(replace(state, combining=state.combining & ~(1 << player)))


def advance_phase(state: NumberDropState) -> NumberDropState:
    """Return the state in the next phase if nobody has anything left to do in this one, else the same state."""
    if state.playing or state.combining:
        return state
    if state.phase is Phase.SETUP:
        return replace(state, phase=Phase.ROLL)
    if state.phase is Phase.PENALTY:
        return _end_penalty(state)
    return end_turn(state)


def slidable(state: NumberDropState) -> tuple[int, ...]:
    """Return the slots whose tile may slide now; empty if no slide is due."""
    loose = tuple(slot for slot, notch in enumerate(state.notches) if notch < SLIDES_TO_GO)
    if state.phase is Phase.SLIDE or (state.phase is Phase.STAR_SLIDE and state.roll[-1] == STAR):
        return loose
    if state.phase is Phase.STAR_SLIDE:
        return tuple(slot for slot in loose if state.tiles[slot].startswith(state.roll[-1]))
    return ()


def slide_tile(state: NumberDropState, slot: int) -> NumberDropState:
    """Slide a tile by one notch; when it reaches GO!, its penalty drops unless the letter is circled."""
    notches = (*state.notches[:slot], state.notches[slot] + 1, *state.notches[slot + 1 :])
    now = replace(state, notches=notches, playing=0, star_slid=state.phase is Phase.STAR_SLIDE)
    if notches[slot] == SLIDES_TO_GO:
        now = replace(now, crossed_off=now.crossed_off | 1 << slot)
        if not state.sheets[0].letters >> slot & 1:
            return _begin_penalty(now, slot)
    return _continue_slides(now)


def _continue_slides(state: NumberDropState) -> NumberDropState:
    if state.has_star() and not state.star_slid:
        starred = replace(state, phase=Phase.STAR_SLIDE, playing=1)
        if slidable(starred):
            return starred
    return begin_drop(replace(state, star_slid=False, playing=0))


def end_turn(state: NumberDropState) -> NumberDropState:
    """Return the state after the turn: the game is over, or the next player on the left rolls."""
    ended = replace(state, roll=(), playing=0, combining=0, star_slid=False)
    if is_last_turn(state):
        return replace(ended, phase=Phase.OVER)
    return replace(ended, phase=Phase.ROLL, first=next_player(state))


def is_last_turn(state: NumberDropState) -> bool:
    """Return whether the game ends with this turn: a shape fits nowhere, someone is too high, or all tiles are down."""
    return state.last_turn or bool(reached_the_line(state)) or all_tiles_down(state)


def next_player(state: NumberDropState, way: int = 1) -> int:
    """Return the next player in the game on the left of the first player, or with ``way`` -1 on the right."""
    others = [player for player in state.in_order() if player != state.first] or [state.first]
    return others[0] if way == 1 else others[-1]


def reached_the_line(state: NumberDropState) -> tuple[int, ...]:
    """Return the players still in the game who have written above the Game Over line."""
    x_counts = state.options.x_counts_above_line
    return tuple(player for player in members(everyone(state)) if state.sheets[player].game_over_lines(x_counts))


def all_tiles_down(state: NumberDropState) -> bool:
    """Return whether every tile of a solo game has reached the bottom."""
    return bool(state.notches) and all(notch == SLIDES_TO_GO for notch in state.notches)


def resign(state: NumberDropState, player: int) -> NumberDropState:
    """Return the state after a player resigned: the others play on, and penalties ignore that sheet."""
    mask = 1 << player
    now = replace(state, gone=state.gone | mask, playing=state.playing & ~mask, combining=state.combining & ~mask)
    if is_given_up(now):
        return replace(now, phase=Phase.OVER, roll=(), playing=0, combining=0, slot=None, star_slid=False)
    if state.first == player and state.phase in (Phase.TILES, Phase.SETUP, Phase.ROLL):
        now = replace(now, first=next_player(now))
    return now if state.phase in (Phase.TILES, Phase.ROLL) else advance_phase(now)


def is_given_up(state: NumberDropState) -> bool:
    """Return whether so many players have resigned that the game is over."""
    return everyone(state).bit_count() <= (0 if state.options.solo else 1)


def scores_of(state: NumberDropState) -> dict[str, int]:
    """Return everyone's current points, including players who resigned."""
    x_counts = state.options.x_counts_above_line
    return {PLAYERS[player]: sheet.score(x_counts) for player, sheet in enumerate(state.sheets)}


def outcome_of(state: NumberDropState) -> Outcome | None:
    """Return how the game ended, or ``None`` while it goes on."""
    if state.phase is not Phase.OVER:
        return None
    if state.drawn:
        return Outcome(None, Phrase("both agreed on a draw"))
    left = list(members(everyone(state)))
    if is_given_up(state):
        gone = listed(PLAYERS[player] for player in members(state.gone))
        kind = OutcomeKind.RESULT if left else OutcomeKind.GIVEN_UP
        return Outcome(PLAYERS[left[0]] if left else None, Phrase("{gone} resigned", gone), kind=kind)
    scores = scores_of(state)
    best = max(scores[PLAYERS[player]] for player in left)
    winners = tuple(PLAYERS[player] for player in left if scores[PLAYERS[player]] == best)
    points = counted(best, "point")
    if state.options.solo:
        why = Phrase("game over") if reached_the_line(state) else _why_over(state)
        reason = Phrase("{why}: {points}", why, points)
        return Outcome(winners[0], reason, kind=OutcomeKind.SCORE)
    if len(winners) > 1:
        return Outcome(None, Phrase("{why}; {points} each", _why_over(state), points), winners, points_each=best)
    return Outcome(winners[0], Phrase("{why}; {points}", _why_over(state), points))


def _why_over(state: NumberDropState) -> str:
    names = [PLAYERS[player] for player in reached_the_line(state)]
    if names:
        return Phrase("{names} crossed the Game Over line", listed(names))
    return Phrase("all tiles are down") if all_tiles_down(state) else Phrase("a shape fitted nowhere")


def open_letters(state: NumberDropState, player: int) -> int:
    """Return the set of letters that the player may circle by themselves: earned before, and still open."""
    if state.phase is Phase.OVER or state.gone >> player & 1:
        return 0
    struck = 0 if state.slot is None else 1 << state.slot
    sheet = state.sheets[player]
    return sheet.earned_letters & ~(sheet.letters | state.crossed_off | struck)


def circle_letter(state: NumberDropState, player: int, letter: str) -> NumberDropState:
    """Return the state after a player circled an open letter."""
    sheet = state.sheets[player]
    return state.with_sheet(player, replace(sheet, letters=sheet.letters | 1 << LETTERS.index(letter)))


def letter_for(state: NumberDropState, player: int, box: int) -> str | None:
    """Return the letter that the player may circle on filling this box, or ``None``."""
    sheet = state.sheets[player]
    if not earns_letter(sheet.loops, sheet.letters, box) or state.crossed_off >> SLOT_OF_BOX[box] & 1:
        return None
    return LETTERS[SLOT_OF_BOX[box]]
