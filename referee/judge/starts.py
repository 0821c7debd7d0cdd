"""The starts of a game that are possible, also while it is open who begins."""

from collections.abc import Mapping

from engine.api import Game, StateT, TurnT
from engine.errors import IllegalTurnError
from engine.values import Appearance, OptionValue, Place

STARTS_OPTION = "starts"
EITHER = "either"


def start_options(
    game: Game[StateT, TurnT], options: Mapping[str, OptionValue] | None
) -> tuple[dict[str, OptionValue], ...]:
    """Return the options of every possible start: one for each player when it is open who starts.

    It is open when the game has an option ``starts`` and it is given as ``either``.
    """
    given = dict(options or {})
    if given.get(STARTS_OPTION) != EITHER:
        return (given,)
    return tuple({**given, STARTS_OPTION: player} for player in game.players)


def set_up_states(
    game: Game[StateT, TurnT],
    appearance: Appearance,
    options: Mapping[str, OptionValue] | None,
    *,
    anywhere: bool,
) -> tuple[StateT, ...]:
    """Return every starting state that a table shows.

    Raises IllegalTurnError when the table shows no legal start, OptionError for a bad option.
    """
    return tuple(game.table.set_up(appearance, each, anywhere=anywhere) for each in start_options(game, options))


def usual_appearance(game: Game[StateT, TurnT], options: Mapping[str, OptionValue] | None) -> Appearance:
    """Return the appearance of the game's usual start. Raises OptionError for a bad option."""
    return game.table.appearance(game.rules.new(start_options(game, options)[0]))


def wrong_for_start(
    game: Game[StateT, TurnT], options: Mapping[str, OptionValue] | None, shown: Appearance
) -> tuple[tuple[Place, ...], StateT]:
    """Return the places that are not as in a start, and the start that is meant.

    ``shown`` are the looks that are certain. A look that differs from the usual start is right if the rest could still
    become a start, such as a block whose rolled side is up. Raises OptionError for a bad option.
    """
    usual = usual_appearance(game, options)

    def start(looks: Appearance) -> StateT | None:
        try:
            return set_up_states(game, {**usual, **looks}, options, anywhere=False)[0]
        except IllegalTurnError:
            return None

    odd = {place: shown[place] for place, look in usual.items() if shown.get(place, look) != look}
    right = odd if start(odd) is not None else {place: look for place, look in odd.items() if start({place: look})}
    meant = start(right)
    if meant is None:
        right, meant = {}, set_up_states(game, usual, options, anywhere=False)[0]
    return tuple(place for place in odd if place not in right), meant
