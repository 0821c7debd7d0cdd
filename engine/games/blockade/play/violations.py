"""The rules that a turn's moves can break, as breaches in words."""

from __future__ import annotations

from engine.api import Breach, Player
from engine.games.blockade.board import COLOURS, OWNED, PLACES, Stack, name_of
from engine.games.blockade.play.stacks import ON_OTHER_BLOCKADE, ON_OTHER_COLOUR, ON_SMALL_BLACK


def _there_and_back(path: tuple[int, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(PLACES[square] for square in path))


def after_the_win(path: tuple[int, ...]) -> Breach:
    """A move after the fifth tower."""
    return Breach(
        "game-over",
        f"The fifth tower ended the game, but something moved from {PLACES[path[0]]} after it.",
        f"Put it back on {PLACES[path[0]]}.",
        _there_and_back(path),
    )


def black_moved(path: tuple[int, ...]) -> Breach:
    """A black piece was moved."""
    return Breach(
        "black-moved",
        f"The black piece on {PLACES[path[0]]} was moved.",
        f"Put it back on its tower on {PLACES[path[0]]}.",
        _there_and_back(path),
    )


def large_moved(piece: int, path: tuple[int, ...]) -> Breach:
    """A large was moved."""
    place = PLACES[path[0]]
    return Breach("large-moved", f"The {name_of(piece)} on {place} was moved.", f"Put it back on {place}.", (place,))


def opponent_moved(player: Player, piece: int, path: tuple[int, ...]) -> Breach:
    """A piece of the other player's was moved."""
    mine = " and ".join(COLOURS[colour] for colour in OWNED[player])
    return Breach(
        "moved-opponent-piece",
        f"{player.capitalize()} plays {mine}, but a {name_of(piece)} was moved from {PLACES[path[0]]}.",
        f"Put the {name_of(piece)} back on {PLACES[path[0]]}.",
        _there_and_back(path),
    )


def over_blockade(piece: int, path: tuple[int, ...], walls: int) -> Breach:
    """There is no way for the piece but over a blockade."""
    start, end = PLACES[path[0]], PLACES[path[-1]]
    onto = walls >> path[-1] & 1
    how = f"can't go onto the blockade on {end}" if onto else f"can't get to {end} without passing over a blockade"
    return Breach(
        "passed-over-blockade",
        f"The {name_of(piece)} from {start} {how}, which is the other player's.",
        f"Put the {name_of(piece)} back on {start}, or go round the other player's blockades.",
        _there_and_back(path),
    )


def rested(rule: str, stack: Stack, height: int, square: int) -> Breach:
    """A piece rests where it may not."""
    place, piece, below = PLACES[square], name_of(stack[height]), name_of(stack[height - 1])
    why = {
        ON_OTHER_COLOUR: f"rests on a {below}, and colours don't mix",
        ON_OTHER_BLOCKADE: f"rests on a blockade of {COLOURS[stack[0] >> 2]}, which isn't its colour",
        ON_SMALL_BLACK: f"rests on a {below}, which isn't larger",
    }.get(rule, f"rests on a {below}, which is smaller")
    return Breach(
        rule, f"The {piece} on {place} {why}.", f"Move the {piece} from {place} to where it may rest.", (place,)
    )


def points(player: Player, dice: tuple[int, int], used: tuple[int, int]) -> Breach:
    """More steps were taken than the dice give."""
    colours = [COLOURS[colour] for colour in OWNED[player]]
    over = next((index for index in (0, 1) if used[index] > dice[index]), 0)
    taken = " and ".join(f"{steps} with {colour}" for steps, colour in zip(used, colours, strict=True) if steps)
    given = f"{dice[0]} for {colours[0]} and {dice[1]} for {colours[1]}"
    if max(dice) <= 3 and sum(used) <= sum(dice):
        return Breach(
            "sum-for-one-colour",
            f"The dice give {given}; added up they are for one colour only, but it took {taken} steps.",
            f"Take {used[over] - dice[over]} back with {colours[over]}, or don't move {colours[1 - over]}.",
        )
    return Breach(
        "too-many-points",
        f"The dice give {given}, but this takes at least {taken} steps.",
        f"Take steps back with {colours[over]}.",
    )
