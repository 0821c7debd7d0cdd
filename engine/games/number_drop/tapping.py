"""Turns tapped on the sheets: the squares of a shape and the digit in each, the digits of a loop, the tile to slide.

If several players may play, the first tap selects one: a square of theirs, or a choice such as ``p2:none``.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.games.number_drop.components import DIGITS
from engine.games.number_drop.drops import Cells, fits_dice, landings, turned_shapes
from engine.games.number_drop.flow import letter_for
from engine.games.number_drop.notation import NONE, SLIDE
from engine.games.number_drop.sheet import GRID, LETTERS, combinations_in_order
from engine.games.number_drop.state import (
    PLAYERS,
    Combination,
    Drop,
    NumberDropState,
    NumberDropTurn,
    Phase,
    Slide,
    places_on,
)
from engine.games.number_drop.turns import in_order, turns_of
from engine.tapping import Steps, Tapped
from engine.values import Place


def tapped(state: NumberDropState, taps: Steps) -> Tapped[NumberDropTurn]:
    """List what may follow these taps."""
    found = [_tapped_by(state, player, taps) for player in state.busy() if _is_by(PLAYERS[player], taps)]
    if len(found) == 1:
        return found[0]
    squares = tuple(square for each in found for square in each.squares)
    return Tapped(squares, {tap: said for each in found for tap, said in each.choices.items()})


def _is_by(name: str, taps: Steps) -> bool:
    return not taps or taps[0].startswith((f"{name}.", f"{name}:"))


def _tapped_by(state: NumberDropState, player: int, taps: Steps) -> Tapped[NumberDropTurn]:
    name = PLAYERS[player]
    if state.combining >> player & 1:
        return _combination(state, player, taps)
    if state.phase is Phase.DROP:
        return _drop(state, player, taps)
    turns = turns_of(state, player)
    slides = {f"{name}:{SLIDE}:{turn.letter}": turn for turn in turns if isinstance(turn, Slide)}
    if slides:
        words = {tap: f"Slide tile {turn.letter}" for tap, turn in slides.items()}
        return Tapped(turn=slides.get(taps[0]) if len(taps) == 1 else None) if taps else Tapped(choices=words)
    written = {frozenset(turn.places): turn for turn in turns}
    chosen = frozenset(taps)
    if len(chosen) < len(taps):
        return Tapped()
    return Tapped(_sorted(name, _following(written, chosen)), turn=written.get(chosen))


def _following(ways: Iterable[frozenset[Place]], chosen: frozenset[Place]) -> frozenset[Place]:
    """Return the places that may be added to the chosen ones on the way to one of these sets."""
    return frozenset().union(*(way for way in ways if chosen <= way)) - chosen


def _drop(state: NumberDropState, player: int, taps: Steps) -> Tapped[NumberDropTurn]:
    """Return what may follow a square, its digit, the next square and so on, until one placement of the shape fits."""
    name, dice = PLAYERS[player], state.roll[:-1]
    shapes = turned_shapes(state.options.components, state.roll[-1])
    falls = [_places(name, cells) for cells in landings(state.sheets[player].heights, shapes)]
    squares, digits = taps[::2], taps[1::2]
    if not fits_dice("".join(digits), dice) or len(set(squares)) < len(squares):
        return Tapped()
    chosen = frozenset(squares)
    whole, following = chosen in falls, _following(falls, chosen)
    if len(squares) > len(digits):
        left = [digit for digit in DIGITS if fits_dice("".join((*digits, digit)), dice)]
        return Tapped(choices={digit: digit for digit in left} if whole or following else {})
    if not whole:
        return Tapped(_sorted(name, following))
    marks = {square.partition(".")[2]: digit for square, digit in zip(squares, digits, strict=True)}
    cells = in_order(marks)
    turn = Drop(name, cells, "".join(marks[cell] for cell in cells))
    return Tapped(turn=turn if len(turn.digits) == len(dice) else None)


def _combination(state: NumberDropState, player: int, taps: Steps) -> Tapped[NumberDropTurn]:
    name = PLAYERS[player]
    without = f"{name}:{NONE}"
    if taps == (without,):
        return Tapped(turn=Combination(name))
    *rest, last = taps or ("",)
    letter = last if last in LETTERS else None
    squares = rest if letter else list(taps)
    cells = {f"{name}.{square}": cell for cell, square in enumerate(GRID.names)}
    if not set(squares) <= cells.keys() or len(set(squares)) < len(squares):
        return Tapped()
    chosen = sum(1 << cells[square] for square in squares)
    following, whole = 0, None
    # There can be a hundred thousand combinations, so they are compared as bit masks.
    for box, loop in combinations_in_order(state.sheets[player]):
        if loop == chosen:
            whole = box
        elif not chosen & ~loop:
            following |= loop & ~chosen
    drawn = None if whole is None or not chosen else Combination(name, GRID.names_of(chosen), letter)
    circled = None if whole is None else letter_for(state, player, whole)
    if letter:
        return Tapped(turn=drawn if letter == circled else None)
    choices = {} if taps else {without: f"{name}: no loop"}
    if drawn is not None and circled is not None:
        choices = {circled: f"Circle the letter {circled}"}
    return Tapped(places_on(name, following), choices, drawn)


def _places(name: str, cells: Cells) -> frozenset[Place]:
    return frozenset(f"{name}.{GRID.names[cell]}" for cell in cells)


def _sorted(name: str, places: Iterable[Place]) -> tuple[Place, ...]:
    return tuple(f"{name}.{square}" for square in in_order(place.partition(".")[2] for place in places))
