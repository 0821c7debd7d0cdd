"""Legal turns and playing them. Lists are lazy, since a roll with stars allows hundreds of thousands of drops."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from engine.games.number_drop import flow
from engine.games.number_drop.drops import Cells, assignments, landings, turned_shapes
from engine.games.number_drop.sheet import (
    COLUMNS,
    CROSS,
    GRID,
    LETTERS,
    box_of_marks,
    combinations,
    combinations_in_order,
)
from engine.games.number_drop.state import (
    PLAYERS,
    Combination,
    Drop,
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
from engine.support.grid import members
from engine.support.lazy import Concatenated, FromIterator, LazySequence
from engine.values import LookName, Place


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
    return tuple(Slide(name, LETTERS[slot]) for slot in flow.slidable(state))


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
            if letter := flow.letter_for(state, player, box):
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
        return flow.slide_tile(state, LETTERS.index(turn.letter))
    if not isinstance(turn, Combination):
        return flow.write_marks(state, player, marks_by_square(turn))
    if not turn.squares:
        return flow.draw_loop(state, player, None, 0, letter=False)
    squares = GRID.squares_named(turn.squares)
    box = box_of_marks(digits_at(state.sheets[player].cells, squares))
    return flow.draw_loop(state, player, box, squares, letter=turn.letter is not None)


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
