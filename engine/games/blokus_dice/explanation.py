"""The rules that a turn or a change breaks, and how to put it right."""

from collections.abc import Iterator

from common.phrases import Phrase, capitalized, either, joined, listed
from engine.games.blokus_dice.state import (
    COLOURS,
    PLAYERS,
    BlokusState,
    BlokusTurn,
    PlayerStatus,
    colour_in_hand,
    name_on,
    place_of,
    read_looks,
)
from engine.games.blokus_dice.turns import shapes_within_reach
from engine.support.breaches import advised
from engine.support.grid import members, union
from engine.values import Appearance, Breach, Place


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
    player, wipe = PLAYERS[seat], Phrase("Wipe {places} clean.", named(places))
    if state.seat is None:
        return Breach("game-over", Phrase("The game is over, so nothing is drawn any more."), wipe, places)
    standing = state.sheets[seat].status
    if standing != PlayerStatus.PLAYING:
        return Breach(
            "not-in-the-game",
            either(
                standing == PlayerStatus.OUT,
                "{player} is out, and draws nothing more.",
                "{player} has resigned, and draws nothing more.",
                player,
            ),
            wipe,
            places,
        )
    if not state.dice:
        sentence = either(
            player == state.to_move,
            "{player} drew before rolling the dice of this round.",
            "{player} drew before {to_move} rolled the dice of this round.",
            player=player,
            to_move=state.to_move,
        )
        first = Phrase("First {player} rolls.", state.to_move)
        return Breach(
            "roll-first",
            sentence,
            Phrase("Wipe {places} clean. First {player} rolls.", named(places), state.to_move),
            places,
            instead=first,
        )
    if seat != state.seat:
        return Breach(
            "not-your-turn", Phrase("It is {to_move}'s turn, not {player}'s.", state.to_move, player), wipe, places
        )
    return None


def _wiping(rule: str, sentence: str, drawn: tuple[Place, ...], instead: str, *also: Place) -> Breach:
    """Return the breach of drawing on these places, which have to be wiped before anything else is drawn."""
    return Breach(
        rule,
        sentence,
        Phrase("Wipe {places} clean. {instead}", named(drawn), instead),
        (*drawn, *also),
        instead=instead,
    )


def wrong_colour(player: str, drawn: str, hand: str, places: tuple[Place, ...]) -> Breach:
    """Return the breach of drawing in a colour other than the one in hand."""
    sentence = Phrase(
        "{player} holds {hand} in this round, but drew in {drawn} on {squares}.", player, hand, drawn, _bare(places)
    )
    return _wiping("colour-not-in-hand", sentence, places, Phrase("Draw in {hand}.", hand))


def drawn_over(state: BlokusState, seat: int, squares: int, beside: int) -> Breach:
    """Return the breach of drawing over filled squares; ``beside`` is the set of other squares drawn with them."""
    places, rest = places_on(state, seat, squares), places_on(state, seat, beside)
    sentence = either(
        len(places) == 1,
        "{places} was filled already, and {is} drawn over.",
        "{places} were filled already, and {is} drawn over.",
        named(places),
        _is(places),
    )
    instead = Phrase("Draw on empty squares only.")
    remedy = either(
        rest,
        "{redraw} Wipe {places} clean. Draw on empty squares only.",
        "{redraw} Draw on empty squares only.",
        redraw=_as_it_was(state, seat, squares),
        places=named(rest),
    )
    return Breach("square-taken", sentence, remedy, (*places, *rest), instead=instead)


def wiped(state: BlokusState, seat: int, squares: int) -> Breach:
    """Return the breach of wiping these filled squares."""
    places = places_on(state, seat, squares)
    sentence = either(
        len(places) == 1,
        "{places} no longer shows what was drawn.",
        "{places} no longer show what was drawn.",
        named(places),
    )
    return Breach("wiped", sentence, _as_it_was(state, seat, squares), places)


def _as_it_was(state: BlokusState, seat: int, squares: int) -> str:
    """Return the remedy that restores these squares: ``Draw p1's a1 and a2 in red again.``"""
    return joined(
        Phrase("Draw {places} in {colour} again.", named(places_on(state, seat, drawn & squares)), COLOURS[number])
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
        sentence = either(
            len(places) == 1, "{places} is closed on this sheet.", "{places} are closed on this sheet.", named(places)
        )
        yield _wiping(
            "closed-square", sentence, places_on(state, seat, squares), Phrase("Draw the shape on open squares.")
        )
    if taken := squares & filled.filled:
        places = places_on(state, seat, taken)
        sentence = either(
            len(places) == 1, "{places} is filled already.", "{places} are filled already.", named(places)
        )
        yield advised("square-taken", sentence, Phrase("Draw on empty squares only."), places)
    places = places_on(state, seat, squares)
    name = name_on(sheet.grid, squares)
    if len(list(sheet.grid.patches(squares))) != 1:
        yield not_joined(state, seat, squares)
    elif name is None or name not in sheet.number_of:
        sentence = either(
            name is None,
            "The {number} squares on {places} are no shape of this sheet.",
            "{name} on {places} is no shape of this sheet.",
            number=squares.bit_count(),
            places=named(places),
            name=name,
        )
        yield _wiping("no-such-shape", sentence, places, Phrase("Draw a shape that stands on the sheet."))
    elif filled.used >> sheet.number_of[name] & 1:
        sentence = Phrase("{player} has drawn {shape} before.", player, _shape(name))
        yield _wiping("shape-used", sentence, places, Phrase("Draw a shape not crossed off yet."))


def not_joined(state: BlokusState, seat: int, squares: int, surplus: int = 0) -> Breach:
    """Return the breach of drawing squares that hang apart; ``surplus`` are those to be wiped, if that is clear."""
    places, wrong = places_on(state, seat, squares), places_on(state, seat, surplus)
    sentence = Phrase("The squares that {player} drew are not joined: {squares}.", PLAYERS[seat], _bare(places))
    if surplus:
        return Breach("not-one-shape", sentence, Phrase("Wipe {places} clean.", named(wrong)), wrong)
    return _wiping("not-one-shape", sentence, places, Phrase("Draw the squares of one shape, side by side."))


def _breaches_of_touching(state: BlokusState, seat: int, squares: int) -> Iterator[Breach]:
    sheet, player = state.options.sheet, PLAYERS[seat]
    number = colour_in_hand(state, seat)
    colour, own = COLOURS[number], state.sheets[seat].colours[number] & ~squares
    places = places_on(state, seat, squares)
    if not own:
        if not squares & sheet.corners:
            corners = places_on(state, seat, sheet.corners & ~state.sheets[seat].filled)
            sentence = Phrase("The first {colour} shape of {player} covers no corner square.", colour, player)
            instead = Phrase("Draw it so that it covers {squares}.", named(corners, "or") or Phrase("a corner"))
            yield _wiping("first-in-a-corner", sentence, places, instead, *corners)
        return
    if touching := sheet.grid.adjacent_to(squares) & own:
        beside = places_on(state, seat, touching)
        sentence = Phrase(
            "The {colour} shape on {places} shares a side with {other_places}, which {is} also {colour}.",
            colour,
            named(places),
            named(beside),
            _is(beside),
        )
        instead = Phrase("Draw it so that it touches {colour} at corners only.", colour)
        yield _wiping("touches-side", sentence, places, instead, *beside)
    if not sheet.grid.diagonal_to(squares) & own:
        sentence = Phrase(
            "The {colour} shape on {places} touches no other {colour} shape at a corner.", colour, named(places)
        )
        instead = Phrase("Draw it so that a corner of it touches a corner of a {colour} shape.", colour)
        yield _wiping("touches-no-corner", sentence, places, instead)


def _breaches_of_taking(state: BlokusState, seat: int, turn: BlokusTurn, squares: int) -> Iterator[Breach]:
    sheet, filled = state.options.sheet, state.sheets[seat]
    name = name_on(sheet.grid, squares)
    assert name is not None
    row = sheet.face_of[sheet.number_of[name]]
    if turn.shape != name:
        sentence = either(
            len(turn.places) == 1,
            "{places} forms {shape}, not {shape_2}.",
            "{places} form {shape}, not {shape_2}.",
            named(turn.places),
            _shape(name),
            _shape(turn.shape),
        )
        yield advised(
            "another-shape", sentence, Phrase("Draw {shape}, or type {name}.", _shape(turn.shape), name), turn.places
        )
        return
    if turn.die not in state.dice:
        dice = ", ".join(map(str, state.dice))
        sentence = either(
            turn.die == row,
            "No die shows a {die} for {shape}, which stands in row {row}; the dice show {dice}.",
            "No die shows a {die}; the dice show {dice}.",
            die=turn.die,
            shape=_shape(name),
            row=row,
            dice=dice,
        )
        yield advised("no-such-die", sentence, _other_die(state, seat, row))
    elif turn.strike and turn.die == row:
        sentence = Phrase("{shape} stands in row {row}, which the die gives.", capitalized(_shape(name)), row)
        yield advised("strike-not-needed", sentence, Phrase("Don't cross out a strike."))
    elif turn.strike and not strikes_left(state, seat):
        yield no_strike_left(turn.player, name, row, filled.strikes, turn.places)
    elif not turn.strike and turn.die != row:
        yield advised(
            "not-in-the-row",
            Phrase(
                "The {die} gives a shape of row {die}, but {shape} stands in row {row}.", turn.die, _shape(name), row
            ),
            Phrase("Draw a shape of row {die}, or cross out a strike.", turn.die)
            if strikes_left(state, seat)
            else Phrase("Draw a shape of row {die}.", turn.die),
            turn.places,
        )


def _other_die(state: BlokusState, seat: int, row: int) -> str:
    """Return the remedy for taking a die that isn't there, to draw a shape of this row."""
    if row in state.dice:
        return Phrase("Take the {row}.", row)
    dice = listed([Phrase("the {die}", die) for die in dict.fromkeys(state.dice)], "or")
    return either(
        strikes_left(state, seat),
        "Take {dice} and cross out a strike.",
        "Take {dice} and draw a shape of that row.",
        dice,
    )


def strikes_left(state: BlokusState, seat: int) -> int:
    """Return the number of strikes that a player has left."""
    return state.options.sheet.strikes - state.sheets[seat].strikes


def no_strike_left(player: str, name: str, row: int, crossed_out: int, places: tuple[Place, ...]) -> Breach:
    """Return the breach of drawing a shape from another row without a strike left."""
    shape = capitalized(_shape(name))
    sentence = Phrase(
        "{shape} stands in row {row}, and {player} has no strike left ({crossed_out} crossed out).",
        shape,
        row,
        player,
        crossed_out,
    )
    return _wiping("no-strike-left", sentence, places, Phrase("Draw a shape of a row that a die gives."))


def places_on(state: BlokusState, seat: int, squares: int) -> tuple[Place, ...]:
    """Return the places of a set of squares on a player's sheet."""
    names = state.options.sheet.grid.names
    return tuple(place_of(seat, names[square]) for square in members(squares))


def named(places: tuple[Place, ...], joint: str = "and") -> str:
    """Return the names of places on one sheet: ``p1's a1, a2 and b1``; empty if there are none."""
    return Phrase("{player}'s {squares}", places[0].partition(".")[0], _bare(places, joint)) if places else ""


_IN_WORDS = {"1": Phrase("the one-square shape (1)"), "2": Phrase("the two-square shape (2)")}
"""The shapes whose names look like numbers."""


def _shape(name: str) -> str:
    return _IN_WORDS.get(name, Phrase("the shape {name}", name))


def _is(places: tuple[Place, ...]) -> str:
    return either(len(places) == 1, "is", "are")


def _bare(places: tuple[Place, ...], joint: str = "and") -> str:
    """Return the names of the places' squares: ``a1, a2 and b1``."""
    return listed([place.partition(".")[2] for place in places], joint)


def explain_change(before: BlokusState, after: Appearance) -> tuple[Breach, ...]:
    """List the rules that the change breaks, the likeliest violation first.

    Empty if nothing changed or a legal turn explains it. Places missing in ``after`` count as unchanged. Raises
    UnreadableError for an unknown place or look.
    """
    changed: dict[int, dict[int | None, int]] = {}
    for (seat, square), colour in read_looks(before.options, after).items():
        if colour != _colour_on(before, seat, square):
            by_colour = changed.setdefault(seat, {})
            by_colour[colour] = by_colour.get(colour, 0) | 1 << square
    own = [seat for seat in changed if seat == before.seat]
    others = sorted(seat for seat in changed if seat != before.seat)
    return tuple(breach for seat in own + others for breach in _breaches_on_sheet(before, seat, changed[seat]))


def _colour_on(state: BlokusState, seat: int, square: int) -> int | None:
    squares = enumerate(state.sheets[seat].colours)
    return next((colour for colour, drawn in squares if drawn >> square & 1), None)


def _breaches_on_sheet(before: BlokusState, seat: int, changed: dict[int | None, int]) -> list[Breach]:
    filled, emptied = before.sheets[seat].filled, changed.get(None, 0)
    drawn = {colour: squares for colour, squares in changed.items() if colour is not None}
    every = union(changed.values())
    spoilt, fresh = every & filled, every & ~filled
    at_all = breach_of_playing(before, seat, places_on(before, seat, fresh))
    if at_all is not None:
        # What is drawn stays drawn, no matter whose turn it is.
        gone = [wiped(before, seat, spoilt)] if spoilt else []
        return [*gone, at_all] if fresh else gone
    found = []
    hand = colour_in_hand(before, seat)
    if emptied:
        found.append(wiped(before, seat, emptied))
    if over := spoilt & ~emptied:
        in_hand = drawn.get(hand, 0)
        found.append(drawn_over(before, seat, over, in_hand & ~filled if in_hand & filled else 0))
    for colour in sorted(set(drawn) - {hand}):
        if rest := drawn[colour] & ~filled:
            found.append(wrong_colour(PLAYERS[seat], COLOURS[colour], COLOURS[hand], places_on(before, seat, rest)))
    # A shape drawn over filled squares is already reported, and its other squares are only a part of it.
    if hand in drawn and not drawn[hand] & filled:
        found += _breaches_of_shape(before, seat, drawn[hand])
    return found


def _breaches_of_shape(before: BlokusState, seat: int, squares: int) -> list[Breach]:
    """Return the breaches of drawing these squares; if one shape among them is legal, only the rest is wrong."""
    found = breaches_of_drawing(before, seat, squares) or _out_of_reach_breaches(before, seat, squares)
    if found and found[0].rule == "not-one-shape":
        grid = before.options.sheet.grid
        legal = [patch for patch in grid.patches(squares) if not _breaches_of_shape(before, seat, patch)]
        rest = squares & ~union(legal)
        # A gap of one square is more likely a square that was forgotten.
        if len(legal) == 1 and not grid.adjacent_to(legal[0]) & grid.adjacent_to(rest):
            return [not_joined(before, seat, squares, rest)]
    return found


def _out_of_reach_breaches(before: BlokusState, seat: int, squares: int) -> list[Breach]:
    sheet, filled = before.options.sheet, before.sheets[seat]
    name = name_on(sheet.grid, squares)
    assert name is not None
    number = sheet.number_of[name]
    if shapes_within_reach(sheet, filled, before.dice) >> number & 1:
        return []
    return [
        no_strike_left(PLAYERS[seat], name, sheet.face_of[number], filled.strikes, places_on(before, seat, squares))
    ]
