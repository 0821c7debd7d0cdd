"""How a game starts: the two starts there are, and a start seen on the table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engine.api import Appearance, Breach
from engine.diaballik.board import GOAL, HOME, PIECES_A_SIDE, PLACES, PLAYERS, SQUARE_OF, other
from engine.diaballik.settings import STANDARD, VARIANT, Settings
from engine.diaballik.state import DiaballikState, Side, read_look
from engine.diaballik.turns import settled
from engine.errors import IllegalTurnError
from engine.grid import members, set_of

_EXCHANGED = set_of(*(SQUARE_OF[place] for place in ("b1", "f1", "b7", "f7")))
_BALLS = {"black": SQUARE_OF["d1"], "white": SQUARE_OF["d7"]}

STARTS: Mapping[str, Mapping[str, Side]] = MappingProxyType(
    {
        STANDARD: {player: Side(HOME[player], _BALLS[player]) for player in PLAYERS},
        VARIANT: {
            player: Side(HOME[player] & ~_EXCHANGED | HOME[other(player)] & _EXCHANGED, _BALLS[player])
            for player in PLAYERS
        },
    }
)
"""Where each player's pieces and ball start, by the option ``start``."""


def new_state(settings: Settings) -> DiaballikState:
    """The start."""
    start = STARTS[settings.start]
    return settled(DiaballikState(settings, start["black"], start["white"], PLAYERS[0]), counted=True)


def set_up_state(appearance: Appearance, settings: Settings, *, anywhere: bool) -> DiaballikState:
    """The start a table shows; places that are left out count as empty.

    With ``anywhere`` any squares will do, but no ball on the row where it wins. Raises UnreadableError for a look that
    isn't one, IllegalTurnError with breaches for a start that isn't allowed.
    """
    seen = {SQUARE_OF[place]: found for place, look in appearance.items() if (found := read_look(place, look))}
    breaches = [breach for player in PLAYERS for breach in _breaches(seen, settings, player, anywhere=anywhere)]
    if breaches:
        message = " ".join(breach.sentence for breach in breaches)
        raise IllegalTurnError(f"this is no start: {message}", tuple(breaches))
    black, white = (
        Side(
            set_of(*(square for square, (owner, _) in seen.items() if owner == player)),
            next(square for square, found in seen.items() if found == (player, True)),
        )
        for player in PLAYERS
    )
    return settled(DiaballikState(settings, black, white, PLAYERS[0]), counted=True)


def _breaches(seen: Mapping[int, tuple[str, bool]], settings: Settings, player: str, *, anywhere: bool) -> list[Breach]:
    found: list[Breach] = []
    start = STARTS[settings.start][player]
    squares = sorted(square for square, (owner, _) in seen.items() if owner == player)
    stray = [square for square in squares if not start.pieces >> square & 1]
    open_squares = [PLACES[square] for square in members(start.pieces) if square not in seen]
    if len(squares) != PIECES_A_SIDE:
        many = len(squares) > PIECES_A_SIDE
        number = abs(len(squares) - PIECES_A_SIDE)
        where = f" on {' and '.join(open_squares)}" if open_squares and not anywhere and not many else ""
        surplus = stray if stray and not anywhere else squares
        found.append(
            Breach(
                "too-many-pieces" if many else "too-few-pieces",
                f"There are {len(squares)} {player} pieces, and {player} starts with {PIECES_A_SIDE}.",
                f"Take {number} {player} off the board."
                if many
                else f"Put {number} more {player} on the board{where}.",
                tuple(PLACES[square] for square in surplus) if many else tuple(open_squares),
            )
        )
    if not anywhere:
        for square in stray:
            target = f"Move it from {PLACES[square]} to {' or '.join(open_squares)}."
            found.append(
                Breach(
                    "start-square",
                    f"The {player} piece on {PLACES[square]} is not where {player} starts.",
                    target if open_squares else f"Take it off {PLACES[square]}.",
                    (PLACES[square], *open_squares),
                )
            )
    balls = [square for square in squares if seen[square][1]]
    if len(balls) != 1 or not (anywhere or balls == [start.ball]):
        where = f"the piece on {PLACES[start.ball]}" if not anywhere else "one piece"
        told = "none has one" if not balls else f"it is on {' and '.join(PLACES[ball] for ball in balls)}"
        found.append(
            Breach(
                "start-ball",
                f"{player.capitalize()} starts with the ball on {where}, and {told}.",
                f"Put {player}'s ball on {where}.",
                tuple(PLACES[ball] for ball in balls) or (PLACES[start.ball],),
            )
        )
    elif GOAL[player] >> balls[0] & 1:
        found.append(
            Breach(
                "start-at-goal",
                f"{player.capitalize()}'s ball on {PLACES[balls[0]]} is already on the row where it wins.",
                "Give it to a piece elsewhere.",
                (PLACES[balls[0]],),
            )
        )
    return found
