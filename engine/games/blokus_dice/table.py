"""What an onlooker sees: a start, a correction or a position within a turn; and the marked sheets."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from common.phrases import Phrase
from engine.errors import UnreadableError
from engine.games.blokus_dice.explanation import explain_change, named, places_on
from engine.games.blokus_dice.sheet import Sheet, print_sheet
from engine.games.blokus_dice.state import (
    COLOURS,
    PLAYERS,
    BlokusOptions,
    BlokusState,
    FilledSheet,
    PlayerStatus,
    appearance_of,
    check_position,
    colour_in_hand,
    options_from,
    read_looks,
    read_shapes_drawn,
)
from engine.games.blokus_dice.turns import choices, settle
from engine.printing import ALLOWED, CROSSED, MarkedSheet, PrintedSheet
from engine.support.breaches import illegal_start
from engine.support.grid import union
from engine.support.players import check_player, mover_after_correction
from engine.values import Appearance, Breach, LookName, OptionValue, Place, Player, Unfinished


def printed_sheet(options: Mapping[str, OptionValue] | None = None) -> PrintedSheet:
    """Return the printed sheet of a player, with the boxes for its shapes and strikes; raises OptionError."""
    return print_sheet(options_from(options).sheet)


def marked_sheets(state: BlokusState) -> dict[Player, MarkedSheet]:
    """Return every player's sheet: used shapes and strikes crossed off, shapes that the dice give marked as allowed.

    Only those who have still to play in this round are given any, and a strike allows others.
    """
    sheet = state.options.sheet
    printed = print_sheet(sheet)
    playing = state.still_to_play() if state.dice else []
    return {
        player: _mark_sheet(sheet, printed, filled, state.dice if seat in playing else ())
        for seat, (player, filled) in enumerate(zip(PLAYERS, state.sheets, strict=False))
    }


def _mark_sheet(sheet: Sheet, printed: PrintedSheet, filled: FilledSheet, dice: Sequence[int]) -> MarkedSheet:
    boxes = [
        tuple(CROSSED if filled.used >> sheet.number_of[name] & 1 else ALLOWED if face in dice else "" for name in row)
        for face, row in enumerate(sheet.shapes_of_row, 1)
    ]
    if sheet.strikes:
        boxes.append(tuple(CROSSED if strike < filled.strikes else "" for strike in range(sheet.strikes)))
    return MarkedSheet(printed, tuple(boxes))


appearance = appearance_of


def new_state(options: BlokusOptions) -> BlokusState:
    """Return the start: empty sheets, p1 with red to roll, the colours around the ring from there."""
    return BlokusState(options, (FilledSheet(),) * options.players)


def set_up(
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None = None,
    *,
    anywhere: bool = False,  # noqa: ARG001 - there is only one start
) -> BlokusState:
    """Return the starting state; raises IllegalTurnError with breaches if a sheet isn't empty."""
    in_force = options_from(options)
    looks = read_looks(in_force, appearance)
    drawn = [place for place, colour in zip(appearance, looks.values(), strict=True) if colour is not None]
    sheets = [tuple(place for place in drawn if place.startswith(f"{player}.")) for player in in_force.names]
    breaches = [
        Breach(
            "sheet-not-clean",
            Phrase("There is something drawn on {places}.", named(places)),
            Phrase("Wipe every sheet clean before the game."),
            places,
        )
        for places in sheets
        if places
    ]
    if breaches:
        raise illegal_start(breaches)
    return new_state(in_force)


def amend(state: BlokusState, looks: Mapping[Place, LookName], to_move: Player | None = None) -> BlokusState:
    """Return the state with these looks on these places and ``to_move`` to roll or play; everything else stays.

    The squares determine which shapes are crossed off. If ``to_move`` was out of the game, that player is back in it.
    Raises UnreadableError for an impossible position.
    """
    options = state.options
    check_player(options.names, to_move)
    # Raises an error if the game was over and nobody is named.
    mover_after_correction(options.names, to_move, state.to_move)
    changed: dict[int, list[int]] = {}
    for (seat, square), colour in read_looks(options, looks).items():
        if colour is not None and options.sheet.closed >> square & 1:
            raise UnreadableError(
                Phrase("{name} can't be filled: it is closed on this sheet", options.sheet.grid.names[square])
            )
        colours = changed.setdefault(seat, list(state.sheets[seat].colours))
        for each in range(len(colours)):
            colours[each] = colours[each] & ~(1 << square) | (colour == each) << square
    for seat, colours in changed.items():
        used = read_shapes_drawn(options.sheet, PLAYERS[seat], colours)
        filled = state.sheets[seat]
        strikes = min(filled.strikes, used.bit_count())
        state = state.with_sheet(seat, replace(filled, colours=tuple(colours), used=used, strikes=strikes))
    if to_move is not None:
        seat = PLAYERS.index(to_move)
        state = state.with_sheet(seat, state.sheets[seat].with_status(PlayerStatus.PLAYING))
        state = replace(state, seat=seat, starter=state.starter if state.dice else seat)
    check_position(state)
    return settle(state)


def points_of_sheet(looks: Mapping[Place, LookName]) -> dict[str, int]:
    """Return the number of filled squares on one sheet."""
    return {Phrase("squares filled"): sum(look in COLOURS for look in looks.values())}


explain = explain_change


def unfinished(state: BlokusState) -> Sequence[Unfinished]:
    """Return one begun turn for each square of a larger shape that may be drawn, a1 first."""
    if state.seat is None:
        return []
    seat = state.seat
    begun = union(way for choice in choices(state) for way in choice.placements if way.bit_count() > 1)
    colour = COLOURS[colour_in_hand(state, seat)]
    return [
        Unfinished({place: colour}, Phrase("Fill the other squares of the shape on {place}.", place))
        for place in places_on(state, seat, begun)
    ]
