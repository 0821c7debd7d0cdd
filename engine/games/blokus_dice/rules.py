"""Which turns and announcements are legal, and what follows from them; docs/games/blokus-dice.md has the rulings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from engine.errors import IllegalTurnError
from engine.games.blokus_dice import rolls, violations
from engine.games.blokus_dice import turns as playing
from engine.games.blokus_dice.notation import format_turn
from engine.games.blokus_dice.state import (
    COLOURS,
    PLAYERS,
    BlokusState,
    BlokusTurn,
    PlayerStatus,
    appearance_of,
    colour_in_hand,
    options_from,
    place_of,
)
from engine.games.blokus_dice.table import new_state
from engine.games.blokus_dice.turns import choices, turn_of
from engine.showing import CouldBe, Seen
from engine.support.breaches import check_announcement, illegal_turn, only_turn, rules_by_id
from engine.support.grid import members, set_of
from engine.support.players import RESIGN, one_to_move
from engine.values import Announcement, Breach, Certainty, OptionValue, Rule

catalogue = rules_by_id(
    Rule("sheet-not-clean", "Everyone starts with an empty sheet."),
    Rule("game-over", "When the game is over, nobody draws any more."),
    Rule("not-in-the-game", "A player who is out or has resigned draws and announces nothing more."),
    Rule("roll-first", "A round begins with a roll; nobody draws before it."),
    Rule("not-your-turn", "Players draw in turn, and each on their own sheet."),
    Rule("wiped", "What is drawn stays drawn."),
    Rule("square-taken", "A shape is drawn on empty squares only."),
    Rule("closed-square", "Nothing is drawn on a square that is printed as closed."),
    Rule("colour-not-in-hand", "You draw with the marker that you hold."),
    Rule("not-one-shape", "You draw one shape a turn, and its squares hang together by their sides."),
    Rule("no-such-shape", "You draw only shapes that stand on the sheet."),
    Rule("another-shape", "The squares you fill have the shape you name, turned or flipped as you like."),
    Rule("shape-used", "Each shape is drawn once in a game."),
    Rule("first-in-a-corner", "The first shape of a colour covers a corner square of the sheet."),
    Rule("touches-side", "Shapes of the same colour never touch at a side."),
    Rule("touches-no-corner", "Each further shape of a colour touches one of the same colour at a corner."),
    Rule("no-such-die", "You take a die that lies on the table."),
    Rule("not-in-the-row", "The die you take says from which row your shape comes, unless you cross out a strike."),
    Rule("no-strike-left", "You may cross out only the strikes that the sheet has."),
    Rule("strike-not-needed", "A strike is crossed out for a shape of another row only."),
)
players_to_move = one_to_move
outcome = playing.outcome_of
count_from = rolls.count_from


def new(options: Mapping[str, OptionValue] | None = None) -> BlokusState:
    """Return the starting state, which awaits a roll; raises OptionError for a bad option."""
    return new_state(options_from(options))


def legal_turns(state: BlokusState) -> Sequence[BlokusTurn]:
    """List every turn: by die, those without a strike first, then by shape and squares; each is created on access."""
    return playing.turns_of(state, playing.choices(state))


def perft_turns(state: BlokusState) -> Sequence[BlokusTurn]:
    """List the turns that leave the different sheets the player to move can reach with any die, without strikes."""
    return playing.turns_of(state, playing.choices(state, strikes=False))


def count_results(state: BlokusState) -> int:
    """Return the number of perft turns."""
    return sum(len(choice.placements) for choice in playing.choices(state, strikes=False))


def announcements(state: BlokusState) -> Sequence[Announcement]:
    """List who may resign: everyone still in the game."""
    if state.seat is None:
        return ()
    return tuple(Announcement(RESIGN, PLAYERS[seat]) for seat in sorted(state.active()))


def announce(state: BlokusState, announcement: Announcement) -> BlokusState:
    """Return the state after a resignation; raises IllegalTurnError, with the breaches if a rule forbids it."""
    player = announcement.player

    def breaches() -> list[Breach]:
        if announcement.kind != RESIGN or player not in state.options.names:
            return []
        return [Breach("not-in-the-game", f"{player} is out of the game already.", "Nothing needs to be done.")]

    check_announcement(announcement, announcements(state), breaches)
    seat = PLAYERS.index(str(player))
    return playing.settle(state.with_sheet(seat, state.sheets[seat].with_status(PlayerStatus.RESIGNED)))


def certainty(state: BlokusState, turn: BlokusTurn) -> Certainty:
    """Return whether the turn is legal; nothing is hidden here."""
    legal = _is_of(state, turn) and not violations.breaches_of_turn(state, turn)
    return Certainty.CERTAIN if legal else Certainty.IMPOSSIBLE


def _is_of(state: BlokusState, turn: BlokusTurn) -> bool:
    """Return whether the turn's player and squares exist in this game."""
    return turn.player in state.options.names and set(turn.squares) <= set(state.options.sheet.grid.index)


def apply(state: BlokusState, turn: BlokusTurn) -> BlokusState:
    """Return the state after the turn; players who can draw nothing are skipped.

    Raises IllegalTurnError with breaches.
    """
    if not _is_of(state, turn):
        names = state.options.sheet.grid.names
        raise IllegalTurnError(
            f"{format_turn(turn)} by {turn.player} is not a turn of this game; expected one of "
            f"{', '.join(state.options.names)} and squares from {names[0]} to {names[-1]}"
        )
    breaches = violations.breaches_of_turn(state, turn)
    if breaches:
        raise illegal_turn(format_turn(turn), breaches)
    return playing.play_turn(state, turn)


def combine(turns: Sequence[BlokusTurn]) -> BlokusTurn:
    """Return the turn if all are equal; raises AmbiguousError otherwise, as dice and strikes matter."""
    return only_turn(turns, format_turn)


def turns_showing(state: BlokusState, could_be: CouldBe) -> Iterator[BlokusTurn]:
    """Yield every legal turn that leads to matching sheets, small shapes first; see ``engine.showing``."""
    if state.seat is None or not state.dice:
        return
    seat, sheet = state.seat, state.options.sheet
    seen = Seen(appearance_of(state), could_be)
    places = {place_of(seat, sheet.grid.names[square]): square for square in members(sheet.open_squares)}
    if not seen.changed <= places.keys():
        return
    changed = set_of(places[place] for place in seen.changed)
    colour = COLOURS[colour_in_hand(state, seat)]
    could_fill = set_of(square for place, square in places.items() if seen.could_show(place, colour))
    found = [
        (placement.bit_count(), choice, placement)
        for choice in choices(state, changed=changed, within=could_fill)
        for placement in choice.placements
    ]
    for _, choice, placement in sorted(found, key=lambda way: way[0]):
        yield turn_of(state, choice, placement)
