"""Finds the rules that a turn breaks: with what it draws on the sheet, and with the die and strike it uses."""

from __future__ import annotations

from collections.abc import Iterator

from common.phrases import capitalized, listed
from engine.games.blokus_dice.invariants import name_on
from engine.games.blokus_dice.state import (
    COLOURS,
    PLAYERS,
    BlokusState,
    BlokusTurn,
    PlayerStatus,
    colour_in_hand,
    place_of,
)
from engine.support.breaches import advised
from engine.support.grid import members
from engine.values import Breach, Place

_MOST_NAMED = 8


def breaches_of_turn(state: BlokusState, turn: BlokusTurn) -> tuple[Breach, ...]:
    """List the rules that a turn breaks, the likeliest violation first; empty if it is legal.

    The turn's player must be in the game, and its squares must be squares of the sheet.
    """
    seat = PLAYERS.index(turn.player)
    squares = state.options.sheet.grid.squares_named(turn.squares)
    at_all = breach_of_playing(state, seat, turn.places)
    if at_all is not None:
        return (at_all,)
    found = []
    hand = COLOURS[colour_in_hand(state, seat)]
    if turn.colour != hand:
        found.append(wrong_colour(turn.player, turn.colour, hand, turn.places))
    found += breaches_of_drawing(state, seat, squares)
    if not found:
        found += _breaches_of_taking(state, seat, turn, squares)
    return tuple(found)


def breach_of_playing(state: BlokusState, seat: int, places: tuple[Place, ...]) -> Breach | None:
    """Return the breach of drawing when the player may not draw now; ``None`` if the player may."""
    player, wipe = PLAYERS[seat], f"Wipe {named(places)} clean."
    if state.seat is None:
        return Breach("game-over", "The game is over, so nothing is drawn any more.", wipe, places)
    standing = state.sheets[seat].status
    if standing != PlayerStatus.PLAYING:
        why = "is out" if standing == PlayerStatus.OUT else "has resigned"
        return Breach("not-in-the-game", f"{player} {why}, and draws nothing more.", wipe, places)
    if not state.dice:
        who = "rolling" if player == state.to_move else f"{state.to_move} rolled"
        sentence = f"{player} drew before {who} the dice of this round."
        first = f"First {state.to_move} rolls."
        return Breach("roll-first", sentence, f"{wipe} {first}", places, instead=first)
    if seat != state.seat:
        return Breach("not-your-turn", f"It is {state.to_move}'s turn, not {player}'s.", wipe, places)
    return None


def _wiping(rule: str, sentence: str, drawn: tuple[Place, ...], instead: str, *also: Place) -> Breach:
    """Return the breach of drawing on these places, which have to be wiped before anything else is drawn."""
    return Breach(rule, sentence, f"Wipe {named(drawn)} clean. {instead}", (*drawn, *also), instead=instead)


def wrong_colour(player: str, drawn: str, hand: str, places: tuple[Place, ...]) -> Breach:
    """Return the breach of drawing in a colour other than the one in hand."""
    sentence = f"{player} holds {hand} in this round, but drew in {drawn} on {_bare(places)}."
    return _wiping("colour-not-in-hand", sentence, places, f"Draw in {hand}.")


def drawn_over(state: BlokusState, seat: int, squares: int, beside: int) -> Breach:
    """Return the breach of drawing over filled squares; ``beside`` is the set of other squares drawn with them."""
    places, rest = places_on(state, seat, squares), places_on(state, seat, beside)
    sentence = f"{named(places)} {'was' if len(places) == 1 else 'were'} filled already, and {_is(places)} drawn over."
    wipe = f" Wipe {named(rest)} clean." if rest else ""
    instead = "Draw on empty squares only."
    remedy = f"{_as_it_was(state, seat, squares)}{wipe} {instead}"
    return Breach("square-taken", sentence, remedy, (*places, *rest), instead=instead)


def wiped(state: BlokusState, seat: int, squares: int) -> Breach:
    """Return the breach of wiping these filled squares."""
    places = places_on(state, seat, squares)
    shows = "shows" if len(places) == 1 else "show"
    sentence = f"{named(places)} no longer {shows} what was drawn."
    return Breach("wiped", sentence, _as_it_was(state, seat, squares), places)


def _as_it_was(state: BlokusState, seat: int, squares: int) -> str:
    """Return the remedy that restores these squares: ``Draw p1's a1 and a2 in red again.``"""
    return " ".join(
        f"Draw {named(places_on(state, seat, drawn & squares))} in {COLOURS[number]} again."
        for number, drawn in enumerate(state.sheets[seat].colours)
        if drawn & squares
    )


def breaches_of_drawing(state: BlokusState, seat: int, squares: int) -> list[Breach]:
    """List the rules that a player breaks by filling these squares with the colour in hand."""
    found = list(_breaches_of_squares(state, seat, squares))
    if any(each.rule in ("closed-square", "square-taken", "not-one-shape", "no-such-shape") for each in found):
        return found
    return found + list(_breaches_of_touching(state, seat, squares))


def _breaches_of_squares(state: BlokusState, seat: int, squares: int) -> Iterator[Breach]:
    sheet, filled, player = state.options.sheet, state.sheets[seat], PLAYERS[seat]
    if closed := squares & sheet.closed:
        places = places_on(state, seat, closed)
        sentence = f"{named(places)} {'is' if len(places) == 1 else 'are'} closed on this sheet."
        yield _wiping("closed-square", sentence, places_on(state, seat, squares), "Draw the shape on open squares.")
    if taken := squares & filled.filled:
        places = places_on(state, seat, taken)
        sentence = f"{named(places)} {'is' if len(places) == 1 else 'are'} filled already."
        yield advised("square-taken", sentence, "Draw on empty squares only.", places)
    places = places_on(state, seat, squares)
    name = name_on(sheet.grid, squares)
    if len(list(sheet.grid.patches(squares))) != 1:
        yield not_joined(state, seat, squares)
    elif name is None or name not in sheet.number_of:
        what = f"The {squares.bit_count()} squares on {named(places)} are"
        sentence = f"{what if name is None else f'{name} on {named(places)} is'} no shape of this sheet."
        yield _wiping("no-such-shape", sentence, places, "Draw a shape that stands on the sheet.")
    elif filled.used >> sheet.number_of[name] & 1:
        sentence = f"{player} has drawn {_shape(name)} before."
        yield _wiping("shape-used", sentence, places, "Draw a shape not crossed off yet.")


def not_joined(state: BlokusState, seat: int, squares: int, surplus: int = 0) -> Breach:
    """Return the breach of drawing squares that hang apart; ``surplus`` are those to be wiped, if that is clear."""
    places, wrong = places_on(state, seat, squares), places_on(state, seat, surplus)
    sentence = f"The squares that {PLAYERS[seat]} drew are not joined: {_bare(places)}."
    if surplus:
        return Breach("not-one-shape", sentence, f"Wipe {named(wrong)} clean.", wrong)
    return _wiping("not-one-shape", sentence, places, "Draw the squares of one shape, side by side.")


def _breaches_of_touching(state: BlokusState, seat: int, squares: int) -> Iterator[Breach]:
    sheet, player = state.options.sheet, PLAYERS[seat]
    number = colour_in_hand(state, seat)
    colour, own = COLOURS[number], state.sheets[seat].colours[number] & ~squares
    places = places_on(state, seat, squares)
    if not own:
        if not squares & sheet.corners:
            corners = places_on(state, seat, sheet.corners & ~state.sheets[seat].filled)
            sentence = f"The first {colour} shape of {player} covers no corner square."
            instead = f"Draw it so that it covers {named(corners, 'or') or 'a corner'}."
            yield _wiping("first-in-a-corner", sentence, places, instead, *corners)
        return
    if touching := sheet.grid.adjacent_to(squares) & own:
        beside = places_on(state, seat, touching)
        too = f"{_is(beside)} also {colour}"
        sentence = f"The {colour} shape on {named(places)} shares a side with {named(beside)}, which {too}."
        instead = f"Draw it so that it touches {colour} at corners only."
        yield _wiping("touches-side", sentence, places, instead, *beside)
    if not sheet.grid.diagonal_to(squares) & own:
        sentence = f"The {colour} shape on {named(places)} touches no other {colour} shape at a corner."
        instead = f"Draw it so that a corner of it touches a corner of a {colour} shape."
        yield _wiping("touches-no-corner", sentence, places, instead)


def _breaches_of_taking(state: BlokusState, seat: int, turn: BlokusTurn, squares: int) -> Iterator[Breach]:
    sheet, filled = state.options.sheet, state.sheets[seat]
    name = name_on(sheet.grid, squares)
    assert name is not None
    row = sheet.face_of[sheet.number_of[name]]
    if turn.shape != name:
        forms = "forms" if len(turn.places) == 1 else "form"
        sentence = f"{named(turn.places)} {forms} {_shape(name)}, not {_shape(turn.shape)}."
        yield advised("another-shape", sentence, f"Draw {_shape(turn.shape)}, or type {name}.", turn.places)
        return
    if turn.die not in state.dice:
        why = f" for {_shape(name)}, which stands in row {row}" if turn.die == row else ""
        dice = ", ".join(map(str, state.dice))
        sentence = f"No die shows a {turn.die}{why}; the dice show {dice}."
        yield advised("no-such-die", sentence, _other_die(state, seat, row))
    elif turn.strike and turn.die == row:
        sentence = f"{capitalized(_shape(name))} stands in row {row}, which the die gives."
        yield advised("strike-not-needed", sentence, "Don't cross out a strike.")
    elif turn.strike and not strikes_left(state, seat):
        yield no_strike_left(turn.player, name, row, filled.strikes, turn.places)
    elif not turn.strike and turn.die != row:
        yield advised(
            "not-in-the-row",
            f"The {turn.die} gives a shape of row {turn.die}, but {_shape(name)} stands in row {row}.",
            f"Draw a shape of row {turn.die}, or cross out a strike."
            if strikes_left(state, seat)
            else f"Draw a shape of row {turn.die}.",
            turn.places,
        )


def _other_die(state: BlokusState, seat: int, row: int) -> str:
    """Return the remedy for taking a die that isn't there, to draw a shape of this row."""
    if row in state.dice:
        return f"Take the {row}."
    dice = listed([f"the {die}" for die in dict.fromkeys(state.dice)], "or")
    what = "cross out a strike" if strikes_left(state, seat) else "draw a shape of that row"
    return f"Take {dice} and {what}."


def strikes_left(state: BlokusState, seat: int) -> int:
    """Return the number of strikes that a player has left."""
    return state.options.sheet.strikes - state.sheets[seat].strikes


def no_strike_left(player: str, name: str, row: int, crossed_out: int, places: tuple[Place, ...]) -> Breach:
    """Return the breach of drawing a shape from another row without a strike left."""
    shape = capitalized(_shape(name))
    sentence = f"{shape} stands in row {row}, and {player} has no strike left ({crossed_out} crossed out)."
    return _wiping("no-strike-left", sentence, places, "Draw a shape of a row that a die gives.")


def places_on(state: BlokusState, seat: int, squares: int) -> tuple[Place, ...]:
    """Return the places of a set of squares on a player's sheet."""
    names = state.options.sheet.grid.names
    return tuple(place_of(seat, names[square]) for square in members(squares))


def named(places: tuple[Place, ...], joint: str = "and") -> str:
    """Return the names of places on one sheet: ``p1's a1, a2 and b1``; empty if there are none."""
    return f"{places[0].partition('.')[0]}'s {_bare(places, joint)}" if places else ""


_IN_WORDS = {"1": "the one-square shape (1)", "2": "the two-square shape (2)"}
"""The shapes whose names look like numbers."""


def _shape(name: str) -> str:
    return _IN_WORDS.get(name, f"the shape {name}")


def _is(places: tuple[Place, ...]) -> str:
    return "is" if len(places) == 1 else "are"


def _bare(places: tuple[Place, ...], joint: str = "and") -> str:
    """Return the names of the places' squares: ``a1, a2 and b1``."""
    squares = [place.partition(".")[2] for place in places]
    if len(squares) > _MOST_NAMED:
        return f"{', '.join(squares[:_MOST_NAMED])} and {len(squares) - _MOST_NAMED} more"
    return listed(squares, joint)
