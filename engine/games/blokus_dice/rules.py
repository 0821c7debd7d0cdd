"""Which rolls, turns and announcements are legal, what follows from them, and turns tapped on the sheet.

docs/games/blokus-dice.md has the rulings. One ordinary die is rolled for each player still in the game, in rising
order. A turn is tapped as the squares of a shape in any order, and which die, where a strike allows others.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache

from common.phrases import Phrase, either
from engine.api import PossibleLooks, Tapped, Taps
from engine.errors import IllegalTurnError, UnreadableError
from engine.games.blokus_dice import turns as playing
from engine.games.blokus_dice.explanation import breaches_of_turn
from engine.games.blokus_dice.notation import STRIKE, format_turn
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
from engine.games.blokus_dice.turns import choices, settle, turn_of
from engine.showing import TableConstraint
from engine.support.breaches import check_announcement, illegal_turn, only_turn, rules_by_id
from engine.support.chance import ORDINARY_DIE, every_roll, format_roll
from engine.support.grid import members, set_of, union
from engine.support.notation import unreadable, words
from engine.support.players import RESIGN, one_to_move
from engine.values import Announcement, Breach, Certainty, OptionValue, PossibleRoll, Roll, Rule


@cache
def rolls_of(dice: int) -> tuple[PossibleRoll, ...]:
    """Return every roll of this number of identical dice."""
    return every_roll([ORDINARY_DIE] * dice, lambda faces: tuple(sorted(faces)))


def possible_rolls(state: BlokusState) -> Sequence[PossibleRoll]:
    """Return every possible roll; none if no roll is awaited."""
    return rolls_of(len(state.active())) if awaits_roll(state) else ()


def awaits_roll(state: BlokusState) -> bool:
    """Return whether dice are to be rolled."""
    return state.seat is not None and not state.dice


def roll_of(state: BlokusState) -> Roll | None:
    """Return the dice still on the table."""
    return Roll(tuple(map(str, state.dice))) if state.dice else None


def rolled(state: BlokusState, roll: Roll) -> BlokusState:
    """Return the state after a roll; raises IllegalTurnError if none is awaited or it is impossible."""
    shown = format_roll(roll)
    if state.seat is None:
        raise IllegalTurnError(Phrase("got a roll of {shown}, but the game is over", shown))
    if state.dice:
        lying = ",".join(map(str, state.dice))
        raise IllegalTurnError(
            Phrase("got a roll of {shown}, but the dice on the table ({lying}) are still to be taken", shown, lying)
        )
    return _on_the_table(state, roll, len(state.active()))


def _on_the_table(state: BlokusState, roll: Roll, expected: int) -> BlokusState:
    if len(roll.faces) != expected or any(face not in ORDINARY_DIE for face in roll.faces):
        raise IllegalTurnError(
            either(
                expected == 1,
                "got a roll of {roll}; expected 1 die from 1 to 6",
                "got a roll of {roll}; expected {expected} dice from 1 to 6",
                roll=format_roll(roll),
                expected=expected,
            )
        )
    return settle(replace(state, dice=tuple(sorted(int(face) for face in roll.faces))))


def parse_roll(state: BlokusState, text: str) -> Roll:
    """Read a roll leniently, in any order; raises UnreadableError, or IllegalTurnError for an impossible roll."""
    faces: list[str] = []
    for word in words(text.replace(",", " ")):
        if any(mark not in ORDINARY_DIE for mark in word.text):
            raise unreadable(text, word.text, word.column, Phrase("dice from 1 to 6, such as 1,2,3,4"))
        faces += word.text
    if not faces:
        raise UnreadableError(
            Phrase("cannot read {text!r} as a roll; expected dice from 1 to 6, such as 1,2,3,4", text), 1
        )
    roll = Roll(tuple(sorted(faces)))
    rolled(state, roll)
    return roll


def count_from(state: BlokusState, roll: Roll | None, colour: str | None) -> BlokusState:
    """Return the state whose turns are counted for a roll and the colour that the player to move holds.

    Dice that lie on the table are thrown anew. With another colour all markers go round until it is in that hand.
    Raises IllegalTurnError for a roll that can't be or is missing, and for a colour that isn't one.
    """
    if state.seat is None:
        raise IllegalTurnError(Phrase("the game is over, so there is no turn to count"))
    if colour is not None:
        name = colour.strip().lower()
        if name not in COLOURS:
            raise IllegalTurnError(
                Phrase("got the colour {colour!r}; expected one of {names}", colour, ", ".join(COLOURS))
            )
        steps = state.markers.index(COLOURS.index(name)) - state.seat
        state = replace(state, markers=(*state.markers[steps:], *state.markers[:steps]))
    if roll is not None:
        return _on_the_table(state, roll, len(state.dice) or len(state.active()))
    if not state.dice:
        raise IllegalTurnError(
            either(
                len(state.active()) == 1,
                "{player} is to roll; give 1 die to count with",
                "{player} is to roll; give {active} dice to count with",
                player=state.to_move,
                active=len(state.active()),
            )
        )
    return settle(state)


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
        return [
            Breach(
                "not-in-the-game",
                Phrase("{player} is out of the game already.", player),
                Phrase("Nothing needs to be done."),
            )
        ]

    check_announcement(announcement, announcements(state), breaches)
    seat = PLAYERS.index(str(player))
    return playing.settle(state.with_sheet(seat, state.sheets[seat].with_status(PlayerStatus.RESIGNED)))


def certainty(state: BlokusState, turn: BlokusTurn) -> Certainty:
    """Return whether the turn is legal; nothing is hidden here."""
    legal = _is_of(state, turn) and not breaches_of_turn(state, turn)
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
            Phrase(
                "{turn} by {player} is not a turn of this game; expected one of {names} and "
                "squares from {first} to {last}",
                format_turn(turn),
                turn.player,
                ", ".join(state.options.names),
                names[0],
                names[-1],
            )
        )
    breaches = breaches_of_turn(state, turn)
    if breaches:
        raise illegal_turn(format_turn(turn), breaches)
    return playing.play_turn(state, turn)


def combine(turns: Sequence[BlokusTurn]) -> BlokusTurn:
    """Return the turn if all are equal; raises AmbiguousError otherwise, as dice and strikes matter."""
    return only_turn(turns, format_turn)


def turns_showing(state: BlokusState, could_be: PossibleLooks) -> Iterator[BlokusTurn]:
    """Yield every legal turn that leads to matching sheets, small shapes first; see ``engine.showing``."""
    if state.seat is None or not state.dice:
        return
    seat, sheet = state.seat, state.options.sheet
    seen = TableConstraint(appearance_of(state), could_be)
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


def tapped(state: BlokusState, taps: Taps) -> Tapped[BlokusTurn]:
    """Return what may follow these taps. Without a strike, the turn takes the die that gives the shape."""
    if state.seat is None:
        return Tapped()
    seat, grid = state.seat, state.options.sheet.grid
    *squares, last = taps or ("",)
    if not last.startswith(STRIKE):
        squares = list(taps)
    if any(player != PLAYERS[seat] or square not in grid.index for player, _, square in map(_split, squares)):
        return Tapped()
    chosen = grid.squares_named(square for _, _, square in map(_split, squares))
    fitting = choices(state, changed=chosen)
    following = union(placement for choice in fitting for placement in choice.placements) & ~chosen
    whole = [choice for choice in fitting if chosen in choice.placements]
    turns = {f"{STRIKE}:{choice.die}" if choice.strike else "": turn_of(state, choice, chosen) for choice in whole}
    if last.startswith(STRIKE):
        return Tapped(turn=turns.get(last))
    strikes = {tap: Phrase("Take the {die} and cross out a strike", turn.die) for tap, turn in turns.items() if tap}
    return Tapped(tuple(place_of(seat, grid.names[square]) for square in members(following)), strikes, turns.get(""))


def _split(place: str) -> tuple[str, str, str]:
    return place.partition(".")
